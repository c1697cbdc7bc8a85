"""What is measured, written once in the MXNet API: ``mx`` is minigluon or the real MXNet.

Each workload is a function of ``mx`` that returns ``(run, check)``: ``run(n)`` does the work n
times and waits for it, ``check`` is a list of numbers that must be equal for every package.
"""

from __future__ import annotations

import numpy as np

LEARNING_RATE, MOMENTUM, EPOCHS = 0.05, 0.9, 3
FIRST_WEIGHTS = [[0.3, -0.2], [0.1, 0.4], [-0.5, 0.2]]
SECOND_WEIGHTS = [[0.7, -0.3, 0.2]]


def _sparse_data():
    """1000 rows of 100 features, one in a hundred set, and the targets of weights 1..100."""
    rng = np.random.RandomState(42)
    x = rng.uniform(size=(1000, 100)).astype(np.float32)
    x[rng.uniform(size=x.shape) >= 0.01] = 0
    target = x @ np.arange(1, 101, dtype=np.float32).reshape(100, 1)
    first = rng.normal(scale=0.01, size=(100, 1)).astype(np.float32)
    return x, target, first


def sparse_regression_step(mx):
    """One step of the sparse linear regression at batch size 1: the document's own loop."""
    x, target, first = _sparse_data()
    batches = mx.io.NDArrayIter(
        mx.nd.array(x).tostype("csr"), mx.nd.array(target), 1,
        last_batch_handle="discard", label_name="label",
    )  # fmt: skip
    data = mx.sym.Variable("data", stype="csr")
    weight = mx.sym.Variable("weight", stype="row_sparse", shape=(100, 1))
    bias = mx.sym.Variable("bias", shape=(1,))
    predicted = mx.sym.broadcast_add(mx.sym.sparse.dot(data, weight), bias)
    net = mx.sym.LinearRegressionOutput(data=predicted, label=mx.sym.Variable("label"), name="lro")
    module = mx.mod.Module(symbol=net, data_names=["data"], label_names=["label"])
    module.bind(data_shapes=batches.provide_data, label_shapes=batches.provide_label)
    module.init_params(
        arg_params={
            "weight": mx.nd.array(first).tostype("row_sparse"),
            "bias": mx.nd.zeros((1,)),
        },
        initializer=None,
    )
    sgd = mx.optimizer.SGD(learning_rate=LEARNING_RATE, rescale_grad=1.0, momentum=MOMENTUM)
    module.init_optimizer(optimizer=sgd)
    metric = mx.metric.create("MSE")

    def epoch():
        batches.reset()
        metric.reset()
        for batch in batches:
            module.forward(batch, is_train=True)
            module.update_metric(metric, batch.label)
            module.backward()
            module.update()

    for _ in range(EPOCHS):
        epoch()
    arguments, _ = module.get_params()
    check = [*arguments["weight"].asnumpy().ravel(), *arguments["bias"].asnumpy()]

    def run(n):
        for _ in range(n):
            epoch()
        mx.nd.waitall()

    return run, check


def _two_layers(mx, hybrid):
    gluon, nd = mx.gluon, mx.nd
    net = gluon.nn.HybridSequential() if hybrid else gluon.nn.Sequential()
    net.add(gluon.nn.Dense(3, activation="relu"), gluon.nn.Dense(1))
    net.initialize(mx.init.Normal(sigma=0.01))
    if hybrid:
        net.hybridize(static_alloc=True, static_shape=True)
    x, y = nd.array([[0.5, 0.9]]), nd.array([[1.5]])
    net(x)
    net[0].weight.set_data(nd.array(FIRST_WEIGHTS))
    net[1].weight.set_data(nd.array(SECOND_WEIGHTS))
    loss = gluon.loss.L2Loss()

    def step():
        with mx.autograd.record():
            value = loss(net(x), y)
        value.backward()

    step()
    check = [
        *net[0].weight.grad().asnumpy().ravel(), *net[0].bias.grad().asnumpy(),
        *net[1].weight.grad().asnumpy().ravel(), *net[1].bias.grad().asnumpy(),
    ]  # fmt: skip

    def run(n):
        for _ in range(n):
            step()
        mx.nd.waitall()

    return run, check


def two_layers_eager(mx):
    """The two-layer net: record, loss, backward."""
    return _two_layers(mx, hybrid=False)


def two_layers_hybridised(mx):
    """The same, hybridised."""
    return _two_layers(mx, hybrid=True)


def add(mx):
    """``a + b`` on 10x10 float32, not recording."""
    a, b = mx.nd.ones((10, 10)), mx.nd.ones((10, 10)) * 2

    def run(n):
        for _ in range(n):
            a + b
        mx.nd.waitall()

    return run, [float((a + b).asnumpy().sum())]


#: name -> (workload, how many steps one run is, how many times faster than MXNet it has to be)
WORKLOADS = {
    "sparse regression, batch 1, a step": (sparse_regression_step, 1000, 4),
    "two layers, record + loss + backward, eager": (two_layers_eager, 1, 5),
    "two layers, hybridised": (two_layers_hybridised, 1, 8),
    "a + b, 10x10 float32": (add, 1, 8),
}
