"""Names of blocks: what a block is called inside the name scope it is made in."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from ...name import NameManager, Prefix
from ..parameter import ParameterDict

if TYPE_CHECKING:
    from .block import Block


class _Innermost(threading.local):
    scope: BlockScope | None = None


_thread = _Innermost()


class BlockScope:
    """The scope of one block: counts the children made in it, and prefixes names of operators.

    A block made outside any scope takes its number from the name manager, as operators do.
    """

    def __init__(self, block: Block):
        self._block = block
        self._counter: dict[str, int] = {}
        self._entered: list[tuple[Any, Any]] = []

    @staticmethod
    def create(prefix: str | None, params: Any, hint: str) -> tuple[str, ParameterDict]:
        """The prefix and the parameter dictionary of a new block called ``hint``."""
        scope = _thread.scope
        if prefix is None:
            prefix = NameManager.current.get(None, hint) if scope is None else scope._number(hint)
            prefix += "_"
        outer = "" if scope is None else scope._block.prefix
        if params is not None:
            shared = ParameterDict(params.prefix, params)
        elif scope is None:
            shared = ParameterDict(prefix)
        else:
            parent = scope._block.params
            shared = ParameterDict(parent.prefix + prefix, parent._shared)
        return outer + prefix, shared

    def _number(self, hint: str) -> str:
        count = self._counter.get(hint, 0)
        self._counter[hint] = count + 1
        return f"{hint}{count}"

    def __enter__(self) -> BlockScope:
        if self._block._empty_prefix:
            return self
        prefix = Prefix(self._block.prefix)
        self._entered.append((_thread.scope, prefix))
        _thread.scope = self
        prefix.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        if self._block._empty_prefix:
            return
        _thread.scope, prefix = self._entered.pop()
        prefix.__exit__(*exception)
