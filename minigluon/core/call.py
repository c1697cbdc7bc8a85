"""A Call: an operator with its attributes fixed, and the kernel it picks for some storages."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .. import config, storage
from ..base import StorageFallbackWarning, attribute_to_string
from ..context import current_context
from .explain import missing_attribute
from .op import REQUIRED, Op, registry
from .state import generator, state

FCOMPUTE, FCOMPUTE_EX, FCOMPUTE_FALLBACK = "fcompute", "fcompute_ex", "fcompute_fallback"

#: how many keys of Calls an operator keeps; beyond that it starts again
CALLS_KEPT = 4096
#: the same for operators with a number, which may change with every step: fewer are less to look
#: through for Python's garbage collector, which took half of the time
NUMBERS_KEPT = 512


class Dispatch:
    """The kernel chosen for some input storages, how it was chosen, and the storages it gives."""

    __slots__ = ("kernel", "mode", "stypes", "types")

    def __init__(self, kernel: Callable[..., Any], mode: str, stypes: tuple[str, ...]):
        self.kernel, self.mode, self.stypes = kernel, mode, stypes
        self.types = tuple([storage.TYPES[s] for s in stypes])


class Call:
    """An operator and its attributes. Interned, so equal Calls share what they have worked out.

    ``memo`` maps the tuple of input storage types to the kernel, ``dense`` is the one for dense
    inputs once it is chosen: what the hot path reads. Operators that write into their inputs have
    none, so that the hot path can leave a call that failed to the general one.
    """

    # fmt: off
    __slots__ = (
        "__weakref__", "alike", "attrs", "copies", "dense", "dispatches", "gradients", "memo",
        "notes", "op", "outputs", "scalar", "takes", "visible",
    )
    # fmt: on

    def __init__(self, op: Op, attrs: dict[str, Any]):
        self.op, self.attrs = op, attrs
        self.memo: dict[Any, Callable[..., Any]] = {}
        self.dispatches: dict[Any, Dispatch] = {}
        self.outputs = op.count_outputs(attrs)
        self.visible = self.outputs - op.count_hidden(attrs)
        self.alike = op.dtype_rule is None and not op.mutates
        self.copies, self.scalar = op.copies_view, op.scalar
        ruled = op.inputs if op.input_rule is None else op.names_of_inputs(attrs)
        self.takes = len(ruled)  # so many inputs, if not any number
        self.gradients: dict[int, Any] = {}  # by the number of inputs, see core.grad
        self.notes: dict[Any, Callable[..., Any]] = {}  # by what is on the tape, see core.note
        self.dense: Callable[..., Any] | None = None

    def __repr__(self) -> str:
        shown = ", ".join(f"{k}={attribute_to_string(v)}" for k, v in self.attrs.items())
        return f"<Call {self.op.name}({shown})>"

    def __reduce__(self) -> Any:
        return _rebuild, (self.op.name, tuple(self.attrs.values()))

    def resolve(self, types: tuple[type, ...], hint: str | None = None) -> Dispatch:
        """The kernel for inputs of these storage types; ``hint`` is an output storage asked for."""
        if hint is None and self.op.hint is not None:
            hint = self.attrs[self.op.hint]
        key = (types, hint)
        found = self.dispatches.get(key)
        if found is None:
            found = self.dispatches[key] = self._choose(types, hint)
        return found

    def trace(self, count: int) -> Any:
        """The gradient of this Call on ``count`` inputs, see `core.grad.Gradient`."""
        return self.op.gradient_of(self, count)

    def kernel(self, types: tuple[type, ...]) -> Callable[..., Any]:
        """The kernel for these storage types, remembered in ``memo``."""
        kernel = self.memo[types] = self.resolve(types).kernel
        if not self.op.mutates and set(types) == {np.ndarray}:
            self.dense = kernel
        return kernel

    def _choose(self, types: tuple[type, ...], hint: str | None) -> Dispatch:
        op, attrs = self.op, self.attrs
        stypes = tuple([storage.STYPES.get(t, "default") for t in types])
        row = op.choose(stypes, hint, attrs)
        if row is not None:
            given = row.outputs
            if len(given) < self.outputs:
                given = given * self.outputs
            if row.function is not None:
                kernel = self._bind(row.function)
                if op.inplace and "out" not in _injections(row.function):
                    kernel = _ignoring_out(kernel)
                return Dispatch(kernel, row.mode, given)
            dense = self._bind(op.dense)
            kernel = dense if set(stypes) <= {"default"} else _densifying(self, dense, stypes)
            return Dispatch(kernel, row.mode, given)
        all_dense = all(s == "default" for s in stypes)
        dense = self._bind(op.dense)
        if all_dense and hint in (None, "default"):
            return Dispatch(dense, FCOMPUTE, ("default",) * self.outputs)
        given = (hint or "default",) * self.outputs
        return Dispatch(_fallback(self, dense, stypes, given), FCOMPUTE_FALLBACK, given)

    def _bind(self, function: Any) -> Callable[..., Any]:
        """The function with the attributes filled in, and what it asks to be handed."""
        if function is self.op.dense and self.op.preparer is not None:
            prepared: Callable[..., Any] = self.op.preparer(**self.attrs)
            return prepared
        entry: Callable[..., Any] = getattr(function, "entry", function)
        wants = self.op.injects if entry is self.op.dense else _injections(entry)
        dynamic = [n for n in wants if n != "out"]
        if not dynamic:
            if not self.attrs:
                return entry
            return partial(entry, **self.attrs)
        attrs = self.attrs

        def with_injections(*arrays: Any, out: Any = None) -> Any:
            handed = {name: _INJECT[name](attrs) for name in dynamic}
            if "out" in wants:
                handed["out"] = out
            return entry(*arrays, **handed, **attrs)

        return with_injections


_INJECT: dict[str, Callable[[dict[str, Any]], Any]] = {
    "rng": lambda attrs: generator(),
    "training": lambda attrs: state.training,
    "ctx": lambda attrs: current_context(),
}


def _injections(function: Any) -> tuple[str, ...]:
    code = getattr(function, "__code__", None)
    if code is None:
        return ()
    names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    return tuple([n for n in ("out", "rng", "training", "ctx") if n in names])


def _ignoring_out(kernel: Callable[..., Any]) -> Callable[..., Any]:
    def run(*arrays: Any, out: Any = None) -> Any:
        return kernel(*arrays)

    return run


def _densifying(
    call: Call, dense: Callable[..., Any], stypes: tuple[str, ...]
) -> Callable[..., Any]:
    """The dense kernel on dense copies; what it changes in place is cast back into its storage."""
    densify, cast = storage.densify, storage.cast
    op = call.op
    changed = [
        (k, stype)
        for k, (name, stype) in enumerate(zip(op.inputs, stypes, strict=False))
        if stype != "default" and name in op.mutates
    ]
    if not changed and op.shape_only and not op.variadic:
        lent = [name in op.shape_only for name in op.inputs]  # shapes are had from sparse ones too
        return lambda *arrays, out=None: dense(
            *[x if keep else densify(x) for x, keep in zip(arrays, lent, strict=True)]
        )
    if not changed:
        return lambda *arrays, out=None: dense(*[densify(x) for x in arrays])

    def densify_and_run(*arrays: Any, out: Any = None) -> Any:
        copies = [densify(x) for x in arrays]
        result = dense(*copies)
        for k, stype in changed:
            arrays[k].assign(cast(copies[k], stype))
        return result

    return densify_and_run


def _fallback(
    call: Call, dense: Callable[..., Any], stypes: tuple[str, ...], given: tuple[str, ...]
) -> Callable[..., Any]:
    """The dense kernel with storages cast on the way in and out, and a warning on first use."""
    cast = storage.cast
    run = _densifying(call, dense, stypes)
    all_dense = all(s == "default" for s in given)

    def fall_back(*arrays: Any, out: Any = None) -> Any:
        _warn_fallback(call, stypes, given)
        result = run(*arrays)
        if all_dense:
            return result
        if type(result) is tuple:
            return tuple([cast(r, s) for r, s in zip(result, given, strict=True)])
        return cast(result, given[0])

    return fall_back


_warned: set[Any] = set()


def _warn_fallback(call: Call, stypes: tuple[str, ...], given: tuple[str, ...]) -> None:
    key = (call.op.name, stypes, given)
    if key in _warned or not config.get("MXNET_STORAGE_FALLBACK_LOG_VERBOSE"):
        return
    _warned.add(key)
    differ = [n for n, (_, default) in call.op.attributes.items() if call.attrs[n] != default]
    shown = "".join(f'"{n}" : {attribute_to_string(call.attrs[n])}, ' for n in differ)
    warnings.warn(
        "\nStorage type fallback detected:\n"
        f"operator = {call.op.name}\n"
        f"input storage types = [{''.join(s + ', ' for s in stypes)}]\n"
        f"output storage types = [{''.join(s + ', ' for s in given)}]\n"
        f"params = {{{shown}}}\n"
        f"context.dev_mask = {current_context().device_type}\n"
        "The operator with default storage type will be dispatched for execution. You're seeing "
        "this warning message because the operator above is unable to process the given ndarrays "
        "with specified storage types, context and parameter. Temporary dense ndarrays are "
        "generated in order to execute the operator. This does not affect the correctness of the "
        "programme. You can set environment variable MXNET_STORAGE_FALLBACK_LOG_VERBOSE to 0 to "
        "suppress this warning.",
        StorageFallbackWarning,
        stacklevel=_levels_to_user(),
    )


def _levels_to_user() -> int:
    """How many frames lie between `warnings.warn` in our caller and the program's own line."""
    package = __name__.partition(".")[0] + "."
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None:
        name = frame.f_globals.get("__name__")  # functions made from text have none
        if name is not None and not name.startswith(package):
            break
        level, frame = level + 1, frame.f_back
    return level


def intern(op: Op, key: tuple[Any, ...]) -> Call:
    """The Call for raw attribute values in the order of the signature, read and remembered.

    Raises ``AttributeValueError`` for a value its attribute does not accept and for a missing one.
    """
    attrs = {}
    for (name, (kind, _)), value in zip(op.attributes.items(), key, strict=True):
        if value is REQUIRED:
            raise missing_attribute(op, name)
        attrs[name] = value if type(value) is kind.plain else kind.read(op.name, name, value)
    normal = tuple([repr(v) if v == 0 else v for v in attrs.values()])  # 0.0 == -0.0 == False
    if len(op.calls) > (NUMBERS_KEPT if op.scalars else CALLS_KEPT):
        op.calls.clear()
    call = op.calls.get((normal,))
    if call is None:
        call = op.calls[(normal,)] = Call(op, attrs)
    try:
        op.calls[key] = call
    except TypeError:  # unhashable raw values (a list for a shape) are read again each time
        pass
    return call


def _rebuild(name: str, values: tuple[Any, ...]) -> Call:
    return intern(registry[name], values)


Op.intern = staticmethod(intern)  # type: ignore[method-assign]
