"""A Plan: a graph made into a forward function and, when gradients are wanted, a backward one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..graph import Entry, Node, topological, variable
from .emit import Emitted, emit, storages
from .fuse import Facts, facts, recomputed


class Plan:
    """How to run a graph whose arguments have these storage types.

    With ``like``, arguments it will be run with, it is made for arrays of their shapes and dtypes
    only, and compiled where it can be.

    ``forward(*arguments)`` gives the outputs followed by ``len(kept)`` values for the backward pass;
    ``backward(head_types).run(*headgradients, *kept, *arguments)`` gives the gradients.
    """

    __slots__ = (
        "_backwards", "arguments", "forward", "gradients", "heads", "kept", "known", "outputs",
        "pull", "reads_heads", "types", "wanted",
    )  # fmt: skip

    def __init__(
        self,
        arguments: Sequence[Entry],
        outputs: Sequence[Entry],
        types: Sequence[type],
        wanted: Sequence[bool] | None = None,
        like: Sequence[Any] | None = None,
    ):
        self.arguments, self.outputs, self.types = list(arguments), list(outputs), tuple(types)
        self.wanted = tuple(wanted) if wanted is not None and any(wanted) else None
        self.kept: list[Entry] = []
        self.heads: list[Entry] = []
        self.gradients: list[Entry | None] = []
        self.reads_heads = False
        self._backwards: dict[tuple[type, ...], Emitted] = {}
        self.known: Facts | None = None
        self.pull: Callable[..., Any] | None = None  # the backward builtin, once it is compiled
        if self.wanted is not None:
            self._differentiate()
        if like is not None:
            self._specialise(like)
        results = [*self.outputs, *self.kept]
        self.forward = emit(
            "forward", self.arguments, results, self.types, fresh=len(self.outputs),
            known=self.known,
        )  # fmt: skip

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
        self.kept = list(read)
        below = set(topological(self.gradients))
        self.reads_heads = any(h[0] in below for h in self.heads)

    def _specialise(self, like: Sequence[Any]) -> None:
        """Find out all shapes and dtypes, and which kept values are better computed again."""
        nodes = [e[0] for e in self.arguments]
        shapes: dict[Node, Any] = {n: x.shape for n, x in zip(nodes, like, strict=True)}
        dtypes: dict[Node, Any] = {n: x.dtype for n, x in zip(nodes, like, strict=True)}
        known = facts(self.outputs, shapes, dtypes)
        if known is None:
            return
        if self.wanted is not None:
            for head, output in zip(self.heads, self.outputs, strict=True):
                shapes[head[0]], dtypes[head[0]] = known.shapes[output], known.dtypes[output]
            known = facts([*self.outputs, *self.gradients], shapes, dtypes)
            if known is None:
                return
            kinds = storages(self.kept, self.arguments, self.types)
            dropped = recomputed(
                self.kept, set(self.arguments), known, lambda e: kinds.get(e) is np.ndarray
            )
            self.kept = [e for e in self.kept if e not in dropped]
        self.known = known

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
            )
            if found.fast is not None:
                self.pull = found.fast
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
        return "\n".join(lines)
