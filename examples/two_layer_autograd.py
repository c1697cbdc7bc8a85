"""Autograd and Gluon: the gradients of a two-layer regression net.

The net is small enough to check by hand, and ``main`` does: the gradients that autograd finds are
compared with the chain rule written in numpy.
"""

import numpy as np

import minigluon as mx
from minigluon import autograd, gluon, init, nd
from minigluon.gluon import loss as gloss
from minigluon.gluon import nn


def build() -> gluon.Block:
    """Three hidden units with ReLU, one output unit, small random weights."""
    net = nn.Sequential()
    with net.name_scope():
        net.add(nn.Dense(units=3, activation="relu"))  # first layer
        net.add(nn.Dense(units=1))  # output layer, for regression
    net.initialize(init.Normal(sigma=0.01))
    return net


def loss_with_gradients(net: gluon.Block, x_data: mx.nd.NDArray, y_true: mx.nd.NDArray):
    """Run the net forward while recording, then backward; parameters hold their gradients."""
    loss_fn = gloss.L2Loss()
    with autograd.record():
        y_pred = net(x_data)
        current_loss = loss_fn(y_pred, y_true)
    current_loss.backward()
    return current_loss


def gradients_by_hand(net: gluon.Block, x: np.ndarray, y: np.ndarray):
    """The gradients of ``(net(x) - y)² / 2`` for the first layer's weight and bias."""
    w1, b1 = net[0].weight.data().asnumpy(), net[0].bias.data().asnumpy()
    w2, b2 = net[1].weight.data().asnumpy(), net[1].bias.data().asnumpy()
    hidden = x @ w1.T + b1
    error = np.maximum(hidden, 0) @ w2.T + b2 - y
    hidden_gradient = (error @ w2) * (hidden > 0)
    return hidden_gradient.T @ x, hidden_gradient.sum(axis=0)


def main():
    mx.random.seed(1)
    net = build()
    x_data = nd.array([[0.5, 0.9]])
    y_true = nd.array([[1.5]])
    current_loss = loss_with_gradients(net, x_data, y_true)
    print(f"loss: {current_loss.asscalar():.6f}")

    # Each parameter keeps its gradient.
    first_layer_weight_grad = net[0].weight.grad().asnumpy()
    print("Gradients of the first layer's weights:")
    print(first_layer_weight_grad)
    first_layer_bias_grad = net[0].bias.grad().asnumpy()
    print("Gradients of the first layer's biases:")
    print(first_layer_bias_grad)

    weight_by_hand, bias_by_hand = gradients_by_hand(net, x_data.asnumpy(), y_true.asnumpy())
    np.testing.assert_allclose(first_layer_weight_grad, weight_by_hand, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(first_layer_bias_grad, bias_by_hand, rtol=1e-5, atol=1e-8)
    print("They agree with the chain rule by hand.")


if __name__ == "__main__":
    main()
