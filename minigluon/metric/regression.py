"""How far numbers are from numbers: MAE, MSE, RMSE and Pearson's correlation."""

from __future__ import annotations

import math

import numpy as np

from ..base import ShapeError
from .base import EvalMetric, SummedMetric, alias, check_label_shapes, pairs, register


def deviation(label: np.ndarray, pred: np.ndarray) -> np.ndarray:
    """``label - pred`` in at least single precision; vectors stand as columns.

    A column of labels against several columns of predictions broadcasts, as in MXNet.
    """
    if label.ndim == 1:
        label = label.reshape(-1, 1)
    if pred.ndim == 1:
        pred = pred.reshape(-1, 1)
    try:
        return np.subtract(label, pred, dtype=np.result_type(label, pred, np.float32))
    except ValueError as error:
        raise ShapeError(
            f"metric: labels and predictions do not fit together.\n"
            f"  received  label {label.shape}, prediction {pred.shape}\n"
            "  expected  shapes that broadcast\n  fix       check the number of rows of both"
        ) from error


@register
class MAE(SummedMetric):
    """Mean absolute error of each batch, averaged over the batches.

    Examples
    --------
    >>> mae = MAE()
    >>> mae.update(nd.array([3, -0.5, 2, 7]), nd.array([2.5, 0.0, 2, 8]))
    >>> mae.get()
    ('mae', 0.5)
    """

    def __init__(self, name="mae", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)

    def score(self, label, pred):
        """The mean of ``|label - pred|``, counting as one."""
        if label.size == 1 and pred.size == 1:  # a step of batch 1: 0.2 us against 6 us
            return abs(label.item() - pred.item()), 1
        return float(np.abs(deviation(label, pred)).mean(dtype=np.float64)), 1


@register
class MSE(SummedMetric):
    """Mean squared error of each batch, averaged over the batches.

    Examples
    --------
    >>> mse = MSE()
    >>> mse.update(nd.array([3, -0.5, 2, 7]), nd.array([2.5, 0.0, 2, 8]))
    >>> mse.get()
    ('mse', 0.375)
    """

    def __init__(self, name="mse", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)

    def score(self, label, pred):
        """The mean of ``(label - pred)**2``, counting as one."""
        return _mean_square(label, pred), 1


@register
class RMSE(SummedMetric):
    """Root of the mean squared error of each batch, averaged over the batches."""

    def __init__(self, name="rmse", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)

    def score(self, label, pred):
        """The root of the mean of ``(label - pred)**2``, counting as one."""
        return math.sqrt(_mean_square(label, pred)), 1


def _mean_square(label: np.ndarray, pred: np.ndarray) -> float:
    if label.size == 1 and pred.size == 1:  # a step of batch 1: 0.2 us against 6 us
        difference = label.item() - pred.item()
        return difference * difference
    difference = deviation(label, pred)
    return float(np.square(difference, out=difference).mean(dtype=np.float64))


class Moments:
    """Count, means, sums of squared deviations and of their products of pairs seen so far."""

    __slots__ = ("count", "mean_label", "mean_pred", "cov", "var_label", "var_pred")

    def __init__(self):
        self.count = 0
        self.mean_label = self.mean_pred = self.cov = self.var_label = self.var_pred = 0.0

    def add(self, label: np.ndarray, pred: np.ndarray) -> None:
        """Take in more pairs (Chan, Golub and LeVeque's rule for merging two samples)."""
        if not label.size:
            return
        mean_label, mean_pred = label.mean(), pred.mean()
        off_label, off_pred = label - mean_label, pred - mean_pred
        count = self.count + label.size
        weight = self.count * label.size / count
        gap_label, gap_pred = mean_label - self.mean_label, mean_pred - self.mean_pred
        self.var_label += off_label @ off_label + weight * gap_label**2
        self.var_pred += off_pred @ off_pred + weight * gap_pred**2
        self.cov += off_label @ off_pred + weight * gap_label * gap_pred
        self.mean_label += gap_label * label.size / count
        self.mean_pred += gap_pred * label.size / count
        self.count = count

    def correlation(self) -> float:
        """Pearson's correlation; nan if one side does not vary."""
        scale = math.sqrt(self.var_label * self.var_pred)
        return float(self.cov / scale) if scale > 0 else float("nan")


@alias("pearsonr")
@register
class PearsonCorrelation(EvalMetric):
    """Pearson's correlation of labels and predictions.

    Parameters
    ----------
    average : ``"macro"`` averages the correlations of the batches; ``"micro"`` correlates all pairs
        seen (MXNet's ``get_global`` gives 0 there, this one the value since ``reset``).
    """

    def __init__(self, name="pearsonr", output_names=None, label_names=None, average="macro"):
        self.average = average
        super().__init__(name, output_names, label_names, has_global_stats=True, average=average)

    def update(self, labels, preds):
        """Take in a batch."""
        batch = list(pairs(labels, preds))
        for label, pred in batch:
            check_label_shapes(label, pred, False, True)
        for label, pred in batch:
            label, pred = label.ravel().astype(np.float64), pred.ravel().astype(np.float64)
            if self.average == "macro":
                here = Moments()
                here.add(label, pred)
                self._add(here.correlation(), 1)
            else:
                self._local.add(label, pred)
                self._global.add(label, pred)
                self._add(0.0, 1)

    def reset_micro(self):
        """Forget the pairs that ``get`` correlates when averaging micro."""
        self._local = Moments()

    def reset(self):
        """Forget everything."""
        super().reset()
        self._global = Moments()
        self.reset_micro()

    def reset_local(self):
        """Forget what ``get`` shows."""
        super().reset_local()
        self.reset_micro()

    def get(self):
        """``(name, value)`` since the last reset of either kind."""
        if self.average == "macro":
            return super().get()
        return self.name, self._local.correlation() if self.num_inst else float("nan")

    def get_global(self):
        """``(name, value)`` since the last ``reset``."""
        if self.average == "macro":
            return super().get_global()
        return self.name, self._global.correlation() if self.global_num_inst else float("nan")
