"""Connectionist temporal classification: the sum over all alignments of a label with a sequence.

Everything is computed in float64 and in logarithms, for a whole batch at a time. ``log_probs`` is
(time, batch, classes). A label of length n is spread to 2 n + 1 states with blanks between; from
each state a path stays, steps on, or skips a blank between different classes.
"""

from __future__ import annotations

import numpy as np


def spread(labels, lengths, blank):
    """The states of each label, and whether each may be entered from two before."""
    batch, longest = labels.shape
    states = np.full((batch, 2 * longest + 1), blank, np.int64)
    states[:, 1::2] = np.where(np.arange(longest) < lengths[:, None], labels, blank)
    skips = np.zeros(states.shape, bool)
    skips[:, 2:] = (states[:, 2:] != blank) & (states[:, 2:] != states[:, :-2])
    return states, skips


def _shifted(values, by):
    """The values moved towards later states, ``-inf`` in front."""
    result = np.full_like(values, -np.inf)
    result[:, by:] = values[:, :-by] if by < values.shape[1] else values[:, :0]
    return result


def _log_sum(first, second, third):
    """The logarithm of the sum of three exponentials (a third of the time of ``np.logaddexp``)."""
    top = np.maximum(np.maximum(first, second), third)
    top[top == -np.inf] = 0
    total = np.exp(first - top)
    total += np.exp(second - top)
    total += np.exp(third - top)
    with np.errstate(divide="ignore"):
        return np.log(total, out=total) + top


def forward(emissions, skips, data_lengths):
    """Logarithms of the probability of all beginnings that end in each state, at each time.

    ``emissions`` is (time, batch, states): the log probability of the class of each state. Behind
    the end of a sequence values stay as they are.
    """
    alpha = np.full(emissions.shape, -np.inf)
    alpha[0, :, :2] = emissions[0, :, :2]
    for t in range(1, len(emissions)):
        before = alpha[t - 1]
        skipping = np.where(skips, _shifted(before, 2), -np.inf)
        total = _log_sum(before, _shifted(before, 1), skipping) + emissions[t]
        alpha[t] = np.where((t < data_lengths)[:, None], total, before)
    return alpha


def log_likelihood(alpha, label_lengths):
    """Logarithm of the probability of the labels: paths end in the last blank or before it."""
    rows = np.arange(alpha.shape[1])
    end = 2 * label_lengths
    last = alpha[-1, rows, end]
    before = np.where(label_lengths > 0, alpha[-1, rows, np.maximum(end - 1, 0)], -np.inf)
    return np.logaddexp(last, before)


def backward(emissions, skips, data_lengths, label_lengths):
    """Logarithms of the probability of all endings from each state, its own emission excluded."""
    beta = np.full(emissions.shape, -np.inf)
    rows = np.arange(emissions.shape[1])
    final = np.full(emissions.shape[1:], -np.inf)
    end = 2 * label_lengths
    final[rows, end] = 0
    final[rows[label_lengths > 0], end[label_lengths > 0] - 1] = 0
    # a skip into state s leaves s - 2; seen from there it is a skip two ahead
    leaving = np.zeros(skips.shape, bool)
    leaving[:, :-2] = skips[:, 2:]
    steps = len(emissions)
    for t in range(steps - 1, -1, -1):
        if t + 1 < steps:
            after = (beta[t + 1] + emissions[t + 1])[:, ::-1]
            skipping = np.where(leaving, _shifted(after, 2)[:, ::-1], -np.inf)
            total = _log_sum(after[:, ::-1], _shifted(after, 1)[:, ::-1], skipping)
        else:
            total = final
        at_end = (t == data_lengths - 1)[:, None]
        beta[t] = np.where(at_end, final, np.where((t < data_lengths)[:, None], total, -np.inf))
    return beta


def class_shares(alpha, beta, likelihood, states, classes):
    """How likely each class is at each time, given the label: (time, batch, classes)."""
    with np.errstate(invalid="ignore"):
        shares = np.exp(alpha + beta - likelihood[:, None])
    shares = np.nan_to_num(shares, nan=0.0, posinf=0.0)
    result = np.zeros((*alpha.shape[:2], classes))
    rows = np.arange(states.shape[0])
    for state in range(states.shape[1]):
        result[:, rows, states[:, state]] += shares[:, :, state]
    return result
