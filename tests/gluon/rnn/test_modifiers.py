"""Cells around cells: dropout, zoneout, residual connections."""

from itertools import pairwise

import numpy as np
import pytest

from minigluon import autograd, nd, random
from minigluon.gluon.rnn import (
    BidirectionalCell,
    DropoutCell,
    GRUCell,
    ResidualCell,
    RNNCell,
    ZoneoutCell,
)
from recurrent_steps import fill, gru_step, run, weights_of

X = np.random.default_rng(2).uniform(-1, 1, (4, 2, 3)).astype("float32")


@pytest.mark.parametrize("lengths", [None, [2, 4]])
@pytest.mark.parametrize("merge", [True, False])
def test_a_residual_cell_adds_its_input(merge, lengths):
    cell = ResidualCell(GRUCell(3, input_size=3, prefix="g_"))
    plain, _ = run(gru_step, X, [np.zeros((2, 3))], weights_of(fill(cell), "g_"))
    expected = plain + X
    for row, length in enumerate(lengths or []):
        expected[length:, row] = 0
    outputs, _ = cell.unroll(
        4, nd.array(X), layout="TNC", merge_outputs=merge,
        valid_length=None if lengths is None else nd.array(lengths),
    )  # fmt: skip
    found = outputs.asnumpy() if merge else np.stack([step.asnumpy() for step in outputs])
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_a_residual_cell_adds_in_single_steps_too():
    cell = ResidualCell(GRUCell(3, input_size=3, prefix="g_"))
    plain, _ = run(gru_step, X[:1], [np.zeros((2, 3))], weights_of(fill(cell), "g_"))
    output, _ = cell(nd.array(X[0]), cell.begin_state(2))
    np.testing.assert_allclose(output.asnumpy(), plain[0] + X[0], rtol=1e-5, atol=1e-6)


def test_zoneout_does_nothing_outside_training():
    cell = ZoneoutCell(GRUCell(3, input_size=3, prefix="g_"), 0.5, 0.5)
    expected, _ = run(gru_step, X, [np.zeros((2, 3))], weights_of(fill(cell), "g_"))
    outputs, _ = cell.unroll(4, nd.array(X), layout="TNC", merge_outputs=True)
    np.testing.assert_allclose(outputs.asnumpy(), expected, rtol=1e-5, atol=1e-6)


def test_zoneout_keeps_some_outputs_of_the_step_before_in_training():
    random.seed(0)
    cell = ZoneoutCell(RNNCell(50, input_size=3), zoneout_outputs=0.4)
    cell.initialize()
    with autograd.train_mode():
        outputs, _ = cell.unroll(4, nd.array(X), layout="TNC")
    steps = [np.zeros((2, 50)), *[step.asnumpy() for step in outputs]]
    kept = [(now == before).mean() for before, now in pairwise(steps)]
    assert 0.3 < np.mean(kept) < 0.5


def test_the_cell_inside_cannot_be_used_by_itself():
    base = GRUCell(3)
    cell = ZoneoutCell(base, 0.2, 0.3)
    assert repr(cell) == "ZoneoutCell(p_out=0.2, p_state=0.3, GRUCell(None -> 9))"
    assert cell.prefix == f"{base.prefix}zoneout"
    with pytest.raises(AssertionError, match="Call the modifier cell instead"):
        base.begin_state(2)
    with pytest.raises(AssertionError, match="already modified"):
        ResidualCell(base)
    assert [state.shape for state in cell.begin_state(2)] == [(2, 3)]


def test_zoneout_refuses_a_bidirectional_cell():
    with pytest.raises(AssertionError, match="doesn't support zoneout"):
        ZoneoutCell(BidirectionalCell(RNNCell(3), RNNCell(3)))


def test_a_dropout_cell_has_no_state_and_drops_in_training_only():
    cell = DropoutCell(0.5)
    x = nd.ones((2, 3, 40))
    outputs, states = cell.unroll(3, x)
    assert states == []
    assert (outputs == x).asnumpy().all()
    random.seed(0)
    with autograd.train_mode():
        outputs, _ = cell.unroll(3, x)
    assert set(np.unique(outputs.asnumpy())) == {0, 2}
    steps, _ = cell.unroll(3, x, merge_outputs=False)
    assert [step.shape for step in steps] == [(2, 40)] * 3


def test_a_dropout_rate_is_a_number():
    with pytest.raises(AssertionError, match="rate must be a number"):
        DropoutCell("a")
