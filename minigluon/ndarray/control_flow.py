"""Loops and branches whose bodies are Python functions, run at once: ``mx.nd.contrib.foreach``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..base import ArgumentError, ArgumentTypeError, four_lines
from ..core.invoke import invoke
from ..core.op import registry
from .ndarray import NDArray, wrap_dense

#: how arrays are nested: None is an array, a list holds the forms of its members
Form = Any


def flatten(value: Any, what: str) -> tuple[list[NDArray], Form]:
    """The arrays in a nested list, one after the other, and how they were nested."""
    if isinstance(value, NDArray):
        return [value], None
    if not isinstance(value, list | tuple):
        raise ArgumentTypeError(
            four_lines(
                f"{what} must be (nested) list of NDArray",
                f"{value!s:.60} of type {type(value).__name__}",
                "an NDArray, or nested lists of them",
                "wrap numbers: mx.nd.array(...)",
            )
        )
    leaves: list[NDArray] = []
    forms = []
    for member in value:
        inner, form = flatten(member, what)
        leaves += inner
        forms.append(form)
    return leaves, forms


def regroup(leaves: Iterator[Any], form: Form) -> Any:
    """Nest arrays the way ``flatten`` found them nested."""
    return next(leaves) if form is None else [regroup(leaves, inner) for inner in form]


def foreach(body: Callable[..., Any], data: Any, init_states: Any) -> tuple[Any, Any]:
    """Run ``outputs, states = body(slice, states)`` over the first axis of ``data``.

    ``data``, the states and the outputs are arrays or nested lists of them. Returns the outputs of
    all steps, stacked, and the last states.

    Examples
    --------
    >>> step = lambda x, total: (total + x, total + x)
    >>> sums, total = nd.contrib.foreach(step, nd.array([1, 2, 3]), nd.array([0]))
    >>> sums.asnumpy().ravel()
    array([1., 3., 6.], dtype=float32)
    """
    sources, data_form = flatten(data, "foreach input")
    started, _ = flatten(init_states, "foreach states")
    lengths = {len(x) for x in sources}
    if len(lengths) != 1 or 0 in lengths:
        raise ArgumentError(
            "foreach: data needs one length of at least 1 along the first axis.\n"
            f"  received  shapes {', '.join(str(x.shape) for x in sources) or 'none'}\n"
            "  expected  arrays of equal length\n  fix       cut or pad them to one length"
        )
    states = init_states
    steps: list[list[NDArray]] = []
    form: Form = None
    for k in range(lengths.pop()):
        result = body(regroup(iter([x[k] for x in sources]), data_form), states)
        outputs, states = _pair(result, "foreach: body")
        leaves, form = flatten(outputs, "foreach output")
        given, _ = flatten(states, "foreach states")
        if len(given) != len(started):
            raise ArgumentError(
                "foreach: body returned another number of states than it was given.\n"
                f"  received  {len(given)} states in step {k}\n  expected  {len(started)}\n"
                "  fix       return every state, changed or not"
            )
        steps.append(leaves)
    return regroup(iter([_stack(column) for column in zip(*steps, strict=True)]), form), states


def while_loop(
    cond: Callable[..., Any],
    func: Callable[..., Any],
    loop_vars: Any,
    max_iterations: int | None = None,
) -> tuple[Any, Any]:
    """Run ``outputs, loop_vars = func(*loop_vars)`` as long as ``cond(*loop_vars)`` holds.

    Returns the outputs of all steps, stacked and filled up with zeros to ``max_iterations``, and
    the last loop variables. Without a step there are no outputs: an empty list.
    """
    limit = _limit(max_iterations)
    single = isinstance(loop_vars, NDArray)
    variables = [loop_vars] if single else list(loop_vars)
    if not variables:
        raise ArgumentError(
            four_lines(
                "loop_vars should contain at least one element",
                f"loop_vars={loop_vars!r:.60}",
                "one or more arrays",
                "pass the array that the condition looks at",
            )
        )
    steps: list[list[NDArray]] = []
    form: Form = []
    while len(steps) < limit and _holds(cond(*variables), "while_loop: cond"):
        outputs, after = _pair(func(*variables), "while_loop: func")
        leaves, form = flatten([] if outputs is None else outputs, "while_loop output")
        changed = [after] if isinstance(after, NDArray) else list(after)
        if len(changed) != len(variables):
            raise ArgumentError(
                "The length of loop_vars should be consistent during the loop\n"
                f"  received  {len(changed)} from func\n  expected  {len(variables)}\n"
                "  fix       return every loop variable, changed or not"
            )
        variables = changed
        steps.append(leaves)
    stacked = [_filled(_stack(column), limit) for column in zip(*steps, strict=True)]
    outputs = regroup(iter(stacked), form) if steps else []
    return outputs, variables[0] if single else variables


def cond(pred: Any, then_func: Callable[[], Any], else_func: Callable[[], Any]) -> Any:
    """``then_func()`` if ``pred`` (an array of one element) is not zero, else ``else_func()``."""
    if callable(pred) and not isinstance(pred, NDArray):
        pred = pred()
    return then_func() if _holds(pred, "cond: pred") else else_func()


def isnan(data: NDArray) -> NDArray:
    """1 where the value is not a number, else 0, in the dtype of ``data``."""
    return data != data


def isinf(data: NDArray) -> NDArray:
    """1 where the value is infinite, else 0, in the dtype of ``data``."""
    return abs(data) == np.inf


def isfinite(data: NDArray) -> NDArray:
    """1 where the value is neither infinite nor not a number, else 0."""
    return abs(data) < np.inf


def rand_zipfian(
    true_classes: NDArray, num_sampled: int, range_max: int, ctx: Any = None
) -> tuple[NDArray, NDArray, NDArray]:
    """Class numbers drawn by the approximate Zipfian distribution, and what counts to expect.

    ``P(k) = log((k + 2) / (k + 1)) / log(range_max + 1)``. Returns ``num_sampled`` int64 classes,
    and how often each of ``true_classes`` and of the drawn is expected among them (float64).
    """
    from . import random

    scale = np.log(range_max + 1)
    drawn = random.uniform(0, scale, shape=(num_sampled,), dtype="float64", ctx=ctx)._data
    classes = (np.exp(drawn).astype(np.int64) - 1) % range_max

    def expected(numbers: np.ndarray) -> NDArray:
        k = numbers.astype(np.float64)
        return wrap_dense(np.log((k + 2) / (k + 1)) / scale * num_sampled, true_classes._ctx)

    return (
        wrap_dense(classes, true_classes._ctx),
        expected(true_classes._data),
        expected(classes),
    )


def _pair(result: Any, who: str) -> tuple[Any, Any]:
    if isinstance(result, list | tuple) and len(result) == 2:
        return result[0], result[1]
    raise ArgumentError(
        f"{who} has to return two things.\n  received  {type(result).__name__}\n"
        "  expected  (outputs, states)\n  fix       return a pair; [] for no outputs or states"
    )


def _holds(value: Any, who: str) -> bool:
    if isinstance(value, NDArray):
        return bool(value.asscalar())
    if isinstance(value, bool | int | float | np.generic):
        return bool(value)
    raise ArgumentError(
        f"{who} has to give one truth value.\n  received  {type(value).__name__}\n"
        "  expected  an array of one element, or a bool\n  fix       combine the conditions"
    )


def _limit(max_iterations: Any) -> int:
    if max_iterations is None:
        raise ArgumentError(
            four_lines(
                "max_iterations should be specified",
                "max_iterations=None",
                "how many steps there are at most",
                "pass max_iterations=...",
            )
        )
    try:
        return int(max_iterations)
    except (TypeError, ValueError) as error:
        raise ArgumentError(
            four_lines(
                "Cannot convert max_iteration to python int",
                f"max_iterations={max_iterations!r:.60}",
                "a whole number",
                "pass one",
            )
        ) from error


def _stack(arrays: Any) -> NDArray:
    return invoke(registry["stack"].call(axis=0), tuple(arrays))


def _filled(stacked: NDArray, length: int) -> NDArray:
    missing = length - len(stacked)
    if not missing:
        return stacked
    zeros = np.zeros((missing, *stacked.shape[1:]), stacked._data.dtype)
    return invoke(registry["Concat"].call(dim=0), (stacked, wrap_dense(zeros, stacked._ctx)))
