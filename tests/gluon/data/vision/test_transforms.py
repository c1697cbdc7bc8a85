"""Transforms of images: shapes and values as MXNet 1.9.1 gave them, or numpy's."""

import random

import numpy as np
import pytest

from minigluon import nd
from minigluon.gluon.data.vision import transforms
from minigluon.gluon.nn import HybridSequential

PIXELS = np.arange(144, dtype="uint8").reshape(6, 8, 3)
IMAGE = nd.array(PIXELS, dtype="uint8")
ROWS = nd.arange(24).reshape((1, 4, 6))


def test_to_tensor_moves_channels_to_the_front():
    tensor = transforms.ToTensor()(IMAGE).asnumpy()
    assert tensor.dtype == np.float32
    np.testing.assert_allclose(tensor, PIXELS.transpose(2, 0, 1) / 255, rtol=1e-6)


def test_normalize_takes_a_number_or_one_for_each_channel():
    tensor = transforms.ToTensor()(IMAGE)
    mean, std = np.array([0.1, 0.2, 0.3]), np.array([1, 2, 4])
    result = transforms.Normalize(tuple(mean), tuple(std))(tensor).asnumpy()
    expected = (tensor.asnumpy() - mean[:, None, None]) / std[:, None, None]
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)
    one = transforms.Normalize(0.5, 2)(tensor).asnumpy()
    np.testing.assert_allclose(one, (tensor.asnumpy() - 0.5) / 2, rtol=1e-5, atol=1e-6)


def test_cast_changes_the_dtype():
    assert transforms.Cast("float16")(IMAGE).dtype == np.float16


@pytest.mark.parametrize(
    ("size", "keep_ratio", "shape"),
    [
        (4, False, (4, 4, 3)),
        ((5, 4), False, (4, 5, 3)),
        ([5, 4], False, (4, 5, 3)),
        (4, True, (4, 5, 3)),
    ],
)
def test_resize_takes_width_before_height(size, keep_ratio, shape):
    assert transforms.Resize(size, keep_ratio)(IMAGE).shape == shape


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (4, PIXELS[1:5, 2:6]),
        ((4, 2), PIXELS[2:4, 2:6]),
        (3, PIXELS[1:4, 2:5]),
    ],
)
def test_center_crop_takes_the_middle(size, expected):
    assert (transforms.CenterCrop(size)(IMAGE).asnumpy() == expected).all()


def test_center_crop_enlarges_what_a_small_image_has():
    result = transforms.CenterCrop((4, 8))(IMAGE).asnumpy()[:, :, 0]
    assert result.tolist()[:3] == [[6, 8, 10, 12], [21, 23, 25, 27], [39, 41, 43, 45]]  # MXNet's
    assert transforms.CenterCrop((20, 4))(IMAGE).shape == (4, 20, 3)
    assert transforms.CenterCrop((2, 40))(IMAGE).shape == (40, 2, 3)  # an error in MXNet


def test_center_crop_refuses_what_is_no_image():
    with pytest.raises(ValueError, match=r"data \(6, 8\)"):
        transforms.CenterCrop(2)(IMAGE[:, :, 0])


def test_a_random_crop_has_the_size_and_comes_from_the_image():
    random.seed(0)
    crop = transforms.RandomResizedCrop((5, 4), scale=(0.3, 0.9))
    for _ in range(10):
        result = crop(IMAGE).asnumpy()
        assert result.shape == (4, 5, 3)
        assert (np.diff(result.astype(int), axis=1) >= 0).all()


def test_a_random_crop_that_cannot_be_is_the_middle():
    crop = transforms.RandomResizedCrop(4, scale=(5, 6))
    assert (crop(IMAGE).asnumpy() == transforms.CenterCrop(4)(IMAGE).asnumpy()).all()


def test_crop_resize_cuts_and_then_resizes():
    part = transforms.CropResize(1, 2, 3, 4)(IMAGE).asnumpy()
    assert (part == PIXELS[2:6, 1:4]).all()
    assert transforms.CropResize(1, 2, 3, 4, (5, 6), 1)(IMAGE).shape == (6, 5, 3)
    assert transforms.CropResize(1, 2, 3, 4, (5, 6))(IMAGE).shape == (6, 5, 3)  # fails in MXNet


@pytest.mark.parametrize(("name", "axis"), [("RandomFlipLeftRight", 1), ("RandomFlipTopBottom", 0)])
def test_random_flips_give_the_image_or_its_mirror(name, axis):
    flip = getattr(transforms, name)()
    seen = {flip(IMAGE).asnumpy().tobytes() for _ in range(40)}
    assert seen == {PIXELS.tobytes(), np.flip(PIXELS, axis).tobytes()}


@pytest.mark.parametrize(
    "transform",
    [
        transforms.RandomBrightness(0.3),
        transforms.RandomContrast(0.3),
        transforms.RandomSaturation(0.3),
        transforms.RandomHue(0.3),
        transforms.RandomColorJitter(0.1, 0.2, 0.3, 0.4),
        transforms.RandomLighting(30.0),
    ],
    ids=lambda transform: type(transform).__name__,
)
def test_random_colours_keep_shape_and_dtype_and_change_values(transform):
    results = [transform(IMAGE) for _ in range(8)]
    assert {(result.shape, result.dtype) for result in results} == {(IMAGE.shape, np.uint8)}
    assert len({result.asnumpy().tobytes() for result in results}) > 1


def test_brightness_never_gets_below_nothing():
    assert transforms.RandomBrightness(2.0)._args == (0, 3.0)


def test_compose_joins_neighbours_that_are_hybrid():
    parts = [transforms.Resize(4), transforms.CenterCrop(2), transforms.ToTensor()]
    composed = transforms.Compose([*parts, transforms.Cast("float16")])
    assert [type(part) for part in composed][:2] == [transforms.Resize, transforms.CenterCrop]
    assert type(composed[2]) is HybridSequential
    result = composed(IMAGE)
    assert (result.shape, result.dtype) == ((3, 2, 2), np.float16)


def test_a_composed_graph_takes_images_of_any_size():
    composed = transforms.Compose([transforms.Resize(4), transforms.ToTensor()])
    for shape in ((6, 8, 3), (9, 5, 3), (6, 8, 3)):
        assert composed(nd.ones(shape, dtype="uint8")).shape == (3, 4, 4)


def test_compose_takes_functions_and_nothing():
    assert transforms.Compose([])(IMAGE) is IMAGE
    assert transforms.Compose([lambda x: x.shape])(IMAGE) == (6, 8, 3)


@pytest.mark.parametrize(("p", "dtype"), [(1.0, np.float16), (0.0, np.uint8)])
def test_random_apply_transforms_by_chance(p, dtype):
    assert transforms.RandomApply(transforms.Cast("float16"), p)(IMAGE).dtype == dtype


# recorded from MXNet 1.9.1
TURNED = {
    (30, False, False): [
        [0, 0.8798, 2.6788, 6.3888, 10.2548, 8.017],
        [0.4779, 3.3529, 7.2189, 11.0849, 14.951, 18.817],
        [4.183, 8.049, 11.9151, 15.7811, 19.6471, 18.3128],
        [5.4365, 12.7452, 16.6112, 19.1933, 9.4923, 0],
    ],
    (90, True, False): [
        [2.9167, 6.5, 10.5, 14.5, 18.5, 17.9167],
        [2.3611, 5.8333, 9.8333, 13.8333, 17.8333, 17.3611],
        [1.8056, 5.1667, 9.1667, 13.1667, 17.1667, 16.8056],
        [1.25, 4.5, 8.5, 12.5, 16.5, 16.25],
    ],
    (30, False, True): [
        [0, 0, 0, 3.5503, 1.6373, 0],
        [0, 0.4734, 4.5817, 10.8292, 17.0175, 0],
        [0, 5.907, 12.1708, 18.4183, 13.0557, 0],
        [0, 2.7029, 14.9585, 0, 0, 0],
    ],
}


@pytest.mark.parametrize("arguments", TURNED)
def test_rotate_gives_mxnets_values(arguments):
    result = transforms.Rotate(*arguments)(ROWS).asnumpy()[0]
    np.testing.assert_allclose(result, TURNED[arguments], atol=1e-3)


def test_a_batch_is_rotated_image_by_image():
    batch = nd.stack(ROWS, ROWS + 1)
    result = transforms.Rotate(30)(batch)
    assert (result[1] == transforms.Rotate(30)(ROWS + 1)).asnumpy().all()


def test_rotate_refuses_bytes_and_two_zooms():
    with pytest.raises(TypeError, match="only supports float32"):
        transforms.Rotate(30)(IMAGE)
    with pytest.raises(ValueError, match="cannot be both True"):
        transforms.Rotate(30, True, True)(ROWS)


def test_random_rotation_draws_an_angle_for_each_image():
    random.seed(1)
    first, second = transforms.RandomRotation((-90, 90))(nd.stack(ROWS, ROWS)).asnumpy()
    assert not np.allclose(first, second)
    never = transforms.RandomRotation((-90, 90), rotate_with_proba=0)
    assert never(ROWS) is ROWS


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(((10, -10),), "ordered tuple"), (((-1, 1), False, False, 1.5), "between 0 and 1")],
)
def test_random_rotation_refuses_wrong_limits(arguments, message):
    with pytest.raises(ValueError, match=message):
        transforms.RandomRotation(*arguments)
