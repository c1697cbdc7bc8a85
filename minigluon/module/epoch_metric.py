"""Metrics of many batches of one sample, to the bit what they are updated one by one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .. import metric as metrics
from ..metric.classification import best, classes

Rows = Mapping[str, np.ndarray]  # by name, a row for each sample


def refusal(metric: Any, labels: Rows, shapes: Mapping[str, tuple[int, ...]]) -> str:
    """Why a metric cannot be updated afterwards, for outputs of these shapes; "" if it can."""
    if type(metric) is metrics.CompositeEvalMetric:
        if metric.label_names is not None or metric.output_names is not None:
            return "a composite metric that chooses outputs"
        return next(filter(None, (refusal(m, labels, shapes) for m in metric.metrics)), "")
    if type(metric) not in _SCORES:
        return f"the metric {type(metric).__name__} sees every batch by itself"
    named = metric.label_names or list(labels), metric.output_names or list(shapes)
    for label, output in zip(*named, strict=True):
        if labels[label][0].size != 1:
            return f"{label} is more than a number a sample"
        shape = shapes[output]
        if not _fits(type(metric), metric, labels[label], shape):
            return f"the metric {type(metric).__name__} of an output {shape}"
    return ""


def _fits(kind: Any, metric: Any, label: np.ndarray, shape: tuple[int, ...]) -> bool:
    single = int(np.prod(shape)) == 1
    if kind in _ERRORS:
        return single
    if kind is metrics.Accuracy:
        return shape == (1, *label.shape[1:]) or (len(shape) == 2 and metric.axis in (1, -1))
    if len(shape) != 2 or not (label >= 0).all() or not (label < shape[1]).all():
        return False
    return label.dtype.kind in "fiu"


def update(metric: Any, labels: Rows, outputs: Rows) -> None:
    """Take in rows of labels and outputs, in order."""
    if type(metric) is metrics.CompositeEvalMetric:
        for member in metric.metrics:
            update(member, labels, outputs)
        return
    score = _SCORES[type(metric)]
    totals: Any = 0.0
    count = 0
    named = metric.label_names or list(labels), metric.output_names or list(outputs)
    for label, output in zip(*named, strict=True):
        totals = totals + score(metric, labels[label], outputs[output])
        count += 1
    count *= len(totals)
    for kind in ("", "global_"):
        held = getattr(metric, f"{kind}sum_metric")
        total = np.add.accumulate(np.concatenate(([held], totals)))[-1]  # in order, as one by one
        setattr(metric, f"{kind}sum_metric", float(total))
        setattr(metric, f"{kind}num_inst", getattr(metric, f"{kind}num_inst") + count)


def _differences(label: np.ndarray, output: np.ndarray) -> np.ndarray:
    return label.ravel().astype(np.float64) - output.ravel().astype(np.float64)


def _absolute(_: Any, label: np.ndarray, output: np.ndarray) -> np.ndarray:
    return np.abs(_differences(label, output))


def _squared(_: Any, label: np.ndarray, output: np.ndarray) -> np.ndarray:
    difference = _differences(label, output)
    return difference * difference


def _root(metric: Any, label: np.ndarray, output: np.ndarray) -> np.ndarray:
    return np.sqrt(_squared(metric, label, output))


def _right(metric: Any, label: np.ndarray, output: np.ndarray) -> np.ndarray:
    if output.shape[2:] != label.shape[1:] or output.shape[1] != 1:
        output = best(output, 2)
    return (classes(label.ravel()) == classes(output.ravel())).astype(np.float64)


def _unlikely(metric: Any, label: np.ndarray, output: np.ndarray) -> np.ndarray:
    chosen = output[np.arange(len(output)), 0, classes(label.ravel())].astype(np.float64)
    return -np.log(chosen + metric.eps)


_ERRORS = (metrics.MAE, metrics.MSE, metrics.RMSE)
#: metric -> a function of the metric, labels and outputs (rows of batches of one): scores by row
_SCORES: dict[type, Callable[[Any, np.ndarray, np.ndarray], np.ndarray]] = {
    metrics.MAE: _absolute,
    metrics.MSE: _squared,
    metrics.RMSE: _root,
    metrics.Accuracy: _right,
    metrics.CrossEntropy: _unlikely,
    metrics.NegativeLogLikelihood: _unlikely,
}
