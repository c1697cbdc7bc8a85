"""``python -m benchmarks [WORKLOAD ...]``: how fast minigluon is beside what else is installed.

Samples of all peers are taken in turn; shown are medians, and ratios as medians over pairs. A row
whose results differ between peers counts for nothing. ``MINIGLUON_ORACLE`` names the python of an
environment with the real MXNet. torch, scikit-learn, scipy and numpy are measured if this python
has them, or under the python that ``--peer torch=PYTHON`` names.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from . import driver


def main() -> None:
    """Measure what the command line asks for."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("workloads", nargs="*", metavar="WORKLOAD", help=", ".join(driver.names()))
    parser.add_argument("--repeats", type=int, default=7, help="samples a peer (default 7)")
    parser.add_argument("--threads", type=int, default=1, help="threads a peer (default 1)")
    parser.add_argument("--peer", action="append", default=[], metavar="PEER=PYTHON")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases whose name contains it")
    parser.add_argument("--without", default="", metavar="PEER,...", help="leave peers out")
    parser.add_argument("--json", type=Path, help="write all samples there")
    options = parser.parse_args()
    unknown = set(options.workloads) - set(driver.names())
    if unknown:
        parser.error(f"no workload {', '.join(sorted(unknown))}; there are {driver.names()}")
    pythons = driver.find_pythons(options.peer)
    for peer in filter(None, options.without.split(",")):
        pythons.pop(peer, None)
    results = []
    for workload in options.workloads or driver.names():
        result = driver.measure(workload, pythons, options.repeats, options.threads, options.only)
        print(driver.report(result), flush=True)
        results.append(result)
        if options.json:
            options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
