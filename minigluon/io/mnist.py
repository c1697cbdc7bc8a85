"""Images and labels in the IDX format of the MNIST files."""

from __future__ import annotations

import logging
import math

import numpy as np

from ..base import ArgumentError, ShapeError
from ..context import current_context
from ..core.invoke import wrap
from .files import MXDataIter, part_of, read_all

_DTYPES = {8: "u1", 9: "i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}


class MNISTIter(MXDataIter):
    """Batches of images scaled to ``[0, 1)`` (a byte divided by 256) and of their labels.

    Images that do not fill a batch are left out.

    Parameters
    ----------
    image, label : IDX files, packed with gzip or not.
    shuffle : put the images in an order that depends on ``seed`` only, the same in every epoch.
    flat : rows of pixels instead of ``(1, height, width)``.
    num_parts, part_index : read one of several even parts.
    """

    def __init__(
        self,
        image="./train-images-idx3-ubyte",
        label="./train-labels-idx1-ubyte",
        batch_size=128,
        shuffle=True,
        flat=False,
        seed=0,
        silent=False,
        num_parts=1,
        part_index=0,
        data_name="data",
        label_name="softmax_label",
        **settings,
    ):
        super().__init__(batch_size, True, data_name, label_name, settings)
        images, labels = read_idx(image), read_idx(label)
        if images.ndim != 3 or labels.shape != images.shape[:1]:
            raise ShapeError(
                "MNISTIter: these are not images and their labels.\n"
                f"  received  {images.shape} from {image}, {labels.shape} from {label}\n"
                "  expected  (n, height, width) and (n,)\n"
                "  fix       pass ...-images-idx3-ubyte as image, ...-labels-idx1-ubyte as label"
            )
        part = slice(*part_of(len(images), num_parts, part_index))
        images, labels = images[part], labels[part]
        if shuffle:
            order = np.random.RandomState(seed).permutation(len(images))
            images, labels = images[order], labels[order]
        shape = (len(images), -1) if flat else (len(images), 1, *images.shape[1:])
        self._images = images.reshape(shape)
        self._labels = labels.astype(np.float32)
        if not silent:
            logging.info(
                "MNISTIter: load %d images, shuffle=%d, shape=%s",
                len(images),
                shuffle,
                (batch_size, *self._images.shape[1:]),
            )
        self._ctx = current_context()
        self._begin(len(images) // batch_size * batch_size or len(images), image)
        self._count = len(images) // batch_size * batch_size

    def _slice(self, start, stop):
        pixels = self._images[start:stop] * np.float32(1 / 256)
        return wrap(pixels, self._ctx), wrap(self._labels[start:stop].copy(), self._ctx)


def read_idx(path):
    """The array in an IDX file, packed with gzip or not."""
    content = read_all(path)
    kind = content[2] if content[:2] == b"\0\0" and len(content) >= 4 else None
    if kind not in _DTYPES:
        raise _not_idx(path, f"bytes {content[:4]!r} at the start", "a type code after two zeros")
    ndim = content[3]
    if len(content) < 4 + 4 * ndim:
        raise _not_idx(path, f"{len(content)} bytes", f"{4 + 4 * ndim}, for {ndim} dimensions")
    shape = tuple(np.frombuffer(content, ">u4", ndim, 4).tolist())
    dtype = np.dtype(_DTYPES[kind])
    count = math.prod(shape)
    wanted = count * dtype.itemsize
    if len(content) - 4 - 4 * ndim < wanted:
        raise _not_idx(path, f"{len(content)} bytes", f"{4 + 4 * ndim + wanted}, for shape {shape}")
    return np.frombuffer(content, dtype, count, 4 + 4 * ndim).reshape(shape)


def _not_idx(path, received, expected):
    return ArgumentError(
        f"MNISTIter: {path} is not an IDX file, or is cut short.\n  received  {received}\n"
        f"  expected  {expected}\n  fix       download the file again"
    )
