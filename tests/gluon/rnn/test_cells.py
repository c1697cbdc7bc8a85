"""Recurrent cells: their steps are numpy's, their names and forms those of MXNet 1.9.1."""

import numpy as np
import pytest

from minigluon import autograd, nd, sym
from minigluon.gluon.rnn import GRUCell, LSTMCell, RecurrentCell, RNNCell
from recurrent_steps import fill, gru_step, lstm_step, rnn_step, run, weights_of

X = np.random.default_rng(0).uniform(-1, 1, (4, 2, 5)).astype("float32")  # time, batch, channels
CELLS = [(RNNCell, rnn_step, 1), (LSTMCell, lstm_step, 2), (GRUCell, gru_step, 1)]


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize(("kind", "step", "states"), CELLS)
def test_steps_are_those_of_numpy(kind, step, states, hybridize):
    cell = kind(3, input_size=5, prefix="c_")
    weights = weights_of(fill(cell), "c_")
    if hybridize:
        cell.hybridize()
    first = [np.full((2, 3), 0.1 * i + 0.1) for i in range(states)]
    expected, last = run(step, X, first, weights)
    outputs, found = cell.unroll(
        4, nd.array(X), [nd.array(s) for s in first], layout="TNC", merge_outputs=True
    )
    np.testing.assert_allclose(outputs.asnumpy(), expected, rtol=1e-5, atol=1e-6)
    for state, wanted in zip(found, last, strict=True):
        np.testing.assert_allclose(state.asnumpy(), wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("kind", "step", "states"), CELLS)
def test_a_gradient_is_the_finite_difference(kind, step, states):
    cell = kind(3, input_size=5, prefix="c_")
    values = fill(cell)
    with autograd.record():
        outputs, _ = cell.unroll(4, nd.array(X), layout="TNC", merge_outputs=True)
        loss = (outputs * outputs).sum()
    loss.backward()

    def value(shift):
        weights = weights_of(values, "c_")
        weights[1] = weights[1] + shift
        zeros = [np.zeros((2, 3))] * states
        return (run(step, X, zeros, weights)[0] ** 2).sum()

    shift = np.zeros_like(values["c_h2h_weight"])
    shift[1, 2] = 1e-5
    expected = (value(shift) - value(-shift)) / 2e-5
    assert cell.h2h_weight.grad()[1, 2].asscalar() == pytest.approx(expected, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (lambda: RNNCell(3), "RNNCell(None -> 3, tanh)"),
        (lambda: LSTMCell(3, input_size=4), "LSTMCell(4 -> 12)"),
        (lambda: GRUCell(3), "GRUCell(None -> 9)"),
    ],
)
def test_a_cell_shows_its_sizes(cell, text):
    assert repr(cell()) == text


def test_the_input_size_is_learnt_at_the_first_call():
    cell = GRUCell(3)
    cell.initialize()
    cell(nd.ones((2, 7)), cell.begin_state(2))
    assert cell.i2h_weight.shape == (9, 7)


def test_states_are_described_and_made():
    cell = LSTMCell(3, prefix="l_")
    assert cell.state_info(5) == [{"shape": (5, 3), "__layout__": "NC"}] * 2
    assert [state.shape for state in cell.begin_state(5)] == [(5, 3)] * 2
    assert [s.name for s in cell.begin_state(func=sym.Variable)] == [
        "l_begin_state_2",
        "l_begin_state_3",
    ]
    ones = cell.begin_state(2, func=nd.ones, dtype="float64")
    assert ones[0].dtype == np.float64


@pytest.mark.parametrize("layout", ["NTC", "TNC"])
@pytest.mark.parametrize("as_list", [False, True])
def test_outputs_come_merged_or_as_a_list(layout, as_list):
    cell = RNNCell(3)
    cell.initialize()
    x = nd.array(X if layout == "TNC" else X.swapaxes(0, 1))
    inputs = list(nd.array(X)) if as_list else x
    listed, _ = cell.unroll(4, inputs, layout=layout)
    merged, _ = cell.unroll(4, inputs, layout=layout, merge_outputs=True)
    assert [step.shape for step in listed] == [(2, 3)] * 4
    axis = layout.index("T")
    assert (merged.asnumpy() == np.stack([s.asnumpy() for s in listed], axis)).all()


def test_valid_length_masks_outputs_and_picks_states():
    cell = LSTMCell(3)
    cell.initialize()
    whole, _ = cell.unroll(4, nd.array(X), layout="TNC", merge_outputs=True)
    outputs, states = cell.unroll(4, nd.array(X), layout="TNC", valid_length=nd.array([2, 4]))
    assert isinstance(outputs, nd.NDArray)
    assert (outputs[2:, 0].asnumpy() == 0).all()
    assert (outputs[:2, 0] == whole[:2, 0]).asnumpy().all()
    assert (states[0][0] == whole[1, 0]).asnumpy().all()
    assert (states[0][1] == whole[3, 1]).asnumpy().all()


def test_a_symbol_is_unrolled_with_mxnets_names():
    outputs, states = LSTMCell(3, prefix="l_").unroll(2, sym.Variable("d"))
    assert [output.name for output in outputs] == ["l_t0_out", "l_t1_out"]
    assert [state.name for state in states] == ["l_t1_out", "l_t1_state"]
    group = sym.Group(outputs)
    assert group.list_arguments() == [
        "d", "l_i2h_weight", "l_i2h_bias", "l_h2h_weight", "l_h2h_bias",
    ]  # fmt: skip
    _, shapes, _ = group.infer_shape(d=(6, 2, 5))
    assert shapes == [(6, 3), (6, 3)]


def test_the_graph_of_a_gru_step_has_mxnets_nodes():
    (output,), _ = GRUCell(3, prefix="g_").unroll(1, sym.Variable("d"))
    names = output.get_internals().list_outputs()
    assert names[-12:] == [
        "g_t0_plus1_output", "g_t0_z_act_output", "g_t0_ones_like0_output", "g_t0_minus0_output",
        "g_t0_plus0_output", "g_t0_r_act_output", "g_t0_mul0_output", "g_t0_plus2_output",
        "g_t0_h_act_output", "g_t0_mul1_output", "g_t0_mul20_output", "g_t0_out_output",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"length": 5}, "another number of steps"),
        ({"length": 4, "layout": "XYZ"}, "unknown layout"),
        ({"length": 4, "begin_state": [nd.ones((2, 3))]}, "wrong number of states"),
    ],
)
def test_unroll_refuses_what_does_not_fit(arguments, message):
    cell = LSTMCell(3)
    with pytest.raises(AssertionError, match=message):
        cell.unroll(inputs=nd.ones((2, 4, 5)), **arguments)


def test_a_cell_must_describe_its_states():
    with pytest.raises(NotImplementedError):
        RecurrentCell().state_info()
