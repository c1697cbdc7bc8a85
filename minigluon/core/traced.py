"""Python functions that only apply operators to arrays, run as one operator once traced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..base import MXNetError
from .graph import Entry, Node, by_age, variable
from .graphop import SIGNATURES, CompiledCall, GraphOp, PlannedCall, recorded
from .invoke import wrap
from .state import state

ndarray = np.ndarray


class Traced:
    """Runs ``function(*arrays)``, which gives one array, as a graph for each set of shapes.

    The graph is what the function puts on the tape, so its kernels are those of eager code and so
    are its results, to the bit. What it is compiled for is a first input that comes from a compiled
    graph: then it is compiled too. Functions must not depend on values of arrays.

    ``run(inputs)`` gives None where the function itself has to be called: for sparse arrays, after
    `SIGNATURES` sets of shapes, for functions that make arrays from nothing and for inputs that
    they refuse.
    """

    def __init__(self, name: str, function: Callable[..., Any]):
        self.name, self.function = name, function
        self.recent: dict[Any, PlannedCall] = {}
        self.graphs: dict[Any, tuple[GraphOp, GraphOp] | None] = {}

    def run(self, inputs: Sequence[Any]) -> Any:
        """The function's result for dense arrays, or None."""
        data = [x._data for x in inputs]
        wanted: tuple[bool, ...] | None = None
        entries: Any = ()
        compiled = False
        if state.recording:
            entries = tuple([x._entry for x in inputs])
            if entries.count(None) < len(entries):
                wanted = tuple([e is not None for e in entries])
                first = entries[0]
                compiled = first is not None and type(first[0].call) is CompiledCall
        key = compiled, state.training, wanted
        planned = self.recent.get(key)
        results = None if planned is None else state.quietly(planned.fast, *data)
        if results is None:
            planned = self._plan(compiled, wanted, inputs, data)
            if planned is None:
                return None
            self.recent[key] = planned
            results = state.quietly(planned.plan.forward.run, *data)
        entry = None
        if wanted is not None:
            entry = recorded(planned, entries, results, data), 0
        return wrap(results[0], inputs[0]._ctx, entry)

    def _plan(self, compiled: bool, wanted: Any, inputs: Any, data: Any) -> PlannedCall | None:
        """The Call for such inputs, or None if the function has to be called for them."""
        if not all(type(d) is ndarray for d in data):
            return None
        key = (*[d.shape for d in data], *[d.dtype for d in data])
        if key not in self.graphs and len(self.graphs) < SIGNATURES:
            self.graphs[key] = self._trace(data)
        found = self.graphs.get(key)
        return None if found is None else found[compiled].plan_call(state.training, wanted, data)

    def _trace(self, data: Any) -> tuple[GraphOp, GraphOp] | None:
        """The graph of the function as an operator that calls kernels, and as one to be compiled.

        None if the function refuses the inputs or is no graph of them only.
        """
        variables = [variable(f"x{k}") for k in range(len(data))]
        arrays = [wrap(d, None, e) for d, e in zip(data, variables, strict=True)]
        before, state.recording = state.recording, True
        try:
            result = self.function(*arrays)
        except MXNetError:
            return None
        finally:
            state.recording = before
        head = untaped(result._entry, {e[0] for e in variables})
        if head is None:
            return None
        kind = {"inlined": True, "shared": True}
        plain = GraphOp(self.name, variables, [head], compiles=False, **kind)
        return plain, GraphOp(self.name, variables, [head], **kind)


def untaped(head: Entry | None, leaves: set[Node]) -> Entry | None:
    """A recorded computation as a graph that holds no values; None if it has other leaves."""
    if head is None:
        return None
    copies: dict[Node, Node] = {leaf: leaf for leaf in leaves}
    for node in by_age([head]):
        if node in copies:
            continue
        call = node.call
        if call is None or any(e is None for e in node.inputs) or call.op.mutates:
            return None
        inputs = tuple([(copies[e[0]], e[1]) for e in node.inputs if e is not None])
        copies[node] = Node(call, inputs, call.op.name.lower())
    return copies[head[0]], head[1]
