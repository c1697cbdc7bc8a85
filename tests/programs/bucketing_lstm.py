"""A language model of LSTMs on sentences of several lengths, with BucketingModule."""

import random

import mxnet as mx
import numpy as np


def show(key, *values):
    print(key, *["%.5g" % v for v in values])


random.seed(1)
np.random.seed(1)
rng = np.random.RandomState(3)
text = []
for _ in range(120):
    start, length = rng.randint(0, 6), rng.randint(3, 9)
    text.append([chr(97 + (start + k) % 6) for k in range(length)])
sentences, vocab = mx.rnn.encode_sentences(text, start_label=1, invalid_label=0)
buckets = [4, 6, 8]
train = mx.rnn.BucketSentenceIter(sentences, 8, buckets=buckets, invalid_label=0)

stack = mx.rnn.SequentialRNNCell()
for layer in range(2):
    stack.add(mx.rnn.LSTMCell(num_hidden=12, prefix="lstm_l%d_" % layer))


def sym_gen(seq_len):
    data = mx.sym.Variable("data")
    label = mx.sym.Variable("softmax_label")
    embed = mx.sym.Embedding(data=data, input_dim=len(vocab), output_dim=10, name="embed")
    stack.reset()
    outputs, states = stack.unroll(seq_len, inputs=embed, merge_outputs=True)
    pred = mx.sym.Reshape(outputs, shape=(-1, 12))
    pred = mx.sym.FullyConnected(data=pred, num_hidden=len(vocab), name="pred")
    label = mx.sym.Reshape(label, shape=(-1,))
    pred = mx.sym.SoftmaxOutput(data=pred, label=label, name="softmax", use_ignore=True, ignore_label=0)
    return pred, ("data",), ("softmax_label",)


symbol, _, _ = sym_gen(train.default_bucket_key)
shapes, _, _ = symbol.infer_shape(
    data=(8, train.default_bucket_key), softmax_label=(8, train.default_bucket_key)
)
params = {}
for name, shape in zip(symbol.list_arguments(), shapes):
    if name not in ("data", "softmax_label"):
        params[name] = mx.nd.array(rng.uniform(-0.3, 0.3, shape))

seen, keys = [], []


def remember(param):
    seen.append(param.eval_metric.get()[1])
    keys.append(param.locals["data_batch"].bucket_key)


model = mx.mod.BucketingModule(sym_gen=sym_gen, default_bucket_key=train.default_bucket_key, context=mx.cpu())
model.fit(
    train_data=train,
    eval_metric=mx.metric.Perplexity(0),
    kvstore="local",
    optimizer="sgd",
    optimizer_params={"learning_rate": 0.3, "momentum": 0.9, "wd": 1e-5, "clip_gradient": 5},
    arg_params=params,
    num_epoch=3,
    batch_end_callback=[remember, mx.callback.Speedometer(8, 20)],
)
show("perplexity", *seen[::3])
print("buckets", *keys)
arg, _ = model.get_params()
show("norms", *[float(arg[k].norm().asscalar()) for k in sorted(arg)])
unpacked = stack.unpack_weights(arg)
print("gates", *sorted(k for k in unpacked if k.endswith("f_bias")))
