"""The layers under the module name that MXNet has for them."""

from .layers import GRU, LSTM, RNN

__all__ = ["GRU", "LSTM", "RNN"]
