"""Linear algebra on the last two axes, batched over the others: products and factorisations."""

from __future__ import annotations

import numpy as np

from ..base import DTypeError, ShapeError
from ..core.infer import UNKNOWN, UnknownShape
from ..core.op import op
from ._shared import filled

# Gradients of factorisations follow Seeger et al., "Auto-differentiating linear algebra" (2017).


def _check(name, *arrays, square=False):
    """Refuse what is no (square) matrix of float32 or float64."""
    for x in arrays:
        if x.dtype not in (np.float32, np.float64):
            raise DTypeError(
                f"{name}: the dtype is not supported.\n  received  an array {x.shape} {x.dtype}\n"
                "  expected  float32 or float64\n  fix       convert it with astype"
            )
        _check_shape(name, x.shape, square)


def _check_shape(name, shape, square=False):
    if len(shape) < 2 or (square and shape[-2] != shape[-1] and UNKNOWN not in shape[-2:]):
        raise ShapeError(
            f"{name}: this is no {'square ' if square else ''}matrix.\n  received  {shape}\n"
            f"  expected  two or more axes{', the last two of one length' if square else ''}\n"
            "  fix       pass a matrix, or a batch of them"
        )


def _mirrored(x):
    """The transposed matrices."""
    return np.swapaxes(x, -1, -2)


def _square(s, **_):
    """The rule of operators that keep the shape of a square matrix."""
    s.A = s.out
    s.out = s.A
    if not isinstance(s.A, UnknownShape):
        _check_shape("linalg", s.A, square=True)


# ---- products


def _product(a, b, transpose_a, transpose_b, alpha, axis):
    """``alpha * op(a) @ op(b)`` where the rows lie on ``axis``."""
    if axis not in (-2, a.ndim - 2):
        a, b = np.moveaxis(a, axis, -2), np.moveaxis(b, axis, -2)
    result = np.matmul(_mirrored(a) if transpose_a else a, _mirrored(b) if transpose_b else b)
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
    _check("linalg.gemm2", A, B)
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
    _check("linalg.gemm", A, B, C)
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
    _check("linalg.syrk", A)
    return _product(A, A, transpose, not transpose, alpha, -2)


@_linalg_syrk.shape
def _(s, *, transpose, alpha):
    A = s.A
    if not isinstance(A, UnknownShape):
        _check_shape("linalg.syrk", A)
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
    return _mirrored(data)


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


_linalg_triangle.shape(_square)


@_linalg_triangle.grad
def _(F, h, A, *, out, lower):
    return F._linalg_triangle(h, lower=lower)


@op()
def _linalg_mirror(A):
    """The lower triangle and its mirror image above."""
    return np.tril(A) + _mirrored(np.tril(A, -1))


_linalg_mirror.shape(_square)


@_linalg_mirror.grad
def _(F, h, A, *, out):
    return F._linalg_folded(h)


@op()
def _linalg_folded(A):
    """The lower triangle with the upper one folded onto it."""
    return np.tril(A) + np.tril(_mirrored(A), -1)


_linalg_folded.shape(_square)


@_linalg_folded.grad
def _(F, h, A, *, out):
    return F._linalg_mirror(h)


def _with_triangle(s, *, rightside, **_):
    """The rule of operators on a triangular matrix and another one."""
    s.B = s.out
    s.out = s.B
    B = s.B
    if not isinstance(B, UnknownShape):
        _check_shape("linalg", B)
        n = B[-1] if rightside else B[-2]
        s.A = (*B[:-2], n, n)


def _check_triangle(name, A, B, rightside):
    _check(name, A, B)
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
    right = _mirrored(B) if rightside else B
    result = np.empty(right.shape, B.dtype)
    for k in np.ndindex(A.shape[:-2]):
        result[k] = solve_triangular(A[k], right[k], trans=transpose != rightside, lower=lower)
    result = _mirrored(result) if rightside else result
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


# ---- Cholesky


@op(aliases=("linalg_potrf",))
def _linalg_potrf(A):
    """The lower triangular L with ``L Lᵀ = A`` (Cholesky), for a positive definite A.

    Only the lower triangle of A is read; its gradient is symmetric. Raises ``MXNetError`` for a
    matrix that is not positive definite.

    Examples
    --------
    >>> nd.linalg.potrf(nd.array([[4, 2], [2, 2]])).asnumpy()
    array([[2., 0.],
           [1., 1.]], dtype=float32)
    """
    _check("linalg.potrf", A, square=True)
    return np.linalg.cholesky(A)


_linalg_potrf.shape(_square)


@_linalg_potrf.grad
def _(F, g, A, *, out):
    inner = F._linalg_mirror(F._linalg_gemm2(out, g, transpose_a=True))
    half = F._linalg_trsm(out, inner, transpose=True, alpha=0.5)
    return F._linalg_trsm(out, half, rightside=True)


@op(aliases=("linalg_potri",))
def _linalg_potri(A):
    """The inverse of ``A Aᵀ`` for a lower triangular A: the inverse from a Cholesky factor.

    Examples
    --------
    >>> nd.linalg.potri(nd.array([[2, 0], [0, 1]])).asnumpy()
    array([[0.25, 0.  ],
           [0.  , 1.  ]], dtype=float32)
    """
    _check("linalg.potri", A, square=True)
    inverse = _linalg_trsm.dense(
        A, np.broadcast_to(np.eye(A.shape[-1], dtype=A.dtype), A.shape),
        transpose=False, rightside=False, lower=True, alpha=1.0,
    )  # fmt: skip
    return np.matmul(_mirrored(inverse), inverse)


_linalg_potri.shape(_square)


@_linalg_potri.grad
def _(F, g, A, *, out):
    both = F._linalg_gemm2(out, g + F._linalg_transposed(g), alpha=-1)
    return F._linalg_triangle(F._linalg_trsm(A, both, rightside=True, transpose=True))


# ---- other factorisations


@op(aliases=("linalg_gelqf",), outputs=2)
def _linalg_gelqf(A):
    """The factors ``(Q, L)`` of ``A = L Q``: L lower triangular, the rows of Q orthonormal.

    A has at most as many rows as columns. The diagonal of L may be negative, as LAPACK leaves it.

    Examples
    --------
    >>> q, l = nd.linalg.gelqf(nd.array([[3, 4]]))
    >>> abs(l).asnumpy()
    array([[5.]], dtype=float32)
    """
    _check("linalg.gelqf", A)
    _check_wide(A.shape)
    q, r = np.linalg.qr(_mirrored(A))
    return np.ascontiguousarray(_mirrored(q)), np.ascontiguousarray(_mirrored(r))


def _check_wide(shape):
    if UNKNOWN not in shape[-2:] and shape[-2] > shape[-1]:
        raise ShapeError(
            f"linalg.gelqf: the matrix has more rows than columns.\n  received  A {shape}\n"
            "  expected  at most as many rows as columns\n  fix       transpose the matrix"
        )


@_linalg_gelqf.shape
def _(s):
    A = s.A
    if not isinstance(A, UnknownShape):
        _check_shape("linalg.gelqf", A)
        _check_wide(A)
        s.outs = [A, (*A[:-1], A[-2])]


@_linalg_gelqf.grad
def _(F, g, A, *, out):
    (g_q, g_l), (q, l) = g, out
    inner = F._linalg_gemm2(l, g_l, transpose_a=True)
    inner = F._linalg_mirror(inner - F._linalg_gemm2(g_q, q, transpose_b=True))
    return F._linalg_trsm(l, g_q + F._linalg_gemm2(inner, q), transpose=True)


@op(outputs=2)
def _linalg_syevd(A):
    """Eigenvectors, as the rows of the first result, and ascending eigenvalues of a symmetric A.

    The largest element of each eigenvector (the first of several) is positive. Only the lower
    triangle of A is read.

    Examples
    --------
    >>> vectors, values = nd.linalg.syevd(nd.array([[2, 0], [0, 1]]))
    >>> values.asnumpy()
    array([1., 2.], dtype=float32)
    """
    _check("linalg.syevd", A, square=True)
    values, columns = np.linalg.eigh(A)
    vectors = np.ascontiguousarray(_mirrored(columns))
    largest = np.abs(vectors).argmax(axis=-1)[..., None]
    vectors *= np.where(np.take_along_axis(vectors, largest, -1) < 0, -1, 1).astype(A.dtype)
    return vectors, values


@_linalg_syevd.shape
def _(s):
    A = s.A
    if not isinstance(A, UnknownShape):
        _check_shape("linalg.syevd", A, square=True)
        s.outs = [A, A[:-1]]


@_linalg_syevd.grad
def _(F, g, A, *, out):
    (g_vectors, g_values), (vectors, values) = g, out
    turning = F._linalg_gemm2(vectors, g_vectors, transpose_b=True)
    inner = turning * F._linalg_inverse_gaps(values) + F._linalg_makediag(g_values)
    inner = 0.5 * (inner + F._linalg_transposed(inner))
    return F._linalg_gemm2(F._linalg_gemm2(vectors, inner, transpose_a=True), vectors)


@op()
def _linalg_inverse_gaps(values):
    """One over the differences ``values[j] - values[i]``, zero where these vanish."""
    gaps = values[..., None, :] - values[..., :, None]
    return np.divide(1, gaps, out=np.zeros_like(gaps), where=gaps != 0)


@_linalg_inverse_gaps.shape
def _(s):
    if not isinstance(s.values, UnknownShape):
        s.out = (*s.values, s.values[-1])


# ---- inverse and determinant


@op(aliases=("linalg_inverse", "_npi_inv"))
def _linalg_inverse(A):
    """The inverse of each matrix. Raises ``MXNetError`` if there is none.

    Examples
    --------
    >>> nd.linalg.inverse(nd.array([[2, 0], [0, 4]])).asnumpy()
    array([[0.5 , 0.  ],
           [0.  , 0.25]], dtype=float32)
    """
    _check("linalg.inverse", A, square=True)
    return np.linalg.inv(A)


_linalg_inverse.shape(_square)


@_linalg_inverse.grad
def _(F, g, A, *, out):
    left = F._linalg_gemm2(out, g, transpose_a=True, alpha=-1)
    return F._linalg_gemm2(left, out, transpose_b=True)


def _one_number(s, **_):
    """The rule of operators that give numbers for square matrices."""
    A = s.A
    if not isinstance(A, UnknownShape):
        _check_shape("linalg", A, square=True)
        s.outs = [A[:-2]] * len(s.outs)


@op(aliases=("linalg_det", "_npi_det"), scalar=True, output_names=("output0",))
def _linalg_det(A):
    """The determinant of each matrix.

    Its gradient are the cofactors, for singular matrices too.

    Examples
    --------
    >>> nd.linalg.det(nd.array([[2, 0], [0, 4]])).asnumpy()
    array([8.], dtype=float32)
    """
    _check("linalg.det", A, square=True)
    return np.linalg.det(A)


_linalg_det.shape(_one_number)


@_linalg_det.grad
def _(F, g, A, *, out):
    return F._linalg_scaled(F._linalg_cofactors(A), g)


@op()
def _linalg_cofactors(A):
    """``det(A) A⁻ᵀ``, from singular values, so that singular matrices have them too."""
    left, sizes, right = np.linalg.svd(A)
    n = A.shape[-1]
    others = np.where(np.eye(n, dtype=bool), 1, sizes[..., None, :]).prod(axis=-1)
    sign = np.linalg.det(left) * np.linalg.det(right)
    return (np.matmul(left * others[..., None, :], right) * sign[..., None, None]).astype(A.dtype)


_linalg_cofactors.shape(_square)


@_linalg_cofactors.grad
def _(F, h, A, *, out):
    one = F._linalg_scaled(out, F._linalg_dot(h, out))
    other = F._linalg_gemm2(F._linalg_gemm2(out, h, transpose_b=True), out)
    return F._linalg_scaled(one - other, 1 / F._linalg_det(A))


@op()
def _linalg_scaled(A, factors):
    """Each matrix times its number."""
    return A * factors.reshape(A.shape[:-2])[..., None, None]


@_linalg_scaled.shape
def _(s):
    s.out = s.A


@_linalg_scaled.grad
def _(F, h, A, factors, *, out):
    return F._linalg_scaled(h, factors), F._linalg_dot(h, A)


@op(scalar=True)
def _linalg_dot(A, B):
    """The sum of the products of the elements of each pair of matrices."""
    return np.add.reduce(A * B, axis=(-2, -1))


@_linalg_dot.shape
def _(s):
    s.out = s.A[:-2]


@_linalg_dot.grad
def _(F, h, A, B, *, out):
    return F._linalg_scaled(B, h), F._linalg_scaled(A, h)


@op(aliases=("linalg_slogdet", "_npi_slogdet"), outputs=2, scalar=True)
def _linalg_slogdet(A):
    """The sign of the determinant of each matrix, and the logarithm of its absolute value.

    A singular matrix gives 0 and ``-inf`` and has no gradient.

    Examples
    --------
    >>> sign, logarithm = nd.linalg.slogdet(nd.array([[1, 0], [0, -1]]))
    >>> sign.asnumpy(), logarithm.asnumpy()
    (array([-1.], dtype=float32), array([0.], dtype=float32))
    """
    _check("linalg.slogdet", A, square=True)
    sign, logarithm = np.linalg.slogdet(A)
    return np.asarray(sign), np.asarray(logarithm)


_linalg_slogdet.shape(_one_number)


@_linalg_slogdet.grad
def _(F, g, A, *, out):
    return F._linalg_scaled(F._linalg_transposed(F._linalg_inverse(A)), g[1])


@op(aliases=("linalg_sumlogdiag",), scalar=True)
def _linalg_sumlogdiag(A):
    """The sum of the logarithms of the diagonal of each matrix.

    Examples
    --------
    >>> nd.linalg.sumlogdiag(nd.array([[1, 5], [0, 1]])).asnumpy()
    array([0.], dtype=float32)
    """
    _check("linalg.sumlogdiag", A, square=True)
    return np.add.reduce(np.log(np.diagonal(A, axis1=-2, axis2=-1)), axis=-1)


_linalg_sumlogdiag.shape(_one_number)


@_linalg_sumlogdiag.grad
def _(F, g, A, *, out):
    diagonal = F._linalg_extractdiag(A)
    return F._linalg_makediag(F._spread_along_last(g, diagonal) / diagonal)


# ---- diagonals and triangles as vectors


def _diagonal_places(n, offset):
    """Rows and columns of a diagonal of an (n, n) matrix."""
    length = n - abs(offset)
    if length < 1:
        raise ShapeError(
            f"linalg: there is no such diagonal.\n  received  offset={offset}, a matrix ({n}, {n})\n"
            f"  expected  {1 - n} to {n - 1}\n  fix       pass a smaller offset"
        )
    steps = np.arange(length)
    return steps + max(-offset, 0), steps + max(offset, 0)


def _triangle_places(n, offset, lower):
    """Rows and columns of a triangle; an offset other than 0 decides which one it is."""
    _diagonal_places(n, offset)
    if offset < 0 or (offset == 0 and lower):
        return np.tril_indices(n, offset)
    return np.tril_indices(n, -offset)[::-1]  # column by column


def _side(count, offset):
    """The side of the matrix whose triangle has ``count`` elements."""
    short = round((np.sqrt(8 * count + 1) - 1) / 2)
    if short * (short + 1) // 2 != count:
        raise ShapeError(
            f"linalg.maketrian: the vector is no triangle.\n  received  {count} elements\n"
            "  expected  1, 3, 6, 10, 15, ... elements\n  fix       pass what extracttrian gives"
        )
    return short + abs(offset)


def _taken(A, places):
    return A[(..., *places)]


def _placed(values, n, places):
    result = np.zeros((*values.shape[:-1], n, n), values.dtype)
    result[(..., *places)] = values
    return result


@op(aliases=("linalg_extractdiag",))
def _linalg_extractdiag(A, *, offset: int = 0, out=None):
    """A diagonal of each matrix.

    Parameters
    ----------
    offset : which diagonal, counted upwards from the main one.

    Examples
    --------
    >>> nd.linalg.extractdiag(nd.array([[1, 2], [3, 4]])).asnumpy()
    array([1., 4.], dtype=float32)
    """
    _check("linalg.extractdiag", A, square=True)
    return filled(_taken(A, _diagonal_places(A.shape[-1], offset)), out)


@_linalg_extractdiag.shape
def _(s, *, offset):
    A = s.A
    if not isinstance(A, UnknownShape):
        _check_shape("linalg.extractdiag", A, square=True)
        if A[-1] is not UNKNOWN:
            s.out = (*A[:-2], len(_diagonal_places(A[-1], offset)[0]))


@_linalg_extractdiag.grad
def _(F, g, A, *, out, offset):
    return F._linalg_makediag(g, offset=offset)


@op(aliases=("linalg_makediag",))
def _linalg_makediag(A, *, offset: int = 0, out=None):
    """Matrices with the vectors on a diagonal, zeros elsewhere.

    Parameters
    ----------
    offset : which diagonal, counted upwards from the main one.

    Examples
    --------
    >>> nd.linalg.makediag(nd.array([1, 2])).asnumpy()
    array([[1., 0.],
           [0., 2.]], dtype=float32)
    """
    n = A.shape[-1] + abs(offset)
    return filled(_placed(A, n, _diagonal_places(n, offset)), out)


@_linalg_makediag.shape
def _(s, *, offset):
    A = s.A
    if not isinstance(A, UnknownShape) and A[-1] is not UNKNOWN:
        n = A[-1] + abs(offset)
        s.out = (*A[:-1], n, n)


@_linalg_makediag.grad
def _(F, g, A, *, out, offset):
    return F._linalg_extractdiag(g, offset=offset)


@op(aliases=("linalg_extracttrian",))
def _linalg_extracttrian(A, *, offset: int = 0, lower: bool = True, out=None):
    """A triangle of each matrix as a vector: a lower one row by row, an upper one column by column.

    Parameters
    ----------
    offset : where the triangle starts: above 0 in the upper half, below 0 in the lower half.
    lower : which half, if ``offset`` is 0.

    Examples
    --------
    >>> nd.linalg.extracttrian(nd.array([[1, 2], [3, 4]])).asnumpy()
    array([1., 3., 4.], dtype=float32)
    """
    _check("linalg.extracttrian", A, square=True)
    return filled(_taken(A, _triangle_places(A.shape[-1], offset, lower)), out)


@_linalg_extracttrian.shape
def _(s, *, offset, lower):
    A = s.A
    if not isinstance(A, UnknownShape):
        _check_shape("linalg.extracttrian", A, square=True)
        if A[-1] is not UNKNOWN:
            s.out = (*A[:-2], len(_triangle_places(A[-1], offset, lower)[0]))


@_linalg_extracttrian.grad
def _(F, g, A, *, out, offset, lower):
    return F._linalg_maketrian(g, offset=offset, lower=lower)


@op(aliases=("linalg_maketrian",))
def _linalg_maketrian(A, *, offset: int = 0, lower: bool = True, out=None):
    """Matrices with the vectors in a triangle, in the order of extracttrian; zeros elsewhere.

    Parameters
    ----------
    offset : where the triangle starts: above 0 in the upper half, below 0 in the lower half.
    lower : which half, if ``offset`` is 0.

    Examples
    --------
    >>> nd.linalg.maketrian(nd.array([1, 2, 3])).asnumpy()
    array([[1., 0.],
           [2., 3.]], dtype=float32)
    """
    n = _side(A.shape[-1], offset)
    return filled(_placed(A, n, _triangle_places(n, offset, lower)), out)


@_linalg_maketrian.shape
def _(s, *, offset, lower):
    A = s.A
    if not isinstance(A, UnknownShape) and A[-1] is not UNKNOWN:
        n = _side(A[-1], offset)
        s.out = (*A[:-1], n, n)


@_linalg_maketrian.grad
def _(F, g, A, *, out, offset, lower):
    return F._linalg_extracttrian(g, offset=offset, lower=lower)
