"""The ``Class.current`` of scopes: the innermost ``with`` block of the running thread."""

from __future__ import annotations

import threading


class PerThread(threading.local):
    """Holds what is current in each thread; ``make`` says what a new thread starts with."""

    def __init__(self, make):
        self.value = make()


class HasCurrent(type):
    """Metaclass that gives a class its ``current``: readable and assignable, one per thread."""

    _thread: PerThread

    @property
    def current(cls):
        """The innermost scope of this thread."""
        return cls._thread.value

    @current.setter
    def current(cls, scope) -> None:
        cls._thread.value = scope
