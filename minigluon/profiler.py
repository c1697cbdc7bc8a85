"""``mx.profiler``: how long kernels and named parts of a program take, as a table or a trace file.

While it runs, every kernel that this thread calls is timed: those of operators, those of hybridised
and bound graphs (one entry for a whole graph) and those of gradients. It costs nothing when it is
off. Times are wall-clock, as everything has run when a call returns. A hybridised block that is one
piece of machine code is not seen; with ``MINIGLUON_FUSE=never`` its kernels are.
"""

from __future__ import annotations

import json
import threading
import warnings
from pathlib import Path
from time import perf_counter_ns
from typing import Any, NamedTuple

from .base import ArgumentError, AttributeValueError, MXNetError
from .core.op import registry
from .core.state import state

_OPTIONS: dict[str, Any] = {
    "profile_all": False,
    "profile_symbolic": True,
    "profile_imperative": True,
    "profile_memory": True,
    "profile_api": True,
    "filename": "profile.json",
    "continuous_dump": True,
    "dump_period": 1.0,
    "aggregate_stats": False,
    "profile_process": "worker",
}
_SCOPES = ("global", "process", "thread", "task", "marker")


class Record(NamedTuple):
    """One thing that was timed: kind is ``operator`` or the name of a `Domain`; times in ns."""

    kind: str
    name: str
    begin: int
    end: int
    thread: int


_records: list[Record] = []
_options = dict(_OPTIONS)
_untimed: dict[int, Any] = {}


def set_config(**kwargs: Any) -> None:
    """Choose what is profiled and where ``dump`` writes (``filename``), as in MXNet.

    Only ``filename`` changes anything: what is timed is always the same, and it is kept in memory
    until ``dump`` or ``dumps``. ``AttributeValueError`` for an unknown option.
    """
    kwargs.pop("kvstore_handle", None)
    for name in kwargs:
        if name not in _OPTIONS:
            raise AttributeValueError(
                f"profiler.set_config: Cannot find argument '{name}'.\n  received  {name}=...\n"
                f"  expected  {', '.join(_OPTIONS)}\n  fix       remove or rename it"
            )
    _options.update(kwargs)


def set_state(state: str = "stop", profile_process: str = "worker") -> None:
    """Start (``"run"``) or stop timing the kernels this thread calls."""
    if state not in ("run", "stop"):
        raise UnknownState(
            f"profiler.set_state: unknown state.\n  received  state={state!r}\n"
            "  expected  'run' or 'stop'\n  fix       pass one of these"
        )
    if state == "run":
        resume()
    else:
        pause()


class UnknownState(MXNetError, KeyError):
    """A state that is neither run nor stop."""

    __str__ = Exception.__str__


def start(profile_process: str = "worker") -> None:
    """The same as ``set_state("run")``."""
    set_state("run")


def stop(profile_process: str = "worker") -> None:
    """The same as ``set_state("stop")``."""
    set_state("stop")


def resume(profile_process: str = "worker") -> None:
    """Go on timing in this thread."""
    thread = threading.get_ident()
    if thread in _untimed:
        return
    run = _untimed[thread] = state.quietly

    def timed(kernel: Any, *arrays: Any, **keywords: Any) -> Any:
        begin = perf_counter_ns()
        result = run(kernel, *arrays, **keywords)
        _records.append(Record("operator", _name_of(kernel), begin, perf_counter_ns(), thread))
        return result

    state.quietly = timed


def pause(profile_process: str = "worker") -> None:
    """Stop timing in this thread for a while."""
    run = _untimed.pop(threading.get_ident(), None)
    if run is not None:
        state.quietly = run


_names: dict[Any, str] = {}


def _name_of(kernel: Any) -> str:
    """The operator a kernel belongs to, the first declared one if it serves several."""
    found = _names.get(kernel)
    if found is None:
        for op in registry.values():
            for call in list(op.calls.values()):
                for known in call.memo.values():
                    _names.setdefault(known, op.name)
        function = getattr(kernel, "func", kernel)
        found = _names.setdefault(kernel, getattr(function, "__name__", type(function).__name__))
    return found


def dumps(
    reset: bool = False, format: str = "table", sort_by: str = "total", ascending: bool = False
) -> str:
    """What was timed, added up by name: a table (ms), or JSON with ``format="json"``.

    ``sort_by`` is total, avg, min, max or count. ``reset`` forgets everything afterwards.
    """
    for name, value, words in (
        ("format", format, ("table", "json")),
        ("sort_by", sort_by, ("total", "avg", "min", "max", "count")),
        ("ascending", ascending, (True, False)),
        ("reset", reset, (True, False)),
    ):
        if value not in words:
            shown = ", ".join(map(repr, words))
            raise ArgumentError(
                f"Invalid value provided for {name}: {value}. Support: {shown}\n"
                f"  received  {name}={value!r}\n  expected  one of {shown}\n"
                "  fix       pass one of these to profiler.dumps"
            )
    groups = _statistics()
    if reset:
        _records.clear()
    for rows in groups.values():
        rows.sort(key=lambda row: row[sort_by], reverse=not ascending)
    return _as_json(groups) if format == "json" else _as_table(groups)


def _statistics() -> dict[str, list[dict[str, Any]]]:
    """For every kind a row for each name, times in ms."""
    times: dict[str, dict[str, list[float]]] = {}
    for record in _records:
        of_kind = times.setdefault(record.kind, {})
        of_kind.setdefault(record.name, []).append((record.end - record.begin) / 1e6)
    return {
        kind: [
            {
                "name": name,
                "count": len(values),
                "total": sum(values),
                "min": min(values),
                "max": max(values),
                "avg": sum(values) / len(values),
            }
            for name, values in names.items()
        ]
        for kind, names in times.items()
    }


def _as_table(groups: dict[str, list[dict[str, Any]]]) -> str:
    heads = ("Total Count", "Time (ms)", "Min Time (ms)", "Max Time (ms)", "Avg Time (ms)")
    lines = ["", "Profile Statistics:"]
    for kind, rows in groups.items():
        lines += [kind, "================="]
        lines.append(f"{'Name':<25} {heads[0]:>15}" + "".join(f" {h:>16}" for h in heads[1:]))
        lines.append(
            f"{'----':<25} {'-' * 11:>15}" + "".join(f" {'-' * len(h):>16}" for h in heads[1:])
        )
        for row in rows:
            values = "".join(f" {row[k]:>16.4f}" for k in ("total", "min", "max", "avg"))
            lines.append(f"{row['name']:<25} {row['count']:>15}{values}")
        lines.append("")
    return "\n".join(lines) + "\n"


def _as_json(groups: dict[str, list[dict[str, Any]]]) -> str:
    words = ("count", "total", "min", "max", "avg")
    times = {
        kind: {row["name"]: {w.title(): row[w] for w in words} for row in rows}
        for kind, rows in groups.items()
    }
    return json.dumps({"Time": times, "Unit": {"Time": "ms"}}, indent=4)


def dump(finished: bool = True, profile_process: str = "worker") -> None:
    """Write everything timed to the file of ``set_config``, for ``chrome://tracing`` or Perfetto.

    With ``finished`` the timing stops.
    """
    if finished:
        pause()
    events = [
        {
            "name": record.name,
            "cat": record.kind,
            "ph": "X",
            "ts": record.begin / 1e3,
            "dur": (record.end - record.begin) / 1e3,
            "pid": 0,
            "tid": record.thread,
        }
        for record in _records
    ]
    text = json.dumps({"traceEvents": events, "displayTimeUnit": "ms"}, indent=1)
    Path(_options["filename"]).write_text(text, encoding="utf-8")


def set_kvstore_handle(handle: Any) -> None:
    """Nothing: key-value stores have no profiler of their own."""


def _old(name: str, new: str) -> None:
    warnings.warn(
        f"profiler.{name}() is deprecated. Please use profiler.{new}() instead",
        UserWarning,
        stacklevel=3,
    )


def profiler_set_config(mode: str = "symbolic", filename: str = "profile.json") -> None:
    """The oldest form of `set_config`; ``mode`` is symbolic, imperative, api, memory or all."""
    _old("profiler_set_config", "set_config")
    set_config(filename=filename)


def profiler_set_state(state: str = "stop") -> None:
    """The oldest form of `set_state`."""
    _old("profiler_set_state", "set_state")
    set_state(state)


def dump_profile() -> None:
    """The oldest form of `dump`."""
    _old("dump_profile", "dump")
    dump(True)


# ---- parts of a program with names of their own


class Domain:
    """A group of tasks, frames, counters and markers: a section of the table."""

    def __init__(self, name: str):
        self.name = name

    def __str__(self) -> str:
        return self.name

    def new_task(self, name: str) -> Task:
        """A `Task` in this domain."""
        return Task(self, name)

    def new_frame(self, name: str) -> Frame:
        """A `Frame` in this domain."""
        return Frame(self, name)

    def new_counter(self, name: str, value: int | None = None) -> Counter:
        """A `Counter` in this domain."""
        return Counter(self, name, value)

    def new_marker(self, name: str) -> Marker:
        """A `Marker` in this domain."""
        return Marker(self, name)


class _Timed:
    """What is timed from ``start`` to ``stop``, or over a ``with`` block."""

    def __init__(self, kind: str, name: str):
        self.name, self._kind = name, kind
        self._begin: int | None = None

    def __str__(self) -> str:
        return self.name

    def start(self) -> None:
        """Begin timing."""
        self._begin = perf_counter_ns()

    def stop(self) -> None:
        """End timing; nothing happens if it had not begun."""
        if self._begin is not None:
            thread = threading.get_ident()
            _records.append(Record(self._kind, self.name, self._begin, perf_counter_ns(), thread))
            self._begin = None

    def __enter__(self) -> _Timed:
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()


class Task(_Timed):
    """A piece of work with a beginning and an end."""

    def __init__(self, domain: Domain, name: str):
        super().__init__(domain.name, name)
        self.domain = domain


class Frame(_Timed):
    """One of many equal pieces of work, such as a training step."""

    def __init__(self, domain: Domain, name: str):
        super().__init__(domain.name, name)
        self.domain = domain


class Event(_Timed):
    """A piece of work that belongs to no domain; it is listed under ``event``."""

    def __init__(self, name: str):
        super().__init__("event", name)


class Counter:
    """A number with a name."""

    def __init__(self, domain: Domain, name: str, value: int | None = None):
        self.domain, self.name, self.value = domain, name, value or 0

    def __str__(self) -> str:
        return self.name

    def set_value(self, value: int) -> None:
        """Make it ``value``."""
        self.value = value

    def increment(self, delta: int = 1) -> None:
        """Add ``delta``."""
        self.value += delta

    def decrement(self, delta: int = 1) -> None:
        """Subtract ``delta``."""
        self.value -= delta

    def __iadd__(self, delta: int) -> Counter:
        self.increment(delta)
        return self

    def __isub__(self, delta: int) -> Counter:
        self.decrement(delta)
        return self


class Marker:
    """A point in time with a name."""

    def __init__(self, domain: Domain, name: str):
        self.domain, self.name = domain, name

    def __str__(self) -> str:
        return self.name

    def mark(self, scope: str = "process") -> None:
        """Note this moment; ``scope`` is global, process, thread, task or marker."""
        if scope not in _SCOPES:
            raise AttributeValueError(
                f"Marker.mark: Invalid Input: '{scope}'.\n  received  scope={scope!r}\n"
                f"  expected  one of {', '.join(_SCOPES)}\n  fix       pass one of these"
            )
        now = perf_counter_ns()
        _records.append(Record(self.domain.name, self.name, now, now, threading.get_ident()))
