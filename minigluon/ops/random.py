"""Operators that draw numbers."""

from __future__ import annotations

import numpy as np

from ..base import AttributeValueError
from ..core.attributes import DType, Shape
from ..core.infer import UNKNOWN
from ..core.op import op
from ._shared import filled

_FLOAT = np.dtype(np.float32)


def _refuse(name, what, value, expected):
    return AttributeValueError(
        f"{name}: {what} is not valid.\n  received  {what}={value}\n  expected  {expected}\n"
        f"  fix       choose such a {what}"
    )


def _floating(name, dtype):
    """The dtype to draw, float32 if none is given; raises for whole numbers."""
    if dtype is None:
        return _FLOAT
    if dtype.kind != "f":
        raise _refuse(name, "dtype", dtype, "float16, float32 or float64")
    return dtype


def _uniform(rng, low, high, shape, dtype):
    kind = np.float32 if dtype == np.float32 else np.float64
    drawn = rng.random(shape, kind)
    drawn *= kind(high - low)
    if low:
        drawn += kind(low)
        if high > low:  # the sum may round up to high, which is not to be drawn
            np.minimum(drawn, np.nextafter(kind(high), kind(low)), out=drawn)
    return drawn.astype(dtype, copy=False)


def _normal(rng, loc, scale, shape, dtype):
    kind = np.float32 if dtype == np.float32 else np.float64
    drawn = rng.standard_normal(shape, kind)
    return (drawn * kind(scale) + kind(loc)).astype(dtype, copy=False)


@op(aliases=("random_uniform", "uniform"))
def _random_uniform(
    *,
    low: float = 0.0,
    high: float = 1.0,
    shape: Shape | None = None,
    dtype: DType | None = None,
    rng,
    out=None,
):
    """Numbers drawn evenly from ``[low, high)``.

    Examples
    --------
    >>> nd.random.uniform(0, 1, shape=(2, 3)).shape
    (2, 3)
    """
    if high < low:
        raise _refuse("uniform", "high", high, f"at least low={low}")
    return filled(_uniform(rng, low, high, shape or (1,), _floating("uniform", dtype)), out)


@op(aliases=("random_normal", "normal"))
def _random_normal(
    *,
    loc: float = 0.0,
    scale: float = 1.0,
    shape: Shape | None = None,
    dtype: DType | None = None,
    rng,
    out=None,
):
    """Numbers drawn from the normal distribution of mean ``loc`` and standard deviation ``scale``.

    Examples
    --------
    >>> nd.random.normal(0, 1, shape=(2, 3)).shape
    (2, 3)
    """
    if scale <= 0:
        raise _refuse("normal", "scale", scale, "a number above 0")
    return filled(_normal(rng, loc, scale, shape or (1,), _floating("normal", dtype)), out)


for _sampler in (_random_uniform, _random_normal):

    @_sampler.shape
    def _(s, *, shape, **_):
        if shape is None:
            s.out = (1,)
        else:
            s.out = tuple([UNKNOWN if d == 0 else d for d in shape])

    @_sampler.dtype
    def _(t, *, dtype, **_):
        t.out = dtype or np.float32


@op(grad="zero")
def _random_uniform_like(data, *, low: float = 0.0, high: float = 1.0, rng):
    """Numbers drawn evenly from ``[low, high)`` in the shape and dtype of ``data``."""
    return _uniform(rng, low, high, data.shape, data.dtype)


@op(grad="zero")
def _random_normal_like(data, *, loc: float = 0.0, scale: float = 1.0, rng):
    """Normally distributed numbers in the shape and dtype of ``data``."""
    return _normal(rng, loc, scale, data.shape, data.dtype)


for _sampler in (_random_uniform_like, _random_normal_like):

    @_sampler.shape
    def _(s, **_):
        s.data = s.out
        s.out = s.data


def _per_element(first, second, shape, draw, dtype):
    """``shape`` draws for each element of the parameters."""
    whole = (*first.shape, *shape)
    spread = (..., *[None] * len(shape))
    return draw(whole, first[spread], second[spread]).astype(dtype or np.float32, copy=False)


@op(aliases=("sample_uniform",), grad="zero")
def _sample_uniform(low, high, *, shape: Shape = (), dtype: DType | None = None, rng):
    """``shape`` numbers drawn evenly from ``[low[i], high[i])``, for each i."""
    return _per_element(low, high, shape, lambda n, a, b: rng.random(n) * (b - a) + a, dtype)


@op(aliases=("sample_normal",), grad="zero")
def _sample_normal(mu, sigma, *, shape: Shape = (), dtype: DType | None = None, rng):
    """``shape`` numbers from the normal distribution of ``mu[i]`` and ``sigma[i]``, for each i."""
    return _per_element(mu, sigma, shape, lambda n, a, b: rng.standard_normal(n) * b + a, dtype)


for _sampler in (_sample_uniform, _sample_normal):

    @_sampler.shape
    def _(s, *, shape, **_):
        for parameter in s.ins:
            s.ins = [parameter, parameter]
        first = s.ins[0]
        try:
            s.out = (*first, *shape)
        except TypeError:
            return

    @_sampler.dtype
    def _(t, *, dtype, **_):
        for parameter in t.ins:
            if parameter is not None:
                t.ins = [parameter, parameter]
        t.out = dtype or np.float32
