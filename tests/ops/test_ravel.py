"""Index arithmetic, ranges in the shape of arrays, running sums."""

import numpy as np
import pytest

from minigluon import MXNetError, autograd, nd


@pytest.mark.parametrize("shape", [(3, 4), (-1, 4)])
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_ravel_and_unravel_are_inverse(shape, dtype):
    places = nd.array([0, 5, 11], dtype=dtype)
    indices = nd.unravel_index(places, shape=shape)
    assert indices.asnumpy().tolist() == [[0, 1, 2], [0, 1, 3]]
    back = nd.ravel_multi_index(indices, shape=shape)
    assert (back.asnumpy().tolist(), back.dtype) == ([0, 5, 11], np.dtype(dtype).type)


def test_unravel_keeps_the_axes_of_the_positions():
    assert nd.unravel_index(nd.ones((2, 3)), shape=(4, 5, 6)).shape == (3, 2, 3)


def test_rows_that_do_not_fit_the_shape_are_refused():
    with pytest.raises(MXNetError, match="ravel_multi_index"):
        nd.ravel_multi_index(nd.ones((2, 3)), shape=(4, 5, 6))
    with pytest.raises(MXNetError, match="shape is not valid"):
        nd.unravel_index(nd.ones(2), shape=(4, 0))


def test_arange_like_counts_over_all_or_along_an_axis():
    like = nd.ones((2, 3))
    # recorded from MXNet 1.9.1
    whole = nd.contrib.arange_like(like, start=1, step=2)
    assert whole.asnumpy().tolist() == [[1, 3, 5], [7, 9, 11]]
    assert nd.contrib.arange_like(like, repeat=2).asnumpy().tolist() == [[0, 0, 1], [1, 2, 2]]
    assert nd.contrib.arange_like(like, axis=-1, repeat=3).asnumpy().tolist() == [0, 0, 0]


@pytest.mark.parametrize("repeat", [0, -1])
def test_arange_like_refuses_repeats_below_one(repeat):
    # known bug 46: MXNet ends the process
    with pytest.raises(MXNetError, match="repeat is not valid"):
        nd.contrib.arange_like(nd.ones(3), repeat=repeat)


def test_index_array_gives_every_index():
    got = nd.contrib.index_array(nd.ones((2, 3))).asnumpy()
    np.testing.assert_array_equal(got, np.moveaxis(np.indices((2, 3)), 0, -1))
    assert nd.contrib.index_array(nd.ones((2, 3)), axes=(1,)).asnumpy()[..., 0].tolist() == [
        [0, 1, 2],
        [0, 1, 2],
    ]
    with pytest.raises(MXNetError, match="index_array"):
        nd.contrib.index_array(nd.ones((2, 3)), axes=(2,))


def test_cumsum_is_that_of_numpy():
    x = np.arange(6).reshape(2, 3)
    for axis in (None, 0, -1):
        got = nd.cumsum(nd.array(x), axis=axis).asnumpy()
        np.testing.assert_array_equal(got, np.cumsum(x, axis=axis))
    whole = nd.cumsum(nd.array(x, dtype="int32"), dtype="float64")
    assert whole.dtype is np.float64


def test_the_gradient_of_cumsum_is_added_to_what_is_there():
    # known bug 49: MXNet overwrites it
    x = nd.ones(3)
    x.attach_grad("add")
    x.grad[:] = 10
    with autograd.record():
        y = nd.cumsum(x)
    y.backward()
    assert x.grad.asnumpy().tolist() == [13, 12, 11]
