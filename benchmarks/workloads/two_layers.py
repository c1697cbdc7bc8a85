"""A net of two small dense layers, one sample: where the library's own overhead is everything."""

from __future__ import annotations

import numpy as np

from benchmarks.case import Case, numbers, repeated

TARGETS = {
    "forward and backward, eager": {"mxnet": 15, "torch": 3},
    "forward and backward, hybrid": {"mxnet": 60},
    "training step, eager": {"mxnet": 15},
    "training step, hybrid": {"mxnet": 50},
}
FIRST = np.array([[0.3, -0.2], [0.1, 0.4], [-0.5, 0.2]], np.float32)
SECOND = np.array([[0.7, -0.3, 0.2]], np.float32)
X, Y, LEARNING_RATE, STEPS = [[0.5, 0.9]], [[1.5]], 0.05, 50


def mx(mx):
    nd, gluon = mx.nd, mx.gluon
    x, y, loss = nd.array(X), nd.array(Y), gluon.loss.L2Loss()

    def make(hybrid):
        net = gluon.nn.HybridSequential() if hybrid else gluon.nn.Sequential()
        net.add(gluon.nn.Dense(3, activation="relu"), gluon.nn.Dense(1))
        net.initialize(mx.init.Normal(sigma=0.01))
        if hybrid:
            net.hybridize(static_alloc=True, static_shape=True)
        net(x)
        net[0].weight.set_data(nd.array(FIRST))
        net[1].weight.set_data(nd.array(SECOND))
        return net

    cases, checks = [], {}
    for name in ("eager", "hybrid"):
        net, trained = make(name == "hybrid"), make(name == "hybrid")
        trainer = gluon.Trainer(trained.collect_params(), "sgd", {"learning_rate": LEARNING_RATE})

        def backward(net=net):
            with mx.autograd.record():
                value = loss(net(x), y)
            value.backward()
            return value

        def step(trained=trained, trainer=trainer, backward=backward):
            value = backward(trained)
            trainer.step(1)
            return value

        backward()
        checks[f"gradient, {name}"] = numbers(net[0].weight.grad().asnumpy())
        for _ in range(STEPS):
            value = step()
        checks[f"loss, {name}"] = numbers(value.asnumpy())
        cases.append(Case(f"forward and backward, {name}", repeated(backward, nd.waitall)))
        cases.append(Case(f"training step, {name}", repeated(step, nd.waitall)))
    cases.append(Case("inference, hybrid", repeated(lambda: trained(x), nd.waitall)))
    return cases, checks


def torch_():
    import torch

    x, y = torch.tensor(X), torch.tensor(Y)

    def make():
        net = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 1))
        with torch.no_grad():
            for layer, weight in ((net[0], FIRST), (net[2], SECOND)):
                layer.weight.copy_(torch.from_numpy(weight))
                layer.bias.zero_()
        return net

    net, trained = make(), make()
    optimizer = torch.optim.SGD(trained.parameters(), lr=LEARNING_RATE)

    def backward(net=net):
        for p in net.parameters():
            p.grad = None
        difference = net(x) - y
        value = (0.5 * difference * difference).mean()
        value.backward()
        return value

    def step():
        value = backward(trained)
        optimizer.step()
        return value

    backward()
    checks = {"gradient, eager": numbers(net[0].weight.grad.numpy())}
    for _ in range(STEPS):
        value = step()
    checks["loss, eager"] = numbers(value.detach().numpy())
    return [
        Case("forward and backward, eager", repeated(backward)),
        Case("training step, eager", repeated(step)),
    ], checks
