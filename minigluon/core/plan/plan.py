"""A Plan: a graph made into a forward function and, when gradients are wanted, a backward one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..graph import Entry, Node, topological, variable
from .emit import Emitted, emit


class Plan:
    """How to run a graph whose arguments have these storage types.

    ``forward(*arguments)`` gives the outputs followed by ``len(kept)`` values for the backward pass;
    ``backward(head_types).run(*headgradients, *kept, *arguments)`` gives the gradients.
    """

    __slots__ = (
        "_backwards", "arguments", "forward", "gradients", "heads", "kept", "outputs",
        "reads_heads", "types", "wanted",
    )  # fmt: skip

    def __init__(
        self,
        arguments: Sequence[Entry],
        outputs: Sequence[Entry],
        types: Sequence[type],
        wanted: Sequence[bool] | None = None,
    ):
        self.arguments, self.outputs, self.types = list(arguments), list(outputs), tuple(types)
        self.wanted = tuple(wanted) if wanted is not None and any(wanted) else None
        self.kept: list[Entry] = []
        self.heads: list[Entry] = []
        self.gradients: list[Entry | None] = []
        self.reads_heads = False
        self._backwards: dict[tuple[type, ...], Emitted] = {}
        if self.wanted is not None:
            self._differentiate()
        results = [*self.outputs, *self.kept]
        self.forward = emit(
            "forward", self.arguments, results, self.types, fresh=len(self.outputs)
        )

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
            )
        return found

    @property
    def has_gradient(self) -> tuple[bool, ...]:
        """For each argument, whether the outputs depend on it in a way that has a gradient."""
        return tuple([g is not None for g in self.gradients])

    def describe(self) -> str:
        """The text of the forward function, and of the backward one if there is one."""
        texts = [self.forward.text]
        if self.wanted is not None:
            heads = self.forward.types[: len(self.outputs)]
            texts.append(self.backward(heads).text)
        lines = []
        for text, emitted in zip(texts, [self.forward], strict=False):
            for k, node in enumerate(emitted.dispatches):
                text = text.replace(f" k{k}(", f" {_shown(node)}(")
            lines.append(text)
        return "\n".join(lines + texts[1:])


def _shown(node: Node) -> str:
    return node.call.op.name if node.call is not None else node.name
