"""Layers beside one another, pixel shuffling, and an embedding with a row_sparse weight."""

from __future__ import annotations

from typing import Any

import numpy as np

from .... import ndarray as nd
from ....base import ArgumentError, four_lines
from ...block import Block, HybridBlock
from ...nn import HybridSequential, Sequential
from ...nn.norm_layers import SyncBatchNorm

__all__ = [
    "Concurrent",
    "HybridConcurrent",
    "Identity",
    "PixelShuffle1D",
    "PixelShuffle2D",
    "PixelShuffle3D",
    "SparseEmbedding",
    "SyncBatchNorm",
]


class Concurrent(Sequential):
    """Blocks that all run on the same input; their outputs are concatenated along ``axis``.

    Examples
    --------
    >>> from minigluon import gluon, nd
    >>> net = Concurrent(axis=1)
    >>> net.add(gluon.nn.Dense(2, in_units=3), Identity())
    >>> net.initialize()
    >>> net(nd.ones((4, 3))).shape
    (4, 5)
    """

    def __init__(self, axis: int = -1, prefix: str | None = None, params: Any = None):
        super().__init__(prefix=prefix, params=params)
        self.axis = axis

    def forward(self, x: Any) -> Any:
        """What the blocks return, side by side."""
        return nd.concat(*[block(x) for block in self._children.values()], dim=self.axis)


class HybridConcurrent(HybridSequential):
    """Hybrid blocks that all run on the same input; their outputs are concatenated along ``axis``.

    Examples
    --------
    >>> from minigluon import gluon, nd
    >>> net = HybridConcurrent(axis=1)
    >>> net.add(gluon.nn.Dense(2, in_units=3), Identity())
    >>> net.initialize()
    >>> net.hybridize()
    >>> net(nd.ones((4, 3))).shape
    (4, 5)
    """

    def __init__(self, axis: int = -1, prefix: str | None = None, params: Any = None):
        super().__init__(prefix=prefix, params=params)
        self.axis = axis

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """What the blocks return, side by side."""
        return F.concat(*[block(x) for block in self._children.values()], dim=self.axis)


class Identity(HybridBlock):
    """Returns its input: the way around other blocks in a ``HybridConcurrent``."""

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """The input itself."""
        return x


class SparseEmbedding(Block):
    """An ``Embedding`` with row_sparse weight and gradient: only the rows asked for are touched.

    The complete weight belongs to the Trainer, which has to be made before the first call. The
    block cannot be hybridized.

    Parameters
    ----------
    input_dim, output_dim : how many vectors, of how many elements.

    Examples
    --------
    >>> from minigluon import gluon, nd
    >>> layer = SparseEmbedding(10, 4)
    >>> layer.initialize()
    >>> trainer = gluon.Trainer(layer.collect_params(), "sgd")
    >>> layer(nd.array([[1, 2, 3]])).shape
    (1, 3, 4)
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        dtype: Any = "float32",
        weight_initializer: Any = None,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self._kwargs = {
            "input_dim": input_dim,
            "output_dim": output_dim,
            "dtype": dtype,
            "sparse_grad": True,
        }
        self.weight = self.params.get(
            "weight",
            shape=(input_dim, output_dim),
            init=weight_initializer,
            dtype=dtype,
            grad_stype="row_sparse",
            stype="row_sparse",
        )

    def forward(self, x: Any) -> Any:
        """The vectors of the given numbers."""
        return nd.Embedding(x, self.weight.row_sparse_data(x), name="fwd", **self._kwargs)

    def __repr__(self) -> str:
        kind = "{input_dim} -> {output_dim}, {dtype}".format(**self._kwargs)
        return f"{type(self).__name__}({kind})"


class _PixelShuffle(HybridBlock):
    """Channels turned into finer positions: each position becomes ``factor`` along every axis."""

    _axes = 0

    def __init__(self, factor: int | tuple[int, ...]):
        super().__init__()
        if isinstance(factor, int | np.integer):
            factor = (int(factor),) * self._axes
        self._factors = tuple(int(one) for one in factor)
        if len(self._factors) != self._axes:
            raise ArgumentError(
                four_lines(
                    f"{type(self).__name__}: wrong length {len(self._factors)} of factor.",
                    f"factor={factor!r}",
                    f"a number, or {self._axes} of them",
                    f"pass factor={(2,) * self._axes}",
                )
            )

    def __repr__(self) -> str:
        factors = self._factors[0] if self._axes == 1 else self._factors
        return f"{type(self).__name__}({factors})"


class PixelShuffle1D(_PixelShuffle):
    """``(N, f*C, W)`` rearranged to ``(N, C, W*f)``; channels next to each other become neighbours.

    Examples
    --------
    >>> from minigluon import nd
    >>> PixelShuffle1D(2)(nd.array([[[0, 1], [5, 6]]])).asnumpy()
    array([[[0., 5., 1., 6.]]], dtype=float32)
    """

    _axes = 1

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Split the channels, and put the parts behind the positions."""
        (f,) = self._factors
        x = F.reshape(x, (0, -4, -1, f, 0))  # N C f W
        x = F.transpose(x, (0, 1, 3, 2))
        return F.reshape(x, (0, 0, -3))


class PixelShuffle2D(_PixelShuffle):
    """``(N, f1*f2*C, H, W)`` rearranged to ``(N, C, H*f1, W*f2)``, as in Shi et al. (2016).

    Examples
    --------
    >>> from minigluon import nd
    >>> PixelShuffle2D((2, 3))(nd.ones((1, 12, 3, 5))).shape
    (1, 2, 6, 15)
    """

    _axes = 2

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Split the channels, and put the parts behind the positions."""
        f1, f2 = self._factors
        x = F.reshape(x, (0, -4, -1, f1 * f2, 0, 0))
        x = F.reshape(x, (0, 0, -4, f1, f2, 0, 0))  # N C f1 f2 H W
        x = F.transpose(x, (0, 1, 4, 2, 5, 3))
        return F.reshape(x, (0, 0, -3, -3))


class PixelShuffle3D(_PixelShuffle):
    """``(N, f1*f2*f3*C, D, H, W)`` rearranged to ``(N, C, D*f1, H*f2, W*f3)``.

    Examples
    --------
    >>> from minigluon import nd
    >>> PixelShuffle3D((2, 3, 4))(nd.ones((1, 48, 3, 5, 7))).shape
    (1, 2, 6, 15, 28)
    """

    _axes = 3

    def hybrid_forward(self, F: Any, x: Any) -> Any:
        """Split the channels, and put the parts behind the positions, one axis after the other."""
        f1, f2, f3 = self._factors
        x = F.reshape(x, (0, -4, -1, f1 * f2 * f3, 0, 0, 0))
        x = F.swapaxes(x, 2, 3)  # N C D f1*f2*f3 H W
        x = F.reshape(x, (0, 0, 0, -4, f1, f2 * f3, 0, 0))
        x = F.reshape(x, (0, 0, -3, 0, 0, 0))
        x = F.swapaxes(x, 3, 4)  # N C D*f1 H f2*f3 W
        x = F.reshape(x, (0, 0, 0, 0, -4, f2, f3, 0))
        x = F.reshape(x, (0, 0, 0, -3, 0, 0))
        x = F.swapaxes(x, 4, 5)  # N C D*f1 H*f2 W f3
        return F.reshape(x, (0, 0, 0, 0, -3))
