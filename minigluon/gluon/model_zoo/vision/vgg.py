"""VGG (Simonyan and Zisserman, 2014), with or without batch normalization."""

from __future__ import annotations

from typing import Any

from ....base import ArgumentError, four_lines
from ....initializer import Xavier
from ... import nn
from ...block import HybridBlock
from ..model_store import of_depth, with_parameters

__all__ = [
    "VGG",
    "get_vgg",
    "vgg11",
    "vgg11_bn",
    "vgg13",
    "vgg13_bn",
    "vgg16",
    "vgg16_bn",
    "vgg19",
    "vgg19_bn",
]

vgg_spec = {
    11: ([1, 1, 2, 2, 2], [64, 128, 256, 512, 512]),
    13: ([2, 2, 2, 2, 2], [64, 128, 256, 512, 512]),
    16: ([2, 2, 3, 3, 3], [64, 128, 256, 512, 512]),
    19: ([2, 2, 4, 4, 4], [64, 128, 256, 512, 512]),
}
"""By the number of layers: how many convolutions each stage has, and their channels."""


class VGG(HybridBlock):
    """Stages of 3x3 convolutions, each halved by pooling, and three dense layers.

    Parameters
    ----------
    layers, filters : how many convolutions each stage has, and their channels.
    classes : number of outputs.
    batch_norm : normalize after each convolution.

    Examples
    --------
    >>> len(VGG([1, 1], [8, 16], classes=10).features)
    10
    """

    def __init__(
        self,
        layers: list[int],
        filters: list[int],
        classes: int = 1000,
        batch_norm: bool = False,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        if len(layers) != len(filters):
            raise ArgumentError(
                four_lines(
                    "VGG: layers and filters do not belong together.",
                    f"layers={layers}, filters={filters}",
                    "a number of layers and of filters for each stage",
                    "pass two lists of the same length",
                )
            )
        with self.name_scope():
            self.features = self._make_features(layers, filters, batch_norm)
            for _ in range(2):
                self.features.add(
                    nn.Dense(4096, activation="relu", weight_initializer="normal"),
                    nn.Dropout(0.5),
                )
            self.output = nn.Dense(classes, weight_initializer="normal")

    def _make_features(self, layers: list, filters: list, batch_norm: bool) -> nn.HybridSequential:
        features = nn.HybridSequential(prefix="")
        for count, channels in zip(layers, filters, strict=True):
            for _ in range(count):
                init = Xavier(rnd_type="gaussian", factor_type="out", magnitude=2)
                features.add(nn.Conv2D(channels, 3, padding=1, weight_initializer=init))
                if batch_norm:
                    features.add(nn.BatchNorm())
                features.add(nn.Activation("relu"))
            features.add(nn.MaxPool2D(strides=2))
        return features

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """The scores of all classes."""
        return self.output(self.features(x))


def get_vgg(
    num_layers: int, pretrained: bool = False, ctx: Any = None, root: str | None = None,
    **kwargs: Any,
) -> VGG:  # fmt: skip
    """VGG with 11, 13, 16 or 19 layers; ``pretrained`` parameters are read from ``root``."""
    layers, filters = of_depth(vgg_spec, "vgg", num_layers)
    name = f"vgg{num_layers}{'_bn' if kwargs.get('batch_norm') else ''}"
    return with_parameters(VGG(layers, filters, **kwargs), pretrained, name, ctx, root)


def vgg11(**kwargs: Any) -> VGG:
    """VGG with 11 layers."""
    return get_vgg(11, **kwargs)


def vgg13(**kwargs: Any) -> VGG:
    """VGG with 13 layers."""
    return get_vgg(13, **kwargs)


def vgg16(**kwargs: Any) -> VGG:
    """VGG with 16 layers."""
    return get_vgg(16, **kwargs)


def vgg19(**kwargs: Any) -> VGG:
    """VGG with 19 layers."""
    return get_vgg(19, **kwargs)


def vgg11_bn(**kwargs: Any) -> VGG:
    """VGG with 11 layers and batch normalization."""
    return get_vgg(11, **{**kwargs, "batch_norm": True})


def vgg13_bn(**kwargs: Any) -> VGG:
    """VGG with 13 layers and batch normalization."""
    return get_vgg(13, **{**kwargs, "batch_norm": True})


def vgg16_bn(**kwargs: Any) -> VGG:
    """VGG with 16 layers and batch normalization."""
    return get_vgg(16, **{**kwargs, "batch_norm": True})


def vgg19_bn(**kwargs: Any) -> VGG:
    """VGG with 19 layers and batch normalization."""
    return get_vgg(19, **{**kwargs, "batch_norm": True})
