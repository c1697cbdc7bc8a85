import numpy as np
import pytest

from minigluon import autograd, nd, sym
from minigluon.base import MXNetError
from minigluon.core.grad import Like, add, symbolic, trace
from minigluon.core.graph import Node, variable
from minigluon.core.note import make_note
from minigluon.core.op import registry
from minigluon.core.plan.emit import emit
from minigluon.storage import RowSparse


def gradient(name, count, **attrs):
    return trace(registry[name].call(**attrs), count)


def kept_by(name, data, result, wanted=None, **attrs):
    """What a node keeps of a Call on storages of which those ``wanted`` are on the tape."""
    call = registry[name].call(**attrs)
    wanted = wanted or (True,) * len(data)
    types = tuple(map(type, data))
    note = make_note(call, trace(call, len(data)), wanted, types, result)
    return note(call, wanted, data, result).values


def test_a_rule_is_traced_once_for_each_call():
    assert gradient("dot", 2) is gradient("dot", 2)
    assert gradient("dot", 2) is not gradient("dot", 2, transpose_a=True)


def test_a_variadic_call_has_a_gradient_for_each_number_of_inputs():
    assert len(gradient("add_n", 2).results) == 2
    assert len(gradient("add_n", 3).results) == 3
    assert len(gradient("add_n", 2).results) == 2


def test_the_tape_keeps_only_what_the_gradient_reads():
    arrays = np.ones((3, 4)), np.ones((2, 4)), np.ones(2)
    kept = kept_by("FullyConnected", arrays, np.ones((3, 2)), num_hidden=2)
    held = [x for x in kept if not isinstance(x, Like)]
    assert [x.shape for x in held] == [(3, 4), (2, 4)]


def test_of_an_input_read_for_its_shape_only_the_shape_is_kept():
    (like,) = kept_by("sum", (np.ones((3, 4)),), np.ones(1))
    assert isinstance(like, Like)
    assert (like.shape, like.ndim, like.dtype) == ((3, 4), 2, np.float64)


def test_an_operator_without_gradient_says_so_with_its_name():
    x = nd.ones((2, 2))
    x.attach_grad()
    with autograd.record():
        y = nd.batch_take(x, nd.array([0, 1]))
        with pytest.raises(MXNetError, match="batch_take is non-differentiable"):
            y.backward()


def test_gradients_of_several_uses_are_added():
    x = variable("x")
    square = (Node(registry["elemwise_mul"].call(), (x, x), "square"), 0)
    head = (Node(registry["elemwise_add"].call(), (square, x), "head"), 0)
    grad = symbolic([head], [None], [x[0]])[x]
    (got,) = emit("g", [x], [grad], [np.ndarray]).run(np.array([3.0]))
    np.testing.assert_array_equal(got, [7.0])


def test_a_variable_the_heads_do_not_depend_on_is_absent():
    x, y = variable("x"), variable("y")
    head = (Node(registry["relu"].call(), (x,), "head"), 0)
    assert set(symbolic([head], [None], [x[0], y[0]])) == {x}


def test_sparse_gradients_are_added_without_becoming_dense():
    left = RowSparse(np.ones((1, 2), np.float32), np.array([1]), (4, 2))
    right = RowSparse(np.ones((2, 2), np.float32), np.array([1, 3]), (4, 2))
    total = add(left, right)
    assert isinstance(total, RowSparse)
    np.testing.assert_array_equal(total.indices, [1, 3])
    np.testing.assert_array_equal(total.values, [[2, 2], [1, 1]])


@pytest.mark.parametrize("used", [0, 1, 2])
def test_an_output_that_nothing_uses_gets_a_gradient_of_zeros(used):
    x = nd.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    x.attach_grad()
    with autograd.record():
        parts = nd.split(x, num_outputs=3, axis=1)
        loss = parts[used] * 2
    loss.backward()
    expected = np.zeros((2, 3))
    expected[:, used] = 2
    np.testing.assert_array_equal(x.grad.asnumpy(), expected)


def test_an_output_of_a_bound_graph_that_is_given_no_gradient_counts_as_zero():
    parts = sym.split(sym.var("x"), num_outputs=2, axis=1)
    x, grad = nd.ones((2, 4)), nd.zeros((2, 4))
    executor = parts.bind(None, {"x": x}, {"x": grad})
    executor.forward(is_train=True)
    executor.backward([nd.ones((2, 2)), None])
    np.testing.assert_array_equal(grad.asnumpy(), [[1, 1, 0, 0]] * 2)


def test_what_a_gradient_rule_multiplies_broadcasts():
    x = nd.array([[1.0, 2.0], [3.0, 4.0]])
    x.attach_grad()
    with autograd.record():
        y = nd.mean(x * x, axis=1)
    y.backward(nd.array([1.0, 10.0]))
    np.testing.assert_allclose(x.grad.asnumpy(), [[1, 2], [30, 40]])


def test_a_chain_of_thousands_of_operators_runs_backwards():
    x = nd.array([1.0])
    x.attach_grad()
    with autograd.record():
        y = x
        for _ in range(3000):
            y = y + 1
    y.backward()
    assert x.grad.asscalar() == 1


def test_values_are_released_by_backward():
    x = nd.ones((2,))
    x.attach_grad()
    with autograd.record():
        y = x * x
    node = y._entry[0]
    y.backward(retain_graph=True)
    assert node.values is not None
    y.backward()
    assert node.values is None


def test_one_backward_passes_through_calls_on_several_numbers_of_inputs():
    a, b = nd.array([1.0, 2.0]), nd.array([3.0, 4.0])
    for x in (a, b):
        x.attach_grad()
    with autograd.record():
        inner = nd.concat(a, b, dim=0)
        outer = nd.concat(inner, a, b, dim=0)
    (gradient,) = autograd.grad([outer], [a])
    assert gradient.asnumpy().tolist() == [2, 2]
