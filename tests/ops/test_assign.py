"""Arrays with a part replaced."""

import numpy as np
import pytest

from minigluon import MXNetError, nd

internal = nd._internal


def test_slices_are_replaced_by_arrays_and_numbers():
    x = nd.zeros((2, 3))
    where = {"begin": (0, 1), "end": (1, 3)}
    assert internal._slice_assign(x, nd.ones((1, 2)), **where).asnumpy()[0].tolist() == [0, 1, 1]
    assert x.asnumpy().sum() == 0
    internal._slice_assign_scalar(x, scalar=4, out=x, **where)
    assert x.asnumpy().tolist() == [[0, 4, 4], [0, 0, 0]]


def test_elements_are_scattered_into_an_array():
    x = nd.zeros((2, 2))
    indices = nd.array([[0, 1], [1, 1]])
    internal._scatter_set_nd(x, nd.array([5, 6]), indices, shape=(2, 2), out=x)
    assert x.asnumpy().tolist() == [[0, 5], [0, 6]]
    with pytest.raises(IndexError, match="index 2 is out of range"):
        internal._scatter_set_nd(x, nd.array([5]), nd.array([[0], [2]]), shape=(2, 2), out=x)
    assert x.asnumpy().tolist() == [[0, 5], [0, 6]]


@pytest.mark.parametrize("index", [-1, 2, 4e7])
def test_index_copy_refuses_rows_that_are_not_there(index):
    # known bug 68: MXNet writes outside of the array
    x = nd.zeros((2, 3))
    with pytest.raises(IndexError, match="index_copy: index"):
        nd.contrib.index_copy(x, nd.array([index], dtype="int64"), nd.ones((1, 3)))
    assert x.asnumpy().sum() == 0


def test_index_copy_replaces_rows_of_a_copy():
    x = nd.zeros((3, 2))
    got = nd.contrib.index_copy(x, nd.array([2, 0]), nd.array([[1, 2], [3, 4]]))
    assert got.asnumpy().tolist() == [[3, 4], [0, 0], [1, 2]]
    assert x.asnumpy().sum() == 0
    with pytest.raises(MXNetError, match="index_copy"):
        nd.contrib.index_copy(x, nd.array([2, 0]), nd.ones((3, 2)))


def test_one_element_of_each_row_is_filled():
    got = nd.fill_element_0index(nd.zeros((2, 3)), nd.array([5, 6]), nd.array([2, 0]))
    assert got.asnumpy().tolist() == [[0, 0, 5], [6, 0, 0]]
    with pytest.raises(IndexError, match="fill_element_0index"):
        nd.fill_element_0index(nd.zeros((2, 3)), nd.array([5, 6]), nd.array([3, 0]))


def test_rows_of_one_hot_and_constants_go_into_an_array():
    x = nd.ones((2, 3))
    assert internal._onehot_encode(nd.array([2, 0]), x, out=x) is x
    assert x.asnumpy().tolist() == [[0, 0, 1], [1, 0, 0]]
    with pytest.raises(IndexError, match="_onehot_encode"):
        internal._onehot_encode(nd.array([3, 0]), x)
    assert internal._set_value(7, out=x) is x
    assert (x.asnumpy() == 7).all()


def test_copyto_is_a_copy():
    x = nd.ones(2)
    y = internal._copyto(x)
    y[:] = 0
    assert np.array_equal(x.asnumpy(), [1, 1])


def test_setting_elements_that_are_not_there_changes_nothing():
    # known bug 68: MXNet writes outside of the array
    x = nd.ones((2, 3))
    with pytest.raises(IndexError, match="index 5"):
        x[nd.array([5])] = 1
    assert (x.asnumpy() == 1).all()
