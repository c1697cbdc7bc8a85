"""What all recurrent cells are: one step, the states it needs, and many steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import ndarray as nd
from ... import symbol as sym
from ...base import ArgumentError, four_lines
from ..block import Block, HybridBlock
from ..nn import LeakyReLU
from . import sequences

_FUNCTIONS = ("tanh", "relu", "sigmoid", "softsign")


class RecurrentCell(Block):
    """A block that makes one step: ``output, states = cell(input, states)``.

    A subclass says by `state_info` which states it has.
    """

    def __init__(self, prefix: str | None = None, params: Any = None):
        super().__init__(prefix=prefix, params=params)
        self._modified = False
        self.reset()

    def reset(self) -> None:
        """Begin to count steps again: a cell is reset before it is used for other sequences."""
        self._init_counter = -1
        self._counter = -1
        for cell in self._children.values():
            cell.reset()

    def state_info(self, batch_size: int = 0) -> list[dict]:
        """Shape and layout of every state."""
        raise NotImplementedError(f"{type(self).__name__} does not define state_info")

    def begin_state(self, batch_size: int = 0, func: Callable = nd.zeros, **kwargs: Any) -> list:
        """Initial states, made by ``func``: zeros, unless told otherwise.

        Parameters
        ----------
        func : gets ``name`` and ``shape``, and ``kwargs``; such as ``nd.zeros``, ``sym.Variable``.
        """
        self._refuse_if_modified()
        states = []
        for info in self.state_info(batch_size):
            self._init_counter += 1
            if _makes_arrays(func):
                info = {"shape": info["shape"]}
            name = f"{self._prefix}begin_state_{self._init_counter}"
            states.append(func(name=name, **{**info, **kwargs}))
        return states

    def _refuse_if_modified(self) -> None:
        if self._modified:
            raise ArgumentError(
                four_lines(
                    "After applying modifier cells (e.g. ZoneoutCell) the base cell cannot be "
                    "called directly. Call the modifier cell instead.",
                    f"{self.name} by itself",
                    "the cell around it",
                    "keep the modifier cell in a variable and call that",
                )
            )

    def _first_states(self, inputs: Any, begin_state: Any, layout: str) -> list:
        """The states given, checked, or zeros."""
        if begin_state is None:
            if sequences.namespace(inputs) is sym:
                return self.begin_state(0, func=sequences.zeros_beside(inputs[0]))
            size = sequences.batch_size(inputs, layout)
            first = inputs if isinstance(inputs, nd.NDArray) else inputs[0]
            return self.begin_state(size, ctx=first.context, dtype=first.dtype)
        wanted = len(self.state_info())
        if len(begin_state) != wanted:
            raise ArgumentError(
                four_lines(
                    f"{type(self).__name__}: wrong number of states.",
                    f"begin_state with {len(begin_state)}",
                    f"{wanted}, as cell.state_info() tells",
                    "start with cell.begin_state(batch_size)",
                )
            )
        return list(begin_state)

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Any = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: Any = None,
    ) -> tuple[Any, list]:
        """The outputs of all steps, and the states after them.

        Parameters
        ----------
        length : the number of steps.
        inputs : one array or symbol in the layout, or a list with one for each step.
        begin_state : states to start from; zeros if not given.
        merge_outputs : outputs as one array, or (False) as a list. With None they are a list, or
            one array if there is ``valid_length``.
        valid_length : the steps of each sequence that count. Outputs after them are zeros, and
            the states are those after the last of them.
        """
        self.reset()
        sequence = sequences.steps(inputs, length, layout)
        states = self._first_states(
            inputs if isinstance(inputs, nd.NDArray) else sequence, begin_state, layout
        )
        outputs, history = [], []
        for step in sequence:
            output, states = self(step, states)
            outputs.append(output)
            history.append(states)
        if valid_length is None:
            return sequences.in_form(outputs, length, layout, merge_outputs), states
        F = sequences.namespace(outputs)
        states = [
            F.SequenceLast(F.stack(*each, axis=0), valid_length, use_sequence_length=True, axis=0)
            for each in zip(*history, strict=True)
        ]
        outputs = sequences.masked(outputs, valid_length, layout)
        return sequences.in_form(outputs, length, layout, merge_outputs), states

    def _get_activation(self, F: Any, inputs: Any, activation: Any, **kwargs: Any) -> Any:
        """An activation by name, or a block."""
        if isinstance(activation, str):
            if activation in _FUNCTIONS:
                return getattr(F, activation)(inputs, **kwargs)
            return F.Activation(inputs, act_type=activation, **kwargs)
        if isinstance(activation, LeakyReLU):
            return F.LeakyReLU(inputs, act_type="leaky", slope=activation._alpha, **kwargs)
        return activation(inputs, **kwargs)

    def forward(self, inputs: Any, states: list) -> tuple[Any, list]:
        """One step."""
        self._counter += 1
        return super().forward(inputs, states)


def _makes_arrays(func: Callable) -> bool:
    """Whether a function is of ``nd``, and so has no use for the layout that a symbol notes."""
    return (getattr(func, "__module__", None) or "").startswith(nd.__name__)


class HybridRecurrentCell(RecurrentCell, HybridBlock):
    """A recurrent cell whose step is a hybrid block."""

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        """What a step computes; every subclass defines it."""
        raise NotImplementedError(f"{type(self).__name__} does not define hybrid_forward")
