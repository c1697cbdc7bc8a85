"""The adding problem (Hochreiter and Schmidhuber, 1997): what an LSTM remembers over a long time.

A sequence has two channels: random numbers, and marks at two places. The target is the sum of the
two marked numbers, so both have to be kept while numbers that do not matter pass.

    python examples/lstm_adding.py [--cell gru] [--length 30]

Expect a mean squared error below 0.01 after the last epoch; always answering 1 gives 0.167.
"""

import argparse

import numpy as np

import minigluon as mx
from minigluon import autograd, gluon, nd

BATCH_SIZE, HIDDEN = 50, 32


def sequences(count, length, rng):
    """``(count, length, 2)`` inputs and ``(count, 1)`` sums."""
    values = rng.random((count, length))
    marks = np.zeros((count, length))
    half = length // 2
    rows = np.arange(count)
    first, second = rng.integers(0, half, count), rng.integers(half, length, count)
    marks[rows, first] = marks[rows, second] = 1
    sums = (values * marks).sum(axis=1, keepdims=True)
    return np.stack([values, marks], axis=2).astype("float32"), sums.astype("float32")


class Adder(gluon.HybridBlock):
    """A recurrent layer and a dense one on its last output."""

    def __init__(self, cell, **kwargs):
        super().__init__(**kwargs)
        layer = {"lstm": gluon.rnn.LSTM, "gru": gluon.rnn.GRU}[cell]
        with self.name_scope():
            self.recurrent = layer(HIDDEN, layout="NTC", input_size=2)
            self.dense = gluon.nn.Dense(1)

    def hybrid_forward(self, F, x):
        outputs = self.recurrent(x)
        return self.dense(F.slice_axis(outputs, axis=1, begin=-1, end=None))


def main(arguments=None):
    """Train and return the error on new sequences."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--cell", default="lstm", choices=["lstm", "gru"])
    parser.add_argument("--length", type=int, default=20)
    parser.add_argument("--epochs", type=int, default=15)
    options = parser.parse_args(arguments)

    rng = np.random.default_rng(3)
    train, test = sequences(5000, options.length, rng), sequences(1000, options.length, rng)
    batches = gluon.data.DataLoader(
        gluon.data.ArrayDataset(*train), batch_size=BATCH_SIZE, shuffle=True
    )
    mx.random.seed(3)
    np.random.seed(3)
    net = Adder(options.cell)
    net.initialize(mx.init.Xavier())
    net.hybridize()
    loss = gluon.loss.L2Loss()
    trainer = gluon.Trainer(
        net.collect_params(), "adam", {"learning_rate": 0.005, "clip_gradient": 1.0}
    )
    error = float("nan")
    for epoch in range(1, options.epochs + 1):
        for x, y in batches:
            with autograd.record():
                value = loss(net(x), y)
            value.backward()
            trainer.step(len(x))
        error = float(((net(nd.array(test[0])) - nd.array(test[1])) ** 2).mean().asscalar())
        print(f"epoch {epoch}: mean squared error {error:.4f}", flush=True)
    return error


if __name__ == "__main__":
    main()
