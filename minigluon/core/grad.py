"""Gradients: rules traced once per Call, and the reverse sweep over graphs and over the tape."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from heapq import heappop, heappush
from typing import Any

import numpy as np

from ..base import MXNetError
from .call import Call
from .explain import in_node, not_differentiable
from .graph import Entry, Node, by_age, substitute, topological, variable
from .invoke import invoke, wrap
from .op import Op, registry
from .plan.emit import emit
from .plan.fuse import Like as Like
from .state import state
from .trace import Expr, F


class Gradient:
    """The traced gradient of a Call: a graph from its output gradients, inputs and outputs.

    ``results[i]`` is the entry of the gradient of input ``i``, or None where there is none.
    """

    __slots__ = ("call", "heads", "inputs", "keep", "kept", "outputs", "refused", "results")

    def __init__(self, call: Call, count: int):
        self.call = call
        self.refused = call.op.grad_rule is None  # an error where a gradient arrives, not before
        self.inputs = [variable(f"x{k}") for k in range(count)]
        self.outputs = [variable(f"y{k}") for k in range(call.outputs)]
        self.heads = [variable(f"g{k}") for k in range(call.outputs)]
        self.results = self._trace()
        values, shapes = _reads(self.results, self.inputs + self.outputs)
        if call.outputs > 1:  # zeros stand for the gradient of an output that nothing uses
            shapes |= set(self.outputs) - values
        self.kept: list[Entry] = [e for e in self.inputs + self.outputs if e in values | shapes]
        self.keep = self._keeper(values)

    def _trace(self) -> list[Entry | None]:
        rule = self.call.op.grad_rule
        if rule is None or rule == "zero":
            return [None] * len(self.inputs)
        g, out = self.heads, self.outputs
        single = self.call.outputs == 1
        got = rule(
            F,
            Expr(g[0]) if single else tuple(map(Expr, g)),
            *[Expr(x) for x in self.inputs],
            out=Expr(out[0]) if single else tuple(map(Expr, out)),
            **self.call.attrs,
        )
        got = tuple(got) if isinstance(got, tuple | list) else (got,)
        if len(got) < len(self.inputs):
            got = (*got, *[None] * (len(self.inputs) - len(got)))
        results = [None if r is None else r.entry for r in got[: len(self.inputs)]]
        stype = self.call.op.grad_stype
        for entry in results:
            if stype is not None and entry is not None and entry[0].call is not None:
                entry[0].attrs = {"__stype__": stype}
        return results

    def _keeper(self, values: set[Entry]) -> Callable[[Any, Any], tuple[Any, ...]]:
        """A function of (inputs, result) that picks what the tape has to hold on to."""
        single = self.call.outputs == 1
        places = {e: f"data[{k}]" for k, e in enumerate(self.inputs)}
        places.update(
            {e: "result" if single else f"result[{k}]" for k, e in enumerate(self.outputs)}
        )
        picked = [
            places[e] if e in values else f"Like({places[e]}.shape, {places[e]}.dtype)"
            for e in self.kept
        ]
        text = f"lambda data, result: ({''.join(p + ', ' for p in picked)})"
        keep: Callable[[Any, Any], tuple[Any, ...]] = eval(text, {"Like": Like})
        return keep

    def kept_types(self, types: tuple[type, ...]) -> tuple[type, ...]:
        """The storage types of the kept values, for a Call on these that has one dense output."""
        known = dict(zip(self.inputs, types, strict=True))
        return tuple([known.get(e, np.ndarray) for e in self.kept])

    def pullback(self, wanted: tuple[bool, ...], types: tuple[type, ...]) -> Any:
        """A function of output gradients and kept values giving the wanted inputs' gradients."""
        if self.refused:
            return self.refuse
        results = [r if w else None for r, w in zip(self.results, wanted, strict=True)]
        arguments = self.heads + self.kept
        name = f"{self.call.op.name}_pullback"
        return emit(name, arguments, results, types, fresh=0).run

    def refuse(self, *arguments: Any) -> Any:
        """Raise ``MXNetError``: the operator has no gradient."""
        raise not_differentiable(self.call)


def _reads(
    results: Sequence[Entry | None], candidates: list[Entry]
) -> tuple[set[Entry], set[Entry]]:
    """Which candidates the graph reads for their values, and which only for their shape."""
    values: set[Entry] = {r for r in results if r in candidates}
    shapes: set[Entry] = set()
    for node in topological(results):
        if node.call is None:
            continue
        op = node.call.op
        names = op.names_of_inputs(node.call.attrs, len(node.inputs))
        for k, (name, entry) in enumerate(zip(names, node.inputs, strict=False)):
            if entry in candidates:
                role = op.variadic if op.variadic and k >= len(op.inputs) else name
                (shapes if role in op.shape_only else values).add(entry)
    return values, shapes - values


def trace(call: Call, count: int) -> Gradient:
    """The Call's gradient on so many inputs, traced on first use."""
    gradient: Gradient | None = call.gradients.get(count)
    if gradient is None:
        gradient = call.gradients[count] = Gradient(call, count)
    return gradient


def symbolic(
    heads: Sequence[Entry], seeds: Sequence[Entry | None], wanted: Iterable[Node]
) -> dict[Entry, Entry]:
    """The gradients of heads as a graph: from each wanted variable's entry to its gradient's.

    ``seeds`` are the entries of the head gradients (None: ones). Variables that the heads do not
    depend on are absent from the result.
    """
    total = registry["_grad_add"].call()
    ones = registry["ones_like"].call()
    zeros = registry["zeros_like"].call()
    wanted = set(wanted)
    nodes = topological(heads)
    needs = set(wanted)
    for node in nodes:
        if any(e is not None and e[0] in needs for e in node.inputs):
            needs.add(node)
    grads: dict[Entry, Entry] = {}

    def accumulate(entry: Entry, grad: Entry) -> None:
        old = grads.get(entry)
        grads[entry] = grad if old is None else (Node(total, (old, grad), "grad_add"), 0)

    for head, seed in zip(heads, seeds, strict=True):
        if head[0] in needs:
            accumulate(head, seed or (Node(ones, (head,), "ones"), 0))
    for node in reversed(nodes):
        if node.call is None or node not in needs:
            continue
        incoming = [grads.pop((node, k), None) for k in range(node.call.outputs)]
        if all(g is None for g in incoming):
            continue
        gradient = node.call.op.gradient_of(node.call, len(node.inputs))
        if gradient.refused:
            raise in_node(node, not_differentiable(node.call))
        replace: dict[Entry, Entry] = {}
        for k, g in enumerate(incoming):
            replace[gradient.heads[k]] = g or (Node(zeros, ((node, k),), "zeros"), 0)
            replace[gradient.outputs[k]] = (node, k)
        actuals = zip(gradient.inputs, node.inputs, strict=True)
        replace.update({formal: actual for formal, actual in actuals if actual is not None})
        asked = [
            r if e is not None and e[0] in needs else None
            for r, e in zip(gradient.results, node.inputs, strict=True)
        ]
        for entry, got in zip(node.inputs, substitute(asked, replace), strict=True):
            if entry is not None and got is not None:
                accumulate(entry, got)
    return {(n, 0): grads[(n, 0)] for n in wanted if (n, 0) in grads}


def sweep(
    heads: Sequence[Entry],
    seeds: Sequence[Any],
    sink: Callable[[Node, Any], None],
    keep_values: bool,
    wanted: set[Node] | None = None,
) -> int:
    """Run the tape backwards on storages, handing each leaf its gradient.

    The youngest node goes first, so every node has all its gradients when its turn comes.
    ``wanted`` limits the sweep to some leaves. Leaves that the heads depend on only through what
    has gradient zero get zeros. The number of leaves reached is returned. Raises ``MXNetError`` for
    an operator without gradient.
    """
    live = None if wanted is None else _live(heads, wanted)
    quietly, array = state.quietly, np.ndarray
    grads: dict[Node, Any] = {}  # a gradient, or a list of them for a node of several outputs
    waiting: list[tuple[int, Node]] = []
    flat: list[Node] = []  # what would have got a gradient of zero
    reached: set[Node] = set()
    for (node, k), seed in zip(heads, seeds, strict=True):
        if live is None or node in live:
            if node not in grads:
                heappush(waiting, (-node.number, node))
            _accumulate(grads, node, k, seed)
    while waiting:
        node = heappop(waiting)[1]
        g = grads.pop(node)
        run = node.pull
        entries = node.inputs
        if run is not None and live is None and type(g) is array and node.values is not None:
            results = quietly(run, g, *node.values)
        elif node.call is None:
            sink(node, g)
            reached.add(node)
            continue
        else:
            call = node.call
            mask = tuple([e is not None and (live is None or e[0] in live) for e in entries])
            results = call.op.pull(call, node, g if call.outputs > 1 else [g], mask)
        if not keep_values:
            node.values = None
        for entry, got in zip(entries, results):  # noqa: B905  (strict costs in the loop)
            if entry is None:
                continue
            source, k = entry
            if got is None:
                flat.append(source)
            elif live is not None and source not in live:
                continue
            elif source in grads:
                _accumulate(grads, source, k, got)
            else:
                heappush(waiting, (-source.number, source))
                if source.call is None or source.call.outputs == 1:
                    grads[source] = got
                else:
                    _accumulate(grads, source, k, got)
    for node in by_age([(n, 0) for n in flat]) if flat else ():
        if node.call is None and node not in reached and (live is None or node in live):
            sink(node, ZERO)
            reached.add(node)
    return len(reached)


def _live(heads: Sequence[Entry], wanted: set[Node]) -> set[Node]:
    """The wanted nodes and all that depend on them."""
    live = set(wanted)
    for node in by_age(heads):
        if any(e is not None and e[0] in live for e in node.inputs):
            live.add(node)
    return live


def _accumulate(grads: dict[Node, Any], node: Node, k: int, value: Any) -> None:
    """Add a gradient of one of a node's outputs to what has come already."""
    held = grads.get(node)
    if node.call is None or node.call.outputs == 1:
        grads[node] = value if held is None else add(held, value)
        return
    if held is None:
        held = grads[node] = [None] * node.call.outputs
    held[k] = value if held[k] is None else add(held[k], value)


_ADD: list[Call] = []


def add(left: Any, right: Any) -> Any:
    """The sum of two gradients; sparse ones stay sparse."""
    if not _ADD:
        _ADD.append(registry["_grad_add"].call())
    types = (type(left), type(right))
    return state.quietly(_ADD[0].memo.get(types) or _ADD[0].kernel(types), left, right)


def pull(call: Call, node: Node, incoming: list[Any], wanted: tuple[bool, ...]) -> Any:
    """The gradients of a node's inputs, from those of its outputs and what the tape kept."""
    values = node.values
    if values is None:
        raise released(call.op.name)
    arguments = (*incoming, *values)
    if call.outputs > 1 and any(g is None for g in incoming):
        gradient = trace(call, len(node.inputs))
        filled = [
            _zeros_for(gradient, k, values) if g is None else g for k, g in enumerate(incoming)
        ]
        arguments = (*filled, *values)
    types = tuple([type(a) for a in arguments])
    key = (wanted, types)
    run = call.pullbacks.get(key)
    if run is None:
        run = call.pullbacks[key] = trace(call, len(node.inputs)).pullback(wanted, types)
    return state.quietly(run, *arguments)


def released(name: str) -> MXNetError:
    """The tape was run backwards before."""
    return MXNetError(
        f"{name}: Cannot differentiate node because it is not in a computational "
        "graph.\n  received  a graph whose values were released by an earlier backward\n"
        "  expected  one backward per recording, or retain_graph=True on the earlier ones\n"
        "  fix       call backward(retain_graph=True) the first time, or record again"
    )


def _zeros_for(gradient: Gradient, k: int, values: Any) -> Any:
    """Zeros in the shape of an output that no gradient came for."""
    return zeros_like(values[gradient.kept.index(gradient.outputs[k])])


def zeros_like(like: Any) -> np.ndarray:
    """Dense zeros in the shape and dtype of a storage, or of what stands for one."""
    return np.zeros(like.shape, like.dtype)


#: a gradient of zero of whatever shape is needed
ZERO = np.zeros((), np.float32)


def pull_recorded(call: Call, node: Node, incoming: list[Any], wanted: tuple[bool, ...]) -> Any:
    """Like `pull`, on arrays and through `invoke`, so that the backward pass is itself recorded."""
    gradient = trace(call, len(node.inputs))
    if gradient.refused:
        gradient.refuse()
    values: dict[Entry, Any] = {}
    for entry, x in zip(gradient.kept, node.values, strict=True):
        values[entry] = wrap(x, None) if type(x) is not Like else x
    for formal, actual in zip(gradient.inputs, node.inputs, strict=True):
        if formal in values and type(values[formal]) is not Like and actual is not None:
            values[formal]._entry = actual
    for k, formal in enumerate(gradient.outputs):
        if formal in values and type(values[formal]) is not Like:
            values[formal]._entry = (node, k)
    for k, g in enumerate(incoming):
        if g is None:
            g = wrap(_zeros_for(gradient, k, node.values), None)
        values[gradient.heads[k]] = g
    results = [r if w else None for r, w in zip(gradient.results, wanted, strict=True)]
    for inner in topological(results):
        if inner.call is None:
            continue
        inputs = [values[e] for e in inner.inputs if e is not None]
        inputs = [_realise(x) if type(x) is Like else x for x in inputs]
        got = invoke(inner.call, inputs)
        for k, x in enumerate(got if isinstance(got, list) else [got]):
            values[(inner, k)] = x
    return [None if r is None else values[r] for r in results]


def _realise(like: Like) -> Any:
    return wrap(np.zeros(like.shape, like.dtype), None)


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


Op.gradient_of = staticmethod(trace)  # type: ignore[method-assign]
Op.pull = staticmethod(pull)  # type: ignore[method-assign]
Op.pull_recorded = staticmethod(pull_recorded)  # type: ignore[method-assign]
