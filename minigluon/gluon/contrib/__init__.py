"""``gluon.contrib``: layers, cells, data and training loops beside the main ones."""

from . import nn

__all__ = ["nn"]
