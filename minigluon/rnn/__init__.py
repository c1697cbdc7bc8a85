"""``mx.rnn``: recurrent networks as symbols, for ``Module``; ``gluon.rnn`` is another thing."""

from __future__ import annotations

from ..io import DataBatch, DataDesc, DataIter
from ..model import load_checkpoint, save_checkpoint
from . import io, rnn, rnn_cell
from .io import BucketSentenceIter, encode_sentences
from .rnn import do_rnn_checkpoint, load_rnn_checkpoint, rnn_unroll, save_rnn_checkpoint
from .rnn_cell import (
    BaseConvRNNCell,
    BaseRNNCell,
    BidirectionalCell,
    ConvGRUCell,
    ConvLSTMCell,
    ConvRNNCell,
    DropoutCell,
    FusedRNNCell,
    GRUCell,
    LSTMCell,
    ModifierCell,
    ResidualCell,
    RNNCell,
    RNNParams,
    SequentialRNNCell,
    ZoneoutCell,
)

__all__ = [
    "BaseConvRNNCell", "BaseRNNCell", "BidirectionalCell", "BucketSentenceIter", "ConvGRUCell",
    "ConvLSTMCell", "ConvRNNCell", "DataBatch", "DataDesc", "DataIter", "DropoutCell",
    "FusedRNNCell", "GRUCell", "LSTMCell", "ModifierCell", "RNNCell", "RNNParams", "ResidualCell",
    "SequentialRNNCell", "ZoneoutCell", "do_rnn_checkpoint", "encode_sentences", "io",
    "load_checkpoint", "load_rnn_checkpoint", "rnn", "rnn_cell", "rnn_unroll", "save_checkpoint",
    "save_rnn_checkpoint",
]  # fmt: skip
