"""``mx.model``: checkpoints, what updates parameters, and `FeedForward`, the old trainer."""

from __future__ import annotations

from collections import namedtuple

from .checkpoint import load_checkpoint, load_params, save_checkpoint, split_params
from .exchange import (
    _create_kvstore,
    _initialize_kvstore,
    _update_params,
    _update_params_on_kvstore,
)

#: What callbacks get after a batch.
BatchEndParam = namedtuple("BatchEndParams", ["epoch", "nbatch", "eval_metric", "locals"])

from .feed_forward import FeedForward  # noqa: E402 - Module, which it uses, needs the names above

__all__ = [
    "BatchEndParam", "FeedForward", "_create_kvstore", "_initialize_kvstore", "_update_params",
    "_update_params_on_kvstore", "load_checkpoint", "load_params", "save_checkpoint",
    "split_params",
]  # fmt: skip
