"""Mixed precision while programs run, and the scaling of losses."""

import json
import logging

import numpy as np
import pytest

import minigluon as mx
import nets
from minigluon import MXNetError, autograd, gluon, init, nd, optimizer, sym
from minigluon.contrib import amp
from minigluon.contrib.amp import wrapping
from minigluon.contrib.amp.amp import _State


@pytest.fixture
def mixed():
    """Mixed precision during one test."""
    amp.init()
    yield
    wrapping.uninstall()
    _State.on = False


HALF, SINGLE = nd.ones((2, 2), dtype="float16"), nd.ones((2, 2))


@pytest.mark.parametrize(
    ("function", "dtype"),
    [
        (lambda: nd.FullyConnected(SINGLE, SINGLE, num_hidden=2, no_bias=True), "float16"),
        (lambda: nd.FullyConnected(*[SINGLE.astype("float64")] * 2, num_hidden=2, no_bias=True),
         "float64"),
        (lambda: nd.exp(HALF), "float32"),
        (lambda: HALF.exp(), "float32"),
        (lambda: HALF.sum(), "float32"),
        (lambda: nd.softmax(HALF), "float32"),
        (lambda: nd.linalg.gemm2(HALF, HALF), "float32"),
        (lambda: nd.relu(HALF), "float16"),
        (lambda: HALF * 2, "float16"),
        (lambda: nd.Activation(HALF, act_type="relu"), "float16"),
        (lambda: nd.Activation(HALF, act_type="softrelu"), "float32"),
        (lambda: nd.Activation(HALF, "softrelu"), "float32"),
        (lambda: HALF + SINGLE, "float32"),
        (lambda: SINGLE - HALF, "float32"),
        (lambda: HALF + HALF, "float16"),
        (lambda: SINGLE > HALF, "float32"),
        (lambda: nd.maximum(SINGLE, HALF), "float32"),
        (lambda: nd.concat(SINGLE, HALF, dim=0), "float32"),
        (lambda: nd.concat(HALF, HALF, dim=0), "float16"),
        (lambda: nd.stack(SINGLE, HALF), "float32"),
        (lambda: nd.dot(SINGLE, HALF), "float32"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("mixed")
def test_operators_choose_the_type_that_suits_them(function, dtype):
    assert np.dtype(function().dtype) == dtype


def test_nothing_is_left_of_it_afterwards():
    before = nd.exp
    amp.init()
    assert nd.exp is not before
    nd.exp(HALF)
    wrapping.uninstall()
    _State.on = False
    assert nd.exp(HALF).dtype == HALF.exp().dtype == np.float16
    with pytest.raises(MXNetError):
        SINGLE + HALF


def nodes(symbol):
    found = json.loads(symbol.tojson(remove_amp_cast=False))["nodes"]
    return [node["op"] for node in found if node["op"] != "null"]


@pytest.mark.usefixtures("mixed")
def test_graphs_get_the_casts_that_mxnet_gives_them():
    x, y = sym.var("x"), sym.var("y")
    dense = ["amp_cast"] * 3 + ["FullyConnected"]
    assert nodes(sym.FullyConnected(x, num_hidden=2)) == dense
    assert nodes(x + y) == ["amp_multicast", "elemwise_add"]
    assert nodes(sym.exp(x)) == nodes(x.exp()) == ["amp_cast", "exp"]
    assert nodes(sym.broadcast_add(x, y)) == ["amp_multicast", "broadcast_add"]
    assert nodes(sym.Activation(x, act_type="softrelu")) == ["amp_cast", "Activation"]
    assert nodes(sym.Activation(x, act_type="relu")) == ["Activation"]


@pytest.mark.parametrize("hybrid", [False, True])
@pytest.mark.usefixtures("mixed")
def test_a_network_learns_in_mixed_precision(hybrid):
    draw = np.random.RandomState(0)
    mx.random.seed(0)
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(16, activation="relu"), gluon.nn.BatchNorm(), gluon.nn.Dense(2))
    net.initialize(init.Xavier())
    net.hybridize(hybrid)
    x = nd.array(draw.normal(size=(64, 5)))
    label = x.sum(axis=1) > 0
    compute = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5})
    amp.init_trainer(trainer)
    losses = []
    for _ in range(30):
        with autograd.record():
            out = net(x)
            loss = compute(out, label)
            with amp.scale_loss(loss, trainer) as scaled:
                autograd.backward(scaled)
        trainer.step(64)
        losses.append(float(loss.mean().asscalar()))
    assert out.dtype == np.float16
    assert net[0].weight.data().dtype == net[0].weight.grad().dtype == np.float32
    assert losses[-1] < 0.2 < losses[0]


@pytest.mark.parametrize("hybrid", [False, True])
@pytest.mark.parametrize("name", ["gru", "transformer", "projected", "shuffled"])
@pytest.mark.usefixtures("mixed")
def test_networks_of_many_kinds_run_and_keep_their_gradients_in_float32(name, hybrid):
    net, x = nets.ready(mx, name, "float32")
    net.hybridize(hybrid)
    results = nets.run(mx, net, x)
    assert results["predicted"].dtype == np.float16
    for key, array in results.items():
        assert np.isfinite(array.asnumpy()).all()
        assert array.dtype == np.float32 or not key.startswith("gradient of")


def trained(value=1.0, lr=1.0):
    """A parameter of two ones and a trainer for it."""
    param = gluon.Parameter("w", shape=(2,))
    param.initialize(init.Constant(value))
    trainer = gluon.Trainer([param], "sgd", {"learning_rate": lr})
    amp.init_trainer(trainer)
    return param, trainer


def backward(param, trainer, factor=1.0):
    with autograd.record():
        loss = (param.data() * factor).sum()
        with amp.scale_loss(loss, trainer) as scaled:
            scaled.backward()


@pytest.mark.usefixtures("mixed")
def test_a_step_divides_by_what_the_loss_was_multiplied_by():
    param, trainer = trained()
    backward(param, trainer)
    np.testing.assert_array_equal(param.grad().asnumpy(), 65536)
    trainer.step(1)
    np.testing.assert_array_equal(param.data().asnumpy(), 0)


@pytest.mark.usefixtures("mixed")
def test_unscaled_gradients_can_be_clipped():
    param, trainer = trained()
    backward(param, trainer)
    amp.unscale(trainer)
    np.testing.assert_array_equal(param.grad().asnumpy(), 1)
    trainer.step(2)
    np.testing.assert_array_equal(param.data().asnumpy(), 0.5)


@pytest.mark.usefixtures("mixed")
def test_an_overflow_leaves_out_the_step_and_halves_the_scale(caplog):
    param, trainer = trained()
    backward(param, trainer, np.inf)
    with caplog.at_level(logging.INFO):
        trainer.step(1)
    assert "AMP: decreasing loss scale to 32768" in caplog.text
    np.testing.assert_array_equal(param.data().asnumpy(), 1)
    backward(param, trainer)
    np.testing.assert_array_equal(param.grad().asnumpy(), 32768)
    trainer.step(1)
    np.testing.assert_array_equal(param.data().asnumpy(), 0)


@pytest.mark.usefixtures("mixed")
def test_an_overflow_is_seen_by_update_too():
    param, trainer = trained()
    backward(param, trainer, np.inf)
    trainer.allreduce_grads()
    trainer.update(1)
    np.testing.assert_array_equal(param.data().asnumpy(), 1)


@pytest.mark.usefixtures("mixed")
def test_finite_gradients_let_the_scale_grow(caplog):
    param, trainer = trained(lr=0.0)
    trainer._amp_loss_scaler._scale_seq_len = 2
    for _ in range(2):
        backward(param, trainer)
        with caplog.at_level(logging.INFO):
            trainer.step(1)
    assert "AMP: increasing loss scale to 131072" in caplog.text
    assert trainer._amp_loss_scaler.loss_scale == 131072


@pytest.mark.usefixtures("mixed")
def test_several_losses_are_scaled_together():
    _, trainer = trained()
    with amp.scale_loss([nd.ones(1), nd.ones(2)], trainer) as scaled:
        assert [x.asnumpy()[0] for x in scaled] == [65536, 65536]


@pytest.mark.usefixtures("mixed")
def test_a_loss_with_a_gradient_of_its_own_is_warned_about(caplog):
    sym.SoftmaxOutput(sym.var("x"))
    assert "SoftmaxOutput does not support dynamic loss scaling" in caplog.text


def test_what_amp_needs_first_is_named():
    param = gluon.Parameter("w", shape=(2,))
    param.initialize()
    trainer = gluon.Trainer([param], "sgd")
    with pytest.raises(AssertionError, match=r"did you forget to call amp\.init\(\)"):
        amp.init_trainer(trainer)
    with (
        pytest.raises(MXNetError, match="the trainer has no loss scale"),
        amp.scale_loss(nd.ones(1), trainer),
    ):
        pass
    with pytest.raises(TypeError, match="should be a Gluon Trainer, instead is"):
        amp.unscale(3)


@pytest.mark.usefixtures("mixed")
def test_only_trainers_are_scaled_for():
    with pytest.raises(TypeError, match="only compatible with Gluon Trainer"):
        amp.init_trainer(optimizer.SGD())


def test_types_that_are_not_there_are_refused():
    with pytest.raises(MXNetError, match="bfloat16 is not there, because numpy has no such type"):
        amp.init("bfloat16")
    with pytest.raises(AssertionError, match="only float16 or bfloat16"):
        amp.init("int8")


def test_the_lists_hold_every_operator_once():
    lists = [amp.list_lp16_ops, amp.list_fp32_ops, amp.list_lp16_fp32_ops]
    names = [set(function("float16")) for function in (*lists, amp.list_widest_type_cast)]
    assert names[0] == {"Convolution", "Deconvolution", "FullyConnected", "RNN"}
    assert not any(a & b for k, a in enumerate(names) for b in names[k + 1 :])
    assert {"exp", "softmax"} <= names[1]
    assert {"BatchNorm", "relu"} <= names[2]
    assert ("Activation", "act_type", ["softrelu"]) in amp.list_conditional_fp32_ops("float16")
    assert amp.list_lp16_use_fp32_params("float16") is None
    assert "SoftmaxOutput" in amp.list_loss_output_functions("float16")
