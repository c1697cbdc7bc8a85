"""Nodes, the edges between them, and the one topological order of graphs and of the tape."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import count
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from .call import Call


#: the ages of nodes
numbers = count()


class Node:
    """A Call and where its inputs come from; a variable has no Call.

    ``values`` is None on symbols; on the tape it holds what the gradient needs. ``attrs`` are the
    textual attributes users see on symbols. ``pull`` is, on the tape, the function that gives the
    inputs' gradients. Nodes are numbered as they are made, inputs before what is made of them.
    """

    __slots__ = ("__weakref__", "attrs", "call", "inputs", "name", "number", "pull", "values")

    def __init__(
        self,
        call: Call | None,
        inputs: tuple[Entry | None, ...] = (),
        name: str = "",
        attrs: dict[str, str] | None = None,
        values: Any = None,
    ):
        self.call, self.inputs, self.name, self.values = call, inputs, name, values
        self.attrs: dict[str, str] | None = attrs
        self.pull: Any = None
        self.number = next(numbers)

    def __repr__(self) -> str:
        return (
            f"<Node {self.call.op.name if self.call else 'variable'} {getattr(self, 'name', '')}>"
        )


#: one output of a node
Entry: TypeAlias = tuple[Node, int]


def variable(name: str, attrs: dict[str, str] | None = None) -> Entry:
    """A new variable's only entry."""
    return (Node(None, (), name, attrs), 0)


def topological(heads: Iterable[Entry | None]) -> list[Node]:
    """Every node the heads depend on, each after its inputs, depth first from left to right."""
    order: list[Node] = []
    seen: set[Node] = set()
    for head in heads:
        if head is None or head[0] in seen:
            continue
        seen.add(head[0])
        stack = [(head[0], iter(head[0].inputs))]
        while stack:
            node, inputs = stack[-1]
            for entry in inputs:
                if entry is not None and entry[0] not in seen:
                    child = entry[0]
                    seen.add(child)
                    if child.inputs:
                        stack.append((child, iter(child.inputs)))
                        break
                    order.append(child)
            else:
                order.append(node)
                stack.pop()
    return order


def by_age(heads: Iterable[Entry]) -> list[Node]:
    """Every node the heads depend on, oldest first: also an order that puts inputs first."""
    seen: set[Node] = set()
    stack = [head[0] for head in heads]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack += [entry[0] for entry in node.inputs if entry is not None]
    return sorted(seen, key=_number)


_number = attrgetter("number")


def is_unsized(node: Node) -> bool:
    """Whether a node makes an array from nothing, in a shape with lengths still to be found."""
    call = node.call
    return call is not None and not node.inputs and 0 in (call.attrs.get("shape") or ())


def substitute(heads: Iterable[Entry | None], replace: dict[Entry, Entry]) -> list[Entry | None]:
    """The heads with some entries replaced: nodes below them are copied where they change."""
    copies: dict[Entry, Entry] = dict(replace)

    def current(entry: Entry | None) -> Entry | None:
        return None if entry is None else copies.get(entry, entry)

    heads = list(heads)
    for node in topological(heads):
        if node.call is None:
            continue
        inputs = tuple([current(e) for e in node.inputs])
        if inputs != node.inputs:
            new = Node(node.call, inputs, node.name, node.attrs)
            for k in range(node.call.outputs):
                copies.setdefault((node, k), (new, k))
    return [current(e) for e in heads]


def instantiate(heads: Iterable[Entry]) -> list[Entry]:
    """The heads, operators that remember something from run to run replaced by fresh ones.

    Without such operators nothing is copied.
    """
    heads = list(heads)
    nodes = topological(heads)
    if not any(node.call is not None and node.call.op.instance is not None for node in nodes):
        return heads
    copies: dict[Entry, Entry] = {}
    for node in nodes:
        call = node.call
        if call is None:
            continue
        inputs = tuple([None if e is None else copies.get(e, e) for e in node.inputs])
        own = call if call.op.instance is None else call.op.instance().call()
        if own is not call or inputs != node.inputs:
            new = Node(own, inputs, node.name, node.attrs)
            copies.update({(node, k): (new, k) for k in range(call.outputs)})
    return [copies.get(e, e) for e in heads]
