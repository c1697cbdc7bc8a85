"""Image data sets in the formats they are published in, read from local folders."""

from __future__ import annotations

import os
import tarfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ....base import ShapeError, four_lines
from ....context import current_context
from ....core.invoke import wrap
from ....io.mnist import read_idx
from ....ndarray import NDArray
from ....ndarray import array as nd_array
from ..dataset import Dataset, RecordFileDataset


def default_root(name: str) -> str:
    """Where a data set is looked for: ``datasets/<name>`` below ``MXNET_HOME``, or ``~/.mxnet``."""
    home = os.environ.get("MXNET_HOME") or str(Path("~") / ".mxnet")
    return str(Path(home) / "datasets" / name)


class _DownloadedDataset(Dataset):
    """Images ``(height, width, channels)`` of bytes and int32 labels, all in memory."""

    _source = ""

    def __init__(self, root: str, transform: Callable | None):
        self._transform = transform
        self._root = str(Path(root).expanduser())
        images, labels = self._get_data()
        if len(images) != len(labels):
            raise ShapeError(
                four_lines(
                    f"{type(self).__name__}: images and labels do not belong together.",
                    f"{len(images)} images, {len(labels)} labels in {self._root}",
                    "a label for every image",
                    "get both files again from one source",
                )
            )
        self._data = wrap(np.ascontiguousarray(images), current_context())
        self._label = labels.astype(np.int32)

    def __len__(self) -> int:
        return len(self._label)

    def __getitem__(self, idx: Any) -> Any:
        image, label = self._data[idx], self._label[idx]
        return (image, label) if self._transform is None else self._transform(image, label)

    def _get_data(self) -> tuple[np.ndarray, np.ndarray]:
        raise NotImplementedError

    def _file(self, *names: str) -> Path:
        """The first of several files that is there."""
        for name in names:
            path = Path(self._root) / name
            if path.is_file():
                return path
        raise FileNotFoundError(
            four_lines(
                f"{type(self).__name__}: {names[0]} not found, and nothing is downloaded.",
                f"root={self._root!r}",
                f"there one of {', '.join(names)}",
                f"get it from {self._source} and put it into that folder, or pass root=folder",
            )
        )


class MNIST(_DownloadedDataset):
    """70,000 handwritten digits: images ``(28, 28, 1)`` of bytes, and int32 labels.

    Parameters
    ----------
    root : the folder with ``train-images-idx3-ubyte.gz``, ``train-labels-idx1-ubyte.gz``,
        ``t10k-images-idx3-ubyte.gz`` and ``t10k-labels-idx1-ubyte.gz``, packed or not.
    train : the 60,000 images for training, otherwise the 10,000 for testing.
    transform : a function of an image and its label.
    """

    _source = "https://ossci-datasets.s3.amazonaws.com/mnist/"

    def __init__(
        self, root: str | None = None, train: bool = True, transform: Callable | None = None
    ):
        self._train = train
        super().__init__(root or default_root("mnist"), transform)

    def _get_data(self) -> tuple[np.ndarray, np.ndarray]:
        part = "train" if self._train else "t10k"
        names = [f"{part}-images-idx3-ubyte", f"{part}-labels-idx1-ubyte"]
        images, labels = (read_idx(self._file(f"{name}.gz", name)) for name in names)
        return images[..., np.newaxis], labels


class FashionMNIST(MNIST):
    """70,000 pieces of clothing in the format of `MNIST`, and with its file names."""

    _source = "https://github.com/zalandoresearch/fashion-mnist"

    def __init__(
        self, root: str | None = None, train: bool = True, transform: Callable | None = None
    ):
        super().__init__(root or default_root("fashion-mnist"), train, transform)


class CIFAR10(_DownloadedDataset):
    """60,000 photographs of 10 kinds of things: images ``(32, 32, 3)`` of bytes, int32 labels.

    Parameters
    ----------
    root : the folder with ``data_batch_1.bin`` to ``data_batch_5.bin`` and ``test_batch.bin``, or
        with the archive ``cifar-10-binary.tar.gz``, which is read as it is.
    train : the 50,000 images for training, otherwise the 10,000 for testing.
    transform : a function of an image and its label.
    """

    _source = "https://www.cs.toronto.edu/~kriz/cifar.html (binary version)"
    _archive, _folder = "cifar-10-binary.tar.gz", "cifar-10-batches-bin"
    _parts = tuple(f"data_batch_{number}.bin" for number in range(1, 6)), ("test_batch.bin",)
    _labels, _column = 1, 0

    def __init__(
        self, root: str | None = None, train: bool = True, transform: Callable | None = None
    ):
        self._train = train
        super().__init__(root or default_root("cifar10"), transform)

    def _get_data(self) -> tuple[np.ndarray, np.ndarray]:
        parts = [self._read_batch(name) for name in self._parts[0 if self._train else 1]]
        rows = np.concatenate(parts)
        images = rows[:, self._labels :].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        return images, rows[:, self._column]

    def _read_batch(self, name: str) -> np.ndarray:
        """The rows of a file: labels, then the pixels of the red, green and blue image."""
        path = self._file(name, f"{self._folder}/{name}", self._archive)
        if path.name == self._archive:
            with tarfile.open(path) as archive:
                member = archive.extractfile(f"{self._folder}/{name}")
                content = np.frombuffer(member.read(), np.uint8)  # type: ignore[union-attr]
        else:
            content = np.fromfile(path, np.uint8)
        width = self._labels + 3 * 32 * 32
        if content.size % width:
            raise ShapeError(
                four_lines(
                    f"{type(self).__name__}: {path} is not in CIFAR's binary format, or is cut.",
                    f"{content.size} bytes",
                    f"a multiple of {width}",
                    f"get it again from {self._source}",
                )
            )
        return content.reshape(-1, width)


class CIFAR100(CIFAR10):
    """60,000 photographs of 100 kinds of things in 20 groups, in the format of `CIFAR10`.

    Parameters
    ----------
    root : the folder with ``train.bin`` and ``test.bin``, or ``cifar-100-binary.tar.gz``.
    fine_label : the number of the kind as the label, otherwise that of the group.
    """

    _archive, _folder = "cifar-100-binary.tar.gz", "cifar-100-binary"
    _parts = ("train.bin",), ("test.bin",)
    _labels = 2

    def __init__(
        self,
        root: str | None = None,
        fine_label: bool = False,
        train: bool = True,
        transform: Callable | None = None,
    ):
        self._fine_label = fine_label
        self._column = int(fine_label)
        super().__init__(root or default_root("cifar100"), train, transform)


class ImageFolderDataset(Dataset):
    """Images in folders, one for each class: ``root/car/1.png``, ``root/bus/7.jpg``.

    ``synsets`` lists the classes, sorted, and ``items`` the pairs of file name and label.

    Parameters
    ----------
    root : the folder of the folders.
    flag : 1 for colour, 0 for grey.
    transform : a function of an image and its label.
    """

    _exts = (".jpg", ".jpeg", ".png", ".npy")

    def __init__(self, root: str, flag: int = 1, transform: Callable | None = None):
        self._root, self._flag, self._transform = str(Path(root).expanduser()), flag, transform
        self.synsets: list[str] = []
        self.items: list[tuple[str, int]] = []
        if not Path(self._root).is_dir():
            raise FileNotFoundError(
                four_lines(
                    "ImageFolderDataset: no such folder.", f"root={root!r}",
                    "a folder that has one folder of images for each class",
                    "check the path",
                )
            )  # fmt: skip
        self._list_images(self._root)

    def _list_images(self, root: str) -> None:
        for folder in sorted(Path(root).iterdir()):
            if not folder.is_dir():
                warnings.warn(f"Ignoring {folder}, which is not a directory.", stacklevel=4)
                continue
            label = len(self.synsets)
            self.synsets.append(folder.name)
            for path in sorted(folder.iterdir()):
                if path.suffix.lower() in self._exts:
                    self.items.append((str(path), label))
                else:
                    warnings.warn(
                        f"Ignoring {path} of type {path.suffix}. Only support "
                        f"{', '.join(self._exts)}",
                        stacklevel=4,
                    )

    def __getitem__(self, idx: int) -> Any:
        path, label = self.items[idx]
        image = self._read(path)
        return (image, label) if self._transform is None else self._transform(image, label)

    def _read(self, path: str) -> NDArray:
        if path.lower().endswith(".npy"):
            stored = np.load(path)
            return nd_array(stored, dtype=stored.dtype)
        from .... import image

        return image.imread(path, self._flag)

    def __len__(self) -> int:
        return len(self.items)


class ImageRecordDataset(RecordFileDataset):
    """Images and labels of a ``.rec`` file that has its ``.idx`` file beside it.

    Parameters
    ----------
    filename : the ``.rec`` file.
    flag : 1 for colour, 0 for grey.
    transform : a function of an image and its label.
    """

    def __init__(self, filename: str, flag: int = 1, transform: Callable | None = None):
        super().__init__(filename)
        self._flag, self._transform = flag, transform

    def __getitem__(self, idx: int) -> Any:
        from .... import image, recordio

        header, content = recordio.unpack(super().__getitem__(idx))
        picture = image.imdecode(content, self._flag)
        if self._transform is None:
            return picture, header.label
        return self._transform(picture, header.label)
