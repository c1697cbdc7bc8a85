"""How surprised a language model is."""

from __future__ import annotations

import math

import numpy as np

from ..base import ArgumentError
from .base import SummedMetric, register


@register
class Perplexity(SummedMetric):
    """``exp`` of the mean negative log likelihood of the right words.

    Parameters
    ----------
    ignore_label : a label that is not counted, as padding is; None counts all.
    axis : where the classes are in the predictions.
    """

    def __init__(
        self, ignore_label, axis=-1, name="perplexity", output_names=None, label_names=None
    ):
        self.ignore_label = ignore_label
        self.axis = axis
        super().__init__(name, output_names, label_names, ignore_label=ignore_label, axis=axis)

    def score(self, label, pred):
        """The sum of ``-log p(label)`` and the number of labels that count."""
        classes = pred.shape[self.axis] if pred.ndim else 0
        if label.size * classes != pred.size or not classes:
            raise ArgumentError(
                f"shape mismatch: {label.shape} vs. {pred.shape}\n"
                f"  received  label {label.shape}, prediction {pred.shape}, axis={self.axis}\n"
                "  expected  one label for each distribution in the prediction\n"
                "  fix       check axis, and that labels and outputs are flattened alike"
            )
        rows = np.moveaxis(pred, self.axis, -1).reshape(-1, classes)
        flat = label.ravel()
        chosen = np.clip(flat.astype(np.int64), 0, classes - 1)
        likelihood = rows[np.arange(flat.size), chosen].astype(np.float64)
        if self.ignore_label is not None:
            likelihood = likelihood[flat != self.ignore_label]
        return float(-np.log(np.maximum(likelihood, 1e-10)).sum()), likelihood.size

    def get(self):
        """``(name, value)`` since the last reset of either kind."""
        name, mean = super().get()
        return name, math.exp(mean)

    def get_global(self):
        """``(name, value)`` since the last ``reset``."""
        name, mean = super().get_global()
        return name, math.exp(mean)
