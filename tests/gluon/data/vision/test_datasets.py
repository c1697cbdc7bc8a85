"""Image data sets in files of the published formats."""

import gzip
import io
import struct
import tarfile

import numpy as np
import pytest

from minigluon import nd
from minigluon.gluon.data.vision import (
    CIFAR10,
    CIFAR100,
    MNIST,
    FashionMNIST,
    ImageFolderDataset,
    ImageRecordDataset,
)

PIXELS = np.random.default_rng(0).integers(0, 256, (5, 28, 28), dtype="uint8")
LABELS = np.array([3, 1, 4, 1, 5], "uint8")


def write_digits(folder, part, pack):
    for name, array in (
        (f"{part}-images-idx3-ubyte", PIXELS),
        (f"{part}-labels-idx1-ubyte", LABELS),
    ):
        content = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
        content += array.tobytes()
        if pack:
            (folder / f"{name}.gz").write_bytes(gzip.compress(content))
        else:
            (folder / name).write_bytes(content)


@pytest.mark.parametrize("pack", [True, False])
@pytest.mark.parametrize("kind", [MNIST, FashionMNIST])
def test_digits_are_bytes_with_a_channel_and_int32_labels(tmp_path, kind, pack):
    write_digits(tmp_path, "t10k", pack)
    digits = kind(tmp_path, train=False)
    image, label = digits[2]
    assert len(digits) == 5
    assert type(image) is nd.NDArray
    assert (image.dtype, image.shape) == (np.uint8, (28, 28, 1))
    assert (image.asnumpy()[..., 0] == PIXELS[2]).all()
    assert (type(label), label) == (np.int32, 4)


def test_a_transform_gets_image_and_label(tmp_path):
    write_digits(tmp_path, "train", True)
    digits = MNIST(str(tmp_path), transform=lambda image, label: (image.shape, label + 1))
    assert digits[0] == ((28, 28, 1), 4)


def test_a_missing_file_is_named_with_its_folder_and_source(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        MNIST(tmp_path)
    for part in ("train-images-idx3-ubyte.gz", str(tmp_path), "https://", "root=folder"):
        assert part in str(caught.value)


def test_mxnet_home_is_where_data_is_looked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("MXNET_HOME", str(tmp_path))
    folder = tmp_path / "datasets" / "fashion-mnist"
    folder.mkdir(parents=True)
    write_digits(folder, "train", True)
    assert len(FashionMNIST()) == 5


@pytest.mark.slow
def test_the_published_digits_are_read(data_folder):
    digits = MNIST(data_folder, train=False)
    assert len(digits) == 10_000
    assert np.bincount(digits._label).tolist()[:3] == [980, 1135, 1032]


def cifar_rows(count, labels, seed):
    return np.random.default_rng(seed).integers(0, 10, (count, labels + 3072), dtype="uint8")


def test_cifar10_joins_its_parts(tmp_path):
    parts = [cifar_rows(2, 1, seed) for seed in range(6)]
    names = [f"data_batch_{n}.bin" for n in range(1, 6)] + ["test_batch.bin"]
    for name, rows in zip(names, parts, strict=True):
        rows.tofile(tmp_path / name)
    train, test = CIFAR10(tmp_path), CIFAR10(tmp_path, train=False)
    assert (len(train), len(test)) == (10, 2)
    image, label = train[3]
    assert (image.asnumpy() == parts[1][1, 1:].reshape(3, 32, 32).transpose(1, 2, 0)).all()
    assert (type(label), label) == (np.int32, parts[1][1, 0])


@pytest.mark.parametrize("fine", [False, True])
def test_cifar100_has_two_labels_and_is_read_from_its_archive(tmp_path, fine):
    rows = cifar_rows(3, 2, 7)
    with tarfile.open(tmp_path / "cifar-100-binary.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo("cifar-100-binary/test.bin")
        member.size = rows.nbytes
        archive.addfile(member, io.BytesIO(rows.tobytes()))
    data = CIFAR100(tmp_path, fine_label=fine, train=False)
    assert [data[i][1] for i in range(3)] == rows[:, int(fine)].tolist()


def test_a_cut_cifar_file_is_an_error(tmp_path):
    (tmp_path / "test_batch.bin").write_bytes(bytes(100))
    with pytest.raises(ValueError, match=r"test_batch\.bin is not in CIFAR's binary format"):
        CIFAR10(tmp_path, train=False)


def test_folders_are_classes_in_order(tmp_path):
    for name in ("b_cat", "a_dog"):
        (tmp_path / name).mkdir()
    np.save(tmp_path / "b_cat" / "2.npy", PIXELS[0][..., None])
    np.save(tmp_path / "b_cat" / "1.npy", PIXELS[1][..., None])
    np.save(tmp_path / "a_dog" / "x.npy", PIXELS[2][..., None])
    data = ImageFolderDataset(tmp_path)
    assert data.synsets == ["a_dog", "b_cat"]
    assert [label for _, label in data.items] == [0, 1, 1]
    assert (data[1][0].asnumpy()[..., 0] == PIXELS[1]).all()


def test_other_files_are_ignored_with_a_warning(tmp_path):
    (tmp_path / "notes.txt").touch()
    with pytest.warns(UserWarning, match="not a directory"):
        assert len(ImageFolderDataset(tmp_path)) == 0
    (tmp_path / "notes.txt").unlink()
    (tmp_path / "dog").mkdir()
    (tmp_path / "dog" / "a.gif").touch()
    with pytest.warns(UserWarning, match=r"of type \.gif"):
        assert ImageFolderDataset(tmp_path).items == []


def test_a_missing_folder_or_record_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no such folder"):
        ImageFolderDataset(tmp_path / "none")
    with pytest.raises(FileNotFoundError, match=r"none\.rec"):
        ImageRecordDataset(tmp_path / "none.rec")
