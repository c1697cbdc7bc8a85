"""A perceptron of 784, 256, 128 and 10 units: Adam at batch size 128; inference of one sample."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from benchmarks.case import Case, repeated

TARGETS = {"training step, hybrid": {"mxnet": 1.0}, "inference, hybrid": {"mxnet": 8}}
SIZES, BATCH, LEARNING_RATE, STEPS = (784, 256, 128, 10), 128, 1e-3, 20
_rng = np.random.RandomState(3)
X, Y = _rng.rand(BATCH, 784).astype(np.float32), _rng.randint(0, 10, BATCH)
WEIGHTS = [(_rng.randn(o, i) * np.sqrt(2.0 / i)).astype(np.float32) for i, o in pairwise(SIZES)]


def mx(mx):
    nd, gluon = mx.nd, mx.gluon
    x, y, one = nd.array(X), nd.array(Y), nd.array(X[:1])
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    cases, checks = [], {}
    for name in ("eager", "hybrid"):
        net = gluon.nn.HybridSequential()
        for size, activation in zip(SIZES[1:], ("relu", "relu", None)):  # noqa: B905
            net.add(gluon.nn.Dense(size, activation=activation))
        net.initialize()
        if name == "hybrid":
            net.hybridize(static_alloc=True, static_shape=True)
        net(x)
        for layer, weight in zip(net, WEIGHTS):  # noqa: B905
            layer.weight.set_data(nd.array(weight))
        trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": LEARNING_RATE})

        def step(net=net, trainer=trainer):
            with mx.autograd.record():
                value = loss(net(x), y)
            value.backward()
            trainer.step(BATCH)
            return value

        for _ in range(STEPS):
            value = step()
        checks[f"loss, {name}"] = float(value.asnumpy().mean())
        cases.append(Case(f"training step, {name}", repeated(step, nd.waitall)))
        infer = repeated(lambda net=net: net(one).wait_to_read())
        cases.append(Case(f"inference, {name}", infer))
    return cases, checks


def torch_():
    import torch

    x, y, one = torch.from_numpy(X), torch.from_numpy(Y.astype(np.int64)), torch.from_numpy(X[:1])
    layers = [torch.nn.Linear(i, o) for i, o in pairwise(SIZES)]
    net = torch.nn.Sequential(layers[0], torch.nn.ReLU(), layers[1], torch.nn.ReLU(), layers[2])
    with torch.no_grad():
        for layer, weight in zip(layers, WEIGHTS):  # noqa: B905
            layer.weight.copy_(torch.from_numpy(weight))
            layer.bias.zero_()
    optimizer = torch.optim.Adam(net.parameters(), lr=LEARNING_RATE)

    def step():
        optimizer.zero_grad()
        value = torch.nn.functional.cross_entropy(net(x), y)
        value.backward()
        optimizer.step()
        return value

    def infer(n):
        with torch.no_grad():
            for _ in range(n):
                net(one)

    for _ in range(STEPS):
        value = step()
    return [
        Case("training step, eager", repeated(step)), Case("inference, eager", infer),
    ], {"loss, eager": float(value)}  # fmt: skip
