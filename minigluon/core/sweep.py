"""The reverse sweep over the tape: on storages, and on arrays where it is itself recorded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np

from .call import Call
from .grad import ZERO, add, released, zeros_like
from .graph import Entry, Node, by_age, topological
from .invoke import invoke, wrap
from .note import Pull
from .op import Op, registry
from .plan.fuse import Like
from .state import state


def sweep(
    heads: Sequence[Entry],
    seeds: Sequence[Any],
    sink: Callable[[Node, Any], None],
    keep_values: bool,
    wanted: set[Node] | None = None,
) -> int:
    """Run the tape backwards on storages, handing each leaf its gradient.

    The youngest node goes first, so every node has all its gradients when its turn comes; leaves
    come last. ``wanted`` limits the sweep to some leaves. Leaves that the heads depend on only
    through what has gradient zero get zeros. The number of leaves reached is returned. Raises
    ``MXNetError`` for an operator without gradient.
    """
    live = None if wanted is None else _live(heads, wanted)
    quietly, array = state.quietly, np.ndarray
    leaves: dict[Node, Any] = {}
    flat: list[Node] = []  # what would have got a gradient of zero
    sums: set[Node] = set()  # those whose gradient is a sum made here
    node: Any
    ahead: Any = None  # the next node while it is the only one, and g its gradient
    g: Any = None
    waiting: list[tuple[int, Node]] = []  # the others
    grads: dict[Node, Any] = {}  # theirs, a list for a node of several outputs
    entries: Any = heads
    results: Any = seeds
    while True:
        for entry, got in zip(entries, results):  # noqa: B905  (strict costs in the loop)
            if entry is None:
                continue
            source, k = entry
            if got is None:
                flat.append(source)
                continue
            if live is not None and source not in live:
                continue
            call = source.call
            if call is None:
                held = leaves.get(source)
                leaves[source] = got if held is None else _sum(held, got, source, sums)
            elif source is ahead:
                g = _sum(g, got, source, sums)
            elif ahead is None and not waiting and call.outputs == 1:
                ahead, g = source, got
            else:
                if ahead is not None:
                    heappush(waiting, (-ahead.number, ahead))
                    grads[ahead], ahead = g, None
                if source not in grads:
                    heappush(waiting, (-source.number, source))
                    parts = [None] * call.outputs
                    parts[k] = got
                    grads[source] = got if call.outputs == 1 else parts
                elif call.outputs == 1:
                    grads[source] = _sum(grads[source], got, source, sums)
                else:
                    parts = grads[source]
                    parts[k] = got if parts[k] is None else add(parts[k], got)
        if ahead is not None:
            node, ahead = ahead, None
        elif waiting:
            node = heappop(waiting)[1]
            g = grads.pop(node)
        else:
            break
        while True:  # along a chain without looking at other nodes, which takes 0.2 us for each
            entries, pull, values = node.inputs, node.pull, node.values
            if type(pull) is not Pull or type(g) is not array or live is not None or values is None:
                call = node.call
                mask = tuple([e is not None and (live is None or e[0] in live) for e in entries])
                results = call.op.pull(call, node, g if call.outputs > 1 else [g], mask)
                only = None
            else:
                results = quietly(pull.run, g, values)
                only = pull.only
            if not keep_values:
                node.values = None
            if only is None or waiting:
                break
            source = entries[only][0]
            if source.call is None or source.call.outputs > 1:
                break
            node, g = source, results[only]
    for node in by_age([(n, 0) for n in flat]) if flat else ():
        if node.call is None and node not in leaves and (live is None or node in live):
            leaves[node] = ZERO
    for node, g in leaves.items():
        sink(node, g)
    return len(leaves)


def _sum(held: Any, got: Any, node: Node, sums: set[Node]) -> Any:
    """The sum of two gradients of a node, in the memory of the first if that is a sum made here."""
    if node not in sums:
        sums.add(node)
    elif type(held) is type(got) is np.ndarray and held.shape == got.shape:
        return state.quietly(np.add, held, got, held)
    return add(held, got)


def _live(heads: Sequence[Entry], wanted: set[Node]) -> set[Node]:
    """The wanted nodes and all that depend on them."""
    live = set(wanted)
    for node in by_age(heads):
        if any(e is not None and e[0] in live for e in node.inputs):
            live.add(node)
    return live


def pull(call: Call, node: Node, incoming: list[Any], wanted: tuple[bool, ...]) -> Any:
    """The gradients of a node's inputs, from those of its outputs and what the tape kept."""
    if node.values is None:
        raise released(call.op.name)
    way, values = node.pull, node.values
    sparse = _sparse(incoming)
    if sparse is not None:
        way, values = way.close(call, values, sparse)
    filled = [_zeros_for(way, k, values) if g is None else g for k, g in enumerate(incoming)]
    arguments = (*filled, *values)
    return state.quietly(way.function(wanted, tuple(map(type, arguments))), *arguments)


def _sparse(incoming: list[Any]) -> Any:
    """A sparse gradient among these, if there is one."""
    return next((g for g in incoming if g is not None and type(g) is not np.ndarray), None)


def _zeros_for(way: Pull, k: int, values: Any) -> Any:
    """Zeros in the shape of an output that no gradient came for."""
    return zeros_like(values[way.kept.index(way.gradient.outputs[k])])


def pull_recorded(call: Call, node: Node, incoming: list[Any], wanted: tuple[bool, ...]) -> Any:
    """Like `pull`, on arrays and through `invoke`, so that the backward pass is itself recorded."""
    if node.values is None:
        raise released(call.op.name)
    sparse = _sparse([None if g is None else g._data for g in incoming])
    way, kept = node.pull.close(call, node.values, sparse)
    gradient = way.gradient
    gradient.refuse()
    own = [(node, k) for k in range(call.outputs)]
    actual = dict(zip(gradient.inputs + gradient.outputs, (*node.inputs, *own), strict=True))
    values: dict[Entry, Any] = {}
    for formal, x in zip(way.kept, kept, strict=True):
        values[formal] = x if type(x) is Like else wrap(x, None, actual[formal])
    for k, g in enumerate(incoming):
        if g is None:
            g = wrap(_zeros_for(way, k, kept), None)
        values[gradient.heads[k]] = g
    results = [r if w else None for r, w in zip(way.results, wanted, strict=True)]
    for inner in topological(results):
        if inner.call is None:
            continue
        given = [values[e] for e in inner.inputs if e is not None]
        given = [wrap(zeros_like(x), None) if type(x) is Like else x for x in given]
        got = invoke(inner.call, given)
        for k, x in enumerate(got if isinstance(got, list) else [got]):
            values[(inner, k)] = x
    return [None if r is None else values[r] for r in results]


def sweep_recorded(
    heads: Sequence[Entry], seeds: Sequence[Any], wanted: Sequence[Node]
) -> dict[Node, Any]:
    """The sweep on arrays, recorded: what ``create_graph=True`` runs."""
    total = registry["_grad_add"].call()
    grads: dict[Entry, Any] = {}
    found: dict[Node, Any] = {}
    nodes = topological(heads)
    live = set(wanted)
    for node in nodes:
        if any(e is not None and e[0] in live for e in node.inputs):
            live.add(node)

    def accumulate(entry: Entry, g: Any) -> None:
        old = grads.get(entry)
        grads[entry] = g if old is None else invoke(total, (old, g))

    for head, seed in zip(heads, seeds, strict=True):
        accumulate(head, seed)
    asked = set(wanted)
    for node in reversed(nodes):
        if node not in live:
            continue
        if node in asked:
            got = grads.get((node, 0))
            if got is not None:
                found[node] = got
        if node.call is None:
            continue
        incoming = [grads.pop((node, k), None) for k in range(node.call.outputs)]
        if all(g is None for g in incoming):
            continue
        mask = tuple([e is not None and e[0] in live for e in node.inputs])
        results = node.call.op.pull_recorded(node.call, node, incoming, mask)
        for entry, got in zip(node.inputs, results, strict=False):
            if entry is not None and got is not None and entry[0] in live:
                accumulate(entry, got)
    return found


Op.pull = staticmethod(pull)  # type: ignore[method-assign]
Op.pull_recorded = staticmethod(pull_recorded)  # type: ignore[method-assign]
