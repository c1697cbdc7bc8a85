"""The loss of connectionist temporal classification."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ...base import IndexOutOfRange, ShapeError
from ...core.infer import UnknownShape
from ...core.op import op
from ...kernels import alignment


def _inputs(use_data_lengths, use_label_lengths, **_):
    names = ["data", "label"]
    names += ["data_lengths"] if use_data_lengths else []
    names += ["label_lengths"] if use_label_lengths else []
    return tuple(names)


def _lengths(data, label, lengths, use_data_lengths, use_label_lengths, blank_label):
    """Lengths of data and labels: as given, or all of the data and labels up to the padding."""
    given = list(lengths)
    steps, batch = data.shape[:2]
    data_lengths = np.full(batch, steps)
    if use_data_lengths:
        data_lengths = np.clip(given.pop(0).astype(np.int64), 1, steps)
    if use_label_lengths:
        return data_lengths, np.clip(given.pop(0).astype(np.int64), 0, label.shape[1])
    padding = label == (0 if blank_label == "first" else -1)
    ends = np.where(padding.any(axis=1), padding.argmax(axis=1), label.shape[1])
    return data_lengths, ends


def _problem(data, label, lengths, blank_label, **how):
    """What alignments are summed over: emissions, states, skips, lengths; and the probabilities."""
    if data.ndim != 3 or label.ndim != 2 or label.shape[0] != data.shape[1] or 0 in data.shape:
        raise ShapeError(
            f"CTCLoss: the shapes do not fit.\n  received  data {data.shape}, label {label.shape}\n"
            "  expected  data (time, batch, classes) and label (batch, length)\n"
            "  fix       swap the axes of data, or pass one row of labels for each sequence"
        )
    if label.shape[1] > len(data):
        raise ShapeError(
            "CTCLoss: labels are longer than sequences.\n"
            f"  received  data {data.shape}, label {label.shape}\n"
            f"  expected  at most {len(data)} classes a label\n  fix       leave padding out"
        )
    data_lengths, label_lengths = _lengths(data, label, lengths, blank_label=blank_label, **how)
    classes = data.shape[2]
    blank = 0 if blank_label == "first" else classes - 1
    numbers = label.astype(np.int64)
    inside = np.arange(label.shape[1]) < label_lengths[:, None]
    wrong = numbers[inside & ((numbers < 0) | (numbers >= classes))]
    if wrong.size:
        raise IndexOutOfRange(
            f"CTCLoss: there is no class {wrong[0]}.\n  received  label with {wrong[0]}\n"
            f"  expected  0 to {classes - 1}, for data {data.shape}\n"
            "  fix       pass label_lengths, or pad with 0 (blank first) or -1 (blank last)"
        )
    shifted = data - data.max(axis=2, keepdims=True)
    log_probs = shifted.astype(np.float64)
    log_probs -= np.log(np.exp(log_probs).sum(axis=2, keepdims=True))
    states, skips = alignment.spread(numbers, label_lengths, blank)
    emissions = np.take_along_axis(log_probs, states[None], axis=2)
    return log_probs, emissions, states, skips, data_lengths, label_lengths


@op(
    aliases=("ctc_loss", "_contrib_CTCLoss", "_contrib_ctc_loss"),
    output_names=("output0",),  # MXNet hides a second one
)
def CTCLoss(
    data,
    label,
    data_lengths=None,
    label_lengths=None,
    *,
    use_data_lengths: bool = False,
    use_label_lengths: bool = False,
    blank_label: Literal["first", "last"] = "first",
):
    """Minus the log probability of each label, summed over all its alignments with the sequence.

    Labels that their sequence is too short for have an infinite loss and no gradient.

    Parameters
    ----------
    data : scores before softmax, (time, batch, classes).
    label : class numbers, (batch, length); behind their end 0 if the blank is first, else -1.
    data_lengths, label_lengths : one length each for every sequence, with ``use_data_lengths`` and
        ``use_label_lengths``.
    blank_label : whether the blank is class 0 or the last one.

    Examples
    --------
    >>> loss = nd.CTCLoss(nd.zeros((2, 1, 2)), nd.array([[1]]))
    >>> loss.asnumpy().round(4)  # three of four sequences give the label
    array([0.2877], dtype=float32)
    """
    given = [x for x in (data_lengths, label_lengths) if x is not None]
    how = {"use_data_lengths": use_data_lengths, "use_label_lengths": use_label_lengths}
    _, emissions, _, skips, ends, label_ends = _problem(data, label, given, blank_label, **how)
    alpha = alignment.forward(emissions, skips, ends)
    return (-alignment.log_likelihood(alpha, label_ends)).astype(data.dtype)


CTCLoss.input_names(_inputs)


@CTCLoss.shape
def _(s, **_):
    data, label = s.data, s.label
    if isinstance(data, UnknownShape):
        return
    s.out = (data[1],)
    if not isinstance(label, UnknownShape):
        s.label = (data[1], label[1])
    for name in ("data_lengths", "label_lengths"):
        if name in s:
            setattr(s, name, (data[1],))


@CTCLoss.dtype
def _(t, **_):
    t.data = t.out
    t.out = t.data


@CTCLoss.grad
def _(F, g, data, label, *lengths, out, **how):
    return (F._ctc_grad(g, data, label, *lengths, **how), *[None] * (1 + len(lengths)))


@op()
def _ctc_grad(
    g,
    data,
    label,
    *lengths,
    use_data_lengths: bool,
    use_label_lengths: bool,
    blank_label: Literal["first", "last"],
):
    """The gradient of CTCLoss: softmax minus how likely each class is given the label."""
    how = {"use_data_lengths": use_data_lengths, "use_label_lengths": use_label_lengths}
    log_probs, emissions, states, skips, ends, label_ends = _problem(
        data, label, lengths, blank_label, **how
    )
    alpha = alignment.forward(emissions, skips, ends)
    likelihood = alignment.log_likelihood(alpha, label_ends)
    beta = alignment.backward(emissions, skips, ends, label_ends)
    result = np.exp(log_probs)
    result -= alignment.class_shares(alpha, beta, likelihood, states, data.shape[2])
    counts = (np.arange(len(data))[:, None] < ends) & np.isfinite(likelihood)
    return (result * (counts * g)[..., None]).astype(data.dtype)


@_ctc_grad.shape
def _(s, **_):
    s.out = s.ins[1]


@_ctc_grad.dtype
def _(t, **_):
    t.out = t.ins[1]
