"""Cells made of cells: layers on top of each other, and two directions."""

from __future__ import annotations

from .. import symbol
from ..base import ArgumentError
from . import sequences
from .cell import BaseRNNCell


class _Stack(BaseRNNCell):
    """A cell with cells in it, whose states are theirs in a row."""

    def __init__(self, prefix, params):
        super().__init__(prefix=prefix, params=params)
        self._override_cell_params = params is not None
        self._cells: list[BaseRNNCell] = []

    def _adopt(self, cell):
        if self._override_cell_params:
            if not cell._own_params:
                raise ArgumentError(
                    f"Either specify params for {type(self).__name__} or child cells, not both."
                )
            cell.params._params.update(self.params._params)
        self.params._params.update(cell.params._params)
        self._cells.append(cell)

    @property
    def state_info(self):
        """The states of every cell."""
        return [info for cell in self._cells for info in cell.state_info]

    @property
    def state_shape(self):
        """The shapes of the states of every cell."""
        return [shape for cell in self._cells for shape in cell.state_shape]

    def begin_state(self, **kwargs):
        """The first states of every cell."""
        if self._modified:
            return super().begin_state(**kwargs)  # raises
        return [state for cell in self._cells for state in cell.begin_state(**kwargs)]

    def unpack_weights(self, args):
        """Parameters with one array for each gate."""
        for cell in self._cells:
            args = cell.unpack_weights(args)
        return args

    def pack_weights(self, args):
        """Parameters with one array for all gates of a cell."""
        for cell in self._cells:
            args = cell.pack_weights(args)
        return args

    def _shares(self, states):
        """Each cell with its part of a list of states."""
        start = 0
        for cell in self._cells:
            stop = start + len(cell.state_info)
            yield cell, states[start:stop]
            start = stop


class SequentialRNNCell(_Stack):
    """Cells on top of each other: the output of one is the input of the next.

    Examples
    --------
    >>> from minigluon import rnn
    >>> stack = rnn.SequentialRNNCell()
    >>> stack.add(rnn.LSTMCell(8, prefix="l0_"))
    >>> stack.add(rnn.LSTMCell(8, prefix="l1_"))
    >>> len(stack.state_info)
    4
    """

    def __init__(self, params=None):
        super().__init__("", params)

    def add(self, cell):
        """Put a cell on top."""
        self._adopt(cell)

    def __call__(self, inputs, states):
        """One step through all cells."""
        self._counter += 1
        new_states = []
        for cell, mine in self._shares(states):
            if isinstance(cell, BidirectionalCell):
                raise ArgumentError("BidirectionalCell cannot be stepped inside a stack: unroll it")
            inputs, mine = cell(inputs, mine)
            new_states += mine
        return inputs, new_states

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None):
        """All steps of the first cell, then all of the next."""
        self.reset()
        states = self.begin_state() if begin_state is None else begin_state
        new_states = []
        for k, (cell, mine) in enumerate(list(self._shares(states))):
            merge = merge_outputs if k == len(self._cells) - 1 else None
            inputs, mine = cell.unroll(length, inputs, mine, layout, merge)
            new_states += mine
        return inputs, new_states


class BidirectionalCell(_Stack):
    """One cell that goes forwards and one that goes backwards; outputs stand beside each other.

    Parameters
    ----------
    l_cell, r_cell : the cells.
    output_prefix : what the names of the outputs begin with.
    """

    def __init__(self, l_cell, r_cell, params=None, output_prefix="bi_"):
        super().__init__("", params)
        self._output_prefix = output_prefix
        self._adopt(l_cell)
        self._adopt(r_cell)

    def __call__(self, inputs, states):
        """Not possible: going backwards needs the whole sequence."""
        raise NotImplementedError("Bidirectional cannot be stepped. Please use unroll")

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None):
        """All steps in both directions; states are those of one and of the other, as two lists."""
        self.reset()
        axis = sequences.time_axis(layout)
        steps = sequences.as_steps(length, inputs, layout)
        states = self.begin_state() if begin_state is None else begin_state
        (left, left_states), (right, right_states) = self._shares(states)
        ahead, left_states = left.unroll(length, steps, left_states, layout, merge_outputs)
        back, right_states = right.unroll(length, steps[::-1], right_states, layout, merge_outputs)
        new_states = [left_states, right_states]
        prefix = self._output_prefix
        if isinstance(ahead, symbol.Symbol) and isinstance(back, symbol.Symbol):
            back = symbol.reverse(back, axis=axis)
            return symbol.Concat(ahead, back, dim=2, name=f"{prefix}out"), new_states
        ahead = _steps(length, ahead, axis)
        back = _steps(length, back, axis)[::-1]
        outputs = [
            symbol.Concat(*pair, dim=1, name=f"{prefix}t{k}")
            for k, pair in enumerate(zip(ahead, back, strict=True))
        ]
        return outputs, new_states


def _steps(length, outputs, axis):
    if isinstance(outputs, symbol.Symbol):
        return list(symbol.SliceChannel(outputs, axis=axis, num_outputs=length, squeeze_axis=1))
    return outputs
