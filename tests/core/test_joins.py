"""Memory that several loops fill: what concat, stack and gradients of slices are compiled to."""

import numpy as np
import pytest

from minigluon import autograd, nd, sym
from minigluon.core.plan import cache

pytestmark = pytest.mark.skipif(not cache.available(), reason="plans cannot be compiled here")


def draws(*shapes):
    numbers = np.random.default_rng(1)
    return [numbers.normal(size=s).astype("float32") for s in shapes]


def compiled(build, *arrays):
    """Outputs and gradients of a function of symbols, all of it compiled."""
    names = [f"x{k}" for k in range(len(arrays))]
    graph = build(*[sym.var(n) for n in names])
    op = nd.CachedOp(graph)
    leaves = [nd.array(a) for a in arrays]
    for leaf in leaves:
        leaf.attach_grad()
    with autograd.record():
        outputs = op(*[leaves[names.index(n)] for n in graph.list_inputs()])
        outputs = outputs if isinstance(outputs, list) else [outputs]
    autograd.backward(outputs, [o * 2 for o in outputs])
    (planned,) = op.op.planned.values()
    assert planned.plan.forward.builtin
    return [o.asnumpy() for o in outputs], [leaf.grad.asnumpy() for leaf in leaves]


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_parts_of_other_lengths_are_joined(axis):
    shapes = [[2, 3, 4] for _ in range(3)]
    for k, shape in enumerate(shapes):
        shape[axis] = k + 1
    arrays = draws(*shapes)
    (out,), grads = compiled(lambda *x: sym.concat(*x, dim=axis), *arrays)
    np.testing.assert_array_equal(out, np.concatenate(arrays, axis))
    for got, given in zip(grads, arrays, strict=True):
        np.testing.assert_array_equal(got, 2 * given)


def test_a_join_is_read_again_and_given_out_twice():
    a, b = draws((2, 3), (2, 3))

    def build(a, b):
        both = sym.concat(a * 2, b, a, dim=1)
        return sym.Group([both, sym.relu(both), both])

    (one, rectified, two), _ = compiled(build, a, b)
    wanted = np.concatenate([a * 2, b, a], 1)
    np.testing.assert_array_equal(one, wanted)
    np.testing.assert_array_equal(two, wanted)
    np.testing.assert_array_equal(rectified, np.maximum(wanted, 0))


def test_joins_of_joins_and_of_slices_of_joins():
    a, b = draws((2, 3), (2, 3))

    def build(a, b):
        inner = sym.concat(a, b, dim=0)
        part = sym.slice(inner, begin=(1, 1), end=(3, 3))
        return sym.concat(sym.stack(part, part * 3, axis=0), sym.stack(part, part), dim=2)

    (out,), (by_a, by_b) = compiled(build, a, b)
    part = np.concatenate([a, b])[1:3, 1:3]
    np.testing.assert_array_equal(
        out, np.concatenate([np.stack([part, part * 3]), np.stack([part, part])], 2)
    )
    slope = np.zeros((4, 3), "float32")
    slope[1:3, 1:3] = 2 * part * 3 + 2 * part * 9
    np.testing.assert_allclose(np.concatenate([by_a, by_b]), slope, rtol=1e-6)


def test_joins_in_the_middle_too_large_for_the_stack():
    def centred(x):
        return x - x.mean(1, keepdims=True)

    def build(a, b):
        both = sym.concat(a, b, dim=0)
        return sym.broadcast_sub(both, sym.mean(both, axis=1, keepdims=True))

    a, b = draws((90, 100), (70, 100))
    (out,), (by_a, by_b) = compiled(build, a, b)
    wanted = centred(np.concatenate([a, b]))
    np.testing.assert_allclose(out, wanted, rtol=1e-4, atol=1e-5)
    slope = centred(2 * wanted)
    np.testing.assert_allclose(np.concatenate([by_a, by_b]), slope, rtol=1e-4, atol=1e-5)


def test_a_reduction_of_a_join_waits_for_all_of_it():
    a, b = draws((4, 3), (4, 3))
    (out,), _ = compiled(lambda a, b: sym.sum(sym.concat(a, b * b, dim=1), axis=1), a, b)
    np.testing.assert_allclose(out, np.concatenate([a, b * b], 1).sum(1), rtol=1e-5)
