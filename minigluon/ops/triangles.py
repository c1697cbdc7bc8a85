"""Diagonals and triangles of matrices as vectors, and back."""

from __future__ import annotations

import numpy as np

from ..base import ShapeError
from ..core.infer import UNKNOWN, UnknownShape
from ..core.op import op
from ._shared import filled
from .linalg import check, check_shape


def _diagonal_places(n, offset):
    """Rows and columns of a diagonal of an (n, n) matrix."""
    length = n - abs(offset)
    if length < 1:
        raise ShapeError(
            f"linalg: there is no such diagonal.\n  received  offset={offset} of ({n}, {n})\n"
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
    check("linalg.extractdiag", A, square=True)
    return filled(_taken(A, _diagonal_places(A.shape[-1], offset)), out)


@_linalg_extractdiag.shape
def _(s, *, offset):
    A = s.A
    if not isinstance(A, UnknownShape):
        check_shape("linalg.extractdiag", A, square=True)
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
    check("linalg.extracttrian", A, square=True)
    return filled(_taken(A, _triangle_places(A.shape[-1], offset, lower)), out)


@_linalg_extracttrian.shape
def _(s, *, offset, lower):
    A = s.A
    if not isinstance(A, UnknownShape):
        check_shape("linalg.extracttrian", A, square=True)
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
