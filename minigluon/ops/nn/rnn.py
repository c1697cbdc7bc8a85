"""Recurrent networks as one operator: several layers, one or two directions, all steps."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ...base import AttributeValueError, ShapeError
from ...core.infer import UNKNOWN, UnknownShape, known
from ...core.op import op
from ...kernels import recurrent
from .._shared import at_least
from ..join import Concat

_HOW = ("state_size", "num_layers", "bidirectional", "mode")


def _inputs(mode, use_sequence_length, **_):
    names = ["data", "parameters", "state"]
    if mode == "lstm":
        names.append("state_cell")
    if use_sequence_length:
        names.append("sequence_length")
    return tuple(names)


def _output_names(mode, state_outputs, **_):
    states = ("state_output", "statecell_output") if mode == "lstm" else ("state_output",)
    return ("output", *states, "kept")


def count_parameters(input_size, *, state_size, num_layers, bidirectional, mode, **_):
    """How long the parameter vector is."""
    directions = 2 if bidirectional else 1
    gates = recurrent.GATES[mode] * state_size
    first = gates * (input_size + state_size + 2)
    later = gates * (state_size * directions + state_size + 2)
    return directions * (first + (num_layers - 1) * later)


def split_parameters(parameters, input_size, state_size, num_layers, bidirectional, mode):
    """Views of the weights: for each layer and direction (input, recurrent, two biases)."""
    directions = 2 if bidirectional else 1
    gates = recurrent.GATES[mode] * state_size
    position = 0

    def cut(*shape):
        nonlocal position
        size = int(np.prod(shape))
        position += size
        return parameters[position - size : position].reshape(shape)

    found = []
    for layer in range(num_layers):
        width = input_size if layer == 0 else state_size * directions
        found += [[cut(gates, width), cut(gates, state_size)] for _ in range(directions)]
    for weights in found:
        weights += [cut(gates), cut(gates)]
    return found


@op(
    aliases=("_npx_rnn",),
    outputs=lambda mode, **_: 4 if mode == "lstm" else 3,
    hidden_outputs=lambda mode, state_outputs, **_: 1 if state_outputs else 3 - (mode != "lstm"),
    output_names=_output_names,
)
def RNN(
    data,
    parameters,
    state,
    state_cell=None,
    sequence_length=None,
    *,
    state_size: int,
    num_layers: int,
    bidirectional: bool = False,
    mode: Literal["gru", "lstm", "rnn_relu", "rnn_tanh"],
    p: float = 0.0,
    state_outputs: bool = False,
    projection_size: int | None = None,
    lstm_state_clip_min: float | None = None,
    lstm_state_clip_max: float | None = None,
    lstm_state_clip_nan: bool = False,
    use_sequence_length: bool = False,
    rng,
    training,
):
    """Layers of recurrent cells over a sequence: plain ones, LSTM or GRU.

    Parameters
    ----------
    data : (time, batch, input size).
    parameters : all weights, then all biases, in one vector. The weights of a layer and direction
        are (gates, input size) and (gates, state_size), with the gates input, forget, cell, output
        (LSTM) or reset, update, new (GRU) below each other; its biases come in the same order.
    state, state_cell : the first states, (layers * directions, batch, state_size).
    sequence_length : how long each sequence is, with ``use_sequence_length``. Outputs behind the
        end are zero, states are those at the end, and the way back starts there (MXNet ignores the
        lengths on the CPU).
    p : the share of outputs between layers that is dropped in training.
    state_outputs : also give the last states.

    Projections and clipping of states, which MXNet has on the GPU only, raise ``MXNetError``.

    Examples
    --------
    >>> x, state = nd.ones((5, 2, 3)), nd.zeros((1, 2, 4))
    >>> weights = nd.ones(4 * (3 + 4 + 2))
    >>> nd.RNN(x, weights, state, state_size=4, num_layers=1, mode="rnn_tanh").shape
    (5, 2, 4)
    """
    if mode != "lstm" and use_sequence_length:  # there are lengths where LSTM has its cells
        sequence_length, state_cell = state_cell, None
    how = dict(zip(_HOW, (state_size, num_layers, bidirectional, mode), strict=True))
    _check(data, parameters, state, state_cell, how, projection_size, lstm_state_clip_min)
    steps, batch, _ = data.shape
    lengths = _lengths(sequence_length, steps, batch) if use_sequence_length else None
    layers = split_parameters(parameters, data.shape[2], **how)
    memory = np.empty(_room_size(steps, batch, p=p, **how), data.dtype)
    kept, masks, inputs = _room(memory, data.shape, p, how)
    if p > 0:
        masks[...] = _drawn(rng, training, p, masks)
    directions = 2 if bidirectional else 1
    last_state = np.empty_like(state)
    last_cell = None if state_cell is None else np.empty_like(state_cell)
    output = data
    for layer in range(num_layers):
        if layer:
            output = output * masks[layer - 1] if p > 0 else output
            inputs[layer - 1] = output
        parts = []
        for direction in range(directions):
            k = layer * directions + direction
            x = _turned(output, lengths) if direction else output
            cell = None if state_cell is None else state_cell[k]
            valid = _valid(lengths, steps, data.dtype)
            hidden, end = recurrent.forward(mode, x, layers[k], state[k], cell, valid, kept[k])
            last_state[k] = hidden[-1]
            if end is not None:
                last_cell[k] = end
            if valid is not None:
                hidden = hidden * valid
            parts.append(_turned(hidden, lengths) if direction else hidden)
        output = np.concatenate(parts, axis=2) if directions == 2 else parts[0]
    states = (last_state,) if last_cell is None else (last_state, last_cell)
    # the output is a part of what is kept: users get a copy
    return (np.array(output), *states, memory)


def _room_size(steps, batch, *, state_size, num_layers, bidirectional, mode, p):
    directions = 2 if bidirectional else 1
    between = 2 if p > 0 else 1
    arrays = (
        num_layers * directions * recurrent.KEPT[mode] + (num_layers - 1) * directions * between
    )
    return arrays * steps * batch * state_size


def _room(memory, shape, p, how):
    """The parts of what is kept: values of the cells, dropout masks, inputs of later layers."""
    steps, batch, _ = shape
    directions = 2 if how["bidirectional"] else 1
    layers, n = how["num_layers"], how["state_size"]
    cells = layers * directions * recurrent.KEPT[how["mode"]] * steps * batch * n
    between = (layers - 1, steps, batch, directions * n)
    size = int(np.prod(between))
    kept = memory[:cells].reshape(layers * directions, -1, steps, batch, n)
    inputs = memory[cells : cells + size].reshape(between)
    masks = memory[cells + size :].reshape(between) if p > 0 else None
    return kept, masks, inputs


def _drawn(rng, training, p, masks):
    if not training:
        return 1
    return (rng.random(masks.shape, np.float32) >= p) * masks.dtype.type(
        1 / (1 - p) if p < 1 else 0
    )


def _check(data, parameters, state, state_cell, how, projection_size, clip):
    at_least("RNN", "state_size", how["state_size"], 1)
    at_least("RNN", "num_layers", how["num_layers"], 1)
    if projection_size is not None or clip is not None:
        what = "projection_size" if projection_size is not None else "lstm_state_clip_min"
        raise AttributeValueError(
            f"RNN: {what} is not available.\n  received  {what}={projection_size or clip}\n"
            "  expected  None\n  fix       use gluon.contrib.rnn.LSTMPCell, or clip between steps"
        )
    if data.ndim != 3 or 0 in data.shape:
        raise ShapeError(
            f"RNN: data has the wrong shape.\n  received  data {data.shape}\n"
            "  expected  (time, batch, input size), all above 0\n  fix       add the missing axis"
        )
    directions = 2 if how["bidirectional"] else 1
    expected = (how["num_layers"] * directions, data.shape[1], how["state_size"])
    for name, array in (("state", state), ("state_cell", state_cell)):
        missing = name == "state_cell" and how["mode"] != "lstm"
        if not missing and (array is None or array.shape != expected):
            raise ShapeError(
                f"RNN: {name} has the wrong shape.\n"
                f"  received  {name} {None if array is None else array.shape}\n"
                f"  expected  {expected}: (layers * directions, batch, state_size)\n"
                f"  fix       pass a {name} of that shape, for example nd.zeros({expected})"
            )
    size = count_parameters(data.shape[2], **how)
    if parameters.shape != (size,):
        raise ShapeError(
            f"RNN: parameters has the wrong shape.\n  received  parameters {parameters.shape}\n"
            f"  expected  ({size},), which follows from data {data.shape} and the attributes\n"
            "  fix       pass weights for this input size, state_size, num_layers and mode"
        )


def _lengths(sequence_length, steps, batch):
    if sequence_length is None or sequence_length.shape != (batch,):
        came = "none" if sequence_length is None else sequence_length.shape
        raise ShapeError(
            f"RNN: sequence_length is missing or has the wrong shape.\n  received  {came}\n"
            f"  expected  ({batch},), one length for each sequence\n"
            "  fix       pass that many, behind state (LSTM: behind state_cell)"
        )
    return np.clip(sequence_length.astype(np.int64), 0, steps)


def _valid(lengths, steps, dtype):
    if lengths is None:
        return None
    return (np.arange(steps)[:, None] < lengths).astype(dtype)[..., None]


def _turned(x, lengths):
    """Each sequence from its end to its start; what is behind the end stays."""
    if lengths is None:
        return np.ascontiguousarray(x[::-1])
    steps = np.arange(len(x))[:, None]
    return x[np.where(steps < lengths, lengths - 1 - steps, steps), np.arange(x.shape[1])]


@RNN.shape
def _(s, *, state_size, num_layers, bidirectional, mode, projection_size, p, **_):
    data = s.data
    if isinstance(data, UnknownShape):
        return
    directions = 2 if bidirectional else 1
    steps, batch, width = data
    how = {
        "state_size": state_size, "num_layers": num_layers, "bidirectional": bidirectional,
        "mode": mode,
    }  # fmt: skip
    state = (num_layers * directions, batch, state_size)
    if projection_size is None:
        s.parameters = (count_parameters(width, **how) if width is not UNKNOWN else UNKNOWN,)
    s.state = state
    if mode == "lstm":
        s.state_cell = state
    if "sequence_length" in s:
        s.sequence_length = (batch,)
    states = [state] * (2 if mode == "lstm" else 1)
    room = _room_size(steps, batch, p=p, **how) if known(data) else UNKNOWN
    s.outs = [(steps, batch, state_size * directions), *states, (room,)]


def _one_dtype_but_of_lengths(t, *, use_sequence_length, **_):
    arrays = t.ins[:-1] if use_sequence_length else t.ins
    for dtype in (*arrays, *t.outs):
        if dtype is not None:
            for k in range(len(arrays)):
                t.state(("in", k), dtype)
            t.outs = [dtype] * len(t.outs)


RNN.dtype(_one_dtype_but_of_lengths)
RNN.input_names(_inputs)


@RNN.grad
def _(F, g, *inputs, out, **attrs):
    gates, *others = F._rnn_grad(*g[:-1], *inputs, out[-1], **attrs)
    how = {name: attrs[name] for name in _HOW}
    # apart, because few programs ask for the gradient of the data: a sixth of the whole step
    by_data = F._rnn_data_grad(gates, inputs[1], inputs[0], **how)
    return (by_data, *others, None) if attrs["use_sequence_length"] else (by_data, *others)


def _count_gradients(mode, **_):
    return 4 if mode == "lstm" else 3


@op(outputs=_count_gradients)
def _rnn_grad(
    *arrays,
    state_size: int,
    num_layers: int,
    bidirectional: bool,
    mode: Literal["gru", "lstm", "rnn_relu", "rnn_tanh"],
    p: float,
    state_outputs: bool,
    projection_size: int | None,
    lstm_state_clip_min: float | None,
    lstm_state_clip_max: float | None,
    lstm_state_clip_nan: bool,
    use_sequence_length: bool,
):
    """The gradients of RNN, from those of its outputs, its inputs and what it kept.

    In place of that of the data there is the gradient of the gates of the first layer, for
    each direction.
    """
    arrays = list(arrays)
    has_cell = mode == "lstm"
    g, g_state = arrays[:2]
    g_cell = arrays[2] if has_cell else None
    data, parameters, state = arrays[2 + has_cell : 5 + has_cell]
    state_cell = arrays[6] if has_cell else None
    how = dict(zip(_HOW, (state_size, num_layers, bidirectional, mode), strict=True))
    kept, masks, inputs = _room(arrays[-1], data.shape, p, how)
    steps, batch, _ = data.shape
    lengths = _lengths(arrays[-2], steps, batch) if use_sequence_length else None
    valid = _valid(lengths, steps, data.dtype)
    layers = split_parameters(parameters, data.shape[2], **how)
    g_parameters = np.empty_like(parameters)
    into = split_parameters(g_parameters, data.shape[2], **how)
    d_state = np.empty_like(state)
    d_cell = np.empty_like(state_cell) if has_cell else None
    directions = 2 if bidirectional else 1
    for layer in range(num_layers - 1, -1, -1):
        below = inputs[layer - 1] if layer else data
        gates = []
        for direction in range(directions):
            k = layer * directions + direction
            part = g[:, :, direction * state_size : (direction + 1) * state_size]
            x = below
            if direction:
                part, x = _turned(part, lengths), _turned(below, lengths)
            if valid is not None:
                part = part * valid
            cells = (state_cell[k], g_cell[k]) if has_cell else (None, None)
            g_gates, d_state[k], d_first = recurrent.backward(
                mode, x, layers[k], state[k], cells[0], valid, kept[k], part, g_state[k], cells[1],
                into[k],
            )  # fmt: skip
            if has_cell:
                d_cell[k] = d_first
            gates.append(_turned(g_gates, lengths) if direction else g_gates)
        if layer:
            g = _through_inputs(gates, layers[layer * directions :])
            g = g * masks[layer - 1] if p > 0 else g
    first = np.stack(gates) if directions == 2 else gates[0][None]
    return (first, g_parameters, d_state, d_cell) if has_cell else (first, g_parameters, d_state)


def _through_inputs(gates, layers):
    """The gradient of what a layer reads, from those of its gates in each direction."""
    total = gates[0] @ layers[0][0]
    for part, weights in zip(gates[1:], layers[1:], strict=False):
        total += part @ weights[0]
    return total


@_rnn_grad.shape
def _(s, *, mode, state_size, bidirectional, **_):
    count = 4 if mode == "lstm" else 3
    data, *others = s.ins[count - 1 : 2 * count - 1]
    gates = recurrent.GATES[mode] * state_size
    if not isinstance(data, UnknownShape):
        s.outs = [(2 if bidirectional else 1, *data[:2], gates), *others]


@_rnn_grad.dtype
def _(t, **_):
    t.outs = [t.ins[0]] * len(t.outs)


@op(shape_only=("like",))
def _rnn_data_grad(
    gates,
    parameters,
    like,
    *,
    state_size: int,
    num_layers: int,
    bidirectional: bool,
    mode: Literal["gru", "lstm", "rnn_relu", "rnn_tanh"],
):
    """The gradient of the data of RNN, from that of the gates of its first layer."""
    layers = split_parameters(
        parameters, like.shape[2], state_size, num_layers, bidirectional, mode
    )
    return _through_inputs(list(gates), layers)


_rnn_data_grad.shape(lambda s, **_: setattr(s, "out", s.like))


@op(aliases=("_npi_rnn_param_concat",))
def _rnn_param_concat(*data, num_args: int = 0, dim: int = 1):
    """The arrays joined along an axis: the parameters of RNN from those of its layers."""
    return np.concatenate(data, axis=dim)


@_rnn_param_concat.shape
def _(s, *, num_args, dim):
    Concat.shape_rule(s, dim=dim)
    # both directions of the first layer wait for the input size, and are of one length
    vectors = all(not isinstance(x, UnknownShape) and len(x) == 1 for x in (*s.ins, s.out))
    if not vectors or s.out[0] is UNKNOWN:
        return
    missing = [k for k, (length,) in enumerate(s.ins) if length is UNKNOWN]
    if missing:
        rest = s.out[0] - sum(length for (length,) in s.ins if length is not UNKNOWN)
        for k in missing:
            s.state(("in", k), (rest // len(missing),))


@_rnn_param_concat.grad
def _(F, g, *data, out, num_args, dim):
    return Concat.grad_rule(F, g, *data, out=out, dim=dim)
