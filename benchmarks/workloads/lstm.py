"""An LSTM of 200 units over 35 steps of 32 sequences: a training step, fused and unrolled."""

from __future__ import annotations

import numpy as np

from benchmarks.case import Case, repeated

TARGETS = {"fused": {"mxnet": 1.4}, "unrolled, hybrid": {"mxnet": 1.5}}
LENGTH, BATCH, UNITS, LEARNING_RATE, STEPS = 35, 32, 200, 0.5, 5
_rng = np.random.RandomState(13)
X = _rng.randn(LENGTH, BATCH, UNITS).astype("f")
Y = (_rng.randn(LENGTH, BATCH, UNITS) * 0.3).astype("f")
INPUT, HIDDEN = ((_rng.randn(4 * UNITS, UNITS) * 0.07).astype("f") for _ in range(2))


def mx(mx):
    nd, rnn = mx.nd, mx.gluon.rnn
    x, y = nd.array(X), nd.array(Y)

    class Unrolled(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.cell = rnn.LSTMCell(UNITS, input_size=UNITS)

        def hybrid_forward(self, F, x):
            return self.cell.unroll(LENGTH, x, layout="TNC", merge_outputs=True)[0]

    cases, checks = [], {}
    for name in ("fused", "unrolled, eager", "unrolled, hybrid"):
        net = rnn.LSTM(UNITS, input_size=UNITS) if name == "fused" else Unrolled()
        net.initialize()
        if name.endswith("hybrid"):
            net.hybridize(static_alloc=True, static_shape=True)
        net(x)
        parameters = net.collect_params()
        for key in parameters:
            if key.endswith("weight"):
                value = INPUT if "i2h" in key else HIDDEN
                parameters[key].set_data(nd.array(value))
        trainer = mx.gluon.Trainer(parameters, "sgd", {"learning_rate": LEARNING_RATE})

        def step(net=net, trainer=trainer):
            with mx.autograd.record():
                loss = nd.mean(nd.square(net(x) - y))
            loss.backward()
            trainer.step(1)
            return loss

        for _ in range(STEPS):
            loss = step()
        checks[f"loss, {name}"] = float(loss.asscalar())
        checks.setdefault("loss", checks[f"loss, {name}"])
        cases.append(Case(name, repeated(step, nd.waitall), "ms"))
    return cases, checks


def torch_():
    import torch

    x, y = torch.from_numpy(X), torch.from_numpy(Y)
    net = torch.nn.LSTM(UNITS, UNITS)
    with torch.no_grad():
        net.weight_ih_l0.copy_(torch.from_numpy(INPUT))
        net.weight_hh_l0.copy_(torch.from_numpy(HIDDEN))
        net.bias_ih_l0.zero_()
        net.bias_hh_l0.zero_()
    optimizer = torch.optim.SGD(net.parameters(), lr=LEARNING_RATE)

    def step():
        optimizer.zero_grad()
        loss = ((net(x)[0] - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss

    for _ in range(STEPS):
        loss = step()
    return [Case("fused", repeated(step), "ms")], {"loss": float(loss)}
