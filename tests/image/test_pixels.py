"""Reading, resizing, cutting, turning; sums and places are recorded from MXNet 1.9.1."""

import io
import random
import sys

import numpy as np
import pytest

from minigluon import image, nd
from minigluon.base import MXNetError
from minigluon.recordio import IRHeader, pack_img, unpack

PIXELS = np.random.RandomState(3).randint(0, 256, (40, 60, 3))


@pytest.fixture
def picture():
    return nd.array(PIXELS, dtype="uint8")


@pytest.fixture
def ramp():
    """Three channels that say where a pixel lies; the first two around the middle."""
    y, x = np.mgrid[-20:21, -30:31]
    return nd.array(np.stack([x, y, np.ones_like(x)]), dtype="float32")


def encoded(pixels, suffix=".png"):
    """A picture file of pixels with red first."""
    pytest.importorskip("PIL", reason="pictures need Pillow")
    return unpack(pack_img(IRHeader(0, 0, 0, 0), pixels[:, :, ::-1], img_fmt=suffix))[1]


@pytest.mark.parametrize(
    "kind",
    [
        bytes,
        bytearray,
        lambda b: np.frombuffer(b, np.uint8),
        lambda b: nd.array(np.frombuffer(b, np.uint8), dtype="uint8"),
    ],
)
def test_imdecode_takes_bytes_and_arrays_of_them(kind):
    found = image.imdecode(kind(encoded(PIXELS.astype(np.uint8))))
    assert found.dtype == np.uint8
    np.testing.assert_array_equal(found.asnumpy(), PIXELS)


def test_imdecode_gives_blue_first_or_grey_if_asked():
    data = encoded(PIXELS.astype(np.uint8))
    np.testing.assert_array_equal(image.imdecode(data, to_rgb=0).asnumpy(), PIXELS[:, :, ::-1])
    assert image.imdecode(data, 0).shape == (40, 60, 1)


def test_imdecode_writes_to_out():
    out = nd.zeros((40, 60, 3), dtype="uint8")
    assert image.imdecode(encoded(PIXELS.astype(np.uint8)), out=out) is out
    np.testing.assert_array_equal(out.asnumpy(), PIXELS)


def test_a_picture_with_transparency_loses_it():
    Image = pytest.importorskip("PIL.Image", reason="pictures need Pillow")
    out = io.BytesIO()
    Image.fromarray(np.full((3, 4, 4), 7, np.uint8)).save(out, "PNG")
    np.testing.assert_array_equal(image.imdecode(out.getvalue()).asnumpy(), np.full((3, 4, 3), 7))


@pytest.mark.parametrize("suffix", [".png", ".jpg"])
@pytest.mark.parametrize("length", [4, 20, 30, 100, 150])
def test_a_picture_cut_short_is_not_an_image(suffix, length):
    data = encoded(PIXELS.astype(np.uint8), suffix)[:length]
    with pytest.raises(MXNetError, match="not an image"):
        image.imdecode(data)


@pytest.mark.parametrize(("data", "says"), [(b"", "empty buffer"), (b"abc", "not an image")])
def test_what_is_no_picture_is_refused(data, says):
    pytest.importorskip("PIL", reason="pictures need Pillow")
    with pytest.raises(MXNetError, match=says):
        image.imdecode(data)


def test_text_is_no_picture():
    with pytest.raises(ValueError, match="buf must be of type bytes"):
        image.imdecode("text")


def test_imread_reads_a_file_and_names_one_that_is_missing(tmp_path):
    (tmp_path / "a.png").write_bytes(encoded(PIXELS.astype(np.uint8)))
    np.testing.assert_array_equal(image.imread(tmp_path / "a.png").asnumpy(), PIXELS)
    with pytest.raises(FileNotFoundError, match=r"none\.png"):
        image.imread(tmp_path / "none.png")


@pytest.mark.parametrize(
    ("interp", "total"), [(0, 277011), (1, 279006), (2, 279353), (3, 279822), (4, 279359)]
)
def test_imresize_gives_the_pixels_of_mxnet(picture, interp, total):
    found = image.imresize(picture, 33, 22, interp)
    assert found.shape == (22, 33, 3)
    assert found.asnumpy().sum(dtype=np.int64) == total


def test_resize_short_keeps_the_proportion(picture):
    found = image.resize_short(picture, 20)
    assert (found.shape, found.asnumpy().sum(dtype=np.int64)) == ((20, 30, 3), 231185)


@pytest.mark.parametrize(
    ("wanted", "found"), [((80, 80), (40, 40)), ((20, 20), (20, 20)), ((120, 20), (60, 10))]
)
def test_scale_down_fits_a_size_into_a_picture(wanted, found):
    assert image.scale_down((60, 40), wanted) == found


def test_fixed_crop_cuts_and_resizes(picture):
    part = image.fixed_crop(picture, 3, 4, 20, 10)
    np.testing.assert_array_equal(part.asnumpy(), PIXELS[4:14, 3:23])
    assert image.fixed_crop(picture, 3, 4, 20, 10, (11, 12)).shape == (12, 11, 3)


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ((50, 4, 20, 10), "x0=50, w=20 for a width of 60"),
        ((-3, 4, 20, 10), "x0=-3"),
        ((0, 35, 20, 10), "y0=35, h=10 for a height of 40"),
        ((0, 0, 0, 10), "w=0"),
    ],
)
def test_fixed_crop_beyond_the_edge_is_refused(picture, place, says):
    with pytest.raises(ValueError, match=says):
        image.fixed_crop(picture, *place)


@pytest.mark.parametrize("interp", [5, 7, -1, 11])
def test_an_unknown_way_to_resize_is_refused(picture, interp):
    with pytest.raises(MXNetError, match=f"interp={interp}"):
        image.imresize(picture, 5, 5, interp)
    with pytest.raises(ValueError, match=f"interp={interp}"):
        image.resize_short(picture, 5, interp)


@pytest.mark.parametrize(
    ("size", "place"),
    [((20, 30), (20, 5, 20, 30)), ((80, 30), (0, 9, 60, 22)), ((100, 100), (10, 0, 40, 40))],
)
def test_center_crop_takes_the_middle(picture, size, place):
    found, where = image.center_crop(picture, size)
    assert (found.shape, where) == ((size[1], size[0], 3), place)


@pytest.mark.parametrize(
    ("size", "place"),
    [((20, 30), (39, 4, 20, 30)), ((80, 30), (0, 11, 60, 22)), ((100, 100), (19, 0, 40, 40))],
)
def test_random_crop_draws_the_places_mxnet_draws(picture, size, place):
    random.seed(5)
    assert image.random_crop(picture, size)[1] == place


@pytest.mark.parametrize(
    ("area", "more", "place"),
    [
        ((0.08, 1.0), {}, (16, 0, 42, 37)),
        (0.5, {}, (0, 0, 52, 40)),
        ((0.1, 0.4), {"min_area": 0.2}, (16, 0, 44, 38)),
    ],
)
def test_random_size_crop_draws_the_places_mxnet_draws(picture, area, more, place):
    random.seed(5)
    found, where = image.random_size_crop(picture, (20, 30), area, (3 / 4, 4 / 3), **more)
    assert (found.shape, where) == ((30, 20, 3), place)


def test_color_normalize_writes_to_the_picture():
    picture = nd.array(PIXELS, dtype="float32")
    found = image.color_normalize(picture, nd.array([1, 2, 3]), nd.array([2, 3, 4]))
    assert found is picture
    np.testing.assert_allclose(found.asnumpy(), (PIXELS - [1, 2, 3]) / [2, 3, 4], rtol=1e-6)


@pytest.mark.parametrize(
    ("zoom", "step"),
    [({}, 1), ({"zoom_in": True}, 0.62112), ({"zoom_out": True}, 1.60994)],
)
def test_imrotate_looks_where_mxnet_looks(ramp, zoom, step):
    x, y, _ = image.imrotate(ramp, 30, **zoom).asnumpy()
    steps = x[20, 31] - x[20, 30], x[21, 30] - x[20, 30], y[20, 31] - y[20, 30]
    cos, sin = step * np.cos(np.pi / 6), step * np.sin(np.pi / 6)
    np.testing.assert_allclose(steps, (cos, -sin, sin), atol=1e-4)


def test_several_pictures_turn_each_by_its_angle(ramp):
    both = image.imrotate(nd.stack(ramp, ramp), nd.array([10, 20]))
    for found, angle in zip(both, (10, 20), strict=True):
        np.testing.assert_allclose(
            found.asnumpy(), image.imrotate(ramp, angle).asnumpy(), atol=1e-4
        )


def test_random_rotate_draws_between_the_limits(ramp):
    np.random.seed(0)
    turned = image.random_rotate(ramp, (90, 90)).asnumpy()
    np.testing.assert_allclose(turned, image.imrotate(ramp, 90).asnumpy(), atol=1e-4)


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        (lambda p: image.imrotate(p, 3, True, True), ValueError, "cannot be both True"),
        (lambda p: image.imrotate(p.astype("uint8"), 3), TypeError, "Only `float32`"),
        (lambda p: image.imrotate(p[0], 3), ValueError, "not a picture"),
        (lambda p: image.imrotate(p, nd.array([1, 2])), ValueError, "2 angles, 1 pictures"),
    ],
)
def test_what_cannot_be_turned_is_refused(ramp, change, error, says):
    with pytest.raises(error, match=says):
        change(ramp)


def test_a_border_is_added(picture):
    found = image.copyMakeBorder(picture, 1, 2, 3, 4, 0, values=(1, 2, 3)).asnumpy()
    assert (found.shape, found.sum(dtype=np.int64)) == ((43, 67, 3), 927969)


def test_without_pillow_decoding_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError, match=r"pip install minigluon\[image\]"):
        image.imdecode(b"abc")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda p: nd.image.resize(p, size=(2, 2), interp=10), "interp=10"),
        (lambda p: nd.image.resize(p, size=(0, 2)), r"size=\(0, 2\)"),
        (lambda p: nd.image.crop(p, x=-1, y=0, width=2, height=2), "x=-1"),
    ],
)
def test_operators_refuse_what_opencv_would_only_at_exit(picture, change, says):
    with pytest.raises(MXNetError, match=says):
        change(picture)
