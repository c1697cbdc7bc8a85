"""A table of a million embeddings, 4096 ids a batch: sparse gradients and lazy Adam."""

from __future__ import annotations

import numpy as np

from benchmarks.case import Case, numbers, repeated

TARGETS = {"training step": {"mxnet": 6, "torch": 6}}
ROWS, SIZE, BATCH, LEARNING_RATE, STEPS = 1_000_000, 64, 4096, 0.01, 5
_rng = np.random.RandomState(17)
IDS = [(ROWS * _rng.power(0.3, BATCH)).astype(np.int64).clip(0, ROWS - 1) for _ in range(8)]
TARGET = _rng.rand(BATCH, SIZE).astype("f")
PROBE = IDS[0][:16]


def first():
    return np.random.RandomState(1).randn(ROWS, SIZE).astype("f") * np.float32(0.1)


def mx(mx):
    nd, gluon = mx.nd, mx.gluon
    table = gluon.nn.Embedding(ROWS, SIZE, sparse_grad=True)
    table.initialize()
    table.weight.set_data(nd.array(first()))
    ids, target = [nd.array(i) for i in IDS], nd.array(TARGET)
    trainer = gluon.Trainer(table.collect_params(), "adam", {"learning_rate": LEARNING_RATE})
    count = [0]

    def backward():
        with mx.autograd.record():
            value = (table(ids[count[0] % 8]) * target).sum()
        value.backward()

    def step():
        backward()
        trainer.step(BATCH)
        count[0] += 1

    for _ in range(STEPS):
        step()
    checks = {"rows": numbers(table.weight.data().asnumpy()[PROBE, :4])}
    return [
        Case("training step", repeated(step, nd.waitall)),
        Case("forward and backward", repeated(backward, nd.waitall)),
    ], checks


def torch_():
    import torch

    table = torch.nn.Embedding(ROWS, SIZE, sparse=True)
    with torch.no_grad():
        table.weight.copy_(torch.from_numpy(first()))
    ids, target = [torch.from_numpy(i) for i in IDS], torch.from_numpy(TARGET)
    optimizer = torch.optim.SparseAdam(table.parameters(), lr=LEARNING_RATE)
    count = [0]

    def backward():
        optimizer.zero_grad()
        ((table(ids[count[0] % 8]) * target).sum() / BATCH).backward()

    def step():
        backward()
        optimizer.step()
        count[0] += 1

    for _ in range(STEPS):
        step()
    checks = {"rows": numbers(table.weight.detach().numpy()[PROBE, :4])}
    return [
        Case("training step", repeated(step)), Case("forward and backward", repeated(backward)),
    ], checks  # fmt: skip
