"""A fused bidirectional network that is trained, saved, and loaded into its unfused form."""

import os
import tempfile
import warnings

import mxnet as mx
import numpy as np

warnings.simplefilter("ignore")


def show(key, *values):
    print(key, *["%.5g" % v for v in values])


rng = np.random.RandomState(2)
X = rng.randn(40, 5, 3)
Y = (X.sum(axis=(1, 2)) > 0).astype("f")
train = mx.io.NDArrayIter(X, Y, 8, label_name="softmax_label")


def network(cell):
    outputs, _ = cell.unroll(5, mx.sym.var("data"), merge_outputs=True, layout="NTC")
    last = mx.sym.mean(outputs, axis=1)
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(last, num_hidden=2, name="fc"), name="softmax")


fused = mx.rnn.FusedRNNCell(4, num_layers=2, mode="lstm", bidirectional=True, prefix="lstm_")
symbol = network(fused)
shapes, _, _ = symbol.infer_shape(data=(8, 5, 3))
params = {
    n: mx.nd.array(rng.uniform(-0.4, 0.4, s))
    for n, s in zip(symbol.list_arguments(), shapes)
    if n not in ("data", "softmax_label")
}
prefix = os.path.join(tempfile.mkdtemp(), "rnn")
seen = []
model = mx.mod.Module(symbol)
model.fit(
    train, optimizer="rmsprop", optimizer_params={"learning_rate": 0.02}, arg_params=params, num_epoch=4,
    eval_metric="ce", batch_end_callback=lambda p: seen.append(p.eval_metric.get()[1]),
    epoch_end_callback=mx.rnn.do_rnn_checkpoint(fused, prefix, 2),
)
show("loss", *seen[::4])
stack = fused.unfuse()
_, arg, aux = mx.rnn.load_rnn_checkpoint(stack, prefix, 4)
slow = mx.mod.Module(network(stack))
slow.bind(train.provide_data, train.provide_label, for_training=False)
slow.set_params(arg, aux)
train.reset()
show("unfused", *slow.predict(train).asnumpy()[:3].ravel())
train.reset()
show("fused", *model.predict(train).asnumpy()[:3].ravel())
