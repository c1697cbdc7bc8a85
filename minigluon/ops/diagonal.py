"""Diagonals: diag."""

from __future__ import annotations

import numpy as np

from ..base import ShapeError
from ..core.infer import UnknownShape, known
from ..core.op import op
from ._shared import axis_of, filled


@op()
def diag(data, *, k: int = 0, axis1: int = 0, axis2: int = 1, out=None):
    """The diagonal of a matrix, or the matrix with a vector on its diagonal.

    Examples
    --------
    >>> nd.diag(nd.array([[1, 2], [3, 4]])).asnumpy()
    array([1., 4.], dtype=float32)
    """
    if data.ndim == 1:
        return filled(np.diag(data, k), out)
    _length(data.shape, k, axis1, axis2)
    return filled(np.diagonal(data, k, axis1, axis2).copy(), out)


def _length(shape, k, axis1, axis2):
    """How long diagonal ``k`` is; raises ``ShapeError`` where there is none."""
    a, b = (axis_of(axis, len(shape), "diag") for axis in (axis1, axis2))
    length = min(shape[a] + min(k, 0), shape[b] - max(k, 0))
    if a == b or length < 0:
        raise ShapeError(
            f"diag: Diagonal does not exist.\n  received  data {shape}, k={k}, axes {axis1} and "
            f"{axis2}\n  expected  two different axes, and a diagonal inside the matrix they span\n"
            "  fix       choose other axes or a k nearer to 0"
        )
    return length


@diag.shape
def _(s, *, k, axis1, axis2):
    data = s.data
    if isinstance(data, UnknownShape):
        return
    if len(data) == 1:
        s.out = (data[0] + abs(k),) * 2
    elif known(data):
        axes = [axis_of(axis, len(data), "diag") for axis in (axis1, axis2)]
        kept = [d for i, d in enumerate(data) if i not in axes]
        s.out = (*kept, _length(data, k, axis1, axis2))


@diag.grad
def _(F, g, data, *, out, k, axis1, axis2):
    return F._diag_grad(g, data, k=k, axis1=axis1, axis2=axis2)


@op(shape_only=("like",))
def _diag_grad(g, like, *, k: int = 0, axis1: int = 0, axis2: int = 1, out=None):
    """Zeros with ``g`` where ``diag`` read."""
    if like.ndim == 1:
        return filled(np.diagonal(g, k).copy(), out)
    result = np.zeros(like.shape, g.dtype)
    np.einsum("...ii->...i", _window(result, k, axis1, axis2))[...] = g
    return filled(result, out)


def _window(x, k, axis1, axis2):
    """The view of ``x`` whose main diagonal is diagonal ``k``, its two axes last and square."""
    moved = np.moveaxis(x, (axis1, axis2), (-2, -1))
    moved = moved[..., -k:, :] if k < 0 else moved[..., :, k:]
    n = min(moved.shape[-2:])
    return moved[..., :n, :n]


_diag_grad.shape(lambda s, **_: setattr(s, "out", s.like))


@_diag_grad.grad
def _(F, h, g, like, *, out, **attrs):
    return F.diag(h, **attrs), None
