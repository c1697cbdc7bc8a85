"""Checks and sums over whole arrays."""

import numpy as np

from minigluon import nd


def test_all_finite_finds_infinities_and_nan():
    assert nd.all_finite(nd.array([1, 2])).asnumpy().tolist() == [1]
    for bad in (np.inf, -np.inf, np.nan):
        assert nd.all_finite(nd.array([1, bad])).asnumpy().tolist() == [0]
        several = nd.multi_all_finite(nd.ones(2), nd.array([bad]), num_arrays=2)
        assert several.asnumpy().tolist() == [0]


def test_a_verdict_is_kept_without_init_output():
    for before, after in ((0, 0), (1, 1)):
        out = nd.ones(1) * before
        nd.multi_all_finite(nd.ones(2), num_arrays=1, init_output=False, out=out)
        assert out.asnumpy().tolist() == [after]


def test_sums_of_squares_are_single_precision():
    x = nd.array([300, 300], dtype="float16")  # the squares do not fit into float16
    sums = nd.multi_sum_sq(x, nd.array([2], dtype="float16"), num_arrays=2)
    assert (sums.dtype, sums.asnumpy().tolist()) == (np.float32, [180000, 4])


def test_reset_arrays_puts_zeros_in_place():
    x, y = nd.ones(2), nd.ones((3, 1))
    assert nd.reset_arrays(x, y, num_arrays=2) == []
    assert x.asnumpy().sum() == y.asnumpy().sum() == 0


def test_allclose_may_count_nan_as_equal():
    x = nd.array([1, np.nan])
    assert nd.contrib.allclose(x, x).asscalar() == 1
    assert nd.contrib.allclose(x, x, equal_nan=False).asscalar() == 0
    assert nd.contrib.allclose(nd.ones(1), nd.ones(1) * 1.1, rtol=0.01).asscalar() == 0
