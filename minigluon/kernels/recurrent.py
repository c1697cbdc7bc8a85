"""One layer of a recurrent network in one direction: all steps forward, and back.

``forward`` runs the steps and fills what ``backward`` needs; ``backward`` gives the gradients.

Sequences are (time, batch, width), in memory order. The logistic function is computed as
``(tanh(x / 2) + 1) / 2``: the weights of such gates are halved once (which is exact), so a step
takes a single call of tanh for all gates. ``valid`` is None or 1 and 0 in the shape
(time, batch, 1): where it is 0 the state stays as it is and the output is 0.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from . import _memory, dense, scalar
from .rowwise import Rowwise

#: mode -> gates, and arrays of (time, batch, hidden) kept for the way back: gates, states, others
GATES = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}
KEPT = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 7, "gru": 5}
#: below this many states of all steps numpy is quicker than loading compiled code
FEWEST = 8192


def _project(x, weight):
    """``x @ weight.T`` for all steps at once."""
    return dense.matmul(x.reshape(-1, x.shape[-1]), weight.T)


def _hold(valid, t, new, old):
    """The new state where the sequence goes on, else the old one."""
    if valid is not None:
        np.copyto(new, old, where=valid[t] == 0)


def forward(mode, x, weights, state, cell, valid, kept):
    """Run a layer; ``kept`` (KEPT[mode], time, batch, hidden) is filled.

    Returns the hidden states of all steps (a part of ``kept``) and the last cell state or None.
    ``weights`` is (input weight, recurrent weight, input bias, recurrent bias).
    """
    return _FORWARD[mode](mode, x, weights, state, cell, valid, kept)


def backward(mode, x, weights, state, cell, valid, kept, g, g_state, g_cell, into):
    """Gradients of a layer: ``(gates, state, cell)``; those of the weights are put into ``into``.

    The gradient of the data is that of the gates times the input weight: the caller's, if wanted.

    ``g`` is the gradient of the outputs of all steps; ``g_state``, ``g_cell`` of the last states.
    """
    return _BACKWARD[mode](mode, x, weights, state, cell, valid, kept, g, g_state, g_cell, into)


def _simple_forward(mode, x, weights, state, cell, valid, kept):
    w_input, w_state, b_input, b_state = weights
    hidden = kept[0]
    pre = _project(x, w_input).reshape(hidden.shape)
    pre += b_input + b_state
    recurrent = dense.right(w_state.T, len(x) * state.shape[0])
    product = np.empty_like(state)
    for t in range(len(hidden)):
        step = pre[t]
        step += recurrent(state, product)
        if mode == "rnn_tanh":
            np.tanh(step, out=hidden[t])
        else:
            np.maximum(step, 0, out=hidden[t])
        _hold(valid, t, hidden[t], state)
        state = hidden[t]
    return hidden, None


def _simple_backward(mode, x, weights, state, cell, valid, kept, g, g_state, g_cell, into):
    hidden = kept[0]
    if mode == "rnn_tanh":
        slopes = 1 - hidden * hidden
    else:
        slopes = (hidden > 0).astype(hidden.dtype)
    if valid is not None:
        slopes *= valid
    carried = g_state.copy()
    recurrent = dense.right(weights[1], slopes[..., 0].size)
    for t in range(len(hidden) - 1, -1, -1):
        carried += g[t]
        stays = None if valid is None else carried * (1 - valid[t])
        slopes[t] *= carried
        recurrent(slopes[t], carried)
        if stays is not None:
            carried += stays
    _finish(x, state, hidden, slopes, slopes, into)
    return slopes, carried, None


def _finish(x, state, hidden, d_input, d_state, into):
    """Gradients of the weights from those of the gates before their activation."""
    flat_input = d_input.reshape(-1, d_input.shape[-1])
    flat_state = d_state.reshape(-1, d_state.shape[-1])
    batch = state.shape[0]
    dense.matmul(flat_input.T, x.reshape(-1, x.shape[-1]), into[0])
    # the first step reads the initial state, the others the step before
    dense.matmul(flat_state[batch:].T, hidden[:-1].reshape(-1, hidden.shape[-1]), into[1])
    into[1] += flat_state[:batch].T @ state
    np.add.reduce(flat_input, axis=0, out=into[2])
    into[3][...] = into[2] if d_state is d_input else np.add.reduce(flat_state, axis=0)


def _halved(array, hidden, gates):
    """A copy in which the rows of these gates, the logistic ones, are halved."""
    array = array.copy()
    for part in gates:
        array[part * hidden : (part + 1) * hidden] *= array.dtype.type(0.5)
    return array


def _logistic(values, half):
    """From the tanh of halves to the logistic function, in place."""
    values *= half
    values += half


# LSTM: gates are input, forget, cell, output


def _lstm_forward(mode, x, weights, state, cell, valid, kept):
    n = state.shape[1]
    if valid is None and _in_one_pass(kept):
        return _lstm_forward_compiled(x, weights, state, cell, kept)
    w_input, w_state = [_halved(w, n, (0, 1, 3)) for w in weights[:2]]
    bias = _halved(weights[2] + weights[3], n, (0, 1, 3))
    cells, bent, hidden = kept[4], kept[5], kept[6]
    gates = kept[:4].reshape(len(x), state.shape[0], 4 * n)
    dense.matmul(x.reshape(-1, x.shape[-1]), w_input.T, gates.reshape(-1, 4 * n))
    recurrent = dense.right(w_state.T, len(x) * state.shape[0])
    product = np.empty(gates.shape[1:], gates.dtype)
    fresh = np.empty(state.shape, state.dtype)
    half = gates.dtype.type(0.5)
    for t in range(len(x)):
        step = gates[t]
        recurrent(state, product)
        product += bias
        step += product
        np.tanh(step, out=step)
        _logistic(step[:, : 2 * n], half)
        _logistic(step[:, 3 * n :], half)
        new = cells[t]
        np.multiply(step[:, n : 2 * n], cell, out=new)
        np.multiply(step[:, :n], step[:, 2 * n : 3 * n], out=fresh)
        new += fresh
        _hold(valid, t, new, cell)
        np.tanh(new, out=bent[t])
        np.multiply(step[:, 3 * n :], bent[t], out=hidden[t])
        _hold(valid, t, hidden[t], state)
        state, cell = hidden[t], new
    return hidden, cell


def _lstm_backward(mode, x, weights, state, cell, valid, kept, g, g_state, g_cell, into):
    steps, batch, n = kept.shape[1:]
    gates = kept[:4].reshape(steps, batch, 4 * n)
    cells, bent, hidden = kept[4], kept[5], kept[6]
    d_gates = np.empty_like(gates)
    carried, carried_cell = g_state.copy(), g_cell.copy()
    recurrent = dense.right(weights[1], steps * batch)
    if valid is None and _in_one_pass(kept):
        _lstm_backward_compiled(kept, cell, g, d_gates, carried, carried_cell, recurrent)
        _finish(x, state, hidden, d_gates, d_gates, into)
        return d_gates, carried, carried_cell
    scratch = np.empty_like(carried)
    for t in range(steps - 1, -1, -1):
        gate, step = gates[t], d_gates[t]
        entry, forget, fresh, output = (gate[:, k * n : (k + 1) * n] for k in range(4))
        d_entry, d_forget, d_fresh, d_output = (step[:, k * n : (k + 1) * n] for k in range(4))
        carried += g[t]
        stays = None
        if valid is not None:
            stays = carried * (1 - valid[t]), carried_cell * (1 - valid[t])
            carried *= valid[t]
            carried_cell *= valid[t]
        np.multiply(bent[t], bent[t], out=scratch)
        np.subtract(1, scratch, out=scratch)
        scratch *= output
        scratch *= carried
        carried_cell += scratch
        # slopes of the logistic gates, then what they are multiplied with
        np.subtract(1, gate, out=step)
        step *= gate
        np.multiply(fresh, fresh, out=d_fresh)
        np.subtract(1, d_fresh, out=d_fresh)
        d_entry *= fresh
        d_forget *= cells[t - 1] if t else cell
        d_fresh *= entry
        for part in (d_entry, d_forget, d_fresh):
            part *= carried_cell
        d_output *= bent[t]
        d_output *= carried
        recurrent(step, carried)
        carried_cell *= forget
        if stays is not None:
            carried += stays[0]
            carried_cell += stays[1]
    _finish(x, state, hidden, d_gates, d_gates, into)
    return d_gates, carried, carried_cell


def _in_one_pass(kept):
    """Whether the gates of LSTM are computed by compiled loops."""
    return kept.dtype == np.float32 and kept[0].size >= FEWEST and dense.can(kept.dtype)


_GATES = ("entry", "forget", "fresh", "output")


def _gate_views(gates, n):
    """The four gates of ``(steps, batch, 4 n)`` by name."""
    return {name: gates[..., k * n : (k + 1) * n] for k, name in enumerate(_GATES)}


@cache
def _lstm_cell():
    """One step: gates from their sums, cell, and what goes on."""

    def body(v):
        sums = {n: v[f"input_{n}"] + v[f"state_{n}"] + v[f"bias_{n}"] for n in _GATES}
        gates = {n: scalar.sigmoid(s) for n, s in sums.items() if n != "fresh"}
        gates["fresh"] = scalar.tanh(sums["fresh"])
        cell = gates["forget"] * v["before"] + gates["entry"] * gates["fresh"]
        bent = scalar.tanh(cell)
        return {**gates, "cell": cell, "bent": bent, "hidden": gates["output"] * bent}

    parts = [f"{part}_{n}" for part in ("input", "state", "bias") for n in _GATES]
    return Rowwise("float32", [*parts, "before"], [*_GATES, "cell", "bent", "hidden"], body)


@cache
def _lstm_slopes():
    """One step back: gradients of the sums of the gates, and of the cell before."""

    def body(v):
        incoming = v["carried"] + v["g"]
        by_cell = v["carried_cell"] + incoming * v["output"] * (1 - v["bent"] * v["bent"])

        def logistic(name):
            return v[name] * (1 - v[name])

        return {
            "d_entry": by_cell * v["fresh"] * logistic("entry"),
            "d_forget": by_cell * v["before"] * logistic("forget"),
            "d_fresh": by_cell * v["entry"] * (1 - v["fresh"] * v["fresh"]),
            "d_output": incoming * v["bent"] * logistic("output"),
            "carried_cell": by_cell * v["forget"],
        }

    reads = [*_GATES, "bent", "before", "carried", "g", "carried_cell"]
    return Rowwise("float32", reads, [*(f"d_{n}" for n in _GATES), "carried_cell"], body)


def _lstm_forward_compiled(x, weights, state, cell, kept):
    _memory.use_pool()
    steps, batch, n = kept.shape[1:]
    cells, bent, hidden = kept[4], kept[5], kept[6]
    sums = dense.matmul(x.reshape(-1, x.shape[-1]), weights[0].T).reshape(steps, batch, 4 * n)
    recurrent = dense.right(weights[1].T, steps * batch)
    product = np.empty((1, batch, 4 * n), x.dtype)
    bias = weights[2] + weights[3]
    run = _lstm_cell()
    fixed = {f"bias_{k}": b for k, b in _gate_views(bias, n).items()}
    one = {f"state_{k}": v for k, v in _gate_views(product, n).items()}
    own = {
        **{f"input_{k}": v for k, v in _gate_views(sums, n).items()},
        **_gate_views(kept[:4].reshape(steps, batch, 4 * n), n),
        "cell": cells, "bent": bent, "hidden": hidden,
    }  # fmt: skip
    first = np.ascontiguousarray(cell)
    table = run.table(steps, before=cells, **fixed, **one, **own)
    run.delay(table, "before", first)
    into = product[0]
    for t, step in enumerate(run.steps(table, batch, n)):
        recurrent(state, into)
        step()
        state = hidden[t]
    return hidden, cells[-1]


def _lstm_backward_compiled(kept, cell, g, d_gates, carried, carried_cell, recurrent):
    steps, batch, n = kept.shape[1:]
    run = _lstm_slopes()
    g = np.ascontiguousarray(g) if g.strides[-1] != g.itemsize else g
    views = _gate_views(kept[:4].reshape(steps, batch, 4 * n), n)
    into = {f"d_{k}": v for k, v in _gate_views(d_gates, n).items()}
    table = run.table(
        steps, bent=kept[5], g=g, before=kept[4], carried=carried[None],
        carried_cell=carried_cell[None], **views, **into,
    )  # fmt: skip
    first = np.ascontiguousarray(cell)
    run.delay(table, "before", first)
    calls = run.steps(table, batch, n)
    for t in range(steps - 1, -1, -1):
        calls[t]()
        recurrent(d_gates[t], carried)


# GRU: gates are reset, update, new


def _gru_forward(mode, x, weights, state, cell, valid, kept):
    n = state.shape[1]
    w_input, w_state, b_input, b_state = [_halved(w, n, (0, 1)) for w in weights]
    gates = kept[:3].reshape(len(x), state.shape[0], 3 * n)
    inner, hidden = kept[3], kept[4]
    dense.matmul(x.reshape(-1, x.shape[-1]), w_input.T, gates.reshape(-1, 3 * n))
    recurrent = dense.right(w_state.T, len(x) * state.shape[0])
    product = np.empty(gates.shape[1:], gates.dtype)
    scratch = np.empty_like(state)
    half = gates.dtype.type(0.5)
    for t in range(len(x)):
        step = gates[t]
        step += b_input
        recurrent(state, product)
        product += b_state
        logistic = step[:, : 2 * n]
        logistic += product[:, : 2 * n]
        np.tanh(logistic, out=logistic)
        _logistic(logistic, half)
        inner[t] = product[:, 2 * n :]
        fresh = step[:, 2 * n :]
        np.multiply(step[:, :n], inner[t], out=scratch)
        fresh += scratch
        np.tanh(fresh, out=fresh)
        new = hidden[t]
        np.subtract(state, fresh, out=new)
        new *= step[:, n : 2 * n]
        new += fresh
        _hold(valid, t, new, state)
        state = new
    return hidden, None


def _gru_backward(mode, x, weights, state, cell, valid, kept, g, g_state, g_cell, into):
    steps, batch, n = kept.shape[1:]
    gates = kept[:3].reshape(steps, batch, 3 * n)
    inner, hidden = kept[3], kept[4]
    # the gates as they depend on the data, and on the state: these differ in the new one
    d_input, d_state = np.empty_like(gates), np.empty_like(gates)
    carried = g_state.copy()
    back, stays = np.empty_like(carried), np.empty_like(carried)
    recurrent = dense.right(weights[1], steps * batch)
    for t in range(steps - 1, -1, -1):
        gate, step = gates[t], d_input[t]
        reset, update, fresh = (gate[:, k * n : (k + 1) * n] for k in range(3))
        d_reset, d_update, d_fresh = (step[:, k * n : (k + 1) * n] for k in range(3))
        carried += g[t]
        np.multiply(carried, update, out=stays)
        if valid is not None:
            stays *= valid[t]
            stays += carried * (1 - valid[t])
            carried *= valid[t]
        # slopes of the logistic gates, then what they are multiplied with
        np.subtract(1, gate, out=step)
        np.multiply(carried, d_update, out=back)
        step *= gate
        np.multiply(fresh, fresh, out=d_fresh)
        np.subtract(1, d_fresh, out=d_fresh)
        d_fresh *= back
        d_reset *= inner[t]
        d_reset *= d_fresh
        np.subtract(hidden[t - 1] if t else state, fresh, out=back)
        d_update *= back
        d_update *= carried
        d_state[t, :, : 2 * n] = step[:, : 2 * n]
        np.multiply(d_fresh, reset, out=d_state[t, :, 2 * n :])
        recurrent(d_state[t], carried)
        carried += stays
    _finish(x, state, hidden, d_input, d_state, into)
    return d_input, carried, None


_FORWARD = {
    "rnn_relu": _simple_forward,
    "rnn_tanh": _simple_forward,
    "lstm": _lstm_forward,
    "gru": _gru_forward,
}
_BACKWARD = {
    "rnn_relu": _simple_backward,
    "rnn_tanh": _simple_backward,
    "lstm": _lstm_backward,
    "gru": _gru_backward,
}
