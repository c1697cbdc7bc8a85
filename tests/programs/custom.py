"""A custom operator, a custom metric, a custom iterator and a custom initializer in one module."""

import mxnet as mx
import numpy as np


def show(key, *values):
    print(key, *["%.5g" % v for v in values])


class Softmax(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        x = in_data[0].asnumpy()
        y = np.exp(x - x.max(axis=1).reshape((x.shape[0], 1)))
        y /= y.sum(axis=1).reshape((x.shape[0], 1))
        self.assign(out_data[0], req[0], mx.nd.array(y))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        l = in_data[1].asnumpy().ravel().astype(np.int)
        y = out_data[0].asnumpy()
        y[np.arange(l.shape[0]), l] -= 1.0
        self.assign(in_grad[0], req[0], mx.nd.array(y))


@mx.operator.register("softmax")
class SoftmaxProp(mx.operator.CustomOpProp):
    def __init__(self):
        super(SoftmaxProp, self).__init__(need_top_grad=False)

    def list_arguments(self):
        return ["data", "label"]

    def list_outputs(self):
        return ["output"]

    def infer_shape(self, in_shape):
        return [in_shape[0], (in_shape[0][0],)], [in_shape[0]], []

    def create_operator(self, ctx, shapes, dtypes):
        return Softmax()


class SimpleBatch(object):
    def __init__(self, data_names, data, label_names, label):
        self.data, self.label = data, label
        self.data_names, self.label_names = data_names, label_names
        self.pad, self.index = 0, None

    @property
    def provide_data(self):
        return [(n, x.shape) for n, x in zip(self.data_names, self.data)]

    @property
    def provide_label(self):
        return [(n, x.shape) for n, x in zip(self.label_names, self.label)]


class SimpleIter(mx.io.DataIter):
    def __init__(self, num_batches=10, batch_size=16):
        super(SimpleIter, self).__init__()
        self.num_batches, self.batch_size = num_batches, batch_size
        self.reset()

    def reset(self):
        self.cur_batch, self.rng = 0, np.random.RandomState(9)

    @property
    def provide_data(self):
        return [("data", (self.batch_size, 5))]

    @property
    def provide_label(self):
        return [("softmax_label", (self.batch_size,))]

    def __iter__(self):
        return self

    def next(self):
        if self.cur_batch >= self.num_batches:
            raise StopIteration
        self.cur_batch += 1
        x = self.rng.randn(self.batch_size, 5)
        y = (x[:, 0] > 0).astype(np.int) + (x[:, 1] > 0)
        return SimpleBatch(["data"], [mx.nd.array(x)], ["softmax_label"], [mx.nd.array(y)])

    __next__ = next


class Wrong(mx.metric.EvalMetric):
    def __init__(self):
        super(Wrong, self).__init__("wrong")

    def update(self, labels, preds):
        for label, pred in zip(labels, preds):
            guess = mx.nd.argmax_channel(pred).asnumpy()
            self.sum_metric += (guess != label.asnumpy()).sum()
            self.num_inst += len(guess)


@mx.init.register
class Ramp(mx.init.Initializer):
    def __init__(self, scale=1.0):
        super(Ramp, self).__init__(scale=scale)
        self.scale = scale

    def _init_weight(self, name, arr):
        arr[:] = self.scale * np.sin(np.arange(arr.size)).reshape(arr.shape)


data = mx.symbol.Variable("data")
fc1 = mx.symbol.FullyConnected(data=data, name="fc1", num_hidden=10)
act1 = mx.symbol.Activation(data=fc1, act_type="relu")
fc2 = mx.symbol.FullyConnected(
    data=act1, name="fc2", num_hidden=3, weight=mx.symbol.Variable("fc2_weight", init=Ramp(0.5), lr_mult=2.0)
)
mlp = mx.symbol.Custom(data=fc2, label=mx.sym.var("softmax_label"), name="softmax", op_type="softmax")

seen = []
mod = mx.mod.Module(mlp, label_names=["softmax_label"])
mod.fit(
    SimpleIter(),
    eval_data=SimpleIter(3),
    eval_metric=[Wrong(), mx.metric.np(lambda label, pred: float((pred.argmax(1) == label).mean()), name="mine")],
    initializer=Ramp(0.3),
    optimizer="adam",
    optimizer_params=(("learning_rate", 0.05),),
    num_epoch=3,
    batch_end_callback=lambda p: seen.append(p.eval_metric.get()[1]),
)
show("wrong", *[s[0] for s in seen[::5]])
show("mine", *[s[1] for s in seen[::5]])
arg, _ = mod.get_params()
show("norms", *[float(arg[k].norm().asscalar()) for k in sorted(arg)])
