"""Cells around another cell: zoneout, residual connections; and dropout between cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import ndarray as nd
from ...base import ArgumentError, ArgumentTypeError, four_lines
from ..parameter import tensor_types
from . import sequences
from .cell import HybridRecurrentCell
from .stacks import BidirectionalCell, SequentialRNNCell


class DropoutCell(HybridRecurrentCell):
    """Dropout on the input, without a state.

    Parameters
    ----------
    rate : the share of values that become 0 in training.
    axes : axes along which values are dropped together.
    """

    def __init__(self, rate: float, axes: Any = (), prefix: str | None = None, params: Any = None):
        super().__init__(prefix, params)
        if not isinstance(rate, int | float):
            raise ArgumentTypeError(
                four_lines(
                    f"DropoutCell: rate must be a number, not {rate!r}",
                    f"rate={rate!r}",
                    "a number from 0 to 1",
                    "pass rate=0.5, say",
                )
            )
        self._rate, self._axes = rate, axes

    def _alias(self) -> str:
        return "dropout"

    def __repr__(self) -> str:
        return f"DropoutCell(rate={self._rate}, axes={self._axes})"

    def state_info(self, batch_size: int = 0) -> list[dict]:
        """No states."""
        return []

    def hybrid_forward(self, F: Any, inputs: Any, states: list) -> tuple[Any, list]:
        """One step."""
        if self._rate > 0:
            name = f"t{self._counter}_fwd"
            inputs = F.Dropout(inputs, p=self._rate, axes=self._axes, name=name)
        return inputs, states

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Any = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: Any = None,
    ) -> tuple[Any, list]:
        """All steps; those of one array at once, and also those after ``valid_length``."""
        self.reset()
        inputs = sequences.in_form(inputs, length, layout, merge_outputs)
        if not isinstance(inputs, tensor_types):
            return super().unroll(length, inputs, begin_state, layout, merge_outputs)
        return self.hybrid_forward(sequences.namespace(inputs), inputs, begin_state or [])


class ModifierCell(HybridRecurrentCell):
    """A cell that changes what another does, and has that one's parameters and states.

    The other cell, ``base_cell``, can then only be called through this one.
    """

    def __init__(self, base_cell: HybridRecurrentCell):
        if base_cell._modified:
            raise ArgumentError(
                four_lines(
                    f"{type(self).__name__}: cell {base_cell.name} is already modified. One cell "
                    "cannot be modified twice",
                    f"{base_cell.name}, which is inside of another cell",
                    "a cell that is in no other",
                    "put the modifier cell itself into another one",
                )
            )
        base_cell._modified = True
        super().__init__(prefix=base_cell.prefix + self._alias(), params=None)
        self.base_cell = base_cell

    @property
    def params(self) -> Any:
        """The parameters of the cell inside."""
        return self.base_cell.params

    def state_info(self, batch_size: int = 0) -> list[dict]:
        """Shape and layout of every state."""
        return self.base_cell.state_info(batch_size)

    def begin_state(self, batch_size: int = 0, func: Callable = nd.zeros, **kwargs: Any) -> list:
        """Initial states of the cell inside."""
        self._refuse_if_modified()
        return self._unmodified(self.base_cell.begin_state, batch_size, func=func, **kwargs)

    def _unmodified(self, function: Callable, *args: Any, **kwargs: Any) -> Any:
        self.base_cell._modified = False
        try:
            return function(*args, **kwargs)
        finally:
            self.base_cell._modified = True

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_cell})"


class ZoneoutCell(ModifierCell):
    """A cell whose outputs and states keep, by chance, their values of the step before.

    Zoneout (Krueger et al., 2016) acts in training only.

    Parameters
    ----------
    zoneout_outputs, zoneout_states : the share of values that stay.
    """

    def __init__(
        self,
        base_cell: HybridRecurrentCell,
        zoneout_outputs: float = 0.0,
        zoneout_states: float = 0.0,
    ):
        if isinstance(base_cell, BidirectionalCell):
            raise _no_steps(
                "BidirectionalCell doesn't support zoneout since it doesn't support step.",
                base_cell,
            )
        if isinstance(base_cell, SequentialRNNCell) and any(
            isinstance(cell, BidirectionalCell) for cell in base_cell._children.values()
        ):
            raise _no_steps("Bidirectional SequentialRNNCell doesn't support zoneout.", base_cell)
        super().__init__(base_cell)
        self._zoneout_outputs, self._zoneout_states = zoneout_outputs, zoneout_states
        self._prev_output: Any = None

    def _alias(self) -> str:
        return "zoneout"

    def __repr__(self) -> str:
        return (
            f"ZoneoutCell(p_out={self._zoneout_outputs}, p_state={self._zoneout_states}, "
            f"{self.base_cell})"
        )

    def reset(self) -> None:
        """Begin to count steps again, with no step before."""
        super().reset()
        self._prev_output = None

    def hybrid_forward(self, F: Any, inputs: Any, states: list) -> tuple[Any, list]:
        """One step."""
        output, new_states = self._unmodified(self.base_cell, inputs, states)
        before = F.zeros_like(output) if self._prev_output is None else self._prev_output
        output = _zoned(F, self._zoneout_outputs, output, before)
        self._prev_output = output
        return output, [
            _zoned(F, self._zoneout_states, new, old)
            for new, old in zip(new_states, states, strict=True)
        ]


def _no_steps(what: str, cell: Any) -> ArgumentError:
    return ArgumentError(
        four_lines(
            f"{what} Please add ZoneoutCell to the cells underneath instead.",
            f"{type(cell).__name__} {cell.name}",
            "a cell that makes single steps",
            "wrap l_cell and r_cell",
        )
    )


def _zoned(F: Any, share: float, new: Any, old: Any) -> Any:
    """A new array, with a share of the old one's values in training."""
    return F.where(F.Dropout(F.ones_like(new), p=share), new, old) if share else new


class ResidualCell(ModifierCell):
    """A cell whose input is added to its output (Wu et al., 2016)."""

    def hybrid_forward(self, F: Any, inputs: Any, states: list) -> tuple[Any, list]:
        """One step."""
        output, states = self._unmodified(self.base_cell, inputs, states)
        return F.elemwise_add(output, inputs, name=f"t{self._counter}_fwd"), states

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Any = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: Any = None,
    ) -> tuple[Any, list]:
        """All steps of the cell inside, and the inputs on top."""
        self.reset()
        outputs, states = self._unmodified(
            self.base_cell.unroll, length, inputs, begin_state, layout, merge_outputs, valid_length
        )
        merge = isinstance(outputs, tensor_types)
        if valid_length is not None:
            inputs = sequences.masked(inputs, valid_length, layout)
        inputs = sequences.in_form(inputs, length, layout, merge)
        F = sequences.namespace(outputs)
        if merge:
            return F.elemwise_add(outputs, inputs), states
        return [F.elemwise_add(*pair) for pair in zip(outputs, inputs, strict=True)], states
