"""Deconvolution, the convolution turned around."""

from __future__ import annotations

from typing import Literal

from ...base import AttributeValueError, ShapeError
from ...core.attributes import Count, Shape
from ...core.infer import UNKNOWN, UnknownShape
from ...core.op import op
from ...kernels import convolution as kernels
from .conv import (
    _back,
    _bias_fits,
    _bias_grad,
    _check_groups,
    _check_layout,
    _check_rank,
    _first,
    _how,
    _names,
    _reach,
    channels_first,
    in_layout,
    window_of,
)


@op()
def Deconvolution(
    data,
    weight,
    bias=None,
    *,
    kernel: Shape,
    stride: Shape = (),
    dilate: Shape = (),
    pad: Shape = (),
    adj: Shape = (),
    target_shape: Shape = (),
    num_filter: Count,
    num_group: Count = 1,
    workspace: int = 512,
    no_bias: bool = True,
    cudnn_tune: Literal["fastest", "limited_workspace", "off"] | None = None,
    cudnn_off: bool = False,
    layout: Literal["NCDHW", "NCHW", "NCW", "NDHWC", "NHWC"] | None = None,
):
    """Transposed convolution: every element of the data adds a weighted kernel to the result.

    It is the gradient of a Convolution with respect to its data, used to make data larger. The
    result has ``(size - 1) * stride + dilate * (kernel - 1) + 1 - 2 * pad + adj`` elements along an
    axis.

    Parameters
    ----------
    data : ``(samples, channels, *spatial)``, or in the order that ``layout`` says.
    weight : ``(channels, num_filter / num_group, *kernel)``.
    bias : ``(num_filter,)``, with ``no_bias=False``.
    adj : elements added at the end of each axis, fewer than the stride.
    target_shape : the spatial size of the result; ``pad`` and ``adj`` are then chosen to give it.

    Examples
    --------
    >>> x = nd.array([[[1, 2]]])
    >>> w = nd.array([[[1, 10, 100]]])
    >>> nd.Deconvolution(x, w, kernel=(3,), stride=(2,), num_filter=1).asnumpy()
    array([[[  1.,  10., 102.,  20., 200.]]], dtype=float32)
    """
    _check_layout("Deconvolution", layout, kernel)
    _check_rank("Deconvolution", data.shape, kernel)
    data, weight = _first(data, layout), _first(weight, layout)
    spatial = data.shape[2:]
    window, sizes = _enlarged(spatial, kernel, stride, dilate, pad, adj, target_shape)
    _check_groups("Deconvolution", num_group, channels=data.shape[1], filters=num_filter)
    expected = (data.shape[1], num_filter // num_group, *kernel)
    if weight.shape != expected or not _bias_fits(bias, no_bias, num_filter):
        raise ShapeError("weight or bias is not what the attributes say")
    made = kernels.spread(data, weight, sizes, window, num_group)
    if bias is not None:
        made += bias.reshape(-1, *[1] * len(kernel))
    return _back(made, layout)


def _enlarged(spatial, kernel, stride, dilate, pad, adj, target_shape):
    """The Window of the convolution that is turned around, and the spatial size of the result."""
    window = window_of("Deconvolution", kernel, stride, dilate, pad)
    steps = zip(spatial, window.stride, _reach(window), strict=True)
    whole = [(n - 1) * s + reach for n, s, reach in steps]
    if target_shape and any(target_shape):
        _check_target(target_shape, whole)
        over = [w - t for w, t in zip(whole, target_shape, strict=True)]
        _check_added(tuple([n % 2 for n in over]), window)
        return window._replace(pad=tuple([(n + 1) // 2 for n in over])), tuple(target_shape)
    added = adj or (0,) * len(kernel)
    _check_added(added, window)
    sizes = [w - 2 * p + a for w, p, a in zip(whole, window.pad, added, strict=True)]
    if any(n is not UNKNOWN and n < 1 for n in sizes):
        raise ShapeError(
            f"Deconvolution: nothing is left of the result.\n  received  data of size {spatial}, "
            f"kernel={kernel}, pad={window.pad}\n"
            "  expected  a result of at least one element along each axis\n  fix       reduce pad"
        )
    return window, tuple(sizes)


def _check_added(added, window):
    fits = len(added) == len(window.stride) and all(
        a is UNKNOWN or 0 <= a < s for a, s in zip(added, window.stride, strict=True)
    )
    if not fits:
        raise AttributeValueError(
            f"Deconvolution: adj must be smaller than stride.\n"
            f"  received  adj={added} (given, or needed for target_shape), stride={window.stride}\n"
            "  expected  for each axis a number from 0 to stride - 1\n"
            "  fix       reduce adj, or change target_shape by one"
        )


def _check_target(target_shape, whole):
    fits = len(target_shape) == len(whole) and all(
        w is UNKNOWN or 0 < t <= w for t, w in zip(target_shape, whole, strict=False)
    )
    if not fits:
        raise ShapeError(
            f"Deconvolution: too big target shape.\n  received  target_shape={target_shape}\n"
            f"  expected  at most {tuple(whole)}, the size without padding\n"
            "  fix       use a smaller target_shape, or a larger kernel or stride"
        )


Deconvolution.input_names(_names)


@Deconvolution.shape
def _(
    s, *, kernel, stride, dilate, pad, adj, target_shape, num_filter, num_group, no_bias, layout,
    **_,
):  # fmt: skip
    _check_layout("Deconvolution", layout, kernel)
    if not no_bias:
        s.bias = (num_filter,)
    _check_groups("Deconvolution", num_group, filters=num_filter)
    filters = num_filter // num_group
    unknown = (UNKNOWN,) * len(kernel)
    if isinstance(s.data, UnknownShape):
        window_of("Deconvolution", kernel, stride, dilate, pad)
        s.weight = in_layout((UNKNOWN, filters, *kernel), layout)
        return
    _check_rank("Deconvolution", s.data, kernel)
    weight, out = channels_first(s.weight, layout), channels_first(s.out, layout)
    s.data = in_layout((out[0], weight[0], *unknown), layout)
    data = channels_first(s.data, layout)
    _check_groups("Deconvolution", num_group, channels=data[1])
    s.weight = in_layout((data[1], filters, *kernel), layout)
    _, sizes = _enlarged(data[2:], kernel, stride, dilate, pad, adj, target_shape)
    s.out = in_layout((data[0], num_filter, *sizes), layout)


def _how_enlarged(adj, target_shape, **attrs):
    return {**_how(**attrs), "adj": adj, "target_shape": target_shape}


@Deconvolution.grad
def _(F, g, data, weight, bias=None, *, out, **attrs):
    how = _how_enlarged(**attrs)
    return (
        F._deconvolution_data_grad(g, data, weight, **how),
        F._deconvolution_weight_grad(g, data, weight, **how),
        None if bias is None else _bias_grad(F, g, attrs["kernel"], attrs["layout"]),
    )


@op()
def _deconvolution(
    data, weight, *, kernel: Shape, stride: Shape, dilate: Shape, pad: Shape, num_group: int,
    layout: str | None, adj: Shape, target_shape: Shape,
):  # fmt: skip
    """Deconvolution without bias, for as many filters as the weight has."""
    data, weight = _first(data, layout), _first(weight, layout)
    window, sizes = _enlarged(data.shape[2:], kernel, stride, dilate, pad, adj, target_shape)
    return _back(kernels.spread(data, weight, sizes, window, num_group), layout)


@_deconvolution.shape
def _(s, *, kernel, stride, dilate, pad, num_group, layout, adj, target_shape):
    data, weight = channels_first(s.data, layout), channels_first(s.weight, layout)
    _, sizes = _enlarged(data[2:], kernel, stride, dilate, pad, adj, target_shape)
    s.out = in_layout((data[0], weight[1] * num_group, *sizes), layout)


@op(shape_only=("data",))
def _deconvolution_data_grad(
    g, data, weight, *, kernel: Shape, stride: Shape, dilate: Shape, pad: Shape, num_group: int,
    layout: str | None, adj: Shape, target_shape: Shape,
):  # fmt: skip
    """The gradient of Deconvolution with respect to its data."""
    spatial = channels_first(data.shape, layout)[2:]
    window, _ = _enlarged(spatial, kernel, stride, dilate, pad, adj, target_shape)
    made = kernels.convolve(_first(g, layout), _first(weight, layout), None, window, num_group)
    return _back(made, layout)


@_deconvolution_data_grad.shape
def _(s, **_):
    s.out = s.data


@op(shape_only=("weight",))
def _deconvolution_weight_grad(
    g, data, weight, *, kernel: Shape, stride: Shape, dilate: Shape, pad: Shape, num_group: int,
    layout: str | None, adj: Shape, target_shape: Shape,
):  # fmt: skip
    """The gradient of Deconvolution with respect to its weight."""
    g, data = _first(g, layout), _first(data, layout)
    window, _ = _enlarged(data.shape[2:], kernel, stride, dilate, pad, adj, target_shape)
    return _back(kernels.correlate(data, g, window, num_group), layout)


@_deconvolution_weight_grad.shape
def _(s, **_):
    s.out = s.weight


@_deconvolution.grad
def _(F, h, data, weight, *, out, **how):
    return (
        F._deconvolution_data_grad(h, data, weight, **how),
        F._deconvolution_weight_grad(h, data, weight, **how),
    )


@_deconvolution_data_grad.grad
def _(F, h, g, data, weight, *, out, **how):
    return (
        F._deconvolution(h, weight, **how),
        None,
        F._deconvolution_weight_grad(g, h, weight, **how),
    )


@_deconvolution_weight_grad.grad
def _(F, h, g, data, weight, *, out, **how):
    return F._deconvolution(data, h, **how), F._deconvolution_data_grad(g, data, h, **how), None
