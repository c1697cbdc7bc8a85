"""A residual network of the model zoo, trained by an Estimator with handlers, then tuned further."""

import os
import shutil
import tempfile

import mxnet as mx
import numpy as np
from mxnet import autograd, gluon, nd
from mxnet.gluon.contrib.estimator import (
    BatchBegin,
    CheckpointHandler,
    EarlyStoppingHandler,
    EpochEnd,
    Estimator,
    TrainBegin,
    TrainEnd,
)
from mxnet.gluon.model_zoo.vision import BasicBlockV1, ResNetV1, get_model

rng = np.random.RandomState(7)


def fill(net):
    for param in net.collect_params().values():
        if not param.name.endswith(("gamma", "beta", "running_mean", "running_var", "bias")):
            param.set_data(nd.array(rng.uniform(-0.3, 0.3, param.shape)))


def batches(rows):
    x = rng.uniform(-1, 1, (rows, 3, 8, 8)).astype("float32")
    y = (x.mean(axis=(1, 2, 3)) > 0).astype("float32")
    dataset = gluon.data.ArrayDataset(nd.array(x), nd.array(y))
    return gluon.data.DataLoader(dataset, batch_size=8, last_batch="keep")


class Report(TrainBegin, EpochEnd, TrainEnd, BatchBegin):
    def __init__(self):
        self.batches = 0

    def train_begin(self, estimator, *args, **kwargs):
        print("begin", estimator.max_epoch, type(estimator.trainer).__name__)

    def batch_begin(self, estimator, *args, **kwargs):
        self.batches += 1

    def epoch_end(self, estimator, *args, **kwargs):
        for metric in estimator.train_metrics + estimator.val_metrics:
            print("metric", metric.get()[0].replace(" ", "-"), "%.4f" % metric.get()[1])

    def train_end(self, estimator, *args, **kwargs):
        print("end", self.batches)


folder = tempfile.mkdtemp()
net = ResNetV1(BasicBlockV1, [1, 1], [4, 4, 8], classes=2, thumbnail=True, prefix="net_")
net.initialize()
net(nd.zeros((1, 3, 8, 8)))
fill(net)
net.hybridize()
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.02, "momentum": 0.5})
estimator = Estimator(net, gluon.loss.SoftmaxCrossEntropyLoss(), trainer=trainer, context=mx.cpu())
estimator.logger.handlers[:] = []
accuracy = estimator.train_metrics[0]
estimator.fit(
    batches(36),
    val_data=batches(16),
    epochs=2,
    event_handlers=[
        Report(),
        CheckpointHandler(folder, model_prefix="zoo", max_checkpoints=1),
        EarlyStoppingHandler(accuracy, patience=5, mode="max"),
    ],
)
print("files", *sorted(os.listdir(folder)))

again = gluon.SymbolBlock.imports(
    os.path.join(folder, "zoo-symbol.json"), ["data"], None, ctx=mx.cpu()
)
print("inputs", len(again.collect_params().keys()))
copy = ResNetV1(BasicBlockV1, [1, 1], [4, 4, 8], classes=2, thumbnail=True, prefix="copy_")
copy.load_parameters(os.path.join(folder, "zoo-epoch1batch10.params"))
x = nd.array(rng.uniform(-1, 1, (4, 3, 8, 8)))
print("same", np.allclose(copy(x).asnumpy(), net(x).asnumpy(), atol=1e-5))

tuned = ResNetV1(BasicBlockV1, [1, 1], [4, 4, 8], classes=3, thumbnail=True, prefix="tuned_")
tuned.features = copy.features
tuned.output.initialize(mx.init.Constant(0.1))
tuned.features.collect_params().setattr("grad_req", "null")
tuned.output.collect_params().setattr("lr_mult", 5)
step = gluon.Trainer(tuned.collect_params(), "adam", {"learning_rate": 0.01})
for epoch in range(3):
    with autograd.record():
        loss = gluon.loss.SoftmaxCELoss()(tuned(x), nd.array([0, 1, 2, 1]))
    loss.backward()
    step.step(4)
    print("tuned", epoch, "%.4f" % loss.mean().asscalar())
print("frozen", np.allclose(copy.features[0].weight.data().asnumpy(),
                            net.features[0].weight.data().asnumpy(), atol=1e-6))

net = get_model("MobileNetV2_0.25", classes=7)
print("mobilenet", len(net.collect_params().keys()), net.output[0].weight.shape[0])
shutil.rmtree(folder)
