"""RNN, LSTM and GRU to ONNX and back; the two put the gates in another order."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import symbol as sym
from ..ops.nn.rnn import split_parameters
from .builder import Builder
from .layers import converts
from .reader import Reader
from .readers import reads

#: our mode -> ONNX operator, and the places of our gates in ONNX's order
_KINDS = {
    "rnn_relu": ("RNN", [0]), "rnn_tanh": ("RNN", [0]), "lstm": ("LSTM", [0, 3, 1, 2]),
    "gru": ("GRU", [1, 0, 2]),
}  # fmt: skip


def _reordered(x: np.ndarray, order: list[int]) -> np.ndarray:
    """Blocks of rows, one a gate, in another order."""
    return np.concatenate([np.split(x, len(order))[k] for k in order])


@converts("_rnn_param_concat")
def _parameters(g: Builder, a: dict[str, Any], x: list[str]) -> str:
    return g.emit("Concat", *x, axis=a["dim"])


@converts("RNN")
def _rnn(g: Builder, a: dict[str, Any], x: list[str]) -> list[str]:
    if a["use_sequence_length"] or a["projection_size"]:
        raise g.refuse("lengths and projections have no counterpart", a, "neither")
    mode, size, layers = a["mode"], a["state_size"], a["num_layers"]
    directions = 2 if a["bidirectional"] else 1
    kind, order = _KINDS[mode]
    packed = g.value(1)
    parts = split_parameters(packed, g.shape()[2], size, layers, a["bidirectional"], mode)
    data, states = x[0], x[2:]
    more: dict[str, Any] = {"hidden_size": size}
    if directions == 2:
        more["direction"] = "bidirectional"
    if kind == "GRU":
        more["linear_before_reset"] = 1
    if kind == "RNN":
        more["activations"] = [{"rnn_relu": "Relu", "rnn_tanh": "Tanh"}[mode]] * directions
    last: list[list[str]] = [[] for _ in states]
    for layer in range(layers):
        own = parts[layer * directions : (layer + 1) * directions]
        weights = [
            g.constant(np.stack([_reordered(np.asarray(p[k]), order) for p in own]), packed.dtype)
            for k in (0, 1)
        ]
        bias = np.stack(
            [np.concatenate([_reordered(np.asarray(p[k]), order) for k in (2, 3)]) for p in own]
        )
        at = [g.constant([layer * directions]), g.constant([(layer + 1) * directions])]
        begin = [g.emit("Slice", state, *at, g.constant([0])) for state in states]
        found = g.emit(
            kind, data, *weights, g.constant(bias, packed.dtype), "", *begin,
            outputs=1 + len(states), **more,
        )  # fmt: skip
        for kept, state in zip(last, found[1:], strict=True):
            kept.append(state)
        data = g.reshape(g.emit("Transpose", found[0], perm=(0, 2, 1, 3)), (0, 0, -1))
    ends = [g.emit("Concat", *kept, axis=0) if layers > 1 else kept[0] for kept in last]
    return [data, *ends]


def _mode(r: Reader, directions: int) -> str:
    """Our name for what an ONNX node computes."""
    kind = r.node.op_type
    usual = {"RNN": ["Tanh"], "LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"]}
    given = [
        v.decode() if isinstance(v, bytes) else v
        for v in r.attrs.get("activations", usual[kind] * directions)
    ]
    ours = {"RNN": {"Tanh": "rnn_tanh", "Relu": "rnn_relu"}.get(given[0]), "LSTM": "lstm"}
    mode = ours.get(kind, "gru")
    expected = given[:1] if kind == "RNN" else usual[kind]
    if mode is None or given != expected * directions:
        raise r.refuse("these activations have no counterpart", given, "the usual ones")
    return mode


@reads("RNN", "LSTM", "GRU")
def _read_rnn(r: Reader) -> list[Any]:
    weight, recurrence = r.constant(1), r.constant(2)
    directions, rows, _ = weight.shape
    size = recurrence.shape[2]
    mode = _mode(r, directions)
    order = np.argsort(_KINDS[mode][1]).tolist()
    if r.attrs.get("direction") == "reverse" or r.has(4) or r.attrs.get("layout", 0) or r.has(7):
        raise r.refuse("this has no counterpart", dict(r.attrs), "forward or bidirectional")
    if mode == "gru" and not r.attrs.get("linear_before_reset", 0):
        raise r.refuse("the reset comes after the product", "linear_before_reset=0", "1")
    bias = r.constant(3) if r.has(3) else np.zeros((directions, 2 * rows), weight.dtype)
    parts = [
        _reordered(w, order).ravel() for d in range(directions) for w in (weight[d], recurrence[d])
    ]
    for row in bias:
        parts += [_reordered(half, order) for half in np.split(row, 2)]
    name = f"{r.name}_parameters"
    r.parameters[name] = np.concatenate(parts)
    data = r.symbol()
    # zeros for every sample of the batch, whatever their number will be
    one = sym.zeros_like(
        sym.sum(sym.slice_axis(data, axis=0, begin=0, end=1), axis=2, keepdims=True)
    )
    zeros = sym.broadcast_axis(one, axis=(0, 2), size=(directions, size))
    places = (5, 6) if mode == "lstm" else (5,)
    states = [r.symbol(k) if r.has(k) else zeros for k in places]
    found = sym.RNN(
        data, sym.var(name, shape=r.parameters[name].shape), *states, state_size=size,
        num_layers=1, mode=mode, bidirectional=directions == 2, state_outputs=True, name=r.name,
    )  # fmt: skip
    steps = sym.reshape(found[0], shape=(0, 0, -4, directions, -1))
    return [sym.transpose(steps, axes=(0, 2, 1, 3)), *(found[k] for k in range(1, 1 + len(states)))]
