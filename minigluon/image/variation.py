"""What ``ImageRecordIter`` does to a picture: resize, turn, cut, colour, in that order.

Pictures are uint8 arrays ``(height, width, channels)``. What is drawn comes from a generator that
is handed in, so a picture varies the same way whichever thread works on it.
"""

from __future__ import annotations

import math

import numpy as np

from ..kernels import pixels
from ..kernels.image import AREA, CUBIC, LINEAR
from ..kernels.pixels import resize
from .augmenters import _EIGENVALUES, _EIGENVECTORS

#: the options, and what they are if they are not given
DEFAULTS = {
    "resize": -1, "rand_crop": False, "random_resized_crop": False, "max_rotate_angle": 0,
    "max_aspect_ratio": 0.0, "min_aspect_ratio": None, "max_shear_ratio": 0.0,
    "max_crop_size": -1, "min_crop_size": -1, "max_random_scale": 1.0, "min_random_scale": 1.0,
    "max_random_area": 1.0, "min_random_area": 1.0, "max_img_size": 1e10, "min_img_size": 0.0,
    "brightness": 0.0, "contrast": 0.0, "saturation": 0.0, "pca_noise": 0.0, "random_h": 0,
    "random_s": 0, "random_l": 0, "rotate": -1, "fill_value": 255, "inter_method": 1, "pad": 0,
}  # fmt: skip
#: how often a random part is tried that fits into the picture
_TRIALS = 10
_BRIGHT = np.array([0.299, 0.587, 0.114], np.float32)


class Variation:
    """The options, and what they make of a picture.

    Parameters
    ----------
    shape : height and width of the result.
    options : those that are not as in `DEFAULTS`.
    """

    def __init__(self, shape, options):
        self.height, self.width = shape
        self.options = {**DEFAULTS, **options}
        for name, value in self.options.items():
            setattr(self, name, value)
        self.turns = any(
            self.options[name] != DEFAULTS[name]
            for name in (
                "max_rotate_angle", "max_shear_ratio", "rotate", "max_random_scale",
                "min_random_scale", "max_img_size", "min_img_size",
            )
        )  # fmt: skip
        aspect = self.max_aspect_ratio != 0 or self.min_aspect_ratio is not None
        self.turns = self.turns or (aspect and not self.random_resized_crop)

    def __call__(self, picture, rng):
        """The picture in the size asked for."""
        if self.resize > 0:
            picture = shortened(picture, self.resize, self._interp(rng))
        if self.turns:
            picture = self._turn(picture, rng)
        if self.pad > 0:
            border = ((self.pad, self.pad), (self.pad, self.pad), (0, 0))
            picture = np.pad(picture, border, constant_values=self.fill_value)
        return self._colour(self._cut(picture, rng), rng)

    def _interp(self, rng, sizes=()):
        if self.inter_method == 10:
            return int(rng.integers(0, 5))
        if self.inter_method != 9:
            return self.inter_method
        if not sizes:
            return CUBIC
        height, width = sizes
        if self.height > height and self.width > width:
            return CUBIC
        return AREA if self.height < height and self.width < width else LINEAR

    def _aspect(self, rng):
        """Width by height, drawn."""
        if self.min_aspect_ratio is not None:
            return rng.uniform(self.min_aspect_ratio, self.max_aspect_ratio)
        return rng.uniform(1 - self.max_aspect_ratio, 1 + self.max_aspect_ratio)

    def _turn(self, picture, rng):
        """Rotate, shear and scale around the middle."""
        height, width = picture.shape[:2]
        if self.rotate > 0:
            angle = self.rotate
        else:
            angle = rng.uniform(-self.max_rotate_angle, self.max_rotate_angle)
        shear = rng.uniform(-self.max_shear_ratio, self.max_shear_ratio)
        scale = rng.uniform(self.min_random_scale, self.max_random_scale)
        ratio = 1.0 if self.random_resized_crop else self._aspect(rng)
        wide = 2 * scale / (1 + ratio)
        size = [
            max(self.min_img_size, min(self.max_img_size, scale * side)) for side in (height, width)
        ]
        turn = math.radians(angle)
        back = np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
        back = back @ np.diag([1 / wide, 1 / (ratio * wide)]) @ [[1, -shear], [0, 1]]
        return warped(picture, back, size, self.fill_value)

    def _cut(self, picture, rng):
        """The part that is wanted, in the size that is wanted."""
        height, width = picture.shape[:2]
        if self.random_resized_crop:
            for _ in range(_TRIALS):
                area = rng.uniform(self.min_random_area, self.max_random_area) * height * width
                ratio = self._aspect(rng)
                tall, wide = round(math.sqrt(area / ratio)), round(math.sqrt(area * ratio))
                if 0 < tall <= height and 0 < wide <= width:
                    return self._resized(part(picture, tall, wide, rng), rng)
        elif self.max_crop_size != -1 or self.min_crop_size != -1:
            side = int(rng.integers(max(self.min_crop_size, 1), self.max_crop_size + 1))
            picture = enlarged(picture, side, side, self._interp(rng))
            chosen = part(picture, side, side, rng if self.rand_crop else None)
            return self._resized(chosen, rng)
        picture = enlarged(picture, self.height, self.width, self._interp(rng))
        return part(picture, self.height, self.width, rng if self.rand_crop else None)

    def _resized(self, picture, rng):
        return resize(picture, self.height, self.width, self._interp(rng, picture.shape[:2]))

    def _colour(self, picture, rng):
        """Brightness, contrast and saturation in an order that is drawn; colours; noise."""
        jitters = [
            (change, amount)
            for change, amount in (
                (_brighten, self.brightness), (_contrast, self.contrast),
                (_saturate, self.saturation),
            )
            if amount
        ]  # fmt: skip
        for k in rng.permutation(len(jitters)) if jitters else ():
            change, amount = jitters[k]
            picture = _bytes(change(picture.astype(np.float32), 1 + rng.uniform(-amount, amount)))
        if picture.shape[2] < 3:
            return picture
        if self.random_h or self.random_s or self.random_l:
            limits = self.random_h, self.random_l, self.random_s
            picture = shifted(picture, [rng.uniform(-limit, limit) for limit in limits])
        if self.pca_noise:
            alpha = rng.normal(0, self.pca_noise, 3)
            noise = np.asarray(_EIGENVECTORS) @ (alpha * _EIGENVALUES)
            picture = _bytes(picture + noise)
        return picture


def _bytes(picture):
    return np.clip(np.rint(picture), 0, 255).astype(np.uint8)


def _brighten(picture, factor):
    return picture * factor


def _contrast(picture, factor):
    bright = picture @ _BRIGHT if picture.shape[2] == 3 else picture
    return picture * factor + bright.mean() * (1 - factor)


def _saturate(picture, factor):
    if picture.shape[2] != 3:
        return picture
    return picture * factor + (picture @ _BRIGHT)[:, :, None] * (1 - factor)


def shortened(picture, size, interp):
    """A picture whose shorter side is ``size``, in proportion."""
    height, width = picture.shape[:2]
    if height < width:
        return resize(picture, size, int(width * size / height), interp)
    return resize(picture, int(height * size / width), size, interp)


def enlarged(picture, height, width, interp):
    """A picture at least so large, in proportion; larger ones are as they are."""
    if picture.shape[0] < height:
        side = int(picture.shape[1] * height / picture.shape[0])
        picture = resize(picture, height, side, interp)
    if picture.shape[1] < width:
        side = int(picture.shape[0] * width / picture.shape[1])
        picture = resize(picture, side, width, interp)
    return picture


def part(picture, height, width, rng=None):
    """A part of a picture: the middle, or where ``rng`` draws it."""
    room = picture.shape[0] - height, picture.shape[1] - width
    top, left = (n // 2 if rng is None else int(rng.integers(0, n + 1)) for n in room)
    return picture[top : top + height, left : left + width]


def warped(picture, back, size, fill):
    """A picture moved around its middle; what comes from outside is ``fill``.

    Parameters
    ----------
    back : matrix from places in the result to places in the picture, both from their middle.
    size : height and width of the result, cut off to whole numbers.
    """
    height, width = size
    middle = np.array([picture.shape[1], picture.shape[0]]) / 2
    start = middle - back @ [width / 2, height / 2]
    x, y = np.arange(int(width)), np.arange(int(height))
    # as OpenCV does it: places in whole numbers, of each part
    xs = np.rint(back[:, :1] * x * 1024).astype(np.int64)
    ys = np.rint((back[:, 1:] * y + start[:, None]) * 1024).astype(np.int64)
    out = np.empty((int(height), int(width), picture.shape[2]), np.uint8)
    return pixels.warp(np.ascontiguousarray(picture), xs, ys, np.int64(fill), out)


def shifted(picture, amounts):
    """A picture with hue (in halves of a degree), lightness and saturation (to 255) shifted."""
    hls = np.moveaxis(_to_hls(picture.astype(np.float32) / 255), -1, 0)
    hue, light, full = (plane + a for plane, a in zip(hls, amounts, strict=True))
    return _bytes(255 * _from_hls(hue % 180, np.clip(light, 0, 255), np.clip(full, 0, 255)))


def _to_hls(rgb):
    most, least = rgb.max(-1), rgb.min(-1)
    span, both = most - least, most + least
    with np.errstate(invalid="ignore", divide="ignore"):
        red, green, blue = np.moveaxis(rgb, -1, 0)
        hue = np.select(
            [span == 0, most == red, most == green],
            [0, ((green - blue) / span) % 6, (blue - red) / span + 2],
            (red - green) / span + 4,
        )
        full = np.where(span == 0, 0, span / np.where(both <= 1, both, 2 - both))
    return np.stack([hue * 30, both / 2 * 255, full * 255], -1)


def _from_hls(hue, light, full):
    hue, light, full = hue / 30, light / 255, full / 255
    chroma = (1 - np.abs(2 * light - 1)) * full
    sides = [np.clip(np.abs((hue - at + 3) % 6 - 3) * -1 + 2, 0, 1) for at in (0, 2, 4)]
    return np.stack([light + chroma * (side - 0.5) for side in sides], -1)
