"""Elementwise arithmetic with csr operands.

=====================================  ========================================================
``add / subtract(a, b)``               csr, csr -> Csr on the union of the patterns
``multiply(a, b)``                     csr, csr -> Csr on the intersection, arrays trimmed
``union(ufunc, a, b)``                 the same for any ufunc with ``f(0, 0) = 0`` (maximum, hypot)
``multiply_dense / divide_dense``      csr, broadcastable dense -> Csr of the same pattern
``add_dense / subtract_dense``         csr, broadcastable dense -> dense
``dense_subtract``                     broadcastable dense - csr -> dense
=====================================  ========================================================

Absent entries stay zero whatever they meet: ``0 * inf`` and ``0 / 0`` are not computed, and a
zero that results is stored. Matrices with unsorted or repeated columns are made canonical on the
way. ``(m, n) (1, n) (n,) (m, 1) (1, 1) (1,) ()`` broadcast.
"""

from __future__ import annotations

import numpy as np

from ..storage import Csr
from . import csr as structure
from ._jit import jit, plain

#: up to this many stored entries in both the plain Python function runs: 13 us for 20 entries where
#: compiled code takes 2.5, but numba need not be loaded
SMALL = 64


def add(a: Csr, b: Csr) -> Csr:
    """``a + b``."""
    return _merge(np.add, a, b, 1)


def subtract(a: Csr, b: Csr) -> Csr:
    """``a - b``."""
    return _merge(np.subtract, a, b, -1)


def _merge(ufunc, a, b, sign):
    if a.indices is b.indices and a.indptr is b.indptr:
        return a.with_values(ufunc(a.values, b.values))
    room = a.indices.size + b.indices.size
    if room <= SMALL or a.values.dtype.kind not in "fi" or a.values.dtype == np.float16:
        return union(ufunc, a, b)
    values, indices = np.empty(room, a.values.dtype), np.empty(room, np.int64)
    indptr = np.empty(a.indptr.size, np.int64)
    left, right = (a.values, a.indices, a.indptr), (b.values, b.indices, b.indptr)
    size = _add(*left, *right, a.values.dtype.type(sign), values, indices, indptr)
    if size < 0:
        return _merge(ufunc, structure.canonical(a), structure.canonical(b), sign)
    return Csr(_trim(values, size), _trim(indices, size), indptr, a.shape)


def multiply(a: Csr, b: Csr) -> Csr:
    """``a * b``: columns that both store, ascending, in arrays of just that size."""
    if a.indices is b.indices and a.indptr is b.indptr and structure.is_canonical(a):
        return a.with_values(a.values * b.values)
    room = min(a.indices.size, b.indices.size)
    left, right = np.empty(room, np.int64), np.empty(room, np.int64)
    indptr = np.empty(a.indptr.size, np.int64)
    intersect = _intersect if a.indices.size + b.indices.size > SMALL else plain(_intersect)
    size = intersect(a.indices, a.indptr, b.indices, b.indptr, left, right, indptr)
    if size < 0:
        return multiply(structure.canonical(a), structure.canonical(b))
    left, right = left[:size], right[:size]
    return Csr(a.values[left] * b.values[right], a.indices[left], indptr, a.shape)


def union(ufunc: np.ufunc, a: Csr, b: Csr) -> Csr:
    """``ufunc(a, b)`` where either stores something; right for ufuncs that give 0 for zeros."""
    if a.indices is b.indices and a.indptr is b.indptr and structure.is_canonical(a):
        return a.with_values(ufunc(a.values, b.values))
    indices = np.empty(a.indices.size + b.indices.size, np.int64)
    left, right = np.empty(a.indices.size, np.int64), np.empty(b.indices.size, np.int64)
    indptr = np.empty(a.indptr.size, np.int64)
    unite = _unite if indices.size > SMALL else plain(_unite)
    size = unite(a.indices, a.indptr, b.indices, b.indptr, left, right, indices, indptr)
    if size < 0:
        return union(ufunc, structure.canonical(a), structure.canonical(b))
    first, second = np.zeros(size, a.values.dtype), np.zeros(size, b.values.dtype)
    first[left], second[right] = a.values, b.values
    return Csr(ufunc(first, second), _trim(indices, size), indptr, a.shape)


def _trim(array: np.ndarray, size: int) -> np.ndarray:
    """The first ``size`` elements; copied where a view would hold on to much more."""
    part = array[:size]
    return part if size * 4 >= array.size * 3 else part.copy()


def multiply_dense(csr: Csr, dense: np.ndarray) -> Csr:
    """``csr * dense`` on the pattern of ``csr``."""
    return csr.with_values(csr.values * gather(csr, dense))


def divide_dense(csr: Csr, dense: np.ndarray) -> Csr:
    """``csr / dense`` on the pattern of ``csr``; integers round towards 0, ``x / 0`` is 0."""
    divisor = gather(csr, dense)
    with np.errstate(divide="ignore", invalid="ignore"):
        if csr.values.dtype.kind not in "iu":
            return csr.with_values(csr.values / divisor)
        quotient, rest = np.divmod(csr.values, divisor)
    quotient += (rest != 0) & ((csr.values < 0) != (divisor < 0))
    return csr.with_values(quotient)


def gather(csr: Csr, dense: np.ndarray) -> np.ndarray:
    """What ``dense`` (broadcast to the shape of ``csr``) holds at each stored entry."""
    if dense.size == 1:
        return dense.reshape(())
    if dense.ndim < 2 or (dense.shape[0] == 1 and csr.shape[0] != 1):
        return dense.reshape(-1).take(csr.indices)
    if dense.shape[0] == 1:
        return dense[0] if dense.shape[1] == 0 else dense[0].take(csr.indices)
    if dense.shape[1] == 1 and csr.shape[1] != 1:
        return dense[:, 0].repeat(csr.indptr[1:] - csr.indptr[:-1])
    return dense[structure.row_ids(csr), csr.indices]


def add_dense(csr: Csr, dense: np.ndarray, *, out: np.ndarray | None = None) -> np.ndarray:
    """``csr + dense`` as a dense array."""
    return _accumulate(dense, csr.values, csr, out)


def dense_subtract(dense: np.ndarray, csr: Csr, *, out: np.ndarray | None = None) -> np.ndarray:
    """``dense - csr`` as a dense array."""
    return _accumulate(dense, -csr.values, csr, out)


def subtract_dense(csr: Csr, dense: np.ndarray, *, out: np.ndarray | None = None) -> np.ndarray:
    """``csr - dense`` as a dense array."""
    return _accumulate(np.negative(dense), csr.values, csr, out)


def _accumulate(dense, values, csr, out):
    if out is None:
        out = np.empty(csr.shape, values.dtype)
    out[...] = dense
    if values.size <= structure.SMALL or values.dtype == np.float16 or out.dtype != values.dtype:
        np.add.at(out, (structure.row_ids(csr), csr.indices), values)
    else:
        structure._densify(values, csr.indices, csr.indptr, out)
    return out


@jit
def _add(values1, indices1, indptr1, values2, indices2, indptr2, sign, values, indices, indptr):
    """Merge rows; the number of entries, or -1 where columns do not ascend.

    Which side comes next cannot be predicted, so it is computed instead of branched upon. Unsigned
    places spare numba's look for negative ones, which each step would wait for (1.3 times as fast).
    """
    size, one = np.uint64(0), np.uint64(1)
    indptr[0] = 0
    for row in range(indptr.size - 1):
        a, end1 = np.uint64(indptr1[row]), np.uint64(indptr1[row + 1])
        b, end2 = np.uint64(indptr2[row]), np.uint64(indptr2[row + 1])
        last = np.int64(-1)
        while a < end1 and b < end2:
            column1, column2 = indices1[a], indices2[b]
            value1, value2 = values1[a], sign * values2[b]
            alone = value1 if column1 < column2 else value2
            values[size] = value1 + value2 if column1 == column2 else alone
            column = min(column1, column2)
            if column <= last:
                return np.int64(-1)
            last = column
            indices[size] = column
            size += one
            a += np.uint64(column1 <= column2)
            b += np.uint64(column2 <= column1)
        while a < end1:
            if indices1[a] <= last:
                return np.int64(-1)
            last = indices1[a]
            values[size], indices[size] = values1[a], last
            size += one
            a += one
        while b < end2:
            if indices2[b] <= last:
                return np.int64(-1)
            last = indices2[b]
            values[size], indices[size] = sign * values2[b], last
            size += one
            b += one
        indptr[row + 1] = size
    return np.int64(size)


@jit
def _unite(indices1, indptr1, indices2, indptr2, left, right, indices, indptr):
    """Where each entry of both goes in the union; its size, or -1 where columns do not ascend."""
    size = 0
    indptr[0] = 0
    for row in range(indptr.size - 1):
        a, b, end1, end2 = indptr1[row], indptr2[row], indptr1[row + 1], indptr2[row + 1]
        last = np.int64(-1)
        while a < end1 and b < end2:
            column1, column2 = indices1[a], indices2[b]
            column = min(column1, column2)
            if column <= last:
                return -1
            last = column
            indices[size] = column
            left[a] = size  # written again if this was not yet its turn
            right[b] = size
            size += 1
            a += column1 <= column2
            b += column2 <= column1
        for k in range(a, end1):
            if indices1[k] <= last:
                return -1
            last = indices1[k]
            indices[size], left[k] = last, size
            size += 1
        for k in range(b, end2):
            if indices2[k] <= last:
                return -1
            last = indices2[k]
            indices[size], right[k] = last, size
            size += 1
        indptr[row + 1] = size
    return size


@jit
def _intersect(indices1, indptr1, indices2, indptr2, left, right, indptr):
    """Places of the columns that both rows store; their number, or -1 where one descends."""
    size = 0
    indptr[0] = 0
    for row in range(indptr.size - 1):
        a, b, end1, end2 = indptr1[row], indptr2[row], indptr1[row + 1], indptr2[row + 1]
        for k in range(a + 1, end1):
            if indices1[k] <= indices1[k - 1]:
                return -1
        for k in range(b + 1, end2):
            if indices2[k] <= indices2[k - 1]:
                return -1
        while a < end1 and b < end2:
            column1, column2 = indices1[a], indices2[b]
            if column1 == column2:
                left[size], right[size] = a, b
                size += 1
            a += column1 <= column2
            b += column2 <= column1
        indptr[row + 1] = size
    return size
