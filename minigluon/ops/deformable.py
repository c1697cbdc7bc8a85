"""Convolution whose windows are bent by offsets that a network computes."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..base import AttributeValueError, ShapeError
from ..core.attributes import Count, Shape
from ..core.infer import UNKNOWN_SHAPE, known
from ..core.op import op


class _Windows:
    """Where the windows of a convolution read: places moved by offsets, and the pixels around them.

    ``loose`` lets places be up to one pixel outside, where there are zeros (version 2).
    """

    def __init__(self, data, offset, kernel, stride, dilate, pad, groups, loose):
        self.shape, self.loose = data.shape, loose
        batch, channels, self.height, self.width = data.shape
        rows, columns = offset.shape[2:]
        y, x = np.mgrid[: kernel[0], : kernel[1]].reshape(2, -1, 1, 1)
        base_y = y * dilate[0] + np.arange(rows)[:, None] * stride[0] - pad[0]
        base_x = x * dilate[1] + np.arange(columns) * stride[1] - pad[1]
        moves = offset.reshape(batch, groups, kernel[0] * kernel[1], 2, rows, columns)
        shape = (batch, groups, kernel[0] * kernel[1] * rows * columns)
        self.y = (moves[:, :, :, 0] + base_y.astype(data.dtype)).reshape(shape)
        self.x = (moves[:, :, :, 1] + base_x.astype(data.dtype)).reshape(shape)
        self.flat = data.reshape(batch, groups, channels // groups, self.height * self.width)

    def corners(self):
        """For each pixel around the places: index, weight, and the slopes of the weight."""
        height, width, y, x = self.height, self.width, self.y, self.x
        least = -1 if self.loose else 0
        inside = (y < height) & (x < width)
        inside &= (y > least) & (x > least) if self.loose else (y >= least) & (x >= least)
        y0, x0 = np.floor(y), np.floor(x)
        v, u = y - y0, x - x0
        for down in (0, 1):
            for right in (0, 1):
                row, column = y0 + down, x0 + right
                there = inside
                if self.loose:
                    there = inside & (row >= 0) & (row < height) & (column >= 0) & (column < width)
                row = np.clip(row, 0, height - 1).astype(np.intp)
                column = np.clip(column, 0, width - 1).astype(np.intp)
                along, across = (v if down else 1 - v), (u if right else 1 - u)
                yield (
                    row * width + column,
                    np.where(there, along * across, 0),
                    np.where(there, across if down else -across, 0),
                    np.where(there, along if right else -along, 0),
                )

    def read(self):
        """The values at the places, ``(batch, groups, channels of a group, places)``."""
        return sum(w[:, :, None] * self._at(index) for index, w, _, _ in self.corners())

    def _at(self, index):
        return np.take_along_axis(self.flat, index[:, :, None], axis=3)

    def spread(self, g):
        """Gradients of the values given to the pixels, and those of y and x."""
        total = np.zeros(self.flat.shape, g.dtype)
        dy, dx = np.zeros_like(self.y), np.zeros_like(self.x)
        batch, group, channel = np.ogrid[: total.shape[0], : total.shape[1], : total.shape[2]]
        where = (batch[..., None], group[..., None], channel[..., None])
        for index, weight, slope_y, slope_x in self.corners():
            np.add.at(total, (*where, index[:, :, None]), g * weight[:, :, None])
            along = (g * self._at(index)).sum(axis=2)
            dy += along * slope_y
            dx += along * slope_x
        return total.reshape(self.shape), dy, dx


def _geometry(name, data, offset, weight, attrs, mask=None):
    """The numbers of a convolution, filled in and checked."""
    kernel, groups = attrs["kernel"], attrs["num_deformable_group"]
    if len(kernel) != 2 or data.ndim != 4:
        raise AttributeValueError(
            f"{name}: only images can be convolved with it.\n"
            f"  received  kernel={kernel}, data {data.shape}\n"
            "  expected  a kernel (height, width) and data (batch, channels, height, width)\n"
            "  fix       add an axis of length 1"
        )
    stride, dilate, pad = _filled(attrs)
    for what, numbers, least in (
        ("kernel", kernel, 1),
        ("stride", stride, 1),
        ("dilate", dilate, 1),
        ("pad", pad, 0),
    ):
        if len(numbers) != 2 or min(numbers) < least:
            raise AttributeValueError(
                f"{name}: {what} is not valid.\n  received  {what}={numbers}\n"
                f"  expected  two numbers, {least} or more\n  fix       pass such a {what}"
            )
    for what, count in (("num_group", attrs["num_group"]), ("num_deformable_group", groups)):
        if data.shape[1] % count or (what == "num_group" and attrs["num_filter"] % count):
            raise AttributeValueError(
                f"{name}: {what} does not divide the channels.\n"
                f"  received  {what}={count}, data {data.shape}, num_filter={attrs['num_filter']}\n"
                "  expected  a number that divides them\n  fix       change it"
            )
    places = _places(data.shape[2:], kernel, stride, dilate, pad)
    taps = kernel[0] * kernel[1]
    wanted = [
        ("offset", offset, (len(data), 2 * groups * taps, *places)),
        ("weight", weight, (attrs["num_filter"], data.shape[1] // attrs["num_group"], *kernel)),
    ]
    if mask is not None:
        wanted.append(("mask", mask, (len(data), groups * taps, *places)))
    for what, array, shape in wanted:
        if array.shape != shape:
            raise ShapeError(
                f"{name}: {what} has the wrong shape.\n  received  {what} {array.shape}\n"
                f"  expected  {shape}, from data {data.shape} and the attributes\n"
                f"  fix       give {what} that shape"
            )
    return kernel, stride, dilate, pad, groups


def _filled(attrs):
    return attrs["stride"] or (1, 1), attrs["dilate"] or (1, 1), attrs["pad"] or (0, 0)


def _places(sizes, kernel, stride, dilate, pad):
    return tuple(
        [
            (n + 2 * p - d * (k - 1) - 1) // s + 1
            for n, k, s, d, p in zip(sizes, kernel, stride, dilate, pad, strict=True)
        ]
    )


def _columns(windows, taps):
    """What windows read: ``(batch, channels, taps, places)``."""
    found = windows.read()
    batch, groups, channels, places = found.shape
    return found.reshape(batch, groups * channels, taps, places // taps)


def _masked(columns, mask):
    """Columns times a factor for every place that is read; channels of a group share them."""
    batch, _, taps, places = columns.shape
    groups = mask.shape[1] // taps
    factor = mask.reshape(batch, groups, 1, taps, places)
    return (columns.reshape(batch, groups, -1, taps, places) * factor).reshape(columns.shape)


def _multiply(columns, weight, groups):
    """The filters' sums: ``(batch, filters, places)``."""
    each = _grouped(columns, groups)
    batch, places = columns.shape[0], columns.shape[-1]
    filters = weight.reshape(groups, weight.shape[0] // groups, -1)
    return np.matmul(filters, each).reshape(batch, len(weight), places)


def _grouped(columns, groups):
    """``(batch, groups, channels and taps of a group, places)``."""
    batch, channels, taps, places = columns.shape
    return columns.reshape(batch, groups, channels // groups * taps, places)


def _multiply_grads(g, columns, weight, groups):
    """The gradients of `_multiply` for columns and weight."""
    batch, places = columns.shape[0], columns.shape[-1]
    coming = g.reshape(batch, groups, len(weight) // groups, places)
    each = _grouped(columns, groups)
    filters = weight.reshape(groups, weight.shape[0] // groups, -1)
    back = np.matmul(filters.transpose(0, 2, 1), coming).reshape(columns.shape)
    return back, np.matmul(coming, each.transpose(0, 1, 3, 2)).sum(axis=0).reshape(weight.shape)


def _forward(name, data, offset, mask, weight, bias, attrs, loose):
    geometry = _geometry(name, data, offset, weight, attrs, mask)
    columns = _columns(_Windows(data, offset, *geometry, loose), geometry[0][0] * geometry[0][1])
    if mask is not None:
        columns = _masked(columns, mask)
    out = _multiply(columns, weight, attrs["num_group"])
    if bias is not None:
        out = out + bias[:, None]
    return out.reshape(len(data), len(weight), *offset.shape[2:]).astype(data.dtype, copy=False)


def _backward(g, data, offset, mask, weight, attrs, loose):
    geometry = _geometry("convolution", data, offset, weight, attrs, mask)
    windows = _Windows(data, offset, *geometry, loose)
    taps = geometry[0][0] * geometry[0][1]
    plain = columns = _columns(windows, taps)
    if mask is not None:
        columns = _masked(plain, mask)
    back, d_weight = _multiply_grads(g, columns, weight, attrs["num_group"])
    grads = []
    if mask is not None:
        batch, _, _, places = plain.shape
        per_group = (back * plain).reshape(batch, geometry[4], -1, taps, places)
        grads.append(per_group.sum(axis=2).reshape(mask.shape))
        back = _masked(back, mask)
    d_data, dy, dx = windows.spread(back.reshape(*windows.flat.shape[:3], -1))
    moves = np.stack([dy, dx], axis=2)
    moves = moves.reshape(len(data), geometry[4], 2, taps, *offset.shape[2:]).swapaxes(2, 3)
    return (d_data, moves.reshape(offset.shape), *grads, d_weight)


def _state_shapes(s, attrs, masked):
    """The shape rule of both."""
    kernel = attrs["kernel"]
    stride, dilate, pad = _filled(attrs)
    if min(*stride, *dilate, *kernel, attrs["num_group"]) < 1:
        return
    groups, filters = attrs["num_deformable_group"], attrs["num_filter"]
    if s.data is UNKNOWN_SHAPE or len(kernel) != 2:
        return
    batch, channels = s.data[0], s.data[1]
    s.weight = (filters, channels // attrs["num_group"], *kernel)
    if "bias" in s:
        s.bias = (filters,)
    if not known(s.data[2:]):
        return
    places = _places(s.data[2:], kernel, stride, dilate, pad)
    taps = kernel[0] * kernel[1]
    s.offset = (batch, 2 * groups * taps, *places)
    if masked:
        s.mask = (batch, groups * taps, *places)
    s.out = (batch, filters, *places)


@op(name="_contrib_DeformableConvolution")
def DeformableConvolution(
    data,
    offset,
    weight,
    bias=None,
    *,
    kernel: Shape,
    stride: Shape = (),
    dilate: Shape = (),
    pad: Shape = (),
    num_filter: Count,
    num_group: Count = 1,
    num_deformable_group: Count = 1,
    workspace: int = 1024,
    no_bias: bool = False,
    layout: Literal["NCDHW", "NCHW", "NCW"] | None = None,
):
    """A convolution whose windows read at places moved by ``offset``, between pixels.

    Parameters
    ----------
    data : ``(batch, channels, height, width)``.
    offset : ``(batch, groups * taps * 2, new height, new width)``: y and x for every tap of the
        kernel; ``num_deformable_group`` groups of channels have offsets of their own.
    weight, bias, and the other attributes : as in `Convolution`.
    """
    attrs = _gathered(locals())
    return _forward(
        "_contrib_DeformableConvolution", data, offset, None, weight, bias, attrs, False
    )


_NUMBERS = ("kernel", "stride", "dilate", "pad", "num_filter", "num_group", "num_deformable_group")


def _gathered(names):
    return {n: names[n] for n in _NUMBERS}


@DeformableConvolution.input_names
def _(no_bias, **_):
    return ("data", "offset", "weight") if no_bias else ("data", "offset", "weight", "bias")


@DeformableConvolution.shape
def _(s, **attrs):
    _state_shapes(s, attrs, masked=False)


@DeformableConvolution.grad
def _(F, g, data, offset, weight, bias=None, *, out, no_bias, workspace, layout, **attrs):
    grads = F._deformable_convolution_grad(g, data, offset, weight, **attrs)
    return grads if no_bias else (*grads, F.sum(g, axis=(0, 2, 3)))


@op(outputs=3)
def _deformable_convolution_grad(
    g, data, offset, weight, *, kernel: Shape, stride: Shape, dilate: Shape, pad: Shape,
    num_filter: int, num_group: int, num_deformable_group: int,
):  # fmt: skip
    """The gradients of `DeformableConvolution` for data, offset and weight."""
    return _backward(g, data, offset, None, weight, _gathered(locals()), False)


@op(name="_contrib_ModulatedDeformableConvolution")
def ModulatedDeformableConvolution(
    data,
    offset,
    mask,
    weight,
    bias=None,
    *,
    kernel: Shape,
    stride: Shape = (),
    dilate: Shape = (),
    pad: Shape = (),
    num_filter: Count,
    num_group: Count = 1,
    num_deformable_group: Count = 1,
    workspace: int = 1024,
    no_bias: bool = False,
    im2col_step: int = 64,
    layout: Literal["NCDHW", "NCHW", "NCW"] | None = None,
):
    """`DeformableConvolution` whose values are multiplied by ``mask`` (version 2).

    ``mask`` is ``(batch, groups * taps, new height, new width)``.
    """
    name = "_contrib_ModulatedDeformableConvolution"
    return _forward(name, data, offset, mask, weight, bias, _gathered(locals()), True)


@ModulatedDeformableConvolution.input_names
def _(no_bias, **_):
    names = ("data", "offset", "mask", "weight")
    return names if no_bias else (*names, "bias")


@ModulatedDeformableConvolution.shape
def _(s, **attrs):
    _state_shapes(s, attrs, masked=True)


@ModulatedDeformableConvolution.grad
def _(
    F, g, data, offset, mask, weight, bias=None, *, out, no_bias, workspace, layout, im2col_step,
    **attrs,
):  # fmt: skip
    grads = F._modulated_convolution_grad(g, data, offset, mask, weight, **attrs)
    return grads if no_bias else (*grads, F.sum(g, axis=(0, 2, 3)))


@op(outputs=4)
def _modulated_convolution_grad(
    g, data, offset, mask, weight, *, kernel: Shape, stride: Shape, dilate: Shape, pad: Shape,
    num_filter: int, num_group: int, num_deformable_group: int,
):  # fmt: skip
    """The gradients of `ModulatedDeformableConvolution` for data, offset, mask and weight."""
    return _backward(g, data, offset, mask, weight, _gathered(locals()), True)


@_deformable_convolution_grad.shape
def _(s, **_):
    s.outs = [s.data, s.offset, s.weight]


@_modulated_convolution_grad.shape
def _(s, **_):
    s.outs = [s.data, s.offset, s.mask, s.weight]
