import numpy as np
import pytest

from minigluon import sym
from minigluon.core.plan.emit import emit
from minigluon.storage import Csr, to_csr


def function(symbol, kinds=None, fresh=None):
    """What is emitted for a symbol whose variables are its arguments in order."""
    arguments = [s._entries[0] for s in symbol.get_internals() if s.get_children() is None]
    kinds = kinds or [np.ndarray] * len(arguments)
    return emit("f", arguments, symbol._entries, kinds, fresh=fresh)


def calls(emitted):
    return [line for line in emitted.text.splitlines() if "= k" in line]


def test_the_text_has_one_call_for_each_node():
    x, w = sym.var("x"), sym.var("w")
    emitted = function(sym.relu(sym.dot(x, w) + 1) * 2)
    assert len(calls(emitted)) == len(emitted.dispatches) == 4


def test_a_node_used_twice_is_computed_once():
    x = sym.var("x")
    shared = sym.exp(x)
    emitted = function(shared * shared + shared)
    assert len(calls(emitted)) == 3
    np.testing.assert_allclose(emitted.run(np.zeros(2, np.float32))[0], [2, 2])


def test_nothing_above_an_argument_is_computed():
    x = sym.var("x")
    inner = sym.exp(x)
    emitted = emit("f", inner._entries, (inner * 2)._entries, [np.ndarray])
    assert len(calls(emitted)) == 1
    np.testing.assert_array_equal(emitted.run(np.array([3.0], np.float32))[0], [6])


def test_a_variable_that_is_no_argument_is_named():
    x, y = sym.var("x"), sym.var("y")
    with pytest.raises(KeyError, match="y"):
        emit("f", x._entries, (x + y)._entries, [np.ndarray])


def test_a_result_of_none_is_none():
    x = sym.var("x")
    emitted = emit("f", x._entries, [None, (x * 2)._entries[0]], [np.ndarray])
    nothing, doubled = emitted.run(np.ones(1, np.float32))
    assert nothing is None
    assert doubled[0] == 2


def test_fresh_results_share_no_memory_with_arguments_or_each_other():
    x = sym.var("x")
    emitted = function(sym.Group([x, x, sym.reshape(x, shape=(2, 1))]))
    data = np.array([1.0, 2.0], np.float32)
    results = emitted.run(data)
    for k, result in enumerate(results):
        assert not np.shares_memory(result, data)
        assert not any(np.shares_memory(result, other) for other in results[:k])


def test_values_are_let_go_after_their_last_use():
    x = sym.var("x")
    lines = function(sym.exp(sym.sin(x)) * 2).text.splitlines()
    assert any(line.strip() == "v0 = None" for line in lines)


def test_storages_decide_the_kernels():
    x, w = sym.var("x"), sym.var("w")
    emitted = function(sym.dot(x, w), [Csr, np.ndarray])
    assert [d.mode for d in emitted.dispatches.values()] == ["fcompute_ex"]
    (got,) = emitted.run(to_csr(np.eye(2, dtype=np.float32)), np.ones((2, 1), np.float32))
    np.testing.assert_array_equal(got, [[1], [1]])


def test_reductions_to_nothing_come_out_with_one_element():
    x = sym.var("x")
    (got,) = function(sym.sum(x)).run(np.ones((2, 3), np.float32))
    assert got.shape == (1,)
