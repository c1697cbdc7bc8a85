"""Two losses on shared layers, an iterator around an iterator, a metric for each output."""

import logging

import mxnet as mx
import numpy as np

logging.basicConfig(level=logging.ERROR)


def show(key, *values):
    print(key, *["%.5g" % v for v in values])


def build_network():
    data = mx.symbol.Variable("data")
    fc1 = mx.symbol.FullyConnected(data=data, name="fc1", num_hidden=10)
    act1 = mx.symbol.Activation(data=fc1, name="relu1", act_type="softrelu")
    fc2 = mx.symbol.FullyConnected(data=act1, name="fc2", num_hidden=3)
    reg = mx.symbol.FullyConnected(data=mx.symbol.Dropout(act1, p=0.0), name="fc3", num_hidden=1)
    sm1 = mx.symbol.SoftmaxOutput(data=fc2, name="softmax1", grad_scale=0.7)
    sm2 = mx.symbol.MAERegressionOutput(data=reg, name="mae")
    return mx.symbol.Group([sm1, sm2])


class Multi_iterator(mx.io.DataIter):
    """Gives every label twice, as class and as number."""

    def __init__(self, data_iter):
        super().__init__()
        self.data_iter = data_iter
        self.batch_size = self.data_iter.batch_size

    @property
    def provide_data(self):
        return self.data_iter.provide_data

    @property
    def provide_label(self):
        name, shape = self.data_iter.provide_label[0][:2]
        return [("softmax1_label", shape), ("mae_label", (shape[0], 1))]

    def hard_reset(self):
        self.data_iter.hard_reset()

    def reset(self):
        self.data_iter.reset()

    def next(self):
        batch = self.data_iter.next()
        label = batch.label[0]
        return mx.io.DataBatch(
            data=batch.data, label=[label, label.reshape((-1, 1)) * 0.5], pad=batch.pad, index=batch.index
        )


class Multi_Accuracy(mx.metric.EvalMetric):
    def __init__(self, num=None):
        self.num = num
        super(Multi_Accuracy, self).__init__("multi-accuracy")

    def reset(self):
        self.num_inst = 0 if self.num is None else [0] * self.num
        self.sum_metric = 0.0 if self.num is None else [0.0] * self.num

    def update(self, labels, preds):
        mx.metric.check_label_shapes(labels, preds)
        for i in range(len(labels)):
            pred, label = preds[i].asnumpy(), labels[i].asnumpy().astype("int32")
            if i == 0:
                self.sum_metric[i] += (np.argmax(pred, 1) == label).sum()
            else:
                self.sum_metric[i] += np.abs(pred - labels[i].asnumpy()).sum()
            self.num_inst[i] += len(label)

    def get(self):
        return zip(*(("%s-task%d" % (self.name, i), self.sum_metric[i] / max(self.num_inst[i], 1)) for i in range(self.num)))

    def get_name_value(self):
        return list(zip(*self.get()))


rng = np.random.RandomState(4)
X = rng.randn(70, 6)
Y = np.digitize(X[:, 0] + X[:, 1], [-0.7, 0.7]).astype("f")
base = mx.io.NDArrayIter({"data": X}, {"softmax_label": Y}, 16, last_batch_handle="discard")
train = Multi_iterator(mx.io.ResizeIter(base, 6))
network = build_network()
print("outputs", *network.list_outputs())
print("shapes", *[list(s) for s in network.infer_shape(data=(16, 6))[1]])
params = {}
for name, shape in zip(network.list_arguments(), network.infer_shape(data=(16, 6))[0]):
    if name != "data" and not name.endswith("label"):
        params[name] = mx.nd.array(rng.uniform(-0.3, 0.3, shape))
seen = []
mod = mx.mod.Module(context=mx.cpu(), symbol=network, label_names=("softmax1_label", "mae_label"))
mod.fit(
    train, eval_metric=Multi_Accuracy(num=2), num_epoch=5, arg_params=params,
    optimizer="sgd", optimizer_params=(("learning_rate", 0.3), ("momentum", 0.5), ("wd", 0.001)),
    batch_end_callback=[mx.callback.Speedometer(16, 50), lambda p: seen.append([v for _, v in p.eval_metric.get_name_value()])],
)
show("classes", *[s[0] for s in seen[::5]])
show("numbers", *[s[1] for s in seen[::5]])
arg = mod.get_params()[0]
show("norms", *[float(arg[k].norm().asscalar()) for k in sorted(arg)])
outs = mod.predict(mx.io.NDArrayIter(X[:20], batch_size=16))
show("predict", *outs[0].asnumpy()[-1], *outs[1].asnumpy()[-1])
digraph = mx.viz.print_summary
total = sum(int(np.prod(v.shape)) for v in arg.values())
show("parameters", total)
