"""Several recurrent layers as the one operator ``RNN``."""

from __future__ import annotations

import warnings

import numpy as np

from .. import ndarray as nd
from .. import symbol
from ..base import ArgumentError, four_lines
from ..initializer import FusedRNN
from . import sequences
from .cell import BaseRNNCell
from .cells import GRUCell, LSTMCell, RNNCell
from .modifiers import DropoutCell
from .stacks import BidirectionalCell, SequentialRNNCell

_GATES = {
    "rnn_relu": [""],
    "rnn_tanh": [""],
    "lstm": ["_i", "_f", "_c", "_o"],
    "gru": ["_r", "_z", "_o"],
}


class FusedRNNCell(BaseRNNCell):
    """All layers and steps of a recurrent network in one operator, on one vector of parameters.

    It cannot make single steps; `unfuse` gives a cell that can.

    Parameters
    ----------
    num_hidden, num_layers : units of a layer, and layers.
    mode : rnn_relu, rnn_tanh, lstm or gru.
    bidirectional : go over the sequence in both directions.
    dropout : share of values to drop between layers.
    get_next_state : return the states too.
    forget_bias : of LSTM cells.
    """

    def __init__(
        self,
        num_hidden,
        num_layers=1,
        mode="lstm",
        bidirectional=False,
        dropout=0.0,
        get_next_state=False,
        forget_bias=1.0,
        prefix=None,
        params=None,
    ):
        if mode not in _GATES:
            raise ArgumentError(
                four_lines("FusedRNNCell: unknown mode.", repr(mode), ", ".join(_GATES), "'lstm'")
            )
        super().__init__(prefix=f"{mode}_" if prefix is None else prefix, params=params)
        self._num_hidden, self._num_layers, self._mode = num_hidden, num_layers, mode
        self._bidirectional, self._dropout = bidirectional, dropout
        self._get_next_state, self._forget_bias = get_next_state, forget_bias
        self._directions = ["l", "r"] if bidirectional else ["l"]
        self._initializer = FusedRNN(None, num_hidden, num_layers, mode, bidirectional, forget_bias)
        self._parameter = self._params.get("parameters", init=self._initializer)

    @property
    def state_info(self):
        """Every state is (layers times directions, batch, num_hidden)."""
        shape = (len(self._directions) * self._num_layers, 0, self._num_hidden)
        count = 2 if self._mode == "lstm" else 1
        return [{"shape": shape, "__layout__": "LNC"} for _ in range(count)]

    @property
    def _gate_names(self):
        return _GATES[self._mode]

    @property
    def _num_gates(self):
        return len(self._gate_names)

    def unpack_weights(self, args):
        """Parameters with an array for each gate of each layer, in place of the vector."""
        args = dict(args)
        vector = args.pop(self._parameter.name)
        start = 0
        for name, shape in self._initializer._parts(vector.size):
            stop = start + int(np.prod(shape))
            args[self._prefix + name] = vector[start:stop].reshape(shape).copy()
            start = stop
        return args

    def pack_weights(self, args):
        """Parameters with the vector, in place of an array for each gate of each layer."""
        args = dict(args)
        first = args[f"{self._prefix}l0_i2h{self._gate_names[0]}_weight"]
        rows = len(self._directions) * self._num_gates * self._num_hidden
        later = len(self._directions) * self._num_hidden + self._num_hidden + 2
        size = rows * (first.shape[1] + self._num_hidden + 2 + (self._num_layers - 1) * later)
        parts = [
            args.pop(self._prefix + name).reshape((-1,))
            for name, _ in self._initializer._parts(size)
        ]
        args[self._parameter.name] = nd.concat(*parts, dim=0)
        return args

    def __call__(self, inputs, states):
        """Not possible: the operator makes all steps at once."""
        raise NotImplementedError("FusedRNNCell cannot be stepped. Please use unroll")

    def unroll(self, length, inputs, begin_state=None, layout="NTC", merge_outputs=None):
        """All steps: ``(outputs, states)``; without ``get_next_state`` the states are ``[]``."""
        self.reset()
        swapped = sequences.time_axis(layout) == 1
        inputs = sequences.as_one(length, inputs, layout)
        if swapped:
            warnings.warn(
                "NTC layout detected. Consider using TNC for FusedRNNCell for faster speed",
                stacklevel=2,
            )
            inputs = symbol.swapaxes(inputs, dim1=0, dim2=1)
        states = self.begin_state() if begin_state is None else begin_state
        names = ("state", "state_cell")[: len(self.state_info)]
        rnn = symbol.RNN(
            data=inputs,
            parameters=self._parameter,
            state_size=self._num_hidden,
            num_layers=self._num_layers,
            bidirectional=self._bidirectional,
            p=self._dropout,
            state_outputs=self._get_next_state,
            mode=self._mode,
            name=f"{self._prefix}rnn",
            **dict(zip(names, states, strict=True)),
        )
        outputs, states = rnn, []
        if self._get_next_state:
            outputs, states = rnn[0], [rnn[k + 1] for k in range(len(names))]
            for state in states:
                state._set_attr(__layout__="LNC")
        if swapped:
            outputs = symbol.swapaxes(outputs, dim1=0, dim2=1)
        return sequences.arranged(length, outputs, layout, merge_outputs), states

    def unfuse(self):
        """The same network as a `SequentialRNNCell` of cells that make steps.

        Its parameters are those of this cell after ``unpack_weights`` here and ``pack_weights``
        there.
        """
        stack = SequentialRNNCell()
        for layer in range(self._num_layers):
            cells = [self._cell(f"{self._prefix}{side}{layer}_") for side in self._directions]
            if self._bidirectional:
                prefix = f"{self._prefix}bi_l{layer}_"
                stack.add(BidirectionalCell(*cells, output_prefix=prefix))
            else:
                stack.add(cells[0])
            if self._dropout > 0 and layer != self._num_layers - 1:
                stack.add(DropoutCell(self._dropout, prefix=f"{self._prefix}_dropout{layer}_"))
        return stack

    def _cell(self, prefix):
        """One layer in one direction."""
        if self._mode == "lstm":
            return LSTMCell(self._num_hidden, prefix=prefix, forget_bias=self._forget_bias)
        if self._mode == "gru":
            return GRUCell(self._num_hidden, prefix=prefix)
        return RNNCell(self._num_hidden, activation=self._mode[len("rnn_") :], prefix=prefix)
