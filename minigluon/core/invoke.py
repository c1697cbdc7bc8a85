"""The one eager path: run a Call on arrays now, and remember it when recording."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import storage
from ..base import ShapeError
from .call import Call
from .explain import explain, mixed_dtypes, recorded_write
from .graph import Node
from .state import state

new = object.__new__

#: storage type -> the array class users see; filled by the face (``ndarray``)
wrappers: dict[type, type] = {}


def invoke(call: Call, inputs: Any, out: Any = None) -> Any:
    """Run a Call on NDArrays; a list of NDArrays when the operator has several visible outputs.

    Raises an ``MXNetError`` that names the operator and shows its inputs if it cannot run.
    """
    try:
        data = [x._data for x in inputs]
        types = tuple([type(d) for d in data])
        kernel = call.memo.get(types) or call.kernel(types)
        if call.alike and len(data) > 1:
            dtype = data[0].dtype
            for d in data:
                if d.dtype is not dtype and d.dtype != dtype:
                    raise mixed_dtypes(call, data)
        if out is not None:
            return run_into(call, kernel, inputs, data, out)
        result = kernel(*data)
        if call.copies_view and type(result) is np.ndarray and result.base is not None:
            result = result.copy()
    except Exception as error:
        raise explain(call, inputs, error) from error
    recorded = record(call, inputs, data, result) if state.recording else None
    ctx = inputs[0]._ctx if inputs else None
    if type(result) is tuple:
        return wrap_many(result[: call.visible], ctx, recorded)
    return wrap(result, ctx, None if recorded is None else (recorded, 0))


def wrap(data: Any, ctx: Any, entry: Any = None) -> Any:
    """An array of the class that fits the storage, without copying."""
    cls = wrappers.get(type(data))
    if cls is None:  # a numpy scalar, as ufuncs give for 0-d inputs
        data = np.asarray(data)
        cls = wrappers[np.ndarray]
    elif not data.shape:
        data = data.reshape(1)
    array = new(cls)
    array._data = data if data.shape else data.reshape(1)
    array._entry = entry
    array._ctx = ctx
    return array


def wrap_many(results: Any, ctx: Any, node: Node | None) -> Any:
    """Several outputs as a list; a single visible one bare."""
    entries = [None if node is None else (node, k) for k in range(len(results))]
    arrays = [wrap(r, ctx, e) for r, e in zip(results, entries, strict=True)]
    return arrays[0] if len(arrays) == 1 else arrays


def record(call: Call, inputs: Any, data: Any, result: Any) -> Node | None:
    """A node on the tape holding what the gradient needs, or None if no input is on the tape."""
    entries = tuple([x._entry for x in inputs])
    for entry in entries:
        if entry is not None:
            break
    else:
        return None
    gradient = call.gradient
    if gradient is None or call.op.variadic:
        gradient = call.trace(len(data))
    return Node(call, entries, "", None, gradient.keep(data, result))


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
    if call.op.inplace and len(outs) == 1 and type(first) is np.ndarray:
        result = kernel(*data, out=first)
        if result is first:
            if state.recording:
                recorded = record(call, inputs, data, result)
                outs[0]._entry = None if recorded is None else (recorded, 0)
            return out
    else:
        types = tuple([type(d) for d in data])
        if len(outs) == 1:
            kernel = call.resolve(types, storage.STYPES[type(first)]).kernel
        result = kernel(*data)
    results = result if type(result) is tuple else (result,)
    for x, r in zip(outs, results, strict=False):
        store(x, r)
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
    if type(value) not in storage.STYPES:
        value = np.asarray(value)
    if held.shape != value.shape and not (held.shape == (1,) and value.shape == ()):
        raise ShapeError(
            f"out: the result does not fit.\n  received  out {held.shape}\n"
            f"  expected  {value.shape}, the shape of the result\n  fix       make out of that shape"
        )
    if type(held) is np.ndarray:
        held[...] = storage.densify(value)
        return
    fitting = storage.cast(value, storage.STYPES[type(held)])
    values = fitting.values
    if values.dtype != held.dtype:
        fitting = fitting.with_values(values.astype(held.dtype))
    elif fitting is value:
        fitting = fitting.copy()
    held.assign(fitting)
