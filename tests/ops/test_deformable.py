"""Windows bent by offsets."""

import numpy as np
import pytest

from minigluon import MXNetError, nd

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(2, 4, 5, 6)).astype("float32")
W = RANDOM.normal(size=(3, 4, 3, 3)).astype("float32")
B = RANDOM.normal(size=3).astype("float32")
ATTRS = {"kernel": (3, 3), "num_filter": 3, "pad": (1, 1)}


def plain():
    return nd.Convolution(nd.array(X), nd.array(W), nd.array(B), **ATTRS).asnumpy()


def test_without_offsets_it_is_a_convolution():
    offset = nd.zeros((2, 18, 5, 6))
    got = nd.contrib.DeformableConvolution(nd.array(X), offset, nd.array(W), nd.array(B), **ATTRS)
    np.testing.assert_allclose(got.asnumpy(), plain(), rtol=1e-4, atol=1e-5)


def test_a_mask_of_ones_changes_nothing_and_one_of_zeros_leaves_the_bias():
    offset, ones = nd.zeros((2, 18, 5, 6)), nd.ones((2, 9, 5, 6))
    rest = (nd.array(W), nd.array(B))
    run = nd.contrib.ModulatedDeformableConvolution
    got = run(nd.array(X), offset, ones, *rest, **ATTRS).asnumpy()
    np.testing.assert_allclose(got, plain(), rtol=1e-4, atol=1e-5)
    got = run(nd.array(X), offset, ones * 0, *rest, **ATTRS).asnumpy()
    np.testing.assert_allclose(got, np.broadcast_to(B[:, None, None], got.shape))


def test_offsets_of_whole_pixels_move_the_image():
    offset = np.zeros((2, 18, 5, 6), "float32")
    offset[:, 1::2] = 1  # x of every tap
    got = nd.contrib.DeformableConvolution(
        nd.array(X), nd.array(offset), nd.array(W), nd.array(B), **ATTRS
    )
    np.testing.assert_allclose(got.asnumpy()[..., 1:4], plain()[..., 2:5], rtol=1e-4, atol=1e-5)


def test_wrong_offsets_are_named():
    with pytest.raises(MXNetError, match=r"offset .*\(2, 18, 5, 6\)|offset"):
        nd.contrib.DeformableConvolution(
            nd.array(X), nd.zeros((2, 9, 5, 6)), nd.array(W), nd.array(B), **ATTRS
        )
