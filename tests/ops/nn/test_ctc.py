"""The CTC loss against the sum over all alignments, written out."""

import itertools

import numpy as np
import pytest

from minigluon import MXNetError, autograd, nd


def collapse(path, blank):
    """What a path of classes stands for: repeats merged, blanks dropped."""
    merged = [k for k, _ in itertools.groupby(path)]
    return [k for k in merged if k != blank]


def loss(scores, label, blank):
    """Minus the logarithm of the probability of all paths that stand for the label."""
    probabilities = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    total = 0.0
    for path in itertools.product(range(scores.shape[1]), repeat=len(scores)):
        if collapse(path, blank) == list(label):
            total += np.prod([probabilities[t, k] for t, k in enumerate(path)])
    return -np.log(total) if total else np.inf


SCORES = np.random.default_rng(0).normal(size=(4, 3, 3))


@pytest.mark.parametrize("blank_label", ["first", "last"])
def test_the_loss_sums_over_all_alignments(blank_label):
    first = blank_label == "first"
    blank, padding = (0, 0) if first else (2, -1)
    labels = [[1, 2], [2, 2], [1]] if first else [[0, 1], [1, 1], [0]]
    full = np.array([row + [padding] * (2 - len(row)) for row in labels])
    got = nd.CTCLoss(
        nd.array(SCORES, dtype="float64"), nd.array(full, dtype="float64"), blank_label=blank_label
    )
    wanted = [loss(SCORES[:, n], label, blank) for n, label in enumerate(labels)]
    np.testing.assert_allclose(got.asnumpy(), wanted, rtol=1e-10)


def test_lengths_cut_data_and_labels():
    data, label = (
        nd.array(SCORES, dtype="float64"),
        nd.array([[1, 2], [2, 1], [1, 1]], dtype="float64"),
    )
    lengths = nd.array([4, 3, 2], dtype="float64"), nd.array([2, 1, 0], dtype="float64")
    got = nd.CTCLoss(data, label, *lengths, use_data_lengths=True, use_label_lengths=True)
    parts = ((4, [1, 2]), (3, [2]), (2, []))
    wanted = [loss(SCORES[:t, n], row, 0) for n, (t, row) in enumerate(parts)]
    np.testing.assert_allclose(got.asnumpy(), wanted, rtol=1e-10)
    named = nd.CTCLoss(data, label, label_lengths=lengths[1], use_label_lengths=True)
    wanted = [loss(SCORES[:, n], row, 0) for n, (_, row) in enumerate(parts)]
    np.testing.assert_allclose(named.asnumpy(), wanted, rtol=1e-10)


def test_a_label_too_long_for_its_sequence_has_no_gradient():
    data = nd.array(SCORES[:2, :1])
    data.attach_grad()
    with autograd.record():
        value = nd.CTCLoss(data, nd.array([[1, 1]]))  # needs a blank between
    value.backward()
    assert value.asscalar() == np.inf
    assert (data.grad.asnumpy() == 0).all()


def test_small_probabilities_do_not_vanish():
    data = np.zeros((60, 1, 5))
    data[:, 0, 1] = -80
    got = nd.CTCLoss(nd.array(data), nd.array([[1, 2, 1, 2, 1]])).asscalar()
    assert np.isfinite(got)
    assert got > 200


@pytest.mark.parametrize(
    ("shape", "label", "error"),
    [
        ((4, 2), [[1]], MXNetError),
        ((4, 2, 3), [[1]], MXNetError),
        ((2, 1, 3), [[1, 2, 1]], MXNetError),
        ((4, 1, 3), [[3]], IndexError),
    ],
)
def test_what_does_not_fit_is_refused(shape, label, error):
    with pytest.raises(error, match="CTCLoss"):
        nd.CTCLoss(nd.ones(shape), nd.array(label))
