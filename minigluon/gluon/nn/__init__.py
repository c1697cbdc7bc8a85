"""Layers: what networks are put together from."""

from ..block import Block, HybridBlock, SymbolBlock
from .activations import ELU, GELU, SELU, Activation, LeakyReLU, PReLU, Swish
from .basic_layers import (
    Dense,
    Dropout,
    Embedding,
    Flatten,
    HybridLambda,
    HybridSequential,
    Lambda,
    Sequential,
)

__all__ = [
    "ELU",
    "GELU",
    "SELU",
    "Activation",
    "Block",
    "Dense",
    "Dropout",
    "Embedding",
    "Flatten",
    "HybridBlock",
    "HybridLambda",
    "HybridSequential",
    "Lambda",
    "LeakyReLU",
    "PReLU",
    "Sequential",
    "Swish",
    "SymbolBlock",
]
