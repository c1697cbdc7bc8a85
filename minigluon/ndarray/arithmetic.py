"""Arithmetic on NDArrays: ``a + b``, ``a += 1``, ``nd.maximum(a, 2)``, by the shortest way."""

from __future__ import annotations

import operator
from collections.abc import Callable
from textwrap import indent
from typing import Any

import numpy as np

from ..core.call import Call
from ..core.explain import recorded_write
from ..core.invoke import dense, invoke_any, runner, written
from ..core.op import registry
from ..core.state import quiet, state
from .methods import Binary, Method, refuse
from .ndarray import NDArray

_SCALARS_KEPT = 256
NUMBERS = (int, float, np.number, np.bool_)


class ScalarCalls(dict[Any, Call]):
    """scalar -> Call of one operator, for all but zeros: 0.0 and -0.0 are equal, not the same."""

    __slots__ = ("name", "zero", "zeros")

    def __init__(self, name: str):
        self.name = name
        self.zero: Call | None = None
        self.zeros: dict[str, Call] = {}

    def __missing__(self, value: Any) -> Call:
        if len(self) > _SCALARS_KEPT:
            self.clear()
        call = self[value] = self._make(value)
        return call

    def _make(self, value: Any) -> Call:
        if not isinstance(value, NUMBERS):
            raise refuse(value)
        number = value.item() if isinstance(value, np.generic) else value
        return registry[self.name].call(scalar=number)

    def find(self, value: Any) -> Call:
        """The Call for a number; ``TypeError`` for anything else."""
        try:
            if value:
                return self[value]
        except (TypeError, ValueError):  # not hashable, or without a truth value
            raise refuse(value) from None
        if value.__class__ is int:
            if self.zero is None:
                self.zero = self._make(0)
            return self.zero
        text = repr(value)
        call = self.zeros.get(text)
        if call is None:
            call = self.zeros[text] = self._make(value)
        return call


one, two = runner(1), runner(2)

#: the hottest functions of all: arrays and plain numbers are looked at without a further call
_ARRAYS = f"""\
        if type(x1) is cls:
            call = arrays
{indent(dense(2, "otherwise(x0, x1)"), " " * 8)}"""
_NUMBERS = f"""\
        if type(x1) is float or type(x1) is int:
            call = numbers.get(x1) or numbers.find(x1)
{indent(dense(1, "otherwise(x0, x1)"), " " * 8)}"""
_METHOD = """\
def make(arrays, numbers, otherwise):
    def method(x0, x1):
{}        return otherwise(x0, x1)
    return method
"""
_make = written(_METHOD.format(_ARRAYS + _NUMBERS), "make")
_make_reflected = written(_METHOD.format(_NUMBERS), "make")


def binary(row: Binary, reflected: bool) -> Method:
    """The method of a Python operator for dense arrays."""
    call = registry[row.array].call()
    scalars = ScalarCalls(row.reflected if reflected else row.scalar)

    def otherwise(self: NDArray, other: Any) -> Any:
        if isinstance(other, NDArray):
            return invoke_any(call, (other, self) if reflected else (self, other))
        try:
            found = scalars.get(other) or scalars.find(other)
        except TypeError:  # not hashable
            raise refuse(other) from None
        return one(found, self)

    make = _make_reflected if reflected else _make
    method: Method = make(call, scalars, otherwise)
    return method


def inplace(row: Binary) -> Method:
    """The method of ``x += y``: the result is written into the memory of ``x``."""
    arrays = registry[row.array].call()
    numbers = ScalarCalls(row.scalar)
    symbol = {"add": "+=", "sub": "-=", "mul": "*=", "truediv": "/=", "mod": "%=", "pow": "**="}

    def method(self: NDArray, other: Any) -> Any:
        is_array = isinstance(other, NDArray)
        recorded = self._entry is not None or (is_array and other._entry is not None)
        if recorded and state.recording:
            raise recorded_write(f"x {symbol[row.name]} {'y' if is_array else other}")
        call = arrays if is_array else numbers.get(other) or numbers.find(other)
        inputs = (self, other) if is_array else (self,)
        plain = type(self) is NDArray and (not is_array or type(other) is NDArray)
        if call.dense is None or not plain:
            return invoke_any(call, inputs, self)
        data = self._data
        try:
            if not is_array:
                quiet.run(call.dense, data, out=data)
            elif other._data.dtype is data.dtype:
                quiet.run(call.dense, data, other._data, out=data)
            else:
                return invoke_any(call, inputs, self)
        except Exception:
            return invoke_any(call, inputs, self)  # tells what is wrong
        return self

    return method


def function(
    name: str, array: str, scalar: str, reflected: str, plain: Callable[[Any, Any], Any]
) -> Callable[..., Any]:
    """A function of two operands, each an array or a number, such as ``nd.maximum``."""
    call = registry[f"broadcast_{array}"].call()
    left, right = ScalarCalls(f"_{scalar}_scalar"), ScalarCalls(f"_{reflected}_scalar")

    def made(lhs: Any, rhs: Any) -> Any:
        if isinstance(lhs, NDArray):
            if isinstance(rhs, NDArray):
                return two(call, lhs, rhs)
            return one(left.find(rhs), lhs)
        if isinstance(rhs, NDArray):
            return one(right.find(lhs), rhs)
        for operand in (lhs, rhs):
            if not isinstance(operand, NUMBERS):
                raise refuse(operand)
        return plain(lhs, rhs)

    made.__name__ = made.__qualname__ = name
    made.__module__ = __name__.rpartition(".")[0]
    made.__doc__ = f"``{name}`` of two arrays, which broadcast, or of an array and a number."
    return made


def _truth(comparison: Callable[[Any, Any], Any]) -> Callable[[Any, Any], int]:
    return lambda a, b: 1 if comparison(a, b) else 0


def _differ(a: Any, b: Any) -> bool:
    return bool(a) != bool(b)


#: name, the operator after "broadcast_", for array and number, for number and array, for numbers
_FUNCTIONS: tuple[tuple[str, str, str, str, Any], ...] = (
    ("add", "add", "plus", "plus", operator.add),
    ("subtract", "sub", "minus", "rminus", operator.sub),
    ("multiply", "mul", "mul", "mul", operator.mul),
    ("divide", "div", "div", "rdiv", operator.truediv),
    ("true_divide", "div", "div", "rdiv", operator.truediv),
    ("modulo", "mod", "mod", "rmod", operator.mod),
    ("_power", "power", "power", "rpower", operator.pow),
    ("maximum", "maximum", "maximum", "maximum", max),
    ("minimum", "minimum", "minimum", "minimum", min),
    ("equal", "equal", "equal", "equal", _truth(operator.eq)),
    ("not_equal", "not_equal", "not_equal", "not_equal", _truth(operator.ne)),
    ("greater", "greater", "greater", "lesser", _truth(operator.gt)),
    ("greater_equal", "greater_equal", "greater_equal", "lesser_equal", _truth(operator.ge)),
    ("lesser", "lesser", "lesser", "greater", _truth(operator.lt)),
    ("lesser_equal", "lesser_equal", "lesser_equal", "greater_equal", _truth(operator.le)),
    ("logical_and", "logical_and", "logical_and", "logical_and", _truth(lambda a, b: a and b)),
    ("logical_or", "logical_or", "logical_or", "logical_or", _truth(lambda a, b: a or b)),
    ("logical_xor", "logical_xor", "logical_xor", "logical_xor", _truth(_differ)),
)

#: name -> the module function of ``nd``
FUNCTIONS = {row[0]: function(*row) for row in _FUNCTIONS}
_power = FUNCTIONS.pop("_power")


def power(base: Any, exp: Any) -> Any:
    """``base`` to the power of ``exp``: arrays, which broadcast, or an array and a number."""
    return _power(base, exp)


FUNCTIONS["power"] = power
