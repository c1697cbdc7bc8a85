"""What declarations of operators share: filling ``out``, reading axes, wanting floats."""

from __future__ import annotations

from typing import Any

from ..base import AttributeValueError, DTypeError, ShapeError


class AxisError(ShapeError, IndexError):
    """An axis that the array does not have."""


def filled(result: Any, out: Any) -> Any:
    """``result``, or ``out`` holding it: the ufunc contract for what numpy computes without one."""
    if out is None:
        return result
    out[...] = result
    return out


def axis_of(axis: int, ndim: int, name: str) -> int:
    """The axis counted from the front; raises ``AxisError`` for one that is not there."""
    if 0 <= axis < ndim:
        return axis
    if -ndim <= axis < 0:
        return axis + ndim
    raise AxisError(
        f"{name}: there is no axis {axis}: it exceeds the input dimension of {ndim}.\n"
        f"  received  axis={axis} for {ndim} dimensions\n"
        f"  expected  {-ndim} to {ndim - 1}\n  fix       choose such an axis"
    )


def at_least(name: str, attribute: str, value: int, least: int) -> None:
    """Raise ``AttributeValueError`` unless the attribute is at least so large."""
    if value < least:
        raise AttributeValueError(
            f"{name}: value {value} for Parameter {attribute} should be greater equal to {least}.\n"
            f"  received  {attribute}={value}\n  expected  {least} or more\n"
            f"  fix       pass such a {attribute}"
        )


def floating(data: Any, name: str) -> Any:
    """``data`` if it holds floats; raises ``DTypeError`` for whole numbers, as MXNet does."""
    if data.dtype.kind != "f":
        raise DTypeError(
            f"{name}: This operation only support floating point types, not {data.dtype}.\n"
            f"  received  data {data.shape} {data.dtype}\n  expected  float16, float32 or float64\n"
            "  fix       convert it with data.astype('float32')"
        )
    return data


def like_first(t: Any, **_: Any) -> None:
    """The dtype rule that the output follows the first input, whatever the others are."""
    t.out = t.ins[0]
    t.ins = [t.out]
