"""Matrix products that BLAS computes inside of compiled parts."""

import numpy as np
import pytest

from minigluon import autograd, gluon, nd, sym
from minigluon.core.plan import blas, cache

pytestmark = pytest.mark.skipif(
    not cache.available() or blas.found() is None, reason="plans cannot be compiled, or no BLAS"
)


def draws(*shapes, dtype="float32"):
    numbers = np.random.default_rng(4)
    return [numbers.normal(size=s).astype(dtype) for s in shapes]


def compiled(build, *arrays):
    """Outputs and gradients of a function of symbols, all of it compiled with products."""
    names = [f"x{k}" for k in range(len(arrays))]
    graph = build(*[sym.var(n) for n in names])
    op = nd.CachedOp(graph)
    leaves = [nd.array(a, dtype=a.dtype) for a in arrays]
    for leaf in leaves:
        leaf.attach_grad()
    with autograd.record():
        out = op(*[leaves[names.index(n)] for n in graph.list_inputs()])
    out.backward()
    (planned,) = op.op.planned.values()
    assert planned.plan.forward.builtin
    assert "    product " in planned.plan.describe()
    return out.asnumpy(), [leaf.grad.asnumpy() for leaf in leaves]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("transpose_b", [False, True])
@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("sizes", [(20, 30, 40), (1, 60, 50), (60, 50, 1), (70, 1, 60)])
def test_products_are_those_of_numpy(sizes, transpose_a, transpose_b, dtype):
    n, k, m = sizes
    a, b = draws((n, k), (k, m), dtype=dtype)
    given = [a.T.copy() if transpose_a else a, b.T.copy() if transpose_b else b]
    out, (by_a, by_b) = compiled(
        lambda x, y: sym.dot(x * 2, y, transpose_a=transpose_a, transpose_b=transpose_b) + 1,
        *given,
    )
    close = {"rtol": 1e-4, "atol": 1e-4} if dtype == "float32" else {"rtol": 1e-11, "atol": 1e-11}
    np.testing.assert_allclose(out, 2 * a @ b + 1, **close)
    ones = np.ones_like(out)
    slope_a, slope_b = 2 * ones @ b.T, 2 * a.T @ ones
    np.testing.assert_allclose(by_a, slope_a.T if transpose_a else slope_a, **close)
    np.testing.assert_allclose(by_b, slope_b.T if transpose_b else slope_b, **close)


def test_operands_may_be_parts_and_joins_of_arrays():
    x, y = draws((40, 60), (30, 25))

    def build(x, y):
        part = sym.slice(x, begin=(3, 10), end=(33, 40))
        both = sym.concat(y, y * 2, dim=1)
        return sym.broadcast_mul(sym.dot(sym.transpose(part), both), sym.sum(y))

    out, _ = compiled(build, x, y)
    wanted = x[3:33, 10:40].T @ np.concatenate([y, 2 * y], 1) * y.sum()
    np.testing.assert_allclose(out, wanted, rtol=1e-4, atol=1e-2)


def test_operands_may_be_sums_products_and_rows_seen_again_and_again():
    x, y = draws((30, 40, 3), (40, 50))

    def build(x, y):
        total = sym.sum(x, axis=2)
        again = sym.broadcast_to(sym.mean(total, axis=0, keepdims=True), shape=(30, 40))
        return sym.dot(sym.dot(total, y), sym.transpose(y)) + sym.dot(
            again, sym.dot(y, sym.transpose(y))
        )

    out, _ = compiled(build, x, y)
    total = x.astype("float64").sum(2)
    gram = y.astype("float64") @ y.T
    wanted = total @ gram + np.broadcast_to(total.mean(0), (30, 40)) @ gram
    np.testing.assert_allclose(out, wanted, rtol=1e-3, atol=2e-2)


def test_a_network_with_its_loss_is_three_functions():
    def trained(hybrid):
        net = gluon.nn.HybridSequential()
        net.add(gluon.nn.Dense(50, activation="relu", in_units=40), gluon.nn.Dense(8, in_units=50))
        net.initialize()
        numbers = np.random.default_rng(7)
        for p in net.collect_params().values():
            p.set_data(nd.array(numbers.normal(size=p.shape) * 0.2))
        if hybrid:
            net.hybridize()
        loss = gluon.loss.SoftmaxCELoss()
        x, y = nd.array(draws((16, 40))[0]), nd.array(np.arange(16) % 8)
        trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
        for _ in range(4):
            with autograd.record():
                value = loss(net(x), y)
            value.backward()
            trainer.step(16)
        if hybrid:
            calls = value._entry[0].call, value._entry[0].inputs[0][0].call
            assert all(call.plan.forward.builtin for call in calls)
            assert next(iter(calls[1].chains.values())).run is not None
        return [value.asnumpy(), *[p.data().asnumpy() for p in net.collect_params().values()]]

    for got, wanted in zip(trained(True), trained(False), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=2e-4, atol=2e-5)


def test_without_blas_products_stay_kernels(monkeypatch):
    monkeypatch.setattr(blas, "found", lambda: None)
    a, b = draws((20, 30), (30, 40))
    op = nd.CachedOp(sym.tanh(sym.dot(sym.var("a"), sym.var("b")) * 0.1) + 1)
    out = op(nd.array(a), nd.array(b))
    np.testing.assert_allclose(out.asnumpy(), np.tanh(a @ b * 0.1) + 1, rtol=1e-4, atol=1e-5)
    (planned,) = op.op.planned.values()
    assert "dot: a product for BLAS, which was not found" in planned.plan.describe()
