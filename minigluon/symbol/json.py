"""Symbol files: ``-symbol.json`` as MXNet writes them; `reading` has the way back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from ..core.graph import Entry, Node, topological
from ..core.state import state
from ..ndarray.serialize import read_file, write_file
from .facts import count_writes
from .symbol import Symbol

MXNET_VERSION = 10901


def dumps(symbol: Symbol) -> str:
    """The text of a symbol file; the same graph gives the same text."""
    graph = _rows(symbol._entries)
    graph["attrs"] = {"is_np_shape": ["int", 1]} if state.np_shape else {}
    graph["attrs"]["mxnet_version"] = ["int", MXNET_VERSION]
    return _written(graph, 0)


def _rows(heads: Sequence[Entry]) -> dict[str, Any]:
    nodes = topological(heads)
    number = {node: k for k, node in enumerate(nodes)}
    rows = []
    pointers = [0]
    versions: dict[Entry, int] = {}
    for node in nodes:
        count_writes(node, versions)
        row: dict[str, Any] = {
            "op": "null" if node.call is None else node.call.op.name,
            "name": node.name,
        }
        if node.attrs:
            row["attrs"] = dict(sorted(node.attrs.items()))
        row["inputs"] = [
            [number[e[0]], e[1], versions.get(e, 0)] for e in node.inputs if e is not None
        ]
        if node.call is not None and node.call.op.graphs:
            row["subgraphs"] = [_rows(graph) for graph in node.call.op.graphs]
        rows.append(row)
        pointers.append(pointers[-1] + _count_saved(node))
    return {
        "nodes": rows,
        "arg_nodes": [k for k, node in enumerate(nodes) if node.call is None],
        "node_row_ptr": pointers,
        "heads": [[number[n], k, 0] for n, k in heads],
    }


def _count_saved(node: Node) -> int:
    return 1 if node.call is None else node.call.outputs - node.call.op.unsaved


#: a list of more elements than this gets a line for each, as does a mapping of more than one
_ON_ONE_LINE = 10

_scalar = json.JSONEncoder(ensure_ascii=False).encode


def _written(value: Any, depth: int) -> str:
    """JSON laid out as MXNet does, space before every line break included."""
    if isinstance(value, dict):
        parts = [f"{_scalar(k)}: {_written(v, depth + 1)}" for k, v in value.items()]
        opening, closing, several = "{", "}", len(value) > 1
    elif isinstance(value, list):
        parts = [_written(v, depth + 1) for v in value]
        opening, closing = "[", "]"
        several = len(value) > _ON_ONE_LINE or any(isinstance(v, dict) for v in value)
    else:
        return _scalar(value)
    if not several:
        return opening + ", ".join(parts) + closing
    margin = "\n" + "  " * (depth + 1)
    return opening + margin + (", " + margin).join(parts) + "\n" + "  " * depth + closing


def loads(text: str) -> Symbol:
    """The symbol a file's text describes. Raises ``MXNetError`` if it is not such a file."""
    from .reading import read

    return read(text)


def save(symbol: Symbol, fname: str) -> None:
    """Write a symbol file, whole or not at all."""
    write_file(fname, dumps(symbol).encode())


def load(fname: str) -> Symbol:
    """The symbol in a file; ``MXNetError`` if it cannot be read."""
    from .reading import read

    return read(read_file(fname), fname)
