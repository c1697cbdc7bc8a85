"""The likelihood of a self-exciting point process."""

from __future__ import annotations

import numpy as np

from ..base import ShapeError
from ..core.infer import UNKNOWN_SHAPE
from ..core.op import op


@op(name="_contrib_hawkesll", outputs=2, output_names=("output", "out_state"))
def hawkesll(lda, alpha, beta, state, lags, marks, valid_length, max_time):
    """The log likelihood of marked events under Hawkes processes with exponential decay.

    The rate of mark k is ``lda + alpha * beta * sum(exp(-beta * (t - t_i)))`` over its events so
    far. Results are the log likelihood of every sequence and the decayed counts at its end.

    Parameters
    ----------
    lda : ``(batch, marks)`` background rates; alpha : ``(marks,)`` branching ratios;
        beta : ``(marks,)`` decays; state : ``(batch, marks)`` decayed counts at the start.
    lags : ``(batch, events)`` times since the event before; marks : their int32 marks.
    valid_length : ``(batch,)`` numbers of events; max_time : ``(batch,)`` lengths of observation.
    """
    total = np.zeros(len(lda), lda.dtype)
    process = _Process(alpha, beta, state, lags, marks, valid_length, max_time)
    for rows, k, a, b, wait, s, decay, event in process.walk(lda):
        rate = lda[rows, k] + a * b * s * decay
        total[rows] -= lda[rows, k] * wait + a * s * (1 - decay)
        if event:
            total[rows] += np.log(rate)
    return total, process.state


class _Process:
    """The events of a batch of sequences in time, and the counts that decay between them."""

    def __init__(self, alpha, beta, state, lags, marks, valid_length, max_time):
        self.alpha, self.beta, self.state = alpha, beta, state.copy()
        self.lags, self.marks, self.lengths, self.ends = lags, marks, valid_length, max_time

    def walk(self, lda):
        """Yield what happens: rows, their marks, the process there, and whether it is an event.

        After every yield the counts are brought up to date; at the end all marks are visited.
        """
        count = self.state.shape[1]
        if self.marks.size and not 0 <= self.marks.min() <= self.marks.max() < count:
            raise ShapeError(
                "_contrib_hawkesll: marks names a mark that is not there.\n"
                f"  received  marks from {self.marks.min()} to {self.marks.max()}\n"
                f"  expected  0 to {count - 1}\n  fix       count marks from 0"
            )
        last = np.zeros_like(self.state)
        time = np.zeros(len(lda), lda.dtype)
        for j in range(self.lags.shape[1]):
            rows = np.flatnonzero(j < self.lengths)
            time[rows] += self.lags[rows, j]
            k = self.marks[rows, j].astype(np.intp)
            wait = time[rows] - last[rows, k]
            yield self._step(rows, k, wait, True)
            last[rows, k] = time[rows]
        for k in range(count):
            rows = np.arange(len(lda))
            yield self._step(rows, np.full(len(rows), k), self.ends - last[:, k], False)

    def _step(self, rows, k, wait, event):
        s = self.state[rows, k]
        a, b = self.alpha[k], self.beta[k]
        decay = np.exp(-b * wait)
        self.state[rows, k] = s * decay + (1 if event else 0)
        return rows, k, a, b, wait, s, decay, event


@hawkesll.shape
def _(s):
    if s.lda is not UNKNOWN_SHAPE:
        batch, marks = s.lda[0], s.lda[1]
        s.state = (batch, marks)
        s.alpha = s.beta = (marks,)
        s.valid_length = s.max_time = (batch,)
        s.lags = (batch, s.lags[1])
        s.marks = (batch, s.lags[1])
        s.outs = [(batch,), (batch, marks)]


@hawkesll.dtype
def _(t):
    known = [d for d in (t.lda, t.alpha, t.beta, t.state, t.lags, *t.outs) if d is not None]
    if known:
        t.lda = t.alpha = t.beta = t.state = t.lags = t.valid_length = t.max_time = known[0]
        t.outs = [known[0]] * 2
    t.marks = np.int32


@hawkesll.grad
def _(F, g, lda, alpha, beta, state, lags, marks, valid_length, max_time, *, out):
    inputs = (lda, alpha, beta, state, lags, marks, valid_length, max_time)
    return (*F._hawkesll_grad(*g, *inputs), None, None, None, None)


@op(outputs=4)
def _hawkesll_grad(g, h, lda, alpha, beta, state, lags, marks, valid_length, max_time):
    """The gradients of `hawkesll` for rates, ratios, decays and first counts."""
    process = _Process(alpha, beta, state, lags, marks, valid_length, max_time)
    d_lda, d_alpha, d_beta, d_state = (np.zeros_like(state) for _ in range(4))
    by_beta, by_state = np.zeros_like(state), np.ones_like(state)  # slopes of the counts
    for rows, k, a, b, wait, s, decay, event in process.walk(lda):
        sb, s0 = by_beta[rows, k], by_state[rows, k]
        here = (rows, k)
        d_lda[here] -= wait
        d_alpha[here] -= s * (1 - decay)
        d_beta[here] -= a * (sb * (1 - decay) + s * wait * decay)
        d_state[here] -= a * s0 * (1 - decay)
        by_beta[here] = (sb - s * wait) * decay
        by_state[here] = s0 * decay
        if event:
            rate = lda[here] + a * b * s * decay
            d_lda[here] += 1 / rate
            d_alpha[here] += b * s * decay / rate
            d_beta[here] += (a * s * decay + a * b * by_beta[here]) / rate
            d_state[here] += a * b * by_state[here] / rate
    g = g[:, None]
    return (
        g * d_lda,
        (g * d_alpha).sum(axis=0),
        (g * d_beta + h * by_beta).sum(axis=0),
        g * d_state + h * by_state,
    )


@_hawkesll_grad.shape
def _(s):
    s.outs = [s.lda, s.alpha, s.beta, s.state]


@_hawkesll_grad.dtype
def _(t):
    t.outs = [t.lda] * 4
