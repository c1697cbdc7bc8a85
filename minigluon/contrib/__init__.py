"""``mx.contrib``: what MXNet keeps outside its main interfaces."""

from __future__ import annotations

from . import autograd, io, ndarray, symbol

nd, sym = ndarray, symbol

__all__ = ["autograd", "io", "nd", "ndarray", "sym", "symbol"]
