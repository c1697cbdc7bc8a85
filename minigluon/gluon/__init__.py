"""Gluon: networks as Python objects, trained with autograd and a Trainer."""

import importlib

from . import block, loss, nn, parameter, utils
from .block import Block, HybridBlock, SymbolBlock
from .parameter import (
    Constant,
    DeferredInitializationError,
    Parameter,
    ParameterDict,
    tensor_types,
)
from .trainer import Trainer

__all__ = [
    "Block",
    "Constant",
    "DeferredInitializationError",
    "HybridBlock",
    "Parameter",
    "ParameterDict",
    "SymbolBlock",
    "Trainer",
    "block",
    "contrib",
    "data",
    "loss",
    "model_zoo",
    "nn",
    "parameter",
    "rnn",
    "tensor_types",
    "utils",
]


def __getattr__(name: str):
    """Import some modules at their first use: ``data`` takes 14 ms (sockets, archives)."""
    if name in ("contrib", "data", "model_zoo", "rnn"):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
