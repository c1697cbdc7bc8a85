"""Whatever a graph is made of, all ways to run it agree, and its gradients are its slopes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minigluon as mx
from minigluon import autograd, nd, sym

#: functions of three 3x3 matrices (most use fewer) and an axis, smooth where they are used
STEPS = (
    lambda F, a, b, c, axis: F.sigmoid(a),
    lambda F, a, b, c, axis: F.tanh(a) * 2 - 0.5,
    lambda F, a, b, c, axis: a + b,
    lambda F, a, b, c, axis: (a - b) * 0.7,
    lambda F, a, b, c, axis: F.tanh(a * b),
    lambda F, a, b, c, axis: F.tanh(F.dot(a, b)),
    lambda F, a, b, c, axis: F.broadcast_add(a, F.sum(b, axis=axis, keepdims=True)) * 0.3,
    lambda F, a, b, c, axis: F.transpose(a),
    lambda F, a, b, c, axis: F.broadcast_mul(F.sin(a), F.slice_axis(b, axis=axis, begin=1, end=2)),
    lambda F, a, b, c, axis: F.softmax(a, axis=axis),
    lambda F, a, b, c, axis: F.reshape(F.reshape(a, shape=(-1,)), shape=(3, 3)),
    lambda F, a, b, c, axis: F.add_n(a, b, c) * 0.5,
    lambda F, a, b, c, axis: F.broadcast_to(F.mean(a, axis=axis, keepdims=True), shape=(3, 3)),
    lambda F, a, b, c, axis: F.FullyConnected(a, b, num_hidden=3, no_bias=True) * 0.3,
    lambda F, a, b, c, axis: F.concat(*reversed_parts(F, a, axis), dim=axis),
    lambda F, a, b, c, axis: F.broadcast_add(b, F.split(a, num_outputs=3, axis=axis)[1]),
    lambda F, a, b, c, axis: F.stack(
        F.sum(a, axis=axis), F.mean(b, axis=axis), F.sum(c, axis=axis), axis=axis
    ) * 0.3,
    lambda F, a, b, c, axis: F.where(F.broadcast_greater(a, b), F.square(a), F.square(b)) * 0.2,
)  # fmt: skip


def reversed_parts(F, x, axis):
    first, second, third = F.split(x, num_outputs=3, axis=axis)
    return third, second, first


index = st.integers(0, 1000)
programs = st.lists(
    st.tuples(st.sampled_from(range(len(STEPS))), index, index, index, st.integers(0, 1)),
    min_size=1,
    max_size=10,
)


def run(F, program, inputs):
    """The last two values a program computes from its inputs."""
    values = list(inputs)
    for step, *chosen, axis in program:
        values.append(STEPS[step](F, *[values[k % len(values)] for k in chosen], axis))
    return values[-2:]


def data(seed):
    """Three inputs and two head gradients."""
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(3, 3)) for _ in range(3)], [rng.normal(size=(3, 3)) for _ in range(2)]


def array(x):
    return nd.array(x, dtype="float64")


def through_the_tape(program, inputs, heads, call=None):
    """(outputs, gradients) of a program run eagerly, or by ``call``."""
    leaves = [array(x) for x in inputs]
    for leaf in leaves:
        leaf.attach_grad()
    with autograd.record():
        outputs = run(nd, program, leaves) if call is None else call(leaves)
    recorded = [k for k, y in enumerate(outputs) if y._entry is not None]
    autograd.backward([outputs[k] for k in recorded], [array(heads[k]) for k in recorded])
    return [y.asnumpy() for y in outputs], [leaf.grad.asnumpy() for leaf in leaves]


def through_an_executor(graph, names, inputs, heads, monitored=False):
    """(outputs, gradients) of a bound graph."""
    arguments = {n: array(x) for n, x in zip(names, inputs, strict=True)}
    grads = {n: nd.zeros((3, 3), dtype="float64") for n in names}
    executor = graph.bind(mx.cpu(), arguments, grads)
    if monitored:
        executor.set_monitor_callback(lambda name, value: None, monitor_all=True)
    executor.forward(is_train=True)
    executor.backward([array(h) for h in heads])
    return [y.asnumpy() for y in executor.outputs], [grads[n].asnumpy() for n in names]


def slopes(graph, names, inputs, heads, step=1e-6):
    """Central differences of the outputs, weighted by the heads."""
    found = []
    for k in range(len(names)):
        slope = np.zeros((3, 3))
        for place in np.ndindex(3, 3):
            ends = []
            for sign in (step, -step):
                moved = [x.copy() for x in inputs]
                moved[k][place] += sign
                outputs = graph.eval(**dict(zip(names, map(array, moved), strict=True)))
                ends.append(
                    sum((y.asnumpy() * h).sum() for y, h in zip(outputs, heads, strict=True))
                )
            slope[place] = (ends[0] - ends[1]) / (2 * step)
        found.append(slope)
    return found


def assert_alike(got, wanted, tolerance=1e-9):
    for ours, theirs in zip(got, wanted, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


def built(program):
    """A program as a symbol, and the names of the inputs it uses."""
    variables = [sym.var(f"x{k}") for k in range(3)]
    graph = sym.Group(run(sym, program, variables))
    return graph, graph.list_arguments()


@pytest.mark.slow
@given(program=programs, seed=st.integers(0, 100))
def test_all_ways_to_run_a_graph_agree(program, seed):
    inputs, heads = data(seed)
    graph, names = built(program)
    used = [inputs[int(n[1:])] for n in names]
    outputs, grads = through_the_tape(program, inputs, heads)
    grads = [grads[int(n[1:])] for n in names]
    for got in (
        through_the_tape(program, used, heads, nd.CachedOp(graph)),
        through_an_executor(graph, names, used, heads),
        through_an_executor(graph, names, used, heads, monitored=True),
        through_an_executor(sym.load_json(graph.tojson()), names, used, heads),
    ):
        assert_alike(got[0], outputs)
        assert_alike(got[1], grads)


@pytest.mark.slow
@settings(max_examples=10)
@given(program=programs, seed=st.integers(0, 100))
def test_gradients_of_a_graph_are_its_slopes(program, seed):
    inputs, heads = data(seed)
    graph, names = built(program)
    used = [inputs[int(n[1:])] for n in names]
    got = through_an_executor(graph, names, used, heads)[1]
    assert_alike(got, slopes(graph, names, used, heads), 1e-5)


def slope(program, inputs, heads, weights, call, second=False):
    """The weighted sum of the gradients; with ``second``, the gradients of that sum."""
    leaves = [array(x) for x in inputs]
    for leaf in leaves:
        leaf.attach_grad()
    with autograd.record():
        outputs = run(nd, program, leaves) if call is None else call(leaves)
        total = sum(nd.sum(y * array(h)) for y, h in zip(outputs, heads, strict=True))
        grads = autograd.grad(total, leaves, create_graph=True)
        weighted = sum(nd.sum(g * array(w)) for g, w in zip(grads, weights, strict=True))
    if second and weighted._entry is not None:
        weighted.backward()
    return [leaf.grad.asnumpy() for leaf in leaves] if second else weighted.asscalar()


@pytest.mark.slow
@settings(max_examples=10)
@given(program=programs, seed=st.integers(0, 100), as_one=st.booleans())
def test_gradients_of_gradients_are_their_slopes(program, seed, as_one):
    step = 1e-5
    inputs, heads = data(seed)
    graph, names = built(program)
    used = [inputs[int(n[1:])] for n in names]
    call = nd.CachedOp(graph) if as_one or len(names) < 3 else None
    weights = np.random.default_rng(seed + 1).normal(size=(len(names), 3, 3))
    got = slope(program, used, heads, weights, call, second=True)
    for k in range(len(names)):
        for place in ((0, 0), (1, 2)):
            ends = []
            for sign in (step, -step):
                moved = [x.copy() for x in used]
                moved[k][place] += sign
                ends.append(slope(program, moved, heads, weights, call))
            wanted = (ends[0] - ends[1]) / (2 * step)
            np.testing.assert_allclose(got[k][place], wanted, rtol=1e-4, atol=1e-4)
