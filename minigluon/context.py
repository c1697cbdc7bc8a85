"""Devices by name; everything runs on the CPU, and a GPU can be named but not used."""

from __future__ import annotations

import threading
import warnings
from typing import Any

from . import config
from .base import ArgumentTypeError, DeviceError


class _HasDefault(type):
    """Metaclass that gives a class its ``default_ctx``, as old scripts read and set it."""

    @property
    def default_ctx(cls) -> Context:
        """The current context of this thread; ``current_context()`` is the newer way to ask."""
        return current_context()

    @default_ctx.setter
    def default_ctx(cls, ctx: Context) -> None:
        _thread.default = ctx


class Context(metaclass=_HasDefault):
    """A device: ``Context("cpu", 0)``, or ``mx.cpu()``, ``mx.gpu(1)``.

    As a ``with`` block it is the default for arrays made inside.

    Examples
    --------
    >>> with Context("cpu", 1):
    ...     current_context()
    cpu(1)
    """

    __slots__ = ("_previous", "device_id", "device_typeid")

    devtype2str = {1: "cpu", 2: "gpu", 3: "cpu_pinned", 5: "cpu_shared"}
    devstr2type = {name: number for number, name in devtype2str.items()}

    def __init__(self, device_type: str | Context, device_id: int = 0):
        if isinstance(device_type, Context):
            self.device_typeid, self.device_id = device_type.device_typeid, device_type.device_id
        else:
            if device_type not in self.devstr2type:
                raise ValueError(
                    f"Context: unknown device type.\n  received  {device_type!r}\n"
                    f"  expected  one of {', '.join(self.devstr2type)}\n"
                    "  fix       use mx.cpu() or mx.gpu(i)"
                )
            try:
                self.device_id = int(device_id)
            except (TypeError, ValueError) as error:
                raise ArgumentTypeError(
                    f"Context: device_id is not a number.\n  received  {device_id!r}\n"
                    "  expected  0, 1, 2, ...\n  fix       use mx.cpu() or mx.gpu(0)"
                ) from error
            self.device_typeid = self.devstr2type[device_type]
        self._previous: list[Context | None] = []

    @property
    def device_type(self) -> str:
        """``"cpu"``, ``"gpu"``, ``"cpu_pinned"`` or ``"cpu_shared"``."""
        return self.devtype2str[self.device_typeid]

    def __hash__(self) -> int:
        return hash((self.device_typeid, self.device_id))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Context)
            and self.device_typeid == other.device_typeid
            and self.device_id == other.device_id
        )

    def __str__(self) -> str:
        return f"{self.device_type}({self.device_id})"

    __repr__ = __str__

    def __reduce__(self) -> tuple[Any, ...]:
        return Context, (self.device_type, self.device_id)

    def __enter__(self) -> Context:
        self._previous.append(_thread.default)
        _thread.default = self
        return self

    def __exit__(self, *exception: object) -> None:
        _thread.default = self._previous.pop()

    def empty_cache(self) -> None:
        """Nothing to free: memory belongs to numpy."""


class _Thread(threading.local):
    default: Context | None = None


_thread = _Thread()
_CPU = Context("cpu", 0)
_warned_gpu: list[bool] = []


def current_context() -> Context:
    """The context of the innermost ``with ctx:`` block of this thread, or ``cpu(0)``."""
    return _thread.default or _CPU


def usable(ctx: Context | None) -> Context:
    """The context arrays are made on when ``ctx`` is asked for; None is the current one.

    Raises ``DeviceError`` for a GPU, unless ``MINIGLUON_GPU_AS_CPU=1`` asks to stand in for it.
    """
    if ctx is None:
        ctx = _thread.default or _CPU
    if type(ctx) is not Context:
        ctx = _from_text(ctx)
    if ctx.device_typeid != 2:
        return ctx
    if config.get("MINIGLUON_GPU_AS_CPU"):
        if not _warned_gpu:
            _warned_gpu.append(True)
            warnings.warn(
                f"{ctx} was asked for and MINIGLUON_GPU_AS_CPU is set: running on the CPU instead",
                UserWarning,
                stacklevel=3,
            )
        return Context("cpu", ctx.device_id)
    raise DeviceError(
        f"no array can be made on {ctx}: minigluon runs on the CPU.\n  received  ctx={ctx}\n"
        "  expected  a CPU context, for example mx.cpu()\n"
        "  fix       replace mx.gpu() by mx.cpu(), or leave the script as it is and run it with\n"
        "            MINIGLUON_GPU_AS_CPU=1 or `minigluon run --gpu-as-cpu SCRIPT`"
    )


def _from_text(ctx: object) -> Context:
    """The context a string such as ``"cpu(0)"`` names."""
    if isinstance(ctx, str):
        name, _, number = ctx.rstrip(")").partition("(")
        return Context(name, int(number or 0))
    raise TypeError(
        f"not a context.\n  received  {ctx!r}\n  expected  a Context such as mx.cpu()\n"
        "  fix       pass ctx=mx.cpu()"
    )


def cpu(device_id: int = 0) -> Context:
    """A CPU context. All share the machine's memory; the number only tells them apart."""
    return Context("cpu", device_id)


def cpu_pinned(device_id: int = 0) -> Context:
    """A CPU context under the name MXNet gives to page-locked memory."""
    return Context("cpu_pinned", device_id)


def gpu(device_id: int = 0) -> Context:
    """A GPU context. It can be named and compared; making an array on it raises ``DeviceError``."""
    return Context("gpu", device_id)


def num_gpus() -> int:
    """0: no GPU can be used (1 when ``MINIGLUON_GPU_AS_CPU=1`` lets the CPU stand in)."""
    return int(config.get("MINIGLUON_GPU_AS_CPU"))


def gpu_memory_info(device_id: int = 0) -> tuple[int, int]:
    """Free and total bytes of a GPU; always raises ``DeviceError``, because there is none."""
    raise DeviceError(
        f"there is no gpu({device_id}) to ask for its memory.\n  received  device_id={device_id}\n"
        "  expected  a device below mx.context.num_gpus()\n  fix       check num_gpus() first"
    )
