"""The same net run operator by operator and as one compiled graph: same outputs, same gradients."""

import numpy as np

import minigluon as mx
from minigluon import autograd, gluon, nd
from minigluon.gluon import nn


def build() -> nn.HybridSequential:
    """A multilayer perceptron that can be hybridised."""
    net = nn.HybridSequential()
    with net.name_scope():
        net.add(nn.Dense(128, activation="relu"))
        net.add(nn.Dense(64, activation="tanh"))
        net.add(nn.Dense(10))
    net.initialize(mx.init.Xavier())
    return net


def run(net: gluon.Block, data: mx.nd.NDArray, label: mx.nd.NDArray):
    """The output of the net, and the gradients of its parameters, for one batch."""
    loss_fn = gluon.loss.SoftmaxCrossEntropyLoss()
    with autograd.record():
        output = net(data)
        loss = loss_fn(output, label)
    loss.backward()
    gradients = {
        name: parameter.grad().asnumpy() for name, parameter in net.collect_params().items()
    }
    return output.asnumpy(), gradients


def main():
    mx.random.seed(42)
    net = build()
    data = nd.random.uniform(shape=(32, 64))
    label = nd.array(np.arange(32) % 10)

    eager_output, eager_gradients = run(net, data, label)
    net.hybridize()
    output, gradients = run(net, data, label)

    np.testing.assert_allclose(output, eager_output, rtol=1e-5, atol=1e-6)
    for name, gradient in gradients.items():
        np.testing.assert_allclose(gradient, eager_gradients[name], rtol=1e-4, atol=1e-6)
    print(f"{len(gradients)} gradients are equal, eager and hybridised")


if __name__ == "__main__":
    main()
