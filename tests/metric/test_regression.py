"""MAE, MSE, RMSE and Pearson's correlation."""

import numpy as np
import pytest

from minigluon import metric, nd

LABELS = [[1, 2, 3.5, -1], [0.5, 0, 2, 2]]
PREDICTIONS = [[1.5, 2, 3, 0], [1, -1, 2.5, 4]]
# first batch, second batch, both: recorded from MXNet 1.9.1
RECORDED = [
    ("mae", 0.5, 1.0, 0.75),
    ("mse", 0.375, 1.375, 0.875),
    ("rmse", 0.6123724579811096, 1.172603964805603, 0.8924882113933563),
    ("pearsonr", 0.9978143756556663, 0.9367593770760383, 0.9672868763658523),
]


@pytest.mark.parametrize(("name", "first", "second", "both"), RECORDED)
def test_values_are_those_of_mxnet(name, first, second, both):
    made, found = metric.create(name), []
    for label, pred in zip(LABELS, PREDICTIONS, strict=True):
        made.reset_local()
        made.update([nd.array(label)], [nd.array(pred)])
        found.append(made.get()[1])
    np.testing.assert_allclose([*found, made.get_global()[1]], [first, second, both], rtol=1e-6)


@pytest.mark.parametrize("name", ["mae", "mse", "rmse"])
def test_a_step_of_one_value_is_like_a_step_of_many(name):
    one, many = metric.create(name), metric.create(name)
    one.update([nd.array([1.5])], [nd.array([[4.0]])])
    many.update([nd.array([1.5, 1.5])], [nd.array([[4.0], [4.0]])])
    assert one.get()[1] == pytest.approx(many.get()[1])


def test_batches_count_alike_whatever_their_size():
    mse = metric.MSE()
    mse.update([nd.zeros(1)], [nd.array([2.0])])
    mse.update([nd.zeros(3)], [nd.zeros(3)])
    assert mse.get() == ("mse", 2.0)


def test_a_column_of_labels_meets_every_column_of_predictions():
    mse = metric.MSE()
    mse.update([nd.array([1, 2])], [nd.array([[1, 2, 3], [2, 2, 2]])])
    assert mse.get()[1] == pytest.approx(5 / 6)


def test_values_are_python_floats():
    mse = metric.MSE()
    mse.update([nd.ones(3)], [nd.zeros(3)])
    assert type(mse.get()[1]) is float


def test_small_integers_do_not_wrap_around():
    mse = metric.MSE()
    mse.update([nd.array([1, 2], dtype="uint8")], [nd.array([3, 4], dtype="uint8")])
    assert mse.get() == ("mse", 4.0)


def test_micro_correlation_is_that_of_all_pairs():
    pearson = metric.PearsonCorrelation(average="micro")
    for label, pred in zip(LABELS, PREDICTIONS, strict=True):
        pearson.update([nd.array(label)], [nd.array(pred)])
    assert pearson.get()[1] == pytest.approx(0.8261105844648282)  # recorded from MXNet 1.9.1
    assert pearson.get_global() == pearson.get()


def test_micro_correlation_agrees_with_numpy_far_from_zero():
    rng = np.random.RandomState(0)
    label = 1e3 + rng.rand(5, 4)
    pred = label + rng.rand(5, 4)
    pearson = metric.PearsonCorrelation(average="micro")
    for row in range(5):
        pearson.update([label[row]], [pred[row]])
    expected = np.corrcoef(label.ravel(), pred.ravel())[0, 1]
    assert pearson.get()[1] == pytest.approx(expected, rel=1e-9)


def test_correlation_with_a_constant_is_nan():
    pearson = metric.PearsonCorrelation()
    pearson.update([nd.array([1, 1])], [nd.array([2, 3])])
    assert np.isnan(pearson.get()[1])


def test_correlation_of_unlike_shapes_is_refused():
    with pytest.raises(ValueError, match=r"labels \(3,\) does not match shape of predictions"):
        metric.PearsonCorrelation().update([nd.ones(3)], [nd.ones((3, 1))])
