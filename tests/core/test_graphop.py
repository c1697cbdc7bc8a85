import threading

import numpy as np
import pytest

import minigluon as mx
from minigluon import autograd, nd, sym
from minigluon.base import MXNetError
from minigluon.core.graphop import GraphOp


def cached(build, *names):
    """A CachedOp of a function of symbols."""
    return nd.CachedOp(build(*[sym.var(n) for n in names]))


def leaf(values):
    x = nd.array(values)
    x.attach_grad()
    return x


def test_a_graph_runs_as_one_node_of_the_tape():
    op = cached(lambda a, b: sym.tanh(a * b) + a, "a", "b")
    a, b = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    with autograd.record():
        y = op(a, b)
    assert y._entry[0].inputs == (a._entry, b._entry)


def test_gradients_of_a_graph_are_those_of_its_operators():
    op = cached(lambda a, b: sym.tanh(a * b) + a, "a", "b")
    a, b = leaf([0.1, 0.2]), leaf([0.3, 0.4])
    with autograd.record():
        y = op(a, b)
    y.backward()
    slope = 1 - np.tanh(a.asnumpy() * b.asnumpy()) ** 2
    np.testing.assert_allclose(a.grad.asnumpy(), slope * b.asnumpy() + 1, rtol=1e-6)
    np.testing.assert_allclose(b.grad.asnumpy(), slope * a.asnumpy(), rtol=1e-6)


def test_several_outputs_come_as_a_list():
    op = cached(lambda a: sym.Group([a + 1, a * 2]), "a")
    plus, times = op(nd.array([1.0]))
    assert (plus.asscalar(), times.asscalar()) == (2, 2)


@pytest.mark.parametrize("used", [0, 1])
def test_an_output_of_a_graph_that_nothing_uses_gets_zeros(used):
    op = cached(lambda a: sym.split(a, num_outputs=2, axis=1), "a")
    x = leaf([[1.0, 2.0, 3.0, 4.0]])
    with autograd.record():
        y = op(x)[used] * 3
    y.backward()
    expected = np.zeros((1, 4))
    expected[:, 2 * used : 2 * used + 2] = 3
    np.testing.assert_array_equal(x.grad.asnumpy(), expected)


def test_out_is_written_to():
    op = cached(lambda a: a * 2, "a")
    out = nd.zeros((2,))
    assert op(nd.array([1.0, 2.0]), out=out) is out
    np.testing.assert_array_equal(out.asnumpy(), [2, 4])


def test_outputs_never_share_memory_with_arguments():
    op = cached(lambda a: sym.Group([a, a.reshape((2, 1)), a]), "a")
    x = nd.array([1.0, 2.0])
    for out in op(x):
        out[:] = 9
    np.testing.assert_array_equal(x.asnumpy(), [1, 2])


def test_a_graph_called_twice_while_recording_keeps_both_runs_apart():
    op = cached(lambda a, w: sym.tanh(a * w), "a", "w")
    w = leaf([0.5])
    with autograd.record():
        y = op(nd.array([0.1]), w) + op(nd.array([0.7]), w)
    y.backward()
    expected = sum(x * (1 - np.tanh(x * 0.5) ** 2) for x in (0.1, 0.7))
    np.testing.assert_allclose(w.grad.asscalar(), expected, rtol=1e-5)


def test_a_graph_inside_a_graph_gives_the_same_gradients():
    x, w = sym.var("x"), sym.var("w")
    inner = GraphOp("inner", [x._entries[0], w._entries[0]], list((sym.sin(x) * w)._entries))
    from minigluon.core.graph import Node

    node = Node(inner.the_call, (x._entries[0], w._entries[0]), "inner")
    outer = GraphOp(
        "outer", [x._entries[0], w._entries[0]], list((sym.Symbol([(node, 0)]) + x)._entries)
    )
    a, b = leaf([0.3]), leaf([2.0])
    with autograd.record():
        y = outer([a, b])
    y.backward()
    np.testing.assert_allclose(y.asscalar(), np.sin(0.3) * 2 + 0.3, rtol=1e-6)
    np.testing.assert_allclose(a.grad.asscalar(), np.cos(0.3) * 2 + 1, rtol=1e-6)
    np.testing.assert_allclose(b.grad.asscalar(), np.sin(0.3), rtol=1e-6)


def test_the_gradient_of_a_graph_can_be_differentiated():
    op = cached(lambda a: a * a * a, "a")
    x = leaf([2.0])
    with autograd.record():
        y = op(x)
        (first,) = autograd.grad(y, [x], create_graph=True)
        (second,) = autograd.grad(first, [x], create_graph=True)
    second.backward()
    assert (first.asscalar(), second.asscalar(), x.grad.asscalar()) == (12, 12, 6)


def test_a_gradient_need_not_read_every_argument():
    op = cached(
        lambda a, b: sym.broadcast_add(a * 3, sym.split(b, num_outputs=2, axis=1)[1]), "a", "b"
    )
    a, b = leaf([[1.0, 2.0]]), leaf([[3.0, 4.0]])
    with autograd.record():
        y = op(a, b)
        of_a, of_b = autograd.grad(y, [a, b], create_graph=True)
        z = (of_a * of_a).sum() + (of_b * b).sum()
    z.backward()
    np.testing.assert_array_equal(of_b.asnumpy(), [[0, 2]])
    np.testing.assert_array_equal(b.grad.asnumpy(), [[0, 2]])


def test_shapes_may_change_from_call_to_call():
    op = cached(lambda a: sym.sum(a * 2, axis=0), "a")
    assert op(nd.ones((3, 2))).shape == (2,)
    assert op(nd.ones((5, 4))).shape == (4,)


def test_wrong_shapes_are_told_on_the_first_call_and_on_a_later_one():
    op = cached(lambda a, b: a * b, "a", "b")
    with pytest.raises(MXNetError, match="elemwise_mul"):
        op(nd.ones((2,)), nd.ones((3,)))
    op(nd.ones((2,)), nd.ones((2,)))
    with pytest.raises(MXNetError, match="elemwise_mul"):
        op(nd.ones((2,)), nd.ones((3,)))


def test_a_second_backward_needs_retain_graph():
    op = cached(lambda a: a * a, "a")
    x = leaf([2.0])
    with autograd.record():
        y = op(x)
    y.backward()
    with pytest.raises(MXNetError, match="retain_graph"):
        y.backward()


def test_training_and_prediction_have_plans_of_their_own():
    op = cached(lambda a: sym.Dropout(a, p=0.5), "a")
    x = nd.ones((100,))
    assert (op(x).asnumpy() == 1).all()
    with autograd.record():
        assert set(op(x).asnumpy().tolist()) == {0.0, 2.0}
    assert (op(x).asnumpy() == 1).all()


def test_two_threads_run_one_hybridised_net_at_once():
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(16, activation="tanh"), mx.gluon.nn.Dense(1))
    net.initialize()
    net.hybridize()
    inputs = [nd.array(np.full((4, 8), k, np.float32)) for k in (0.1, 0.2, 0.3, 0.4)]
    expected = [net(x).asnumpy() for x in inputs]
    wrong = []

    def run(mine):
        for _ in range(50):
            x = inputs[mine].copy()
            x.attach_grad()
            with autograd.record():
                y = net(x)
            y.backward()
            if not np.allclose(y.asnumpy(), expected[mine], rtol=1e-6):
                wrong.append(mine)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
