"""The likelihood of Hawkes processes."""

import numpy as np
import pytest
from scipy import integrate

from minigluon import MXNetError, nd


def test_the_likelihood_is_that_of_the_rate():
    mu, alpha, beta = np.array([0.8, 0.5]), np.array([0.4, 0.2]), np.array([1.2, 0.7])
    times, marks, end = np.array([0.5, 1.1, 1.7]), np.array([0, 1, 0]), 2.5

    def rate(k, t):
        before = times[(marks == k) & (times < t)]
        return mu[k] + alpha[k] * beta[k] * np.exp(-beta[k] * (t - before)).sum()

    wanted = sum(np.log(rate(k, t)) for k, t in zip(marks, times, strict=True))
    wanted -= sum(
        integrate.quad(lambda t, k=k: rate(k, t), 0, end, points=times)[0] for k in range(2)
    )
    arrays = [mu[None], alpha, beta, np.zeros((1, 2)), np.diff(times, prepend=0)[None]]
    arrays = [nd.array(x, dtype="float64") for x in arrays]
    ends = [nd.array([x], dtype="float64") for x in (3, end)]
    got, state = nd.contrib.hawkesll(*arrays, nd.array(marks[None], dtype="int32"), *ends)
    np.testing.assert_allclose(got.asnumpy(), [wanted], rtol=1e-8)
    decayed = [np.exp(-beta[k] * (end - times[marks == k])).sum() for k in range(2)]
    np.testing.assert_allclose(state.asnumpy()[0], decayed)


def test_marks_that_are_not_there_are_refused():
    ones = nd.ones((1, 2))
    with pytest.raises(MXNetError, match="mark that is not there"):
        nd.contrib.hawkesll(
            ones, nd.ones(2), nd.ones(2), ones, nd.ones((1, 1)), nd.array([[2]], dtype="int32"),
            nd.ones(1), nd.ones(1),
        )  # fmt: skip
