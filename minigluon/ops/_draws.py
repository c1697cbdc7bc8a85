"""What operators that draw numbers share: their dtypes, their rules, and how they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import AttributeValueError
from ..core.infer import UNKNOWN, UnknownShape

_FLOAT = np.dtype(np.float32)


def refuse(name: str, what: str, value: Any, expected: str) -> AttributeValueError:
    """The exception for a parameter that the distribution cannot have."""
    return AttributeValueError(
        f"{name}: {what} is not valid.\n  received  {what}={value}\n  expected  {expected}\n"
        f"  fix       choose such a {what}"
    )


def floating(name: str, dtype: Any) -> np.dtype[Any]:
    """The dtype to draw, float32 if none is given; raises for whole numbers."""
    if dtype is None:
        return _FLOAT
    if dtype.kind != "f":
        raise refuse(name, "dtype", dtype, "float16, float32 or float64")
    return np.dtype(dtype)


def shape_of_attribute(s: Any, *, shape: Any, **_: Any) -> None:
    """The rule of numbers in a shape; 0 means unknown, as everywhere in symbols."""
    s.out = (1,) if shape is None else tuple([UNKNOWN if d == 0 else d for d in shape])


def dtype_of_attribute(t: Any, *, dtype: Any, **_: Any) -> None:
    """The rule of numbers in a dtype."""
    t.out = dtype or np.float32


def shape_of_data(s: Any, **_: Any) -> None:
    """The rule of numbers like an array."""
    s.data = s.out
    s.out = s.data


def shape_of_parameters(s: Any, *, shape: Any, **_: Any) -> None:
    """The rule of ``shape`` numbers for each element of the parameters."""
    for parameter in s.ins:
        s.ins = [parameter] * len(s.ins)
    if not isinstance(s.ins[0], UnknownShape):
        s.out = (*s.ins[0], *shape)


def dtype_of_parameters(t: Any, *, dtype: Any, **_: Any) -> None:
    """The rule of their dtype; the parameters have one."""
    for parameter in t.ins:
        if parameter is not None:
            t.ins = [parameter] * len(t.ins)
    t.out = dtype or np.float32
