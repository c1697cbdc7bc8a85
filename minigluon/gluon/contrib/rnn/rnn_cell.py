"""Dropout that is the same at every step, an LSTM with a projection, and unrolling as a loop."""

from __future__ import annotations

from typing import Any

from ....base import ArgumentError, four_lines
from ...rnn import BidirectionalCell, HybridRecurrentCell, ModifierCell, sequences
from ...utils import require_sizes

__all__ = ["LSTMPCell", "VariationalDropoutCell", "dynamic_unroll"]


class VariationalDropoutCell(ModifierCell):
    """A cell whose inputs, states and outputs lose the same values at every step.

    Variational dropout (Gal and Ghahramani, 2015) draws its masks at the first step after
    ``reset``, and acts in training only.

    Parameters
    ----------
    base_cell : the cell to change.
    drop_inputs, drop_states, drop_outputs : the share of values that become 0. Of the states only
        the first one is dropped.

    Examples
    --------
    >>> from minigluon import gluon, nd
    >>> cell = VariationalDropoutCell(gluon.rnn.LSTMCell(4), drop_states=0.2)
    >>> cell.initialize()
    >>> outputs, states = cell.unroll(3, nd.ones((2, 3, 5)), merge_outputs=True)
    >>> outputs.shape
    (2, 3, 4)
    """

    def __init__(
        self,
        base_cell: HybridRecurrentCell,
        drop_inputs: float = 0.0,
        drop_states: float = 0.0,
        drop_outputs: float = 0.0,
    ):
        if drop_states and _has_bidirectional(base_cell):
            raise ArgumentError(
                four_lines(
                    "BidirectionalCell doesn't support variational state dropout. Please add "
                    "VariationalDropoutCell to the cells underneath instead.",
                    f"drop_states={drop_states} around {type(base_cell).__name__}",
                    "a cell that makes single steps",
                    "wrap l_cell and r_cell",
                )
            )
        super().__init__(base_cell)
        self.drop_inputs, self.drop_states = drop_inputs, drop_states
        self.drop_outputs = drop_outputs
        self._masks: dict[str, Any] = {}

    def _alias(self) -> str:
        return "vardrop"

    def reset(self) -> None:
        """Draw new masks at the next step."""
        super().reset()
        self._masks = {}

    def _dropped(self, F: Any, which: str, rate: float, value: Any) -> Any:
        if not rate:
            return value
        if which not in self._masks:
            self._masks[which] = F.Dropout(F.ones_like(value), p=rate)
        return value * self._masks[which]

    def hybrid_forward(self, F: Any, inputs: Any, states: list) -> tuple[Any, list]:
        """One step of the cell inside, between the masks."""
        states = [self._dropped(F, "states", self.drop_states, states[0]), *states[1:]]
        inputs = self._dropped(F, "inputs", self.drop_inputs, inputs)
        output, states = self._unmodified(self.base_cell, inputs, states)
        return self._dropped(F, "outputs", self.drop_outputs, output), states

    def __repr__(self) -> str:
        return f"{type(self).__name__}(p_out = {self.drop_outputs}, p_state = {self.drop_states})"

    def unroll(
        self,
        length: int,
        inputs: Any,
        begin_state: Any = None,
        layout: str = "NTC",
        merge_outputs: bool | None = None,
        valid_length: Any = None,
    ) -> tuple[Any, list]:
        """All steps; see ``RecurrentCell.unroll``.

        Without dropout of states the masks are applied to the whole sequence at once, and with
        ``merge_outputs=None`` the outputs are one array.
        """
        self.reset()
        if self.drop_states:
            return super().unroll(length, inputs, begin_state, layout, merge_outputs, valid_length)
        F, axis = sequences.namespace(inputs), sequences.time_axis(layout)
        inputs = sequences.merged(inputs, layout)
        if self.drop_inputs:
            inputs = F.Dropout(inputs, p=self.drop_inputs, axes=(axis,))
        outputs, states = self._unmodified(
            self.base_cell.unroll, length, inputs, begin_state, layout,
            merge_outputs=True, valid_length=valid_length,
        )  # fmt: skip
        if self.drop_outputs:
            outputs = F.Dropout(outputs, p=self.drop_outputs, axes=(axis,))
        merge = True if merge_outputs is None else merge_outputs
        return sequences.in_form(outputs, length, layout, merge), states


def _has_bidirectional(cell: Any) -> bool:
    return isinstance(cell, BidirectionalCell) or any(
        _has_bidirectional(child) for child in cell._children.values()
    )


class LSTMPCell(HybridRecurrentCell):
    """An LSTM whose output is projected to fewer values before it is fed back (Sak et al., 2014).

    The states are the projected output and the memory.

    Parameters
    ----------
    hidden_size : values of the memory.
    projection_size : values of the output.

    Examples
    --------
    >>> from minigluon import nd
    >>> cell = LSTMPCell(4, 3)
    >>> cell.initialize()
    >>> output, states = cell(nd.ones((2, 5)), cell.begin_state(2))
    >>> output.shape, states[1].shape
    ((2, 3), (2, 4))
    """

    def __init__(
        self,
        hidden_size: int,
        projection_size: int,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        h2r_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        prefix: str | None = None,
        params: Any = None,
    ):
        require_sizes(self, hidden_size=hidden_size, projection_size=projection_size)
        require_sizes(self, 0, input_size=input_size)
        super().__init__(prefix=prefix, params=params)
        self._hidden_size, self._projection_size = hidden_size, projection_size
        self._input_size = input_size
        rows = 4 * hidden_size
        for name, shape, init in (
            ("i2h_weight", (rows, input_size), i2h_weight_initializer),
            ("h2h_weight", (rows, projection_size), h2h_weight_initializer),
            ("h2r_weight", (projection_size, hidden_size), h2r_weight_initializer),
            ("i2h_bias", (rows,), i2h_bias_initializer),
            ("h2h_bias", (rows,), h2h_bias_initializer),
        ):
            parameter = self.params.get(name, shape=shape, init=init, allow_deferred_init=True)
            setattr(self, name, parameter)

    def state_info(self, batch_size: int = 0) -> list[dict]:
        """Shape and layout of the projected output and of the memory."""
        return [
            {"shape": (batch_size, self._projection_size), "__layout__": "NC"},
            {"shape": (batch_size, self._hidden_size), "__layout__": "NC"},
        ]

    def _alias(self) -> str:
        return "lstmp"

    def __repr__(self) -> str:
        rows, columns = self.i2h_weight.shape
        projected = self.h2r_weight.shape[0]
        return f"{type(self).__name__}({columns or None} -> {rows} -> {projected})"

    def hybrid_forward(
        self, F: Any, inputs: Any, states: list, i2h_weight: Any, h2h_weight: Any,
        h2r_weight: Any, i2h_bias: Any, h2h_bias: Any,
    ) -> tuple[Any, list]:  # fmt: skip
        """One step."""
        t, rows = f"t{self._counter}_", 4 * self._hidden_size
        i2h = F.FullyConnected(inputs, i2h_weight, i2h_bias, num_hidden=rows, name=f"{t}i2h")
        h2h = F.FullyConnected(states[0], h2h_weight, h2h_bias, num_hidden=rows, name=f"{t}h2h")
        parts = F.SliceChannel(i2h + h2h, num_outputs=4, name=f"{t}slice")
        write = F.Activation(parts[0], act_type="sigmoid", name=f"{t}i")
        keep = F.Activation(parts[1], act_type="sigmoid", name=f"{t}f")
        candidate = F.Activation(parts[2], act_type="tanh", name=f"{t}c")
        read = F.Activation(parts[3], act_type="sigmoid", name=f"{t}o")
        memory = F.elemwise_add(keep * states[1], write * candidate, name=f"{t}state")
        hidden = F.elemwise_mul(read, F.Activation(memory, act_type="tanh"), name=f"{t}hidden")
        output = F.FullyConnected(
            hidden, h2r_weight, num_hidden=self._projection_size, no_bias=True, name=f"{t}out"
        )
        return output, [output, memory]


def dynamic_unroll(
    cell: Any,
    inputs: Any,
    begin_state: Any,
    drop_inputs: float = 0,
    drop_outputs: float = 0,
    layout: str = "TNC",
    valid_length: Any = None,
) -> tuple[Any, list]:
    """The outputs of all steps of ``cell``, and the states after them, by ``contrib.foreach``.

    In a graph it is one loop for every number of steps, where ``unroll`` writes the steps down.

    Parameters
    ----------
    inputs : one array or symbol in the layout; "TNC" saves transposing it.
    begin_state : the states to start from.
    drop_inputs, drop_outputs : dropout of the same values at every step.
    valid_length : the steps of each sequence that count. Outputs after them are zeros, and the
        states are those after the last of them.

    Examples
    --------
    >>> from minigluon import gluon, nd
    >>> cell = gluon.rnn.RNNCell(3)
    >>> cell.initialize()
    >>> outputs, states = dynamic_unroll(cell, nd.ones((5, 2, 4)), cell.begin_state(2))
    >>> outputs.shape, states[0].shape
    ((5, 2, 3), (2, 3))
    """
    F, axis = sequences.namespace(inputs), sequences.time_axis(layout)
    if axis == 1:
        inputs = F.swapaxes(inputs, 0, 1)
    if drop_inputs:
        inputs = F.Dropout(inputs, p=drop_inputs, axes=(0,))
    if valid_length is None:
        outputs, states = F.contrib.foreach(cell, inputs, begin_state)
    else:

        def step(x: Any, held: list) -> tuple[Any, list]:
            *before, count = held
            output, after = cell(x, before)
            counts = F.broadcast_greater(valid_length, count)
            kept = [F.where(counts, *pair) for pair in zip(after, before, strict=True)]
            return output, [*kept, count + 1]

        outputs, states = F.contrib.foreach(step, inputs, [*begin_state, F.zeros((1,))])
        states = states[:-1]
        outputs = F.SequenceMask(outputs, valid_length, use_sequence_length=True, axis=0)
    if drop_outputs:
        outputs = F.Dropout(outputs, p=drop_outputs, axes=(0,))
    return F.swapaxes(outputs, 0, 1) if axis == 1 else outputs, states
