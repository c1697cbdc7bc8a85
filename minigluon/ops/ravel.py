"""Index arithmetic: ravel and unravel, index arrays, ranges in the shape of other arrays."""

from __future__ import annotations

import numpy as np

from ..base import AttributeValueError, ShapeError
from ..core.attributes import DType, Shape
from ..core.infer import UnknownShape, prod
from ..core.op import op
from ._shared import axis_of


def _strides(name, shape):
    """How far apart neighbours along each axis are; the first dimension may be unknown (-1)."""
    if not shape or min(shape[1:], default=1) < 1:
        raise AttributeValueError(
            f"{name}: shape is not valid.\n  received  shape={shape}\n"
            "  expected  a tuple of lengths, of which the first may be -1\n"
            "  fix       pass the shape of the array that is indexed"
        )
    return np.cumprod([1, *reversed(shape[1:])], dtype=np.int64)[::-1]


@op(aliases=("ravel_multi_index",), grad="zero")
def _ravel_multi_index(data, *, shape: Shape):
    """Positions in the flattened array from indices, one column of ``data`` each.

    Examples
    --------
    >>> nd.ravel_multi_index(nd.array([[1, 0], [2, 1]]), shape=(3, 4)).asnumpy()
    array([6., 1.], dtype=float32)
    """
    if data.shape[0] != len(shape):
        raise ShapeError(
            "ravel_multi_index: data has the wrong number of rows.\n"
            f"  received  data {data.shape}, shape={shape}\n"
            f"  expected  {len(shape)} rows, one for each axis\n  fix       pass one row an axis"
        )
    strides = _strides("ravel_multi_index", shape)
    return np.tensordot(strides, data.astype(np.int64), 1).astype(data.dtype)


@_ravel_multi_index.shape
def _(s, *, shape):
    data = s.data
    if not isinstance(data, UnknownShape):
        s.data = (len(shape), *data[1:])
        s.out = data[1:]


@op(aliases=("unravel_index",), grad="zero")
def _unravel_index(data, *, shape: Shape):
    """Indices, one column each, from positions in the flattened array.

    Examples
    --------
    >>> nd.unravel_index(nd.array([5, 11]), shape=(3, 4)).asnumpy()
    array([[1., 2.],
           [1., 3.]], dtype=float32)
    """
    rest = data.astype(np.int64).reshape(-1)
    result = np.empty((len(shape), rest.size), data.dtype)
    for k, stride in enumerate(_strides("unravel_index", shape)):
        result[k], rest = rest // stride, rest % stride
    return result.reshape(len(shape), *data.shape)


@_unravel_index.shape
def _(s, *, shape):
    data = s.data
    if not isinstance(data, UnknownShape):
        s.out = (len(shape), *data)


@op(grad="zero", shape_only=("data",))
def _contrib_index_array(data, *, axes: Shape | None = None):
    """The index of each element, along a new last axis, as int64.

    Parameters
    ----------
    axes : the parts of the index to give, all by default.

    Examples
    --------
    >>> nd.contrib.index_array(nd.ones((1, 2))).asnumpy().tolist()
    [[[0, 0], [0, 1]]]
    """
    axes = _axes_of(data.shape, axes)
    parts = [np.arange(data.shape[a]).reshape(-1, *[1] * (data.ndim - a - 1)) for a in axes]
    result = np.empty((*data.shape, len(axes)), np.int64)
    for k, part in enumerate(parts):
        result[..., k] = part
    return result


def _axes_of(shape, axes):
    if axes is None:
        return tuple(range(len(shape)))
    return tuple([axis_of(a, len(shape), "index_array") for a in axes])


@_contrib_index_array.shape
def _(s, *, axes):
    data = s.data
    if not isinstance(data, UnknownShape):
        s.out = (*data, len(_axes_of(data, axes)))


@_contrib_index_array.dtype
def _(t, **_):
    t.out = np.int64


@op(aliases=("_npx_arange_like",), grad="zero", shape_only=("data",))
def _contrib_arange_like(
    data,
    *,
    start: float = 0.0,
    step: float = 1.0,
    repeat: int = 1,
    axis: int | None = None,
):
    """Numbers ``start, start + step, ...`` in the shape of ``data``, or as many as an axis is long.

    Parameters
    ----------
    repeat : how often each number comes.
    axis : count along this axis only; the result is one-dimensional.

    Examples
    --------
    >>> nd.contrib.arange_like(nd.ones((2, 3)), axis=1).asnumpy()
    array([0., 1., 2.], dtype=float32)
    """
    if repeat < 1:
        raise AttributeValueError(
            f"arange_like: repeat is not valid.\n  received  repeat={repeat}\n"
            "  expected  at least 1\n  fix       pass how often each number comes"
        )
    shape = _range_shape(data.shape, axis)
    steps = np.arange(prod(shape)) // repeat
    return (start + steps * step).astype(data.dtype).reshape(shape)


def _range_shape(shape, axis):
    if axis is None:
        return shape
    return (shape[axis_of(axis, len(shape), "arange_like")],)


@_contrib_arange_like.shape
def _(s, *, axis, **_):
    if not isinstance(s.data, UnknownShape):
        s.out = _range_shape(s.data, axis)


@op(aliases=("cumsum",))
def _np_cumsum(a, *, axis: int | None = None, dtype: DType | None = None, out=None):
    """The sums of all elements up to each, along an axis or of the flattened array.

    Examples
    --------
    >>> nd.cumsum(nd.array([1, 2, 3])).asnumpy()
    array([1., 3., 6.], dtype=float32)
    """
    along = 0 if axis is None else axis_of(axis, a.ndim, "cumsum")
    kind = dtype or _of_sums(a.dtype)
    return np.add.accumulate(a.reshape(-1) if axis is None else a, along, kind, out)


def _of_sums(dtype):
    """The dtype of sums: truth values are counted."""
    return np.dtype(np.int64) if dtype == np.bool_ else dtype


@_np_cumsum.shape
def _(s, *, axis, dtype):
    if axis is None:
        s.out = (prod(s.a),)
    else:
        s.a = s.out
        s.out = s.a


@_np_cumsum.dtype
def _(t, *, dtype, **_):
    if dtype is not None:
        t.out = dtype
    elif t.a is None:
        t.a = t.out
    else:
        t.out = _of_sums(t.a)


@_np_cumsum.grad
def _(F, g, a, *, out, axis, dtype):
    along = 0 if axis is None else axis
    sums = F.flip(F.cumsum(F.flip(g, axis=along), axis=along), axis=along)
    if axis is None:
        sums = F.reshape_like(sums, a)
    return F._cast_like(sums, a)
