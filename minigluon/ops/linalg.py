"""Products and triangular systems of the matrices on the last two axes: linalg.gemm, trsm, ..."""

from __future__ import annotations

import numpy as np

from ..base import DTypeError, ShapeError
from ..core.infer import UNKNOWN, UnknownShape
from ..core.op import op


def check(name, *arrays, square=False):
    """Refuse what is no (square) matrix of float32 or float64."""
    for x in arrays:
        if x.dtype not in (np.float32, np.float64):
            raise DTypeError(
                f"{name}: the dtype is not supported.\n  received  an array {x.shape} {x.dtype}\n"
                "  expected  float32 or float64\n  fix       convert it with astype"
            )
        check_shape(name, x.shape, square)


def check_shape(name, shape, square=False):
    """Raise ``ShapeError`` unless these are matrices, ``square`` ones if so asked."""
    if len(shape) < 2 or (square and shape[-2] != shape[-1] and UNKNOWN not in shape[-2:]):
        raise ShapeError(
            f"{name}: this is no {'square ' if square else ''}matrix.\n  received  {shape}\n"
            f"  expected  two or more axes{', the last two of one length' if square else ''}\n"
            "  fix       pass a matrix, or a batch of them"
        )


def mirrored(x):
    """The transposed matrices."""
    return np.swapaxes(x, -1, -2)


def square(s, **_):
    """The rule of operators that keep the shape of a square matrix."""
    s.A = s.out
    s.out = s.A
    if not isinstance(s.A, UnknownShape):
        check_shape("linalg", s.A, square=True)


# ---- products


def _product(a, b, transpose_a, transpose_b, alpha, axis):
    """``alpha * op(a) @ op(b)`` where the rows lie on ``axis``."""
    if axis not in (-2, a.ndim - 2):
        a, b = np.moveaxis(a, axis, -2), np.moveaxis(b, axis, -2)
    result = np.matmul(mirrored(a) if transpose_a else a, mirrored(b) if transpose_b else b)
    if alpha != 1:
        result *= a.dtype.type(alpha)
    if axis not in (-2, a.ndim - 2):
        result = np.ascontiguousarray(np.moveaxis(result, -2, axis))
    return result


def _product_shape(name, a, b, transpose_a, transpose_b, axis):
    """The shape of a product; raises ``ShapeError`` if the matrices do not fit."""
    if isinstance(a, UnknownShape) or isinstance(b, UnknownShape):
        return None
    rows = axis % len(a)
    rest_a = [d for k, d in enumerate(a) if k not in (rows, len(a) - 1)]
    rest_b = [d for k, d in enumerate(b) if k not in (rows, len(b) - 1)]
    m, inner_a = (a[-1], a[rows]) if transpose_a else (a[rows], a[-1])
    inner_b, n = (b[-1], b[rows]) if transpose_b else (b[rows], b[-1])
    known = UNKNOWN not in (*a, *b)
    if len(a) != len(b) or (known and (rest_a != rest_b or inner_a != inner_b)):
        raise ShapeError(
            f"{name}: the matrices do not fit.\n  received  A {a}, B {b}, "
            f"transpose_a={transpose_a}, transpose_b={transpose_b}\n"
            "  expected  as many columns of the first as rows of the second, and equal batch axes\n"
            "  fix       transpose or broadcast one of them"
        )
    result = list(a)
    result[rows], result[-1] = m, n
    return tuple(result)


@op(aliases=("linalg_gemm2",))
def _linalg_gemm2(
    A,
    B,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    alpha: float = 1.0,
    axis: int = -2,
):
    """The matrix product ``alpha * op(A) op(B)``, batched.

    Parameters
    ----------
    axis : where the rows lie; the columns lie on the last axis.

    Examples
    --------
    >>> nd.linalg.gemm2(nd.ones((1, 2)), nd.ones((2, 1)), alpha=3).asnumpy()
    array([[6.]], dtype=float32)
    """
    check("linalg.gemm2", A, B)
    _product_shape("linalg.gemm2", A.shape, B.shape, transpose_a, transpose_b, axis)
    return _product(A, B, transpose_a, transpose_b, alpha, axis)


@_linalg_gemm2.shape
def _(s, *, transpose_a, transpose_b, alpha, axis):
    s.out = _product_shape("linalg.gemm2", s.A, s.B, transpose_a, transpose_b, axis)


def _product_gradients(F, g, a, b, transpose_a, transpose_b, alpha, axis):
    how = {"alpha": alpha, "axis": axis}
    times = F._linalg_gemm2
    if transpose_a:
        by_a = times(b, g, transpose_a=transpose_b, transpose_b=True, **how)
    else:
        by_a = times(g, b, transpose_b=not transpose_b, **how)
    if transpose_b:
        by_b = times(g, a, transpose_a=True, transpose_b=transpose_a, **how)
    else:
        by_b = times(a, g, transpose_a=not transpose_a, **how)
    return by_a, by_b


@_linalg_gemm2.grad
def _(F, g, A, B, *, out, **how):
    return _product_gradients(F, g, A, B, **how)


@op(aliases=("linalg_gemm",))
def _linalg_gemm(
    A,
    B,
    C,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    alpha: float = 1.0,
    beta: float = 1.0,
    axis: int = -2,
):
    """``alpha * op(A) op(B) + beta * C``, batched.

    Parameters
    ----------
    axis : where the rows lie; the columns lie on the last axis.

    Examples
    --------
    >>> nd.linalg.gemm(nd.ones((1, 2)), nd.ones((2, 1)), nd.ones((1, 1)), beta=2).asnumpy()
    array([[4.]], dtype=float32)
    """
    check("linalg.gemm", A, B, C)
    shape = _product_shape("linalg.gemm", A.shape, B.shape, transpose_a, transpose_b, axis)
    if C.shape != shape:
        raise ShapeError(
            f"linalg.gemm: C has the wrong shape.\n  received  C {C.shape}\n"
            f"  expected  {shape}, the shape of the product\n  fix       broadcast C first"
        )
    result = _product(A, B, transpose_a, transpose_b, alpha, axis)
    result += C.dtype.type(beta) * C
    return result


@_linalg_gemm.shape
def _(s, *, transpose_a, transpose_b, alpha, beta, axis):
    s.out = _product_shape("linalg.gemm", s.A, s.B, transpose_a, transpose_b, axis)
    s.C = s.out
    s.out = s.C


@_linalg_gemm.grad
def _(F, g, A, B, C, *, out, beta, **how):
    return (*_product_gradients(F, g, A, B, **how), g * beta)


@op(aliases=("linalg_syrk",))
def _linalg_syrk(A, *, transpose: bool = False, alpha: float = 1.0):
    """``alpha * A Aᵀ``, or ``alpha * Aᵀ A`` with ``transpose``.

    Examples
    --------
    >>> nd.linalg.syrk(nd.array([[1, 2]])).asnumpy()
    array([[5.]], dtype=float32)
    """
    check("linalg.syrk", A)
    return _product(A, A, transpose, not transpose, alpha, -2)


@_linalg_syrk.shape
def _(s, *, transpose, alpha):
    A = s.A
    if not isinstance(A, UnknownShape):
        check_shape("linalg.syrk", A)
        n = A[-1] if transpose else A[-2]
        s.out = (*A[:-2], n, n)


@_linalg_syrk.grad
def _(F, g, A, *, out, transpose, alpha):
    both = g + F._linalg_transposed(g)
    pair = (A, both) if transpose else (both, A)
    return F._linalg_gemm2(*pair, alpha=alpha)


@op(copies_view=True)
def _linalg_transposed(data):
    """The last two axes swapped."""
    return mirrored(data)


@_linalg_transposed.shape
def _(s):
    if not isinstance(s.data, UnknownShape):
        s.out = (*s.data[:-2], s.data[-1], s.data[-2])


@_linalg_transposed.grad
def _(F, h, data, *, out):
    return F._linalg_transposed(h)


# ---- triangles


def _triangle(x, lower, offset=0):
    return np.tril(x, offset) if lower else np.triu(x, offset)


@op()
def _linalg_triangle(A, *, lower: bool = True):
    """The triangle including the diagonal, zeros elsewhere."""
    return _triangle(A, lower)


_linalg_triangle.shape(square)


@_linalg_triangle.grad
def _(F, h, A, *, out, lower):
    return F._linalg_triangle(h, lower=lower)


@op()
def _linalg_mirror(A):
    """The lower triangle and its mirror image above."""
    return np.tril(A) + mirrored(np.tril(A, -1))


_linalg_mirror.shape(square)


@_linalg_mirror.grad
def _(F, h, A, *, out):
    return F._linalg_folded(h)


@op()
def _linalg_folded(A):
    """The lower triangle with the upper one folded onto it."""
    return np.tril(A) + np.tril(mirrored(A), -1)


_linalg_folded.shape(square)


@_linalg_folded.grad
def _(F, h, A, *, out):
    return F._linalg_mirror(h)


def _with_triangle(s, *, rightside, **_):
    """The rule of operators on a triangular matrix and another one."""
    s.B = s.out
    s.out = s.B
    B = s.B
    if not isinstance(B, UnknownShape):
        check_shape("linalg", B)
        n = B[-1] if rightside else B[-2]
        s.A = (*B[:-2], n, n)


def _check_triangle(name, A, B, rightside):
    check(name, A, B)
    n = B.shape[-1] if rightside else B.shape[-2]
    if A.shape != (*B.shape[:-2], n, n):
        raise ShapeError(
            f"{name}: the matrices do not fit.\n  received  A {A.shape}, B {B.shape}\n"
            f"  expected  A {(*B.shape[:-2], n, n)}, for B on its "
            f"{'left' if rightside else 'right'} side\n  fix       check rightside"
        )


@op(aliases=("linalg_trmm",))
def _linalg_trmm(
    A,
    B,
    *,
    transpose: bool = False,
    rightside: bool = False,
    lower: bool = True,
    alpha: float = 1.0,
):
    """``alpha * op(A) B`` for a triangular A, or ``alpha * B op(A)`` with ``rightside``.

    Parameters
    ----------
    lower : which triangle of A is read; the other one counts as zero.

    Examples
    --------
    >>> nd.linalg.trmm(nd.array([[1, 9], [1, 1]]), nd.array([[1], [2]])).asnumpy()
    array([[1.],
           [3.]], dtype=float32)
    """
    _check_triangle("linalg.trmm", A, B, rightside)
    A = _triangle(A, lower)
    if rightside:
        return _product(B, A, False, transpose, alpha, -2)
    return _product(A, B, transpose, False, alpha, -2)


_linalg_trmm.shape(_with_triangle)


@_linalg_trmm.grad
def _(F, g, A, B, *, out, transpose, rightside, lower, alpha):
    times = F._linalg_gemm2
    by_b = F._linalg_trmm(
        A, g, transpose=not transpose, rightside=rightside, lower=lower, alpha=alpha
    )
    if rightside:
        pair = (g, B) if transpose else (B, g)
        by_a = times(*pair, transpose_a=True, alpha=alpha)
    else:
        pair = (B, g) if transpose else (g, B)
        by_a = times(*pair, transpose_b=True, alpha=alpha)
    return F._linalg_triangle(by_a, lower=lower), by_b


@op(aliases=("linalg_trsm",))
def _linalg_trsm(
    A,
    B,
    *,
    transpose: bool = False,
    rightside: bool = False,
    lower: bool = True,
    alpha: float = 1.0,
):
    """The X with ``op(A) X = alpha * B`` for a triangular A; ``X op(A)`` with ``rightside``.

    Parameters
    ----------
    lower : which triangle of A is read.

    Examples
    --------
    >>> nd.linalg.trsm(nd.array([[2, 0], [1, 1]]), nd.array([[2], [3]])).asnumpy()
    array([[1.],
           [2.]], dtype=float32)
    """
    from scipy.linalg import solve_triangular

    _check_triangle("linalg.trsm", A, B, rightside)
    # X op(A) = B is op(A)ᵀ Xᵀ = Bᵀ
    right = mirrored(B) if rightside else B
    result = np.empty(right.shape, B.dtype)
    for k in np.ndindex(A.shape[:-2]):
        result[k] = solve_triangular(
            A[k], right[k], transpose != rightside, lower, check_finite=False
        )
    result = mirrored(result) if rightside else result
    return np.multiply(result, B.dtype.type(alpha), order="C")


_linalg_trsm.shape(_with_triangle)


@_linalg_trsm.grad
def _(F, g, A, B, *, out, transpose, rightside, lower, alpha):
    solved = F._linalg_trsm(A, g, transpose=not transpose, rightside=rightside, lower=lower)
    times = F._linalg_gemm2
    if rightside:
        pair = (solved, out) if transpose else (out, solved)
        by_a = times(*pair, transpose_a=True, alpha=-1)
    else:
        pair = (out, solved) if transpose else (solved, out)
        by_a = times(*pair, transpose_b=True, alpha=-1)
    return F._linalg_triangle(by_a, lower=lower), solved * alpha
