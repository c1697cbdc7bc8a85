"""Functions with a gradient written by the user: ``autograd.Function``."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import ArgumentTypeError, MXNetError, ShapeError
from ..core.call import Call
from ..core.grad import released, zeros_like
from ..core.graph import Node
from ..core.invoke import wrap
from ..core.op import Op
from ..core.plan.fuse import Like
from ..core.state import state
from .scopes import pause


class FunctionUsedTwice(MXNetError, AssertionError):
    """A Function instance that was called before."""


class Function:
    """A computation on arrays with your own gradient.

    Subclass it with ``forward(self, *inputs)`` and ``backward(self, *output_gradients)``; keep what
    backward needs with ``save_for_backward`` and find it in ``saved_tensors``. Each instance is
    called once.

    Examples
    --------
    >>> class Sigmoid(autograd.Function):
    ...     def forward(self, x):
    ...         y = 1 / (1 + nd.exp(-x))
    ...         self.save_for_backward(y)
    ...         return y
    ...     def backward(self, dy):
    ...         y, = self.saved_tensors
    ...         return dy * y * (1 - y)
    """

    _used = False
    _saved: tuple[Any, ...] = ()

    def save_for_backward(self, *args: Any) -> None:
        """Keep arrays for ``backward``."""
        self._saved = args

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What ``save_for_backward`` was given."""
        return self._saved

    def forward(self, *inputs: Any) -> Any:
        """The outputs: an array or several. To be written by the subclass."""
        raise NotImplementedError

    def backward(self, *output_grads: Any) -> Any:
        """The gradient of each input, given those of the outputs. To be written by the subclass."""
        raise NotImplementedError

    def __call__(self, *inputs: Any) -> Any:
        """Run ``forward`` and put this function on the tape."""
        if self._used:
            raise FunctionUsedTwice(
                "Each Function instance can only be called once. Please create another instance."
            )
        self._used = True
        with pause(train_mode=state.training):
            outputs = self.forward(*inputs)
        if not state.recording or all(x._entry is None for x in inputs):
            return outputs
        several = isinstance(outputs, list | tuple)
        arrays = list(outputs) if several else [outputs]
        call = Call(_FUNCTION, {"outputs": len(arrays)})
        entries = tuple([x._entry for x in inputs])
        node = Node(call, entries, type(self).__name__.lower(), None)
        contexts = [x._ctx for x in arrays]
        node.values = (self, contexts, [_like(x) for x in arrays], [_like(x) for x in inputs])
        recorded = [wrap(x._data, x._ctx, (node, k)) for k, x in enumerate(arrays)]
        return recorded if several else recorded[0]


class _FunctionOp(Op):
    """The operator a Function is on the tape."""

    @staticmethod
    def pull(call: Call, node: Any, incoming: list[Any], wanted: tuple[bool, ...]) -> Any:
        if node.values is None:
            raise released(call.op.name)
        contexts = node.values[1]
        arrays = [
            None if g is None else wrap(_read_only(g), c)
            for g, c in zip(incoming, contexts, strict=True)
        ]
        with pause(train_mode=state.training):
            results = _run_backward(node, arrays)
        return [None if r is None else r._data for r in results]

    @staticmethod
    def pull_recorded(call: Call, node: Any, incoming: list[Any], wanted: tuple[bool, ...]) -> Any:
        if node.values is None:
            raise released(call.op.name)
        return _run_backward(node, incoming)


def _read_only(g: Any) -> Any:
    """A gradient as users get it: others may still need it, so it cannot be written to."""
    values = (g if type(g) is np.ndarray else g.values).view()
    values.flags.writeable = False
    return values if type(g) is np.ndarray else g.with_values(values)


def _like(array: Any) -> Like:
    return Like(array._data.shape, array._data.dtype)


def _run_backward(node: Any, arrays: list[Any]) -> list[Any]:
    """What the user's ``backward`` gives: an array (or None) in the shape of each input."""
    function, contexts, outputs, inputs = node.values
    given = [
        wrap(zeros_like(like), c) if g is None else g
        for g, c, like in zip(arrays, contexts, outputs, strict=True)
    ]
    results = function.backward(*given)
    results = list(results) if isinstance(results, list | tuple) else [results]
    title = f"{type(function).__name__}.backward"
    if len(results) != len(inputs):
        raise MXNetError(
            f"{title}: wrong number of gradients.\n"
            f"  received  {len(results)}\n  expected  {len(inputs)}, one for each input\n"
            "  fix       return a gradient (or None) for each argument of forward"
        )
    for k, (result, like) in enumerate(zip(results, inputs, strict=True)):
        if result is None:
            continue
        if not hasattr(result, "_data"):
            raise ArgumentTypeError(
                f"{title}: gradient {k} is not an array.\n"
                f"  received  {type(result).__name__}\n"
                f"  expected  an NDArray {like.shape}, or None\n"
                "  fix       wrap it: mx.nd.array(...)"
            )
        if result.shape != like.shape:
            raise ShapeError(
                f"{title}: gradient {k} has the wrong shape.\n"
                f"  received  {result.shape}\n  expected  {like.shape}, the shape of input {k}\n"
                "  fix       sum over the axes that forward broadcast"
            )
    return results


_FUNCTION = _FunctionOp(lambda *inputs: None, name="_CustomFunction")
_FUNCTION.outputs = lambda outputs: outputs
