"""An autoencoder: digits of 64 pixels through 8 numbers and back, beside principal components.

    python examples/autoencoder.py

Expect a mean squared error of about 0.013 a pixel on digits it has not seen; the best linear code
of 8 numbers, principal component analysis, leaves 0.025.
"""

import argparse

import numpy as np

import minigluon as mx
from minigluon import autograd, gluon, nd

CODE, BATCH_SIZE = 8, 64


def digits():
    """Training and test images of scikit-learn, as rows of 64 numbers between 0 and 1."""
    from sklearn.datasets import load_digits

    images = load_digits().data.astype("float32") / 16
    images = images[np.random.default_rng(0).permutation(len(images))]
    return images[:1437], images[1437:]


def dense(*sizes):
    """Dense layers, with ReLU between them."""
    net = gluon.nn.HybridSequential()
    for size in sizes[:-1]:
        net.add(gluon.nn.Dense(size, activation="relu"))
    net.add(gluon.nn.Dense(sizes[-1]))
    return net


class Autoencoder(gluon.HybridBlock):
    """``decode(encode(x))``."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.encode, self.decode = dense(128, 64, CODE), dense(64, 128, 64)

    def hybrid_forward(self, F, x):
        return F.sigmoid(self.decode(self.encode(x)))


def linear_error(train, test):
    """What principal component analysis leaves."""
    mean = train.mean(axis=0)
    axes = np.linalg.svd(train - mean, full_matrices=False)[2][:CODE]
    return float((((test - mean) @ axes.T @ axes + mean - test) ** 2).mean())


def main(arguments=None):
    """Train and return the error on the test images."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=60)
    options = parser.parse_args(arguments)

    train, test = digits()
    mx.random.seed(5)
    np.random.seed(5)
    net = Autoencoder()
    net.initialize(mx.init.Xavier())
    net.hybridize()
    loss = gluon.loss.L2Loss()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.002})
    batches = gluon.data.DataLoader(train, batch_size=BATCH_SIZE, shuffle=True)
    for epoch in range(1, options.epochs + 1):
        for x in batches:
            with autograd.record():
                value = loss(net(x), x)
            value.backward()
            trainer.step(len(x))
        error = float(((net(nd.array(test)) - nd.array(test)) ** 2).mean().asscalar())
        if epoch % 10 == 0 or epoch == options.epochs:
            print(f"epoch {epoch}: mean squared error {error:.4f}", flush=True)
    print(f"principal components: mean squared error {linear_error(train, test):.4f}")
    return error


if __name__ == "__main__":
    main()
