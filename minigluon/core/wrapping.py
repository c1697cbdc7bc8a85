"""From what kernels give to the arrays users see."""

from __future__ import annotations

from typing import Any

import numpy as np

from .call import Call
from .graph import Node
from .note import record
from .state import state

new = object.__new__

#: storage type -> the array class users see; filled by the face (``ndarray``)
wrappers: dict[type, type] = {}


def wrap(data: Any, ctx: Any, entry: Any = None) -> Any:
    """An array of the class that fits the storage, without copying."""
    cls = wrappers.get(type(data))
    if cls is None:  # a numpy scalar, as ufuncs give for 0-d inputs
        data = np.array(data, ndmin=1)
        cls = wrappers[np.ndarray]
    array: Any = new(cls)
    array._data = data if data.shape else data.reshape(1)
    array._entry = entry
    array._ctx = ctx
    return array


def wrap_many(results: Any, ctx: Any, node: Node | None) -> Any:
    """Several outputs as a list; a single visible one bare."""
    entries = [None if node is None else (node, k) for k in range(len(results))]
    arrays = [wrap(r, ctx, e) for r, e in zip(results, entries, strict=True)]
    return arrays[0] if len(arrays) == 1 else arrays


def finish(call: Call, inputs: Any, data: Any, result: Any) -> Any:
    """What users get of a kernel's result: arrays, on the tape if that is recorded."""
    view = call.copies and type(result) is np.ndarray
    if view and (result.base is not None or result is data[0]):
        result = result.copy()
    node = record(call, inputs, data, result) if state.recording else None
    ctx = inputs[0]._ctx if inputs else None
    if type(result) is tuple:
        return wrap_many(result[: call.visible], ctx, node)
    return wrap(result, ctx, None if node is None else (node, 0))
