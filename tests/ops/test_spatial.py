"""space_to_depth and depth_to_space."""

import numpy as np
import pytest

from minigluon import MXNetError, nd


def test_depth_to_space_puts_channels_into_blocks():
    # recorded from MXNet 1.9.1
    x = nd.array(np.arange(8.0).reshape(1, 4, 1, 2))
    assert nd.depth_to_space(x, block_size=2).asnumpy().tolist() == [[[[0, 2, 1, 3], [4, 6, 5, 7]]]]


def test_the_two_are_inverse():
    x = nd.array(np.random.default_rng(0).normal(size=(2, 8, 3, 2)))
    back = nd.space_to_depth(nd.depth_to_space(x, block_size=2), block_size=2)
    np.testing.assert_array_equal(back.asnumpy(), x.asnumpy())


@pytest.mark.parametrize("shape", [(1, 3, 2, 2), (3, 2, 2)])
def test_channels_that_do_not_fit_are_refused(shape):
    with pytest.raises(MXNetError, match="depth_to_space: the data cannot be cut into blocks"):
        nd.depth_to_space(nd.ones(shape), block_size=2)


@pytest.mark.parametrize("block_size", [0, 2])
def test_pixels_that_do_not_fit_are_refused(block_size):
    with pytest.raises(MXNetError, match="space_to_depth: the data cannot be cut into blocks"):
        nd.space_to_depth(nd.ones((1, 1, 3, 4)), block_size=block_size)
