"""Operators on two arrays, element by element, and on an array and a number.

Each function of two numbers makes up to four families: ``elemwise_*`` or ``_name`` (equal shapes),
``broadcast_*``, ``_*_scalar`` and, if it is not symmetric, ``_r*_scalar`` with the number first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..base import ShapeError
from ..core.attributes import Scalar
from ..core.infer import all_same, broadcast
from ..core.op import Op, op

# ---- functions of two arrays; ufunc contract, whole numbers stay whole numbers


def divide(lhs, rhs, out=None):
    """``lhs / rhs``; whole numbers are cut towards zero, and give 0 over zero."""
    if lhs.dtype.kind == "f":
        return np.divide(lhs, rhs, out=out)
    with np.errstate(all="ignore"):
        quotient = np.floor_divide(lhs, rhs)
        short = (np.multiply(quotient, rhs) != lhs) & ((lhs < 0) != (rhs < 0)) & (rhs != 0)
    return np.add(quotient, short.astype(lhs.dtype), out=out)


def modulo(lhs, rhs, out=None):
    """The remainder with the sign of ``rhs``, as in Python; 0 where ``rhs`` is zero."""
    with np.errstate(all="ignore"):
        rest = np.mod(lhs, rhs)
    if lhs.dtype.kind == "f":
        rest = np.where(np.equal(rhs, 0), lhs.dtype.type(0), rest)
    return rest if out is None else _fill(out, rest)


def power(lhs, rhs, out=None):
    """``lhs ** rhs``; whole numbers are cut towards zero."""
    if lhs.dtype.kind == "f":
        return np.power(lhs, rhs, out=out)
    if (rhs < 0).any():
        return _truncated(np.power)(lhs, rhs, out=out)
    return np.power(lhs, rhs, out=out)


def _truncated(ufunc: np.ufunc) -> Callable[..., Any]:
    """The function with whole numbers computed with as float64, and cut towards zero."""

    def function(lhs, rhs, out=None):
        if lhs.dtype.kind == "f":
            return ufunc(lhs, rhs, out=out)
        with np.errstate(all="ignore"):
            result = np.trunc(ufunc(lhs.astype(np.float64), rhs.astype(np.float64)))
            if out is None:
                return result.astype(lhs.dtype)
            return _fill(out, result)

    return function


hypot = _truncated(np.hypot)


def _fill(out, value):
    np.copyto(out, value, casting="unsafe")
    return out


def _as_operand_dtype(ufunc: np.ufunc) -> Callable[..., Any]:
    """A truth function whose results are 0 and 1 in the dtype of its operands."""

    def function(lhs, rhs, out=None):
        if out is None:
            return ufunc(lhs, rhs).astype(lhs.dtype)
        return _fill(out, ufunc(lhs, rhs))

    return function


# ---- arrays of equal shapes, and arrays that broadcast


def _declare_equal_shapes(name: str, function: Any, formula: str, aliases: tuple[str, ...]) -> Op:
    def kernel(lhs, rhs, *, out=None):
        if lhs.shape != rhs.shape:
            raise _unequal(name, lhs, rhs)
        return function(lhs, rhs, out=out)

    kernel.__name__ = name
    kernel.__doc__ = f"Elementwise ``{formula}`` of arrays of equal shapes."
    declared: Op = op(kernel, aliases=aliases, inplace=True)
    declared.shape(all_same)
    return declared


def _unequal(name: str, lhs: Any, rhs: Any) -> ShapeError:
    return ShapeError(
        f"{name}: the shapes differ.\n  received  lhs {lhs.shape}, rhs {rhs.shape}\n"
        f"  expected  equal shapes: {name} does not broadcast\n"
        "  fix       use the broadcast_ operator, or the python operator on arrays"
    )


def _declare_broadcasting(
    name: str, function: Any, formula: str, aliases: tuple[str, ...] = ()
) -> Op:
    def kernel(lhs, rhs, *, out=None):
        return function(lhs, rhs, out=out)

    kernel.__name__ = name
    kernel.__doc__ = f"Elementwise ``{formula}`` with broadcasting."
    declared: Op = op(kernel, aliases=aliases)
    declared.dense = function
    declared.shape(_broadcast_shape)
    return declared


def _broadcast_shape(s: Any) -> None:
    s.out = broadcast(s.lhs, s.rhs)


# ---- an array and a number

_constants: dict[Any, np.ndarray] = {}


def constant(dtype: np.dtype[Any], value: float) -> np.ndarray:
    """The number as a 0-d array of the dtype, kept: cheaper for ufuncs than a Python number.

    Whole dtypes take the whole part, and what does not fit wraps around.
    """
    key = (dtype, value or repr(value))  # 0.0 and -0.0 are equal keys otherwise
    found = _constants.get(key)
    if found is None:
        if len(_constants) > 4096:
            _constants.clear()
        if dtype.kind == "f":
            with np.errstate(over="ignore"):
                found = np.array(value, np.float64).astype(dtype)
        else:
            bits = 8 * dtype.itemsize
            whole = int(value) if np.isfinite(value) else 0
            found = np.array(whole % 2**bits, np.uint64).astype(dtype)
        _constants[key] = found
    return found


def computing_dtype(dtype: np.dtype[Any], is_int: bool) -> np.dtype[Any]:
    """The dtype an operator of an array and a number works in: the array's, if that is real.

    Whole numbers stay so if the number ``is_int`` (as by default), and become float64 if not.
    """
    if dtype.kind == "f":
        return dtype
    if not is_int:
        return np.dtype(np.float64)
    return np.dtype(np.int64) if dtype.kind == "b" else dtype


def _declare_scalar(
    name: str, function: Any, formula: str, aliases: tuple[str, ...], reverse: bool = False
) -> Op:
    def kernel(data, *, scalar: Scalar = 1.0, is_int: bool = True, out=None):
        dtype = data.dtype
        if dtype.kind != "f":
            dtype = computing_dtype(dtype, is_int)
            data = data.astype(dtype, copy=False)
        if reverse:
            return function(constant(dtype, scalar), data, out=out)
        return function(data, constant(dtype, scalar), out=out)

    kernel.__name__ = name
    kernel.__doc__ = (
        f"Elementwise ``{formula}``.\n\nInteger arrays stay integer and take the whole part of "
        "``scalar``, unless ``is_int=False``: then they are computed with as float64."
    )
    declared: Op = op(kernel, aliases=aliases, inplace=True)
    declared.shape(all_same)
    declared.dtype(_scalar_dtype)
    return declared


def _scalar_dtype(t: Any, *, is_int: bool, **_: Any) -> None:
    if t.data is not None:
        t.out = computing_dtype(t.data, is_int)
    elif t.out is not None:
        t.data = t.out
