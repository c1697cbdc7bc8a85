"""Symbolic cells make MXNet's graphs, on parameters that can be packed and unpacked."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import minigluon as mx
from minigluon import nd, rnn, sym
from recurrent_graphs import described, networks

RECORDED = json.loads(
    gzip.decompress((Path(__file__).parents[1] / "data" / "rnn_graphs.json.gz").read_bytes())
)


@pytest.mark.filterwarnings("ignore:NTC layout detected:UserWarning")
@pytest.mark.parametrize("name", RECORDED)
def test_networks_are_the_graphs_recorded_from_mxnet(name):
    found = json.loads(json.dumps(described(mx, networks(mx)[name])))
    assert found == RECORDED[name]


def outputs_of(cell, data, params, **kwargs):
    """What a cell gives for a sequence, as one numpy array."""
    whole, _ = cell.unroll(data.shape[1], sym.var("x"), merge_outputs=True, **kwargs)
    known = {"x": nd.array(data), **{k: v for k, v in params.items() if k in whole.list_inputs()}}
    return whole.eval(**known)[0].asnumpy()


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def random_parameters(cell, width, seed=0):
    """Values for all variables of a cell, by name."""
    whole, _ = cell.unroll(1, [sym.var("x")])
    whole = whole if isinstance(whole, sym.Symbol) else sym.Group(whole)
    shapes, _, _ = whole.infer_shape(x=(1, width))
    draw = np.random.default_rng(seed).normal
    return {
        name: nd.array(draw(size=shape) * 0.5)
        for name, shape in zip(whole.list_arguments(), shapes, strict=True)
        if name != "x"
    }


def test_an_lstm_cell_computes_the_formulas_of_an_lstm():
    cell = rnn.LSTMCell(2)
    params = random_parameters(cell, 3)
    data = np.random.default_rng(1).normal(size=(4, 3, 3))
    h, c = np.zeros((4, 2)), np.zeros((4, 2))
    wanted = []
    weights = {k[5:]: v.asnumpy().astype(np.float64) for k, v in params.items()}
    for t in range(3):
        i2h = data[:, t] @ weights["i2h_weight"].T + weights["i2h_bias"]
        gates = i2h + h @ weights["h2h_weight"].T + weights["h2h_bias"]
        i, f, g, o = np.split(gates, 4, axis=1)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        wanted.append(h)
    got = outputs_of(cell, data, params)
    np.testing.assert_allclose(got, np.stack(wanted, 1), rtol=1e-5, atol=1e-6)


def test_a_gru_cell_computes_the_formulas_of_a_gru():
    cell = rnn.GRUCell(2)
    params = random_parameters(cell, 3)
    data = np.random.default_rng(1).normal(size=(4, 3, 3))
    weights = {k[4:]: v.asnumpy().astype(np.float64) for k, v in params.items()}
    h = np.zeros((4, 2))
    wanted = []
    for t in range(3):
        x = np.split(data[:, t] @ weights["i2h_weight"].T + weights["i2h_bias"], 3, axis=1)
        s = np.split(h @ weights["h2h_weight"].T + weights["h2h_bias"], 3, axis=1)
        z = sigmoid(x[1] + s[1])
        h = (1 - z) * np.tanh(x[2] + sigmoid(x[0] + s[0]) * s[2]) + z * h
        wanted.append(h)
    got = outputs_of(cell, data, params)
    np.testing.assert_allclose(got, np.stack(wanted, 1), rtol=1e-5, atol=1e-6)


@pytest.mark.filterwarnings("ignore:NTC layout detected:UserWarning")
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("mode", ["rnn_tanh", "rnn_relu", "lstm", "gru"])
def test_the_unfused_network_computes_what_the_fused_one_does(mode, bidirectional):
    fused = rnn.FusedRNNCell(3, 2, mode, bidirectional, prefix="net_")
    data = np.random.default_rng(2).normal(size=(2, 4, 5)).astype(np.float32)
    whole, _ = fused.unroll(4, sym.var("x"), merge_outputs=True)
    shapes, _, _ = whole.infer_shape(x=data.shape)
    size = dict(zip(whole.list_arguments(), shapes, strict=True))["net_parameters"]
    params = {"net_parameters": nd.array(np.random.default_rng(3).normal(size=size) * 0.3)}
    unfused = fused.unfuse()
    separate = unfused.pack_weights(fused.unpack_weights(params))
    np.testing.assert_allclose(
        outputs_of(unfused, data, separate), outputs_of(fused, data, params), rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("mode", ["rnn_tanh", "lstm", "gru"])
def test_packing_undoes_unpacking(mode):
    fused = rnn.FusedRNNCell(3, 2, mode, True, prefix="net_")
    gates = {"rnn_tanh": 1, "lstm": 4, "gru": 3}[mode]
    size = 2 * gates * 3 * ((5 + 3 + 2) + (6 + 3 + 2))
    params = {"net_parameters": nd.arange(size), "other": nd.ones((1,))}
    parts = fused.unpack_weights(params)
    assert "net_parameters" not in parts
    assert parts["other"] is params["other"]
    again = fused.pack_weights(parts)
    np.testing.assert_array_equal(again["net_parameters"].asnumpy(), np.arange(size))


def test_unpacked_parameters_are_named_by_gate():
    cell = rnn.LSTMCell(2)
    args = {
        "lstm_i2h_weight": nd.arange(24).reshape((8, 3)),
        "lstm_i2h_bias": nd.arange(8),
        "lstm_h2h_weight": nd.arange(16).reshape((8, 2)),
        "lstm_h2h_bias": nd.arange(8),
    }
    parts = cell.unpack_weights(args)
    assert set(parts) == {
        f"lstm_{group}_{gate}_{kind}"
        for group in ("i2h", "h2h")
        for gate in "ifco"
        for kind in ("weight", "bias")
    }
    np.testing.assert_array_equal(parts["lstm_i2h_f_weight"].asnumpy(), [[6, 7, 8], [9, 10, 11]])


def test_cells_that_share_parameters_have_the_same_variables():
    params = rnn.RNNParams("shared_")
    one, other = rnn.GRUCell(2, params=params), rnn.GRUCell(2, params=params)
    assert one.params is other.params
    y = other.unroll(1, [one.unroll(1, [sym.var("x")])[0][0]])[0][0]
    assert y.list_arguments() == [
        "x",
        "shared_i2h_weight",
        "shared_i2h_bias",
        "shared_h2h_weight",
        "shared_h2h_bias",
    ]


def test_zoneout_without_training_changes_nothing():
    params = random_parameters(rnn.RNNCell(2), 3)
    data = np.random.default_rng(1).normal(size=(4, 3, 3))
    np.testing.assert_allclose(
        outputs_of(rnn.ZoneoutCell(rnn.RNNCell(2), 0.5, 0.5), data, params),
        outputs_of(rnn.RNNCell(2), data, params),
        rtol=1e-6,
    )


def test_the_forget_bias_is_what_the_lstm_starts_with():
    whole, _ = rnn.LSTMCell(2, forget_bias=3.0).unroll(1, [sym.var("x")])
    module = mx.mod.Module(whole[0], data_names=["x"], label_names=None)
    module.bind(data_shapes=[("x", (1, 3))], for_training=False)
    module.init_params(mx.init.One())
    bias = module.get_params()[0]["lstm_i2h_bias"].asnumpy()
    np.testing.assert_array_equal(bias, [0, 0, 3, 3, 0, 0, 0, 0])


WRONG = {
    "Please use unroll": lambda: rnn.FusedRNNCell(2)(sym.var("x"), []),
    "cannot be stepped": lambda: rnn.BidirectionalCell(rnn.RNNCell(2), rnn.RNNCell(2))(
        sym.var("x"), []
    ),
    "Please unfuse first": lambda: rnn.ZoneoutCell(rnn.FusedRNNCell(2)),
    "ZoneoutCell to the cells underneath": lambda: rnn.ZoneoutCell(
        rnn.BidirectionalCell(rnn.RNNCell(2), rnn.RNNCell(2))
    ),
    "wrong number of inputs": lambda: rnn.RNNCell(2).unroll(2, [sym.var("x")]),
    "grouped symbol": lambda: rnn.RNNCell(2).unroll(2, sym.Group([sym.var("x"), sym.var("y")])),
    "unknown layout": lambda: rnn.RNNCell(2).unroll(2, sym.var("x"), layout="NC"),
    "h2h_kernel=": lambda: rnn.ConvLSTMCell((1, 2, 6, 6), 3, h2h_kernel=(2, 3)),
    "unknown mode": lambda: rnn.FusedRNNCell(2, mode="elman"),
    "dropout must be a number": lambda: rnn.DropoutCell("much"),
    "Call the modifier cell instead": lambda: rnn.ResidualCell(
        rnn.RNNCell(2)
    ).base_cell.begin_state(),
}


@pytest.mark.parametrize("words", WRONG)
def test_what_a_cell_cannot_do_is_refused_in_words(words):
    with pytest.raises((AssertionError, NotImplementedError), match=words):
        WRONG[words]()
