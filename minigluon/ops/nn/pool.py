"""Pooling: one value for every window, and averages over a grid of given size."""

from __future__ import annotations

from math import prod
from typing import Literal

import numpy as np

from ...base import AttributeValueError, ShapeError
from ...core.attributes import Shape
from ...core.infer import UNKNOWN, UnknownShape
from ...core.op import op
from ...kernels import pooling as kernels
from ...kernels.convolution import widened
from ...kernels.pooling import Pool
from .conv import channels_first, channels_last, in_layout


def _places(size, kernel, stride, pad, convention):
    """How many windows there are along an axis."""
    if size is UNKNOWN:
        return UNKNOWN
    if convention == "same":
        return -(-size // stride)
    over = size + 2 * pad - kernel
    return (over // stride if convention == "valid" else -(-over // stride)) + 1


def _pool(spatial, how, name="Pooling"):
    """The Pool that attributes mean for data of a spatial size."""
    n = len(spatial)
    if how["global_pool"]:
        return Pool(tuple(spatial), (1,) * n, (0,) * n, (1,) * n)
    kernel, convention = how["kernel"], how["pooling_convention"]
    stride, pad = how["stride"] or (1,) * n, how["pad"] or (0,) * n
    if (
        not len(kernel) == len(stride) == len(pad) == n
        or min((*kernel, *stride)) < 1
        or min(pad) < 0
    ):
        raise ShapeError(
            f"{name}: kernel, stride and pad do not fit the data.\n"
            f"  received  {n} spatial axes, kernel={kernel}, stride={how['stride']}, "
            f"pad={how['pad']}\n"
            f"  expected  {n} numbers each, kernel and stride at least 1, pad at least 0\n"
            "  fix       pass one number for each spatial axis, or global_pool=True"
        )
    if convention == "same" and any(pad):
        raise AttributeValueError(
            f"{name}: pooling_convention 'same' chooses the padding itself.\n"
            f"  received  pad={pad}\n  expected  no padding\n  fix       leave pad out"
        )
    for size, k, p in zip(spatial, kernel, pad, strict=True):
        if size is not UNKNOWN and convention != "same" and k > size + 2 * p:
            raise ShapeError(
                f"{name}: kernel size ({k}) exceeds input ({size} padded to {size + 2 * p}).\n"
                f"  received  data of size {tuple(spatial)}, kernel={kernel}, pad={pad}\n"
                "  expected  a kernel that fits into the padded data\n"
                "  fix       pad the data, or use a smaller kernel"
            )
    places = tuple(
        [_places(*each, convention) for each in zip(spatial, kernel, stride, pad, strict=True)]
    )
    if convention == "same" and UNKNOWN not in places:
        pad = tuple(
            [
                max((m - 1) * s + k - size, 0) // 2
                for m, s, k, size in zip(places, stride, kernel, spatial, strict=True)
            ]
        )
    return Pool(kernel, stride, pad, places)


def _check_axes(shape, name="Pooling"):
    if not 3 <= len(shape) <= 5:
        raise ShapeError(
            f"{name}: data has the wrong number of axes.\n  received  data {shape}\n"
            "  expected  samples, channels, and one, two or three spatial axes\n"
            "  fix       reshape data"
        )


def _has_workspace(pool_type, kernel, layout=None, **_):
    """MXNet keeps, with its CPU library, the winners of windows as a second output."""
    return pool_type == "max" and bool(kernel) and not channels_last(layout)


@op(
    outputs=lambda **attrs: 1 + _has_workspace(**attrs),
    hidden_outputs=lambda **attrs: int(_has_workspace(**attrs)),
    output_names=lambda **attrs: ("output", "workspace")[: 1 + _has_workspace(**attrs)],
)
def Pooling(
    data,
    *,
    kernel: Shape = (),
    pool_type: Literal["avg", "lp", "max", "sum"] = "max",
    global_pool: bool = False,
    cudnn_off: bool = False,
    pooling_convention: Literal["full", "same", "valid"] = "valid",
    stride: Shape = (),
    pad: Shape = (),
    p_value: int | None = None,
    count_include_pad: bool | None = None,
    layout: Literal["NCDHW", "NCHW", "NCW", "NDHWC", "NHWC", "NWC"] | None = None,
):
    """One value for every window of data with one, two or three spatial axes.

    The largest, the average, the sum, or with ``pool_type="lp"`` the p-norm. Padding never is the
    largest and counts as zero otherwise. A window's gradient goes to its first largest element.

    Parameters
    ----------
    kernel, stride, pad : the size of windows, the steps between them (1 if not given) and the
        padding, a number for each spatial axis.
    global_pool : one window over everything; the other three do not matter then.
    pooling_convention : "valid" leaves out a window that does not fit entirely; "full" lets it
        stick out; "same" has ``ceil(size / stride)`` windows, the data in their middle.
    p_value : the p of ``lp``.
    count_include_pad : whether padding counts in the number averages are divided by (it does).
    layout : the order of the axes.

    Examples
    --------
    >>> x = nd.array([[[1, 3, 2, 5]]])
    >>> nd.Pooling(x, kernel=(2,), stride=(2,)).asnumpy()
    array([[[3., 5.]]], dtype=float32)
    >>> nd.Pooling(x, global_pool=True, pool_type="avg").asnumpy()
    array([[[2.75]]], dtype=float32)
    """
    how = _window_attributes(kernel, global_pool, pooling_convention, stride, pad)
    _check_axes(data.shape)
    first = _first(data, layout)
    pool = _pool(first.shape[2:], how)
    if pool_type == "max":
        best, winner = kernels.largest(first, pool)
        best = _in(best, layout)
        return (best, winner) if _has_workspace(pool_type, kernel, layout) else best
    if pool_type == "lp":
        _check_power(p_value)
        wide = np.abs(widened(first)[0])
        total = kernels.add_up(wide**p_value, pool)
        result = total ** (1 / p_value)
    else:
        return _sum_windows(data, _kind(pool_type, count_include_pad), layout, how)
    return _in(result.astype(data.dtype, copy=False), layout)


def _window_attributes(kernel, global_pool, pooling_convention, stride, pad, **_):
    return {
        "kernel": kernel, "global_pool": global_pool, "stride": stride, "pad": pad,
        "pooling_convention": pooling_convention,
    }  # fmt: skip


def _check_power(p_value):
    if p_value is None or p_value < 1:
        raise AttributeValueError(
            f"Pooling: p_value is needed for pool_type='lp'.\n  received  p_value={p_value}\n"
            "  expected  an integer of at least 1\n  fix       pass for example p_value=2"
        )


def _first(x, layout):
    """The array with its channels on axis 1."""
    return np.ascontiguousarray(np.moveaxis(x, -1, 1)) if channels_last(layout) else x


def _in(x, layout):
    """An array with channels on axis 1 in the layout."""
    return np.ascontiguousarray(np.moveaxis(x, 1, -1)) if channels_last(layout) else x


@Pooling.shape
def _(s, *, kernel, global_pool, pooling_convention, stride, pad, layout, **_):
    if isinstance(s.data, UnknownShape):
        return
    _check_axes(s.data)
    out = channels_first(s.out, layout)
    s.data = in_layout((out[0], out[1], *[UNKNOWN] * (len(s.data) - 2)), layout)
    data = channels_first(s.data, layout)
    how = _window_attributes(kernel, global_pool, pooling_convention, stride, pad)
    pool = _pool(data[2:], how)
    result = (*data[:2], *pool.places)
    s.outs = [in_layout(result, layout), result][: len(s.outs)]


@Pooling.dtype
def _(t, **attrs):
    t.data = t.out
    t.out = t.data
    if _has_workspace(**attrs):
        t.outs = [None, _winner_dtype(attrs["kernel"], attrs["global_pool"])]


def _winner_dtype(kernel, global_pool):
    """The dtype of elements' numbers in windows."""
    return np.dtype(np.int32 if global_pool else kernels.winner_dtype(kernel))


@Pooling.grad
def _(F, g, data, *, out, pool_type, p_value, count_include_pad, layout, cudnn_off, **how):
    how["layout"] = layout
    if pool_type == "max":
        if _has_workspace(pool_type, how["kernel"], layout):
            return F._max_pool_grad(g[0], out[1], data, **how)
        return F._max_pool_grad(g, F._max_pool_winner(data, **how), data, **how)
    if pool_type == "lp":
        if p_value == 1:
            return F._sum_pool_grad(g, data, kind="sum", **how) * F.sign(data)
        size = F.abs(data)
        size_of = out + (out <= 0)  # 1 where all is zero: its share is zero whatever it is
        share = F._sum_pool_grad(g * size_of ** (1 - p_value), data, kind="sum", **how)
        return share * (F.sign(data) * size ** (p_value - 1))
    return F._sum_pool_grad(g, data, kind=_kind(pool_type, count_include_pad), **how)


def _kind(pool_type, count_include_pad):
    """What averages are divided by, as a word."""
    if pool_type == "sum":
        return "sum"
    return "avg" if count_include_pad in (None, True) else "avg_inside"


def _divided(total, pool, spatial, kind):
    """Sums of windows made averages."""
    if kind == "sum":
        return total
    counts = _counts(pool, spatial, kind)
    if total.dtype.kind != "f":
        return (total / counts).astype(total.dtype)
    return total * np.asarray(1 / counts, total.dtype)


def _counts(pool, spatial, kind):
    """What the sums of windows are divided by, for each place or alike for all."""
    if kind == "avg_whole":
        return float(prod(pool.kernel))
    return kernels.counts(pool, spatial, kind == "avg")


@op()
def _sum_pool(
    data, *, kind: Literal["avg", "avg_inside", "avg_whole", "sum"], kernel: Shape,
    global_pool: bool, pooling_convention: str, stride: Shape, pad: Shape,
    layout: str | None = None,
):  # fmt: skip
    """Sums or averages of windows."""
    return _sum_windows(data, kind, layout, _window_attributes(
        kernel, global_pool, pooling_convention, stride, pad))  # fmt: skip


def _sum_windows(data, kind, layout, how):
    first = _first(data, layout)
    spatial = first.shape[2:]
    pool = _pool(spatial, how)
    values = widened(first)[0]
    if values.dtype.kind == "f":
        factor = None if kind == "sum" else 1 / _counts(pool, spatial, kind)
        total = kernels.scaled_sums(
            values, pool, factor if factor is None else np.asarray(factor, values.dtype)
        )
    else:
        total = _divided(kernels.add_up(values, pool), pool, spatial, kind)
    return _in(total.astype(data.dtype, copy=False), layout)


@_sum_pool.shape
def _(s, *, kind, layout, **how):
    if isinstance(s.data, UnknownShape):
        return
    data = channels_first(s.data, layout)
    s.out = in_layout((*data[:2], *_pool(data[2:], how).places), layout)


@_sum_pool.grad
def _(F, h, data, *, out, **how):
    return F._sum_pool_grad(h, data, **how)


@op(shape_only=("data",))
def _sum_pool_grad(
    g, data, *, kind: Literal["avg", "avg_inside", "avg_whole", "sum"], kernel: Shape,
    global_pool: bool, pooling_convention: str, stride: Shape, pad: Shape,
    layout: str | None = None,
):  # fmt: skip
    """Values of windows given to all their elements, divided as the average was."""
    spatial = channels_first(data.shape, layout)[2:]
    how = _window_attributes(kernel, global_pool, pooling_convention, stride, pad)
    pool = _pool(spatial, how)
    share = _divided(widened(_first(g, layout))[0], pool, spatial, kind)
    result = kernels.spread_sum(share, pool, spatial)
    return _in(result.astype(g.dtype, copy=False), layout)


@_sum_pool_grad.shape
def _(s, **_):
    s.out = s.data


@_sum_pool_grad.grad
def _(F, h, g, data, *, out, **how):
    return F._sum_pool(h, **how), None


# ---- maxima: which element won, what it gets, what it was


@op(grad="zero")
def _max_pool_winner(
    data, *, kernel: Shape, global_pool: bool, pooling_convention: str, stride: Shape, pad: Shape,
    layout: str | None = None,
):  # fmt: skip
    """The number of the element that is the largest of each window; channels on axis 1."""
    first = _first(data, layout)
    how = _window_attributes(kernel, global_pool, pooling_convention, stride, pad)
    return kernels.largest(first, _pool(first.shape[2:], how))[1]


@_max_pool_winner.shape
def _(s, *, layout, **how):
    if not isinstance(s.data, UnknownShape):
        data = channels_first(s.data, layout)
        s.out = (*data[:2], *_pool(data[2:], how).places)


@_max_pool_winner.dtype
def _(t, *, kernel, global_pool, **_):
    t.out = _winner_dtype(kernel, global_pool)


@op(shape_only=("data",))
def _max_pool_grad(
    g, winner, data, *, kernel: Shape, global_pool: bool, pooling_convention: str, stride: Shape,
    pad: Shape, layout: str | None = None,
):  # fmt: skip
    """Values of windows given to the element that was the largest."""
    spatial = channels_first(data.shape, layout)[2:]
    how = _window_attributes(kernel, global_pool, pooling_convention, stride, pad)
    pool = _pool(spatial, how)
    return _in(kernels.spread_largest(_first(g, layout), winner, pool, spatial), layout)


@_max_pool_grad.shape
def _(s, **_):
    s.out = s.data


@_max_pool_grad.dtype
def _(t, **_):
    t.out = t.g
    t.data = t.g


@_max_pool_grad.grad
def _(F, h, g, winner, data, *, out, **how):
    return F._max_pool_pick(h, winner, **how), None, None


@op()
def _max_pool_pick(
    data, winner, *, kernel: Shape, global_pool: bool, pooling_convention: str, stride: Shape,
    pad: Shape, layout: str | None = None,
):  # fmt: skip
    """The elements of windows that have a number: those that were the largest of other data."""
    first = _first(data, layout)
    how = _window_attributes(kernel, global_pool, pooling_convention, stride, pad)
    return _in(kernels.pick_largest(first, winner, _pool(first.shape[2:], how)), layout)


@_max_pool_pick.shape
def _(s, *, layout, **_):
    if not isinstance(s.winner, UnknownShape):
        s.out = in_layout(tuple(s.winner), layout)


@_max_pool_pick.dtype
def _(t, **_):
    t.out = t.data


@_max_pool_pick.grad
def _(F, h, data, winner, *, out, **how):
    return F._max_pool_grad(h, winner, data, **how), None


# ---- the older operator


@op()
def Pooling_v1(
    data,
    *,
    kernel: Shape = (),
    pool_type: Literal["avg", "max", "sum"] = "max",
    global_pool: bool = False,
    pooling_convention: Literal["full", "valid"] = "valid",
    stride: Shape = (),
    pad: Shape = (),
):
    """``Pooling`` as it was before.

    Averages are always divided by the size of the kernel, and padding takes part as zero in maxima.

    Examples
    --------
    >>> nd.Pooling_v1(nd.ones((1, 1, 2, 2)), kernel=(2, 2), pad=(1, 1), pool_type="avg").shape
    (1, 1, 3, 3)
    """
    how = _window_attributes(kernel, global_pool, pooling_convention, stride, pad)
    _check_axes(data.shape, "Pooling_v1")
    if pool_type == "max":
        pool = _pool(data.shape[2:], how, "Pooling_v1")
        best = kernels.largest(data, pool)[0]
        return np.maximum(best, 0, out=best, where=_with_padding(pool, data.shape[2:]))
    return _sum_windows(data, "sum" if pool_type == "sum" else "avg_whole", None, how)


def _with_padding(pool, spatial):
    """Which windows have padding in them."""
    return kernels.counts(pool, spatial, True) > kernels.counts(pool, spatial, False)


@Pooling_v1.shape
def _(s, *, pool_type, **how):
    if isinstance(s.data, UnknownShape):
        return
    _check_axes(s.data, "Pooling_v1")
    s.data = (s.out[0], s.out[1], *[UNKNOWN] * (len(s.data) - 2))
    s.out = (*s.data[:2], *_pool(s.data[2:], how, "Pooling_v1").places)


@Pooling_v1.grad
def _(F, g, data, *, out, pool_type, **how):
    if pool_type == "max":
        winner = F._max_pool_winner(data, **how)
        won = F._equal(F._max_pool_pick(data, winner, **how), out)  # not padding's zero
        return F._max_pool_grad(g * won, winner, data, **how)
    return F._sum_pool_grad(g, data, kind="sum" if pool_type == "sum" else "avg_whole", **how)


# ---- averages over a grid


@op()
def _contrib_AdaptiveAvgPooling2D(data, *, output_size: Shape = ()):
    """Averages of the parts of a grid of ``output_size`` laid over each image.

    Part k of an axis goes from ``floor(k * size / parts)`` to ``ceil((k + 1) * size / parts)``, so
    parts may overlap and the output may be larger than the data.

    Parameters
    ----------
    data : ``(samples, channels, height, width)``.
    output_size : height and width of the result, one number for both, or nothing for 1.

    Examples
    --------
    >>> x = nd.array([[[[1, 2, 3, 4]]]])
    >>> nd.contrib.AdaptiveAvgPooling2D(x, output_size=(1, 2)).asnumpy()
    array([[[[1.5, 3.5]]]], dtype=float32)
    """
    _check_images(data.shape)
    return _resampled(data, *_grid(data.shape, output_size))


def _check_images(shape, name="AdaptiveAvgPooling2D"):
    if len(shape) != 4:
        raise ShapeError(
            f"{name}: data are not images.\n  received  data {shape}\n"
            "  expected  (samples, channels, height, width)\n  fix       reshape data"
        )


def _grid_size(output_size):
    if len(output_size) > 2 or any(n < 1 for n in output_size):
        raise AttributeValueError(
            f"AdaptiveAvgPooling2D: output_size is not valid.\n  received  {output_size}\n"
            "  expected  nothing, one number or two, each at least 1\n"
            "  fix       pass (height, width)"
        )
    return (*output_size, *output_size)[:2] if output_size else (1, 1)


def _grid(shape, output_size):
    """The matrices that average along height and width."""
    return [
        kernels.grid_weights(n, m, np.float64)
        for n, m in zip(shape[2:], _grid_size(output_size), strict=True)
    ]


def _resampled(data, down, across):
    """``down @ image @ across.T`` for every image, computed in single precision or better."""
    wide = widened(data)[0]
    if wide.dtype.kind != "f":
        wide = wide.astype(np.float32)
    down, across = down.astype(wide.dtype), across.astype(wide.dtype)
    result = np.matmul(np.matmul(down, wide), across.T)
    return result.astype(data.dtype, copy=False)


@_contrib_AdaptiveAvgPooling2D.shape
def _(s, *, output_size):
    size = _grid_size(output_size)
    if isinstance(s.data, UnknownShape):
        return
    _check_images(s.data)
    s.data = (s.out[0], s.out[1], UNKNOWN, UNKNOWN)
    s.out = (*s.data[:2], *size)


@_contrib_AdaptiveAvgPooling2D.grad
def _(F, g, data, *, out, output_size):
    return F._grid_average_grad(g, data, output_size=output_size)


@op(shape_only=("data",))
def _grid_average_grad(g, data, *, output_size: Shape):
    """Values of the parts of a grid shared out among their elements."""
    down, across = _grid(data.shape, output_size)
    return _resampled(g, down.T, across.T)


@_grid_average_grad.shape
def _(s, **_):
    s.out = s.data


@_grid_average_grad.grad
def _(F, h, g, data, *, out, output_size):
    return F._contrib_AdaptiveAvgPooling2D(h, output_size=output_size), None
