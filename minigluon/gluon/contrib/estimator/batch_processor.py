"""What is done with one batch: a forward pass, and for training a backward pass."""

from __future__ import annotations

from typing import Any

from .... import autograd
from ...utils import split_and_load

__all__ = ["BatchProcessor"]


class BatchProcessor:
    """Runs a batch ``(data, label)`` on all contexts of an estimator.

    Derive from it where batches are made of something else, or several losses are to be added.
    """

    def _get_data_and_label(self, batch: Any, ctx: list, batch_axis: int = 0) -> tuple[list, list]:
        """Pieces of the batch, one for each context."""
        data, label = batch[0], batch[1]
        return (
            split_and_load(data, ctx_list=ctx, batch_axis=batch_axis),
            split_and_load(label, ctx_list=ctx, batch_axis=batch_axis),
        )

    def evaluate_batch(
        self, estimator: Any, val_batch: Any, batch_axis: int = 0
    ) -> tuple[list, list, list, list]:
        """Data, labels, predictions and losses of a batch, by ``val_net`` and ``val_loss``."""
        data, label = self._get_data_and_label(val_batch, estimator.context, batch_axis)
        pred = [estimator.val_net(x) for x in data]
        pairs = zip(pred, label, strict=True)
        return data, label, pred, [estimator.val_loss(p, y) for p, y in pairs]

    def fit_batch(
        self, estimator: Any, train_batch: Any, batch_axis: int = 0
    ) -> tuple[list, list, list, list]:
        """Data, labels, predictions and losses of a batch; the gradients are there afterwards."""
        data, label = self._get_data_and_label(train_batch, estimator.context, batch_axis)
        with autograd.record():
            pred = [estimator.net(x) for x in data]
            loss = [estimator.loss(p, y) for p, y in zip(pred, label, strict=True)]
        for each in loss:
            each.backward()
        return data, label, pred, loss
