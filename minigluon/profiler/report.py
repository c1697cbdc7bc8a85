"""What was timed as a table, as JSON, and as a trace for ``chrome://tracing`` or Perfetto."""

from __future__ import annotations

import json
from typing import Any

from . import timing
from .timing import records

Groups = dict[str, list[dict[str, Any]]]


def statistics(phase: str = "X") -> Groups:
    """For every kind a row for each name: times in ms, or the values of counters (phase C)."""
    found: dict[str, dict[str, list[float]]] = {}
    for record in records[timing.told :]:
        if record.phase == phase:
            value = (record.end - record.begin) / 1e6 if phase == "X" else record.value
            found.setdefault(record.kind, {}).setdefault(record.name, []).append(value)
    return {
        kind: [
            {
                "name": name,
                "count": len(values),
                "total": sum(values) if phase == "X" else values[-1],
                "min": min(values),
                "max": max(values),
                "avg": sum(values) / len(values),
            }
            for name, values in names.items()
        ]
        for kind, names in found.items()
    }


_TIMES = ("Time (ms)", "Min Time (ms)", "Max Time (ms)", "Avg Time (ms)")
_VALUES = ("Value", "Min Value", "Max Value", "Avg Value")


def as_table(times: Groups, counters: Groups) -> str:
    """A section for every kind: times, and then the values of counters."""
    lines = ["", "Profile Statistics:", "\tNote the difference in units for different entries."]
    for groups, heads in ((times, _TIMES), (counters, _VALUES)):
        for kind, rows in groups.items():
            lines += [kind, "================="]
            wide = max(25, *(len(row["name"]) for row in rows))
            lines.append(
                f"{'Name':<{wide}} {'Total Count':>15}" + "".join(f" {h:>16}" for h in heads)
            )
            lines.append(
                f"{'----':<{wide}} {'-' * 11:>15}" + "".join(f" {'-' * len(h):>16}" for h in heads)
            )
            for row in rows:
                values = "".join(f" {row[k]:>16.4f}" for k in ("total", "min", "max", "avg"))
                lines.append(f"{row['name']:<{wide}} {row['count']:>15}{values}")
            lines.append("")
    return "\n".join(lines) + "\n"


def as_json(times: Groups, counters: Groups) -> str:
    """The same as JSON: ``Time``, ``Counter`` if there are some, and ``Unit``."""
    words = ("count", "total", "min", "max", "avg")

    def told(groups: Groups) -> dict[str, Any]:
        return {
            kind: {row["name"]: {w.title(): row[w] for w in words} for row in rows}
            for kind, rows in groups.items()
        }

    parts = {"Time": told(times), **({"Counter": told(counters)} if counters else {})}
    return json.dumps({**parts, "Unit": {"Time": "ms"}}, indent=4)


def as_trace() -> str:
    """Everything that was timed as the text of a trace file."""
    events = [_event(record) for record in records]
    return json.dumps({"traceEvents": events, "displayTimeUnit": "ms"}, indent=1)


def _event(record: Any) -> dict[str, Any]:
    event = {
        "name": record.name,
        "cat": record.kind,
        "ph": record.phase,
        "ts": record.begin / 1e3,
        "pid": 0,
        "tid": record.thread,
    }
    if record.phase == "X":
        return {**event, "dur": (record.end - record.begin) / 1e3}
    if record.phase == "C":
        return {**event, "args": {record.name: record.value}}
    return {**event, "s": record.value}
