"""The ``@jit`` of our kernels: numba on the first call, plain Python where there is no numba.

``import minigluon`` must not load numba (140 ms, and 250 ms more at its first call), so ``@jit``
only keeps the function. The first call, or ``compiled()``, makes numba's dispatcher and puts it in
the place of the wrapper in the function's module, so kernels of one module call each other, and are
called by their entry points, without any wrapper. Who holds on to the wrapper pays about 60 ns a
call; who wants none asks for ``compiled()`` once.
"""

from __future__ import annotations

import importlib
import logging
import threading
import warnings
from collections.abc import Callable
from functools import cache
from pickle import PickleError
from typing import Any

from .. import config

_LOCK = threading.RLock()
_WARNED: set[str] = set()


class Kernel:
    """A function that becomes compiled code when it is first called."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]):
        self.python = function
        self.options = options
        self.target: Callable[..., Any] = self._resolve_and_call
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self.__module__, self.__wrapped__ = function.__module__, function

    def __call__(self, *args: Any) -> Any:
        return self.target(*args)

    def compiled(self) -> Callable[..., Any]:
        """What to call without any wrapper: numba's dispatcher, or the function without numba."""
        with _LOCK:
            if self.target == self._resolve_and_call:
                self._resolve_callees()
                self.target = _dispatcher(self.python, self.options)
                names = self.python.__globals__
                if names.get(self.__name__) is self:
                    names[self.__name__] = self.target
        return self.target

    def _resolve_and_call(self, *args: Any) -> Any:
        return self.compiled()(*args)

    def _resolve_callees(self) -> None:
        """numba compiles calls of dispatchers only, so the kernels named in the body come first."""
        names = self.python.__globals__
        for name in self.python.__code__.co_names:
            callee = names.get(name)
            if isinstance(callee, Kernel) and callee is not self:
                compiled = callee.compiled()
                if names[name] is callee:  # imported from another kernel module
                    names[name] = compiled


def jit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile ``function`` when it is first called; ``options`` go to ``numba.njit``.

    ``nogil``, ``cache`` and ``error_model="numpy"`` are always on: Python's check for division by
    zero keeps a loop from vectorising (2.6 to 4.5 times slower).
    """
    if function is None:
        return lambda f: Kernel(f, options)
    return Kernel(function, options)


def plain(kernel: Any) -> Callable[..., Any]:
    """The Python function of a kernel, for sizes at which loading numba would not pay.

    Examples
    --------
    >>> @jit
    ... def double(x):
    ...     return 2 * x
    >>> plain(double)(3)
    6
    """
    return getattr(kernel, "python", None) or getattr(kernel, "py_func", kernel)


@cache
def has_numba() -> bool:
    """Whether kernels are compiled at all; loads numba. Warns once where it cannot be imported."""
    return _numba() is not None


def _numba() -> Any:
    try:
        found = importlib.import_module("numba")
        log = logging.getLogger("numba")
        if log.level == logging.NOTSET:  # it tells a program that logs DEBUG about every bytecode
            log.setLevel(logging.WARNING)
        return found
    except ImportError as error:
        _warn_once(
            "numba",
            f"numba cannot be imported ({error}): kernels run as plain Python, which is correct "
            "but slow. Install numba to compile them.",
        )
        return None


def _dispatcher(function: Callable[..., Any], options: dict[str, Any]) -> Callable[..., Any]:
    numba = _numba()
    if numba is None:
        return function
    options = {"nogil": True, "cache": True, "error_model": "numpy", **options}
    folder, before = config.get("MINIGLUON_CACHE_DIR"), numba.config.CACHE_DIR
    try:
        if folder:
            numba.config.CACHE_DIR = folder
        dispatcher = numba.njit(**options)(function)
    except (RuntimeError, OSError) as error:  # numba found no folder that it may write to
        _warn_no_cache(error)
        return numba.njit(**{**options, "cache": False})(function)
    finally:
        numba.config.CACHE_DIR = before
    _guard_cache(dispatcher)
    return dispatcher


def _guard_cache(dispatcher: Any) -> None:
    """A disk that is full, turned read-only or holds damaged files costs time, never the call."""
    files = getattr(dispatcher, "_cache", None)
    for name in ("load_overload", "save_overload"):
        if hasattr(files, name):
            setattr(files, name, _guarded(getattr(files, name)))


def _guarded(action: Callable[..., Any]) -> Callable[..., Any]:
    def attempt(*args: Any) -> Any:
        try:
            return action(*args)
        except (OSError, EOFError, PickleError, ValueError, ImportError, AttributeError) as error:
            _warn_no_cache(error)
            return None  # to numba: not in the cache

    return attempt


def _warn_no_cache(error: Exception) -> None:
    _warn_once(
        "cache",
        f"compiled kernels cannot be kept on disk ({error!r}): every process compiles them anew. "
        "Set MINIGLUON_CACHE_DIR (or NUMBA_CACHE_DIR) to a folder that can be written.",
    )


def _warn_once(what: str, text: str) -> None:
    if what not in _WARNED:
        _WARNED.add(what)
        warnings.warn(text, RuntimeWarning, stacklevel=4)
