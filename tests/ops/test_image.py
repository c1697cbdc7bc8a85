"""Operators on images; recorded values are those of MXNet 1.9.1."""

import numpy as np
import pytest

import minigluon as mx
from minigluon import MXNetError, autograd, nd

U = np.random.default_rng(0).integers(0, 256, (4, 5, 3)).astype("uint8")


def test_tensors_are_floats_with_the_channels_first():
    got = nd.image.to_tensor(nd.array(U, dtype="uint8"))
    assert got.dtype == np.float32
    np.testing.assert_allclose(got.asnumpy(), U.transpose(2, 0, 1) / 255.0, rtol=1e-6)
    batch = nd.image.to_tensor(nd.array(np.stack([U, U]), dtype="uint8"))
    assert batch.shape == (2, 3, 4, 5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_gradient_of_a_tensor_has_the_layout_and_dtype_of_the_image(dtype):
    x = nd.array(U, dtype=dtype)
    x.attach_grad()
    head = np.arange(60, dtype="float32").reshape(3, 4, 5)
    with autograd.record():
        y = nd.image.to_tensor(x)
    y.backward(nd.array(head))
    assert x.grad.dtype == np.dtype(dtype)
    np.testing.assert_allclose(x.grad.asnumpy(), head.transpose(1, 2, 0) / 255, rtol=1e-6)


def test_normalising_takes_a_number_or_one_for_each_channel():
    t = nd.array(U.transpose(2, 0, 1) / 255.0)
    got = nd.image.normalize(t, mean=(0.1, 0.2, 0.3), std=(1, 2, 3)).asnumpy()
    mean = np.array([0.1, 0.2, 0.3]).reshape(3, 1, 1)
    std = np.array([1, 2, 3]).reshape(3, 1, 1)
    np.testing.assert_allclose(got, (t.asnumpy() - mean) / std, rtol=1e-5)
    np.testing.assert_array_equal(nd.image.normalize(t).asnumpy(), t.asnumpy())


def test_crops_are_copies():
    x = nd.array(U, dtype="uint8")
    part = nd.image.crop(x, x=1, y=2, width=3, height=2)
    np.testing.assert_array_equal(part.asnumpy(), U[2:4, 1:4])
    part[:] = 0
    np.testing.assert_array_equal(x.asnumpy(), U)


def test_mirrors_turn_the_middle_too():  # MXNet leaves it unwritten
    x = nd.array(U, dtype="uint8")
    np.testing.assert_array_equal(nd.image.flip_left_right(x).asnumpy(), U[:, ::-1])
    np.testing.assert_array_equal(nd.image.flip_top_bottom(x).asnumpy(), U[::-1])


@pytest.mark.parametrize(
    ("attrs", "shape"),
    [
        ({"size": (3, 2)}, (2, 3, 3)),
        ({"size": 3}, (3, 3, 3)),
        ({"size": 2, "keep_ratio": True}, (2, 2, 3)),
        ({"size": 8, "keep_ratio": True}, (8, 10, 3)),
        ({"size": (3, 2), "keep_ratio": True}, (2, 3, 3)),
    ],
)
def test_sizes_are_width_and_height(attrs, shape):
    x = nd.array(U, dtype="uint8")
    assert nd.image.resize(x, **attrs).shape == shape
    inferred = mx.sym.image.resize(mx.sym.var("x"), **attrs).infer_shape(x=U.shape)[1]
    assert inferred == [shape]


@pytest.mark.parametrize(
    ("name", "attrs", "pixel"),
    [
        ("random_brightness", {"min_factor": 0.5, "max_factor": 0.5}, [86, 23, 58]),
        ("random_hue", {"min_factor": 0.1, "max_factor": 0.1}, [172, 52, 46]),
        ("adjust_lighting", {"alpha": (0.01, 0.02, 0.03)}, [171, 46, 116]),
        # MXNet's grey of saturation is that of the last channel alone
        ("random_saturation", {"min_factor": 0.5, "max_factor": 0.5}, [132, 69, 104]),
        ("random_contrast", {"min_factor": 0.5, "max_factor": 0.5}, [132, 69, 104]),
    ],
)
def test_colours_change(name, attrs, pixel):
    x = nd.array([[[172, 47, 117]]], dtype="uint8")
    np.testing.assert_array_equal(getattr(nd.image, name)(x, **attrs).asnumpy()[0, 0], pixel)


@pytest.mark.parametrize("name", ["random_saturation", "random_hue"])
def test_grey_images_have_no_colour_to_change(name):
    x = nd.array(U[..., :1], dtype="uint8")
    got = getattr(nd.image, name)(x, min_factor=0.5, max_factor=0.5)
    np.testing.assert_array_equal(got.asnumpy(), x.asnumpy())


def test_chance_is_that_of_the_seed():
    x = nd.array(U, dtype="uint8")

    def draw():
        mx.random.seed(3)
        return [
            nd.image.random_flip_left_right(x).asnumpy(),
            nd.image.random_color_jitter(
                x, brightness=0.3, contrast=0.3, saturation=0.3, hue=0.3
            ).asnumpy(),
            nd.image.random_lighting(x, alpha_std=0.5).asnumpy(),
        ]

    for first, second in zip(draw(), draw(), strict=True):
        np.testing.assert_array_equal(first, second)


def test_nothing_to_jitter_is_a_copy():  # MXNet leaves the result unwritten
    x = nd.array(U, dtype="uint8")
    got = nd.image.random_color_jitter(x, brightness=0, contrast=0, saturation=0, hue=0)
    np.testing.assert_array_equal(got.asnumpy(), U)


@pytest.mark.parametrize(
    ("name", "attrs", "words"),
    [
        ("resize", {"size": (3, 2), "interp": 10}, "interp"),
        ("resize", {"size": (0, 2)}, "size"),
        ("resize", {}, "size"),
        ("crop", {"x": -1, "y": 0, "width": 2, "height": 2}, r"received  x=-1"),
        ("crop", {"x": 3, "y": 0, "width": 4, "height": 2}, "width=4"),
        ("crop", {"x": 0, "y": 0, "width": 2, "height": 9}, "height=9"),
        ("random_brightness", {"min_factor": -0.5, "max_factor": 1}, "min_factor"),
        ("adjust_lighting", {"alpha": (1, 2)}, "alpha"),
    ],
)
def test_wrong_attributes_are_named(name, attrs, words):  # MXNet tells of some at exit only
    with pytest.raises(MXNetError, match=words):
        getattr(nd.image, name)(nd.array(U, dtype="uint8"), **attrs)


@pytest.mark.parametrize("name", ["to_tensor", "flip_left_right", "random_flip_top_bottom"])
def test_what_is_no_image_is_refused(name):
    with pytest.raises(MXNetError, match=r"expected  \(height, width, channels\)"):
        getattr(nd.image, name)(nd.ones((4, 5)))
