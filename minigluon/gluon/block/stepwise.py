"""Graphs run operator by operator, to show every value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...autograd import pause
from ...core.graph import topological
from ...core.invoke import invoke
from ...core.watch import watched_inputs


class StepwiseGraph:
    """Runs like ``nd.CachedOp(symbol)``, one operator at a time.

    Parameters
    ----------
    callback : called with the name of a value, the name of its operator, and the array.
    monitor_all : show the inputs of every operator as well as its outputs.
    """

    def __init__(self, symbol: Any, callback: Callable | None = None, monitor_all: bool = False):
        nodes = topological(symbol._entries)
        variables = [node for node in nodes if node.call is None]
        place = {(node, 0): k for k, node in enumerate(variables)}
        self._steps = []
        for node in nodes:
            if node.call is not None:
                inputs = [place[entry] for entry in node.inputs]
                for k in range(node.call.visible):
                    place[node, k] = len(place)
                self._steps.append((node, inputs))
        self._heads = [place[entry] for entry in symbol._entries]
        self._callback, self._monitor_all = callback, monitor_all

    def __len__(self) -> int:
        return len(self._steps)

    def __call__(self, *arrays: Any) -> Any:
        """The outputs for arrays in the order of ``symbol.list_inputs()``: one, or a list."""
        values = list(arrays)
        for node, places in self._steps:
            inputs = [values[k] for k in places]
            results = invoke(node.call, inputs)
            results = results if isinstance(results, list) else [results]
            values.extend(results)
            if self._callback is not None:
                self._show(node, inputs, results)
        found = [values[k] for k in self._heads]
        return found[0] if len(found) == 1 else found

    def _show(self, node: Any, inputs: list, outputs: list) -> None:
        assert self._callback is not None
        op = node.call.op
        named = [f"{node.name}_{name}" for name in op.names_of_outputs(node.call.attrs)]
        shown = list(zip(named, outputs, strict=False))
        if self._monitor_all:
            shown = [*zip(watched_inputs(node), inputs, strict=False), *shown]
        with pause():
            for name, array in shown:
                self._callback(name, op.name, array)
