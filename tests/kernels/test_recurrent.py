"""One layer of a recurrent network; whole networks are tested in tests/ops/nn/test_rnn.py."""

import numpy as np
import pytest

from minigluon.kernels import dense, recurrent, tiles

STEPS, BATCH, WIDTH, HIDDEN = 3, 2, 4, 5


def problem(mode, seed=0):
    numbers = np.random.default_rng(seed)
    rows = recurrent.GATES[mode] * HIDDEN
    shapes = ((rows, WIDTH), (rows, HIDDEN), (rows,), (rows,))
    weights = [numbers.normal(size=s) * 0.5 for s in shapes]
    x, state = numbers.normal(size=(STEPS, BATCH, WIDTH)), numbers.normal(size=(BATCH, HIDDEN))
    cell = numbers.normal(size=(BATCH, HIDDEN)) if mode == "lstm" else None
    kept = np.empty((recurrent.KEPT[mode], STEPS, BATCH, HIDDEN))
    return x, weights, state, cell, kept


@pytest.mark.parametrize("mode", recurrent.GATES)
def test_where_a_sequence_is_over_the_state_stays(mode):
    x, weights, state, cell, kept = problem(mode)
    valid = np.array([[1, 1], [1, 0], [0, 0]], float)[..., None]
    hidden, end = recurrent.forward(mode, x, weights, state, cell, valid, kept)
    np.testing.assert_array_equal(hidden[2], hidden[1])
    np.testing.assert_array_equal(hidden[1, 1], hidden[0, 1])
    if mode == "lstm":
        np.testing.assert_array_equal(end[1], kept[4, 0, 1])


@pytest.mark.parametrize("mode", recurrent.GATES)
def test_gradients_of_weights_are_put_where_they_belong(mode):
    x, weights, state, cell, kept = problem(mode)
    recurrent.forward(mode, x, weights, state, cell, None, kept)
    ones = np.ones((STEPS, BATCH, HIDDEN))
    zero = np.zeros((BATCH, HIDDEN))
    into = [np.full(w.shape, np.nan) for w in weights]
    before = kept.copy()
    gates, _, _ = recurrent.backward(
        mode, x, weights, state, cell, None, kept, ones, zero, zero, into
    )
    np.testing.assert_array_equal(kept, before)
    assert gates.shape == (STEPS, BATCH, recurrent.GATES[mode] * HIDDEN)
    for k, weight in enumerate(weights):
        at = tuple(n // 2 for n in weight.shape)
        ends = []
        for step in (1e-6, -1e-6):
            moved = [w.copy() for w in weights]
            moved[k][at] += step
            ends.append(recurrent.forward(mode, x, moved, state, cell, None, kept)[0].sum())
        assert into[k][at] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-5, abs=1e-7)


@pytest.mark.skipif(not tiles.available(), reason="llvmlite is not there")
@pytest.mark.parametrize("batch", [1, 3, 20])
@pytest.mark.parametrize("mode", recurrent.GATES)
def test_compiled_layers_give_what_numpy_gives_in_double_precision(monkeypatch, mode, batch):
    numbers = np.random.default_rng(3)
    steps, width, hidden = 4, 24, 40
    rows = recurrent.GATES[mode] * hidden
    shapes = ((rows, width), (rows, hidden), (rows,), (rows,))
    weights = [numbers.normal(size=s) * 0.3 for s in shapes]
    x, g = numbers.normal(size=(steps, batch, width)), numbers.normal(size=(steps, batch, hidden))
    state, cell, g_state, g_cell = numbers.normal(size=(4, batch, hidden))

    def run(dtype, fewest):
        monkeypatch.setattr(recurrent, "FEWEST", fewest)
        monkeypatch.setattr(dense, "FEWEST", fewest)
        given = [w.astype(dtype) for w in weights]
        data, first, last, d_first, d_last, incoming = (
            v.astype(dtype) for v in (x, state, cell, g_state, g_cell, g)
        )
        kept = np.empty((recurrent.KEPT[mode], steps, batch, hidden), dtype)
        out, end = recurrent.forward(mode, data, given, first, last, None, kept)
        into = [np.full_like(w, np.nan) for w in given]
        found = recurrent.backward(
            mode, data, given, first, last, None, kept, incoming, d_first, d_last, into
        )
        return [v for v in (out, end, *found, *into) if v is not None]

    for found, wanted in zip(run(np.float32, 0), run(np.float64, 1 << 60), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4 * np.abs(wanted).max())
