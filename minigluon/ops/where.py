"""Choosing between two arrays: where."""

from __future__ import annotations

import numpy as np

from ..base import DTypeError
from ..core.infer import UnknownShape
from ..core.op import op
from ..kernels import csr
from ._shared import filled


def _chosen(condition, x, y, out):
    if condition.shape != x.shape or y.shape != x.shape:
        if condition.shape != x.shape[:1] or y.shape != x.shape:
            raise ValueError("condition, x and y do not have one shape")
        condition = condition.reshape(-1, *[1] * (x.ndim - 1))
    if x.dtype != y.dtype:
        raise DTypeError(
            f"where: x and y have different dtypes.\n  received  x {x.dtype}, y {y.dtype}\n"
            f"  expected  one dtype, here {x.dtype} as x has\n"
            f"  fix       convert with y.astype('{x.dtype}')"
        )
    return filled(np.where(condition != 0, x, y), out)


@op(aliases=("_sparse_where",))
def where(condition, x, y, *, out=None):
    """``x`` where the condition is not zero, else ``y``; a vector chooses whole rows.

    Examples
    --------
    >>> nd.where(nd.array([1, 0]), nd.array([1, 2]), nd.array([3, 4])).asnumpy()
    array([1., 4.], dtype=float32)
    """
    return _chosen(condition, x, y, out)


@where.shape
def _(s):
    s.x = s.out
    s.y = s.x
    s.x = s.y
    s.out = s.x
    condition, x = s.condition, s.x
    if isinstance(condition, UnknownShape) or isinstance(x, UnknownShape):
        return
    if len(condition) == len(x):
        s.condition = x
    elif len(condition) == 1:
        s.condition = (x[0],)


@where.dtype
def _(t):
    t.x = t.out
    t.y = t.x
    t.x = t.y
    t.out = t.x


@where.grad
def _(F, g, condition, x, y, *, out):
    return (
        F.zeros_like(condition),
        F._where_grad(condition, g, taken=True),
        F._where_grad(condition, g, taken=False),
    )


@where.kernel("csr default default -> default")
def _(condition, x, y, *, out=None):
    return _chosen(csr.densify(condition), x, y, out)


@op()
def _where_grad(condition, g, *, taken: bool = True):
    """``g`` where the condition chose this side, else zero."""
    side = condition if condition.ndim == g.ndim else condition.reshape(-1, *[1] * (g.ndim - 1))
    return np.where((side != 0) == taken, g, g.dtype.type(0))


_where_grad.runs_dense("csr|row_sparse default|csr|row_sparse -> default")


@_where_grad.shape
def _(s, **_):
    s.out = s.g


@_where_grad.dtype
def _(t, **_):
    t.out = t.g


@_where_grad.grad
def _(F, h, condition, g, *, out, taken):
    return None, F._where_grad(condition, h, taken=taken)
