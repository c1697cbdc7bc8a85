"""The text of a plan: one line a node, kernels already chosen, nothing decided while it runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import CodeType
from typing import Any

import numpy as np

from ... import storage
from ..call import Dispatch
from ..graph import Entry, Node, topological
from .fuse import Facts, exact_kernel


class Emitted:
    """A function made from a graph, its text, and the storage types of its results.

    ``run`` always works. ``fast`` is what to try first: it returns None for arguments the function
    was not made for; None where it is made for all. ``builtin`` says whether it is compiled whole.
    """

    __slots__ = ("builtin", "dispatches", "fast", "notes", "run", "text", "types")

    def __init__(self, run: Callable[..., Any], text: str, types: tuple[Any, ...], dispatches: Any):
        self.run, self.text, self.types, self.dispatches = run, text, types, dispatches
        self.fast: Callable[..., Any] | None = None
        self.builtin = False
        self.notes: list[str] = []

    def only_for(self, data: Sequence[Any]) -> Callable[..., Any]:
        """``run`` for arguments of these storage types, shapes and dtypes; None for others."""
        environment: dict[str, Any] = {"run": self.run}
        tests = []
        for k, x in enumerate(data):
            environment[f"kind{k}"], environment[f"dtype{k}"] = type(x), x.dtype
            tests.append(
                f"type(a{k}) is not kind{k} or a{k}.shape != {x.shape!r} or "
                f"a{k}.dtype is not dtype{k}"
            )
        given = ", ".join(f"a{k}" for k in range(len(data)))
        unfit = f"if {' or '.join(tests)}: return None" if tests else "pass"
        text = f"def checked({given}):\n    {unfit}\n    return run({given})\n"
        exec(_code(text, "<plan, checked>"), environment)
        checked: Callable[..., Any] = environment["checked"]
        return checked


def emit(
    name: str,
    arguments: Sequence[Entry],
    results: Sequence[Entry | None],
    types: Sequence[type],
    *,
    fresh: int | None = None,
    known: Facts | None = None,
    phantoms: Mapping[Entry, Any] | None = None,
    exact: Facts | None = None,
) -> Emitted:
    """The function ``name(*arguments) -> tuple of results`` for arguments of these storage types.

    Nodes above an argument are not computed. A result of None is None. The first ``fresh`` results
    (all if None) never share memory with an argument nor with each other. With ``known`` what can
    be is compiled for arguments of these shapes and dtypes. ``phantoms`` are entries that are only
    asked for their shape and dtype, and what answers for them. ``exact`` are the shapes that
    kernels may be made for, if nothing is compiled.
    """
    phantoms = phantoms or {}
    order = between([*arguments, *phantoms], results)
    given = [*types, *[np.ndarray] * len(phantoms)]
    dispatches, kinds = _resolve(order, [*arguments, *phantoms], given)
    notes: list[str] = []
    if known is not None:
        emitted, notes = compiled(name, arguments, results, kinds, order, known, fresh, phantoms)
        if emitted is not None:
            emitted.dispatches, emitted.notes = dispatches, notes
            emitted.types = tuple([None if e is None else kinds[e] for e in results])
            return emitted
    text = Text(name, arguments, phantoms)
    last_use = _last_uses(order, results)
    for node in order:
        text.call(node, exact_kernel(node, exact, kinds) or dispatches[node].kernel)
        text.forget([e for e in node.inputs if e is not None and last_use.get(e) is node])
    checks = [] if known is None else check_arguments(text, arguments, kinds, known)
    emitted = text.finish(results, fresh, kinds, dispatches, checks)
    emitted.notes = notes
    return emitted


def compiled(
    name: str, arguments: Sequence[Entry], results: Sequence[Entry | None],
    kinds: dict[Entry, Any], order: list[Node], known: Facts, fresh: int | None,
    phantoms: Mapping[Entry, Any],
) -> tuple[Emitted | None, list[str]]:  # fmt: skip
    """The function with its elementwise parts compiled, or None, and why the rest is not."""
    from .assemble import assemble
    from .cache import CannotCompile

    try:
        return assemble(name, arguments, results, kinds, order, known, fresh, phantoms)
    except CannotCompile as error:
        return None, [f"# not compiled: {error}"]


def check_arguments(
    text: Text, arguments: Sequence[Entry], kinds: dict[Entry, Any], known: Facts
) -> list[str]:
    """Lines that return None unless the arguments have the shapes and dtypes of ``known``."""
    if text.name != "forward":  # what a backward function is given follows from that
        return []
    from .assemble import checks
    from .cache import CannotCompile

    try:
        return checks(text, arguments, kinds, known)
    except CannotCompile:
        return []


class Text:
    """The lines of a function under construction, and the objects they name."""

    def __init__(self, name: str, arguments: Sequence[Entry], phantoms: Mapping[Entry, Any]):
        self.name = name
        self.environment: dict[str, Any] = {}
        self.names = {entry: f"a{k}" for k, entry in enumerate(arguments)}
        self.phantoms = phantoms
        for k, (entry, like) in enumerate(phantoms.items()):
            self.names[entry] = f"like{k}"
            self.environment[f"like{k}"] = like
        self.lines: list[str] = []
        self.aliases = set(arguments)
        self.count = len(arguments)
        self.calls = 0

    def call(self, node: Node, kernel: Callable[..., Any]) -> None:
        """A line that runs a node's kernel."""
        call, k = node.call, self.calls
        assert call is not None
        self.calls += 1
        inputs = [e for e in node.inputs if e is not None]
        self.environment[f"k{k}"] = kernel
        self.environment[f"n{k}"] = call.op.name  # nothing reads it but who shows what runs
        given = [f"v{k}"] if call.outputs == 1 else [f"v{k}_{j}" for j in range(call.outputs)]
        taken = ", ".join(self.names[e] for e in inputs)
        self.lines.append(f"{', '.join(given)} = k{k}({taken})  # {call.op.name}")
        for j, variable in enumerate(given):
            self.names[(node, j)] = variable
            if call.op.scalar:
                self.lines.append(f"if not {variable}.shape: {variable} = {variable}.reshape(1)")
        if (call.op.view or call.op.copies_view) and inputs:
            self.aliases.update((node, j) for j in range(call.outputs))

    def forget(self, dead: Sequence[Entry]) -> None:
        """A line that lets go of values nobody reads any more."""
        names = [self.names[e] for e in dict.fromkeys(dead) if e not in self.phantoms]
        if names:
            self.lines.append(" = ".join(names) + " = None")

    def finish(
        self, results: Sequence[Entry | None], fresh: int | None, kinds: dict[Entry, Any],
        dispatches: dict[Node, Dispatch], checks: Sequence[str] = (),
    ) -> Emitted:  # fmt: skip
        """The function, with a last line that returns the results.

        With ``checks``, lines that return None for other arguments, there is a fast one as well.
        """
        returned = []
        seen: set[Entry] = set()
        for k, entry in enumerate(results):
            if entry is None:
                returned.append("None")
                continue
            text = self.names[entry]
            if (fresh is None or k < fresh) and (entry in self.aliases or entry in seen):
                text += ".copy()"
            seen.add(entry)
            returned.append(text)
        last = f"return ({', '.join(returned)}{',' if returned else ''})"
        body = "\n    ".join([*self.lines, last])
        parameters = ", ".join(f"a{k}" for k in range(self.count))
        text = f"def {self.name}({parameters}):\n    {body}\n"
        exec(_code(text, f"<plan {self.name}>"), self.environment)
        types = tuple([None if e is None else kinds[e] for e in results])
        emitted = Emitted(self.environment[self.name], text, types, dispatches)
        if checks:
            body = "\n    ".join([*checks, body])
            text = f"def checked({parameters}):\n    {body}\n"
            exec(_code(text, f"<plan {self.name}, checked>"), self.environment)
            emitted.fast = self.environment["checked"]
        return emitted


@lru_cache(maxsize=1024)
def _code(text: str, title: str) -> CodeType:
    """The text compiled; scripts bind the same graph again and again (150 us for ten nodes)."""
    return compile(text, title, "exec")


def storages(
    heads: Sequence[Entry | None], arguments: Sequence[Entry], types: Sequence[type]
) -> dict[Entry, Any]:
    """The storage type of every entry that the heads need, for arguments of these types."""
    return _resolve(between(arguments, heads), arguments, types)[1]


def _resolve(
    order: Sequence[Node], arguments: Sequence[Entry], types: Sequence[type]
) -> tuple[dict[Node, Dispatch], dict[Entry, Any]]:
    """The kernel of each node, and the storage type of every entry."""
    kinds: dict[Entry, Any] = {}
    for entry, kind in zip(arguments, types, strict=True):
        kinds[entry] = kind if kind in storage.STYPES else np.ndarray
    dispatches: dict[Node, Dispatch] = {}
    for node in order:
        call = node.call
        assert call is not None
        hint = node.attrs.get("__stype__") if node.attrs else None
        inputs = tuple([kinds[e] for e in node.inputs if e is not None])
        dispatch = dispatches[node] = call.resolve(inputs, hint)
        kinds.update({(node, j): dispatch.types[j] for j in range(call.outputs)})
    return dispatches, kinds


def between(arguments: Sequence[Entry], results: Sequence[Entry | None]) -> list[Node]:
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
