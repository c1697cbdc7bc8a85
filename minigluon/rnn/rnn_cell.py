"""``mx.rnn.rnn_cell``: all symbolic cells, under the path MXNet has them."""

from .cell import BaseRNNCell, RNNParams
from .cells import GRUCell, LSTMCell, RNNCell
from .conv import BaseConvRNNCell, ConvGRUCell, ConvLSTMCell, ConvRNNCell
from .fused import FusedRNNCell
from .modifiers import DropoutCell, ModifierCell, ResidualCell, ZoneoutCell
from .stacks import BidirectionalCell, SequentialRNNCell

__all__ = [
    "BaseConvRNNCell", "BaseRNNCell", "BidirectionalCell", "ConvGRUCell", "ConvLSTMCell",
    "ConvRNNCell", "DropoutCell", "FusedRNNCell", "GRUCell", "LSTMCell", "ModifierCell", "RNNCell",
    "RNNParams", "ResidualCell", "SequentialRNNCell", "ZoneoutCell",
]  # fmt: skip
