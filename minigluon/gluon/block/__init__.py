"""Blocks: layers and networks, eager, hybrid, or made of a symbol."""

from .block import Block
from .hybrid import HybridBlock
from .symbol_block import SymbolBlock

__all__ = ["Block", "HybridBlock", "SymbolBlock"]
