import numpy as np
import pytest

from minigluon.kernels import updates
from minigluon.storage import RowSparse, densify

RULES = {
    "sgd": (updates.sgd, updates.sgd_rows, 0, {}),
    "sgd_momentum": (updates.sgd_momentum, updates.sgd_momentum_rows, 1, {"momentum": 0.9}),
    "adam": (updates.adam, updates.adam_rows, 2, {}),
    "adagrad": (updates.adagrad, updates.adagrad_rows, 1, {}),
    "ftrl": (updates.ftrl, updates.ftrl_rows, 2, {}),
}
COMMON = {"lr": 0.1, "wd": 0.03, "rescale_grad": 0.37}


def operands(states, dtype=np.float32, shape=(11, 3)):
    r = np.random.RandomState(4)
    draws = [r.randn(*shape), 3 * r.randn(*shape), *(r.rand(*shape) for _ in range(states))]
    return [a.astype(dtype) for a in draws]


def reference(
    name, weight, grad, states, *, lr, wd, rescale_grad, clip_gradient=-1.0, momentum=0.9
):
    """The rules as MXNet 1.9.1 was seen to round them, one float32 operation after the other."""
    f = weight.dtype.type
    one, lr, wd, rescale, momentum = f(1), f(lr), f(wd), f(rescale_grad), f(momentum)
    limit = f(clip_gradient) if clip_gradient >= 0 else f(np.inf)
    g = np.clip(rescale * grad, -limit, limit)
    step = lr * g if clip_gradient >= 0 else (lr * rescale) * grad
    if name == "sgd":
        return (one - lr * wd) * weight - step, []
    if name == "sgd_momentum":
        state = momentum * states[0] - lr * wd * weight - step
        return weight + state, [state]
    if name == "adam":
        g = np.clip(rescale * grad + wd * weight, -limit, limit)
        mean = f(0.9) * states[0] + (one - f(0.9)) * g
        var = f(0.999) * states[1] + (one - f(0.999)) * g * g
        return weight - lr * mean / (np.sqrt(var) + f(1e-8)), [mean, var]
    if name == "adagrad":
        history = states[0] + g * g
        return weight - lr * (g / np.sqrt(history + f(1e-7)) + wd * weight), [history]
    n = states[1] + g * g
    z = states[0] + (g - (np.sqrt(n) - np.sqrt(states[1])) * weight / lr)
    shrunk = np.sign(z) * f(0.01) - z
    return shrunk / ((one + np.sqrt(n)) / lr + wd) * (np.abs(z) > f(0.01)), [z, n]


@pytest.mark.parametrize("clip", [-1.0, 0.5, 0.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", RULES)
def test_every_rule_rounds_as_mxnet_does(path, name, dtype, clip):
    rule, _, count, extra = RULES[name]
    weight, grad, *states = operands(count, dtype)
    expected = reference(name, weight, grad, states, clip_gradient=clip, **COMMON)
    before = weight.copy()
    out = rule(weight, grad, *states, np.empty_like(weight), clip_gradient=clip, **COMMON, **extra)
    np.testing.assert_array_equal(weight, before)
    np.testing.assert_array_equal(out, expected[0])
    for state, after in zip(states, expected[1], strict=True):
        np.testing.assert_array_equal(state, after)


# Recorded from MXNet 1.9.1: weight [1, -2], gradient [3, -0.5], states [0.5, 0.25] (var and n [0.5,
# 0.25] too), lr=0.1, wd=0.03, rescale_grad=0.37, clip_gradient=0.5.
RECORDED = {
    "sgd": [0.9469999670982361, -1.9754999876022339],
    "sgd_momentum": [1.3969999551773071, -1.750499963760376],
    "adam": [0.9292716383934021, -2.0401153564453125],
    "adagrad": [0.942264974117279, -1.965299129486084],  # with wd=0: its sparse op takes no other
    "ftrl": [0.030988674610853195, -0.04671167954802513],
}


@pytest.mark.parametrize("name", RECORDED)
def test_recorded_results(path, name):
    rule, _, count, extra = RULES[name]
    states = [np.float32([0.5, 0.25]) for _ in range(count)]
    weight = np.float32([1, -2])
    common = {**COMMON, "wd": 0.0} if name == "adagrad" else COMMON
    rule(weight, np.float32([3, -0.5]), *states, weight, clip_gradient=0.5, **common, **extra)
    np.testing.assert_array_equal(weight, np.float32(RECORDED[name]))


@pytest.mark.parametrize("name", RULES)
def test_float16_is_computed_in_float32_and_rounded_once(path, name):
    rule, _, count, extra = RULES[name]
    arrays = operands(count, np.float16)
    wide = [a.astype(np.float32) for a in arrays]
    rule(*arrays, arrays[0], **COMMON, **extra)
    rule(*wide, wide[0], **COMMON, **extra)
    for narrow, exact in zip(arrays, wide, strict=True):
        np.testing.assert_array_equal(narrow, exact.astype(np.float16))


@pytest.mark.parametrize("name", RULES)
def test_nan_gradients_are_not_clipped_away(path, name):
    rule, _, count, extra = RULES[name]
    weight, grad, *states = operands(count)
    grad[0, 0] = np.nan
    rule(weight, grad, *states, weight, clip_gradient=0.5, **COMMON, **extra)
    assert np.isnan(weight).sum() == 1 or name == "ftrl"


@pytest.mark.parametrize("width", [1, 2, 3, updates.NARROW + 4])
@pytest.mark.parametrize("kinds", ["dd", "rr", "rd", "dr", "pd", "pp", "dp"])
@pytest.mark.parametrize("name", RULES)
def test_lazy_rules_change_the_rows_of_the_gradient_only(path, name, kinds, width):
    dense_rule, lazy_rule, count, extra = RULES[name]
    weight, grad, *states = operands(count, shape=(11, width))
    ids = np.array([0, 3, 4, 10])
    partly = np.array([1, 3, 10])
    absent = np.setdiff1d(np.arange(11), partly)

    def store(dense, kind):
        if kind == "d":
            return dense.copy()
        if kind == "r":
            return RowSparse(dense.copy(), np.arange(11), dense.shape)
        dense[absent] = 0
        return RowSparse(dense[partly], partly, dense.shape)

    stored = [store(a, kinds[k > 0]) for k, a in enumerate((weight, *states))]
    before = [weight.copy(), *(s.copy() for s in states)]
    dense_rule(weight, grad, *states, weight, **COMMON, **extra)
    results = lazy_rule(
        stored[0], RowSparse(grad[ids], ids, grad.shape), *stored[1:], **COMMON, **extra
    )
    for result, operand, old, new in zip(results, stored, before, (weight, *states), strict=True):
        expected = old
        expected[ids] = new[ids]
        np.testing.assert_array_equal(densify(result), expected)
        assert result is operand or type(operand) is RowSparse


@pytest.mark.parametrize("kinds", ["dd", "rd", "dr", "pp"])
@pytest.mark.parametrize("name", RULES)
def test_all_rows_agrees_with_the_dense_rule(path, name, kinds):
    rule, _, count, extra = RULES[name]
    weight, grad, *states = operands(count)
    ids = np.array([0, 3, 4, 10])
    grad[np.setdiff1d(np.arange(11), ids)] = 0

    def store(dense, kind):
        if kind == "d":
            return dense.copy()
        rows = np.arange(11) if kind == "r" else ids
        dense[np.setdiff1d(np.arange(11), rows)] = 0
        return RowSparse(dense[rows], rows, dense.shape)

    stored = [store(a, kinds[k > 0]) for k, a in enumerate((weight, *states))]
    rule(weight, grad, *states, weight, **COMMON, **extra)
    rsp = RowSparse(grad[ids], ids, grad.shape)
    results = updates.all_rows(rule, stored[0], rsp, *stored[1:], **COMMON, **extra)
    for result, operand, expected in zip(results, stored, (weight, *states), strict=True):
        np.testing.assert_array_equal(densify(result), expected)
        assert type(result) is type(operand)


@pytest.mark.parametrize("width", [2, updates.NARROW + 4])
@pytest.mark.parametrize("name", RULES)
def test_lazy_float32_steps_stay_beside_their_float64_twins(path, name, width):
    _, lazy_rule, count, extra = RULES[name]
    arrays = operands(count, np.float64, (40, width))
    twins = [a.astype(np.float32) for a in arrays]
    r = np.random.RandomState(2)
    for _ in range(5):
        ids = np.flatnonzero(r.rand(40) < 0.4)
        values = r.randn(ids.size, width)
        for (weight, _, *states), dtype in ((arrays, np.float64), (twins, np.float32)):
            grad = RowSparse(values.astype(dtype), ids, weight.shape)
            lazy_rule(weight, grad, *states, **COMMON, **extra)
    for twin, exact in zip(twins, arrays, strict=True):
        np.testing.assert_allclose(twin, exact, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("name", RULES)
def test_an_empty_gradient_changes_nothing(path, name):
    _, lazy_rule, count, extra = RULES[name]
    weight, _, *states = operands(count)
    before = weight.copy()
    empty = RowSparse(np.zeros((0, 3), np.float32), np.zeros(0, np.int64), weight.shape)
    assert lazy_rule(weight, empty, *states, **COMMON, **extra)[0] is weight
    np.testing.assert_array_equal(weight, before)


@pytest.mark.parametrize("shape", [(6,), (6, 2, 2)])
def test_lazy_rules_take_arrays_of_any_rank(path, shape):
    weight = np.ones(shape, np.float32)
    grad = RowSparse(np.ones((1, *shape[1:]), np.float32), np.array([2]), shape)
    updates.sgd_rows(weight, grad, lr=0.5)
    assert (weight[2] == 0.5).all()
    assert weight.sum() == np.prod(shape) - 0.5 * weight[2].size


def test_known_bug_lazy_sgd_and_adam(path):
    # one-column form of the report: rows {0, 2}, {2}, {4} over three steps
    expected = {"sgd": [0.899, 1, 0.7981, 1, 0.899], "adam": [0.9, 1, 0.8, 1, 0.93612]}
    weight = np.ones((5, 2), np.float32)
    for rows in ([0, 2], [2], [4]):
        g = RowSparse(np.ones((len(rows), 2), np.float32), np.array(rows), (5, 2))
        updates.sgd_rows(weight, g, lr=0.1, wd=0.01)
    np.testing.assert_allclose(weight[:, 0], expected["sgd"], atol=1e-5)
    weight, mean, var = np.ones((5, 2), np.float32), np.zeros((5, 2), "f"), np.zeros((5, 2), "f")
    for t, rows in enumerate(([0, 2], [2], [4]), 1):
        g = RowSparse(np.ones((len(rows), 2), np.float32), np.array(rows), (5, 2))
        lr = 0.1 * (1 - 0.999**t) ** 0.5 / (1 - 0.9**t)
        updates.adam_rows(weight, g, mean, var, lr=lr, wd=0.01)
    np.testing.assert_allclose(weight[:, 0], expected["adam"], atol=1e-4)


def test_both_ways_give_equal_bits_above_the_threshold(numba_loaded, monkeypatch):
    for name, (rule, _, count, extra) in RULES.items():
        arrays = operands(count, shape=(updates.SMALL, 1))
        again = [a.copy() for a in arrays]
        rule(*arrays, arrays[0], **COMMON, **extra)
        with monkeypatch.context() as patch:
            patch.setattr(updates, "SMALL", 1 << 60)
            rule(*again, again[0], **COMMON, **extra)
        for one, two in zip(arrays, again, strict=True):
            np.testing.assert_array_equal(one, two, err_msg=name)


@pytest.mark.parametrize("clip", [-1.0, 0.5])
@pytest.mark.parametrize("kinds", ["dd", "rr", "pp", "dr"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_group_adagrad_has_one_step_size_a_row(path, dtype, kinds, clip):
    weight, grad, _ = operands(1, np.float64, (11, 5))
    history = np.random.RandomState(3).rand(11, 1)
    ids, partly = np.array([0, 3, 4, 10]), np.array([1, 3, 10])

    def store(dense, kind):
        if kind == "p":
            dense[np.setdiff1d(np.arange(11), partly)] = 0
            return RowSparse(dense[partly].astype(dtype), partly, dense.shape)
        dense = dense.astype(dtype)
        return dense if kind == "d" else RowSparse(dense, np.arange(11), dense.shape)

    stored = [store(x, kind) for x, kind in zip((weight, history), kinds, strict=True)]
    before = [densify(x).copy() for x in stored]
    rows = RowSparse(grad[ids].astype(dtype), ids, grad.shape)
    results = updates.group_adagrad_rows(
        stored[0], rows, stored[1], lr=0.1, epsilon=1e-5, rescale_grad=0.37, clip_gradient=clip
    )
    g = 0.37 * grad[ids] if clip < 0 else np.clip(0.37 * grad[ids], -clip, clip)
    history[ids, 0] += (g * g).mean(axis=1)
    weight[ids] -= 0.1 * g / np.sqrt(history[ids] + 1e-5)
    tolerance = {np.float16: 4e-3, np.float32: 2e-6, np.float64: 1e-12}[dtype]
    for result, wanted, old in zip(results, (weight, history), before, strict=True):
        np.testing.assert_allclose(densify(result), wanted, rtol=tolerance, atol=tolerance)
        others = np.setdiff1d(np.arange(11), ids)
        np.testing.assert_array_equal(densify(result)[others], old[others])
