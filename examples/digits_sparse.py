"""Sparse softmax regression on real handwritten digits, from LibSVM text to test accuracy.

Each of the 64 pixels of scikit-learn's digits has one of 17 intensities. Coded as one binary
feature for each pixel and intensity, an image is a row of 1,088 values of which 64 are not zero:
csr data.
The weight is row_sparse, so an update touches the rows of the features it met.

Needs scikit-learn: ``pip install 'minigluon[examples]'``.
"""

import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

import minigluon as mx

INTENSITIES = 17
FEATURES = 64 * INTENSITIES
CLASSES = 10
BATCH_SIZE = 36  # divides the 360 test images: none counts twice
EPOCHS = 30


def write_libsvm(path: Path, pixels: np.ndarray, labels: np.ndarray) -> None:
    """Write one line an image: its label, then ``feature:1`` for the intensity of each pixel."""
    features = np.arange(pixels.shape[1]) * INTENSITIES + pixels.astype(int)
    with path.open("w") as file:
        for label, row in zip(labels, features, strict=True):
            file.write(f"{label} " + " ".join(f"{feature}:1" for feature in row) + "\n")


def iterators(folder: Path):
    """Training and test data: a fixed shuffled 80/20 split, by way of LibSVM text."""
    pixels, labels = load_digits(return_X_y=True)
    order = np.random.RandomState(42).permutation(len(labels))
    cut = len(labels) * 8 // 10
    for name, rows in ("train", order[:cut]), ("test", order[cut:]):
        write_libsvm(folder / f"{name}.libsvm", pixels[rows], labels[rows])
        yield mx.io.LibSVMIter(
            data_libsvm=str(folder / f"{name}.libsvm"),
            data_shape=(FEATURES,),
            batch_size=BATCH_SIZE,
        )


def softmax_regression() -> mx.sym.Symbol:
    """``softmax(dot(csr, row_sparse) + bias)``."""
    data = mx.sym.Variable("data", stype="csr")
    label = mx.sym.Variable("softmax_label")
    weight = mx.sym.Variable("weight", stype="row_sparse", shape=(FEATURES, CLASSES))
    bias = mx.sym.Variable("bias", shape=(CLASSES,))
    scores = mx.sym.broadcast_add(mx.sym.sparse.dot(data, weight), bias)
    return mx.sym.SoftmaxOutput(scores, label, name="softmax")


def main() -> float:
    """Train, print and return the accuracy on the test images."""
    mx.random.seed(42)
    with tempfile.TemporaryDirectory() as folder:
        train, test = iterators(Path(folder))
        module = mx.mod.Module(
            softmax_regression(), data_names=["data"], label_names=["softmax_label"]
        )
        module.fit(
            train,
            num_epoch=EPOCHS,
            optimizer="sgd",
            optimizer_params={"learning_rate": 0.5},
            initializer=mx.init.Normal(sigma=0.01),
            eval_metric="acc",
        )
        accuracy = dict(module.score(test, "acc"))["accuracy"]
    print(f"test accuracy: {accuracy:.4f}")
    return accuracy


if __name__ == "__main__":
    main()
