"""Checkpoints of recurrent networks hold an array for each gate."""

import numpy as np
import pytest

from minigluon import nd, rnn, sym


def network(cell):
    """A network of one cell, and its parameters."""
    outputs, _ = cell.unroll(2, sym.var("data"), merge_outputs=True)
    shapes, _, _ = outputs.infer_shape(data=(1, 2, 3))
    draw = np.random.default_rng(0).normal
    named = zip(outputs.list_arguments(), shapes, strict=True)
    return outputs, {name: nd.array(draw(size=s)) for name, s in named if name != "data"}


def test_a_checkpoint_is_unpacked_in_the_file_and_packed_when_loaded(tmp_path):
    cell = rnn.LSTMCell(2)
    symbol, params = network(cell)
    rnn.do_rnn_checkpoint(cell, str(tmp_path / "net"), period=2)(1, symbol, params, {})
    assert "arg:lstm_i2h_f_weight" in nd.load(str(tmp_path / "net-0002.params"))
    loaded, args, aux = rnn.load_rnn_checkpoint([cell], str(tmp_path / "net"), 2)
    assert loaded.tojson() == symbol.tojson()
    assert aux == {}
    assert set(args) == set(params)
    for name, value in args.items():
        np.testing.assert_array_equal(value.asnumpy(), params[name].asnumpy())


def test_the_callback_saves_every_second_epoch_only(tmp_path):
    cell = rnn.RNNCell(2)
    symbol, params = network(cell)
    callback = rnn.do_rnn_checkpoint(cell, str(tmp_path / "net"), period=2)
    callback(0, symbol, params, {})
    assert list(tmp_path.iterdir()) == []


def test_a_fused_checkpoint_is_loaded_into_the_unfused_network(tmp_path):
    fused = rnn.FusedRNNCell(2, 1, "lstm", prefix="net_")
    params = {"net_parameters": nd.arange(8 * (3 + 2 + 2))}
    rnn.save_rnn_checkpoint(fused, str(tmp_path / "net"), 1, sym.var("x"), params, {})
    _, args, _ = rnn.load_rnn_checkpoint(fused.unfuse(), str(tmp_path / "net"), 1)
    assert args["net_l0_i2h_weight"].shape == (8, 3)
    np.testing.assert_array_equal(args["net_l0_h2h_bias"].asnumpy(), np.arange(48, 56))


def test_the_old_unroll_makes_variables_for_its_inputs():
    with pytest.warns(UserWarning, match="call cell.unroll"):
        outputs, _ = rnn.rnn.rnn_unroll(rnn.RNNCell(2), 2, input_prefix="in_")
    assert outputs[0].list_arguments()[0] == "in_t0_data"
