"""Cells of contrib; how they compute is compared with MXNet by ``oracle/test_frozen_nets.py``."""

import numpy as np
import pytest

from minigluon import autograd, gluon, nd, sym
from minigluon.gluon.contrib import rnn
from minigluon.gluon.contrib.rnn.rnn_cell import dynamic_unroll


def made(cell):
    cell.initialize()
    return cell


def test_masks_of_variational_dropout_are_the_same_at_every_step():
    cell = made(rnn.VariationalDropoutCell(gluon.rnn.RNNCell(50), 0.0, 0.5, 0.5))
    with autograd.record():
        outputs, _ = cell.unroll(3, nd.ones((2, 3, 4)), merge_outputs=False)
    zeros = [set(zip(*np.nonzero(out.asnumpy() == 0), strict=True)) for out in outputs]
    assert zeros[0] == zeros[1] == zeros[2]
    assert 20 < len(zeros[0]) < 80
    assert (cell.unroll(3, nd.ones((2, 3, 4)))[0][0].asnumpy() != 0).all()


def test_without_dropout_of_states_the_outputs_are_one_array():
    cell = made(rnn.VariationalDropoutCell(gluon.rnn.LSTMCell(6), 0.3, 0.0, 0.5))
    with autograd.record():
        outputs, states = cell.unroll(4, nd.ones((2, 4, 5)))
    assert outputs.shape == (2, 4, 6)
    zero = outputs.asnumpy() == 0
    assert (zero == zero[:, :1]).all()
    assert [state.shape for state in states] == [(2, 6), (2, 6)]


def test_variational_dropout_of_states_refuses_cells_without_single_steps():
    both = gluon.rnn.BidirectionalCell(gluon.rnn.RNNCell(2), gluon.rnn.RNNCell(2))
    with pytest.raises(AssertionError, match="doesn't support variational state dropout"):
        rnn.VariationalDropoutCell(both, drop_states=0.1)


def test_repr_and_prefix_are_those_of_mxnet():
    cell = rnn.VariationalDropoutCell(gluon.rnn.LSTMCell(4, prefix="a_"), 0.3, 0.4, 0.5)
    assert repr(cell) == "VariationalDropoutCell(p_out = 0.5, p_state = 0.4)"
    assert cell.prefix == "a_vardrop"
    assert repr(rnn.LSTMPCell(4, 3)) == "LSTMPCell(None -> 16 -> 3)"
    assert repr(rnn.Conv1DRNNCell((3, 10), 4, 3, 3)) == "Conv1DRNNCell(3 -> 4, tanh, NCW)"
    assert repr(rnn.Conv2DLSTMCell((3, 8, 8), 4, 3, 3)) == "Conv2DLSTMCell(3 -> 16, tanh, NCHW)"


def test_lengths_end_a_loop_over_steps():
    cell = made(gluon.rnn.RNNCell(3, input_size=2))
    x = nd.array(np.random.RandomState(0).normal(size=(4, 2, 2)))
    lengths = nd.array([2, 4])
    wanted, states = cell.unroll(4, x, layout="TNC", valid_length=lengths)
    got, after = dynamic_unroll(cell, x, cell.begin_state(2), valid_length=lengths)
    np.testing.assert_allclose(got.asnumpy(), wanted.asnumpy(), rtol=1e-6)
    np.testing.assert_allclose(after[0].asnumpy(), states[0].asnumpy(), rtol=1e-6)


def test_a_loop_over_steps_drops_the_same_values_in_each():
    cell = made(gluon.rnn.RNNCell(40))
    with autograd.record():
        outputs, _ = dynamic_unroll(
            cell, nd.ones((2, 3, 4)), cell.begin_state(2), drop_inputs=0.5, drop_outputs=0.5,
            layout="NTC",
        )  # fmt: skip
    zero = outputs.asnumpy() == 0
    assert zero.any()
    assert (zero == zero[:, :1]).all()


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_cells_of_convolutions_keep_the_shape_of_their_states(kind, axes):
    sizes = (6, 5, 4)[:axes]
    cell = made(getattr(rnn, f"Conv{axes}D{kind}Cell")((2, *sizes), 3, 3, 3, i2h_pad=1))
    outputs, states = cell.unroll(2, nd.ones((2, 2, 2, *sizes)), layout="NTC")
    assert [x.shape for x in (*outputs, *states)] == [(2, 3, *sizes)] * (2 + len(states))
    assert cell.state_info(2)[0]["shape"] == (2, 3, *sizes)


def test_channels_may_be_last():
    first = made(rnn.Conv2DRNNCell((2, 5, 5), 3, 3, 3))
    last = rnn.Conv2DRNNCell((5, 5, 2), 3, 3, 3, conv_layout="NHWC")
    assert last.i2h_weight.shape == (3, 3, 3, 2)
    assert last.state_info(4)[0] == {"shape": (4, 3, 3, 3), "__layout__": "NHWC"}
    last.initialize()
    for name in ("i2h_weight", "h2h_weight"):
        weight = getattr(first, name).data().transpose((0, 2, 3, 1))
        getattr(last, name).set_data(weight)
    x = nd.array(np.random.RandomState(0).normal(size=(4, 2, 5, 5)))
    wanted, _ = first(x, first.begin_state(4))
    got, _ = last(x.transpose((0, 2, 3, 1)), last.begin_state(4))
    np.testing.assert_allclose(
        got.asnumpy(), wanted.asnumpy().transpose(0, 2, 3, 1), rtol=1e-5, atol=1e-6
    )


def test_a_graph_of_cells_of_convolutions_fits_every_batch():
    cell = rnn.Conv1DLSTMCell((2, 6), 3, 3, 3, i2h_pad=1)
    outputs, _ = cell.unroll(2, sym.var("x"), layout="NTC", merge_outputs=True)
    assert outputs.infer_shape(x=(7, 2, 2, 6))[1] == [(7, 2, 3, 6)]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (((3, 10), 4, 3, 2), {}, "Only support odd number, get h2h_kernel"),
        (((3, 10, 10), 4, 3, 3), {}, "2 numbers, as CW"),
        (((3, 10), 4, (3, 3), 3), {}, "For 1D convolution"),
        (((3, 10), 4, 3, 3), {"conv_layout": "XX"}, "conv_layout='XX'"),
    ],
)
def test_settings_that_do_not_fit_the_axes_are_named(arguments, options, message):
    with pytest.raises(AssertionError, match=message):
        rnn.Conv1DRNNCell(*arguments, **options)
