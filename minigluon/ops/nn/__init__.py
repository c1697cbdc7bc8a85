"""The layers' operators: convolution, pooling, normalization, activations, softmax, output layers."""

from . import activation, batch_norm, conv, dropout, norm, output, pool, softmax, upsample

__all__ = [
    "activation",
    "batch_norm",
    "conv",
    "dropout",
    "norm",
    "output",
    "pool",
    "softmax",
    "upsample",
]
