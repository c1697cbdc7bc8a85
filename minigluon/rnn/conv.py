"""Recurrent cells on images: convolutions in place of products with matrices."""

from __future__ import annotations

from functools import partial

from .. import symbol
from ..base import ArgumentError
from .cell import BaseRNNCell, activated
from .cells import gru_step, lstm_step

_LEAKY = partial(symbol.LeakyReLU, act_type="leaky", slope=0.2)


class BaseConvRNNCell(BaseRNNCell):
    """What convolutional cells have in common.

    Parameters
    ----------
    input_shape : of one step, in ``conv_layout``, with a batch size or 0.
    num_hidden : channels of the states.
    h2h_kernel, h2h_dilate : of the convolution of states, which keeps their size; odd kernels only.
    i2h_kernel, i2h_stride, i2h_pad, i2h_dilate : of the convolution of inputs.
    i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer, h2h_bias_initializer :
        how parameters start.
    activation : a name of `sym.Activation`, or a function of a symbol.
    conv_layout : NCHW or the like.
    """

    _gates: tuple[str, ...] = ("",)
    _states = 1

    def __init__(
        self,
        input_shape,
        num_hidden,
        h2h_kernel,
        h2h_dilate,
        i2h_kernel,
        i2h_stride,
        i2h_pad,
        i2h_dilate,
        i2h_weight_initializer,
        h2h_weight_initializer,
        i2h_bias_initializer,
        h2h_bias_initializer,
        activation,
        prefix="",
        params=None,
        conv_layout="NCHW",
    ):
        super().__init__(prefix=prefix, params=params)
        if any(side % 2 == 0 for side in h2h_kernel):
            raise ArgumentError(
                f"Only support odd number, get h2h_kernel= {h2h_kernel}\n"
                f"  received  h2h_kernel={h2h_kernel}\n"
                "  expected  odd sides, so that states keep their size\n"
                "  fix       h2h_kernel=(3, 3)"
            )
        self._num_hidden, self._activation, self._conv_layout = num_hidden, activation, conv_layout
        self._h2h = {
            "kernel": h2h_kernel,
            "dilate": h2h_dilate,
            "stride": (1,) * len(h2h_kernel),
            "pad": tuple(d * (k - 1) // 2 for k, d in zip(h2h_kernel, h2h_dilate, strict=True)),
        }
        self._i2h = {
            "kernel": i2h_kernel,
            "stride": i2h_stride,
            "pad": i2h_pad,
            "dilate": i2h_dilate,
        }
        self._iW = self._variable("i2h_weight", i2h_weight_initializer)
        self._iB = self._variable("i2h_bias", i2h_bias_initializer)
        self._hW = self._variable("h2h_weight", h2h_weight_initializer)
        self._hB = self._variable("h2h_bias", h2h_bias_initializer)
        probe = symbol.Convolution(
            symbol.Variable("data"), num_filter=num_hidden, layout=conv_layout, **self._i2h
        )
        _, shapes, _ = probe.infer_shape(data=(1, *input_shape[1:]))
        self._state_shape = (0, *shapes[0][1:])

    def _variable(self, name, init):
        return self._params.get(name, **({} if init is None else {"init": init}))

    @property
    def state_info(self):
        """Every state has the shape of the convolved input."""
        info = {"shape": self._state_shape, "__layout__": self._conv_layout}
        return [dict(info) for _ in range(self._states)]

    @property
    def _gate_names(self):
        return ("",) if self._gates == ("",) else list(self._gates)

    @property
    def _channels(self):
        return self._conv_layout.find("C")

    def _conv_forward(self, inputs, states, name):
        """All gates of the input, and all gates of the state."""
        channels = len(self._gates) * self._num_hidden
        shared = {"num_filter": channels, "layout": self._conv_layout}
        i2h = symbol.Convolution(
            inputs, self._iW, self._iB, name=f"{name}i2h", **self._i2h, **shared
        )
        h2h = symbol.Convolution(
            states[0], self._hW, self._hB, name=f"{name}h2h", **self._h2h, **shared
        )
        return i2h, h2h

    def __call__(self, inputs, states):
        """One step."""
        raise NotImplementedError("BaseConvRNNCell is abstract class for convolutional RNN")


def _with_defaults(prefix):
    """The constructor of a convolutional cell: the same arguments, with defaults."""

    def __init__(
        self,
        input_shape,
        num_hidden,
        h2h_kernel=(3, 3),
        h2h_dilate=(1, 1),
        i2h_kernel=(3, 3),
        i2h_stride=(1, 1),
        i2h_pad=(1, 1),
        i2h_dilate=(1, 1),
        i2h_weight_initializer=None,
        h2h_weight_initializer=None,
        i2h_bias_initializer="zeros",
        h2h_bias_initializer="zeros",
        activation=_LEAKY,
        prefix=prefix,
        params=None,
        conv_layout="NCHW",
    ):
        BaseConvRNNCell.__init__(
            self,
            input_shape,
            num_hidden,
            h2h_kernel,
            h2h_dilate,
            i2h_kernel,
            i2h_stride,
            i2h_pad,
            i2h_dilate,
            i2h_weight_initializer,
            h2h_weight_initializer,
            i2h_bias_initializer,
            h2h_bias_initializer,
            activation,
            prefix,
            params,
            conv_layout,
        )

    return __init__


class ConvRNNCell(BaseConvRNNCell):
    """Elman's cell with convolutions; see `BaseConvRNNCell` for the parameters."""

    __init__ = _with_defaults("ConvRNN_")

    def __call__(self, inputs, states):
        """One step."""
        name = self._step_name()
        i2h, h2h = self._conv_forward(inputs, states, name)
        output = activated(i2h + h2h, self._activation, name=f"{name}out")
        return output, [output]


class ConvLSTMCell(BaseConvRNNCell):
    """LSTM with convolutions (Xingjian et al., 2015); see `BaseConvRNNCell` for the parameters."""

    _gates = ("_i", "_f", "_c", "_o")
    _states = 2

    __init__ = _with_defaults("ConvLSTM_")

    def __call__(self, inputs, states):
        """One step."""
        name = self._step_name()
        i2h, h2h = self._conv_forward(inputs, states, name)
        return lstm_step(i2h + h2h, states[1], self._activation, name, self._channels)


class ConvGRUCell(BaseConvRNNCell):
    """GRU with convolutions; see `BaseConvRNNCell` for the parameters."""

    _gates = ("_r", "_z", "_o")

    __init__ = _with_defaults("ConvGRU_")

    def __call__(self, inputs, states):
        """One step."""
        name = self._step_name()
        i2h, h2h = self._conv_forward(inputs, states, name)
        return gru_step(i2h, h2h, states[0], self._activation, name, self._channels)
