"""Symbols that need no input, and two-operand functions that also take numbers."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ..base import ArgumentTypeError
from .symbol import Symbol


def _made(operator: str, /, *inputs: Any, **attrs: Any) -> Symbol:
    """The symbol of an operator of the ``_internal`` namespace."""
    made: Symbol = getattr(sys.modules[__package__]._internal, operator)(*inputs, **attrs)
    return made


def zeros(shape: Any, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Zeros of a shape."""
    return _made("_zeros", shape=shape, dtype=dtype or np.float32, **kwargs)


def ones(shape: Any, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Ones of a shape."""
    return _made("_ones", shape=shape, dtype=dtype or np.float32, **kwargs)


def full(shape: Any, val: float, dtype: Any = None, **kwargs: Any) -> Symbol:
    """One value in a shape."""
    return _made("_full", shape=shape, dtype=dtype or np.float32, value=float(val), **kwargs)


def eye(N: int, M: int = 0, k: int = 0, dtype: Any = None, **kwargs: Any) -> Symbol:
    """Ones on a diagonal of an (N, M) matrix."""
    return _made("_eye", N=N, M=M, k=k, dtype=dtype or np.float32, **kwargs)


def arange(
    start: float, stop: float | None = None, step: float = 1.0, repeat: int = 1,
    infer_range: bool = False, name: str | None = None, dtype: Any = None,
) -> Symbol:  # fmt: skip
    """Numbers from ``start`` (0 if it is the only one given) up to ``stop``, each repeated."""
    return _made(
        "_arange", start=start, stop=stop, step=step, repeat=repeat, infer_range=infer_range,
        name=name, dtype=dtype or np.float32,
    )  # fmt: skip


def linspace(
    start: float, stop: float, num: int, endpoint: bool = True, name: str | None = None,
    dtype: Any = None,
) -> Symbol:  # fmt: skip
    """``num`` evenly spaced numbers."""
    return _made(
        "_linspace",
        start=start,
        stop=stop,
        num=num,
        endpoint=endpoint,
        name=name,
        dtype=dtype or np.float32,
    )


def split_v2(
    ary: Symbol, indices_or_sections: Any, axis: int = 0, squeeze_axis: bool = False
) -> Symbol:
    """Parts along an axis: so many equal ones, or those that begin at the given indices."""
    if isinstance(indices_or_sections, int):
        indices, sections = [], indices_or_sections
    elif isinstance(indices_or_sections, tuple | list | set):
        indices, sections = [0, *indices_or_sections], 0
    else:
        raise ValueError(
            "split_v2: indices_or_sections must either int or tuple of ints.\n"
            f"  received  {indices_or_sections!r}\n  expected  an integer or a tuple of integers\n"
            "  fix       pass 3 for three equal parts, or (2, 5) for cuts before rows 2 and 5"
        )
    return _made(
        "_split_v2", ary, indices=indices, axis=axis, squeeze_axis=squeeze_axis, sections=sections
    )


def histogram(a: Symbol, bins: Any = 10, range: Any = None, **kwargs: Any) -> Symbol:
    """How many values fall into each bin, and the edges of the bins, which a symbol may give."""
    if isinstance(bins, Symbol):
        return _made("_histogram", a, bins, **kwargs)
    if range is None:
        raise ValueError(
            "histogram: null range is not supported in symbol mode.\n  received  range=None\n"
            "  expected  the two numbers that all bins lie between\n"
            "  fix       pass range=(low, high)"
        )
    return _made("_histogram", a, bin_cnt=bins, range=range, **kwargs)


def _two(array: str, scalar: str, reflected: str, left: Any, right: Any, plain: Any) -> Any:
    if isinstance(left, Symbol) and isinstance(right, Symbol):
        return _made(array, left, right)
    if isinstance(left, Symbol) and isinstance(right, int | float | np.number):
        return _made(scalar, left, scalar=right)
    if isinstance(right, Symbol) and isinstance(left, int | float | np.number):
        return _made(reflected, right, scalar=left)
    if isinstance(left, int | float | np.number) and isinstance(right, int | float | np.number):
        return plain(left, right)
    raise ArgumentTypeError(
        f"{array}: operands are neither symbols nor numbers.\n  received  {type(left).__name__} "
        f"and {type(right).__name__}\n  expected  Symbol or number\n  fix       use sym.Variable"
    )


def maximum(left: Any, right: Any) -> Any:
    """The larger of two, elementwise; either may be a number."""
    return _two("_Maximum", "_MaximumScalar", "_MaximumScalar", left, right, max)


def minimum(left: Any, right: Any) -> Any:
    """The smaller of two, elementwise; either may be a number."""
    return _two("_Minimum", "_MinimumScalar", "_MinimumScalar", left, right, min)


def hypot(left: Any, right: Any) -> Any:
    """``sqrt(left**2 + right**2)``, elementwise; either may be a number."""
    return _two("_Hypot", "_HypotScalar", "_HypotScalar", left, right, np.hypot)


def power(base: Any, exp: Any) -> Any:
    """``base ** exp``, elementwise; either may be a number."""
    return _two("_Power", "_PowerScalar", "_RPowerScalar", base, exp, lambda a, b: a**b)


pow = power
