"""``gluon.contrib``: layers, cells, data and training loops beside the main ones."""

from . import cnn, data, nn, rnn

__all__ = ["cnn", "data", "nn", "rnn"]
