"""``exp(-x x) sin(x) + x / (1 + |x|)`` on ten million float32: memory traffic, if all is fused.

GB/s count the least traffic: 8 bytes an element forward, 20 forward and backward.
"""

from __future__ import annotations

import numpy as np

from benchmarks.case import Case, numbers

TARGETS = {"forward, hybrid": {"mxnet": 10}, "forward and backward, hybrid": {"mxnet": 12}}
N = 10_000_000
X = np.random.RandomState(5).uniform(-3, 3, N).astype(np.float32)
FORWARD, BOTH = N * 8 / 1e9, N * 20 / 1e9
SOME = slice(0, N, N // 7)


def mx(mx):
    class Chain(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return F.exp(-x * x) * F.sin(x) + x / (1 + F.abs(x))

    x = mx.nd.array(X)
    x.attach_grad()
    cases, checks = [], {}
    for name in ("eager", "hybrid"):
        net = Chain()
        if name == "hybrid":
            net.hybridize(static_alloc=True, static_shape=True)

        def forward(n, net=net):
            for _ in range(n):
                net(x).wait_to_read()

        def both(n, net=net):
            for _ in range(n):
                with mx.autograd.record():
                    y = net(x)
                y.backward()
                x.grad.wait_to_read()

        both(1)
        checks[f"values, {name}"] = numbers(net(x).asnumpy()[SOME])
        checks[f"gradient, {name}"] = numbers(x.grad.asnumpy()[SOME])
        cases.append(Case(f"forward, {name}", forward, "GB/s", amount=FORWARD))
        cases.append(Case(f"forward and backward, {name}", both, "GB/s", amount=BOTH))
    return cases, checks


def torch_():
    import torch

    x, leaf, one = torch.from_numpy(X), torch.from_numpy(X).requires_grad_(), torch.ones(N)

    def function(x):
        return torch.exp(-x * x) * torch.sin(x) + x / (1 + torch.abs(x))

    def forward(n):
        with torch.no_grad():
            for _ in range(n):
                function(x)

    def both(n):
        for _ in range(n):
            leaf.grad = None
            function(leaf).backward(one)

    both(1)
    return [
        Case("forward, eager", forward, "GB/s", amount=FORWARD),
        Case("forward and backward, eager", both, "GB/s", amount=BOTH),
    ], {
        "values, eager": numbers(function(x).detach().numpy()[SOME]),
        "gradient, eager": numbers(leaf.grad.numpy()[SOME]),
    }


def numpy_():
    def forward(n):
        for _ in range(n):
            np.exp(-X * X) * np.sin(X) + X / (1 + np.abs(X))

    return [Case("forward, eager", forward, "GB/s", amount=FORWARD)], {}
