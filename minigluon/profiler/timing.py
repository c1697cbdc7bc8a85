"""What was timed: kernels of operators, steps of graphs, and whatever a program names itself."""

from __future__ import annotations

import re
import threading
from contextlib import suppress
from time import perf_counter_ns
from types import FunctionType
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from ..core.op import registry
from ..core.plan import assemble
from ..core.state import quiet, state
from ..optimizer.compiled import Stepper


class Record(NamedTuple):
    """One thing that was timed, or a number at a time; times are in ns.

    ``kind`` is operator, graph, event or the name of a domain; ``phase`` says what it is as in
    trace files: X took a while, C is the ``value`` of a counter, i is a moment.
    """

    kind: str
    name: str
    begin: int
    end: int
    thread: int
    phase: str = "X"
    value: Any = None


records: list[Record] = []
#: how many of them the last table that was reset has told; the trace shows all
told = 0
_untimed: dict[int, Any] = {}


def resume() -> None:
    """Time the kernels that this thread calls from now on."""
    thread = threading.get_ident()
    if thread in _untimed:
        return
    run = _untimed[thread] = state.quietly

    def timed(kernel: Any, *arrays: Any, **keywords: Any) -> Any:
        if not _is_plan(kernel):
            return run(_timed(kernel), *arrays, **keywords)
        begin = perf_counter_ns()
        result = run(_twin(kernel), *arrays, **keywords)
        if result is not None:  # else it was made for other arrays, and nothing was computed
            name = "backward" if "backward" in kernel.__code__.co_filename else "forward"
            records.append(Record("graph", name, begin, perf_counter_ns(), thread))
        return result

    state.quietly = timed
    quiet.watch(True)
    Stepper.step = _timed_step  # type: ignore[method-assign]


def pause() -> None:
    """Stop timing in this thread."""
    run = _untimed.pop(threading.get_ident(), None)
    if run is not None:
        state.quietly = run
        if not _untimed:
            quiet.watch(False)
            Stepper.step = _plain_step  # type: ignore[method-assign]


_PLAN = re.compile("<plan( forward| backward)?(, checked)?>")
_STEP = re.compile(r"[kcs]\d+|run")
_twins: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()


def _is_plan(kernel: Any) -> bool:
    """Whether a function is the text of a plan, which calls kernels in turn."""
    return type(kernel) is FunctionType and bool(_PLAN.fullmatch(kernel.__code__.co_filename))


def _twin(plan: Any) -> Any:
    """A plan's function with every kernel and compiled part that it calls timed."""
    found = _twins.get(plan)
    if found is None:
        names = plan.__globals__
        scope = {
            name: _step(value, names.get(f"n{name[1:]}") if name[0] == "k" else None)
            if _STEP.fullmatch(name)
            else value
            for name, value in names.items()
        }
        found = _twins[plan] = FunctionType(plan.__code__, scope, plan.__name__)
    return found


def _step(function: Any, name: str | None) -> Any:
    return _twin(function) if _is_plan(function) else _timed(function, name)


def _timed(kernel: Any, name: str | None = None) -> Any:
    """A kernel that notes how long it takes, unless it refuses its arguments."""

    def run(*arrays: Any, **keywords: Any) -> Any:
        begin = perf_counter_ns()
        result = kernel(*arrays, **keywords)
        end = perf_counter_ns()
        if result is not None:
            told = name or name_of(kernel)
            records.append(Record("operator", told, begin, end, threading.get_ident()))
        return result

    return run


def _timed_step(
    self: Stepper, optimizer: Any, indices: Any, weights: Any, grads: Any, states: Any
) -> Any:
    """`Stepper.step`, which updates many parameters in one call, with its time noted."""
    begin = perf_counter_ns()
    left = _plain_step(self, optimizer, indices, weights, grads, states)
    thread = threading.get_ident()
    if len(left) < len(indices) and thread in _untimed:
        name = f"compiled({type(optimizer).__name__}.update)"
        records.append(Record("operator", name, begin, perf_counter_ns(), thread))
    return left


_plain_step = Stepper.step


_names: dict[Any, str] = {}


def name_of(kernel: Any) -> str:
    """The operator a kernel belongs to, the first declared one if it serves several.

    A compiled part is called after the operators it is made of.
    """
    found = _names.get(kernel)
    if found is None:
        with suppress(TypeError):  # a ufunc cannot be asked for: it takes no weak references
            if kernel in assemble.made_of:
                return f"compiled({', '.join(assemble.made_of[kernel])})"
        for op in registry.values():
            for call in list(op.calls.values()):
                for known in call.memo.values():
                    _names.setdefault(known, op.name)
        function = getattr(kernel, "func", kernel)
        found = _names.setdefault(kernel, getattr(function, "__name__", type(function).__name__))
    return found
