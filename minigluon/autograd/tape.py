"""Leaves of the tape, and the backward pass over it."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np

from .. import storage
from ..base import ArgumentTypeError, MXNetError, ShapeError
from ..core import grad as core_grad
from ..core import sweep as core_sweep
from ..core.graph import Entry, Node, by_age
from ..core.invoke import wrap
from ..core.state import state
from ..core.store import store

GRAD_REQS = ("null", "write", "add")


class Leaf(Node):
    """The tape's node for an array whose gradient is wanted: where it goes, and how."""

    __slots__ = ("array", "grad", "grad_req")

    def __init__(self, array: Any, grad: Any, grad_req: str):
        super().__init__(None)
        self.array, self.grad, self.grad_req = weakref.ref(array), grad, grad_req


def mark(array: Any, grad: Any, grad_req: str) -> None:
    """Make an array a leaf whose gradient goes into ``grad``; it forgets how it was computed."""
    if grad_req not in GRAD_REQS:
        raise GradReqError(
            f"attach_grad: unknown grad_req.\n  received  grad_req={grad_req!r}\n"
            f"  expected  one of {', '.join(GRAD_REQS)}\n  fix       attach_grad('write')"
        )
    if grad.shape != array.shape:
        raise ShapeError(
            f"mark_variables: the gradient has the wrong shape.\n"
            f"  received  variable {array.shape}, gradient {grad.shape}\n"
            f"  expected  {array.shape}, the shape of the variable\n"
            "  fix       pass such an array, or call attach_grad()"
        )
    wanted = grad_req != "null"
    array._grad, array._grad_req, array._fresh = grad if wanted else None, grad_req, False
    array._entry = None if not wanted else (Leaf(array, grad, grad_req), 0)


class GradReqError(MXNetError, KeyError, ValueError):
    """A grad_req that is not null, write or add."""

    __str__ = Exception.__str__


def entries_of(heads: Sequence[Any]) -> list[Entry]:
    """The tape entries of arrays; raises ``MXNetError`` for one that was not recorded."""
    entries = []
    for k, head in enumerate(heads):
        if head._entry is None:
            raise MXNetError(
                "Cannot differentiate node because it is not in a computational graph. You need to "
                "set is_recording to true or use autograd.record() to save computational graphs "
                f"for backward.\n  received  head {k}: {head.shape}, computed outside record()\n"
                "  expected  an array computed under autograd.record() from arrays with gradients\n"
                "  fix       call attach_grad() on the inputs and compute inside autograd.record()"
            )
        entries.append(head._entry)
    return entries


def seeds_for(heads: Sequence[Any], head_grads: Sequence[Any] | None) -> list[Any]:
    """The storages of the head gradients; ones where none is given."""
    if head_grads is None:
        return [_ones(head._data) for head in heads]
    if len(head_grads) != len(heads):
        raise HeadsError("heads and head_grads must be lists of the same length")
    pairs = zip(heads, head_grads, strict=True)
    return [
        _ones(head._data) if given is None else _fitting_head(k, head, given)._data
        for k, (head, given) in enumerate(pairs)
    ]


def _ones(data: Any) -> np.ndarray:
    """Ones to start a sweep with, kept for the next one when they are few: losses are."""
    make = _few_ones if prod(data.shape) <= 1024 else np.ones
    return make(data.shape, data.dtype)


@lru_cache(maxsize=64)
def _few_ones(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    ones = np.ones(shape, dtype)
    ones.flags.writeable = False
    return ones


def _fitting_head(k: int, head: Any, given: Any) -> Any:
    """A head gradient, in the dtype of its head; raises if it is none."""
    data = getattr(given, "_data", None)
    if data is None or data.shape != head._data.shape:
        what = "has the wrong shape" if data is not None else "is not an array"
        shown = type(given).__name__ if data is None else data.shape
        raise (ArgumentTypeError if data is None else ShapeError)(
            f"backward: head gradient {k} {what}.\n"
            f"  received  head {head.shape}, head gradient {shown}\n"
            f"  expected  an NDArray {head.shape}, the shape of the head\n"
            "  fix       pass such an array"
        )
    return given if data.dtype == head._data.dtype else given.astype(head._data.dtype)


class HeadsError(MXNetError, AssertionError, ValueError):
    """Heads and head gradients that do not go together."""


def backward(heads: Sequence[Any], head_grads: Sequence[Any] | None, retain: bool) -> None:
    """Write the gradients of the heads into the leaves they were computed from."""
    entries = entries_of(heads)
    seeds = seeds_for(heads, head_grads)
    if not core_sweep.sweep(entries, seeds, _deliver, retain):
        raise MXNetError(
            "There are no inputs in computation graph that require gradients.\n"
            "  received  heads none of whose inputs has a gradient attached\n"
            "  expected  at least one array with attach_grad() and grad_req other than null\n"
            "  fix       call x.attach_grad() before recording"
        )


def _deliver(leaf: Any, value: Any) -> None:
    """Write or add a gradient into the leaf's array."""
    held = leaf.grad._data
    dense = type(held) is type(value) is np.ndarray
    adding = leaf.grad_req == "add"
    if dense and adding and held.dtype is value.dtype and held.shape == value.shape:
        state.quietly(np.add, held, value, held)
    elif dense and not adding:
        held[...] = value
    else:
        if adding:
            value = core_grad.add(held, value)
        if value is core_grad.ZERO:
            value = storage.zeros(storage.STYPES[type(held)], held.shape, held.dtype)
        elif type(value) is not type(held):
            value = storage.densify(value)  # csr <-> row_sparse go by way of dense
        store(leaf.grad, value)
    array = leaf.array()
    if array is not None:
        array._fresh = True


def gradients(
    heads: Sequence[Any], variables: Sequence[Any], head_grads: Any, retain: bool, create: bool
) -> list[Any]:
    """The gradients of heads with respect to leaves, as new arrays; recorded if ``create``."""
    entries = entries_of(heads)
    for k, v in enumerate(variables):
        if v._entry is None or type(v._entry[0]) is not Leaf:
            raise MXNetError(
                f"Cannot differentiate with respect to the {k + 1}-th variable because it does not "
                f"require gradient.\n  received  {v.shape} {v._data.dtype} at position {k}\n"
                "  expected  an array with attach_grad()\n  fix       call attach_grad() on it "
                "before recording"
            )
    wanted = [v._entry[0] for v in variables]
    seeds = seeds_for(heads, head_grads)
    if create:
        for k, head in enumerate(heads):
            given = None if head_grads is None else head_grads[k]
            seeds[k] = wrap(seeds[k], head._ctx) if given is None else _fitting_head(k, head, given)
        recording, state.recording = state.recording, True
        try:
            found: dict[Node, Any] = core_sweep.sweep_recorded(entries, seeds, wanted)
        finally:
            state.recording = recording
    else:
        got: dict[Node, Any] = {}
        asked = set(wanted)
        core_sweep.sweep(entries, seeds, got.__setitem__, retain, asked)
        found = {node: wrap(_whole(value, node), None) for node, value in got.items()}
    below = set(by_age(entries)) if len(found) < len(wanted) else set()
    for v, n in zip(variables, wanted, strict=True):
        if n not in found and n in below:  # only through what has gradient zero
            found[n] = wrap(np.zeros(v._data.shape, v._data.dtype), None)
    missing = [k for k, n in enumerate(wanted) if n not in found]
    if missing:
        raise MXNetError(
            f"Cannot differentiate with respect to the {missing[0] + 1}-th variable because the "
            "heads do not depend on it.\n  received  a variable that is not in the graph of the "
            f"heads, at position {missing[0]}\n  expected  variables the heads were computed from\n"
            "  fix       leave it out"
        )
    results = [found[n] for n in wanted]
    for v, g in zip(variables, results, strict=True):
        g._ctx = v._ctx
    return results


def _whole(value: Any, node: Any) -> Any:
    """A gradient in the full shape of its leaf, in memory of its own."""
    array = node.array()
    if array is not None and type(value) is np.ndarray and value.shape != array._data.shape:
        return np.array(np.broadcast_to(value, array._data.shape))
    return value.copy() if type(value) in storage.STYPES else np.array(value)
