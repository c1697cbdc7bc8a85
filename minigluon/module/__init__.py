"""Training loops over symbols: ``mx.mod.Module`` and its relatives."""

from . import base_module, executor_group, module
from .base_module import BaseModule
from .module import Module

__all__ = ["BaseModule", "Module", "base_module", "executor_group", "module"]
