"""The same graph with less in it: what changes nothing goes, what comes twice is done once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...kernels.scalar import Unsupported
from ..graph import Entry, Node, topological
from .fuse import Facts, lower
from .loops import Array

#: operator name -> a function that writes it as two, of which the second is compiled
SPLITS: dict[str, Callable[..., Any]] = {}


def splits(name: str) -> Any:
    """Decorate a function of expressions and attributes that writes an operator as others.

    It is applied where no kernel has to read the result, so that its last part joins a loop.
    """

    def attach(function: Any) -> Any:
        SPLITS[name] = function
        return function

    return attach


#: operator name -> a function that writes it as others, so that most of it can be compiled
REWRITES: dict[str, Callable[..., Any]] = {}


def rewrites(name: str) -> Any:
    """Decorate a function of a node, its inputs and `Facts`: the entries of its outputs, anew.

    It tells the facts about the nodes between; those of the outputs are learnt here.
    """

    def attach(function: Any) -> Any:
        REWRITES[name] = function
        return function

    return attach


def simplify(
    heads: Sequence[Entry | None], known: Facts, dense: Callable[[Entry], bool], count: int,
    splits: bool,
) -> list[Entry | None]:  # fmt: skip
    """The heads of the simpler graph; ``known`` learns about its entries.

    The first ``count`` heads are outputs. Operators are written as others only if ``splits``.
    """
    lowered = _lowered(heads, known, dense)
    joining = _joining(heads, lowered, count) if splits else set()
    now: dict[Entry, Entry] = {}
    seen: dict[Any, Node] = {}
    for node in topological(heads):
        call = node.call
        if call is None:
            continue
        inputs = tuple([None if e is None else now.get(e, e) for e in node.inputs])
        same = _passes_on(node, lowered)
        if same is not None:
            now[(node, 0)] = now.get(same, same)
            continue
        if node in joining:
            now[(node, 0)] = _split(node, inputs, known)
            continue
        rewrite = REWRITES.get(call.op.name) if splits and node not in lowered else None
        if rewrite is not None:
            for k, entry in enumerate(rewrite(node, inputs, known)):
                now[(node, k)] = entry
                known.learn(entry, (node, k))
            continue
        hint = (node.attrs or {}).get("__stype__")
        pure = not call.op.mutates and "rng" not in call.op.injects
        found = seen.get((call, inputs, hint)) if pure else None
        if found is None:
            found = node
            if inputs != node.inputs:
                found = Node(call, inputs, node.name, node.attrs)
            seen[call, inputs, hint] = found
        if found is not node:
            for k in range(call.outputs):
                now[(node, k)] = (found, k)
                known.learn((found, k), (node, k))
    return [None if h is None else now.get(h, h) for h in heads]


def _lowered(
    heads: Sequence[Entry | None], known: Facts, dense: Callable[[Entry], bool]
) -> dict[Node, tuple[list[Array], tuple[Array, ...]]]:
    """The nodes that have a compiled form: their inputs and outputs as Arrays."""
    found = {}
    for node in topological(heads):
        if node.call is None or not dense((node, 0)):
            continue
        entries = [e for e in node.inputs if e is not None]
        if not all(dense(e) for e in entries):
            continue
        try:
            inputs = [known.array(e) for e in entries]
            found[node] = inputs, lower(node, inputs, known)
        except Unsupported:
            continue
    return found


def _passes_on(node: Node, lowered: dict[Node, Any]) -> Entry | None:
    """The input a node gives back unchanged, if it does nothing else."""
    if node not in lowered or node.call is None or node.call.outputs != 1:
        return None
    inputs, results = lowered[node]
    entries = [e for e in node.inputs if e is not None]
    for entry, array in zip(entries, inputs, strict=True):
        if results[0] is array:
            return entry
    return None


def _joining(heads: Sequence[Entry | None], lowered: dict[Node, Any], count: int) -> set[Node]:
    """The nodes to split: those whose result only compiled nodes read."""
    users: dict[Node, list[Node]] = {}
    nodes = topological(heads)
    for node in nodes:
        for entry in node.inputs:
            if entry is not None:
                users.setdefault(entry[0], []).append(node)
    outputs = {h[0] for h in heads if h is not None}
    return {
        n for n in nodes
        if n.call is not None and n.call.op.name in SPLITS and n not in lowered
        and n not in outputs and all(u in lowered for u in users[n]) and len(n.inputs) > 2
    }  # fmt: skip


def _split(node: Node, inputs: Sequence[Any], known: Facts) -> Entry:
    from ..trace import Expr, F

    call = node.call
    assert call is not None
    made: Entry = SPLITS[call.op.name](F, *map(Expr, inputs), **call.attrs).entry
    first = made[0].inputs[0]
    assert first is not None
    known.learn(made, (node, 0))
    known.learn(first, (node, 0))
    return made
