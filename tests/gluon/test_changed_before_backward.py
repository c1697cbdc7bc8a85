"""Arrays may change between the forward and the backward pass; values of MXNet 1.9.1."""

import numpy as np
import pytest

import minigluon as mx
from minigluon import autograd, gluon, nd


class Scaled(gluon.HybridBlock):
    """``activation(x * gain + bias)``."""

    def __init__(self, activation):
        super().__init__()
        self._activation = activation
        with self.name_scope():
            self.gain = self.params.get("gain", shape=(2,))
            self.bias = self.params.get("bias", shape=(2,))

    def hybrid_forward(self, F, x, gain, bias):
        scaled = F.broadcast_add(F.broadcast_mul(x, gain), bias)
        return getattr(F, self._activation)(scaled)


@pytest.mark.parametrize("hybrid", [False, True])
@pytest.mark.parametrize(
    ("activation", "expected"),
    [
        ("relu", [-1.25, -4.9940004]),
        ("exp", [-594.1458, -14502.1045]),
        ("tanh", [0.17643966, 0.12451594]),
        ("sigmoid", [0.14045016, 0.12574424]),
    ],
)
def test_a_step_for_one_loss_leaves_the_other_loss_its_activations(activation, expected, hybrid):
    net = Scaled(activation)
    net.initialize(mx.init.One())
    if hybrid:
        net.hybridize()
    x, other = nd.array([[0.5, 0.7]]), nd.array([[1.5, 2.7]])
    x.attach_grad()
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.3})
    with autograd.record():
        first, second = net(x).sum(), (net(other) ** 2).sum()
    second.backward()
    trainer.step(1)
    first.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), [expected], rtol=1e-5)


@pytest.mark.parametrize("hybrid", [False, True])
@pytest.mark.parametrize(
    ("loss", "expected"),
    [("L2Loss", 0.75), ("L1Loss", 1.0), ("HuberLoss", 0.75)],
)
def test_a_label_may_be_filled_anew_before_the_backward_pass(loss, expected, hybrid):
    net = gluon.nn.Dense(1, in_units=2)
    net.initialize(mx.init.One())
    if hybrid:
        net.hybridize()
    x, label = nd.array([[0.5, 0.75]]), nd.array([[0.5]])
    with autograd.record():
        value = getattr(gluon.loss, loss)()(net(x), label)
    label[:] = 9
    value.backward()
    assert net.bias.grad().asscalar() == pytest.approx(expected)


def test_an_input_may_change_before_the_backward_pass():
    class Product(gluon.HybridBlock):
        def hybrid_forward(self, F, x, y):
            return F.exp(x) * y

    net = Product()
    net.hybridize()
    x, y = nd.array([0.0]), nd.array([1.0])
    x.attach_grad()
    with autograd.record():
        z = net(x, y)
    x[:] = 7
    z.backward()
    assert x.grad.asscalar() == 1
