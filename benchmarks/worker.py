"""One peer in a process of its own: sets a workload up, then answers numbers with samples.

usage: python worker.py WORKLOAD PEER      (run by ``python -m benchmarks`` under the peer's python)
"""

from __future__ import annotations

import importlib
import json
import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def answer(**values: Any) -> None:
    """A line for the driver; other output of libraries has no such beginning."""
    sys.stdout.write("@@" + json.dumps(values) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Serve samples until there is nobody to ask for them."""
    workload, peer = sys.argv[1:]
    warnings.simplefilter("ignore")
    module = importlib.import_module(f"benchmarks.workloads.{workload}")
    if peer in ("minigluon", "mxnet"):
        cases, checks = module.mx(importlib.import_module(peer))
    else:
        cases, checks = getattr(module, f"{peer}_")()
    for case in cases:
        case.calibrate()
    shown = [(case.name, case.unit, case.lower_is_better) for case in cases]
    answer(cases=shown, checks=checks)
    for line in sys.stdin:
        value, busy = cases[int(line)].sample()
        answer(value=value, busy=busy)


if __name__ == "__main__":
    main()
