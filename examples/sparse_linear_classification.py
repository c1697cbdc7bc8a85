"""Click prediction with a linear model: csr rows, a row_sparse weight, only touched rows move.

With a million features the gradient of a dense weight has a million numbers a step. Here a step
reads and writes the rows its batch has: ``prepare`` pulls them from the key-value store before
``forward``, and ``update`` pushes a row_sparse gradient back, where the optimizer lives.

    python examples/sparse_linear_classification.py                      # generated clicks
    python examples/sparse_linear_classification.py --data FILE [--test FILE]   # LibSVM text
    python examples/sparse_linear_classification.py --checkpoint clicks --epochs 2
    python examples/sparse_linear_classification.py --checkpoint clicks --resume 2

Expect a test accuracy of about 0.86 on the generated clicks (the hidden weights themselves reach
0.93), and 0.997 with ``--features 127`` on the published mushroom files agaricus.txt.train and
agaricus.txt.test. A resumed run prints what the uninterrupted one would have.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

import minigluon as mx


def write_clicks(path, rows, features, seed):
    """LibSVM text: 20 ids a row, popular ones often (Zipf), a label by hidden weights and noise."""
    hidden = np.random.default_rng(7).normal(size=features)
    rng = np.random.default_rng(seed)
    with Path(path).open("w") as out:
        for _ in range(rows):
            ids = np.unique((rng.zipf(1.3, size=20) - 1) % features)
            label = int(hidden[ids].sum() + rng.logistic(scale=0.5) > 0)
            out.write(f"{label} {' '.join(f'{i}:1' for i in ids)}\n")


def linear(features):
    """``softmax(dot(csr, row_sparse) + bias)`` over two classes."""
    data = mx.sym.Variable("data", stype="csr")
    weight = mx.sym.Variable(
        "weight", stype="row_sparse", shape=(features, 2), init=mx.init.Normal(0.01)
    )
    bias = mx.sym.Variable("bias", shape=(2,), init=mx.init.Zero())
    score = mx.sym.broadcast_add(mx.sym.sparse.dot(data, weight), bias)
    return mx.sym.SoftmaxOutput(score, mx.sym.Variable("softmax_label"), name="softmax")


def batches(path, options):
    """Batches of csr rows with their labels."""
    return mx.io.LibSVMIter(
        data_libsvm=str(path), data_shape=(options.features,), batch_size=options.batch_size
    )


def rows_of(batch):
    """Which rows of which parameters a batch needs."""
    return {"weight": batch.data[0].indices}


def train(module, train_data, test_data, options):
    """The training loop written out; returns the last test accuracy."""
    metric = mx.metric.create(["acc", "ce"])
    tested = float("nan")
    for epoch in range(options.resume, options.epochs):
        train_data.reset()
        metric.reset()
        for batch in train_data:
            module.prepare(batch, sparse_row_id_fn=rows_of)
            module.forward_backward(batch)
            module.update()
            module.update_metric(metric, batch.label)
        score = module.score(test_data, "acc", sparse_row_id_fn=rows_of)
        tested = dict(score)["accuracy"]
        shown = ", ".join(f"{name} {value:.4f}" for name, value in metric.get_name_value())
        print(f"epoch {epoch + 1}: {shown}, test accuracy {tested:.4f}")
        if options.checkpoint:
            module.save_checkpoint(options.checkpoint, epoch + 1, save_optimizer_states=True)
    return tested


def main(arguments=None):
    """Train and return the accuracy on the test rows."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, help="LibSVM text with labels 0 and 1, ids from 0")
    parser.add_argument("--test", type=Path, help="the same to test on; by default --data itself")
    parser.add_argument("--features", type=int, default=10000, help="ids are below it")
    parser.add_argument("--batch-size", type=int, default=250)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument(
        "--optimizer", default="adagrad", choices=["sgd", "adagrad", "adam", "ftrl"]
    )
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--kvstore", default="local", choices=["local", "device"])
    parser.add_argument("--checkpoint", help="save PREFIX-NNNN.params after every epoch")
    parser.add_argument("--resume", type=int, default=0, metavar="EPOCH", help="go on from there")
    options = parser.parse_args(arguments)

    mx.random.seed(1)
    with tempfile.TemporaryDirectory() as folder:
        train_file, test_file = options.data, options.test or options.data
        if train_file is None:
            train_file, test_file = Path(folder) / "train", Path(folder) / "test"
            write_clicks(train_file, 20000, options.features, seed=1)
            write_clicks(test_file, 5000, options.features, seed=2)
        train_data, test_data = batches(train_file, options), batches(test_file, options)
        names = {"data_names": ["data"], "label_names": ["softmax_label"]}
        if options.resume:
            module = mx.mod.Module.load(
                options.checkpoint, options.resume, load_optimizer_states=True, **names
            )
        else:
            module = mx.mod.Module(linear(options.features), **names)
        module.bind(train_data.provide_data, train_data.provide_label)
        if not options.resume:
            module.init_params()
        module.init_optimizer(
            kvstore=mx.kv.create(options.kvstore),
            optimizer=options.optimizer,
            optimizer_params={
                "learning_rate": options.lr, "rescale_grad": 1.0 / options.batch_size
            },
        )  # fmt: skip
        return train(module, train_data, test_data, options)


if __name__ == "__main__":
    main()
