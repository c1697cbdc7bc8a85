"""DenseNet (Huang et al., 2016)."""

from __future__ import annotations

from typing import Any

from ... import nn
from ...block import HybridBlock
from ...contrib.nn import HybridConcurrent, Identity
from ..model_store import of_depth, with_parameters

__all__ = ["DenseNet", "densenet121", "densenet161", "densenet169", "densenet201"]

densenet_spec = {
    121: (64, 32, [6, 12, 24, 16]),
    161: (96, 48, [6, 12, 36, 24]),
    169: (64, 32, [6, 12, 32, 32]),
    201: (64, 32, [6, 12, 48, 32]),
}
"""By the number of layers: first channels, growth rate, layers of the dense blocks."""


class DenseNet(HybridBlock):
    """Blocks in which every layer sees the outputs of all layers before it.

    Parameters
    ----------
    num_init_features : channels of the first convolution.
    growth_rate : channels that each layer adds.
    block_config : the number of layers of each block.
    bn_size : a layer's 1x1 convolution has ``bn_size * growth_rate`` channels.
    dropout : rate after each layer.
    classes : number of outputs.

    Examples
    --------
    >>> len(DenseNet(8, 4, [1, 2], classes=10).features)
    11
    """

    def __init__(
        self,
        num_init_features: int,
        growth_rate: int,
        block_config: list[int],
        bn_size: int = 4,
        dropout: float = 0,
        classes: int = 1000,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            self.features.add(
                nn.Conv2D(num_init_features, 7, strides=2, padding=3, use_bias=False),
                nn.BatchNorm(),
                nn.Activation("relu"),
                nn.MaxPool2D(3, 2, padding=1),
            )
            channels = num_init_features
            for stage, layers in enumerate(block_config, 1):
                self.features.add(_dense_block(layers, bn_size, growth_rate, dropout, stage))
                channels += layers * growth_rate
                if stage < len(block_config):
                    channels //= 2
                    self.features.add(_transition(channels))
            self.features.add(nn.BatchNorm(), nn.Activation("relu"), nn.AvgPool2D(7), nn.Flatten())
            self.output = nn.Dense(classes)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """The scores of all classes."""
        return self.output(self.features(x))


def _dense_block(
    layers: int, bn_size: int, growth_rate: int, dropout: float, stage: int
) -> nn.HybridSequential:
    out = nn.HybridSequential(prefix=f"stage{stage}_")
    with out.name_scope():
        out.add(*[_dense_layer(growth_rate, bn_size, dropout) for _ in range(layers)])
    return out


def _dense_layer(growth_rate: int, bn_size: int, dropout: float) -> HybridConcurrent:
    new = nn.HybridSequential(prefix="")
    new.add(
        nn.BatchNorm(),
        nn.Activation("relu"),
        nn.Conv2D(bn_size * growth_rate, 1, use_bias=False),
        nn.BatchNorm(),
        nn.Activation("relu"),
        nn.Conv2D(growth_rate, 3, padding=1, use_bias=False),
    )
    if dropout:
        new.add(nn.Dropout(dropout))
    out = HybridConcurrent(axis=1, prefix="")
    out.add(Identity(), new)
    return out


def _transition(channels: int) -> nn.HybridSequential:
    out = nn.HybridSequential(prefix="")
    out.add(
        nn.BatchNorm(),
        nn.Activation("relu"),
        nn.Conv2D(channels, 1, use_bias=False),
        nn.AvgPool2D(2, 2),
    )
    return out


def get_densenet(
    num_layers: int, pretrained: bool = False, ctx: Any = None, root: str | None = None,
    **kwargs: Any,
) -> DenseNet:  # fmt: skip
    """DenseNet with 121, 161, 169 or 201 layers; ``pretrained`` ones are read from ``root``."""
    net = DenseNet(*of_depth(densenet_spec, "densenet", num_layers), **kwargs)
    return with_parameters(net, pretrained, f"densenet{num_layers}", ctx, root)


def densenet121(**kwargs: Any) -> DenseNet:
    """DenseNet with 121 layers."""
    return get_densenet(121, **kwargs)


def densenet161(**kwargs: Any) -> DenseNet:
    """DenseNet with 161 layers."""
    return get_densenet(161, **kwargs)


def densenet169(**kwargs: Any) -> DenseNet:
    """DenseNet with 169 layers."""
    return get_densenet(169, **kwargs)


def densenet201(**kwargs: Any) -> DenseNet:
    """DenseNet with 201 layers."""
    return get_densenet(201, **kwargs)
