"""The codes of reshape, against what MXNet 1.9.1 answers."""

import numpy as np
import pytest

from minigluon import autograd, nd
from minigluon.base import MXNetError


# recorded from MXNet 1.9.1
@pytest.mark.parametrize(
    ("current", "wanted", "expected"),
    [
        ((2, 3, 4), (0, -1), (2, 12)),
        ((2, 3, 4), (-2,), (2, 3, 4)),
        ((2, 3, 4), (-3, 0), (6, 4)),
        ((2, 3, 4), (-3, -2), (6, 4)),
        ((2, 3, 4), (-4, 1, 2, -2), (1, 2, 3, 4)),
        ((2, 3, 4), (-4, -1, 2, 0, 0), (1, 2, 3, 4)),
        ((2, 3, 4), (6, 4), (6, 4)),
        ((2, 3, 4), (4, -1, 2), (4, 3, 2)),
        ((1,), (), ()),
    ],
)
def test_codes_mean_what_they_do_in_mxnet(current, wanted, expected):
    assert nd.ones(current).reshape(wanted).shape == expected


def test_reverse_matches_the_codes_from_the_right():
    assert nd.ones((10, 5, 4)).reshape((-1, 0), reverse=True).shape == (50, 4)


def test_the_shape_is_given_as_numbers_a_tuple_a_list_or_a_keyword():
    array = nd.ones((2, 3))
    shapes = [
        array.reshape(3, 2).shape,
        array.reshape((3, 2)).shape,
        array.reshape([3, 2]).shape,
        array.reshape(shape=(3, 2)).shape,
        array.reshape(np.int64(3), -1).shape,
    ]
    assert shapes == [(3, 2)] * 5


@pytest.mark.parametrize("shape", [(2, 2), (3, 4), (4, -1), (-1, -1), (0, 0, 0), (-5,), (7, -1)])
def test_another_number_of_elements_is_a_value_error_naming_both(shape):
    with pytest.raises(ValueError, match="Cannot reshape array of size 6 into shape") as caught:
        nd.ones((2, 3)).reshape(shape)
    assert isinstance(caught.value, MXNetError)


def test_reshape_shares_memory():
    array = nd.ones((2, 3))
    array.reshape((6,))[0] = 9
    assert array[0, 0].asscalar() == 9


def test_reshape_without_a_shape_and_with_unknown_keywords_is_refused():
    with pytest.raises(AssertionError):
        nd.ones((2,)).reshape()
    with pytest.raises(TypeError, match="Got unknown keywords in reshape: foo"):
        nd.ones((2,)).reshape((2,), foo=1)


@pytest.mark.parametrize("shape", [(1.5, 2), (1.0, 2), ("1", 2)])
def test_a_shape_is_of_whole_numbers(shape):
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        nd.ones((2,)).reshape(shape)


def test_gradients_flow_through_reshape():
    array = nd.ones((2, 3))
    array.attach_grad()
    with autograd.record():
        flat = array.reshape((-1,)) * nd.arange(6)
    flat.backward()
    np.testing.assert_array_equal(array.grad.asnumpy(), np.arange(6).reshape(2, 3))


@pytest.mark.parametrize("inplace", [True, False])
def test_expand_dims_squeeze_and_flatten_share_memory_exactly_if_in_place(inplace):
    array = nd.ones((2, 1, 3))
    made = [
        array.expand_dims(0, inplace=inplace),
        array.squeeze(inplace=inplace),
        array.flatten(inplace=inplace),
    ]
    assert [x.shape for x in made] == [(1, 2, 1, 3), (2, 3), (2, 3)]
    assert all(np.shares_memory(x._data, array._data) == inplace for x in made)


@pytest.mark.parametrize("axis", [1, (0, 0), 5])
def test_squeezing_an_axis_that_is_not_one_is_an_assertion_error(axis):
    with pytest.raises(AssertionError):
        nd.ones((1, 2)).squeeze(axis, inplace=True)


def test_squeezing_all_axes_leaves_one():
    assert nd.ones((1, 1)).squeeze(inplace=True).shape == (1,)


def test_broadcast_to_adds_leading_axes_and_keeps_lengths_given_as_zero():
    vector = nd.array([1, 2, 3])
    assert vector.broadcast_to((2, 3)).asnumpy().tolist() == [[1, 2, 3], [1, 2, 3]]
    assert nd.ones((1, 3)).broadcast_to((0, 3)).shape == (1, 3)


@pytest.mark.parametrize("shape", [(2, 2), (3,)])
def test_broadcasting_to_a_shape_that_does_not_fit_is_a_value_error(shape):
    with pytest.raises(ValueError, match="remapped shapes"):
        nd.ones((1, 3)).broadcast_to(shape)
