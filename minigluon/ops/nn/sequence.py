"""Batches of sequences of different lengths: SequenceMask, SequenceLast, SequenceReverse."""

from __future__ import annotations

import numpy as np

from ...base import AttributeValueError, ShapeError
from ...core.infer import UnknownShape, known
from ...core.op import op
from .._shared import filled

# Lengths beyond the data count as the whole of it, and lengths below the least as that, so that
# nothing outside the data is ever read (MXNet reads memory before the data for SequenceLast).


def _inputs(use_sequence_length, **_):
    return ("data", "sequence_length") if use_sequence_length else ("data",)


def _check(name, shape, axis, axes=(0, 1)):
    if len(shape) < 2:
        raise ShapeError(
            f"{name}: the data has too few axes.\n  received  data {shape}\n"
            "  expected  two or more: time and batch\n  fix       add an axis with expand_dims"
        )
    if axis not in axes:
        raise AttributeValueError(
            f"{name}: axis is not valid.\n  received  axis={axis}\n"
            f"  expected  the axis of time, {' or '.join(map(str, axes))}\n"
            "  fix       swap the axes of the data first"
        )


def _lengths(name, sequence_length, batch, least, most):
    """Whole lengths from ``least`` to ``most``; NaN counts as ``least``."""
    if sequence_length is None or sequence_length.shape != (batch,):
        came = "none" if sequence_length is None else sequence_length.shape
        raise ShapeError(
            f"{name}: sequence_length is missing or has the wrong shape.\n"
            f"  received  sequence_length {came}\n"
            f"  expected  ({batch},), one length for each sequence of the batch\n"
            "  fix       pass such lengths, or use_sequence_length=False"
        )
    lengths = np.nan_to_num(np.asarray(sequence_length, np.float64), nan=least)
    return np.clip(lengths, least, most).astype(np.int64)


def _inside(shape, axis, lengths):
    """Which positions are inside the sequences, over the first two axes."""
    steps = np.arange(shape[axis])
    return steps[:, None] < lengths if axis == 0 else steps < lengths[:, None]


def _any_dtype_of_lengths(t, **_):
    t.data = t.out
    t.out = t.data
    if "sequence_length" in t and t.sequence_length is None:
        t.sequence_length = t.data


def _state_lengths(s, data, axis):
    if "sequence_length" in s and not isinstance(data, UnknownShape):
        s.sequence_length = (data[1 - axis],)


@op(aliases=("_npx_sequence_mask",))
def SequenceMask(
    data,
    sequence_length=None,
    *,
    use_sequence_length: bool = False,
    value: float = 0.0,
    axis: int = 0,
    out=None,
):
    """The data with ``value`` behind the end of each sequence.

    Lengths are taken from 0 to the length of the time axis.

    Parameters
    ----------
    data : (time, batch, ...), or (batch, time, ...) with ``axis=1``.
    sequence_length : one length for each sequence of the batch; needs ``use_sequence_length``.

    Examples
    --------
    >>> lengths = nd.array([1, 2])
    >>> nd.SequenceMask(nd.ones((2, 2)), lengths, use_sequence_length=True).asnumpy()
    array([[1., 1.],
           [0., 1.]], dtype=float32)
    """
    _check("SequenceMask", data.shape, axis)
    result = np.empty_like(data) if out is None else out
    result[...] = data
    if use_sequence_length:
        lengths = _lengths(
            "SequenceMask", sequence_length, data.shape[1 - axis], 0, data.shape[axis]
        )
        result[~_inside(data.shape, axis, lengths)] = value
    return result


@SequenceMask.shape
def _(s, *, axis, **_):
    if not isinstance(s.data, UnknownShape):
        _check("SequenceMask", s.data, axis)
    s.data = s.out
    s.out = s.data
    _state_lengths(s, s.data, axis)


SequenceMask.dtype(_any_dtype_of_lengths)


@SequenceMask.grad
def _(F, g, data, *lengths, out, use_sequence_length, value, axis):
    if not use_sequence_length:
        return g
    return F.SequenceMask(g, *lengths, use_sequence_length=True, axis=axis), None


@op()
def SequenceLast(
    data, sequence_length=None, *, use_sequence_length: bool = False, axis: int = 0, out=None
):
    """The last element of each sequence. Lengths are taken from 1 to the length of the time axis.

    Parameters
    ----------
    data : (time, batch, ...), or (batch, time, ...) with ``axis=1``.
    sequence_length : one length for each sequence of the batch; needs ``use_sequence_length``.

    Examples
    --------
    >>> lengths = nd.array([1, 2])
    >>> nd.SequenceLast(nd.array([[1, 2], [3, 4]]), lengths, use_sequence_length=True).asnumpy()
    array([1., 4.], dtype=float32)
    """
    result = np.array(data[_last(data.shape, sequence_length, use_sequence_length, axis)])
    return filled(result, out)


def _last(shape, sequence_length, use_sequence_length, axis):
    _check("SequenceLast", shape, axis)
    batch = np.arange(shape[1 - axis])
    if not use_sequence_length:
        last = np.full(batch.shape, shape[axis] - 1)
    else:
        last = _lengths("SequenceLast", sequence_length, len(batch), 1, shape[axis]) - 1
    return (last, batch) if axis == 0 else (batch, last)


@SequenceLast.shape
def _(s, *, axis, **_):
    data = s.data
    if isinstance(data, UnknownShape):
        return
    _check("SequenceLast", data, axis)
    s.out = (data[1 - axis], *data[2:])
    _state_lengths(s, data, axis)


SequenceLast.dtype(_any_dtype_of_lengths)


@SequenceLast.grad
def _(F, g, data, *lengths, out, use_sequence_length, axis):
    grad = F._sequence_last_grad(
        g, data, *lengths, use_sequence_length=use_sequence_length, axis=axis
    )
    return (grad, None) if lengths else grad


@op(shape_only=("like",))
def _sequence_last_grad(
    g, like, sequence_length=None, *, use_sequence_length: bool = False, axis: int = 0
):
    """Zeros like the data with ``g`` at the last element of each sequence."""
    result = np.zeros(like.shape, g.dtype)
    result[_last(like.shape, sequence_length, use_sequence_length, axis)] = g
    return result


@_sequence_last_grad.input_names
def _(use_sequence_length, **_):
    return ("g", "like", "sequence_length") if use_sequence_length else ("g", "like")


_sequence_last_grad.shape(lambda s, **_: setattr(s, "out", s.like))


@_sequence_last_grad.dtype
def _(t, **_):
    t.out = t.g


@_sequence_last_grad.grad
def _(F, h, g, like, *lengths, out, **attrs):
    return F.SequenceLast(h, *lengths, **attrs), None


@op()
def SequenceReverse(
    data, sequence_length=None, *, use_sequence_length: bool = False, axis: int = 0, out=None
):
    """Each sequence from its end to its start; what is behind the end stays.

    Lengths are taken from 0 to the length of the time axis.

    Parameters
    ----------
    data : (time, batch, ...).
    sequence_length : one length for each sequence of the batch; needs ``use_sequence_length``.
    axis : only 0.

    Examples
    --------
    >>> lengths = nd.array([1, 2])
    >>> nd.SequenceReverse(nd.array([[1, 2], [3, 4]]), lengths, use_sequence_length=True).asnumpy()
    array([[1., 4.],
           [3., 2.]], dtype=float32)
    """
    _check("SequenceReverse", data.shape, axis, (0,))
    if use_sequence_length:
        steps = np.arange(data.shape[0])[:, None]
        lengths = _lengths("SequenceReverse", sequence_length, data.shape[1], 0, data.shape[0])
        source = np.where(steps < lengths, lengths - 1 - steps, steps)
        result = data[source, np.arange(data.shape[1])]
    else:
        result = np.array(data[::-1])
    return filled(result, out)


@SequenceReverse.shape
def _(s, *, axis, **_):
    if not isinstance(s.data, UnknownShape):
        _check("SequenceReverse", s.data, axis, (0,))
    s.data = s.out
    s.out = s.data
    if known(s.data):
        _state_lengths(s, s.data, 0)


SequenceReverse.dtype(_any_dtype_of_lengths)


@SequenceReverse.grad
def _(F, g, data, *lengths, out, **attrs):
    grad = F.SequenceReverse(g, *lengths, **attrs)
    return (grad, None) if lengths else grad


for _operator in (SequenceMask, SequenceLast, SequenceReverse):
    _operator.input_names(_inputs)
