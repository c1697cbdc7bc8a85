"""Symbols bound by hand: a matrix factorization with a key-value store, groups and attributes."""

import mxnet as mx
import numpy as np


def show(key, *values):
    print(key, *["%.5g" % v for v in values])


with mx.AttrScope(ctx_group="embed"):
    user = mx.sym.Embedding(mx.sym.var("user"), input_dim=12, output_dim=4, name="users")
    item = mx.sym.Embedding(mx.sym.var("item"), input_dim=9, output_dim=4, name="items")
with mx.AttrScope(ctx_group="score"):
    score = mx.sym.sum(user * item, axis=1)
    net = mx.sym.LinearRegressionOutput(mx.sym.Flatten(score), mx.sym.var("rating"), name="lro")
net = mx.sym.Group([net, mx.sym.BlockGrad(mx.sym.mean(mx.sym.abs(score)), name="size")])
print("arguments", *net.list_arguments())
print("outputs", *net.list_outputs())
print("attr", net.attr_dict()["users"]["ctx_group"])

rng = np.random.RandomState(1)
executor = net.simple_bind(
    mx.cpu(),
    user=(6,), item=(6,), rating=(6, 1),
    grad_req={"users_weight": "write", "items_weight": "add"},
    group2ctx={"embed": mx.cpu(0), "score": mx.cpu(0)},
)
for name in ("users_weight", "items_weight"):
    executor.arg_dict[name][:] = rng.normal(0, 0.5, executor.arg_dict[name].shape)
kv = mx.kv.create("local")
kv.set_optimizer(mx.optimizer.create("adagrad", learning_rate=0.3))
for name in ("users_weight", "items_weight"):
    kv.init(name, executor.arg_dict[name])
losses = []
for step in range(20):
    users, items = rng.randint(0, 12, 6), rng.randint(0, 9, 6)
    ratings = np.cos(users + items).reshape((6, 1))
    executor.forward(is_train=True, user=mx.nd.array(users), item=mx.nd.array(items), rating=mx.nd.array(ratings))
    losses.append(float(((executor.outputs[0].asnumpy() - ratings) ** 2).mean()))
    executor.backward()
    for name in ("users_weight", "items_weight"):
        kv.push(name, executor.grad_dict[name])
        kv.pull(name, out=executor.arg_dict[name])
    executor.grad_dict["items_weight"][:] = 0
show("losses", *losses[::4])
show("size", executor.outputs[1].asscalar())
small = executor.reshape(user=(2,), item=(2,), rating=(2, 1))
small.forward(user=mx.nd.array([1, 2]), item=mx.nd.array([3, 4]))
show("small", *small.outputs[0].asnumpy().ravel())
show("first", *executor.arg_dict["users_weight"].asnumpy()[0])
