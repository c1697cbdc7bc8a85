"""Shapes as users give them."""

from __future__ import annotations

import operator
from typing import Any

from ..base import ShapeError


def as_shape(shape: Any) -> tuple[int, ...]:
    """A shape given as a number or as a sequence of numbers, as a tuple of ints.

    Raises ``ShapeError`` for anything else and for negative lengths.
    """
    try:
        if isinstance(shape, tuple | list):
            result = tuple([operator.index(n) for n in shape])
        else:
            result = (operator.index(shape),)
    except TypeError as error:
        raise ShapeError(
            f"not a shape.\n  received  {shape!r:.80}\n"
            "  expected  an integer or a tuple of integers\n"
            "  fix       pass such a tuple"
        ) from error
    if min(result, default=0) < 0:
        raise ShapeError(
            f"a shape with a negative length.\n  received  {result}\n"
            "  expected  lengths of 0 or more\n  fix       work the length out first"
        )
    return result
