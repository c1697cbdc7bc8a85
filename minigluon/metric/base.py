"""What every metric shares: a sum and a count, kept for the epoch and since the last log line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import registry
from ..base import ArgumentError, ShapeError


def values(x: Any) -> np.ndarray:
    """The numbers in an NDArray (or whatever numpy understands), not copied, only to be read."""
    data = getattr(x, "_data", None)
    if type(data) is np.ndarray:
        return data
    return x.asnumpy() if hasattr(x, "asnumpy") else np.asarray(x)


def pairs(labels: Any, preds: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Label and prediction arrays side by side; a bare array counts as a list of one."""
    if not isinstance(labels, list | tuple):
        labels = [_not_none(labels)]
    if not isinstance(preds, list | tuple):
        preds = [_not_none(preds)]
    if len(labels) != len(preds):
        raise _unequal(len(labels), len(preds))
    for label, pred in zip(labels, preds, strict=True):
        yield values(label), values(pred)


def _not_none(x: Any) -> Any:
    if x is None:
        raise TypeError(
            "metric: labels or predictions are missing.\n  received  None\n"
            "  expected  an NDArray, or a list of them\n"
            "  fix       give the iterator a label, or use metric.Loss, which needs none"
        )
    return x


def _unequal(labels: object, preds: object) -> ShapeError:
    return ShapeError(
        f"Shape of labels {labels} does not match shape of predictions {preds}\n"
        f"  received  labels {labels}, predictions {preds}\n"
        "  expected  as many predictions as labels\n"
        "  fix       choose with output_names=, label_names=, or check the axis of the metric"
    )


def check_label_shapes(labels, preds, wrap=False, shape=False):
    """``(labels, preds)``, after checking that their lengths (with ``shape=True``: shapes) agree.

    With ``wrap=True`` bare arrays come back as lists of one.
    """
    left, right = (labels.shape, preds.shape) if shape else (len(labels), len(preds))
    if left != right:
        raise _unequal(left, right)
    if wrap:
        labels = labels if isinstance(labels, list | tuple) else [labels]
        preds = preds if isinstance(preds, list | tuple) else [preds]
    return labels, preds


class EvalMetric:
    """A number that tells how good predictions are, accumulated batch by batch.

    ``get`` reads the value since the last ``reset_local``, ``get_global`` since the last ``reset``:
    a progress line can start afresh while the epoch's value goes on.

    To write a metric, add to ``sum_metric`` and ``num_inst`` in ``update``.

    Parameters
    ----------
    name : what the value is called in logs.
    output_names, label_names : which outputs and labels ``update_dict`` takes; None means all.
    """

    def __init__(self, name, output_names=None, label_names=None, **kwargs):
        self.name = str(name)
        self.output_names = output_names
        self.label_names = label_names
        self._has_global_stats = kwargs.pop("has_global_stats", False)
        self._kwargs = kwargs
        self.reset()

    def __str__(self):
        return f"EvalMetric: {dict(self.get_name_value())}"

    def get_config(self):
        """What ``create`` needs to make this metric again; JSON can hold it."""
        return {
            **self._kwargs,
            "metric": self.__class__.__name__,
            "name": self.name,
            "output_names": self.output_names,
            "label_names": self.label_names,
        }

    def update_dict(self, label, pred):
        """Take in a batch given as ``{name: array}``, as modules do."""
        names = self.output_names
        preds = list(pred.values()) if names is None else [pred[name] for name in names]
        names = self.label_names
        labels = list(label.values()) if names is None else [label[name] for name in names]
        self.update(labels, preds)

    def update(self, labels, preds):
        """Take in a batch: lists of label and prediction arrays, or single arrays."""
        raise NotImplementedError(f"{type(self).__name__} does not say how to update()")

    def reset(self):
        """Forget everything, as at the start of an epoch."""
        self.num_inst = 0
        self.sum_metric = 0.0
        self.global_num_inst = 0
        self.global_sum_metric = 0.0

    def reset_local(self):
        """Forget what ``get`` shows; ``get_global`` goes on."""
        self.num_inst = 0
        self.sum_metric = 0.0

    def get(self):
        """``(name, value)`` since the last reset of either kind; nan before the first update."""
        return self.name, _quotient(self.sum_metric, self.num_inst)

    def get_global(self):
        """``(name, value)`` since the last ``reset``."""
        if self._has_global_stats:
            return self.name, _quotient(self.global_sum_metric, self.global_num_inst)
        return self.get()

    def get_name_value(self):
        """``get`` as a list of ``(name, value)``."""
        return _listed(self.get())

    def get_global_name_value(self):
        """``get_global`` as a list of ``(name, value)``."""
        return _listed(self.get_global())

    def _add(self, total, count):
        self.sum_metric += total
        self.num_inst += count
        self.global_sum_metric += total
        self.global_num_inst += count


def _quotient(total, count):
    return float("nan") if count == 0 else total / count


def _listed(named):
    names, found = named
    if isinstance(names, list):
        return list(zip(names, found, strict=True))
    return [(names, found)]


class SummedMetric(EvalMetric):
    """A metric that adds up ``score(label, pred) -> (total, count)`` over pairs of arrays."""

    def __init__(self, name, output_names=None, label_names=None, **kwargs):
        super().__init__(name, output_names, label_names, has_global_stats=True, **kwargs)

    def score(self, label: np.ndarray, pred: np.ndarray) -> tuple[float, int]:
        """What one pair of arrays adds to the sum and to the count."""
        raise NotImplementedError(f"{type(self).__name__} does not say how to score()")

    def update(self, labels, preds):
        """Take in a batch; nothing is taken in if a part of it is wrong."""
        total, count = 0.0, 0
        for label, pred in pairs(labels, preds):
            more, number = self.score(label, pred)
            total += more
            count += number
        self._add(total, count)


register = registry.get_register_func(EvalMetric, "metric")
alias = registry.get_alias_func(EvalMetric, "metric")
create_registered = registry.get_create_func(EvalMetric, "metric")


@alias("composite")
@register
class CompositeEvalMetric(EvalMetric):
    """Several metrics fed with the same batches.

    Parameters
    ----------
    metrics : metrics, or whatever ``create`` makes one of.

    Examples
    --------
    >>> both = CompositeEvalMetric(["acc", "mse"])
    >>> both.get()
    (['accuracy', 'mse'], [nan, nan])
    """

    def __init__(self, metrics=None, name="composite", output_names=None, label_names=None):
        if isinstance(metrics, str | EvalMetric | dict):
            metrics = [metrics]
        self.metrics = [create(metric) for metric in metrics or ()]
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def add(self, metric):
        """Append a metric, or whatever ``create`` makes one of."""
        self.metrics.append(create(metric))

    def get_metric(self, index):
        """The metric at a position."""
        try:
            return self.metrics[index]
        except IndexError as error:
            count = len(self.metrics)
            raise ArgumentError(
                f"Metric index {index} is out of range 0 and {count}\n"
                f"  received  index={index}\n  expected  an index into {count} metrics\n"
                "  fix       look at .metrics"
            ) from error

    def update_dict(self, labels, preds):
        """Take in a batch given as ``{name: array}``."""
        if self.label_names is not None:
            labels = {k: v for k, v in labels.items() if k in self.label_names}
        if self.output_names is not None:
            preds = {k: v for k, v in preds.items() if k in self.output_names}
        for metric in self.metrics:
            metric.update_dict(labels, preds)

    def update(self, labels, preds):
        """Take in a batch."""
        for metric in self.metrics:
            metric.update(labels, preds)

    def reset(self):
        """Forget everything in every metric."""
        for metric in self.metrics:
            metric.reset()

    def reset_local(self):
        """Forget what ``get`` shows in every metric."""
        for metric in self.metrics:
            metric.reset_local()

    def get(self):
        """``(names, values)`` of all metrics since the last reset of either kind."""
        return _unzipped(m.get_name_value() for m in self.metrics)

    def get_global(self):
        """``(names, values)`` of all metrics since the last ``reset``."""
        return _unzipped(m.get_global_name_value() for m in self.metrics)

    def get_config(self):
        """What ``create`` needs to make this metric and its parts again."""
        return {**super().get_config(), "metrics": [m.get_config() for m in self.metrics]}


def _unzipped(parts):
    named = [pair for part in parts for pair in part]
    return [name for name, _ in named], [value for _, value in named]


def create(metric, *args, **kwargs):
    """Make a metric of a name, a function, a configuration, or a list of such.

    A function ``f(label, pred)`` becomes a ``CustomMetric``, a list a ``CompositeEvalMetric``;
    arguments go to the constructor (of every member).

    Examples
    --------
    >>> create("top_k_accuracy", top_k=5).get()
    ('top_k_accuracy_5', nan)
    """
    if isinstance(metric, type) and issubclass(metric, EvalMetric):
        return metric(*args, **kwargs)
    if callable(metric):
        from .custom import CustomMetric

        return CustomMetric(metric, *args, **kwargs)
    if isinstance(metric, list | tuple):
        return CompositeEvalMetric([create(child, *args, **kwargs) for child in metric])
    return create_registered(metric, *args, **kwargs)
