"""Elementwise functions of sparse operands whose results are dense.

==============================  ===================================================================
``unary(f, x)``                 ``f`` of every element
``binary(f, lhs, rhs)``         ``f`` of every pair, with broadcasting; one or both are sparse
``transposed(x)``               the transpose of a matrix
``put(x, out)``                 the elements of any storage in a given array
==============================  ===================================================================

No operand is made dense: ``f`` of zero fills the result, ``f`` of what is stored goes on top. A
function that costs more than a copy is so computed for the stored elements only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..storage import Csr, RowSparse, Storage
from . import csr as structure
from . import csr_arithmetic, distinct, row_sparse

Function = Callable[..., Any]


def unary(f: Function, x: Csr | RowSparse) -> np.ndarray:
    """``f`` of every element of ``x`` as a dense array."""
    if type(x) is Csr:
        x = structure.canonical(x)
    zero = f(np.zeros(1, x.values.dtype))
    out = np.full(x.shape, zero[0], zero.dtype)
    out[_places(x)] = f(x.values)
    return out


def _places(x: Csr | RowSparse) -> Any:
    """The index of what is stored."""
    return (structure.row_ids(x), x.indices) if type(x) is Csr else x.indices


def binary(f: Function, lhs: Storage, rhs: Storage) -> np.ndarray:
    """``f`` of every pair of elements as a dense array; operands broadcast."""
    shape = np.broadcast_shapes(lhs.shape, rhs.shape)
    left, right = _spread(lhs, shape), _spread(rhs, shape)
    kinds = type(left), type(right)
    if kinds == (np.ndarray, np.ndarray):
        return f(left, right)
    if kinds[0] is np.ndarray:
        return _beside_dense(lambda a, b: f(b, a), right, left, shape)
    if kinds[1] is np.ndarray:
        return _beside_dense(f, left, right, shape)
    if kinds[0] is not kinds[1]:
        return _rows_in_csr(f, left, right)
    unite = csr_arithmetic.union if kinds[0] is Csr else row_sparse.union
    both = unite(f, left, right)  # type: ignore[operator]
    zero = np.zeros(1, left.dtype)
    zero = f(zero, zero)
    out = np.full(shape, zero[0], zero.dtype)
    out[_places(both)] = both.values
    return out


def _spread(x: Storage, shape: tuple[int, ...]) -> Any:
    """The operand, dense if it is a small one that is repeated."""
    if type(x) is Csr:
        return structure.canonical(x) if x.shape == shape else structure.densify(x)
    if type(x) is RowSparse:
        return x if x.shape == shape else row_sparse.densify(x)
    return x


def _beside_dense(
    f: Function, x: Csr | RowSparse, dense: np.ndarray, shape: tuple[int, ...]
) -> np.ndarray:
    out = f(np.zeros((), x.values.dtype), dense)
    if out.shape != shape or not out.flags.writeable:
        out = np.broadcast_to(out, shape).copy()
    if type(x) is Csr:
        other = csr_arithmetic.gather(x, dense)
    elif dense.ndim == len(shape) and dense.shape[0] == shape[0]:
        other = distinct.gather(dense, x.indices)
    else:
        other = dense
    out[_places(x)] = f(x.values, other)
    return out


def _rows_in_csr(f: Function, left: Any, right: Any) -> np.ndarray:
    """One operand is csr, the other row_sparse."""
    first = type(left) is Csr
    csr, rsp = (left, right) if first else (right, left)
    zero = np.zeros(1, csr.values.dtype)
    alone = f(csr.values, zero) if first else f(zero, csr.values)
    nothing = f(zero, zero)
    out = np.full(csr.shape, nothing[0], nothing.dtype)
    out[_places(csr)] = alone
    rows = structure.densify(structure.take_rows(csr, rsp.indices))
    out[rsp.indices] = f(rows, rsp.values) if first else f(rsp.values, rows)
    return out


def transposed(x: Csr | RowSparse) -> np.ndarray:
    """The transpose of a matrix as a dense array."""
    out = np.zeros(x.shape[::-1], x.values.dtype)
    if type(x) is Csr:
        x = structure.canonical(x)
        out[x.indices, structure.row_ids(x)] = x.values
    else:
        out[:, x.indices] = x.values.T
    return out


def put(x: Storage, out: np.ndarray) -> None:
    """Write the elements of ``x`` into an array of its shape."""
    if type(x) is np.ndarray:
        out[...] = x
        return
    x = structure.canonical(x) if type(x) is Csr else x
    out[...] = 0
    out[_places(x)] = x.values  # type: ignore[arg-type, union-attr]
