"""What a shape given to ``reshape`` means."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from math import prod
from typing import Any

from ..base import ShapeError


def resolve_reshape(
    current: tuple[int, ...], wanted: Sequence[int], reverse: bool = False
) -> tuple[int, ...]:
    """The shape that ``reshape(wanted)`` gives an array of shape ``current``.

    0 keeps the length at that place, -1 is worked out from the number of elements, -2 keeps all
    remaining lengths, -3 joins the next two axes, -4 splits the next one into the two numbers that
    follow (one of them may be -1). With ``reverse`` the codes are matched from the right.

    Raises ``ShapeError`` if the numbers of elements differ.

    Examples
    --------
    >>> resolve_reshape((2, 3, 4), (-4, 1, -1, -3))
    (1, 2, 12)
    """
    wanted = tuple([int(n) for n in wanted])
    if reverse:
        codes = _reversed_codes(wanted)
        target = _match(current[::-1], codes, current, wanted)[::-1]
    else:
        target = _match(current, wanted, current, wanted)
    if target.count(-1) > 1:
        raise _refuse(current, wanted, "at most one -1")
    size, known = prod(current), prod([n for n in target if n != -1])
    if -1 in target:
        if known == 0 or size % known:
            raise _refuse(current, wanted, f"lengths whose product divides {size}")
        target = [size // known if n == -1 else n for n in target]
    elif known != size:
        raise _refuse(current, wanted, f"a shape of {size} elements")
    return tuple(target)


def _reversed_codes(wanted: tuple[int, ...]) -> tuple[int, ...]:
    """The codes from right to left, each -4 still before its two numbers."""
    groups: list[tuple[int, ...]] = []
    k = 0
    while k < len(wanted):
        width = 3 if wanted[k] == -4 else 1
        group = wanted[k : k + width]
        groups.append((group[0], *group[:0:-1]))
        k += width
    return tuple([code for group in reversed(groups) for code in group])


def _match(
    lengths: tuple[int, ...],
    codes: tuple[int, ...],
    current: tuple[int, ...],
    wanted: tuple[int, ...],
) -> list[int]:
    """The target with the special codes replaced, -1 left in place."""
    target: list[int] = []
    at = k = 0

    def take(count: int) -> tuple[int, ...]:
        nonlocal at
        if at + count > len(lengths):
            raise _refuse(current, wanted, f"codes that refer to at most {len(lengths)} axes")
        at += count
        return lengths[at - count : at]

    while k < len(codes):
        code = codes[k]
        if code > 0 or code == -1:
            target.append(code)
            at += 1
        elif code == 0:
            target += take(1)
        elif code == -2:
            target += lengths[at:]
            at = max(at, len(lengths))
        elif code == -3:
            first, second = take(2)
            target.append(first * second)
        elif code == -4:
            (length,) = take(1)
            target += _split(length, codes[k + 1 : k + 3], current, wanted)
            k += 2
        else:
            raise _refuse(current, wanted, "lengths and the codes 0, -1, -2, -3, -4")
        k += 1
    return target


def _split(
    length: int, parts: tuple[int, ...], current: tuple[int, ...], wanted: tuple[int, ...]
) -> tuple[int, int]:
    """The two lengths an axis is split into."""
    if len(parts) == 2 and not (parts[0] == parts[1] == -1):
        first, second = parts
        if first == -1 and second > 0:
            first = length // second
        elif second == -1 and first > 0:
            second = length // first
        if first * second == length:
            return first, second
    raise _refuse(current, wanted, f"two numbers after -4 whose product is {length}")


def _refuse(current: tuple[int, ...], wanted: tuple[int, ...], expected: str) -> ShapeError:
    return ShapeError(
        f"Cannot reshape array of size {prod(current)} into shape {wanted}\n"
        f"  received  an array of shape {current}, shape={wanted}\n  expected  {expected}\n"
        "  fix       use -1 for the length that is to be worked out"
    )


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
