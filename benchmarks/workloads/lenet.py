"""LeNet on 64 images of 28x28: a training step with SGD."""

from __future__ import annotations

import numpy as np

from benchmarks.case import Case, repeated

TARGETS = {"training step, hybrid": {"mxnet": 1.15, "torch": 1.2}}
BATCH, LEARNING_RATE, STEPS = 64, 0.05, 5
_rng = np.random.RandomState(9)
X, Y = _rng.rand(BATCH, 1, 28, 28).astype("f"), _rng.randint(0, 10, BATCH)
WEIGHTS = [
    (_rng.randn(*shape) * scale).astype("f")
    for shape, scale in (
        ((20, 1, 5, 5), 0.2), ((50, 20, 5, 5), 0.05), ((500, 800), 0.05), ((10, 500), 0.06),
    )
]  # fmt: skip


def mx(mx):
    nd, nn = mx.nd, mx.gluon.nn
    x, y = nd.array(X), nd.array(Y)
    loss = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    cases, checks = [], {}
    for name in ("eager", "hybrid"):
        net = nn.HybridSequential()
        net.add(
            nn.Conv2D(20, 5, activation="relu"), nn.MaxPool2D(2, 2),
            nn.Conv2D(50, 5, activation="relu"), nn.MaxPool2D(2, 2), nn.Flatten(),
            nn.Dense(500, activation="relu"), nn.Dense(10),
        )  # fmt: skip
        net.initialize()
        if name == "hybrid":
            net.hybridize(static_alloc=True, static_shape=True)
        net(x)
        for k, weight in zip((0, 2, 5, 6), WEIGHTS):  # noqa: B905
            net[k].weight.set_data(nd.array(weight))
        trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": LEARNING_RATE})

        def step(net=net, trainer=trainer):
            with mx.autograd.record():
                value = loss(net(x), y)
            value.backward()
            trainer.step(BATCH)
            return value

        for _ in range(STEPS):
            value = step()
        checks[f"loss {name}"] = float(value.asnumpy().mean())
        if name == "eager":
            checks["loss"] = checks["loss eager"]
        cases.append(Case(f"training step, {name}", repeated(step, nd.waitall), "ms"))
        forward = repeated(lambda net=net: net(x).wait_to_read())
        cases.append(Case(f"forward, {name}", forward, "ms"))
    return cases, checks


def torch_():
    import torch
    from torch import nn

    x, y = torch.from_numpy(X), torch.from_numpy(Y.astype(np.int64))
    net = nn.Sequential(
        nn.Conv2d(1, 20, 5), nn.ReLU(), nn.MaxPool2d(2, 2), nn.Conv2d(20, 50, 5), nn.ReLU(),
        nn.MaxPool2d(2, 2), nn.Flatten(), nn.Linear(800, 500), nn.ReLU(), nn.Linear(500, 10),
    )  # fmt: skip
    with torch.no_grad():
        for k, weight in zip((0, 3, 7, 9), WEIGHTS):  # noqa: B905
            net[k].weight.copy_(torch.from_numpy(weight))
            net[k].bias.zero_()
    optimizer = torch.optim.SGD(net.parameters(), lr=LEARNING_RATE)

    def step():
        optimizer.zero_grad()
        value = nn.functional.cross_entropy(net(x), y)
        value.backward()
        optimizer.step()
        return value

    def forward(n):
        with torch.no_grad():
            for _ in range(n):
                net(x)

    for _ in range(STEPS):
        value = step()
    run = repeated(step)
    return [
        Case("training step, eager", run, "ms"), Case("training step, hybrid", run, "ms"),
        Case("forward, eager", forward, "ms"), Case("forward, hybrid", forward, "ms"),
    ], {"loss": float(value)}  # fmt: skip
