"""Large loops shared out between threads: the same bits whatever their number."""

import os

import numpy as np
import pytest

from minigluon import nd, sym
from minigluon.core.plan import cache, codegen

pytestmark = pytest.mark.skipif(not cache.available(), reason="plans cannot be compiled here")


@pytest.fixture
def small(monkeypatch):
    """Loops are shared out from few elements on."""
    monkeypatch.setattr(codegen, "SHARED", 64)
    monkeypatch.setenv("MINIGLUON_FUSE", "always")


def outcomes(build, arrays, monkeypatch, counts=(1, 2, 3, 7)):
    """What a function of symbols gives with each number of threads."""
    found = []
    for count in counts:
        monkeypatch.setenv("MINIGLUON_NUM_THREADS", str(count))
        names = [f"x{k}" for k in range(len(arrays))]
        graph = build(*map(sym.var, names))
        op = nd.CachedOp(graph)
        inputs = [nd.array(arrays[names.index(n)]) for n in graph.list_inputs()]
        result = op(*inputs)
        (planned,) = op.op.planned.values()
        assert planned.plan.forward.builtin
        found.append([r.asnumpy() for r in (result if isinstance(result, list) else [result])])
    return found


GRAPHS = {
    "maps": lambda x, y: sym.exp(-x * x) * sym.sin(y) + x,
    "rows": lambda x, y: sym.softmax(x * y),
    "columns": lambda x, y: sym.softmax(x * y, axis=0),
    "total": lambda x, y: sym.broadcast_add(sym.sum(x * y), sym.sum(x, axis=0)),
    "join": lambda x, y: sym.tanh(sym.concat(x, y, x, dim=1)),
    "several": lambda x, y: sym.Group([x + y, sym.max(x, axis=1), sym.mean(y, axis=1)]),
}


@pytest.mark.parametrize("name", sorted(GRAPHS))
@pytest.mark.parametrize("shape", [(5, 40), (2, 3)])
def test_the_number_of_threads_changes_no_bit(name, shape, small, monkeypatch):
    numbers = np.random.default_rng(0)
    arrays = [numbers.normal(size=shape).astype("float32") for _ in range(2)]
    first, *others = outcomes(GRAPHS[name], arrays, monkeypatch)
    for other in others:
        for got, wanted in zip(other, first, strict=True):
            np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize(("least", "shared"), [(64, True), (1 << 22, False)])
def test_large_loops_are_shared_out_and_small_ones_are_not(least, shared, monkeypatch):
    monkeypatch.setattr(codegen, "SHARED", least)
    texts = []
    compiled = cache.builtin
    monkeypatch.setattr(cache, "builtin", lambda text: texts.append(text) or compiled(text))
    x = sym.var("x")
    nd.CachedOp(sym.exp(sym.sin(x)) + sym.sin(sym.exp(x)))(nd.ones((40, 10)))
    assert any("call i32 @share(" in text for text in texts) == shared


def test_a_sum_along_the_first_axis_stays_in_one_thread(small, monkeypatch):
    texts = []
    compiled = cache.builtin
    monkeypatch.setattr(cache, "builtin", lambda text: texts.append(text) or compiled(text))
    nd.CachedOp(sym.sum(sym.sin(sym.var("x")) * 2))(nd.ones((400,)))
    assert not any("call i32 @share(" in text for text in texts)


def test_a_function_outside_its_range_is_refused_in_any_thread(small, monkeypatch):
    values = np.linspace(-3, 3, 640).astype("float32")
    values[-1] = 1e9  # too far for the sine
    for (got,) in outcomes(lambda x: sym.sin(x) * 2 + x, [values], monkeypatch):
        np.testing.assert_allclose(got, np.sin(values) * 2 + values, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({"OMP_NUM_THREADS": "3"}, 3),
        ({"OMP_NUM_THREADS": "3,2"}, 3),
        ({"NUMBA_NUM_THREADS": "5"}, 5),
        ({"MINIGLUON_NUM_THREADS": "2", "OMP_NUM_THREADS": "3"}, 2),
        ({"OMP_NUM_THREADS": "many", "NUMBA_NUM_THREADS": "4"}, 4),
        ({"OMP_NUM_THREADS": "1000"}, codegen.THREADS),
    ],
)
def test_settings_say_how_many_threads(given, wanted, monkeypatch):
    for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "MINIGLUON_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert cache.threads() == wanted


def test_without_settings_there_is_a_thread_for_each_core(monkeypatch):
    for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "MINIGLUON_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    assert 1 <= cache.threads() <= max(os.cpu_count() or 1, 1)
