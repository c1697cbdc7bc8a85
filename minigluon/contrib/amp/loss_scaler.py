"""The factor losses are multiplied by, so that small gradients do not vanish in float16."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np


class LossScaler:
    """Grows as long as gradients are finite, and shrinks when they are not.

    It begins with 2**16, is doubled (up to 2**24) after 2,000 steps without an overflow, and halved
    after a step with one.

    Examples
    --------
    >>> LossScaler().loss_scale
    65536.0
    """

    def __init__(self):
        self._loss_scale = self._next_loss_scale = 2.0**16
        self._max_loss_scale = 2.0**24
        self._scale_seq_len = 2000
        self._unskipped = 0

    @property
    def loss_scale(self) -> float:
        """What the next loss is to be multiplied by."""
        self._loss_scale = self._next_loss_scale
        return self._loss_scale

    def has_overflow(self, params: Any) -> bool:
        """Whether a gradient holds infinities or NaN; the next scale follows from it."""
        overflow = not all(
            _finite(grad) for p in params if p.grad_req != "null" for grad in p.list_grad()
        )
        if overflow:
            self._next_loss_scale = max(self._loss_scale / 2, 1.0)
            self._unskipped = 0
            logging.info("AMP: decreasing loss scale to %f", self._next_loss_scale)
            return True
        self._unskipped += 1
        if self._unskipped == self._scale_seq_len:
            self._unskipped = 0
            self._next_loss_scale = min(self._max_loss_scale, self._loss_scale * 2)
            logging.info("AMP: increasing loss scale to %f", self._next_loss_scale)
        return False


def _finite(grad: Any) -> bool:
    values = (grad if grad.stype == "default" else grad.data).asnumpy()
    return bool(np.isfinite(values).all())
