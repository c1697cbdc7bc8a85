"""Whole processes: the import, the first backward pass, the first ten steps, and the memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from benchmarks.case import Case

TARGETS = {
    "import": {"mxnet": 8},
    "first backward": {"mxnet": 5},
    "first 10 sparse steps": {"mxnet": 2},
}
BACKWARD = """
import {name} as mx
net = mx.gluon.nn.Sequential()
net.add(mx.gluon.nn.Dense(3, activation='relu'), mx.gluon.nn.Dense(1))
net.initialize(mx.init.Normal(sigma=0.01))
x, y = mx.nd.array([[0.5, 0.9]]), mx.nd.array([[1.5]])
with mx.autograd.record():
    loss = mx.gluon.loss.L2Loss()(net(x), y)
loss.backward()
net[0].weight.grad().asnumpy()
"""
STEPS = """
import itertools
import numpy as np
import {name} as mx
x = np.zeros((20, 100), 'float32')
x[np.arange(20), np.arange(20) * 5] = 1
batches = mx.io.NDArrayIter(mx.nd.array(x).tostype('csr'), mx.nd.ones((20, 1)), 1,
                            last_batch_handle='discard', label_name='label')
data, label = mx.sym.Variable('data', stype='csr'), mx.sym.Variable('label')
weight = mx.sym.Variable('weight', stype='row_sparse', shape=(100, 1))
out = mx.sym.broadcast_add(mx.sym.sparse.dot(data, weight), mx.sym.Variable('bias', shape=(1,)))
module = mx.mod.Module(mx.sym.LinearRegressionOutput(out, label), label_names=['label'])
module.bind(batches.provide_data, batches.provide_label)
module.init_params(mx.init.Normal(0.01))
module.init_optimizer(optimizer=mx.optimizer.SGD(learning_rate=0.05, momentum=0.9))
for batch in itertools.islice(batches, 10):
    module.forward(batch, is_train=True)
    module.backward()
    module.update()
module.get_outputs()[0].asnumpy()
"""


class Memory(Case):
    """The most memory a process had."""

    def __init__(self, name: str, code: str):
        super().__init__(name, lambda n: None, "MB", most=1)
        self.code = code

    def amount_of_memory(self) -> float:
        return process(self.code)


def process(code: str) -> float:
    """Run a program; its peak memory in MB."""
    root = str(Path(__file__).resolve().parents[2])
    environment = dict(os.environ, PYTHONPATH=root)
    child = subprocess.Popen(
        [sys.executable, "-c", code], env=environment, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )  # fmt: skip
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    assert status == 0, code
    return usage.ru_maxrss / 1024.0


def programs(codes: dict[str, str]) -> list[Case]:
    """Cases that run each program in a process of its own."""

    def run(code):
        return lambda n: [process(code) for _ in range(n)]

    return [Case(name, run(code), "ms", most=1) for name, code in codes.items()]


def mx(mx):
    codes = {
        "import": "import {name}", "first backward": BACKWARD, "first 10 sparse steps": STEPS,
    }  # fmt: skip
    codes = {name: code.format(name=mx.__name__) for name, code in codes.items()}
    return [*programs(codes), Memory("memory after import", codes["import"])], {}


def torch_():
    code = "import torch"
    return [*programs({"import": code}), Memory("memory after import", code)], {}


def numpy_():
    code = "import numpy"
    return [*programs({"import": code}), Memory("memory after import", code)], {}
