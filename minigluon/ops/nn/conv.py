"""Convolution, and what its relatives share: windows, layouts, checks."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ...base import AttributeValueError, ShapeError
from ...core.attributes import Count, Shape
from ...core.infer import UNKNOWN, UnknownShape
from ...core.op import op
from ...kernels import convolution as kernels
from ...kernels.convolution import Window


def window_of(op_name, kernel, stride, dilate, pad):
    """The Window these attributes mean; those left empty are 1, padding 0."""
    n = len(kernel)
    given = {"stride": stride, "dilate": dilate, "pad": pad}
    for name, value in given.items():
        low = 0 if name == "pad" else 1
        if value and (len(value) != n or min(value) < low):
            raise AttributeValueError(
                f"{op_name}: {name} does not fit the kernel.\n"
                f"  received  {name}={value}, kernel={kernel}\n"
                f"  expected  {n} numbers of at least {low}, one for each axis of the kernel\n"
                f"  fix       pass {name}={(low,) * n} or leave it out"
            )
    if not n or min(kernel) < 1:
        raise AttributeValueError(
            f"{op_name}: kernel is not valid.\n  received  kernel={kernel}\n"
            "  expected  its size along each spatial axis, at least 1\n"
            "  fix       pass for example kernel=(3, 3)"
        )
    return Window(kernel, stride or (1,) * n, dilate or (1,) * n, pad or (0,) * n)


def channels_last(layout):
    """Whether a layout such as NHWC puts the channels at the end."""
    return layout is not None and layout.endswith("C")


def _first(x, layout):
    """An array with its channels moved to axis 1."""
    return np.moveaxis(x, -1, 1) if channels_last(layout) else x


def _back(x, layout):
    """An array with channels on axis 1 put into the layout."""
    return np.ascontiguousarray(np.moveaxis(x, 1, -1)) if channels_last(layout) else x


def channels_first(shape, layout):
    """A shape in the layout as (samples, channels, *spatial)."""
    if channels_last(layout) and not isinstance(shape, UnknownShape):
        return (shape[0], shape[-1], *shape[1:-1])
    return shape


def in_layout(shape, layout):
    """A shape (samples, channels, *spatial) as it is in the layout."""
    return (shape[0], *shape[2:], shape[1]) if channels_last(layout) else shape


def _check_layout(op_name, layout, kernel):
    if layout is not None and len(layout) != len(kernel) + 2:
        raise AttributeValueError(
            f"{op_name}: layout does not fit the kernel.\n"
            f"  received  layout={layout}, kernel={kernel}\n"
            f"  expected  a layout of {len(kernel) + 2} letters\n"
            "  fix       leave layout out, or give a kernel of as many axes as it has"
        )


def _check_rank(op_name, shape, kernel):
    if len(shape) != len(kernel) + 2:
        axes = {1: "batch-num_filter-x", 2: "batch-num_filter-y-x", 3: "batch-num_filter-d-y-x"}
        n = len(kernel)
        raise ShapeError(
            f"{op_name}: data has the wrong number of axes: "
            f"Input data should be {n + 2}D in {axes.get(n, 'batch-num_filter-...')}.\n"
            f"  received  data {shape}, kernel={kernel}\n"
            f"  expected  {n + 2} axes: samples, channels and one for each axis of the kernel\n"
            "  fix       reshape data, or give the kernel as many axes as data has spatial ones"
        )


def _check_groups(op_name, num_group, **counts):
    for what, count in counts.items():
        if count is not UNKNOWN and count % num_group:
            raise ShapeError(
                f"{op_name}: {what} cannot be divided into groups.\n"
                f"  received  {count} {what}, num_group={num_group}\n"
                f"  expected  a multiple of {num_group}\n  fix       change num_group"
            )


def _check_fits(op_name, window, spatial, places):
    for size, place in zip(spatial, places, strict=True):
        if place is not UNKNOWN and place < 1:
            raise ShapeError(
                f"{op_name}: the kernel does not fit: kernel size exceed input.\n"
                f"  received  data of size {tuple(spatial)}, kernel={window.kernel}, "
                f"dilate={window.dilate}, pad={window.pad}\n"
                f"  expected  at least {_reach(window)[0]} elements along an axis, here {size}\n"
                "  fix       pad the data, or use a smaller kernel"
            )


def _reach(window):
    """How many elements a dilated kernel spans along each axis."""
    return tuple([d * (k - 1) + 1 for k, d in zip(window.kernel, window.dilate, strict=True)])


def _arranged(op_name, data, weight, window, groups, layout):
    """Data and weight with channels first, once it is sure that they fit."""
    _check_rank(op_name, data.shape, window.kernel)
    data, weight = _first(data, layout), _first(weight, layout)
    channels = data.shape[1]
    _check_groups(op_name, groups, channels=channels, filters=weight.shape[0])
    expected = (weight.shape[0], channels // groups, *window.kernel)
    if weight.shape != expected:
        raise ShapeError(f"weight {weight.shape} should be {expected}")
    _check_fits(op_name, window, data.shape[2:], window.positions(data.shape[2:]))
    return data, weight


# ---- Convolution


@op(aliases=("Convolution_v1",))
def Convolution(
    data,
    weight,
    bias=None,
    *,
    kernel: Shape,
    stride: Shape = (),
    dilate: Shape = (),
    pad: Shape = (),
    num_filter: Count,
    num_group: Count = 1,
    workspace: int = 1024,
    no_bias: bool = False,
    cudnn_tune: Literal["fastest", "limited_workspace", "off"] | None = None,
    cudnn_off: bool = False,
    layout: Literal["NCDHW", "NCHW", "NCW", "NDHWC", "NHWC"] | None = None,
):
    """Kernels slid over data with one, two or three spatial axes.

    Each of ``num_filter`` outputs is, at every place, the sum of a window of the data times that
    filter's weights. Along an axis there are
    ``(size + 2 * pad - dilate * (kernel - 1) - 1) // stride + 1`` places. Half precision is
    computed in single precision.

    Parameters
    ----------
    data : ``(samples, channels, *spatial)``, or in the order that ``layout`` says. Unlike MXNet,
        layouts with the channels last work on the CPU.
    weight : ``(num_filter, channels / num_group, *kernel)``.
    bias : ``(num_filter,)``, absent with ``no_bias``.
    stride, dilate, pad : steps between windows, gaps within them, zeros around the data; each a
        number for every axis of the kernel.
    num_group : channels and filters are divided into as many groups, which do not see each other.
    workspace, cudnn_tune, cudnn_off : accepted and not used.

    Examples
    --------
    >>> x = nd.array([[[1, 2, 3, 4]]])
    >>> w = nd.array([[[1, -1]]])
    >>> nd.Convolution(x, w, kernel=(2,), num_filter=1, no_bias=True).asnumpy()
    array([[[-1., -1., -1.]]], dtype=float32)
    """
    _check_layout("Convolution", layout, kernel)
    window = window_of("Convolution", kernel, stride, dilate, pad)
    data, weight = _arranged("Convolution", data, weight, window, num_group, layout)
    if weight.shape[0] != num_filter or not _bias_fits(bias, no_bias, num_filter):
        raise ShapeError("weight or bias is not what the attributes say")
    return _back(kernels.convolve(data, weight, bias, window, num_group), layout)


def _bias_fits(bias, no_bias, num_filter):
    """Whether there is a bias just if there should be, in the right shape."""
    return bias is None if no_bias else bias is not None and bias.shape == (num_filter,)


def _names(no_bias, **_):
    return ("data", "weight") if no_bias else ("data", "weight", "bias")


Convolution.input_names(_names)


@Convolution.shape
def _(s, *, kernel, stride, dilate, pad, num_filter, num_group, no_bias, layout, **_):
    _check_layout("Convolution", layout, kernel)
    window = window_of("Convolution", kernel, stride, dilate, pad)
    if not no_bias:
        s.bias = (num_filter,)
    _check_groups("Convolution", num_group, filters=num_filter)
    unknown = (UNKNOWN,) * len(kernel)
    out = channels_first(s.out, layout)
    if not isinstance(out, UnknownShape):
        before = _sizes_before(window, out[2:])
        s.data = in_layout((out[0], UNKNOWN, *before), layout)
    weight = channels_first(s.weight, layout)
    if isinstance(s.data, UnknownShape):
        s.weight = in_layout((num_filter, UNKNOWN, *kernel), layout)
        return
    _check_rank("Convolution", s.data, kernel)
    s.data = in_layout((UNKNOWN, weight[1] * num_group, *unknown), layout)
    data = channels_first(s.data, layout)
    _check_groups("Convolution", num_group, channels=data[1])
    s.weight = in_layout((num_filter, data[1] // num_group, *kernel), layout)
    places = window.positions(data[2:])
    _check_fits("Convolution", window, data[2:], places)
    s.out = in_layout((data[0], num_filter, *places), layout)


def _sizes_before(window, places):
    """The sizes that give so many places, where the stride leaves no doubt."""
    return tuple(
        [
            n - 1 + reach - 2 * p if stride == 1 else UNKNOWN
            for n, reach, stride, p in zip(
                places, _reach(window), window.stride, window.pad, strict=True
            )
        ]
    )


def _how(kernel, stride, dilate, pad, num_group, layout, **_):
    return {
        "kernel": kernel, "stride": stride, "dilate": dilate, "pad": pad,
        "num_group": num_group, "layout": layout,
    }  # fmt: skip


def _bias_grad(F, g, kernel, layout):
    return F.sum(g, axis=len(kernel) + 1 if channels_last(layout) else 1, exclude=True)


@Convolution.grad
def _(F, g, data, weight, bias=None, *, out, **attrs):
    how = _how(**attrs)
    return (
        F._convolution_data_grad(g, data, weight, **how),
        F._convolution_weight_grad(g, data, weight, **how),
        None if bias is None else _bias_grad(F, g, attrs["kernel"], attrs["layout"]),
    )


@op()
def _convolution(
    data, weight, *, kernel: Shape, stride: Shape, dilate: Shape, pad: Shape, num_group: int,
    layout: str | None,
):  # fmt: skip
    """Convolution without bias, by as many filters as the weight has."""
    window = window_of("Convolution", kernel, stride, dilate, pad)
    made = kernels.convolve(_first(data, layout), _first(weight, layout), None, window, num_group)
    return _back(made, layout)


@_convolution.shape
def _(s, *, kernel, stride, dilate, pad, layout, **_):
    data = channels_first(s.data, layout)
    places = window_of("Convolution", kernel, stride, dilate, pad).positions(data[2:])
    s.out = in_layout((data[0], s.weight[0], *places), layout)


@op(shape_only=("data",))
def _convolution_data_grad(
    g, data, weight, *, kernel: Shape, stride: Shape, dilate: Shape, pad: Shape, num_group: int,
    layout: str | None,
):  # fmt: skip
    """The gradient of Convolution with respect to its data."""
    window = window_of("Convolution", kernel, stride, dilate, pad)
    spatial = channels_first(data.shape, layout)[2:]
    made = kernels.spread(_first(g, layout), _first(weight, layout), spatial, window, num_group)
    return _back(made, layout)


@_convolution_data_grad.shape
def _(s, **_):
    s.out = s.data


@op(shape_only=("weight",))
def _convolution_weight_grad(
    g, data, weight, *, kernel: Shape, stride: Shape, dilate: Shape, pad: Shape, num_group: int,
    layout: str | None,
):  # fmt: skip
    """The gradient of Convolution with respect to its weight."""
    window = window_of("Convolution", kernel, stride, dilate, pad)
    made = kernels.correlate(_first(g, layout), _first(data, layout), window, num_group)
    return _back(made, layout)


@_convolution_weight_grad.shape
def _(s, **_):
    s.out = s.weight


@_convolution.grad
def _(F, h, data, weight, *, out, **how):
    return (
        F._convolution_data_grad(h, data, weight, **how),
        F._convolution_weight_grad(h, data, weight, **how),
    )


@_convolution_data_grad.grad
def _(F, h, g, data, weight, *, out, **how):
    return F._convolution(h, weight, **how), None, F._convolution_weight_grad(g, h, weight, **how)


@_convolution_weight_grad.grad
def _(F, h, g, data, weight, *, out, **how):
    return F._convolution(data, h, **how), F._convolution_data_grad(g, data, h, **how), None
