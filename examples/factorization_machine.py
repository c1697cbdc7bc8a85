"""A factorization machine (Rendle, 2010): pairs of features that never met still get a score.

``score = bias + x w + sum over pairs i < j of <v_i, v_j> x_i x_j``, and the sum over pairs is
``((x v)^2 - x^2 v^2) / 2``: two products of the csr batch. Weights and factors are row_sparse, the
optimizer's steps lazy, so a step costs what its batch has, however many features there are.

    python examples/factorization_machine.py                          # generated clicks
    python examples/factorization_machine.py --data FILE --test FILE --features N
    python examples/factorization_machine.py --checkpoint fm --epochs 2
    python examples/factorization_machine.py --checkpoint fm --resume 2

Expect a test accuracy of about 0.82 on the generated clicks, whose labels depend on pairs alone
(guessing gives 0.5). A resumed run prints what the uninterrupted one would have.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

import minigluon as mx


def write_clicks(path, rows, features, seed):
    """LibSVM text: a user, an item and a place a row; labels by products of hidden factors."""
    hidden = np.random.default_rng(7).normal(size=(features, 4))
    rng = np.random.default_rng(seed)
    field = features // 3
    with Path(path).open("w") as out:
        for _ in range(rows):
            ids = np.arange(3) * field + (rng.zipf(1.3, size=3) - 1) % field
            v = hidden[ids]
            pairs = ((v.sum(axis=0) ** 2).sum() - (v**2).sum()) / 2
            label = int(pairs + rng.logistic(scale=0.5) > 0)
            out.write(f"{label} {' '.join(f'{i}:1' for i in ids)}\n")


def factorization_machine(features, size):
    """The symbol; ``size`` is the length of each feature's factor."""
    x = mx.sym.Variable("data", stype="csr")
    v = mx.sym.Variable("v", stype="row_sparse", shape=(features, size), init=mx.init.Normal(0.1))
    w = mx.sym.Variable("w", stype="row_sparse", shape=(features, 1), init=mx.init.Zero())
    bias = mx.sym.Variable("bias", shape=(1,), init=mx.init.Zero())
    linear = mx.sym.broadcast_add(mx.sym.sparse.dot(x, w), bias)
    of_sums = mx.sym.sum(mx.sym.square(mx.sym.sparse.dot(x, v)), axis=1, keepdims=True)
    squares = mx.sym.sparse.dot(mx.sym.sparse.square(x), mx.sym.sparse.square(v))
    pairs = 0.5 * (of_sums - mx.sym.sum(squares, axis=1, keepdims=True))
    label = mx.sym.Variable("softmax_label")
    return mx.sym.LogisticRegressionOutput(linear + pairs, label, name="softmax")


def accuracy(label, probability):
    """The share of rows on the right side of one half."""
    return ((probability.ravel() > 0.5) == label.ravel()).mean()


def logistic_loss(label, probability):
    """The mean of ``-log(probability of what happened)``."""
    right = np.where(label.ravel() > 0.5, probability.ravel(), 1 - probability.ravel())
    return -np.log(np.maximum(right, 1e-12)).mean()


def main(arguments=None):
    """Train and return the accuracy on the test rows."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, help="LibSVM text with labels 0 and 1, ids from 0")
    parser.add_argument("--test", type=Path, help="the same to test on; by default --data itself")
    parser.add_argument("--features", type=int, default=3000, help="ids are below it")
    parser.add_argument("--factor-size", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=250)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--kvstore", default="local", choices=["local", "device"])
    parser.add_argument("--checkpoint", help="save PREFIX-NNNN.params after every epoch")
    parser.add_argument("--resume", type=int, default=0, metavar="EPOCH", help="go on from there")
    options = parser.parse_args(arguments)

    def batches(path):
        return mx.io.LibSVMIter(
            data_libsvm=str(path), data_shape=(options.features,), batch_size=options.batch_size
        )

    def rows_of(batch):
        ids = batch.data[0].indices
        return {"v": ids, "w": ids}

    mx.random.seed(1)
    with tempfile.TemporaryDirectory() as folder:
        train_file, test_file = options.data, options.test or options.data
        if train_file is None:
            train_file, test_file = Path(folder) / "train", Path(folder) / "test"
            write_clicks(train_file, 40000, options.features, seed=1)
            write_clicks(test_file, 5000, options.features, seed=2)
        train_data, test_data = batches(train_file), batches(test_file)
        steps = 0  # made before: Adam corrects its means by them
        if options.resume:
            steps = options.resume * sum(1 for _ in train_data)
            train_data.reset()
            module = mx.mod.Module.load(
                options.checkpoint, options.resume, load_optimizer_states=True
            )
        else:
            module = mx.mod.Module(factorization_machine(options.features, options.factor_size))
        save = []
        if options.checkpoint:
            save = [mx.callback.module_checkpoint(module, options.checkpoint, 1, True)]
        tested = mx.metric.CustomMetric(accuracy, name="accuracy")

        def after(epoch, *_):
            score = module.score(test_data, tested, sparse_row_id_fn=rows_of)
            loss = dict(watched.get_name_value())["logistic loss"]
            print(
                f"epoch {epoch + 1}: logistic loss {loss:.4f}, test accuracy {score[0][1]:.4f}",
                flush=True,
            )

        watched = mx.metric.CustomMetric(logistic_loss, name="logistic loss")
        module.fit(
            train_data,
            eval_metric=watched,
            kvstore=mx.kv.create(options.kvstore),
            optimizer="adam",
            optimizer_params={
                "learning_rate": options.lr, "rescale_grad": 1.0 / options.batch_size,
                "begin_num_update": steps,
            },
            begin_epoch=options.resume,
            num_epoch=options.epochs,
            epoch_end_callback=[after, *save],
            sparse_row_id_fn=rows_of,
        )  # fmt: skip
        return dict(module.score(test_data, tested, sparse_row_id_fn=rows_of))["accuracy"]


if __name__ == "__main__":
    main()
