"""Piecewise functions with parameters: clipping, the smooth L1 loss, the hard sigmoid."""

from __future__ import annotations

import numpy as np

from ..base import AttributeValueError
from ..core.infer import all_same
from ..core.number import constant
from ..core.op import op
from .elementwise import real_dtype


@op(aliases=("_npi_clip", "_sparse_clip"), inplace=True)
def clip(data, *, a_min: float, a_max: float, out=None):
    """Elementwise ``min(max(x, a_min), a_max)``; NaN stays NaN.

    The gradient passes where ``x`` lies within the bounds. Sparse arrays stay sparse, which needs
    bounds that zero lies within.
    """
    low, high = _bounds(data.dtype, a_min, a_max)
    out = np.maximum(data, low, out=out)
    return np.minimum(out, high, out=out if out.shape else None)


def _bounds(dtype, a_min, a_max):
    if dtype.kind == "f":
        return constant(dtype, a_min), constant(dtype, a_max)
    limits = np.iinfo(dtype) if dtype.kind != "b" else None
    least, most = (limits.min, limits.max) if limits else (0, 1)
    return [dtype.type(min(max(bound, least), most)) for bound in (a_min, a_max)]


clip.shape(all_same)


@clip.grad
def _(F, g, data, *, out, a_min, a_max):
    return g * F.broadcast_equal(data, out)


@clip.kernel("csr -> csr")
@clip.kernel("row_sparse -> row_sparse")
def _(data, *, a_min, a_max, out=None):
    if not a_min <= 0 <= a_max:
        raise AttributeValueError(
            "clip: zero does not stay zero, so a sparse array cannot stay sparse.\n"
            f"  received  data {data.shape} {data.stype}, a_min={a_min}, a_max={a_max}\n"
            "  expected  bounds with 0 between them\n"
            "  fix       clip x.tostype('default') instead"
        )
    return data.with_values(clip.dense(data.values, a_min=a_min, a_max=a_max))


@op(aliases=("_npx_smooth_l1",))
def smooth_l1(data, *, scalar: float = 1.0, out=None):
    """Elementwise ``(s x)**2 / 2`` where ``|x| < 1 / s**2``, else ``|x| - 1 / (2 s**2)``.

    ``s`` is ``scalar``. Squares small errors and does not let large ones dominate: the loss of box
    regression.
    """
    square = float(scalar) ** 2
    if data.dtype.kind != "f":
        data = data.astype(np.float32)
    size = np.abs(data)
    if square == 0:
        return np.multiply(size, 0, out=out)
    quadratic = np.square(data) * constant(data.dtype, square / 2)
    linear = size - constant(data.dtype, 0.5 / square)
    result = np.where(size < constant(data.dtype, 1 / square), quadratic, linear)
    if out is None:
        return result
    np.copyto(out, result, casting="unsafe")
    return out


smooth_l1.shape(all_same)
smooth_l1.dtype(real_dtype)


@smooth_l1.grad
def _(F, g, data, *, out, scalar):
    square = float(scalar) ** 2
    return g * F.clip(data * square, a_min=-1.0, a_max=1.0)


@op()
def hard_sigmoid(data, *, alpha: float = 0.2, beta: float = 0.5, out=None):
    """Elementwise ``max(0, min(1, alpha * x + beta))``: a sigmoid of straight lines."""
    if data.dtype.kind != "f":
        data = data.astype(np.float32)
    line = data * constant(data.dtype, alpha) + constant(data.dtype, beta)
    return np.minimum(np.maximum(line, constant(line.dtype, 0)), constant(line.dtype, 1), out=out)


hard_sigmoid.shape(all_same)
hard_sigmoid.dtype(real_dtype)


@hard_sigmoid.grad
def _(F, g, data, *, out, alpha, beta):
    return g * ((out > 0) * (out < 1)) * alpha
