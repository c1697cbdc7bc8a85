"""Cases from reports against MXNet that belong to no single module of Gluon.

The others stand beside what they are about: export and loading, unused inputs and products of
unequal shapes in ``block/``, stale gradients and batch sizes in ``test_trainer.py``, changing masks
in ``ops/test_select.py``, huge betas in ``nn/test_activations.py``, losses in ``test_loss.py``.
"""

import numpy as np
import pytest

from minigluon import autograd, gluon, init, nd, random
from minigluon.gluon import nn, rnn


def test_rows_of_a_sparse_weight_that_were_not_asked_for_stay():
    weight = gluon.Parameter(
        "w", shape=(4, 2), stype="row_sparse", grad_stype="row_sparse", init="ones"
    )
    weight.initialize()
    trainer = gluon.Trainer([weight], "sgd", {"learning_rate": 1})
    ids = nd.array([1, 3])
    with autograd.record():
        rows = weight.row_sparse_data(ids)
        nd.Embedding(ids, rows, input_dim=4, output_dim=2, sparse_grad=True).sum().backward()
    trainer.step(1)
    after = weight.row_sparse_data(nd.arange(4, dtype="int64")).asnumpy()
    np.testing.assert_array_equal(after[:, 0], [1, 0, 1, 0])


def test_repeated_ids_add_up_without_a_store():
    layer = nn.Embedding(4, 2, sparse_grad=True)
    layer.initialize(init.One())
    trainer = gluon.Trainer(layer.collect_params(), "sgd", {"learning_rate": 1}, kvstore=None)
    with autograd.record():
        layer(nd.array([1, 1])).sum().backward()
    trainer.step(1)
    np.testing.assert_array_equal(layer.weight.data().asnumpy()[:, 0], [1, -1, 1, 1])


@pytest.mark.parametrize("hybrid", [False, True])
@pytest.mark.parametrize("kind", [rnn.RNN, rnn.LSTM, rnn.GRU])
def test_layers_take_sequence_lengths_whatever_their_kind(kind, hybrid):
    random.seed(0)
    layer = kind(3, num_layers=2, bidirectional=True, layout="NTC", use_sequence_length=True)
    layer.initialize()
    layer.hybridize(hybrid)
    x = nd.array(np.random.RandomState(0).normal(size=(2, 3, 2)))
    out = layer(x, sequence_length=nd.array([1, 2])).asnumpy()
    assert out.shape == (2, 3, 6)
    assert (out[0, 1:] == 0).all()
    assert (out[1, 2:] == 0).all()
    assert (out[1, :2] != 0).any()


def test_gradients_of_detached_states_reach_the_encoder():
    encoder, decoder = rnn.LSTM(4, layout="NTC"), rnn.LSTM(4, layout="NTC")
    for layer in (encoder, decoder):
        layer.initialize()
    x = nd.ones((2, 3, 5))
    with autograd.record():
        _, states = encoder(x, encoder.begin_state(2))
        detached = [state.detach() for state in states]
        for state in detached:
            state.attach_grad()
        with autograd.record():
            loss = decoder(x, detached)[0].sum()
    loss.backward(retain_graph=True)
    states[0].backward(detached[0].grad, retain_graph=True)
    first = encoder.l0_i2h_weight.grad().asnumpy().copy()
    states[1].backward(detached[1].grad)
    second = encoder.l0_i2h_weight.grad().asnumpy()
    assert np.isfinite(first).all()
    assert np.isfinite(second).all()
    assert (first != second).any()


def test_zoned_out_outputs_are_those_of_the_step_before_and_others_the_state():
    cell = rnn.ZoneoutCell(rnn.GRUCell(40), zoneout_outputs=0.5, zoneout_states=0)
    cell.initialize()
    with autograd.record():
        out, states = cell(nd.ones((2, 3)), cell.begin_state(2))
    out, state = out.asnumpy(), states[0].asnumpy()
    assert (state != 0).all()
    assert ((out == 0) | (out == state)).all()
    assert 20 < (out == 0).sum() < 60
    out, states = cell(nd.ones((2, 3)), cell.begin_state(2))
    np.testing.assert_array_equal(out.asnumpy(), states[0].asnumpy())


def test_gradients_add_up_when_told_to_and_changing_that_zeroes_them():
    layer = nn.Dense(1, in_units=2, use_bias=False)
    layer.initialize(init.One())

    def backward():
        with autograd.record():
            layer(nd.ones((1, 2))).backward()

    backward()
    layer.weight.grad_req = "add"
    for _ in range(3):
        backward()
    np.testing.assert_array_equal(layer.weight.grad().asnumpy(), 3)
    layer.weight.zero_grad()
    np.testing.assert_array_equal(layer.weight.grad().asnumpy(), 0)
