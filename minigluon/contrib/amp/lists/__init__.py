"""What automatic mixed precision knows about operators."""

from . import symbol_fp16

__all__ = ["symbol_fp16"]
