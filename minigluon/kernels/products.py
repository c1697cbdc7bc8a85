"""Matrix products of any two storages, transposed or not, in any storage.

``product(lhs, rhs, transpose_a, transpose_b, stype)`` never makes a sparse operand dense: rows of a
row_sparse operand that are not stored add nothing, so its values are multiplied as the small matrix
they are, and csr operands go to `csr_dot`, or to scipy if both are csr.

Operands are matrices of one dtype whose inner lengths are equal. float16 is summed in float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..storage import Csr, RowSparse, Storage
from . import csr as structure
from . import csr_dot, distinct, row_sparse


def product(
    lhs: Storage, rhs: Storage, transpose_a: bool, transpose_b: bool, stype: str = "default"
) -> Any:
    """``op(lhs) @ op(rhs)`` in the storage asked for, where ``op`` transposes if it is told so."""
    make = _PRODUCTS[type(lhs), type(rhs)]
    return stored(make(lhs, rhs, transpose_a, transpose_b, stype), stype)


def _dense_dense(a: Any, b: Any, transpose_a: bool, transpose_b: bool, stype: str) -> Any:
    a, b = a.T if transpose_a else a, b.T if transpose_b else b
    if a.dtype == np.float16:
        return np.dot(a.astype(np.float32), b.astype(np.float32)).astype(np.float16)
    return np.dot(a, b)


def _csr_dense(a: Any, b: Any, transpose_a: bool, transpose_b: bool, stype: str) -> Any:
    if transpose_b and not transpose_a and b.shape[0] > 1 and a.indices.size < a.shape[1]:
        # only the columns that occur are turned round, not the whole of a wide weight
        columns, slots = distinct.distinct_columns(a.indices, a.shape[1])
        narrow = Csr(a.values, slots, a.indptr, (a.shape[0], columns.size))
        return csr_dot.dot(narrow, np.ascontiguousarray(b[:, columns].T))
    b = b.T if transpose_b else b
    if not transpose_a:
        return csr_dot.dot(a, b)
    if stype == "default":
        return csr_dot.dot_transposed_dense(a, b)
    return csr_dot.dot_transposed(a, b)


def _dense_csr(a: Any, b: Any, transpose_a: bool, transpose_b: bool, stype: str) -> Any:
    a = a.T if transpose_a else a
    if transpose_b:
        return csr_dot.dense_dot_transposed(a, b)
    return csr_dot.dense_dot_csr(a, b) if stype == "csr" else csr_dot.dense_dot(a, b)


def _csr_csr(a: Any, b: Any, transpose_a: bool, transpose_b: bool, stype: str) -> Any:
    from scipy import sparse

    if transpose_b and not transpose_a:  # scipy would make arrays as long as rows are
        columns, slots = distinct.distinct(np.concatenate((a.indices, b.indices)), a.shape[1])
        cut = a.indices.size
        a = Csr(a.values, slots[:cut], a.indptr, (a.shape[0], columns.size))
        b = Csr(b.values, slots[cut:], b.indptr, (b.shape[0], columns.size))
    half = a.dtype == np.float16
    left, right = (
        sparse.csr_matrix(
            (x.values.astype(np.float32) if half else x.values, x.indices, x.indptr), x.shape
        )
        for x in (a, b)
    )
    found = (left.T if transpose_a else left) @ (right.T if transpose_b else right)
    found = found.tocsr()
    if stype == "default":
        return found.toarray().astype(a.dtype, copy=False)
    found.sort_indices()
    indices, indptr = (x.astype(np.int64, copy=False) for x in (found.indices, found.indptr))
    return Csr(found.data.astype(a.dtype, copy=False), indices, indptr, found.shape)


def _rows_any(a: Any, b: Any, transpose_a: bool, transpose_b: bool, stype: str) -> Any:
    if not transpose_a:
        block = product(a.values, b, False, transpose_b)
        return RowSparse(block, a.indices, (a.shape[0], block.shape[1]))
    ids = a.indices  # the only rows of the right operand that count
    if type(b) is np.ndarray:
        part = b[:, ids] if transpose_b else distinct.gather(b, ids)
        return product(a.values, part, True, transpose_b)
    if transpose_b:
        return product(b, a, False, False).T
    if type(b) is Csr:
        return product(a.values, structure.take_rows(b, ids), True, False, stype)
    at = distinct.find(ids, b.indices, b.shape[0])
    both = at >= 0
    return product(a.values[both], b.values[at[both]], True, False)


def _any_rows(a: Any, b: Any, transpose_a: bool, transpose_b: bool, stype: str) -> Any:
    if transpose_b:
        block = product(a, b.values, transpose_a, True)
        result = np.zeros((block.shape[0], b.shape[0]), block.dtype)
        result[:, b.indices] = block
        return result
    if type(a) is Csr:
        return csr_dot.dot_transposed_rows(a, b) if transpose_a else csr_dot.dot_rows(a, b)
    part = distinct.gather(a, b.indices) if transpose_a else a[:, b.indices]
    return product(part, b.values, transpose_a, False)


_PRODUCTS = {
    (np.ndarray, np.ndarray): _dense_dense,
    (Csr, np.ndarray): _csr_dense,
    (np.ndarray, Csr): _dense_csr,
    (Csr, Csr): _csr_csr,
    (RowSparse, np.ndarray): _rows_any,
    (RowSparse, Csr): _rows_any,
    (RowSparse, RowSparse): _rows_any,
    (np.ndarray, RowSparse): _any_rows,
    (Csr, RowSparse): _any_rows,
}


def stored(matrix: Storage, stype: str) -> Any:
    """A matrix in a storage, csr to row_sparse and back included; itself if it is in it."""
    if matrix_is(matrix, stype):
        return matrix
    if stype == "default":
        dense = structure.densify if type(matrix) is Csr else row_sparse.densify
        return dense(matrix)  # type: ignore[operator]
    if type(matrix) is Csr:
        return _rows_of_csr(matrix)
    if type(matrix) is RowSparse:
        return _csr_of_rows(matrix)
    convert = structure.from_dense if stype == "csr" else row_sparse.from_dense
    return convert(matrix)  # type: ignore[arg-type]


def matrix_is(matrix: Storage, stype: str) -> bool:
    """Whether a matrix is stored so."""
    return getattr(matrix, "stype", "default") == stype


def _rows_of_csr(csr: Csr) -> RowSparse:
    """The rows that have an entry."""
    rows = np.flatnonzero(csr.indptr[1:] > csr.indptr[:-1])
    values = structure.densify(structure.take_rows(csr, rows))
    return RowSparse(values, rows.astype(np.int64, copy=False), csr.shape)


def _csr_of_rows(rsp: RowSparse) -> Csr:
    """The non-zeros of the rows."""
    part = structure.from_dense(rsp.values)
    counts = np.zeros(rsp.shape[0] + 1, np.int64)
    counts[rsp.indices + 1] = part.indptr[1:] - part.indptr[:-1]
    return Csr(part.values, part.indices, counts.cumsum(), rsp.shape)
