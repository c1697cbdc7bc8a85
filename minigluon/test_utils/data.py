"""Data for tutorials: files fetched once, and the MNIST digits."""

from __future__ import annotations

import bz2
import gzip
import math
import shutil
import zipfile
from pathlib import Path

import numpy as np

from ..base import MXNetError
from ..gluon import utils
from ..io import MNISTIter

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


def get_mnist_ubyte():
    """Put the four unpacked MNIST files into the folder ``data``, fetched when not there."""
    Path("data").mkdir(exist_ok=True)
    for part in ("train", "t10k"):
        for kind in ("images-idx3-ubyte", "labels-idx1-ubyte"):
            name = f"{part}-{kind}"
            if not Path("data", name).exists():
                packed = download(f"{MNIST_SOURCE}{name}.gz", dirname="data")
                with gzip.open(packed) as source, Path("data", name).open("wb") as target:
                    shutil.copyfileobj(source, target)


def get_mnist_iterator(batch_size, input_shape, num_parts=1, part_index=0):
    """Iterators over training and test digits; images are flat for a shape of one number."""
    get_mnist_ubyte()
    iterators = [
        MNISTIter(
            image=f"data/{part}-images-idx3-ubyte",
            label=f"data/{part}-labels-idx1-ubyte",
            batch_size=batch_size,
            shuffle=part == "train",
            flat=len(input_shape) != 3,
            num_parts=num_parts,
            part_index=part_index,
        )
        for part in ("train", "t10k")
    ]
    return iterators[0], iterators[1]


def get_bz2_data(data_dir, data_name, url, data_origin_name):
    """Fetch ``url`` as ``data_dir/data_origin_name`` and unpack it as ``data_dir/data_name``."""
    folder = Path(data_dir)
    if not (folder / data_name).exists():
        packed = download(url, fname=data_origin_name, dirname=str(folder))
        with bz2.open(packed) as source, (folder / data_name).open("wb") as target:
            shutil.copyfileobj(source, target)
        Path(packed).unlink()


def get_zip_data(data_dir, url, data_origin_name):
    """Fetch ``url`` as ``data_dir/data_origin_name`` and unpack it into ``data_dir``."""
    packed = download(url, fname=data_origin_name, dirname=str(data_dir))
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(data_dir)


def get_cifar10():
    """Check that the CIFAR-10 images are in ``data/cifar``, where tutorials read them.

    Raises ``MXNetError`` that says how to get them: the server MXNet fetched them from is gone.
    """
    _require(
        ["data/cifar/train.rec", "data/cifar/test.rec"],
        "fetch the pictures from https://www.cs.toronto.edu/~kriz/cifar.html and pack them with "
        "recordio.MXRecordIO",
    )


def get_mnist_pkl():
    """Check that ``data/mnist.pkl.gz`` is there.

    Raises ``MXNetError`` that says what to use instead: the server it came from is gone.
    """
    _require(["data/mnist.pkl.gz"], "use get_mnist() or get_mnist_ubyte(), the same digits")


def _require(names, remedy):
    missing = [name for name in names if not Path(name).exists()]
    if missing:
        raise MXNetError(
            "test_utils: a data set is not there.\n"
            f"  received  no file {missing[0]} in {Path.cwd()}\n"
            f"  expected  {', '.join(names)}\n  fix       {remedy}"
        )


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
