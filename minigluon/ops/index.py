"""Operators that pick elements: slices, take, pick, gather, one_hot, Embedding, where."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ..base import IndexOutOfRange, ShapeError
from ..core.attributes import DType, Shape
from ..core.infer import UNKNOWN, UnknownShape, known
from ..core.op import op
from ..kernels import csr, row_sparse


def _filled(result, out):
    if out is None:
        return result
    out[...] = result
    return out


def _cut_length(length, begin, end, step):
    if UNKNOWN in (length, begin, end):
        return UNKNOWN
    return len(range(*slice(begin, end, step).indices(length)))


# ---- slices


def _slices(begin, end, step):
    step = step or (None,) * len(begin)
    return tuple([slice(b, e, s) for b, e, s in zip(begin, end, step, strict=False)])


@op(name="slice", aliases=("crop", "_sparse_slice"), copies_view=True)
def slice_(data, *, begin: Shape, end: Shape, step: Shape = (), out=None):
    """The region ``data[begin:end:step]``, one bound for each leading axis; None is open.

    Examples
    --------
    >>> nd.slice(nd.array([[1, 2], [3, 4]]), begin=(0, 1), end=(2, 2)).asnumpy()
    array([[2.],
           [4.]], dtype=float32)
    """
    return _filled(data[_slices(begin, end, step)], out)


@slice_.shape
def _(s, *, begin, end, step):
    data = s.data
    if isinstance(data, UnknownShape):
        return
    keys = _slices(begin, end, step)
    cut = [_cut_length(d, k.start, k.stop, k.step) for d, k in zip(data, keys, strict=False)]
    s.out = (*cut, *data[len(cut) :])


@slice_.grad
def _(F, g, data, *, out, begin, end, step):
    key = tuple([(k.start, k.stop, k.step) for k in _slices(begin, end, step)])
    return F._basic_index_grad(g, data, key=key)


slice_.grad(stype="default")


def _unit_steps(step, **_):
    return all(s in (None, 1) for s in step)


slice_.runs_dense("default -> default", when=_unit_steps)


@slice_.kernel("csr -> csr", when=_unit_steps)
def _(data, *, begin, end, step):
    rows = slice(begin[0], end[0]).indices(data.shape[0])[:2]
    rows = (rows[0], max(rows))
    if len(begin) < 2:
        return csr.slice_rows(data, *rows)
    columns = slice(begin[1], end[1]).indices(data.shape[1])[:2]
    return csr.slice_block(data, rows, (columns[0], max(columns)))


@op(copies_view=True)
def slice_axis(data, *, axis: int, begin: int, end: int | None, out=None):
    """The elements ``begin:end`` along one axis; both may be negative, None is the end.

    Raises ``MXNetError`` for an empty range or one beyond the axis.

    Examples
    --------
    >>> nd.slice_axis(nd.array([[1, 2, 3]]), axis=1, begin=-2, end=None).asnumpy()
    array([[2., 3.]], dtype=float32)
    """
    k = axis % data.ndim
    start, stop = _bounds(data.shape[k], axis, begin, end)
    return _filled(data[(slice(None),) * k + (slice(start, stop),)], out)


def _bounds(length, axis, begin, end):
    start = begin + length if begin < 0 else begin
    stop = length if end is None else end + length if end < 0 else end
    if not 0 <= start < stop <= length:
        raise ShapeError(
            f"slice_axis: this range is not inside the axis.\n"
            f"  received  begin={begin}, end={end} on axis {axis} of length {length}\n"
            f"  expected  0 <= begin < end <= {length} (negative ones count from the end)\n"
            "  fix       choose such a range"
        )
    return start, stop


@slice_axis.shape
def _(s, *, axis, begin, end):
    data = s.data
    if isinstance(data, UnknownShape):
        return
    k = axis % len(data)
    if data[k] is UNKNOWN:
        s.out = (*data[:k], UNKNOWN, *data[k + 1 :])
    else:
        start, stop = _bounds(data[k], axis, begin, end)
        s.out = (*data[:k], stop - start, *data[k + 1 :])


@slice_axis.grad
def _(F, g, data, *, out, axis, begin, end):
    return F._slice_axis_grad(g, data, axis=axis, begin=begin, end=end)


@op(shape_only=("like",))
def _slice_axis_grad(g, like, *, axis: int, begin: int, end: int | None):
    """Zeros with ``g`` where ``slice_axis`` read."""
    k = axis % like.ndim
    start, stop = _bounds(like.shape[k], axis, begin, end)
    result = np.zeros(like.shape, g.dtype)
    result[(slice(None),) * k + (slice(start, stop),)] = g
    return result


_slice_axis_grad.shape(lambda s, **_: setattr(s, "out", s.like))


@_slice_axis_grad.grad
def _(F, h, g, like, *, out, **attrs):
    return F.slice_axis(h, **attrs), None


@op(copies_view=True, shape_only=("shape_like",))
def slice_like(data, shape_like, *, axes: Shape = (), out=None):
    """The front of ``data``, as long as ``shape_like`` along the axes (all if none are given).

    Examples
    --------
    >>> nd.slice_like(nd.ones((3, 4)), nd.ones((2, 2))).shape
    (2, 2)
    """
    return _filled(data[_like_key(data.shape, shape_like.shape, axes)], out)


def _like_key(shape, like, axes):
    if not axes:
        return tuple([slice(0, n) for n in like])
    key = [slice(None)] * len(shape)
    for axis in axes:
        key[axis] = slice(0, like[axis])
    return tuple(key)


@slice_like.shape
def _(s, *, axes):
    data, like = s.data, s.shape_like
    if isinstance(data, UnknownShape) or isinstance(like, UnknownShape):
        return
    result = list(data)
    for axis in axes or range(len(like)):
        result[axis] = like[axis]
    s.out = tuple(result)


@slice_like.dtype
def _(t, **_):
    t.out = t.data
    t.data = t.out


@slice_like.grad
def _(F, g, data, shape_like, *, out, axes):
    return F._slice_like_grad(g, data, axes=axes), None


@op(shape_only=("like",))
def _slice_like_grad(g, like, *, axes: Shape = ()):
    """Zeros with ``g`` in the front corner."""
    result = np.zeros(like.shape, g.dtype)
    result[tuple([slice(0, n) for n in g.shape])] = g
    return result


_slice_like_grad.shape(lambda s, **_: setattr(s, "out", s.like))


@_slice_like_grad.grad
def _(F, h, g, like, *, out, axes):
    return F.slice_like(h, g), None


# ---- x[key], recorded


def thaw(frozen: tuple[Any, ...], arrays: Any = ()) -> tuple[Any, ...]:
    """The index an attribute stands for: slices are triples, arrays are their number as text."""
    parts: list[Any] = []
    for part in frozen:
        if type(part) is tuple:
            parts.append(slice(*part))
        elif part == "...":
            parts.append(Ellipsis)
        elif type(part) is str:
            parts.append(arrays[int(part)].astype(np.int64, copy=False))
        else:
            parts.append(part)
    return tuple(parts)


def _indexed_shape(shape, key):
    """The shape of ``x[key]``, found by indexing an array without memory."""
    return np.broadcast_to(np.zeros((), np.bool_), shape)[key].shape


@op(copies_view=True)
def _basic_index(data, *, key: object, out=None):
    """``data[key]`` for a key of integers, slices, None and Ellipsis."""
    return _filled(data[thaw(key)], out)


@_basic_index.shape
def _(s, *, key):
    if known(s.data):
        s.out = _indexed_shape(s.data, thaw(key))


@_basic_index.grad
def _(F, g, data, *, out, key):
    return F._basic_index_grad(g, data, key=key)


@op(shape_only=("like",))
def _basic_index_grad(g, like, *, key: object):
    """Zeros with ``g`` where ``data[key]`` read."""
    result = np.zeros(like.shape, g.dtype)
    result[thaw(key)] = g
    return result


_basic_index_grad.shape(lambda s, **_: setattr(s, "out", s.like))


@_basic_index_grad.grad
def _(F, h, g, like, *, out, key):
    return F._basic_index(h, key=key), None


@op()
def _gather_index(data, *indices, key: object):
    """``data[key]`` where the key holds integer arrays."""
    return data[thaw(key, indices)]


@_gather_index.shape
def _(s, *, key):
    shapes = s.ins
    if all(known(x) for x in shapes):
        arrays = [np.zeros(x, np.int64) for x in shapes[1:]]
        s.out = _indexed_shape(shapes[0], thaw(key, arrays))


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


# ---- take and Embedding


def whole_numbers(x):
    """Indices as int64; fractions are cut off."""
    return x if x.dtype == np.int64 else x.astype(np.int64)


def within(indices, size, mode, name):
    """Indices brought into ``0 <= i < size``: clipped, wrapped around, or refused."""
    indices = whole_numbers(indices)
    if mode == "wrap":
        return indices % size if size else indices
    if mode == "raise":
        wrong = (indices < -size) | (indices >= size)
        if wrong.any():
            raise IndexOutOfRange(
                f"{name}: index {indices[wrong].flat[0]} is out of bounds.\n"
                f"  received  {np.count_nonzero(wrong)} such indices\n"
                f"  expected  at least {-size} and less than {size}, the length of the axis\n"
                "  fix       correct them, or choose mode='clip' or 'wrap'"
            )
        return np.where(indices < 0, indices + size, indices)
    if size == 0 and indices.size:
        raise IndexOutOfRange(f"{name}: there is nothing to take from an axis of length 0")
    return np.clip(indices, 0, size - 1)


@op()
def take(
    a, indices, *, axis: int = 0, mode: Literal["clip", "raise", "wrap"] = "clip", out=None
):
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
    places = within(indices, a.shape[axis], mode, "take")
    return np.take(a, places, axis=axis, out=out)


@take.shape
def _(s, *, axis, **_):
    a, indices = s.a, s.indices
    if isinstance(a, UnknownShape) or isinstance(indices, UnknownShape):
        return
    k = axis % len(a)
    s.out = (*a[:k], *indices, *a[k + 1 :])


def _follows_first(t, **_):
    t.out = t.ins[0]
    t.ins = [t.out]


take.dtype(_follows_first)


@take.grad
def _(F, g, a, indices, *, out, axis, mode):
    return F._take_grad(g, a, indices, axis=axis, mode=mode), F.zeros_like(indices)


@take.kernel("csr default -> csr", when=lambda axis, mode: axis == 0 and mode != "raise")
def _(a, indices, *, axis, mode):
    return csr.take_rows(a, within(indices, a.shape[0], mode, "take").reshape(-1))


@op(shape_only=("like",))
def _take_grad(
    g, like, indices, *, axis: int = 0, mode: Literal["clip", "raise", "wrap"] = "clip"
):
    """Zeros with ``g`` added where ``take`` read; repeated places add up in order."""
    k = axis % len(like.shape)
    places = within(indices, like.shape[k], mode, "take")
    moved = np.moveaxis(
        g.reshape(*g.shape[:k], -1, *g.shape[k + indices.ndim :]), k, 0
    )
    rows = row_sparse.scatter_rows_dense(places.reshape(-1), np.ascontiguousarray(moved), like.shape[k])
    return np.ascontiguousarray(np.moveaxis(rows, 0, k)) if k else rows


@_take_grad.shape
def _(s, **_):
    s.out = s.like


_take_grad.dtype(_follows_first)


@_take_grad.grad
def _(F, h, g, like, indices, *, out, **attrs):
    return F.take(h, indices, **attrs), None, None


@op(aliases=("_sparse_Embedding", "_contrib_SparseEmbedding"))
def Embedding(
    data,
    weight,
    *,
    input_dim: int,
    output_dim: int,
    dtype: DType = "float32",
    sparse_grad: bool = False,
    out=None,
):
    """Rows of a table: ``weight[data]``. Places outside are moved to the nearest end.

    Parameters
    ----------
    data : row numbers, of any shape.
    weight : the table, ``(input_dim, output_dim)``.
    sparse_grad : give the table's gradient as row_sparse, with just the rows that were read.

    Examples
    --------
    >>> nd.Embedding(nd.array([1, 0]), nd.array([[1, 2], [3, 4]]), input_dim=2, output_dim=2).asnumpy()
    array([[3., 4.],
           [1., 2.]], dtype=float32)
    """
    return np.take(weight, within(data, weight.shape[0], "clip", "Embedding"), axis=0, out=out)


@Embedding.shape
def _(s, *, input_dim, output_dim, **_):
    s.weight = (input_dim, output_dim)
    if not isinstance(s.data, UnknownShape):
        s.out = (*s.data, output_dim)
    elif not isinstance(s.out, UnknownShape):
        s.data = s.out[:-1]


@Embedding.dtype
def _(t, *, dtype, **_):
    t.out = t.weight
    t.weight = t.out
    if t.weight is None:
        t.weight = dtype


@Embedding.grad
def _(F, g, data, weight, *, out, sparse_grad, **_):
    return F.zeros_like(data), F._embedding_grad(g, data, weight, sparse_grad=sparse_grad)


@Embedding.kernel("default row_sparse -> default")
def _(data, weight, **_):
    return row_sparse.lookup(weight, within(data, weight.shape[0], "clip", "Embedding"))


@op(shape_only=("weight",))
def _embedding_grad(g, data, weight, *, sparse_grad: bool = False):
    """The gradient of the table: ``g`` added up by row number, in order."""
    places = within(data, weight.shape[0], "clip", "Embedding").reshape(-1)
    rows = np.ascontiguousarray(g).reshape(places.size, *weight.shape[1:])
    return row_sparse.scatter_rows_dense(places, rows, weight.shape[0])


@_embedding_grad.shape
def _(s, **_):
    s.out = s.weight


_embedding_grad.dtype(_follows_first)


@_embedding_grad.kernel(
    "default default default|row_sparse -> row_sparse", when=lambda sparse_grad: sparse_grad
)
def _(g, data, weight, *, sparse_grad):
    places = within(data, weight.shape[0], "clip", "Embedding").reshape(-1)
    rows = np.ascontiguousarray(g).reshape(places.size, *weight.shape[1:])
    return row_sparse.scatter_rows(places, rows, weight.shape[0])


@_embedding_grad.grad
def _(F, h, g, data, weight, *, out, sparse_grad):
    return F._rows_of(h, data), None, None


@op()
def _rows_of(weight, data):
    """``weight[data]``, clipped."""
    return np.take(weight, within(data, weight.shape[0], "clip", "Embedding"), axis=0)


@_rows_of.shape
def _(s):
    if not isinstance(s.data, UnknownShape) and not isinstance(s.weight, UnknownShape):
        s.out = (*s.data, *s.weight[1:])


_rows_of.dtype(_follows_first)


@_rows_of.grad
def _(F, g, weight, data, *, out):
    return F._embedding_grad(g, data, weight), None


# ---- pick, one_hot, gather, scatter


def _pick_places(index, shape, axis, mode):
    """``index`` with an axis of length one where it picks from."""
    k = axis % len(shape)
    kept = (*shape[:k], 1, *shape[k + 1 :])
    return within(index, shape[k], mode, "pick").reshape(kept)


@op(aliases=("choose_element_0index",), scalar=True)
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
    if axis is None:
        return _filled(np.take(data.reshape(-1), within(index, data.size, mode, "pick")), out)
    picked = np.take_along_axis(data, _pick_places(index, data.shape, axis, mode), axis)
    return _filled(picked if keepdims else picked.squeeze(axis), out)


@pick.shape
def _(s, *, axis, keepdims, mode):
    data = s.data
    if axis is None:
        s.out = s.index
        return
    if isinstance(data, UnknownShape):
        return
    k = axis % len(data)
    without, kept = (*data[:k], *data[k + 1 :]), (*data[:k], 1, *data[k + 1 :])
    if isinstance(s.index, UnknownShape):
        s.index = kept if keepdims else without
    s.out = kept if keepdims else without


pick.dtype(_follows_first)


@pick.grad
def _(F, g, data, index, *, out, axis, keepdims, mode):
    return F._pick_grad(g, data, index, axis=axis, mode=mode), F.zeros_like(index)


@op(shape_only=("like",))
def _pick_grad(
    g, like, index, *, axis: int | None = -1, mode: Literal["clip", "wrap"] = "clip"
):
    """Zeros with ``g`` where ``pick`` read."""
    result = np.zeros(like.shape, g.dtype)
    if axis is None:
        np.add.at(result.reshape(-1), within(index, result.size, mode, "pick"), g)
        return result
    places = _pick_places(index, like.shape, axis, mode)
    np.put_along_axis(result, places, g.reshape(places.shape), axis)
    return result


@_pick_grad.shape
def _(s, **_):
    s.out = s.like


_pick_grad.dtype(_follows_first)


@_pick_grad.grad
def _(F, h, g, like, index, *, out, axis, mode):
    return F.reshape_like(F.pick(h, index, axis=axis, mode=mode), g), None, None


@op(grad="zero")
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
    places = whole_numbers(indices)
    result = np.full((*places.shape, depth), off_value, dtype)
    inside = (places >= 0) & (places < depth)
    result[(*np.nonzero(inside), places[inside])] = on_value
    return _filled(result, out)


@one_hot.shape
def _(s, *, depth, **_):
    if not isinstance(s.indices, UnknownShape):
        s.out = (*s.indices, depth)


@one_hot.dtype
def _(t, *, dtype, **_):
    t.out = dtype


def _coordinates(indices, shape, name):
    """The rows of ``indices`` as an index; raises ``IndexOutOfRange`` outside the shape."""
    places = whole_numbers(indices)
    return tuple([within(p, n, "raise", name) for p, n in zip(places, shape, strict=False)])


@op()
def gather_nd(data, indices, *, out=None):
    """Elements (or subarrays) by coordinates: column ``j`` of ``indices`` names the j-th.

    Raises ``IndexError`` (also an ``MXNetError``) for coordinates outside.

    Examples
    --------
    >>> nd.gather_nd(nd.array([[1, 2], [3, 4]]), nd.array([[0, 1], [1, 0]])).asnumpy()
    array([2., 3.], dtype=float32)
    """
    return _filled(data[_coordinates(indices, data.shape, "gather_nd")], out)


@gather_nd.shape
def _(s):
    data, indices = s.data, s.indices
    if not isinstance(data, UnknownShape) and known(indices):
        s.out = (*indices[1:], *data[indices[0] :])


gather_nd.dtype(_follows_first)


@gather_nd.grad
def _(F, g, data, indices, *, out):
    return F._gather_nd_grad(g, data, indices), F.zeros_like(indices)


@op(shape_only=("like",))
def _gather_nd_grad(g, like, indices):
    """Zeros with ``g`` added where ``gather_nd`` read."""
    result = np.zeros(like.shape, g.dtype)
    np.add.at(result, _coordinates(indices, like.shape, "gather_nd"), g)
    return result


@_gather_nd_grad.shape
def _(s):
    s.out = s.like


_gather_nd_grad.dtype(_follows_first)


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
    result[_coordinates(indices, shape, "scatter_nd")] = data
    return _filled(result, out)


@scatter_nd.shape
def _(s, *, shape):
    s.out = shape


scatter_nd.dtype(_follows_first)


@scatter_nd.grad
def _(F, g, data, indices, *, out, shape):
    return F.gather_nd(g, indices), F.zeros_like(indices)


@op()
def batch_take(a, indices, *, out=None):
    """``a[i, indices[i]]`` for each row i, places outside moved to the nearest end.

    As in MXNet it has no gradient; `pick` does the same and has one.
    """
    places = within(indices, a.shape[1], "clip", "batch_take").reshape(-1)
    return _filled(a[np.arange(a.shape[0]), places].reshape(indices.shape), out)


@batch_take.shape
def _(s):
    s.out = s.indices


batch_take.dtype(_follows_first)


# ---- where


def _chosen(condition, x, y, out):
    if condition.shape != x.shape and condition.ndim == 1 and x.ndim > 1:
        condition = condition.reshape(-1, *[1] * (x.ndim - 1))
    return _filled(np.where(condition != 0, x, y), out)


@op(aliases=("_sparse_where",))
def where(condition, x, y, *, out=None):
    """``x`` where the condition is not zero, else ``y``; a vector chooses whole rows.

    Examples
    --------
    >>> nd.where(nd.array([1, 0]), nd.array([1, 2]), nd.array([3, 4])).asnumpy()
    array([1., 4.], dtype=float32)
    """
    return _chosen(condition, x, y, out)


@where.shape
def _(s):
    s.x = s.out
    s.y = s.x
    s.x = s.y
    s.out = s.x
    condition, x = s.condition, s.x
    if isinstance(condition, UnknownShape) or isinstance(x, UnknownShape):
        return
    if len(condition) == len(x):
        s.condition = x
    elif len(condition) == 1:
        s.condition = (x[0],)


@where.dtype
def _(t):
    t.x = t.out
    t.y = t.x
    t.x = t.y
    t.out = t.x


@where.grad
def _(F, g, condition, x, y, *, out):
    return (
        F.zeros_like(condition),
        F._where_grad(condition, g, taken=True),
        F._where_grad(condition, g, taken=False),
    )


@where.kernel("csr default default -> default")
def _(condition, x, y, *, out=None):
    return _chosen(csr.densify(condition), x, y, out)


@op()
def _where_grad(condition, g, *, taken: bool = True):
    """``g`` where the condition chose this side, else zero."""
    side = condition if condition.ndim == g.ndim else condition.reshape(-1, *[1] * (g.ndim - 1))
    return np.where((side != 0) == taken, g, g.dtype.type(0))


_where_grad.runs_dense("csr|row_sparse default|csr|row_sparse -> default")


@_where_grad.shape
def _(s, **_):
    s.out = s.g


@_where_grad.dtype
def _(t, **_):
    t.out = t.g


@_where_grad.grad
def _(F, h, condition, g, *, out, taken):
    return None, F._where_grad(condition, h, taken=taken)
