"""Recommending by matrix factorization: a rating is the product of a user's and an item's factors.

Both tables are ``Embedding(sparse_grad=True)``: the gradient of a batch has the rows of its users
and items only, and the lazy optimizer leaves all others alone (Koren, Bell and Volinsky, 2009).

    python examples/matrix_factorization.py                     # generated ratings
    python examples/matrix_factorization.py --data FILE         # "user item rating ..." a line
    python examples/matrix_factorization.py --checkpoint mf --epochs 2
    python examples/matrix_factorization.py --checkpoint mf --resume 2

``--data`` reads the file ``u.data`` of MovieLens 100K (GroupLens), or any with such lines, ids
counted from 1. Expect a test error (RMSE) of about 0.57 on the generated ratings, whose noise is
0.5; always answering the mean gives 1.1. A resumed run prints what the uninterrupted one would
have.
"""

import argparse
from pathlib import Path

import numpy as np

import minigluon as mx
from minigluon import autograd, gluon, nd


def generated(users, items, count, seed=7):
    """``(user, item, rating)`` by hidden factors; popular items are rated often (Zipf)."""
    rng = np.random.default_rng(seed)
    left, right = rng.normal(size=(users, 4)) / 2, rng.normal(size=(items, 4))
    user = rng.integers(0, users, count)
    item = (rng.zipf(1.2, count) - 1) % items
    rating = (left[user] * right[item]).sum(axis=1) + rng.normal(scale=0.5, size=count)
    return user, item, rating.astype("float32")


def read(path):
    """``(user, item, rating)`` of a file with three or more columns."""
    table = np.loadtxt(path, usecols=(0, 1, 2), ndmin=2)
    ids = table[:, :2].astype("int64") - 1
    if ids.size == 0 or ids.min() < 0:
        raise SystemExit(f"{path}: expected lines 'user item rating' with ids from 1")
    return ids[:, 0], ids[:, 1], table[:, 2].astype("float32")


class Factors(gluon.HybridBlock):
    """``sum over k of user[k] * item[k]``, plus a bias of each."""

    def __init__(self, users, items, size, **kwargs):
        super().__init__(**kwargs)
        with self.name_scope():
            self.user = gluon.nn.Embedding(users, size, sparse_grad=True)
            self.item = gluon.nn.Embedding(items, size, sparse_grad=True)
            self.user_bias = gluon.nn.Embedding(users, 1, sparse_grad=True)
            self.item_bias = gluon.nn.Embedding(items, 1, sparse_grad=True)

    def hybrid_forward(self, F, user, item):
        products = (self.user(user) * self.item(item)).sum(axis=1)
        bias = self.user_bias(user) + self.item_bias(item)
        return products + bias.reshape((-1,))


def root_mean_square_error(net, data, mean):
    """The error on ratings the net has not seen."""
    total = count = 0
    for user, item, rating in data:
        total += ((net(user, item) + mean - rating) ** 2).sum().asscalar()
        count += len(rating)
    return (total / count) ** 0.5


def main(arguments=None):
    """Train and return the test error."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, help="text: user, item, rating and more a line")
    parser.add_argument("--factor-size", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=500)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--kvstore", default="local", choices=["local", "device"])
    parser.add_argument("--checkpoint", help="save PREFIX-NNNN.params after every epoch")
    parser.add_argument("--resume", type=int, default=0, metavar="EPOCH", help="go on from there")
    options = parser.parse_args(arguments)

    user, item, rating = read(options.data) if options.data else generated(2000, 1000, 100000)
    users, items, mean = int(user.max()) + 1, int(item.max()) + 1, float(rating.mean())
    order = np.random.default_rng(1).permutation(len(rating))
    test, train = order[: len(order) // 10], order[len(order) // 10 :]

    def batches(rows):
        arrays = gluon.data.ArrayDataset(
            user[rows].astype("float32"), item[rows].astype("float32"), rating[rows]
        )
        return gluon.data.DataLoader(arrays, batch_size=options.batch_size)

    mx.random.seed(1)
    net = Factors(users, items, options.factor_size)
    net.initialize(mx.init.Normal(0.1))
    net.hybridize()
    trainer = gluon.Trainer(
        net.collect_params(), "adam", {"learning_rate": options.lr}, kvstore=options.kvstore
    )
    if options.resume:
        net.load_parameters(f"{options.checkpoint}-{options.resume:04d}.params")
        trainer.load_states(f"{options.checkpoint}-{options.resume:04d}.states")
    loss = gluon.loss.L2Loss()
    error = float("nan")
    for epoch in range(options.resume + 1, options.epochs + 1):
        total = nd.zeros((1,))
        for users_of, items_of, ratings in batches(train):
            with autograd.record():
                batch_loss = loss(net(users_of, items_of) + mean, ratings)
            batch_loss.backward()
            trainer.step(len(ratings))
            total += batch_loss.sum()
        error = root_mean_square_error(net, batches(test), mean)
        seen = (2 * total.asscalar() / len(train)) ** 0.5
        print(f"epoch {epoch}: RMSE {seen:.4f}, test RMSE {error:.4f}", flush=True)
        if options.checkpoint:
            net.save_parameters(f"{options.checkpoint}-{epoch:04d}.params")
            trainer.save_states(f"{options.checkpoint}-{epoch:04d}.states")
    return error


if __name__ == "__main__":
    main()
