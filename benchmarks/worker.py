"""One package in a process of its own: answers ``name`` lines with the seconds a step took.

usage: python worker.py PACKAGE      (run by ``python -m benchmarks``, under that package's python)
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from workloads import WORKLOADS  # (this file also runs where the project is not installed)

MINIMUM_SECONDS = 0.2


def main() -> None:
    mx = importlib.import_module(sys.argv[1])
    ready: dict[str, tuple] = {}
    for line in sys.stdin:
        name = line.strip()
        if name not in ready:
            ready[name] = prepare(mx, name)
        run, check, count = ready[name]
        start = time.perf_counter()
        run(count)
        seconds = (time.perf_counter() - start) / (count * WORKLOADS[name][1])
        print(json.dumps({"seconds": seconds, "check": [float(x) for x in check]}), flush=True)


def prepare(mx, name: str) -> tuple:
    """The workload, warmed up, and how often to run it so that the clock can tell."""
    run, check = WORKLOADS[name][0](mx)
    count = 1
    while True:
        start = time.perf_counter()
        run(count)
        if time.perf_counter() - start > MINIMUM_SECONDS:
            return run, check, count
        count *= 2


if __name__ == "__main__":
    main()
