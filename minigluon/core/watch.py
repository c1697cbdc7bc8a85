"""Graphs run node by node: to show every value to a monitor, or to find the node that fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..base import MXNetError
from .explain import explain, in_node
from .grad import add
from .graph import Entry, Node, topological
from .invoke import wrap
from .plan.emit import emit
from .state import state


class WatchedGraph:
    """Runs a graph one node at a time, calling ``callback(name, array)`` with copies of values.

    With ``everything`` the inputs of every node are shown as well as its outputs. Names are
    MXNet's: ``fc_output``, ``fc_weight``, ``fc_backward_output0`` for the gradient of the first
    input of ``fc``.
    """

    def __init__(
        self, heads: Sequence[Entry], callback: Callable[..., Any], everything: bool, ctx: Any
    ):
        self._heads, self._callback = list(heads), callback
        self._everything, self._ctx = everything, ctx
        self._nodes = [node for node in topological(heads) if node.call is not None]
        self._values: dict[Entry, Any] = {}

    def forward(self, values: dict[Entry, Any]) -> tuple[Any, ...]:
        """The outputs, when ``values`` are the storages of the variables."""
        self._values = dict(values)
        for node in self._nodes:
            entries = [e for e in node.inputs if e is not None]
            inputs = [self._values[e] for e in entries]
            if self._everything:
                self._show_inputs(watched_inputs(node), entries, inputs)
            results = run_node(node, inputs)
            self._values.update({(node, k): r for k, r in enumerate(results)})
            assert node.call is not None
            shown = node.call.outputs - node.call.op.unsaved
            for name, result in zip(_outputs_of(node), results[:shown], strict=False):
                self._show(name, result)
        return tuple([self._values[e] for e in self._heads])

    def backward(self, seeds: Sequence[Any], wanted: Iterable[Node]) -> dict[Node, Any]:
        """The gradients of the wanted variables, given those of the outputs."""
        wanted = set(wanted)
        needs = set(wanted)
        for node in self._nodes:
            if any(e is not None and e[0] in needs for e in node.inputs):
                needs.add(node)
        grads: dict[Entry, Any] = {}

        def accumulate(entry: Entry, value: Any) -> None:
            grads[entry] = value if entry not in grads else add(grads[entry], value)

        for head, seed in zip(self._heads, seeds, strict=True):
            accumulate(head, seed)
        for node in reversed(self._nodes):
            assert node.call is not None
            incoming = [grads.get((node, k)) for k in range(node.call.outputs)]
            if node not in needs or all(g is None for g in incoming):
                continue
            for entry, value in zip(node.inputs, self._pull(node, incoming), strict=True):
                if entry is not None and value is not None and entry[0] in needs:
                    accumulate(entry, value)
        return {node: grads[(node, 0)] for node in wanted if (node, 0) in grads}

    def _pull(self, node: Node, incoming: list[Any]) -> tuple[Any, ...]:
        """The gradients of all inputs of a node, shown to the monitor on the way."""
        call = node.call
        assert call is not None
        gradient = call.op.gradient_of(call, len(node.inputs))
        actual = [*[(node, k) for k in range(call.outputs)], *node.inputs]
        formal = [*gradient.outputs, *gradient.inputs]
        known = {f: self._values[a] for f, a in zip(formal, actual, strict=True) if a is not None}
        for k, head in enumerate(gradient.heads):
            g = incoming[k]
            known[head] = np.zeros_like(self._values[(node, k)]) if g is None else g
        read = _variables_read(gradient.results)
        if self._everything:
            shown = [f for f in [*gradient.heads, *formal] if f[0] in read]
            source = dict(zip(formal, actual, strict=True))
            names = [f"{node.name}_backward_input{k}" for k in range(len(shown))]
            self._show_inputs(names, [source.get(f) for f in shown], [known[f] for f in shown])
        arguments = list(known)
        emitted = emit(
            "pull", arguments, gradient.results, [type(known[f]) for f in arguments], fresh=0
        )
        results: tuple[Any, ...] = state.quietly(emitted.run, *known.values())
        single = len(results) == 1
        for k, (result, entry) in enumerate(zip(results, node.inputs, strict=True)):
            if result is not None and entry is not None:
                whole = result
                if type(result) is np.ndarray and result.shape != self._values[entry].shape:
                    whole = np.broadcast_to(result, self._values[entry].shape)
                self._show(f"{node.name}_backward_output{'' if single else k}", whole)
        return results

    def _show_inputs(self, names: Sequence[str], entries: Sequence[Any], values: Any) -> None:
        """Show inputs, each variable under its own name first."""
        for name, entry, value in zip(names, entries, values, strict=False):
            if entry is not None and entry[0].call is None:
                self._show(entry[0].name, value)
            self._show(name, value)

    def _show(self, name: str, value: Any) -> None:
        self._callback(name, wrap(value.copy(), self._ctx))


def run_node(node: Node, inputs: Sequence[Any]) -> tuple[Any, ...]:
    """All outputs of a node for storages, hidden ones included."""
    assert node.call is not None
    types = tuple(map(type, inputs))
    kernel = node.call.memo.get(types) or node.call.kernel(types)
    got = state.quietly(kernel, *inputs)
    return got if type(got) is tuple else (got,)


def _outputs_of(node: Node) -> list[str]:
    assert node.call is not None
    return [f"{node.name}_{n}" for n in node.call.op.names_of_outputs(node.call.attrs)]


def watched_inputs(node: Node) -> list[str]:
    """The names a monitor gives the inputs of a node: ``fc_weight``, or ``relu_input0``."""
    assert node.call is not None
    op = node.call.op
    if op.input_rule is None and not op.variadic and len(op.inputs) < 2:
        return [f"{node.name}_input{k}" for k in range(len(node.inputs))]
    return [f"{node.name}_{n}" for n in op.names_of_inputs(node.call.attrs, len(node.inputs))]


def _variables_read(results: Iterable[Entry | None]) -> set[Node]:
    return {node for node in topological(results) if node.call is None}


class _Held:
    """A storage where `explain` looks for an array."""

    def __init__(self, data: Any):
        self._data = data


def locate(heads: Sequence[Entry], values: dict[Entry, Any], error: Exception) -> Exception:
    """The exception to raise for a graph that failed with ``error``: it names the node.

    The graph is run again, node by node, on copies of what operators write to.
    """
    if isinstance(error, Warning):
        return error
    values = dict(values)
    for node in topological(heads):
        call = node.call
        if call is None:
            continue
        inputs = [values[e] for e in node.inputs if e is not None]
        if call.op.mutates:
            inputs = [x.copy() for x in inputs]
        try:
            results = run_node(node, inputs)
        except Exception as found:
            return in_node(node, explain(call, [_Held(x) for x in inputs], found))
        values.update({(node, k): r for k, r in enumerate(results)})
    if isinstance(error, MXNetError):
        return error
    shown = ", ".join(n.name for n in topological(heads) if n.call is None)
    return MXNetError(
        f"the graph of {shown} cannot be computed.\n  received  {type(error).__name__}: {error}\n"
        "  expected  a graph each of whose operators can be computed, as they can one by one\n"
        "  fix       report this: it is a fault of the plan, not of the graph"
    )
