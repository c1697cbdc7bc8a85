"""Padding: Pad with constants, with the edge, or with the reflection at the edge."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..base import AttributeValueError, ShapeError
from ..core.attributes import Shape
from ..core.infer import UnknownShape
from ..core.op import op
from ._shared import filled


def _widths(ndim, mode, pad_width):
    """``(before, after)`` for each axis; raises if they do not fit."""
    if len(pad_width) != 2 * ndim or min(pad_width, default=0) < 0:
        raise AttributeValueError(
            f"Pad: pad_width does not fit the data.\n"
            f"  received  pad_width={pad_width}, data has {ndim} axes\n"
            f"  expected  {2 * ndim} numbers of at least 0: before and after each axis\n"
            "  fix       pass zeros for axes that stay as they are"
        )
    return list(zip(pad_width[::2], pad_width[1::2], strict=True))


def _check_reflection(shape, widths):
    for length, width in zip(shape, widths, strict=True):
        if isinstance(length, int) and max(width) > max(length - 1, 0):
            raise ShapeError(
                f"Pad: a reflection is longer than the data.\n"
                f"  received  pad_width {width} on an axis of length {length}\n"
                f"  expected  at most {max(length - 1, 0)}\n"
                "  fix       pad less, or use mode='edge'"
            )


@op(aliases=("pad",))
def Pad(
    data,
    *,
    mode: Literal["constant", "edge", "reflect"],
    pad_width: Shape,
    constant_value: float = 0.0,
    out=None,
):
    """The data with a border: of a constant, of its edge values, or of its mirror image.

    Works for any number of axes (MXNet: for 4 and 5, and not on the first two).

    Parameters
    ----------
    pad_width : two numbers for each axis, how many elements to add before and after.
    mode : "constant" adds ``constant_value``; "edge" repeats the edge; "reflect" mirrors, without
        repeating the edge itself.

    Examples
    --------
    >>> x = nd.array([[[[1, 2]]]])
    >>> nd.pad(x, mode="edge", pad_width=(0, 0, 0, 0, 0, 0, 1, 1)).asnumpy()
    array([[[[1., 1., 2., 2.]]]], dtype=float32)
    """
    widths = _widths(data.ndim, mode, pad_width)
    if mode == "reflect":
        _check_reflection(data.shape, widths)
    extra = {"constant_values": constant_value} if mode == "constant" else {}
    result = np.pad(data, widths, mode, **extra)
    return filled(result, out)


@Pad.shape
def _(s, *, mode, pad_width, **_):
    data, out = s.data, s.out
    if not isinstance(data, UnknownShape):
        widths = _widths(len(data), mode, pad_width)
        if mode == "reflect":
            _check_reflection(data, widths)
        s.out = tuple([d + before + after for d, (before, after) in zip(data, widths, strict=True)])
    elif not isinstance(out, UnknownShape):
        widths = _widths(len(out), mode, pad_width)
        if all(isinstance(d, int) for d in out):
            padded = zip(out, widths, strict=True)
            s.data = tuple([d - before - after for d, (before, after) in padded])


@Pad.grad
def _(F, g, data, *, out, mode, pad_width, constant_value):
    return F._pad_grad(g, mode=mode, pad_width=pad_width)


@op(copies_view=True)
def _pad_grad(g, *, mode: Literal["constant", "edge", "reflect"], pad_width: Shape):
    """The border of ``g`` folded back onto the elements it was made of."""
    for axis, (before, after) in enumerate(_widths(g.ndim, mode, pad_width)):
        g = _fold(np.moveaxis(g, axis, 0), mode, before, after, axis)
    return g


def _fold(g, mode, before, after, axis):
    inner = g[before : g.shape[0] - after]
    if mode != "constant" and before + after:
        inner = inner.copy()
        head, tail = g[:before], g[g.shape[0] - after :]
        if mode == "edge":
            inner[0] += np.add.reduce(head, axis=0)
            inner[-1] += np.add.reduce(tail, axis=0)
        else:
            inner[1 : before + 1] += head[::-1]
            inner[inner.shape[0] - 1 - after : inner.shape[0] - 1] += tail[::-1]
    return np.moveaxis(inner, 0, axis)


@_pad_grad.shape
def _(s, *, mode, pad_width):
    g = s.g
    if not isinstance(g, UnknownShape):
        widths = _widths(len(g), mode, pad_width)
        s.out = tuple([d - before - after for d, (before, after) in zip(g, widths, strict=True)])


@_pad_grad.grad
def _(F, h, g, *, out, mode, pad_width):
    return F.Pad(h, mode=mode, pad_width=pad_width)
