"""Residual networks: ResNet (He et al., 2015) and its second version (He et al., 2016)."""

from __future__ import annotations

from typing import Any

from ....base import ArgumentError, four_lines
from ... import nn
from ...block import HybridBlock
from ..model_store import of_depth, with_parameters

__all__ = [
    "BasicBlockV1",
    "BasicBlockV2",
    "BottleneckV1",
    "BottleneckV2",
    "ResNetV1",
    "ResNetV2",
    "get_resnet",
    "resnet18_v1",
    "resnet18_v2",
    "resnet34_v1",
    "resnet34_v2",
    "resnet50_v1",
    "resnet50_v2",
    "resnet101_v1",
    "resnet101_v2",
    "resnet152_v1",
    "resnet152_v2",
]


def _conv3x3(channels: int, stride: int, in_channels: int) -> nn.Conv2D:
    return nn.Conv2D(channels, 3, stride, 1, use_bias=False, in_channels=in_channels)


def _conv1x1(channels: int, stride: int = 1, in_channels: int = 0) -> nn.Conv2D:
    return nn.Conv2D(channels, 1, stride, use_bias=False, in_channels=in_channels)


class _BlockV1(HybridBlock):
    """``relu(x + body(x))``; with ``downsample`` a 1x1 convolution adapts ``x``."""

    def __init__(
        self, channels: int, stride: int, downsample: bool = False, in_channels: int = 0,
        **kwargs: Any,
    ):  # fmt: skip
        super().__init__(**kwargs)
        self.body = nn.HybridSequential(prefix="")
        self.body.add(*self._layers(channels, stride, in_channels))
        if downsample:
            self.downsample = nn.HybridSequential(prefix="")
            self.downsample.add(_conv1x1(channels, stride, in_channels), nn.BatchNorm())
        else:
            self.downsample = None

    def _layers(self, channels: int, stride: int, in_channels: int) -> list:
        raise NotImplementedError

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """The rectified sum of the input and what the layers make of it."""
        made = self.body(x)
        kept = x if self.downsample is None else self.downsample(x)
        return F.Activation(self._sum(kept, made), act_type="relu")

    def _sum(self, kept: Any, made: Any) -> Any:
        return kept + made


class BasicBlockV1(_BlockV1):
    """Two 3x3 convolutions and a shortcut, for ResNet with 18 and 34 layers.

    Parameters
    ----------
    channels, in_channels : numbers of channels coming out and going in.
    stride : of the first convolution.
    downsample : adapt the shortcut by a convolution.
    """

    def _layers(self, channels: int, stride: int, in_channels: int) -> list:
        return [
            _conv3x3(channels, stride, in_channels),
            nn.BatchNorm(),
            nn.Activation("relu"),
            _conv3x3(channels, 1, channels),
            nn.BatchNorm(),
        ]


class BottleneckV1(_BlockV1):
    """A 3x3 convolution of a quarter of the channels between two 1x1 ones, and a shortcut.

    Parameters
    ----------
    channels, in_channels : numbers of channels coming out and going in.
    stride : of the first convolution.
    downsample : adapt the shortcut by a convolution.
    """

    def _layers(self, channels: int, stride: int, in_channels: int) -> list:
        return [
            nn.Conv2D(channels // 4, 1, stride),
            nn.BatchNorm(),
            nn.Activation("relu"),
            _conv3x3(channels // 4, 1, channels // 4),
            nn.BatchNorm(),
            nn.Activation("relu"),
            nn.Conv2D(channels, 1),
            nn.BatchNorm(),
        ]

    def _sum(self, kept: Any, made: Any) -> Any:
        return made + kept  # the order decides that of the parameters in exported graphs


class BasicBlockV2(HybridBlock):
    """Two 3x3 convolutions, each of the normalized and rectified input, and a shortcut.

    Parameters
    ----------
    channels, in_channels : numbers of channels coming out and going in.
    stride : of the first convolution.
    downsample : adapt the shortcut by a convolution.
    """

    def __init__(
        self, channels: int, stride: int, downsample: bool = False, in_channels: int = 0,
        **kwargs: Any,
    ):  # fmt: skip
        super().__init__(**kwargs)
        self.bn1 = nn.BatchNorm()
        self.conv1 = _conv3x3(channels, stride, in_channels)
        self.bn2 = nn.BatchNorm()
        self.conv2 = _conv3x3(channels, 1, channels)
        self.downsample = _conv1x1(channels, stride, in_channels) if downsample else None

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """The sum of the input and what the layers make of it."""
        ready = F.Activation(self.bn1(x), act_type="relu")
        kept = x if self.downsample is None else self.downsample(ready)
        made = F.Activation(self.bn2(self.conv1(ready)), act_type="relu")
        return self.conv2(made) + kept


class BottleneckV2(HybridBlock):
    """A 3x3 convolution of a quarter of the channels between two 1x1 ones, and a shortcut.

    Parameters
    ----------
    channels, in_channels : numbers of channels coming out and going in.
    stride : of the 3x3 convolution.
    downsample : adapt the shortcut by a convolution.
    """

    def __init__(
        self, channels: int, stride: int, downsample: bool = False, in_channels: int = 0,
        **kwargs: Any,
    ):  # fmt: skip
        super().__init__(**kwargs)
        self.bn1 = nn.BatchNorm()
        self.conv1 = _conv1x1(channels // 4)
        self.bn2 = nn.BatchNorm()
        self.conv2 = _conv3x3(channels // 4, stride, channels // 4)
        self.bn3 = nn.BatchNorm()
        self.conv3 = _conv1x1(channels)
        self.downsample = _conv1x1(channels, stride, in_channels) if downsample else None

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """The sum of the input and what the layers make of it."""
        ready = F.Activation(self.bn1(x), act_type="relu")
        kept = x if self.downsample is None else self.downsample(ready)
        made = F.Activation(self.bn2(self.conv1(ready)), act_type="relu")
        made = F.Activation(self.bn3(self.conv2(made)), act_type="relu")
        return self.conv3(made) + kept


class _ResNet(HybridBlock):
    """What both versions share: the first layers, the stages and the output."""

    def _check(self, layers: list, channels: list) -> None:
        if len(layers) != len(channels) - 1:
            raise ArgumentError(
                four_lines(
                    f"{type(self).__name__}: layers and channels do not belong together.",
                    f"layers={layers}, channels={channels}",
                    "the channels of the first convolution, and those of each stage",
                    "pass one more number in channels than in layers",
                )
            )

    def _begin(self, channels: int, thumbnail: bool) -> list:
        """One 3x3 convolution for thumbnails; otherwise 7x7, and halved twice."""
        if thumbnail:
            return [_conv3x3(channels, 1, 0)]
        return [
            nn.Conv2D(channels, 7, 2, 3, use_bias=False),
            nn.BatchNorm(),
            nn.Activation("relu"),
            nn.MaxPool2D(3, 2, 1),
        ]

    def _add_stages(self, block: Any, layers: list, channels: list) -> None:
        for stage, count in enumerate(layers, 1):
            given, made = channels[stage - 1], channels[stage]
            out = nn.HybridSequential(prefix=f"stage{stage}_")
            with out.name_scope():
                stride = 1 if stage == 1 else 2
                out.add(block(made, stride, made != given, in_channels=given, prefix=""))
                for _ in range(count - 1):
                    out.add(block(made, 1, False, in_channels=made, prefix=""))
            self.features.add(out)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """The scores of all classes."""
        return self.output(self.features(x))


class ResNetV1(_ResNet):
    """Stages of residual blocks.

    Parameters
    ----------
    block : class of the blocks, such as ``BasicBlockV1``.
    layers : the number of blocks of each stage.
    channels : those of the first convolution, then those of each stage.
    classes : number of outputs.
    thumbnail : for images of 32x32 or so: begin with one 3x3 convolution, and no pooling.

    Examples
    --------
    >>> from minigluon import nd
    >>> net = ResNetV1(BasicBlockV1, [1, 1], [4, 4, 8], classes=10, thumbnail=True)
    >>> net.initialize()
    >>> net(nd.ones((1, 3, 8, 8))).shape
    (1, 10)
    """

    def __init__(
        self, block: Any, layers: list[int], channels: list[int], classes: int = 1000,
        thumbnail: bool = False, **kwargs: Any,
    ):  # fmt: skip
        super().__init__(**kwargs)
        self._check(layers, channels)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            self.features.add(*self._begin(channels[0], thumbnail))
            self._add_stages(block, layers, channels)
            self.features.add(nn.GlobalAvgPool2D())
            self.output = nn.Dense(classes, in_units=channels[-1])


class ResNetV2(_ResNet):
    """Stages of residual blocks that normalize before they convolve.

    Parameters
    ----------
    block : class of the blocks, such as ``BasicBlockV2``.
    layers : the number of blocks of each stage.
    channels : those of the first convolution, then those of each stage.
    classes : number of outputs.
    thumbnail : for images of 32x32 or so: begin with one 3x3 convolution, and no pooling.

    Examples
    --------
    >>> from minigluon import nd
    >>> net = ResNetV2(BasicBlockV2, [1, 1], [4, 4, 8], classes=10, thumbnail=True)
    >>> net.initialize()
    >>> net(nd.ones((1, 3, 8, 8))).shape
    (1, 10)
    """

    def __init__(
        self, block: Any, layers: list[int], channels: list[int], classes: int = 1000,
        thumbnail: bool = False, **kwargs: Any,
    ):  # fmt: skip
        super().__init__(**kwargs)
        self._check(layers, channels)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            self.features.add(nn.BatchNorm(scale=False, center=False))
            self.features.add(*self._begin(channels[0], thumbnail))
            self._add_stages(block, layers, channels)
            self.features.add(
                nn.BatchNorm(), nn.Activation("relu"), nn.GlobalAvgPool2D(), nn.Flatten()
            )
            self.output = nn.Dense(classes, in_units=channels[-1])


_BASIC, _BOTTLENECK = [64, 64, 128, 256, 512], [64, 256, 512, 1024, 2048]

resnet_spec = {
    18: ("basic_block", [2, 2, 2, 2], _BASIC),
    34: ("basic_block", [3, 4, 6, 3], _BASIC),
    50: ("bottle_neck", [3, 4, 6, 3], _BOTTLENECK),
    101: ("bottle_neck", [3, 4, 23, 3], _BOTTLENECK),
    152: ("bottle_neck", [3, 8, 36, 3], _BOTTLENECK),
}
"""By the number of layers: the kind of block, blocks and channels of the stages."""

resnet_net_versions = [ResNetV1, ResNetV2]
resnet_block_versions = [
    {"basic_block": BasicBlockV1, "bottle_neck": BottleneckV1},
    {"basic_block": BasicBlockV2, "bottle_neck": BottleneckV2},
]


def get_resnet(
    version: int, num_layers: int, pretrained: bool = False, ctx: Any = None,
    root: str | None = None, **kwargs: Any,
) -> Any:  # fmt: skip
    """ResNet of version 1 or 2; ``pretrained`` parameters are read from ``root``.

    Raises
    ------
    ArgumentError : for another version, or numbers of layers other than 18, 34, 50, 101, 152.
    """
    if version not in (1, 2):
        raise ArgumentError(
            four_lines(
                f"Invalid resnet version: {version}. Options are 1 and 2.",
                f"version={version}",
                "1 or 2",
                "pass version=1 or version=2",
            )
        )
    kind, layers, channels = of_depth(resnet_spec, "resnet", num_layers)
    block = resnet_block_versions[version - 1][kind]
    net = resnet_net_versions[version - 1](block, layers, channels, **kwargs)
    return with_parameters(net, pretrained, f"resnet{num_layers}_v{version}", ctx, root)


def resnet18_v1(**kwargs: Any) -> ResNetV1:
    """ResNet with 18 layers."""
    return get_resnet(1, 18, **kwargs)


def resnet34_v1(**kwargs: Any) -> ResNetV1:
    """ResNet with 34 layers."""
    return get_resnet(1, 34, **kwargs)


def resnet50_v1(**kwargs: Any) -> ResNetV1:
    """ResNet with 50 layers."""
    return get_resnet(1, 50, **kwargs)


def resnet101_v1(**kwargs: Any) -> ResNetV1:
    """ResNet with 101 layers."""
    return get_resnet(1, 101, **kwargs)


def resnet152_v1(**kwargs: Any) -> ResNetV1:
    """ResNet with 152 layers."""
    return get_resnet(1, 152, **kwargs)


def resnet18_v2(**kwargs: Any) -> ResNetV2:
    """ResNet, version 2, with 18 layers."""
    return get_resnet(2, 18, **kwargs)


def resnet34_v2(**kwargs: Any) -> ResNetV2:
    """ResNet, version 2, with 34 layers."""
    return get_resnet(2, 34, **kwargs)


def resnet50_v2(**kwargs: Any) -> ResNetV2:
    """ResNet, version 2, with 50 layers."""
    return get_resnet(2, 50, **kwargs)


def resnet101_v2(**kwargs: Any) -> ResNetV2:
    """ResNet, version 2, with 101 layers."""
    return get_resnet(2, 101, **kwargs)


def resnet152_v2(**kwargs: Any) -> ResNetV2:
    """ResNet, version 2, with 152 layers."""
    return get_resnet(2, 152, **kwargs)
