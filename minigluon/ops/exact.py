"""Kernels for one set of shapes, for plans that run operators as eager code does."""

from __future__ import annotations

from math import prod

import numpy as np

from ..core.plan.fuse import exactly
from .reduce import axes_of, shape_after

_sum, _divide, _empty = np.add.reduce, np.divide, np.empty


@exactly("mean")
def _(shapes, dtype, *, axis, keepdims, exclude):
    """The sum divided by a number that is not counted again: 1.1 us instead of 1.9."""
    if dtype.char not in "fd":
        return None
    (shape,) = shapes
    axes = axes_of(len(shape), axis, exclude)
    count = np.array(prod([shape[k] for k in axes]), dtype)
    return lambda x: _divide(_sum(x, axes, None, None, keepdims), count)


@exactly("_spread_mean")
def _(shapes, dtype, *, axis, keepdims, exclude):
    """What a mean's gradient is shared out to."""
    if dtype.char not in "fd":
        return None
    like = shapes[1]
    axes = axes_of(len(like), axis, exclude)
    kept = shape_after(like, axes, True)
    count = np.array(max(prod([like[k] for k in axes]), 1), dtype)
    if kept == like:
        return lambda g, _: _divide(g.reshape(kept), count)
    return lambda g, _: _divide(g.reshape(kept), count, _empty(like, dtype))
