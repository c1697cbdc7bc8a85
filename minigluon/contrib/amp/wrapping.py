"""Operators of ``nd`` and ``sym`` that convert their inputs first, in place of the plain ones."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import ndarray as nd
from ... import symbol as sym
from ...core.graph import Entry, Node
from ...core.namespace import find
from ...core.op import Op, registry
from ...gluon import loss
from ...ndarray.methods import BINARY, COMPARISONS
from .lists import symbol_fp16 as lists
from .policy import FULL, LOW, WIDEST, Policy

SPACES = ("", "op", "_internal", "sparse", "contrib", "linalg", "image", "random")

# fmt: off
TWO_ARRAYS = (
    "add", "subtract", "multiply", "divide", "modulo", "power", "maximum", "minimum", "equal",
    "not_equal", "greater", "greater_equal", "lesser", "lesser_equal", "logical_and",
    "logical_or", "logical_xor", "true_divide",
)
# fmt: on
"""Functions of ``nd`` and ``sym`` that choose between operators; both arrays get one type."""

_undo: list[Callable[[], None]] = []


def install(table: dict[Op, Policy]) -> None:
    """Convert inputs from now on, in functions, methods and Python operators."""
    loss._TRACED.clear()  # graphs of losses that were made without the casts
    for face, cls, wrap in ((nd, nd.NDArray, _on_arrays), (sym, sym.Symbol, _on_symbols)):
        for space in SPACES:
            module = getattr(face, space) if space else face
            if hasattr(module, "__getattr__"):
                _replace_functions(module, space, table, wrap)
        for row in (*BINARY, *COMPARISONS):
            for name in (f"__{row.name}__", f"__r{row.name}__"):
                if hasattr(cls, name):
                    _replace(cls, name, wrap(getattr(cls, name), table, None))
        for name in TWO_ARRAYS:
            if hasattr(face, name):
                _replace(face, name, wrap(getattr(face, name), table, None))
        for name in dir(cls):
            op = None if name.startswith("_") else find(name)
            if op in table and callable(getattr(cls, name)):
                _replace(cls, name, _fluent(face, name))


def uninstall() -> None:
    """Put back what ``install`` replaced."""
    loss._TRACED.clear()
    while _undo:
        _undo.pop()()


def _replace(owner: Any, name: str, value: Any) -> None:
    held = vars(owner).get(name)
    if held is None:
        _undo.append(lambda: delattr(owner, name))
    else:
        _undo.append(lambda: setattr(owner, name, held))
    setattr(owner, name, value)


def _replace_functions(module: Any, space: str, table: dict, wrap: Callable) -> None:
    """Functions are made at their first use; those of the table are wrapped then."""
    make = module.__getattr__
    made: list[str] = []

    def __getattr__(name: str) -> Any:
        function = make(name)
        op = find(name, space)
        if op in table:
            function = wrap(function, table, op)
            setattr(module, name, function)
            made.append(name)
        return function

    def undo() -> None:
        module.__getattr__ = make
        for name in made:
            delattr(module, name)

    for name, function in list(vars(module).items()):
        if callable(function) and find(name, space) in table:
            delattr(module, name)  # one that was made already
    module.__getattr__ = __getattr__
    _undo.append(undo)


def _fluent(face: Any, name: str) -> Callable:
    """The method that calls the function, which converts."""
    return lambda self, *args, **kwargs: getattr(face, name)(self, *args, **kwargs)


def _warn_of_own_gradient(op: Op | None) -> None:
    if op is not None and op in [registry.get(name) for name in lists.LOSS_OUTPUT_FUNCTIONS]:
        logging.warning(
            "%s does not support dynamic loss scaling: it makes its gradient itself, and "
            "amp.scale_loss does not reach it.",
            op.name,
        )


# ---- arrays


def _on_arrays(function: Callable, table: dict, op: Op | None) -> Callable:
    """``function`` with its arrays converted as the policy of ``op`` says, or to the widest."""
    names = [] if op is None or op.variadic else [*op.inputs, *op.attributes]
    policy = (lambda attributes: WIDEST) if op is None else table[op]
    _warn_of_own_gradient(op)

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        kind = policy({**dict(zip(names, args, strict=False)), **kwargs})
        if kind is not None:
            args, kwargs = _converted(args, kwargs, kind)
        return function(*args, **kwargs)

    return wrapped


def _converted(args: tuple, kwargs: dict, kind: str) -> tuple[list, dict]:
    """Positional and named arguments, and those in lists, converted together."""
    out = {"out": kwargs.pop("out")} if "out" in kwargs else {}
    found: list = []

    def collect(value: Any) -> None:
        if isinstance(value, nd.NDArray):
            found.append(value)
        elif isinstance(value, list | tuple):
            for inner in value:
                collect(inner)

    for value in (*args, *kwargs.values()):
        collect(value)
    replaced = iter(_convert(found, kind))

    def put(value: Any) -> Any:
        if isinstance(value, nd.NDArray):
            return next(replaced)
        if isinstance(value, list | tuple):
            return type(value)(put(inner) for inner in value)
        return value

    new = [put(value) for value in args]
    return new, {**{name: put(value) for name, value in kwargs.items()}, **out}


def _convert(arrays: list, kind: str) -> list:
    """float16 and float32 arrays in the type wanted; others stay."""
    if kind == WIDEST:
        dtypes = {np.dtype(x.dtype) for x in arrays}
        if not {np.dtype(LOW), np.dtype(FULL)} <= dtypes:
            return arrays
        kind = FULL
    return [
        nd.amp_cast(x, dtype=kind) if np.dtype(x.dtype) in (LOW, FULL) and x.dtype != kind else x
        for x in arrays
    ]


# ---- symbols


def _on_symbols(function: Callable, table: dict, op: Op | None) -> Callable:
    """``function`` with casts between the node it makes and the node's inputs.

    That happens afterwards, so that variables made for inputs that were not given get a cast too.
    """
    _warn_of_own_gradient(op)

    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        made = function(*args, **kwargs)
        if not isinstance(made, sym.Symbol):
            return made
        node = made._entries[0][0]
        policy = None if node.call is None else table.get(node.call.op)
        if policy is None and op is None and node.call is not None and len(node.inputs) > 1:
            kind: str | None = WIDEST
        else:
            kind = None if policy is None else policy(node.call.attrs)
        return made if kind is None else _with_casts(made, node, kind)

    return wrapped


def _with_casts(made: sym.Symbol, node: Node, kind: str) -> sym.Symbol:
    states = sym.Symbol([(node, 0)])._auxiliary_nodes()
    places = [
        k for k, e in enumerate(node.inputs)
        if e is not None and e[0] not in states and not _is_cast(e, kind)
    ]  # fmt: skip
    if not places or (kind == WIDEST and len(places) < 2):
        return made
    given = [sym.Symbol([node.inputs[k]]) for k in places]
    if kind == WIDEST:
        cast = list(sym.amp_multicast(*given, num_outputs=len(given)))
    else:
        cast = [sym.amp_cast(x, dtype=kind) for x in given]
    inputs = list(node.inputs)
    for k, x in zip(places, cast, strict=True):
        inputs[k] = x._entries[0]
    new = Node(node.call, tuple(inputs), node.name, node.attrs)
    return sym.Symbol([(new, k) for _, k in made._entries])


def _is_cast(entry: Entry, kind: str) -> bool:
    """Whether a call inside of this one has put the cast already."""
    call = entry[0].call
    if call is None:
        return False
    if kind == WIDEST:
        return call.op.name == "amp_multicast"
    return call.op.name == "amp_cast" and np.dtype(call.attrs["dtype"]) == kind
