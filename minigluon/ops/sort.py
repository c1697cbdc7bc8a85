"""Order along an axis: sort, argsort, topk, and the picking and putting their gradients need."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..base import AttributeValueError, DTypeError
from ..core.attributes import DType
from ..core.infer import UnknownShape, prod
from ..core.op import op
from ._shared import axis_of, filled


def _along(name, data, axis):
    """The array and the axis to work on; ``axis=None`` means the flattened array."""
    if axis is None:
        return data.reshape(-1), 0
    return data, axis_of(axis, data.ndim, name)


def _order(data, axis, ascending):
    """Positions in order, equal elements in the order they came; NaN is the largest."""
    if ascending:
        return np.argsort(data, axis=axis, kind="stable")
    backwards = np.argsort(np.flip(data, axis), axis=axis, kind="stable")
    return data.shape[axis] - 1 - np.flip(backwards, axis)


def _as_indices(name, positions, length, dtype):
    """Positions in the dtype asked for; refused if it cannot hold them exactly."""
    exact = 2 ** (np.finfo(dtype).nmant + 1) if dtype.kind == "f" else np.iinfo(dtype).max
    if length - 1 > exact:
        raise DTypeError(
            f"{name}: {dtype} cannot hold the indices.\n  received  an axis of {length} elements\n"
            f"  expected  at most {exact + 1} for dtype='{dtype}'\n  fix       pass dtype='int64'"
        )
    return positions.astype(dtype, copy=False)


@op(aliases=("_npi_sort",), output_names=("output0",))  # MXNet hides a second one
def sort(data, *, axis: int | None = -1, is_ascend: bool = True, out=None):
    """The elements in ascending order along an axis; NaN counts as the largest.

    Parameters
    ----------
    axis : None sorts the flattened array.
    is_ascend : False puts the largest first.

    Examples
    --------
    >>> nd.sort(nd.array([3, 1, 2]), is_ascend=False).asnumpy()
    array([3., 2., 1.], dtype=float32)
    """
    data, axis = _along("sort", data, axis)
    result = np.sort(data, axis=axis)
    if not is_ascend:
        result = np.ascontiguousarray(np.flip(result, axis))
    return filled(result, out)


def _same_or_flat(s, *, axis, **_):
    data = s.data
    if axis is None:
        s.out = (prod(data),)
        return
    if not isinstance(data, UnknownShape):
        axis_of(axis, len(data), "sort")
    s.data = s.out
    s.out = data


sort.shape(_same_or_flat)


@sort.grad
def _(F, g, data, *, out, axis, is_ascend):
    order = F.argsort(data, axis=axis, is_ascend=is_ascend, dtype="int64")
    return F._put_along(g, order, data, axis=axis)


@op(aliases=("_npi_argsort",), grad="zero")
def argsort(data, *, axis: int | None = -1, is_ascend: bool = True, dtype: DType = "float32"):
    """Where the elements of the sorted array come from, along an axis.

    Equal elements stay in their order. NaN counts as the largest.

    Parameters
    ----------
    dtype : of the indices; float32 by default, as in MXNet.

    Examples
    --------
    >>> nd.argsort(nd.array([3, 1, 2])).asnumpy()
    array([1., 2., 0.], dtype=float32)
    """
    data, axis = _along("argsort", data, axis)
    return _as_indices("argsort", _order(data, axis, is_ascend), data.shape[axis], np.dtype(dtype))


argsort.shape(_same_or_flat)


@argsort.dtype
def _(t, *, dtype, **_):
    t.out = dtype


def _first(data, axis, count, ascending):
    """Positions of the first ``count`` elements in order."""
    length = data.shape[axis]
    if count * 4 < length and data.dtype.kind != "b":
        # a partition is 8 times faster than sorting all; it may not choose among equal elements
        at = count - 1 if ascending else length - count
        nearly = np.argpartition(data, at, axis=axis)
        chosen = nearly[_part(data.ndim, axis, slice(at + 1) if ascending else slice(at, None))]
        chosen = np.sort(chosen, axis=axis)
        values = np.take_along_axis(data, chosen, axis)
        limit = (np.max if ascending else np.min)(values, axis=axis, keepdims=True)
        inside = data <= limit if ascending else data >= limit
        if (np.count_nonzero(inside, axis=axis) == count).all():
            return np.take_along_axis(chosen, _order(values, axis, ascending), axis)
    return _order(data, axis, ascending)[_part(data.ndim, axis, slice(count))]


def _part(ndim, axis, part):
    return (slice(None),) * axis + (part,) + (slice(None),) * (ndim - axis - 1)


def _count(k, length):
    """How many elements ``k`` asks for: all if it is not positive."""
    if k > length:
        raise AttributeValueError(
            f"topk: k is larger than the axis.\n  received  k={k}, an axis of {length} elements\n"
            f"  expected  at most {length} (0 or less means all)\n  fix       pass a smaller k"
        )
    return k if k > 0 else length


def _names(ret_typ, **_):
    several = {"both": ("output0", "output1"), "value": ("output0",)}
    return several.get(ret_typ, ("output",))


@op(
    aliases=("_npx_topk",),
    outputs=lambda ret_typ, **_: 2 if ret_typ == "both" else 1,
    output_names=_names,
)
def topk(
    data,
    *,
    axis: int | None = -1,
    k: int = 1,
    ret_typ: Literal["both", "indices", "mask", "value"] = "indices",
    is_ascend: bool = False,
    dtype: DType = "float32",
):
    """The ``k`` largest elements along an axis: where they are, their values, or both.

    They come in order, equal ones as they came. NaN counts as the largest.

    Parameters
    ----------
    axis : None looks at the flattened array.
    k : 0 or less means all.
    ret_typ : "indices"; "value"; "both" for values and indices; "mask" for ones in their places.
    is_ascend : True takes the smallest instead.
    dtype : of the indices; float32 by default, as in MXNet.

    Examples
    --------
    >>> nd.topk(nd.array([[3, 1, 2]]), k=2).asnumpy()
    array([[0., 2.]], dtype=float32)
    """
    shape = data.shape
    data, axis = _along("topk", data, axis)
    length = data.shape[axis]
    where = _first(data, axis, _count(k, length), is_ascend)
    if ret_typ == "mask":
        mask = np.zeros(data.shape, data.dtype)
        np.put_along_axis(mask, where, 1, axis)
        return mask.reshape(shape)
    if ret_typ == "value":
        return np.take_along_axis(data, where, axis)
    indices = _as_indices("topk", where, length, np.dtype(dtype))
    if ret_typ == "indices":
        return indices
    return np.take_along_axis(data, where, axis), indices


@topk.shape
def _(s, *, axis, k, ret_typ, **_):
    data = s.data
    if ret_typ == "mask":
        s.data = s.out
        s.out = data
        return
    if isinstance(data, UnknownShape):
        return
    if axis is None:
        data, axis = (prod(data),), 0
    axis = axis_of(axis, len(data), "topk")
    length = data[axis]
    count = _count(k, length) if isinstance(length, int) or k <= 0 else k
    s.outs = [(*data[:axis], count, *data[axis + 1 :])] * len(s.outs)


@topk.dtype
def _(t, *, ret_typ, dtype, **_):
    if ret_typ == "indices":
        t.out = dtype
        return
    t.data = t.out
    t.out = t.data
    if ret_typ == "both":
        t.state(("out", 1), dtype)


@topk.grad
def _(F, g, data, *, out, ret_typ, axis, dtype, **attrs):
    if ret_typ not in ("both", "value"):
        return None
    values = g[0] if ret_typ == "both" else g
    where = F.topk(data, axis=axis, ret_typ="indices", dtype="int64", **attrs)
    return F._put_along(values, where, data, axis=axis)


@op(shape_only=("like",))
def _put_along(values, indices, like, *, axis: int | None):
    """Zeros like ``like`` with ``values`` at the indices along an axis, all of them distinct."""
    result = np.zeros(like.shape, values.dtype)
    if axis is None:
        result.reshape(-1)[indices] = values
    else:
        np.put_along_axis(result, indices, values, axis)
    return result


_put_along.shape(lambda s, **_: setattr(s, "out", s.like))


@_put_along.dtype
def _(t, **_):
    t.out = t.values


@_put_along.grad
def _(F, h, values, indices, like, *, out, axis):
    return F._take_along(h, indices, axis=axis), None, None


@op()
def _take_along(data, indices, *, axis: int | None):
    """The elements at the indices along an axis, of the flattened array for ``axis=None``."""
    if axis is None:
        return data.reshape(-1)[indices]
    return np.take_along_axis(data, indices, axis)


_take_along.shape(lambda s, **_: setattr(s, "out", s.indices))


@_take_along.dtype
def _(t, **_):
    t.out = t.data


@_take_along.grad
def _(F, h, data, indices, *, out, axis):
    return F._put_along(h, indices, data, axis=axis), None
