"""Sparse linear classification: LibSVM files, row_sparse weights, a key-value store."""

import os
import tempfile

import mxnet as mx
import numpy as np


def show(key, *values):
    print(key, *["%.5g" % v for v in values])


rng = np.random.RandomState(8)
features, rows = 40, 60
path = os.path.join(tempfile.mkdtemp(), "train.libsvm")
truth = rng.randn(features)
with open(path, "w") as f:
    for _ in range(rows):
        columns = np.sort(rng.choice(features, 5, replace=False))
        values = rng.rand(5).round(3)
        label = int((truth[columns] * values).sum() > 0)
        f.write("%d %s\n" % (label, " ".join("%d:%g" % (c, v) for c, v in zip(columns, values))))


def linear_model(num_features):
    x = mx.symbol.Variable("data", stype="csr")
    norm_init = mx.initializer.Normal(sigma=0.01)
    weight = mx.symbol.Variable("weight", shape=(num_features, 2), init=norm_init, stype="row_sparse")
    bias = mx.symbol.Variable("bias", shape=(2,))
    dot = mx.symbol.sparse.dot(x, weight)
    pred = mx.symbol.broadcast_add(dot, bias)
    y = mx.symbol.Variable("softmax_label")
    return mx.symbol.SoftmaxOutput(data=pred, label=y, multi_output=True, name="out")


train_data = mx.io.LibSVMIter(data_libsvm=path, data_shape=(features,), batch_size=10)
model = linear_model(features)
for optimizer, settings in (("sgd", {"learning_rate": 1.0}), ("adagrad", {"learning_rate": 0.3}), ("adam", {"learning_rate": 0.1})):
    mod = mx.mod.Module(symbol=model, data_names=["data"], label_names=["softmax_label"])
    mod.bind(data_shapes=train_data.provide_data, label_shapes=train_data.provide_label)
    weight = mx.nd.array(np.random.RandomState(3).normal(0, 0.1, (features, 2)))
    mod.init_params(arg_params={"weight": weight.tostype("row_sparse"), "bias": mx.nd.zeros(2)}, aux_params={})
    settings = dict(settings, rescale_grad=1.0 / 10)
    mod.init_optimizer(kvstore=mx.kv.create("local"), optimizer=mx.optimizer.create(optimizer, **settings))
    metric = mx.metric.create(["log_loss" if False else "nll_loss", "acc"])
    losses = []
    for epoch in range(3):
        train_data.reset()
        metric.reset()
        for nbatch, batch in enumerate(train_data):
            mod.prepare(batch, sparse_row_id_fn=lambda b: {"weight": b.data[0].indices})
            mod.forward_backward(batch)
            mod.update()
            mod.update_metric(metric, batch.label)
        losses += metric.get()[1]
    show(optimizer, *losses)
    arg, _ = mod.get_params()
    print("stype", arg["weight"].stype)
    show("weight", arg["weight"].asnumpy().sum(), float(arg["weight"].tostype("default").norm().asscalar()))
