"""Operators on an array and a number, element by element."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.attributes import Scalar
from ..core.infer import all_same
from ..core.number import constant
from ..core.op import Op, op, registry
from .binary import FUNCTIONS
from .elementwise import keep_storage

_FLOAT32 = np.dtype(np.float32)


def computing_dtype(dtype: np.dtype[Any], is_int: bool) -> np.dtype[Any]:
    """The dtype an operator of an array and a number works in: the array's, if that is real.

    Whole numbers stay so if the number ``is_int`` (as by default), and become float64 if not.
    """
    if dtype.kind not in "iub":
        return dtype
    if not is_int:
        return np.dtype(np.float64)
    return np.dtype(np.int64) if dtype.kind == "b" else dtype


def _declare(name: str) -> Op:
    key, formula, aliases, number_first = _FUNCTIONS[name]
    function = FUNCTIONS[key][0]

    def kernel(data, *, scalar: Scalar = 1.0, is_int: bool = True, out=None):
        dtype = data.dtype
        if dtype.kind in "iub":
            dtype = computing_dtype(dtype, is_int)
            data = data.astype(dtype, copy=False)
        if number_first:
            return function(constant(dtype, scalar), data, out=out)
        return function(data, constant(dtype, scalar), out=out)

    def prepared(scalar, is_int):
        single = constant(_FLOAT32, scalar)  # the number is looked up once, not at every call

        def run(data, *, out=None):
            if data.dtype is not _FLOAT32:
                return kernel(data, scalar=scalar, is_int=is_int, out=out)
            left, right = (single, data) if number_first else (data, single)
            return function(left, right) if out is None else function(left, right, out=out)

        return run

    kernel.__name__ = name
    kernel.__doc__ = (
        f"Elementwise ``{formula}``.\n\nInteger arrays stay integer and take the whole part of "
        "``scalar``, unless ``is_int=False``: then they are computed with as float64."
    )
    gradient = _GRADIENTS.get(name)
    declared: Op = op(
        kernel, aliases=aliases, inplace=True, grad="zero" if gradient is None else None
    )
    declared.shape(all_same)
    declared.dtype(_scalar_dtype)
    declared.prepare(prepared)
    if gradient is not None:
        declared.grad(_rule_of(gradient))
    return declared


def _scalar_dtype(t: Any, *, is_int: bool, **_: Any) -> None:
    if t.data is not None:
        t.out = computing_dtype(t.data, is_int)
    elif t.out is not None:
        t.data = t.out


_FUNCTIONS: dict[str, tuple[str, str, tuple[str, ...], bool]] = {
    # operator: function of two arrays, formula, aliases, number first
    "_plus_scalar": ("add", "x + scalar", ("_PlusScalar",), False),
    "_minus_scalar": ("sub", "x - scalar", ("_MinusScalar",), False),
    "_rminus_scalar": ("sub", "scalar - x", ("_RMinusScalar",), True),
    "_mul_scalar": ("mul", "x * scalar", ("_MulScalar",), False),
    "_div_scalar": ("div", "x / scalar", ("_DivScalar",), False),
    "_rdiv_scalar": ("div", "scalar / x", ("_RDivScalar",), True),
    "_mod_scalar": ("mod", "x % scalar", ("_ModScalar",), False),
    "_rmod_scalar": ("mod", "scalar % x", ("_RModScalar",), True),
    "_power_scalar": ("power", "x ** scalar", ("_PowerScalar",), False),
    "_rpower_scalar": ("power", "scalar ** x", ("_RPowerScalar",), True),
    "_maximum_scalar": (
        "maximum", "max(x, scalar)", ("_MaximumScalar", "_npi_maximum_scalar"), False,
    ),
    "_minimum_scalar": (
        "minimum", "min(x, scalar)", ("_MinimumScalar", "_npi_minimum_scalar"), False,
    ),
    "_hypot_scalar": (
        "hypot", "sqrt(x**2 + scalar**2)", ("_HypotScalar", "_npi_hypot_scalar"), False,
    ),
    "_equal_scalar": ("equal", "x == scalar", ("_EqualScalar",), False),
    "_not_equal_scalar": ("not_equal", "x != scalar", ("_NotEqualScalar",), False),
    "_greater_scalar": ("greater", "x > scalar", ("_GreaterScalar",), False),
    "_greater_equal_scalar": (
        "greater_equal", "x >= scalar", ("_GreaterEqualScalar",), False,
    ),
    "_lesser_scalar": ("lesser", "x < scalar", ("_LesserScalar",), False),
    "_lesser_equal_scalar": ("lesser_equal", "x <= scalar", ("_LesserEqualScalar",), False),
    "_logical_and_scalar": ("logical_and", "x and scalar", ("_LogicalAndScalar",), False),
    "_logical_or_scalar": ("logical_or", "x or scalar", ("_LogicalOrScalar",), False),
    "_logical_xor_scalar": (
        "logical_xor", "one of x and scalar, not both", ("_LogicalXorScalar",), False,
    ),
}  # fmt: skip


def _power_gradient(F: Any, g: Any, x: Any, y: Any, s: float) -> Any:
    if s == 0:
        return F.zeros_like(g)  # not 0 * x ** -1, which is NaN at zero
    if s == 1:
        return g
    if s == 2:
        return g * (x * 2)
    return g * (x ** (s - 1) * s)


def _rpower_gradient(F: Any, g: Any, x: Any, y: Any, s: float) -> Any:
    if s > 0:
        return g * (y * math.log(s))
    return g * (y * (math.nan if s < 0 else -math.inf))


_GRADIENTS: dict[str, Any] = {
    "_plus_scalar": lambda F, g, x, y, s: g,
    "_minus_scalar": lambda F, g, x, y, s: g,
    "_rminus_scalar": lambda F, g, x, y, s: F.negative(g),
    "_mul_scalar": lambda F, g, x, y, s: g * s,
    "_div_scalar": lambda F, g, x, y, s: g / s,
    "_rdiv_scalar": lambda F, g, x, y, s: F.negative(g * (y / x)),
    "_mod_scalar": lambda F, g, x, y, s: g,
    "_rmod_scalar": lambda F, g, x, y, s: F.negative(g * F.floor(F._rdiv_scalar(x, scalar=s))),
    "_power_scalar": _power_gradient,
    "_rpower_scalar": _rpower_gradient,
    "_maximum_scalar": lambda F, g, x, y, s: g * (x >= s),
    "_minimum_scalar": lambda F, g, x, y, s: g * (x <= s),
    "_hypot_scalar": lambda F, g, x, y, s: g * (x / y),
}


def _rule_of(gradient: Any) -> Any:
    def rule(F, g, data, *, out, scalar, is_int):
        return gradient(F, g, data, out, scalar)

    return rule


for _name in _FUNCTIONS:
    _declare(_name)


# ---- sparse rows: the number keeps zero at zero

_KEEPS: dict[str, Any] = {
    "_plus_scalar": lambda scalar: scalar == 0,
    "_minus_scalar": lambda scalar: scalar == 0,
    "_mul_scalar": lambda scalar: True,
    "_div_scalar": lambda scalar: True,
    "_equal_scalar": lambda scalar: scalar != 0,
    "_not_equal_scalar": lambda scalar: scalar == 0,
    "_greater_scalar": lambda scalar: scalar >= 0,
    "_greater_equal_scalar": lambda scalar: scalar > 0,
    "_lesser_scalar": lambda scalar: scalar <= 0,
    "_lesser_equal_scalar": lambda scalar: scalar < 0,
}


def _when(keeps: Any) -> Any:
    return lambda scalar, is_int: keeps(scalar)


for _name, _keeps in _KEEPS.items():
    keep_storage(registry[_name], _when(_keeps))


# ---- the stored entries only


def _declare_scatter(name: str, base: str) -> None:
    dense = registry[base].dense

    def kernel(data, *, scalar: Scalar = 1.0, is_int: bool = True, out=None):
        return dense(data, scalar=scalar, is_int=is_int, out=out)

    kernel.__name__ = name
    kernel.__doc__ = (
        f"Like ``{base}``, but only the stored entries of a sparse array change: it stays sparse."
    )
    declared = op(kernel, inplace=True)
    declared.shape(all_same)
    declared.dtype(_scalar_dtype)
    declared.grad(_rule_of(_GRADIENTS[base]))
    keep_storage(declared)


_declare_scatter("_scatter_plus_scalar", "_plus_scalar")
_declare_scatter("_scatter_minus_scalar", "_minus_scalar")
