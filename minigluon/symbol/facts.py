"""What symbols read off their nodes: names, attributes, and shapes in the users' form."""

from __future__ import annotations

from ast import literal_eval
from typing import Any

import numpy as np

from ..base import ArgumentError, MXNetError, four_lines
from ..core import infer
from ..core.compose import HIDDEN
from ..core.graph import Entry, Node
from ..core.state import state
from ..storage import FLAGS

_FROM_FLAG = {flag: name for name, flag in FLAGS.items()}


def visible(node: Node) -> int:
    """How many outputs of a node users see."""
    return 1 if node.call is None else node.call.visible


def output_name(entry: Entry) -> str:
    """The name of one output: ``fc_output``; a variable's is its own."""
    node, k = entry
    if node.call is None:
        return node.name
    return f"{node.name}_{node.call.op.names_of_outputs(node.call.attrs)[k]}"


def shown_attrs(node: Node) -> dict[str, str]:
    """Attributes as users see them: hidden ones plain and between underscores."""
    shown: dict[str, str] = {}
    for key, value in (node.attrs or {}).items():
        shown[key] = value
        plain = key[2:-2] if key.startswith("__") and key.endswith("__") else ""
        if plain in HIDDEN:
            shown[plain] = value
    return shown


def variable_shapes(variables: list[Node]) -> dict[Node, Any]:
    """The shapes variables are declared with, in the solver's form."""
    shapes = {}
    for node in variables:
        text = (node.attrs or {}).get("__shape__")
        if text is not None:
            shape = literal_eval(text)
            shapes[node] = private_shape((shape,) if isinstance(shape, int) else shape)
    return shapes


def variable_stypes(variables: list[Node]) -> dict[Node, str]:
    """The storage types variables are declared with."""
    stypes = {}
    for node in variables:
        flag = (node.attrs or {}).get("__storage_type__")
        if flag is not None and int(flag) >= 0:
            stypes[node] = _FROM_FLAG[int(flag)]
    return stypes


def private_shape(shape: Any) -> Any:
    """From the users' form to the solver's: 0, -1 and None are unknown, and so is ().

    With numpy's shapes () and 0 are known.
    """
    shape = (shape,) if isinstance(shape, int | np.integer) else tuple(shape)
    if shape == () and not state.np_shape:
        return None
    least = 0 if state.np_shape else 1
    return tuple([infer.UNKNOWN if d is None or d < least else int(d) for d in shape])


def public_shape(shape: Any) -> tuple[int, ...] | None:
    """From the solver's form to the users': unknown is 0 or (), with numpy's shapes -1 or None."""
    if shape is None:
        return None if state.np_shape else ()
    unknown = -1 if state.np_shape else 0
    return tuple([unknown if d is infer.UNKNOWN else d for d in shape])


def is_complete(shape: Any) -> bool:
    """Whether nothing is unknown in a shape of the users' form."""
    if state.np_shape:
        return shape is not None and -1 not in shape
    return bool(shape) and 0 not in shape


def count_writes(node: Node, versions: dict[Entry, int]) -> None:
    """Note in ``versions`` that an operator writes to its auxiliary states once more."""
    call = node.call
    if call is None or not call.op.mutates:
        return
    names = call.op.names_of_inputs(call.attrs, len(node.inputs))
    for name, entry in zip(names, node.inputs, strict=False):
        if name in call.op.mutates and entry is not None and entry[0].call is None:
            versions[entry] = versions.get(entry, 0) + 1


def texts(attr: dict[str, str] | None) -> dict[str, str] | None:
    """The attributes themselves; raises ``ValueError`` for a value that is not text."""
    for key, value in (attr or {}).items():
        if not isinstance(value, str):
            raise ArgumentError(
                f"Set Attr only accepts string values.\n  received  {key}={value!r}\n"
                f"  expected  text\n  fix       {key}={str(value)!r}"
            )
    return attr


def named_values(symbol: Any, args: Any, kwargs: Any, what: str) -> dict[Node, Any]:
    """Values given by position (arguments in order) or by name, for each variable."""
    if args and kwargs:
        raise ArgumentError(
            four_lines(
                f"{what}: Can only specify known argument either by positional or kwargs way.",
                "values by position and by name",
                "one way",
                "pass all of them by name",
            )
        )
    variables = symbol._variables()
    if args:
        aux = symbol._auxiliary_nodes()
        nodes = [n for n in variables if n not in aux]
        if len(args) > len(nodes):
            raise MXNetError(
                f"{what}: too many values.\n  received  {len(args)}\n  expected  at most "
                f"{len(nodes)}, for {', '.join(n.name for n in nodes)}\n"
                "  fix       pass them by name"
            )
        return dict(zip(nodes, args, strict=False))
    by_name: dict[str, Node] = {}
    for node in variables:
        by_name.setdefault(node.name, node)
    for name in kwargs:
        if name not in by_name:
            raise MXNetError(
                f"{what}: argument name {name} not found.\n"
                f"  received  {name}={kwargs[name]}\n  expected  one of {', '.join(by_name)}\n"
                "  fix       see list_arguments()"
            )
    return {by_name[name]: value for name, value in kwargs.items()}
