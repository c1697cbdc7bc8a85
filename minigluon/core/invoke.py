"""The one eager path: run a Call on arrays now, and remember it when recording."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from .call import Call
from .explain import explain, mixed_dtypes
from .note import note_for
from .state import quiet, state
from .store import run_into
from .wrapping import finish, new, wrap, wrap_many, wrappers

WRITTEN_OUT = 16  # the most inputs for which there is a function of their number


def invoke(call: Call, inputs: Any, out: Any = None) -> Any:
    """Run a Call on NDArrays; a list of NDArrays when the operator has several visible outputs.

    Raises an ``MXNetError`` that names the operator and shows its inputs if it cannot run.
    """
    if out is None and 0 < len(inputs) <= WRITTEN_OUT and call.dense is not None:
        return runner(len(inputs))(call, *inputs)
    return invoke_any(call, inputs, out)


#: What goes wrong is told by the general way, ``rest``; ``quiet.run`` refuses before it has begun.
DENSE = """\
    kernel = call.dense
    if kernel is not None and {classes} is cls:
        try:
            {d} = {data}
            if {dtypes}:
                result = quiet.run(kernel, {d})
                if call.scalar and not result.ndim:
                    result = as_array(result, ndmin=1)
                if type(result) is not ndarray:
                    return finish(call, ({x},), ({d},), result)
                if call.copies and (result.base is not None or result is d0):
                    result = result.copy()
                array = new(cls)
                array._data, array._ctx, array._entry = result, x0._ctx, None
                {e} = {entries}
                if ({recorded}) and state.recording:
                    key = {first}
                    {key}
                    note = call.notes.get(key) or note_for(call, key, ({d},), result)
                    array._entry = (note(call, ({e},), ({d},), result), 0)
                return array
        except Exception:
            return {rest}
"""


@cache
def dense(count: int, rest: str) -> str:
    """The lines that run ``call`` on ``x0, x1, ...`` and return, if all are dense.

    Where it fails they return ``rest``, the text of an expression. They are written out for the
    number of inputs: tuples and loops over them cost half of what a small operator takes.
    """
    places = range(count)

    def each(pattern: str, between: str = ", ") -> str:
        return between.join([pattern.format(k) for k in places])

    key = "\n                    ".join([f"if e{k} is not None: key += {1 << k}" for k in places])
    return DENSE.format(
        x=each("x{}"), d=each("d{}"), e=each("e{}"), data=each("x{}._data"),
        classes=each("type(x{})", " is "), entries=each("x{}._entry"),
        dtypes="not call.alike or " + each("d{}.dtype", " is ") if count > 1 else "True",
        recorded=each("e{} is not None", " or "), first=1 << count, key=key, rest=rest,
    )  # fmt: skip


@cache
def runner(count: int) -> Any:
    """``run(call, x0, x1, ...)``: `invoke` for so many inputs, fast where all are dense."""
    given = ", ".join([f"x{k}" for k in range(count)])
    rest = f"invoke_any(call, ({given},))"
    return written(f"def run(call, {given}):\n{dense(count, rest)}    return {rest}\n", "run")


def written(text: str, name: str) -> Any:
    """The function of that name in a text that has `dense` lines."""
    environment: dict[str, Any] = {
        "as_array": np.array, "cls": wrappers[np.ndarray], "finish": finish, "new": new,
        "invoke_any": invoke_any, "ndarray": np.ndarray, "note_for": note_for, "quiet": quiet,
        "state": state,
    }  # fmt: skip
    exec(compile(text, f"<{name}>", "exec"), environment)
    return environment[name]


def invoke_any(call: Call, inputs: Any, out: Any = None) -> Any:
    """`invoke` for inputs of any storage, and with ``out``; the message of a failure is made."""
    try:
        data = tuple([x._data for x in inputs])
        types = tuple([type(d) for d in data])
        if call.alike and data:
            dtype = data[0].dtype
            if any(d.dtype is not dtype and d.dtype != dtype for d in data):
                raise mixed_dtypes(call, data)
        kernel = call.memo.get(types) or call.kernel(types)
        if out is not None:
            return run_into(call, kernel, inputs, data, out)
        result = state.quietly(kernel, *data)
    except Exception as error:
        told = explain(call, inputs, error)
        raise told from (error.__cause__ if told is error else error)
    return finish(call, inputs, data, result)


__all__ = [
    "dense", "invoke", "invoke_any", "new", "runner", "wrap", "wrap_many", "wrappers", "written",
]  # fmt: skip
