"""A Plan: a graph made into a forward function and, when gradients are wanted, a backward one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..graph import Entry, Node, is_unsized, substitute, topological, variable
from ..infer import known as shape_known
from ..infer import solve
from ..op import registry
from .emit import Emitted, between, emit, storages
from .fuse import Facts, facts, reasons, recomputed, values_read
from .simplify import simplify


class Plan:
    """How to run a graph whose arguments have these storage types.

    With ``like``, arguments it will be run with, it is made for arrays of their shapes and dtypes
    only, and compiled where it can be, if loops would go over ``least`` elements or more.
    ``training`` is the mode it will be run in; None if in either. With ``compiles=False`` knowing
    shapes only serves to leave out what changes nothing.

    ``forward(*arguments)`` gives the outputs and then ``len(kept)`` values for the backward pass;
    ``backward(head_types).run(*headgradients, *kept, *arguments)`` gives the gradients.
    """

    __slots__ = (
        "_backwards", "arguments", "exact", "forward", "gradients", "heads", "kept", "known",
        "outputs", "phantoms", "reads_heads", "types", "wanted", "why",
    )  # fmt: skip

    def __init__(
        self,
        arguments: Sequence[Entry],
        outputs: Sequence[Entry],
        types: Sequence[type],
        wanted: Sequence[bool] | None = None,
        like: Sequence[Any] | None = None,
        least: int = 0,
        training: bool | None = None,
        compiles: bool = True,
    ):
        self.arguments, self.outputs, self.types = list(arguments), list(outputs), tuple(types)
        self.wanted = tuple(wanted) if wanted is not None and any(wanted) else None
        self.kept: list[Entry] = []
        self.heads: list[Entry] = []
        self.gradients: list[Entry | None] = []
        self.reads_heads = False
        self._backwards: dict[tuple[type, ...], Emitted] = {}
        self.known: Facts | None = None
        self.exact: Facts | None = None  # the same where nothing is to be compiled
        self.why = "" if like is not None else "it is for all shapes"
        self.phantoms: dict[Entry, Any] = {}
        if like is not None and any(map(is_unsized, topological(self.outputs))):
            self._size(like)
        if self.wanted is not None:
            self._differentiate()
        if like is not None:
            self._specialise(like, least, training, compiles)
        results = [*self.outputs, *self.kept]
        self.forward = emit(
            "forward", self.arguments, results, self.types, fresh=len(self.outputs),
            known=self.known, exact=self.exact,
        )  # fmt: skip

    def _size(self, like: Sequence[Any]) -> None:
        """Give constants made with unknown lengths (zeros for a batch of any size) their shapes."""
        nodes = [e[0] for e in self.arguments]
        found = solve(self.outputs, {n: x.shape for n, x in zip(nodes, like, strict=True)}, "shape")
        sized: dict[Entry, Entry] = {}
        for node in filter(is_unsized, topological(self.outputs)):
            if node.call is not None and shape_known(found[node, 0]):
                call = node.call.op.call(**{**node.call.attrs, "shape": found[node, 0]})
                sized[node, 0] = (Node(call, (), node.name, node.attrs), 0)
        self.outputs = [h for h in substitute(self.outputs, sized) if h is not None]

    def _differentiate(self) -> None:
        """The gradient graph, and which forward values it reads."""
        from ..grad import symbolic

        assert self.wanted is not None
        self.heads = [variable(f"g{k}") for k in range(len(self.outputs))]
        asked = [e[0] for e, w in zip(self.arguments, self.wanted, strict=True) if w]
        found = symbolic(self.outputs, self.heads, asked)
        self.gradients = [
            found.get(e) if w else None for e, w in zip(self.arguments, self.wanted, strict=True)
        ]
        self.kept = self._read_ahead()
        below = set(topological(self.gradients))
        self.reads_heads = any(h[0] in below for h in self.heads)

    def _read_ahead(self) -> list[Entry]:
        """The forward values that the gradient graph reads."""
        ahead = set(topological(self.outputs))
        read: dict[Entry, None] = {}
        for node in topological(self.gradients):
            if node in ahead:
                continue
            for entry in node.inputs:
                if entry is not None and entry[0] in ahead and entry[0].call is not None:
                    read[entry] = None
        for result in self.gradients:
            if result is not None and result[0] in ahead and result[0].call is not None:
                read[result] = None
        return list(read)

    def _specialise(
        self, like: Sequence[Any], least: int, training: bool | None, compiles: bool
    ) -> None:
        """Find out all shapes and dtypes, and which kept values are better computed again."""
        nodes = [e[0] for e in self.arguments]
        shapes: dict[Node, Any] = {n: x.shape for n, x in zip(nodes, like, strict=True)}
        dtypes: dict[Node, Any] = {n: x.dtype for n, x in zip(nodes, like, strict=True)}
        known = facts(self.outputs, shapes, dtypes, training)
        if known is None:
            self.why = "its shapes and types are not known before it runs"
            return
        if known.work() < least:
            self.why = f"{known.work()} elements to compute are too few"
            return
        if self.wanted is not None:
            for head, output in zip(self.heads, self.outputs, strict=True):
                shapes[head[0]], dtypes[head[0]] = known.shapes[output], known.dtypes[output]
            known = facts([*self.outputs, *self.gradients], shapes, dtypes, training)
            if known is None:
                return
        self._simplify(known, compiles)
        if not compiles:
            self.why, self.exact = "its operators are run as in eager code", known
            return
        if self.wanted is not None and self._spare(known):
            known = facts([*self.outputs, *self.gradients], shapes, dtypes, training)
        self.known = known

    def _simplify(self, known: Facts, splits: bool) -> None:
        count = len(self.outputs)
        heads = [*self.outputs, *self.gradients]
        types = [*self.types, *[np.ndarray] * len(self.heads)]
        kinds = storages(heads, [*self.arguments, *self.heads], types)
        heads = simplify(heads, known, lambda e: kinds.get(e) is np.ndarray, count, splits)
        self.outputs = [h for h in heads[:count] if h is not None]
        self.gradients = heads[count:]
        if self.wanted is not None:
            self.kept = self._read_ahead()

    def _spare(self, known: Facts) -> bool:
        """Keep only what the backward pass reads and cannot as well compute anew.

        True if the graph of the gradients is another one now.
        """
        kinds = storages(self.kept, self.arguments, self.types)

        def dense(entry: Entry) -> bool:
            return kinds.get(entry) is np.ndarray

        ahead = set(topological(self.outputs))
        behind = [n for n in topological(self.gradients) if n not in ahead and n.call is not None]
        values = values_read(behind) | {g for g in self.gradients if g is not None}
        read = [e for e in self.kept if e in values or not dense(e)]
        types = [np.ndarray] * len(self.heads)
        given = [*self.kept, *self.arguments, *self.heads]
        kept_types = [kinds[e] for e in self.kept]
        below = storages(self.gradients, given, [*kept_types, *self.types, *types])
        why = reasons(behind, known, lambda e: below.get(e) is np.ndarray)
        by_kernels = {e for n in behind if why[n] for e in n.inputs if e is not None}
        dropped = recomputed(read, set(self.arguments), known, dense, by_kernels)
        kept = [e for e in read if e not in dropped]
        again = between([*kept, *self.arguments], list(dropped))
        values |= values_read(again)
        self.phantoms = {
            e: known.like(e)
            for e in self.kept
            if e not in values and dense(e) and shape_known(known.shapes.get(e))
        }
        self.kept = [e for e in self.kept if e not in dropped and e not in self.phantoms]
        return self._remember(again, list(dropped))

    def _remember(self, again: Sequence[Node], dropped: list[Entry]) -> bool:
        """Let what is computed again read the arguments as they were.

        Programs change them before the backward pass: a step for another loss, the next batch.
        """
        inputs = {e: None for n in again for e in n.inputs if e is not None and e[0].call is None}
        if not inputs:
            return False
        copy = registry["_copyto"].call()
        copies = {e: (Node(copy, (e,), f"{e[0].name}_before"), 0) for e in inputs}
        there = {e: e for e in [*self.kept, *self.phantoms]}  # not computed again
        anew = substitute(dropped, {**there, **copies})
        changed = {e: c for e, c in zip(dropped, anew, strict=True) if c is not None}
        self.gradients = substitute(self.gradients, {**there, **changed})
        self.kept += copies.values()
        return True

    def backward(self, head_types: tuple[type, ...]) -> Emitted:
        """The backward function for head gradients of these storage types."""
        found = self._backwards.get(head_types)
        if found is None:
            kept_types = self.forward.types[len(self.outputs) :]
            found = self._backwards[head_types] = emit(
                "backward",
                [*self.heads, *self.kept, *self.arguments],
                self.gradients,
                [*head_types, *kept_types, *self.types],
                fresh=0,
                known=self.known,
                phantoms=self.phantoms,
                exact=self.exact,
            )
        return found

    @property
    def has_gradient(self) -> tuple[bool, ...]:
        """For each argument, whether the outputs depend on it in a way that has a gradient."""
        return tuple([g is not None for g in self.gradients])

    def describe(self) -> str:
        """What is run: the text of the forward function, and of the backward one if there is one.

        Compiled parts come first, then the Python between them, then why other nodes are not
        compiled.
        """
        made = [self.forward]
        if self.wanted is not None:
            made.append(self.backward(self.forward.types[: len(self.outputs)]))
        lines = []
        for emitted in made:
            lines += [emitted.text, *dict.fromkeys(emitted.notes)]
        if self.why:
            lines.append(f"# nothing is compiled: {self.why}")
        return "\n".join(lines)
