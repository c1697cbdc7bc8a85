"""Operators that change the element type."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.attributes import DType
from ..core.infer import all_same
from ..core.op import op


def _converted(data, dtype, out=None):
    if out is None:
        with np.errstate(invalid="ignore", over="ignore"):  # what does not fit wraps or becomes inf
            return data.astype(dtype)
    np.copyto(out, data, casting="unsafe")
    return out


@op(aliases=("cast", "_npi_cast", "_npx_cast"))
def Cast(data, *, dtype: DType, out=None):
    """``data`` in another element type; fractions are cut off, other numbers are not 0 as bool.

    Examples
    --------
    >>> nd.cast(nd.array([0.9, -1.7]), dtype="int32").asnumpy()
    array([ 0, -1], dtype=int32)
    """
    return _converted(data, dtype, out)


@op()
def amp_cast(data, *, dtype: DType, out=None):
    """``data`` in another floating type; whole numbers stay as they are."""
    return _converted(data, dtype if data.dtype.kind == "f" else data.dtype, out)


amp_cast.runs_dense("default -> default")


def _declare_rules(declared: Any) -> None:
    declared.shape(all_same)

    @declared.grad
    def _(F, g, data, *, out, dtype):
        return F._cast_like(g, data)


_declare_rules(Cast)
_declare_rules(amp_cast)


@Cast.dtype
def _(t, *, dtype):
    t.out = dtype


@amp_cast.dtype
def _(t, *, dtype):
    if t.data is not None:
        t.out = dtype if t.data.kind == "f" else t.data


@op(shape_only=("like",))
def _cast_like(data, like, *, out=None):
    """``data`` in the element type of ``like``."""
    return _converted(data, like.dtype, out)


@_cast_like.shape
def _(s):
    s.out = s.data
    s.data = s.out


@_cast_like.dtype
def _(t):
    t.out = t.like


@_cast_like.grad
def _(F, g, data, like, *, out):
    return F._cast_like(g, data), None


@op(outputs=lambda num_outputs, cast_narrow: num_outputs)
def amp_multicast(*data, num_outputs: int, cast_narrow: bool = False):
    """Arrays of several floating types in one: the widest, or the narrowest if ``cast_narrow``.

    Whole numbers stay as they are.
    """
    dtypes = _common([x.dtype for x in data], cast_narrow)
    results = tuple([_converted(x, dtype) for x, dtype in zip(data, dtypes, strict=True)])
    return results if num_outputs > 1 else results[0]


def _common(dtypes, cast_narrow):
    """What each of these dtypes becomes."""
    pick = min if cast_narrow else max
    chosen = pick([d for d in dtypes if d.kind == "f"], key=lambda d: d.itemsize, default=None)
    return [chosen if d.kind == "f" else d for d in dtypes]


@amp_multicast.shape
def _(s, **_):
    for k, (given, result) in enumerate(zip(s.ins, s.outs, strict=True)):
        s.state(("out", k), given)
        s.state(("in", k), result)


@amp_multicast.dtype
def _(t, *, num_outputs, cast_narrow):
    if all(d is not None for d in t.ins):
        t.outs = _common(t.ins, cast_narrow)


@amp_multicast.grad
def _(F, g, *data, out, num_outputs, cast_narrow):
    g = g if num_outputs > 1 else (g,)
    return tuple([F._cast_like(each, x) for each, x in zip(g, data, strict=True)])
