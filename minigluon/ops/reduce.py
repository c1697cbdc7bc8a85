"""Reductions: sums, means, products, extremes and norms over some or all axes."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from .. import storage
from ..base import AttributeValueError, ShapeError
from ..core.attributes import Shape
from ..core.infer import UNKNOWN_SHAPE
from ..core.number import constant
from ..core.op import Op, op, registry
from ..kernels import csr as csr_kernels
from ..kernels import extremes, row_sparse
from .elementwise import real_dtype

_PARAMETERS = """

Parameters
----------
axis : an axis or several, negative ones counted from the end; none means all.
keepdims : keep reduced axes, with length one.
exclude : reduce all axes but those given."""


@lru_cache(maxsize=1024)
def axes_of(ndim: int, axis: tuple[int, ...] | None, exclude: bool = False) -> tuple[int, ...]:
    """The axes to reduce, ascending and not negative; none given means all of them."""
    if not axis:
        return tuple(range(ndim))
    if len(axis) == 1 and not exclude and 0 <= axis[0] < ndim:
        return axis
    chosen = {k + ndim if k < 0 else k for k in axis}
    if min(chosen) < 0 or max(chosen) >= ndim or len(chosen) < len(axis):
        raise ShapeError(
            f"reduction over axes that are not there, or there twice: axis {axis} exceeds the "
            f"input dimension of {ndim}.\n  received  axis={axis}, data of {ndim} dimensions\n"
            f"  expected  distinct axes in [{-ndim}, {ndim})\n  fix       choose such axes"
        )
    return tuple([k for k in range(ndim) if (k in chosen) != exclude])


def reduced_shape(s: Any, *, axis: Any, keepdims: bool, exclude: bool = False, **_: Any) -> None:
    """The shape rule of reductions."""
    data = s.data
    if data is UNKNOWN_SHAPE:
        return
    s.out = shape_after(data, axes_of(len(data), axis, exclude), keepdims)


def shape_after(shape: Any, axes: tuple[int, ...], keepdims: bool) -> tuple[Any, ...]:
    """What a shape becomes when these axes (not negative) are reduced."""
    if keepdims:
        return tuple([1 if k in axes else d for k, d in enumerate(shape)])
    return tuple([d for k, d in enumerate(shape) if k not in axes])


def put(value: Any, dtype: Any, out: Any) -> Any:
    """The value in this dtype, in ``out`` if that is given."""
    if out is None:
        return np.asarray(value, dtype)
    np.copyto(out, value, casting="unsafe")
    return out


# ---- kernels: (data, axes, keepdims, out); axes may be None for all

_FLOAT32 = np.dtype(np.float32)
_sum = np.add.reduce  # looked up once, and called by place: 0.05 us of 0.7


def add_up(data, axes, keepdims, out=None):
    """The sum over axes in the dtype of ``data``; float16 is added up in float32."""
    dtype = data.dtype
    if dtype is _FLOAT32 or dtype.char in "fd":  # comparing dtypes takes 0.2 us
        return _sum(data, axes, None, out, keepdims)
    if data.dtype == np.float16:
        total = np.add.reduce(data, axis=axes, dtype=np.float32, keepdims=keepdims)
        return put(total, data.dtype, out)
    return np.add.reduce(data, axis=axes, dtype=data.dtype, keepdims=keepdims, out=out)


def _mean(data, axes, keepdims, out=None):
    if data.dtype.char in "fd":
        total = _sum(data, axes, None, None, keepdims)
        return np.divide(total, constant(data.dtype, data.size // (total.size or 1)), out=out)
    dtype = data.dtype if data.dtype.kind == "f" else np.dtype(np.float32)
    wide = dtype if dtype.itemsize > 2 else np.float32
    if data.dtype.kind != "f":
        wide = np.float64
    total = np.add.reduce(data, axis=axes, dtype=wide, keepdims=keepdims)
    total = np.divide(total, constant(total.dtype, data.size // (total.size or 1)))
    return total if out is None and total.dtype == dtype else put(total, dtype, out)


def _count(shape: tuple[int, ...], axes: tuple[int, ...] | None) -> int:
    return math.prod(shape if axes is None else [shape[k] for k in axes])


def _prod(data, axes, keepdims, out=None):
    if data.dtype == np.float16:
        total = np.multiply.reduce(data, axis=axes, dtype=np.float32, keepdims=keepdims)
        return put(total, data.dtype, out)
    return np.multiply.reduce(data, axis=axes, dtype=data.dtype, keepdims=keepdims, out=out)


def _max(data, axes, keepdims, out=None):
    return np.maximum.reduce(data, axis=axes, keepdims=keepdims, out=out)


def _min(data, axes, keepdims, out=None):
    return np.minimum.reduce(data, axis=axes, keepdims=keepdims, out=out)


def _nansum(data, axes, keepdims, out=None):
    return add_up(_without_nan(data, 0), axes, keepdims, out)


def _nanprod(data, axes, keepdims, out=None):
    return _prod(_without_nan(data, 1), axes, keepdims, out)


def _without_nan(data, value):
    if data.dtype.kind != "f":
        return data
    return np.where(data != data, data.dtype.type(value), data)


# ---- the table


def _mean_gradient(F: Any, g: Any, x: Any, y: Any, how: dict[str, Any]) -> Any:
    return F._spread_mean(g, x, **how)


def _extreme_gradient(F: Any, g: Any, x: Any, y: Any, how: dict[str, Any]) -> Any:
    return F._spread_reduced(g, x, **how) * F._tie_weights(x, y, **how)


def _nansum_gradient(F: Any, g: Any, x: Any, y: Any, how: dict[str, Any]) -> Any:
    return F._spread_reduced(g, x, **how) * F.broadcast_equal(x, x)


def _prod_gradient(F: Any, g: Any, x: Any, y: Any, how: dict[str, Any]) -> Any:
    return F._spread_reduced(g, x, **how) * F._other_products(x, **how)


_TIES = (
    "NaN propagates. Where several elements are extreme the gradient is divided equally among them "
    "(MXNet gives each of them all of it)."
)
_TABLE: dict[str, tuple[Any, Any, tuple[str, ...], str]] = {
    # name: kernel, gradient, aliases, documentation
    "sum": (
        add_up, lambda F, g, x, y, how: F._spread_reduced(g, x, **how), ("_sparse_sum", "sum_axis"),
        "The sum of the elements along ``axis``.\n\nfloat16 is added up in float32; whole numbers "
        "keep their dtype.",
    ),
    "mean": (
        _mean, _mean_gradient, ("_sparse_mean",),
        "The mean of the elements along ``axis``.\n\nfloat16 is added up in float32; of whole "
        "numbers the mean is float32 (MXNet cuts off its fraction).",
    ),
    "prod": (_prod, _prod_gradient, (), "The product of the elements along ``axis``."),
    "nansum": (
        _nansum, _nansum_gradient, (), "The sum of the elements along ``axis`` that are not NaN.",
    ),
    "nanprod": (
        _nanprod, _prod_gradient, (),
        "The product of the elements along ``axis`` that are not NaN.",
    ),
    "max": (
        _max, _extreme_gradient, ("max_axis",), "The largest element along ``axis``.\n\n" + _TIES,
    ),
    "min": (
        _min, _extreme_gradient, ("min_axis",), "The smallest element along ``axis``.\n\n" + _TIES,
    ),
}  # fmt: skip


def _declare(name: str) -> Op:
    function, gradient, aliases, documentation = _TABLE[name]

    def kernel(
        data, *, axis: Shape | None = None, keepdims: bool = False, exclude: bool = False, out=None
    ):
        return function(data, axes_of(data.ndim, axis, exclude), keepdims, out)

    def prepared(axis, keepdims, exclude):
        def run(data, *, out=None):
            return function(data, axes_of(data.ndim, axis, exclude), keepdims, out)

        def run_all(data, *, out=None):
            if out is None and data.flags.c_contiguous:  # the same bits in users' shape
                return function(data.ravel(), (0,), True)  # 0.15 us less than making that of ()
            return function(data, None, False, out)

        return run if axis or keepdims else run_all

    def rule(F, g, data, *, out, **how):
        return gradient(F, g, data, out, how)

    kernel.__name__ = name
    kernel.__doc__ = documentation + _PARAMETERS
    declared: Op = op(kernel, aliases=aliases, scalar=True)
    declared.prepare(prepared)
    declared.shape(reduced_shape)
    declared.grad(rule)
    return declared


for _name in _TABLE:
    _declare(_name)
registry["mean"].dtype(real_dtype)


# ---- what their gradients are made of


@op(shape_only=("like",))
def _spread_reduced(
    data, like, *, axis: Shape | None = None, keepdims: bool = False, exclude: bool = False,
    out=None,
):  # fmt: skip
    """``data``, a reduction of ``like`` over these axes, repeated to its shape."""
    if out is None:
        out = np.empty(like.shape, data.dtype)
    out[...] = data.reshape(_kept_and_count(like.shape, axis, exclude)[0])
    return out


def opened(data, shape, axis, exclude):
    """A reduction of an array of this shape with its reduced axes kept."""
    return data.reshape(shape_after(shape, axes_of(len(shape), axis, exclude), True))


def _as_like(s: Any, **_: Any) -> None:
    s.out = s.like
    s.like = s.out


_spread_reduced.shape(_as_like)


@_spread_reduced.grad
def _(F, g, data, like, *, out, **how):
    return F.sum(g, **how), None


@op(shape_only=("like",))
def _spread_mean(
    data, like, *, axis: Shape | None = None, keepdims: bool = False, exclude: bool = False,
    out=None,
):  # fmt: skip
    """``data``, a mean of ``like`` over these axes, shared among the elements it is of."""
    kept, count = _kept_and_count(like.shape, axis, exclude)
    share = np.divide(data.reshape(kept), constant(data.dtype, count))
    if out is None:
        if kept == like.shape and kept:
            return share
        out = np.empty(like.shape, data.dtype)
    out[...] = share
    return out


@lru_cache(maxsize=1024)
def _kept_and_count(shape, axis, exclude):
    """A shape with its reduced axes of length one, and how many elements go into each result."""
    axes = axes_of(len(shape), axis, exclude)
    return shape_after(shape, axes, True), max(_count(shape, axes), 1)


_spread_mean.shape(_as_like)


@_spread_mean.grad
def _(F, g, data, like, *, out, **how):
    return F.mean(g, **how), None


for _spread in (_spread_reduced, _spread_mean):  # the shape of sparse arrays is as good as any
    _spread.kernel("default csr|row_sparse -> default")(_spread.dense)


@op(grad="zero")
def _tie_weights(
    data, extreme, *, axis: Shape | None = None, keepdims: bool = False, exclude: bool = False,
    out=None,
):  # fmt: skip
    """For each element its share in the extreme: one over the number of those equal to it."""
    extreme = opened(extreme, data.shape, axis, exclude)
    ties = np.equal(data, extreme)
    if data.dtype.kind == "f":
        ties |= (data != data) & (extreme != extreme)
    number = np.add.reduce(ties, axis=axes_of(data.ndim, axis, exclude), keepdims=True)
    return put(ties / np.maximum(number, 1), data.dtype, out)


@_tie_weights.shape
def _(s, **_):
    s.out = s.data
    s.data = s.out


@op()
def _other_products(
    data, *, axis: Shape | None = None, keepdims: bool = False, exclude: bool = False, out=None
):
    """For each element the product of the others it is reduced with; NaN counts as absent.

    An element that is NaN has 0: it is no factor in ``nanprod``.
    """
    axes = axes_of(data.ndim, axis, exclude)
    kept = [k for k in range(data.ndim) if k not in axes]
    order = (*kept, *axes)
    moved = data.transpose(order)
    if not moved.size:
        return put(np.ones_like(data), data.dtype, out)
    flat = moved.reshape(*moved.shape[: len(kept)], -1)
    absent = flat != flat
    flat = np.where(absent, flat.dtype.type(1), flat)
    before, after = np.ones_like(flat), np.ones_like(flat)
    np.multiply.accumulate(flat[..., :-1], axis=-1, out=before[..., 1:])
    np.multiply.accumulate(flat[..., :0:-1], axis=-1, out=after[..., -2::-1])
    result = np.where(absent, flat.dtype.type(0), before * after)
    return put(result.reshape(moved.shape).transpose(np.argsort(order)), data.dtype, out)


@_other_products.shape
def _(s, **_):
    s.out = s.data
    s.data = s.out


@_other_products.grad
def _(F, g, data, *, out, **how):
    weighted = g * out
    total = F._spread_reduced(F.sum(weighted, **how), data, **how)
    return (total - weighted) / data


# ---- mean and variance


@op(outputs=2)
def moments(data, *, axes: Shape | None = None, keepdims: bool = False):
    """The mean and the variance of the elements along ``axes``, which must be given."""
    if not axes:
        raise AttributeValueError(
            "moments: Empty axes is not supported.\n  received  no axes\n"
            "  expected  one or more axes\n  fix       name all axes for global moments"
        )
    chosen = axes_of(data.ndim, axes)
    mean = _mean(data, chosen, True)
    variance = _mean(np.square(data - mean), chosen, True)
    if not keepdims:
        shape = shape_after(data.shape, chosen, False)
        return mean.reshape(shape), variance.reshape(shape)
    return mean, variance


@moments.shape
def _(s, *, axes, keepdims):
    if s.data is not UNKNOWN_SHAPE:
        shape = shape_after(s.data, axes_of(len(s.data), axes), keepdims)
        s.outs = (shape, shape)


@moments.dtype
def _(t, **_):
    if t.data is not None:
        dtype = t.data if t.data.kind == "f" else np.dtype(np.float32)
        t.outs = (dtype, dtype)


@moments.grad
def _(F, g, data, *, out, axes, keepdims):
    how = {"axis": axes, "keepdims": keepdims}
    centred = data - F._spread_reduced(out[0], data, **how)
    return F._spread_mean(g[0], data, **how) + F._spread_mean(g[1], data, **how) * centred * 2


# ---- sparse rows


def sparse_sum(data: Any, axes: tuple[int, ...], keepdims: bool) -> np.ndarray:
    """The sum along some axes of a csr or row_sparse array, as a dense one, in float64."""
    if not axes:
        return storage.densify(data)
    if type(data) is storage.Csr:
        if len(axes) == 2:
            total = np.asarray(csr_kernels.total(data))
        else:
            total = csr_kernels.column_sums(data) if axes == (0,) else csr_kernels.row_sums(data)
        return total.reshape(shape_after(data.shape, axes, keepdims))
    values = data.values
    wide = np.float64 if values.dtype.kind == "f" else np.int64
    if values.ndim == 2 and axes == (1,):
        total = np.zeros(data.shape[0], wide)
        total[data.indices] = row_sparse.row_sums(values)
        return total[:, None] if keepdims else total
    part = np.add.reduce(values, axis=axes, dtype=wide, keepdims=keepdims)
    if 0 in axes:
        return np.asarray(part)
    total = np.zeros(shape_after(data.shape, axes, keepdims), wide)
    total[data.indices] = part
    return total


@registry["sum"].kernel("csr|row_sparse -> default")
def _(data, *, axis, keepdims, exclude, out=None):
    axes = axes_of(data.ndim, axis, exclude)
    return put(sparse_sum(data, axes, keepdims), data.dtype, out)


@registry["mean"].kernel("csr|row_sparse -> default")
def _(data, *, axis, keepdims, exclude, out=None):
    axes = axes_of(data.ndim, axis, exclude)
    dtype = data.dtype if data.dtype.kind == "f" else np.float32
    return put(sparse_sum(data, axes, keepdims) / _count(data.shape, axes), dtype, out)


def _over_stored(declared: Op, ufunc: Any, absent_nan: float | None) -> None:
    """Rows that reduce what is stored; with ``absent_nan`` this number stands for NaN."""

    @declared.kernel("csr|row_sparse -> default")
    def _(data, *, axis, keepdims, exclude, out=None):
        axes = axes_of(data.ndim, axis, exclude)
        if absent_nan is not None:
            data = data.with_values(_without_nan(data.values, absent_nan))
        if ufunc is np.add:
            return put(sparse_sum(data, axes, keepdims), data.dtype, out)
        if not axes or not _count(data.shape, axes):
            return declared.dense(
                storage.densify(data), axis=axis, keepdims=keepdims, exclude=exclude, out=out
            )
        result = extremes.reduced(ufunc, data, axes)
        return put(np.reshape(result, shape_after(data.shape, axes, keepdims)), data.dtype, out)


for _name, _ufunc, _absent in (
    ("max", np.maximum, None),
    ("min", np.minimum, None),
    ("prod", np.multiply, None),
    ("nansum", np.add, 0),
    ("nanprod", np.multiply, 1),
):
    _over_stored(registry[_name], _ufunc, _absent)
