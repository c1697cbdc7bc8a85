"""Gluon: networks as Python objects, trained with autograd and a Trainer."""

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
    "data",
    "loss",
    "nn",
    "parameter",
    "rnn",
    "tensor_types",
    "utils",
]
