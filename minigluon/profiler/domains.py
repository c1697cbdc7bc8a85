"""Parts of a program that are timed under names of their own."""

from __future__ import annotations

import threading
from time import perf_counter_ns

from ..base import AttributeValueError
from .timing import Record, records

_SCOPES = {"global": "g", "process": "p", "thread": "t", "task": "t", "marker": "t"}


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
            records.append(Record(self._kind, self.name, self._begin, perf_counter_ns(), thread))
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
        super().__init__(f"{domain.name},frame", name)
        self.domain = domain


class Event(_Timed):
    """A piece of work that belongs to no domain; it is listed under ``event``."""

    def __init__(self, name: str):
        super().__init__("event", name)


class Counter:
    """A number with a name; every value it takes is remembered with its time."""

    def __init__(self, domain: Domain, name: str, value: int | None = None):
        self.domain, self.name, self.value = domain, name, 0
        if value is not None:
            self.set_value(value)

    def __str__(self) -> str:
        return self.name

    def set_value(self, value: int) -> None:
        """Make it ``value``."""
        self.value = value
        _note(self.domain.name, self.name, "C", value)

    def increment(self, delta: int = 1) -> None:
        """Add ``delta``."""
        self.set_value(self.value + delta)

    def decrement(self, delta: int = 1) -> None:
        """Subtract ``delta``."""
        self.set_value(self.value - delta)

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
        _note(f"{self.domain.name},instant_marker", self.name, "i", _SCOPES[scope])


def _note(kind: str, name: str, phase: str, value: object) -> None:
    """Remember a moment."""
    now = perf_counter_ns()
    records.append(Record(kind, name, now, now, threading.get_ident(), phase, value))
