"""What the running thread is doing: recording or not, training or not, and its random streams."""

from __future__ import annotations

import contextvars
import threading
from typing import Any

import numpy as np

from ..context import Context, current_context


class Quiet:
    """``quiet.run(kernel, *arrays)``: the same as ``state.quietly``, and faster with one thread.

    Then no thread's state is looked up, which takes 60 ns of the 500 of an operator. It raises
    ``RuntimeError`` before the kernel has begun if the one context for it is in use, further up in
    the thread or by one that has just come: ``state.quietly`` is the way then.
    """

    __slots__ = ("_own", "_threads", "_watched", "run")

    def __init__(self) -> None:
        self._own = _quiet()
        self._threads: list[None] = []  # as many as use operators; appending is atomic
        self._watched = False
        self.run: Any = self._own

    def watch(self, on: bool) -> None:
        """Have everything go through ``state.quietly``, where it can be timed, or no more."""
        self._watched = on
        self._choose()

    def come(self) -> None:
        """A thread begins to use operators."""
        self._threads.append(None)
        self._choose()

    def leave(self) -> None:
        """It has ended."""
        self._threads.pop()
        self._choose()

    def _choose(self) -> None:
        self.run = _by_thread if self._watched or len(self._threads) > 1 else self._own


def _quiet() -> Any:
    """A new ``quietly``."""
    context = contextvars.copy_context()
    context.run(np.seterr, all="ignore")
    return context.run


def _by_thread(kernel: Any, *arrays: Any, **keywords: Any) -> Any:
    return state.quietly(kernel, *arrays, **keywords)


class _Presence:
    """Lives as long as the thread that holds it."""

    def __init__(self) -> None:
        self._leave = quiet.leave
        quiet.come()

    def __del__(self) -> None:
        self._leave()


class ThreadState(threading.local):
    """Recording and training mode of one thread.

    ``quietly(kernel, *arrays)`` runs a kernel without numpy's floating-point warnings, which MXNet
    does not give either, and leaves numpy's settings in the program as they are. It runs in a
    context of its own (25 ns; ``np.errstate`` takes 900), which cannot be entered twice: code that
    may run other operators must not be called through it.
    """

    recording = False
    training = False
    #: whether shapes are numpy's, in which () and (0, 3) are known (``mx.util.np_shape``)
    np_shape = False

    def __init__(self) -> None:
        self._plain = contextvars.copy_context()
        self._presence = _Presence()
        self.quietly = _quiet()

    def aside(self, function: Any, *args: Any) -> Any:
        """Run code that may itself run operators from inside a kernel, as users' operators are.

        It finds numpy's settings as they were when the thread began, and a ``quietly`` of its own.
        """
        outer, self.quietly = self.quietly, _quiet()
        try:
            return self._plain.copy().run(function, *args)
        finally:
            self.quietly = outer


quiet = Quiet()
state = ThreadState()

_streams: dict[Context, np.random.Generator] = {}
_lock = threading.Lock()
_next_seed: list[int | None] = [None]


def generator(ctx: Context | None = None) -> np.random.Generator:
    """The random stream of a context; made on first use, from the last global seed if any."""
    ctx = ctx or current_context()
    stream = _streams.get(ctx)
    if stream is None:
        with _lock:
            stream = _streams.get(ctx)
            if stream is None:
                seed: Any = _next_seed[0]
                entropy = None if seed is None else [seed, ctx.device_typeid, ctx.device_id]
                stream = _streams[ctx] = np.random.Generator(np.random.PCG64(entropy))
    return stream


def seed(value: int, ctx: Context | None = None) -> None:
    """Start the stream of one context, or of all, again from ``value``."""
    with _lock:
        if ctx is None:
            _streams.clear()
            _next_seed[0] = value
        else:
            entropy = [value, ctx.device_typeid, ctx.device_id]
            _streams[ctx] = np.random.Generator(np.random.PCG64(entropy))
