"""Matrix products with a csr operand.

==========================================  ===================================================
``dot(csr, dense, out=None)``               csr @ dense -> dense; a vector gives a vector
``dot_rows(csr, rsp, out=None)``            csr @ row_sparse -> dense, nothing of weight size made
``dot_transposed(csr, dense)``              csr.T @ dense -> RowSparse, ids ascending and distinct
``dot_transposed_dense(csr, dense, out=None)``   csr.T @ dense -> dense
``dot_transposed_rows(csr, rsp)``           csr.T @ row_sparse -> RowSparse
``dense_dot(dense, csr, out=None)``         dense @ csr -> dense
``dense_dot_csr(dense, csr)``               dense @ csr -> Csr, as MXNet stores it; zeros not stored
``dense_dot_transposed(dense, csr, out=None)``   dense @ csr.T -> dense
==========================================  ===================================================

Both operands have one dtype. Sums run over the stored entries in an order that does not change; one
or two columns accumulate in double precision, wider results in the dtype of the result (float16 in
float32).
Few stored entries (a batch of one) stay on numpy and sum in the dtype of the result: 1.7 us there
against 1.3 compiled, but a script that has only such batches never loads numba.
"""

from __future__ import annotations

import numpy as np

from ..storage import Csr, RowSparse
from . import csr as structure
from ._jit import jit
from .distinct import distinct, distinct_columns, find, gather

#: up to this many stored entries numpy does (and numba need not be loaded)
SMALL = 64


def dot(csr: Csr, dense: np.ndarray, *, out: np.ndarray | None = None) -> np.ndarray:
    """``csr @ dense``; a vector on the right gives a vector."""
    return _dot(csr.values, csr.indices, csr.indptr, dense, out)


def _dot(values, indices, indptr, dense, out):
    shape = (indptr.size - 1, *dense.shape[1:])
    if values.size <= SMALL:
        return _dot_few(values, indices, indptr, dense, shape, out)
    if values.dtype == np.float16:
        wide = _dot(values.astype(np.float32), indices, indptr, dense.astype(np.float32), None)
        return _give(wide, np.float16, out)
    result = np.empty(shape, values.dtype) if out is None or not out.flags.c_contiguous else out
    dense = np.ascontiguousarray(dense)
    if values.dtype.kind == "f" and (dense.ndim == 1 or dense.shape[1] == 1):
        _dot_one(values, indices, indptr, dense.ravel(), result.ravel())
    elif values.dtype.kind == "f" and dense.shape[1] == 2:
        _dot_two(values, indices, indptr, dense.ravel(), result.ravel())
    else:
        width = 1 if dense.ndim == 1 else dense.shape[1]
        _dot_wide(values, indices, indptr, dense.reshape(-1, width), result.reshape(-1, width))
    return result if out is None or out is result else _give(result, out.dtype, out)


def _dot_few(values, indices, indptr, dense, shape, out):
    if shape[0] == 1 and values.size and values.dtype != np.float16:
        row = values @ gather(dense, indices)
        if out is None:
            return np.asarray(row, values.dtype).reshape(shape)
        out[...] = row
        return out
    result = np.zeros(shape, values.dtype) if out is None else out
    if out is not None:
        result[...] = 0
    if values.size == 0 or result.size == 0:
        return result
    wide = np.float32 if values.dtype == np.float16 else values.dtype
    factor = values if dense.ndim == 1 else values[:, None]
    products = np.multiply(factor, gather(dense, indices), dtype=wide)
    starts = indptr[:-1]
    filled = (indptr[1:] > starts).nonzero()[0]
    result[filled] = np.add.reduceat(products, starts[filled], axis=0)
    return result


def dot_rows(csr: Csr, rsp: RowSparse, *, out: np.ndarray | None = None) -> np.ndarray:
    """``csr @ rsp``: looks up the rows that the batch names, and makes nothing of weight size."""
    limit = rsp.shape[0]
    if rsp.indices.size == limit:
        return _dot(csr.values, csr.indices, csr.indptr, rsp.values, out)
    at = find(csr.indices, rsp.indices, limit)
    values, indptr = csr.values, csr.indptr
    stored = at >= 0
    if not stored.all():
        before = np.zeros(at.size + 1, np.int64)
        stored.cumsum(out=before[1:])
        values, at, indptr = values[stored], at[stored], before[indptr]
    return _dot(values, at, indptr, rsp.values, out)


def dot_transposed(csr: Csr, dense: np.ndarray) -> RowSparse:
    """``csr.T @ dense``, storing only the rows whose column occurs in ``csr``."""
    values, indices, columns = csr.values, csr.indices, csr.shape[1]
    shape = (columns, *dense.shape[1:])
    if indices.size <= SMALL:
        rows, products = _dot_transposed_few(csr, dense)
        return RowSparse(products, rows, shape)
    rows, slots = distinct_columns(indices, columns)
    result = np.zeros((rows.size, *dense.shape[1:]), values.dtype)
    _scatter(values, slots, csr.indptr, dense, result)
    return RowSparse(result, rows, shape)


def _dot_transposed_few(csr, dense):
    values, indices, indptr = csr.values, csr.indices, csr.indptr
    factor = values if dense.ndim == 1 else values[:, None]
    if indptr.size == 2:
        products = factor * dense
    else:
        row = np.arange(indptr.size - 1).repeat(indptr[1:] - indptr[:-1])
        products = factor * gather(dense, row)
    if indices.size < 2 or (indices[1:] > indices[:-1]).all():
        return indices, products
    rows, slots = distinct(indices, csr.shape[1])
    result = np.zeros((rows.size, *products.shape[1:]), values.dtype)
    np.add.at(result, slots, products)
    return rows, result


def dot_transposed_dense(
    csr: Csr, dense: np.ndarray, *, out: np.ndarray | None = None
) -> np.ndarray:
    """``csr.T @ dense`` with every row stored."""
    shape = (csr.shape[1], *dense.shape[1:])
    direct = out is not None and out.flags.c_contiguous and out.dtype == csr.values.dtype
    result = out if direct else np.zeros(shape, csr.values.dtype)
    if direct:
        result[...] = 0
    if csr.values.size <= SMALL:
        rows, products = _dot_transposed_few(csr, dense)
        result[rows] = products
    else:
        _scatter(csr.values, csr.indices, csr.indptr, dense, result)
    return _give(result, result.dtype, out)


def _scatter(values, slots, indptr, dense, result):
    """``result[slots[k]] += values[k] * dense[row of k]``."""
    if values.dtype == np.float16:
        wide = np.zeros(result.shape, np.float32)
        _scatter(values.astype(np.float32), slots, indptr, dense.astype(np.float32), wide)
        result[...] = wide
        return
    dense = np.ascontiguousarray(dense)
    width = 1 if dense.ndim == 1 else dense.shape[1]
    if width == 1:
        _scatter_one(values, slots, indptr, dense.ravel(), result.ravel())
    elif width == 2:
        _scatter_two(values, slots, indptr, dense.ravel(), result.ravel())
    else:
        _scatter_wide(values, slots, indptr, dense, result)


def dot_transposed_rows(csr: Csr, rsp: RowSparse) -> RowSparse:
    """``csr.T @ rsp``: only the csr rows that the row_sparse operand stores take part."""
    if rsp.indices.size != rsp.shape[0]:
        csr = structure.take_rows(csr, rsp.indices)
    return dot_transposed(csr, rsp.values)


def dense_dot(dense: np.ndarray, csr: Csr, *, out: np.ndarray | None = None) -> np.ndarray:
    """``dense @ csr`` with every element stored."""
    shape = (dense.shape[0], csr.shape[1])
    if csr.values.dtype == np.float16:
        wide = dense_dot(dense.astype(np.float32), csr.with_values(csr.values.astype(np.float32)))
        return _give(wide, np.float16, out)
    result = np.zeros(shape, dense.dtype)
    if csr.values.size <= SMALL:
        rows, products = _dot_transposed_few(csr, dense.T)
        result[:, rows] = products.T
    else:
        dense = np.ascontiguousarray(dense)
        _dense_dot(dense, csr.values, csr.indices, csr.indptr, result)
    return _give(result, dense.dtype, out)


def dense_dot_csr(dense: np.ndarray, csr: Csr) -> Csr:
    """``dense @ csr`` as csr, the storage MXNet gives it; works on the occurring columns only."""
    columns, slots = distinct_columns(csr.indices, csr.shape[1])
    narrow = Csr(csr.values, slots, csr.indptr, (csr.shape[0], columns.size))
    product = structure.from_dense(dense_dot(dense, narrow))
    shape = (dense.shape[0], csr.shape[1])
    return Csr(product.values, columns[product.indices], product.indptr, shape)


def dense_dot_transposed(
    dense: np.ndarray, csr: Csr, *, out: np.ndarray | None = None
) -> np.ndarray:
    """``dense @ csr.T`` with every element stored."""
    if csr.values.dtype == np.float16:
        wide = csr.with_values(csr.values.astype(np.float32))
        return _give(dense_dot_transposed(dense.astype(np.float32), wide), np.float16, out)
    if csr.values.size <= SMALL:
        return _give(dot(csr, dense.T).T, dense.dtype, out)
    result = np.empty((dense.shape[0], csr.shape[0]), dense.dtype)
    dense = np.ascontiguousarray(dense)
    _dense_dot_transposed(dense, csr.values, csr.indices, csr.indptr, result)
    return _give(result, dense.dtype, out)


def _give(result, dtype, out):
    """Put the result where the caller wants it."""
    if out is None:
        return result.astype(dtype, copy=False)
    if out is not result:
        out[...] = result
    return out


# Unsigned indices spare numba's wrap-around of negative ones: 22 GB/s against 13 with int64 (2000
# rows of 40 from 1M, one column; scipy with int32 indices 21).


@jit
def _dot_one(values, indices, indptr, dense, out):
    """One column: each row in double precision, in four sums that do not wait for each other."""
    one, four = np.uint64(1), np.uint64(4)
    for row in range(out.size):
        sums = (0.0, 0.0, 0.0, 0.0)
        k, end = np.uint64(indptr[row]), np.uint64(indptr[row + 1])
        while k + four <= end:
            sums = (
                sums[0] + _product(values, indices, dense, k),
                sums[1] + _product(values, indices, dense, k + one),
                sums[2] + _product(values, indices, dense, k + one + one),
                sums[3] + _product(values, indices, dense, k + one + one + one),
            )
            k += four
        total = (sums[0] + sums[1]) + (sums[2] + sums[3])
        while k < end:
            total += _product(values, indices, dense, k)
            k += one
        out[row] = total


@jit
def _product(values, indices, dense, k):
    return np.float64(values[k]) * np.float64(dense[np.uint64(indices[k])])


@jit
def _dot_two(values, indices, indptr, dense, out):
    """Two columns, row-major and flat: both sums of a row in double precision."""
    for row in range(out.size >> 1):
        first, second = 0.0, 0.0
        for k in range(np.uint64(indptr[row]), np.uint64(indptr[row + 1])):
            at = np.uint64(indices[k]) << np.uint64(1)
            value = np.float64(values[k])
            first += value * np.float64(dense[at])
            second += value * np.float64(dense[at | np.uint64(1)])
        out[2 * row] = first
        out[2 * row + 1] = second


@jit
def _dot_wide(values, indices, indptr, dense, out):
    """Many columns: whole rows of ``dense`` are added into the row of ``out``, four at a time."""
    for row in range(out.shape[0]):
        total = out[row]
        total[:] = 0
        k, end = indptr[row], indptr[row + 1]
        while k + 4 <= end:
            a, b, c, d = values[k], values[k + 1], values[k + 2], values[k + 3]
            first, second = dense[np.uint64(indices[k])], dense[np.uint64(indices[k + 1])]
            third, fourth = dense[np.uint64(indices[k + 2])], dense[np.uint64(indices[k + 3])]
            for j in range(total.size):
                total[j] = total[j] + a * first[j] + b * second[j] + c * third[j] + d * fourth[j]
            k += 4
        while k < end:
            a, first = values[k], dense[np.uint64(indices[k])]
            for j in range(total.size):
                total[j] += a * first[j]
            k += 1


@jit
def _scatter_one(values, slots, indptr, dense, out):
    """One column; ``out`` starts as zeros."""
    for row in range(indptr.size - 1):
        factor = dense[row]
        for k in range(indptr[row], indptr[row + 1]):
            out[np.uint64(slots[k])] += values[k] * factor


@jit
def _scatter_two(values, slots, indptr, dense, out):
    """Two columns, row-major and flat; ``out`` starts as zeros."""
    for row in range(indptr.size - 1):
        first, second = dense[2 * row], dense[2 * row + 1]
        for k in range(indptr[row], indptr[row + 1]):
            at, value = np.uint64(slots[k]) << np.uint64(1), values[k]
            out[at] += value * first
            out[at | np.uint64(1)] += value * second


@jit
def _scatter_wide(values, slots, indptr, dense, out):
    """Many columns; ``out`` starts as zeros."""
    for row in range(indptr.size - 1):
        source = dense[row]
        for k in range(indptr[row], indptr[row + 1]):
            value, target = values[k], out[np.uint64(slots[k])]
            for c in range(target.size):
                target[c] += value * source[c]


@jit
def _dense_dot(dense, values, indices, indptr, out):
    """Row by row of ``dense``, so that the scattered writes stay within one row of ``out``."""
    for i in range(dense.shape[0]):
        target = out[i]
        for row in range(indptr.size - 1):
            factor = dense[i, row]
            for k in range(indptr[row], indptr[row + 1]):
                target[np.uint64(indices[k])] += factor * values[k]


@jit
def _dense_dot_transposed(dense, values, indices, indptr, out):
    """Each element is a gathered inner product."""
    for i in range(dense.shape[0]):
        source = dense[i]
        for row in range(indptr.size - 1):
            total = values.dtype.type(0)
            for k in range(indptr[row], indptr[row + 1]):
                total += values[k] * source[np.uint64(indices[k])]
            out[i, row] = total
