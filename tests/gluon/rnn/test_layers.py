"""Recurrent layers: outputs of numpy's steps; names, forms and files of MXNet 1.9.1."""

import numpy as np
import pytest

from minigluon import nd, sym
from minigluon.gluon import HybridBlock
from minigluon.gluon.nn import HybridSequential
from minigluon.gluon.rnn import GRU, LSTM, RNN, RNNCell, rnn_cell, rnn_layer
from recurrent_steps import fill, gru_step, lstm_step, rnn_step, run, weights_of

X = np.random.default_rng(3).uniform(-1, 1, (4, 2, 5)).astype("float32")
KINDS = [
    (lambda *a, **k: RNN(*a, activation="tanh", **k), rnn_step, 1),
    (LSTM, lstm_step, 2),
    (GRU, gru_step, 1),
]


@pytest.mark.parametrize("hybridize", [False, True])
@pytest.mark.parametrize("layout", ["TNC", "NTC"])
@pytest.mark.parametrize(("kind", "step", "states"), KINDS, ids=["rnn", "lstm", "gru"])
def test_two_layers_both_ways_are_numpys_steps(kind, step, states, layout, hybridize):
    layer = kind(3, 2, layout=layout, bidirectional=True, input_size=5, prefix="q_")
    values = fill(layer)
    if hybridize:
        layer.hybridize()
    expected = X
    for number in range(2):
        ways = []
        for side, turn in (("l", 1), ("r", -1)):
            weights = weights_of(values, f"q_{side}{number}_")
            zeros = [np.zeros((2, 3))] * states
            ways.append(run(step, expected[::turn], zeros, weights)[0][::turn])
        expected = np.concatenate(ways, axis=2)
    x = nd.array(X if layout == "TNC" else X.swapaxes(0, 1))
    outputs = layer(x).asnumpy()
    outputs = outputs if layout == "TNC" else outputs.swapaxes(0, 1)
    np.testing.assert_allclose(outputs, expected, rtol=1e-5, atol=1e-6)
    cells, _ = layer._unfuse().unroll(4, x, layout=layout, merge_outputs=True)
    np.testing.assert_allclose(cells.asnumpy(), layer(x).asnumpy(), rtol=1e-5, atol=1e-6)


def test_states_come_back_if_they_were_given():
    layer = LSTM(3, 2)
    layer.initialize()
    output, states = layer(nd.array(X), layer.begin_state(2))
    assert output.shape == (4, 2, 3)
    assert [state.shape for state in states] == [(2, 2, 3)] * 2
    _, (state,) = _initialized(GRU(3))(nd.array(X), nd.zeros((1, 2, 3)))
    assert state.shape == (1, 2, 3)


def _initialized(layer):
    layer.initialize()
    return layer


def test_sequence_lengths_mask_outputs():
    layer = _initialized(GRU(3, use_sequence_length=True))
    outputs = layer(nd.array(X), sequence_length=nd.array([2, 4])).asnumpy()
    assert (outputs[2:, 0] == 0).all()
    assert (outputs[:, 1] == layer(nd.array(X)).asnumpy()[:, 1]).all()


@pytest.mark.parametrize(
    ("layer", "text"),
    [
        (
            lambda: LSTM(3, 2, bidirectional=True),
            "LSTM(None -> 3, TNC, num_layers=2, bidirectional)",
        ),
        (lambda: GRU(3, layout="NTC", dropout=0.2, input_size=4), "GRU(4 -> 3, NTC, dropout=0.2)"),
        (lambda: RNN(3), "RNN(None -> 3, TNC)"),
    ],
)
def test_a_layer_shows_its_sizes(layer, text):
    assert repr(layer()) == text


def test_parameters_are_saved_under_the_names_of_cells(tmp_path):
    layer = _initialized(LSTM(3, bidirectional=True, input_size=4))
    layer.save_parameters(str(tmp_path / "p"))
    assert list(nd.load(str(tmp_path / "p")))[:5] == [
        "_unfused.0.l_cell.i2h_weight", "_unfused.0.l_cell.h2h_weight",
        "_unfused.0.l_cell.i2h_bias", "_unfused.0.l_cell.h2h_bias", "_unfused.0.r_cell.i2h_weight",
    ]  # fmt: skip
    other = LSTM(3, bidirectional=True, input_size=4)
    other.load_parameters(str(tmp_path / "p"))
    assert (other.r0_h2h_weight.data() == layer.r0_h2h_weight.data()).asnumpy().all()


def test_a_layer_without_dropout_unfuses_to_its_cells():
    stack = RNN(3, 2, activation="tanh", dropout=0.2)._unfuse()
    assert [type(cell).__name__ for cell in stack._children.values()] == [
        "RNNCell", "DropoutCell", "RNNCell",
    ]  # fmt: skip


def test_a_symbol_gives_mxnets_graph():
    output = LSTM(3, prefix="q_")(sym.Variable("x"))
    assert output.list_arguments() == [
        "x", "q_l0_i2h_weight", "q_l0_h2h_weight", "q_l0_i2h_bias", "q_l0_h2h_bias",
    ]  # fmt: skip


@pytest.mark.parametrize("layout", ["TNC", "NTC"])
@pytest.mark.parametrize("unfused", [False, True])
def test_a_hybridized_net_takes_batches_of_any_size(layout, unfused):
    class Net(HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.layer = LSTM(3, layout=layout, input_size=5)
                self.cells = self.layer._unfuse()

        def hybrid_forward(self, F, x):
            if unfused:
                return self.cells.unroll(4, x, layout=layout, merge_outputs=True)[0]
            return self.layer(x)

    net = _initialized(Net())
    x = nd.array(X if layout == "TNC" else X.swapaxes(0, 1))
    expected = net(x).asnumpy()
    net.hybridize()
    np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-5, atol=1e-6)
    one = x[:, :1] if layout == "TNC" else x[:1]
    found = net(one).asnumpy()
    wanted = expected[:, :1] if layout == "TNC" else expected[:1]
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("bidirectional", [False, True])
def test_a_hybridized_net_learns_the_input_size_of_its_layers(bidirectional):
    net = HybridSequential()
    net.add(LSTM(3, 2, bidirectional=bidirectional), GRU(2))
    net.initialize()
    net.hybridize()
    assert net(nd.array(X)).shape == (4, 2, 2)
    assert net[0].l0_i2h_weight.shape == (12, 5)
    assert net[1].l0_i2h_weight.shape == (6, 6 if bidirectional else 3)


def test_a_layer_can_be_cast():
    layer = _initialized(LSTM(3))
    layer.cast("float64")
    assert layer(nd.array(X, dtype="float64")).dtype == np.float64
    assert layer.begin_state(2)[0].dtype == np.float64


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GRU(3, layout="XX"), "Invalid layout XX"),
        (lambda: RNN(3, activation="sig"), "unknown activation"),
        (lambda: _initialized(GRU(3))(nd.array(X), nd.zeros((1, 5, 3))), "Invalid recurrent state"),
    ],
)
def test_what_does_not_fit_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_mxnets_module_names_hold_the_same_classes():
    assert rnn_cell.RNNCell is RNNCell
    assert rnn_layer.LSTM is LSTM


@pytest.mark.parametrize("hybrid", [False, True])
def test_hooks_see_the_states_only_where_they_were_given(hybrid):
    layer, seen = _initialized(LSTM(3)), []
    layer.hybridize(hybrid)
    layer.register_forward_hook(lambda block, inputs, outputs: seen.append(type(outputs)))
    layer(nd.array(X))
    layer(nd.array(X), layer.begin_state(2))
    layer(nd.array(X))
    assert seen == [nd.NDArray, tuple, nd.NDArray]
