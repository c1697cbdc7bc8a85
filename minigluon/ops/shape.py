"""Operators that change the shape or exchange axes: reshape, squeeze, transpose, flip."""

from __future__ import annotations

import numpy as np

from ..base import ShapeError
from ..core.attributes import Shape
from ..core.infer import UNKNOWN, UNKNOWN_SHAPE, UnknownShape, known, prod
from ..core.op import op
from ..core.reshape import misfit, reshaped, share
from ._shared import axis_of, filled

# ---- reshape


@op(aliases=("reshape",), view=True)
def Reshape(
    data,
    *,
    shape: Shape = (),
    reverse: bool = False,
    target_shape: Shape = (),
    keep_highest: bool = False,
    out=None,
):
    """The same elements in another shape, sharing memory.

    Parameters
    ----------
    shape : the new shape; 0 keeps a dimension, -1 takes what is left, -2 copies all that follow,
        -3 multiplies two dimensions, -4 splits one into the next two numbers.
    reverse : match the codes with dimensions from the right.
    target_shape, keep_highest : the old way to say it, with 0 for what is left.

    Examples
    --------
    >>> nd.reshape(nd.zeros((2, 3, 4)), shape=(0, -1)).shape
    (2, 12)
    """
    return filled(
        data.reshape(_reshape_to(data.shape, shape, reverse, target_shape, keep_highest)), out
    )


def _reshape_to(have, shape, reverse, target_shape, keep_highest):
    if shape:
        return reshaped(have, shape, reverse)
    if target_shape:
        target = list(target_shape)
        if keep_highest:
            target[0] = have[0]
        return reshaped(have, tuple([-1 if d == 0 else d for d in target]))
    return have


@Reshape.shape
def _(s, *, shape, reverse, target_shape, keep_highest):
    have = s.data
    if isinstance(have, UnknownShape):
        if shape and min(shape) > 0:
            s.out = shape
        return
    s.out = _reshape_to(have, shape, reverse, target_shape, keep_highest)
    missing = [k for k, d in enumerate(have) if d is UNKNOWN]
    if len(missing) == 1 and known(s.out):
        others = prod([d for d in have if d is not UNKNOWN])
        rest = share(prod(s.out), others, have, s.out)
        s.data = tuple([rest if d is UNKNOWN else d for d in have])


@Reshape.grad
def _(F, g, data, *, out, **_):
    return F.reshape_like(g, data)


@op(aliases=("_npx_reshape_like",), view=True, shape_only=("rhs",))
def reshape_like(
    lhs,
    rhs,
    *,
    lhs_begin: int | None = None,
    lhs_end: int | None = None,
    rhs_begin: int | None = None,
    rhs_end: int | None = None,
    out=None,
):
    """``lhs`` in the shape of ``rhs``; the ranges limit which dimensions are exchanged.

    Examples
    --------
    >>> nd.reshape_like(nd.zeros(6), nd.zeros((2, 3))).shape
    (2, 3)
    """
    shape = _like_shape(lhs.shape, rhs.shape, lhs_begin, lhs_end, rhs_begin, rhs_end)
    return filled(lhs.reshape(shape), out)


def _like_shape(lhs, rhs, lhs_begin, lhs_end, rhs_begin, rhs_end):
    begin = (
        0
        if lhs_begin is None
        else lhs_begin % (len(lhs) + 1)
        if lhs_begin >= 0
        else lhs_begin + len(lhs)
    )
    end = len(lhs) if lhs_end is None else lhs_end if lhs_end >= 0 else lhs_end + len(lhs)
    return (*lhs[:begin], *rhs[slice(rhs_begin, rhs_end)], *lhs[end:])


@reshape_like.shape
def _(s, **attrs):
    lhs, rhs = s.lhs, s.rhs
    if isinstance(rhs, UnknownShape) or (
        isinstance(lhs, UnknownShape) and attrs["lhs_begin"] is not None
    ):
        return
    shape = rhs if isinstance(lhs, UnknownShape) else _like_shape(lhs, rhs, **attrs)
    if known(lhs) and known(shape) and prod(lhs) != prod(shape):
        raise misfit(lhs, shape, f"a shape of {prod(lhs)} elements")
    s.out = shape


@reshape_like.dtype
def _(t, **_):
    t.out = t.lhs
    t.lhs = t.out


@reshape_like.grad
def _(F, g, lhs, rhs, *, out, **_):
    return F.reshape_like(g, lhs), None


@op(
    aliases=(
        "flatten",
        "_npx_batch_flatten",
    ),
    copies_view=True,
)
def Flatten(data, *, out=None):
    """Every sample as one row: ``(n, a, b, ...)`` becomes ``(n, a*b*...)``.

    Examples
    --------
    >>> nd.flatten(nd.zeros((2, 3, 4))).shape
    (2, 12)
    """
    rows = data.shape[0] if data.ndim else 1
    return filled(data.reshape(rows, int(prod(data.shape[1:]))), out)


@Flatten.shape
def _(s):
    data, out = s.data, s.out
    if isinstance(data, UnknownShape):
        return
    if out is not UNKNOWN_SHAPE:
        s.data = (out[0], *data[1:])
    s.out = (s.data[0], prod(data[1:]))


@Flatten.grad
def _(F, g, data, *, out):
    return F.reshape_like(g, data)


Flatten.runs_dense("default -> default")


@op(aliases=("_npi_expand_dims",), copies_view=True)
def expand_dims(data, *, axis: int, out=None):
    """A new axis of length one in front of ``axis``.

    Examples
    --------
    >>> nd.expand_dims(nd.zeros((2, 3)), axis=1).shape
    (2, 1, 3)
    """
    return filled(np.expand_dims(data, axis), out)


@expand_dims.shape
def _(s, *, axis):
    data, out = s.data, s.out
    if not isinstance(data, UnknownShape):
        k = axis_of(axis, len(data) + 1, "expand_dims")
        s.out = (*data[:k], 1, *data[k:])
    elif not isinstance(out, UnknownShape):
        k = axis_of(axis, len(out), "expand_dims")
        s.data = (*out[:k], *out[k + 1 :])


@expand_dims.grad
def _(F, g, data, *, out, axis):
    return F.reshape_like(g, data)


expand_dims.runs_dense("default -> default")


@op(copies_view=True, scalar=True)
def squeeze(data, *, axis: Shape | None = None, out=None):
    """Without the axes of length one, or those of them that are named; at least one axis stays.

    Examples
    --------
    >>> nd.squeeze(nd.zeros((1, 3, 1))).shape
    (3,)
    """
    return filled(np.squeeze(data, axis=axis), out)


@squeeze.shape
def _(s, *, axis):
    data = s.data
    if isinstance(data, UnknownShape):
        return
    if axis is None:
        if known(data):
            s.out = tuple([d for d in data if d != 1])
        return
    gone = {axis_of(a, len(data), "squeeze") for a in axis}
    s.data = tuple([1 if k in gone else d for k, d in enumerate(data)])
    s.out = tuple([d for k, d in enumerate(data) if k not in gone])


@squeeze.grad
def _(F, g, data, *, out, axis):
    return F.reshape_like(g, data)


# ---- exchange axes


def _axes_of(shape, axes):
    if not axes:
        return tuple(range(len(shape)))[::-1]
    order = tuple([axis_of(a, len(shape), "transpose") for a in axes])
    if len(set(order)) < len(shape):
        raise ShapeError(
            f"transpose: axes do not name every axis once.\n  received  axes={axes}, data {shape}\n"
            f"  expected  an order of 0 to {len(shape) - 1}\n"
            "  fix       give every axis once, or leave axes out to reverse them"
        )
    return order


@op(copies_view=True)
def transpose(data, *, axes: Shape = (), out=None):
    """The axes in another order; in reverse if ``axes`` is not given.

    Examples
    --------
    >>> nd.transpose(nd.zeros((2, 3, 4)), axes=(1, 0, 2)).shape
    (3, 2, 4)
    """
    return filled(data.transpose(axes or None), out)


@transpose.shape
def _(s, *, axes):
    data, out = s.data, s.out
    if not isinstance(data, UnknownShape):
        order = _axes_of(data, axes)
        s.out = tuple([data[a] for a in order])
    if not isinstance(out, UnknownShape):
        order = _axes_of(out, axes)
        s.data = tuple([out[order.index(a)] for a in range(len(out))])


@transpose.grad
def _(F, g, data, *, out, axes):
    if not axes:
        return F.transpose(g)
    order = _axes_of(axes, axes)
    return F.transpose(g, axes=tuple([order.index(a) for a in range(len(order))]))


transpose.runs_dense("default -> default")


@op(
    aliases=(
        "swapaxes",
        "_npi_swapaxes",
    ),
    copies_view=True,
)
def SwapAxis(data, *, dim1: int = 0, dim2: int = 0, out=None):
    """Two axes exchanged.

    Examples
    --------
    >>> nd.swapaxes(nd.zeros((2, 3, 4)), dim1=0, dim2=2).shape
    (4, 3, 2)
    """
    return filled(data.swapaxes(dim1, dim2), out)


@SwapAxis.shape
def _(s, *, dim1, dim2):
    for given, other in (("data", "out"), ("out", "data")):
        shape = getattr(s, given)
        if not isinstance(shape, UnknownShape):
            a, b = (axis_of(dim, len(shape), "SwapAxis") for dim in (dim1, dim2))
            swapped = list(shape)
            swapped[a], swapped[b] = swapped[b], swapped[a]
            setattr(s, other, tuple(swapped))


@SwapAxis.grad
def _(F, g, data, *, out, dim1, dim2):
    return F.SwapAxis(g, dim1=dim1, dim2=dim2)


@op(aliases=("flip",), copies_view=True)
def reverse(data, *, axis: Shape, out=None):
    """The elements in reverse order along some axes.

    Examples
    --------
    >>> nd.flip(nd.array([1, 2, 3]), axis=0).asnumpy()
    array([3., 2., 1.], dtype=float32)
    """
    return filled(np.flip(data, axis), out)


@reverse.shape
def _(s, *, axis):
    s.data = s.out
    s.out = s.data
    if not isinstance(s.data, UnknownShape):
        for a in axis:
            axis_of(a, len(s.data), "reverse")


@reverse.grad
def _(F, g, data, *, out, axis):
    return F.reverse(g, axis=axis)


@op(aliases=("_npx_shape_array",), grad="zero")
def shape_array(data):
    """The shape as an int64 vector.

    Examples
    --------
    >>> nd.shape_array(nd.zeros((2, 3))).asnumpy()
    array([2, 3])
    """
    return np.array(data.shape, np.int64)


@shape_array.shape
def _(s):
    s.out = (UNKNOWN if isinstance(s.data, UnknownShape) else len(s.data),)


@shape_array.dtype
def _(t):
    t.out = np.int64


@op(grad="zero")
def size_array(data):
    """The number of elements as an int64 array of one.

    Examples
    --------
    >>> nd.size_array(nd.zeros((2, 3))).asnumpy()
    array([6])
    """
    return np.array([data.size], np.int64)


@size_array.shape
def _(s):
    s.out = (1,)


@size_array.dtype
def _(t):
    t.out = np.int64
