"""The text of a plan: one line a node, kernels already chosen, nothing decided while it runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import storage
from ..call import Dispatch
from ..graph import Entry, Node, topological


class Emitted:
    """A function made from a graph, its text, and the storage types of its results."""

    __slots__ = ("dispatches", "run", "text", "types")

    def __init__(self, run: Callable[..., Any], text: str, types: tuple[Any, ...], dispatches: Any):
        self.run, self.text, self.types, self.dispatches = run, text, types, dispatches


def emit(
    name: str,
    arguments: Sequence[Entry],
    results: Sequence[Entry | None],
    types: Sequence[type],
    *,
    fresh: int | None = None,
) -> Emitted:
    """The function ``name(*arguments) -> tuple of results`` for arguments of these storage types.

    Nodes above an argument are not computed. A result of None is None. The first ``fresh`` results
    (all if None) never share memory with an argument nor with each other.
    """
    environment: dict[str, Any] = {}
    known: dict[Entry, Any] = {}
    names: dict[Entry, str] = {}
    for k, (entry, kind) in enumerate(zip(arguments, types, strict=True)):
        known[entry] = kind if kind in storage.STYPES else np.ndarray
        names[entry] = f"a{k}"
    lines: list[str] = []
    dispatches: dict[Node, Dispatch] = {}
    aliases = set(arguments)
    order = _between(arguments, results)
    last_use = _last_uses(order, results)
    for k, node in enumerate(order):
        call = node.call
        assert call is not None
        inputs = [e for e in node.inputs if e is not None]
        hint = node.attrs.get("__stype__") if node.attrs else None
        dispatch = call.resolve(tuple([known[e] for e in inputs]), hint)
        dispatches[node] = dispatch
        environment[f"k{k}"] = dispatch.kernel
        given = [f"v{k}"] if call.outputs == 1 else [f"v{k}_{j}" for j in range(call.outputs)]
        lines.append(f"{', '.join(given)} = k{k}({', '.join(names[e] for e in inputs)})")
        for j, variable in enumerate(given):
            known[(node, j)] = dispatch.types[j]
            names[(node, j)] = variable
            if call.op.scalar:
                lines.append(f"if not {variable}.shape: {variable} = {variable}.reshape(1)")
        if (call.op.view or call.op.copies_view) and inputs:
            aliases.update((node, j) for j in range(call.outputs))
        dead = [names[e] for e in dict.fromkeys(inputs) if last_use.get(e) is node]
        if dead:
            lines.append(" = ".join(dead) + " = None")
    returned = []
    seen: set[Entry] = set()
    for k, entry in enumerate(results):
        if entry is None:
            returned.append("None")
            continue
        text = names[entry]
        if (fresh is None or k < fresh) and (entry in aliases or entry in seen):
            text += ".copy()"
        seen.add(entry)
        returned.append(text)
    body = "\n    ".join([*lines, f"return ({', '.join(returned)}{',' if returned else ''})"])
    parameters = ", ".join(f"a{k}" for k in range(len(arguments)))
    text = f"def {name}({parameters}):\n    {body}\n"
    exec(compile(text, f"<plan {name}>", "exec"), environment)
    out_types = tuple([None if e is None else known[e] for e in results])
    return Emitted(environment[name], text, out_types, dispatches)


def _between(arguments: Sequence[Entry], results: Sequence[Entry | None]) -> list[Node]:
    """The nodes to run, in order: those the results need and the arguments do not give."""
    given = set(arguments)
    order: list[Node] = []
    done: set[Node] = set()
    for head in results:
        if head is None or head in given or head[0] in done:
            continue
        done.add(head[0])
        stack = [(head[0], iter(head[0].inputs))]
        while stack:
            node, inputs = stack[-1]
            for entry in inputs:
                if entry is None or entry in given or entry[0] in done:
                    continue
                if entry[0].call is None:
                    raise KeyError(f"variable {entry[0].name} is not among the arguments")
                done.add(entry[0])
                stack.append((entry[0], iter(entry[0].inputs)))
                break
            else:
                order.append(node)
                stack.pop()
    return order


def _last_uses(order: list[Node], results: Sequence[Entry | None]) -> dict[Entry, Node]:
    """For each entry that is not a result, the last node that reads it."""
    last: dict[Entry, Node] = {}
    for node in order:
        for entry in node.inputs:
            if entry is not None:
                last[entry] = node
    for entry in results:
        if entry is not None:
            last.pop(entry, None)
    return last


__all__ = ["Emitted", "emit", "topological"]
