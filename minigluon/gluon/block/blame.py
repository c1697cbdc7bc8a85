"""Which layer an error came from, and by what path."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NoReturn

from ...base import MXNetError, ShapeError

if TYPE_CHECKING:
    from .block import Block

_NODE = re.compile(r"Error in operator (\S+?):")
_LAYER = re.compile(r"\n  layer     (?:\S+ \()?(?P<name>[^\s)]+)\)? = ")


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
    return type(error)(text + _line(path, layer))


def raise_naming(block: Block, error: ShapeError) -> NoReturn:
    """Raise the error of an operator that ``block`` ran, with the block and its parameters.

    If a child has named itself already, the path to it is added.
    """
    text = str(error)
    if _LAYER.search(text):
        put_path(block, error)
        raise error
    raise type(error)(text + _line("", block)) from error


def put_path(block: Block, error: ShapeError) -> None:
    """Write into an error that names a layer inside of ``block`` how to get there from it."""
    text = str(error)
    found = _LAYER.search(text)
    if found is not None:
        for path, inner in _descendants(block, ""):
            if path and inner.name == found["name"]:
                line = f"\n  layer     {path} ({inner.name}) = "
                error.args = (text[: found.start()] + line + text[found.end() :],)
                return


def _line(path: str, layer: Block) -> str:
    place = f"{path} ({layer.name})" if path else layer.name
    own = ", ".join(map(repr, layer._reg_params.values())) or "no parameters"
    return f"\n  layer     {place} = {type(layer).__name__} with {own}"


def _descendants(block: Block, path: str) -> Iterator[tuple[str, Block]]:
    yield path, block
    for name, child in block._children.items():
        yield from _descendants(child, f"{path}.{name}" if path else name)
