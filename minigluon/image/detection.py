"""``ImageDetIter``: batches of pictures with boxes around the objects in them."""

from __future__ import annotations

import logging

import numpy as np

from ..base import ArgumentError, MXNetError, four_lines
from ..io import DataDesc
from .det_augmenters import (
    CreateDetAugmenter,
    CreateMultiRandCropAugmenter,
    DetAugmenter,
    DetBorrowAug,
    DetHorizontalFlipAug,
    DetRandomCropAug,
    DetRandomPadAug,
    DetRandomSelectAug,
)
from .iterator import ImageIter

__all__ = [
    "CreateDetAugmenter",
    "CreateMultiRandCropAugmenter",
    "DetAugmenter",
    "DetBorrowAug",
    "DetHorizontalFlipAug",
    "DetRandomCropAug",
    "DetRandomPadAug",
    "DetRandomSelectAug",
    "ImageDetIter",
]


class ImageDetIter(ImageIter):
    """Batches of pictures with labels ``(batch, objects, width)``, filled up with -1.

    The label of a picture is a list of numbers: the length of the header (2 or more), the width of
    a row, more header if it is longer, then a row ``(class, xmin, ymin, xmax, ymax, ...)`` for each
    object, places from 0 to 1. A picture that loses all objects to the augmenters is left out.

    Parameters are those of `ImageIter`, but for the augmenters: without ``aug_list`` they are those
    of ``CreateDetAugmenter(data_shape, **kwargs)``.
    """

    _usual = staticmethod(CreateDetAugmenter)

    def __init__(
        self, batch_size, data_shape, path_imgrec=None, path_imglist=None, path_root=None,
        path_imgidx=None, shuffle=False, part_index=0, num_parts=1, aug_list=None, imglist=None,
        data_name="data", label_name="label", last_batch_handle="pad", **kwargs,
    ):  # fmt: skip
        super().__init__(
            batch_size, data_shape, None, path_imgrec, path_imglist, path_root, path_imgidx,
            shuffle, part_index, num_parts, aug_list, imglist, data_name, label_name,
            last_batch_handle=last_batch_handle, **kwargs,
        )  # fmt: skip
        self.label_shape = self._largest_label()
        self._describe()

    def _largest_label(self):
        """Most objects in a picture, and the width of a row."""
        most, width = 0, 5
        self._rewind()
        while True:
            try:
                rows = self._rows(self.next_sample()[0])
            except StopIteration:
                break
            most, width = max(most, len(rows)), max(width, rows.shape[1])
        self._rewind()
        return most, width

    def _describe(self):
        (data_name, _), (label_name, _) = self.provide_data[0], self.provide_label[0]
        self.provide_data = [DataDesc(data_name, (self.batch_size, *self.data_shape), self.dtype)]
        self.provide_label = [
            DataDesc(label_name, (self.batch_size, *self.label_shape), self.dtype)
        ]

    def _rows(self, label):
        """The objects of a label, a row each; raises ``MXNetError`` if there is none."""
        raw = np.asarray(label, np.float32).ravel()
        expected = "header length, row width, then rows (class, xmin, ymin, xmax, ymax, ...)"
        fix = "see help(mx.image.ImageDetIter)"
        if raw.size < 7:
            raise MXNetError(
                four_lines(f"Label shape is invalid: {raw.shape}", f"{raw}", expected, fix)
            )
        header, width = int(raw[0]), int(raw[1])
        if header < 2 or width < 5 or (raw.size - header) % width:
            what = f"Label shape {raw.shape} inconsistent with annotation width {width}."
            raise MXNetError(four_lines(what, f"{raw}", expected, fix))
        rows = raw[header:].reshape(-1, width)
        rows = rows[(rows[:, 3] > rows[:, 1]) & (rows[:, 4] > rows[:, 2])]
        if not len(rows):
            what = "Encounter sample with no valid label."
            raise MXNetError(four_lines(what, f"{raw}", "xmin < xmax, ymin < ymax", fix))
        return rows

    def _sample(self, label, encoded):
        data, rows = self.augmentation_transform(self._decoded(encoded), self._rows(label))
        valid = (rows[:, 0] >= 0) & (rows[:, 3] > rows[:, 1]) & (rows[:, 4] > rows[:, 2])
        if not valid.any():
            logging.debug("ImageDetIter leaves out a sample without a valid label: %s", rows)
            return None
        rows = rows[valid]
        filled = np.full(self.label_shape, -1, self.dtype)
        if len(rows) > len(filled) or rows.shape[1] > filled.shape[1]:
            raise ArgumentError(
                four_lines(
                    "ImageDetIter: a label does not fit into the batch.",
                    f"{rows.shape[0]} objects of {rows.shape[1]} numbers",
                    f"label_shape={self.label_shape}", "make it larger: reshape(label_shape=...)",
                )
            )  # fmt: skip
        filled[: len(rows), : rows.shape[1]] = rows
        return self._picture(data), filled

    def _stacked(self, labels):
        return np.stack(labels)

    def augmentation_transform(self, data, label):
        """A picture and its boxes after all augmenters."""
        for augment in self.auglist:
            data, label = augment(data, label)
        return data, label

    def check_label_shape(self, label_shape):
        """Raise ``ValueError`` for a shape into which not all labels fit."""
        if len(label_shape) != 2:
            raise _cannot("label_shape should have length 2", label_shape, self.label_shape)
        for what, new, old in zip(("count", "width"), label_shape, self.label_shape, strict=True):
            if new < old:
                what = f"Attempts to reduce label {what} from {old} to {new}, not allowed."
                raise _cannot(what, label_shape, self.label_shape)

    def reshape(self, data_shape=None, label_shape=None):
        """Give batches other shapes; augmenters that set a size must be made anew."""
        if data_shape is not None:
            self.check_data_shape(data_shape)
            self.data_shape = tuple(data_shape)
        if label_shape is not None:
            self.check_label_shape(label_shape)
            self.label_shape = tuple(label_shape)
        self._describe()

    def sync_label_shape(self, it, verbose=False):
        """Give this and another iterator, as for validation, the larger shape of labels."""
        if not isinstance(it, ImageDetIter):
            raise _cannot("sync_label_shape: it is no ImageDetIter.", type(it).__name__, "one")
        larger = tuple(map(max, self.label_shape, it.label_shape))
        for iterator in (self, it):
            if iterator.label_shape != larger:
                iterator.reshape(label_shape=larger)
                if verbose:
                    logging.info("Resized label_shape to %s.", larger)
        return it

    def draw_next(
        self, color=None, thickness=2, mean=None, std=None, clip=True, waitKey=None,
        window_name="draw_next", id2labels=None,
    ):  # fmt: skip
        """The pictures of an epoch after the augmenters with their boxes, uint8 arrays.

        Parameters
        ----------
        color : the colour of the boxes; otherwise each class has its own.
        mean, std : what was subtracted and divided by; True takes the numbers of ImageNet.
        id2labels : names of classes by number, written to the boxes.
        """
        if waitKey is not None:
            raise _cannot("draw_next: there are no windows.", f"waitKey={waitKey}", "waitKey=None")
        from .drawing import draw

        while True:
            try:
                label, encoded = self.next_sample()
            except StopIteration:
                return
            data, rows = self.augmentation_transform(self._decoded(encoded), self._rows(label))
            yield draw(data.asnumpy(), rows, color, thickness, mean, std, clip, id2labels)


def _cannot(what, received, expected):
    return ArgumentError(
        four_lines(what, str(received), f"{expected} or more", "see help(mx.image.ImageDetIter)")
    )
