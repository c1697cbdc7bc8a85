"""Convolutions that learn where to look: deformable ones."""

from __future__ import annotations

from math import prod
from typing import Any

from ...block import HybridBlock
from ...nn import Activation
from ...nn.conv_layers import _numbers, _require_layout

__all__ = ["DeformableConvolution", "ModulatedDeformableConvolution"]


class DeformableConvolution(HybridBlock):
    """A convolution whose kernel's positions are moved by offsets (Dai et al., 2017).

    A second convolution computes the offsets from the same input; they are 0 at first.

    Parameters
    ----------
    channels, in_channels : numbers of channels coming out and going in.
    kernel_size, strides, padding, dilation, groups : as in ``Conv2D``.
    num_deformable_group : the channels are split into as many groups with offsets of their own.
    offset_use_bias, offset_weight_initializer, offset_bias_initializer : of the second convolution.

    Examples
    --------
    >>> from minigluon import nd
    >>> layer = DeformableConvolution(4, kernel_size=(3, 3), padding=(1, 1))
    >>> layer.initialize()
    >>> layer(nd.ones((1, 2, 5, 5))).shape
    (1, 4, 5, 5)
    """

    _numbers_each = 2  # a position has two coordinates

    def __init__(
        self,
        channels: int,
        kernel_size: Any = (1, 1),
        strides: Any = (1, 1),
        padding: Any = (0, 0),
        dilation: Any = (1, 1),
        groups: int = 1,
        num_deformable_group: int = 1,
        layout: str = "NCHW",
        use_bias: bool = True,
        in_channels: int = 0,
        activation: str | None = None,
        weight_initializer: Any = None,
        bias_initializer: Any = "zeros",
        offset_weight_initializer: Any = "zeros",
        offset_bias_initializer: Any = "zeros",
        offset_use_bias: bool = True,
        op_name: str | None = None,
        adj: Any = None,
        prefix: str | None = None,
        params: Any = None,
    ):
        super().__init__(prefix=prefix, params=params)
        _require_layout(layout, ("NCHW",), f"{type(self).__name__} supports NCHW only.")
        self._channels, self._in_channels = channels, in_channels
        kernel = _numbers(kernel_size, 2, "kernel_size")
        shared = {
            "kernel": kernel,
            "stride": _numbers(strides, 2, "strides"),
            "dilate": _numbers(dilation, 2, "dilation"),
            "pad": _numbers(padding, 2, "padding"),
            "num_group": groups,
            "layout": layout,
        }
        self._positions = 2 * prod(kernel) * num_deformable_group
        made = self._numbers_each * prod(kernel) * num_deformable_group
        self._offset = {
            **shared, "num_filter": made, "no_bias": not offset_use_bias, "cudnn_off": True,
        }  # fmt: skip
        self._kwargs = {
            **shared, "num_filter": channels, "no_bias": not use_bias,
            "num_deformable_group": num_deformable_group,
        }  # fmt: skip
        given = in_channels // groups
        convolutions = [
            ("offset", made, offset_use_bias, offset_weight_initializer, offset_bias_initializer),
            ("deformable_conv", channels, use_bias, weight_initializer, bias_initializer),
        ]
        with self.name_scope():
            for name, rows, bias, weight_init, bias_init in self._in_order(convolutions):
                weight = self.params.get(
                    f"{name}_weight", shape=(rows, given, *kernel), init=weight_init,
                    allow_deferred_init=True,
                )  # fmt: skip
                setattr(self, f"{name}_weight", weight)
                found = None
                if bias:
                    found = self.params.get(
                        f"{name}_bias", shape=(rows,), init=bias_init, allow_deferred_init=True
                    )
                setattr(self, f"{name}_bias", found)
            self.act = None
            if activation is not None:
                self.act = Activation(activation, prefix=activation + "_")

    def _in_order(self, convolutions: list) -> list:
        """The order in which the parameters are made, and so stand in files."""
        return convolutions

    def hybrid_forward(
        self, F: Any, x: Any, offset_weight: Any, deformable_conv_weight: Any,
        offset_bias: Any = None, deformable_conv_bias: Any = None,
    ) -> Any:  # fmt: skip
        """The offsets, the convolution at the places they lead to, then the activation."""
        moved = F.Convolution(*_given(x, offset_weight, offset_bias), **self._offset)
        inputs = self._moved(F, x, moved)
        weights = _given(deformable_conv_weight, deformable_conv_bias)
        run = getattr(F.contrib, type(self).__name__)
        x = run(*inputs, *weights, name="fwd", **self._kwargs)
        return x if self.act is None else self.act(x)

    def _moved(self, F: Any, x: Any, moved: Any) -> tuple:
        return x, moved

    def _alias(self) -> str:
        return "deformable_conv"

    def __repr__(self) -> str:
        given, shape = self._kwargs, self.deformable_conv_weight.shape
        parts = [f"{shape[1] or None} -> {shape[0]}"]
        parts += [f"kernel_size={given['kernel']}", f"stride={given['stride']}"]
        if given["pad"] != (0, 0):
            parts.append(f"padding={given['pad']}")
        if given["dilate"] != (1, 1):
            parts.append(f"dilation={given['dilate']}")
        if given["num_group"] != 1:
            parts.append(f"groups={given['num_group']}")
        if self.deformable_conv_bias is None:
            parts.append("bias=False")
        if self.act is not None:
            parts.append(str(self.act))
        return f"{type(self).__name__}({', '.join(parts)})"


class ModulatedDeformableConvolution(DeformableConvolution):
    """A deformable convolution that also weighs each position, by 0 to 2 (Zhu et al., 2018).

    Parameters
    ----------
    channels, in_channels : numbers of channels coming out and going in.
    kernel_size, strides, padding, dilation, groups : as in ``Conv2D``.
    num_deformable_group : the channels are split into as many groups with offsets of their own.

    Examples
    --------
    >>> from minigluon import nd
    >>> layer = ModulatedDeformableConvolution(4, kernel_size=(3, 3), padding=(1, 1))
    >>> layer.initialize()
    >>> layer(nd.ones((1, 2, 5, 5))).shape
    (1, 4, 5, 5)
    """

    _numbers_each = 3

    def _in_order(self, convolutions: list) -> list:
        return convolutions[::-1]

    def _moved(self, F: Any, x: Any, moved: Any) -> tuple:
        offset = F.slice_axis(moved, axis=1, begin=0, end=self._positions)
        mask = F.slice_axis(moved, axis=1, begin=self._positions, end=None)
        return x, offset, F.sigmoid(mask) * 2

    def _alias(self) -> str:
        return "modulated_deformable_conv"


def _given(*arrays: Any) -> tuple:
    return tuple(array for array in arrays if array is not None)
