"""Resizing as OpenCV 3.4 does it, recorded through MXNet 1.9.1."""

import numpy as np
import pytest

from minigluon.kernels import image

X = np.random.RandomState(0).randint(0, 256, (4, 5, 3)).astype("uint8")


@pytest.mark.parametrize(
    ("interp", "wanted"),
    [
        (1, [171, 88, 166, 117, 95, 92, 70, 71, 115, 71, 167, 125, 224, 44, 180, 192, 159, 153]),
        (2, [182, 83, 175, 97, 96, 91, 55, 63, 110, 56, 180, 119, 244, 43, 180, 205, 169, 158]),
        (3, [166, 92, 173, 125, 93, 144, 78, 70, 124, 81, 170, 124, 201, 79, 144, 189, 149, 144]),
        (4, [188, 79, 182, 88, 93, 92, 50, 63, 112, 48, 182, 112, 255, 44, 172, 208, 178, 157]),
    ],
)
def test_bytes_are_those_of_opencv(interp, wanted):
    np.testing.assert_array_equal(image.resize(X, 2, 3, interp).ravel(), wanted)


def test_floats_are_those_of_opencv():
    wanted = [170.99998, 88.33333, 165.83333, 117, 95, 91.5, 70.16666, 71.66667]
    got = image.resize(X.astype("float32"), 2, 3).ravel()
    np.testing.assert_allclose(got[:8], wanted, rtol=1e-6)


def test_enlarging_bytes():
    got = image.resize(X, 9, 8, image.LINEAR)[0]
    wanted = [172, 47, 117, 181, 56, 176, 192, 69, 236, 194, 92, 85, 200, 77, 82, 210, 26, 227,
              113, 58, 145, 36, 87, 70]  # fmt: skip
    np.testing.assert_array_equal(got.ravel(), wanted)
    got = image.resize(X, 9, 8, image.NEAREST)[0]
    np.testing.assert_array_equal(got, X[0][[0, 0, 1, 1, 2, 3, 3, 4]])


@pytest.mark.parametrize("interp", range(5))
@pytest.mark.parametrize("size", [(3, 7), (2, 2), (9, 11)])
def test_the_gradient_is_the_transpose(interp, size):
    numbers = np.random.default_rng(1)
    x, g = numbers.normal(size=(6, 5, 2)), numbers.normal(size=(*size, 2))
    there = np.sum(image.resize(x, *size, interp) * g)
    back = np.sum(x * image.resize_grad(g, 6, 5, interp))
    np.testing.assert_allclose(back, there, rtol=1e-6)


@pytest.mark.parametrize("interp", range(5))
def test_constant_images_stay_constant(interp):
    flat = np.full((5, 7, 3), 201, "uint8")
    for size in ((3, 2), (8, 9), (5, 14)):
        np.testing.assert_array_equal(image.resize(flat, *size, interp), 201)


def test_a_full_turn_of_hues_is_the_same_image():
    x = X.astype("float64")
    np.testing.assert_allclose(image.turn_hue(x, 1.0), x, atol=1e-9)
    np.testing.assert_allclose(image.turn_hue(image.turn_hue(x, 0.3), -0.3), x, atol=1e-9)
