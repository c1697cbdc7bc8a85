"""How often classes are right: accuracies, F1, correlation coefficients, cross-entropies."""

from __future__ import annotations

import math

import numpy as np

from ..base import ArgumentError, IndexOutOfRange, ShapeError
from .base import EvalMetric, SummedMetric, alias, check_label_shapes, pairs, register


@alias("acc")
@register
class Accuracy(SummedMetric):
    """The share of right predictions.

    Predictions shaped like the labels are class numbers, others are scores, and the best is meant.

    Parameters
    ----------
    axis : where the classes are in the scores.

    Examples
    --------
    >>> accuracy = Accuracy()
    >>> accuracy.update(nd.array([0, 1, 1]), nd.array([[0.3, 0.7], [0, 1.0], [0.4, 0.6]]))
    >>> accuracy.get()
    ('accuracy', 0.6666666666666666)
    """

    def __init__(self, axis=1, name="accuracy", output_names=None, label_names=None):
        self.axis = axis
        super().__init__(name, output_names, label_names, axis=axis)

    def score(self, label, pred):
        """The number of right predictions and the number of predictions."""
        if pred.shape != label.shape:
            pred = best(pred, self.axis)
        label, pred = label.ravel(), pred.ravel()
        check_label_shapes(label, pred)
        return int(np.count_nonzero(classes(label) == classes(pred))), label.size


def best(scores: np.ndarray, axis: int) -> np.ndarray:
    """The class with the highest score."""
    if not -scores.ndim <= axis < scores.ndim:
        raise ShapeError(
            f"metric: there is no axis of classes.\n  received  prediction {scores.shape}, "
            f"axis={axis}\n  expected  more than {axis} dimensions, or the shape of the label\n"
            "  fix       pass scores for each class, or another axis"
        )
    return scores.argmax(axis=axis)


def classes(x: np.ndarray) -> np.ndarray:
    """Class numbers as integers."""
    return x if x.dtype.kind in "iub" else x.astype(np.int64)


@alias("top_k_accuracy", "top_k_acc")
@register
class TopKAccuracy(SummedMetric):
    """The share of samples whose class is among the ``top_k`` with the highest scores."""

    def __init__(self, top_k=1, name="top_k_accuracy", output_names=None, label_names=None):
        if top_k <= 1:
            raise ArgumentError(
                f"Please use Accuracy if top_k is no more than 1\n  received  top_k={top_k}\n"
                "  expected  at least 2\n  fix       use metric.Accuracy()"
            )
        self.top_k = top_k
        suffix = f"_{top_k}"
        if not name.endswith(suffix):  # the name in a configuration has it already
            name += suffix
        super().__init__(name, output_names, label_names, top_k=top_k)

    def score(self, label, pred):
        """The number of samples whose class is among the best, and the number of samples."""
        if pred.ndim > 2:
            raise _too_many_dimensions(pred)
        check_label_shapes(label, pred)
        label = classes(label.ravel())
        if pred.ndim < 2:
            return int(np.count_nonzero(classes(pred) == label)), label.size
        width = min(self.top_k, pred.shape[1])
        leaders = np.argpartition(pred.astype(np.float32, copy=False), -width)[:, -width:]
        return int(np.count_nonzero(leaders == label[:, None])), label.size


def _too_many_dimensions(pred: np.ndarray) -> ArgumentError:
    return ArgumentError(
        f"Predictions should be no more than 2 dims\n  received  prediction {pred.shape}\n"
        "  expected  (samples, classes)\n  fix       reshape the output so that rows are samples"
    )


class Confusion:
    """Counts of the four cases of a yes/no question."""

    __slots__ = ("true_positives", "false_positives", "true_negatives", "false_negatives")

    def __init__(self):
        self.true_positives = self.false_positives = 0
        self.true_negatives = self.false_negatives = 0

    def add(self, label: np.ndarray, pred: np.ndarray) -> None:
        """Take in labels of 0 and 1 and the scores of both classes."""
        yes = best(pred, 1).ravel() == 1
        label = classes(label.ravel())
        check_label_shapes(label, yes)
        if np.unique(label).size > 2:
            raise ArgumentError(
                "metric currently only supports binary classification.\n"
                f"  received  labels {np.unique(label).tolist()[:8]}\n  expected  0 and 1\n"
                "  fix       use PCC, which takes any number of classes"
            )
        truth = label == 1
        both = int(np.count_nonzero(truth & yes))
        self.true_positives += both
        self.false_positives += int(np.count_nonzero(yes)) - both
        self.false_negatives += int(np.count_nonzero(truth)) - both
        self.true_negatives += int(np.count_nonzero(~(truth | yes)))

    def merge(self, other: Confusion) -> None:
        """Take in all the cases another one counted."""
        for case in self.__slots__:
            setattr(self, case, getattr(self, case) + getattr(other, case))

    @property
    def total(self) -> int:
        """The number of cases counted."""
        return sum(getattr(self, case) for case in self.__slots__)

    def f1(self) -> float:
        """The harmonic mean of precision and recall; 0 if there is no true positive."""
        doubled = 2 * self.true_positives
        wrong = self.false_positives + self.false_negatives
        return doubled / (doubled + wrong) if doubled else 0.0

    def matthews(self) -> float:
        """Matthews' correlation coefficient; an empty row or column counts as a factor of 1."""
        tp, fp = self.true_positives, self.false_positives
        tn, fn = self.true_negatives, self.false_negatives
        sums = (tp + fp, tp + fn, tn + fp, tn + fn)
        return (tp * tn - fp * fn) / math.sqrt(math.prod(s for s in sums if s))


class _BinaryMetric(EvalMetric):
    """A function of the confusion matrix, averaged over the updates (macro) or of all (micro)."""

    def __init__(self, name, output_names, label_names, average):
        self.average = average
        super().__init__(name, output_names, label_names, has_global_stats=True, average=average)

    def reset(self):
        """Forget everything."""
        super().reset()
        self._local, self._global = Confusion(), Confusion()

    def reset_local(self):
        """Forget what ``get`` shows."""
        super().reset_local()
        self._local = Confusion()

    def update(self, labels, preds):
        """Take in a batch; for the macro average it is one value, however many arrays it has."""
        batch = Confusion()
        for label, pred in pairs(labels, preds):
            batch.add(label, pred)
        if self.average == "macro":
            self._add(self.value_of(batch), 1)
            return
        self._local.merge(batch)
        self._global.merge(batch)
        self.num_inst, self.global_num_inst = self._local.total, self._global.total
        self.sum_metric = self.value_of(self._local) * self.num_inst
        self.global_sum_metric = self.value_of(self._global) * self.global_num_inst


@register
class F1(_BinaryMetric):
    """The harmonic mean of precision and recall of class 1, for labels of 0 and 1.

    Parameters
    ----------
    average : ``"macro"`` averages over the updates, ``"micro"`` counts all samples alike.
    """

    value_of = staticmethod(Confusion.f1)

    def __init__(self, name="f1", output_names=None, label_names=None, average="macro"):
        super().__init__(name, output_names, label_names, average)


@register
class MCC(_BinaryMetric):
    """Matthews' correlation coefficient: 1 is perfect, 0 chance; fair when one class is rare.

    Parameters
    ----------
    average : ``"macro"`` averages over the updates, ``"micro"`` counts all samples alike.
    """

    value_of = staticmethod(Confusion.matthews)

    def __init__(self, name="mcc", output_names=None, label_names=None, average="macro"):
        super().__init__(name, output_names, label_names, average)


@register
class PCC(EvalMetric):
    """Pearson's correlation of one-hot classes: ``MCC`` micro, for any number of classes.

    ``lcm`` and ``gcm`` are the confusion matrices (prediction, label) ``get`` and ``get_global``
    look at; they grow with the classes seen.
    """

    def __init__(self, name="pcc", output_names=None, label_names=None, has_global_stats=True):
        self.k = 2
        super().__init__(name, output_names, label_names, has_global_stats=has_global_stats)

    def update(self, labels, preds):
        """Take in a batch of class numbers and of class numbers or scores."""
        batch = []
        for label, pred in pairs(labels, preds):
            chosen = classes(pred if pred.shape == label.shape else best(pred, 1)).ravel()
            truth = classes(label.ravel())
            check_label_shapes(truth, chosen)
            batch.append((truth, chosen))
        for truth, chosen in batch:
            if truth.size:
                self._grow(1 + int(max(truth.max(), chosen.max())) - self.k)
            counts = np.bincount(chosen * self.k + truth, minlength=self.k**2)
            matrix = counts.reshape(self.k, self.k)
            self.lcm += matrix
            self.gcm += matrix
        self.num_inst += 1.0
        self.global_num_inst += 1.0

    def _grow(self, more):
        if more > 0:
            self.k += more
            self.lcm = np.pad(self.lcm, ((0, more), (0, more)))
            self.gcm = np.pad(self.gcm, ((0, more), (0, more)))

    def reset(self):
        """Forget everything but how many classes there are."""
        self.global_num_inst = 0.0
        self.gcm = np.zeros((self.k, self.k))
        self.reset_local()

    def reset_local(self):
        """Forget what ``get`` shows."""
        self.num_inst = 0.0
        self.lcm = np.zeros((self.k, self.k))

    @property
    def sum_metric(self):
        """The local coefficient times the number of updates."""
        return correlation(self.lcm) * self.num_inst

    @property
    def global_sum_metric(self):
        """The coefficient since ``reset`` times the number of updates."""
        return correlation(self.gcm) * self.global_num_inst


def correlation(confusion: np.ndarray) -> float:
    """Correlation of the two sides of a confusion matrix; nan if one of them is constant."""
    total = confusion.sum()
    rows, columns = confusion.sum(axis=1), confusion.sum(axis=0)
    spread = (rows @ (total - rows)) * (columns @ (total - columns))
    if spread == 0:
        return float("nan")
    agreement = confusion.trace() * total - rows @ columns
    return float(agreement / math.sqrt(spread))


@alias("ce")
@register
class CrossEntropy(SummedMetric):
    """The mean of ``-log p(label)``, for predictions that are probabilities.

    Parameters
    ----------
    eps : added to the probability, so that the logarithm of 0 is finite.
    """

    def __init__(self, eps=1e-12, name="cross-entropy", output_names=None, label_names=None):
        self.eps = eps
        super().__init__(name, output_names, label_names, eps=eps)

    def score(self, label, pred):
        """The sum of ``-log p(label)`` and the number of samples."""
        label = classes(label.ravel())
        if pred.ndim != 2 or label.size != pred.shape[0]:
            raise _not_rows(label, pred)
        try:
            likelihood = pred[np.arange(label.size), label].astype(np.float64)
        except IndexError as error:
            raise IndexOutOfRange(
                f"{type(self).__name__}: a label is not one of the classes.\n"
                f"  received  labels up to {label.max()}, prediction {pred.shape}\n"
                f"  expected  labels below {pred.shape[1]}\n"
                "  fix       number classes from 0, or give the network more outputs"
            ) from error
        return float(-np.log(likelihood + self.eps).sum()), label.size


def _not_rows(label: np.ndarray, pred: np.ndarray) -> ArgumentError:
    return ArgumentError(
        "metric: labels and predictions do not fit together.\n"
        f"  received  label {label.shape}, prediction {pred.shape}\n"
        "  expected  prediction (samples, classes), one label a sample\n"
        "  fix       reshape the output so that rows are samples"
    )


@alias("nll_loss")
@register
class NegativeLogLikelihood(CrossEntropy):
    """``CrossEntropy`` under its statistical name."""

    def __init__(self, eps=1e-12, name="nll-loss", output_names=None, label_names=None):
        super().__init__(eps, name, output_names, label_names)
