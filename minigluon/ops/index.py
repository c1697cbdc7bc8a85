"""Operators that pick elements by number: take, pick, one_hot, gather_nd, scatter_nd."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from ..base import AttributeValueError, ShapeError
from ..core.attributes import DType, Shape
from ..core.infer import UnknownShape, known
from ..core.op import op
from ..kernels import csr, row_sparse
from ._places import checked, coordinates, whole_numbers, within
from ._shared import at_least, axis_of, filled, like_first
from .slicing import indexed_shape, thaw

# ---- take


@op(aliases=("_npi_take",))
def take(a, indices, *, axis: int = 0, mode: Literal["clip", "raise", "wrap"] = "clip", out=None):
    """The elements along an axis at the given places: ``a[indices]`` for axis 0.

    Parameters
    ----------
    indices : places, of any shape and dtype (fractions are cut off).
    mode : what becomes of places outside: moved to the nearest end, counted round, or an error.

    Examples
    --------
    >>> nd.take(nd.array([1, 2, 3]), nd.array([0, 9])).asnumpy()
    array([1., 3.], dtype=float32)
    """
    size = a.shape[axis]
    places = whole_numbers(indices, size)
    if mode == "raise":
        checked(places, size, "take")
    elif mode == "wrap" and size:
        places = np.remainder(places, size)  # numpy wraps step by step: 2**40 takes hours
    return a.take(places, axis, out, mode)


@take.shape
def _(s, *, axis, **_):
    a, indices = s.a, s.indices
    if isinstance(a, UnknownShape) or isinstance(indices, UnknownShape):
        return
    k = axis_of(axis, len(a), "take")
    s.out = (*a[:k], *indices, *a[k + 1 :])


take.dtype(like_first)


@take.grad
def _(F, g, a, indices, *, out, axis, mode):
    return F._take_grad(g, a, indices, axis=axis, mode=mode), F.zeros_like(indices)


@take.kernel("csr default -> csr", when=lambda axis, mode: axis == 0 and mode != "raise")
def _(a, indices, *, axis, mode):
    if indices.ndim != 1:
        raise ShapeError(
            f"take: csr rows can be taken by a vector only.\n  received  indices {indices.shape}\n"
            "  expected  one dimension\n  fix       flatten the indices, or a.tostype('default')"
        )
    return csr.take_rows(a, within(indices, a.shape[0], mode, "take"))


@op(shape_only=("like",))
def _take_grad(g, like, indices, *, axis: int = 0, mode: Literal["clip", "raise", "wrap"] = "clip"):
    """Zeros with ``g`` added where ``take`` read; repeated places add up in order."""
    k = axis % len(like.shape)
    places = within(indices, like.shape[k], mode, "take")
    rows = g.reshape(*g.shape[:k], indices.size, *g.shape[k + indices.ndim :])
    moved = np.moveaxis(rows, k, 0)
    rows = row_sparse.scatter_rows_dense(
        places.reshape(-1), np.ascontiguousarray(moved), like.shape[k]
    )
    return np.ascontiguousarray(np.moveaxis(rows, 0, k)) if k else rows


@_take_grad.shape
def _(s, **_):
    s.out = s.like


_take_grad.dtype(like_first)


@_take_grad.grad
def _(F, h, g, like, indices, *, out, **attrs):
    return F.take(h, indices, **attrs), None, None


# ---- pick, one_hot, gather, scatter


def _pick_places(index, shape, axis, mode):
    """Where in the flat array the elements lie that ``index`` picks."""
    k = _pick_axis(axis, len(shape))
    before, size, after = shape[:k], shape[k], shape[k + 1 :]
    if index.shape != before + after and index.shape != (*before, 1, *after):
        raise ValueError("there is not one index for each row")
    rows = within(index, size, mode, "pick").reshape(-1)
    if not after:
        return np.arange(0, rows.size * size, size) + rows
    stride = math.prod(after)
    starts = np.arange(0, math.prod(before) * size * stride, size * stride)
    return (starts[:, None] + np.arange(stride)).reshape(-1) + rows * stride


def _pick_axis(axis, ndim):
    if axis is None:
        raise AttributeValueError(
            "pick: axis=None is not supported by pick yet. Must specify an axis.\n"
            "  received  axis=None\n  expected  an axis\n"
            "  fix       flatten the data and pick along axis 0, or use take"
        )
    return axis_of(axis, ndim, "pick")


@op(
    aliases=(
        "choose_element_0index",
        "_npx_pick",
    ),
    scalar=True,
)
def pick(
    data,
    index,
    *,
    axis: int | None = -1,
    keepdims: bool = False,
    mode: Literal["clip", "wrap"] = "clip",
    out=None,
):
    """One element of each row along an axis: ``data[i, index[i]]``.

    Examples
    --------
    >>> nd.pick(nd.array([[1, 2], [3, 4]]), nd.array([1, 0])).asnumpy()
    array([2., 3.], dtype=float32)
    """
    shape = data.shape
    picked = data.reshape(-1).take(_pick_places(index, shape, axis, mode))
    k = axis % len(shape)
    return filled(picked.reshape((*shape[:k], *([1] if keepdims else []), *shape[k + 1 :])), out)


@pick.shape
def _(s, *, axis, keepdims, mode):
    data, index = s.data, s.index
    if isinstance(data, UnknownShape):
        return
    k = _pick_axis(axis, len(data))
    without, kept = (*data[:k], *data[k + 1 :]), (*data[:k], 1, *data[k + 1 :])
    s.index = kept if not isinstance(index, UnknownShape) and len(index) == len(data) else without
    s.out = kept if keepdims else without


pick.dtype(like_first)


@pick.grad
def _(F, g, data, index, *, out, axis, keepdims, mode):
    return F._pick_grad(g, data, index, axis=axis, mode=mode), F.zeros_like(index)


@op(shape_only=("like",))
def _pick_grad(g, like, index, *, axis: int | None = -1, mode: Literal["clip", "wrap"] = "clip"):
    """Zeros with ``g`` where ``pick`` read."""
    result = np.zeros(like.shape, g.dtype)
    result.reshape(-1)[_pick_places(index, like.shape, axis, mode)] = g.reshape(-1)
    return result


@_pick_grad.shape
def _(s, **_):
    s.out = s.like


_pick_grad.dtype(like_first)


@_pick_grad.grad
def _(F, h, g, like, index, *, out, axis, mode):
    return F.reshape_like(F.pick(h, index, axis=axis, mode=mode), g), None, None


@op(aliases=("_npx_one_hot",), grad="zero")
def one_hot(
    indices,
    *,
    depth: int,
    on_value: float = 1.0,
    off_value: float = 0.0,
    dtype: DType = "float32",
    out=None,
):
    """Each number as a row with ``on_value`` at that place; places outside give no ``on_value``.

    Examples
    --------
    >>> nd.one_hot(nd.array([1, 9]), depth=3).asnumpy()
    array([[0., 1., 0.],
           [0., 0., 0.]], dtype=float32)
    """
    at_least("one_hot", "depth", depth, 0)
    places = whole_numbers(indices)
    on = places[..., None] == np.arange(depth)
    if on_value == 1 and off_value == 0:
        return filled(on.astype(dtype), out)
    values = np.array([on_value, off_value]).astype(dtype)
    return filled(np.where(on, values[0], values[1]), out)


@one_hot.shape
def _(s, *, depth, **_):
    if not isinstance(s.indices, UnknownShape):
        s.out = (*s.indices, depth)


@one_hot.dtype
def _(t, *, dtype, **_):
    t.out = dtype


@op(
    aliases=(
        "_npi_gather_nd",
        "_npx_gather_nd",
    )
)
def gather_nd(data, indices, *, out=None):
    """Elements (or subarrays) by coordinates: column ``j`` of ``indices`` names the j-th.

    Raises ``IndexError`` (also an ``MXNetError``) for coordinates outside.

    Examples
    --------
    >>> nd.gather_nd(nd.array([[1, 2], [3, 4]]), nd.array([[0, 1], [1, 0]])).asnumpy()
    array([2., 3.], dtype=float32)
    """
    return filled(data[coordinates(indices, data.shape, "gather_nd")], out)


@gather_nd.shape
def _(s):
    data, indices = s.data, s.indices
    if isinstance(data, UnknownShape) or not known(indices):
        return
    if indices[0] > len(data):
        raise ShapeError(
            f"gather_nd: there are more coordinates than dimensions.\n"
            f"  received  data {data}, indices {indices}\n"
            f"  expected  at most {len(data)} rows of indices\n  fix       take some away"
        )
    s.out = (*indices[1:], *data[indices[0] :])


gather_nd.dtype(like_first)


@gather_nd.grad
def _(F, g, data, indices, *, out):
    return F._gather_nd_grad(g, data, indices), F.zeros_like(indices)


@op(shape_only=("like",))
def _gather_nd_grad(g, like, indices):
    """Zeros with ``g`` added where ``gather_nd`` read."""
    result = np.zeros(like.shape, g.dtype)
    np.add.at(result, coordinates(indices, like.shape, "gather_nd"), g)
    return result


@_gather_nd_grad.shape
def _(s):
    s.out = s.like


_gather_nd_grad.dtype(like_first)


@_gather_nd_grad.grad
def _(F, h, g, like, indices, *, out):
    return F.gather_nd(h, indices), None, None


@op()
def scatter_nd(data, indices, *, shape: Shape, out=None):
    """Zeros of a shape with the elements of ``data`` at the coordinates in ``indices``.

    Where coordinates repeat, the last one counts (MXNet leaves it undefined).

    Examples
    --------
    >>> nd.scatter_nd(nd.array([5, 6]), nd.array([[0, 2]]), shape=(3,)).asnumpy()
    array([5., 0., 6.], dtype=float32)
    """
    result = np.zeros(shape, data.dtype)
    result[coordinates(indices, shape, "scatter_nd")] = data
    return filled(result, out)


@scatter_nd.shape
def _(s, *, shape):
    s.out = shape


scatter_nd.dtype(like_first)


@scatter_nd.grad
def _(F, g, data, indices, *, out, shape):
    return F.gather_nd(g, indices), F.zeros_like(indices)


@op()
def batch_take(a, indices, *, out=None):
    """``a[i, indices[i]]`` for each row i, places outside moved to the nearest end.

    As in MXNet it has no gradient; `pick` does the same and has one.
    """
    places = within(indices, a.shape[1], "clip", "batch_take").reshape(-1)
    return filled(a[np.arange(a.shape[0]), places].reshape(indices.shape), out)


@batch_take.shape
def _(s):
    s.out = s.indices


@batch_take.dtype
def _(t):
    like_first(t)
    if t.indices is None:
        t.indices = np.int32


# ---- x[key] with arrays in the key


@op()
def _gather_index(data, *indices, key: object):
    """``data[key]`` where the key holds integer arrays."""
    return data[thaw(key, indices)]


@_gather_index.shape
def _(s, *, key):
    shapes = s.ins
    if all(known(x) for x in shapes):
        arrays = [np.zeros(x, np.int64) for x in shapes[1:]]
        s.out = indexed_shape(shapes[0], thaw(key, arrays))


@_gather_index.dtype
def _(t, **_):
    t.out = t.data


@_gather_index.grad
def _(F, g, data, *indices, out, key):
    return (F._gather_index_grad(g, data, *indices, key=key), *[None] * len(indices))


@op(shape_only=("like",))
def _gather_index_grad(g, like, *indices, key: object):
    """Zeros with ``g`` added where ``data[key]`` read; repeated places add up."""
    result = np.zeros(like.shape, g.dtype)
    np.add.at(result, thaw(key, indices), g)
    return result


@_gather_index_grad.shape
def _(s, **_):
    s.out = s.like


@_gather_index_grad.dtype
def _(t, **_):
    t.out = t.g


@_gather_index_grad.grad
def _(F, h, g, like, *indices, out, key):
    return (F._gather_index(h, *indices, key=key), None, *[None] * len(indices))
