"""MobileNet (Howard et al., 2017) and its second version (Sandler et al., 2018)."""

from __future__ import annotations

from typing import Any

from ... import nn
from ...block import HybridBlock
from ..model_store import with_parameters

__all__ = [
    "MobileNet",
    "MobileNetV2",
    "get_mobilenet",
    "get_mobilenet_v2",
    "mobilenet0_5",
    "mobilenet0_25",
    "mobilenet0_75",
    "mobilenet1_0",
    "mobilenet_v2_0_5",
    "mobilenet_v2_0_25",
    "mobilenet_v2_0_75",
    "mobilenet_v2_1_0",
]


class RELU6(nn.HybridBlock):
    """The rectifier cut off at 6, which suits arithmetic of few bits."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """``clip(x, 0, 6)``."""
        return F.clip(x, 0, 6, name="relu6")


def _add_conv(
    out: nn.HybridSequential, channels: int, kernel: int = 1, stride: int = 1, pad: int = 0,
    num_group: int = 1, active: bool = True, relu6: bool = False,
) -> None:  # fmt: skip
    """Append a convolution, its normalization and, if ``active``, the rectifier."""
    out.add(
        nn.Conv2D(channels, kernel, stride, pad, groups=num_group, use_bias=False),
        nn.BatchNorm(),
    )
    if active:
        out.add(RELU6() if relu6 else nn.Activation("relu"))


class LinearBottleneck(HybridBlock):
    """A 1x1 convolution to ``t`` times the channels, a 3x3 one for each, and a linear 1x1 one.

    The input is added where it has the output's shape.
    """

    def __init__(self, in_channels: int, channels: int, t: int, stride: int, **kwargs: Any):
        super().__init__(**kwargs)
        self.use_shortcut = stride == 1 and in_channels == channels
        with self.name_scope():
            self.out = nn.HybridSequential()
            _add_conv(self.out, in_channels * t, relu6=True)
            _add_conv(self.out, in_channels * t, 3, stride, 1, in_channels * t, relu6=True)
            _add_conv(self.out, channels, active=False)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """The convolutions, and the input added to them."""
        out = self.out(x)
        return F.elemwise_add(out, x) if self.use_shortcut else out


class MobileNet(HybridBlock):
    """Convolutions of each channel by itself, and 1x1 ones that mix the channels.

    Parameters
    ----------
    multiplier : scales the numbers of channels.
    classes : number of outputs.

    Examples
    --------
    >>> MobileNet(0.25, classes=10).features[0]
    Conv2D(None -> 8, kernel_size=(3, 3), stride=(2, 2), padding=(1, 1), bias=False)
    """

    def __init__(self, multiplier: float = 1.0, classes: int = 1000, **kwargs: Any):
        super().__init__(**kwargs)
        inputs = [32, 64, *[128] * 2, *[256] * 2, *[512] * 6, 1024]
        outputs = [64, *[128] * 2, *[256] * 2, *[512] * 6, *[1024] * 2]
        strides = [1, 2, 1, 2, 1, 2, *[1] * 5, 2, 1]
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            with self.features.name_scope():
                _add_conv(self.features, int(32 * multiplier), 3, 2, 1)
                for given, made, stride in zip(inputs, outputs, strides, strict=True):
                    given, made = int(given * multiplier), int(made * multiplier)
                    _add_conv(self.features, given, 3, stride, 1, given)
                    _add_conv(self.features, made)
                self.features.add(nn.GlobalAvgPool2D(), nn.Flatten())
            self.output = nn.Dense(classes)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """The scores of all classes."""
        return self.output(self.features(x))


class MobileNetV2(HybridBlock):
    """Bottlenecks that are narrow where the shortcuts are.

    Parameters
    ----------
    multiplier : scales the numbers of channels.
    classes : number of outputs.

    Examples
    --------
    >>> len(MobileNetV2(0.25, classes=10).features)
    24
    """

    def __init__(self, multiplier: float = 1.0, classes: int = 1000, **kwargs: Any):
        super().__init__(**kwargs)
        sizes = [32, 16, *[24] * 2, *[32] * 3, *[64] * 4, *[96] * 3, *[160] * 3, 320]
        sizes = [int(size * multiplier) for size in sizes]
        expansions = [1, *[6] * 16]
        strides = [1, 2, 1, 2, 1, 1, 2, *[1] * 6, 2, 1, 1, 1]
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="features_")
            with self.features.name_scope():
                _add_conv(self.features, sizes[0], 3, 2, 1, relu6=True)
                for given, made, t, stride in zip(
                    sizes[:-1], sizes[1:], expansions, strides, strict=True
                ):
                    self.features.add(LinearBottleneck(given, made, t, stride))
                last = int(1280 * multiplier) if multiplier > 1.0 else 1280
                _add_conv(self.features, last, relu6=True)
                self.features.add(nn.GlobalAvgPool2D())
            self.output = nn.HybridSequential(prefix="output_")
            with self.output.name_scope():
                self.output.add(nn.Conv2D(classes, 1, use_bias=False, prefix="pred_"), nn.Flatten())

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """The scores of all classes."""
        return self.output(self.features(x))


def get_mobilenet(
    multiplier: float, pretrained: bool = False, ctx: Any = None, root: str | None = None,
    **kwargs: Any,
) -> MobileNet:  # fmt: skip
    """MobileNet of a width; ``pretrained`` parameters are read from ``root``."""
    net = MobileNet(multiplier, **kwargs)
    return with_parameters(net, pretrained, f"mobilenet{_version(multiplier)}", ctx, root)


def get_mobilenet_v2(
    multiplier: float, pretrained: bool = False, ctx: Any = None, root: str | None = None,
    **kwargs: Any,
) -> MobileNetV2:  # fmt: skip
    """MobileNetV2 of a width; ``pretrained`` parameters are read from ``root``."""
    net = MobileNetV2(multiplier, **kwargs)
    return with_parameters(net, pretrained, f"mobilenetv2_{_version(multiplier)}", ctx, root)


def _version(multiplier: float) -> str:
    """``1.0``, ``0.75``, ``0.5`` or ``0.25``, as the files are called."""
    text = f"{multiplier:.2f}"
    return text[:-1] if text in ("1.00", "0.50") else text


def mobilenet1_0(**kwargs: Any) -> MobileNet:
    """MobileNet of full width."""
    return get_mobilenet(1.0, **kwargs)


def mobilenet0_75(**kwargs: Any) -> MobileNet:
    """MobileNet of three quarters of the width."""
    return get_mobilenet(0.75, **kwargs)


def mobilenet0_5(**kwargs: Any) -> MobileNet:
    """MobileNet of half the width."""
    return get_mobilenet(0.5, **kwargs)


def mobilenet0_25(**kwargs: Any) -> MobileNet:
    """MobileNet of a quarter of the width."""
    return get_mobilenet(0.25, **kwargs)


def mobilenet_v2_1_0(**kwargs: Any) -> MobileNetV2:
    """MobileNetV2 of full width."""
    return get_mobilenet_v2(1.0, **kwargs)


def mobilenet_v2_0_75(**kwargs: Any) -> MobileNetV2:
    """MobileNetV2 of three quarters of the width."""
    return get_mobilenet_v2(0.75, **kwargs)


def mobilenet_v2_0_5(**kwargs: Any) -> MobileNetV2:
    """MobileNetV2 of half the width."""
    return get_mobilenet_v2(0.5, **kwargs)


def mobilenet_v2_0_25(**kwargs: Any) -> MobileNetV2:
    """MobileNetV2 of a quarter of the width."""
    return get_mobilenet_v2(0.25, **kwargs)
