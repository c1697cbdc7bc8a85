"""Where graphs begin and end: variables, groups, and what was recorded as a symbol."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..attribute import current as current_scope
from ..base import (
    ArgumentError,
    ArgumentTypeError,
    StorageError,
    attribute_to_string,
    four_lines,
)
from ..core.compose import hide
from ..core.graph import Entry, Node, topological
from ..core.graphop import expanded
from ..dtypes import FLAGS, as_dtype
from ..storage import FLAGS as STORAGE_FLAGS
from .facts import texts
from .symbol import Symbol


def var(
    name: str,
    attr: dict[str, str] | None = None,
    shape: Any = None,
    lr_mult: float | None = None,
    wd_mult: float | None = None,
    dtype: Any = None,
    init: Any = None,
    stype: str | None = None,
    **kwargs: Any,
) -> Symbol:
    """A variable: a name that arrays are bound to later.

    ``shape``, ``dtype``, ``stype``, ``init``, ``lr_mult`` and ``wd_mult`` travel with it as
    attributes. Other keywords must look like ``__this__``, else ``ValueError``.
    """
    if not isinstance(name, str):
        raise ArgumentTypeError(
            four_lines("Expect a string for variable `name`", repr(name), "a name", "sym.var('x')")
        )
    attrs = hide(current_scope().get(texts(attr)))
    if shape is not None:
        attrs["__shape__"] = attribute_to_string(shape)
    if lr_mult is not None:
        attrs["__lr_mult__"] = str(lr_mult)
    if wd_mult is not None:
        attrs["__wd_mult__"] = str(wd_mult)
    if dtype is not None:
        attrs["__dtype__"] = str(FLAGS[as_dtype(dtype)])
    if init is not None:
        attrs["__init__"] = init if isinstance(init, str) else init.dumps()
    if stype is not None:
        if stype not in STORAGE_FLAGS:
            raise UnknownStorage(
                f"Variable {name}: unknown storage type.\n  received  stype={stype!r}\n"
                f"  expected  one of {', '.join(STORAGE_FLAGS)}\n  fix       stype='row_sparse'"
            )
        attrs["__storage_type__"] = str(STORAGE_FLAGS[stype])
    for key, value in kwargs.items():
        if not (key.startswith("__") and key.endswith("__")):
            raise ArgumentError(
                four_lines(
                    f"Attribute name={key} is not supported. Additional attributes must start and "
                    "end with double underscores, e.g, __yourattr__",
                    f"{key}={value!r}",
                    "__shape__=..., __lr_mult__=..., or a keyword of sym.var",
                    f"__{key}__={str(value)!r}",
                )
            )
        attrs[key] = str(value)
    return Symbol(((Node(None, (), name, attrs or None), 0),))


Variable = var


class UnknownStorage(StorageError, KeyError):
    """A storage type that does not exist; a KeyError as well, as in MXNet."""

    __str__ = Exception.__str__


def Group(symbols: Iterable[Symbol]) -> Symbol:
    """Several symbols as one, whose outputs are all of theirs."""
    symbols = list(symbols)
    if not symbols or any(not isinstance(s, Symbol) for s in symbols):
        raise ArgumentTypeError(
            four_lines(
                "Expected a list of symbols as input",
                ", ".join(type(s).__name__ for s in symbols) or "an empty list",
                "one Symbol or more",
                "sym.Group([first, second])",
            )
        )
    return Symbol([e for s in symbols for e in s._entries])


def from_tape(entry: Entry) -> Symbol:
    """The graph of recorded nodes; what has no recorded origin becomes a variable."""
    entry = expanded(entry)
    copies: dict[Node, Node] = {}
    counter = [0]

    def fresh() -> Entry:
        counter[0] += 1
        return (Node(None, (), f"var{counter[0] - 1}"), 0)

    for k, node in enumerate(topological((entry,))):
        if node.call is None:
            copies[node] = fresh()[0]
            continue
        inputs = tuple([fresh() if e is None else (copies[e[0]], e[1]) for e in node.inputs])
        attrs = {
            name: attribute_to_string(node.call.attrs[name])
            for name, (_, default) in node.call.op.attributes.items()
            if node.call.attrs[name] != default
        }
        copies[node] = Node(node.call, inputs, f"node_{k}", attrs or None)
    return Symbol(((copies[entry[0]], entry[1]),))
