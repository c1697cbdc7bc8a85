"""Augmenters of pictures in which objects are to be found: boxes move with the pixels."""

from __future__ import annotations

import json
import random
from math import sqrt

import numpy as np

from .. import ndarray as nd
from ..base import ArgumentError, ArgumentTypeError, four_lines
from .augmenters import (
    Augmenter,
    ForceResizeAug,
    ResizeAug,
    color_augmenters,
)
from .pixels import copyMakeBorder, fixed_crop


class DetAugmenter:
    """Something that is done to a picture and its boxes; one's own has ``__call__(src, label)``.

    A label is an array of rows ``(class, xmin, ymin, xmax, ymax, ...)``, places from 0 to 1.
    """

    def __init__(self, **kwargs):
        self._kwargs = {k: v.tolist() if hasattr(v, "tolist") else v for k, v in kwargs.items()}

    def dumps(self):
        """Class and parameters as JSON."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, src, label):
        raise NotImplementedError("Must override implementation.")


class DetBorrowAug(DetAugmenter):
    """An augmenter of pictures that leaves everything in its place, such as one of colours."""

    def __init__(self, augmenter):
        if not isinstance(augmenter, Augmenter):
            raise ArgumentTypeError(
                four_lines(
                    "Borrowing from invalid Augmenter",
                    f"a {type(augmenter).__name__}",
                    "an augmenter of mx.image that moves nothing",
                    "pass for example mx.image.CastAug()",
                )
            )
        super().__init__()
        self.augmenter = augmenter

    def dumps(self):
        """Class, and what the augmenter says of itself."""
        return [type(self).__name__.lower(), self.augmenter.dumps()]

    def __call__(self, src, label):
        return self.augmenter(src), label


class DetRandomSelectAug(DetAugmenter):
    """One of several augmenters, or with probability ``skip_prob`` none."""

    def __init__(self, aug_list, skip_prob=0):
        super().__init__(skip_prob=skip_prob)
        self.aug_list = list(aug_list) if isinstance(aug_list, list | tuple) else [aug_list]
        for augmenter in self.aug_list:
            if not isinstance(augmenter, DetAugmenter):
                raise ArgumentError(
                    four_lines(
                        "Allow DetAugmenter in list only",
                        f"a {type(augmenter).__name__}",
                        "augmenters that know boxes",
                        "wrap others: DetBorrowAug(augmenter)",
                    )
                )
        self.skip_prob = skip_prob if self.aug_list else 1

    def dumps(self):
        """Class, and what the augmenters say of themselves."""
        return [type(self).__name__.lower(), [x.dumps() for x in self.aug_list]]

    def __call__(self, src, label):
        if random.random() < self.skip_prob:
            return src, label
        random.shuffle(self.aug_list)
        return self.aug_list[0](src, label)


class DetHorizontalFlipAug(DetAugmenter):
    """Mirror picture and boxes, left to right, with probability ``p``."""

    def __init__(self, p):
        super().__init__(p=p)
        self.p = p

    def __call__(self, src, label):
        if random.random() >= self.p:
            return src, label
        label = label.copy()
        label[:, [1, 3]] = 1 - label[:, [3, 1]]
        return nd.flip(src, axis=1), label


class DetRandomCropAug(DetAugmenter):
    """Cut out a random part that has enough of the objects it touches.

    Parameters
    ----------
    min_object_covered : more than this part of every object that is touched must be inside.
    aspect_ratio_range : least and largest width to height; one number fixes it.
    area_range : least and largest part of the picture's area.
    min_eject_coverage : an object of which less is inside is forgotten.
    max_attempts : how often to draw before the picture is left as it is.
    """

    def __init__(
        self, min_object_covered=0.1, aspect_ratio_range=(0.75, 1.33), area_range=(0.05, 1.0),
        min_eject_coverage=0.3, max_attempts=50,
    ):  # fmt: skip
        ratios = _range("DetRandomCropAug", "aspect_ratio_range", aspect_ratio_range)
        areas = _range("DetRandomCropAug", "area_range", area_range)
        super().__init__(
            min_object_covered=min_object_covered, aspect_ratio_range=ratios, area_range=areas,
            min_eject_coverage=min_eject_coverage, max_attempts=max_attempts,
        )  # fmt: skip
        self.min_object_covered, self.min_eject_coverage = min_object_covered, min_eject_coverage
        self.aspect_ratio_range, self.area_range = ratios, areas
        self.max_attempts = max_attempts

    def __call__(self, src, label):
        height, width = src.shape[:2]
        for _ in range(self.max_attempts):
            w, h = _drawn(height, width, self.aspect_ratio_range, self.area_range)
            if not (1 <= w <= width and 1 <= h <= height):
                continue
            x, y = random.randint(0, width - w), random.randint(0, height - h)
            part = np.array([x / width, y / height, (x + w) / width, (y + h) / height])
            kept = self._kept(label, part)
            if kept is not None:
                return fixed_crop(src, x, y, w, h), kept
        return src, label

    def _kept(self, label, part):
        """The objects inside, placed in the part; None if the part will not do."""
        low = np.maximum(label[:, 1:3], part[:2])
        high = np.minimum(label[:, 3:5], part[2:])
        inside = np.prod(np.maximum(high - low, 0), axis=1)
        whole = np.prod(np.maximum(label[:, 3:5] - label[:, 1:3], 0), axis=1)
        covered = np.divide(inside, whole, out=np.zeros_like(inside), where=whole > 0)
        touched = covered[covered > 0]
        if not touched.size or touched.min() <= self.min_object_covered:
            return None
        keep = (covered > 0) & (covered >= self.min_eject_coverage)
        if not keep.any():
            return None
        kept, size = label[keep].copy(), part[2:] - part[:2]
        kept[:, 1:3] = (low[keep] - part[:2]) / size
        kept[:, 3:5] = (high[keep] - part[:2]) / size
        return kept


class DetRandomPadAug(DetAugmenter):
    """Put a picture somewhere on a larger canvas, so that objects become smaller.

    Parameters
    ----------
    aspect_ratio_range : least and largest width to height of the canvas.
    area_range : its least and largest area, in areas of the picture, from 1.
    pad_val : the colour of the canvas.
    """

    def __init__(
        self, aspect_ratio_range=(0.75, 1.33), area_range=(1.0, 3.0), max_attempts=50,
        pad_val=(128, 128, 128),
    ):  # fmt: skip
        pad_val = tuple(pad_val) if isinstance(pad_val, list | tuple) else (pad_val,)
        ratios = _range("DetRandomPadAug", "aspect_ratio_range", aspect_ratio_range)
        areas = _range("DetRandomPadAug", "area_range", area_range)
        super().__init__(
            aspect_ratio_range=ratios, area_range=areas, max_attempts=max_attempts, pad_val=pad_val
        )
        self.aspect_ratio_range, self.area_range = ratios, areas
        self.max_attempts, self.pad_val = max_attempts, pad_val

    def __call__(self, src, label):
        height, width = src.shape[:2]
        for _ in range(self.max_attempts):
            w, h = _drawn(height, width, self.aspect_ratio_range, self.area_range)
            if w < width or h < height or (w, h) == (width, height):
                continue
            x, y = random.randint(0, w - width), random.randint(0, h - height)
            border = y, h - height - y, x, w - width - x
            label = label.copy()
            label[:, [1, 3]] = (label[:, [1, 3]] * width + x) / w
            label[:, [2, 4]] = (label[:, [2, 4]] * height + y) / h
            return copyMakeBorder(src, *border, values=self.pad_val), label
        return src, label


def _drawn(height, width, ratios, areas):
    """A random width and height."""
    area, ratio = random.uniform(*areas) * height * width, random.uniform(*ratios)
    return round(sqrt(area * ratio)), round(sqrt(area / ratio))


def _range(augmenter, name, value):
    value = tuple(value) if isinstance(value, list | tuple) else (value, value)
    if len(value) != 2 or not 0 < value[0] <= value[1]:
        raise ArgumentError(
            four_lines(
                f"{augmenter}: {name} is not a range.",
                f"{name}={value}",
                "two numbers above 0, the smaller first",
                f"pass {name}=(0.5, 1.0)",
            )
        )
    return value


def CreateMultiRandCropAugmenter(
    min_object_covered=0.1, aspect_ratio_range=(0.75, 1.33), area_range=(0.05, 1.0),
    min_eject_coverage=0.3, max_attempts=50, skip_prob=0,
):  # fmt: skip
    """A choice between random crops: parameters may be lists, with a value for each crop.

    Examples
    --------
    >>> crops = CreateMultiRandCropAugmenter(min_object_covered=[0.1, 0.5, 0.9])
    >>> len(crops.aug_list)
    3
    """
    given = (min_object_covered, aspect_ratio_range, area_range, min_eject_coverage, max_attempts)
    lists = [value if isinstance(value, list) else [value] for value in given]
    count = max(map(len, lists))
    if any(len(values) not in (1, count) for values in lists):
        raise ArgumentError(
            four_lines(
                "CreateMultiRandCropAugmenter: lists have different lengths.",
                f"lengths {[len(values) for values in lists]}",
                f"{count} values, or one for all crops",
                "make the lists as long as each other",
            )
        )
    lists = [values * count if len(values) == 1 else values for values in lists]
    crops = [DetRandomCropAug(*values) for values in zip(*lists, strict=True)]
    return DetRandomSelectAug(crops, skip_prob=skip_prob)


def CreateDetAugmenter(
    data_shape, resize=0, rand_crop=0, rand_pad=0, rand_gray=0, rand_mirror=False, mean=None,
    std=None, brightness=0, contrast=0, saturation=0, pca_noise=0, hue=0, inter_method=2,
    min_object_covered=0.1, aspect_ratio_range=(0.75, 1.33), area_range=(0.05, 3.0),
    min_eject_coverage=0.3, max_attempts=50, pad_val=(127, 127, 127),
):  # fmt: skip
    """The usual augmenters where objects are to be found.

    Parameters
    ----------
    rand_crop, rand_pad : how likely a picture is cut, and put on a larger canvas.
    area_range : least area of a crop and largest of a canvas, in areas of the picture.
    """
    augmenters = []
    if resize > 0:
        augmenters.append(DetBorrowAug(ResizeAug(resize, inter_method)))
    if rand_crop > 0:
        augmenters.append(
            CreateMultiRandCropAugmenter(
                min_object_covered, aspect_ratio_range, area_range, min_eject_coverage,
                max_attempts, skip_prob=1 - rand_crop,
            )
        )  # fmt: skip
    if rand_mirror:
        augmenters.append(DetHorizontalFlipAug(0.5))
    if rand_pad > 0:
        areas = (1.0, max(1.0, area_range[1]))
        pad = DetRandomPadAug(aspect_ratio_range, areas, max_attempts, pad_val)
        augmenters.append(DetRandomSelectAug([pad], 1 - rand_pad))
    size = data_shape[2], data_shape[1]
    last = color_augmenters(brightness, contrast, saturation, hue, pca_noise, rand_gray, mean, std)
    return augmenters + [DetBorrowAug(a) for a in (ForceResizeAug(size, inter_method), *last)]
