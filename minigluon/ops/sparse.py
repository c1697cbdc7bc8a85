"""Operators about storage itself: cast_storage and retain."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..base import StorageError
from ..core.infer import same_as
from ..core.op import op
from ..kernels import csr, row_sparse
from ._places import checked, whole_numbers


@op(aliases=("_sparse_cast_storage",), hint="stype", copies_view=True)
def cast_storage(data, *, stype: Literal["csr", "default", "row_sparse"]):
    """The same values in another storage.

    Examples
    --------
    >>> nd.cast_storage(nd.array([[0, 1]]), stype="csr").stype
    'csr'
    """
    return data[...]


cast_storage.shape(same_as("data"))


@cast_storage.grad
def _(F, g, data, *, out, stype):
    return g


for _stype in ("csr", "default", "row_sparse"):

    @cast_storage.kernel(f"{_stype} -> {_stype}")
    def _(data, *, stype):
        return data.copy()


@cast_storage.kernel("default -> csr")
def _(data, *, stype):
    if data.ndim != 2:
        raise StorageError(
            "cast_storage: only a matrix can be stored as csr.\n"
            f"  received  data {data.shape}\n  expected  two dimensions\n"
            "  fix       reshape it first, or use row_sparse"
        )
    return csr.from_dense(data)


@cast_storage.kernel("default -> row_sparse")
def _(data, *, stype):
    return row_sparse.from_dense(data)


@cast_storage.kernel("csr -> default")
def _(data, *, stype):
    return csr.densify(data)


@cast_storage.kernel("row_sparse -> default")
def _(data, *, stype):
    return row_sparse.densify(data)


def _row_numbers(indices, rows):
    return checked(whole_numbers(indices, rows), rows, "_sparse_retain").reshape(-1)


@op()
def _sparse_retain(data, indices):
    """The named rows of a row_sparse array, ascending and each once; the others become zero.

    Rows that are not stored stay out of the result (MXNet stores them as zeros).

    Examples
    --------
    >>> nd.sparse.retain(nd.ones((3, 1)).tostype("row_sparse"), nd.array([2, 0])).indices.asnumpy()
    array([0, 2])
    """
    result = np.zeros(data.shape, data.dtype)
    rows = _row_numbers(indices, data.shape[0])
    result[rows] = data[rows]
    return result


@_sparse_retain.kernel("row_sparse default -> row_sparse")
def _(data, indices):
    return row_sparse.retain(data, _row_numbers(indices, data.shape[0]))


@_sparse_retain.shape
def _(s):
    s.data = s.out
    s.out = s.data


@_sparse_retain.dtype
def _(t):
    t.data = t.out
    t.out = t.data


@_sparse_retain.grad
def _(F, g, data, indices, *, out):
    return F._retain_grad(g, indices), F.zeros_like(indices)


@op()
def _retain_grad(g, indices):
    """The rows of ``g`` that were retained."""
    return _sparse_retain.dense(g, indices)


@_retain_grad.kernel("default|row_sparse default -> row_sparse")
def _(g, indices):
    return row_sparse.retain_gradient(g, _row_numbers(indices, g.shape[0]))


@_retain_grad.shape
def _(s):
    s.out = s.g


@_retain_grad.dtype
def _(t):
    t.out = t.g


@_retain_grad.grad
def _(F, h, g, indices, *, out):
    return F._retain_grad(h, indices), None
