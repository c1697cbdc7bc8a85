"""Transforms of images, as blocks: sizes, colours, mirrors, and tensors out of bytes.

Most take images ``(height, width, channels)``; `Normalize` and rotations take the
``(channels, height, width)`` that `ToTensor` gives.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from ....base import ArgumentError
from ...block import Block, HybridBlock
from ...nn import HybridSequential, Sequential
from . import crops

__all__ = [
    "Cast",
    "CenterCrop",
    "Compose",
    "CropResize",
    "Normalize",
    "RandomApply",
    "RandomBrightness",
    "RandomColorJitter",
    "RandomContrast",
    "RandomFlipLeftRight",
    "RandomFlipTopBottom",
    "RandomHue",
    "RandomLighting",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomSaturation",
    "Resize",
    "Rotate",
    "ToTensor",
]


class Compose(Sequential):
    """Several transforms, one after the other; neighbours that are hybrid run as one graph.

    Examples
    --------
    >>> image = nd.zeros((40, 30, 3), dtype="uint8")
    >>> Compose([Resize(20), ToTensor(), Normalize(0.5, 0.5)])(image).shape
    (3, 20, 20)
    """

    def __init__(self, transforms: Sequence[Callable]):
        super().__init__()
        with self.name_scope():
            hybrid: list[HybridBlock] = []
            for transform in [*transforms, None]:
                if isinstance(transform, HybridBlock):
                    hybrid.append(transform)
                    continue
                if len(hybrid) == 1:
                    self.add(hybrid[0])
                elif hybrid:
                    together = HybridSequential()
                    together.add(*hybrid)
                    together.hybridize()
                    self.add(together)
                hybrid = []
                if transform is not None:
                    self.add(transform)  # type: ignore[arg-type] - MXNet takes functions too


class Cast(HybridBlock):
    """The input in another dtype."""

    def __init__(self, dtype: Any = "float32"):
        super().__init__()
        self._dtype = dtype

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Cast."""
        return F.cast(x, self._dtype)


class RandomApply(Sequential):
    """A transform, or the input as it is, by chance ``p``."""

    def __init__(self, transforms: Callable, p: float = 0.5):
        super().__init__()
        self.transforms, self.p = transforms, p

    def forward(self, x: Any) -> Any:
        """Transform, or not."""
        return self.transforms(x) if random.random() < self.p else x


class ToTensor(HybridBlock):
    """Images of bytes as float32 tensors ``(channels, height, width)`` from 0 to 1.

    A batch ``(batch, height, width, channels)`` becomes ``(batch, channels, height, width)``.
    """

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Move the channels to the front and divide by 255."""
        return F.image.to_tensor(x)


class Normalize(HybridBlock):
    """``(x - mean) / std`` of tensors ``(channels, height, width)``; a number, or one a channel."""

    def __init__(self, mean: Any = 0.0, std: Any = 1.0):
        super().__init__()
        self._mean, self._std = mean, std

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Subtract and divide."""
        return F.image.normalize(x, mean=_numbers(self._mean), std=_numbers(self._std))


def _numbers(value: Any) -> tuple[float, ...]:
    try:
        return tuple(float(number) for number in value)
    except TypeError:
        return (float(value),)


class Rotate(Block):
    """Tensors ``(channels, height, width)``, or a batch, turned counterclockwise about the middle.

    Parameters
    ----------
    rotation_degrees : by how much.
    zoom_in : enlarge until nothing from outside is seen.
    zoom_out : shrink until the whole image is seen.
    """

    def __init__(self, rotation_degrees: float, zoom_in: bool = False, zoom_out: bool = False):
        super().__init__()
        self._args = rotation_degrees, zoom_in, zoom_out

    def forward(self, x: Any) -> Any:
        """Rotate."""
        return crops.rotate(x, *self._args)


class RandomRotation(Block):
    """Tensors ``(channels, height, width)`` turned by a random angle, each of a batch by its own.

    Parameters
    ----------
    angle_limits : the least and the greatest angle, in degrees.
    zoom_in, zoom_out : as for `Rotate`.
    rotate_with_proba : by what chance there is a rotation at all.
    """

    def __init__(
        self,
        angle_limits: tuple[float, float],
        zoom_in: bool = False,
        zoom_out: bool = False,
        rotate_with_proba: float = 1.0,
    ):
        super().__init__()
        if angle_limits[0] >= angle_limits[1]:
            raise ArgumentError(f"`angle_limits` must be an ordered tuple, not {angle_limits}")
        if not 0 <= rotate_with_proba <= 1:
            raise ArgumentError(
                f"Probability of rotating the image should be between 0 and 1, not "
                f"{rotate_with_proba}"
            )
        self._args = zoom_in, zoom_out
        self._angle_limits, self._rotate_with_proba = angle_limits, rotate_with_proba

    def forward(self, x: Any) -> Any:
        """Rotate, or not."""
        if random.random() > self._rotate_with_proba:
            return x
        count = x.shape[0] if x.ndim == 4 else 1
        angles = [random.uniform(*self._angle_limits) for _ in range(count)]
        return crops.rotate(x, angles, *self._args)


class RandomResizedCrop(Block):
    """A random part of an image, brought to a size.

    Parameters
    ----------
    size : ``(width, height)``, or one number for both.
    scale : the least and the greatest share of the area.
    ratio : the least and the greatest ratio of width to height, before the change of size.
    interpolation : as for `Resize`.
    """

    def __init__(
        self,
        size: Any,
        scale: Any = (0.08, 1.0),
        ratio: tuple[float, float] = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: int = 1,
    ):
        super().__init__()
        self._args = crops.pair(size), scale, ratio, interpolation

    def forward(self, x: Any) -> Any:
        """Crop and resize."""
        return crops.random_size_crop(x, *self._args)


class CropResize(HybridBlock):
    """The part of an image that starts at ``(x, y)``, in another size if one is given."""

    def __init__(
        self,
        x: int,
        y: int,
        width: int,
        height: int,
        size: Any = None,
        interpolation: int | None = None,
    ):
        super().__init__()
        self._part = {"x": x, "y": y, "width": width, "height": height}
        self._size = size
        self._interpolation = 1 if interpolation is None else interpolation

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Crop, and resize."""
        part = F.image.crop(x, **self._part)
        if not self._size:
            return part
        return F.image.resize(part, size=crops.pair(self._size), interp=self._interpolation)


class CenterCrop(Block):
    """The middle of an image; a smaller image gives the largest part of that form, enlarged.

    ``size`` is ``(width, height)``, or one number for both.
    """

    def __init__(self, size: Any, interpolation: int = 1):
        super().__init__()
        self._args = crops.pair(size), interpolation

    def forward(self, x: Any) -> Any:
        """Crop."""
        return crops.center_crop(x, *self._args)


class Resize(HybridBlock):
    """An image in another size.

    Parameters
    ----------
    size : ``(width, height)``, or one number for both.
    keep_ratio : with one number, that is the shorter side.
    interpolation : 0 nearest, 1 bilinear, 2 bicubic, 3 area, 4 Lanczos.
    """

    def __init__(self, size: Any, keep_ratio: bool = False, interpolation: int = 1):
        super().__init__()
        self._size, self._keep, self._interpolation = size, keep_ratio, interpolation

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Resize."""
        return F.image.resize(x, size=self._size, keep_ratio=self._keep, interp=self._interpolation)


class RandomFlipLeftRight(HybridBlock):
    """An image mirrored, left for right, or as it is, by chance 1/2."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Mirror, or not."""
        return F.image.random_flip_left_right(x)


class RandomFlipTopBottom(HybridBlock):
    """An image mirrored, top for bottom, or as it is, by chance 1/2."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Mirror, or not."""
        return F.image.random_flip_top_bottom(x)


def _around_one(amount: float) -> tuple[float, float]:
    return max(0, 1 - amount), 1 + amount


class RandomBrightness(HybridBlock):
    """An image made brighter or darker by a factor that differs from 1 by up to ``brightness``."""

    def __init__(self, brightness: float):
        super().__init__()
        self._args = _around_one(brightness)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Change the brightness."""
        return F.image.random_brightness(x, *self._args)


class RandomContrast(HybridBlock):
    """An image moved from its mean grey by a factor that differs from 1 by up to ``contrast``."""

    def __init__(self, contrast: float):
        super().__init__()
        self._args = _around_one(contrast)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Change the contrast."""
        return F.image.random_contrast(x, *self._args)


class RandomSaturation(HybridBlock):
    """An image moved away from its grey by a factor that differs from 1 by up to ``saturation``."""

    def __init__(self, saturation: float):
        super().__init__()
        self._args = _around_one(saturation)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Change the saturation."""
        return F.image.random_saturation(x, *self._args)


class RandomHue(HybridBlock):
    """An image with its hues turned; as in MXNet by about 1, not 0, times half a circle."""

    def __init__(self, hue: float):
        super().__init__()
        self._args = _around_one(hue)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Turn the hues."""
        return F.image.random_hue(x, *self._args)


class RandomColorJitter(HybridBlock):
    """Brightness, contrast, saturation and hue changed by random factors, in random order."""

    def __init__(
        self, brightness: float = 0, contrast: float = 0, saturation: float = 0, hue: float = 0
    ):
        super().__init__()
        self._args = brightness, contrast, saturation, hue

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Change the colours."""
        return F.image.random_color_jitter(x, *self._args)


class RandomLighting(HybridBlock):
    """An image shifted along ImageNet's main directions of colour; ``alpha`` is the deviation."""

    def __init__(self, alpha: float):
        super().__init__()
        self._alpha = alpha

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Shift the colours."""
        return F.image.random_lighting(x, self._alpha)
