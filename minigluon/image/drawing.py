"""Boxes drawn onto pictures, to see what a detector is shown."""

from __future__ import annotations

import numpy as np

from .augmenters import IMAGENET_MEAN, IMAGENET_STD
from .codec import pillow

_COLORS = ((230, 60, 60), (60, 180, 75), (0, 110, 220), (250, 180, 20), (145, 30, 180))


def draw(picture, rows, color=None, thickness=2, mean=None, std=None, clip=True, names=None):
    """A picture ``(height, width, 3)`` in uint8 with the boxes of ``rows``.

    Parameters
    ----------
    rows : ``(class, xmin, ymin, xmax, ymax, ...)``, places from 0 to 1.
    mean, std : what is added and multiplied first; True takes the numbers of ImageNet.
    """
    pixels = picture.astype(np.float64)
    if std is not None:
        pixels *= IMAGENET_STD if std is True else std
    if mean is not None:
        pixels += IMAGENET_MEAN if mean is True else mean
    if clip:
        pixels = np.clip(pixels, 0, 255)
    Image = pillow()
    from PIL import ImageDraw

    image = Image.fromarray(pixels.astype(np.uint8))
    pen = ImageDraw.Draw(image)
    height, width = pixels.shape[:2]
    for kind, *place in rows[:, :5]:
        x0, y0, x1, y1 = np.multiply(place, (width, height, width, height)).astype(int).tolist()
        paint = tuple(color) if color is not None else _COLORS[int(kind) % len(_COLORS)]
        pen.rectangle((x0, y0, x1, y1), outline=paint, width=thickness)
        if names:
            pen.text((x0 + thickness, y0 + thickness), str(names[int(kind)]), fill=paint)
    return np.array(image)
