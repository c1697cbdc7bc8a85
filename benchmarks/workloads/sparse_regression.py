"""Sparse linear regression at batch size 1 through Module: the document's own loop, and ``fit``."""

from __future__ import annotations

import numpy as np

from benchmarks.case import Case

TARGETS = {"step": {"mxnet": 25, "torch": 10}}
LEARNING_RATE, MOMENTUM, EPOCHS, ROWS = 0.05, 0.9, 10, 1000


def data():
    """1000 rows of 100 features, one in a hundred set, targets by weights 1..100, first weights."""
    rng = np.random.RandomState(42)
    mask = rng.rand(ROWS, 100) < 0.01
    x = (rng.rand(ROWS, 100) * mask).astype(np.float32)
    y = x.dot(np.arange(1, 101, dtype=np.float32).reshape(100, 1)).astype(np.float32)
    return x, y, (rng.randn(100, 1) * 0.01).astype(np.float32)


def mx(mx):
    x, y, first = data()
    batches = mx.io.NDArrayIter(
        mx.nd.array(x).tostype("csr"), mx.nd.array(y), 1, last_batch_handle="discard",
        label_name="label",
    )  # fmt: skip
    weight = mx.sym.Variable("weight", stype="row_sparse", shape=(100, 1))
    bias = mx.sym.Variable("bias", shape=(1,))
    csr = mx.sym.Variable("data", stype="csr")
    predicted = mx.sym.broadcast_add(mx.sym.sparse.dot(csr, weight), bias)
    net = mx.sym.LinearRegressionOutput(data=predicted, label=mx.sym.Variable("label"), name="lro")

    def make():
        module = mx.mod.Module(symbol=net, data_names=["data"], label_names=["label"])
        module.bind(data_shapes=batches.provide_data, label_shapes=batches.provide_label)
        start = {"weight": mx.nd.array(first).tostype("row_sparse"), "bias": mx.nd.zeros((1,))}
        module.init_params(arg_params=start, initializer=None)
        sgd = mx.optimizer.SGD(learning_rate=LEARNING_RATE, rescale_grad=1.0, momentum=MOMENTUM)
        module.init_optimizer(optimizer=sgd)
        return module

    metric = mx.metric.create("MSE")
    module, fitted = make(), make()

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
    checks = {"mean squared error": metric.get()[1]}

    def loop(n):
        for _ in range(n):
            epoch()
        mx.nd.waitall()

    def fit(n):
        batches.reset()
        fitted.fit(batches, num_epoch=n, eval_metric="mse")
        mx.nd.waitall()

    return [Case("step", loop, per=ROWS), Case("step in fit", fit, per=ROWS)], checks


def torch_():
    import torch

    x, y, first = data()
    x, y = torch.from_numpy(x), torch.from_numpy(y)
    weight, bias = torch.nn.Parameter(torch.from_numpy(first)), torch.nn.Parameter(torch.zeros(1))
    optimizer = torch.optim.SGD([weight, bias], lr=LEARNING_RATE, momentum=MOMENTUM)

    def epochs(n):
        for _ in range(n):
            for i in range(ROWS):
                optimizer.zero_grad()
                difference = x[i : i + 1] @ weight + bias - y[i : i + 1]
                loss = 0.5 * (difference * difference).mean()
                loss.item()
                loss.backward()
                optimizer.step()

    return [Case("step", epochs, per=ROWS)], {}


def sklearn_():
    import scipy.sparse
    from sklearn.linear_model import SGDRegressor

    x, y, _ = data()
    x, y = scipy.sparse.csr_matrix(x), y.ravel()

    def fit(n):
        SGDRegressor(
            penalty=None, learning_rate="constant", eta0=LEARNING_RATE, shuffle=False, max_iter=n,
            tol=None,
        ).fit(x, y)  # fmt: skip

    return [Case("step in fit", fit, per=ROWS)], {}
