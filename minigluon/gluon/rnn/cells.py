"""The cells themselves: Elman's, LSTM and GRU."""

from __future__ import annotations

from typing import Any

from ..utils import require_sizes
from .cell import HybridRecurrentCell


class _GatedCell(HybridRecurrentCell):
    """A cell with weights from input and from state to several gates of ``hidden_size`` values."""

    _gates = 1

    def __init__(
        self,
        hidden_size: int,
        i2h_weight_initializer: Any,
        h2h_weight_initializer: Any,
        i2h_bias_initializer: Any,
        h2h_bias_initializer: Any,
        input_size: int,
        prefix: str | None,
        params: Any,
    ):
        require_sizes(self, hidden_size=hidden_size)
        require_sizes(self, 0, input_size=input_size)
        super().__init__(prefix=prefix, params=params)
        self._hidden_size, self._input_size = hidden_size, input_size
        rows = self._gates * hidden_size
        for name, shape, init in (
            ("i2h_weight", (rows, input_size), i2h_weight_initializer),
            ("h2h_weight", (rows, hidden_size), h2h_weight_initializer),
            ("i2h_bias", (rows,), i2h_bias_initializer),
            ("h2h_bias", (rows,), h2h_bias_initializer),
        ):
            parameter = self.params.get(name, shape=shape, init=init, allow_deferred_init=True)
            setattr(self, name, parameter)

    def state_info(self, batch_size: int = 0) -> list[dict]:
        """Shape and layout of the state."""
        return [{"shape": (batch_size, self._hidden_size), "__layout__": "NC"}]

    def _both(self, F: Any, inputs: Any, state: Any, weights: tuple) -> tuple[Any, Any, str]:
        """What comes from the input and from the state, for all gates, and the step's prefix."""
        i2h_weight, h2h_weight, i2h_bias, h2h_bias = weights
        prefix, rows = f"t{self._counter}_", self._gates * self._hidden_size
        return (
            F.FullyConnected(inputs, i2h_weight, i2h_bias, num_hidden=rows, name=f"{prefix}i2h"),
            F.FullyConnected(state, h2h_weight, h2h_bias, num_hidden=rows, name=f"{prefix}h2h"),
            prefix,
        )

    def _mapping(self) -> str:
        rows, columns = self.i2h_weight.shape
        return f"{type(self).__name__}({columns or None} -> {rows}"

    def __repr__(self) -> str:
        return f"{self._mapping()})"


class RNNCell(_GatedCell):
    """``activation(W x + b + U state + c)``, which is both output and state (Elman, 1990).

    Examples
    --------
    >>> cell = RNNCell(3)
    >>> cell.initialize()
    >>> output, states = cell(nd.ones((2, 4)), cell.begin_state(2))
    >>> output.shape, len(states)
    ((2, 3), 1)
    """

    def __init__(
        self,
        hidden_size: int,
        activation: Any = "tanh",
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        prefix: str | None = None,
        params: Any = None,
    ):
        super().__init__(
            hidden_size,
            i2h_weight_initializer,
            h2h_weight_initializer,
            i2h_bias_initializer,
            h2h_bias_initializer,
            input_size,
            prefix,
            params,
        )
        self._activation = activation

    def _alias(self) -> str:
        return "rnn"

    def hybrid_forward(
        self, F: Any, inputs: Any, states: list,
        i2h_weight: Any, h2h_weight: Any, i2h_bias: Any, h2h_bias: Any,
    ) -> tuple[Any, list]:  # fmt: skip
        """One step."""
        weights = i2h_weight, h2h_weight, i2h_bias, h2h_bias
        i2h, h2h, prefix = self._both(F, inputs, states[0], weights)
        total = F.elemwise_add(i2h, h2h, name=f"{prefix}plus0")
        output = self._get_activation(F, total, self._activation, name=f"{prefix}out")
        return output, [output]

    def __repr__(self) -> str:
        return f"{self._mapping()}, {self._activation})"


class LSTMCell(_GatedCell):
    """A cell with a memory that gates write, keep and read (Hochreiter and Schmidhuber, 1997).

    ``memory = forget * memory + input * candidate`` and ``output = gate * activation(memory)``;
    the states are output and memory.
    """

    _gates = 4

    def __init__(
        self,
        hidden_size: int,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        prefix: str | None = None,
        params: Any = None,
        activation: Any = "tanh",
        recurrent_activation: Any = "sigmoid",
    ):
        super().__init__(
            hidden_size,
            i2h_weight_initializer,
            h2h_weight_initializer,
            i2h_bias_initializer,
            h2h_bias_initializer,
            input_size,
            prefix,
            params,
        )
        self._activation, self._recurrent_activation = activation, recurrent_activation

    def _alias(self) -> str:
        return "lstm"

    def state_info(self, batch_size: int = 0) -> list[dict]:
        """Shape and layout of output and memory."""
        return 2 * super().state_info(batch_size)

    def hybrid_forward(
        self, F: Any, inputs: Any, states: list,
        i2h_weight: Any, h2h_weight: Any, i2h_bias: Any, h2h_bias: Any,
    ) -> tuple[Any, list]:  # fmt: skip
        """One step."""
        weights = i2h_weight, h2h_weight, i2h_bias, h2h_bias
        i2h, h2h, prefix = self._both(F, inputs, states[0], weights)
        total = F.elemwise_add(i2h, h2h, name=f"{prefix}plus0")
        parts = F.SliceChannel(total, num_outputs=4, name=f"{prefix}slice")
        gate, act = self._recurrent_activation, self._get_activation
        write = act(F, parts[0], gate, name=f"{prefix}i")
        keep = act(F, parts[1], gate, name=f"{prefix}f")
        candidate = act(F, parts[2], self._activation, name=f"{prefix}c")
        read = act(F, parts[3], gate, name=f"{prefix}o")
        memory = F.elemwise_add(
            F.elemwise_mul(keep, states[1], name=f"{prefix}mul0"),
            F.elemwise_mul(write, candidate, name=f"{prefix}mul1"),
            name=f"{prefix}state",
        )
        if isinstance(self._activation, str):  # the operator MXNet has in its graphs here
            seen = F.Activation(memory, act_type=self._activation, name=f"{prefix}activation0")
        else:
            seen = act(F, memory, self._activation, name=f"{prefix}activation0")
        output = F.elemwise_mul(read, seen, name=f"{prefix}out")
        return output, [output, memory]


class GRUCell(_GatedCell):
    """A cell that mixes its state with a candidate (Cho et al., 2014, in the form of cuDNN).

    ``state = (1 - update) * candidate + update * state``, where the candidate is
    ``tanh(W x + b + reset * (U state + c))``.
    """

    _gates = 3

    def __init__(
        self,
        hidden_size: int,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        prefix: str | None = None,
        params: Any = None,
    ):
        super().__init__(
            hidden_size,
            i2h_weight_initializer,
            h2h_weight_initializer,
            i2h_bias_initializer,
            h2h_bias_initializer,
            input_size,
            prefix,
            params,
        )

    def _alias(self) -> str:
        return "gru"

    def hybrid_forward(
        self, F: Any, inputs: Any, states: list,
        i2h_weight: Any, h2h_weight: Any, i2h_bias: Any, h2h_bias: Any,
    ) -> tuple[Any, list]:  # fmt: skip
        """One step."""
        state, weights = states[0], (i2h_weight, h2h_weight, i2h_bias, h2h_bias)
        i2h, h2h, prefix = self._both(F, inputs, state, weights)
        i2h = F.SliceChannel(i2h, num_outputs=3, name=f"{prefix}i2h_slice")
        h2h = F.SliceChannel(h2h, num_outputs=3, name=f"{prefix}h2h_slice")
        reset = F.elemwise_add(i2h[0], h2h[0], name=f"{prefix}plus0")
        reset = F.sigmoid(reset, name=f"{prefix}r_act")
        update = F.elemwise_add(i2h[1], h2h[1], name=f"{prefix}plus1")
        update = F.sigmoid(update, name=f"{prefix}z_act")
        remembered = F.elemwise_mul(reset, h2h[2], name=f"{prefix}mul0")
        candidate = F.elemwise_add(i2h[2], remembered, name=f"{prefix}plus2")
        candidate = F.tanh(candidate, name=f"{prefix}h_act")
        ones = F.ones_like(update, name=f"{prefix}ones_like0")
        rest = F.elemwise_sub(ones, update, name=f"{prefix}minus0")
        output = F.elemwise_add(
            F.elemwise_mul(rest, candidate, name=f"{prefix}mul1"),
            F.elemwise_mul(update, state, name=f"{prefix}mul20"),
            name=f"{prefix}out",
        )
        return output, [output]
