"""Which layer an error in a graph came from."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...base import MXNetError

if TYPE_CHECKING:
    from .block import Block

_NODE = re.compile(r"Error in operator (\S+?):")


def naming_layer(block: Block, error: MXNetError) -> MXNetError:
    """The error of a graph of ``block``, with the layer that made the node it names.

    Nodes are called after the blocks they were made in, so it is the block whose prefix is the
    longest beginning of the node's name.
    """
    text = str(error)
    found = _NODE.search(text)
    if found is None or "\n  layer" in text:
        return error
    name = found[1]
    fitting = [
        (len(inner.prefix), path, inner)
        for path, inner in _descendants(block, "")
        if name.startswith(inner.prefix) and not inner._is_container
    ]
    if not fitting:
        return error
    _, path, layer = max(fitting, key=lambda each: each[0])
    place = f"{path} ({layer.name})" if path else layer.name
    own = ", ".join(map(repr, layer._reg_params.values())) or "no parameters"
    return type(error)(f"{text}\n  layer     {place} = {type(layer).__name__} with {own}")


def _descendants(block: Block, path: str) -> Iterator[tuple[str, Block]]:
    yield path, block
    for name, child in block._children.items():
        yield from _descendants(child, f"{path}.{name}" if path else name)
