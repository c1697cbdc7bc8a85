"""The simple cells: Elman's, LSTM and GRU."""

from __future__ import annotations

from .. import symbol
from ..initializer import LSTMBias
from ..symbol import _internal
from .cell import BaseRNNCell, activated


class _DenseCell(BaseRNNCell):
    """A cell whose gates are products of input and state with matrices."""

    _gates: tuple[str, ...] = ("",)
    _states = 1

    def __init__(self, num_hidden, prefix, params, i2h_bias=None):
        super().__init__(prefix=prefix, params=params)
        self._num_hidden = num_hidden
        self._iW = self._params.get("i2h_weight")
        self._iB = self._params.get("i2h_bias", **({} if i2h_bias is None else {"init": i2h_bias}))
        self._hW = self._params.get("h2h_weight")
        self._hB = self._params.get("h2h_bias")

    @property
    def state_info(self):
        """Every state is (batch, num_hidden)."""
        return [{"shape": (0, self._num_hidden), "__layout__": "NC"} for _ in range(self._states)]

    @property
    def _gate_names(self):
        return list(self._gates)

    def _products(self, inputs, state, name):
        """All gates of the input, and all gates of the state."""
        rows = len(self._gates) * self._num_hidden
        i2h = symbol.FullyConnected(
            data=inputs, weight=self._iW, bias=self._iB, num_hidden=rows, name=f"{name}i2h"
        )
        h2h = symbol.FullyConnected(
            data=state, weight=self._hW, bias=self._hB, num_hidden=rows, name=f"{name}h2h"
        )
        return i2h, h2h


class RNNCell(_DenseCell):
    """Elman's cell: ``act(x W1ᵀ + h W2ᵀ + b)``.

    Parameters
    ----------
    num_hidden : units of the state.
    activation : a name of `sym.Activation`, or a function of a symbol.
    prefix : what names begin with.
    params : an `RNNParams` to share.
    """

    def __init__(self, num_hidden, activation="tanh", prefix="rnn_", params=None):
        super().__init__(num_hidden, prefix, params)
        self._activation = activation

    @property
    def _gate_names(self):
        return ("",)

    def __call__(self, inputs, states):
        """One step."""
        name = self._step_name()
        i2h, h2h = self._products(inputs, states[0], name)
        output = activated(i2h + h2h, self._activation, name=f"{name}out")
        return output, [output]


class LSTMCell(_DenseCell):
    """Long short-term memory (Hochreiter and Schmidhuber, 1997); states are output and memory.

    Parameters
    ----------
    num_hidden : units of each state.
    prefix : what names begin with.
    params : an `RNNParams` to share.
    forget_bias : what the forget gate's bias starts with.
    """

    _gates = ("_i", "_f", "_c", "_o")
    _states = 2

    def __init__(self, num_hidden, prefix="lstm_", params=None, forget_bias=1.0):
        super().__init__(num_hidden, prefix, params, LSTMBias(forget_bias=forget_bias))

    def __call__(self, inputs, states):
        """One step."""
        name = self._step_name()
        i2h, h2h = self._products(inputs, states[0], name)
        return lstm_step(i2h + h2h, states[1], "tanh", name, None)


def lstm_step(gates, memory, activation, name, axis=1):
    """Output and states of an LSTM from the sums of its four gates."""
    axis = {} if axis is None else {"axis": axis}
    parts = symbol.SliceChannel(gates, num_outputs=4, name=f"{name}slice", **axis)
    enter = symbol.Activation(parts[0], act_type="sigmoid", name=f"{name}i")
    forget = symbol.Activation(parts[1], act_type="sigmoid", name=f"{name}f")
    candidate = activated(parts[2], activation, name=f"{name}c")
    leave = symbol.Activation(parts[3], act_type="sigmoid", name=f"{name}o")
    memory = _internal._plus(forget * memory, enter * candidate, name=f"{name}state")
    output = _internal._mul(leave, activated(memory, activation), name=f"{name}out")
    return output, [output, memory]


class GRUCell(_DenseCell):
    """Gated recurrent unit (Cho et al., 2014), in the form cuDNN has it.

    Parameters
    ----------
    num_hidden : units of the state.
    prefix : what names begin with.
    params : an `RNNParams` to share.
    """

    _gates = ("_r", "_z", "_o")

    def __init__(self, num_hidden, prefix="gru_", params=None):
        super().__init__(num_hidden, prefix, params)

    def __call__(self, inputs, states):
        """One step."""
        name = self._step_name()
        i2h, h2h = self._products(inputs, states[0], f"{name}_")
        return gru_step(i2h, h2h, states[0], "tanh", name)


def gru_step(i2h, h2h, state, activation, name, axis=1):
    """Output and state of a GRU from the three gates of input and state."""
    axis = {} if axis == 1 else {"axis": axis}
    of_input = symbol.SliceChannel(i2h, num_outputs=3, name=f"{name}_i2h_slice", **axis)
    of_state = symbol.SliceChannel(h2h, num_outputs=3, name=f"{name}_h2h_slice", **axis)
    reset = symbol.Activation(of_input[0] + of_state[0], act_type="sigmoid", name=f"{name}_r_act")
    update = symbol.Activation(of_input[1] + of_state[1], act_type="sigmoid", name=f"{name}_z_act")
    candidate = activated(of_input[2] + reset * of_state[2], activation, name=f"{name}_h_act")
    output = _internal._plus((1.0 - update) * candidate, update * state, name=f"{name}out")
    return output, [output]
