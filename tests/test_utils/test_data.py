"""Files are fetched once; MNIST comes as arrays."""

import bz2
import gzip
import zipfile

import numpy as np
import pytest

from minigluon import MXNetError, test_utils
from minigluon.test_utils import data


def idx(array):
    """The gzipped IDX text of an array of unsigned bytes."""
    header = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
    return gzip.compress(header + array.astype("u1").tobytes())


@pytest.fixture
def mnist_source(tmp_path, monkeypatch):
    """A folder with two digits in place of the published one, and another to work in."""
    images = np.arange(2 * 28 * 28).reshape(2, 28, 28) % 256
    for prefix in ("train", "t10k"):
        (tmp_path / f"{prefix}-images-idx3-ubyte.gz").write_bytes(idx(images))
        (tmp_path / f"{prefix}-labels-idx1-ubyte.gz").write_bytes(idx(np.array([3, 5])))
    monkeypatch.setattr(data, "MNIST_SOURCE", tmp_path.as_uri() + "/")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


def test_mnist_comes_as_scaled_images_with_their_labels(mnist_source):
    digits = test_utils.get_mnist()
    assert digits["train_data"].shape == (2, 1, 28, 28)
    assert digits["train_data"].dtype == np.float32
    assert digits["train_data"].max() == 1
    assert digits["test_label"].tolist() == [3, 5]


def test_a_file_that_is_there_is_kept(mnist_source):
    url = (mnist_source / "train-labels-idx1-ubyte.gz").as_uri()
    name = test_utils.download(url, fname="labels", dirname=str(mnist_source / "kept"))
    (mnist_source / "kept" / "labels").write_text("mine")
    assert test_utils.download(url, fname="labels", dirname=str(mnist_source / "kept")) == name
    assert (mnist_source / "kept" / "labels").read_text() == "mine"
    test_utils.download(url, fname="labels", dirname=str(mnist_source / "kept"), overwrite=True)
    assert (mnist_source / "kept" / "labels").read_bytes()[:2] == b"\x1f\x8b"


def test_a_broken_file_is_refused(mnist_source):
    (mnist_source / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(b"\0\0\x08\x01\0"))
    with pytest.raises(ValueError, match="not an IDX file"):
        test_utils.get_mnist()


def test_unpacked_mnist_files_feed_iterators(mnist_source):
    train, test = test_utils.get_mnist_iterator(batch_size=2, input_shape=(784,))
    assert next(train).data[0].shape == (2, 784)
    assert sorted(next(test).label[0].asnumpy()) == [3, 5]


def test_bz2_data_is_unpacked_and_the_packed_file_removed(tmp_path):
    (tmp_path / "there.bz2").write_bytes(bz2.compress(b"1 1:2\n"))
    folder = tmp_path / "here"
    url = (tmp_path / "there.bz2").as_uri()
    test_utils.get_bz2_data(str(folder), "a.t", url, "a.t.bz2")
    assert [(f.name, f.read_bytes()) for f in folder.iterdir()] == [("a.t", b"1 1:2\n")]


def test_zip_data_is_unpacked_beside_the_archive(tmp_path):
    with zipfile.ZipFile(tmp_path / "there.zip", "w") as archive:
        archive.writestr("ml/ratings", "5")
    folder = tmp_path / "here"
    test_utils.get_zip_data(str(folder), (tmp_path / "there.zip").as_uri(), "ml.zip")
    assert (folder / "ml" / "ratings").read_text() == "5"


@pytest.mark.parametrize("get", [test_utils.get_cifar10, test_utils.get_mnist_pkl])
def test_data_whose_server_is_gone_is_asked_for_with_a_remedy(get, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MXNetError, match="fix "):
        get()
