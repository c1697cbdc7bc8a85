"""Operators on arrays and numbers."""

import operator

import numpy as np
import pytest

import minigluon as mx
from minigluon import autograd, nd

A = np.array([[1.0, 2.0, 3.0], [-4.0, 5.0, 6.5]], np.float32)
B = np.array([[2.0, -1.0, 0.5]], np.float32)
SYMBOLS = ["add", "sub", "mul", "truediv", "pow", "eq", "ne", "gt", "ge", "lt", "le"]


@pytest.mark.parametrize("name", SYMBOLS)
def test_operators_of_two_arrays_broadcast(name):
    apply = getattr(operator, name)
    positive = np.abs(A)
    np.testing.assert_allclose(
        apply(nd.array(positive), nd.array(B)).asnumpy(), apply(positive, B), rtol=1e-6
    )


@pytest.mark.parametrize("name", SYMBOLS)
@pytest.mark.parametrize("scalar", [3, 2.5, np.float32(1.5), np.int64(2), True])
def test_operators_take_a_number_on_either_side(name, scalar):
    apply = getattr(operator, name)
    positive = np.abs(A)
    array = nd.array(positive)
    np.testing.assert_allclose(apply(array, scalar).asnumpy(), apply(positive, scalar), rtol=1e-6)
    np.testing.assert_allclose(apply(scalar, array).asnumpy(), apply(scalar, positive), rtol=1e-6)


@pytest.mark.parametrize("name", ["add", "gt"])
def test_the_dtype_of_the_array_is_kept(name):
    result = getattr(operator, name)(nd.array([1, 2], dtype="int32"), 1.5)
    assert result.dtype is np.int32


# recorded from MXNet 1.9.1
def test_integer_division_truncates_towards_zero_and_scalars_are_truncated():
    integers = nd.array([-3, 3], dtype="int32")
    assert (integers / 2).asnumpy().tolist() == [-1, 1]
    assert (integers + 1.5).asnumpy().tolist() == [-2, 4]


def test_the_remainder_has_the_sign_of_the_divisor():
    assert (nd.array([-5, 5]) % 3).asnumpy().tolist() == [1, 2]


@pytest.mark.parametrize("other", [None, "x", "2", [1, 2], np.ones(2), {}])
@pytest.mark.parametrize("apply", [operator.add, operator.eq, operator.lt])
def test_other_operands_are_a_type_error(apply, other):
    with pytest.raises(TypeError, match="not supported"):
        apply(nd.ones((2,)), other)
    with pytest.raises(TypeError, match="not supported"):
        apply(other, nd.ones((2,)))


def test_arrays_of_two_dtypes_are_refused():
    with pytest.raises(mx.MXNetError, match="float64"):
        nd.ones((2,)) + nd.ones((2,), dtype="float64")


def test_dividing_by_zero_tells_its_sign():
    array = nd.array([1.0])
    with np.errstate(divide="ignore"):
        assert (array / 0.0).asscalar() == np.inf
        assert (array / -0.0).asscalar() == -np.inf


def test_negation_and_absolute_value():
    np.testing.assert_array_equal((-nd.array(A)).asnumpy(), -A)
    np.testing.assert_array_equal(abs(nd.array(A)).asnumpy(), abs(A))


@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "itruediv", "imod"])
@pytest.mark.parametrize("other", [2.5, nd.array(B)])
def test_in_place_operators_write_into_the_same_memory(name, other):
    array = nd.array(A)
    memory, alias = array._data, array
    array = getattr(operator, name)(array, other)
    expected = A.copy()
    expected = getattr(operator, name)(expected, other if np.isscalar(other) else B)
    assert array is alias and array._data is memory
    np.testing.assert_allclose(array.asnumpy(), expected, rtol=1e-6)


def test_power_in_place_makes_a_new_array_as_in_mxnet():
    array = alias = nd.array([2.0])
    array **= 2
    assert (array.asscalar(), alias.asscalar()) == (4, 2)


def test_in_place_results_have_to_fit():
    small = nd.ones((1, 3))
    with pytest.raises(mx.MXNetError):
        small += nd.array(A)
    assert small.asnumpy().tolist() == [[1, 1, 1]]


@pytest.mark.parametrize("which", ["target", "operand"])
def test_in_place_operators_refuse_recorded_arrays_while_recording(which):
    leaf, plain = nd.ones((2,)), nd.ones((2,))
    leaf.attach_grad()
    with autograd.record(), pytest.raises(mx.MXNetError, match="Inplace operations"):
        if which == "target":
            leaf += 1
        else:
            plain += leaf


def test_in_place_operators_on_plain_arrays_pass_while_recording():
    plain = nd.ones((2,))
    with autograd.record():
        plain += plain
        plain *= 3
    assert plain.asnumpy().tolist() == [6, 6]


@pytest.mark.parametrize(
    ("function", "reference"),
    [
        (nd.add, np.add), (nd.subtract, np.subtract), (nd.multiply, np.multiply),
        (nd.divide, np.divide), (nd.true_divide, np.divide), (nd.maximum, np.maximum),
        (nd.minimum, np.minimum), (nd.equal, np.equal), (nd.not_equal, np.not_equal),
        (nd.greater, np.greater), (nd.greater_equal, np.greater_equal), (nd.lesser, np.less),
        (nd.lesser_equal, np.less_equal), (nd.logical_and, np.logical_and),
        (nd.logical_or, np.logical_or), (nd.logical_xor, np.logical_xor),
        (nd.modulo, np.mod), (nd.power, np.power),
    ],
)  # fmt: skip
def test_functions_take_arrays_and_numbers_in_any_mix(function, reference):
    left, right = np.abs(A), np.abs(B)
    for a, b in ((left, right), (left, 2), (2, left)):
        arrays = [x if np.isscalar(x) else nd.array(x) for x in (a, b)]
        np.testing.assert_allclose(function(*arrays).asnumpy(), reference(a, b), rtol=1e-6)
    plain = function(5, 3)
    assert not isinstance(plain, nd.NDArray)
    assert plain == pytest.approx(float(reference(5, 3)))
    with pytest.raises(TypeError, match="not supported"):
        function(nd.array(left), "a")


def test_numpy_numbers_on_the_left_leave_the_work_to_the_array():
    result = np.float32(2) * nd.array([1, 2])
    assert isinstance(result, nd.NDArray)
    assert result.asnumpy().tolist() == [2, 4]


def test_gradients_flow_through_scalars_and_operators():
    x = nd.array([1.0, 2.0])
    x.attach_grad()
    with autograd.record():
        y = (3 - x) * x / 2 + x**2
    y.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), 1.5 - x.asnumpy() + 2 * x.asnumpy())
