"""Inception v3 (Szegedy et al., 2015)."""

from __future__ import annotations

from typing import Any

from ... import nn
from ...block import HybridBlock
from ...contrib.nn import HybridConcurrent
from ..model_store import with_parameters

__all__ = ["Inception3", "inception_v3"]


def _convolution(channels: int, kernel: Any, stride: int = 1, padding: Any = 0) -> Any:
    """A convolution, normalized and rectified."""
    out = nn.HybridSequential(prefix="")
    out.add(
        nn.Conv2D(channels, kernel, stride, padding, use_bias=False),
        nn.BatchNorm(epsilon=0.001),
        nn.Activation("relu"),
    )
    return out


def _path(*convolutions: tuple, pool: str | None = None) -> nn.HybridSequential:
    """Convolutions in a row, behind a pooling if there is one."""
    out = nn.HybridSequential(prefix="")
    if pool == "avg":
        out.add(nn.AvgPool2D(3, strides=1, padding=1))
    elif pool == "max":
        out.add(nn.MaxPool2D(3, strides=2))
    out.add(*[_convolution(*each) for each in convolutions])
    return out


def _module(prefix: str, *paths: Any) -> HybridConcurrent:
    """Paths beside one another, given as lists of convolutions or made by functions."""
    out = HybridConcurrent(axis=1, prefix=prefix)
    with out.name_scope():
        for path in paths:
            out.add(path() if callable(path) else _path(*path))
    return out


def _make_a(pool_features: int, prefix: str) -> HybridConcurrent:
    return _module(
        prefix,
        [(64, 1)],
        [(48, 1), (64, 5, 1, 2)],
        [(64, 1), (96, 3, 1, 1), (96, 3, 1, 1)],
        lambda: _path((pool_features, 1), pool="avg"),
    )


def _make_b(prefix: str) -> HybridConcurrent:
    return _module(
        prefix,
        [(384, 3, 2)],
        [(64, 1), (96, 3, 1, 1), (96, 3, 2)],
        lambda: _path(pool="max"),
    )


def _make_c(channels: int, prefix: str) -> HybridConcurrent:
    def row(size: int) -> tuple:
        return size, (1, 7), 1, (0, 3)

    def column(size: int) -> tuple:
        return size, (7, 1), 1, (3, 0)

    return _module(
        prefix,
        [(192, 1)],
        [(channels, 1), row(channels), column(192)],
        [(channels, 1), column(channels), row(channels), column(channels), row(192)],
        lambda: _path((192, 1), pool="avg"),
    )


def _make_d(prefix: str) -> HybridConcurrent:
    return _module(
        prefix,
        [(192, 1), (320, 3, 2)],
        [(192, 1), (192, (1, 7), 1, (0, 3)), (192, (7, 1), 1, (3, 0)), (192, 3, 2)],
        lambda: _path(pool="max"),
    )


def _make_e(prefix: str) -> HybridConcurrent:
    return _module(
        prefix,
        [(320, 1)],
        lambda: _forked((384, 1)),
        lambda: _forked((448, 1), (384, 3, 1, 1)),
        lambda: _path((192, 1), pool="avg"),
    )


def _forked(*convolutions: tuple) -> nn.HybridSequential:
    """Convolutions in a row, and then one of a row and one of a column beside each other."""
    out = nn.HybridSequential(prefix="")
    out.add(_path(*convolutions))
    fork = HybridConcurrent(axis=1, prefix="")
    fork.add(_path((384, (1, 3), 1, (0, 1))), _path((384, (3, 1), 1, (1, 0))))
    out.add(fork)
    return out


class Inception3(HybridBlock):
    """Modules of convolutions of several shapes beside one another, for images of 299x299.

    Parameters
    ----------
    classes : number of outputs.

    Examples
    --------
    >>> Inception3(classes=10).output
    Dense(None -> 10, linear)
    """

    def __init__(self, classes: int = 1000, **kwargs: Any):
        super().__init__(**kwargs)
        with self.name_scope():
            self.features = nn.HybridSequential(prefix="")
            self.features.add(
                _convolution(32, 3, 2),
                _convolution(32, 3),
                _convolution(64, 3, 1, 1),
                nn.MaxPool2D(3, 2),
                _convolution(80, 1),
                _convolution(192, 3),
                nn.MaxPool2D(3, 2),
                _make_a(32, "A1_"),
                _make_a(64, "A2_"),
                _make_a(64, "A3_"),
                _make_b("B_"),
                _make_c(128, "C1_"),
                _make_c(160, "C2_"),
                _make_c(160, "C3_"),
                _make_c(192, "C4_"),
                _make_d("D_"),
                _make_e("E1_"),
                _make_e("E2_"),
                nn.AvgPool2D(8),
                nn.Dropout(0.5),
            )
            self.output = nn.Dense(classes)

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """The scores of all classes."""
        return self.output(self.features(x))


def inception_v3(
    pretrained: bool = False, ctx: Any = None, root: str | None = None, **kwargs: Any
) -> Inception3:
    """Inception v3; ``pretrained`` parameters are read from ``root``."""
    return with_parameters(Inception3(**kwargs), pretrained, "inceptionv3", ctx, root)
