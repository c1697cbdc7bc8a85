"""Fourier transforms and count sketches."""

import numpy as np
import pytest

from minigluon import MXNetError, nd

X = np.random.default_rng(0).normal(size=(2, 5))


def test_fft_is_that_of_numpy_with_parts_taking_turns():
    got = nd.contrib.fft(nd.array(X, dtype="float64")).asnumpy()
    whole = np.fft.fft(X)
    np.testing.assert_allclose(got[:, ::2] + 1j * got[:, 1::2], whole, rtol=1e-10)


def test_ifft_takes_it_back_times_the_length():
    back = nd.contrib.ifft(nd.contrib.fft(nd.array(X, dtype="float64"))).asnumpy()
    np.testing.assert_allclose(back, 5 * X, rtol=1e-10)
    with pytest.raises(MXNetError, match="even length"):
        nd.contrib.ifft(nd.ones((2, 3)))


def test_count_sketch_adds_columns_with_their_sign():
    h, s = nd.array([[0, 2, 0]]), nd.array([[1, -1, 1]])
    got = nd.contrib.count_sketch(nd.array([[1, 2, 3], [4, 5, 6]]), h, s, out_dim=3)
    assert got.asnumpy().tolist() == [[4, 0, -2], [10, 0, -5]]
    with pytest.raises(IndexError, match="points outside"):
        nd.contrib.count_sketch(nd.ones((1, 3)), h, s, out_dim=2)
