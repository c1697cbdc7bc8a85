"""Alignments of labels with sequences; the loss itself is tested in tests/ops/nn/test_ctc.py."""

import numpy as np

from minigluon.kernels import alignment


def test_labels_are_spread_between_blanks():
    states, skips = alignment.spread(np.array([[1, 1, 2]]), np.array([3]), 0)
    assert states.tolist() == [[0, 1, 0, 1, 0, 2, 0]]
    assert skips.tolist() == [[False, False, False, False, False, True, False]]


def test_shares_of_classes_add_up_to_one_where_there_is_data():
    scores = np.random.default_rng(0).normal(size=(5, 2, 4))
    log_probs = scores - np.log(np.exp(scores).sum(axis=2, keepdims=True))
    ends, label_ends = np.array([5, 3]), np.array([2, 1])
    states, skips = alignment.spread(np.array([[1, 2], [3, 0]]), label_ends, 0)
    emissions = np.take_along_axis(log_probs, states[None], axis=2)
    alpha = alignment.forward(emissions, skips, ends)
    beta = alignment.backward(emissions, skips, ends, label_ends)
    likelihood = alignment.log_likelihood(alpha, label_ends)
    shares = alignment.class_shares(alpha, beta, likelihood, states, 4)
    np.testing.assert_allclose(shares.sum(axis=2)[:, 0], 1)
    np.testing.assert_allclose(shares.sum(axis=2)[:3, 1], 1)
