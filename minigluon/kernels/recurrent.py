"""One layer of a recurrent network in one direction: all steps forward, and back.

``forward`` runs the steps and fills what ``backward`` needs; ``backward`` gives the gradients.

Sequences are (time, batch, width), in memory order. The logistic function is computed as
``(tanh(x / 2) + 1) / 2``: the weights of such gates are halved once (which is exact), so a step
takes a single call of tanh for all gates. ``valid`` is None or 1 and 0 in the shape
(time, batch, 1): where it is 0 the state stays as it is and the output is 0.
"""

from __future__ import annotations

import numpy as np

#: mode -> gates, and arrays of (time, batch, hidden) kept for the way back: gates, states, others
GATES = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}
KEPT = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 7, "gru": 5}


def _project(x, weight):
    """``x @ weight.T`` for all steps at once."""
    return x.reshape(-1, x.shape[-1]) @ weight.T


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


def backward(mode, x, weights, state, cell, valid, kept, g, g_state, g_cell):
    """Gradients of a layer: ``(gates, weights, state, cell)``, the weights as a tuple like theirs.

    The gradient of the data is that of the gates times the input weight: the caller's, if wanted.

    ``g`` is the gradient of the outputs of all steps; ``g_state``, ``g_cell`` of the last states.
    """
    return _BACKWARD[mode](mode, x, weights, state, cell, valid, kept, g, g_state, g_cell)


def _simple_forward(mode, x, weights, state, cell, valid, kept):
    w_input, w_state, b_input, b_state = weights
    hidden = kept[0]
    pre = _project(x, w_input).reshape(hidden.shape)
    pre += b_input + b_state
    recurrent = w_state.T
    for t in range(len(hidden)):
        step = pre[t]
        step += state @ recurrent
        if mode == "rnn_tanh":
            np.tanh(step, out=hidden[t])
        else:
            np.maximum(step, 0, out=hidden[t])
        _hold(valid, t, hidden[t], state)
        state = hidden[t]
    return hidden, None


def _simple_backward(mode, x, weights, state, cell, valid, kept, g, g_state, g_cell):
    hidden = kept[0]
    if mode == "rnn_tanh":
        slopes = 1 - hidden * hidden
    else:
        slopes = (hidden > 0).astype(hidden.dtype)
    if valid is not None:
        slopes *= valid
    carried = g_state.copy()
    for t in range(len(hidden) - 1, -1, -1):
        carried += g[t]
        stays = None if valid is None else carried * (1 - valid[t])
        slopes[t] *= carried
        carried = slopes[t] @ weights[1]
        if stays is not None:
            carried += stays
    return _finish(x, state, hidden, slopes, slopes, carried, None)


def _finish(x, state, hidden, d_input, d_state, carried, g_cell):
    """Gradients of the weights from those of the gates before their activation."""
    flat_input = d_input.reshape(-1, d_input.shape[-1])
    flat_state = d_state.reshape(-1, d_state.shape[-1])
    # the first step reads the initial state, the others the step before
    later = flat_state[state.shape[0] :].T @ hidden[:-1].reshape(-1, hidden.shape[-1])
    g_weights = (
        flat_input.T @ x.reshape(-1, x.shape[-1]),
        later + flat_state[: state.shape[0]].T @ state,
        flat_input.sum(axis=0),
        flat_state.sum(axis=0),
    )
    return d_input, g_weights, carried, g_cell


def _halved(array, hidden, order, halves):
    """Rows of gates in another order, those of logistic gates halved."""
    gates = array.reshape(len(order), hidden, -1)[list(order)]
    gates[:halves] *= gates.dtype.type(0.5)
    return gates.reshape(len(order) * hidden, *array.shape[1:])


# LSTM: gates come as input, forget, cell, output; they are worked with as output, input, forget,
# cell: three logistic gates in a row, and three that depend on the gradient of the cell in a row
_LSTM_ORDER = (3, 0, 1, 2)


def _lstm_forward(mode, x, weights, state, cell, valid, kept):
    n = state.shape[1]
    w_input, w_state = [_halved(w, n, _LSTM_ORDER, 3) for w in weights[:2]]
    bias = _halved(weights[2] + weights[3], n, _LSTM_ORDER, 3)
    steps = len(x)
    cells, bent, hidden = kept[4], kept[5], kept[6]
    gates = kept[:4].reshape(steps, state.shape[0], 4 * n)
    np.matmul(x.reshape(-1, x.shape[-1]), w_input.T, out=gates.reshape(-1, 4 * n))
    gates += bias
    recurrent = np.ascontiguousarray(w_state.T)
    product = np.empty(gates.shape[1:], gates.dtype)
    half = gates.dtype.type(0.5)
    for t in range(steps):
        step = gates[t]
        np.matmul(state, recurrent, out=product)
        step += product
        np.tanh(step, out=step)
        logistic = step[:, : 3 * n]
        logistic *= half
        logistic += half
        new = cells[t]
        np.multiply(step[:, 2 * n : 3 * n], cell, out=new)
        new += step[:, n : 2 * n] * step[:, 3 * n :]
        _hold(valid, t, new, cell)
        np.tanh(new, out=bent[t])
        np.multiply(step[:, :n], bent[t], out=hidden[t])
        _hold(valid, t, hidden[t], state)
        state, cell = hidden[t], new
    return hidden, cell


def _lstm_backward(mode, x, weights, state, cell, valid, kept, g, g_state, g_cell):
    steps, batch, n = kept.shape[1:]
    gates = kept[:4].reshape(steps, batch, 4, n)
    cells, bent, hidden = kept[4], kept[5], kept[6]
    output, entry, forget, fresh = (gates[:, :, k] for k in range(4))
    # what a gradient of the hidden state or of the cell is multiplied with, for all steps at once
    d_gates = np.empty_like(gates)
    np.multiply(bent * output, 1 - output, out=d_gates[:, :, 0])
    np.multiply(fresh * entry, 1 - entry, out=d_gates[:, :, 1])
    d_gates[0, :, 2], d_gates[1:, :, 2] = cell, cells[:-1]
    d_gates[:, :, 2] *= forget * (1 - forget)
    np.multiply(entry, 1 - fresh * fresh, out=d_gates[:, :, 3])
    into_cell = output * (1 - bent * bent)
    if valid is not None:
        d_gates *= valid[..., None]
        into_cell *= valid
    recurrent = weights[1].reshape(4, n, n)[list(_LSTM_ORDER)].reshape(4 * n, n)
    carried, carried_cell = g_state.copy(), g_cell.copy()
    for t in range(steps - 1, -1, -1):
        carried += g[t]
        step = d_gates[t]
        stays = None if valid is None else (carried * (1 - valid[t]), carried_cell * (1 - valid[t]))
        carried_cell += carried * into_cell[t]
        step[:, 0] *= carried
        step[:, 1:] *= carried_cell[:, None]
        carried = step.reshape(batch, 4 * n) @ recurrent
        carried_cell *= forget[t]
        if stays is not None:
            carried += stays[0]
            carried_cell *= valid[t]
            carried_cell += stays[1]
    # back to the order in which the parameters come: input, forget, cell, output
    ordered = np.concatenate([d_gates[:, :, 1:], d_gates[:, :, :1]], axis=2)
    ordered = ordered.reshape(steps, batch, 4 * n)
    return _finish(x, state, hidden, ordered, ordered, carried, carried_cell)


def _gru_forward(mode, x, weights, state, cell, valid, kept):
    n = state.shape[1]
    w_input, w_state, b_input, b_state = [_halved(w, n, (0, 1, 2), 2) for w in weights]
    steps, batch = x.shape[:2]
    gates = kept[:3].reshape(steps, batch, 3 * n)
    inner, hidden = kept[3], kept[4]
    np.matmul(x.reshape(-1, x.shape[-1]), w_input.T, out=gates.reshape(-1, 3 * n))
    gates += b_input
    recurrent = np.ascontiguousarray(w_state.T)
    product = np.empty(gates.shape[1:], gates.dtype)
    half = gates.dtype.type(0.5)
    for t in range(steps):
        step = gates[t]
        np.matmul(state, recurrent, out=product)
        product += b_state
        logistic = step[:, : 2 * n]
        logistic += product[:, : 2 * n]
        np.tanh(logistic, out=logistic)
        logistic *= half
        logistic += half
        inner[t] = product[:, 2 * n :]
        fresh = step[:, 2 * n :]
        fresh += step[:, :n] * inner[t]
        np.tanh(fresh, out=fresh)
        new = hidden[t]
        np.subtract(state, fresh, out=new)
        new *= step[:, n : 2 * n]
        new += fresh
        _hold(valid, t, new, state)
        state = new
    return hidden, None


def _gru_backward(mode, x, weights, state, cell, valid, kept, g, g_state, g_cell):
    steps, batch, n = kept.shape[1:]
    gates = kept[:3].reshape(steps, batch, 3, n)
    inner, hidden = kept[3], kept[4]
    reset, update, fresh = (gates[:, :, k] for k in range(3))
    # gradients of the gates on the side of the state are the one of the new state times these
    d_gates = np.empty_like(gates)
    into_fresh = (1 - update) * (1 - fresh * fresh)
    np.multiply(into_fresh * inner, reset * (1 - reset), out=d_gates[:, :, 0])
    d_gates[0, :, 1], d_gates[1:, :, 1] = state, hidden[:-1]
    d_gates[:, :, 1] -= fresh
    d_gates[:, :, 1] *= update * (1 - update)
    np.multiply(into_fresh, reset, out=d_gates[:, :, 2])
    through = update
    if valid is not None:
        d_gates *= valid[..., None]
        into_fresh *= valid
        through = update * valid + (1 - valid)
    carried = g_state.copy()
    for t in range(steps - 1, -1, -1):
        carried += g[t]
        step = d_gates[t]
        step *= carried[:, None]
        into_fresh[t] *= carried
        carried *= through[t]
        carried += step.reshape(batch, 3 * n) @ weights[1]
    d_state = d_gates.reshape(steps, batch, 3 * n)
    d_input = d_state.copy()
    d_input[:, :, 2 * n :] = into_fresh
    return _finish(x, state, hidden, d_input, d_state, carried, None)


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
