"""The structure of csr matrices: conversion, slicing, joining, sums, checking.

==========================================  ===================================================
``densify(csr, out=None)``                  dense array; duplicate entries add up
``from_dense(dense)``                       Csr of the non-zeros (NaN counts as one)
``row_ids(csr)``                            the row of every stored entry
``canonical(csr)``                          columns ascending and distinct; itself if already so
``slice_rows(csr, begin, end)``             rows ``begin..end``
``slice_block(csr, rows, columns)``         block of two ``(begin, end)`` pairs; may be empty
``take_rows(csr, ids)``                     rows by checked ids, repeats allowed
``concat_rows(csrs)``                       stack on top of each other
``transposed(csr)``                         the transpose, as csr
``row_sums / column_sums(csr)``             dense vectors, accumulated in double precision
``total(csr)``, ``square_sums(csr, axis)``  parts of ``sum``, ``mean`` and ``norm``
``stored_counts(csr, axis)``                how many entries are stored: in all, by column, by row
``check_format(csr, full)``                 None, or what is wrong
==========================================  ===================================================

Sums come back as float64 (float values) or int64 (integers): divide, take the root, then cast.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence

import numpy as np

from ..storage import Csr
from ._jit import jit

#: up to this many stored entries numpy does (and numba need not be loaded)
SMALL = 64


def densify(csr: Csr, *, out: np.ndarray | None = None) -> np.ndarray:
    """The same values as a dense array; entries stored twice add up."""
    values = csr.values
    if out is None:
        out = np.zeros(csr.shape, values.dtype)  # the system hands out zeros: no first pass
    else:
        out[...] = 0
    if values.size <= SMALL or values.dtype == np.float16 or out.dtype != values.dtype:
        np.add.at(out, (row_ids(csr), csr.indices), values)
    else:
        _densify(values, csr.indices, csr.indptr, out)
    return out


def row_ids(csr: Csr) -> np.ndarray:
    """The row of every stored entry."""
    indptr = csr.indptr
    return np.arange(indptr.size - 1).repeat(indptr[1:] - indptr[:-1])


def from_dense(dense: np.ndarray) -> Csr:
    """The non-zeros of a matrix, row by row."""
    rows, columns = dense.shape
    # a boolean mask first: numpy finds the set bytes of one with SIMD (16M elements, 1 % set:
    # 8 ms against 28 ms for two compiled passes and 51 ms for np.nonzero)
    flat = np.flatnonzero(dense != 0)
    indptr = flat.searchsorted(np.arange(rows + 1) * columns)
    indices = flat - np.repeat(np.arange(rows) * columns, indptr[1:] - indptr[:-1])
    return Csr(dense.take(flat), indices, indptr.astype(np.int64, copy=False), (rows, columns))


def canonical(csr: Csr) -> Csr:
    """Columns ascending and distinct in each row, duplicates added; itself if it is so already."""
    if is_canonical(csr):
        return csr
    keys = row_ids(csr) * csr.shape[1] + csr.indices
    keys, slots = np.unique(keys, return_inverse=True)
    values = np.zeros(keys.size, csr.values.dtype)
    np.add.at(values, slots, csr.values)
    rows, columns = np.divmod(keys, max(csr.shape[1], 1))
    return Csr(values, columns, _indptr_of(rows, csr.shape[0]), csr.shape)


#: index array -> itself and the row starts it was found tidy with, as long as it lives
_tidy: dict[int, tuple[weakref.ref[np.ndarray], np.ndarray]] = {}


def is_canonical(csr: Csr) -> bool:
    """Whether columns ascend strictly within every row; remembered where they do."""
    key, indices = id(csr.indices), csr.indices
    known = _tidy.get(key)
    if known is not None and known[0]() is indices and known[1] is csr.indptr:
        return True
    if _first_descent(csr) >= 0:
        return False
    if indices.size > 1:
        _tidy[key] = weakref.ref(indices, lambda _: _tidy.pop(key, None)), csr.indptr
    return True


def _first_descent(csr: Csr) -> int:
    """The place of the first entry whose column does not exceed its left neighbour's, or -1."""
    indices, indptr = csr.indices, csr.indptr
    if indices.size < 2:
        return -1
    falls = indices[1:] <= indices[:-1]
    if not falls.any():
        return -1
    starts = indptr[1:-1]
    starts = starts[(starts > 0) & (starts < indices.size)]
    falls[starts - 1] = False  # the first entry of a row may be anything
    at = int(falls.argmax())
    return at + 1 if falls[at] else -1


def _indptr_of(rows: np.ndarray, count: int) -> np.ndarray:
    """Row starts for entries whose ascending rows are given."""
    indptr = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=count), out=indptr[1:])
    return indptr


def slice_rows(csr: Csr, begin: int, end: int) -> Csr:
    """Rows ``begin`` to ``end``, with values of their own."""
    indptr = csr.indptr[begin : end + 1]
    first, last = indptr[0], indptr[-1]
    shape = (end - begin, csr.shape[1])
    return Csr(csr.values[first:last].copy(), csr.indices[first:last], indptr - first, shape)


def slice_block(csr: Csr, rows: tuple[int, int], columns: tuple[int, int]) -> Csr:
    """The block of the given row and column ranges; an empty range gives an empty block."""
    part = slice_rows(csr, *rows)
    begin, end = columns
    if begin == 0 and end == csr.shape[1]:
        return part
    inside = (part.indices >= begin) & (part.indices < end)
    before = np.zeros(inside.size + 1, np.int64)
    inside.cumsum(out=before[1:])
    indices = part.indices[inside] - begin
    return Csr(part.values[inside], indices, before[part.indptr], (part.shape[0], end - begin))


def take_rows(csr: Csr, ids: np.ndarray) -> Csr:
    """The rows named by ``ids`` (flat int64, in range), in that order."""
    starts = csr.indptr[ids]
    counts = csr.indptr[ids + 1] - starts
    indptr = np.zeros(ids.size + 1, np.int64)
    counts.cumsum(out=indptr[1:])
    places = np.arange(indptr[-1]) + (starts - indptr[:-1]).repeat(counts)
    shape = (ids.size, csr.shape[1])
    return Csr(csr.values[places], csr.indices[places], indptr, shape)


def concat_rows(parts: Sequence[Csr]) -> Csr:
    """Matrices of one width stacked on top of each other."""
    starts = np.cumsum([0] + [p.indices.size for p in parts])
    indptr = [p.indptr[1:] + start for p, start in zip(parts, starts[:-1], strict=True)]
    return Csr(
        np.concatenate([p.values for p in parts]),
        np.concatenate([p.indices for p in parts]),
        np.concatenate([np.zeros(1, np.int64), *indptr]),
        (sum(p.shape[0] for p in parts), parts[0].shape[1]),
    )


def transposed(csr: Csr) -> Csr:
    """The transpose; its columns ascend."""
    order = csr.indices.argsort(kind="stable")
    indptr = np.zeros(csr.shape[1] + 1, np.int64)
    np.cumsum(np.bincount(csr.indices, minlength=csr.shape[1]), out=indptr[1:])
    return Csr(csr.values[order], row_ids(csr)[order], indptr, csr.shape[::-1])


def row_sums(csr: Csr) -> np.ndarray:
    """The sum of each row."""
    return _row_sums(csr.values, csr)


def _row_sums(values: np.ndarray, csr: Csr) -> np.ndarray:
    out = np.zeros(csr.shape[0], _wide(values))
    if values.size <= SMALL or values.dtype == np.float16:
        np.add.at(out, row_ids(csr), values)
        return out
    return _sum_rows(values, csr.indptr, out)


def column_sums(csr: Csr) -> np.ndarray:
    """The sum of each column."""
    return _column_sums(csr.values, csr)


def _column_sums(values: np.ndarray, csr: Csr) -> np.ndarray:
    out = np.zeros(csr.shape[1], _wide(values))
    if values.size <= SMALL or values.dtype == np.float16:
        np.add.at(out, csr.indices, values)
        return out
    return _sum_columns(values, csr.indices, out)


def total(csr: Csr) -> np.generic:
    """The sum of all entries."""
    return np.add.reduce(csr.values, dtype=_wide(csr.values))


def square_sums(csr: Csr, axis: int | None = None) -> np.ndarray:
    """Sums of squares over all (None), down the columns (0) or along the rows (1).

    Entries stored twice are taken apart: make the matrix ``canonical`` first if it may have some.
    """
    squares = np.square(csr.values, dtype=_wide(csr.values))
    if axis is None:
        return np.add.reduce(squares)
    return _column_sums(squares, csr) if axis == 0 else _row_sums(squares, csr)


def stored_counts(csr: Csr, axis: int | None = None) -> np.ndarray:
    """How many entries are stored: in all (None), in each column (0), in each row (1); int64."""
    if axis is None:
        return np.int64(csr.indices.size)
    if axis == 0:
        return np.bincount(csr.indices, minlength=csr.shape[1])
    return csr.indptr[1:] - csr.indptr[:-1]


def _wide(values: np.ndarray) -> type:
    return np.float64 if values.dtype.kind == "f" else np.int64


def check_format(csr: Csr, full: bool = True) -> str | None:
    """What is wrong with the arrays of ``csr``, or None.

    Without ``full`` only sizes and ends are looked at; with it every index.
    """
    values, indices, indptr = csr.values, csr.indices, csr.indptr
    rows, columns = csr.shape
    if indptr.shape != (rows + 1,):
        return f"indptr has {indptr.size} elements, expected {rows + 1}: one more than rows"
    if values.shape != indices.shape or values.ndim != 1:
        return f"data has shape {values.shape}, but indices has {indices.shape}"
    if indptr[0] != 0:
        return f"indptr starts with {indptr[0]}, expected 0"
    if indptr[-1] != indices.size:
        return f"indptr ends with {indptr[-1]}, expected {indices.size}: the size of indices"
    if not full:
        return None
    return _check_indptr(indptr) or _check_columns(csr, columns)


def _check_indptr(indptr: np.ndarray) -> str | None:
    falls = indptr[1:] < indptr[:-1]
    if falls.any():
        row = int(falls.argmax())
        return f"indptr falls from {indptr[row]} to {indptr[row + 1]} at row {row}"
    return None


def _check_columns(csr: Csr, columns: int) -> str | None:
    indices = csr.indices
    wrong = (indices < 0) | (indices >= columns)
    if wrong.any():
        at = int(wrong.argmax())
        return f"column index {indices[at]} of entry {at} is not in 0..{columns - 1}"
    at = _first_descent(csr)
    if at >= 0:
        return (
            f"column index {indices[at]} follows {indices[at - 1]} in one row; "
            "they have to ascend without duplicates"
        )
    return None


@jit
def _densify(values, indices, indptr, out):
    """Add every entry into ``out``, which is all zero."""
    for row in range(indptr.size - 1):
        target = out[row]
        for k in range(indptr[row], indptr[row + 1]):
            target[np.uint64(indices[k])] += values[k]


@jit
def _sum_rows(values, indptr, out):
    """Add each row into ``out``, in the dtype of ``out``."""
    for row in range(out.size):
        total = out[row]
        for k in range(indptr[row], indptr[row + 1]):
            total += values[k]
        out[row] = total
    return out


@jit
def _sum_columns(values, indices, out):
    """Add each entry to its column, in the dtype of ``out``."""
    for k in range(values.size):
        out[np.uint64(indices[k])] += values[k]
    return out
