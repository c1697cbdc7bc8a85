"""The layers' operators: convolution, pooling, normalization, activations, outputs."""

from . import (
    activation,
    batch_norm,
    columns,
    conv,
    ctc,
    deconv,
    dropout,
    fully_connected,
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
    "columns",
    "conv",
    "ctc",
    "deconv",
    "dropout",
    "fully_connected",
    "norm",
    "output",
    "penalty",
    "pool",
    "rnn",
    "sequence",
    "softmax",
    "upsample",
]
