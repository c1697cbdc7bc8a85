"""Sampling at regular intervals."""

from __future__ import annotations

from collections.abc import Iterator

from ....base import ArgumentError, four_lines
from ...data import sampler

__all__ = ["IntervalSampler"]


class IntervalSampler(sampler.Sampler):
    """Every ``interval``-th number below ``length``; then, by ``rollover``, those left out.

    Examples
    --------
    >>> list(IntervalSampler(7, interval=3))
    [0, 3, 6, 1, 4, 2, 5]
    >>> list(IntervalSampler(7, interval=3, rollover=False))
    [0, 3, 6]
    """

    def __init__(self, length: int, interval: int, rollover: bool = True):
        if interval > length:
            raise ArgumentError(
                four_lines(
                    f"Interval {interval} must be smaller than or equal to length {length}",
                    f"length={length}, interval={interval}",
                    "at least one whole interval",
                    "pass a smaller interval",
                )
            )
        self._length, self._interval, self._rollover = length, interval, rollover

    def __iter__(self) -> Iterator[int]:
        for start in range(self._interval if self._rollover else 1):
            yield from range(start, self._length, self._interval)

    def __len__(self) -> int:
        return self._length if self._rollover else len(range(0, self._length, self._interval))
