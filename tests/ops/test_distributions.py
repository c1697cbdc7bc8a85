"""Densities against scipy; their gradients are central differences in tests/properties."""

import numpy as np
import pytest
from scipy import stats

from minigluon import MXNetError, nd

PDFS = {
    "uniform": (stats.uniform, lambda low, high: {"loc": low, "scale": high - low}),
    "normal": (stats.norm, lambda mu, sigma: {"loc": mu, "scale": sigma}),
    "gamma": (stats.gamma, lambda alpha, beta: {"a": alpha, "scale": 1 / beta}),
    "exponential": (stats.expon, lambda lam: {"scale": 1 / lam}),
    "poisson": (stats.poisson, lambda lam: {"mu": lam}),
    "negative_binomial": (stats.nbinom, lambda k, p: {"n": k, "p": p}),
    "generalized_negative_binomial": (
        stats.nbinom,
        lambda mu, alpha: {"n": 1 / alpha, "p": 1 / (1 + mu * alpha)},
    ),
}
PARAMETERS = {"uniform": ([0.5, 1.0], [2.0, 4.0]), "negative_binomial": ([1.5, 4.0], [0.3, 0.8])}


@pytest.mark.parametrize("is_log", [False, True])
@pytest.mark.parametrize("name", PDFS)
def test_densities_are_those_of_scipy(name, is_log):
    made, arguments = PDFS[name]
    first = ([0.7, 1.5], [0.4, 2.0])
    parameters = PARAMETERS.get(name, first)[: 1 if name in ("exponential", "poisson") else 2]
    counts = isinstance(made, stats.rv_discrete)
    x = np.array([[0, 1, 3], [2, 4, 7]] if counts else [[0.6, 1.1, 1.9], [1.2, 0.2, 3.0]])
    columns = [np.array(p)[:, None] for p in parameters]
    density = (
        getattr(made, "logpmf" if is_log else "pmf")
        if counts
        else (getattr(made, "logpdf" if is_log else "pdf"))
    )
    arrays = [nd.array(p, dtype="float64") for p in parameters]
    pdf = getattr(nd, f"random_pdf_{name}")
    got = pdf(nd.array(x, dtype="float64"), *arrays, is_log=is_log)
    np.testing.assert_allclose(got.asnumpy(), density(x, **arguments(*columns)), rtol=1e-9)


@pytest.mark.parametrize(
    ("name", "parameters"), [("exponential", [2.0]), ("poisson", [2.0]), ("uniform", [0.0, 1.0])]
)
def test_the_density_of_what_cannot_be_is_zero(name, parameters):
    # MXNet continues the formula: 14.8 for the exponential distribution at -1
    pdf = getattr(nd, f"random_pdf_{name}")
    arrays = [nd.array([p]) for p in parameters]
    assert pdf(nd.array([[-1.0]]), *arrays).asscalar() == 0
    assert pdf(nd.array([[-1.0]]), *arrays, is_log=True).asscalar() == -np.inf


def test_dirichlet_is_that_of_scipy():
    alpha = np.array([[2.0, 3.0, 0.5], [1.0, 1.0, 4.0]])
    x = np.random.default_rng(0).dirichlet([1, 1, 1], (2, 5))
    got = nd.random_pdf_dirichlet(nd.array(x, dtype="float64"), nd.array(alpha, dtype="float64"))
    wanted = [[stats.dirichlet.pdf(s, a) for s in row] for row, a in zip(x, alpha, strict=True)]
    np.testing.assert_allclose(got.asnumpy(), wanted, rtol=1e-9)


def test_parameters_that_do_not_fit_the_samples_are_refused():
    with pytest.raises(MXNetError, match="random_pdf_poisson"):
        nd.random_pdf_poisson(nd.ones((3, 4)), nd.ones((2,)))
