"""Wide and deep learning (Cheng et al., 2016): a sparse linear model and a network, trained as one.

The wide part remembers: a row_sparse weight for every feature and every pair of features that met
(hashed into buckets). The deep part generalises: the sum of the features' embeddings, which is one
product of the csr batch with a row_sparse table, and two dense layers.

    python examples/wide_deep.py                     # generated people
    python examples/wide_deep.py --data FOLDER       # a9a and a9a.t
    python examples/wide_deep.py --checkpoint wd --epochs 2
    python examples/wide_deep.py --checkpoint wd --resume 2

``--data`` reads the UCI Adult data as LibSVM text. Expect a test accuracy of about 0.85 there
(always the more frequent answer gives 0.76), and of about 0.90 on the generated people (0.68). A
resumed run prints what the uninterrupted one would have.
"""

import argparse
from itertools import combinations
from pathlib import Path

import numpy as np

import minigluon as mx

FEATURES, BUCKETS = 124, 8192
WHERE = """\
{missing} is not in the folder {folder}
  expected  the files a9a and a9a.t, LibSVM text, as published
  fix       fetch both from the LIBSVM data collection (Chang and Lin, National Taiwan University),
            page "LIBSVM Data: Classification (Binary Class)", entry a9a; then --data FOLDER"""


def read(path):
    """``(features of each row, labels)`` of LibSVM text whose values are all 1."""
    if not path.is_file():
        raise SystemExit(WHERE.format(missing=path.name, folder=path.parent))
    rows, labels = [], []
    for line in path.read_text().splitlines():
        label, *pairs = line.split()
        rows.append([int(pair.partition(":")[0]) for pair in pairs])
        labels.append(float(label) > 0)
    return rows, labels


def generated(count, seed):
    """The same, made up: eight properties of up to 15 values, two of which matter together."""
    hidden = np.random.default_rng(7)
    single, together = hidden.normal(size=(8, 15)), hidden.normal(size=(15, 15))
    rng = np.random.default_rng(seed)
    values = (rng.zipf(1.5, size=(count, 8)) - 1) % 15
    score = np.tanh(single[np.arange(8), values]).sum(axis=1)
    score += 2 * together[values[:, 0], values[:, 1]] + rng.logistic(scale=0.3, size=count)
    return (values + np.arange(8) * 15 + 1).tolist(), score > 0


def csr(rows, width):
    """A csr array with ones at these columns."""
    indptr = np.cumsum([0, *map(len, rows)])
    columns = np.concatenate(rows)
    return mx.nd.sparse.csr_matrix(
        (np.ones(len(columns), "float32"), columns, indptr), shape=(len(rows), width)
    )


def iterator(people, batch_size):
    """Batches of the features, of their pairs, and of the labels."""
    rows, labels = people
    pairs = [sorted({(i * 7919 + j) % BUCKETS for i, j in combinations(row, 2)}) for row in rows]
    return mx.io.NDArrayIter(
        {"features": csr(rows, FEATURES), "pairs": csr(pairs, BUCKETS)},
        np.array(labels, "float32"),
        batch_size,
        last_batch_handle="discard",
    )


def table(name, rows, columns, init):
    """A row_sparse parameter."""
    return mx.sym.Variable(name, stype="row_sparse", shape=(rows, columns), init=init)


def wide_and_deep():
    """``softmax(wide + deep)`` over two classes."""
    features = mx.sym.Variable("features", stype="csr")
    pairs = mx.sym.Variable("pairs", stype="csr")
    dot = mx.sym.sparse.dot
    wide = dot(features, table("weight", FEATURES, 2, mx.init.Zero()))
    wide = wide + dot(pairs, table("pair_weight", BUCKETS, 2, mx.init.Zero()))
    deep = dot(features, table("embedding", FEATURES, 16, mx.init.Normal(0.1)))
    for k, size in enumerate((32, 16)):
        deep = mx.sym.FullyConnected(deep, num_hidden=size, name=f"hidden{k}")
        deep = mx.sym.Activation(deep, act_type="relu")
    deep = mx.sym.FullyConnected(deep, num_hidden=2, name="last")
    return mx.sym.SoftmaxOutput(wide + deep, mx.sym.Variable("softmax_label"), name="softmax")


def rows_of(batch):
    """Which rows of which parameters a batch needs; inputs come in the order of their names."""
    features, pairs = (data.indices for data in batch.data)
    return {"weight": features, "embedding": features, "pair_weight": pairs}


def main(arguments=None):
    """Train and return the accuracy on the test rows."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, help="folder with a9a and a9a.t")
    parser.add_argument("--batch-size", type=int, default=100)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--lr", type=float, default=0.001)
    parser.add_argument("--kvstore", default="local", choices=["local", "device"])
    parser.add_argument("--checkpoint", help="save PREFIX-NNNN.params after every epoch")
    parser.add_argument("--resume", type=int, default=0, metavar="EPOCH", help="go on from there")
    options = parser.parse_args(arguments)

    if options.data:
        train, test = read(options.data / "a9a"), read(options.data / "a9a.t")
    else:
        train, test = generated(20000, seed=1), generated(5000, seed=2)
    train_data, test_data = (iterator(people, options.batch_size) for people in (train, test))
    mx.random.seed(1)
    names = ["features", "pairs"]
    if options.resume:
        module = mx.mod.Module.load(
            options.checkpoint, options.resume, load_optimizer_states=True, data_names=names
        )
    else:
        module = mx.mod.Module(wide_and_deep(), data_names=names)

    def after(epoch, *_):
        accuracy = dict(module.score(test_data, "acc", sparse_row_id_fn=rows_of))["accuracy"]
        seen = metric.get()[1]
        print(f"epoch {epoch + 1}: accuracy {seen:.4f}, test accuracy {accuracy:.4f}", flush=True)

    save = []
    if options.checkpoint:
        save = [mx.callback.module_checkpoint(module, options.checkpoint, 1, True)]
    metric = mx.metric.Accuracy()
    module.fit(
        train_data,
        eval_metric=metric,
        kvstore=mx.kv.create(options.kvstore),
        optimizer="adam",
        optimizer_params={
            "learning_rate": options.lr, "rescale_grad": 1.0 / options.batch_size,
            # Adam corrects its means by the number of steps made before
            "begin_num_update": options.resume * (len(train[1]) // options.batch_size),
        },
        initializer=mx.init.Xavier(),
        begin_epoch=options.resume,
        num_epoch=options.epochs,
        epoch_end_callback=[after, *save],
        sparse_row_id_fn=rows_of,
    )  # fmt: skip
    return dict(module.score(test_data, "acc", sparse_row_id_fn=rows_of))["accuracy"]


if __name__ == "__main__":
    main()
