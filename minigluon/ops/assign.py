"""Arrays with a part replaced: slices, scattered elements, rows."""

from __future__ import annotations

import numpy as np

from ..base import IndexOutOfRange, ShapeError
from ..core.attributes import Shape
from ..core.infer import UnknownShape, same_as
from ..core.op import op
from .slicing import _slices, region


@op()
def _copyto(data, *, out=None):
    """A copy of the data."""
    if out is None:
        return data.copy()
    out[...] = data
    return out


_copyto.shape(same_as("data"))


@_copyto.grad
def _(F, g, data, *, out):
    return g


def _start(lhs, out):
    """The array to write into: a copy of ``lhs``, or ``out`` holding its values."""
    if out is None:
        return lhs.copy()
    if out is not lhs:
        out[...] = lhs
    return out


@op(aliases=("_crop_assign", "_npi_slice_assign"), inplace=True)
def _slice_assign(lhs, rhs, *, begin: Shape, end: Shape, step: Shape = (), out=None):
    """``lhs`` with ``lhs[begin:end:step]`` replaced by ``rhs``.

    Examples
    --------
    >>> nd._internal._slice_assign(nd.zeros(3), nd.ones(1), begin=(1,), end=(2,)).asnumpy()
    array([0., 1., 0.], dtype=float32)
    """
    result = _start(lhs, out)
    result[_slices(begin, end, step)] = rhs
    return result


@_slice_assign.shape
def _(s, *, begin, end, step):
    s.lhs = s.out
    s.out = s.lhs
    if not isinstance(s.lhs, UnknownShape):
        s.rhs = region(s.lhs, begin, end, step)


@_slice_assign.grad
def _(F, g, lhs, rhs, *, out, **where):
    return F._slice_assign_scalar(g, scalar=0, **where), F.slice(g, **where)


@op(aliases=("_crop_assign_scalar", "_npi_slice_assign_scalar"), inplace=True)
def _slice_assign_scalar(
    data, *, scalar: float = 0.0, begin: Shape, end: Shape, step: Shape = (), out=None
):
    """``data`` with every element of ``data[begin:end:step]`` replaced by a number.

    Examples
    --------
    >>> nd._internal._slice_assign_scalar(nd.zeros(3), scalar=2, begin=(1,), end=(2,)).asnumpy()
    array([0., 2., 0.], dtype=float32)
    """
    result = _start(data, out)
    result[_slices(begin, end, step)] = scalar
    return result


_slice_assign_scalar.shape(same_as("data"))


@_slice_assign_scalar.grad
def _(F, g, data, *, out, scalar, **where):
    return F._slice_assign_scalar(g, scalar=0, **where)


@op(aliases=("_npi_scatter_set_nd",), inplace=True, grad="zero")
def _scatter_set_nd(lhs, rhs, indices, *, shape: Shape, out=None):
    """``lhs`` with the elements that the columns of ``indices`` name replaced by ``rhs``.

    Raises ``IndexOutOfRange`` for an index that ``lhs`` does not have; nothing is written then.
    """
    if lhs.shape != shape:
        raise ShapeError(
            "_scatter_set_nd: lhs has the wrong shape.\n"
            f"  received  lhs {lhs.shape}, shape={shape}\n"
            "  expected  lhs of that shape\n  fix       pass shape=lhs.shape"
        )
    key = tuple(indices.astype(np.int64))
    for axis, part in enumerate(key):
        _check_range("_scatter_set_nd", part, lhs.shape[axis], -lhs.shape[axis])
    result = _start(lhs, out)
    result[key] = rhs
    return result


def _check_range(name, numbers, length, low=0):
    wrong = numbers[(numbers < low) | (numbers >= length)]
    if wrong.size:
        raise IndexOutOfRange(
            f"{name}: index {wrong[0]} is out of range.\n  received  index {wrong[0]}\n"
            f"  expected  {low} to {length - 1}, for an axis of length {length}\n"
            "  fix       leave such indices out"
        )


@_scatter_set_nd.shape
def _(s, *, shape):
    s.out = shape
    s.lhs = s.out


@_scatter_set_nd.dtype
def _(t, **_):
    for dtype in (t.lhs, t.rhs, t.out):
        t.lhs = t.rhs = t.out = dtype


@op()
def _contrib_index_copy(old_tensor, index_vector, new_tensor):
    """``old_tensor`` with the rows that ``index_vector`` names replaced by those of ``new_tensor``.

    Raises ``IndexOutOfRange`` for an index that ``old_tensor`` does not have.

    Examples
    --------
    >>> nd.contrib.index_copy(nd.zeros((3, 1)), nd.array([1]), nd.ones((1, 1))).asnumpy().ravel()
    array([0., 1., 0.], dtype=float32)
    """
    rows = _row_numbers(index_vector, old_tensor.shape[0])
    result = old_tensor.copy()
    result[rows] = new_tensor
    return result


def _row_numbers(index_vector, length):
    rows = index_vector.astype(np.int64)
    _check_range("index_copy", rows, length)
    return rows


@_contrib_index_copy.shape
def _(s):
    s.old_tensor = s.out
    s.out = s.old_tensor
    old, index = s.old_tensor, s.index_vector
    if not isinstance(old, UnknownShape) and not isinstance(index, UnknownShape):
        s.new_tensor = (index[0], *old[1:])


@_contrib_index_copy.dtype
def _(t):
    t.old_tensor = t.out
    t.out = t.old_tensor
    t.new_tensor = t.out
    t.out = t.new_tensor


@_contrib_index_copy.grad
def _(F, g, old, index, new, *, out):
    return (
        F._contrib_index_copy(g, index, F.zeros_like(new)),
        None,
        F._rows_copied(g, index),
    )


@op()
def _rows_copied(data, index_vector):
    """The rows that ``index_vector`` names."""
    return data[_row_numbers(index_vector, data.shape[0])]


@_rows_copied.shape
def _(s):
    data, index = s.data, s.index_vector
    if not isinstance(data, UnknownShape) and not isinstance(index, UnknownShape):
        s.out = (index[0], *data[1:])


@_rows_copied.dtype
def _(t):
    t.out = t.data


@_rows_copied.grad
def _(F, h, data, index, *, out):
    return F._contrib_index_copy(F.zeros_like(data), index, h), None


@op(grad="zero", inplace=True)
def fill_element_0index(lhs, mhs, rhs, *, out=None):
    """``lhs`` with ``lhs[i, rhs[i]]`` replaced by ``mhs[i]`` in each row.

    Raises ``IndexOutOfRange`` for a column that ``lhs`` does not have.

    Examples
    --------
    >>> nd.fill_element_0index(nd.zeros((2, 2)), nd.array([5, 6]), nd.array([1, 0])).asnumpy()
    array([[0., 5.],
           [6., 0.]], dtype=float32)
    """
    columns = rhs.astype(np.int64)
    _check_range("fill_element_0index", columns, lhs.shape[1])
    result = _start(lhs, out)
    result[np.arange(lhs.shape[0]), columns] = mhs
    return result


@fill_element_0index.shape
def _(s):
    s.lhs = s.out
    s.out = s.lhs
    if not isinstance(s.lhs, UnknownShape):
        s.mhs = s.rhs = s.lhs[:1]


@op(grad="zero", inplace=True)
def _onehot_encode(lhs, rhs, *, out=None):
    """Zeros in the shape of ``rhs`` with a one in column ``lhs[i]`` of each row.

    Raises ``IndexOutOfRange`` for a column that ``rhs`` does not have.

    Examples
    --------
    >>> nd._internal._onehot_encode(nd.array([1, 0]), nd.zeros((2, 2))).asnumpy()
    array([[0., 1.],
           [1., 0.]], dtype=float32)
    """
    columns = lhs.astype(np.int64)
    _check_range("_onehot_encode", columns, rhs.shape[1])
    result = np.empty_like(rhs) if out is None else out
    result[...] = 0
    result[np.arange(rhs.shape[0]), columns] = 1
    return result


@_onehot_encode.shape
def _(s):
    s.rhs = s.out
    s.out = s.rhs
    if not isinstance(s.rhs, UnknownShape):
        s.lhs = s.rhs[:1]


@op(inplace=True)
def _set_value(*, src: float, out=None):
    """Every element of ``out`` set to one number.

    Examples
    --------
    >>> x = nd.zeros(2)
    >>> nd._internal._set_value(3, out=x).asnumpy()
    array([3., 3.], dtype=float32)
    """
    if out is None:
        return np.float32(src)
    out[...] = src
    return out


@_set_value.shape
def _(s, **_):
    """Nothing follows: any shape will do."""
