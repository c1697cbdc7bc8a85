"""Shapes, dtypes and storages of a graph: rules state facts, repeated to a fixed point.

Inside, a shape is None (nothing known) or a tuple whose unknown dimensions are `UNKNOWN`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .. import storage
from ..base import MXNetError, ShapeError
from .call import Call, Dispatch
from .explain import contradiction
from .graph import Entry, Node, topological


class Dim:
    """A dimension nobody knows yet; arithmetic with it is unknown too."""

    __slots__ = ()

    def _same(self, *others: Any) -> Dim:
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _same
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __neg__ = _same

    def _no(self, other: Any) -> bool:
        return False

    __lt__ = __le__ = __gt__ = __ge__ = _no

    def __repr__(self) -> str:
        return "?"


UNKNOWN = Dim()


class Unsettled(Exception):
    """A rule asked for something that is not known yet; it is asked again later."""


class UnknownShape:
    """What reading a shape of unknown rank gives: its dimensions are unknown, its length is not."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> Any:
        return UNKNOWN if isinstance(key, int) else self

    def __iter__(self) -> Any:
        raise Unsettled

    def __len__(self) -> int:
        raise Unsettled

    def __add__(self, other: Any) -> UnknownShape:
        return self

    __radd__ = __add__


UNKNOWN_SHAPE = UnknownShape()


def prod(shape: Any) -> Any:
    """The product of dimensions; unknown if one is, unless another is zero."""
    if isinstance(shape, UnknownShape):
        return UNKNOWN
    total: Any = 1
    for d in shape:
        total = total * d
    return total


def known(shape: Any) -> bool:
    """Whether every dimension is known."""
    return shape is not None and not isinstance(shape, UnknownShape) and UNKNOWN not in shape


def broadcast(*shapes: Any) -> Any:
    """The shape that shapes broadcast to; raises ``ShapeError`` if they do not."""
    if any(isinstance(s, UnknownShape) for s in shapes):
        return UNKNOWN_SHAPE
    rank = max(len(s) for s in shapes)
    result: list[Any] = []
    for k in range(rank):
        dims = [s[k - rank + len(s)] for s in shapes if k - rank + len(s) >= 0]
        fixed = {d for d in dims if d is not UNKNOWN and d != 1}
        if len(fixed) > 1:
            raise ShapeError(
                f"shapes {' and '.join(map(str, shapes))} do not broadcast together.\n"
                "  expected  lengths that are equal or 1, counted from the last axis\n"
                "  fix       reshape one of them, or add an axis with expand_dims"
            )
        if fixed:
            result.append(fixed.pop())
        else:
            result.append(UNKNOWN if UNKNOWN in dims else 1)
    return tuple(result)


class Facts:
    """What a rule reads and states: one attribute per input, ``out`` or ``outs`` for outputs.

    Reading an unknown shape gives an object whose dimensions are unknown; stating unifies.
    ``ins`` and ``outs`` list all inputs and outputs, for variadic operators: read them as lists,
    state one with ``s.state(("in", k), value)`` or ``s.state(("out", k), value)``.
    """

    __slots__ = ("_inputs", "_names", "_node", "_outputs", "_unify", "_unknown", "changed")

    def __init__(self, node: Any, names: Any, inputs: Any, outputs: Any, unify: Any, unknown: Any):
        set_ = object.__setattr__
        set_(self, "_node", node)
        set_(self, "_names", {n: k for k, n in enumerate(names)})
        set_(self, "_inputs", inputs)
        set_(self, "_outputs", outputs)
        set_(self, "_unify", unify)
        set_(self, "_unknown", unknown)
        set_(self, "changed", False)

    def __getattr__(self, name: str) -> Any:
        if name == "out":
            return self._read(self._outputs[0])
        if name == "outs":
            return [self._read(v) for v in self._outputs]
        if name == "ins":
            return [self._read(v) for v in self._inputs]
        k = self._names.get(name)
        if k is None:
            raise AttributeError(f"no input called {name}")
        return self._read(self._inputs[k]) if k < len(self._inputs) else None

    def _read(self, value: Any) -> Any:
        return self._unknown if value is None else value

    def __contains__(self, name: str) -> bool:
        k = self._names.get(name)
        return k is not None and k < len(self._inputs)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "out":
            self.state(("out", 0), value)
        elif name == "outs":
            for k, v in enumerate(value):
                self.state(("out", k), v)
        elif name == "ins":
            for k, v in enumerate(value):
                self.state(("in", k), v)
        else:
            k = self._names.get(name)
            if k is None:
                raise AttributeError(f"no input called {name}")
            if k < len(self._inputs):
                self.state(("in", k), value)

    def state(self, where: tuple[str, int], value: Any) -> None:
        """State a fact about one input or output; raises if it contradicts what is known."""
        side, k = where
        held = self._inputs if side == "in" else self._outputs
        if k >= len(held) or value is self._unknown or value is None:
            return
        new = self._unify(held[k], value)
        if new is None:
            raise contradiction(self._node, where, held[k], value, self._inputs)
        if new != held[k] or held[k] is None:
            held[k] = new
            object.__setattr__(self, "changed", True)


def unify_shapes(old: Any, new: Any) -> Any:
    """What two statements about one shape say together; None if they contradict each other."""
    new = tuple([d if isinstance(d, Dim) else int(d) for d in new])
    if old is None:
        return new
    if len(old) == len(new):
        merged = []
        for a, b in zip(old, new, strict=True):
            if a is UNKNOWN:
                merged.append(b)
            elif b is UNKNOWN or a == b:
                merged.append(a)
            else:
                return None
        return tuple(merged)
    return old if old in ((), (1,)) and new in ((), (1,)) else None


def unify_dtypes(old: Any, new: Any) -> Any:
    """What two statements about one dtype say together; None if they contradict each other."""
    new = np.dtype(new)
    return new if old is None or old == new else None


def same_as(*names: str) -> Callable[..., None]:
    """The rule that the output and these inputs have one shape; any of them tells the others."""

    def rule(s: Facts, **_: Any) -> None:
        shape = s.out
        for name in names:
            setattr(s, name, shape)
        for name in names:
            shape = getattr(s, name)
            if shape is None:
                continue
            s.out = shape
            for other in names:
                setattr(s, other, shape)

    return rule


def all_same(s: Facts, **_: Any) -> None:
    """The rule that all inputs and all outputs have one shape."""
    for _round in range(2):
        for shape in (*s.ins, *s.outs):
            if shape is UNKNOWN_SHAPE:
                continue
            s.ins = [shape] * len(s.ins)
            s.outs = [shape] * len(s.outs)


def all_broadcast(s: Facts, **_: Any) -> None:
    """The rule that the output has the shape the inputs broadcast to."""
    s.out = broadcast(*s.ins)


def _all_dtypes_alike(t: Facts, **_: Any) -> None:
    dtypes = {d for d in (*t.ins, *t.outs) if d is not None}
    for dtype in dtypes:
        t.ins = [dtype] * len(t.ins)
        t.outs = [dtype] * len(t.outs)


def apply_rule(node: Any, inputs: list[Any], outputs: list[Any], kind: str) -> tuple[bool, bool]:
    """Run a node's shape or dtype rule on what is known.

    Whether it added something, and whether it came to its end.
    """
    call: Call = node.call
    op = call.op
    if kind == "shape":
        rule, unify, unknown = op.shape_rule, unify_shapes, UNKNOWN_SHAPE
        if rule is None:
            return False, True
    else:
        rule, unify, unknown = op.dtype_rule or _all_dtypes_alike, unify_dtypes, None
    names = op.names_of_inputs(call.attrs, len(inputs))
    facts = Facts(node, names, inputs, outputs, unify, unknown)
    finished = False
    try:
        rule(facts, **call.attrs)
        finished = True
    except Unsettled:
        pass
    except MXNetError as error:
        if not node.name or str(error).startswith("Error in operator"):
            raise
        raise type(error)(_in_graph(node, inputs, str(error))) from error
    except (TypeError, IndexError):
        if kind == "shape" and all(known(s) for s in inputs):
            raise
    return facts.changed, finished


def _in_graph(node: Node, inputs: list[Any], message: str) -> str:
    """A message about a node of a graph: with its name, its operator and what came in."""
    call = node.call
    assert call is not None
    if not message.startswith(call.op.name):
        message = f"{call.op.name}: {message}"
    if "\n  received" not in message and "\n  expected" in message:
        names = call.op.names_of_inputs(call.attrs, len(inputs))
        shown = ", ".join(
            f"{n} {'?' if x is None else x}" for n, x in zip(names, inputs, strict=False)
        )
        message = message.replace("\n  expected", f"\n  received  {shown}\n  expected", 1)
    return f"Error in operator {node.name}: {message}"


def check_shapes(call: Call, shapes: Sequence[tuple[int, ...]]) -> None:
    """Raise what the shape rule finds wrong with these input shapes, if anything."""
    node = Node(call, tuple([None] * len(shapes)), "")
    apply_rule(node, list(shapes), [None] * call.outputs, "shape")


def solve(
    heads: Sequence[Entry],
    given: Mapping[Node, Any],
    kind: str,
    scalars_are_1d: bool = True,
) -> dict[Entry, Any]:
    """Shapes (or dtypes) of all entries that follow from those of some variables.

    ``kind`` is "shape" or "dtype". Raises ``ShapeError``/``DTypeError`` on a contradiction.
    """
    nodes = topological(heads)
    values: dict[Entry, Any] = {}
    for node in nodes:
        for k in range(1 if node.call is None else node.call.outputs):
            values[(node, k)] = given.get(node) if node.call is None else None
    calls = [n for n in nodes if n.call is not None]
    changed = True
    rounds = 0
    while changed and rounds < 100:
        changed = False
        open_calls = []
        for node in calls:
            added, settled = _update(node, values, kind, scalars_are_1d)
            changed |= added
            if not settled:
                open_calls.append(node)
        calls = open_calls[::-1]  # every other round goes backwards
        rounds += 1
    return values


def _update(
    node: Node, values: dict[Entry, Any], kind: str, scalars_are_1d: bool
) -> tuple[bool, bool]:
    """Run a node's rule: whether something was added, and whether nothing is left to find."""
    assert node.call is not None
    entries = [e for e in node.inputs if e is not None]
    inputs = [values[e] for e in entries]
    outputs = [values[(node, k)] for k in range(node.call.outputs)]
    added, finished = apply_rule(node, inputs, outputs, kind)
    found = [*inputs, *outputs]
    complete = known if kind == "shape" else _is_given
    settled = finished and all(map(complete, found))
    if not added:
        return False, settled
    changed = False
    targets = [*entries, *[(node, k) for k in range(len(outputs))]]
    for entry, value in zip(targets, found, strict=True):
        if value == () and scalars_are_1d and kind == "shape":
            value = (1,)
        # numpy takes None for float64 in comparisons of dtypes
        if value is not None and (values[entry] is None or value != values[entry]):
            values[entry] = value
            changed = True
    return changed, settled


def _is_given(value: Any) -> bool:
    return value is not None


def storages(
    heads: Sequence[Entry | None], given: Mapping[Node, str]
) -> tuple[dict[Entry, str], dict[Node, Dispatch]]:
    """The storage type of every entry and the dispatch of every node."""
    stypes: dict[Entry, str] = {}
    dispatches: dict[Node, Dispatch] = {}
    for node in topological(heads):
        if node.call is None:
            stypes[(node, 0)] = given.get(node, "default")
            continue
        types = tuple([storage.TYPES[stypes[e]] for e in node.inputs if e is not None])
        hint = node.attrs.get("__stype__") if node.attrs else None
        dispatch = dispatches[node] = node.call.resolve(types, hint)
        for k, stype in enumerate(dispatch.stypes):
            stypes[(node, k)] = stype
    return stypes, dispatches
