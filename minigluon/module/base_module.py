"""What every module can do once it can bind, run and update: train, score, predict, keep files."""

from __future__ import annotations

import logging
import time
import warnings
from typing import Any

import numpy as np

from .. import metric as metrics
from .. import ndarray as nd
from ..base import _as_list
from ..context import cpu
from ..initializer import Uniform
from ..io import DataBatch, DataDesc, DataIter
from ..model import BatchEndParam, split_params
from .errors import ModuleError
from .inputs import as_desc

_UNIFORM = Uniform(0.01)
_PARAMETER_ENDINGS = ("_weight", "_bias", "_gamma", "_beta")


class BaseModule:
    """A computation with parameters, as training loops see it.

    Its life is ``bind`` (shapes are known, memory is there), ``init_params``, ``init_optimizer``,
    and then ``forward``, ``backward``, ``update`` for every batch, which is what ``fit`` does.
    A subclass provides these steps; this class builds ``fit``, ``score`` and ``predict`` of them.
    """

    def __init__(self, logger: Any = logging):
        self.logger = logger
        self.binded = False
        self.for_training = False
        self.inputs_need_grad = False
        self.params_initialized = False
        self.optimizer_initialized = False
        self._symbol: Any = None
        self._total_exec_bytes = 0

    # -- what is built of the steps ------------------------------------------------------------

    def forward_backward(self, data_batch):
        """Run one batch forward in training mode, and backward."""
        self.forward(data_batch, is_train=True)
        self.backward()

    def score(
        self,
        eval_data,
        eval_metric,
        num_batch=None,
        batch_end_callback=None,
        score_end_callback=None,
        reset=True,
        epoch=0,
        sparse_row_id_fn=None,
    ):
        """``[(name, value)]`` of a metric over an iterator, in inference mode.

        With ``reset=False`` the iterator goes on where it stands; where it stands at its end there
        are no batches, and the value is nan.
        """
        self._require("score", params=True)
        if reset:
            eval_data.reset()
        eval_metric = _as_metric(eval_metric)
        eval_metric.reset()
        actual_num_batch = 0
        for nbatch, eval_batch in enumerate(eval_data):
            if nbatch == num_batch:
                break
            self.prepare(eval_batch, sparse_row_id_fn=sparse_row_id_fn)
            self.forward(eval_batch, is_train=False)
            self._update_metric_of(eval_metric, eval_batch)
            _call(batch_end_callback, BatchEndParam(epoch, nbatch, eval_metric, locals()))
            actual_num_batch += 1
        _call(score_end_callback, BatchEndParam(epoch, actual_num_batch, eval_metric, locals()))
        return eval_metric.get_name_value()

    def iter_predict(self, eval_data, num_batch=None, reset=True, sparse_row_id_fn=None):
        """Yield ``(outputs, batch number, batch)``; the padding of a last batch is cut off."""
        self._require("predict", params=True)
        if reset:
            eval_data.reset()
        for nbatch, eval_batch in enumerate(eval_data):
            if nbatch == num_batch:
                break
            self.prepare(eval_batch, sparse_row_id_fn=sparse_row_id_fn)
            self.forward(eval_batch, is_train=False)
            pad = getattr(eval_batch, "pad", None) or 0
            yield [out[0 : out.shape[0] - pad] for out in self.get_outputs()], nbatch, eval_batch

    def predict(
        self,
        eval_data,
        num_batch=None,
        merge_batches=True,
        reset=True,
        always_output_list=False,
        sparse_row_id_fn=None,
    ):
        """The outputs for a whole iterator, or for an array as one batch.

        All batches are joined to one array for every output, and a single output is returned
        without a list around it; ``merge_batches=False`` gives a list of outputs for every batch.
        """
        self._require("predict", params=True)
        if isinstance(eval_data, nd.NDArray | np.ndarray):
            if isinstance(eval_data, np.ndarray):
                eval_data = nd.array(eval_data)
            self.forward(DataBatch([eval_data]), is_train=False)
            return self.get_outputs()[0]
        if not isinstance(eval_data, DataIter):
            raise ValueError(
                "predict: eval_data must be of type NDArray or DataIter.\n"
                f"  received  {type(eval_data).__name__}\n"
                "  expected  an iterator of batches, an NDArray or a numpy array\n"
                "  fix       wrap the data in mx.io.NDArrayIter"
            )
        batches = [
            [out.copy() for out in outputs]
            for outputs, _, _ in self.iter_predict(eval_data, num_batch, reset, sparse_row_id_fn)
        ]
        if not batches or not merge_batches:
            return batches
        if len({len(outputs) for outputs in batches}) > 1:
            raise ValueError(
                "predict: the batches cannot be merged.\n"
                f"  received  {sorted({len(outputs) for outputs in batches})} outputs a batch\n"
                "  expected  the same number of outputs for every batch (are there buckets?)\n"
                "  fix       pass merge_batches=False"
            )
        merged = [nd.concat(*parts, dim=0) for parts in zip(*batches, strict=True)]
        return merged[0] if len(merged) == 1 and not always_output_list else merged

    def fit(
        self,
        train_data,
        eval_data=None,
        eval_metric="acc",
        epoch_end_callback=None,
        batch_end_callback=None,
        kvstore="local",
        optimizer="sgd",
        optimizer_params=(("learning_rate", 0.01),),
        eval_end_callback=None,
        eval_batch_end_callback=None,
        initializer=_UNIFORM,
        arg_params=None,
        aux_params=None,
        allow_missing=False,
        force_rebind=False,
        force_init=False,
        begin_epoch=0,
        num_epoch=None,
        validation_metric=None,
        monitor=None,
        sparse_row_id_fn=None,
    ):
        """Train on an iterator for the epochs ``begin_epoch`` to ``num_epoch - 1``.

        Binds, initialises parameters and optimizer where that is still to be done. Callbacks get
        ``BatchEndParam(epoch, nbatch, eval_metric, locals)`` after a batch and
        ``(epoch, symbol, arg_params, aux_params)`` after an epoch; each may be one or a list.
        ``sparse_row_id_fn`` names the rows of row_sparse parameters a batch needs (``prepare``).
        """
        if num_epoch is None:
            raise ModuleError(
                "fit: please specify number of epochs.\n  received  num_epoch=None\n"
                "  expected  the number of the epoch to stop before\n  fix       pass num_epoch=10"
            )
        self.bind(
            data_shapes=train_data.provide_data,
            label_shapes=train_data.provide_label,
            for_training=True,
            force_rebind=force_rebind,
        )
        if monitor is not None:
            self.install_monitor(monitor)
        # a loaded module goes on with what it has; values that are given and ignored are warned of
        if force_init or not self.params_initialized or arg_params or aux_params:
            self.init_params(
                initializer=initializer,
                arg_params=arg_params,
                aux_params=aux_params,
                allow_missing=allow_missing,
                force_init=force_init,
            )
        self.init_optimizer(kvstore=kvstore, optimizer=optimizer, optimizer_params=optimizer_params)
        eval_metric = _as_metric(eval_metric)
        validation_metric = eval_metric if validation_metric is None else validation_metric

        for epoch in range(begin_epoch, num_epoch):
            self._begin_epoch(epoch, train_data)
            tic = time.time()
            eval_metric.reset()
            eval_name_vals = []
            data_iter = iter(train_data)
            next_data_batch = next(data_iter, None)
            nbatch = 0
            while next_data_batch is not None:
                data_batch = next_data_batch
                self.prepare(data_batch, sparse_row_id_fn=sparse_row_id_fn)
                if monitor is not None:
                    monitor.tic()
                self.forward_backward(data_batch)
                self.update()
                # before the next batch is fetched: an iterator may fill the same arrays again
                self._update_metric_of(eval_metric, data_batch)
                if nbatch == 0:
                    watched = any((batch_end_callback, monitor, sparse_row_id_fn))
                    self._run_ahead(train_data, eval_metric, watched)
                next_data_batch = next(data_iter, None)
                if monitor is not None:
                    monitor.toc_print()
                if next_data_batch is None:
                    eval_name_vals = eval_metric.get_global_name_value()
                _call(batch_end_callback, BatchEndParam(epoch, nbatch, eval_metric, locals()))
                nbatch += 1
            for name, value in eval_name_vals:
                self.logger.info("Epoch[%d] Train-%s=%f", epoch, name, value)
            self.logger.info("Epoch[%d] Time cost=%.3f", epoch, time.time() - tic)
            # what all devices (or the kvstore) have learnt becomes the parameters of each
            arg_params, aux_params = self.get_params()
            self.set_params(arg_params, aux_params)
            _call(epoch_end_callback, epoch, self.symbol, arg_params, aux_params)
            if eval_data is not None:
                for name, value in self.score(
                    eval_data,
                    validation_metric,
                    score_end_callback=eval_end_callback,
                    batch_end_callback=eval_batch_end_callback,
                    epoch=epoch,
                    sparse_row_id_fn=sparse_row_id_fn,
                ):
                    self.logger.info("Epoch[%d] Validation-%s=%f", epoch, name, value)
            train_data.reset()

    def _begin_epoch(self, epoch, train_data):
        """What a kind of module does before an epoch of ``fit``."""

    def _run_ahead(self, train_data, eval_metric, watched):
        """Train on all but the last of the batches to come at once, if a kind of module can.

        ``watched`` says that somebody looks at every batch.
        """

    def set_params(
        self, arg_params, aux_params, allow_missing=False, force_init=True, allow_extra=False
    ):
        """Give parameters and auxiliary states their values.

        RuntimeError if one is missing (``allow_missing``), ValueError if there is one the symbol
        does not have (``allow_extra``); then nothing is changed.
        """
        self.init_params(
            initializer=None,
            arg_params=arg_params,
            aux_params=aux_params,
            allow_missing=allow_missing,
            force_init=force_init,
            allow_extra=allow_extra,
        )

    def save_params(self, fname):
        """Write parameters and auxiliary states to a ``.params`` file."""
        arg_params, aux_params = self.get_params()
        tagged = {f"arg:{name}": value.as_in_context(cpu()) for name, value in arg_params.items()}
        tagged |= {f"aux:{name}": value.as_in_context(cpu()) for name, value in aux_params.items()}
        nd.save(fname, tagged)

    def load_params(self, fname):
        """Set parameters and auxiliary states from a file of ``save_params`` or a checkpoint."""
        arg_params, aux_params = split_params(nd.load(fname), fname)
        self.set_params(arg_params, aux_params)

    def get_states(self, merge_multi_context=True):
        """The values of the inputs that are states; a module without states has none."""
        self._require("get_states", params=True)
        return []

    def set_states(self, states=None, value=None):
        """Set the inputs that are states, from arrays or all to one number."""
        self._require("set_states", params=True)
        if states or value:
            raise ModuleError("set_states: this module has no states")

    def prepare(self, data_batch, sparse_row_id_fn=None):
        """Get ready for a batch; ``Module`` fetches the rows of row_sparse parameters it needs."""
        if sparse_row_id_fn is not None:
            warnings.warn(
                "sparse_row_id_fn is not invoked by this kind of module", UserWarning, stacklevel=2
            )

    # -- the steps, for a subclass to provide ----------------------------------------------------

    @property
    def data_names(self):
        """The names of the data inputs."""
        raise NotImplementedError

    @property
    def output_names(self):
        """The names of the outputs."""
        raise NotImplementedError

    @property
    def data_shapes(self):
        """``DataDesc`` of every data input the module is bound to."""
        raise NotImplementedError

    @property
    def label_shapes(self):
        """``DataDesc`` of every label the module is bound to; None without labels."""
        raise NotImplementedError

    @property
    def output_shapes(self):
        """``(name, shape)`` of every output."""
        raise NotImplementedError

    @property
    def symbol(self):
        """The symbol that is computed."""
        return self._symbol

    def get_params(self):
        """``(arg_params, aux_params)``: dicts of the values all devices share."""
        raise NotImplementedError

    def init_params(
        self,
        initializer=_UNIFORM,
        arg_params=None,
        aux_params=None,
        allow_missing=False,
        force_init=False,
        allow_extra=False,
    ):
        """Give every parameter its first value."""
        raise NotImplementedError

    def install_monitor(self, mon):
        """Let a monitor see what is computed."""
        raise NotImplementedError

    def forward(self, data_batch, is_train=None):
        """Run a batch."""
        raise NotImplementedError

    def backward(self, out_grads=None):
        """Compute the gradients of the last forward."""
        raise NotImplementedError

    def get_outputs(self, merge_multi_context=True):
        """The outputs of the last forward."""
        raise NotImplementedError

    def get_input_grads(self, merge_multi_context=True):
        """The gradients of the data inputs after the last backward."""
        raise NotImplementedError

    def update(self):
        """Let the optimizer change the parameters by the gradients of the last backward."""
        raise NotImplementedError

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        """Let a metric see the outputs of the last forward."""
        raise NotImplementedError

    def bind(
        self,
        data_shapes,
        label_shapes=None,
        for_training=True,
        inputs_need_grad=False,
        force_rebind=False,
        shared_module=None,
        grad_req="write",
    ):
        """Make the memory for inputs of these shapes."""
        raise NotImplementedError

    def init_optimizer(
        self,
        kvstore="local",
        optimizer="sgd",
        optimizer_params=(("learning_rate", 0.01),),
        force_init=False,
    ):
        """Choose how parameters are updated."""
        raise NotImplementedError

    # -- shared with subclasses --------------------------------------------------------------------

    def _update_metric_of(self, eval_metric, batch):
        """Let a metric see the last outputs beside the labels of a batch (or of sliced batches)."""
        if isinstance(batch, list):
            self.update_metric(eval_metric, [part.label for part in batch], pre_sliced=True)
        else:
            self.update_metric(eval_metric, batch.label)

    def _require(self, verb, params=False, optimizer=False):
        """Raise unless the module is bound and, where asked, has parameters and optimizer."""
        for ready, step in (
            (self.binded, "bind"),
            (self.params_initialized or not params, "init_params"),
            (self.optimizer_initialized or not optimizer, "init_optimizer"),
        ):
            if not ready:
                raise ModuleError(
                    f"{type(self).__name__}: {verb} needs {step} first.\n"
                    f"  received  {verb}() before {step}()\n"
                    "  expected  bind, then init_params, then init_optimizer (to train)\n"
                    f"  fix       call {step}() before {verb}(), or use fit()"
                )


def _as_metric(metric: Any) -> Any:
    return metric if isinstance(metric, metrics.EvalMetric) else metrics.create(metric)


def _call(callbacks: Any, *arguments: Any) -> None:
    """Call one callback, or all of a list."""
    if callbacks is not None:
        for callback in _as_list(callbacks):
            callback(*arguments)


def _check_input_names(symbol: Any, names: Any, typename: str, throw: bool) -> None:
    """Raise ValueError (or warn) if a name is not an argument of the symbol."""
    arguments = symbol.list_arguments()
    for name in names:
        if name in arguments:
            continue
        likely = "\n\t".join(a for a in arguments if not a.endswith(_PARAMETER_ENDINGS))
        message = (
            f"You created Module with Module(..., {typename}_names={list(names)}) but input with "
            f"name '{name}' is not found in symbol.list_arguments(). Did you mean one of:\n"
            f"\t{likely}"
        )
        if throw:
            raise ValueError(message)
        warnings.warn(message, UserWarning, stacklevel=3)


def _check_names_match(names: Any, shapes: Any, kind: str, throw: bool) -> None:
    """Raise ValueError (or warn) if shapes were given for other inputs than expected."""
    if sorted(names) == sorted(desc.name for desc in shapes):
        return
    message = (
        f"Data provided by {kind}_shapes don't match names specified by {kind}_names "
        f"({shapes} vs. {list(names)})"
    )
    if throw:
        raise ValueError(message)
    warnings.warn(message, UserWarning, stacklevel=3)


def _parse_data_desc(
    data_names: Any, label_names: Any, data_shapes: Any, label_shapes: Any
) -> tuple[list[DataDesc], list[DataDesc] | None]:
    """The shapes given to ``bind`` as ``DataDesc``, checked against the names of the inputs."""
    data_shapes = [as_desc(entry) for entry in data_shapes]
    _check_names_match(data_names, data_shapes, "data", True)
    if label_shapes:
        label_shapes = [as_desc(entry) for entry in label_shapes]
        _check_names_match(label_names, label_shapes, "label", False)
    return data_shapes, label_shapes
