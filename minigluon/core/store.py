"""Results into given arrays, which keep their storage type, dtype and memory: all or nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import storage
from ..base import ShapeError
from .call import Call
from .explain import recorded_write
from .note import record
from .state import state


def run_into(call: Call, kernel: Any, inputs: Any, data: Any, out: Any) -> Any:
    """Run a Call and put its results into given arrays, which keep their storage type and dtype.

    Nothing is written unless the whole computation succeeded.
    """
    outs = list(out) if isinstance(out, list | tuple) else [out]
    if state.recording:
        for x in outs:
            if x._entry is not None:
                raise recorded_write(call.op.name)
    first = outs[0]._data
    if len(outs) == 1 and type(first) is not np.ndarray:
        kernel = call.resolve(tuple(map(type, data)), storage.STYPES[type(first)]).kernel
    if call.op.mutates and len(outs) == 1 and first.shape != data[0].shape:
        raise misfit(first, data[0])  # states must not change for nothing
    fits = call.op.inplace == "reads" or all(d.shape == first.shape for d in data)
    if data and call.op.inplace and len(outs) == 1 and fits:
        result = state.quietly(kernel, *data, out=first)
        if result is first:
            if state.recording:
                recorded = record(call, inputs, data, result)
                outs[0]._entry = None if recorded is None else (recorded, 0)
            return out
    else:
        result = state.quietly(kernel, *data)
    if type(result) is tuple:
        store_all(call, outs, result)
    else:
        store(outs[0], result)
    if state.recording:
        recorded = record(call, inputs, data, result)
        for k, x in enumerate(outs):
            x._entry = None if recorded is None else (recorded, k)
    return out


def store(array: Any, value: Any) -> None:
    """Put a storage's values into an array, which keeps its storage type, dtype and memory.

    Raises ``ShapeError`` if the shapes differ and ``StorageError`` for csr <-> row_sparse.
    """
    held = array._data
    put(held, fitted(held, value))


def store_all(call: Call, arrays: list[Any], values: tuple[Any, ...]) -> None:
    """Put several results into as many arrays; into none of them if one does not fit."""
    if len(arrays) not in (call.visible, len(values)):
        raise ShapeError(
            f"{call.op.name}: out has the wrong number of arrays.\n"
            f"  received  {len(arrays)}\n  expected  {call.visible}, one for each output\n"
            "  fix       complete the list"
        )
    fitting = [fitted(x._data, v) for x, v in zip(arrays, values, strict=False)]
    for x, f in zip(arrays, fitting, strict=True):
        put(x._data, f)


def fitted(held: Any, value: Any) -> Any:
    """A storage to put into another one: of its shape and kind, and of its dtype if sparse."""
    if type(value) not in storage.STYPES:
        value = np.asarray(value)
    if held.shape != value.shape and not (held.shape == (1,) and value.shape == ()):
        raise misfit(held, value)
    if type(held) is np.ndarray:
        return storage.densify(value)
    fitting: Any = storage.cast(value, storage.STYPES[type(held)])
    values = fitting.values
    if values.dtype != held.dtype:
        return fitting.with_values(values.astype(held.dtype))
    return fitting.copy() if fitting is value else fitting


def misfit(held: Any, value: Any) -> ShapeError:
    """The error for a result that an array is not of the shape for."""
    return ShapeError(
        f"out: the result does not fit.\n  received  out {held.shape}\n"
        f"  expected  {value.shape}, the shape of the result\n"
        "  fix       make out of that shape"
    )


def put(held: Any, fitting: Any) -> None:
    """Make a storage hold what another one that fits holds."""
    if type(held) is np.ndarray:
        held[...] = fitting
    else:
        held.assign(fitting)
