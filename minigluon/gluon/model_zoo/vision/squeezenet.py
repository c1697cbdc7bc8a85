"""SqueezeNet (Iandola et al., 2016), versions 1.0 and 1.1."""

from __future__ import annotations

from typing import Any

from ....base import ArgumentError, four_lines
from ... import nn
from ...block import HybridBlock
from ...contrib.nn import HybridConcurrent
from ..model_store import with_parameters

__all__ = ["SqueezeNet", "squeezenet1_0", "squeezenet1_1"]

_VERSIONS = {
    "1.0": ((96, 7), (16, 16, 32), (32, 48, 48, 64), (64,)),
    "1.1": ((64, 3), (16, 16), (32, 32), (48, 48, 64, 64)),
}
"""Channels and kernel of the first convolution; the squeezed channels between poolings."""


class SqueezeNet(HybridBlock):
    """Modules that squeeze the channels and expand them by 1x1 and 3x3 convolutions.

    Parameters
    ----------
    version : ``"1.0"`` or ``"1.1"``, which is smaller.
    classes : number of outputs.

    Examples
    --------
    >>> len(SqueezeNet("1.1", classes=10).features)
    14
    """

    def __init__(self, version: str, classes: int = 1000, **kwargs: Any):
        super().__init__(**kwargs)
        if version not in _VERSIONS:
            raise ArgumentError(
                four_lines(
                    f"Unsupported SqueezeNet version {version}:1.0 or 1.1 expected",
                    f"version={version!r}",
                    "'1.0' or '1.1', as text",
                    "pass version='1.1'",
                )
            )
        (channels, kernel), *groups = _VERSIONS[version]
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            self.features.add(nn.Conv2D(channels, kernel, strides=2), nn.Activation("relu"))
            for group in groups:
                self.features.add(nn.MaxPool2D(3, 2, ceil_mode=True))
                self.features.add(*[_fire(squeezed) for squeezed in group])
            self.features.add(nn.Dropout(0.5))
            self.output = nn.HybridSequential(prefix="")
            self.output.add(
                nn.Conv2D(classes, 1), nn.Activation("relu"), nn.AvgPool2D(13), nn.Flatten()
            )

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """The scores of all classes."""
        return self.output(self.features(x))


def _fire(squeezed: int) -> nn.HybridSequential:
    out = nn.HybridSequential(prefix="")
    out.add(_convolution(squeezed, 1))
    paths = HybridConcurrent(axis=1, prefix="")
    paths.add(_convolution(4 * squeezed, 1), _convolution(4 * squeezed, 3, 1))
    out.add(paths)
    return out


def _convolution(channels: int, kernel: int, padding: int = 0) -> nn.HybridSequential:
    out = nn.HybridSequential(prefix="")
    out.add(nn.Conv2D(channels, kernel, padding=padding), nn.Activation("relu"))
    return out


def get_squeezenet(
    version: str, pretrained: bool = False, ctx: Any = None, root: str | None = None,
    **kwargs: Any,
) -> SqueezeNet:  # fmt: skip
    """SqueezeNet of a version; ``pretrained`` parameters are read from ``root``."""
    name = f"squeezenet{version}"
    return with_parameters(SqueezeNet(version, **kwargs), pretrained, name, ctx, root)


def squeezenet1_0(**kwargs: Any) -> SqueezeNet:
    """SqueezeNet 1.0."""
    return get_squeezenet("1.0", **kwargs)


def squeezenet1_1(**kwargs: Any) -> SqueezeNet:
    """SqueezeNet 1.1, which needs 2.4 times less computation."""
    return get_squeezenet("1.1", **kwargs)
