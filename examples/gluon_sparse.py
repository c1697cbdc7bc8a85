"""Gluon on sparse data: a block with csr input and a row_sparse weight.

The weight lives in the key-value store; ``row_sparse_data`` brings the rows that a batch needs, the
gradient has those rows only, and the trainer sends it back.

    python examples/gluon_sparse.py

Expect a test accuracy of about 0.85 on generated clicks: 20 ids of 20,000 a row, labels by hidden
weights and noise.
"""

import argparse

import numpy as np

import minigluon as mx
from minigluon import autograd, gluon, nd

FEATURES, BATCH_SIZE = 20000, 100


def clicks(rows, seed):
    """A csr array of ones and the labels of its rows."""
    hidden = np.random.default_rng(7).normal(size=FEATURES)
    rng = np.random.default_rng(seed)
    ids = [np.unique((rng.zipf(1.3, 20) - 1) % FEATURES) for _ in range(rows)]
    indptr = np.cumsum([0, *map(len, ids)])
    columns = np.concatenate(ids)
    score = np.add.reduceat(hidden[columns], indptr[:-1])
    labels = (score + rng.logistic(scale=0.5, size=rows) > 0).astype("float32")
    values = np.ones(len(columns), "float32")
    csr = nd.sparse.csr_matrix((values, columns, indptr), shape=(rows, FEATURES))
    return csr, nd.array(labels)


class Linear(gluon.Block):
    """``dot(csr, weight) + bias`` with a row_sparse weight."""

    def __init__(self, features, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.weight = self.params.get(
                "weight", shape=(features, 1), stype="row_sparse", grad_stype="row_sparse",
                init=mx.init.Zero(),
            )  # fmt: skip
            self.bias = self.params.get("bias", shape=(1,), init=mx.init.Zero())

    def forward(self, x):
        rows = self.weight.row_sparse_data(x.indices)
        return nd.sparse.dot(x, rows) + self.bias.data()


def main(arguments=None):
    """Train and return the accuracy on the test rows."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--optimizer", default="adagrad", choices=["sgd", "adagrad", "adam"])
    parser.add_argument("--lr", type=float, default=0.1)
    options = parser.parse_args(arguments)

    train = mx.io.NDArrayIter(*clicks(20000, seed=1), BATCH_SIZE, last_batch_handle="discard")
    test, labels = clicks(5000, seed=2)
    net = Linear(FEATURES)
    net.initialize()
    trainer = gluon.Trainer(
        net.collect_params(), options.optimizer, {"learning_rate": options.lr}, kvstore="local"
    )
    loss = gluon.loss.SigmoidBinaryCrossEntropyLoss()
    tested = 0.0
    for epoch in range(1, options.epochs + 1):
        train.reset()
        total = nd.zeros((1,))
        for batch in train:
            with autograd.record():
                value = loss(net(batch.data[0]), batch.label[0])
            value.backward()
            trainer.step(BATCH_SIZE)
            total += value.sum()
        told = net(test).reshape((-1,)) > 0
        tested = float((told == labels).mean().asscalar())
        print(
            f"epoch {epoch}: loss {total.asscalar() / 20000:.4f}, test accuracy {tested:.4f}",
            flush=True,
        )
    return tested


if __name__ == "__main__":
    main()
