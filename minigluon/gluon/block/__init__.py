"""Blocks: layers and networks, eager, hybrid, or made of a symbol."""

from ..parameter import DeferredInitializationError, Parameter, ParameterDict
from ..utils import HookHandle
from .block import Block
from .hybrid import HybridBlock
from .nesting import flatten as _flatten  # noqa: F401  (GluonTS takes it here)
from .symbol_block import SymbolBlock

__all__ = [
    "Block",
    "DeferredInitializationError",
    "HookHandle",
    "HybridBlock",
    "Parameter",
    "ParameterDict",
    "SymbolBlock",
]
