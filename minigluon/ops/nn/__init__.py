"""The layers' operators: activations, softmax, output layers, dropout."""

from . import activation, dropout, output, softmax

__all__ = ["activation", "dropout", "output", "softmax"]
