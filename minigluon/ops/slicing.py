"""Operators that cut out regions: slice, slice_axis, slice_like, and ``x[key]`` of basic keys."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import ShapeError
from ..core.attributes import Shape
from ..core.infer import UNKNOWN, UnknownShape, known
from ..core.op import op
from ..kernels import csr
from ._shared import axis_of, filled


def _cut_length(length, begin, end, step):
    if UNKNOWN in (length, begin, end):
        return UNKNOWN
    return len(range(*slice(begin, end, step).indices(length)))


def _slices(begin, end, step):
    step = step or (None,) * len(begin)
    if not len(begin) == len(end) == len(step):
        raise ShapeError(
            f"slice: begin and end must have the same length, and step if given.\n"
            f"  received  begin={begin}, end={end}, step={step}\n"
            "  expected  one bound of each for each of the leading axes\n"
            "  fix       fill the shorter ones up with None"
        )
    if 0 in step:
        raise ShapeError(
            f"slice: a step is zero.\n  received  step={step}\n"
            "  expected  steps forwards or backwards\n  fix       pass 1 for every element"
        )
    return tuple([slice(b, e, s) for b, e, s in zip(begin, end, step, strict=True)])


@op(
    name="slice",
    aliases=(
        "crop",
        "_sparse_slice",
        "_npi_slice",
        "_npx_slice",
    ),
    copies_view=True,
)
def slice_(data, *, begin: Shape, end: Shape, step: Shape = (), out=None):
    """The region ``data[begin:end:step]``, one bound for each leading axis; None is open.

    Examples
    --------
    >>> nd.slice(nd.array([[1, 2], [3, 4]]), begin=(0, 1), end=(2, 2)).asnumpy()
    array([[2.],
           [4.]], dtype=float32)
    """
    return filled(data[_slices(begin, end, step)], out)


def region(data, begin, end, step):
    """The shape of ``data[begin:end:step]`` for data of this shape."""
    keys = _slices(begin, end, step)
    if len(keys) > len(data):
        raise ShapeError(
            f"slice: there are more bounds than axes.\n  received  begin={begin} for data {data}\n"
            f"  expected  at most {len(data)} bounds\n  fix       leave the last ones out"
        )
    cut = [_cut_length(d, k.start, k.stop, k.step) for d, k in zip(data, keys, strict=False)]
    return (*cut, *data[len(cut) :])


@slice_.shape
def _(s, *, begin, end, step):
    if not isinstance(s.data, UnknownShape):
        s.out = region(s.data, begin, end, step)


@slice_.grad
def _(F, g, data, *, out, begin, end, step):
    key = tuple([(k.start, k.stop, k.step) for k in _slices(begin, end, step)])
    return F._basic_index_grad(g, data, key=key)


slice_.grad(stype="default")


def _without_steps(step, **_):
    return all(s is None for s in step)


slice_.runs_dense("default -> default", when=_without_steps)


@slice_.kernel("csr -> csr", when=_without_steps)
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
    k = axis_of(axis, data.ndim, "slice_axis")
    start, stop = _bounds(data.shape[k], axis, begin, end)
    return filled(data[(slice(None),) * k + (slice(start, stop),)], out)


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
    k = axis_of(axis, len(data), "slice_axis")
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
    return filled(data[_like_key(data.shape, shape_like.shape, axes)], out)


def _like_key(shape, like, axes):
    key = [slice(None)] * len(shape)
    for k, length in _lengths_like(shape, like, axes):
        key[k] = slice(0, length)
    return tuple(key)


def _lengths_like(shape, like, axes):
    """Pairs of an axis and the length it is cut to; raises ``ShapeError`` if it is shorter."""
    if axes:
        pairs = [
            (axis_of(a, len(shape), "slice_like"), like[axis_of(a, len(like), "slice_like")])
            for a in axes
        ]
    elif len(shape) == len(like):
        pairs = list(enumerate(like))
    else:
        pairs = []
    if not (pairs or axes or shape == like) or any(length > shape[k] for k, length in pairs):
        raise ShapeError(
            f"slice_like: data does not reach as far.\n  received  data {tuple(shape)}, shape_like "
            f"{tuple(like)}, axes={axes}\n  expected  data at least as long along the axes, and "
            "without axes as many dimensions\n  fix       name the axes to cut"
        )
    return pairs


@slice_like.shape
def _(s, *, axes):
    data, like = s.data, s.shape_like
    if isinstance(data, UnknownShape) or isinstance(like, UnknownShape):
        return
    result = list(data)
    for k, length in _lengths_like(data, like, axes):
        result[k] = length
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


def indexed_shape(shape, key):
    """The shape of ``x[key]``, found by indexing an array without memory."""
    return np.broadcast_to(np.zeros((), np.bool_), shape)[key].shape


@op(copies_view=True)
def _basic_index(data, *, key: object, out=None):
    """``data[key]`` for a key of integers, slices, None and Ellipsis."""
    return filled(data[thaw(key)], out)


@_basic_index.shape
def _(s, *, key):
    if known(s.data):
        s.out = indexed_shape(s.data, thaw(key))


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
