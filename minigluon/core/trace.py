"""Symbols for gradient rules: expressions whose arithmetic is made of operators.

On them ``+ - /`` broadcast, ``*`` is ``_grad_mul`` (whose sparse rows decide the storage of
gradients), and a number becomes a scalar operator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .call import Call
from .graph import Entry, Node
from .op import Op, registry


class Expr:
    """One entry of a graph under construction."""

    __slots__ = ("entry",)

    def __init__(self, entry: Entry):
        self.entry = entry

    def __bool__(self) -> bool:
        raise LeftOpen("a gradient rule is traced once for all values: it cannot look at one")

    def __add__(self, other: Any) -> Expr:
        return _binary("broadcast_add", "_plus_scalar", self, other)

    __radd__ = __add__

    def __mul__(self, other: Any) -> Expr:
        return _binary("_grad_mul", "_mul_scalar", self, other)

    __rmul__ = __mul__

    def __sub__(self, other: Any) -> Expr:
        return _binary("broadcast_sub", "_minus_scalar", self, other)

    def __rsub__(self, other: Any) -> Expr:
        return _binary("broadcast_sub", "_rminus_scalar", self, other)

    def __truediv__(self, other: Any) -> Expr:
        return _binary("broadcast_div", "_div_scalar", self, other)

    def __rtruediv__(self, other: Any) -> Expr:
        return _binary("broadcast_div", "_rdiv_scalar", self, other)

    def __pow__(self, other: Any) -> Expr:
        return _binary("broadcast_power", "_power_scalar", self, other)

    def __neg__(self) -> Expr:
        return _single(registry["negative"].call(), (self,))

    def __gt__(self, other: Any) -> Expr:
        return _binary("broadcast_greater", "_greater_scalar", self, other)

    def __ge__(self, other: Any) -> Expr:
        return _binary("broadcast_greater_equal", "_greater_equal_scalar", self, other)

    def __lt__(self, other: Any) -> Expr:
        return _binary("broadcast_lesser", "_lesser_scalar", self, other)

    def __le__(self, other: Any) -> Expr:
        return _binary("broadcast_lesser_equal", "_lesser_equal_scalar", self, other)


class LeftOpen(TypeError):
    """A rule looks at a value that is not there while it is traced."""


class Number(Expr):
    """A number among the attributes, left open: the graph is for all its values."""

    __slots__ = ()

    def _look(self, *_: Any) -> Any:
        raise LeftOpen("the rule looks at a number that is left open")

    __eq__ = __ne__ = __hash__ = __float__ = __int__ = __index__ = _look
    __abs__ = __round__ = __floor__ = __ceil__ = __trunc__ = _look


def _binary(arrays: str, scalar: str, left: Expr, right: Any) -> Expr:
    if isinstance(right, Expr):
        return _single(registry[arrays].call(), (left, right))
    return _single(registry[scalar].call(scalar=right), (left,))


def _single(call: Call, inputs: tuple[Expr, ...]) -> Expr:
    """The only output of a Call on expressions."""
    return Expr((_node(call, inputs), 0))


def _node(call: Call, inputs: tuple[Expr, ...]) -> Node:
    return Node(call, tuple([x.entry for x in inputs]), call.op.name.lower().lstrip("_"))


def apply(call: Call, inputs: tuple[Expr, ...]) -> Any:
    """The outputs of a Call on expressions: one, or a tuple."""
    node = _node(call, inputs)
    if call.outputs == 1:
        return Expr((node, 0))
    return tuple([Expr((node, k)) for k in range(call.outputs)])


class OperatorNamespace:
    """``F`` in a gradient rule: every operator of the table as a function on expressions."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        try:
            op = registry[name]
        except KeyError:
            raise AttributeError(f"no operator {name}") from None

        def function(*inputs: Expr, **attrs: Any) -> Any:
            return _call_with_names(op, inputs, attrs)

        setattr(self, name, function)
        return function


def _call_with_names(op: Op, inputs: tuple[Expr, ...], attrs: dict[str, Any]) -> Any:
    named = [attrs.pop(n) for n in op.inputs[len(inputs) :] if n in attrs]
    if any(isinstance(value, Number) for value in attrs.values()):
        raise LeftOpen(f"{op.name} takes a number, not one that is left open")
    return apply(op.call(**attrs), (*inputs, *named))


F = OperatorNamespace()
