"""Convolution, Deconvolution, and the windows they are made of: im2col, col2im."""

from __future__ import annotations

from math import prod
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
    if weight.shape[0] != num_filter or (bias is not None and bias.shape != (num_filter,)):
        raise ShapeError("weight or bias is not for num_filter filters")
    return _back(kernels.convolve(data, weight, bias, window, num_group), layout)


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


# ---- Deconvolution


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
    if weight.shape != (data.shape[1], num_filter // num_group, *kernel) or (
        bias is not None and bias.shape != (num_filter,)
    ):
        raise ShapeError("weight or bias has another shape than follows from the attributes")
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


# ---- the windows themselves


@op()
def im2col(data, *, kernel: Shape, stride: Shape = (), dilate: Shape = (), pad: Shape = ()):
    """The windows of a convolution as columns: ``(samples, channels * kernel, places)``.

    Examples
    --------
    >>> nd.im2col(nd.array([[[1, 2, 3]]]), kernel=(2,)).asnumpy()
    array([[[1., 2.],
            [2., 3.]]], dtype=float32)
    """
    window = window_of("im2col", kernel, stride, dilate, pad)
    _check_rank("im2col", data.shape, kernel)
    _check_fits("im2col", window, data.shape[2:], window.positions(data.shape[2:]))
    return kernels.im2col(data, window)


@im2col.shape
def _(s, *, kernel, stride, dilate, pad):
    window = window_of("im2col", kernel, stride, dilate, pad)
    if isinstance(s.data, UnknownShape):
        return
    _check_rank("im2col", s.data, kernel)
    places = window.positions(s.data[2:])
    _check_fits("im2col", window, s.data[2:], places)
    s.data = (s.out[0], *s.data[1:])
    s.out = (s.data[0], s.data[1] * prod(kernel), _product(places))


def _product(dims):
    total = 1
    for d in dims:
        total = total * d
    return total


@im2col.grad
def _(F, g, data, *, out, **how):
    return F._col2im_like(g, data, **how)


@op(shape_only=("data",))
def _col2im_like(columns, data, *, kernel: Shape, stride: Shape, dilate: Shape, pad: Shape):
    """Columns added up where they came from, in the shape of ``data``."""
    window = window_of("im2col", kernel, stride, dilate, pad)
    return kernels.col2im(columns, data.shape[2:], window)


@_col2im_like.shape
def _(s, **_):
    s.out = s.data


@_col2im_like.grad
def _(F, h, columns, data, *, out, **how):
    return F.im2col(h, **how), None


@op()
def col2im(
    data, *, output_size: Shape, kernel: Shape, stride: Shape = (), dilate: Shape = (),
    pad: Shape = (),
):  # fmt: skip
    """Columns of windows added up where they came from: the adjoint of ``im2col``.

    Parameters
    ----------
    data : ``(samples, channels * kernel, places)``.
    output_size : the spatial size of the result ``(samples, channels, *output_size)``.

    Examples
    --------
    >>> nd.col2im(nd.array([[[1, 2], [2, 3]]]), output_size=(3,), kernel=(2,)).asnumpy()
    array([[[1., 4., 3.]]], dtype=float32)
    """
    window = window_of("col2im", kernel, stride, dilate, pad)
    _check_columns(data.shape, output_size, window)
    return kernels.col2im(data, output_size, window)


def _check_columns(shape, output_size, window):
    if len(output_size) != len(window.kernel):
        raise AttributeValueError(
            f"col2im: output_size does not fit the kernel.\n"
            f"  received  output_size={output_size}, kernel={window.kernel}\n"
            "  expected  a number for each axis of the kernel\n  fix       change output_size"
        )
    places, depth = prod(window.positions(output_size)), prod(window.kernel)
    _check_fits("col2im", window, output_size, window.positions(output_size))
    wrong = len(shape) != 3 or (shape[1] is not UNKNOWN and shape[1] % depth)
    if wrong or (shape[2] is not UNKNOWN and shape[2] != places):
        raise ShapeError(
            "col2im: output size does not match convolution parameters.\n"
            f"  received  data {shape}, output_size={output_size}, kernel={window.kernel}\n"
            f"  expected  data (samples, a multiple of {depth}, {places})\n"
            "  fix       use the attributes that im2col had, and its data's size as output_size"
        )


@col2im.shape
def _(s, *, output_size, kernel, stride, dilate, pad):
    window = window_of("col2im", kernel, stride, dilate, pad)
    if isinstance(s.data, UnknownShape):
        return
    _check_columns(s.data, output_size, window)
    s.data = (s.out[0], s.data[1], prod(window.positions(output_size)))
    s.out = (s.data[0], s.data[1] // prod(kernel), *output_size)


@col2im.grad
def _(F, g, data, *, out, output_size, **how):
    return F.im2col(g, **how)
