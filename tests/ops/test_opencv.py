"""What ``mx.image`` is made of; recorded values are those of MXNet 1.9.1."""

import numpy as np
import pytest

from minigluon import MXNetError, nd

U = np.array([[[1], [2], [3]], [[4], [5], [6]]], "uint8")


@pytest.mark.parametrize(
    ("kind", "row"),
    [
        (0, [7, 7, 7, 7, 7]),
        (1, [1, 1, 2, 3, 3]),
        (2, [1, 1, 2, 3, 3]),
        (3, [6, 4, 5, 6, 4]),
        (4, [5, 4, 5, 6, 5]),
    ],
)
def test_borders_are_filled(kind, row):
    got = nd._internal._cvcopyMakeBorder(
        nd.array(U, dtype="uint8"), top=1, bot=0, left=1, right=1, type=kind, value=7
    )
    np.testing.assert_array_equal(got.asnumpy()[0, :, 0], row)
    np.testing.assert_array_equal(got.asnumpy()[1:, 1:4], U)


def test_resizing_is_that_of_images():
    x = nd.array(np.arange(60).reshape(4, 5, 3), dtype="uint8")
    got = nd._internal._cvimresize(x, w=7, h=3, interp=2)
    np.testing.assert_array_equal(
        got.asnumpy(), nd.image.resize(x, size=(7, 3), interp=2).asnumpy()
    )


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: nd._internal._cvimresize(x, w=0, h=2), "w=0"),
        (lambda x: nd._internal._cvimresize(x, w=2, h=2, interp=9), "_cvimresize: interp"),
        (lambda x: nd._internal._cvimresize(x[:, :, 0], w=2, h=2), "not an image"),
        (lambda x: nd._internal._cvcopyMakeBorder(x, 1, -1, 0, 0), "bot=-1"),
        (lambda x: nd._internal._cvcopyMakeBorder(x, 1, 1, 0, 0, type=9), "type=9"),
        (lambda x: nd._internal._cvcopyMakeBorder(x, 1, 1, 0, 0, values=(1, 2)), "values"),
    ],
)
def test_wrong_calls_are_named(call, words):
    with pytest.raises(MXNetError, match=words):
        call(nd.array(U, dtype="uint8"))


def test_pictures_are_read_from_bytes_and_files(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    pixels = np.arange(18, dtype=np.uint8).reshape(2, 3, 3)
    path = str(tmp_path / "picture.png")
    Image.fromarray(pixels).save(path)
    content = (tmp_path / "picture.png").read_bytes()
    buf = nd.array(np.frombuffer(content, np.uint8), dtype="uint8")
    decode, read = nd._internal._cvimdecode, nd._internal._cvimread
    assert (
        decode(buf).asnumpy().tolist() == read(filename=path).asnumpy().tolist() == pixels.tolist()
    )
    assert decode(buf, to_rgb=False).asnumpy().tolist() == pixels[:, :, ::-1].tolist()
    assert decode(buf, flag=0).shape == (2, 3, 1)
    with pytest.raises(MXNetError, match="not an image"):
        decode(buf[:20])
    with pytest.raises(MXNetError, match="_cvimdecode: buf holds no bytes"):
        decode(nd.ones(3))
    with pytest.raises(MXNetError, match="couldn't open file"):
        read(filename=path + "x")
