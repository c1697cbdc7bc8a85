"""The backward pass of compiled graphs, one after the other, as one function that fills arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...kernels.scalar import Unsupported
from ..graph import Entry
from . import cache
from .codegen import Part, module
from .emit import between, storages
from .fuse import LONGEST, Stage, describe_arrays, distinct, reasons
from .loops import Array, full, ordered
from .plan import Plan


def fill_gradients(
    plans: Sequence[Plan], places: Sequence[int], seeded: bool
) -> Callable[..., Any] | None:
    """``run(*values, *arrays)`` writes the gradients of the first plan's sum into arrays.

    With ``seeded`` the gradient of its output comes before the values, and is not ones.

    Each plan has one output; that of plan k + 1 is argument ``places[k]`` of plan k. ``values`` are
    the kept values and the arguments of all plans in turn, ``arrays`` are for the wanted arguments
    in the same order, without those that come from plans. The function returns None if an array is
    not as expected. None if a part of it cannot be compiled.
    """
    try:
        part = _chained(plans, places, seeded)
        text = module(part)
        return cache.builtin(text) if len(text) <= LONGEST else None
    except (Unsupported, cache.CannotCompile):
        return None


def _chained(plans: Sequence[Plan], places: Sequence[int], seeded: bool) -> Part:
    inputs: dict[int, Array] = {}
    wants: list[Array] = []
    count = int(seeded)
    head: Array | None = None
    for k, plan in enumerate(plans):
        known = plan.known
        if known is None or len(plan.heads) != 1 or plan.wanted is None:
            raise Unsupported("a plan that is not compiled")
        held = [*plan.kept, *plan.arguments]
        outside = [*plan.heads, *held, *plan.phantoms]
        kinds = storages(plan.gradients, outside, [np.ndarray] * len(outside))
        order = between(outside, plan.gradients)
        if any(reasons(order, known, _all_dense(kinds)).values()):
            raise Unsupported("an operator that is not compiled")
        given = {e: known.array(e) for e in plan.phantoms}
        for j, entry in enumerate(held):
            array = known.find(entry, count + j)
            if array is not None:
                given[entry] = inputs[count + j] = array
        if head is None and seeded:
            head = inputs[0] = known.array(plan.heads[0], 0)
        given[plan.heads[0]] = head or full(1.0, known.array(plan.outputs[0]))
        stage = Stage()
        stage.nodes = order
        arrays = describe_arrays(stage, known, given)
        for j, wanted in enumerate(plan.wanted):
            gradient = plan.gradients[j]
            if not wanted:
                continue
            if gradient is None:
                raise Unsupported("an argument without gradient")
            if k < len(places) and j == places[k]:
                head = arrays[gradient]
            else:
                wants.append(arrays[gradient])
        count += len(held)
    final = distinct(wants)
    reached = {id(a) for a in ordered(final)}
    reads = {k: a for k, a in inputs.items() if id(a) in reached}
    targets = {count + k: a for k, a in enumerate(final)}
    return Part(count + len(final), reads, [], targets)


def _all_dense(kinds: dict[Entry, Any]) -> Callable[[Entry], bool]:
    return lambda entry: kinds[entry] is np.ndarray
