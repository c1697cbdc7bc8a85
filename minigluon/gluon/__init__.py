"""Gluon: networks as Python objects, trained with autograd and a Trainer."""

import importlib

from . import block, data, loss, nn, parameter, rnn, utils
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
    """Import ``contrib`` and ``model_zoo`` at their first use: most scripts do without them."""
    if name in ("contrib", "model_zoo"):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
