"""The softmax family: softmax, log_softmax, softmin and the loss on top of them."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ...core.attributes import DType
from ...core.infer import UnknownShape
from ...core.op import op


def softmax_of(data, axis, temperature=None):
    """``exp(x / T)`` normalised along an axis; half precision is summed in single precision."""
    wide = data.astype(np.float32) if data.dtype == np.float16 else data
    if temperature not in (None, 1.0):
        wide = wide / wide.dtype.type(temperature)
    shifted = np.subtract(wide, np.maximum.reduce(wide, axis=axis, keepdims=True, initial=-np.inf))
    np.exp(shifted, out=shifted)
    shifted /= np.add.reduce(shifted, axis=axis, keepdims=True)
    return shifted if wide is data else shifted.astype(data.dtype)


def log_softmax_of(data, axis, temperature=None):
    """``x / T`` less the logarithm of the sum of its exponentials along an axis."""
    wide = data.astype(np.float32) if data.dtype == np.float16 else data
    if temperature not in (None, 1.0):
        wide = wide / wide.dtype.type(temperature)
    shifted = np.subtract(wide, np.maximum.reduce(wide, axis=axis, keepdims=True, initial=-np.inf))
    total = np.add.reduce(np.exp(shifted), axis=axis, keepdims=True)
    shifted -= np.log(total)
    return shifted if wide is data else shifted.astype(data.dtype)


def _within(length, data, axis):
    """Where the position along ``axis`` is below the row's length."""
    axis %= data.ndim
    positions = np.arange(data.shape[axis]).reshape([-1 if k == axis else 1 for k in range(data.ndim)])
    return positions < np.expand_dims(length, axis)


def _run(function, outside, data, length, axis, temperature, dtype, use_length, negate=False):
    wide = data if dtype is None else data.astype(dtype)
    if not np.issubdtype(wide.dtype, np.floating):
        wide = wide.astype(np.float32)
    if negate:
        wide = -wide
    if not use_length or length is None:
        return function(wide, axis, temperature)
    inside = _within(length, wide, axis)
    some = inside.any(axis=axis, keepdims=True)
    result = function(np.where(inside | ~some, wide, wide.dtype.type(-np.inf)), axis, temperature)
    return np.where(inside, result, wide.dtype.type(outside))


def _filled(result, out):
    if out is None:
        return result
    out[...] = result
    return out


@op()
def softmax(
    data,
    length=None,
    *,
    axis: int = -1,
    temperature: float | None = None,
    dtype: DType | None = None,
    use_length: bool | None = False,
    out=None,
):
    """``exp(x/T) / sum(exp(x/T))`` along an axis.

    Parameters
    ----------
    length : with ``use_length``, how many elements of each row count; the others become 0. A length
        beyond the row counts the whole row.
    temperature : T, 1 if not given; larger ones flatten the distribution.
    dtype : the dtype computed and returned in, if not that of ``data``.

    Examples
    --------
    >>> nd.softmax(nd.array([[0, 0]])).asnumpy()
    array([[0.5, 0.5]], dtype=float32)
    """
    return _filled(_run(softmax_of, 0, data, length, axis, temperature, dtype, use_length), out)


@op()
def log_softmax(
    data,
    length=None,
    *,
    axis: int = -1,
    temperature: float | None = None,
    dtype: DType | None = None,
    use_length: bool | None = False,
    out=None,
):
    """The logarithm of ``softmax``, computed without its underflow.

    Examples
    --------
    >>> nd.log_softmax(nd.array([[0, 0]])).asnumpy()
    array([[-0.6931472, -0.6931472]], dtype=float32)
    """
    return _filled(_run(log_softmax_of, 0, data, length, axis, temperature, dtype, use_length), out)


@op()
def softmin(
    data,
    length=None,
    *,
    axis: int = -1,
    temperature: float | None = None,
    dtype: DType | None = None,
    use_length: bool | None = False,
    out=None,
):
    """``softmax`` of the negated data.

    Examples
    --------
    >>> nd.softmin(nd.array([[0, 0]])).asnumpy()
    array([[0.5, 0.5]], dtype=float32)
    """
    result = _run(softmax_of, 0, data, length, axis, temperature, dtype, use_length, negate=True)
    return _filled(result, out)


def _softmax_grad(F, g, out, axis, temperature, sign=1):
    inner = F.sum(g * out, axis=axis, keepdims=True)
    return (g - inner) * out * (sign / (temperature or 1.0))


def _as_input(F, grad, data, dtype):
    return grad if dtype is None else F._cast_like(grad, data)


@softmax.grad
def _(F, g, data, length=None, *, out, axis, temperature, dtype, use_length):
    grad = _as_input(F, _softmax_grad(F, g, out, axis, temperature), data, dtype)
    return grad if length is None else (grad, None)


@softmin.grad
def _(F, g, data, length=None, *, out, axis, temperature, dtype, use_length):
    grad = _as_input(F, _softmax_grad(F, g, out, axis, temperature, -1), data, dtype)
    return grad if length is None else (grad, None)


@log_softmax.grad
def _(F, g, data, length=None, *, out, axis, temperature, dtype, use_length):
    if length is not None:
        g = g * F._within_length(g, length, axis=axis)
    inner = F.sum(g, axis=axis, keepdims=True)
    share = F.exp(out)
    if length is not None:
        share = share * F._within_length(g, length, axis=axis)
    grad = (g - share * inner) * (1 / (temperature or 1.0))
    grad = _as_input(F, grad, data, dtype)
    return grad if length is None else (grad, None)


@op(shape_only=("data",), grad="zero")
def _within_length(data, length, *, axis: int = -1):
    """1 where the position along an axis is below the row's length, else 0."""
    return _within(length, data, axis).astype(data.dtype)


@_within_length.shape
def _(s, **_):
    s.out = s.data


@_within_length.dtype
def _(t, **_):
    t.out = t.data


for _family in (softmax, log_softmax, softmin):

    @_family.input_names
    def _(use_length, **_):
        return ("data", "length") if use_length else ("data",)

    @_family.shape
    def _(s, *, axis, use_length, **_):
        s.data = s.out
        s.out = s.data
        data = s.data
        if use_length and not isinstance(data, UnknownShape):
            k = axis % len(data)
            s.length = (*data[:k], *data[k + 1 :])

    @_family.dtype
    def _(t, *, dtype, **_):
        t.out = dtype or t.data
        if dtype is None:
            t.data = t.out

    _family.grad(stype="default")
    _family.runs_dense("default -> default", "default default -> default")


@op()
def SoftmaxActivation(data, *, mode: Literal["channel", "instance"] = "instance", out=None):
    """Softmax over each sample, or over the channels (axis 1) with ``mode="channel"``."""
    if mode == "channel":
        return _filled(softmax_of(data, 1), out)
    return _filled(softmax_of(data.reshape(data.shape[0], -1), 1).reshape(data.shape), out)


@SoftmaxActivation.shape
def _(s, **_):
    s.data = s.out
    s.out = s.data


@SoftmaxActivation.grad
def _(F, g, data, *, out, mode):
    if mode == "channel":
        return _softmax_grad(F, g, out, 1, None)
    inner = F.sum(g * out, axis=0, exclude=True, keepdims=True)
    return (g - inner) * out


@op(scalar=True)
def softmax_cross_entropy(data, label, *, out=None):
    """The cross entropy between ``softmax(data)`` and class numbers, summed over the batch.

    Examples
    --------
    >>> nd.softmax_cross_entropy(nd.array([[0.0, 0.0]]), nd.array([1])).asnumpy()
    array([0.6931472], dtype=float32)
    """
    logs = log_softmax_of(data, -1)
    classes = np.clip(label.astype(np.int64), 0, data.shape[1] - 1)
    total = -np.add.reduce(logs[np.arange(len(classes)), classes], dtype=np.float64)
    return _filled(np.array([total], data.dtype), out)


@softmax_cross_entropy.shape
def _(s):
    if not isinstance(s.data, UnknownShape):
        s.label = (s.data[0],)
    s.out = (1,)


@softmax_cross_entropy.grad
def _(F, g, data, label, *, out):
    return g * (F.softmax(data) - F._one_hot_like(label, data)), None


@op(shape_only=("like",), grad="zero")
def _one_hot_like(label, like):
    """Class numbers as rows with a single one, in the shape of ``like``."""
    rows = np.zeros(like.shape, like.dtype)
    classes = np.clip(label.astype(np.int64), 0, like.shape[1] - 1)
    rows[np.arange(len(classes)), classes] = 1
    return rows


@_one_hot_like.shape
def _(s):
    s.out = s.like
