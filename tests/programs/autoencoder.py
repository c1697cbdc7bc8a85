"""Tied weights, gradients with respect to data, a custom updater, NCE with negative samples."""

import mxnet as mx
import numpy as np


def show(key, *values):
    print(key, *["%.5g" % v for v in values])


# an autoencoder whose decoder uses the encoder's weight, updated by hand
data = mx.sym.Variable("data")
weight = mx.sym.Variable("weight", lr_mult=1.0)
code = mx.sym.Activation(mx.sym.dot(data, weight), act_type="sigmoid", name="code")
out = mx.sym.dot(code, weight, transpose_b=True, name="decoded")
loss = mx.sym.MakeLoss(mx.sym.mean(mx.sym.square(out - data)), name="loss", grad_scale=2.0)
net = mx.sym.Group([loss, mx.sym.BlockGrad(code)])
rng = np.random.RandomState(0)
X = rng.rand(10, 6)
args = {"data": mx.nd.array(X), "weight": mx.nd.array(rng.normal(0, 0.5, (6, 3)))}
grads = {"data": mx.nd.zeros((10, 6)), "weight": mx.nd.zeros((6, 3))}
executor = net.bind(ctx=mx.cpu(), args=args, args_grad=grads, grad_req={"data": "write", "weight": "write"})
updater = mx.optimizer.get_updater(mx.optimizer.create("rmsprop", learning_rate=0.02))
for step in range(15):
    executor.forward(is_train=True)
    executor.backward()
    updater(0, grads["weight"], args["weight"])
    if step % 5 == 0:
        show("loss", step, executor.outputs[0].asscalar())
show("grad", *grads["data"].asnumpy()[0])
show("code", *executor.outputs[1].asnumpy()[0])

# noise contrastive estimation with a metric of its own
vocab, negatives, size = 20, 4, 8
label, noise = mx.sym.Variable("label"), mx.sym.Variable("label_weight")
embed = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=vocab, output_dim=size, name="input")
pred = mx.sym.Reshape(mx.sym.mean(embed, axis=1), shape=(-1, 1, size))
table = mx.sym.Embedding(label, input_dim=vocab, output_dim=size, name="target")
scores = mx.sym.sum(mx.sym.broadcast_mul(pred, table), axis=2)
nce = mx.sym.LogisticRegressionOutput(data=scores, label=noise)


class NceAuc(mx.metric.EvalMetric):
    def __init__(self):
        super(NceAuc, self).__init__("nce-auc")

    def update(self, labels, preds):
        weights, found = labels[1].asnumpy(), preds[0].asnumpy()
        for w, p in zip(weights, found):
            self.sum_metric += (p[w == 1][0] > p[w == 0]).mean()
            self.num_inst += 1


words = rng.randint(0, vocab, (48, 3))
targets = np.concatenate([(words.sum(1) % vocab)[:, None], rng.randint(0, vocab, (48, negatives))], 1)
weights = np.zeros_like(targets)
weights[:, 0] = 1
train = mx.io.NDArrayIter({"data": words}, {"label": targets, "label_weight": weights}, 12)
params = {
    "input_weight": mx.nd.array(rng.normal(0, 0.5, (vocab, size))),
    "target_weight": mx.nd.array(rng.normal(0, 0.5, (vocab, size))),
}
seen = []
mod = mx.mod.Module(nce, data_names=["data"], label_names=["label", "label_weight"])
mod.fit(
    train, num_epoch=4, optimizer="adagrad", optimizer_params={"learning_rate": 0.3}, arg_params=params,
    eval_metric=NceAuc(), batch_end_callback=[mx.callback.ProgressBar(4), lambda p: seen.append(p.eval_metric.get()[1])],
)
show("auc", *seen[::3])
arg = mod.get_params()[0]
show("norms", *[float(arg[k].norm().asscalar()) for k in sorted(arg)])
