"""Operators that repeat elements: tile and repeat."""

from __future__ import annotations

import numpy as np

from ..core.attributes import Shape
from ..core.infer import UnknownShape, prod
from ..core.op import op
from ._shared import axis_of, filled


@op(aliases=("_npi_tile",))
def tile(data, *, reps: Shape, out=None):
    """The whole array repeated along each axis.

    Examples
    --------
    >>> nd.tile(nd.array([1, 2]), reps=(2, 2)).asnumpy()
    array([[1., 2., 1., 2.],
           [1., 2., 1., 2.]], dtype=float32)
    """
    return filled(np.tile(data, reps), out)


@tile.shape
def _(s, *, reps):
    data = s.data
    if isinstance(data, UnknownShape):
        return
    n = max(len(data), len(reps))
    shape = (*[1] * (n - len(data)), *data)
    times = (*[1] * (n - len(reps)), *reps)
    s.out = tuple([d * t for d, t in zip(shape, times, strict=True)])


@tile.grad
def _(F, g, data, *, out, reps):
    return F._tile_grad(g, data, reps=reps)


@op(shape_only=("like",))
def _tile_grad(g, like, *, reps: Shape, out=None):
    """The sum over the copies that ``tile`` made."""
    n = max(like.ndim, len(reps))
    shape = (*[1] * (n - like.ndim), *like.shape)
    times = (*[1] * (n - len(reps)), *reps)
    folded = g.reshape([d for pair in zip(times, shape, strict=True) for d in pair])
    return filled(np.add.reduce(folded, axis=tuple(range(0, 2 * n, 2))).reshape(like.shape), out)


_tile_grad.shape(lambda s, **_: setattr(s, "out", s.like))


@_tile_grad.grad
def _(F, h, g, like, *, out, reps):
    return F.tile(h, reps=reps), None


@op(aliases=("_np_repeat",))
def repeat(data, *, repeats: int, axis: int | None = None, out=None):
    """Each element repeated, in place, along an axis or of the flat array.

    Examples
    --------
    >>> nd.repeat(nd.array([1, 2]), repeats=2).asnumpy()
    array([1., 1., 2., 2.], dtype=float32)
    """
    return filled(np.repeat(data, repeats, axis=axis), out)


@repeat.shape
def _(s, *, repeats, axis):
    data = s.data
    if isinstance(data, UnknownShape):
        return
    if axis is None:
        s.out = (prod(data) * repeats,)
    else:
        k = axis_of(axis, len(data), "repeat")
        s.out = (*data[:k], data[k] * repeats, *data[k + 1 :])


@repeat.grad
def _(F, g, data, *, out, repeats, axis):
    return F._repeat_grad(g, data, repeats=repeats, axis=axis)


@op(shape_only=("like",))
def _repeat_grad(g, like, *, repeats: int, axis: int | None = None, out=None):
    """The sum over the copies that ``repeat`` made."""
    if axis is None:
        folded = g.reshape(*like.shape, repeats)
        return filled(np.add.reduce(folded, axis=-1), out)
    k = axis % like.ndim
    folded = g.reshape(*like.shape[: k + 1], repeats, *like.shape[k + 1 :])
    return filled(np.add.reduce(folded, axis=k + 1), out)


_repeat_grad.shape(lambda s, **_: setattr(s, "out", s.like))


@_repeat_grad.grad
def _(F, h, g, like, *, out, repeats, axis):
    return F.repeat(h, repeats=repeats, axis=axis), None
