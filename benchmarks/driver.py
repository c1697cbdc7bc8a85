"""Runs a workload for all peers in turn: medians of interleaved samples, ratios, differences."""

from __future__ import annotations

import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PEERS = ("minigluon", "mxnet", "torch", "sklearn", "scipy", "numpy")
#: for benchmarks alone: these slow a current OpenBLAS down
_UNSET = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
_THREADS = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS",
    "MINIGLUON_NUM_THREADS",
)  # fmt: skip
#: how far apart checks may be, of the larger one
TOLERANCE = 0.02


def names() -> list[str]:
    """The workloads there are."""
    return sorted(p.stem for p in (HERE / "workloads").glob("*.py") if p.stem != "__init__")


def find_pythons(given: Iterable[str]) -> dict[str, str]:
    """The python of every peer that can be measured: ``peer=path``, else this one if it can."""
    found = {"minigluon": sys.executable}
    oracle = os.environ.get("MINIGLUON_ORACLE")
    if oracle:
        found["mxnet"] = oracle
    for peer in PEERS[2:]:
        if importlib.util.find_spec(peer) is not None:
            found[peer] = sys.executable
    for text in given:
        peer, _, path = text.partition("=")
        if peer not in PEERS or not path:
            raise SystemExit(f"--peer {text}: expected PEER=PYTHON with one of {', '.join(PEERS)}")
        found[peer] = path
    return found


class Worker:
    """A peer's process."""

    def __init__(self, workload: str, peer: str, python: str, threads: int):
        environment = {k: v for k, v in os.environ.items() if k not in _UNSET}
        environment.update(dict.fromkeys(_THREADS, str(threads)))
        self.peer = peer
        # a file, as a pipe that nobody empties fills up
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self.process = subprocess.Popen(
            [python, str(HERE / "worker.py"), workload, peer], env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors,
        )  # fmt: skip
        self.about = self._read()

    def _read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("@@"):
                return json.loads(line[2:])
        self.errors.seek(0)
        said = self.errors.read().strip().splitlines()
        return {"error": said[-1] if said else "the process ended"}

    def sample(self, name: str) -> tuple[float, float] | None:
        """``(value, CPU seconds a second)`` of a case; None if this peer does not have it."""
        for k, case in enumerate(self.about["cases"]):
            if case[0] == name:
                assert self.process.stdin is not None
                self.process.stdin.write(f"{k}\n")
                self.process.stdin.flush()
                got = self._read()
                if "error" in got:
                    raise SystemExit(f"{self.peer}, {name}: {got['error']}")
                return got["value"], got["busy"]
        return None

    def end(self) -> None:
        """Let the process go."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def measure(
    workload: str, pythons: dict[str, str], repeats: int, threads: int, only: str = ""
) -> dict[str, Any]:
    """Samples of every case by every peer, taken in turn, and what the checks say."""
    module = importlib.import_module(f"benchmarks.workloads.{workload}")
    workers, failed = [], {}
    for peer, python in pythons.items():
        if hasattr(module, "mx" if peer in ("minigluon", "mxnet") else f"{peer}_"):
            worker = Worker(workload, peer, python, threads)
            if "error" in worker.about:
                failed[peer] = worker.about["error"]
            else:
                workers.append(worker)
    cases = {case[0]: case for worker in workers for case in worker.about["cases"]}
    rows = []
    for name, unit, lower in cases.values():
        if only in name:
            values = _interleaved(name, workers, repeats)
            rows.append(_row(name, unit, lower, values, module.TARGETS.get(name, {})))
    differ = _differences({w.peer: w.about["checks"] for w in workers})
    for worker in workers:
        worker.end()
    return {
        "workload": workload, "about": (module.__doc__ or "").strip(), "threads": threads,
        "rows": rows, "differ": differ, "failed": failed,
    }  # fmt: skip


def _interleaved(name: str, workers: list[Worker], repeats: int) -> dict[str, list[Any]]:
    values: dict[str, list[Any]] = {}
    for k in range(repeats):
        for worker in workers if k % 2 == 0 else workers[::-1]:
            got = worker.sample(name)
            if got is not None:
                values.setdefault(worker.peer, []).append(got)
    return values


def _row(
    name: str, unit: str, lower: bool, values: dict[str, list[Any]], targets: dict[str, float]
) -> dict[str, Any]:
    """Medians, and how many times better minigluon is than each peer: median of paired ratios."""
    ours = values.get("minigluon", [])
    ratios, by_cpu = {}, {}
    for peer, theirs in values.items():
        if peer != "minigluon" and ours:
            pairs = list(zip(theirs, ours, strict=True))
            turn = (lambda x: x) if lower else (lambda x: 1 / x)
            ratios[peer] = statistics.median(turn(t[0] / o[0]) for t, o in pairs)
            by_cpu[peer] = statistics.median(
                turn(t[0] / o[0]) * (t[1] / max(o[1], 1e-3)) for t, o in pairs
            )
    return {
        "case": name, "unit": unit, "ratios": ratios, "ratios by CPU time": by_cpu,
        "medians": {p: statistics.median(v for v, _ in s) for p, s in values.items()},
        "samples": {p: [v for v, _ in s] for p, s in values.items()}, "targets": targets,
    }  # fmt: skip


def _differences(checks: dict[str, dict[str, Any]]) -> list[str]:
    """The checks that peers answer differently."""
    found = []
    first: dict[str, tuple[str, list[float]]] = {}
    for peer, values in checks.items():
        for name, value in values.items():
            mine = value if isinstance(value, list) else [value]
            other, wanted = first.setdefault(name, (peer, mine))
            if not _close(mine, wanted):
                found.append(f"{name}: {peer} {mine[:4]}, {other} {wanted[:4]}")
    return found


def _close(left: list[float], right: list[float]) -> bool:
    if len(left) != len(right):
        return False
    least = 0.02 * max([abs(v) for v in [*left, *right]] + [1e-12])
    return all(
        abs(a - b) <= TOLERANCE * max(abs(a), abs(b), least)
        for a, b in zip(left, right, strict=True)
    )


def report(result: dict[str, Any]) -> str:
    """The result as a table; a mark behind each ratio says whether its target was reached."""
    peers = [p for p in PEERS if any(p in row["medians"] for row in result["rows"])]
    lines = [f"\n{result['workload']}: {result['about'].splitlines()[0]}"]
    head = "".join(f"{p:>12}" for p in peers)
    lines.append(f"{'':30}{'':8}{head}   times better than (wanted)")
    for row in result["rows"]:
        cells = "".join(f"{_short(row['medians'].get(p)):>12}" for p in peers)
        shown = []
        for peer, ratio in row["ratios"].items():
            wanted = row["targets"].get(peer)
            mark = "" if wanted is None else f" ({wanted:g}{'' if ratio >= wanted else ', MISSED'})"
            shown.append(f"{peer} {ratio:.3g}{mark}")
        lines.append(f"{row['case']:30}{row['unit']:>8}{cells}   {', '.join(shown)}")
    lines += [f"RESULTS DIFFER, the ratios mean nothing: {text}" for text in result["differ"]]
    lines += [f"{peer} could not be measured: {text}" for peer, text in result["failed"].items()]
    return "\n".join(lines)


def _short(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"
