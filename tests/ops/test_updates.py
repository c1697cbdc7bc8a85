"""Optimizer steps as operators: formulas, lazy rows, states of any storage."""

import itertools

import numpy as np
import pytest

from minigluon import nd, sym
from minigluon.base import MXNetError, ShapeError

RNG = np.random.default_rng(6)
LR, WD = 0.1, 0.01


def sgd(w, g):
    return w - LR * (g + WD * w), []


def momentum(w, g, m):
    m = 0.9 * m - LR * (g + WD * w)
    return w + m, [m]


def adam(w, g, mean, var):
    g = g + WD * w
    mean, var = 0.9 * mean + 0.1 * g, 0.999 * var + 0.001 * g * g
    return w - LR * mean / (np.sqrt(var) + 1e-8), [mean, var]


def adagrad(w, g, h):
    h = h + g * g
    return w - LR * (g / np.sqrt(h + 1e-7) + WD * w), [h]


def ftrl(w, g, z, n):
    z = z + g - (np.sqrt(n + g * g) - np.sqrt(n)) * w / LR
    n = n + g * g
    shrunk = (np.sign(z) * 0.01 - z) / ((1 + np.sqrt(n)) / LR + WD)
    return np.where(np.abs(z) > 0.01, shrunk, 0), [z, n]


#: operator -> formula, number of states, attributes, whether lazy steps are asked for
STEPS = {
    "sgd_update": (sgd, 0, {}, True),
    "sgd_mom_update": (momentum, 1, {"momentum": 0.9}, True),
    "adam_update": (adam, 2, {}, True),
    "_sparse_adagrad_update": (adagrad, 1, {}, False),
    "ftrl_update": (ftrl, 2, {}, False),
}


PAIRS = list(itertools.product(["default", "row_sparse"], repeat=2))
ALL_PAIRS = list(itertools.product(["default", "row_sparse", "csr"], repeat=2))


def operands(states):
    """A weight, a gradient whose rows 1 and 3 are zero, and states, in float64."""
    grad = RNG.uniform(-1, 1, (5, 2))
    grad[[1, 3]] = 0
    return RNG.uniform(1, 2, (5, 2)), grad, *[RNG.uniform(1, 2, (5, 2)) for _ in range(states)]


def step(name, arrays, stypes, out, **how):
    """Run an operator on float64 arrays in these storages; its result, weight and states."""
    given = [nd.array(x, dtype="float64").tostype(s) for x, s in zip(arrays, stypes, strict=True)]
    function = getattr(nd, name, None) or getattr(nd._internal, name)
    attrs = {"lr": LR, "wd": WD, **STEPS[name][2], **how}
    result = function(*given, out=given[0] if out else None, **attrs)
    return result, given[0], given[2:]


@pytest.mark.parametrize("out", [False, True])
@pytest.mark.parametrize("name", STEPS)
def test_steps_are_their_formulas(name, out):
    rule, count, _, _ = STEPS[name]
    arrays = operands(count)
    result, weight, states = step(name, arrays, ["default"] * len(arrays), out)
    wanted, moved = rule(*arrays)
    np.testing.assert_allclose(result.asnumpy(), wanted, rtol=1e-6)
    np.testing.assert_allclose(weight.asnumpy(), wanted if out else arrays[0], rtol=1e-6)
    for got, state in zip(states, moved, strict=True):
        np.testing.assert_allclose(got.asnumpy(), state, rtol=1e-6)


@pytest.mark.parametrize("lazy", [True, False])
@pytest.mark.parametrize("weight, state", PAIRS)
@pytest.mark.parametrize("name", STEPS)
def test_a_row_sparse_gradient_moves_its_rows_or_all(name, weight, state, lazy):
    rule, count, _, asked = STEPS[name]
    if not asked:  # AdaGrad is always lazy, Ftrl is on row_sparse weights
        lazy = name == "_sparse_adagrad_update" or weight == "row_sparse"
    arrays = operands(count)
    how = {"lazy_update": lazy} if asked else {}
    result, held, states = step(name, arrays, [weight, "row_sparse"] + [state] * count, True, **how)
    assert (result.stype, [s.stype for s in states]) == (weight, [state] * count)
    alike = count == 0 or state == weight or name == "_sparse_adagrad_update"  # as in MXNet
    rows = [0, 2, 4] if lazy and alike else slice(None)
    wanted, moved = rule(*arrays)
    for got, before, after in zip(
        [held, *states], [arrays[0], *arrays[2:]], [wanted, *moved], strict=True
    ):
        expected = before.copy()
        expected[rows] = after[rows]
        np.testing.assert_allclose(got.asnumpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("grad", ["default", "csr"])
@pytest.mark.parametrize("weight, state", ALL_PAIRS)
@pytest.mark.parametrize("name", STEPS)
def test_states_of_any_storage_are_written_back(name, weight, state, grad, monkeypatch):
    monkeypatch.setenv("MXNET_STORAGE_FALLBACK_LOG_VERBOSE", "0")
    rule, count, _, _ = STEPS[name]
    arrays = operands(count)
    _, held, states = step(name, arrays, [weight, grad] + [state] * count, True)
    wanted, moved = rule(*arrays)
    for got, after in zip([held, *states], [wanted, *moved], strict=True):
        np.testing.assert_allclose(got.asnumpy(), after, rtol=1e-6)


@pytest.mark.parametrize("weight", ["default", "row_sparse"])
def test_a_step_without_out_leaves_the_weight_alone(weight):
    arrays = operands(0)
    result, held, _ = step("sgd_update", arrays, [weight, "row_sparse"], False)
    assert held.asnumpy().tolist() == arrays[0].tolist()
    assert not np.array_equal(result.asnumpy(), arrays[0])


def test_a_step_goes_into_another_array():
    weight, grad, out = nd.ones((2, 2)), nd.ones((2, 2)).tostype("row_sparse"), nd.zeros((2, 2))
    nd.sgd_update(weight, grad, lr=0.5, out=out)
    assert out.asnumpy().tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert weight.asnumpy().tolist() == [[1, 1], [1, 1]]


def test_gradients_are_rescaled_then_clipped():
    weight = nd.zeros(3)
    nd.sgd_update(
        weight, nd.array([1, -4, 0.1]), lr=1, rescale_grad=2, clip_gradient=0.5, out=weight
    )
    np.testing.assert_allclose(weight.asnumpy(), [-0.5, 0.5, -0.2], rtol=1e-6)


@pytest.mark.parametrize("stype", ["default", "row_sparse"])
def test_arrays_of_other_shapes_are_refused_before_anything_is_written(stype):
    weight, state = nd.ones((4, 2)), nd.ones((3, 2))
    grad = nd.ones((4, 2)).tostype(stype)
    with pytest.raises(ShapeError, match=r"(?s)sgd_mom_update.*\(4, 2\).*\(3, 2\)"):
        nd.sgd_mom_update(weight, grad, state, lr=1.0, out=weight)
    assert weight.asnumpy().min() == 1


def test_a_step_needs_its_learning_rate():
    with pytest.raises(MXNetError, match="lr"):
        nd.sgd_update(nd.ones(2), nd.ones(2))


def test_shapes_follow_from_any_operand():
    stepped = sym.sgd_mom_update(sym.var("w"), sym.var("g"), sym.var("m"), lr=0.1)
    assert stepped.infer_shape(g=(3, 2))[1] == [(3, 2)]
