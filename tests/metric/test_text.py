"""Perplexity."""

import numpy as np
import pytest

from minigluon import metric, nd

LABEL = [1, 2, 1]
SCORES = [[0.3, 0.5, 0.2], [0.1, 0.1, 0.8], [0.6, 0.3, 0.1]]


# recorded from MXNet 1.9.1
@pytest.mark.parametrize(
    ("ignore_label", "expected"), [(None, 2.027400692430936), (1, 1.249999976947488)]
)
def test_values_are_those_of_mxnet(ignore_label, expected):
    perplexity = metric.Perplexity(ignore_label)
    perplexity.update([nd.array(LABEL)], [nd.array(SCORES)])
    assert perplexity.get()[1] == pytest.approx(expected, rel=1e-6)
    assert perplexity.get_global() == perplexity.get()


def test_labels_of_any_shape_are_read_in_order():
    flat, square = metric.Perplexity(None), metric.Perplexity(None)
    scores = np.random.RandomState(0).dirichlet([1, 1, 1], 6)
    label = np.array([0, 1, 2, 2, 1, 0])
    flat.update([nd.array(label)], [nd.array(scores)])
    square.update([nd.array(label.reshape(2, 3))], [nd.array(scores.reshape(2, 3, 3))])
    assert square.get() == flat.get()


def test_classes_may_lie_along_another_axis():
    last, first = metric.Perplexity(None), metric.Perplexity(None, axis=0)
    last.update([nd.array(LABEL)], [nd.array(SCORES)])
    first.update([nd.array(LABEL)], [nd.array(SCORES).T])
    assert first.get() == last.get()


def test_negative_labels_can_be_ignored():
    perplexity = metric.Perplexity(-1)
    perplexity.update([nd.array([1, -1, -1])], [nd.array(SCORES)])
    assert perplexity.get()[1] == pytest.approx(2.0)


def test_impossible_words_surprise_finitely():
    perplexity = metric.Perplexity(None)
    perplexity.update([nd.array([0])], [nd.array([[0.0, 1.0]])])
    assert perplexity.get()[1] == pytest.approx(1e10)


def test_a_missing_label_is_refused():
    with pytest.raises(AssertionError, match=r"shape mismatch: \(2,\) vs. \(3, 3\)"):
        metric.Perplexity(None).update([nd.ones(2)], [nd.array(SCORES)])
