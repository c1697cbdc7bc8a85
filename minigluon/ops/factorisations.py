"""Factorisations, inverses and determinants of the matrices on the last two axes.

Gradients of factorisations follow Seeger et al., "Auto-differentiating linear algebra" (2017).
"""

from __future__ import annotations

import numpy as np

from ..base import ShapeError
from ..core.infer import UNKNOWN, UnknownShape
from ..core.op import op
from .linalg import _linalg_trsm, check, check_shape, mirrored, square


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
    check("linalg.potrf", A, square=True)
    return np.linalg.cholesky(A)


_linalg_potrf.shape(square)


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
    check("linalg.potri", A, square=True)
    inverse = _linalg_trsm.dense(
        A, np.broadcast_to(np.eye(A.shape[-1], dtype=A.dtype), A.shape),
        transpose=False, rightside=False, lower=True, alpha=1.0,
    )  # fmt: skip
    return np.matmul(mirrored(inverse), inverse)


_linalg_potri.shape(square)


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
    check("linalg.gelqf", A)
    _check_wide(A.shape)
    q, r = np.linalg.qr(mirrored(A))
    return np.ascontiguousarray(mirrored(q)), np.ascontiguousarray(mirrored(r))


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
        check_shape("linalg.gelqf", A)
        _check_wide(A)
        s.outs = [A, (*A[:-1], A[-2])]


@_linalg_gelqf.grad
def _(F, g, A, *, out):
    (g_q, g_l), (q, lower) = g, out
    inner = F._linalg_gemm2(lower, g_l, transpose_a=True)
    inner = F._linalg_mirror(inner - F._linalg_gemm2(g_q, q, transpose_b=True))
    return F._linalg_trsm(lower, g_q + F._linalg_gemm2(inner, q), transpose=True)


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
    check("linalg.syevd", A, square=True)
    values, columns = np.linalg.eigh(A)
    vectors = np.ascontiguousarray(mirrored(columns))
    largest = np.abs(vectors).argmax(axis=-1)[..., None]
    vectors *= np.where(np.take_along_axis(vectors, largest, -1) < 0, -1, 1).astype(A.dtype)
    return vectors, values


@_linalg_syevd.shape
def _(s):
    A = s.A
    if not isinstance(A, UnknownShape):
        check_shape("linalg.syevd", A, square=True)
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
    check("linalg.inverse", A, square=True)
    return np.linalg.inv(A)


_linalg_inverse.shape(square)


@_linalg_inverse.grad
def _(F, g, A, *, out):
    left = F._linalg_gemm2(out, g, transpose_a=True, alpha=-1)
    return F._linalg_gemm2(left, out, transpose_b=True)


def _one_number(s, **_):
    """The rule of operators that give numbers for square matrices."""
    A = s.A
    if not isinstance(A, UnknownShape):
        check_shape("linalg", A, square=True)
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
    check("linalg.det", A, square=True)
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


_linalg_cofactors.shape(square)


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
    check("linalg.slogdet", A, square=True)
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
    check("linalg.sumlogdiag", A, square=True)
    return np.add.reduce(np.log(np.diagonal(A, axis1=-2, axis2=-1)), axis=-1)


_linalg_sumlogdiag.shape(_one_number)


@_linalg_sumlogdiag.grad
def _(F, g, A, *, out):
    diagonal = F._linalg_extractdiag(A)
    return F._linalg_makediag(F._spread_along_last(g, diagonal) / diagonal)
