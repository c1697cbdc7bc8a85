"""What the running thread is doing: recording or not, training or not, and its random streams."""

from __future__ import annotations

import contextvars
import threading
from typing import Any

import numpy as np

from ..context import Context, current_context


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


def _quiet() -> Any:
    """A new ``quietly``."""
    context = contextvars.copy_context()
    context.run(np.seterr, all="ignore")
    return context.run


class Quiet:
    """``quiet.run(kernel, *arrays)``: the same as ``state.quietly`` for whoever comes first.

    Its one context is shared by all threads, so no thread's state is looked up (60 ns of the 500
    an operator takes). Where it is in use by another thread, or further up in this one, it raises
    ``RuntimeError`` before the kernel has begun; ``state.quietly`` is the way then.
    """

    __slots__ = ("run",)

    def __init__(self) -> None:
        self.switch(True)

    def switch(self, on: bool) -> None:
        """Off: everything goes through ``state.quietly``, where it can be watched."""
        self.run = _quiet() if on else _refuse


def _refuse(*_: Any) -> Any:
    raise RuntimeError("cannot enter context")


state = ThreadState()
quiet = Quiet()

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
