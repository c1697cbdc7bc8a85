"""``mx.util``: numpy's shapes, environment variables, and what asks about GPUs."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from types import FunctionType
from typing import Any, NoReturn

from .base import MXNetError
from .context import Context, gpu_memory_info, num_gpus
from .core.state import state


def is_np_shape() -> bool:
    """Whether shapes are numpy's in this thread: ``()`` and ``(0, 3)`` are known.

    Otherwise they stand for what is to be inferred. With it ``nd.zeros((0, 3))`` makes an array
    without elements, and files are written in the format that can hold such arrays. What operators
    return keeps at least one axis, as in MXNet.
    """
    return state.np_shape


def is_np_array() -> bool:
    """False: minigluon has no ``mx.np`` arrays."""
    return False


def set_np_shape(active: bool) -> bool:
    """Make shapes numpy's or MXNet's own in this thread; returns what they were."""
    before, state.np_shape = state.np_shape, bool(active)
    return before


class _NumpyShapeScope:
    """A ``with`` block in which shapes are numpy's, or are not."""

    def __init__(self, active: bool):
        self._active, self._before = active, False

    def __enter__(self) -> _NumpyShapeScope:
        self._before = set_np_shape(self._active)
        return self

    def __exit__(self, *exception: object) -> None:
        set_np_shape(self._before)


def np_shape(active: bool = True) -> _NumpyShapeScope:
    """A ``with`` block in which shapes are numpy's; see `is_np_shape`.

    Examples
    --------
    >>> with np_shape():
    ...     nd.zeros((0, 3)).shape
    (0, 3)
    """
    return _NumpyShapeScope(active)


def np_array(active: bool = True) -> _NumpyShapeScope:
    """Raises ``MXNetError`` unless ``active`` is False: minigluon has no ``mx.np`` arrays."""
    if active:
        raise _no_np_arrays("np_array")
    return _NumpyShapeScope(state.np_shape)


def set_np(shape: bool = True, array: bool = True) -> None:
    """Make shapes numpy's; ``array=True``, the default, raises ``MXNetError``.

    Scripts that call it are written in ``mx.np``, whose arrays minigluon does not have.
    """
    if array:
        raise _no_np_arrays("set_np")
    set_np_shape(shape)


def reset_np() -> None:
    """Back to MXNet's own shapes."""
    set_np_shape(False)


def use_np_shape(func: Any) -> Any:
    """Decorate a function, or a class for all its methods, to run with numpy's shapes.

    Examples
    --------
    >>> use_np_shape(is_np_shape)()
    True
    """
    if isinstance(func, type):
        for name, member in list(vars(func).items()):
            if isinstance(member, FunctionType):
                setattr(func, name, use_np_shape(member))
            elif isinstance(member, property):
                parts = [p and use_np_shape(p) for p in (member.fget, member.fset, member.fdel)]
                setattr(func, name, property(*parts, doc=member.__doc__))
        return func
    if not callable(func):
        raise NotDecorable(
            "use_np_shape can only decorate classes and callable objects, "
            f"while received a {type(func)}"
        )

    @functools.wraps(func)
    def with_np_shape(*args: Any, **kwargs: Any) -> Any:
        with np_shape():
            return func(*args, **kwargs)

    return with_np_shape


class NotDecorable(MXNetError, TypeError):
    """Something that is neither a class nor callable where one is decorated."""


def use_np_array(func: Any) -> NoReturn:
    """Raises ``MXNetError``: what it decorates computes with ``mx.np`` arrays."""
    raise _no_np_arrays("use_np_array", func)


def use_np(func: Any) -> NoReturn:
    """Raises ``MXNetError``: what it decorates computes with ``mx.np`` arrays."""
    raise _no_np_arrays("use_np", func)


def _no_np_arrays(what: str, func: Any = None) -> MXNetError:
    named = f" for {func.__qualname__}" if hasattr(func, "__qualname__") else ""
    return MXNetError(
        f"{what}: minigluon has no mx.np arrays.\n  received  a request to use them{named}\n"
        "  expected  code written with mx.nd and mx.sym\n"
        "  fix       use mx.nd; for numpy's shapes alone use_np_shape and np_shape() are enough"
    )


def np_ufunc_legal_option(key: str, value: Any) -> bool:
    """Whether numpy's ufuncs take a keyword (where, casting, order, dtype, subok) of this value."""
    return key in _LEGAL_OPTIONS and _LEGAL_OPTIONS[key](value)


_DTYPES = ("int8", "uint8", "int32", "int64", "float16", "float32", "float64")
_LEGAL_OPTIONS: dict[str, Callable[[Any], bool]] = {
    "where": lambda v: True,
    "casting": lambda v: v in ("no", "equiv", "safe", "same_kind", "unsafe"),
    "order": lambda v: isinstance(v, str),
    "dtype": lambda v: (v.__name__ if isinstance(v, type) else v) in _DTYPES,
    "subok": lambda v: isinstance(v, bool),
}


def getenv(name: str) -> str | None:
    """The environment variable, or None; MXNet reads that of its C library here."""
    return os.environ.get(name)


def setenv(name: str, value: str | None) -> None:
    """Set an environment variable, or remove it with None; settings are read when they are used."""
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


def get_gpu_count() -> int:
    """How many GPUs can be used: 0; see ``mx.context.num_gpus``."""
    return num_gpus()


def get_gpu_memory(gpu_dev_id: int) -> tuple[int, int]:
    """Free and total bytes of a GPU; raises ``DeviceError``, because there is none."""
    return gpu_memory_info(gpu_dev_id)


def get_cuda_compute_capability(ctx: Context) -> int:
    """The compute capability of a GPU; ``ValueError`` for a CPU, ``DeviceError`` without a GPU."""
    if ctx.device_type != "gpu":
        raise ValueError("Expecting a gpu context to get cuda compute capability")
    return gpu_memory_info(ctx.device_id)[0]


def set_module(module: str | None) -> Callable[[Any], Any]:
    """A decorator that says which module a function is shown to come from.

    Examples
    --------
    >>> set_module("mxnet")(lambda: 0).__module__
    'mxnet'
    """

    def decorate(func: Any) -> Any:
        if module is not None:
            func.__module__ = module
        return func

    return decorate
