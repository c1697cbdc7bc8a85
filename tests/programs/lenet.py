"""LeNet on made-up pictures: convolutions, a scheduler, fixed parameters, a monitor, two devices."""

import mxnet as mx
import numpy as np


def show(key, *values):
    print(key, *["%.5g" % v for v in values])


def lenet(num_classes=4):
    data = mx.sym.var("data")
    conv1 = mx.sym.Convolution(data=data, kernel=(3, 3), num_filter=6, name="conv1")
    tanh1 = mx.sym.Activation(data=conv1, act_type="tanh")
    pool1 = mx.sym.Pooling(data=tanh1, pool_type="max", kernel=(2, 2), stride=(2, 2))
    conv2 = mx.sym.Convolution(data=pool1, kernel=(3, 3), num_filter=8, name="conv2")
    bn = mx.sym.BatchNorm(conv2, name="bn", fix_gamma=False)
    tanh2 = mx.sym.Activation(data=bn, act_type="tanh")
    pool2 = mx.sym.Pooling(data=tanh2, pool_type="avg", kernel=(2, 2), stride=(2, 2))
    flatten = mx.sym.flatten(data=pool2)
    fc1 = mx.sym.FullyConnected(data=flatten, num_hidden=20, name="fc1")
    tanh3 = mx.sym.LeakyReLU(data=fc1, act_type="leaky", slope=0.1)
    fc2 = mx.sym.FullyConnected(data=tanh3, num_hidden=num_classes, name="fc2")
    return mx.sym.SoftmaxOutput(data=fc2, name="softmax", normalization="batch")


rng = np.random.RandomState(0)
images = rng.rand(96, 1, 14, 14)
labels = rng.randint(0, 4, 96)
for image, label in zip(images, labels):
    image[0, 3 * label : 3 * label + 3] += 1.5
train = mx.io.NDArrayIter(images, labels, batch_size=16, label_name="softmax_label")

net = lenet()
shapes, _, aux_shapes = net.infer_shape(data=(16, 1, 14, 14))
params = {}
for name, shape in zip(net.list_arguments(), shapes):
    if name not in ("data", "softmax_label"):
        params[name] = mx.nd.array(rng.normal(0, 0.15, shape))
params["bn_gamma"][:] = 1
aux = {n: mx.nd.zeros(s) for n, s in zip(net.list_auxiliary_states(), aux_shapes)}
aux["bn_moving_var"][:] = 1

seen = []
mod = mx.mod.Module(net, context=[mx.cpu(0), mx.cpu(1)], fixed_param_names=["conv1_bias"])
schedule = mx.lr_scheduler.MultiFactorScheduler(step=[8, 16], factor=0.5)
mod.fit(
    train,
    optimizer="nag",
    optimizer_params={"learning_rate": 0.1, "momentum": 0.5, "lr_scheduler": schedule},
    arg_params=params,
    aux_params=aux,
    num_epoch=4,
    eval_metric=mx.metric.create(["acc", "ce"]),
    batch_end_callback=lambda p: seen.append(p.eval_metric.get()[1][1]),
)
show("loss", *seen[::3])
arg, aux = mod.get_params()
show("norms", *[float(arg[k].norm().asscalar()) for k in sorted(arg)])
show("moving", *aux["bn_moving_mean"].asnumpy())
show("score", *[v for _, v in mod.score(train, mx.metric.CompositeEvalMetric(metrics=["acc", "ce"]))])
show("lr", mod._optimizer.learning_rate)

names = []
watch = mx.mon.Monitor(1, stat_func=lambda x: mx.nd.max(mx.nd.abs(x)), pattern="(conv|fc).*output", sort=True)
single = mx.mod.Module(net, context=mx.cpu())
single.bind(train.provide_data, train.provide_label)
single.install_monitor(watch)
single.init_params(arg_params=arg, aux_params=aux)
train.reset()
watch.tic()
single.forward(next(train), is_train=False)
for _, name, value in watch.toc():
    names.append(name)
    show(name, float(value.strip()))
assert names == sorted(names)
