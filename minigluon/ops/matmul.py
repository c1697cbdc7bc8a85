"""Products of matrices: dot and batch_dot."""

from __future__ import annotations

from typing import Literal

import numpy as np

from .. import storage
from ..base import ShapeError
from ..core.infer import UNKNOWN, UnknownShape, known
from ..core.op import op
from ..kernels import csr, csr_dot, dense, products, row_sparse

_HALF = np.dtype(np.float16)


def matmul(a, b, out=None):
    """``a @ b`` of matrices; half precision is summed in single precision."""
    if a.dtype is _HALF:
        product = np.dot(a.astype(np.float32), b.astype(np.float32)).astype(_HALF)
        if out is None:
            return product
        out[...] = product
        return out
    if a.size * b.shape[-1] >= dense.FEWEST:
        return dense.matmul(a, b, out)
    return a.dot(b, out)  # np.dot takes 0.2 us more


def _left(lhs, transpose_a):
    """The left operand as a matrix whose rows are multiplied."""
    if lhs.ndim == 2:
        return lhs.T if transpose_a else lhs
    if lhs.ndim < 2:
        return lhs.reshape(1, -1)
    return lhs.reshape(lhs.shape[0], -1).T if transpose_a else lhs.reshape(-1, lhs.shape[-1])


def _right(rhs, transpose_b):
    """The right operand as a matrix whose columns are multiplied."""
    if rhs.ndim == 2:
        return rhs.T if transpose_b else rhs
    if rhs.ndim < 2:
        return rhs.reshape(-1, 1)
    return rhs.reshape(-1, rhs.shape[-1]).T if transpose_b else rhs.reshape(rhs.shape[0], -1)


def _free_axes(shape, transposed, contracted_last):
    """The axes of an operand that stay: all but the contracted one."""
    if len(shape) < 2:
        return ()
    return tuple(shape[1:] if transposed == contracted_last else shape[:-1])


# ---- dot


@op(aliases=("_sparse_dot",), hint="forward_stype", scalar=True)
def dot(
    lhs,
    rhs,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    forward_stype: Literal["csr", "default", "row_sparse"] | None = None,
    out=None,
):
    """The product over the last axis of ``lhs`` and the first of ``rhs``.

    Two vectors give their inner product (shape ``(1,)``), matrices their product, arrays of more
    axes are multiplied as if those that stay were one. ``csr`` times dense or row_sparse is dense;
    the transposed ``csr`` gives row_sparse, with just the rows that have an entry.

    Parameters
    ----------
    transpose_a : contract the first axis of ``lhs`` instead of the last.
    transpose_b : contract the last axis of ``rhs`` instead of the first.
    forward_stype : the storage wanted for the result, cast if need be.

    Examples
    --------
    >>> nd.dot(nd.array([[1, 2]]), nd.array([[3], [4]])).asnumpy()
    array([[11.]], dtype=float32)
    """
    if lhs.ndim == 2 and rhs.ndim == 2:
        return matmul(lhs.T if transpose_a else lhs, rhs.T if transpose_b else rhs, out)
    shape = (
        *_free_axes(lhs.shape, transpose_a, True),
        *_free_axes(rhs.shape, transpose_b, False),
    )
    result = matmul(_left(lhs, transpose_a), _right(rhs, transpose_b)).reshape(shape)
    if out is None:
        return result
    out[...] = result.reshape(out.shape)
    return out


@dot.prepare
def _(transpose_a, transpose_b, forward_stype):
    def run(lhs, rhs, *, out=None):
        if lhs.ndim == rhs.ndim == 2:
            return matmul(lhs.T if transpose_a else lhs, rhs.T if transpose_b else rhs, out)
        return dot.dense(lhs, rhs, transpose_a=transpose_a, transpose_b=transpose_b, out=out)

    return run


@dot.shape
def _(s, *, transpose_a, transpose_b, **_):
    lhs, rhs = s.lhs, s.rhs
    if isinstance(lhs, UnknownShape) or isinstance(rhs, UnknownShape):
        return
    k = lhs[0] if transpose_a or len(lhs) == 1 else lhs[-1]
    m = rhs[-1] if transpose_b or len(rhs) == 1 else rhs[0]
    k = m if k is UNKNOWN else k
    if len(lhs) > 1:
        s.lhs = (k, *lhs[1:]) if transpose_a else (*lhs[:-1], k)
    if len(rhs) > 1:
        s.rhs = (*rhs[:-1], k) if transpose_b else (k, *rhs[1:])
    elif not known((k,)) or m is UNKNOWN or k != m:
        s.rhs = (k,)
    s.out = (
        *_free_axes(lhs, transpose_a, True),
        *_free_axes(rhs, transpose_b, False),
    )


@dot.grad
def _(F, g, lhs, rhs, *, out, transpose_a, transpose_b, forward_stype):
    attrs = {"transpose_a": transpose_a, "transpose_b": transpose_b}
    return F._dot_lhs_grad(g, lhs, rhs, **attrs), F._dot_rhs_grad(g, lhs, rhs, **attrs)


def _plain(transpose_a, transpose_b, **_):
    return not transpose_a and not transpose_b


def _transposed(transpose_a, transpose_b, **_):
    return transpose_a and not transpose_b


def _right_transposed(transpose_a, transpose_b, **_):
    return transpose_b and not transpose_a


def _fitting(length, rhs):
    """``rhs`` if it has so many rows; the compiled kernels would read beyond a shorter one."""
    if rhs.shape[0] != length or rhs.ndim > 2:
        raise ValueError(f"a matrix or vector of {length} rows is wanted on the right")
    return rhs


@dot.kernel("csr default -> default", when=_plain)
def _(lhs, rhs, *, transpose_a, transpose_b, forward_stype, out=None):
    return csr_dot.dot(lhs, _fitting(lhs.shape[1], rhs))


@dot.kernel("csr row_sparse -> default", when=_plain)
def _(lhs, rhs, *, transpose_a, transpose_b, forward_stype, out=None):
    return csr_dot.dot_rows(lhs, _fitting(lhs.shape[1], rhs))


@dot.kernel("csr default -> row_sparse", when=_transposed)
def _(lhs, rhs, *, transpose_a, transpose_b, forward_stype, out=None):
    return csr_dot.dot_transposed(lhs, _fitting(lhs.shape[0], rhs))


@dot.kernel("csr default -> default", when=_transposed)
def _(lhs, rhs, *, transpose_a, transpose_b, forward_stype, out=None):
    return csr_dot.dot_transposed_dense(lhs, _fitting(lhs.shape[0], rhs))


@dot.kernel("csr row_sparse -> row_sparse", when=_transposed)
def _(lhs, rhs, *, transpose_a, transpose_b, forward_stype, out=None):
    return csr_dot.dot_transposed_rows(lhs, _fitting(lhs.shape[0], rhs))


@dot.kernel("csr row_sparse -> default", when=_transposed)
def _(lhs, rhs, *, transpose_a, transpose_b, forward_stype, out=None):
    return row_sparse.densify(csr_dot.dot_transposed_rows(lhs, _fitting(lhs.shape[0], rhs)))


def _rows_of_width(lhs, length):
    """``lhs`` if it is a matrix of that many columns."""
    if lhs.ndim != 2 or lhs.shape[1] != length:
        raise ValueError(f"a matrix of {length} columns is wanted on the left")
    return lhs


@dot.kernel("default csr -> csr", when=_plain)
def _(lhs, rhs, *, transpose_a, transpose_b, forward_stype, out=None):
    return csr_dot.dense_dot_csr(_rows_of_width(lhs, rhs.shape[0]), rhs)


@dot.kernel("default csr -> default", when=_plain)
def _(lhs, rhs, *, transpose_a, transpose_b, forward_stype, out=None):
    return csr_dot.dense_dot(_rows_of_width(lhs, rhs.shape[0]), rhs)


@dot.kernel("default csr -> csr", when=_right_transposed)
def _(lhs, rhs, *, transpose_a, transpose_b, forward_stype, out=None):
    return csr.from_dense(csr_dot.dense_dot_transposed(_rows_of_width(lhs, rhs.shape[1]), rhs))


@dot.kernel("default csr -> default", when=_right_transposed)
def _(lhs, rhs, *, transpose_a, transpose_b, forward_stype, out=None):
    return csr_dot.dense_dot_transposed(_rows_of_width(lhs, rhs.shape[1]), rhs)


_ANY = "default|csr|row_sparse"


def _pairing(stype):
    """The kernel for every other pairing, giving one storage."""

    def run(lhs, rhs, *, transpose_a, transpose_b, forward_stype, out=None):
        how = {"transpose_a": transpose_a, "transpose_b": transpose_b}
        if lhs.ndim == rhs.ndim == 2:
            _same_length(lhs.shape[not transpose_a], rhs.shape[transpose_b])
            return products.product(lhs, rhs, **how, stype=stype)
        if lhs.ndim == 2 and type(rhs) is np.ndarray and rhs.ndim == 1:
            _same_length(lhs.shape[not transpose_a], rhs.size)
            column = products.product(lhs, rhs[:, None], transpose_a, False)
            return storage.cast(column[:, 0], stype)
        return storage.cast(dot.dense(storage.densify(lhs), storage.densify(rhs), **how), stype)

    return run


def _same_length(left, right):
    if left != right:
        raise ValueError("the inner lengths differ")


for _stype in ("default", "csr", "row_sparse"):
    dot.kernel(f"csr|row_sparse {_ANY} -> {_stype}")(_pairing(_stype))
    dot.kernel(f"default csr|row_sparse -> {_stype}")(_pairing(_stype))


@op(shape_only=("lhs",))
def _dot_lhs_grad(g, lhs, rhs, *, transpose_a: bool = False, transpose_b: bool = False, out=None):
    """The gradient of ``dot`` with respect to its left operand, in that operand's shape."""
    if lhs.ndim == 2 and rhs.ndim == 2:
        other = rhs if transpose_b else rhs.T
        return matmul(other.T, g.T, out) if transpose_a else matmul(g, other, out)
    right = _right(rhs, transpose_b)
    product = matmul(g.reshape(-1, right.shape[1]), right.T)
    return shaped(product.T if transpose_a and lhs.ndim > 1 else product, lhs.shape, out)


@op(shape_only=("rhs",))
def _dot_rhs_grad(g, lhs, rhs, *, transpose_a: bool = False, transpose_b: bool = False, out=None):
    """The gradient of ``dot`` with respect to its right operand, in that operand's shape."""
    if lhs.ndim == 2 and rhs.ndim == 2:
        other = lhs if transpose_a else lhs.T
        return matmul(g.T, other.T, out) if transpose_b else matmul(other, g, out)
    left = _left(lhs, transpose_a)
    product = matmul(left.T, g.reshape(left.shape[0], -1))
    return shaped(product.T if transpose_b and rhs.ndim > 1 else product, rhs.shape, out)


def shaped(product, shape, out):
    """``product`` in a shape, in ``out`` if that is given."""
    product = np.ascontiguousarray(product).reshape(shape)
    if out is None:
        return product
    out[...] = product
    return out


@_dot_lhs_grad.shape
def _(s, **_):
    s.out = s.lhs


@_dot_rhs_grad.shape
def _(s, **_):
    s.out = s.rhs


@_dot_lhs_grad.grad
def _(F, h, g, lhs, rhs, *, out, **attrs):
    return F.dot(h, rhs, **attrs), None, F._dot_rhs_grad(g, h, rhs, **attrs)


@_dot_rhs_grad.grad
def _(F, h, g, lhs, rhs, *, out, **attrs):
    return F.dot(lhs, h, **attrs), F._dot_lhs_grad(g, lhs, h, **attrs), None


@_dot_lhs_grad.kernel("default csr|default|row_sparse csr -> default", when=_plain)
def _(g, lhs, rhs, *, transpose_a, transpose_b, out=None):
    return csr_dot.dense_dot_transposed(g, rhs)


@_dot_lhs_grad.kernel("default csr default|row_sparse -> default", when=_plain)
def _(g, lhs, rhs, *, transpose_a, transpose_b, out=None):
    rhs = storage.densify(rhs)  # lhs lends but its shape, and stays sparse
    return matmul(g.reshape(lhs.shape[0], -1), rhs.reshape(rhs.shape[0], -1).T)


@_dot_rhs_grad.kernel("default csr csr|default|row_sparse -> row_sparse", when=_plain)
def _(g, lhs, rhs, *, transpose_a, transpose_b, out=None):
    return csr_dot.dot_transposed(lhs, g if g.ndim == 2 else g.reshape(-1, 1))


@_dot_rhs_grad.kernel("row_sparse csr csr|default|row_sparse -> row_sparse", when=_plain)
def _(g, lhs, rhs, *, transpose_a, transpose_b, out=None):
    return csr_dot.dot_transposed_rows(lhs, g)


@_dot_rhs_grad.kernel("default csr csr|default|row_sparse -> default", when=_transposed)
def _(g, lhs, rhs, *, transpose_a, transpose_b, out=None):
    return csr_dot.dot(lhs, g)


def _lhs_grad_of_any(g, lhs, rhs, *, transpose_a, transpose_b, out=None):
    if not g.ndim == lhs.ndim == rhs.ndim == 2:
        g, rhs = storage.densify(g), storage.densify(rhs)
        return _dot_lhs_grad.dense(g, lhs, rhs, transpose_a=transpose_a, transpose_b=transpose_b)
    if transpose_a:
        return products.product(rhs, g, transpose_b, True)
    return products.product(g, rhs, False, not transpose_b)


def _rhs_grad_of_any(g, lhs, rhs, *, transpose_a, transpose_b, out=None):
    if not g.ndim == lhs.ndim == rhs.ndim == 2:
        g, lhs = storage.densify(g), storage.densify(lhs)
        return _dot_rhs_grad.dense(g, lhs, rhs, transpose_a=transpose_a, transpose_b=transpose_b)
    if transpose_b:
        return products.product(g, lhs, True, transpose_a)
    return products.product(lhs, g, not transpose_a, False)


for _declared, _kernel in (
    (_dot_lhs_grad, _lhs_grad_of_any),
    (_dot_rhs_grad, _rhs_grad_of_any),
):
    for _signature in (
        f"csr|row_sparse {_ANY} {_ANY}",
        f"default csr|row_sparse {_ANY}",
        "default default csr|row_sparse",
    ):
        _declared.kernel(f"{_signature} -> default")(_kernel)


# ---- batch_dot


@op(aliases=("_npx_batch_dot",))
def batch_dot(
    lhs,
    rhs,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    forward_stype: Literal["csr", "default", "row_sparse"] | None = None,
    out=None,
):
    """Matrix products of two stacks of matrices: ``(..., n, k) x (..., k, m) -> (..., n, m)``.

    Parameters
    ----------
    transpose_a : exchange the last two axes of ``lhs`` first.
    transpose_b : exchange the last two axes of ``rhs`` first.

    Examples
    --------
    >>> nd.batch_dot(nd.ones((2, 3, 4)), nd.ones((2, 4, 5))).shape
    (2, 3, 5)
    """
    if lhs.ndim < 3 or lhs.shape[:-2] != rhs.shape[:-2]:
        raise ValueError("two stacks of equally many matrices are wanted")
    a = lhs.swapaxes(-1, -2) if transpose_a else lhs
    b = rhs.swapaxes(-1, -2) if transpose_b else rhs
    if a.dtype is _HALF:
        product = np.matmul(a.astype(np.float32), b.astype(np.float32)).astype(_HALF)
        return shaped(product, product.shape, out)
    return np.matmul(a, b, out=out)


@batch_dot.shape
def _(s, *, transpose_a, transpose_b, **_):
    lhs, rhs = s.lhs, s.rhs
    if isinstance(lhs, UnknownShape) or isinstance(rhs, UnknownShape):
        return
    if len(lhs) < 3 or len(lhs) != len(rhs):
        raise _no_stacks(lhs, rhs)
    n, k = (lhs[-1], lhs[-2]) if transpose_a else (lhs[-2], lhs[-1])
    j, m = (rhs[-1], rhs[-2]) if transpose_b else (rhs[-2], rhs[-1])
    batch = tuple([b if a is UNKNOWN else a for a, b in zip(lhs[:-2], rhs[:-2], strict=True)])
    k = j if k is UNKNOWN else k
    s.lhs = (*batch, k, n) if transpose_a else (*batch, n, k)
    s.rhs = (*batch, m, k) if transpose_b else (*batch, k, m)
    s.out = (*batch, n, m)


def _no_stacks(lhs, rhs):
    return ShapeError(
        f"batch_dot: these are not two stacks of matrices.\n  received  lhs {lhs}, rhs {rhs}\n"
        "  expected  (..., n, k) and (..., k, m), with equal leading dimensions, at least one\n"
        "  fix       add a leading dimension with expand_dims, or use dot for two matrices"
    )


@batch_dot.grad
def _(F, g, lhs, rhs, *, out, transpose_a, transpose_b, forward_stype):
    if transpose_a:
        left = F.batch_dot(rhs, g, transpose_a=transpose_b, transpose_b=True)
    else:
        left = F.batch_dot(g, rhs, transpose_b=not transpose_b)
    if transpose_b:
        right = F.batch_dot(g, lhs, transpose_a=True, transpose_b=transpose_a)
    else:
        right = F.batch_dot(lhs, g, transpose_a=not transpose_a)
    return left, right
