"""``mx.executor``: the class of what ``bind`` and ``simple_bind`` return."""

from .symbol.executor import Executor

__all__ = ["Executor"]
