"""Layers that normalize by statistics of groups, rows or instances, by length, or by neighbours."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ...base import ShapeError
from ...core.attributes import Count
from ...core.infer import UNKNOWN, UnknownShape, same_as
from ...core.op import op
from ...kernels import normalization as kernels
from ...kernels.convolution import widened
from ...kernels.normalization import group_plane, row_plane


def _planar(data, kind, axis, groups):
    """Data seen as rows, or as groups of each sample; and how statistics are taken of that."""
    if kind == "row":
        moved = np.ascontiguousarray(np.moveaxis(data, axis, -1))
        width = moved.shape[-1]
        return moved.reshape(-1, width), row_plane(width)
    groups = groups or data.shape[1]
    return data.reshape(data.shape[0], groups, -1), group_plane(groups)


def _unfolded(x, shape, kind, axis):
    """A planar result in the shape of the data again."""
    if kind != "row":
        return x.reshape(shape)
    moved = np.moveaxis(np.empty(shape, bool), axis, -1).shape  # shapes only
    return np.ascontiguousarray(np.moveaxis(x.reshape(moved), -1, axis))


def _checked(name, data, gamma, beta, size):
    """Refuse parameters of another size before numpy broadcasts them."""
    if gamma.shape != (size,) or beta.shape != (size,):
        raise ShapeError(f"{name}: gamma and beta should have shape ({size},)")


def _normalized(data, gamma, beta, eps, kind, axis=-1, groups=0):
    """(result, mean, standard deviation with eps) of rows or groups."""
    x, plane = _planar(widened(data)[0], kind, axis, groups)
    mean, variance = kernels.moments(x, plane)
    deviation = np.sqrt(variance + eps)
    result = kernels.standardize(x, plane, mean, 1 / deviation, gamma, beta)
    result = _unfolded(result, data.shape, kind, axis).astype(data.dtype, copy=False)
    return result, mean.astype(data.dtype), deviation.astype(data.dtype)


@op(outputs=3)
def _normalization_grad(
    g, data, gamma, mean, deviation, *, kind: Literal["group", "row"], axis: int = -1,
    groups: int = 0,
):  # fmt: skip
    """The gradients of LayerNorm, GroupNorm and InstanceNorm for data, gamma and beta."""
    wide = widened(g, data)
    (incoming, plane), (x, _) = [_planar(v, kind, axis, groups) for v in wide]
    mean, scale = _statistics(mean, deviation, x, plane)
    found = kernels.gradients(incoming, x, plane, mean, scale, gamma)
    by_data = _unfolded(found[0], data.shape, kind, axis).astype(data.dtype, copy=False)
    return by_data, *[v.reshape(gamma.shape).astype(gamma.dtype) for v in found[1:]]


def _statistics(mean, deviation, x, plane):
    """Mean and reciprocal deviation as the kernels want them."""
    shape = [1 if a in plane.axes else n for a, n in enumerate(x.shape)]
    return mean.reshape(shape).astype(x.dtype), (1 / deviation.astype(x.dtype)).reshape(shape)


@_normalization_grad.shape
def _(s, **_):
    s.outs = [s.data, s.gamma, s.gamma]


@_normalization_grad.grad
def _(F, h, g, data, gamma, mean, deviation, *, out, **how):
    found = F._normalization_second(*h, g, data, gamma, mean, deviation, **how)
    return (*found, None, None)


@op(outputs=3)
def _normalization_second(
    h, h_gamma, h_beta, g, data, gamma, mean, deviation, *, kind: Literal["group", "row"],
    axis: int = -1, groups: int = 0,
):  # fmt: skip
    """The gradients of ``_normalization_grad`` for g, data and gamma."""
    wide = [v if v.ndim == 0 else _planar(v, kind, axis, groups)[0] for v in widened(h, g, data)]
    _, plane = _planar(data, kind, axis, groups)
    mean, scale = _statistics(mean, deviation, wide[2], plane)
    found = kernels.second_gradients(
        wide[0], h_gamma, h_beta, wide[1], wide[2], plane, mean, scale, gamma
    )
    by_g, by_data = [
        _unfolded(np.broadcast_to(v, wide[2].shape), data.shape, kind, axis) for v in found[:2]
    ]
    by_gamma = np.broadcast_to(found[2], plane.parameters).reshape(gamma.shape)
    return tuple([v.astype(data.dtype) for v in (by_g, by_data, by_gamma)])


@_normalization_second.shape
def _(s, **_):
    s.outs = [s.data, s.data, s.gamma]


# ---- LayerNorm


def _two_more(output_mean_var, **_):
    return 0 if output_mean_var else 2


@op(outputs=3, hidden_outputs=_two_more, output_names=("output", "mean", "std"))
def LayerNorm(
    data,
    gamma,
    beta,
    *,
    axis: int = -1,
    eps: float = 9.99999975e-06,
    output_mean_var: bool = False,
):
    """``(x - mean) / sqrt(var + eps) * gamma + beta``, mean and variance along one axis.

    Parameters
    ----------
    gamma, beta : as long as that axis.
    output_mean_var : give the mean and ``sqrt(var + eps)`` as well; they have no gradient.

    Examples
    --------
    >>> nd.LayerNorm(nd.array([[1, 3]]), nd.ones(2), nd.zeros(2)).asnumpy().round(4)
    array([[-1.,  1.]], dtype=float32)
    """
    _checked("LayerNorm", data, gamma, beta, data.shape[axis])
    result, *statistics = _normalized(data, gamma, beta, eps, "row", axis)
    shape = list(data.shape)
    shape[axis] = 1
    return result, *[v.reshape(shape) for v in statistics]


@LayerNorm.shape
def _(s, *, axis, **_):
    data = s.data
    if isinstance(data, UnknownShape):
        return
    axis %= len(data)
    s.gamma = s.beta = (data[axis],)
    s.data = (*[UNKNOWN] * axis, s.gamma[0], *[UNKNOWN] * (len(data) - axis - 1))
    s.data = s.out
    reduced = (*s.data[:axis], 1, *s.data[axis + 1 :])
    s.outs = [s.data, reduced, reduced]


@LayerNorm.grad
def _(F, g, data, gamma, beta, *, out, axis, **_):
    return F._normalization_grad(g[0], data, gamma, out[1], out[2], kind="row", axis=axis)


# ---- GroupNorm


@op(outputs=3, hidden_outputs=_two_more, output_names=("output", "mean", "std"))
def GroupNorm(
    data,
    gamma,
    beta,
    *,
    num_groups: Count = 1,
    eps: float = 9.99999975e-06,
    output_mean_var: bool = False,
):
    """Normalization of groups of channels, each by its own statistics in each sample.

    Parameters
    ----------
    data : ``(samples, channels, ...)`` with at least three axes.
    gamma, beta : one number for each group (MXNet 1.x has them so).
    num_groups : divides the number of channels.
    output_mean_var : give the mean and ``sqrt(var + eps)`` of each group as well.

    Examples
    --------
    >>> x = nd.array([[[1, 3], [5, 9]]])
    >>> nd.GroupNorm(x, nd.ones(2), nd.zeros(2), num_groups=2).asnumpy().round(4)
    array([[[-1.,  1.],
            [-1.,  1.]]], dtype=float32)
    """
    _check_groups(data.shape, num_groups)
    _checked("GroupNorm", data, gamma, beta, num_groups)
    result, *statistics = _normalized(data, gamma, beta, eps, "group", groups=num_groups)
    return result, *[v.reshape(data.shape[0], num_groups) for v in statistics]


def _check_groups(shape, num_groups):
    if len(shape) < 3 or (shape[1] is not UNKNOWN and shape[1] % num_groups):
        raise ShapeError(
            f"GroupNorm: the channels cannot be divided into groups.\n  received  data {shape}, "
            f"num_groups={num_groups}\n"
            f"  expected  at least 3 axes, the second a multiple of {num_groups}\n"
            "  fix       change num_groups"
        )


@GroupNorm.shape
def _(s, *, num_groups, **_):
    if isinstance(s.data, UnknownShape):
        return
    _check_groups(s.data, num_groups)
    s.gamma = s.beta = (num_groups,)
    s.data = s.out
    s.outs = [s.data, (s.data[0], num_groups), (s.data[0], num_groups)]


@GroupNorm.grad
def _(F, g, data, gamma, beta, *, out, num_groups, **_):
    return F._normalization_grad(g[0], data, gamma, out[1], out[2], kind="group", groups=num_groups)


# ---- InstanceNorm


@op(outputs=3, hidden_outputs=2, output_names=("output", "mean", "var"))
def InstanceNorm(data, gamma, beta, *, eps: float = 0.00100000005):
    """Normalization of each channel of each sample by its own statistics.

    Parameters
    ----------
    data : ``(samples, channels, ...)`` with at least three axes; any floating dtype (MXNet takes
        float32 only).
    gamma, beta : one number for each channel.

    Examples
    --------
    >>> x = nd.array([[[1, 3]]])
    >>> nd.InstanceNorm(x, nd.ones(1), nd.zeros(1)).asnumpy().round(3)
    array([[[-1.,  1.]]], dtype=float32)
    """
    _check_instances(data.shape)
    _checked("InstanceNorm", data, gamma, beta, data.shape[1])
    result, *statistics = _normalized(data, gamma, beta, eps, "group")
    return result, *[v.reshape(data.shape[:2]) for v in statistics]


def _check_instances(shape):
    if len(shape) < 3:
        raise ShapeError(
            f"InstanceNorm: only supports input tensors of rank >= 3.\n  received  data {shape}\n"
            "  expected  samples, channels and at least one more axis\n  fix       reshape data"
        )


@InstanceNorm.shape
def _(s, **_):
    if isinstance(s.data, UnknownShape):
        return
    _check_instances(s.data)
    s.gamma = s.beta = (s.data[1],)
    s.data = (UNKNOWN, s.gamma[0], *[UNKNOWN] * (len(s.data) - 2))
    s.data = s.out
    s.outs = [s.data, s.data[:2], s.data[:2]]


@InstanceNorm.grad
def _(F, g, data, gamma, beta, *, out, **_):
    return F._normalization_grad(g[0], data, gamma, out[1], out[2], kind="group")


# ---- L2Normalization


def _lengths_along(mode):
    """The axes of a sum, as attributes."""
    if mode == "instance":
        return {"axis": 0, "exclude": True}
    return {"axis": 1} if mode == "channel" else {"axis": (0, 1), "exclude": True}


@op(outputs=2, hidden_outputs=1, output_names=("output", "norm"))
def L2Normalization(
    data,
    *,
    eps: float = 1.00000001e-10,
    mode: Literal["channel", "instance", "spatial"] = "instance",
):
    """``x / sqrt(sum(x**2) + eps)``.

    Parameters
    ----------
    mode : what is summed over: all of a sample ("instance"), the channels at each place
        ("channel", axis 1), or the places of each channel ("spatial", all axes from the third on).

    Examples
    --------
    >>> nd.L2Normalization(nd.array([[3, 4]])).asnumpy()
    array([[0.6, 0.8]], dtype=float32)
    """
    _check_mode(data.shape, mode)
    wide = widened(data)[0]
    axes = tuple(range(1, data.ndim)) if mode == "instance" else (1,)
    if mode == "spatial":
        axes = tuple(range(2, data.ndim))
    length = np.sqrt(
        np.add.reduce(np.square(wide), axis=axes, keepdims=True) + wide.dtype.type(eps)
    )
    kept = tuple([n for k, n in enumerate(data.shape) if k not in axes])
    return (wide / length).astype(data.dtype, copy=False), length.reshape(kept).astype(data.dtype)


def _check_mode(shape, mode):
    least = 2 if mode == "instance" else 3
    if len(shape) < least:
        raise ShapeError(
            f"L2Normalization: At least {least} dimensions required in {mode} mode.\n"
            f"  received  data {shape}, mode={mode}\n  expected  {least} axes or more\n"
            "  fix       reshape data, or use mode='instance'"
        )


@L2Normalization.shape
def _(s, *, mode, **_):
    s.data = s.out
    data = s.data
    if isinstance(data, UnknownShape):
        return
    _check_mode(data, mode)
    lengths = {"instance": data[:1], "channel": (data[0], *data[2:]), "spatial": data[:2]}
    s.outs = [data, lengths[mode]]


@L2Normalization.grad
def _(F, g, data, *, out, eps, mode):
    along = {**_lengths_along(mode), "keepdims": True}
    length = F.sqrt(F.sum(F.square(data), **along) + eps)
    unit = F.broadcast_div(data, length)
    back = g[0] - F.broadcast_mul(unit, F.sum(g[0] * unit, **along))
    return F.broadcast_div(back, length)


L2Normalization.grad(stype="default")


# ---- LRN


@op(outputs=2, hidden_outputs=1, output_names=("output", "tmp_norm"))
def LRN(
    data,
    *,
    alpha: float = 9.99999975e-05,
    beta: float = 0.75,
    knorm: float = 2.0,
    nsize: Count,
):
    """Local response normalization: ``x / (knorm + alpha / nsize * s) ** beta``.

    ``s`` is the sum of squares over the ``nsize`` channels around a channel (an even ``nsize``
    counts as the odd number below, as in MXNet).

    Examples
    --------
    >>> nd.LRN(nd.ones((1, 1, 1, 1)), nsize=1, alpha=2, beta=1).asnumpy()
    array([[[[0.25]]]], dtype=float32)
    """
    wide = widened(data)[0]
    number = wide.dtype.type
    norm = _neighbours(np.square(wide), nsize) * number(alpha / nsize) + number(knorm)
    result = wide * norm ** number(-beta)
    return result.astype(data.dtype, copy=False), norm.astype(data.dtype, copy=False)


def _neighbours(x, nsize):
    """Sums over the channels around each channel."""
    half = (nsize - 1) // 2
    total = x.copy()
    for shift in range(1, min(half, x.shape[1] - 1) + 1):
        total[:, shift:] += x[:, :-shift]
        total[:, :-shift] += x[:, shift:]
    return total


@LRN.shape
def _(s, **_):
    s.data = s.out
    s.outs = [s.data, s.data]


@LRN.grad
def _(F, g, data, *, out, alpha, beta, knorm, nsize):
    norm = F._channel_neighbours(F.square(data), nsize=nsize) * (alpha / nsize) + knorm
    direct = g[0] * norm ** (-beta)
    pulled = F._channel_neighbours(direct * data / norm, nsize=nsize)
    return direct - data * pulled * (2 * alpha * beta / nsize)


@op()
def _channel_neighbours(data, *, nsize: int):
    """Sums over the channels (axis 1) around each channel."""
    return _neighbours(widened(data)[0], nsize).astype(data.dtype, copy=False)


_channel_neighbours.shape(same_as("data"))


@_channel_neighbours.grad
def _(F, g, data, *, out, nsize):
    return F._channel_neighbours(g, nsize=nsize)
