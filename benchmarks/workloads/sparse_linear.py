"""Click prediction: csr rows of a million features, a row_sparse weight, lazy optimizers."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.case import Case, batches, power_law_rows

TARGETS = {
    "sgd, batch 512": {"mxnet": 4, "torch": 2},
    "adagrad, batch 512": {"mxnet": 4, "torch": 4},
    "ftrl, batch 512": {"mxnet": 4},
    "sgd, batch 2048": {"mxnet": 2.5, "torch": 2},
    "adagrad, batch 2048": {"mxnet": 2, "torch": 4},
    "ftrl, batch 2048": {"mxnet": 1.8},
    "reading LibSVM": {"mxnet": 1.3},
}
ROWS, FEATURES, SIZES, STEPS = 65536, 1_000_000, (512, 2048, 8192), 20
OPTIMIZERS = {
    "sgd": {"learning_rate": 1.0}, "adagrad": {"learning_rate": 0.1, "eps": 1e-14},
    "ftrl": {"learning_rate": 1.0, "lamda1": 1e-6, "beta": 0.01},
}  # fmt: skip
#: MXNet 1.9.1 refuses arrays of more elements
MXNET_ELEMENTS = 2**31


@functools.lru_cache(None)
def data():
    """``(indices, indptr, labels)``; all values are 1, labels follow a hidden model with noise."""
    indices, indptr = power_law_rows(ROWS, FEATURES, 15, 40, seed=7)
    rng = np.random.RandomState(8)
    score = np.add.reduceat(rng.randn(FEATURES)[indices], indptr[:-1])
    return indices, indptr, (score + rng.randn(ROWS) > 0).astype(np.float32)


def parts(size):
    """``(indices, indptr, labels)`` of every batch."""
    indices, indptr, labels = data()
    for rows in batches(ROWS, size):
        first, last = indptr[rows.start], indptr[rows.stop]
        starts = indptr[rows.start : rows.stop + 1] - first
        yield indices[first:last], starts, labels[rows]


def text(folder):
    """The rows as a LibSVM file."""
    indices, indptr, labels = data()
    words = [f"{i}:1" for i in indices.tolist()]
    path = Path(folder) / "rows"
    with path.open("w") as out:
        for row, label in enumerate(labels):
            out.write(f"{label:.0f} {' '.join(words[indptr[row] : indptr[row + 1]])}\n")
    return path


def taking_turns(step, given):
    """``run(n)`` that makes n steps, on one batch after the other."""
    place = [0]

    def run(n):
        for _ in range(n):
            step(given[place[0]])
            place[0] = (place[0] + 1) % len(given)

    return run


def mx(mx):
    csr = mx.sym.Variable("data", stype="csr")
    weight = mx.sym.Variable("weight", shape=(FEATURES, 2), stype="row_sparse")
    bias = mx.sym.Variable("bias", shape=(2,))
    score = mx.sym.broadcast_add(mx.sym.sparse.dot(csr, weight), bias)
    net = mx.sym.SoftmaxOutput(score, mx.sym.Variable("softmax_label"), name="out")
    cases, checks = [], {}
    for size in SIZES:
        if mx.__name__ == "mxnet" and size * FEATURES >= MXNET_ELEMENTS:
            continue
        shape = (size, FEATURES)
        given = [
            mx.io.DataBatch(
                [mx.nd.sparse.csr_matrix((np.ones(len(i), "f"), i, p), shape=shape)],
                [mx.nd.array(labels)],
            )
            for i, p, labels in parts(size)
        ]
        for name, options in OPTIMIZERS.items():
            module = mx.mod.Module(net, data_names=["data"], label_names=["softmax_label"])
            module.bind([("data", shape)], [("softmax_label", (size,))])
            module.init_params(mx.init.Zero())
            rule = mx.optimizer.create(name, rescale_grad=1.0 / size, **options)
            module.init_optimizer(optimizer=rule, kvstore=None)

            def step(batch, module=module):
                module.forward_backward(batch)
                module.update()

            turns = taking_turns(step, given)

            def run(n, turns=turns):
                turns(n)
                mx.nd.waitall()

            run(STEPS)
            module.forward(given[0], is_train=False)
            probability = module.get_outputs()[0].asnumpy()
            right = given[0].label[0].asnumpy().astype(int)
            chosen = probability[np.arange(size), right]
            checks[f"{name}, {size}"] = float(-np.log(np.maximum(chosen, 1e-30)).mean())
            cases.append(Case(f"{name}, batch {size}", run, "rows/s", amount=size))
    with tempfile.TemporaryDirectory() as folder:
        path = text(folder)
        content = path.read_bytes()

    def read(n):
        with tempfile.TemporaryDirectory() as folder:
            again = Path(folder) / "rows"
            again.write_bytes(content)
            for _ in range(n):
                rows = mx.io.LibSVMIter(
                    data_libsvm=str(again), data_shape=(FEATURES,), batch_size=2000
                )
                for batch in rows:
                    batch.data[0].wait_to_read()

    cases.append(Case("reading LibSVM", read, "MB/s", amount=len(content) / 1e6))
    return cases, checks


def torch_():
    import torch

    cases, checks = [], {}
    for size in SIZES:
        given = [
            (torch.from_numpy(i), torch.from_numpy(p[:-1]), torch.from_numpy(y.astype(np.int64)))
            for i, p, y in parts(size)
        ]
        for name, rate in (("sgd", 1.0), ("adagrad", 0.1)):
            table = torch.nn.EmbeddingBag(FEATURES, 2, mode="sum", sparse=True)
            table.weight.data.zero_()
            bias = torch.nn.Parameter(torch.zeros(2))
            rule = torch.optim.SGD if name == "sgd" else torch.optim.Adagrad
            optimizer = rule([table.weight, bias], lr=rate)

            def loss(batch, table=table, bias=bias):
                indices, starts, labels = batch
                return torch.nn.functional.cross_entropy(table(indices, starts) + bias, labels)

            def step(batch, optimizer=optimizer, loss=loss):
                optimizer.zero_grad()
                loss(batch).backward()
                optimizer.step()

            run = taking_turns(step, given)
            run(STEPS)
            with torch.no_grad():
                checks[f"{name}, {size}"] = float(loss(given[0]))
            cases.append(Case(f"{name}, batch {size}", run, "rows/s", amount=size))
    return cases, checks
