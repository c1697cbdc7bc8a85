"""Operators and fluent methods of NDArray and Symbol, made from one table for both.

``install(cls, namespace)`` gives a class whatever the table lists, in terms of the functions of a
namespace (``nd`` or ``sym``). NDArray passes makers of its own for the arithmetic, because there
every tenth of a microsecond is felt.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..base import ArgumentTypeError

Method = Callable[..., Any]


class Binary(NamedTuple):
    """A Python operator: the operators behind it in ``nd`` and, named as MXNet does, in ``sym``."""

    name: str
    array: str
    scalar: str
    reflected: str
    symbol: str
    symbol_scalar: str
    symbol_reflected: str
    inplace: bool = True


def _arithmetic(name: str, array: str, word: str, title: str, **special: Any) -> Binary:
    """A row of arithmetic from the words its operators are named by: "plus", "Plus"."""
    row = Binary(
        name,
        f"broadcast_{array}",
        f"_{word}_scalar",
        f"_r{word}_scalar",
        f"_{title}",
        f"_{title}Scalar",
        f"_R{title}Scalar",
    )
    return row._replace(**special)


def _comparison(name: str, word: str) -> Binary:
    scalar = f"_{word}_scalar"
    return Binary(name, f"broadcast_{word}", scalar, "", f"_{word}", scalar, "", inplace=False)


_PLUS = {"reflected": "_plus_scalar", "symbol_reflected": "_PlusScalar"}
_TIMES = {"reflected": "_mul_scalar", "symbol_reflected": "_MulScalar"}

BINARY = (
    _arithmetic("add", "add", "plus", "Plus", **_PLUS),
    _arithmetic("sub", "sub", "minus", "Minus"),
    _arithmetic("mul", "mul", "mul", "Mul", **_TIMES),
    _arithmetic("truediv", "div", "div", "Div"),
    _arithmetic("mod", "mod", "mod", "Mod"),
    # MXNet has no `**=`: there `x **= 2` makes a new array
    _arithmetic("pow", "power", "power", "Power", symbol_reflected="_rpower_scalar", inplace=False),
)
COMPARISONS = (
    _comparison("eq", "equal"),
    _comparison("ne", "not_equal"),
    _comparison("gt", "greater"),
    _comparison("ge", "greater_equal"),
    _comparison("lt", "lesser"),
    _comparison("le", "lesser_equal"),
)

# fmt: off
#: methods that are the operator of the same name with the array as its first argument
FLUENT = (
    "abs", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "argmax",
    "argmax_channel", "argmin", "argsort", "broadcast_axes", "cbrt", "ceil", "clip", "cos", "cosh",
    "degrees", "depth_to_space", "diag", "exp", "expm1", "fix", "flip", "floor", "log", "log10",
    "log1p", "log2", "log_softmax", "max", "mean", "min", "nanprod", "nansum", "norm", "one_hot",
    "ones_like", "pad", "pick", "prod", "radians", "rcbrt", "reciprocal", "relu", "repeat",
    "reshape_like", "rint", "round", "rsqrt", "shape_array", "sigmoid", "sign", "sin", "sinh",
    "size_array", "slice", "slice_axis", "slice_like", "softmax", "softmin", "sort",
    "space_to_depth", "split", "split_v2", "sqrt", "square", "sum", "swapaxes", "take", "tan",
    "tanh", "tile", "topk", "transpose", "trunc", "zeros_like",
)
#: what a Symbol has beside, and NDArray defines by hand because memory is shared there
FLUENT_SYMBOL = ("broadcast_like", "broadcast_to", "expand_dims", "flatten", "reshape", "squeeze")
# fmt: on

_OLD_NAMES = {"truediv": "div"}  # python 2, still called by name in scripts


def install(
    cls: type,
    namespace: Any,
    *,
    binary: Callable[[Binary, bool], Method] | None = None,
    inplace: Callable[[Binary], Method] | None = None,
    fluent: tuple[str, ...] = FLUENT,
) -> None:
    """Give a class the operators and fluent methods of the table; those it defines stay.

    ``binary(row, reflected)`` and ``inplace(row)`` make the methods of arithmetic; without them
    they call the functions of ``namespace`` that the row names for symbols.
    """
    install_arithmetic(cls, binary or _through(namespace, cls), inplace)
    _attach(cls, "__neg__", _negative(namespace, symbolic=binary is None))
    _attach(cls, "__abs__", fluent_method("abs", namespace))
    for name in fluent:
        _attach(cls, name, fluent_method(name, namespace, cls if binary else None))


def install_arithmetic(
    cls: type,
    binary: Callable[[Binary, bool], Method],
    inplace: Callable[[Binary], Method] | None = None,
) -> None:
    """Give a class the binary operators of the table, made by these makers."""
    for row in (*BINARY, *COMPARISONS):
        for name in filter(None, (row.name, _OLD_NAMES.get(row.name))):
            _attach(cls, f"__{name}__", binary(row, False))
            if row.reflected:
                _attach(cls, f"__r{name}__", binary(row, True))
            if inplace and row.inplace:
                _attach(cls, f"__i{name}__", inplace(row))


def _attach(cls: type, name: str, method: Method) -> None:
    """Make a function a method of the class, unless the class itself (not a parent) has it."""
    if name not in vars(cls):
        method.__name__, method.__qualname__ = name, f"{cls.__name__}.{name}"
        setattr(cls, name, method)


def fluent_method(name: str, namespace: Any, cls: type | None = None) -> Method:
    """The method ``x.name(...)`` that is the function ``namespace.name(x, ...)``.

    With ``cls`` the function itself takes the method's place there when it is first called, if it
    means the same: 0.25 us less.
    """

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        function = getattr(namespace, name)
        if cls is not None and "dtype" not in function.__code__.co_varnames:
            setattr(cls, name, function)
        if kwargs and kwargs.get("dtype", name) is None:
            del kwargs["dtype"]  # np.mean(x) asks for x.mean(axis=None, dtype=None, out=None)
        return function(self, *args, **kwargs)

    method.__doc__ = f"``{name}(x, ...)``: see the operator of that name."
    return method


def refuse(value: Any) -> ArgumentTypeError:
    """The error for an operand that is neither a number nor an array."""
    return ArgumentTypeError(
        f"type {type(value)} not supported\n  received  {value!r:.60}\n"
        "  expected  a number, or an array or symbol as the other operand is\n"
        "  fix       wrap it: mx.nd.array(...)"
    )


def _through(namespace: Any, cls: type) -> Callable[[Binary, bool], Method]:
    """A maker of operators that call the functions of a namespace by their symbolic names."""

    def make(row: Binary, reflected: bool) -> Method:
        scalar_name = row.symbol_reflected if reflected else row.symbol_scalar

        def method(self: Any, other: Any) -> Any:
            if isinstance(other, cls):
                arrays = (other, self) if reflected else (self, other)
                return getattr(namespace._internal, row.symbol)(*arrays)
            if isinstance(other, int | float | np.number | np.bool_):
                return getattr(namespace._internal, scalar_name)(self, scalar=other)
            raise refuse(other)

        return method

    return make


def _negative(namespace: Any, symbolic: bool) -> Method:
    def method(self: Any) -> Any:
        if symbolic:  # MXNet's symbols say _mulscalar0 here, and files are compared
            return namespace._internal._MulScalar(self, scalar=-1.0)
        return namespace.negative(self)

    return method
