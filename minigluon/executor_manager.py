"""``mx.executor_manager``: how a batch is cut among contexts, under its oldest name.

The rest of this module of MXNet served ``FeedForward`` before there was ``Module``; use ``Module``.
"""

from .module.executor_group import _split_input_slice

__all__ = ["_split_input_slice"]
