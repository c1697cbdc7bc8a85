"""Compiled plans give what eager runs give, up to rounding, whatever comes in."""

import threading

import numpy as np
import pytest
from hypothesis import strategies as st

import minigluon as mx
from cases import as_arrays, assert_close, gradients, heads_for, run, run_fused
from laws import for_every_operator
from minigluon import autograd, gluon, nd
from minigluon.core.plan import cache
from minigluon.core.plan.fuse import LOWERINGS
from operators import CASES

pytestmark = pytest.mark.skipif(not cache.available(), reason="llvmlite is not there")
LOWERED = sorted(name for name in LOWERINGS if name in CASES)


@for_every_operator(LOWERED)
def test_fused_runs_are_close_to_eager_ones(case, data):
    dtype = data.draw(st.sampled_from(case.entry.dtypes))
    arrays = case.arrays(dtype)
    eager = run(case, dtype, as_arrays(arrays))
    for got, wanted in zip(run_fused(case, dtype, as_arrays(arrays)), eager, strict=True):
        assert (got.stype, got.shape, got.dtype) == (wanted.stype, wanted.shape, wanted.dtype)
        assert_close(got, wanted, factor=case.entry.factor)


@for_every_operator(LOWERED)
def test_fused_gradients_are_close_to_eager_ones(case, data):
    if not case.wanted():
        return
    arrays = case.arrays("float32")
    heads = heads_for(run(case, "float32", as_arrays(arrays)), np.random.default_rng(3))
    eager = gradients(case, "float32", as_arrays(arrays), heads)
    fused = gradients(case, "float32", as_arrays(arrays), heads, run_fused)
    for got, wanted in zip(fused, eager, strict=True):
        assert_close(got, wanted, factor=case.entry.factor)


class Chain(gluon.HybridBlock):
    """Elementwise functions, a product and a sum."""

    def hybrid_forward(self, F, x, y):
        z = F.exp(-x * x) * F.sin(x) + x / (1 + F.abs(y))
        return F.sum(F.tanh(z) * y, axis=1), F.softmax(z)


def made(hybridised, block=Chain):
    net = block()
    net.initialize()
    if hybridised:
        net.hybridize()
    return net


def outcome(net, arrays):
    """Outputs and gradients of a block, as numpy arrays."""
    inputs = [nd.array(a, dtype=a.dtype) for a in arrays]
    for x in inputs:
        x.attach_grad()
    with autograd.record():
        outputs = net(*inputs)
        outputs = outputs if isinstance(outputs, list | tuple) else [outputs]
        total = sum((o.sum() for o in outputs), nd.zeros(1))
    total.backward()
    return [x.asnumpy() for x in (*outputs, *[x.grad for x in inputs])]


def draws(shape, count=2, seed=0):
    numbers = np.random.default_rng(seed)
    return [numbers.normal(size=shape).astype("float32") for _ in range(count)]


def plans(net):
    return list(dict.fromkeys(p.plan for p in net._cached_op.op.planned.values()))


def test_an_elementwise_block_is_one_compiled_function():
    net = made(True)
    outcome(net, draws((3, 4)))
    (plan,) = plans(net)
    assert plan.forward.builtin
    assert all(backward.builtin for backward in plan._backwards.values())
    assert plan.describe().startswith("compiled forward(")


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (3, 1), (5, 64), (4, 129)])
def test_a_block_gives_the_same_at_every_shape(shape):
    arrays = draws(shape)
    for got, wanted in zip(outcome(made(True), arrays), outcome(made(False), arrays), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-5)


@pytest.mark.slow
def test_one_block_takes_arrays_of_many_shapes_in_turn():
    hybrid, plain = made(True), made(False)
    for shape in ((2, 3), (4, 5), (2, 3), (1, 1), (4, 5)):
        arrays = draws(shape)
        for got, wanted in zip(outcome(hybrid, arrays), outcome(plain, arrays), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-5)


@pytest.mark.slow
def test_a_block_that_has_seen_many_shapes_still_runs(monkeypatch):
    monkeypatch.setattr("minigluon.core.graphop.SIGNATURES", 2)
    hybrid, plain = made(True), made(False)
    for n in range(1, 6):
        arrays = draws((n, 2))
        for got, wanted in zip(outcome(hybrid, arrays), outcome(plain, arrays), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=2e-5, atol=2e-5)


def test_arrays_laid_out_otherwise_give_the_same_bits():
    net = made(True)
    x, y = draws((4, 6))
    net(nd.array(x), nd.array(y))
    straight = [o.asnumpy() for o in net(nd.array(x), nd.array(y))]
    turned = nd.array(x)
    turned._data = np.asfortranarray(x)
    for got, wanted in zip(net(turned, nd.array(y)), straight, strict=True):
        np.testing.assert_array_equal(got.asnumpy(), wanted)


def test_results_do_not_share_memory():
    class Twice(gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            y = F.exp(x) + 1
            return x, F.identity(x), y, y, F.reshape(y, shape=(-1,))

    x = nd.array([[1.0, 2.0]])
    arrays = [x._data, *[o._data for o in made(True, Twice)(x)]]
    for k, a in enumerate(arrays):
        assert not any(np.shares_memory(a, b) for b in arrays[k + 1 :])


SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 3e38, -3e38, 90.0, -110.0]
EXACT = [
    "negative", "abs", "sign", "square", "sqrt", "relu", "ceil", "floor", "trunc", "reciprocal",
]  # fmt: skip
ROUNDED = {
    "exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": np.log1p, "tanh": np.tanh,
    "sin": np.sin, "cos": np.cos,
    "sigmoid": lambda x: np.where(x < 0, np.exp(x) / (1 + np.exp(x)), 1 / (1 + np.exp(-x))),
    "_softrelu": lambda x: np.logaddexp(x, 0),
}  # fmt: skip


def compiled_function(name):
    """An operator of one array as a compiled plan."""
    symbol = getattr(mx.sym, name, None) or getattr(mx.sym._internal, name)
    return nd.CachedOp(symbol(mx.sym.Variable("x")))


@pytest.mark.parametrize("name", EXACT)
def test_simple_functions_have_the_bits_of_eager_ones(name):
    function = getattr(nd, name)
    x = nd.array(np.concatenate([SPECIAL, draws(1000, 1)[0]]), dtype="float32")
    got, wanted = compiled_function(name)(x).asnumpy(), function(x).asnumpy()
    np.testing.assert_array_equal(got.view(np.int32)[~np.isnan(wanted)],
                                  wanted.view(np.int32)[~np.isnan(wanted)])  # fmt: skip
    np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted))


@pytest.mark.parametrize("name", sorted(ROUNDED))
def test_transcendental_functions_are_within_3_ulp(name):
    bits = np.random.default_rng(5).integers(0, 2**32, 50_000, np.uint32).view(np.float32)
    spread = np.random.default_rng(6).normal(size=50_000) * np.repeat(
        [1e-3, 0.3, 3, 30, 300], 10_000
    )
    x = np.concatenate([np.float32(SPECIAL), bits[~np.isnan(bits)], np.float32(spread)])
    if name in ("sin", "cos"):
        x = x[~(np.abs(x) > 1e5)]
    got = compiled_function(name)(nd.array(x)).asnumpy()
    with np.errstate(all="ignore"):
        exact = ROUNDED[name](x.astype(np.float64))
        wanted = exact.astype(np.float32)
        np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted))
        np.testing.assert_array_equal(np.isinf(got), np.isinf(wanted))
        finite = np.isfinite(wanted)
        unit = np.maximum(np.spacing(np.abs(wanted[finite])).astype(np.float64), 1e-45)
        assert np.max(np.abs(got[finite] - exact[finite]) / unit) < 3
        zero = (wanted == 0) & (got == 0)
        np.testing.assert_array_equal(np.signbit(got[zero]), np.signbit(wanted[zero]))


def test_sine_of_large_numbers_is_what_numpy_gives():
    x = np.array([1e6, 0.5, -3e20, 1e5], np.float32)
    np.testing.assert_array_equal(compiled_function("sin")(nd.array(x)).asnumpy(), np.sin(x))


@pytest.mark.parametrize("op", ["elemwise_add", "elemwise_sub", "elemwise_mul", "elemwise_div",
                                "_maximum", "_minimum", "_equal", "_lesser"])  # fmt: skip
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_arithmetic_has_the_bits_of_eager_runs(op, dtype):
    a, b = np.meshgrid(np.array(SPECIAL, dtype), np.array(SPECIAL, dtype))
    x, y = nd.array(a, dtype=dtype), nd.array(b, dtype=dtype)
    space = mx.sym._internal if op.startswith("_") else mx.sym
    compiled = nd.CachedOp(getattr(space, op)(mx.sym.Variable("x"), mx.sym.Variable("y")))
    wanted = getattr(nd._internal if op.startswith("_") else nd, op)(x, y).asnumpy()
    got = compiled(x, y).asnumpy()
    np.testing.assert_array_equal(got, wanted)
    np.testing.assert_array_equal(np.signbit(got)[got == 0], np.signbit(wanted)[wanted == 0])


@pytest.mark.slow
@pytest.mark.parametrize("shape", [(3, 40), (2, 70_000)])
def test_threads_share_a_compiled_plan(shape):
    net = made(True)
    arrays = [draws(shape, seed=k) for k in range(4)]
    wanted = [[o.asnumpy() for o in net(*map(nd.array, a))] for a in arrays]
    failures = []

    def work(k):
        inputs = [nd.array(a) for a in arrays[k]]
        for _ in range(20):
            for got, expected in zip(net(*inputs), wanted[k], strict=True):
                if not np.array_equal(got.asnumpy(), expected):
                    failures.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures


def test_never_means_numpy(monkeypatch):
    monkeypatch.setenv("MINIGLUON_FUSE", "never")
    net = made(True)
    arrays = draws((2, 3))
    outcome(net, arrays)
    for plan in plans(net):
        assert not plan.forward.builtin
        assert "nothing is compiled: it is for all shapes" in plan.describe()
        assert "compiled forward" not in plan.describe()


def test_a_plan_of_other_types_says_why_nothing_is_compiled():
    net = made(True)
    x, y = [nd.array(a, dtype="float16") for a in draws((2, 3))]
    net(x, y)
    text = plans(net)[0].describe()
    assert "# tanh: " in text
    assert "not float32 or float64" in text


def test_a_plan_says_why_a_node_is_not_compiled():
    class Rounded(gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return F.cbrt(F.exp(x) * 2) + F.tanh(x) * x

    net = made(True, Rounded)
    net(nd.ones((2, 2)))
    text = plans(net)[0].describe()
    assert "# cbrt: cbrt has no compiled form" in text
    assert "compiled c0(" in text
    assert "compiled c2(" in text


def test_no_references_are_lost_or_leaked():
    import sys

    net = made(True)
    x, y = [nd.array(a) for a in draws((3, 4))]
    before = None
    for round_ in range(50):
        net(x, y)
        counts = sys.getrefcount(x._data), sys.getrefcount(y._data)
        before = before or counts
        assert counts == before, round_


def bound(n):
    """An executor of an elementwise graph on n elements that has run forward and backward."""
    x = mx.sym.Variable("x")
    symbol = mx.sym.exp(mx.sym.sin(x) * 2) + x
    executor = symbol.simple_bind(mx.cpu(), x=(n,))
    executor.arg_dict["x"][:] = np.linspace(-2, 2, n)
    executor.forward(is_train=True)
    executor.backward(nd.ones(n))
    return executor


@pytest.mark.parametrize(("n", "fuse", "compiled"), [
    (10, "auto", False), (200_000, "auto", True), (10, "always", True), (200_000, "never", False),
])  # fmt: skip
def test_executors_are_compiled_when_large(n, fuse, compiled, monkeypatch):
    monkeypatch.setenv("MINIGLUON_FUSE", fuse)
    executor = bound(n)
    assert [p.forward.builtin for p in executor._plans.values()] == [compiled]
    x = executor.arg_dict["x"].asnumpy().astype(np.float64)
    y = np.exp(np.sin(x) * 2)
    np.testing.assert_allclose(executor.outputs[0].asnumpy(), y + x, rtol=2e-5, atol=1e-6)
    slope = y * 2 * np.cos(x) + 1
    np.testing.assert_allclose(executor.grad_arrays[0].asnumpy(), slope, rtol=2e-5, atol=1e-5)


class Tower(gluon.HybridBlock):
    """Dense layers too large to be compiled whole."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.layers = gluon.nn.HybridSequential(prefix="")
        for _ in range(2):
            self.layers.add(gluon.nn.Dense(64, activation="sigmoid", in_units=64))
        self.layers.add(gluon.nn.Dropout(0.5), gluon.nn.Dense(64, in_units=64))

    def hybrid_forward(self, F, x):
        return F.log_softmax(self.layers(x) * 3 + x)


def tower_outcome(net, x):
    mx.random.seed(3)
    x.attach_grad()
    with autograd.record():
        y = net(x)
    y.backward()
    found = [y.asnumpy(), x.grad.asnumpy()]
    return found + [p.grad().asnumpy() for p in net.collect_params().values()]


def test_kernels_and_compiled_parts_alternate(monkeypatch):
    net = Tower()
    mx.random.seed(1)
    net.initialize(mx.init.Normal(0.3))
    x = nd.array(draws((40, 64), 1)[0])
    plain = tower_outcome(net, x)
    net.hybridize()
    fused = tower_outcome(net, x)
    (plan,) = plans(net)
    text = plan.describe()
    assert "compiled c" in text
    assert "# Dropout: random numbers" in text
    assert "    product 40 x 64 x 64" in text
    assert not plan.forward.builtin
    for got, wanted in zip(fused, plain, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=2e-4, atol=2e-5)


def test_plans_of_kernels_are_for_all_shapes_too():
    class Rooted(gluon.HybridBlock):
        def hybrid_forward(self, F, x, i):
            return F.take(F.cbrt(x), i) + F.cbrt(F.cbrt(x))

    net = made(True, Rooted)
    for n in (2, 3, 2):
        x = draws((n, 2), 1)[0]
        i = np.arange(n)[::-1].copy()
        got = net(nd.array(x), nd.array(i, dtype="int32")).asnumpy()
        np.testing.assert_allclose(got, np.cbrt(x)[i] + np.cbrt(np.cbrt(x)), rtol=1e-5)


def test_values_that_are_only_asked_for_their_shape_are_not_kept():
    class Total(gluon.HybridBlock):
        def hybrid_forward(self, F, x, y):
            return F.sum(F.dot(x, y)) * 2 + 1

    net = made(True, Total)
    arrays = [draws((30, 40), 1)[0], draws((40, 30), 1)[0]]
    fused = outcome(net, arrays)
    assert plans(net)[0].kept == []
    for got, wanted in zip(fused, outcome(made(False, Total), arrays), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-4, atol=1e-4)


def test_what_is_written_twice_is_computed_once():
    class Twice(gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return F.cbrt(x) + F.cbrt(x)

    net = made(True, Twice)
    net(nd.ones((2, 2)))
    assert plans(net)[0].describe().count("# cbrt\n") == 1
