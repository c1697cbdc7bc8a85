"""Sparse symbols and the Module API: linear regression on csr data with a row_sparse weight.

The function to learn is ``y = x1 + 2 x2 + 3 x3 + ... + 100 x100``; about one value in a hundred of
the training data is not zero, and each update touches only the weights of the columns it met.
"""

import random

import numpy as np

import minigluon as mx

FEATURE_DIMENSION = 100
BATCH_SIZE = 1
EPOCHS = 10


def training_data() -> mx.io.DataIter:
    """A thousand random csr rows, labelled by the function to learn, one row a batch."""
    train_data = mx.test_utils.rand_ndarray((1000, FEATURE_DIMENSION), "csr", 0.01)
    target_weight = mx.nd.arange(1, FEATURE_DIMENSION + 1).reshape((FEATURE_DIMENSION, 1))
    train_label = mx.nd.dot(train_data, target_weight)
    return mx.io.NDArrayIter(
        train_data, train_label, BATCH_SIZE, last_batch_handle="discard", label_name="label"
    )


def linear_regression(initializer: mx.init.Initializer) -> mx.sym.Symbol:
    """``dot(csr, row_sparse) + bias`` under a squared loss."""
    X = mx.sym.Variable("data", stype="csr")
    Y = mx.symbol.Variable("label")
    weight = mx.symbol.Variable(
        "weight", stype="row_sparse", shape=(FEATURE_DIMENSION, 1), init=initializer
    )
    bias = mx.symbol.Variable("bias", shape=(1,))
    pred = mx.sym.broadcast_add(mx.sym.sparse.dot(X, weight), bias)
    return mx.sym.LinearRegressionOutput(data=pred, label=Y, name="lro")


def main():
    # One seed each: rand_ndarray draws from numpy, the initializer from the library.
    random.seed(42)
    np.random.seed(42)
    mx.random.seed(42)

    train_iter = training_data()
    initializer = mx.initializer.Normal(sigma=0.01)
    mod = mx.mod.Module(
        symbol=linear_regression(initializer), data_names=["data"], label_names=["label"]
    )
    mod.bind(data_shapes=train_iter.provide_data, label_shapes=train_iter.provide_label)
    mod.init_params(initializer=initializer)
    # SGD updates a row_sparse weight row by row: only those its gradient has.
    sgd = mx.optimizer.SGD(learning_rate=0.05, rescale_grad=1.0 / BATCH_SIZE, momentum=0.9)
    mod.init_optimizer(optimizer=sgd)

    metric = mx.metric.create("MSE")
    for epoch in range(EPOCHS):
        train_iter.reset()
        metric.reset()
        for batch in train_iter:
            mod.forward(batch, is_train=True)  # compute predictions
            mod.update_metric(metric, batch.label)  # accumulate the error
            mod.backward()  # compute gradients
            mod.update()  # update parameters
        print(f"Epoch {epoch}, Metric {metric.get()}")
    assert metric.get()[1] < 1, f"Achieved MSE ({metric.get()[1]}) is larger than expected (1.0)"


if __name__ == "__main__":
    main()
