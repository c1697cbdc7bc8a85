"""Operators that gradients are written with: sums and products whose storage rules suit them."""

from __future__ import annotations

import numpy as np

from .. import storage
from ..core.infer import all_broadcast, all_same
from ..core.op import op
from ..kernels import csr_arithmetic, row_sparse

ANY = "default|csr|row_sparse"


@op(inplace=True)
def _grad_add(lhs, rhs, *, out=None):
    """Elementwise ``lhs + rhs`` of two gradients of one array; sparse ones stay sparse."""
    return np.add(lhs, rhs, out=out)


_grad_add.dense = np.add
_grad_add.shape(all_same)


@_grad_add.grad
def _(F, g, lhs, rhs, *, out):
    return g, g


@_grad_add.kernel("row_sparse row_sparse -> row_sparse")
def _(lhs, rhs, *, out=None):
    return row_sparse.add(lhs, rhs)


@_grad_add.kernel("csr csr -> csr")
def _(lhs, rhs, *, out=None):
    return csr_arithmetic.add(lhs, rhs)


@_grad_add.kernel("default row_sparse -> default")
def _(lhs, rhs, *, out=None):
    return row_sparse.add_dense(rhs, lhs, out=out)


@_grad_add.kernel("row_sparse default -> default")
def _(lhs, rhs, *, out=None):
    return row_sparse.add_dense(lhs, rhs, out=out)


@_grad_add.kernel("default csr -> default")
def _(lhs, rhs, *, out=None):
    return csr_arithmetic.add_dense(rhs, lhs, out=out)


@_grad_add.kernel("csr default -> default")
def _(lhs, rhs, *, out=None):
    return csr_arithmetic.add_dense(lhs, rhs, out=out)


_grad_add.runs_dense("csr|row_sparse csr|row_sparse -> default")


@op(inplace=True)
def _grad_mul(lhs, rhs, *, out=None):
    """Elementwise ``lhs * rhs`` with broadcasting: the product in gradient rules.

    Sparse where both factors are sparse alike, dense otherwise.
    """
    return np.multiply(lhs, rhs, out=out)


_grad_mul.dense = np.multiply
_grad_mul.shape(all_broadcast)


@_grad_mul.grad
def _(F, g, lhs, rhs, *, out):
    return F._sum_to(g * rhs, lhs), F._sum_to(g * lhs, rhs)


@_grad_mul.kernel("row_sparse row_sparse -> row_sparse")
def _(lhs, rhs, *, out=None):
    return row_sparse.multiply(lhs, rhs)


@_grad_mul.kernel("csr csr -> csr")
def _(lhs, rhs, *, out=None):
    return csr_arithmetic.multiply(lhs, rhs)


_grad_mul.runs_dense(f"csr|row_sparse {ANY} -> default", f"{ANY} csr|row_sparse -> default")


@op(shape_only=("like",), copies_view=True)
def _sum_to(data, like, *, out=None):
    """``data`` summed over the axes along which ``like`` was broadcast to it."""
    data = storage.densify(data)
    shape = like.shape
    if data.shape == shape:
        return data[...]
    if data.ndim < len(shape):  # the zero that stands for a gradient nobody gave
        return np.broadcast_to(data, shape)
    axes = _broadcast_axes(data.shape, shape)
    if not axes:
        return data.reshape(shape)
    if data.dtype == np.float16:
        total = np.add.reduce(data, axis=axes, dtype=np.float32).astype(np.float16)
    else:
        total = np.add.reduce(data, axis=axes, dtype=data.dtype)
    return total.reshape(shape)


def _broadcast_axes(wide: tuple[int, ...], narrow: tuple[int, ...]) -> tuple[int, ...]:
    """The axes of ``wide`` that ``narrow`` does not have, or has only one of."""
    extra = len(wide) - len(narrow)
    stretched = [extra + k for k, n in enumerate(narrow) if n == 1 and wide[extra + k] != 1]
    return (*range(extra), *stretched)


@_sum_to.shape
def _(s):
    s.out = s.like
    s.like = s.out


@_sum_to.grad
def _(F, g, data, like, *, out):
    return F._spread_like(g, data), None


_sum_to.runs_dense(f"csr|row_sparse {ANY} -> default", f"{ANY} csr|row_sparse -> default")


@op(shape_only=("like",))
def _spread_like(data, like, *, out=None):
    """``data`` broadcast to the shape of ``like``: what `_sum_to` undoes."""
    if out is None:
        out = np.empty(like.shape, data.dtype)
    out[...] = data
    return out


@_spread_like.shape
def _(s):
    s.out = s.like
    s.like = s.out


@_spread_like.grad
def _(F, g, data, like, *, out):
    return F._sum_to(g, data), None


_spread_like.runs_dense(f"csr|row_sparse {ANY} -> default", f"{ANY} csr|row_sparse -> default")


@op()
def _polygamma(data, *, order: int, out=None):
    """The derivative of order ``order + 1`` of ``log(gamma(x))``; order 0 is the digamma."""
    from scipy import special

    wide = data if data.dtype.kind == "f" and data.dtype.itemsize > 2 else data.astype(np.float32)
    result = special.digamma(wide) if order == 0 else special.polygamma(order, wide)
    result = np.asarray(result, dtype=data.dtype if data.dtype.kind == "f" else np.float32)
    if out is None:
        return result
    out[...] = result
    return out


_polygamma.shape(all_same)


@_polygamma.grad
def _(F, g, data, *, out, order):
    return g * F._polygamma(data, order=order + 1)
