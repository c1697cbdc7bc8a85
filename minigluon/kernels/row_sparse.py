"""Arithmetic, lookup and gradients of row_sparse arrays.

==========================================  ===================================================
``add / subtract / multiply(a, b)``         rsp, rsp -> RowSparse on the union of the rows
``union(ufunc, a, b)``                      the same for any ufunc with ``f(0, 0) = 0``
``add_n(parts)``                            the sum of many -> RowSparse
``multiply_dense / divide_dense``           rsp, dense of the same shape -> RowSparse, same rows
``add_dense / subtract_dense``              rsp, broadcastable dense -> dense
``dense_subtract``                          broadcastable dense - rsp -> dense
``densify(rsp, out=None)``                  dense array
``from_dense(dense)``                       RowSparse of the rows that have a non-zero
``retain(rsp, ids)``                        the stored rows among ``ids``, ascending and unique
``retain_gradient(g, ids, shape)``          gradient of ``retain`` -> RowSparse
``lookup(rsp, ids)``                        ``dense[ids]`` without a dense array; absent rows zero
``take(dense, ids, mode)``                  ``dense[ids]``, with "clip", "wrap" or checked ids
``scatter_rows(ids, g, limit)``             gradient of a lookup -> RowSparse, repeats added
``scatter_rows_dense(ids, g, limit)``       the same as a dense array
``square_sum(rsp, axis, keepdims)``         sums of squares; axis 1 with keepdims -> RowSparse
``row_sums / row_squares(values)``          sums, and sums of squares, of the rows of a matrix
``total(rsp)``                              the sum of all elements, in double precision
``row_positions(rsp, ids)``                 ``(rsp, positions)`` with every id stored
``with_all_rows(rsp)``                      every row stored
``check_format(rsp, full)``                 None, or what is wrong
==========================================  ===================================================

Index arrays are int64 and ascend; results share them with operands where they are equal. Sums of
repeated ids run in the order the ids come in, so two runs give equal bits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..storage import RowSparse
from . import _jit, distinct
from ._jit import jit

#: up to this many gradient elements numpy adds repeated rows (and numba need not be loaded)
SMALL = 1024


def add(a: RowSparse, b: RowSparse) -> RowSparse:
    """``a + b``."""
    return union(np.add, a, b)


def subtract(a: RowSparse, b: RowSparse) -> RowSparse:
    """``a - b``."""
    return union(np.subtract, a, b)


def multiply(a: RowSparse, b: RowSparse) -> RowSparse:
    """``a * b``. MXNet stores the union of the rows although only shared ones can be non-zero."""
    return union(np.multiply, a, b)


def union(ufunc: np.ufunc, a: RowSparse, b: RowSparse) -> RowSparse:
    """``ufunc(a, b)`` on the rows that either stores; right for ufuncs that give 0 for zeros."""
    if a.indices is b.indices or np.array_equal(a.indices, b.indices):
        return a.with_values(ufunc(a.values, b.values))
    rows = _union_of(a.indices, b.indices, a.shape[0])
    left = _spread(a, rows)
    return RowSparse(ufunc(left, _spread(b, rows), out=left), rows, a.shape)


def _union_of(first: np.ndarray, second: np.ndarray, limit: int) -> np.ndarray:
    if first.size == limit or second.size == 0:
        return first
    if second.size == limit or first.size == 0:
        return second
    return _distinct_rows(np.concatenate((first, second)), limit)


def _distinct_rows(ids: np.ndarray, limit: int) -> np.ndarray:
    if distinct.uses_bitmap(ids.size, limit):
        return distinct.ranks(ids, limit)[2]
    ids = np.sort(ids)
    first = np.empty(ids.size, bool)
    first[:1] = True
    np.not_equal(ids[1:], ids[:-1], out=first[1:])
    return ids[first]


def _spread(rsp: RowSparse, rows: np.ndarray) -> np.ndarray:
    """The values of ``rsp`` at ``rows``, which hold all of its rows; a fresh array."""
    if rows.size == rsp.indices.size:
        return rsp.values.copy()
    out = np.zeros((rows.size, *rsp.shape[1:]), rsp.values.dtype)
    out[_places(rsp.indices, rows, rsp.shape[0])] = rsp.values
    return out


def _places(ids: np.ndarray, rows: np.ndarray, limit: int) -> np.ndarray:
    """Where ``ids`` are among ``rows``, which hold all of them."""
    if distinct.uses_bitmap(ids.size, limit):
        return distinct.find(ids, rows, limit)
    return rows.searchsorted(ids)


def add_n(parts: Sequence[RowSparse]) -> RowSparse:
    """The sum of one or more, added from left to right."""
    first = parts[0]
    if len(parts) == 1:
        return first.copy()
    if all(p.indices is first.indices for p in parts):
        total = first.values + parts[1].values
        for part in parts[2:]:
            total += part.values
        return first.with_values(total)
    rows = _distinct_rows(np.concatenate([p.indices for p in parts]), first.shape[0])
    total = np.zeros((rows.size, *first.shape[1:]), first.values.dtype)
    for part in parts:
        total[_places(part.indices, rows, first.shape[0])] += part.values
    return RowSparse(total, rows, first.shape)


def multiply_dense(rsp: RowSparse, dense: np.ndarray) -> RowSparse:
    """``rsp * dense`` on the rows of ``rsp``; a zero times infinity that is absent stays zero."""
    return rsp.with_values(rsp.values * distinct.gather(dense, rsp.indices))


def divide_dense(rsp: RowSparse, dense: np.ndarray) -> RowSparse:
    """``rsp / dense`` on the rows of ``rsp``."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return rsp.with_values(rsp.values / distinct.gather(dense, rsp.indices))


def add_dense(rsp: RowSparse, dense: np.ndarray, *, out: np.ndarray | None = None) -> np.ndarray:
    """``rsp + dense`` as a dense array."""
    out = _filled(rsp, dense, out)
    out[rsp.indices] += rsp.values
    return out


def dense_subtract(
    dense: np.ndarray, rsp: RowSparse, *, out: np.ndarray | None = None
) -> np.ndarray:
    """``dense - rsp`` as a dense array."""
    out = _filled(rsp, dense, out)
    out[rsp.indices] -= rsp.values
    return out


def subtract_dense(
    rsp: RowSparse, dense: np.ndarray, *, out: np.ndarray | None = None
) -> np.ndarray:
    """``rsp - dense`` as a dense array."""
    out = _filled(rsp, np.negative(dense), out)
    out[rsp.indices] += rsp.values
    return out


def _filled(rsp, dense, out):
    if out is None:
        out = np.empty(rsp.shape, rsp.values.dtype)
    if out is not dense:
        out[...] = dense
    return out


def densify(rsp: RowSparse, *, out: np.ndarray | None = None) -> np.ndarray:
    """The same values as a dense array."""
    if out is None:
        if rsp.indices.size == rsp.shape[0]:
            return rsp.values.copy()
        out = np.zeros(rsp.shape, rsp.values.dtype)
    else:
        out[...] = 0
    out[rsp.indices] = rsp.values
    return out


def from_dense(dense: np.ndarray) -> RowSparse:
    """The rows of an array that have a non-zero (NaN counts as one)."""
    filled = dense != 0
    if dense.ndim > 1:
        filled = filled.any(axis=tuple(range(1, dense.ndim)))
    rows = np.flatnonzero(filled)
    return RowSparse(dense[rows], rows.astype(np.int64, copy=False), dense.shape)


def retain(rsp: RowSparse, ids: np.ndarray, *, absent: bool = False) -> RowSparse:
    """The rows of ``rsp`` that ``ids`` (flat int64, in range) name: ascending and unique.

    Rows that ``rsp`` does not store are left out, or stored as zeros with ``absent``. MXNet 1.9.1
    stores them, and keeps order and repeats of ``ids``, which its own ``check_format`` refuses.
    """
    if not (ids[1:] > ids[:-1]).all():
        ids = _distinct_rows(ids, rsp.shape[0])
    if absent:
        return RowSparse(lookup(rsp, ids), ids, rsp.shape)
    at = distinct.find(ids, rsp.indices, rsp.shape[0])
    stored = at >= 0
    if not stored.all():
        ids, at = ids[stored], at[stored]
    return RowSparse(distinct.gather(rsp.values, at), ids, rsp.shape)


def retain_gradient(g: np.ndarray | RowSparse, ids: np.ndarray) -> RowSparse:
    """The gradient of ``retain``: the rows of ``g`` that ``ids`` name, ascending and unique."""
    ids = _distinct_rows(ids, g.shape[0])
    if type(g) is RowSparse:
        return RowSparse(lookup(g, ids), ids, g.shape)
    return RowSparse(distinct.gather(g, ids), ids, g.shape)


def lookup(rsp: RowSparse, ids: np.ndarray) -> np.ndarray:
    """``densify(rsp)[ids]`` for int64 ``ids`` of any shape, in range; rows not stored are zero."""
    if rsp.indices.size == rsp.shape[0]:
        return distinct.gather(rsp.values, ids)
    shape = (*ids.shape, *rsp.shape[1:])
    if rsp.indices.size == 0:
        return np.zeros(shape, rsp.values.dtype)
    at = distinct.find(ids.ravel(), rsp.indices, rsp.shape[0])
    out = distinct.gather(rsp.values, np.maximum(at, 0))
    out[at < 0] = 0
    return out.reshape(shape)


def take(dense: np.ndarray, ids: np.ndarray, mode: str = "clip") -> np.ndarray:
    """``dense[ids]`` along the first axis; ``mode`` says what becomes of ids out of range."""
    limit = dense.shape[0]
    if mode == "wrap":
        ids = distinct.wrapped_ids(ids, limit)
    elif mode == "clip":
        ids = distinct.clipped_ids(ids, limit)
    else:
        ids = distinct.checked_ids(ids, limit).reshape(ids.shape)
    return distinct.gather(dense, ids)


def scatter_rows(ids: np.ndarray, g: np.ndarray, limit: int) -> RowSparse:
    """Row ``ids[k]`` receives ``g[k]``, repeats added in order: the gradient of an embedding.

    ``ids`` are flat int64 in ``[0, limit)``; ``g`` has a row for each.
    """
    shape = (limit, *g.shape[1:])
    if ids.size == 0:
        return RowSparse(np.zeros((0, *g.shape[1:]), g.dtype), ids, shape)
    rows, slots = distinct.distinct(ids, limit)
    if rows.size == ids.size:
        values = np.empty(g.shape, g.dtype)
        values[slots] = g
    else:
        values = _add_rows(slots, g, np.zeros((rows.size, *g.shape[1:]), g.dtype))
    return RowSparse(values, rows, shape)


def scatter_rows_dense(
    ids: np.ndarray, g: np.ndarray, limit: int, *, out: np.ndarray | None = None
) -> np.ndarray:
    """The same as a dense array with all ``limit`` rows."""
    if out is None:
        out = np.zeros((limit, *g.shape[1:]), g.dtype)
    else:
        out[...] = 0
    return _add_rows(ids, g, out)


def _add_rows(slots: np.ndarray, g: np.ndarray, out: np.ndarray) -> np.ndarray:
    """``out[slots[k]] += g[k]``, one after the other."""
    plain = g.size <= max(SMALL, 0) or not out.flags.c_contiguous or not _jit.has_numba()
    if g.dtype == np.float16:
        wide = np.zeros(out.shape, np.float32)
        np.add.at(wide, slots, g)
        out += wide.astype(np.float16)
    elif plain:
        np.add.at(out, slots, g)
    else:
        g = np.ascontiguousarray(g)
        _scatter(slots, g.reshape(slots.size, -1), out.reshape(out.shape[0], -1))
    return out


def square_sum(
    rsp: RowSparse, axis: int | None = None, keepdims: bool = False
) -> np.ndarray | RowSparse:
    """Sums of squares of a matrix; along the rows with ``keepdims`` the result is row_sparse."""
    values, dtype = rsp.values, rsp.values.dtype
    if axis == 1:
        sums = row_squares(values)
        if keepdims:
            return RowSparse(sums[:, None], rsp.indices, (rsp.shape[0], 1))
        out = np.zeros(rsp.shape[0], dtype)
        out[rsp.indices] = sums
        return out
    wide = np.float64 if dtype.kind == "f" else dtype
    sums = np.einsum("ij,ij->" if axis is None else "ij,ij->j", values, values, dtype=wide)
    shape = (1, *sums.shape) if axis == 0 else (1, 1)
    return np.asarray(sums.reshape(shape) if keepdims else sums, dtype)


def row_squares(values: np.ndarray) -> np.ndarray:
    """The sum of the squares of each row of a matrix, in its dtype."""
    out = np.empty(values.shape[0], values.dtype)
    if values.dtype.char in "fd" and values.size > SMALL and _jit.has_numba():
        return _square_rows(values, out)
    wide = np.float64 if values.dtype.kind == "f" else values.dtype
    return np.einsum("ij,ij->i", values, values, out=out, dtype=wide, casting="same_kind")


def row_sums(values: np.ndarray) -> np.ndarray:
    """The sum of each row of a matrix, float64 or int64."""
    wide = np.float64 if values.dtype.kind == "f" else np.int64
    if values.dtype.char in "fd" and values.size > SMALL and _jit.has_numba():
        return _sum_rows(values, np.empty(values.shape[0], wide))
    return np.add.reduce(values, axis=1, dtype=wide)


def total(rsp: RowSparse) -> np.generic:
    """The sum of all elements, float64 or int64."""
    wide = np.float64 if rsp.values.dtype.kind == "f" else np.int64
    return np.add.reduce(rsp.values, axis=None, dtype=wide)


def row_positions(rsp: RowSparse, ids: np.ndarray) -> tuple[RowSparse, np.ndarray]:
    """``(rsp, positions)`` where ``positions[k]`` is the row of ``values`` holding ``ids[k]``.

    ``ids`` ascend. If some are not stored the first is a new RowSparse that has them, as zeros.
    """
    if rsp.indices.size == rsp.shape[0]:
        return rsp, ids
    if rsp.indices is ids:
        return rsp, np.arange(ids.size)
    at = distinct.find(ids, rsp.indices, rsp.shape[0])
    if (at < 0).any():
        rows = _union_of(rsp.indices, ids, rsp.shape[0])
        rsp = RowSparse(_spread(rsp, rows), rows, rsp.shape)
        at = rows.searchsorted(ids)
    return rsp, at


def with_all_rows(rsp: RowSparse) -> RowSparse:
    """The same array with every row stored; itself if they are."""
    if rsp.indices.size == rsp.shape[0]:
        return rsp
    return RowSparse(densify(rsp), np.arange(rsp.shape[0]), rsp.shape)


def check_format(rsp: RowSparse, full: bool = True) -> str | None:
    """What is wrong with the arrays of ``rsp``, or None; only sizes unless ``full``."""
    values, indices = rsp.values, rsp.indices
    if indices.ndim != 1 or values.shape != (indices.size, *rsp.shape[1:]):
        return (
            f"data has shape {values.shape}, expected {(indices.size, *rsp.shape[1:])}: "
            f"{indices.size} row ids, rows as in {rsp.shape}"
        )
    if not full:
        return None
    wrong = (indices < 0) | (indices >= rsp.shape[0])
    if wrong.any():
        at = int(wrong.argmax())
        return f"row index {indices[at]} is not in 0..{rsp.shape[0] - 1}"
    falls = indices[1:] <= indices[:-1]
    if falls.any():
        at = int(falls.argmax())
        return f"row index {indices[at + 1]} follows {indices[at]}; they have to ascend, each once"
    return None


@jit(fastmath={"reassoc", "contract"})  # sums of vectors: 0.17 ms for 100k rows of 16, numpy 1.5
def _square_rows(values, out):
    """Sums of squares along the rows, in double precision."""
    for row in range(out.size):
        total = 0.0
        for c in range(values.shape[1]):
            value = np.float64(values[row, c])
            total += value * value
        out[row] = total
    return out


@jit(fastmath={"reassoc"})
def _sum_rows(values, out):
    """Sums along the rows, in double precision."""
    for row in range(out.size):
        total = 0.0
        for c in range(values.shape[1]):
            total += np.float64(values[row, c])
        out[row] = total
    return out


@jit
def _scatter(slots, g, out):
    """Add row after row; both matrices are contiguous."""
    for k in range(slots.size):
        source, target = g[k], out[np.uint64(slots[k])]
        for c in range(source.size):
            target[c] += source[c]
