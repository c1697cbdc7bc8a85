"""Large work in several threads: kernels leave Python's lock while they compute."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from .. import config

#: what settings are read for how many threads there may be
SETTINGS = ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS")


def threads() -> int:
    """How many threads kernels may use: as the settings say, or as there are cores."""
    given = [config.get("MINIGLUON_NUM_THREADS"), *[os.environ.get(n, "") for n in SETTINGS]]
    for value in given:
        first = str(value).split(",")[0].strip()
        if first.isdigit() and int(first):
            return int(first)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def worth(work: int, unit: int) -> int:
    """How many threads work is worth, each of which should have so much."""
    ways = work // unit
    return min(threads(), ways) if ways > 1 else 1


def share(jobs: Sequence[Any], most: int) -> list[Sequence[Any]]:
    """Jobs in order, for at most so many threads, as equal as can be."""
    count = max(min(most, len(jobs)), 1)
    ends = [len(jobs) * k // count for k in range(count + 1)]
    return [jobs[a:b] for a, b in pairwise(ends)]


def run(parts: Sequence[Any], work: Callable[[Any], None]) -> None:
    """``work(part)`` for all parts, each but the first in a thread of its own.

    What one of them raises is raised here, once all have ended. A thread takes 60 us to start.
    """
    failed: list[BaseException] = []

    def attempt(part: Any) -> None:
        try:
            work(part)
        except BaseException as error:
            failed.append(error)

    others = [threading.Thread(target=attempt, args=(part,), daemon=True) for part in parts[1:]]
    for thread in others:
        thread.start()
    attempt(parts[0])
    for thread in others:
        thread.join()
    if failed:
        raise failed[0]
