"""Parts of images, and images turned about their middle: what transforms without an operator do."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np

from .... import ndarray as nd
from ....base import ArgumentError, ArgumentTypeError, ShapeError, four_lines
from ....ndarray import NDArray


def pair(size: Any) -> tuple[int, int]:
    """Width and height; one number is both."""
    return (size, size) if isinstance(size, int | np.integer) else tuple(size)  # type: ignore[return-value]


def crop(image: NDArray, x: int, y: int, part: tuple, size: tuple, interpolation: int) -> NDArray:
    """The part at ``(x, y)``, brought to a size (both width and height)."""
    cut = nd.image.crop(image, x=x, y=y, width=part[0], height=part[1])
    return cut if part == size else nd.image.resize(cut, size=size, interp=interpolation)


def center_crop(image: NDArray, size: tuple, interpolation: int) -> NDArray:
    """The middle of an image; a smaller image gives the largest part of that form, enlarged."""
    height, width = _sides(image)
    part = _scaled_down((width, height), size)
    return crop(
        image, (width - part[0]) // 2, (height - part[1]) // 2, part, size, interpolation
    )  # fmt: skip


def _sides(image: NDArray) -> tuple[int, int]:
    if image.ndim < 3:
        raise ShapeError(
            four_lines(
                "crop: this is not an image.", f"data {image.shape}",
                "(height, width, channels)", "apply it before ToTensor",
            )
        )  # fmt: skip
    return image.shape[-3], image.shape[-2]


def _scaled_down(limits: tuple, size: tuple) -> tuple[int, int]:
    """A size of the same form that fits into limits, at least one pixel each way."""
    width, height = map(float, size)
    if limits[1] < height:
        width, height = width * limits[1] / height, limits[1]
    if limits[0] < width:
        width, height = limits[0], height * limits[0] / width
    return max(1, int(width)), max(1, int(height))


def random_size_crop(
    image: NDArray, size: tuple, scale: Any, ratio: tuple, interpolation: int
) -> NDArray:
    """A part with a random share of the area and a random ratio of width to height, resized.

    After ten draws that do not fit, the middle. As in MXNet, draws come from Python's ``random``.
    """
    height, width = _sides(image)
    scale = (scale, 1.0) if isinstance(scale, int | float) else scale
    logarithms = math.log(ratio[0]), math.log(ratio[1])
    for _ in range(10):
        area = random.uniform(*scale) * width * height
        form = math.exp(random.uniform(*logarithms))
        part = round(math.sqrt(area * form)), round(math.sqrt(area / form))
        if 0 < part[0] <= width and 0 < part[1] <= height:
            x, y = random.randint(0, width - part[0]), random.randint(0, height - part[1])
            return crop(image, x, y, part, size, interpolation)
    return center_crop(image, size, interpolation)


def rotate(images: NDArray, degrees: Any, zoom_in: bool, zoom_out: bool) -> NDArray:
    """Float images ``(channels, height, width)``, or a batch, turned counterclockwise.

    What comes from outside is 0. ``zoom_in`` enlarges until none of that is left, ``zoom_out``
    shrinks until all of the image is there. ``degrees`` is a number, or one for each image.
    """
    if zoom_in and zoom_out:
        raise ArgumentError("`zoom_in` and `zoom_out` cannot be both True")
    if images.dtype != np.float32:
        raise ArgumentTypeError(
            "This transformation only supports float32. Consider calling it after ToTensor"
        )
    if images.ndim not in (3, 4):
        raise ShapeError(
            four_lines(
                "rotate: these are not images.", f"data {images.shape}",
                "(channels, height, width), or a batch of such", "apply it after ToTensor",
            )
        )  # fmt: skip
    batch = images if images.ndim == 4 else images.expand_dims(0)
    angles = np.broadcast_to(np.asarray(degrees, np.float64), batch.shape[:1])
    height, width = batch.shape[2:]
    grid = np.stack([_grid(height, width, angle, zoom_in, zoom_out) for angle in angles])
    turned = nd.BilinearSampler(batch, nd.array(grid, ctx=images.context))
    return turned if images.ndim == 4 else turned[0]


def _grid(height: int, width: int, degrees: float, zoom_in: bool, zoom_out: bool) -> np.ndarray:
    """Where each pixel comes from, x and y from -1 to 1."""
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    tall = (height * abs(cos) + width * abs(sin)) / height
    broad = (width * abs(cos) + height * abs(sin)) / width
    zoom = 1 / max(tall, broad) if zoom_in else max(tall, broad) if zoom_out else 1
    rows = (np.arange(height) - (height - 1) / 2)[:, np.newaxis] * zoom
    columns = (np.arange(width) - (width - 1) / 2) * zoom
    x = (cos * columns - sin * rows) / (max(width - 1, 1) / 2)
    y = (sin * columns + cos * rows) / (max(height - 1, 1) / 2)
    return np.stack([x, y]).astype(np.float32)
