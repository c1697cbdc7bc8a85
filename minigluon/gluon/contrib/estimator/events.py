"""The moments of a training loop that handlers may take part in, and what handlers share."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ....base import ArgumentError, four_lines
from ....metric import CompositeEvalMetric, EvalMetric


class EventHandler:
    """What all handlers are. Lower ``priority`` goes first; without one it is 0."""


class TrainBegin(EventHandler):
    """A handler with something to do when training begins."""

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Called once, before the first epoch."""


class TrainEnd(EventHandler):
    """A handler with something to do when training ends."""

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Called once, after the last epoch."""


class EpochBegin(EventHandler):
    """A handler with something to do before every epoch."""

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Called before the first batch of an epoch."""


class EpochEnd(EventHandler):
    """A handler with something to do after every epoch; one that returns True ends the training."""

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> Any:
        """Called after the last batch of an epoch."""
        return False


class BatchBegin(EventHandler):
    """A handler with something to do before every batch."""

    def batch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Called with ``batch=``."""


class BatchEnd(EventHandler):
    """A handler with something to do after every batch; one that returns True ends the epoch."""

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> Any:
        """Called with ``batch=``, ``pred=``, ``label=`` and ``loss=``; the last three are lists."""
        return False


EVENTS = {
    "train_begin": TrainBegin,
    "train_end": TrainEnd,
    "epoch_begin": EpochBegin,
    "epoch_end": EpochEnd,
    "batch_begin": BatchBegin,
    "batch_end": BatchEnd,
}
"""What a handler must be for a method of it to be called."""

LARGER_IS_BETTER = ("acc", "f1", "mcc", "pcc", "pearson", "top_k")
"""Parts of the names of metrics that grow as a network gets better; others fall."""


def checked_handlers(handlers: Any) -> list:
    """One handler or several, as a list."""
    found = list(handlers) if isinstance(handlers, list | tuple) else [handlers]
    for handler in found:
        if not isinstance(handler, EventHandler):
            raise ArgumentError(
                four_lines(
                    f"handlers must be an EventHandler or a list of EventHandler, got: {found}",
                    type(handler).__name__,
                    "objects of classes derived from TrainBegin, EpochEnd, ...",
                    "derive the class from the events it takes part in",
                )
            )
    return found


def checked_metrics(metrics: Any) -> list:
    """One metric or several, as a list; a composite one gives its parts."""
    if isinstance(metrics, CompositeEvalMetric):
        metrics = metrics.metrics
    found = list(metrics) if isinstance(metrics, list | tuple) else [metrics]
    if not all(isinstance(metric, EvalMetric) for metric in found):
        raise ArgumentError(
            four_lines(
                "metrics must be a Metric or a list of Metric, refer to mxnet.metric.EvalMetric: "
                f"{metrics}",
                metrics,
                "objects such as mx.metric.Accuracy()",
                "make one with mx.metric.create('acc')",
            )
        )
    return found


def require_monitor(monitor: Any, purpose: str) -> None:
    """What a handler watches must be a metric."""
    if not isinstance(monitor, EvalMetric):
        raise ArgumentError(
            four_lines(
                f"{purpose}lease provide one of the metric objects from estimator.train_metrics "
                "and estimator.val_metrics as monitor.",
                f"monitor={monitor!r}",
                "a metric",
                "pass monitor=estimator.val_metrics[0]",
            )
        )


def comparison(kind: str, mode: str, monitor: EvalMetric) -> Callable:
    """``np.greater`` or ``np.less``: how a value of the metric is better than another."""
    if mode not in ("auto", "min", "max"):
        warnings.warn(
            f"{kind} mode {mode} is unknown, fallback to auto mode: max for accuracy, f1 and the "
            "like, min for other metrics.",
            RuntimeWarning,
            stacklevel=3,
        )
        mode = "auto"
    if mode == "auto":
        name = monitor.get()[0].lower()
        mode = "max" if any(part in name for part in LARGER_IS_BETTER) else "min"
    return np.greater if mode == "max" else np.less


def shown(metrics: list) -> str:
    """``training accuracy: 0.5000, ...``: names and values, as they are logged."""
    return ", ".join(f"{name}: {value:.4f}" for name, value in (m.get() for m in metrics))
