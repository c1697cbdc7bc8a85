"""Convolution layers, plain and transposed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...base import ArgumentError
from ..block import HybridBlock
from ..utils import require_sizes
from .activations import Activation


def _numbers(value: Any, count: int, what: str) -> tuple[int, ...]:
    """One number for each axis, from one for all or a sequence; padding may be 0."""
    least = 0 if "padding" in what else 1
    if isinstance(value, int | np.integer):
        given = (int(value),) * count
    else:
        given = tuple(value) if value is not None else ()
    if any(isinstance(size, int | np.integer) and size < least for size in given):
        raise ArgumentError(
            f"{what} is no possible size.\n  received  {what}={value!r}\n"
            f"  expected  whole numbers of at least {least}\n  fix       pass such numbers"
        )
    if len(given) != count:
        raise ArgumentError(
            f"{what} must be a number or a list of {count} ints.\n  received  {what}={value!r}\n"
            f"  expected  a number, or {count} of them\n"
            f"  fix       pass {what}={(1,) * count} or a single number"
        )
    return given


def _require_layout(layout: str, allowed: tuple[str, ...], message: str) -> None:
    if layout not in allowed:
        raise ArgumentError(
            f"{message}\n  received  layout={layout!r}\n  expected  {' or '.join(allowed)}\n"
            "  fix       transpose the data, or use one of these layouts"
        )


class _Conv(HybridBlock):
    """What convolution layers share: parameters, the operator's attributes, activation."""

    _operator = "Convolution"

    def __init__(
        self,
        channels: int,
        kernel_size: tuple[int, ...],
        strides: Any,
        padding: Any,
        dilation: Any,
        groups: int,
        layout: str,
        in_channels: int = 0,
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        adj: Any = None,
        prefix: str | None = None,
        params: Any = None,
    ):
        require_sizes(self, channels=channels, groups=groups)
        require_sizes(self, 0, in_channels=in_channels)
        super().__init__(prefix=prefix, params=params)
        axes = len(kernel_size)
        self._channels, self._in_channels = channels, in_channels
        self._kwargs = {
            "kernel": kernel_size,
            "stride": _numbers(strides, axes, "strides"),
            "dilate": _numbers(dilation, axes, "dilation"),
            "pad": _numbers(padding, axes, "padding"),
            "num_filter": channels,
            "num_group": groups,
            "no_bias": not use_bias,
            "layout": layout,
        }
        if adj is not None:
            self._kwargs["adj"] = _numbers(adj, axes, "output_padding")
        with self.name_scope():
            self.weight = self.params.get(
                "weight",
                shape=self._weight_shape(),
                init=weight_initializer,
                allow_deferred_init=True,
            )
            self.bias = self.act = None
            if use_bias:
                self.bias = self.params.get(
                    "bias", shape=(channels,), init=bias_initializer, allow_deferred_init=True
                )
            if activation is not None:
                self.act = Activation(activation, prefix=activation + "_")

    def _weight_shape(self) -> tuple[int, ...]:
        """The weight's shape in the layout, unknown dimensions 0."""
        return self._in_layout(self._channels, self._in_channels // self._kwargs["num_group"])

    def _in_layout(self, first: int, second: int) -> tuple[int, ...]:
        kernel, layout = self._kwargs["kernel"], self._kwargs["layout"]
        return (first, *kernel, second) if layout.endswith("C") else (first, second, *kernel)

    def hybrid_forward(self, F: Any, x: Any, weight: Any, bias: Any = None) -> Any:
        """The operator, then the activation."""
        run = getattr(F, self._operator)
        inputs = (x, weight) if bias is None else (x, weight, bias)
        x = run(*inputs, name="fwd", **self._kwargs)
        return x if self.act is None else self.act(x)

    def _alias(self) -> str:
        return "conv"

    def __repr__(self) -> str:
        given, shape = self._kwargs, self.weight.shape
        axes = len(given["kernel"])
        channel = -1 if given["layout"].endswith("C") else 1
        parts = [f"{shape[channel] or None} -> {shape[0]}"]
        parts += [f"kernel_size={given['kernel']}", f"stride={given['stride']}"]
        if given["pad"] != (0,) * axes:
            parts.append(f"padding={given['pad']}")
        if given["dilate"] != (1,) * axes:
            parts.append(f"dilation={given['dilate']}")
        if given["num_group"] != 1:
            parts.append(f"groups={given['num_group']}")
        if self.bias is None:
            parts.append("bias=False")
        if self.act is not None:
            parts.append(str(self.act))
        return f"{type(self).__name__}({', '.join(parts)})"


class _ConvTranspose(_Conv):
    """What transposed convolution layers share."""

    _operator = "Deconvolution"

    def _weight_shape(self) -> tuple[int, ...]:
        """The weight's shape in the layout, unknown dimensions 0."""
        return self._in_layout(self._in_channels, self._channels // self._kwargs["num_group"])


class Conv1D(_Conv):
    """Convolution of sequences.

    Parameters
    ----------
    channels : how many filters, which is how many channels the output has.
    kernel_size : the length of the kernel.
    strides, padding, dilation : steps between windows, zeros around the data,
        gaps within windows.
    groups : channels and filters are divided into as many groups, which do not see each other.
    layout : the order of axes, NCW.
    activation : name of an activation function; none if not given.
    use_bias : whether every filter has a number that is added.
    in_channels : how many channels the data have; found out from the first batch if 0.

    Examples
    --------
    >>> from minigluon import nd
    >>> layer = Conv1D(4, 3)
    >>> layer.initialize()
    >>> layer(nd.ones((1, 2, 8))).shape
    (1, 4, 6)
    """

    def __init__(
        self,
        channels: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        layout: str = "NCW",
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_channels: int = 0,
        **kwargs: Any,
    ):
        _require_layout(layout, ("NCW",), "Only supports 'NCW' layout for now")
        super().__init__(
            channels,
            _numbers(kernel_size, 1, "kernel_size"),
            strides,
            padding,
            dilation,
            groups,
            layout,
            in_channels,
            activation,
            use_bias,
            weight_initializer,
            bias_initializer,
            **kwargs,
        )


class Conv2D(_Conv):
    """Convolution of images.

    Parameters
    ----------
    channels : how many filters, which is how many channels the output has.
    kernel_size : height and width of the kernel, or one number for both.
    strides, padding, dilation : steps between windows, zeros around the data,
        gaps within windows.
    groups : channels and filters are divided into as many groups, which do not see each other.
    layout : the order of axes, NCHW or NHWC.
    activation : name of an activation function; none if not given.
    use_bias : whether every filter has a number that is added.
    in_channels : how many channels the data have; found out from the first batch if 0.

    Examples
    --------
    >>> from minigluon import nd
    >>> layer = Conv2D(4, 3, padding=1)
    >>> layer.initialize()
    >>> layer(nd.ones((1, 2, 8, 8))).shape
    (1, 4, 8, 8)
    """

    def __init__(
        self,
        channels: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: Any = (0, 0),
        dilation: Any = (1, 1),
        groups: int = 1,
        layout: str = "NCHW",
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_channels: int = 0,
        **kwargs: Any,
    ):
        _require_layout(layout, ("NCHW", "NHWC"), "Only supports 'NCHW' and 'NHWC' layout for now")
        super().__init__(
            channels,
            _numbers(kernel_size, 2, "kernel_size"),
            strides,
            padding,
            dilation,
            groups,
            layout,
            in_channels,
            activation,
            use_bias,
            weight_initializer,
            bias_initializer,
            **kwargs,
        )


class Conv3D(_Conv):
    """Convolution of volumes.

    Parameters
    ----------
    channels : how many filters, which is how many channels the output has.
    kernel_size : depth, height and width of the kernel, or one number for all.
    strides, padding, dilation : steps between windows, zeros around the data,
        gaps within windows.
    groups : channels and filters are divided into as many groups, which do not see each other.
    layout : the order of axes, NCDHW or NDHWC.
    activation : name of an activation function; none if not given.
    use_bias : whether every filter has a number that is added.
    in_channels : how many channels the data have; found out from the first batch if 0.

    Examples
    --------
    >>> from minigluon import nd
    >>> layer = Conv3D(4, (1, 3, 3))
    >>> layer.initialize()
    >>> layer(nd.ones((1, 2, 8, 8, 8))).shape
    (1, 4, 8, 6, 6)
    """

    def __init__(
        self,
        channels: int,
        kernel_size: Any,
        strides: Any = (1, 1, 1),
        padding: Any = (0, 0, 0),
        dilation: Any = (1, 1, 1),
        groups: int = 1,
        layout: str = "NCDHW",
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_channels: int = 0,
        **kwargs: Any,
    ):
        _require_layout(
            layout, ("NCDHW", "NDHWC"), "Only supports 'NCDHW' and 'NDHWC' layout for now"
        )
        super().__init__(
            channels,
            _numbers(kernel_size, 3, "kernel_size"),
            strides,
            padding,
            dilation,
            groups,
            layout,
            in_channels,
            activation,
            use_bias,
            weight_initializer,
            bias_initializer,
            **kwargs,
        )


class Conv1DTranspose(_ConvTranspose):
    """Transposed convolution, which makes sequences larger.

    Every element of the data adds a weighted kernel to the result.

    Parameters
    ----------
    channels : how many filters, which is how many channels the output has.
    kernel_size : the length of the kernel.
    strides, padding, output_padding, dilation : steps between windows, zeros around the data,
        elements added at the end of the result,
        gaps within windows.
    groups : channels and filters are divided into as many groups, which do not see each other.
    layout : the order of axes, NCW.
    activation : name of an activation function; none if not given.
    use_bias : whether every filter has a number that is added.
    in_channels : how many channels the data have; found out from the first batch if 0.

    Examples
    --------
    >>> from minigluon import nd
    >>> layer = Conv1DTranspose(4, 3, strides=2)
    >>> layer.initialize()
    >>> layer(nd.ones((1, 2, 8))).shape
    (1, 4, 17)
    """

    def __init__(
        self,
        channels: int,
        kernel_size: Any,
        strides: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        layout: str = "NCW",
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_channels: int = 0,
        **kwargs: Any,
    ):
        _require_layout(layout, ("NCW",), "Only supports 'NCW' layout for now")
        super().__init__(
            channels,
            _numbers(kernel_size, 1, "kernel_size"),
            strides,
            padding,
            dilation,
            groups,
            layout,
            in_channels,
            activation,
            use_bias,
            weight_initializer,
            bias_initializer,
            output_padding,
            **kwargs,
        )


class Conv2DTranspose(_ConvTranspose):
    """Transposed convolution, which makes images larger.

    Every element of the data adds a weighted kernel to the result.

    Parameters
    ----------
    channels : how many filters, which is how many channels the output has.
    kernel_size : height and width of the kernel, or one number for both.
    strides, padding, output_padding, dilation : steps between windows, zeros around the data,
        elements added at the end of the result,
        gaps within windows.
    groups : channels and filters are divided into as many groups, which do not see each other.
    layout : the order of axes, NCHW or NHWC.
    activation : name of an activation function; none if not given.
    use_bias : whether every filter has a number that is added.
    in_channels : how many channels the data have; found out from the first batch if 0.

    Examples
    --------
    >>> from minigluon import nd
    >>> layer = Conv2DTranspose(4, 3, strides=2)
    >>> layer.initialize()
    >>> layer(nd.ones((1, 2, 8, 8))).shape
    (1, 4, 17, 17)
    """

    def __init__(
        self,
        channels: int,
        kernel_size: Any,
        strides: Any = (1, 1),
        padding: Any = (0, 0),
        output_padding: Any = (0, 0),
        dilation: Any = (1, 1),
        groups: int = 1,
        layout: str = "NCHW",
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_channels: int = 0,
        **kwargs: Any,
    ):
        _require_layout(layout, ("NCHW", "NHWC"), "Only supports 'NCHW' and 'NHWC' layout for now")
        super().__init__(
            channels,
            _numbers(kernel_size, 2, "kernel_size"),
            strides,
            padding,
            dilation,
            groups,
            layout,
            in_channels,
            activation,
            use_bias,
            weight_initializer,
            bias_initializer,
            output_padding,
            **kwargs,
        )


class Conv3DTranspose(_ConvTranspose):
    """Transposed convolution, which makes volumes larger.

    Every element of the data adds a weighted kernel to the result.

    Parameters
    ----------
    channels : how many filters, which is how many channels the output has.
    kernel_size : depth, height and width of the kernel, or one number for all.
    strides, padding, output_padding, dilation : steps between windows, zeros around the data,
        elements added at the end of the result,
        gaps within windows.
    groups : channels and filters are divided into as many groups, which do not see each other.
    layout : the order of axes, NCDHW or NDHWC.
    activation : name of an activation function; none if not given.
    use_bias : whether every filter has a number that is added.
    in_channels : how many channels the data have; found out from the first batch if 0.

    Examples
    --------
    >>> from minigluon import nd
    >>> layer = Conv3DTranspose(4, 3, strides=2)
    >>> layer.initialize()
    >>> layer(nd.ones((1, 2, 8, 8, 8))).shape
    (1, 4, 17, 17, 17)
    """

    def __init__(
        self,
        channels: int,
        kernel_size: Any,
        strides: Any = (1, 1, 1),
        padding: Any = (0, 0, 0),
        output_padding: Any = (0, 0, 0),
        dilation: Any = (1, 1, 1),
        groups: int = 1,
        layout: str = "NCDHW",
        activation: str | None = None,
        use_bias: bool = True,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        in_channels: int = 0,
        **kwargs: Any,
    ):
        _require_layout(
            layout, ("NCDHW", "NDHWC"), "Only supports 'NCDHW' and 'NDHWC' layout for now"
        )
        super().__init__(
            channels,
            _numbers(kernel_size, 3, "kernel_size"),
            strides,
            padding,
            dilation,
            groups,
            layout,
            in_channels,
            activation,
            use_bias,
            weight_initializer,
            bias_initializer,
            output_padding,
            **kwargs,
        )
