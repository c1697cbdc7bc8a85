"""Probability densities of samples, differentiable in the sample and in the parameters."""

from __future__ import annotations

import numpy as np

from ..core.infer import UnknownShape
from ..core.op import op
from ._signature import with_signature

# A density has a logarithm, given twice: as a kernel on arrays of one shape, and as its
# derivatives, on expressions. ``inside`` says where a sample is possible at all.


def _special():
    from scipy import special

    return special


def _uniform(x, low, high):
    return -np.log(high - low) + np.zeros_like(x)


def _uniform_slopes(F, x, low, high):
    return F.zeros_like(x), 1 / (high - low), -1 / (high - low)


def _normal(x, mu, sigma):
    return -0.5 * ((x - mu) / sigma) ** 2 - np.log(sigma) - 0.5 * np.log(2 * np.pi)


def _normal_slopes(F, x, mu, sigma):
    pull = (x - mu) / (sigma * sigma)
    return -pull, pull, (pull * (x - mu) - 1) / sigma


def _exponential(x, lam):
    return np.log(lam) - lam * x


def _exponential_slopes(F, x, lam):
    return -lam, 1 / lam - x


def _gamma(x, alpha, beta):
    special = _special()
    return alpha * np.log(beta) + (alpha - 1) * np.log(x) - beta * x - special.gammaln(alpha)


def _gamma_slopes(F, x, alpha, beta):
    return (
        (alpha - 1) / x - beta,
        F.log(beta) + F.log(x) - F._polygamma(alpha, order=0),
        alpha / beta - x,
    )


def _poisson(x, lam):
    special = _special()
    return special.xlogy(x, lam) - lam - special.gammaln(x + 1)


def _poisson_slopes(F, x, lam):
    return None, x / lam - 1


def _negative_binomial(x, k, p):
    special = _special()
    ways = special.gammaln(x + k) - special.gammaln(x + 1) - special.gammaln(k)
    return ways + k * np.log(p) + special.xlog1py(x, -p)


def _negative_binomial_slopes(F, x, k, p):
    return (
        None,
        F._polygamma(x + k, order=0) - F._polygamma(k, order=0) + F.log(p),
        k / p - x / (1 - p),
    )


def _generalized(x, mu, alpha):
    return _negative_binomial(x, 1 / alpha, 1 / (mu * alpha + 1))


def _generalized_slopes(F, x, mu, alpha):
    k, p = 1 / alpha, 1 / (mu * alpha + 1)
    _, by_k, by_p = _negative_binomial_slopes(F, x, k, p)
    return None, -(by_p * alpha * p * p), -(by_k * k * k) - by_p * mu * p * p


#: name -> (title, parameters, log density, its derivatives, inside)
_DENSITIES = {
    "uniform": (
        "uniform distribution on ``[low, high]``", ("low", "high"), _uniform, _uniform_slopes,
        lambda x, low, high: (x >= low) & (x <= high),
    ),
    "normal": (
        "normal distribution of mean ``mu`` and deviation ``sigma``", ("mu", "sigma"), _normal,
        _normal_slopes, None,
    ),
    "gamma": (
        "gamma distribution of shape ``alpha`` and rate ``beta``", ("alpha", "beta"), _gamma,
        _gamma_slopes, lambda x, alpha, beta: x >= 0,
    ),
    "exponential": (
        "exponential distribution of rate ``lam``", ("lam",), _exponential, _exponential_slopes,
        lambda x, lam: x >= 0,
    ),
    "poisson": (
        "Poisson distribution of mean ``lam``", ("lam",), _poisson, _poisson_slopes,
        lambda x, lam: x >= 0,
    ),
    "negative_binomial": (
        "negative binomial distribution: ``sample`` failures before ``k`` successes of probability "
        "``p``", ("k", "p"), _negative_binomial, _negative_binomial_slopes, lambda x, k, p: x >= 0,
    ),
    "generalized_negative_binomial": (
        "negative binomial distribution of mean ``mu`` and dispersion ``alpha``", ("mu", "alpha"),
        _generalized, _generalized_slopes, lambda x, mu, alpha: x >= 0,
    ),
}  # fmt: skip


def _declare(name):
    title, parameters, logarithm, slopes, inside = _DENSITIES[name]

    def density(sample, *arrays, is_log):
        spread = (..., *[None] * (sample.ndim - arrays[0].ndim))
        values = [a[spread] for a in arrays]
        result = np.asarray(logarithm(sample, *values))
        if inside is not None:
            result = np.where(inside(sample, *values), result, -np.inf)
        result = result if is_log else np.exp(result)
        return result.astype(sample.dtype, copy=False)

    doc = f"""The density at ``sample`` of the {title}.

    Each element of the parameters belongs to the block of ``sample`` with its index in front.
    Outside the possible samples the density is 0 (MXNet continues the formula there). Counts have
    no gradient.

    Parameters
    ----------
    is_log : give the logarithm of the density.
    """
    made = op(
        with_signature(
            density,
            f"_random_pdf_{name}",
            doc,
            ("sample", *parameters),
            (("is_log", "bool", False),),
        ),
        aliases=(f"random_pdf_{name}",),
    )

    @made.shape
    def _(s, **_):
        s.sample = s.out
        s.out = s.sample
        sample = s.sample
        for parameter in parameters:
            for other in parameters:
                setattr(s, other, getattr(s, parameter))
        shape = getattr(s, parameters[0])
        if not isinstance(sample, UnknownShape) and not isinstance(shape, UnknownShape):
            s.ins = [sample] + [sample[: len(shape)]] * len(parameters)

    @made.grad
    def _(F, g, sample, *arrays, out, is_log):
        whole = [F._pdf_spread(a, sample) for a in arrays]
        if not is_log:
            g = g * out
        if inside is not None:
            support = F._pdf_possible(out, is_log=is_log)
            g = F.where(support, g, F.zeros_like(g))
        by_sample, *by_parameters = slopes(F, sample, *whole)
        return (
            None if by_sample is None else g * by_sample,
            *[F._pdf_sum(g * s, a) for s, a in zip(by_parameters, arrays, strict=True)],
        )


@op(grad="zero")
def _pdf_possible(density, *, is_log: bool):
    """One where a density is not zero."""
    return (density != (-np.inf if is_log else 0)).astype(density.dtype)


_pdf_possible.shape(lambda s, **_: setattr(s, "out", s.density))


@op(shape_only=("like",), copies_view=True)
def _pdf_spread(data, like):
    """The data repeated along axes behind its own, in the shape of ``like``."""
    return np.broadcast_to(data[(..., *[None] * (like.ndim - data.ndim))], like.shape)


_pdf_spread.shape(lambda s, **_: setattr(s, "out", s.like))


@_pdf_spread.grad
def _(F, h, data, like, *, out):
    return F._pdf_sum(h, data), None


@op(shape_only=("like",))
def _pdf_sum(data, like):
    """The sum over the axes behind those of ``like``."""
    return np.add.reduce(data, axis=tuple(range(like.ndim, data.ndim)))


_pdf_sum.shape(lambda s, **_: setattr(s, "out", s.like))


@_pdf_sum.grad
def _(F, h, data, like, *, out):
    return F._pdf_spread(h, data), None


for _name in _DENSITIES:
    _declare(_name)


@op(aliases=("random_pdf_dirichlet",))
def _random_pdf_dirichlet(sample, alpha, *, is_log: bool = False):
    """The density at ``sample`` of the Dirichlet distribution with concentrations ``alpha``.

    The last axis of both holds the components; in front each row of ``alpha`` belongs to the block
    of ``sample`` with its index.

    Examples
    --------
    >>> nd._internal._random_pdf_dirichlet(nd.array([[0.5, 0.5]]), nd.array([2.0, 3.0])).asnumpy()
    array([1.5], dtype=float32)
    """
    special = _special()
    power = alpha[(..., *[None] * (sample.ndim - alpha.ndim), slice(None))]
    result = np.add.reduce(special.xlogy(power - 1, sample), axis=-1)
    scale = special.gammaln(np.add.reduce(power, axis=-1))
    result = result + scale - np.add.reduce(special.gammaln(power), axis=-1)
    return (result if is_log else np.exp(result)).astype(sample.dtype, copy=False)


@_random_pdf_dirichlet.shape
def _(s, **_):
    sample, alpha = s.sample, s.alpha
    if isinstance(sample, UnknownShape):
        return
    s.out = sample[:-1] or (1,)
    if not isinstance(alpha, UnknownShape):
        s.alpha = (*sample[: len(alpha) - 1], sample[-1])


@_random_pdf_dirichlet.grad
def _(F, g, sample, alpha, *, out, is_log):
    if not is_log:
        g = g * out
    g = F._spread_along_last(g, sample)
    power = F._pdf_spread_rows(alpha, sample)
    total = F._spread_along_last(F.sum(power, axis=-1), sample)
    by_alpha = F.log(sample) + F._polygamma(total, order=0) - F._polygamma(power, order=0)
    return g * (power - 1) / sample, F._pdf_sum_rows(g * by_alpha, alpha)


def _rows_between(like, data):
    return tuple(range(like.ndim - 1, data.ndim - 1))


@op(shape_only=("like",), copies_view=True)
def _spread_along_last(data, like):
    """The data repeated along a new last axis, in the shape of ``like``."""
    return np.broadcast_to(data.reshape(like.shape[:-1])[..., None], like.shape)


_spread_along_last.shape(lambda s, **_: setattr(s, "out", s.like))


@_spread_along_last.grad
def _(F, h, data, like, *, out):
    return F.sum(h, axis=-1), None


@op(shape_only=("like",), copies_view=True)
def _pdf_spread_rows(data, like):
    """The data repeated along axes in front of its last, in the shape of ``like``."""
    gaps = [None] * (like.ndim - data.ndim)
    return np.broadcast_to(data[(..., *gaps, slice(None))], like.shape)


_pdf_spread_rows.shape(lambda s, **_: setattr(s, "out", s.like))


@_pdf_spread_rows.grad
def _(F, h, data, like, *, out):
    return F._pdf_sum_rows(h, data), None


@op(shape_only=("like",))
def _pdf_sum_rows(data, like):
    """The sum over the axes that ``_pdf_spread_rows`` adds."""
    return np.add.reduce(data, axis=_rows_between(like, data))


_pdf_sum_rows.shape(lambda s, **_: setattr(s, "out", s.like))


@_pdf_sum_rows.grad
def _(F, h, data, like, *, out):
    return F._pdf_spread_rows(h, data), None
