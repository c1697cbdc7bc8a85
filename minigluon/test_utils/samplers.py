"""Statistical tests of random number generators."""

from __future__ import annotations

import itertools

import numpy as np


def gen_buckets_probs_with_ppf(ppf, nbuckets):
    """Intervals of equal probability for a quantile function, and their probabilities.

    Examples
    --------
    >>> gen_buckets_probs_with_ppf(lambda p: 2 * p, 2)
    ([(0.0, 1.0), (1.0, 2.0)], [0.5, 0.5])
    """
    probability = 1.0 / nbuckets
    edges = [float(ppf(k / nbuckets)) for k in range(nbuckets + 1)]
    return list(itertools.pairwise(edges)), [probability] * nbuckets


def mean_check(generator, mu, sigma, nsamples=1000000):
    """Whether the mean of ``generator(nsamples)`` is within three standard errors of ``mu``."""
    mean = np.mean(np.array(generator(nsamples)))
    return bool(abs(mean - mu) < 3 * sigma / np.sqrt(nsamples))


def var_check(generator, sigma, nsamples=1000000):
    """Whether the variance of ``generator(nsamples)`` is near ``sigma**2``: three errors."""
    variance = np.var(np.array(generator(nsamples)), ddof=1)
    return bool(abs(variance - sigma**2) < 3 * np.sqrt(2 * sigma**4 / (nsamples - 1)))


def chi_square_check(generator, buckets, probs, nsamples=1000000):
    """Pearson's test of a generator: the p-value, the counts found and the counts expected.

    ``buckets`` are adjoining ``(low, high)`` intervals of a continuous distribution, or the
    values of a discrete one; ``probs`` are their probabilities.
    """
    from scipy import stats

    samples = np.array(generator(nsamples)).ravel()
    expected = (nsamples * np.array(probs)).astype(np.int32)
    if isinstance(buckets[0], list | tuple):
        edges = [low for low, _ in buckets] + [buckets[-1][1]]
        position = np.searchsorted(edges, samples, side="right") - 1
        inside = (position >= 0) & (position < len(buckets))
        found = np.bincount(position[inside], minlength=len(buckets))
    else:
        found = np.array([np.count_nonzero(samples == value) for value in buckets])
    statistic = np.sum((found - expected) ** 2 / expected)
    return float(stats.chi2.sf(statistic, len(buckets) - 1)), found, expected


def verify_generator(
    generator, buckets, probs, nsamples=1000000, nrepeat=5, success_rate=0.2, alpha=0.05
):
    """Repeat ``chi_square_check`` and return the p-values.

    Raises ``AssertionError`` when fewer than ``success_rate`` of the tests pass at level ``alpha``.
    """
    tests = [chi_square_check(generator, buckets, probs, nsamples) for _ in range(nrepeat)]
    p_values = [p for p, _, _ in tests]
    if np.mean(np.array(p_values) > alpha) < success_rate:
        raise AssertionError(
            f"Generator test fails, Chi-square p={p_values}, "
            f"obs_freq={[found for _, found, _ in tests]}, "
            f"expected_freq={[expected for _, _, expected in tests]}."
            f"\nbuckets={buckets}, probs={probs}"
        )
    return p_values
