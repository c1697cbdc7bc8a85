"""``mx.profiler``: how long kernels and named parts of a program take, as a table or a trace file.

While it runs, every kernel that this thread calls is timed: those of operators, of gradients, and
of hybridised and bound graphs. A graph is also one entry of the section ``graph``. What was
compiled into one piece is one entry, called after the operators it is made of. Off, it costs
nothing. Times are wall-clock, as everything has run when a call returns.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from ..base import ArgumentError, AttributeValueError, MXNetError
from . import timing
from .domains import Counter, Domain, Event, Frame, Marker, Task
from .report import as_json, as_table, as_trace, statistics

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

_options = dict(_OPTIONS)


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
    timing.resume()


def pause(profile_process: str = "worker") -> None:
    """Stop timing in this thread for a while."""
    timing.pause()


def dumps(
    reset: bool = False, format: str = "table", sort_by: str = "total", ascending: bool = False
) -> str:
    """What was timed, added up by name: a table (ms), or JSON with ``format="json"``.

    ``sort_by`` is total, avg, min, max or count. With ``reset`` the next table begins anew; the
    trace keeps all.
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
    times, counters = statistics(), statistics("C")
    if reset:
        timing.told = len(timing.records)
    for rows in (*times.values(), *counters.values()):
        rows.sort(key=lambda row: row[sort_by], reverse=not ascending)
    return (as_json if format == "json" else as_table)(times, counters)


def dump(finished: bool = True, profile_process: str = "worker") -> None:
    """Write everything timed to the file of ``set_config``, for ``chrome://tracing`` or Perfetto.

    With ``finished`` the timing stops.
    """
    if finished:
        pause()
    Path(_options["filename"]).write_text(as_trace(), encoding="utf-8")


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


__all__ = [
    "Counter", "Domain", "Event", "Frame", "Marker", "Task", "dump", "dump_profile", "dumps",
    "pause", "profiler_set_config", "profiler_set_state", "resume", "set_config",
    "set_kvstore_handle", "set_state", "start", "stop",
]  # fmt: skip
