"""Recurrent cells whose inputs and states are images, and whose weights are convolutions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....base import ArgumentError, four_lines
from ...rnn import HybridRecurrentCell
from ...utils import require_sizes

__all__ = [
    "Conv1DGRUCell",
    "Conv1DLSTMCell",
    "Conv1DRNNCell",
    "Conv2DGRUCell",
    "Conv2DLSTMCell",
    "Conv2DRNNCell",
    "Conv3DGRUCell",
    "Conv3DLSTMCell",
    "Conv3DRNNCell",
]


class _BaseConvRNNCell(HybridRecurrentCell):
    """Convolutions of the input and of the state to several gates; subclasses combine them.

    Parameters
    ----------
    input_shape : shape of one input without the batch, as the layout says, such as ``(3, 32, 32)``.
    hidden_channels : channels of the state and of the output.
    i2h_kernel, h2h_kernel : sizes of the kernels on the input and, odd, on the state. The state is
        padded to keep its shape.
    i2h_pad, i2h_dilate, h2h_dilate : padding and dilation.
    conv_layout : such as ``"NCHW"``.
    activation : name of a function, or a block.
    """

    _dims = 0
    _gates = 1
    _states = 1

    def __init__(
        self,
        input_shape: tuple[int, ...],
        hidden_channels: int,
        i2h_kernel: Any,
        h2h_kernel: Any,
        i2h_pad: Any = 0,
        i2h_dilate: Any = 1,
        h2h_dilate: Any = 1,
        i2h_weight_initializer: Any = None,
        h2h_weight_initializer: Any = None,
        i2h_bias_initializer: Any = "zeros",
        h2h_bias_initializer: Any = "zeros",
        conv_layout: str | None = None,
        activation: Any = "tanh",
        prefix: str | None = None,
        params: Any = None,
    ):
        require_sizes(self, hidden_channels=hidden_channels)
        super().__init__(prefix=prefix, params=params)
        axes = "DHW"[3 - self._dims :]
        allowed = (f"NC{axes}", f"N{axes}C")
        layout = allowed[0] if conv_layout is None else conv_layout
        self._require(layout in allowed, f"conv_layout={layout!r}", " or ".join(allowed))
        self._require(
            len(input_shape) == self._dims + 1, f"input_shape={input_shape}",
            f"{self._dims + 1} numbers, as {layout[1:]}",
        )  # fmt: skip
        self._input_shape, self._hidden_channels = tuple(input_shape), hidden_channels
        self._conv_layout, self._activation = layout, activation
        self._channel_axis = layout.index("C")
        i2h_kernel, h2h_kernel = self._each(i2h_kernel), self._each(h2h_kernel)
        self._require(
            all(size % 2 for size in h2h_kernel), f"h2h_kernel={h2h_kernel}",
            "Only support odd number, get h2h_kernel= " + str(h2h_kernel),
        )  # fmt: skip
        h2h_dilate = self._each(h2h_dilate)
        h2h_pad = tuple(d * (k - 1) // 2 for k, d in zip(h2h_kernel, h2h_dilate, strict=True))
        self._i2h = self._convolution(i2h_kernel, self._each(i2h_pad), self._each(i2h_dilate))
        self._h2h = self._convolution(h2h_kernel, h2h_pad, h2h_dilate)
        rows, given = self._gates * hidden_channels, input_shape[self._channel_axis - 1]
        for name, shape, init in (
            ("i2h_weight", self._placed(i2h_kernel, rows, given), i2h_weight_initializer),
            ("h2h_weight", self._placed(h2h_kernel, rows, hidden_channels), h2h_weight_initializer),
            ("i2h_bias", (rows,), i2h_bias_initializer),
            ("h2h_bias", (rows,), h2h_bias_initializer),
        ):
            parameter = self.params.get(name, shape=shape, init=init, allow_deferred_init=True)
            setattr(self, name, parameter)

    def _require(self, fits: bool, received: str, expected: str) -> None:
        if not fits:
            raise ArgumentError(
                four_lines(
                    f"{type(self).__name__}: {received.partition('=')[0]} does not fit.",
                    received, expected, f"it is a cell over {self._dims} axes; adapt the argument",
                )
            )  # fmt: skip

    def _each(self, value: Any) -> tuple[int, ...]:
        """One number for each axis."""
        if isinstance(value, int | np.integer):
            return (int(value),) * self._dims
        self._require(
            len(value) == self._dims, f"kernel, padding or dilation={value}",
            f"For {self._dims}D convolution, the convolution settings can only be either int or "
            f"list/tuple of length {self._dims}",
        )  # fmt: skip
        return tuple(value)

    def _convolution(self, kernel: tuple, pad: tuple, dilate: tuple) -> dict:
        return {
            "num_filter": self._gates * self._hidden_channels,
            "kernel": kernel,
            "stride": (1,) * self._dims,
            "pad": pad,
            "dilate": dilate,
            "layout": self._conv_layout,
        }

    def _placed(self, sizes: tuple, first: int, second: int) -> tuple[int, ...]:
        """Sizes of the axes, and two numbers where batch and channels are in the layout."""
        last = self._channel_axis > 1
        return (first, *sizes, second) if last else (first, second, *sizes)

    def state_info(self, batch_size: int = 0) -> list[dict]:
        """Shape and layout of every state."""
        given = [n for i, n in enumerate(self._input_shape, 1) if i != self._channel_axis]
        conv = self._i2h
        sizes = tuple(
            size + 2 * pad - dilate * (kernel - 1)
            for size, kernel, pad, dilate in zip(
                given, conv["kernel"], conv["pad"], conv["dilate"], strict=True
            )
        )
        shape = self._placed(sizes, batch_size, self._hidden_channels)
        return [{"shape": shape, "__layout__": self._conv_layout} for _ in range(self._states)]

    def hybrid_forward(
        self, F: Any, inputs: Any, states: list,
        i2h_weight: Any, h2h_weight: Any, i2h_bias: Any, h2h_bias: Any,
    ) -> tuple[Any, list]:  # fmt: skip
        """One step."""
        t = f"t{self._counter}_"
        i2h = F.Convolution(inputs, i2h_weight, i2h_bias, name=f"{t}i2h", **self._i2h)
        h2h = F.Convolution(states[0], h2h_weight, h2h_bias, name=f"{t}h2h", **self._h2h)
        return self._combined(F, i2h, h2h, states, t)

    def _combined(self, F: Any, i2h: Any, h2h: Any, states: list, t: str) -> tuple[Any, list]:
        raise NotImplementedError

    def _parts(self, F: Any, value: Any, name: str) -> Any:
        return F.SliceChannel(value, num_outputs=self._gates, axis=self._channel_axis, name=name)

    def __repr__(self) -> str:
        made = self._gates * self._hidden_channels
        given = self._input_shape[self._channel_axis - 1]
        return f"{type(self).__name__}({given} -> {made}, {self._activation}, {self._conv_layout})"


class _ConvRNNCell(_BaseConvRNNCell):
    """Elman's cell of convolutions."""

    def _alias(self) -> str:
        return "conv_rnn"

    def _combined(self, F: Any, i2h: Any, h2h: Any, states: list, t: str) -> tuple[Any, list]:
        output = self._get_activation(F, i2h + h2h, self._activation, name=f"{t}out")
        return output, [output]


class _ConvLSTMCell(_BaseConvRNNCell):
    """LSTM of convolutions (Shi et al., 2015)."""

    _gates = 4
    _states = 2

    def _alias(self) -> str:
        return "conv_lstm"

    def _combined(self, F: Any, i2h: Any, h2h: Any, states: list, t: str) -> tuple[Any, list]:
        parts = self._parts(F, i2h + h2h, f"{t}slice")
        write = F.Activation(parts[0], act_type="sigmoid", name=f"{t}i")
        keep = F.Activation(parts[1], act_type="sigmoid", name=f"{t}f")
        candidate = self._get_activation(F, parts[2], self._activation, name=f"{t}c")
        read = F.Activation(parts[3], act_type="sigmoid", name=f"{t}o")
        memory = F.elemwise_add(keep * states[1], write * candidate, name=f"{t}state")
        seen = self._get_activation(F, memory, self._activation)
        output = F.elemwise_mul(read, seen, name=f"{t}out")
        return output, [output, memory]


class _ConvGRUCell(_BaseConvRNNCell):
    """GRU of convolutions."""

    _gates = 3

    def _alias(self) -> str:
        return "conv_gru"

    def _combined(self, F: Any, i2h: Any, h2h: Any, states: list, t: str) -> tuple[Any, list]:
        i2h = self._parts(F, i2h, f"{t}i2h_slice")
        h2h = self._parts(F, h2h, f"{t}h2h_slice")
        reset = F.Activation(i2h[0] + h2h[0], act_type="sigmoid", name=f"{t}r_act")
        update = F.Activation(i2h[1] + h2h[1], act_type="sigmoid", name=f"{t}z_act")
        candidate = self._get_activation(
            F, i2h[2] + reset * h2h[2], self._activation, name=f"{t}h_act"
        )
        output = F.elemwise_add((1.0 - update) * candidate, update * states[0], name=f"{t}out")
        return output, [output]


def _cell(base: type, dims: int, kind: str, layout: str) -> Callable:
    """A class over a number of axes: they differ in nothing else."""
    what = (base.__doc__ or "").partition("\n")[0].rstrip(".")
    lines = (_BaseConvRNNCell.__doc__ or "").split("\n", 1)[1]
    members = {
        "__doc__": f"{what}, over the axes of {layout}.\n{lines}",
        "__module__": __name__,
        "_dims": dims,
    }
    return type(f"Conv{dims}D{kind}Cell", (base,), members)


Conv1DRNNCell = _cell(_ConvRNNCell, 1, "RNN", "NCW")
Conv2DRNNCell = _cell(_ConvRNNCell, 2, "RNN", "NCHW")
Conv3DRNNCell = _cell(_ConvRNNCell, 3, "RNN", "NCDHW")
Conv1DLSTMCell = _cell(_ConvLSTMCell, 1, "LSTM", "NCW")
Conv2DLSTMCell = _cell(_ConvLSTMCell, 2, "LSTM", "NCHW")
Conv3DLSTMCell = _cell(_ConvLSTMCell, 3, "LSTM", "NCDHW")
Conv1DGRUCell = _cell(_ConvGRUCell, 1, "GRU", "NCW")
Conv2DGRUCell = _cell(_ConvGRUCell, 2, "GRU", "NCHW")
Conv3DGRUCell = _cell(_ConvGRUCell, 3, "GRU", "NCDHW")
