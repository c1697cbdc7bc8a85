"""``gluon.contrib``: layers, cells, data and training loops beside the main ones."""

from . import cnn, data, estimator, nn, rnn

__all__ = ["cnn", "data", "estimator", "nn", "rnn"]
