"""Normalization: mean and variance along some axes, what is left of data without them, gradients.

Data come as a view of two or three axes, described by a `Plane`; statistics keep the axes they were
taken along, with length one. Half precision is computed in single precision, sums across samples in
double precision.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

#: bytes of data worked on at a time, so that several passes stay in the cache
BLOCK_BYTES = 1 << 18


class Plane(NamedTuple):
    """Along which axes statistics are taken, and the shape in which parameters broadcast."""

    axes: tuple[int, ...]
    parameters: tuple[int, ...]

    def summed(self) -> tuple[int, ...]:
        """The axes along which gradients of parameters are summed."""
        return tuple([k for k, n in enumerate(self.parameters) if n == 1])


def batch_plane(channels: int) -> Plane:
    """``(samples, channels, rest)``: statistics of each channel."""
    return Plane((0, 2), (1, channels, 1))


def group_plane(groups: int) -> Plane:
    """``(samples, groups, rest)``: statistics of each group of each sample."""
    return Plane((2,), (1, groups, 1))


def row_plane(width: int) -> Plane:
    """``(rows, width)``: statistics of each row."""
    return Plane((1,), (1, width))


def moments(x: Any, plane: Plane) -> tuple[Any, Any]:
    """Mean and variance along the plane's axes, as float64."""
    count = prod(x.shape[a] for a in plane.axes)
    mean = _total(x, plane) / count
    centre = mean.astype(x.dtype)
    squares: Any = np.zeros(mean.shape)
    for at in _blocks(x):
        part = x[at] - _of_block(centre, at)
        if plane.axes[0] == 0:
            squares += _dot(part, part, plane)
        else:
            squares[at] = _dot(part, part, plane)
    variance = squares / count
    if not np.isfinite(variance).all():  # squares that single precision cannot hold
        wide = x.astype(np.float64)
        variance = np.add.reduce(np.square(wide - mean), axis=plane.axes, keepdims=True) / count
    return mean, variance


def _total(x: Any, plane: Plane) -> Any:
    """Sums along the axes: pairwise within a sample, in double precision across samples."""
    if plane.axes == (0, 2) and x.shape[2] > 1:
        inner = np.add.reduce(x, axis=2, keepdims=True)
        return np.add.reduce(inner, axis=0, keepdims=True, dtype=np.float64)
    if plane.axes[0] == 0:
        return np.add.reduce(x, axis=plane.axes, keepdims=True, dtype=np.float64)
    return np.add.reduce(x, axis=plane.axes, keepdims=True).astype(np.float64)


def _dot(a: Any, b: Any, plane: Plane) -> Any:
    """Sums of products along the axes."""
    if a.ndim == 2:
        return np.einsum("rd,rd->r", a, b)[:, None]
    if plane.axes == (2,):
        return np.einsum("ngd,ngd->ng", a, b)[:, :, None]
    if a.shape[2] == 1:
        return np.einsum("nc,nc->c", a[:, :, 0], b[:, :, 0])[None, :, None]
    inner = np.einsum("ncp,ncp->nc", a, b)
    return np.add.reduce(inner, axis=0, dtype=np.float64)[None, :, None]


def _blocks(x: Any) -> list[slice]:
    """Slices of the first axis that hold about `BLOCK_BYTES` each."""
    row = max(x.nbytes // max(x.shape[0], 1), 1)
    step = max(BLOCK_BYTES // row, 1)
    return [slice(n, min(n + step, x.shape[0])) for n in range(0, x.shape[0], step)]


def _of_block(statistic: Any, at: slice) -> Any:
    """A statistic for a block of samples."""
    return statistic if statistic.shape[0] == 1 else statistic[at]


def standardize(x: Any, plane: Plane, mean: Any, scale: Any, gamma: Any, beta: Any) -> Any:
    """``(x - mean) * scale * gamma + beta``; gamma None means 1."""
    mean, scale = mean.astype(x.dtype), scale.astype(x.dtype)
    beta = beta.reshape(plane.parameters).astype(x.dtype, copy=False)
    if gamma is not None:
        gamma = gamma.reshape(plane.parameters).astype(x.dtype, copy=False)
        if plane.axes[0] == 0:
            scale, gamma = scale * gamma, None
    result = np.empty(x.shape, x.dtype)
    for at in _blocks(x):
        part = result[at]
        np.subtract(x[at], _of_block(mean, at), out=part)
        part *= _of_block(scale, at)
        if gamma is not None:
            part *= gamma
        part += beta
    return result


def gradients(
    g: Any, x: Any, plane: Plane, mean: Any, scale: Any, gamma: Any, constant: bool = False
) -> tuple[Any, Any, Any]:
    """The gradients of `standardize` for x, gamma and beta, statistics being functions of x.

    With ``constant`` they are not: x then only meets a factor.
    """
    mean, scale = mean.astype(x.dtype), scale.astype(x.dtype)
    count = prod(x.shape[a] for a in plane.axes)
    factor = None if gamma is None else gamma.reshape(plane.parameters).astype(x.dtype, copy=False)
    if plane.axes[0] == 0:
        by_gamma, by_beta = _parameter_sums(g, x, plane, mean, scale)
        slope = scale if factor is None else scale * factor
        if constant:
            return g * slope, by_gamma, by_beta
        return (
            _projected(g, x, plane, mean, scale, slope, by_beta / count, by_gamma / count),
            by_gamma,
            by_beta,
        )
    by_gamma, by_beta = np.zeros(plane.parameters), np.zeros(plane.parameters)
    result = np.empty(x.shape, x.dtype)
    for at in _blocks(x):
        hat = x[at] - mean[at]
        hat *= scale[at]
        incoming = g[at]
        products = incoming * hat
        by_gamma += np.add.reduce(products, axis=plane.summed(), keepdims=True)
        by_beta += np.add.reduce(incoming, axis=plane.summed(), keepdims=True)
        pushed = incoming if factor is None else incoming * factor
        if factor is not None:
            products *= factor
        along = np.add.reduce(products, axis=plane.axes, keepdims=True) / x.dtype.type(count)
        middle = np.add.reduce(pushed, axis=plane.axes, keepdims=True) / x.dtype.type(count)
        hat *= along
        part = result[at]
        np.subtract(pushed, middle, out=part)
        part -= hat
        part *= scale[at]
    return result, by_gamma, by_beta


def _parameter_sums(g: Any, x: Any, plane: Plane, mean: Any, scale: Any) -> tuple[Any, Any]:
    """Gradients of gamma and beta of a batch, float64."""
    by_gamma: Any = np.zeros(plane.parameters)
    for at in _blocks(x):
        by_gamma += _dot(g[at], x[at] - mean, plane)
    return by_gamma * scale, _total(g, plane)


def _projected(
    g: Any, x: Any, plane: Plane, mean: Any, scale: Any, slope: Any, middle: Any, along: Any
) -> Any:
    """``slope * (g - middle - hat * along)``, hat being the standardized x."""
    factor = (scale * along).astype(x.dtype)
    middle = middle.astype(x.dtype)
    result = np.empty(x.shape, x.dtype)
    for at in _blocks(x):
        part = result[at]
        np.subtract(x[at], mean, out=part)
        part *= factor
        np.subtract(g[at], part, out=part)
        part -= middle
        part *= slope
    return result


def second_gradients(
    h: Any, h_gamma: Any, h_beta: Any, g: Any, x: Any, plane: Plane, mean: Any, scale: Any,
    gamma: Any, constant: bool = False,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """Gradients for g, x and gamma of what depends on the results of `gradients` as the h say.

    With ``hat = (x - mean) * scale`` and ``P`` the projection that takes away what is constant and
    what is along ``hat``, the gradient for x is ``scale * P(gamma * g)``. ``P`` is its own adjoint.
    """
    count = prod(x.shape[a] for a in plane.axes)
    factor = gamma.reshape(plane.parameters) if gamma is not None else np.ones((), x.dtype)
    h_gamma = h_gamma.reshape(plane.parameters) if np.ndim(h_gamma) else h_gamma
    h_beta = h_beta.reshape(plane.parameters) if np.ndim(h_beta) else h_beta
    hat = (x - mean) * scale

    def middle(values: Any) -> Any:
        return np.add.reduce(values, axis=plane.axes, keepdims=True) / count

    def project(values: Any) -> Any:
        return values - middle(values) - hat * middle(values * hat)

    def for_parameters(values: Any) -> Any:
        return np.add.reduce(values, axis=plane.summed(), keepdims=True)

    if constant:
        back = h * scale
        for_g = back * factor + h_gamma * hat + h_beta
        return for_g, h_gamma * g * scale, for_parameters(back * g)
    pushed = factor * g
    back = scale * project(h)
    for_g = factor * back + h_gamma * hat + h_beta
    for_gamma = for_parameters(g * back)
    by_hat = h_gamma * g - scale * (h * middle(pushed * hat) + pushed * middle(h * hat))
    by_scale = np.add.reduce(h * project(pushed), axis=plane.axes, keepdims=True)
    for_x = scale * project(by_hat) - by_scale * np.square(scale) * hat / count
    return for_g, for_x, for_gamma
