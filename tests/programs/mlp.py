"""A multilayer perceptron with Module.fit, checkpoints and what came with them."""

import argparse
import logging
import os
import shutil
import tempfile

import mxnet as mx
import numpy as np

parser = argparse.ArgumentParser(description="train an MLP")
parser.add_argument("--num-epochs", type=int, default=4)
parser.add_argument("--batch-size", type=int, default=20)
parser.add_argument("--lr", type=float, default=0.2)
args = parser.parse_args()

logging.basicConfig(level=logging.WARNING)


def get_mlp(num_classes=3):
    data = mx.symbol.Variable("data")
    fc1 = mx.symbol.FullyConnected(data=data, name="fc1", num_hidden=16)
    act1 = mx.symbol.Activation(data=fc1, name="relu1", act_type="relu")
    fc2 = mx.symbol.FullyConnected(data=act1, name="fc2", num_hidden=8)
    act2 = mx.symbol.Activation(data=fc2, name="relu2", act_type="relu")
    fc3 = mx.symbol.FullyConnected(data=act2, name="fc3", num_hidden=num_classes)
    return mx.symbol.SoftmaxOutput(data=fc3, name="softmax")


def get_iterators(batch_size):
    rng = np.random.RandomState(42)
    X = rng.randn(200, 10).astype(np.float)
    y = ((X[:, 0] + X[:, 1] > 0).astype(np.int) + (X[:, 2] > 0.5)).astype(np.float32)
    train = mx.io.NDArrayIter(X[:160], y[:160], batch_size, shuffle=False)
    val = mx.io.NDArrayIter(X[160:], y[160:], batch_size)
    return train, val


def get_params(symbol, shape):
    rng = np.random.RandomState(7)
    names = symbol.list_arguments()
    shapes, _, _ = symbol.infer_shape(data=shape)
    return {
        n: mx.nd.array(rng.uniform(-0.5, 0.5, s))
        for n, s in zip(names, shapes)
        if n not in ("data", "softmax_label")
    }


def show(key, *values):
    print(key, *["%.6g" % v for v in values])


network = get_mlp()
train, val = get_iterators(args.batch_size)
folder = tempfile.mkdtemp()
prefix = os.path.join(folder, "mlp")
losses = []


def remember(param):
    losses.append(param.eval_metric.get()[1])


model = mx.mod.Module(symbol=network, context=mx.cpu(), data_names=["data"], label_names=["softmax_label"])
model.fit(
    train,
    eval_data=val,
    eval_metric="acc",
    optimizer="sgd",
    optimizer_params={"learning_rate": args.lr, "momentum": 0.9, "wd": 1e-3},
    arg_params=get_params(network, (args.batch_size, 10)),
    initializer=mx.init.Xavier(rnd_type="gaussian", factor_type="in", magnitude=2),
    num_epoch=args.num_epochs,
    batch_end_callback=[mx.callback.Speedometer(args.batch_size, 4), remember],
    epoch_end_callback=mx.callback.do_checkpoint(prefix),
    kvstore="device",
)
show("train", *losses[::4])
for name, value in model.score(val, ["acc", "ce", mx.metric.TopKAccuracy(top_k=2)]):
    show(name, value)
show("predict", *model.predict(val).asnumpy()[:2].ravel())
show("files", *[len([f for f in os.listdir(folder) if f.endswith(".params")])])

sym, arg_params, aux_params = mx.model.load_checkpoint(prefix, args.num_epochs)
assert sym.list_arguments() == network.list_arguments() and not aux_params
show("sums", *[arg_params[k].asnumpy().sum() for k in sorted(arg_params)])
again = mx.mod.Module.load(prefix, args.num_epochs, context=[mx.cpu(0)])
again.bind(val.provide_data, val.provide_label, for_training=False)
val.reset()
show("again", again.score(val, "acc")[0][1])

internals = sym.get_internals()
feature = mx.mod.Module(internals["relu2_output"], label_names=None)
feature.bind([("data", (5, 10))], for_training=False)
feature.set_params(arg_params, aux_params, allow_extra=True)
Batch = __import__("collections").namedtuple("Batch", ["data"])
feature.forward(Batch([mx.nd.ones((5, 10))]))
show("feature", *feature.get_outputs()[0].asnumpy()[0])
shutil.rmtree(folder)
