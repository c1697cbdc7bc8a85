"""Files are fetched once; MNIST comes as arrays."""

import gzip

import numpy as np
import pytest

from minigluon import test_utils
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
