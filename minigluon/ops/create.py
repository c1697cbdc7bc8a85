"""Operators without array inputs: constants, ranges, the identity matrix."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..base import AttributeValueError
from ..core.attributes import DType, Scalar, Shape
from ..core.infer import UNKNOWN
from ..core.op import op
from ..dtypes import FROM_FLAG
from ._shared import at_least, filled


def _of_attributes(declared: Any) -> None:
    """The rules of an operator whose shape and dtype are attributes."""

    @declared.shape
    def _(s, *, shape, **_):
        if shape:  # 0 means unknown, as everywhere in symbols
            s.out = tuple([UNKNOWN if d == 0 else d for d in shape])

    @declared.dtype
    def _(t, *, dtype, **_):
        t.out = dtype


@op()
def _zeros(*, shape: Shape = (), dtype: DType = "float32", out=None):
    """Zeros."""
    return filled(np.zeros(shape, dtype), out)


@op()
def _ones(*, shape: Shape = (), dtype: DType = "float32", out=None):
    """Ones."""
    return filled(np.ones(shape, dtype), out)


@op(aliases=("_npi_full",))
def _full(*, shape: Shape = (), dtype: DType = "float32", value: Scalar, out=None):
    """One value in a shape."""
    return filled(np.full(shape, value, dtype), out)


for _constant in (_zeros, _ones, _full):
    _of_attributes(_constant)


@op()
def _zeros_without_dtype(*, shape: Shape = (), dtype: int = -1, out=None):
    """Zeros whose dtype follows from what they are used with.

    Parameters
    ----------
    dtype : -1, or the number of a dtype as symbol files have it (0 is float32).
    """
    return filled(np.zeros(shape, _numbered(dtype) or np.float32), out)


@_zeros_without_dtype.shape
def _(s, *, shape, **_):
    if shape:
        s.out = tuple([UNKNOWN if d == 0 else d for d in shape])


@_zeros_without_dtype.dtype
def _(t, *, dtype, **_):
    if dtype != -1:
        t.out = _numbered(dtype)


def _numbered(dtype):
    """The dtype of this number, None for -1."""
    if dtype == -1:
        return None
    if dtype not in FROM_FLAG:
        raise AttributeValueError(
            f"_zeros_without_dtype: dtype is not valid.\n  received  dtype={dtype}\n"
            f"  expected  -1 or one of {sorted(FROM_FLAG)}\n  fix       pass 0 for float32"
        )
    return FROM_FLAG[dtype]


def _range_length(start, stop, step, repeat):
    if stop is None:
        start, stop = 0, start
    if not (step and (stop - start) / step > 0 and math.isfinite((stop - start) / step)):
        raise AttributeValueError(
            f"_arange: there is nothing from {start} to {stop}.\n"
            f"  received  start={start}, stop={stop}, step={step}\n"
            "  expected  a step that leads from start to stop\n  fix       change one of them"
        )
    return math.ceil((stop - start) / step) * repeat


@op()
def _arange(
    *,
    start: Scalar,
    stop: Scalar | None = None,
    step: Scalar = 1.0,
    repeat: int = 1,
    infer_range: bool = False,
    dtype: DType = "float32",
    out=None,
):
    """Numbers from ``start`` up to ``stop``, each ``repeat`` times; from 0 if there is no stop."""
    first, last = (0, start) if stop is None else (start, stop)
    exact = (
        np.int64
        if all(isinstance(x, int) for x in (first, last)) and step == int(step)
        else np.float64
    )
    step = int(step) if exact is np.int64 else step
    values = np.arange(_range_length(start, stop, step, 1)).astype(exact) * exact(step) + exact(
        first
    )
    return filled(np.repeat(values, repeat).astype(dtype), out)


@_arange.shape
def _(s, *, start, stop, step, repeat, infer_range, **_):
    if not (infer_range and stop is None):
        s.out = (_range_length(start, stop, step, repeat),)


@_arange.dtype
def _(t, *, dtype, **_):
    t.out = dtype


@op(aliases=("_npi_linspace",))
def _linspace(
    *,
    start: Scalar,
    stop: Scalar,
    num: int,
    endpoint: bool = True,
    dtype: DType = "float32",
    out=None,
):
    """``num`` evenly spaced numbers from ``start`` to ``stop``; integers are rounded down."""
    at_least("_linspace", "num", num, 0)
    return filled(np.linspace(start, stop, num, endpoint=endpoint, dtype=dtype), out)


@_linspace.shape
def _(s, *, num, **_):
    s.out = (num,)


@_linspace.dtype
def _(t, *, dtype, **_):
    t.out = dtype


@op()
def _eye(*, N: int, M: int = 0, k: int = 0, dtype: DType = "float32", out=None):
    """Ones on diagonal ``k`` of an (N, M) matrix, zeros elsewhere; square if M is not above 0."""
    at_least("_eye", "N", N, 0)
    return filled(np.eye(N, M if M > 0 else N, k, dtype), out)


@_eye.shape
def _(s, *, N, M, **_):
    s.out = (N, M if M > 0 else N)


@_eye.dtype
def _(t, *, dtype, **_):
    t.out = dtype
