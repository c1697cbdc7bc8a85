"""A module of one's own on top of BaseModule, which binds again when pictures are larger."""

import logging
import warnings

import mxnet as mx
import numpy as np
from mxnet import context as ctx
from mxnet.initializer import Uniform
from mxnet.module.base_module import BaseModule
from mxnet.module.module import Module

warnings.simplefilter("ignore")


def show(key, *values):
    print(key, *["%.5g" % v for v in values])


class MutableModule(BaseModule):
    """Runs batches of any shape on the parameters of its first binding."""

    def __init__(self, symbol, data_names, label_names, logger=logging, context=ctx.cpu(), fixed_param_names=None):
        super(MutableModule, self).__init__(logger=logger)
        self._symbol = symbol
        self._data_names, self._label_names = data_names, label_names
        self._context, self._fixed = context, fixed_param_names
        self._curr_module = None

    @property
    def data_names(self):
        return self._data_names

    @property
    def output_names(self):
        return self._symbol.list_outputs()

    @property
    def data_shapes(self):
        return self._curr_module.data_shapes

    @property
    def label_shapes(self):
        return self._curr_module.label_shapes

    @property
    def output_shapes(self):
        return self._curr_module.output_shapes

    def get_params(self):
        assert self.binded and self.params_initialized
        return self._curr_module.get_params()

    def init_params(self, initializer=Uniform(0.01), arg_params=None, aux_params=None, allow_missing=False, force_init=False, allow_extra=False):
        if self.params_initialized and not force_init:
            return
        self._curr_module.init_params(
            initializer=initializer, arg_params=arg_params, aux_params=aux_params,
            allow_missing=allow_missing, force_init=force_init, allow_extra=allow_extra,
        )
        self.params_initialized = True

    def bind(self, data_shapes, label_shapes=None, for_training=True, inputs_need_grad=False, force_rebind=False, shared_module=None, grad_req="write"):
        if self.params_initialized:
            arg_params, aux_params = self.get_params()
        if force_rebind:
            self._reset_bind()
        if self.binded:
            return
        self.for_training, self.inputs_need_grad, self.binded = for_training, inputs_need_grad, True
        module = Module(
            self._symbol, self._data_names, self._label_names, logger=self.logger,
            context=self._context, fixed_param_names=self._fixed,
        )
        module.bind(data_shapes, label_shapes, for_training, inputs_need_grad, force_rebind=False, shared_module=None)
        self._curr_module = module
        if self.params_initialized:
            self.set_params(arg_params, aux_params)

    def _reset_bind(self):
        self.binded = False
        self._curr_module = None

    def init_optimizer(self, kvstore="local", optimizer="sgd", optimizer_params=(("learning_rate", 0.01),), force_init=False):
        if self.optimizer_initialized and not force_init:
            return
        self._curr_module.init_optimizer(kvstore, optimizer, optimizer_params, force_init=force_init)
        self.optimizer_initialized = True

    def forward(self, data_batch, is_train=None):
        shapes = [d[1] for d in self._curr_module.data_shapes]
        if [d.shape for d in data_batch.data] != [tuple(s) for s in shapes]:
            module = Module(self._symbol, self._data_names, self._label_names, context=self._context, fixed_param_names=self._fixed)
            module.bind(
                data_batch.provide_data, data_batch.provide_label, self._curr_module.for_training,
                self._curr_module.inputs_need_grad, force_rebind=False, shared_module=self._curr_module,
            )
            if self.optimizer_initialized:
                module.borrow_optimizer(self._curr_module)
            self._curr_module = module
        self._curr_module.forward(data_batch, is_train=is_train)

    def backward(self, out_grads=None):
        self._curr_module.backward(out_grads=out_grads)

    def update(self):
        self._curr_module.update()

    def get_outputs(self, merge_multi_context=True):
        return self._curr_module.get_outputs(merge_multi_context=merge_multi_context)

    def get_input_grads(self, merge_multi_context=True):
        return self._curr_module.get_input_grads(merge_multi_context=merge_multi_context)

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        self._curr_module.update_metric(eval_metric, labels)

    def install_monitor(self, mon):
        self._curr_module.install_monitor(mon)


data = mx.sym.Variable("data")
net = mx.sym.Convolution(data, name="conv", kernel=(3, 3), pad=(1, 1), num_filter=4)
net = mx.sym.Activation(net, act_type="relu")
net = mx.sym.Pooling(net, global_pool=True, kernel=(1, 1), pool_type="max")
net = mx.sym.FullyConnected(mx.sym.Flatten(net), name="score", num_hidden=2)
net = mx.sym.SoftmaxOutput(net, name="cls")


class Pictures(mx.io.DataIter):
    def __init__(self):
        super(Pictures, self).__init__(batch_size=4)
        self.reset()

    def reset(self):
        self.k, self.rng = 0, np.random.RandomState(3)

    @property
    def provide_data(self):
        return [mx.io.DataDesc("data", (4, 1, 6, 6))]

    @property
    def provide_label(self):
        return [mx.io.DataDesc("cls_label", (4,))]

    def next(self):
        if self.k == 9:
            raise StopIteration
        self.k += 1
        side = 6 + 2 * (self.k % 3)
        x, y = self.rng.rand(4, 1, side, side), self.rng.randint(0, 2, 4)
        x[y == 1, 0, 1, 1] += 3
        x, y = mx.nd.array(x), mx.nd.array(y)
        return mx.io.DataBatch([x], [y], provide_data=[("data", x.shape)], provide_label=[("cls_label", y.shape)])


rng = np.random.RandomState(1)
mod = MutableModule(net, data_names=["data"], label_names=["cls_label"], fixed_param_names=["conv_bias"])
train = Pictures()
mod.bind(data_shapes=train.provide_data, label_shapes=train.provide_label)
shapes = dict(zip(net.list_arguments(), net.infer_shape(data=(4, 1, 6, 6))[0]))
arg = {n: mx.nd.array(rng.normal(0, 0.3, s)) for n, s in shapes.items() if n not in ("data", "cls_label")}
seen = []
mod.fit(
    train, eval_metric=mx.metric.CompositeEvalMetric([mx.metric.Accuracy(), mx.metric.CrossEntropy()]),
    optimizer="sgd", optimizer_params={"learning_rate": 0.3, "momentum": 0.9}, arg_params=arg, aux_params={},
    num_epoch=3, batch_end_callback=lambda p: seen.append(p.eval_metric.get()[1]),
)
show("accuracy", *[a for a, _ in seen[::4]])
show("entropy", *[c for _, c in seen[::4]])
arg, _ = mod.get_params()
show("norms", *[float(arg[k].norm().asscalar()) for k in sorted(arg)])
show("score", *[v for _, v in mod.score(train, ["acc", "ce"])])
