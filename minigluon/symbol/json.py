"""Symbol files: ``-symbol.json`` as MXNet writes them, and the older layouts it reads."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..base import MXNetError
from ..core.call import intern
from ..core.compose import HIDDEN
from ..core.graph import Entry, Node, topological
from ..core.op import Op, registry
from ..core.state import state
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
    try:
        return _symbol(json.loads(text))
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        if isinstance(error, MXNetError):
            raise
        raise MXNetError(
            f"load_json: this is not a symbol.\n  received  {str(text)[:60]!r}\n"
            "  expected  JSON with nodes and heads, as Symbol.tojson() writes it\n"
            f"  fix       {type(error).__name__}: {error}"
        ) from error


def _symbol(graph: dict[str, Any]) -> Symbol:
    nodes: list[Node] = []
    for row in graph["nodes"]:
        nodes.append(_node(row, nodes))
    return Symbol([(nodes[h[0]], h[1] if len(h) > 1 else 0) for h in graph["heads"]])


def _node(row: dict[str, Any], nodes: list[Node]) -> Node:
    attrs = {**row.get("param", {}), **row.get("attr", {}), **row.get("attrs", {})}
    attrs = {_key(k): str(v) for k, v in attrs.items()}
    inputs = [(nodes[i[0]], i[1]) for i in row["inputs"]]
    if row["op"] == "null":
        return Node(None, (), row["name"], attrs or None)
    op = registry.get(row["op"])
    if op is None:
        raise MXNetError(
            f"load_json: node {row['name']} has an unknown operator.\n  received  {row['op']}\n"
            "  expected  an operator of the table (minigluon ops)\n"
            "  fix       check the file, or the version that wrote it"
        )
    if op.read is not None:
        graphs = [_symbol(graph) for graph in row.get("subgraphs", ())]
        return Node(op.read(attrs, graphs), tuple(inputs), row["name"], attrs or None)
    call = intern(op, tuple([attrs.get(n, d) for n, (_, d) in op.attributes.items()]))
    names = op.names_of_inputs(call.attrs, len(inputs))
    required = [n for n in names if n not in op.optional or op.input_rule is not None]
    # files before 0.9 leave auxiliary states out
    missing = [(Node(None, (), f"{row['name']}_{n}"), 0) for n in required[len(inputs) :]]
    inputs = [*inputs, *missing]
    return Node(call, tuple(inputs), row["name"], _without_foreign(op, attrs) or None)


def _without_foreign(op: Op, attrs: dict[str, str]) -> dict[str, str]:
    return {
        k: v
        for k, v in attrs.items()
        if k in op.attributes or k.startswith("__") or k == "num_args"
    }


def _key(name: str) -> str:
    return f"__{name}__" if name in HIDDEN else name


def save(symbol: Symbol, fname: str) -> None:
    """Write a symbol file, whole or not at all."""
    path = Path(fname)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(dumps(symbol))
        Path(temporary).chmod(0o666 & ~_umask())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def load(fname: str) -> Symbol:
    """The symbol in a file; ``MXNetError`` if it cannot be read."""
    try:
        text = Path(fname).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise MXNetError(
            f"load: {getattr(error, 'strerror', None) or 'not a text file'}.\n"
            f"  received  {str(fname)!r}\n  expected  a symbol file, such as net-symbol.json\n"
            "  fix       check the path, and that the file was written by Symbol.save"
        ) from error
    return loads(text)
