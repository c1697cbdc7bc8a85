"""Data for tutorials: files fetched once, and the MNIST digits."""

from __future__ import annotations

import gzip
import math
from pathlib import Path

import numpy as np

from ..gluon import utils

MNIST_SOURCE = "https://ossci-datasets.s3.amazonaws.com/mnist/"
"""A folder with the four files of the MNIST database, in the IDX format."""


def download(url, fname=None, dirname=None, overwrite=False, retries=5):
    """Save what ``url`` holds as ``dirname/fname`` and return that name.

    ``fname`` defaults to the last part of the url, ``dirname`` to the current folder. A file that
    is there already is kept unless ``overwrite``.
    """
    name = Path(dirname or "") / (fname or url.rpartition("/")[2])
    return utils.download(url, path=str(name), overwrite=overwrite, retries=retries)


def get_mnist():
    """The MNIST digits as numpy arrays, fetched into the current folder when not there.

    Returns a dict: ``train_data`` (60000, 1, 28, 28) and ``test_data`` (10000, 1, 28, 28), float32
    from 0 to 1, with their ``train_label`` and ``test_label``, int8 numbers.
    """
    digits = {}
    for part, prefix in (("train", "train"), ("test", "t10k")):
        images = _read_idx(download(f"{MNIST_SOURCE}{prefix}-images-idx3-ubyte.gz"))
        labels = _read_idx(download(f"{MNIST_SOURCE}{prefix}-labels-idx1-ubyte.gz"))
        digits[f"{part}_data"] = images[:, None].astype(np.float32) / 255
        digits[f"{part}_label"] = labels.astype(np.int8)
    return digits


def _read_idx(name):
    """The array of unsigned bytes in a gzipped IDX file."""
    with gzip.open(name) as file:
        content = file.read()
    rank = int.from_bytes(content[3:4], "big")
    header = 4 + 4 * rank
    shape = [int.from_bytes(content[k : k + 4], "big") for k in range(4, header, 4)]
    if content[:3] != b"\0\0\x08" or len(content) != header + math.prod(shape):
        raise ValueError(
            f"{name} is not an IDX file of unsigned bytes.\n"
            f"  received  {len(content)} bytes that begin with {content[:4]!r}\n"
            f"  expected  b'\\x00\\x00\\x08' and the number of dimensions, then sizes and data\n"
            f"  fix       delete the file, so that it is fetched again"
        )
    return np.frombuffer(content, np.uint8, offset=header).reshape(shape)
