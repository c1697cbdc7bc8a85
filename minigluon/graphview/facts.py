"""What a page says about a graph: shapes, dtypes, storage types, dispatch, parameters, bytes."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from .. import symbol as sym
from ..base import ArgumentTypeError, four_lines
from ..core import infer
from ..core.graph import Entry, Node
from ..symbol import Symbol
from ..symbol.executor import Executor
from ..symbol.facts import is_complete

#: what operators call the inputs that are learnt
LEARNT = {"weight", "bias", "gamma", "beta", "parameters"}


@dataclass
class Value:
    """One output of a node; ``shape`` is None where it does not follow."""

    name: str
    shape: tuple[int, ...] | None = None
    dtype: str = "float32"
    stype: str = "default"

    @property
    def bytes(self) -> int | None:
        """How much a dense array of it takes."""
        if self.shape is None:
            return None
        return prod(self.shape) * np.dtype(self.dtype).itemsize


@dataclass
class Box:
    """A node as it is drawn; parameters that only it uses stand in it."""

    key: int
    name: str
    op: str
    outputs: list[Value]
    attrs: dict[str, str] = field(default_factory=dict)
    sources: list[tuple[int, int]] = field(default_factory=list)
    parameters: list[Value] = field(default_factory=list)
    mode: str = ""
    fallback: int | None = None  # bytes of dense copies; None where it does not fall back
    is_parameter: bool = False


@dataclass
class Graph:
    """The boxes of a graph in topological order, and sums over it."""

    title: str
    boxes: list[Box]
    parameters: list[Value]

    def totals(self) -> dict[str, int]:
        """Numbers of nodes and parameters, and bytes, as far as shapes are known."""
        results = [v for b in self.boxes if b.op for v in b.outputs]
        return {
            "operators": sum(bool(b.op) for b in self.boxes),
            "parameters": sum(prod(v.shape) for v in self.parameters if v.shape is not None),
            "bytes of parameters": _total(self.parameters),
            "bytes of results": _total(results),
            "fallbacks": sum(b.fallback is not None for b in self.boxes),
            "bytes of dense copies": sum(b.fallback or 0 for b in self.boxes),
        }


def _total(values: list[Value]) -> int:
    return sum(v.bytes or 0 for v in values)


def graph_of(thing: Any, shape: Any = None, dtype: Any = None, title: str | None = None) -> Graph:
    """What there is to say about a symbol, an executor or a hybrid block.

    ``shape`` and ``dtype`` are those of the inputs, by name.
    """
    symbol, shapes, dtypes, stypes = _parts(thing)
    shapes.update(_checked(shape, "shape"))
    dtypes.update(_checked(dtype, "dtype"))
    nodes = symbol._nodes()
    internals = symbol.get_internals()
    entries = internals._entries
    names = {n.name for n in nodes if n.call is None}
    known = {k: v for k, v in shapes.items() if k in names}
    found = dict(zip(entries, internals.infer_shape_partial(**known)[1], strict=True))
    known = {k: v for k, v in dtypes.items() if k in names}
    kinds = dict(zip(entries, internals.infer_type_partial(**known)[1], strict=True))
    labels = dict(zip(entries, internals.list_outputs(), strict=True))
    given = {n: stypes.get(n.name) or _declared(n) for n in nodes if n.call is None}
    stored, dispatches = infer.storages(symbol._entries, given)

    def value(entry: Entry) -> Value:
        size, kind = found.get(entry), kinds.get(entry)
        return Value(
            labels[entry],
            tuple(map(int, size)) if is_complete(size) else None,
            np.dtype(kind or np.float32).name,  # what an executor makes of an unknown one
            stored.get(entry, "default"),
        )

    learnt = _learnt(nodes, {*_checked(shape, "shape")})
    users = _users(nodes)
    inside = {n for n in learnt if len(users.get(n, ())) == 1}
    number = {n: k for k, n in enumerate([n for n in nodes if n not in inside])}
    boxes = []
    for node, key in number.items():
        if node.call is None:
            box = Box(key, node.name, "", [value((node, 0))])
            box.is_parameter = node in learnt
        else:
            box = _operator(node, key, number, inside, value)
            dispatch = dispatches.get(node)
            if dispatch is not None:
                box.mode = dispatch.mode
                if dispatch.mode == "fcompute_fallback":
                    box.fallback = _copies(node, box, value)
        boxes.append(box)
    title = title or ", ".join(symbol.list_outputs()[:3])
    return Graph(title, boxes, [value((n, 0)) for n in nodes if n in learnt])


def _operator(node: Node, key: int, number: dict[Node, int], inside: set[Node], value: Any) -> Box:
    call = node.call
    assert call is not None
    outputs = [value((node, k)) for k in range(call.visible)]
    shown = {k: v for k, v in (node.attrs or {}).items() if not k.startswith("__")}
    box = Box(key, node.name, call.op.name, outputs, shown)
    for entry in node.inputs:
        if entry is None:
            continue
        if entry[0] in inside:
            box.parameters.append(value(entry))
        else:
            box.sources.append((number[entry[0]], entry[1]))
    return box


def _copies(node: Node, box: Box, value: Any) -> int:
    """The bytes of the dense copies a fallback makes: of sparse inputs and of sparse results."""
    sides = [value(e) for e in node.inputs if e is not None] + box.outputs
    return sum(v.bytes or 0 for v in sides if v.stype != "default")


def _declared(node: Node) -> str:
    """The storage type a variable was made with."""
    from ..storage import FLAGS

    flag = (node.attrs or {}).get("__storage_type__", "0")
    names = {number: name for name, number in FLAGS.items()}
    return names.get(int(flag), "default") if int(flag) >= 0 else "default"


def _learnt(nodes: list[Node], inputs: set[str]) -> set[Node]:
    """The variables that are parameters: by what operators call them, or by their own shape."""
    found = set()
    for node in nodes:
        if node.call is None:
            if "__shape__" in (node.attrs or {}) and node.name not in inputs:
                found.add(node)
            continue
        named = node.call.op.names_of_inputs(node.call.attrs, len(node.inputs))
        changed = set(node.call.op.mutates)
        for name, entry in zip(named, node.inputs, strict=False):
            if entry is None or entry[0].call is not None or entry[0].name in inputs:
                continue
            if name in LEARNT or name in changed:
                found.add(entry[0])
    return found


def _users(nodes: list[Node]) -> dict[Node, list[Node]]:
    users: dict[Node, list[Node]] = {}
    for node in nodes:
        for entry in node.inputs:
            if entry is not None:
                users.setdefault(entry[0], []).append(node)
    return users


def _parts(thing: Any) -> tuple[Symbol, dict[str, Any], dict[str, Any], dict[str, str]]:
    """The symbol of a thing, and what is known of its arguments by name."""
    from ..gluon import HybridBlock

    if isinstance(thing, Symbol):
        return thing, {}, {}, {}
    if isinstance(thing, Executor):
        arrays = {**thing.arg_dict, **thing.aux_dict}
        return (
            thing._symbol,
            {n: x.shape for n, x in arrays.items()},
            {n: x.dtype for n, x in arrays.items()},
            {n: x.stype for n, x in arrays.items()},
        )
    if isinstance(thing, HybridBlock):
        graph = thing._cached_graph
        outputs = graph[1] if graph else thing(sym.var("data"))
        if isinstance(outputs, list | tuple):
            outputs = sym.Group(list(outputs))
        known = {n: p for n, p in thing.collect_params().items() if is_complete(p.shape)}
        return (
            outputs,
            {n: p.shape for n, p in known.items()},
            {n: p.dtype for n, p in known.items()},
            {},
        )
    raise ArgumentTypeError(
        four_lines(
            "html: this cannot be shown.", f"a {type(thing).__name__}",
            "a Symbol, an Executor or a HybridBlock", "pass the output symbol of the network",
        )
    )  # fmt: skip


def _checked(value: Any, argument: str) -> dict[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ArgumentTypeError(
            four_lines(
                f"html: {argument} is not a mapping.", f"{argument}={value!r:.80}",
                "a dictionary by names of inputs", f"pass {argument}={{'data': ...}}",
            )
        )  # fmt: skip
    return value
