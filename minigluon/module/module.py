"""``Module``: a symbol with its parameters, an optimizer, and one executor for every device."""

from __future__ import annotations

import logging
import warnings
from typing import Any

from .. import ndarray as nd
from .. import optimizer as opt
from ..base import ArgumentTypeError, four_lines
from ..context import Context, cpu
from ..initializer import InitDesc
from ..io import DataDesc
from ..model import (
    _create_kvstore,
    _initialize_kvstore,
    _update_params,
    _update_params_on_kvstore,
    load_checkpoint,
    save_checkpoint,
)
from ..ndarray.serialize import write_file
from ..optimizer import pickles
from ..symbol import Symbol
from .base_module import (
    _UNIFORM,
    BaseModule,
    _check_input_names,
    _parse_data_desc,
)
from .errors import ModuleError
from .executor_group import DataParallelExecutorGroup
from .inputs import joined, labels_of_losses, shapes_of
from .parameters import check_given, check_known, check_row_ids, make_optimizer, zeros_like


class Module(BaseModule):
    """A symbol to train and to predict with.

    Parameters
    ----------
    symbol : what to compute.
    data_names, label_names : which of its arguments a batch brings; ``label_names=None`` for none.
    logger : where ``fit`` reports.
    context : one context, or several to share each batch.
    work_load_list : how much of a batch each context gets; equal parts by default.
    fixed_param_names : parameters that are not trained.
    state_names : arguments that are neither trained nor brought by a batch (``set_states``).
    group2ctxs : where the nodes of an ``AttrScope(ctx_group=...)`` run, for each context.
    compression_params : gradient compression of the kvstore.

    Examples
    --------
    >>> data = mx.sym.Variable("data")
    >>> net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(data, num_hidden=2), name="softmax")
    >>> module = mx.mod.Module(net)
    >>> module.bind([("data", (1, 3))], [("softmax_label", (1,))])
    >>> module.init_params(mx.init.One())
    >>> module.forward(mx.io.DataBatch([mx.nd.ones((1, 3))]), is_train=False)
    >>> module.get_outputs()[0].asnumpy()
    array([[0.5, 0.5]], dtype=float32)
    """

    def __init__(
        self,
        symbol,
        data_names=("data",),
        label_names=("softmax_label",),
        logger=logging,
        context=None,
        work_load_list=None,
        fixed_param_names=None,
        state_names=None,
        group2ctxs=None,
        compression_params=None,
    ):
        super().__init__(logger=logger)
        if not isinstance(symbol, Symbol):
            raise ArgumentTypeError(
                four_lines(
                    "Module: this is no symbol.",
                    type(symbol).__name__,
                    "a Symbol, such as mx.sym.SoftmaxOutput(...)",
                    "make one, or load it: mx.sym.load('net-symbol.json')",
                )
            )
        if context is None:
            context = cpu()
        self._context = [context] if isinstance(context, Context) else list(context)
        self._work_load_list = work_load_list or [1] * len(self._context)
        if len(self._work_load_list) != len(self._context):
            raise ModuleError(
                "Module: there is not one workload for each context.\n"
                f"  received  work_load_list={work_load_list} for {len(self._context)} contexts\n"
                "  expected  as many numbers as contexts\n"
                "  fix       leave work_load_list out for equal parts"
            )
        self._symbol, self._group2ctxs = symbol, group2ctxs
        self._data_names = list(data_names or ())
        self._label_names = list(label_names or ())
        self._state_names = list(state_names or ())
        self._fixed_param_names = list(fixed_param_names or ())
        for names, kind, throw in (
            (self._data_names, "data", True),
            (self._label_names, "label", False),
            (self._state_names, "state", True),
            (self._fixed_param_names, "fixed_param", True),
        ):
            _check_input_names(symbol, names, kind, throw)
        inputs = {*self._data_names, *self._label_names, *self._state_names}
        inputs |= labels_of_losses(symbol)
        self._param_names = [name for name in symbol.list_arguments() if name not in inputs]
        self._aux_names = symbol.list_auxiliary_states()
        self._output_names = symbol.list_outputs()
        self._compression_params = compression_params
        self._arg_params: dict[str, Any] | None = None
        self._aux_params: dict[str, Any] | None = None
        self._params_dirty = False
        self._optimizer: Any = None
        self._kvstore: Any = None
        self._update_on_kvstore: bool | None = None
        self._updater: Any = None
        self._preload_opt_states: str | None = None
        self._grad_req: Any = None
        self._exec_group: Any = None
        self._data_shapes: list[DataDesc] | None = None
        self._label_shapes: list[DataDesc] | None = None
        self._input_shapes: tuple[Any, Any] = ((), ())
        self._described_fit = "fit was not called"
        self._epoch_kernel: Any = None

    # -- files -------------------------------------------------------------------------------------

    @staticmethod
    def load(prefix, epoch, load_optimizer_states=False, **kwargs):
        """A module from a checkpoint, to be bound; ``kwargs`` are those of ``Module``."""
        symbol, arg_params, aux_params = load_checkpoint(prefix, epoch)
        module = Module(symbol=symbol, **kwargs)
        module._arg_params, module._aux_params = arg_params, aux_params
        module.params_initialized = True
        if load_optimizer_states:
            module._preload_opt_states = f"{prefix}-{epoch:04d}.states"
        return module

    def save_checkpoint(self, prefix, epoch, save_optimizer_states=False, remove_amp_cast=True):
        """Write ``prefix-symbol.json``, ``prefix-NNNN.params`` and maybe ``prefix-NNNN.states``."""
        arg_params, aux_params = self.get_params()
        save_checkpoint(prefix, epoch, self.symbol, arg_params, aux_params, remove_amp_cast)
        if save_optimizer_states:
            fname = f"{prefix}-{epoch:04d}.states"
            self.save_optimizer_states(fname)
            logging.info('Saved optimizer state to "%s"', fname)

    def save_optimizer_states(self, fname):
        """Write what the optimizer remembers of every parameter (momentum and the like)."""
        self._require("save_optimizer_states", params=True, optimizer=True)
        if self._update_on_kvstore:
            self._kvstore.save_optimizer_states(fname)
        else:
            write_file(fname, self._updater.get_states())

    def load_optimizer_states(self, fname):
        """Let the optimizer remember what a file of ``save_optimizer_states`` holds."""
        self._require("load_optimizer_states", params=True, optimizer=True)
        if self._update_on_kvstore:
            self._kvstore.load_optimizer_states(fname)
        else:
            self._updater.set_states(pickles.read(fname))

    # -- names and shapes --------------------------------------------------------------------------

    @property
    def data_names(self):
        """The names of the data inputs."""
        return self._data_names

    @property
    def label_names(self):
        """The names of the labels."""
        return self._label_names

    @property
    def output_names(self):
        """The names of the outputs."""
        return self._output_names

    @property
    def data_shapes(self):
        """``DataDesc`` of every data input the module is bound to."""
        self._require("data_shapes")
        return self._data_shapes

    @property
    def label_shapes(self):
        """``DataDesc`` of every label the module is bound to; None without labels."""
        self._require("label_shapes")
        return self._label_shapes

    @property
    def output_shapes(self):
        """``(name, shape)`` of every output."""
        self._require("output_shapes")
        return self._exec_group.get_output_shapes()

    # -- parameters --------------------------------------------------------------------------------

    def get_params(self):
        """``(arg_params, aux_params)``: dicts of arrays, averaged over the contexts.

        The same arrays are returned, with new values, by the next call.
        """
        if not self.params_initialized:
            self._require("get_params", params=True)
        if self._params_dirty:
            self._sync_params_from_devices()
        return self._arg_params, self._aux_params

    def init_params(
        self,
        initializer=_UNIFORM,
        arg_params=None,
        aux_params=None,
        allow_missing=False,
        force_init=False,
        allow_extra=False,
    ):
        """Give every parameter its first value: the given one, or else the initializer's.

        A parameter's own ``init=`` wins over ``initializer``. RuntimeError if values are given but
        one is missing, unless ``allow_missing``; arrays for names the symbol does not have are
        ignored. Nothing is changed if any of it fails to fit.
        """
        if self.params_initialized and not force_init:
            warnings.warn(
                "Parameters already initialized and force_init=False. init_params call ignored.",
                UserWarning,
                stacklevel=2,
            )
            return
        self._require("init_params")
        given = ((self._arg_params, arg_params), (self._aux_params, aux_params))
        for own, source in given:
            check_given(own, source, allow_missing)
        attributes = self._symbol.attr_dict()
        for own, source in given:
            for name, array in sorted(own.items()):
                value = None if source is None else source.get(name)
                if value is None:
                    if initializer is not None or source is None:
                        initializer(InitDesc(name, attributes.get(name)), array)
                elif value is not array:
                    value.copyto(array)
        self.params_initialized = True
        self._params_dirty = False
        self._exec_group.set_params(self._arg_params, self._aux_params, allow_extra=allow_extra)

    def set_params(
        self, arg_params, aux_params, allow_missing=False, force_init=True, allow_extra=False
    ):
        """Give parameters and auxiliary states their values.

        RuntimeError if one is missing, unless ``allow_missing``; with it, ValueError for one the
        symbol does not have, unless ``allow_extra``. Nothing is changed if any of it fails.
        """
        if not allow_missing:
            self.init_params(
                initializer=None,
                arg_params=arg_params,
                aux_params=aux_params,
                allow_missing=allow_missing,
                force_init=force_init,
                allow_extra=allow_extra,
            )
            return
        if self.params_initialized and not force_init:
            warnings.warn(
                "Parameters already initialized and force_init=False. set_params call ignored.",
                UserWarning,
                stacklevel=2,
            )
            return
        self._require("set_params")
        for own, source, kind in (
            (self._arg_params, arg_params, "arguments"),
            (self._aux_params, aux_params, "auxiliary states"),
        ):
            if not allow_extra:
                check_known(own, source or {}, kind)
            check_given(own, source, allow_missing=True)
        self._exec_group.set_params(arg_params, aux_params or {}, allow_extra=True)
        self._params_dirty = True
        self.params_initialized = True

    def _sync_params_from_devices(self):
        """Bring ``_arg_params`` and ``_aux_params`` up to date with the devices or the kvstore."""
        self._exec_group.get_params(self._arg_params, self._aux_params)
        if self._kvstore and self._update_on_kvstore:
            for name, array in sorted(self._arg_params.items()):
                if array.stype == "row_sparse":  # a device has some of the rows only
                    rows = nd.arange(0, array.shape[0], dtype="int64")
                    self._kvstore.row_sparse_pull(name, array, row_ids=rows)
        self._params_dirty = False

    # -- binding -----------------------------------------------------------------------------------

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
        """Make executors for inputs of these shapes; a bound module ignores it.

        ``shared_module`` is one whose parameters this one uses, as buckets do. ``grad_req`` is
        ``"write"``, ``"add"`` or ``"null"``, for all arguments or in a list or dict for each.
        """
        if self.binded and not force_rebind:
            self.logger.warning("Already bound, ignoring bind()")
            return
        shared_group = None
        if shared_module is not None:
            if not (
                isinstance(shared_module, Module)
                and shared_module.binded
                and shared_module.params_initialized
            ):
                raise ModuleError(
                    "bind: parameters can be shared with a bound and initialized Module only.\n"
                    f"  received  shared_module={shared_module!r}\n"
                    "  expected  a Module after bind and init_params\n"
                    "  fix       bind and initialize the shared module first"
                )
            shared_group = shared_module._exec_group
        data_shapes, label_shapes = _parse_data_desc(
            self.data_names, self.label_names, data_shapes, label_shapes
        )
        if self._params_dirty:
            self._sync_params_from_devices()
        group = DataParallelExecutorGroup(
            self._symbol,
            self._context,
            self._work_load_list,
            data_shapes,
            label_shapes,
            self._param_names,
            for_training,
            inputs_need_grad,
            shared_group,
            logger=self.logger,
            fixed_param_names=self._fixed_param_names,
            grad_req=grad_req,
            state_names=self._state_names,
            group2ctxs=self._group2ctxs,
        )
        if shared_module is not None:
            self._arg_params, self._aux_params = (
                shared_module._arg_params,
                shared_module._aux_params,
            )
            self.params_initialized = True
        elif self.params_initialized:
            group.set_params(self._arg_params, self._aux_params, allow_extra=True)
        else:
            self._arg_params = zeros_like(self._param_names, group.param_arrays)
            self._aux_params = zeros_like(self._aux_names, group.aux_arrays)
        self._exec_group = group
        self.for_training, self.inputs_need_grad = for_training, inputs_need_grad
        self._grad_req = grad_req
        self.binded = True
        self._take_shapes(data_shapes, label_shapes)
        if shared_module is not None and shared_module.optimizer_initialized:
            self.borrow_optimizer(shared_module)

    def _reset_bind(self):
        """Forget executors; parameters stay."""
        if self._params_dirty:
            self._sync_params_from_devices()
        self.binded = False
        self._exec_group = None
        self._data_shapes = self._label_shapes = None

    def reshape(self, data_shapes, label_shapes=None):
        """Bind to other shapes; parameters and optimizer stay."""
        self._require("reshape")
        data_shapes, label_shapes = _parse_data_desc(
            self.data_names, self.label_names, data_shapes, label_shapes
        )
        self._exec_group.reshape(data_shapes, label_shapes)
        self._take_shapes(data_shapes, label_shapes)

    def _take_shapes(self, data_shapes, label_shapes):
        """Remember the shapes that are bound; ``forward`` compares batches with them."""
        self._data_shapes, self._label_shapes = data_shapes, label_shapes or None
        self._input_shapes = (
            [tuple(desc.shape) for desc in data_shapes],
            [tuple(desc.shape) for desc in label_shapes or ()],
        )

    # -- optimizer ---------------------------------------------------------------------------------

    def init_optimizer(
        self,
        kvstore="local",
        optimizer="sgd",
        optimizer_params=(("learning_rate", 0.01),),
        force_init=False,
    ):
        """Choose the optimizer, by name with parameters or as an object, and the kvstore.

        Gradients are divided by the batch size unless ``rescale_grad`` is given.
        """
        self._require("init_optimizer", params=True)
        if self.optimizer_initialized and not force_init:
            self.logger.warning("optimizer already initialized, ignoring...")
            return
        if self._params_dirty:
            self._sync_params_from_devices()
        kvstore, update_on_kvstore = _create_kvstore(kvstore, len(self._context), self._arg_params)
        batch_size = self._exec_group.batch_size
        if kvstore and "dist" in kvstore.type and "_async" not in kvstore.type:
            batch_size *= kvstore.num_workers
        devices = 1 if update_on_kvstore else len(self._context)
        optimizer = make_optimizer(
            optimizer,
            optimizer_params,
            rescale_grad=1.0 / (batch_size or 1),
            symbol=self._symbol,
            idx2name={
                i * devices + k: name
                for k in range(devices)
                for i, name in enumerate(self._param_names)
            },
        )
        self._optimizer, self._kvstore = optimizer, kvstore
        self._update_on_kvstore, self._updater = update_on_kvstore, None
        if kvstore:
            if self._compression_params:
                kvstore.set_gradient_compression(self._compression_params)
            if update_on_kvstore:
                kvstore.set_optimizer(optimizer)
            _initialize_kvstore(
                kvstore=kvstore,
                param_arrays=self._exec_group.param_arrays,
                arg_params=self._arg_params,
                param_names=self._param_names,
                update_on_kvstore=update_on_kvstore,
            )
        if not update_on_kvstore:
            self._updater = opt.get_updater(optimizer)
        self.optimizer_initialized = True
        self._exec_group.expect_many_steps()
        if self._preload_opt_states is not None:
            self.load_optimizer_states(self._preload_opt_states)
            self._preload_opt_states = None

    def borrow_optimizer(self, shared_module):
        """Update with the optimizer, kvstore and states of another module."""
        if not shared_module.optimizer_initialized:
            shared_module._require("borrow_optimizer", params=True, optimizer=True)
        self._optimizer = shared_module._optimizer
        self._kvstore = shared_module._kvstore
        self._update_on_kvstore = shared_module._update_on_kvstore
        self._updater = shared_module._updater
        self.optimizer_initialized = True
        if self._exec_group is not None:
            self._exec_group.expect_many_steps()

    # -- running -----------------------------------------------------------------------------------

    def describe_fit(self):
        """How ``fit`` ran its last epoch: rows in one compiled call, or why batch by batch.

        Batches of one row from an ``NDArrayIter`` are run at once where the graph is made of
        products of csr rows and weights and of compiled dense operators, and nobody looks between.
        """
        return self._described_fit

    def _run_ahead(self, train_data, eval_metric, watched):
        reason = "somebody looks at every batch (a callback, a monitor, sparse_row_id_fn)"
        if not watched:
            from .epoch import run_ahead  # not at start-up

            reason = run_ahead(self, Module, train_data, eval_metric)
        self._described_fit = (
            f"fit runs batch by batch: {reason}"
            if reason
            else "fit runs the rows between the first and the last in compiled code"
        )

    def forward(self, data_batch, is_train=None):
        """Run a batch; ``is_train=None`` means as bound.

        A batch of other shapes is bound first. One without labels is run with the labels of an
        earlier one, which matters to gradients only. A list holds a batch for every context.
        """
        if not (self.binded and self.params_initialized):
            self._require("forward", params=True)
        if isinstance(data_batch, list):
            group = self._exec_group
            data_batch = joined(data_batch, group.data_layouts, group.label_layouts)
        data_shapes, label_shapes = self._input_shapes
        label = getattr(data_batch, "label", None)
        if [array.shape for array in data_batch.data] != data_shapes or (
            label and [array.shape for array in label] != label_shapes and label_shapes
        ):
            self.reshape(*shapes_of(data_batch, self._data_shapes, self._label_shapes))
        self._exec_group.forward(data_batch, is_train)

    def backward(self, out_grads=None):
        """Compute gradients; ``out_grads`` are those of the outputs that are not losses."""
        if not (self.binded and self.params_initialized):
            self._require("backward", params=True)
        self._exec_group.backward(out_grads)

    def update(self):
        """Change the parameters by the gradients of the last backward."""
        if not self.optimizer_initialized:
            self._require("update", params=True, optimizer=True)
        self._params_dirty = True
        group = self._exec_group
        if self._update_on_kvstore:
            _update_params_on_kvstore(
                group.param_arrays, group.grad_arrays, self._kvstore, group.param_names
            )
        elif self._kvstore is None and group.update_lists is not None:
            self._updater(*group.update_lists)
        else:
            _update_params(
                group.param_arrays,
                group.grad_arrays,
                updater=self._updater,
                num_device=len(self._context),
                kvstore=self._kvstore,
                param_names=group.param_names,
            )

    def get_outputs(self, merge_multi_context=True):
        """The outputs of the last forward; unmerged, a list by context for each."""
        self._require("get_outputs", params=True)
        return self._exec_group.get_outputs(merge_multi_context=merge_multi_context)

    def get_input_grads(self, merge_multi_context=True):
        """The gradients of the data inputs; needs ``bind(inputs_need_grad=True)``."""
        self._require("get_input_grads", params=True)
        return self._exec_group.get_input_grads(merge_multi_context=merge_multi_context)

    def get_states(self, merge_multi_context=True):
        """The states, a list by context for each."""
        self._require("get_states", params=True)
        return self._exec_group.get_states(merge_multi_context=merge_multi_context)

    def set_states(self, states=None, value=None):
        """Set the states from arrays, as ``get_states`` gives them, or all to one number."""
        self._require("set_states", params=True)
        self._exec_group.set_states(states, value)

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        """Let a metric see labels beside the outputs of the last forward."""
        self._exec_group.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon):
        """Let a monitor see what the executors compute."""
        self._require("install_monitor")
        self._exec_group.install_monitor(mon)

    def prepare(self, data_batch, sparse_row_id_fn=None):
        """Fetch the rows of row_sparse parameters that a batch needs from the kvstore.

        ``sparse_row_id_fn(data_batch)`` returns ``{parameter name: row ids}``. It is needed where
        the kvstore updates, because ``update`` does not fetch row_sparse parameters.
        """
        self._require("prepare")
        if sparse_row_id_fn is None:
            return
        if not self._kvstore or not self._update_on_kvstore:
            warnings.warn(
                "Parameters are not updated in the KVStore. No need to call sparse_row_id_fn.",
                UserWarning,
                stacklevel=2,
            )
            return
        row_ids = sparse_row_id_fn(data_batch)
        check_row_ids(row_ids, self._param_names)
        for name, rows in row_ids.items():
            arrays = self._exec_group.param_arrays[self._param_names.index(name)]
            if arrays[0].stype != "row_sparse":
                warnings.warn(
                    f"{name}.stype is not 'row_sparse'. No need to perform row_sparse_pull.",
                    UserWarning,
                    stacklevel=2,
                )
                continue
            self._kvstore.row_sparse_pull(name, arrays, row_ids=[rows] * len(arrays))
