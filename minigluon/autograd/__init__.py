"""Automatic differentiation: record a computation, then run it backwards."""

from __future__ import annotations

import ctypes
from typing import Any

from ..base import ArgumentTypeError, four_lines
from ..core.state import state
from . import direct, tape
from .function import Function
from .scopes import (
    is_recording,
    is_training,
    pause,
    predict_mode,
    record,
    set_recording,
    set_training,
    train_mode,
)


def mark_variables(variables: Any, gradients: Any, grad_reqs: Any = "write") -> None:
    """Say where the gradients of some arrays go: ``x.attach_grad()`` with arrays of your own.

    ``grad_reqs`` is "write", "add" or "null", one for all or a list.
    """
    variables = _as_list(variables)
    gradients = _as_list(gradients)
    if isinstance(grad_reqs, str):
        grad_reqs = [grad_reqs] * len(variables)
    if not len(variables) == len(gradients) == len(grad_reqs):
        raise tape.HeadsError(
            "mark_variables: the lists have different lengths.\n"
            f"  received  {len(variables)} variables, {len(gradients)} gradients, "
            f"{len(grad_reqs)} grad_reqs\n  expected  one gradient and one grad_req a variable\n"
            "  fix       complete the lists"
        )
    for array, grad, grad_req in zip(variables, gradients, grad_reqs, strict=True):
        tape.mark(array, grad, grad_req)


def backward(
    heads: Any, head_grads: Any = None, retain_graph: bool = False, train_mode: bool = True
) -> None:
    """Write the gradients of ``heads`` into the arrays with gradients they were computed from.

    ``head_grads`` (one per head, None for ones) are the gradients of what follows. The recording is
    released unless ``retain_graph``. Raises ``MXNetError`` for heads that were not recorded.

    Examples
    --------
    >>> x = nd.array([1.0, 2.0])
    >>> x.attach_grad()
    >>> with autograd.record():
    ...     y = x * x
    >>> autograd.backward([y])
    >>> x.grad.asnumpy()
    array([2., 4.], dtype=float32)
    """
    heads = _as_list(heads)
    for head in heads:
        if not hasattr(head, "_entry"):
            raise _no_array(head)
    if head_grads is not None:
        head_grads = _as_list(head_grads)
    elif len(heads) == 1 and direct.backward(heads[0], retain_graph):
        return
    swept(heads, head_grads, retain_graph, train_mode)


def swept(heads: list[Any], head_grads: Any, retain_graph: bool, train_mode: bool) -> None:
    """``backward`` by the sweep over the tape, operator by operator."""
    before = state.training
    state.training = train_mode
    try:
        tape.backward(heads, head_grads, retain_graph)
    finally:
        state.training = before


def grad(
    heads: Any,
    variables: Any,
    head_grads: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    train_mode: bool = True,
) -> list[Any]:
    """The gradients of ``heads`` with respect to ``variables``, as a list of new arrays.

    With ``create_graph=True`` the result is recorded, so that it can be differentiated again.
    """
    heads, variables = _as_list(heads), _as_list(variables)
    for name, given in (("heads", heads), ("variables", variables)):
        if not given:
            raise tape.HeadsError(
                f"grad: {name} cannot be an empty list.\n  received  {name}=[]\n"
                "  expected  one or more arrays\n  fix       pass the arrays to differentiate"
            )
    if head_grads is not None:
        head_grads = _as_list(head_grads)
    retain = create_graph if retain_graph is None else retain_graph
    before = state.training
    state.training = train_mode
    try:
        return tape.gradients(heads, variables, head_grads, retain or create_graph, create_graph)
    finally:
        state.training = before


def get_symbol(x: Any) -> Any:
    """The recorded computation of an array as a Symbol; leaves become variables."""
    from ..base import MXNetError
    from ..symbol.variable import from_tape

    if x._entry is None:
        raise MXNetError(
            "get_symbol: NDArray is not part of a computation graph. Did you forget to turn on "
            "recording?\n  received  an array computed outside autograd.record()\n"
            "  expected  a recorded array\n  fix       compute it inside autograd.record()"
        )
    return from_tape(x._entry)


def _no_array(head: Any) -> ArgumentTypeError:
    return ArgumentTypeError(
        four_lines(
            "backward: a head is no array.", f"a {type(head).__name__}",
            "an NDArray computed under autograd.record(), or a list of such", "pass the loss",
        )
    )  # fmt: skip


def _as_list(x: Any) -> list[Any]:
    return list(x) if isinstance(x, list | tuple) else [x]


def __getattr__(name: str) -> Any:
    if name == "NDArray":
        from ..ndarray import NDArray

        return NDArray
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Function", "NDArray", "backward", "ctypes", "get_symbol", "grad", "is_recording",
    "is_training", "mark_variables", "pause", "predict_mode", "record", "set_recording",
    "set_training", "train_mode",
]  # fmt: skip
