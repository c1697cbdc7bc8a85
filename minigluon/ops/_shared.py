"""What declarations of operators share: filling ``out``, reading an axis, following a dtype."""

from __future__ import annotations

from typing import Any

from ..base import AttributeValueError, ShapeError


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


def like_first(t: Any, **_: Any) -> None:
    """The dtype rule that the output follows the first input, whatever the others are."""
    t.out = t.ins[0]
    t.ins = [t.out]
