"""Cells that change what another cell does."""

from __future__ import annotations

from .. import symbol
from ..base import ArgumentError
from . import sequences
from .cell import BaseRNNCell


class DropoutCell(BaseRNNCell):
    """Drops a share of its input; it has no states.

    Parameters
    ----------
    dropout : the share, 0 to 1.
    """

    def __init__(self, dropout, prefix="dropout_", params=None):
        super().__init__(prefix, params)
        if isinstance(dropout, bool) or not isinstance(dropout, int | float):
            raise ArgumentError(
                "DropoutCell: dropout must be a number.\n"
                f"  received  {dropout!r}\n  expected  a share from 0 to 1\n  fix       dropout=0.5"
            )
        self.dropout = dropout

    @property
    def state_info(self):
        """There are none."""
        return []

    def __call__(self, inputs, states):
        """One step."""
        if self.dropout > 0:
            inputs = symbol.Dropout(data=inputs, p=self.dropout)
        return inputs, states

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None):
        """All steps, at once if they are one symbol."""
        self.reset()
        inputs = sequences.arranged(length, inputs, layout, merge_outputs)
        if isinstance(inputs, symbol.Symbol):
            return self(inputs, [])
        return [self(step, [])[0] for step in inputs], []


class ModifierCell(BaseRNNCell):
    """A cell around another one, whose parameters and states are the other's."""

    def __init__(self, base_cell):
        super().__init__()
        base_cell._modified = True
        self.base_cell = base_cell

    @property
    def params(self):
        """The variables of the cell inside."""
        self._own_params = False
        return self.base_cell.params

    @property
    def state_info(self):
        """The states of the cell inside."""
        return self.base_cell.state_info

    def begin_state(self, init_sym=symbol.zeros, **kwargs):
        """The first states of the cell inside, made by ``init_sym``."""
        if self._modified:
            return super().begin_state(**kwargs)  # raises
        self.base_cell._modified = False
        try:
            return self.base_cell.begin_state(**{"func": init_sym, **kwargs})
        finally:
            self.base_cell._modified = True

    def unpack_weights(self, args):
        """What the cell inside makes of them."""
        return self.base_cell.unpack_weights(args)

    def pack_weights(self, args):
        """What the cell inside makes of them."""
        return self.base_cell.pack_weights(args)


class ZoneoutCell(ModifierCell):
    """Keeps a random share of outputs or states as they were (Krueger et al., 2016).

    Parameters
    ----------
    base_cell : a cell that makes steps.
    zoneout_outputs, zoneout_states : the shares.
    """

    def __init__(self, base_cell, zoneout_outputs=0.0, zoneout_states=0.0):
        from .fused import FusedRNNCell
        from .stacks import BidirectionalCell, SequentialRNNCell

        if isinstance(base_cell, FusedRNNCell):
            raise ArgumentError("FusedRNNCell doesn't support zoneout. Please unfuse first.")
        inner = base_cell._cells if isinstance(base_cell, SequentialRNNCell) else [base_cell]
        if any(isinstance(cell, BidirectionalCell) for cell in inner):
            raise ArgumentError(
                "BidirectionalCell doesn't support zoneout since it doesn't support step. "
                "Please add ZoneoutCell to the cells underneath instead."
            )
        super().__init__(base_cell)
        self.zoneout_outputs = zoneout_outputs
        self.zoneout_states = zoneout_states
        self.prev_output = None

    def reset(self):
        """Begin again: the output before the first is zero."""
        super().reset()
        self.prev_output = None

    def __call__(self, inputs, states):
        """One step."""
        output, next_states = self.base_cell(inputs, states)
        before = self.prev_output
        if before is None:
            before = symbol.zeros((0, 0))
        if self.zoneout_outputs > 0:
            output = _mixed(self.zoneout_outputs, output, before)
        if self.zoneout_states > 0:
            next_states = [
                _mixed(self.zoneout_states, new, old)
                for new, old in zip(next_states, states, strict=True)
            ]
        self.prev_output = output
        return output, next_states


def _mixed(share, new, old):
    """The old value in a random share of places, the new one elsewhere."""
    keep = symbol.Dropout(symbol.ones_like(new), p=share)
    return symbol.where(keep, new, old)


class ResidualCell(ModifierCell):
    """Adds the input to the output of a cell (Wu et al., 2016)."""

    def __call__(self, inputs, states):
        """One step."""
        output, states = self.base_cell(inputs, states)
        return _sum(output, inputs), states

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None):
        """All steps of the cell inside, and the inputs added."""
        self.reset()
        self.base_cell._modified = False
        try:
            outputs, states = self.base_cell.unroll(
                length, inputs, begin_state, layout, merge_outputs
            )
        finally:
            self.base_cell._modified = True
        merged = isinstance(outputs, symbol.Symbol) if merge_outputs is None else merge_outputs
        inputs = sequences.arranged(length, inputs, layout, merged)
        if merged:
            return _sum(outputs, inputs), states
        return [_sum(y, x) for y, x in zip(outputs, inputs, strict=True)], states


def _sum(output, inputs):
    return symbol.elemwise_add(output, inputs, name=f"{output.name}_plus_residual")
