"""Pictures are read and written by OpenCV where there is no Pillow."""

import sys

import numpy as np
import pytest

from minigluon import MXNetError
from minigluon.kernels import codec

PICTURE = np.random.default_rng(0).integers(0, 256, (6, 5, 3)).astype(np.uint8)


@pytest.fixture
def without_pillow(monkeypatch):
    """A process in which Pillow cannot be imported."""
    for name in ("PIL", "PIL.Image"):
        monkeypatch.setitem(sys.modules, name, None)
    codec._opencv.cache_clear()
    yield monkeypatch
    codec._opencv.cache_clear()


@pytest.fixture
def opencv(without_pillow):
    pytest.importorskip("cv2")


def test_without_either_the_error_says_what_to_install(without_pillow):
    without_pillow.setitem(sys.modules, "cv2", None)
    codec._opencv.cache_clear()
    with pytest.raises(ImportError, match=r"pip install minigluon\[image\]"):
        codec.decode(b"x")


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_opencv_gives_a_png_back(opencv, channels):
    picture = np.concatenate([PICTURE, PICTURE[:, :, :1]], 2)[:, :, :channels]
    data = codec.encode(picture, 3, ".png")
    found = codec.as_read(data)
    assert (found.reshape(picture.shape) == picture).all()


def test_opencv_and_pillow_read_the_same(opencv):
    coloured, grey = codec.encode(PICTURE, 3, ".png"), codec.encode(PICTURE[:, :, 0], 3, ".png")
    assert (codec.decode(coloured) == PICTURE[:, :, ::-1]).all()
    assert (codec.decode(coloured, to_rgb=False) == PICTURE).all()
    assert (codec.decode(grey, 0)[:, :, 0] == PICTURE[:, :, 0]).all()
    assert codec.decode(coloured, 0).shape == (6, 5, 1)


def test_opencv_writes_jpeg_of_a_quality(opencv):
    sizes = [len(codec.encode(np.tile(PICTURE, (9, 9, 1)), q, ".jpg")) for q in (20, 95)]
    assert sizes[0] < sizes[1]


@pytest.mark.parametrize("data", [b"", b"hello", b"\x89PNG\r\n"])
def test_what_is_no_picture_is_refused_by_opencv_too(opencv, data):
    with pytest.raises(MXNetError, match="not an image"):
        codec.decode(data)


def test_a_format_opencv_does_not_know_is_refused(opencv):
    with pytest.raises(MXNetError, match="there is no such format"):
        codec.encode(PICTURE, 3, ".nothing")
