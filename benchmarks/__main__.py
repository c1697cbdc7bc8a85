"""``python -m benchmarks [--repeats N] [--json FILE]``: medians of interleaved runs, and ratios.

``MINIGLUON_ORACLE`` names the python of an environment with the real MXNet; without it minigluon is
measured alone. A row whose results differ between the packages is marked and counts for nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from .workloads import WORKLOADS

HERE = Path(__file__).resolve().parent
#: for benchmarks alone: these slow a current OpenBLAS down
_UNSET = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")


class Worker:
    """A package in a process of its own, asked for one measurement at a time."""

    def __init__(self, python: str, package: str):
        environment = {k: v for k, v in os.environ.items() if k not in _UNSET}
        environment.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")
        if package == "minigluon":
            path = [str(HERE.parent), environment.get("PYTHONPATH", "")]
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, path))
        self.process = subprocess.Popen(
            [python, str(HERE / "worker.py"), package], env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def ask(self, name: str) -> dict:
        """Seconds a step, and the numbers to compare."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise SystemExit(f"the process measuring {name!r} ended; run the workload by hand")
        return json.loads(answer)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--json", type=Path, help="write the figures there too")
    options = parser.parse_args()
    oracle = os.environ.get("MINIGLUON_ORACLE")
    workers = {"minigluon": Worker(sys.executable, "minigluon")}
    if oracle:
        workers["mxnet"] = Worker(oracle, "mxnet")
    figures = [measure(name, workers, options.repeats) for name in WORKLOADS]
    figures.append(import_times(oracle, options.repeats))
    report(figures)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2))


def measure(name: str, workers: dict[str, Worker], repeats: int) -> dict:
    """Medians over interleaved runs, the median of paired ratios, and whether results agree."""
    seconds: dict[str, list[float]] = {package: [] for package in workers}
    checks = {}
    for k in range(repeats + 1):  # the first round warms up
        for package in sorted(workers, reverse=bool(k % 2)):
            answer = workers[package].ask(name)
            checks[package] = answer["check"]
            if k:
                seconds[package].append(answer["seconds"])
    return _figure(name, WORKLOADS[name][2], seconds, _agree(checks))


def _figure(name: str, wanted: float, seconds: dict[str, list[float]], agree: bool) -> dict:
    figure = {
        "name": name,
        "wanted": wanted,
        "agree": agree,
        "seconds": {p: statistics.median(s) for p, s in seconds.items()},
    }
    if "mxnet" in seconds:
        pairs = zip(seconds["mxnet"], seconds["minigluon"], strict=True)
        figure["ratio"] = statistics.median(theirs / ours for theirs, ours in pairs)
    return figure


def _agree(checks: dict[str, list[float]]) -> bool:
    """Whether the packages computed the same, within what float32 rounds."""
    first, *others = checks.values()
    return all(
        len(other) == len(first)
        and all(abs(a - b) <= 1e-5 * max(1.0, abs(a)) for a, b in zip(first, other, strict=True))
        for other in others
    )


def import_times(oracle: str | None, repeats: int) -> dict:
    """Whole processes that import the package, less a process that imports nothing."""
    pythons = {"minigluon": (sys.executable, "import minigluon")}
    if oracle:
        pythons["mxnet"] = (oracle, "import mxnet")
    seconds: dict[str, list[float]] = {package: [] for package in pythons}
    for _ in range(repeats):
        for package, (python, statement) in pythons.items():
            seconds[package].append(_process(python, statement) - _process(python, "pass"))
    return _figure("import", 4, seconds, True)


def _process(python: str, statement: str) -> float:
    import time

    environment = dict(os.environ, PYTHONPATH=str(HERE.parent))
    start = time.perf_counter()
    subprocess.run([python, "-c", statement], env=environment, check=True, capture_output=True)
    return time.perf_counter() - start


def report(figures: list[dict]) -> None:
    print(f"{'':46} {'minigluon':>12} {'mxnet':>12} {'faster':>8} {'wanted':>8}")
    for figure in figures:
        ours = f"{figure['seconds']['minigluon'] * 1e6:.2f} us"
        theirs = f"{figure['seconds']['mxnet'] * 1e6:.2f} us" if "ratio" in figure else "-"
        ratio = f"{figure['ratio']:.1f}x" if "ratio" in figure else "-"
        note = "" if figure["agree"] else "   RESULTS DIFFER"
        wanted = f"{figure['wanted']}x"
        print(f"{figure['name']:46} {ours:>12} {theirs:>12} {ratio:>8} {wanted:>8}{note}")


if __name__ == "__main__":
    main()
