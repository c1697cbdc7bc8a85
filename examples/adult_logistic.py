"""Who earns more than 50,000 dollars a year? Sparse logistic regression on the UCI Adult data.

The files ``a9a`` (32,561 people) and ``a9a.t`` (16,281 people) code age, education, occupation and
so on as 123 binary features, of which a person has about 14: csr data. The weight is row_sparse.

    python examples/adult_logistic.py --data FOLDER
"""

import argparse
import tempfile
from pathlib import Path

import minigluon as mx

FEATURES = 124  # the files count from 1, LibSVMIter from 0: feature 0 is never there
BATCH_SIZE = 81  # divides the test set: no row counts twice
EPOCHS = 10

WHERE = """\
{missing} is not in the folder {folder}
  expected  the files a9a and a9a.t, LibSVM text, as published
  fix       fetch both from the LIBSVM data collection (Chang and Lin, National Taiwan University),
            page "LIBSVM Data: Classification (Binary Class)", entry a9a; then --data FOLDER"""


def find_data(folder: Path):
    """The paths of the training and the test file; ends the program where one is missing."""
    paths = [folder / "a9a", folder / "a9a.t"]
    for path in paths:
        if not path.is_file():
            raise SystemExit(WHERE.format(missing=path.name, folder=folder))
    return paths


def with_labels_from_zero(source: Path, target: Path) -> Path:
    """Copy LibSVM text with the labels -1 and +1 as 0 and 1, which the logistic loss wants."""
    with source.open() as lines, target.open("w") as out:
        for line in lines:
            label, _, features = line.partition(" ")
            out.write(f"{int(float(label) > 0)} {features}")
    return target


def iterator(path: Path) -> mx.io.DataIter:
    """Batches of csr rows with their labels."""
    return mx.io.LibSVMIter(data_libsvm=str(path), data_shape=(FEATURES,), batch_size=BATCH_SIZE)


def logistic_regression() -> mx.sym.Symbol:
    """``sigmoid(dot(csr, row_sparse) + bias)`` under the logistic loss."""
    data = mx.sym.Variable("data", stype="csr")
    label = mx.sym.Variable("softmax_label")
    weight = mx.sym.Variable("weight", stype="row_sparse", shape=(FEATURES, 1))
    bias = mx.sym.Variable("bias", shape=(1,))
    score = mx.sym.broadcast_add(mx.sym.sparse.dot(data, weight), bias)
    return mx.sym.LogisticRegressionOutput(score, label, name="softmax")


def accuracy(label, probability) -> float:
    """The share of rows on the right side of one half."""
    return ((probability.ravel() > 0.5) == label.ravel()).mean()


def main(arguments=None) -> float:
    """Train on a9a, print and return the accuracy on a9a.t."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--data", type=Path, default=Path(), help="folder with a9a and a9a.t")
    train_file, test_file = find_data(parser.parse_args(arguments).data)

    mx.random.seed(42)
    with tempfile.TemporaryDirectory() as folder:
        train = iterator(with_labels_from_zero(train_file, Path(folder) / "train"))
        test = iterator(with_labels_from_zero(test_file, Path(folder) / "test"))
        metric = mx.metric.CustomMetric(accuracy, name="accuracy")
        module = mx.mod.Module(
            logistic_regression(), data_names=["data"], label_names=["softmax_label"]
        )
        module.fit(
            train,
            num_epoch=EPOCHS,
            optimizer="sgd",
            optimizer_params={"learning_rate": 0.1},
            initializer=mx.init.Zero(),
            eval_metric=metric,
        )
        result = dict(module.score(test, metric))["accuracy"]
    print(f"test accuracy: {result:.4f}")
    return result


if __name__ == "__main__":
    main()
