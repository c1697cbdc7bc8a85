"""What the tape keeps of a Call, and the way back from it."""

import numpy as np
import pytest

from minigluon import autograd, nd
from minigluon.base import MXNetError
from minigluon.core.grad import trace, trace_open
from minigluon.core.note import Pull
from minigluon.core.op import registry


def leaf(values):
    x = nd.array(values, dtype="float64")
    x.attach_grad()
    return x


def slopes(function, arrays, step=1e-6):
    """Central differences of the sum of a function of numpy arrays, in each of their elements."""
    found = []
    for k, array in enumerate(arrays):
        slope = np.zeros(array.shape)
        for at in np.ndindex(array.shape):
            ends = []
            for move in (step, -step):
                moved = [a.copy() for a in arrays]
                moved[k][at] += move
                ends.append(function(*moved).sum())
            slope[at] = (ends[0] - ends[1]) / (2 * step)
        found.append(slope)
    return found


BINARY = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide,
    "power": np.power, "maximum": np.maximum, "minimum": np.minimum,
}  # fmt: skip
SHAPES = [((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 1), (1, 3)), ((1, 3), (3,)), ((1,), (2, 3))]


@pytest.mark.parametrize("recorded", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("name", BINARY)
def test_gradients_are_the_slopes_for_equal_and_other_shapes_and_any_recorded_inputs(
    name, shapes, recorded
):
    rng = np.random.default_rng(1)
    values = [rng.uniform(0.5, 2, shape) for shape in shapes]
    arrays = [nd.array(v, dtype="float64") for v in values]
    wanted = [k for k in range(2) if recorded[k]]
    for k in wanted:
        arrays[k].attach_grad()
    with autograd.record():
        y = getattr(nd, name)(*arrays)
    y.backward()
    expected = slopes(BINARY[name], values)
    for k in wanted:
        np.testing.assert_allclose(arrays[k].grad.asnumpy(), expected[k], rtol=1e-6, atol=1e-8)


def test_of_equal_shapes_nothing_is_summed_and_less_is_kept():
    gradient = trace(registry["broadcast_add"].call(), 2)
    assert Pull(gradient, (True, True), equal=True).kept == []
    assert len(Pull(gradient, (True, True)).kept) == 2
    assert len(Pull(gradient, (True, False)).kept) == 1


def test_a_gradient_is_open_to_all_numbers_unless_its_rule_looks_at_them():
    def numbers(name):
        return list(trace_open(registry[name].call(scalar=3), 1).numbers)

    assert numbers("_mul_scalar") == numbers("_rdiv_scalar") == ["scalar"]
    assert numbers("_power_scalar") == numbers("_rpower_scalar") == []


@pytest.mark.parametrize("number", [0.0, -0.0, 1, 2, 3.5, -1.5, 12.25])
@pytest.mark.parametrize(
    "function",
    [
        lambda x, s: x * s,
        lambda x, s: x + s,
        lambda x, s: s - x,
        lambda x, s: s / x,
        lambda x, s: x**s,
        lambda x, s: nd.maximum(x, s),
        lambda x, s: nd.minimum(x, s),
    ],
)
def test_gradients_are_right_for_every_number(function, number):
    x = leaf([0.5, 1.5, 4.0])
    with autograd.record():
        y = function(x, number)
    y.backward()
    values = x.asnumpy()

    def at(v):
        return function(nd.array(v, dtype="float64"), number).asnumpy()

    slope = (at(values * (1 + 1e-6)) - at(values * (1 - 1e-6))) / (2e-6 * values)
    np.testing.assert_allclose(x.grad.asnumpy(), slope, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("other", [2.5, "array"])
def test_what_was_kept_serves_second_gradients(other):
    x = leaf([0.5, 1.5])
    factor = nd.array([2.0, 3.0], dtype="float64") if other == "array" else other
    with autograd.record():
        y = x * x * factor + factor / x
        (first,) = autograd.grad(y, [x], create_graph=True)
    first.backward()
    number = np.array([2.0, 3.0]) if other == "array" else other
    expected = 2 * number + 2 * number / x.asnumpy() ** 3
    np.testing.assert_allclose(x.grad.asnumpy(), expected, rtol=1e-12)


def test_a_released_recording_says_so_with_create_graph_too():
    x = leaf([1.0, 2.0])
    with autograd.record():
        y = x * x
    y.backward()
    with pytest.raises(MXNetError, match="not in a computational graph"):
        autograd.grad(y, [x], create_graph=True)


def test_a_gradient_shared_by_two_inputs_is_not_changed_by_sums():
    x, y = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    with autograd.record():
        a, b = x * 2, y * 3
        total = a + b  # hands the same array to both
        for _ in range(3):
            total = total + a
    total.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), [8, 8])
    np.testing.assert_array_equal(y.grad.asnumpy(), [3, 3])


def test_mixed_storages_are_recorded_apart_from_dense_ones():
    dense, sparse = leaf([[1.0, 2.0], [3.0, 4.0]]), nd.array([[1.0, 0], [0, 2]], dtype="float64")
    for other in (sparse, sparse.tostype("csr"), sparse):
        with autograd.record():
            y = nd.dot(other, dense)
        y.backward()
        expected = sparse.asnumpy().T @ np.ones((2, 2))
        np.testing.assert_array_equal(dense.grad.asnumpy(), expected)


@pytest.mark.parametrize(
    "function", [lambda w: w * 2.5, lambda w: 2.5 * w, lambda w: w / 2.5, lambda w: w - 2.5]
)
def test_rows_of_a_gradient_stay_rows_where_numbers_are_left_open(function):
    w = leaf(np.ones((4, 2)))
    data = nd.array([[0, 1, 0, 0], [0, 0, 0, 2]], dtype="float64").tostype("csr")
    with autograd.record():
        y = nd.dot(data, function(w))
    (found,) = autograd.grad([y], [w], retain_graph=True)
    assert found.stype == "row_sparse"
    assert found.indices.asnumpy().tolist() == [1, 3]
    y.backward()
    np.testing.assert_allclose(found.tostype("default").asnumpy(), w.grad.asnumpy())
    slope = (function(w + 1) - function(w)).asnumpy()
    np.testing.assert_allclose(w.grad.asnumpy(), slope * data.asnumpy().sum(0)[:, None])


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize(
    "function, stype",
    [
        (nd.add, "default"),
        (nd.subtract, "default"),
        (nd.multiply, "default"),
        (nd.elemwise_add, "row_sparse"),
        (nd.elemwise_sub, "row_sparse"),
        (nd.elemwise_mul, "default"),
    ],
)
def test_storages_of_gradients_are_the_same_for_equal_shapes(function, stype, create_graph):
    w, v = leaf(np.ones((4, 2))), leaf(np.full((4, 2), 2.0))
    data = nd.array([[0, 1, 0, 0], [0, 0, 0, 2]], dtype="float64").tostype("csr")
    with autograd.record():
        y = nd.dot(data, function(w, v))
    found = autograd.grad([y], [w, v], create_graph=create_graph)
    assert [g.stype for g in found] == [stype] * 2  # as for shapes that broadcast, and as in MXNet
