"""Single operators on 10x10 float32: what the library costs beside the arithmetic."""

from __future__ import annotations

import numpy as np

from benchmarks.case import Case, numbers, repeated

TARGETS = {
    "add": {"mxnet": 16, "torch": 1},
    "add, recorded": {"mxnet": 15, "torch": 1},
    "add a number": {"torch": 1},
    "chain of 10, recorded": {"torch": 1},
    "chain of 10, backward": {"mxnet": 20, "torch": 1},
    "x[3]": {"mxnet": 10, "torch": 1},
    "x[1:3]": {"mxnet": 10, "torch": 1},
    "reshape": {"mxnet": 10, "torch": 1},
    "sum": {"mxnet": 10, "torch": 1},
    "sum().asscalar()": {"torch": 0.83},
    "exp": {"torch": 1},
    "dot": {"torch": 1},
    "x += 0": {"torch": 1},
    "zeros": {"mxnet": 10, "torch": 1},
    "asnumpy": {"torch": 1},
    "take": {"torch": 1},
}
A = np.arange(100, dtype=np.float32).reshape(10, 10) / 100
B = np.ones((10, 10), np.float32)


def mx(mx):
    nd, autograd = mx.nd, mx.autograd
    a, b, leaf, ids = nd.array(A), nd.array(B), nd.array(A), nd.array([1, 3, 5])
    leaf.attach_grad()

    def recorded(n):
        while n > 0:  # a hundred a recording: the tape stays short
            with autograd.record():
                for _ in range(min(100, n)):
                    leaf + b
            n -= 100
        nd.waitall()

    def chain():
        with autograd.record():
            c = leaf
            for _ in range(10):
                c = c * b
        return c

    chain().backward()
    checks = {
        "gradient": numbers(leaf.grad.asnumpy()), "sum": float(a.sum().asscalar()),
        "slice": numbers(a[1:3].asnumpy()), "add": numbers((a + b).asnumpy()),
    }  # fmt: skip
    actions = {
        "add": lambda: a + b, "add a number": lambda: a + 1.0, "chain of 10, recorded": chain,
        "chain of 10, backward": lambda: chain().backward(), "x[3]": lambda: a[3],
        "x[1:3]": lambda: a[1:3], "reshape": lambda: a.reshape((5, 20)), "sum": lambda: a.sum(),
        "sum().asscalar()": lambda: a.sum().asscalar(), "exp": lambda: nd.exp(a),
        "dot": lambda: nd.dot(a, b), "x += 0": lambda: a.__iadd__(0.0),
        "zeros": lambda: nd.zeros((10, 10)), "asnumpy": lambda: a.asnumpy(),
        "take": lambda: nd.take(a, ids),
    }  # fmt: skip
    cases = [Case(name, repeated(action, nd.waitall)) for name, action in actions.items()]
    return [*cases, Case("add, recorded", recorded)], checks


def torch_():
    import torch

    a, b, one = torch.from_numpy(A), torch.from_numpy(B), torch.ones(10, 10)
    leaf, ids = torch.from_numpy(A.copy()).requires_grad_(), torch.tensor([1, 3, 5])

    def chain():
        c = leaf
        for _ in range(10):
            c = c * b
        return c

    def backward():
        leaf.grad = None
        chain().backward(one)

    backward()
    checks = {
        "gradient": numbers(leaf.grad.numpy()), "sum": float(a.sum()),
        "slice": numbers(a[1:3].numpy()), "add": numbers((a + b).numpy()),
    }  # fmt: skip
    actions = {
        "add": lambda: a + b, "add, recorded": lambda: leaf + b, "add a number": lambda: a + 1.0,
        "chain of 10, recorded": chain, "chain of 10, backward": backward, "x[3]": lambda: a[3],
        "x[1:3]": lambda: a[1:3], "reshape": lambda: a.reshape((5, 20)), "sum": lambda: a.sum(),
        "sum().asscalar()": lambda: a.sum().item(), "exp": lambda: torch.exp(a),
        "dot": lambda: a @ b, "x += 0": lambda: a.add_(0.0), "zeros": lambda: torch.zeros(10, 10),
        "asnumpy": lambda: a.numpy().copy(), "take": lambda: a[ids],
    }  # fmt: skip
    return [Case(name, repeated(action)) for name, action in actions.items()], checks


def numpy_():
    a, b, ids = A.copy(), B, np.array([1, 3, 5])
    actions = {
        "add": lambda: a + b, "add a number": lambda: a + 1.0, "x[3]": lambda: a[3],
        "x[1:3]": lambda: a[1:3], "reshape": lambda: a.reshape((5, 20)), "sum": lambda: a.sum(),
        "sum().asscalar()": lambda: a.sum().item(), "exp": lambda: np.exp(a),
        "dot": lambda: a @ b, "x += 0": lambda: np.add(a, 0.0, out=a),
        "zeros": lambda: np.zeros((10, 10), np.float32), "asnumpy": lambda: a.copy(),
        "take": lambda: a[ids],
    }  # fmt: skip
    return [Case(name, repeated(action)) for name, action in actions.items()], {
        "sum": float(a.sum()), "slice": numbers(a[1:3]), "add": numbers(a + b),
    }  # fmt: skip
