"""The windows of a convolution as arrays: im2col, col2im."""

from __future__ import annotations

from math import prod

from ...base import AttributeValueError, ShapeError
from ...core.attributes import Shape
from ...core.infer import UNKNOWN, UnknownShape
from ...core.op import op
from ...kernels import convolution as kernels
from .conv import (
    _check_fits,
    _check_rank,
    window_of,
)


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
