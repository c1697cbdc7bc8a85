"""The softmax family: softmax, log_softmax, softmin and the loss on top of them."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ...base import MXNetError
from ...core.attributes import DType
from ...core.infer import UNKNOWN, UnknownShape
from ...core.op import op
from .._places import within
from .._shared import axis_of, filled, floating


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


def _converted(data, dtype, name):
    """``data`` in the dtype to compute in, which is one of floats."""
    if dtype is not None and dtype != data.dtype:
        data = data.astype(dtype)
    return floating(data, name)


@op(aliases=("_npx_softmax",))
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
    data = _converted(data, dtype, "softmax")
    if not use_length:
        return filled(softmax_of(data, axis, temperature), out)
    inside = _within(length, data, axis)
    some = inside.any(axis=axis, keepdims=True)
    shown = np.where(inside | ~some, data, data.dtype.type(-np.inf))
    result = softmax_of(shown, axis, temperature)
    return filled(np.where(inside, result, data.dtype.type(0)), out)


def _within(length, data, axis):
    """Where the position along ``axis`` is below the row's length."""
    axis = axis_of(axis, data.ndim, "softmax")
    positions = np.arange(data.shape[axis]).reshape(
        [-1 if k == axis else 1 for k in range(data.ndim)]
    )
    return positions < np.expand_dims(length, axis)


@op(aliases=("_npx_log_softmax",))
def log_softmax(
    data,
    *,
    axis: int = -1,
    temperature: float | None = None,
    dtype: DType | None = None,
    use_length: bool | None = False,
    out=None,
):
    """The logarithm of ``softmax``, computed without its underflow.

    ``use_length`` raises ``MXNetError``: MXNet lists it here and in ``softmin``, but takes no
    lengths.

    Examples
    --------
    >>> nd.log_softmax(nd.array([[0, 0]])).asnumpy()
    array([[-0.6931472, -0.6931472]], dtype=float32)
    """
    _refuse_lengths("log_softmax", use_length)
    return filled(log_softmax_of(_converted(data, dtype, "log_softmax"), axis, temperature), out)


@op()
def softmin(
    data,
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
    _refuse_lengths("softmin", use_length)
    return filled(softmax_of(-_converted(data, dtype, "softmin"), axis, temperature), out)


def _refuse_lengths(name, use_length):
    if use_length:
        raise MXNetError(
            f"{name}: rows cannot have lengths.\n  received  use_length=True\n"
            "  expected  use_length=False: only softmax takes lengths, as in MXNet\n"
            "  fix       use softmax(data, length, use_length=True)"
        )


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
def _(F, g, data, *, out, axis, temperature, dtype, use_length):
    return _as_input(F, _softmax_grad(F, g, out, axis, temperature, -1), data, dtype)


@log_softmax.grad
def _(F, g, data, *, out, axis, temperature, dtype, use_length):
    inner = F.sum(g, axis=axis, keepdims=True)
    grad = (g - F.exp(out) * inner) * (1 / (temperature or 1.0))
    return _as_input(F, grad, data, dtype)


@softmax.input_names
def _(use_length, **_):
    return ("data", "length") if use_length else ("data",)


for _family in (softmax, log_softmax, softmin):

    @_family.shape
    def _(s, *, axis, **_):
        s.data = s.out
        s.out = s.data
        data = s.data
        if isinstance(data, UnknownShape):
            return
        k = axis_of(axis, len(data), "softmax")
        if "length" in s:
            s.length = (*data[:k], *data[k + 1 :])

    @_family.dtype
    def _(t, *, dtype, **_):
        t.out = dtype or t.data
        if t.data is None:
            t.data = dtype or t.out

    _family.grad(stype="default")
    _family.runs_dense("default -> default", "default default -> default")


@op()
def SoftmaxActivation(data, *, mode: Literal["channel", "instance"] = "instance", out=None):
    """Softmax along the last axis, or along the channels (axis 1) with ``mode="channel"``.

    Kept for old scripts; ``softmax`` does the same with ``axis``.
    """
    return filled(softmax_of(data, 1 if mode == "channel" else -1), out)


@SoftmaxActivation.shape
def _(s, **_):
    s.data = s.out
    s.out = s.data


@SoftmaxActivation.grad
def _(F, g, data, *, out, mode):
    return _softmax_grad(F, g, out, 1 if mode == "channel" else -1, None)


@op(scalar=True)
def softmax_cross_entropy(data, label, *, out=None):
    """The cross entropy between ``softmax(data)`` and class numbers, summed over the batch.

    Class numbers outside are moved to the nearest one.

    Examples
    --------
    >>> nd.softmax_cross_entropy(nd.array([[0.0, 0.0]]), nd.array([1])).asnumpy()
    array([0.6931472], dtype=float32)
    """
    if data.ndim != 2 or label.shape != data.shape[:1]:
        raise ValueError("one row of scores and one class number a sample are wanted")
    logs = log_softmax_of(data, -1)
    classes = within(label, data.shape[1], "clip", "softmax_cross_entropy")
    total = -np.add.reduce(logs[np.arange(len(classes)), classes], dtype=np.float64)
    return filled(np.array([total], data.dtype), out)


@softmax_cross_entropy.shape
def _(s):
    s.data = (UNKNOWN, UNKNOWN)
    s.label = (s.data[0],)
    s.data = (s.label[0], UNKNOWN)
    s.out = (1,)


@softmax_cross_entropy.grad
def _(F, g, data, label, *, out):
    return g * (F.softmax(data) - F._one_hot_like(label, data)), F.zeros_like(label)


@op(shape_only=("like",), grad="zero")
def _one_hot_like(label, like):
    """Class numbers as rows with a single one, in the shape of ``like``."""
    rows = np.zeros(like.shape, like.dtype)
    classes = within(label, like.shape[1], "clip", "softmax_cross_entropy")
    rows[np.arange(len(classes)), classes] = 1
    return rows


@_one_hot_like.shape
def _(s):
    s.out = s.like
