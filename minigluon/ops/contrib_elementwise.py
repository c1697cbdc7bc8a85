"""Elementwise operators of ``contrib``, some with gradients that are not their own."""

from __future__ import annotations

import numpy as np

from ..core.infer import all_same
from ..core.number import constant
from ..core.op import op, registry
from .elementwise import keep_storage, real_dtype


@op()
def _contrib_quadratic(data, *, a: float = 0.0, b: float = 0.0, c: float = 0.0, out=None):
    """Elementwise ``a * x**2 + b * x + c``; csr stays csr if ``c`` is zero.

    Examples
    --------
    >>> nd.contrib.quadratic(nd.array([1.0, 2.0]), a=1, b=2, c=3).asnumpy()
    array([ 6., 11.], dtype=float32)
    """
    if data.dtype.kind != "f":
        data = data.astype(np.float32)
    line = data * constant(data.dtype, a) + constant(data.dtype, b)
    return np.add(line * data, constant(data.dtype, c), out=out)


_contrib_quadratic.shape(all_same)
_contrib_quadratic.dtype(real_dtype)


@_contrib_quadratic.grad
def _(F, g, data, *, out, a, b, c):
    return g * (data * (2 * a) + b)


@_contrib_quadratic.kernel("csr -> csr", when=lambda a, b, c: c == 0)
def _(data, *, a, b, c, out=None):
    return data.with_values(_contrib_quadratic.dense(data.values, a=a, b=b, c=c))


@op()
def _contrib_div_sqrt_dim(data, *, out=None):
    """``data`` divided by the root of the length of its last axis, as attention scores are."""
    if data.dtype.kind != "f":
        data = data.astype(np.float32)
    return np.divide(data, constant(data.dtype, float(data.shape[-1]) ** 0.5), out=out)


_contrib_div_sqrt_dim.shape(all_same)
_contrib_div_sqrt_dim.dtype(real_dtype)


@_contrib_div_sqrt_dim.grad
def _(F, g, data, *, out):
    return F._contrib_div_sqrt_dim(g)


def _straight_through(name: str, base: str) -> None:
    """The operator with the values of ``base`` whose gradient passes as if it were not there."""
    dense = registry[base].dense

    def kernel(data, *, out=None):
        return dense(data, out=out)

    kernel.__name__ = f"_contrib_{name}"
    kernel.__doc__ = (
        f"Elementwise ``{base}`` whose gradient is that of the identity.\n\n"
        "A straight-through estimator, for training through a step that has no slope."
    )
    declared = op(kernel, aliases=(f"_sparse__contrib_{name}",), inplace=True)
    declared.shape(all_same)
    declared.grad(lambda F, g, data, *, out: g)
    keep_storage(declared)


_straight_through("round_ste", "round")
_straight_through("sign_ste", "sign")


@op(inplace=True)
def _contrib_gradientmultiplier(data, *, scalar: float = 1.0, is_int: bool = True, out=None):
    """A copy of ``data`` whose gradient is multiplied by ``scalar``; a negative one reverses it."""
    if out is None:
        return data.copy()
    out[...] = data
    return out


_contrib_gradientmultiplier.shape(all_same)
keep_storage(_contrib_gradientmultiplier)


@_contrib_gradientmultiplier.grad
def _(F, g, data, *, out, scalar, is_int):
    return g * scalar
