"""Accuracies, F1, MCC, PCC and cross-entropies."""

import numpy as np
import pytest

from minigluon import metric, nd
from minigluon.base import MXNetError

LABELS = [[1, 2, 1], [0, 2, 2]]
SCORES = [
    [[0.3, 0.5, 0.2], [0.1, 0.1, 0.8], [0.6, 0.3, 0.1]],
    [[0.2, 0.3, 0.5], [0.7, 0.2, 0.1], [0.25, 0.25, 0.5]],
]
# first batch, second batch, both: recorded from MXNet 1.9.1
RECORDED = [
    ("acc", {}, 0.6666666666666666, 0.3333333333333333, 0.5),
    ("ce", {}, 0.7067545255025228, 1.535056749979655, 1.1209056377410889),
    ("nll_loss", {}, 0.7067545255025228, 1.535056749979655, 1.1209056377410889),
    ("top_k_accuracy", {"top_k": 2}, 1.0, 0.3333333333333333, 0.6666666666666666),
    ("pcc", {}, 0.6123724356957946, -0.5, 0.22727272727272727),
]
BINARY_LABELS = [[1, 0, 1, 1], [0, 0, 1, 0]]
BINARY_SCORES = [
    [[0.3, 0.7], [0.4, 0.6], [0.2, 0.8], [0.9, 0.1]],
    [[0.8, 0.2], [0.3, 0.7], [0.4, 0.6], [0.6, 0.4]],
]
BINARY_RECORDED = [
    ("f1", {"average": "macro"}, 0.6666666666666666, 0.6666666666666666, 0.6666666666666666),
    ("f1", {"average": "micro"}, 0.6666666666666666, 0.6666666666666666, 0.6666666666666665),
    ("mcc", {"average": "macro"}, -0.3333333333333333, 0.5773502691896258, 0.12200846792814626),
    ("mcc", {"average": "micro"}, -0.3333333333333333, 0.5773502691896258, 0.2581988897471611),
]


def first_second_and_both(made, labels, scores):
    found = []
    for label, score in zip(labels, scores, strict=True):
        made.reset_local()
        made.update([nd.array(label)], [nd.array(score)])
        found.append(made.get()[1])
    return [*found, made.get_global()[1]]


@pytest.mark.parametrize(("name", "settings", "first", "second", "both"), RECORDED)
def test_values_are_those_of_mxnet(name, settings, first, second, both):
    found = first_second_and_both(metric.create(name, **settings), LABELS, SCORES)
    np.testing.assert_allclose(found, [first, second, both], rtol=1e-6)


@pytest.mark.parametrize(("name", "settings", "first", "second", "both"), BINARY_RECORDED)
def test_binary_values_are_those_of_mxnet(name, settings, first, second, both):
    found = first_second_and_both(metric.create(name, **settings), BINARY_LABELS, BINARY_SCORES)
    np.testing.assert_allclose(found, [first, second, both], rtol=1e-6)


def test_accuracy_takes_class_numbers_as_well_as_scores():
    accuracy = metric.Accuracy()
    accuracy.update(nd.array([0, 1, 2]), nd.array([0, 1, 1]))
    assert accuracy.get() == ("accuracy", 2 / 3)


def test_accuracy_of_pixels_looks_along_its_axis():
    accuracy = metric.Accuracy(axis=1)
    scores = nd.array(np.arange(12).reshape(1, 3, 2, 2))
    accuracy.update([nd.array([[[2, 2], [2, 0]]])], [scores])
    assert accuracy.num_inst == 4
    assert accuracy.get()[1] == 0.75


def test_accuracy_without_an_axis_of_classes_is_refused():
    with pytest.raises(MXNetError, match="there is no axis of classes"):
        metric.Accuracy().update([nd.ones((3, 1))], [nd.ones(3)])


def test_accuracy_of_different_lengths_is_refused():
    with pytest.raises(ValueError, match="labels 2 does not match shape of predictions 3"):
        metric.Accuracy().update([nd.ones(2)], [nd.ones((3, 2))])


def test_top_k_beyond_the_classes_counts_all():
    top = metric.TopKAccuracy(top_k=7)
    top.update(nd.array(LABELS[0]), nd.array(SCORES[0]))
    assert top.get() == ("top_k_accuracy_7", 1.0)


def test_top_1_is_refused():
    with pytest.raises(AssertionError, match="Please use Accuracy if top_k is no more than 1"):
        metric.TopKAccuracy()


def test_top_k_of_images_is_refused():
    with pytest.raises(AssertionError, match="no more than 2 dims"):
        metric.TopKAccuracy(2).update([nd.ones(2)], [nd.ones((2, 3, 1))])


def test_f1_of_three_classes_is_refused():
    with pytest.raises(ValueError, match="only supports binary classification"):
        metric.F1().update([nd.array([0, 1, 2])], [nd.array(SCORES[0])])


def test_macro_average_counts_an_update_once_however_many_arrays_it_has():
    f1 = metric.F1()
    f1.update([nd.array(x) for x in BINARY_LABELS], [nd.array(x) for x in BINARY_SCORES])
    assert f1.num_inst == 1


def test_labels_in_a_column_are_labels():
    f1 = metric.F1()
    f1.update([nd.array(BINARY_LABELS[0]).reshape((4, 1))], [nd.array(BINARY_SCORES[0])])
    assert f1.get()[1] == pytest.approx(2 / 3)


def test_pcc_of_two_classes_is_micro_mcc():
    rng = np.random.RandomState(0)
    mcc, pcc = metric.MCC(average="micro"), metric.PCC()
    for _ in range(3):
        label, scores = nd.array(rng.randint(0, 2, 9)), nd.array(rng.rand(9, 2))
        mcc.update([label], [scores])
        pcc.update([label], [scores])
    assert pcc.get()[1] == pytest.approx(mcc.get()[1])


def test_pcc_takes_class_numbers():
    rng = np.random.RandomState(0)
    label, scores = nd.array(rng.randint(0, 4, 20)), rng.rand(20, 4)
    of_scores, of_classes = metric.PCC(), metric.PCC()
    of_scores.update([label], [nd.array(scores)])
    of_classes.update([label], [nd.array(scores.argmax(axis=1))])
    assert of_classes.get() == of_scores.get()


def test_pcc_grows_with_the_classes_seen():
    pcc = metric.PCC()
    pcc.update([nd.array([0, 1])], [nd.array([0, 1])])
    pcc.update([nd.array([0, 4])], [nd.array([1, 2])])
    assert pcc.k == 5
    assert pcc.lcm[1, 0] == 1  # row: prediction, column: label, as in MXNet 1.9.1
    assert pcc.lcm[2, 4] == 1
    assert pcc.gcm.sum() == 4


@pytest.mark.parametrize("name", ["ce", "nll_loss"])
def test_cross_entropy_needs_a_row_for_each_label(name):
    with pytest.raises(AssertionError, match="one label a sample"):
        metric.create(name).update([nd.ones(2)], [nd.ones((3, 2))])


def test_cross_entropy_with_a_label_beyond_the_classes_is_refused():
    with pytest.raises(IndexError, match="labels below 3"):
        metric.CrossEntropy().update([nd.array([3])], [nd.ones((1, 3))])


def test_cross_entropy_of_an_impossible_label_is_finite():
    entropy = metric.CrossEntropy(eps=1e-12)
    entropy.update([nd.array([1])], [nd.array([[1.0, 0.0]])])
    assert entropy.get()[1] == pytest.approx(-np.log(1e-12), rel=1e-6)
