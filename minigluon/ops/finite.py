"""Checks and sums over whole arrays, many at a time, as mixed-precision training needs them."""

from __future__ import annotations

import numpy as np

from ..base import ShapeError
from ..core.op import op


def _alike(t, **_):
    for dtype in t.ins:
        if dtype is not None:
            t.ins = [dtype] * len(t.ins)


@op(inplace="reads", grad="zero")
def all_finite(data, *, init_output: bool = True, out=None):
    """One if every element is finite, else zero, as a float32 of shape (1,).

    Parameters
    ----------
    init_output : False keeps a zero that ``out`` holds already.

    Examples
    --------
    >>> nd.all_finite(nd.array([1.0, float("inf")])).asnumpy()
    array([0.], dtype=float32)
    """
    return _verdict(np.isfinite(data).all(), init_output, out)


@op(inplace="reads", grad="zero")
def multi_all_finite(*data, num_arrays: int = 1, init_output: bool = True, out=None):
    """One if every element of all the arrays is finite, else zero, as a float32 of shape (1,).

    Parameters
    ----------
    init_output : False keeps a zero that ``out`` holds already.

    Examples
    --------
    >>> nd.multi_all_finite(nd.ones(2), nd.ones(3), num_arrays=2).asnumpy()
    array([1.], dtype=float32)
    """
    return _verdict(all(np.isfinite(x).all() for x in data), init_output, out)


def _verdict(finite, init_output, out):
    if out is None:
        return np.full(1, finite, np.float32)
    if out.shape != (1,):
        raise ShapeError(
            f"all_finite: out has the wrong shape.\n  received  out {out.shape}\n"
            "  expected  (1,)\n  fix       make out with nd.ones(1)"
        )
    out[...] = finite if init_output else finite and bool(out.all())
    return out


def _one(s, **_):
    s.out = (1,)


for _operator in (all_finite, multi_all_finite):
    _operator.shape(_one)

    @_operator.dtype
    def _(t, **attrs):
        _alike(t)
        t.out = np.float32


@op(grad="zero")
def multi_sum_sq(*data, num_arrays: int):
    """The sum of the squares of each array, as float32.

    Examples
    --------
    >>> nd.multi_sum_sq(nd.ones(2), nd.ones((3, 3)), num_arrays=2).asnumpy()
    array([2., 9.], dtype=float32)
    """
    wide = [x.reshape(-1).astype(np.float32, copy=False) for x in data]
    return np.array([np.dot(x, x) for x in wide], np.float32)


@multi_sum_sq.shape
def _(s, *, num_arrays):
    s.out = (num_arrays,)


@multi_sum_sq.dtype
def _(t, **_):
    _alike(t)
    t.out = np.float32


@op(outputs=0)
def reset_arrays(*data, num_arrays: int):
    """Put zeros into each of the arrays, in place.

    Examples
    --------
    >>> x = nd.ones(2)
    >>> nd.reset_arrays(x, num_arrays=1)
    []
    >>> x.asnumpy()
    array([0., 0.], dtype=float32)
    """
    for x in data:
        x[...] = 0
    return ()


@reset_arrays.dtype
def _(t, **_):
    return


@op(grad="zero", scalar=True)
def _contrib_allclose(
    a, b, *, rtol: float = 9.99999975e-06, atol: float = 9.99999994e-09, equal_nan: bool = True
):
    """One if ``|a - b| <= atol + rtol |b|`` everywhere, else zero, as uint8.

    Parameters
    ----------
    equal_nan : whether NaN is close to NaN.

    Examples
    --------
    >>> nd.contrib.allclose(nd.ones(2), nd.ones(2)).asnumpy()
    array([1], dtype=uint8)
    """
    return np.uint8(np.allclose(a, b, rtol, atol, equal_nan))


@_contrib_allclose.shape
def _(s, **_):
    s.a = s.b
    s.b = s.a
    s.out = ()


@_contrib_allclose.dtype
def _(t, **_):
    _alike(t)
    t.out = np.uint8
