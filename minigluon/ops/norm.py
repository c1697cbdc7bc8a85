"""Norms, and the sum of squares whose gradient is row_sparse."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from .. import storage
from ..base import AttributeValueError
from ..core.attributes import Shape
from ..core.op import op
from ..kernels import csr, row_sparse
from .elementwise import real_dtype
from .reduce import add_up, axes_of, opened, put, reduced_shape, sparse_sum


@op(aliases=("_sparse_norm",), scalar=True)
def norm(
    data, *, ord: int = 2, axis: Shape | None = None,
    out_dtype: Literal["float16", "float32", "float64", "int32", "int64", "int8"] | None = None,
    keepdims: bool = False, out=None,
):  # fmt: skip
    """The norm of the elements along ``axis``: the root of the sum of squares, or a sum of sizes.

    Several axes are taken as one long axis. Whole numbers are computed with as float32.

    Parameters
    ----------
    ord : 2 for the Euclidean norm, 1 for the sum of absolute values.
    axis : an axis or several, negative ones counted from the end; none means all.
    out_dtype : the dtype of the result, by default that of ``data``.
    keepdims : keep reduced axes, with length one.
    """
    dtype = out_dtype or (data.dtype if data.dtype.kind == "f" else np.float32)
    result = _norm(data, ord, axes_of(data.ndim, axis), keepdims, np.add.reduce)
    return put(result, np.dtype(dtype), out)


def _norm(data, ord, axes, keepdims, add):
    if ord not in (1, 2):
        raise AttributeValueError(
            f"norm: only supports ord=1 and ord=2.\n  received  ord={ord}\n"
            "  expected  1 or 2\n  fix       use linalg operators for other norms"
        )
    if data.dtype.kind != "f" or data.dtype.itemsize < 4:
        data = data.astype(np.float32)
    if ord == 1:
        return add(np.abs(data), axis=axes, keepdims=keepdims)
    total = add(np.square(data), axis=axes, keepdims=keepdims)
    if data.dtype == np.float32 and not np.all((total > 1e-30) & (total < 1e38)):
        # squares of large or tiny numbers do not fit; zeros and infinities come here in vain
        total = add(np.square(data, dtype=np.float64), axis=axes, keepdims=keepdims)
    return np.sqrt(total)


norm.shape(reduced_shape)


@norm.dtype
def _(t, *, out_dtype, **_):
    if out_dtype is not None:
        t.out = np.dtype(out_dtype)
    else:
        real_dtype(t)


@norm.grad
def _(F, g, data, *, out, ord, axis, out_dtype, keepdims):
    how = {"axis": axis, "keepdims": keepdims}
    if out_dtype is not None:
        g, out = F._cast_like(g, data), F._cast_like(out, data)
    if ord == 1:
        return F._spread_reduced(g, data, **how) * F.sign(data)
    return data * F._spread_reduced(g / out, data, **how)


@norm.kernel("csr|row_sparse -> default")
def _(data, *, ord, axis, out_dtype, keepdims, out=None):
    if type(data) is storage.Csr:
        data = csr.canonical(data)  # an entry stored twice is one number

    def add(values, *, axis, keepdims):
        return sparse_sum(data.with_values(values), axis, keepdims)

    dtype = out_dtype or (data.dtype if data.dtype.kind == "f" else np.float32)
    result = _norm(data.values, ord, axes_of(data.ndim, axis), keepdims, add)
    return put(result, np.dtype(dtype), out)


@op(scalar=True)
def _square_sum(
    data, *, axis: Shape | None = None, keepdims: bool = False, exclude: bool = False, out=None
):
    """The sum of the squares of the elements along ``axis``; its gradient is row_sparse.

    A row_sparse matrix reduced along its rows with ``keepdims`` gives a row_sparse result.
    """
    return add_up(np.square(data), axes_of(data.ndim, axis, exclude), keepdims, out)


_square_sum.shape(reduced_shape)


@_square_sum.grad
def _(F, g, data, *, out, **how):
    return F._square_sum_grad(g, data, **how)


def _sums_rows(axis: Any, keepdims: bool, exclude: bool) -> bool:
    return keepdims and axis in ((1,), (-1,)) and not exclude


@_square_sum.kernel("row_sparse -> row_sparse", when=_sums_rows)
def _(data, *, axis, keepdims, exclude, out=None):
    return row_sparse.square_sum(data, 1, True)


@_square_sum.kernel("row_sparse -> default")
def _(data, *, axis, keepdims, exclude, out=None):
    axes = axes_of(data.ndim, axis, exclude)
    if data.ndim == 2 and axes:
        whole = axes[0] if len(axes) == 1 else None
        return put(row_sparse.square_sum(data, whole, keepdims), data.dtype, out)
    squares = data.with_values(np.square(data.values))
    return put(sparse_sum(squares, axes, keepdims), data.dtype, out)


@op()
def _square_sum_grad(
    g, data, *, axis: Shape | None = None, keepdims: bool = False, exclude: bool = False, out=None
):
    """``2 * data * g``, on the rows that ``g`` stores, or else those that ``data`` does."""
    return np.multiply(data * data.dtype.type(2), opened(g, data.shape, axis, exclude), out=out)


@_square_sum_grad.shape
def _(s, **_):
    s.out = s.data
    s.data = s.out


@_square_sum_grad.kernel("row_sparse row_sparse -> row_sparse", when=_sums_rows)
def _(g, data, *, axis, keepdims, exclude, out=None):
    values = row_sparse.lookup(data, g.indices)  # a copy
    values *= g.values * data.dtype.type(2)
    return storage.RowSparse(values, g.indices, data.shape)


@_square_sum_grad.kernel("default|row_sparse row_sparse -> row_sparse")
def _(g, data, *, axis, keepdims, exclude, out=None):
    weights = opened(storage.densify(g), data.shape, axis, exclude)
    if weights.shape[0] == data.shape[0]:
        weights = weights.take(data.indices, axis=0)
    return data.with_values(data.values * data.dtype.type(2) * weights)


@_square_sum_grad.grad
def _(F, g, head, data, *, out, **how):
    return F.sum(g * (data * 2), **how), g * (F._spread_reduced(head, data, **how) * 2)
