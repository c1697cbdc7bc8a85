"""Handlers that step the trainer, update metrics, validate, log and end the training."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ....base import ArgumentError, four_lines
from ....metric import Loss
from .events import (
    BatchBegin,
    BatchEnd,
    EpochBegin,
    EpochEnd,
    TrainBegin,
    TrainEnd,
    checked_metrics,
    comparison,
    require_monitor,
    shown,
)


class StoppingHandler(TrainBegin, BatchEnd, EpochEnd):
    """Ends the training after ``max_epoch`` epochs or ``max_batch`` batches."""

    def __init__(self, max_epoch: int | None = None, max_batch: int | None = None):
        self.max_epoch, self.max_batch = max_epoch, max_batch
        self.current_batch = self.current_epoch = 0
        self.stop_training = False

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Begin to count, up to what ``fit`` was given."""
        self.max_epoch, self.max_batch = estimator.max_epoch, estimator.max_batch
        self.current_batch = self.current_epoch = 0
        self.stop_training = False

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Count the batch."""
        self.current_batch += 1
        self.stop_training |= self.current_batch == self.max_batch
        return self.stop_training

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Count the epoch."""
        self.current_epoch += 1
        self.stop_training |= self.current_epoch == self.max_epoch
        return self.stop_training


class MetricHandler(EpochBegin, BatchEnd):
    """Updates metrics with every batch, and resets them before every epoch."""

    def __init__(self, metrics: Any, priority: float = -1000):
        self.metrics = checked_metrics(metrics)
        self.priority = priority

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Forget the epoch before."""
        for metric in self.metrics:
            metric.reset()

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Count the batch in."""
        for metric in self.metrics:
            if isinstance(metric, Loss):  # the loss of the estimator, not a prediction
                metric.update(0, kwargs["loss"])
            else:
                metric.update(kwargs["label"], kwargs["pred"])
        return False


class ValidationHandler(TrainBegin, BatchEnd, EpochEnd):
    """Evaluates on other data after every so many epochs or batches.

    Parameters
    ----------
    val_data : what to evaluate on.
    eval_fn : called with ``val_data``, ``batch_axis`` and ``event_handlers``; for example
        ``estimator.evaluate``.
    epoch_period, batch_period : after how many epochs, batches; None for not at all.
    event_handlers : handlers for the evaluation.
    """

    def __init__(
        self,
        val_data: Any,
        eval_fn: Callable,
        epoch_period: int | None = 1,
        batch_period: int | None = None,
        priority: float = -1000,
        event_handlers: Any = None,
    ):
        self.val_data, self.eval_fn = val_data, eval_fn
        self.epoch_period, self.batch_period = epoch_period, batch_period
        self.current_batch = self.current_epoch = 0
        self.priority, self.event_handlers = priority, event_handlers

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Begin to count."""
        self.current_batch = self.current_epoch = 0

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Evaluate if it is time to."""
        self.current_batch += 1
        self._evaluate(estimator, self.current_batch, self.batch_period)
        return False

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Evaluate if it is time to."""
        self.current_epoch += 1
        self._evaluate(estimator, self.current_epoch, self.epoch_period)
        return False

    def _evaluate(self, estimator: Any, count: int, period: int | None) -> None:
        if period and count % period == 0:
            self.eval_fn(
                val_data=self.val_data,
                batch_axis=estimator.batch_axis,
                event_handlers=self.event_handlers,
            )


class LoggingHandler(TrainBegin, TrainEnd, EpochBegin, EpochEnd, BatchBegin, BatchEnd):
    """Tells the estimator's logger how the training goes.

    Parameters
    ----------
    log_interval : ``"epoch"``, or a number of batches for a line after each that many.
    metrics : what to show; without training metrics it is taken for an evaluation.
    """

    def __init__(
        self, log_interval: int | str = "epoch", metrics: Any = None, priority: float = np.inf
    ):
        if not isinstance(log_interval, int) and log_interval != "epoch":
            raise ArgumentError(
                four_lines(
                    "log_interval must be either an integer or string 'epoch'",
                    f"log_interval={log_interval!r}",
                    "a number of batches, or 'epoch'",
                    "pass log_interval=10",
                )
            )
        self.metrics = checked_metrics([] if metrics is None else metrics)
        self.batch_index = self.current_epoch = self.processed_samples = 0
        self.priority, self.log_interval = priority, log_interval
        self.log_interval_time = 0.0

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Tell the optimizer, its learning rate, and how long it is going to take."""
        self.train_start = time.time()
        trainer = estimator.trainer
        estimator.logger.info(
            "Training begin: using optimizer %s with current learning rate %.4f ",
            type(trainer.optimizer).__name__,
            trainer.learning_rate,
        )
        if estimator.max_epoch:
            estimator.logger.info("Train for %d epochs.", estimator.max_epoch)
        else:
            estimator.logger.info("Train for %d batches.", estimator.max_batch)
        self.current_epoch = self.batch_index = self.processed_samples = 0
        self.log_interval_time = 0.0

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Tell how long it took and where the metrics are."""
        seconds = time.time() - self.train_start
        text = f"Train finished using total {int(seconds)}s with {self.current_epoch} epochs. "
        estimator.logger.info((text + shown(self.metrics)).rstrip())

    def epoch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Tell the learning rate."""
        self.epoch_start = time.time()
        if any("training" in metric.name for metric in self.metrics):
            estimator.logger.info(
                "[Epoch %d] Begin, current learning rate: %.4f",
                self.current_epoch,
                estimator.trainer.learning_rate,
            )
        else:
            estimator.logger.info("Validation Begin")

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Tell how long the epoch took and where the metrics are."""
        seconds = time.time() - self.epoch_start
        text = f"[Epoch {self.current_epoch}] Finished in {seconds:.3f}s, {shown(self.metrics)}"
        estimator.logger.info(text.rstrip(", "))
        self.current_epoch += 1
        self.batch_index = 0
        return False

    def batch_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Look at the clock."""
        self.batch_start = time.time()

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Tell where the metrics are, if it is time to."""
        if isinstance(self.log_interval, int):
            self.log_interval_time += time.time() - self.batch_start
            self.processed_samples += kwargs["batch"][0].shape[estimator.batch_axis]
            if self.batch_index % self.log_interval == 0:
                text = (
                    f"[Epoch {self.current_epoch}][Batch {self.batch_index}]"
                    f"[Samples {self.processed_samples}] "
                    f"time/interval: {self.log_interval_time:.3f}s {shown(self.metrics)}"
                )
                estimator.logger.info(text.rstrip())
                self.log_interval_time = 0.0
        self.batch_index += 1
        return False


class EarlyStoppingHandler(TrainBegin, EpochEnd, TrainEnd):
    """Ends the training when a metric has not become better for a while.

    Parameters
    ----------
    monitor : the metric, one of ``estimator.train_metrics`` or ``estimator.val_metrics``.
    min_delta : what counts as better must be better by this much.
    patience : how many epochs may bring nothing.
    mode : ``"min"``, ``"max"`` or ``"auto"``, which goes by the metric's name.
    baseline : the value to begin with.
    """

    def __init__(
        self,
        monitor: Any,
        min_delta: float = 0,
        patience: int = 0,
        mode: str = "auto",
        baseline: float | None = None,
    ):
        require_monitor(monitor, "P")
        self.monitor, self.baseline = monitor, baseline
        self.patience, self.min_delta = patience, abs(min_delta)
        self.monitor_op = comparison("EarlyStopping", mode, monitor)
        self._start()

    def _start(self) -> None:
        self.wait = self.stopped_epoch = self.current_epoch = 0
        self.stop_training = False
        worst = -np.inf if self.monitor_op is np.greater else np.inf
        self.best = worst if self.baseline is None else self.baseline

    def train_begin(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Forget the training before."""
        self._start()

    def epoch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """Compare with the best so far."""
        name, value = self.monitor.get()
        if np.isnan(value):
            estimator.logger.warning(
                "%s is not updated, make sure the metric is one of the estimator's", name
            )
            return self.stop_training
        needed = -self.min_delta if self.monitor_op is np.greater else self.min_delta
        if self.monitor_op(value + needed, self.best):
            self.best, self.wait = value, 0
        else:
            self.wait += 1
            if self.wait >= self.patience:
                self.stopped_epoch, self.stop_training = self.current_epoch, True
        self.current_epoch += 1
        return self.stop_training

    def train_end(self, estimator: Any, *args: Any, **kwargs: Any) -> None:
        """Tell why the training ended."""
        if self.stop_training:
            estimator.logger.info(
                "[Epoch %d] EarlyStoppingHandler: early stopping due to %s not improving",
                self.stopped_epoch,
                self.monitor.get()[0],
            )


class GradientUpdateHandler(BatchEnd):
    """Steps the trainer after every batch; it goes before the other handlers."""

    def __init__(self, priority: float = -2000):
        self.priority = priority

    def batch_end(self, estimator: Any, *args: Any, **kwargs: Any) -> bool:
        """One step, by the mean over the batch."""
        loss = kwargs["loss"]
        losses = loss if isinstance(loss, list) else [loss]
        estimator.trainer.step(sum(each.shape[0] for each in losses))
        return False
