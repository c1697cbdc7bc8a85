"""The layers' operators: convolution, pooling, normalization, activations, outputs."""

from . import (
    activation,
    batch_norm,
    conv,
    ctc,
    dropout,
    norm,
    output,
    penalty,
    pool,
    rnn,
    sequence,
    softmax,
    upsample,
)

__all__ = [
    "activation",
    "batch_norm",
    "conv",
    "ctc",
    "dropout",
    "norm",
    "output",
    "penalty",
    "pool",
    "rnn",
    "sequence",
    "softmax",
    "upsample",
]
