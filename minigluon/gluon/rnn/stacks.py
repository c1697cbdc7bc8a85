"""Cells made of cells: one on top of the other, or one forwards and one backwards."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ... import ndarray as nd
from ..utils import _indent
from . import sequences
from .cell import HybridRecurrentCell, RecurrentCell


class _Stack:
    """What both kinds of stacks do with their cells."""

    _children: dict
    _prefix: str

    def add(self, cell: Any) -> None:
        """Put a cell on top."""
        self.register_child(cell)  # type: ignore[attr-defined]

    def state_info(self, batch_size: int = 0) -> list[dict]:
        """Shape and layout of the states of all cells."""
        return [info for cell in self._cells() for info in cell.state_info(batch_size)]

    def begin_state(self, batch_size: int = 0, func: Callable = nd.zeros, **kwargs: Any) -> list:
        """Initial states of all cells."""
        self._refuse_if_modified()  # type: ignore[attr-defined]
        made = [cell.begin_state(batch_size, func=func, **kwargs) for cell in self._cells()]
        return [state for states in made for state in states]

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Any = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: Any = None,
    ) -> tuple[Any, list]:
        """All steps of the first cell, then of the next on its outputs, and so forth."""
        self.reset()  # type: ignore[attr-defined]
        first = inputs
        if not isinstance(inputs, nd.NDArray):
            first = sequences.steps(inputs, length, layout)
        states = self._first_states(first, begin_state, layout)  # type: ignore[attr-defined]
        cells, after = list(self._cells()), []
        for cell, own in self._with_states(states):
            merge = merge_outputs if cell is cells[-1] else None
            inputs, own = cell.unroll(length, inputs, own, layout, merge, valid_length)
            after += own
        return inputs, after

    def _step(self, inputs: Any, states: list) -> tuple[Any, list]:
        after = []
        for cell, own in self._with_states(states):
            inputs, own = cell(inputs, own)
            after += own
        return inputs, after

    def _cells(self) -> Any:
        return self._children.values()

    def _with_states(self, states: list) -> Iterator[tuple[Any, list]]:
        start = 0
        for cell in self._cells():
            stop = start + len(cell.state_info())
            yield cell, list(states[start:stop])
            start = stop

    def __getitem__(self, i: int) -> Any:
        return list(self._cells())[i]

    def __len__(self) -> int:
        return len(self._children)

    def __repr__(self) -> str:
        lines = "".join(f"({i}): {_indent(str(c), 2)}\n" for i, c in self._children.items())
        return f"{type(self).__name__}(\n{lines})"


class SequentialRNNCell(_Stack, RecurrentCell):
    """Cells one on top of the other, each on the output of the one below.

    Examples
    --------
    >>> stack = SequentialRNNCell()
    >>> stack.add(gluon.rnn.LSTMCell(4))
    >>> stack.add(gluon.rnn.GRUCell(3))
    >>> stack.initialize()
    >>> outputs, states = stack.unroll(5, nd.ones((2, 5, 6)), merge_outputs=True)
    >>> outputs.shape, [state.shape for state in states]
    ((2, 5, 3), [(2, 4), (2, 4), (2, 3)])
    """

    def forward(self, inputs: Any, states: list) -> tuple[Any, list]:
        """One step of every cell."""
        self._counter += 1
        return self._step(inputs, states)

    def hybrid_forward(self, *args: Any, **kwargs: Any) -> Any:
        """Not used: the cells may be plain ones, which have arrays only."""
        raise NotImplementedError("SequentialRNNCell calls its cells one by one")


class HybridSequentialRNNCell(_Stack, HybridRecurrentCell):
    """Hybrid cells one on top of the other; hybridized, a step of them is one graph."""

    def hybrid_forward(self, F: Any, inputs: Any, states: list) -> tuple[Any, list]:
        """One step of every cell."""
        return self._step(inputs, states)


class BidirectionalCell(HybridRecurrentCell):
    """A cell that reads forwards and one that reads backwards, their outputs side by side.

    It has no single step: only `unroll`.
    """

    def __init__(self, l_cell: Any, r_cell: Any, output_prefix: str = "bi_"):
        super().__init__(prefix="", params=None)
        self.register_child(l_cell, "l_cell")
        self.register_child(r_cell, "r_cell")
        self._output_prefix = output_prefix

    def __call__(self, inputs: Any, states: Any) -> Any:
        """Not possible: the backward cell starts at the end."""
        raise NotImplementedError("Bidirectional cannot be stepped. Please use unroll")

    def __repr__(self) -> str:
        left, right = self._children.values()
        return f"BidirectionalCell(forward={left}, backward={right})"

    def state_info(self, batch_size: int = 0) -> list[dict]:
        """Shape and layout of the states of both cells."""
        return [i for cell in self._children.values() for i in cell.state_info(batch_size)]

    def begin_state(self, batch_size: int = 0, func: Callable = nd.zeros, **kwargs: Any) -> list:
        """Initial states of both cells."""
        self._refuse_if_modified()
        cells = self._children.values()
        made = [cell.begin_state(batch_size, func=func, **kwargs) for cell in cells]
        return [state for states in made for state in states]

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Any = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: Any = None,
    ) -> tuple[Any, list]:
        """All steps of both cells."""
        self.reset()
        steps = sequences.steps(inputs, length, layout)
        first = inputs if isinstance(inputs, nd.NDArray) else steps
        states = self._first_states(first, begin_state, layout)
        left, right = self._children.values()
        own = len(left.state_info())
        forwards, left_states = left.unroll(
            length, steps, states[:own], layout, False, valid_length
        )
        turned, right_states = right.unroll(
            length, sequences.backwards(steps, valid_length), states[own:], layout, False,
            valid_length,
        )  # fmt: skip
        backwards = sequences.backwards(turned, valid_length)
        F = sequences.namespace(forwards)
        outputs = [
            F.concat(*pair, dim=1, name=f"{self._output_prefix}t{i}")
            for i, pair in enumerate(zip(forwards, backwards, strict=True))
        ]
        if valid_length is not None:
            outputs = sequences.masked(outputs, valid_length, layout)
        return sequences.in_form(outputs, length, layout, merge_outputs), left_states + right_states
