"""Two modules that train against each other: gradients of inputs, gradients added up by hand."""

from collections import namedtuple

import mxnet as mx
import numpy as np


def show(key, *values):
    print(key, *["%.4g" % v for v in values])


def fill(module, seed):
    rng = np.random.RandomState(seed)
    arg, aux = module.get_params()
    for name in sorted(arg):
        arg[name][:] = rng.normal(0, 0.3, arg[name].shape)
        if name.endswith("gamma"):
            arg[name][:] = 1
    module.set_params(arg, aux)


batch_size, latent = 8, 4
rand = mx.sym.Variable("rand")
g = mx.sym.FullyConnected(rand, name="g1", num_hidden=8, no_bias=True)
g = mx.sym.BatchNorm(g, name="gbn", fix_gamma=True, eps=1e-3)
g = mx.sym.Activation(g, act_type="relu")
g = mx.sym.Reshape(g, shape=(-1, 2, 2, 2))
g = mx.sym.Deconvolution(g, name="g2", kernel=(4, 4), stride=(2, 2), pad=(1, 1), num_filter=1, no_bias=True)
gout = mx.sym.Activation(g, name="gact", act_type="tanh")

data, label = mx.sym.Variable("data"), mx.sym.Variable("label")
d = mx.sym.Convolution(data, name="d1", kernel=(3, 3), pad=(1, 1), num_filter=4)
d = mx.sym.LeakyReLU(d, act_type="leaky", slope=0.2)
d = mx.sym.Flatten(d)
d = mx.sym.FullyConnected(d, name="d2", num_hidden=1)
dloss = mx.sym.LogisticRegressionOutput(data=d, label=label, name="dloss")

modG = mx.mod.Module(symbol=gout, data_names=("rand",), label_names=None, context=mx.cpu())
modG.bind(data_shapes=[("rand", (batch_size, latent))])
modG.init_params(initializer=mx.init.Normal(0.02))
modG.init_optimizer(optimizer="adam", optimizer_params={"learning_rate": 0.02, "beta1": 0.5})
modD = mx.mod.Module(symbol=dloss, data_names=("data",), label_names=("label",), context=mx.cpu())
modD.bind(
    data_shapes=[("data", (batch_size, 1, 4, 4))], label_shapes=[("label", (batch_size, 1))], inputs_need_grad=True
)
modD.init_params(initializer=mx.init.Normal(0.02))
modD.init_optimizer(optimizer="adam", optimizer_params={"learning_rate": 0.02, "beta1": 0.5})
fill(modG, 1)
fill(modD, 2)

Batch = namedtuple("Batch", ["data", "label"])
rng = np.random.RandomState(0)
metric = mx.metric.CustomMetric(lambda label, pred: ((pred > 0.5) == label).mean(), name="facc")
for step in range(12):
    noise = mx.nd.array(rng.normal(0, 1, (batch_size, latent)))
    real = mx.nd.array(rng.normal(0, 0.1, (batch_size, 1, 4, 4)) + np.eye(4))
    modG.forward(mx.io.DataBatch([noise], None), is_train=True)
    fake = modG.get_outputs()
    zeros = mx.nd.zeros((batch_size, 1))
    modD.forward(Batch(fake, [zeros]), is_train=True)
    modD.backward()
    kept = [[grad.copyto(grad.context) for grad in grads] for grads in modD._exec_group.grad_arrays]
    modD.update_metric(metric, [zeros])
    modD.forward(Batch([real], [zeros + 1]), is_train=True)
    modD.backward()
    for gradsr, gradsf in zip(modD._exec_group.grad_arrays, kept):
        for gradr, gradf in zip(gradsr, gradsf):
            gradr += gradf
    modD.update()
    modD.update_metric(metric, [zeros + 1])
    modD.forward(Batch(fake, [zeros + 1]), is_train=True)
    modD.backward()
    diff = modD.get_input_grads()
    modG.backward(diff)
    modG.update()
    if step % 4 == 3:
        show("step", step, metric.get()[1], float(diff[0].norm().asscalar()), fake[0].asnumpy().std())
for mod in (modG, modD):
    arg, aux = mod.get_params()
    show("norms", *[float(arg[k].norm().asscalar()) for k in sorted(arg)])
show("moving", *modG.get_params()[1]["gbn_moving_mean"].asnumpy())
