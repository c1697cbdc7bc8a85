"""The cells under the module name that MXNet has for them."""

from .cell import HybridRecurrentCell, RecurrentCell
from .cells import GRUCell, LSTMCell, RNNCell
from .modifiers import DropoutCell, ModifierCell, ResidualCell, ZoneoutCell
from .stacks import BidirectionalCell, HybridSequentialRNNCell, SequentialRNNCell

__all__ = [
    "BidirectionalCell",
    "DropoutCell",
    "GRUCell",
    "HybridRecurrentCell",
    "HybridSequentialRNNCell",
    "LSTMCell",
    "ModifierCell",
    "RNNCell",
    "RecurrentCell",
    "ResidualCell",
    "SequentialRNNCell",
    "ZoneoutCell",
]
