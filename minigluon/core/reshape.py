"""What the codes given to ``reshape`` mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..base import ShapeError
from .infer import UNKNOWN, prod


def reshaped(
    current: tuple[Any, ...], wanted: Sequence[int], reverse: bool = False
) -> tuple[Any, ...]:
    """The shape that ``reshape(wanted)`` gives an array of shape ``current``.

    Dimensions of ``current`` may be unknown, and then are of the result.

    0 keeps the length at that place, -1 is worked out from the number of elements, -2 keeps all
    remaining lengths, -3 joins the next two axes, -4 splits the next one into the two numbers that
    follow (one of them may be -1). With ``reverse`` the codes are matched from the right.

    Raises ``ShapeError`` if the numbers of elements differ.

    Examples
    --------
    >>> reshaped((2, 3, 4), (-4, 1, -1, -3))
    (1, 2, 12)
    """
    wanted = tuple([int(n) for n in wanted])
    if reverse:
        codes = _reversed_codes(wanted)
        target = _match(current[::-1], codes, current, wanted)[::-1]
    else:
        target = _match(current, wanted, current, wanted)
    if target.count(-1) > 1:
        raise misfit(current, wanted, "at most one -1")
    size, others = prod(current), prod([n for n in target if n != -1])
    if -1 in target:
        return tuple([share(size, others, current, wanted) if n == -1 else n for n in target])
    if others != size and UNKNOWN not in (size, others):
        raise misfit(current, wanted, f"a shape of {size} elements")
    return tuple(target)


def share(size: Any, others: Any, current: Any, wanted: Any) -> Any:
    """The length that makes ``size`` elements of a shape whose other lengths make ``others``."""
    if UNKNOWN in (size, others):
        return UNKNOWN
    if size == 0:
        return 0
    if others == 0 or size % others:
        raise misfit(current, wanted, f"lengths whose product divides {size}")
    return size // others


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
    lengths: tuple[Any, ...],
    codes: tuple[int, ...],
    current: tuple[Any, ...],
    wanted: tuple[int, ...],
) -> list[Any]:
    """The target with the special codes replaced, -1 left in place."""
    target: list[Any] = []
    at = k = 0

    def take(count: int) -> tuple[Any, ...]:
        nonlocal at
        if at + count > len(lengths):
            raise misfit(current, wanted, f"codes that refer to at most {len(lengths)} axes")
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
            raise misfit(current, wanted, "lengths and the codes 0, -1, -2, -3, -4")
        k += 1
    return target


def _split(
    length: Any, parts: tuple[int, ...], current: tuple[Any, ...], wanted: tuple[int, ...]
) -> tuple[Any, Any]:
    """The two lengths an axis is split into."""
    if len(parts) == 2 and not (parts[0] == parts[1] == -1):
        first, second = parts
        if first == -1 and second > 0:
            first = length // second
        elif second == -1 and first > 0:
            second = length // first
        if length is UNKNOWN or first * second == length:
            return first, second
    raise misfit(current, wanted, f"two numbers after -4 whose product is {length}")


def misfit(current: Any, wanted: Any, expected: str) -> ShapeError:
    """The error for a shape that an array of another one cannot have."""
    return ShapeError(
        f"Cannot reshape array of size {prod(current)} into shape {wanted}\n"
        f"  received  data {current}, shape={wanted}\n  expected  {expected}\n"
        "  fix       use -1 for the length that is to be worked out"
    )
