"""Estimator: a training loop that is told what else to do by handlers."""

from __future__ import annotations

import copy
import logging
import sys
import warnings
from collections.abc import Iterable
from typing import Any

from ....base import ArgumentError, four_lines
from ....context import Context, cpu, gpu, num_gpus, usable
from ....initializer import Uniform
from ....metric import Accuracy, EvalMetric
from ....metric import Loss as LossMetric
from ...data import DataLoader
from ...loss import Loss, SoftmaxCrossEntropyLoss
from ...trainer import Trainer
from .batch_processor import BatchProcessor
from .events import EVENTS, checked_handlers, checked_metrics
from .handlers import (
    GradientUpdateHandler,
    LoggingHandler,
    MetricHandler,
    StoppingHandler,
    ValidationHandler,
)

__all__ = ["Estimator"]


class Estimator:
    """Trains and evaluates a network, and tells about it on its ``logger``.

    Parameters
    ----------
    net, loss : what to train.
    train_metrics, val_metrics : metrics; the loss, and for ``SoftmaxCrossEntropyLoss`` the
        accuracy, if not given. They get names that begin with "training" or "validation".
    initializer : for parameters that are not initialized yet.
    trainer : SGD with a learning rate of 0.001 if not given, and a warning.
    context : one or several; all GPUs, or the CPU, if not given.
    val_net, val_loss : what to evaluate, if it is not ``net`` and ``loss``.
    batch_processor : what to do with a batch, if it is not data and label.

    Examples
    --------
    >>> from minigluon import autograd, gluon, nd
    >>> net = gluon.nn.Dense(2, in_units=3)
    >>> net.initialize()
    >>> data = gluon.data.ArrayDataset(nd.ones((4, 3)), nd.array([0, 1, 0, 1]))
    >>> estimator = Estimator(
    ...     net,
    ...     gluon.loss.SoftmaxCrossEntropyLoss(),
    ...     trainer=gluon.Trainer(net.collect_params(), "sgd"),
    ... )
    >>> estimator.logger.setLevel("WARNING")
    >>> estimator.fit(gluon.data.DataLoader(data, batch_size=2), epochs=1)
    >>> [metric.name for metric in estimator.train_metrics]
    ['training accuracy', 'training softmaxcrossentropyloss']
    """

    logger: logging.Logger
    """Where handlers log; it writes to standard output."""

    def __init__(
        self,
        net: Any,
        loss: Any,
        train_metrics: Any = None,
        val_metrics: Any = None,
        initializer: Any = None,
        trainer: Any = None,
        context: Any = None,
        val_net: Any = None,
        val_loss: Any = None,
        batch_processor: Any = None,
    ):
        self.net, self.loss = net, _checked_loss(loss)
        self._train_metrics = [] if train_metrics is None else checked_metrics(train_metrics)
        self._val_metrics = [] if val_metrics is None else checked_metrics(val_metrics)
        self._add_default_training_metrics()
        self._add_validation_metrics()
        self.val_loss = self.loss if val_loss is None else _checked_loss(val_loss)
        self.val_net = net if val_net is None else val_net
        self.logger = logging.Logger("Estimator", logging.INFO)
        self.logger.addHandler(logging.StreamHandler(sys.stdout))
        self.context = _checked_contexts(context)
        self._initialize(initializer)
        self.trainer = self._checked_trainer(trainer)
        self.batch_processor = _checked_processor(batch_processor)
        self.max_epoch: int | None = None
        self.max_batch: int | None = None
        self.batch_axis = 0

    @property
    def train_metrics(self) -> list:
        """The metrics of training."""
        return self._train_metrics

    @property
    def val_metrics(self) -> list:
        """The metrics of evaluation."""
        return self._val_metrics

    def _add_default_training_metrics(self) -> None:
        if not self._train_metrics:
            if isinstance(self.loss, SoftmaxCrossEntropyLoss):
                self._train_metrics.append(Accuracy())
            self._train_metrics.append(LossMetric(self.loss.name.rstrip("0123456789")))
        for metric in self._train_metrics:
            if "training" not in metric.name:
                metric.name = "training " + metric.name

    def _add_validation_metrics(self) -> None:
        if not self._val_metrics:
            self._val_metrics = copy.deepcopy(self._train_metrics)
            for metric in self._val_metrics:
                metric.name = metric.name.replace("training", "validation")
        for metric in self._val_metrics:
            if "validation" not in metric.name:
                metric.name = "validation " + metric.name

    def _initialize(self, initializer: Any) -> None:
        params = self.net.collect_params().values()
        started = [p._data is not None or bool(p._deferred_init) for p in params]
        if all(started) and started:
            if initializer is not None:
                warnings.warn(
                    "Network already fully initialized, skipping initialization. You don't need to "
                    "pass initializer if you already initialized your net. You can use "
                    "net.initialize(init=your_initializer, force_reinit=True)to force "
                    "re-initialize.",
                    UserWarning,
                    stacklevel=3,
                )
            return
        default = Uniform() if initializer is None else initializer
        for param, done in zip(params, started, strict=True):
            if not done:
                param.initialize(ctx=self.context, default_init=default)

    def _checked_trainer(self, trainer: Any) -> Any:
        if trainer is None:
            warnings.warn(
                "No trainer specified, default SGD optimizer with learning rate 0.001 is used.",
                UserWarning,
                stacklevel=3,
            )
            return Trainer(self.net.collect_params(), "sgd", {"learning_rate": 0.001})
        if not isinstance(trainer, Trainer):
            raise ArgumentError(
                four_lines(
                    f"Trainer must be a Gluon Trainer instance, refer to gluon.Trainer:{trainer}",
                    f"trainer={trainer!r}",
                    "a gluon.Trainer",
                    "pass trainer=gluon.Trainer(net.collect_params(), 'sgd')",
                )
            )
        return trainer

    def evaluate(self, val_data: Any, batch_axis: int = 0, event_handlers: Any = None) -> None:
        """Update ``val_metrics`` with all batches of a DataLoader."""
        _require_loader(val_data)
        self.batch_axis = batch_axis
        call = _events(self._validation_handlers(event_handlers))
        call("epoch_begin", self)
        for batch in val_data:
            call("batch_begin", self, batch=batch)
            _, label, pred, loss = self.batch_processor.evaluate_batch(self, batch, batch_axis)
            call("batch_end", self, batch=batch, pred=pred, label=label, loss=loss)
        call("epoch_end", self)

    def fit(
        self,
        train_data: Any,
        val_data: Any = None,
        epochs: int | None = None,
        event_handlers: Any = None,
        batches: int | None = None,
        batch_axis: int = 0,
    ) -> None:
        """Train for a number of epochs, or of batches.

        Handlers are called by priority. Those that step the trainer, update metrics, log, and
        evaluate on ``val_data`` are added unless there are some among ``event_handlers``.

        Raises
        ------
        ArgumentError : for anything but one of ``epochs`` and ``batches``, data that is no
            DataLoader, handlers that are none, and those that refer to unknown metrics.
        """
        _require_loader(train_data)
        if (epochs is None) == (batches is None):
            raise ArgumentError(
                four_lines(
                    "Fit only support exactly one type of iteration, train by number of epochs or "
                    "number of batches.Please specify one and only one of: epochs or batches.",
                    f"epochs={epochs}, batches={batches}",
                    "one of them",
                    "pass epochs=1",
                )
            )
        self.max_epoch, self.max_batch, self.batch_axis = epochs, batches, batch_axis
        call = _events(self._training_handlers(val_data, event_handlers))
        call("train_begin", self)
        ended = False
        while not ended:
            call("epoch_begin", self)
            batch = None
            for batch in train_data:
                call("batch_begin", self, batch=batch)
                _, label, pred, loss = self.batch_processor.fit_batch(self, batch, batch_axis)
                if call("batch_end", self, batch=batch, pred=pred, label=label, loss=loss):
                    break
            if batch is None:
                raise _no_batches(train_data)
            ended = call("epoch_end", self)
        call("train_end", self)

    def _training_handlers(self, val_data: Any, given: Any) -> list:
        handlers = checked_handlers([] if given is None else given)
        defaults = [
            (StoppingHandler, lambda: StoppingHandler(self.max_epoch, self.max_batch)),
            (GradientUpdateHandler, GradientUpdateHandler),
            (MetricHandler, lambda: MetricHandler(self.train_metrics)),
            (LoggingHandler, lambda: LoggingHandler(metrics=self.train_metrics)),
        ]
        if val_data is not None:
            _require_loader(val_data)
            defaults.append((ValidationHandler, lambda: ValidationHandler(val_data, self.evaluate)))
        return self._completed(handlers, defaults)

    def _validation_handlers(self, given: Any) -> list:
        handlers = checked_handlers([] if given is None else given)
        defaults = [
            (MetricHandler, lambda: MetricHandler(self.val_metrics)),
            (LoggingHandler, lambda: LoggingHandler(metrics=self.val_metrics)),
        ]
        return self._completed(handlers, defaults)

    def _completed(self, handlers: list, defaults: list) -> list:
        added = [
            make() for kind, make in defaults if not any(isinstance(h, kind) for h in handlers)
        ]
        known = [*self.train_metrics, *self.val_metrics]
        for handler in handlers:
            _require_known_metrics(handler, known)
        return sorted([*handlers, *added], key=lambda handler: getattr(handler, "priority", 0))


def _events(handlers: list) -> Any:
    """A function that calls all handlers of an event, and tells whether one of them said stop."""
    by_event = {
        event: [getattr(h, event) for h in handlers if isinstance(h, kind)]
        for event, kind in EVENTS.items()
    }

    def call(event: str, estimator: Estimator, **kwargs: Any) -> bool:
        answers = [method(estimator, **kwargs) for method in by_event[event]]
        return any(answers)

    return call


def _require_known_metrics(handler: Any, known: list) -> None:
    """The metrics a handler refers to must be those the estimator updates."""
    for name, value in vars(handler).items():
        if "metric" in name or "monitor" in name:
            for metric in value if isinstance(value, Iterable) else [value]:
                if isinstance(metric, EvalMetric) and not any(metric is each for each in known):
                    raise ArgumentError(
                        four_lines(
                            f"Event handler {type(handler).__name__} refers to a metric instance "
                            f"{metric} outside of the known training and validation metrics. "
                            "Please use the metrics from estimator.train_metrics and "
                            "estimator.val_metrics instead.",
                            f"{name} of {type(handler).__name__}",
                            f"one of {[each.name for each in known]}",
                            "pass estimator.train_metrics[0]",
                        )
                    )


def _checked_loss(loss: Any) -> Any:
    if not isinstance(loss, Loss):
        raise ArgumentError(
            four_lines(
                f"loss must be a Loss, refer to gluon.loss.Loss:{loss}",
                f"loss={loss!r}",
                "one loss",
                "derive your own from gluon.loss.Loss",
            )
        )
    return loss


def _checked_contexts(context: Any) -> list:
    if context is None:
        return [gpu(i) for i in range(num_gpus())] or [cpu()]
    found = list(context) if isinstance(context, list | tuple) else [context]
    if not found or not all(isinstance(each, Context) for each in found):
        raise ArgumentError(
            four_lines(
                "context must be a Context or a list of Context, for example mx.cpu() or "
                f"[mx.gpu(0), mx.gpu(1)], refer to mxnet.Context:{context}",
                f"context={context!r}",
                "contexts",
                "pass context=mx.cpu()",
            )
        )
    return [usable(each) for each in found]


def _checked_processor(processor: Any) -> Any:
    if processor is None:
        return BatchProcessor()
    if not all(callable(getattr(processor, n, None)) for n in ("fit_batch", "evaluate_batch")):
        raise ArgumentError(
            four_lines(
                "Customized Batch Processor must contain fit_batch() and evaluate_batch() methods",
                f"batch_processor={processor!r}",
                "an object with both methods",
                "derive it from BatchProcessor",
            )
        )
    return processor


def _no_batches(data: Any) -> ArgumentError:
    """Without a batch the training would never end."""
    return ArgumentError(
        four_lines(
            "Estimator.fit: there is nothing to train on.",
            f"a DataLoader of {len(data)} batches",
            "at least one batch an epoch",
            "look at the dataset, and at last_batch='discard'",
        )
    )


def _require_loader(data: Any) -> None:
    if not isinstance(data, DataLoader):
        raise ArgumentError(
            four_lines(
                "Estimator only support input as Gluon DataLoader. Alternatively, you can "
                "transform your DataIter or any NDArray into Gluon DataLoader. Refer to "
                "gluon.data.DataLoader",
                type(data).__name__,
                "a gluon.data.DataLoader",
                "pass DataLoader(ArrayDataset(data, label), batch_size=32)",
            )
        )
