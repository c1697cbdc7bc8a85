"""A graph of a training step, cut at csr rows into products, a dense part, and updates."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.graph import Entry
from ..core.plan.codegen import Part
from ..core.plan.emit import between, storages
from ..core.plan.fuse import Facts, distinct, lower
from ..core.plan.loops import Array, elements, ordered
from ..kernels.scalar import Unsupported
from ..storage import Csr, RowSparse
from .epoch_code import Dot, Recipe, Update


class NotAtOnce(Exception):
    """Why rows are run one by one."""


def need(condition: Any, reason: str) -> None:
    """Raise `NotAtOnce` unless the condition holds."""
    if not condition:
        raise NotAtOnce(reason)


class Cut:
    """The graph of a step, cut at csr rows into products, a dense part and updates."""

    def __init__(self, work: Any, looks: tuple[Any, ...]):
        self.work, self.plan, self.looks = work, work.plan, looks
        self.places = {e: k for k, e in enumerate(self.plan.arguments)}
        self.dots: list[Dot] = []
        self.outer: dict[Entry, tuple[Entry, int, int]] = {}  # gradients of weights of products

    def recipe(self) -> Recipe:
        """The parts; raises `NotAtOnce` or `Unsupported` for a graph that is not made of such."""
        plan, work = self.plan, self.work
        assert plan.known is not None
        need(not plan.reads_heads, "an output is no loss")
        known = Facts(plan.known.shapes, plan.known.dtypes, True)
        arrays = self._arrays(known)
        updates, wants, how = [], [], {}
        for number, (weight, look) in enumerate(zip(work.weights, self.looks, strict=True)):
            argument = next(k for k, x in enumerate(work.executor._inputs) if x is weight)
            gradient = plan.gradients[argument]
            need(gradient is not None, f"{work.names[argument]} has no gradient")
            how[number] = argument, gradient, look[0]
            wants.append(self.outer[gradient][0] if gradient in self.outer else gradient)
        entries = [*plan.outputs, *wants]
        for entry in entries:
            need(entry in arrays, f"{entry[0].name} is not computed by compiled operators")
        final = distinct([arrays[e] for e in entries])
        count = len(plan.outputs)
        first = len(work.names) + len(self.dots)
        targets = {first + k: array for k, array in enumerate(final)}
        for number, (argument, gradient, storage) in how.items():
            target, shape = first + count + number, work.data[argument].shape
            size = elements(shape)
            if gradient in self.outer:
                _, data, weight = self.outer[gradient]
                need(weight == argument, "a gradient goes to another weight")
                update = "all" if storage == "dense" else "rows"
                updates.append(Update(update, argument, data, target, size, shape[1]))
            else:
                need(storage == "dense", "a dense gradient in sparse storage")
                updates.append(Update("dense", argument, -1, target, size, 1))
        reached = {id(a) for a in ordered(final)}
        inputs = {a.detail: a for a in self.given.values() if id(a) in reached}
        kinds = {a.kind for a in [*inputs.values(), *final]}
        need(len(kinds) == 1, "numbers of several types")
        rows = [k for k in inputs if k in work.rows]
        held = [k for k in inputs if k < len(work.names) and k not in work.rows]
        held += [d.weight for d in self.dots] + [u.weight for u in updates]
        return Recipe(
            part=Part(0, inputs, [], targets),
            kind=kinds.pop(),
            dots=[d for d in self.dots if d.place in inputs],
            rows=rows,
            held=list(dict.fromkeys(held)),
            outputs=list(targets)[:count],
            csr=list(
                dict.fromkeys(
                    [d.data for d in self.dots] + [u.data for u in updates if u.data >= 0]
                )
            ),
            updates=updates,
            rule=work.rule,
            states=self.looks[0][1],
        )

    def _arrays(self, known: Facts) -> dict[Entry, Array]:
        """Every dense value of the graph as an Array of what is given: arguments and products."""
        plan, work = self.plan, self.work
        heads = [*plan.outputs, *plan.gradients]
        given = [*plan.arguments, *plan.heads]
        types = [*plan.types, *[np.ndarray] * len(plan.heads)]
        kinds = storages(heads, given, types)
        self.given: dict[Entry, Array] = {}
        for entry, k in self.places.items():
            if plan.types[k] is np.ndarray:
                array = known.find(entry, k)
                if array is not None:
                    self.given[entry] = array
        arrays = dict(self.given)
        for node in between(given, heads):
            call = node.call
            assert call is not None
            name = call.op.name
            entries = [e for e in node.inputs if e is not None]
            if all(e in arrays for e in entries) and kinds[(node, 0)] is np.ndarray:
                for k, array in enumerate(self._lowered(node, [arrays[e] for e in entries], known)):
                    arrays[(node, k)] = array
                continue
            attrs = call.attrs
            plain = not attrs.get("transpose_a") and not attrs.get("transpose_b")
            if name == "_dot_rhs_grad" and plain and entries[0] in arrays:
                head, data, weight = entries
                self._check_dot(data, weight, kinds)
                self.outer[(node, 0)] = head, self.places[data], self.places[weight]
            elif name == "dot" and plain:
                data, weight = entries
                self._check_dot(data, weight, kinds)
                place = len(work.names) + len(self.dots)
                array = known.array((node, 0), place)
                width = known.shapes[weight][1]
                self.dots.append(Dot(self.places[data], self.places[weight], width, place))
                self.given[(node, 0)] = arrays[(node, 0)] = array
            else:
                raise NotAtOnce(f"{name} has a sparse input or result")
        return arrays

    def _lowered(self, node: Any, inputs: list[Array], known: Facts) -> tuple[Array, ...]:
        try:
            return lower(node, inputs, known)
        except Unsupported as reason:
            raise NotAtOnce(f"{node.call.op.name}: {reason}") from reason

    def _check_dot(self, data: Entry, weight: Entry, kinds: dict[Entry, Any]) -> None:
        work = self.work
        good = (
            kinds.get(data) is Csr
            and self.places.get(data) in work.rows
            and weight in self.places
            and kinds.get(weight) in (np.ndarray, RowSparse)
            and len(work.data[self.places[weight]].shape) == 2
        )
        need(good, "a product that is not one of a csr row and a matrix")
