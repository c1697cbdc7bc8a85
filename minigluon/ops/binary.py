"""Operators on two arrays, element by element: of equal shapes, and with broadcasting."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .. import storage
from ..base import ShapeError
from ..core.infer import all_broadcast, all_same
from ..core.op import Op, op, registry
from ..kernels import csr_arithmetic, row_sparse

# ---- functions of two arrays; ufunc contract, whole numbers stay whole numbers


def divide(lhs, rhs, out=None):
    """``lhs / rhs``; whole numbers are cut towards zero, and give 0 over zero."""
    if lhs.dtype.kind not in "iub":
        return np.divide(lhs, rhs, out=out)
    with np.errstate(all="ignore"):
        quotient = np.floor_divide(lhs, rhs)
        short = (np.multiply(quotient, rhs) != lhs) & ((lhs < 0) != (rhs < 0)) & (rhs != 0)
    return np.add(quotient, short.astype(lhs.dtype), out=out)


def modulo(lhs, rhs, out=None):
    """The remainder with the sign of ``rhs``, as in Python; 0 where ``rhs`` is zero."""
    with np.errstate(all="ignore"):
        rest = np.mod(lhs, rhs)
    if lhs.dtype.kind not in "iub":
        rest = np.where(np.equal(rhs, 0), lhs.dtype.type(0), rest)
    return rest if out is None else _fill(out, rest)


def power(lhs, rhs, out=None):
    """``lhs ** rhs``; whole numbers are cut towards zero."""
    if lhs.dtype.kind not in "iub":
        return np.power(lhs, rhs, out=out)
    if (rhs < 0).any():
        return _truncated(np.power)(lhs, rhs, out=out)
    return np.power(lhs, rhs, out=out)


def _truncated(ufunc: np.ufunc) -> Callable[..., Any]:
    """The function with whole numbers computed with as float64, and cut towards zero."""

    def function(lhs, rhs, out=None):
        if lhs.dtype.kind not in "iub":
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


def _declare_equal_shapes(name: str, key: str, aliases: tuple[str, ...]) -> Op:
    function, formula = FUNCTIONS[key]

    def kernel(lhs, rhs, *, out=None):
        if lhs.shape != rhs.shape:
            raise _unequal(name, lhs, rhs)
        return function(lhs, rhs, out=out)

    kernel.__name__ = name
    kernel.__doc__ = _document(key, f"Elementwise ``{formula}`` of arrays of equal shapes.")
    gradient = _GRADIENTS.get(key, "zero")
    zero = "zero" if gradient == "zero" else None
    declared: Op = op(kernel, aliases=aliases, inplace=True, grad=zero)
    declared.shape(all_same)
    if zero is None:
        declared.grad(_plain(gradient))
    return declared


def _document(key: str, first: str) -> str:
    return f"{first}\n\n{_NOTES[key]}" if key in _NOTES else first


def _unequal(name: str, lhs: Any, rhs: Any) -> ShapeError:
    return ShapeError(
        f"{name}: the shapes differ.\n  received  lhs {lhs.shape}, rhs {rhs.shape}\n"
        f"  expected  equal shapes: {name} does not broadcast\n"
        "  fix       use the broadcast_ operator, or the python operator on arrays"
    )


def _declare_broadcasting(key: str, aliases: tuple[str, ...]) -> Op:
    function, formula = FUNCTIONS[key]

    def kernel(lhs, rhs, *, out=None):
        return function(lhs, rhs, out=out)

    kernel.__name__ = f"broadcast_{key}"
    kernel.__doc__ = _document(key, f"Elementwise ``{formula}`` with broadcasting.")
    gradient = _GRADIENTS.get(key, "zero")
    zero = "zero" if gradient == "zero" else None
    declared: Op = op(kernel, aliases=aliases, inplace=True, grad=zero)
    declared.dense = function
    declared.shape(all_broadcast)
    if zero is None:
        declared.grad(_summed(gradient))
    return declared


# ---- the table: name of the equal-shape operator, its aliases, name of the broadcasting one

FUNCTIONS: dict[str, tuple[Any, str]] = {
    "add": (np.add, "lhs + rhs"),
    "sub": (np.subtract, "lhs - rhs"),
    "mul": (np.multiply, "lhs * rhs"),
    "div": (divide, "lhs / rhs"),
    "mod": (modulo, "lhs % rhs"),
    "power": (power, "lhs ** rhs"),
    "maximum": (np.maximum, "max(lhs, rhs)"),
    "minimum": (np.minimum, "min(lhs, rhs)"),
    "hypot": (hypot, "sqrt(lhs**2 + rhs**2)"),
    "equal": (_as_operand_dtype(np.equal), "lhs == rhs"),
    "not_equal": (_as_operand_dtype(np.not_equal), "lhs != rhs"),
    "greater": (_as_operand_dtype(np.greater), "lhs > rhs"),
    "greater_equal": (_as_operand_dtype(np.greater_equal), "lhs >= rhs"),
    "lesser": (_as_operand_dtype(np.less), "lhs < rhs"),
    "lesser_equal": (_as_operand_dtype(np.less_equal), "lhs <= rhs"),
    "logical_and": (_as_operand_dtype(np.logical_and), "lhs and rhs"),
    "logical_or": (_as_operand_dtype(np.logical_or), "lhs or rhs"),
    "logical_xor": (_as_operand_dtype(np.logical_xor), "one of lhs and rhs, not both"),
}
_EQUAL_SHAPES = {
    "elemwise_add": ("add", ("_Plus", "_add", "_plus", "_sparse_elemwise_add")),
    "elemwise_sub": ("sub", ("_Minus", "_minus", "_sub", "_sparse_elemwise_sub")),
    "elemwise_mul": ("mul", ("_Mul", "_mul", "_sparse_elemwise_mul")),
    "elemwise_div": ("div", ("_Div", "_div", "_sparse_elemwise_div")),
    "_mod": ("mod", ("_Mod",)),
    "_power": ("power", ("_Power",)),
    "_maximum": ("maximum", ("_Maximum",)),
    "_minimum": ("minimum", ("_Minimum",)),
    "_hypot": ("hypot", ("_Hypot",)),
    "_equal": ("equal", ("_Equal",)),
    "_not_equal": ("not_equal", ("_Not_Equal",)),
    "_greater": ("greater", ("_Greater",)),
    "_greater_equal": ("greater_equal", ("_Greater_Equal",)),
    "_lesser": ("lesser", ("_Lesser",)),
    "_lesser_equal": ("lesser_equal", ("_Lesser_Equal",)),
    "_logical_and": ("logical_and", ("_Logical_And",)),
    "_logical_or": ("logical_or", ("_Logical_Or",)),
    "_logical_xor": ("logical_xor", ("_Logical_Xor",)),
}
_BROADCASTING = {
    "add": ("broadcast_plus", "_sparse_broadcast_add", "_sparse_broadcast_plus"),
    "sub": ("broadcast_minus", "_sparse_broadcast_sub", "_sparse_broadcast_minus"),
    "mul": ("_sparse_broadcast_mul",),
    "div": ("_sparse_broadcast_div",),
    "maximum": ("_npi_maximum",),
    "minimum": ("_npi_minimum",),
}
#: gradients for lhs and rhs, before they are summed over broadcast axes
_GRADIENTS: dict[str, Any] = {
    "add": lambda F, g, a, b, y: (g, g),
    "sub": lambda F, g, a, b, y: (g, F.negative(g)),
    "mul": lambda F, g, a, b, y: (g * b, g * a),
    "div": lambda F, g, a, b, y: (g / b, F.negative(g * (y / b))),
    "mod": lambda F, g, a, b, y: (g, F.negative(g * F.floor(a / b))),
    "power": lambda F, g, a, b, y: (g * (b * a ** (b - 1)), g * (y * F.log(a))),
    "maximum": lambda F, g, a, b, y: (g * (a >= b), g * (a < b)),
    "minimum": lambda F, g, a, b, y: (g * (a <= b), g * (a > b)),
    "hypot": lambda F, g, a, b, y: (g * (a / y), g * (b / y)),
}
_NOTES = {
    "div": "Whole numbers are cut towards zero.",
    "mod": "The remainder has the sign of ``rhs``; it is 0 where ``rhs`` is.",
    "maximum": "NaN propagates. Where both are equal the gradient goes to ``lhs``.",
    "minimum": "NaN propagates. Where both are equal the gradient goes to ``lhs``.",
}


def _plain(gradient: Any) -> Any:
    def rule(F, g, lhs, rhs, *, out):
        return gradient(F, g, lhs, rhs, out)

    return rule


def _summed(gradient: Any) -> Any:
    def rule(F, g, lhs, rhs, *, out):
        left, right = gradient(F, g, lhs, rhs, out)
        return F._sum_to(left, lhs), F._sum_to(right, rhs)

    return rule


for _name, (_function, _aliases) in _EQUAL_SHAPES.items():
    _declare_equal_shapes(_name, _function, _aliases)
for _function in FUNCTIONS:
    _declare_broadcasting(_function, _BROADCASTING.get(_function, ()))


# ---- sparse rows

_add, _sub = registry["elemwise_add"], registry["elemwise_sub"]
_mul, _div = registry["elemwise_mul"], registry["elemwise_div"]


def _row(declared: Op, signature: str, function: Any, **options: Any) -> None:
    """A sparse kernel that is a plain function of two storages; ``out`` is not filled."""

    def kernel(lhs, rhs, *, out=None):
        if lhs.shape != rhs.shape:
            raise _unequal(declared.name, lhs, rhs)
        return function(lhs, rhs)

    declared.kernel(signature, **options)(kernel)


def _swapped(function: Any) -> Any:
    return lambda lhs, rhs: function(rhs, lhs)


_add.runs_dense("default default -> default")
_row(_add, "csr csr -> csr", csr_arithmetic.add)
_row(_add, "row_sparse row_sparse -> row_sparse", row_sparse.add)
_row(_add, "csr default -> default", csr_arithmetic.add_dense)
_row(_add, "default csr -> default", _swapped(csr_arithmetic.add_dense))
_row(_add, "row_sparse default -> default", row_sparse.add_dense)
_row(_add, "default row_sparse -> default", _swapped(row_sparse.add_dense))

_row(_sub, "csr csr -> csr", csr_arithmetic.subtract)
_row(_sub, "row_sparse row_sparse -> row_sparse", row_sparse.subtract)
_row(_sub, "csr default -> default", csr_arithmetic.subtract_dense)
_row(_sub, "default csr -> default", csr_arithmetic.dense_subtract)
_row(_sub, "row_sparse default -> default", row_sparse.subtract_dense)
_row(_sub, "default row_sparse -> default", row_sparse.dense_subtract)

_mul.grad(stype="default")
_row(_mul, "csr csr -> csr", csr_arithmetic.multiply)
_row(_mul, "row_sparse row_sparse -> row_sparse", row_sparse.multiply)
_row(_mul, "csr default -> csr", csr_arithmetic.multiply_dense)
_row(_mul, "default csr -> csr", _swapped(csr_arithmetic.multiply_dense))
_row(_mul, "row_sparse default -> row_sparse", row_sparse.multiply_dense)
_row(_mul, "default row_sparse -> row_sparse", _swapped(row_sparse.multiply_dense))

for _name, _ufunc in (("_maximum", np.maximum), ("_minimum", np.minimum), ("_hypot", hypot)):
    _row(registry[_name], "csr csr -> csr", partial(csr_arithmetic.union, _ufunc))
    _row(registry[_name], "row_sparse row_sparse -> row_sparse", partial(row_sparse.union, _ufunc))


def _broadcasting_row(name: str, signature: str, function: Any) -> None:
    """A kernel for a csr matrix and a dense array that broadcasts to it."""
    declared = registry[name]
    dense_first = signature.startswith("default")
    given = signature.split()[-1]

    def kernel(lhs, rhs, *, out=None):
        matrix, dense = (rhs, lhs) if dense_first else (lhs, rhs)
        if (
            dense.shape != matrix.shape
            and np.broadcast_shapes(lhs.shape, rhs.shape) != matrix.shape
        ):
            result = declared.dense(storage.densify(lhs), storage.densify(rhs))
            return storage.cast(result, given)
        return function(lhs, rhs)

    declared.kernel(signature)(kernel)


_broadcasting_row("broadcast_add", "csr default -> default", csr_arithmetic.add_dense)
_broadcasting_row("broadcast_add", "default csr -> default", _swapped(csr_arithmetic.add_dense))
_broadcasting_row("broadcast_sub", "csr default -> default", csr_arithmetic.subtract_dense)
_broadcasting_row("broadcast_sub", "default csr -> default", csr_arithmetic.dense_subtract)
_broadcasting_row("broadcast_mul", "csr default -> csr", csr_arithmetic.multiply_dense)
_broadcasting_row("broadcast_div", "csr default -> csr", csr_arithmetic.divide_dense)


# ---- operators of their own


@op(aliases=("ElementWiseSum", "_sparse_ElementWiseSum", "_sparse_add_n"))
def add_n(*args, out=None):
    """The elementwise sum of one or more arrays of equal shapes, added from left to right."""
    first = args[0]
    for x in args:
        if x.shape != first.shape:
            raise _unequal("add_n", first, x)
    if len(args) == 1:
        return np.positive(first, out=out) if out is not None else first.copy()
    total = np.add(first, args[1])  # not into out, which may be one of the arrays
    for x in args[2:]:
        total = np.add(total, x, out=total if total.shape else None)
    if out is None:
        return total
    out[...] = total
    return out


add_n.shape(all_same)


@add_n.grad
def _(F, g, *args, out):
    return (g,) * len(args)


@add_n.kernel("row_sparse* -> row_sparse")
def _(*args, out=None):
    return row_sparse.add_n(args)


add_n.runs_dense("default* -> default")
add_n.runs_dense("default csr default -> default")


@op()
def _scatter_elemwise_div(lhs, rhs, *, out=None):
    """``lhs / rhs``; of a row_sparse ``lhs`` only the stored rows are divided, and stored."""
    return _div.dense(lhs, rhs, out=out)


_scatter_elemwise_div.shape(all_same)
_scatter_elemwise_div.grad(_plain(_GRADIENTS["div"]))
_scatter_elemwise_div.runs_dense("default default -> default", mode="fcompute_fallback")


@_scatter_elemwise_div.kernel("row_sparse default|csr|row_sparse -> row_sparse")
def _(lhs, rhs, *, out=None):
    if type(rhs) is storage.RowSparse:
        divisor = row_sparse.lookup(rhs, lhs.indices)
    else:
        divisor = storage.densify(rhs).take(lhs.indices, axis=0)
    return lhs.with_values(divide(lhs.values, divisor))


@op()
def _identity_with_attr_like_rhs(lhs, rhs, *, out=None):
    """A copy of ``lhs`` in the storage of ``rhs``, whose shape and dtype it shares."""
    if out is None:
        return lhs.copy()
    out[...] = lhs
    return out


_identity_with_attr_like_rhs.shape(all_same)


@_identity_with_attr_like_rhs.grad
def _(F, g, lhs, rhs, *, out):
    return g, None


def _stored_like(lhs, rhs, *, out=None):
    if type(lhs) is type(rhs):
        return lhs.copy()
    return storage.cast(storage.densify(lhs), rhs.stype)


_identity_with_attr_like_rhs.runs_dense("csr|row_sparse default -> default")
for _signature, _mode in (
    ("csr csr -> csr", "fcompute_ex"),
    ("row_sparse row_sparse -> row_sparse", "fcompute_ex"),
    ("default|row_sparse csr -> csr", "fcompute_fallback"),
    ("default|csr row_sparse -> row_sparse", "fcompute_fallback"),
):
    _identity_with_attr_like_rhs.kernel(_signature, mode=_mode)(_stored_like)
