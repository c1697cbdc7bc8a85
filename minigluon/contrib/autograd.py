"""``mx.contrib.autograd``: how gradients were recorded before ``mx.autograd``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import autograd
from .. import ndarray as nd
from ..autograd import mark_variables
from ..base import ArgumentError


def set_is_training(is_train: bool) -> bool:
    """Record in training mode, or do neither; whether training was on before."""
    autograd.set_recording(is_train)
    return autograd.set_training(is_train)


class TrainingStateScope:
    """A ``with`` block in which `set_is_training` holds."""

    def __init__(self, enter_state: bool):
        self._state = enter_state
        self._before: list[tuple[bool, bool]] = []

    def __enter__(self) -> None:
        self._before.append((autograd.is_recording(), autograd.is_training()))
        set_is_training(self._state)

    def __exit__(self, *exception: object) -> None:
        recording, training = self._before.pop()
        autograd.set_recording(recording)
        autograd.set_training(training)


def train_section() -> TrainingStateScope:
    """Record what is computed inside, in training mode."""
    return TrainingStateScope(True)


def test_section() -> TrainingStateScope:
    """Do not record what is computed inside a ``train_section``."""
    return TrainingStateScope(False)


def backward(outputs: Any, out_grads: Any = None, retain_graph: bool = False) -> None:
    """Write the gradients of outputs into the arrays they were computed from."""
    autograd.backward(outputs, out_grads, retain_graph)


def compute_gradient(outputs: Any) -> None:
    """`backward` with head gradients of one."""
    backward(outputs)


def grad_and_loss(func: Callable[..., Any], argnum: Any = None) -> Callable[..., Any]:
    """The function that gives the gradients of ``func`` for its arguments, and what it returns.

    ``argnum`` limits the gradients to one argument, or to a list of them.

    Examples
    --------
    >>> from minigluon.contrib import autograd as old
    >>> grads, value = old.grad_and_loss(lambda x: x * x)(nd.array([3]))
    >>> grads[0].asnumpy(), value.asnumpy()
    (array([6.], dtype=float32), array([9.], dtype=float32))
    """

    @functools.wraps(func)
    def wrapped(*args: Any) -> tuple[list[Any], Any]:
        numbers = argnum if isinstance(argnum, list | tuple) else [argnum]
        variables = list(args) if argnum is None else [args[k] for k in numbers]
        for x in variables:
            if not isinstance(x, nd.NDArray):
                raise ArgumentError(
                    "type of autograd input should NDArray.\n"
                    f"  received  {type(x).__name__}\n  expected  an NDArray for every argument\n"
                    "  fix       name the arrays by argnum"
                )
        grads = [nd.zeros_like(x) for x in variables]
        mark_variables(variables, grads)
        with train_section():
            outputs = func(*args)
        compute_gradient([outputs] if isinstance(outputs, nd.NDArray) else outputs)
        return grads, outputs

    return wrapped


def grad(func: Callable[..., Any], argnum: Any = None) -> Callable[..., Any]:
    """The function that gives the gradients of ``func`` for its arguments."""
    with_loss = grad_and_loss(func, argnum)

    @functools.wraps(with_loss)
    def wrapped(*args: Any) -> list[Any]:
        grads: list[Any] = with_loss(*args)[0]
        return grads

    return wrapped


__all__ = [
    "TrainingStateScope", "backward", "compute_gradient", "grad", "grad_and_loss",
    "mark_variables", "set_is_training", "test_section", "train_section",
]  # fmt: skip
