"""A step on sparse data costs what the rows it touches cost, whatever the size of the model."""

import tracemalloc

import numpy as np
import pytest

import minigluon as mx
from minigluon.optimizer.compiled import USES

FEATURES = 100_000


def sparse_regression(**sgd):
    """The bound module of a linear regression with csr data and a row_sparse weight."""
    data = mx.sym.Variable("data", stype="csr")
    weight = mx.sym.Variable(
        "weight", stype="row_sparse", shape=(FEATURES, 1), init=mx.init.Normal(sigma=0.01)
    )
    bias = mx.sym.Variable("bias", shape=(1,))
    predicted = mx.sym.broadcast_add(mx.sym.sparse.dot(data, weight), bias)
    loss = mx.sym.LinearRegressionOutput(predicted, mx.sym.Variable("label"), name="lro")
    module = mx.mod.Module(loss, data_names=["data"], label_names=["label"])
    module.bind([mx.io.DataDesc("data", (1, FEATURES))], [mx.io.DataDesc("label", (1, 1))])
    module.init_params()
    module.init_optimizer(optimizer=mx.optimizer.SGD(learning_rate=0.05, **sgd))
    return module


def batch(column):
    row = mx.nd.sparse.csr_matrix(
        (np.ones(2, np.float32), [column, FEATURES - 1], [0, 2]), shape=(1, FEATURES)
    )
    return mx.io.DataBatch([row], [mx.nd.ones((1, 1))])


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """Sparse kernels are compiled, or read from numba's cache, at their first use."""
    module = sparse_regression(momentum=0.9)
    module.forward_backward(batch(3))
    module.update()


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_a_step_allocates_nothing_of_weight_size(momentum):
    module = sparse_regression(momentum=momentum)
    batches = [batch(column) for column in (3, 7, 50_000)]
    metric = mx.metric.MSE()

    def step(one):
        module.forward(one, is_train=True)
        module.update_metric(metric, one.label)
        module.backward()
        module.update()

    for _ in range(USES):  # states and plans are made at the first step, the updates compiled later
        step(batches[0])
    tracemalloc.start()
    try:
        for one in batches:
            step(one)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < FEATURES  # an array of the weight's size has four bytes for each feature


def test_a_step_changes_the_rows_of_its_batch_only():
    module = sparse_regression()
    before = module.get_params()[0]["weight"].asnumpy()
    module.forward_backward(batch(3))
    module.update()
    after = module.get_params()[0]["weight"].asnumpy()
    assert np.flatnonzero((before != after).any(axis=1)).tolist() == [3, FEATURES - 1]
