"""minigluon/kernels/pixels.py against the same sums in numpy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minigluon.kernels import image, pixels

NUMBERS = np.random.default_rng(4)


def picture(height, width, channels=3):
    return NUMBERS.integers(0, 256, (height, width, channels)).astype(np.uint8)


@settings(max_examples=30)
@given(sides=st.tuples(*[st.integers(1, 20)] * 4), channels=st.sampled_from([1, 3, 4]))
def test_another_size_is_that_of_the_slower_way(sides, channels):
    height, width, tall, wide = sides
    x = picture(height, width, channels)
    assert (pixels.resize(x, tall, wide) == image.resize(x, tall, wide)).all()


@pytest.mark.parametrize("interp", range(5))
def test_other_ways_of_resizing_are_left_to_the_slower_one(interp):
    x = picture(9, 8)
    assert (pixels.resize(x, 5, 7, interp) == image.resize(x, 5, 7, interp)).all()


def test_planes_are_normalised_channels():
    x = picture(5, 4)
    mean, factor = np.float32([1, 2, 3]), np.float32([0.5, 0.25, 3])
    out = pixels.planes(x, mean, factor, np.empty((3, 5, 4), np.float32))
    assert (out == ((x - mean) * factor).transpose(2, 0, 1)).all()


def moved(x, xs, ys, size, fill=7):
    out = np.empty((*size, x.shape[2]), np.uint8)
    return pixels.warp(x, np.array(xs) * 1024, np.array(ys) * 1024, np.int64(fill), out)


def test_a_warp_by_whole_places_shifts():
    x = picture(4, 5)
    found = moved(
        x, [np.arange(5) + 1, np.zeros(5, int)], [np.zeros(4, int), np.arange(4) - 1], (4, 5)
    )
    assert (found[1:, :4] == x[:3, 1:]).all()
    assert (found[0] == 7).all()
    assert (found[:, 4] == 7).all()


def test_a_warp_between_places_is_bilinear():
    x = np.zeros((2, 2, 1), np.uint8)
    x[0, 0], x[1, 1] = 128, 64
    out = np.empty((1, 1, 1), np.uint8)
    xs, ys = np.array([[512], [256]]), np.zeros((2, 1), int)
    # 1/2 across, 1/4 down: 128 * 3/8 + 64 * 1/8
    assert pixels.warp(x, xs, ys, np.int64(0), out)[0, 0, 0] == 56


def test_what_is_far_outside_is_filled():
    found = moved(picture(3, 3), [np.full(2, -(10**6)), [5, 10**6]], [[0, 0], [0, 0]], (2, 2))
    assert (found == 7).all()
