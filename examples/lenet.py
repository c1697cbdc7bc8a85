"""LeNet (LeCun et al., 1998) on handwritten digits, hybridised, with its accuracy every epoch.

    python examples/lenet.py                  # scikit-learn's 1,797 digits of 8x8
    python examples/lenet.py --data FOLDER    # MNIST's published files, 28x28
    python examples/lenet.py --eager          # without hybridize(): the same numbers, slower

Expect a test accuracy of about 0.98 with either. Where FOLDER has MNIST's test files alone
(t10k-images-idx3-ubyte.gz and t10k-labels-idx1-ubyte.gz), 8,000 of their images train and 2,000
test.
"""

import argparse
from pathlib import Path

import numpy as np

import minigluon as mx
from minigluon import autograd, gluon, nd

BATCH_SIZE = 64


def small_digits():
    """``(images, labels)`` of scikit-learn, each pixel drawn three times as wide: 24x24."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    images = np.kron(digits.images, np.ones((3, 3))) / 16
    order = np.random.default_rng(0).permutation(len(images))
    return images[order][:, None].astype("float32"), digits.target[order]


def published(folder):
    """``(images, labels)`` of MNIST's files; the training files too where they are."""
    parts = [gluon.data.vision.MNIST(str(folder), train=False)]
    if any(folder.glob("train-images-idx3-ubyte*")):
        parts.insert(0, gluon.data.vision.MNIST(str(folder), train=True))
    images = np.concatenate([part._data.asnumpy() for part in parts])
    labels = np.concatenate([part._label for part in parts])
    return images.transpose(0, 3, 1, 2).astype("float32") / 255, labels


def lenet():
    """Two convolutions with pooling, two dense layers."""
    nn = gluon.nn
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(20, kernel_size=5, activation="relu"), nn.MaxPool2D(2, 2),
        nn.Conv2D(50, kernel_size=3, activation="relu"), nn.MaxPool2D(2, 2),
        nn.Flatten(), nn.Dense(128, activation="relu"), nn.Dense(10),
    )  # fmt: skip
    return net


def accuracy(net, batches):
    """The share of images that are told right."""
    metric = mx.metric.Accuracy()
    for images, labels in batches:
        metric.update(labels, net(images))
    return metric.get()[1]


def main(arguments=None):
    """Train and return the accuracy on the test images."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, help="folder with MNIST's published files")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--eager", action="store_true", help="do not hybridise")
    options = parser.parse_args(arguments)

    images, labels = published(options.data) if options.data else small_digits()
    cut = len(images) * 4 // 5 if len(images) <= 10000 else len(images) - 10000
    train, test = (
        gluon.data.DataLoader(
            gluon.data.ArrayDataset(images[part], labels[part].astype("float32")),
            batch_size=BATCH_SIZE,
            shuffle=part.start is None,
        )
        for part in (slice(None, cut), slice(cut, len(images)))
    )
    mx.random.seed(42)
    np.random.seed(42)
    net = lenet()
    net.initialize(mx.init.Xavier())
    if not options.eager:
        net.hybridize(static_alloc=True)
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.001})
    tested = 0.0
    for epoch in range(1, options.epochs + 1):
        total = nd.zeros((1,))
        for pictures, digits in train:
            with autograd.record():
                value = loss(net(pictures), digits)
            value.backward()
            trainer.step(len(digits))
            total += value.sum()
        tested = accuracy(net, test)
        print(
            f"epoch {epoch}: loss {total.asscalar() / cut:.4f}, test accuracy: {tested:.4f}",
            flush=True,
        )
    return tested


if __name__ == "__main__":
    main()
