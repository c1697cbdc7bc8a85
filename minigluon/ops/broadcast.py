"""Operators that repeat an array along axes of length one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import AttributeValueError
from ..core.attributes import Shape
from ..core.infer import known
from ..core.op import op
from ._shared import axis_of


def _spread(data, shape, out):
    if out is None:
        out = np.empty(shape, data.dtype)
    out[...] = data
    return out


@op()
def broadcast_to(data, *, shape: Shape = (), out=None):
    """``data`` repeated along its axes of length one until it has ``shape``; 0 keeps a length.

    Examples
    --------
    >>> nd.broadcast_to(nd.array([[1.0, 2.0]]), shape=(2, 0)).asnumpy()
    array([[1., 2.],
           [1., 2.]], dtype=float32)
    """
    return _spread(data, _target(data.shape, shape), out)


def _target(given: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    if len(given) != len(shape):
        return shape
    return tuple([d if n == 0 else n for d, n in zip(given, shape, strict=True)])


@broadcast_to.shape
def _(s, *, shape):
    if 0 not in shape:
        s.out = shape
    else:
        s.out = _target(s.data[: len(shape)], shape) if len(s.data) == len(shape) else shape


@broadcast_to.grad
def _(F, g, data, *, out, shape):
    return F._sum_to(g, data)


@op(aliases=("broadcast_axes",))
def broadcast_axis(data, *, axis: Shape = (), size: Shape = (), out=None):
    """``data`` repeated along each ``axis``, of length one, until it has that ``size``."""
    return _spread(data, _stretched(data.shape, axis, size), out)


def _stretched(given: Any, axes: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[Any, ...]:
    shape = list(given)
    if len(axes) != len(sizes):
        raise AttributeValueError(
            f"broadcast_axis: there is not one size for each axis.\n"
            f"  received  axis={tuple(axes)}, size={tuple(sizes)}\n"
            "  expected  as many sizes as axes\n  fix       pass size for every axis"
        )
    for axis, size in zip(axes, sizes, strict=True):
        shape[axis_of(axis, len(shape), "broadcast_axis")] = size
    return tuple(shape)


@broadcast_axis.shape
def _(s, *, axis, size):
    s.out = _stretched(s.data, axis, size)


@broadcast_axis.grad
def _(F, g, data, *, out, axis, size):
    return F._sum_to(g, data)


@op(shape_only=("rhs",))
def broadcast_like(
    lhs, rhs, *, lhs_axes: Shape | None = None, rhs_axes: Shape | None = None, out=None
):
    """``lhs`` repeated along its axes of length one until it has the shape of ``rhs``.

    With ``lhs_axes`` and ``rhs_axes`` only those axes of ``lhs`` take the lengths of those of
    ``rhs``, and the numbers of dimensions may differ.
    """
    if lhs_axes is None or rhs_axes is None:
        return _spread(lhs, rhs.shape, out)
    return _spread(lhs, _stretched(lhs.shape, lhs_axes, [rhs.shape[k] for k in rhs_axes]), out)


@broadcast_like.shape
def _(s, *, lhs_axes, rhs_axes):
    if lhs_axes is None or rhs_axes is None:
        s.out = s.rhs
        s.rhs = s.out
    elif known(s.rhs):
        s.out = _stretched(s.lhs, lhs_axes, [s.rhs[k] for k in rhs_axes])


@broadcast_like.dtype
def _(t, **_):
    t.out = t.lhs
    t.lhs = t.out
    if t.rhs is None:
        t.rhs = t.lhs


@broadcast_like.grad
def _(F, g, lhs, rhs, *, out, lhs_axes, rhs_axes):
    return F._sum_to(g, lhs), None
