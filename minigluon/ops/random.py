"""Operators that draw numbers."""

from __future__ import annotations

import numpy as np

from ..core.attributes import DType, Shape
from ..core.op import op
from ._draws import (
    dtype_of_attribute,
    dtype_of_parameters,
    floating,
    refuse,
    shape_of_attribute,
    shape_of_data,
    shape_of_parameters,
)
from ._shared import filled


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
        raise refuse("uniform", "high", high, f"at least low={low}")
    return filled(_uniform(rng, low, high, shape or (1,), floating("uniform", dtype)), out)


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
        raise refuse("normal", "scale", scale, "a number above 0")
    return filled(_normal(rng, loc, scale, shape or (1,), floating("normal", dtype)), out)


for _sampler in (_random_uniform, _random_normal):
    _sampler.shape(shape_of_attribute)
    _sampler.dtype(dtype_of_attribute)


@op(grad="zero")
def _random_uniform_like(data, *, low: float = 0.0, high: float = 1.0, rng):
    """Numbers drawn evenly from ``[low, high)`` in the shape and dtype of ``data``."""
    return _uniform(rng, low, high, data.shape, data.dtype)


@op(grad="zero")
def _random_normal_like(data, *, loc: float = 0.0, scale: float = 1.0, rng):
    """Normally distributed numbers in the shape and dtype of ``data``."""
    return _normal(rng, loc, scale, data.shape, data.dtype)


for _sampler in (_random_uniform_like, _random_normal_like):
    _sampler.shape(shape_of_data)


def _per_element(first, second, shape, draw, dtype):
    """``shape`` draws for each element of the parameters."""
    whole = (*first.shape, *shape)
    spread = (..., *[None] * len(shape))
    return draw(whole, first[spread], second[spread]).astype(dtype, copy=False)


@op(aliases=("sample_uniform",), grad="zero")
def _sample_uniform(low, high, *, shape: Shape = (), dtype: DType | None = None, rng):
    """``shape`` numbers drawn evenly from ``[low[i], high[i])``, for each i."""
    dtype = floating("uniform", dtype)
    return _per_element(low, high, shape, lambda n, a, b: rng.random(n) * (b - a) + a, dtype)


@op(aliases=("sample_normal",), grad="zero")
def _sample_normal(mu, sigma, *, shape: Shape = (), dtype: DType | None = None, rng):
    """``shape`` numbers from the normal distribution of ``mu[i]`` and ``sigma[i]``, for each i."""
    dtype = floating("normal", dtype)
    return _per_element(mu, sigma, shape, lambda n, a, b: rng.standard_normal(n) * b + a, dtype)


for _sampler in (_sample_uniform, _sample_normal):
    _sampler.shape(shape_of_parameters)
    _sampler.dtype(dtype_of_parameters)
