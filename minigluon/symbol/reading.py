"""Reads symbol files: the present layout, and those of MXNet 0.8 and later.

Nothing in a file is taken on trust: every number of a node or of an output is checked where it
stands, all operators that are not here are told at once, and a mistake names file and node.
"""

from __future__ import annotations

import json
from typing import Any

from ..base import MXNetError, four_lines
from ..core.call import intern
from ..core.compose import COUNTS, HIDDEN
from ..core.graph import Entry, Node
from ..core.op import Op, registry
from .symbol import Symbol

#: the version a file without one was written by: 0.8.0
_UNNUMBERED = 800
#: before 0.9.4 files left out with what auxiliary states and the like start
_WITH_STARTS = 904
#: attributes that meant something else before a version: (operator, attribute, value, version)
_REINTERPRETED = (("argmax", "axis", "-1", 905), ("argmin", "axis", "-1", 905))
#: what goes wrong where a file has another form than it should
_SHAPELESS = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError)
#: what is told of unknown operators at most
_TOLD = 20


def read(text: str | bytes, path: object = None) -> Symbol:
    """The symbol that the text of a file describes; ``MXNetError`` says where it is no symbol.

    Examples
    --------
    >>> read('{"nodes": [{"op": "null", "name": "x", "inputs": []}], "heads": [[0, 0, 0]]}')
    <Symbol x>
    """
    try:
        graph = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _no_symbol(path, text, error) from error
    try:
        unknown = _unknown(graph)
        if unknown:
            raise _not_here(path, unknown)
        return _symbol(graph, _version(graph))
    except _Refusal as error:
        raise _told(error, path) from error.__cause__
    except (*_SHAPELESS, RecursionError) as error:
        raise _no_symbol(path, text, error) from error


class _Refusal(Exception):
    """What is wrong with a node: the node, and the error, which is told with the file's name."""

    def __init__(self, where: str, error: Exception | str):
        super().__init__(where, error)
        self.where, self.error = where, error


def _symbol(graph: dict[str, Any], version: int) -> Symbol:
    nodes: list[Node] = []
    row: Any = None
    try:
        for row in graph["nodes"]:
            nodes.append(_node(row, nodes, version))
    except (_Refusal, RecursionError):
        raise
    except Exception as error:
        name = row.get("name") if isinstance(row, dict) else None
        raise _Refusal(f"node {len(nodes) if name is None else name}", error) from error
    heads = [_entry(head, nodes, "heads") for head in graph["heads"]]
    if not heads:
        raise _Refusal("heads", "a symbol has an output")
    return Symbol(heads)


def _node(row: dict[str, Any], nodes: list[Node], version: int) -> Node:
    attrs: dict[str, str] = {}
    for key in ("param", "attr", "attrs"):  # of 0.8: parameters and users' attributes; up to 1.0
        attrs.update({_key(k): str(v) for k, v in (row.get(key) or {}).items()})
    inputs = [_entry(entry, nodes, "inputs") for entry in row["inputs"]]
    name = row["name"]
    if not isinstance(name, str):
        raise TypeError(f"a name that is a {type(name).__name__}")
    if row["op"] == "null":
        if inputs:
            raise ValueError("a variable has no inputs")
        return Node(None, (), name, attrs or None)
    op = registry[row["op"]]
    if op.read is not None:
        graphs = [_symbol(graph, version) for graph in row.get("subgraphs", ())]
        return Node(op.read(attrs, graphs), tuple(inputs), name, attrs or None)
    for changed, attribute, value, until in _REINTERPRETED:
        if op.name == changed and version < until and attrs.get(attribute) == value:
            del attrs[attribute]
    _check_counts(attrs, len(inputs))
    call = intern(op, tuple([attrs.get(n, d) for n, (_, d) in op.attributes.items()]))
    names = op.names_of_inputs(call.attrs, len(inputs))
    if len(inputs) > len(names):
        raise ValueError(f"{len(inputs)} inputs for {', '.join(names) or 'none'}")
    _move_to_inputs(attrs, names, inputs)
    if version < _WITH_STARTS and op.starts:
        _give_starts(op, names, inputs)
    attrs = _without_foreign(op, attrs)
    required = [n for n in names if n not in op.optional or op.input_rule is not None]
    for formal in required[len(inputs) :]:  # files before 0.9 leave auxiliary states out
        made = {**attrs, "__init__": op.starts[formal]} if formal in (op.starts or ()) else attrs
        inputs.append((Node(None, (), f"{name}_{formal}", dict(made) or None), 0))
    return Node(call, tuple(inputs), name, attrs or None)


def _entry(entry: Any, nodes: list[Node], where: str) -> Entry:
    """An output of a node that has been read: ``[node, output, version]``, or without the last."""
    place, output = entry[0], entry[1] if len(entry) > 1 else 0
    if type(place) is not int or not 0 <= place < len(nodes):
        raise _Refusal(where, f"{entry} is none of the {len(nodes)} nodes before it")
    node = nodes[place]
    count = 1 if node.call is None else node.call.outputs
    if type(output) is not int or not 0 <= output < count:
        raise _Refusal(where, f"{entry}: {node.name} has {count} outputs")
    return node, output


def _key(name: str) -> str:
    return f"__{name}__" if name in HIDDEN else name


def _check_counts(attrs: dict[str, str], inputs: int) -> None:
    """Attributes that count inputs agree with them, so that no list is longer than the file."""
    for attribute in COUNTS:
        if attribute != "num_outputs" and int(attrs.get(attribute, 0)) > inputs:
            raise ValueError(f"{attribute}={attrs[attribute]} with {inputs} inputs")


def _move_to_inputs(attrs: dict[str, str], names: tuple[str, ...], inputs: list[Entry]) -> None:
    """Hand ``weight_lr_mult`` and the like to the variables they speak of."""
    for key in list(attrs):
        for hidden in HIDDEN:
            formal = key.removesuffix(f"_{hidden}")
            if formal != key and formal in names[: len(inputs)]:
                node = inputs[names.index(formal)][0]
                node.attrs = {**(node.attrs or {}), f"__{hidden}__": attrs.pop(key)}
                break


def _give_starts(op: Op, names: tuple[str, ...], inputs: list[Entry]) -> None:
    for formal, (node, _) in zip(names, inputs, strict=False):
        if formal in op.starts and node.call is None:
            node.attrs = {"__init__": op.starts[formal], **(node.attrs or {})}


def _without_foreign(op: Op, attrs: dict[str, str]) -> dict[str, str]:
    if not op.attributes:  # as in MXNet, such operators carry whatever they are given
        return attrs
    return {
        k: v
        for k, v in attrs.items()
        if k in op.attributes or k.startswith("__") or k == "num_args"
    }


def _version(graph: dict[str, Any]) -> int:
    """The version of the program that wrote a graph, such as 10901."""
    attrs = graph.get("attrs") or {}
    written = attrs.get("mxnet_version", ["int", _UNNUMBERED])
    return int(written[1])


def _unknown(graph: dict[str, Any]) -> list[str]:
    """Every node whose operator is not here, in the order of the file."""
    found = []
    for row in graph["nodes"]:
        if row["op"] != "null" and row["op"] not in registry:
            found.append(f"node {row['name']} has {row['op']}")
        for inner in row.get("subgraphs") or ():
            found += _unknown(inner)
    return found


def _not_here(path: object, unknown: list[str]) -> MXNetError:
    first = unknown[0].partition(" has ")[0]
    more = f", {len(unknown) - 1} more nodes too" if len(unknown) > 1 else ""
    listed = ", ".join(unknown[:_TOLD]) + (", ..." if len(unknown) > _TOLD else "")
    return MXNetError(
        four_lines(
            f"load_json: {_named(path)}{first} has an unknown operator{more}.",
            listed,
            "operators of the table (minigluon ops)",
            "check the file, or the version that wrote it; import what registers such operators",
        )
    )


def _named(path: object) -> str:
    return "" if path is None else f"{path}: "


def _told(refusal: _Refusal, path: object) -> MXNetError:
    """The error of a node, with the names of file and node before it."""
    error = refusal.error
    if isinstance(error, MXNetError):
        kind = type(error) if issubclass(type(error), MXNetError) else MXNetError
        try:
            return kind(f"load_json: {_named(path)}{refusal.where}: {error}")
        except TypeError:
            return MXNetError(f"load_json: {_named(path)}{refusal.where}: {error}")
    what = str(error) if isinstance(error, str) else f"{type(error).__name__}: {error}"
    return MXNetError(
        four_lines(
            f"load_json: {_named(path)}{refusal.where}: this is not a symbol.",
            what,
            "nodes with op, name and inputs, as Symbol.tojson() writes them",
            "check that the file was copied whole and not edited",
        )
    )


def _no_symbol(path: object, text: str | bytes, error: Exception) -> MXNetError:
    return MXNetError(
        four_lines(
            f"load_json: {_named(path)}this is not a symbol.",
            repr(text[:60]),
            "JSON with nodes and heads, as Symbol.tojson() writes it",
            f"{type(error).__name__}: {error}"[:300],
        )
    )
