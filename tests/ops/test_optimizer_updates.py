"""Optimizer steps against results recorded from MXNet 1.9.1, and their many-weight forms."""

import numpy as np
import pytest

from minigluon import MXNetError, nd

W, G = [1, -2, 3], [0.5, -1, 2]
STATES = [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9]]
SHARED = {"lr": 0.1, "wd": 0.01, "rescale_grad": 0.5, "clip_gradient": 0.4}

#: operator -> (attributes, the weight and the states after a step in place)
RECORDED = {
    "nag_mom_update": (
        {"momentum": 0.9, **SHARED},
        [[1.0316, -1.7582, 3.1613], [0.06396839, 0.2217582, 0.2268387]],
    ),
    "rmsprop_update": (SHARED, [[0.9171066, -1.910107, 2.926103], [0.09838, 0.198, 0.293]]),
    "ftml_update": (
        {"lr": 0.1, "wd": 0.01, "rescale_grad": 0.5, "clip_grad": 0.4, "t": 3},
        [
            [0.9935496, -2.00079, 2.988818], [90.53646, 101.2305, 110.8895],
            [0.3996676, 0.49966, 0.59956], [-89.95246, 202.541, -331.4285],
        ],
    ),
    "signsgd_update": (SHARED, [[0.899, -1.898, 2.897]]),
    "signum_update": (
        {"momentum": 0.9, "wd_lh": 0.1, **SHARED},
        [[1.09, -1.88, 3.07], [0.06399999, 0.222, 0.227]],
    ),
    "lamb_update_phase1": (
        {"t": 3, "wd": 0.01, "rescale_grad": 0.5, "clip_gradient": 0.4},
        [
            [0.04674715, 0.02000951, 0.1108757], [0.115, 0.14, 0.31],
            [0.3996625, 0.49966, 0.59956],
        ],
    ),
}  # fmt: skip


def close(arrays, wanted, rtol=1e-5):
    for got, expected in zip(arrays, wanted, strict=True):
        np.testing.assert_allclose(got.asnumpy(), expected, rtol=rtol)


@pytest.mark.parametrize("name", RECORDED)
def test_steps_are_those_of_mxnet(name):
    attrs, (weight, *states) = RECORDED[name]
    w, held = nd.array(W), [nd.array(s) for s in STATES[: len(states)]]
    out = getattr(nd, name)(w, nd.array(G), *held, out=w, **attrs)
    assert out is w
    close([w, *held], [weight, *states])


def test_rmspropalex_follows_its_equations():
    w, g = np.array(W), 0.5 * np.array(G) + 0.01 * np.array(W)
    n, mean, delta = np.array([1.0, 2, 3]), np.array(STATES[0]), np.array(STATES[1])
    arrays = [nd.array(x, dtype="float64") for x in (w, G, n, mean, delta)]
    attrs = {"lr": 0.1, "gamma1": 0.9, "gamma2": 0.8, "epsilon": 1e-3}
    nd.rmspropalex_update(*arrays, out=arrays[0], wd=0.01, rescale_grad=0.5, **attrs)
    n, mean = 0.9 * n + 0.1 * g * g, 0.9 * mean + 0.1 * g
    delta = 0.8 * delta - 0.1 * g / np.sqrt(n - mean * mean + 1e-3)
    close([arrays[0], *arrays[2:]], [w + delta, n, mean, delta], 1e-10)


def test_lamb_scales_the_direction_by_the_norms():
    w, g = nd.array(W), nd.array(G)
    norms = nd.array([2]), nd.array([4])
    close([nd.lamb_update_phase2(w, g, *norms, lr=0.1)], [[0.975, -1.95, 2.9]])
    close(
        [nd.lamb_update_phase2(w, g, *norms, lr=0.1, lower_bound=3, upper_bound=8)],
        [[0.9625, -1.925, 2.85]],
    )
    close([nd.lamb_update_phase2(w, g, norms[0] * 0, norms[1], lr=0.1)], [[0.95, -1.9, 2.8]])


@pytest.mark.parametrize("name", ["nag_mom_update", "sgd_update", "sgd_mom_update"])
def test_mixed_precision_works_on_the_single_precision_copy(name):
    states = [nd.array(STATES[0])] if "mom" in name else []
    wide = [nd.array(STATES[0])] if "mom" in name else []
    w32, copy = nd.array(W) + 1e-4, nd.array(W) + 1e-4
    half, grad = nd.array(W, dtype="float16"), nd.array(G, dtype="float16")
    attrs = {**SHARED, **({"momentum": 0.9} if states else {})}
    getattr(nd, f"mp_{name}")(half, grad, *states, w32, out=half, **attrs)
    getattr(nd, name)(copy, nd.array(G), *wide, out=copy, **attrs)
    close([w32, *states], [x.asnumpy() for x in (copy, *wide)])
    close([half], [copy.asnumpy().astype(np.float16)])


def test_mixed_precision_lamb_updates_the_copy():
    # MXNet 1.9.1 leaves it as it was on the CPU, so that nothing is ever learnt
    half, w32 = nd.array(W, dtype="float16"), nd.array(W)
    nd.mp_lamb_update_phase2(half, nd.array(G), nd.ones(1), nd.ones(1), w32, lr=0.1, out=half)
    close([w32], [[0.95, -1.9, 2.8]])
    assert half.dtype is np.float16


def weights():
    """Two weights, their gradients and two states of each."""
    first, second = ([nd.array(x) for x in (W, G, *STATES[:2])], [])
    second = [nd.array(x) for x in ([1, 2], [3, 4], [0.1, 0.2], [0.3, 0.4])]
    return first, second


MULTI = {
    "_multi_adamw_update": (
        {"lrs": (0.1, 0.2), "wds": (0.01, 0.02), "etas": (1.0, 0.5), "num_weights": 2},
        [
            [0.9718092, -1.998389, 2.922249], [0.9463239, 1.920185], [0.115, 0.13, 0.37],
            [0.24, 0.3800001], [0.3996625, 0.49975, 0.6004], [0.30195, 0.4036],
        ],
    ),
    "_multi_lamb_update": (
        {
            "learning_rates": (0.1, 0.2), "wds": (0.01, 0.02), "step_count": (3, 4),
            "num_tensors": 2,
        },
        [
            [0.8734392, -2.006576, 2.64795], [0.7373542, 1.638037], [0.14, 0.07999997, 0.4700001],
            [0.3900001, 0.5800001], [0.39985, 0.5005, 0.6034], [0.3086999, 0.4155998],
        ],
    ),
    "multi_sgd_mom_update": (
        {"lrs": (0.1, 0.2), "wds": (0.01, 0.02), "momentum": 0.9, "num_weights": 2},
        [
            [1.039, -1.718, 3.067], [0.4859999, 1.372], [0.03899999, 0.282, 0.06700002],
            [-0.5140001, -0.628],
        ],
    ),
}  # fmt: skip


def call(name, groups, tail, **attrs):
    function = getattr(nd, name, None) or getattr(nd._internal, name)
    flat = [x for group in groups for x in group]
    return function(*flat, *tail, out=[group[0] for group in groups], **attrs)


@pytest.mark.parametrize("name", MULTI)
def test_steps_of_many_weights_are_those_of_mxnet(name):
    attrs, wanted = MULTI[name]
    count = 2 if "adamw" in name or "lamb" in name else 1
    groups = [group[: 2 + count] for group in weights()]
    tail = [nd.array([0.5])] if "adamw" in name else []
    call(name, groups, tail, **attrs)
    found = [group[k] for k in (0, *range(2, 2 + count)) for group in groups]
    close(found, wanted)


@pytest.mark.parametrize("name", MULTI)
def test_steps_of_many_weights_in_mixed_precision(name):
    mixed = name.replace("multi_", "multi_mp_")
    attrs, _ = MULTI[name]
    count = 2 if "adamw" in name or "lamb" in name else 1
    tail = [nd.array([0.5])] if "adamw" in name else []
    plain = [group[: 2 + count] for group in weights()]
    groups = [
        [w.astype("float16"), g.astype("float16"), *states, w.copy()]
        for w, g, *states in [group[: 2 + count] for group in weights()]
    ]
    call(name, plain, tail, **attrs)
    call(mixed, groups, tail, **attrs)
    for (w, _, *states), (half, _, *others, w32) in zip(plain, groups, strict=True):
        close([w32, *others], [x.asnumpy() for x in (w, *states)])
        close([half], [w.asnumpy()], 1e-3)


@pytest.mark.parametrize("mixed", [False, True])
def test_preloaded_rates_are_those_given_as_attributes(mixed):
    name = "multi_mp_sgd_mom_update" if mixed else "multi_sgd_mom_update"
    rates = nd.array([0.1, 0.2]), nd.array([0.01, 0.02])
    results = []
    for preloaded in (False, True):
        groups = [group[:3] for group in weights()]
        if mixed:
            groups = [[w.astype("float16"), g.astype("float16"), m, w.copy()] for w, g, m in groups]
        own = {} if preloaded else {"lrs": (0.1, 0.2), "wds": (0.01, 0.02)}
        tail = rates if preloaded else ()
        full = f"preloaded_{name}" if preloaded else name
        call(full, groups, tail, momentum=0.9, num_weights=2, **own)
        results.append([x.asnumpy() for group in groups for x in group])
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_adamw_does_nothing_when_the_scale_is_not_finite():
    for scale in (0, np.nan, np.inf):
        w, mean, var = nd.array(W), nd.zeros(3), nd.zeros(3)
        nd._internal._adamw_update(
            w, nd.array(G), mean, var, nd.array([scale]), lr=0.1, eta=1, out=w
        )
        close([w, mean, var], [W, [0] * 3, [0] * 3])


def test_lars_rates_are_those_of_mxnet():
    sums = nd.array([4, 0, 9]), nd.array([1, 1, 4])
    rates, decays = nd.array([0.1, 0.2, 0.3]), nd.array([0.1, 0.1, 0.2])
    got = nd.multi_lars(rates, *sums, decays, eta=0.5, eps=0.01, rescale_grad=0.5)
    close([got], [[0.1408451, 0.2, 0.2795031]])


def test_group_adagrad_changes_the_rows_of_a_sparse_gradient():
    w, history = nd.array([[1, 2], [3, 4], [5, 6]]), nd.array([[1], [2], [3]])
    grad = nd.sparse.row_sparse_array(([[1, 2]], [1]), shape=(3, 2))
    attrs = {"lr": 0.1, "rescale_grad": 0.5, "epsilon": 1e-5}
    nd.contrib.group_adagrad_update(w, grad, history, out=w, **attrs)
    # recorded from MXNet 1.9.1
    close([w, history], [[[1, 2], [2.969139, 3.938279], [5, 6]], [[1], [2.625], [3]]])
    dense = nd.contrib.group_adagrad_update(w, nd.zeros((3, 2)), history, lr=0.1)
    close([dense], [w.asnumpy()])


def test_arrays_that_do_not_belong_together_are_refused():
    with pytest.raises(MXNetError, match="different shapes"):
        nd.signsgd_update(nd.ones(3), nd.ones(2), lr=0.1)
    with pytest.raises(MXNetError, match="number of arrays"):
        nd.multi_sgd_update(nd.ones(3), nd.ones(3), lrs=(1, 1), wds=(0, 0), num_weights=2)
    with pytest.raises(MXNetError, match="history"):
        nd.contrib.group_adagrad_update(nd.ones((3, 2)), nd.ones((3, 2)), nd.ones((3, 2)), lr=1)
