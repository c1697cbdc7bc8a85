"""``mx.model.FeedForward``: training and predicting as scripts did before there was ``Module``."""

from __future__ import annotations

import logging
import time
import warnings

import numpy as np

from .. import executor_manager, io, metric, symbol
from .. import module as modules
from .. import ndarray as nd
from ..base import ArgumentTypeError, four_lines
from ..callback import LogValidationMetricsCallback
from ..context import Context, current_context
from ..initializer import Uniform
from .checkpoint import load_checkpoint, save_checkpoint


class FeedForward:
    """A symbol with its parameters, which can be fitted, asked and saved.

    It is kept for the scripts that have it; `mx.mod.Module` does more. Data are arrays, of which it
    makes an iterator itself, or a ``DataIter``.

    Parameters
    ----------
    symbol : what is computed, or a function that makes it from a bucket key.
    ctx : a context or a list; the current one unless given.
    num_epoch : epochs of ``fit``.
    epoch_size : batches of an epoch; all of the data unless given.
    optimizer, initializer : how to train, how to begin.
    numpy_batch_size : samples in a batch made of arrays.
    arg_params, aux_params : parameters to begin with; those missing are initialised.
    begin_epoch : the number of the first epoch.
    kwargs : arguments of the optimizer.
    """

    def __init__(
        self,
        symbol,
        ctx=None,
        num_epoch=None,
        epoch_size=None,
        optimizer="sgd",
        initializer=Uniform(0.01),  # noqa: B008 - as MXNet shows it
        numpy_batch_size=128,
        arg_params=None,
        aux_params=None,
        allow_extra_params=False,
        begin_epoch=0,
        **kwargs,
    ):
        warnings.warn(
            "mxnet.model.FeedForward has been deprecated. Please use mxnet.mod.Module instead.",
            DeprecationWarning,
            stacklevel=2,
        )
        self.symbol, self.sym_gen = _symbol_or_maker(symbol)
        self.ctx = [ctx] if isinstance(ctx, Context) else ctx or [current_context()]
        self.num_epoch, self.epoch_size, self.begin_epoch = num_epoch, epoch_size, begin_epoch
        self.optimizer, self.initializer, self.kwargs = optimizer, initializer, kwargs
        self.numpy_batch_size = numpy_batch_size
        self.arg_params, self.aux_params = arg_params, aux_params
        self.allow_extra_params = allow_extra_params
        self.argument_checked = False
        if self.sym_gen is None:
            self._check_arguments()
        self._pred_exec = None

    def __getstate__(self):
        return {**self.__dict__, "_pred_exec": None}

    def _check_arguments(self):
        """Refuse variables of one name; leave out parameters the symbol does not have."""
        if self.argument_checked:
            return
        executor_manager._check_arguments(self.symbol)
        self.argument_checked = True
        if not self.allow_extra_params:
            return
        if self.arg_params:
            names = set(self.symbol.list_arguments())
            self.arg_params = {k: v for k, v in self.arg_params.items() if k in names}
        if self.aux_params:
            names = set(self.symbol.list_auxiliary_states())
            self.aux_params = {k: v for k, v in self.aux_params.items() if k in names}

    # -- data --------------------------------------------------------------------------------------

    def _init_iter(self, X, y, is_train):
        """Arrays as an iterator, shuffled for training."""
        if not isinstance(X, np.ndarray | nd.NDArray):
            if isinstance(X, io.DataIter):
                return X
            raise ArgumentTypeError(
                four_lines(
                    "X must be DataIter, NDArray or numpy.ndarray",
                    type(X).__name__,
                    "data in one of these",
                    "np.array(X)",
                )
            )
        count = X.shape[0]
        if y is None:
            if is_train:
                raise ValueError("y must be specified when X is numpy.ndarray")
            y = np.zeros(count)
        y = y.asnumpy() if isinstance(y, nd.NDArray) else np.asarray(y)
        if y.ndim == 2 and y.shape[1] == 1:
            y = y.ravel()
        if len(y) != count:
            raise ValueError(
                "The numbers of data points and labels not equal\n"
                f"  received  {count} data points, {len(y)} labels\n"
                "  expected  a label for each\n  fix       check X.shape and y.shape"
            )
        if y.ndim != 1:
            raise ValueError(
                "Label must be 1D or 2D (with 2nd dimension being 1)\n"
                f"  received  {y.shape}\n  expected  ({count},)\n  fix       pass an iterator"
            )
        last = "roll_over" if is_train else "pad"
        size = min(count, self.numpy_batch_size)
        return io.NDArrayIter(X, y, size, shuffle=is_train, last_batch_handle=last)

    def _init_eval_iter(self, eval_data):
        """Validation data as an iterator."""
        if eval_data is None or isinstance(eval_data, io.DataIter):
            return eval_data
        if isinstance(eval_data, tuple | list) and len(eval_data) == 2:
            X, y = eval_data
            if X is not None and y is None and isinstance(X, io.DataIter):
                return X
            if X is None:
                raise ValueError("Eval data is NONE")
            return self._init_iter(
                np.array(X) if isinstance(X, list) else X,
                np.array(y) if isinstance(y, list) else y,
                is_train=True,
            )
        raise ArgumentTypeError(
            four_lines(
                "Eval data must be DataIter, or NDArray/numpy.ndarray/list pair "
                "(i.e. tuple/list of length 2)",
                type(eval_data).__name__,
                "an iterator, or (data, labels)",
                "eval_data=(X, y)",
            )
        )

    # -- using -------------------------------------------------------------------------------------

    def _init_predictor(self, input_shapes, type_dict=None):
        """Make an executor for inputs of these shapes, unless there is one."""
        shapes = {name: tuple(shape) for name, shape in input_shapes}
        if self._pred_exec is not None:
            arguments = self._pred_exec.arg_dict
            if all(n in arguments and arguments[n].shape == s for n, s in shapes.items()):
                return
        if self.arg_params is None:
            raise ArgumentTypeError(
                four_lines(
                    "FeedForward: there are no parameters.",
                    "arg_params=None",
                    "a model that was fitted or loaded",
                    "call fit first, or FeedForward.load",
                )
            )
        known = {n: s for n, s in shapes.items() if n in self.symbol.list_arguments()}
        self._pred_exec = self.symbol.simple_bind(
            self.ctx[0], grad_req="null", type_dict=type_dict or {}, **known
        )
        self._pred_exec.copy_params_from(
            self.arg_params, self.aux_params or {}, allow_extra_params=True
        )

    def _batches(self, data, num_batch):
        """Every batch with the outputs for it."""
        self._init_predictor(
            data.provide_data, {d.name: d.dtype for d in data.provide_data if hasattr(d, "dtype")}
        )
        inputs = [self._pred_exec.arg_dict[desc[0]] for desc in data.provide_data]
        for k, batch in enumerate(data):
            if k == num_batch:
                return
            for source, target in zip(batch.data, inputs, strict=True):
                target[:] = source
            yield k, batch, self._pred_exec.forward(is_train=False)

    def predict(self, X, num_batch=None, return_data=False, reset=True):
        """The outputs for all samples as numpy arrays: one, or a list if there are several.

        With ``return_data`` it is ``[outputs, data, labels]``.
        """
        X = self._init_iter(X, None, is_train=False)
        if reset:
            X.reset()
        outputs, data, labels = [], [], []
        for _, batch, results in self._batches(X, num_batch):
            kept = slice(0, X.batch_size - (batch.pad or 0))
            outputs.append([x[kept].asnumpy() for x in results])
            if return_data:
                data.append([x[kept].asnumpy() for x in batch.data])
                labels.append([x[kept].asnumpy() for x in batch.label or ()])
        outputs = _joined(outputs)
        return [outputs, _joined(data), _joined(labels)] if return_data else outputs

    def score(self, X, eval_metric="acc", num_batch=None, batch_end_callback=None, reset=True):
        """The value of a metric over data; rows that pad the last batch count too, as in MXNet."""
        X = self._init_iter(X, None, is_train=False)
        if reset:
            X.reset()
        eval_metric = metric.create(eval_metric)
        for k, batch, results in self._batches(X, num_batch):
            eval_metric.update(batch.label, results)
            _call(batch_end_callback, _param(0, k, eval_metric, locals()))
        return eval_metric.get()[1]

    # -- training ----------------------------------------------------------------------------------

    def fit(
        self,
        X,
        y=None,
        eval_data=None,
        eval_metric="acc",
        epoch_end_callback=None,
        batch_end_callback=None,
        kvstore="local",
        logger=None,
        work_load_list=None,
        monitor=None,
        eval_end_callback=LogValidationMetricsCallback(),  # noqa: B008 - as MXNet shows it
        eval_batch_end_callback=None,
    ):
        """Train for the epochs ``begin_epoch`` to ``num_epoch - 1``.

        Parameters
        ----------
        X, y : data and labels: arrays, or an iterator and nothing.
        eval_data : an iterator, or a pair of arrays, to look at after each epoch.
        epoch_end_callback : gets ``(epoch, symbol, arg_params, aux_params)``.
        batch_end_callback : gets ``BatchEndParam``; its ``nbatch`` begins with 1.
        """
        if self.num_epoch is None:
            raise ArgumentTypeError(
                four_lines(
                    "FeedForward.fit: how many epochs?",
                    "num_epoch=None",
                    "the number of the epoch to stop before",
                    "FeedForward(..., num_epoch=10)",
                )
            )
        logger = logger or logging
        data = self._init_iter(X, y, is_train=True)
        eval_data = self._init_eval_iter(eval_data)
        eval_metric = metric.create(eval_metric)
        self.arg_params = self.arg_params or {}
        model = self._module(data, kvstore, logger, work_load_list, monitor)
        logger.info("Start training with %s", str(self.ctx))
        data.reset()
        self.arg_params, self.aux_params = model.get_params()
        for epoch in range(self.begin_epoch, self.num_epoch):
            tic = time.time()
            eval_metric.reset()
            self._train_epoch(epoch, model, data, eval_metric, batch_end_callback, logger, monitor)
            logger.info("Epoch[%d] Time cost=%.3f", epoch, time.time() - tic)
            self.arg_params, self.aux_params = model.get_params()
            _call(epoch_end_callback, epoch, self.symbol, self.arg_params, self.aux_params)
            if eval_data is not None:
                self._validate(
                    epoch, model, eval_data, eval_metric, eval_end_callback, eval_batch_end_callback
                )
        self._pred_exec = None

    def _module(self, data, kvstore, logger, work_load_list, monitor):
        """A module that computes the symbol, with parameters and optimizer."""
        names = [[desc[0] for desc in d] for d in (data.provide_data, data.provide_label)]
        common = {"logger": logger, "context": self.ctx, "work_load_list": work_load_list}
        if self.sym_gen is None:
            self._check_arguments()
            model = modules.Module(self.symbol, *names, **common)
        else:
            key = data.default_bucket_key
            self.symbol = self.sym_gen(key)
            self._check_arguments()
            model = modules.BucketingModule(
                lambda bucket: (self.sym_gen(bucket), *names), key, **common
            )
        model.bind(data.provide_data, data.provide_label, for_training=True)
        if monitor is not None:
            model.install_monitor(monitor)
        model.init_params(
            self.initializer,
            arg_params=self.arg_params,
            aux_params=self.aux_params or {},
            allow_missing=True,
            allow_extra=True,
        )
        model.init_optimizer(kvstore, self.optimizer, tuple(self.kwargs.items()))
        return model

    def _train_epoch(self, epoch, model, data, eval_metric, batch_end_callback, logger, monitor):
        """Train on ``epoch_size`` batches, going round the data as often as it takes."""
        nbatch = 0
        while True:
            for data_batch in data:
                if monitor is not None:
                    monitor.tic()
                model.forward_backward(data_batch)
                model.update()
                if monitor is not None:
                    monitor.toc_print()
                model.update_metric(eval_metric, data_batch.label)
                nbatch += 1
                _call(batch_end_callback, _param(epoch, nbatch, eval_metric, locals()))
                if self.epoch_size is not None and nbatch >= self.epoch_size:
                    return
            if nbatch == 0:
                raise ValueError("FeedForward.fit: the data give no batch")
            logger.info("Epoch[%d] Resetting Data Iterator", epoch)
            data.reset()
            if self.epoch_size is None:
                return

    def _validate(self, epoch, model, data, eval_metric, end_callback, batch_end_callback):
        """Look at validation data, and tell the callbacks."""
        eval_metric.reset()
        data.reset()
        k = -1
        for k, data_batch in enumerate(data):
            model.forward(data_batch, is_train=False)
            model.update_metric(eval_metric, data_batch.label)
            _call(batch_end_callback, _param(epoch, k, eval_metric, locals()))
        _call(end_callback, _param(epoch, k, eval_metric, locals()))
        data.reset()

    # -- files -------------------------------------------------------------------------------------

    def save(self, prefix, epoch=None, remove_amp_cast=True):
        """Write a checkpoint; ``epoch`` is ``num_epoch`` unless given."""
        epoch = self.num_epoch if epoch is None else epoch
        if epoch is None:
            raise ArgumentTypeError(
                four_lines("FeedForward.save: which epoch?", "None", "a number", "epoch=1")
            )
        save_checkpoint(
            prefix, epoch, self.symbol, self.arg_params, self.aux_params or {}, remove_amp_cast
        )

    @staticmethod
    def load(prefix, epoch, ctx=None, **kwargs):
        """The model of a checkpoint; ``fit`` would go on with epoch number ``epoch``."""
        symbol, arg_params, aux_params = load_checkpoint(prefix, epoch)
        return FeedForward(
            symbol,
            ctx=ctx,
            arg_params=arg_params,
            aux_params=aux_params,
            begin_epoch=epoch,
            **kwargs,
        )

    @staticmethod
    def create(
        symbol,
        X,
        y=None,
        ctx=None,
        num_epoch=None,
        epoch_size=None,
        optimizer="sgd",
        initializer=Uniform(0.01),  # noqa: B008 - as MXNet shows it
        eval_data=None,
        eval_metric="acc",
        epoch_end_callback=None,
        batch_end_callback=None,
        kvstore="local",
        logger=None,
        work_load_list=None,
        eval_end_callback=LogValidationMetricsCallback(),  # noqa: B008
        eval_batch_end_callback=None,
        **kwargs,
    ):
        """A fitted model, as functional programmers like it: made and trained in one call."""
        model = FeedForward(
            symbol,
            ctx=ctx,
            num_epoch=num_epoch,
            epoch_size=epoch_size,
            optimizer=optimizer,
            initializer=initializer,
            **kwargs,
        )
        model.fit(
            X,
            y,
            eval_data=eval_data,
            eval_metric=eval_metric,
            epoch_end_callback=epoch_end_callback,
            batch_end_callback=batch_end_callback,
            kvstore=kvstore,
            logger=logger,
            work_load_list=work_load_list,
            eval_end_callback=eval_end_callback,
            eval_batch_end_callback=eval_batch_end_callback,
        )
        return model


def _symbol_or_maker(given):
    if isinstance(given, symbol.Symbol):
        return given, None
    if not callable(given):
        raise ArgumentTypeError(
            four_lines(
                "FeedForward: this is no symbol.",
                type(given).__name__,
                "a Symbol, or a function that makes one from a bucket key",
                "FeedForward(mx.sym.SoftmaxOutput(...))",
            )
        )
    return None, given


def _param(epoch, nbatch, eval_metric, names):
    from . import BatchEndParam

    return BatchEndParam(epoch=epoch, nbatch=nbatch, eval_metric=eval_metric, locals=names)


def _call(callbacks, *values):
    """Call one function, several, or none."""
    if isinstance(callbacks, list | tuple):
        for callback in callbacks:
            callback(*values)
    elif callbacks:
        callbacks(*values)


def _joined(batches):
    """The arrays of all batches as one; a list of such if a batch has several."""
    arrays = [np.concatenate(parts) for parts in zip(*batches, strict=True)]
    return arrays[0] if len(arrays) == 1 else arrays
