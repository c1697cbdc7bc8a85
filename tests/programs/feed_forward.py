"""The oldest interface: FeedForward on arrays, with fit, predict, score, save and load."""

import os
import tempfile
import warnings

import mxnet as mx
import numpy as np

warnings.simplefilter("ignore")


def show(key, *values):
    print(key, *["%.5g" % v for v in values])


data = mx.symbol.Variable("data")
net = mx.symbol.FullyConnected(data=data, name="fc1", num_hidden=12)
net = mx.symbol.Activation(data=net, name="sigmoid1", act_type="sigmoid")
net = mx.symbol.FullyConnected(data=net, name="fc2", num_hidden=2)
net = mx.symbol.SoftmaxOutput(data=net, name="softmax")

rng = np.random.RandomState(5)
X = rng.randn(100, 6).astype("float32")
Y = (X[:, 0] * X[:, 1] > 0).astype("float32")
params = {
    "fc1_weight": mx.nd.array(rng.normal(0, 1, (12, 6))),
    "fc1_bias": mx.nd.zeros(12),
    "fc2_weight": mx.nd.array(rng.normal(0, 1, (2, 12))),
    "fc2_bias": mx.nd.zeros(2),
}
np.random.seed(11)
seen = []
model = mx.model.FeedForward(
    symbol=net, ctx=[mx.cpu()], num_epoch=15, numpy_batch_size=25, learning_rate=0.9, momentum=0.9,
    arg_params=params, initializer=mx.init.Uniform(0.1),
)
model.fit(
    X, Y, eval_data=(X[:50], Y[:50]), eval_metric="accuracy",
    epoch_end_callback=lambda e, s, a, x: seen.append(float(a["fc1_weight"].norm().asscalar())),
    batch_end_callback=mx.callback.log_train_metric(100),
)
show("norms", *seen[::3])
show("score", model.score(mx.io.NDArrayIter(X, Y, 25)))
show("predict", *model.predict(X)[:3].ravel())
prefix = os.path.join(tempfile.mkdtemp(), "ff")
model.save(prefix)
loaded = mx.model.FeedForward.load(prefix, 15)
show("loaded", np.abs(loaded.predict(X) - model.predict(X)).max())
[probabilities, inputs, labels] = model.predict(mx.io.NDArrayIter(X, Y, 30), return_data=True)
print("shapes", *probabilities.shape, *inputs.shape, *labels.shape)
