"""A graph run node by node, so that a callback sees every value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...autograd import pause
from ...core.graph import topological
from ...core.graphop import _watched_inputs
from ...core.invoke import invoke


class WatchedGraph:
    """Runs like ``nd.CachedOp(symbol)``, one operator at a time, and shows values to ``callback``.

    Parameters
    ----------
    callback : called with the name of a value, the name of its operator, and the array.
    monitor_all : show the inputs of every operator as well as its outputs.
    """

    def __init__(self, symbol: Any, callback: Callable, monitor_all: bool):
        self._heads = symbol._entries
        self._nodes = topological(self._heads)
        self._callback, self._monitor_all = callback, monitor_all

    def __call__(self, *arrays: Any) -> Any:
        """The outputs for arrays in the order of ``symbol.list_inputs()``: one, or a list."""
        variables = [node for node in self._nodes if node.call is None]
        values = {(node, 0): x for node, x in zip(variables, arrays, strict=True)}
        for node in self._nodes:
            if node.call is not None:
                self._run(node, values)
        results = [values[entry] for entry in self._heads]
        return results[0] if len(results) == 1 else results

    def _run(self, node: Any, values: dict) -> None:
        op = node.call.op
        inputs = [values[entry] for entry in node.inputs]
        if self._monitor_all:
            for name, x in zip(_watched_inputs(node), inputs, strict=False):
                self._show(name, op.name, x)
        results = invoke(node.call, inputs)
        results = results if isinstance(results, list) else [results]
        names = op.names_of_outputs(node.call.attrs)
        for k, (name, x) in enumerate(zip(names, results, strict=False)):
            values[(node, k)] = x
            self._show(f"{node.name}_{name}", op.name, x)

    def _show(self, name: str, op: str, array: Any) -> None:
        with pause():
            self._callback(name, op, array)
