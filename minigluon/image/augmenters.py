"""Augmenters: what is done to each picture before it is learnt from."""

from __future__ import annotations

import json
import random
from math import cos, pi, sin

import numpy as np

from .. import ndarray as nd
from ..base import ArgumentError, four_lines
from ..ndarray import NDArray
from .pixels import (
    center_crop,
    color_normalize,
    imresize,
    interpolation,
    random_crop,
    random_size_crop,
    resize_short,
)

#: how bright red, green and blue look
_BRIGHT = np.array([[[0.299, 0.587, 0.114]]], np.float32)
_GRAY = np.array([[0.21], [0.72], [0.07]], np.float32) * np.ones(3, np.float32)
_TO_YIQ = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]])
_FROM_YIQ = np.array([[1.0, 0.956, 0.621], [1.0, -0.272, -0.647], [1.0, -1.107, 1.705]])

#: mean and deviation of the colours in ImageNet, and the axes of their deviation
IMAGENET_MEAN = (123.68, 116.28, 103.53)
IMAGENET_STD = (58.395, 57.12, 57.375)
_EIGENVALUES = (55.46, 4.794, 1.148)
_EIGENVECTORS = (
    (-0.5675, 0.7192, 0.4009),
    (-0.5808, -0.0045, -0.8140),
    (-0.5836, -0.6948, 0.4203),
)


class Augmenter:
    """Something that is done to a picture; a class of one's own has ``__call__(src)``.

    Those of colours write to the picture they are given, and return it.

    Parameters
    ----------
    kwargs : what `dumps` shows.
    """

    def __init__(self, **kwargs):
        self._kwargs = {key: _plain(value) for key, value in kwargs.items()}

    def dumps(self):
        """Class and parameters as JSON."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, src):
        raise NotImplementedError("Must override implementation.")


def _plain(value):
    value = value.asnumpy() if isinstance(value, NDArray) else value
    return value.tolist() if isinstance(value, np.ndarray) else value


class SequentialAug(Augmenter):
    """Augmenters one after the other."""

    def __init__(self, ts):
        super().__init__()
        self.ts = ts

    def dumps(self):
        """Class, and what the augmenters say of themselves."""
        return [type(self).__name__.lower(), [t.dumps() for t in self.ts]]

    def __call__(self, src):
        for augment in self.ts:
            src = augment(src)
        return src


class RandomOrderAug(Augmenter):
    """Augmenters in an order that is drawn for each picture."""

    def __init__(self, ts):
        super().__init__()
        self.ts = ts

    def dumps(self):
        """Class, and what the augmenters say of themselves."""
        return [type(self).__name__.lower(), [t.dumps() for t in self.ts]]

    def __call__(self, src):
        random.shuffle(self.ts)
        for augment in self.ts:
            src = augment(src)
        return src


class ResizeAug(Augmenter):
    """Resize the shorter side to ``size``."""

    def __init__(self, size, interp=2):
        super().__init__(size=size, interp=interp)
        self.size, self.interp = size, interp

    def __call__(self, src):
        return resize_short(src, self.size, self.interp)


class ForceResizeAug(Augmenter):
    """Resize to ``size``, width and height, whatever the proportion was."""

    def __init__(self, size, interp=2):
        super().__init__(size=size, interp=interp)
        self.size, self.interp = size, interp

    def __call__(self, src):
        sizes = (*src.shape[:2], self.size[1], self.size[0])
        return imresize(src, *self.size, interpolation(self.interp, sizes))


class RandomCropAug(Augmenter):
    """Cut out a random part of ``size``, width and height."""

    def __init__(self, size, interp=2):
        super().__init__(size=size, interp=interp)
        self.size, self.interp = size, interp

    def __call__(self, src):
        return random_crop(src, self.size, self.interp)[0]


class RandomSizedCropAug(Augmenter):
    """Cut out a part of random size and shape, see `random_size_crop`."""

    def __init__(self, size, area, ratio, interp=2, **kwargs):
        area = kwargs.pop("min_area", area)
        if kwargs:
            raise ArgumentError(
                four_lines(
                    "RandomSizedCropAug: unexpected keyword arguments.", ", ".join(kwargs),
                    "size, area, ratio, interp", f"leave out {next(iter(kwargs))}",
                )
            )  # fmt: skip
        super().__init__(size=size, area=area, ratio=ratio, interp=interp)
        self.size, self.area, self.ratio, self.interp = size, area, ratio, interp

    def __call__(self, src):
        return random_size_crop(src, self.size, self.area, self.ratio, self.interp)[0]


class CenterCropAug(Augmenter):
    """Cut out the middle in ``size``, width and height."""

    def __init__(self, size, interp=2):
        super().__init__(size=size, interp=interp)
        self.size, self.interp = size, interp

    def __call__(self, src):
        return center_crop(src, self.size, self.interp)[0]


class BrightnessJitterAug(Augmenter):
    """Change the brightness by a factor of up to ``1 ± brightness``."""

    def __init__(self, brightness):
        super().__init__(brightness=brightness)
        self.brightness = brightness

    def __call__(self, src):
        src *= 1 + random.uniform(-self.brightness, self.brightness)
        return src


class ContrastJitterAug(Augmenter):
    """Move a picture from or to its mean grey by a factor of up to ``1 ± contrast``."""

    def __init__(self, contrast):
        super().__init__(contrast=contrast)
        self.contrast = contrast

    def __call__(self, src):
        factor = 1 + random.uniform(-self.contrast, self.contrast)
        gray = src * nd.array(_BRIGHT)
        gray = (3 * (1 - factor) / gray.size) * nd.sum(gray)
        src *= factor
        src += gray
        return src


class SaturationJitterAug(Augmenter):
    """Move the colours from or to their grey by a factor of up to ``1 ± saturation``."""

    def __init__(self, saturation):
        super().__init__(saturation=saturation)
        self.saturation = saturation

    def __call__(self, src):
        factor = 1 + random.uniform(-self.saturation, self.saturation)
        gray = nd.sum(src * nd.array(_BRIGHT), axis=2, keepdims=True)
        gray *= 1 - factor
        src *= factor
        src += gray
        return src


class HueJitterAug(Augmenter):
    """Turn the colours around the axis of greys by up to ``±hue`` half turns."""

    def __init__(self, hue):
        super().__init__(hue=hue)
        self.hue = hue

    def __call__(self, src):
        angle = random.uniform(-self.hue, self.hue) * pi
        u, w = cos(angle), sin(angle)
        turn = np.array([[1, 0, 0], [0, u, -w], [0, w, u]])
        return nd.dot(src, nd.array((_FROM_YIQ @ turn @ _TO_YIQ).T))


class ColorJitterAug(RandomOrderAug):
    """Change brightness, contrast and saturation in random order."""

    def __init__(self, brightness, contrast, saturation):
        jitters = (
            (brightness, BrightnessJitterAug),
            (contrast, ContrastJitterAug),
            (saturation, SaturationJitterAug),
        )
        super().__init__([jitter(amount) for amount, jitter in jitters if amount > 0])


class LightingAug(Augmenter):
    """Add a colour drawn along the axes in which colours vary, as in AlexNet.

    Parameters
    ----------
    alphastd : how much.
    eigval, eigvec : the eigenvalues and eigenvectors of the colours' covariance.
    """

    def __init__(self, alphastd, eigval, eigvec):
        super().__init__(alphastd=alphastd, eigval=eigval, eigvec=eigvec)
        self.alphastd, self.eigval, self.eigvec = alphastd, eigval, eigvec

    def __call__(self, src):
        amounts = np.random.normal(0, self.alphastd, size=(3,))
        src += nd.array(np.dot(_values(self.eigvec) * amounts, _values(self.eigval)))
        return src


def _values(array):
    return array.asnumpy() if isinstance(array, NDArray) else np.asarray(array)


class ColorNormalizeAug(Augmenter):
    """Subtract a mean and divide by a deviation; None leaves a step out."""

    def __init__(self, mean, std):
        super().__init__(mean=mean, std=std)
        self.mean, self.std = (
            x if x is None or isinstance(x, NDArray) else nd.array(x) for x in (mean, std)
        )

    def __call__(self, src):
        return color_normalize(src, self.mean, self.std)


class RandomGrayAug(Augmenter):
    """Make a picture grey with probability ``p``."""

    def __init__(self, p):
        super().__init__(p=p)
        self.p = p

    def __call__(self, src):
        return nd.dot(src, nd.array(_GRAY)) if random.random() < self.p else src


class HorizontalFlipAug(Augmenter):
    """Mirror a picture, left to right, with probability ``p``."""

    def __init__(self, p):
        super().__init__(p=p)
        self.p = p

    def __call__(self, src):
        return nd.flip(src, axis=1) if random.random() < self.p else src


class CastAug(Augmenter):
    """Turn a picture into another dtype."""

    def __init__(self, typ="float32"):
        super().__init__(type=typ)
        self.typ = typ

    def __call__(self, src):
        return src.astype(self.typ)


def CreateAugmenter(
    data_shape, resize=0, rand_crop=False, rand_resize=False, rand_mirror=False, mean=None,
    std=None, brightness=0, contrast=0, saturation=0, hue=0, pca_noise=0, rand_gray=0,
    inter_method=2,
):  # fmt: skip
    """The usual list of augmenters.

    Parameters
    ----------
    data_shape : channels, height and width of what is wanted.
    resize : first resize the shorter side to this.
    rand_crop, rand_resize : cut out a random part, and of random size; otherwise the middle.
    rand_mirror : mirror every second picture.
    mean, std : numbers for each channel; True takes those of ImageNet.
    brightness, contrast, saturation, hue, pca_noise : how much colours are changed.
    rand_gray : how likely a picture becomes grey.
    inter_method : see `interpolation`.

    Examples
    --------
    >>> [type(a).__name__ for a in CreateAugmenter((3, 32, 32), rand_mirror=True)]
    ['CenterCropAug', 'HorizontalFlipAug', 'CastAug']
    """
    size = data_shape[2], data_shape[1]
    augmenters = [ResizeAug(resize, inter_method)] if resize > 0 else []
    if rand_resize:
        if not rand_crop:
            raise ArgumentError(
                four_lines(
                    "CreateAugmenter: rand_resize needs rand_crop.",
                    "rand_resize=True, rand_crop=False",
                    "both: parts of random size are random parts",
                    "pass rand_crop=True",
                )
            )
        augmenters.append(RandomSizedCropAug(size, 0.08, (3 / 4, 4 / 3), inter_method))
    else:
        augmenters.append((RandomCropAug if rand_crop else CenterCropAug)(size, inter_method))
    if rand_mirror:
        augmenters.append(HorizontalFlipAug(0.5))
    return augmenters + color_augmenters(
        brightness, contrast, saturation, hue, pca_noise, rand_gray, mean, std
    )


def color_augmenters(brightness, contrast, saturation, hue, pca_noise, rand_gray, mean, std):
    """What `CreateAugmenter` does to colours, from bytes to normalised numbers."""
    augmenters = [CastAug()]
    if brightness or contrast or saturation:
        augmenters.append(ColorJitterAug(brightness, contrast, saturation))
    if hue:
        augmenters.append(HueJitterAug(hue))
    if pca_noise > 0:
        values, vectors = np.array(_EIGENVALUES), np.array(_EIGENVECTORS)
        augmenters.append(LightingAug(pca_noise, values, vectors))
    if rand_gray > 0:
        augmenters.append(RandomGrayAug(rand_gray))
    mean, std = _per_channel("mean", mean, IMAGENET_MEAN), _per_channel("std", std, IMAGENET_STD)
    if mean is not None or std is not None:
        augmenters.append(ColorNormalizeAug(mean, std))
    return augmenters


def _per_channel(name, value, usual):
    if value is None or value is False:
        return None
    if value is True:
        return nd.array(usual)
    if np.shape(_values(value)) not in ((1,), (3,)):
        raise ArgumentError(
            four_lines(
                f"CreateAugmenter: {name} is not valid.", f"{name}={value!r}",
                "an array of 1 or 3 numbers, or True", f"pass {name}=np.array([...])",
            )
        )  # fmt: skip
    return value if isinstance(value, NDArray) else np.asarray(value)
