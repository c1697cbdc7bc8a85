"""What a workload module is made of: cases that are timed, numbers that are compared.

A module in ``benchmarks/workloads`` has a docstring, ``TARGETS`` and one function for each peer
that can do the work: ``mx(mx)`` is written once in the MXNet API and handed minigluon or MXNet, the
others are ``torch_()``, ``scipy_()``, ``sklearn_()`` and ``numpy_()``. Each returns
``(cases, checks)``; checks of the same name must be equal for every peer that gives them, so that
nobody is fast by computing something else. These files need numpy alone, as they are also run where
the project is not installed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

SECONDS = {"s": 1.0, "ms": 1e3, "us": 1e6}
#: how long a sample takes at least
LEAST = 0.15


class Case:
    """Something timed: ``run(n)`` does it n times and waits until it is done.

    In ``s``, ``ms`` and ``us`` a value is the time for one of ``per`` steps in a run; in any other
    unit it is a rate, ``amount`` by run and second.
    """

    def __init__(
        self, name: str, run: Callable[[int], None], unit: str = "us", per: int = 1,
        amount: float = 1.0, most: int = 1 << 20,
    ):  # fmt: skip
        self.name, self.run, self.unit = name, run, unit
        self.per, self.amount, self.most = per, amount, most
        self.count = 0

    def calibrate(self) -> None:
        """Find out how many runs a sample needs; the first ones compile and allocate."""
        count = 1
        self._timed(1)
        while count < self.most and self._timed(count) < LEAST:
            count *= 2
        self.count = min(count, self.most)

    def sample(self) -> tuple[float, float]:
        """The value by the clock, and the CPU seconds this process used a second."""
        used = sum(os.times()[:4])
        seconds = self._timed(self.count)
        busy = (sum(os.times()[:4]) - used) / seconds
        if self.unit in SECONDS:
            return seconds / (self.count * self.per) * SECONDS[self.unit], busy
        if self.unit == "MB":
            return self.amount_of_memory(), busy
        return self.amount * self.count / seconds, busy

    def amount_of_memory(self) -> float:
        """For cases that measure memory: the megabytes of the last run."""
        raise NotImplementedError

    def _timed(self, count: int) -> float:
        start = time.perf_counter()
        self.run(count)
        return time.perf_counter() - start

    @property
    def lower_is_better(self) -> bool:
        """Whether small values are good ones."""
        return self.unit in SECONDS or self.unit == "MB"


def repeated(function: Callable[[], Any], wait: Callable[[], Any] | None = None) -> Any:
    """``run(n)`` that calls a function n times, then waits."""

    def run(n: int) -> None:
        for _ in range(n):
            function()
        if wait is not None:
            wait()

    return run


def numbers(x: Any) -> list[float]:
    """An array as a list of floats, for checks."""
    return [float(v) for v in np.asarray(x, np.float64).ravel()]


def power_law_rows(rows: int, features: int, low: int, high: int, seed: int) -> Any:
    """``(indices, indptr)`` of sparse rows: ``low`` to ``high`` ids each, few of them popular."""
    rng = np.random.RandomState(seed)
    sizes = rng.randint(low, high + 1, rows)
    drawn = (features * rng.power(0.25, (rows, high))).astype(np.int64).clip(0, features - 1)
    parts = [np.unique(row[:size]) for row, size in zip(drawn, sizes)]  # noqa: B905
    indptr = np.cumsum([0, *map(len, parts)]).astype(np.int64)
    return np.concatenate(parts), indptr


def batches(rows: int, size: int) -> Iterable[slice]:
    """Whole batches of rows."""
    return [slice(start, start + size) for start in range(0, rows - size + 1, size)]
