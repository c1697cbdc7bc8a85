"""Recurrent layers: whole sequences through several layers, by one operator."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ... import ndarray as nd
from ... import symbol as sym
from ...base import ArgumentError, ShapeError, four_lines
from ..block import HybridBlock
from ..parameter import tensor_types
from ..utils import require_sizes
from .cells import GRUCell, LSTMCell, RNNCell
from .modifiers import DropoutCell
from .stacks import BidirectionalCell, HybridSequentialRNNCell

_GATES = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}


class _RNNLayer(HybridBlock):
    """``layer(x)`` gives the outputs of the last layer; ``layer(x, states)`` states as well."""

    _mode = ""

    def __init__(
        self,
        hidden_size: int,
        num_layers: int,
        layout: str,
        dropout: float,
        bidirectional: bool,
        input_size: int,
        i2h_weight_initializer: Any,
        h2h_weight_initializer: Any,
        i2h_bias_initializer: Any,
        h2h_bias_initializer: Any,
        mode: str,
        projection_size: int | None = None,
        h2r_weight_initializer: Any = None,
        clip: dict | None = None,
        dtype: Any = "float32",
        use_sequence_length: bool = False,
        **kwargs: Any,
    ):
        require_sizes(self, hidden_size=hidden_size, num_layers=num_layers)
        require_sizes(self, 0, input_size=input_size, projection_size=projection_size or 0)
        super().__init__(**kwargs)
        if layout not in ("TNC", "NTC"):
            raise ArgumentError(
                four_lines(
                    f"Invalid layout {layout}; must be one of ['TNC' or 'NTC']",
                    f"layout={layout!r}",
                    "'TNC' or 'NTC'",
                    "name the axes of the input: N batch, T time, C channels",
                )
            )
        self._hidden_size, self._num_layers, self._mode = hidden_size, num_layers, mode
        self._layout, self._dropout, self._dir = layout, dropout, 2 if bidirectional else 1
        self._input_size, self._gates, self._dtype = input_size, _GATES[mode], dtype
        self._projection_size, self._clip = projection_size, clip or {}
        self._use_sequence_length, self._skip_states = use_sequence_length, False
        rows, width = self._gates * hidden_size, input_size
        state = projection_size or hidden_size
        self._initializers = {
            "i2h_weight_initializer": i2h_weight_initializer,
            "h2h_weight_initializer": h2h_weight_initializer,
            "i2h_bias_initializer": i2h_bias_initializer,
            "h2h_bias_initializer": h2h_bias_initializer,
        }
        for layer in range(num_layers):
            for direction in "lr"[: self._dir]:
                for name, shape, init in (
                    ("i2h_weight", (rows, width), i2h_weight_initializer),
                    ("h2h_weight", (rows, state), h2h_weight_initializer),
                    ("i2h_bias", (rows,), i2h_bias_initializer),
                    ("h2h_bias", (rows,), h2h_bias_initializer),
                    ("h2r_weight", (projection_size, hidden_size), h2r_weight_initializer),
                ):
                    if name != "h2r_weight" or projection_size:
                        self._declare(f"{direction}{layer}_{name}", shape, init)
            width = state * self._dir

    def _declare(self, name: str, shape: tuple, init: Any) -> None:
        parameter = self.params.get(
            name, shape=shape, init=init, allow_deferred_init=True, dtype=self._dtype
        )
        setattr(self, name, parameter)

    def _alias(self) -> str:
        return self._mode.split("_")[0]  # of the class: the name is made before the attributes

    def __repr__(self) -> str:
        parts = [f"{self.l0_i2h_weight.shape[1] or None} -> {self._hidden_size}", self._layout]
        if self._num_layers != 1:
            parts.append(f"num_layers={self._num_layers}")
        if self._dropout != 0:
            parts.append(f"dropout={self._dropout}")
        if self._dir == 2:
            parts.append("bidirectional")
        return f"{type(self).__name__}({', '.join(parts)})"

    def _collect_params_with_prefix(self, prefix: str = "") -> dict[str, Any]:
        """Parameters under the names of the cells they would be in, as MXNet saves them."""
        if self._projection_size:
            return super()._collect_params_with_prefix(prefix)
        lead = f"{prefix}." if prefix else ""
        place = r"\2.\1_cell.\3" if self._dir == 2 else r"\2.\3"
        return {
            f"{lead}_unfused.{re.sub(r'([lr])([0-9]+)_(.*)', place, name)}": parameter
            for name, parameter in self._reg_params.items()
        }

    def state_info(self, batch_size: int = 0) -> list[dict]:
        """Shape, layout and dtype of every state."""
        shape = (
            self._num_layers * self._dir,
            batch_size,
            self._projection_size or self._hidden_size,
        )
        return [{"shape": shape, "__layout__": "LNC", "dtype": self._dtype}]

    def begin_state(self, batch_size: int = 0, func: Callable = nd.zeros, **kwargs: Any) -> list:
        """Initial states, made by ``func``: zeros, unless told otherwise."""
        states = []
        for position, info in enumerate(self.state_info(batch_size)):
            if (getattr(func, "__module__", None) or "").startswith(nd.__name__):
                info.pop("__layout__")
            states.append(func(name=f"{self.prefix}h0_{position}", **{**info, **kwargs}))
        return states

    def cast(self, dtype: Any) -> None:
        """Use another dtype for parameters, input and states."""
        super().cast(dtype)
        self._dtype = dtype

    def __call__(
        self, inputs: Any, states: Any = None, sequence_length: Any = None, **kwargs: Any
    ) -> Any:
        """Outputs, or outputs and states if states were given."""
        given = states is not None
        if isinstance(inputs, nd.NDArray):
            self._learn_input_size(inputs)
        if not given:
            states = self._zeros(inputs)
        elif isinstance(states, tensor_types):
            states = [states]
        if isinstance(inputs, nd.NDArray):
            self._check_states(inputs, states)
        more = () if sequence_length is None else (sequence_length,)
        self.__dict__["_skip_states"] = not given
        return super().__call__(inputs, states, *more, **kwargs)

    def forward(self, inputs: Any, states: Any, *more: Any) -> Any:
        """What hooks see: the states too if they were given."""
        output, states = super().forward(inputs, states, *more)
        return output if self._skip_states else (output, states)

    def _learn_input_size(self, inputs: Any) -> None:
        for name in ("l0_i2h_weight", "r0_i2h_weight")[: self._dir]:
            weight = self._reg_params[name]
            if weight.shape[1] == 0:
                weight.shape = (weight.shape[0], inputs.shape[2])

    def _zeros(self, inputs: Any) -> list:
        if isinstance(inputs, sym.Symbol):
            return self.begin_state(0, func=self._zeros_beside(inputs))
        batch = inputs.shape[self._layout.index("N")]
        return self.begin_state(batch, ctx=inputs.context, dtype=inputs.dtype)

    def _zeros_beside(self, inputs: Any) -> Callable:
        """A function that makes zeros for the batch of a symbol, whatever that will be."""
        corner = sym.swapaxes(inputs, 0, 1) if self._layout == "NTC" else inputs
        for axis in (0, 2):
            corner = sym.slice_axis(corner, axis=axis, begin=0, end=1)
        zeros = sym.zeros_like(corner)

        def make(name: str, shape: tuple, **_: Any) -> Any:
            return sym.tile(zeros, reps=(shape[0], 1, shape[2]), name=name)

        return make

    def _check_states(self, inputs: Any, states: list) -> None:
        batch = inputs.shape[self._layout.index("N")]
        for info, state in zip(self.state_info(batch), states, strict=True):
            if state.shape != info["shape"]:
                raise ShapeError(
                    four_lines(
                        "Invalid recurrent state shape. Expecting "
                        f"{info['shape']}, got {state.shape}.",
                        f"input {inputs.shape}, state {state.shape}",
                        "(layers * directions, batch, hidden size)",
                        "start with layer.begin_state(batch_size)",
                    )
                )

    def hybrid_forward(
        self, F: Any, inputs: Any, states: list, sequence_length: Any = None, **params: Any
    ) -> tuple[Any, list]:
        """Run all layers."""
        if self._layout == "NTC":
            inputs = F.swapaxes(inputs, 0, 1)
        kinds = ("weight", "bias")
        flat = [
            F.reshape(params[name], (-1,))
            for kind in kinds
            for name in self._reg_params
            if name.endswith(kind)
        ]
        vector = F._internal._rnn_param_concat(*flat, dim=0)
        lengths = {}
        if sequence_length is not None and self._use_sequence_length:
            lengths = {"sequence_length": sequence_length, "use_sequence_length": True}
        names = ("state", "state_cell")[: len(states)]
        output, *states = F.RNN(
            inputs,
            vector,
            **dict(zip(names, states, strict=True)),
            **lengths,
            state_size=self._hidden_size,
            projection_size=self._projection_size,
            num_layers=self._num_layers,
            bidirectional=self._dir == 2,
            p=self._dropout,
            state_outputs=True,
            mode=self._mode,
            **self._clip,
        )
        return (F.swapaxes(output, 0, 1) if self._layout == "NTC" else output), states

    def _unfuse(self) -> HybridSequentialRNNCell:
        """Cells with the same parameters, which can be called step by step."""
        if self._projection_size:
            raise ArgumentError(
                four_lines(
                    "_unfuse does not support projection layer yet!",
                    f"projection_size={self._projection_size}",
                    "a layer without projection",
                    "use gluon.contrib.rnn.LSTMPCell",
                )
            )
        stack = HybridSequentialRNNCell(prefix=self.prefix, params=self.params)
        width = self._input_size
        with stack.name_scope():
            for layer in range(self._num_layers):
                cells = [self._cell(f"{d}{layer}_", width) for d in "lr"[: self._dir]]
                stack.add(BidirectionalCell(*cells) if self._dir == 2 else cells[0])
                if self._dropout > 0 and layer != self._num_layers - 1:
                    stack.add(DropoutCell(self._dropout))
                width = self._hidden_size * self._dir
        return stack

    def _cell(self, prefix: str, input_size: int) -> Any:
        kind: Any = {"lstm": LSTMCell, "gru": GRUCell}.get(self._mode, RNNCell)
        more = {"activation": self._mode[4:]} if kind is RNNCell else {}
        return kind(
            self._hidden_size, input_size=input_size, prefix=prefix, **more, **self._initializers
        )


class RNN(_RNNLayer):
    """Layers of Elman cells with ``tanh`` or ``relu``.

    Parameters
    ----------
    hidden_size : values in a state.
    num_layers : how many layers.
    activation : "relu" or "tanh".
    layout : "TNC" or "NTC": time, batch, channels.
    dropout : the share of outputs between layers that is dropped in training.
    bidirectional : also read backwards, with the outputs side by side.
    """

    _mode = "rnn_relu"

    def __init__(
        self,
        hidden_size: int,
        num_layers: int = 1,
        activation: str = "relu",
        layout: str = "TNC",
        dropout: float = 0,
        bidirectional: bool = False,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        input_size: int = 0,
        dtype: Any = "float32",
        **kwargs: Any,
    ):
        if activation not in ("relu", "tanh"):
            raise ArgumentError(
                four_lines(
                    "RNN: unknown activation.", f"activation={activation!r}", "'relu' or 'tanh'",
                    "use RNNCell for other functions",
                )
            )  # fmt: skip
        super().__init__(
            hidden_size, num_layers, layout, dropout, bidirectional, input_size,
            i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer,
            h2h_bias_initializer, f"rnn_{activation}", dtype=dtype, **kwargs,
        )  # fmt: skip


class LSTM(_RNNLayer):
    """Layers of LSTM cells; the states are outputs and memories.

    Parameters are those of `RNN`. ``projection_size`` and clipping of states, which MXNet has on
    the GPU only, raise ``MXNetError`` when the layer is called.

    Examples
    --------
    >>> layer = LSTM(3, num_layers=2)
    >>> layer.initialize()
    >>> output, states = layer(nd.ones((5, 2, 4)), layer.begin_state(2))
    >>> output.shape, [state.shape for state in states]
    ((5, 2, 3), [(2, 2, 3), (2, 2, 3)])
    """

    _mode = "lstm"

    def __init__(
        self,
        hidden_size: int,
        num_layers: int = 1,
        layout: str = "TNC",
        dropout: float = 0,
        bidirectional: bool = False,
        input_size: int = 0,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        projection_size: int | None = None,
        h2r_weight_initializer: Any = None,
        state_clip_min: float | None = None,
        state_clip_max: float | None = None,
        state_clip_nan: bool = False,
        dtype: Any = "float32",
        **kwargs: Any,
    ):
        clip = {
            "lstm_state_clip_min": state_clip_min,
            "lstm_state_clip_max": state_clip_max,
            "lstm_state_clip_nan": state_clip_nan,
        }
        super().__init__(
            hidden_size, num_layers, layout, dropout, bidirectional, input_size,
            i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer,
            h2h_bias_initializer, "lstm", projection_size, h2r_weight_initializer,
            clip=clip if any(value is not None for value in list(clip.values())[:2]) else None,
            dtype=dtype, **kwargs,
        )  # fmt: skip

    def state_info(self, batch_size: int = 0) -> list[dict]:
        """Shape, layout and dtype of outputs and memories."""
        (output,) = super().state_info(batch_size)
        shape = (*output["shape"][:2], self._hidden_size)
        return [output, {**output, "shape": shape}]


class GRU(_RNNLayer):
    """Layers of GRU cells; parameters are those of `RNN`."""

    _mode = "gru"

    def __init__(
        self,
        hidden_size: int,
        num_layers: int = 1,
        layout: str = "TNC",
        dropout: float = 0,
        bidirectional: bool = False,
        input_size: int = 0,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        dtype: Any = "float32",
        **kwargs: Any,
    ):
        super().__init__(
            hidden_size, num_layers, layout, dropout, bidirectional, input_size,
            i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer,
            h2h_bias_initializer, "gru", dtype=dtype, **kwargs,
        )  # fmt: skip
