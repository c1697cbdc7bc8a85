"""Transfer of weights: what a net learned on one task, saved, helps another with few samples.

A net learns to tell ten digits and its layers are saved with ``save_parameters``. A second net
loads them, keeps them as they are (``grad_req = "null"``) and learns a new output layer that tells
even digits from odd ones, from 40 samples. A third net starts from nothing with the same samples.

    python examples/transfer.py

Expect a test accuracy of about 0.90 with the layers that were loaded, and 0.87 from nothing.
"""

import argparse
import tempfile
from pathlib import Path

import numpy as np

import minigluon as mx
from minigluon import autograd, gluon, nd


def digits():
    """``(images, labels)`` of scikit-learn in a fixed random order."""
    from sklearn.datasets import load_digits

    found = load_digits()
    order = np.random.default_rng(0).permutation(len(found.target))
    return found.images[order][:, None].astype("float32") / 16, found.target[order]


class Classifier(gluon.HybridBlock):
    """Convolutions, and an output layer."""

    def __init__(self, classes, **kwargs):
        super().__init__(**kwargs)
        nn = gluon.nn
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="features_")
            self.features.add(
                nn.Conv2D(16, 3, activation="relu"), nn.Conv2D(32, 3, activation="relu"),
                nn.MaxPool2D(2, 2), nn.Flatten(), nn.Dense(64, activation="relu"),
            )  # fmt: skip
            self.output = nn.Dense(classes)

    def hybrid_forward(self, F, x):
        return self.output(self.features(x))


def fit(net, images, labels, epochs):
    """Train what is not fixed."""
    trained = {k: p for k, p in net.collect_params().items() if p.grad_req != "null"}
    trainer = gluon.Trainer(trained, "adam", {"learning_rate": 0.003})
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    data = gluon.data.ArrayDataset(images, labels.astype("float32"))
    for _ in range(epochs):
        for x, y in gluon.data.DataLoader(data, batch_size=20, shuffle=True):
            with autograd.record():
                value = loss(net(x), y)
            value.backward()
            trainer.step(len(x))
    return net


def accuracy(net, images, labels):
    """The share of images that are told right."""
    return float((net(nd.array(images)).asnumpy().argmax(axis=1) == labels).mean())


def new_net(classes):
    """A net with parameters of its own."""
    net = Classifier(classes)
    net.initialize(mx.init.Xavier())
    net.hybridize()
    return net


def main(arguments=None):
    """The accuracies ``(with loaded features, from nothing)``."""
    argparse.ArgumentParser(description=__doc__.partition("\n")[0]).parse_args(arguments)
    images, labels = digits()
    odd = labels % 2
    first_task, few, rest = slice(0, 1000), slice(1000, 1040), slice(1040, None)

    mx.random.seed(1)
    np.random.seed(1)
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "features.params")
        first = fit(new_net(10), images[first_task], labels[first_task], epochs=10)
        told = accuracy(first, images[rest], labels[rest])
        print(f"ten digits from 1,000 samples: test accuracy {told:.4f}")
        first.features.save_parameters(path)
        second = new_net(2)
        second.features.load_parameters(path)
    second.features.collect_params().setattr("grad_req", "null")
    accuracies = []
    for name, net in (("loaded features", second), ("from nothing", new_net(2))):
        fit(net, images[few], odd[few], epochs=200)
        accuracies.append(accuracy(net, images[rest], odd[rest]))
        print(f"even or odd from 40 samples, {name}: test accuracy {accuracies[-1]:.4f}")
    return tuple(accuracies)


if __name__ == "__main__":
    main()
