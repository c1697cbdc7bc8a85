"""Cells made of cells, against numpy's steps and recorded forms of MXNet 1.9.1."""

import numpy as np
import pytest

from minigluon import nd
from minigluon.gluon.rnn import (
    BidirectionalCell,
    DropoutCell,
    GRUCell,
    HybridSequentialRNNCell,
    LSTMCell,
    RNNCell,
    SequentialRNNCell,
)
from recurrent_steps import fill, gru_step, lstm_step, run, weights_of

X = np.random.default_rng(1).uniform(-1, 1, (4, 2, 5)).astype("float32")


def stack_of(kind):
    stack = kind()
    stack.add(LSTMCell(3, input_size=5, prefix="a_"))
    stack.add(DropoutCell(0.3))
    stack.add(GRUCell(2, input_size=3, prefix="b_"))
    return stack


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("kind", [SequentialRNNCell, HybridSequentialRNNCell])
def test_a_stack_runs_cells_on_the_outputs_below(kind, hybridize):
    stack = stack_of(kind)
    values = fill(stack)
    if hybridize:
        stack.hybridize()
    below, _ = run(lstm_step, X, [np.zeros((2, 3))] * 2, weights_of(values, "a_"))
    expected, last = run(gru_step, below, [np.zeros((2, 2))], weights_of(values, "b_"))
    outputs, states = stack.unroll(4, nd.array(X), layout="TNC", merge_outputs=True)
    np.testing.assert_allclose(outputs.asnumpy(), expected, rtol=1e-5, atol=1e-6)
    assert len(states) == 3
    np.testing.assert_allclose(states[2].asnumpy(), last[0], rtol=1e-5, atol=1e-6)

    states = stack.begin_state(2)
    for x, wanted in zip(X, expected, strict=True):
        output, states = stack(nd.array(x), states)
        np.testing.assert_allclose(output.asnumpy(), wanted, rtol=1e-5, atol=1e-6)


def test_a_stack_shows_its_cells_and_gives_them_by_number():
    stack = stack_of(SequentialRNNCell)
    assert repr(stack) == (
        "SequentialRNNCell(\n(0): LSTMCell(5 -> 12)\n(1): DropoutCell(rate=0.3, axes=())\n"
        "(2): GRUCell(3 -> 6)\n)"
    )
    assert len(stack) == 3
    assert type(stack[1]) is DropoutCell
    assert [info["shape"] for info in stack.state_info(7)] == [(7, 3), (7, 3), (7, 2)]


@pytest.mark.parametrize("lengths", [None, [2, 4]])
def test_a_bidirectional_cell_reads_both_ways(lengths):
    cell = BidirectionalCell(
        LSTMCell(3, input_size=5, prefix="l_"), GRUCell(3, input_size=5, prefix="r_")
    )
    values = fill(cell)
    outputs, states = cell.unroll(
        4,
        nd.array(X),
        layout="TNC",
        merge_outputs=True,
        valid_length=None if lengths is None else nd.array(lengths),
    )
    for row, length in enumerate(lengths or [4, 4]):
        x = X[:length, row : row + 1]
        left, _ = run(lstm_step, x, [np.zeros((1, 3))] * 2, weights_of(values, "l_"))
        right, last = run(gru_step, x[::-1], [np.zeros((1, 3))], weights_of(values, "r_"))
        expected = np.concatenate([left, right[::-1]], axis=2)[:, 0]
        found = outputs.asnumpy()[:, row]
        np.testing.assert_allclose(found[:length], expected, rtol=1e-5, atol=1e-6)
        assert (found[length:] == 0).all()
        np.testing.assert_allclose(states[2].asnumpy()[row], last[0][0], rtol=1e-5, atol=1e-6)


def test_a_bidirectional_cell_has_no_single_step():
    cell = BidirectionalCell(RNNCell(3), RNNCell(3))
    with pytest.raises(NotImplementedError, match="cannot be stepped"):
        cell(nd.ones((1, 2)), [])
    assert repr(cell) == (
        "BidirectionalCell(forward=RNNCell(None -> 3, tanh), backward=RNNCell(None -> 3, tanh))"
    )
