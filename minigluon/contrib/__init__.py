"""``mx.contrib``: what MXNet keeps outside its main interfaces."""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType

from . import autograd, io, ndarray, symbol

nd, sym = ndarray, symbol


def __getattr__(name: str) -> ModuleType:
    """Import a module of the package at its first use."""
    if not name.startswith("_") and importlib.util.find_spec(f"{__name__}.{name}") is not None:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = ["autograd", "io", "nd", "ndarray", "sym", "symbol"]
