"""Modules for inputs of several lengths, one for each, on the same parameters."""

from __future__ import annotations

import logging
import warnings

from .. import ndarray as nd
from ..context import cpu
from ..model import load_params
from .base_module import _UNIFORM, BaseModule
from .errors import ModuleError
from .module import Module


class BucketingModule(BaseModule):
    """A module for each bucket key a batch comes with; all of them share the parameters.

    ``sym_gen(bucket_key)`` returns ``(symbol, data_names, label_names)``. The default bucket, the
    largest as a rule, is bound first and owns the parameters; others are made when their first
    batch comes.
    """

    def __init__(
        self,
        sym_gen,
        default_bucket_key=None,
        logger=logging,
        context=None,
        work_load_list=None,
        fixed_param_names=None,
        state_names=None,
        group2ctxs=None,
        compression_params=None,
    ):
        super().__init__(logger=logger)
        if default_bucket_key is None:
            raise ModuleError(
                "BucketingModule: there is no default bucket.\n"
                "  received  default_bucket_key=None\n"
                "  expected  the key of the bucket that is bound first\n"
                "  fix       pass default_bucket_key=iterator.default_bucket_key"
            )
        self._sym_gen, self._default_bucket_key = sym_gen, default_bucket_key
        self._options = {
            "logger": logger,
            "context": context,
            "work_load_list": work_load_list,
            "fixed_param_names": fixed_param_names,
            "state_names": state_names,
            "group2ctxs": group2ctxs,
            "compression_params": compression_params,
        }
        self._buckets: dict[object, Module] = {}
        self._curr_module: Module | None = None
        self._curr_bucket_key: object = None
        self._params_dirty = False
        self._monitor = None
        self._grad_req: object = None
        self._preloaded: tuple[dict, dict] | None = None
        self._default = self._module(default_bucket_key)

    def _module(self, bucket_key) -> Module:
        symbol, data_names, label_names = self._sym_gen(bucket_key)
        return Module(symbol, data_names, label_names, **self._options)

    @staticmethod
    def load(prefix, epoch, sym_gen=None, default_bucket_key=None, **kwargs):
        """A module with the parameters of a checkpoint, to be bound."""
        if sym_gen is None:
            raise ModuleError(
                "BucketingModule.load: sym_gen is required for loading BucketingModule.\n"
                "  received  sym_gen=None\n"
                "  expected  the function that makes a bucket's symbol\n"
                "  fix       pass the sym_gen the module was trained with"
            )
        module = BucketingModule(sym_gen, default_bucket_key, **kwargs)
        module._preloaded = load_params(prefix, epoch)
        module.params_initialized = True
        return module

    @staticmethod
    def load_dict(
        sym_dict=None,
        sym_gen=None,
        default_bucket_key=None,
        arg_params=None,
        aux_params=None,
        **kwargs,
    ):
        """A module with these parameters; symbols come from ``sym_dict`` by key, or ``sym_gen``."""

        def generate(bucket_key):
            if sym_gen is None:
                return sym_dict[bucket_key], ("data",), ("softmax_label",)
            symbol, data_names, label_names = sym_gen(bucket_key)
            return (sym_dict or {}).get(bucket_key, symbol), data_names, label_names

        module = BucketingModule(generate, default_bucket_key, **kwargs)
        module._preloaded = (arg_params or {}, aux_params or {})
        module.params_initialized = True
        return module

    def save_checkpoint(self, prefix, epoch, remove_amp_cast=False):
        """Write parameters, the symbol of every bucket, and ``prefix.buckets`` with the keys."""
        self._require("save_checkpoint", params=True)
        self.save_params(f"{prefix}-{epoch:04d}.params")
        for key, module in self._buckets.items():
            module.symbol.save(f"{prefix}-{key}-symbol.json", remove_amp_cast=remove_amp_cast)
        keys = list(self._buckets)
        if all(isinstance(key, int) for key in keys):
            nd.save(f"{prefix}.buckets", [nd.array(keys, ctx=cpu(), dtype="int32")])

    @property
    def data_names(self):
        """The names of the data inputs of the current bucket."""
        return (self._curr_module or self._default).data_names

    @property
    def output_names(self):
        """The names of the outputs of the current bucket."""
        return (self._curr_module or self._default).output_names

    @property
    def data_shapes(self):
        """``DataDesc`` of every data input of the current bucket."""
        self._require("data_shapes")
        return self._curr_module.data_shapes

    @property
    def label_shapes(self):
        """``DataDesc`` of every label of the current bucket."""
        self._require("label_shapes")
        return self._curr_module.label_shapes

    @property
    def output_shapes(self):
        """``(name, shape)`` of every output of the current bucket."""
        self._require("output_shapes")
        return self._curr_module.output_shapes

    @property
    def symbol(self):
        """The symbol of the current bucket."""
        self._require("symbol")
        return self._curr_module.symbol

    def get_params(self):
        """``(arg_params, aux_params)``, which are the same for all buckets."""
        self._require("get_params", params=True)
        self._curr_module._params_dirty |= self._params_dirty
        params = self._curr_module.get_params()
        self._params_dirty = False
        return params

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
        if self.params_initialized and not force_init:
            return
        self._require("init_params")
        self._curr_module.init_params(
            initializer, arg_params, aux_params, allow_missing, force_init, allow_extra
        )
        self._params_dirty = False
        self.params_initialized = True

    def set_params(
        self, arg_params, aux_params, allow_missing=False, force_init=True, allow_extra=False
    ):
        """Give parameters and auxiliary states their values."""
        if self.params_initialized and not force_init:
            warnings.warn(
                "Parameters already initialized and force_init=False. set_params call ignored.",
                UserWarning,
                stacklevel=2,
            )
            return
        self._require("set_params")
        self._curr_module.set_params(arg_params, aux_params, allow_missing, force_init, allow_extra)
        self._params_dirty = allow_missing
        self.params_initialized = True

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
        """Bind the default bucket; these are its shapes."""
        if shared_module is not None:
            raise ModuleError("bind: shared_module for BucketingModule is not supported")
        if self.binded and not force_rebind:
            self.logger.warning("Already bound, ignoring bind()")
            return
        if self.params_initialized and self.binded:
            self._preloaded = self.get_params()
        module = self._module(self._default_bucket_key)
        if self._preloaded is not None:
            module._arg_params, module._aux_params = self._preloaded
            module.params_initialized = True
        module.bind(
            data_shapes,
            label_shapes,
            for_training,
            inputs_need_grad,
            force_rebind=False,
            shared_module=None,
            grad_req=grad_req,
        )
        if self.optimizer_initialized:
            module.borrow_optimizer(self._curr_module)
        self._buckets = {self._default_bucket_key: module}
        self._curr_module, self._curr_bucket_key = module, self._default_bucket_key
        self.for_training, self.inputs_need_grad = for_training, inputs_need_grad
        self._grad_req = grad_req
        self.binded = True

    def switch_bucket(self, bucket_key, data_shapes, label_shapes=None):
        """Make a bucket the current one, bound to these shapes if it is new."""
        self._require("switch_bucket")
        self._curr_module = self._bucket(bucket_key, data_shapes, label_shapes)
        self._curr_bucket_key = bucket_key

    def _bucket(self, bucket_key, data_shapes, label_shapes) -> Module:
        """The module of a bucket; a new one shares the arrays of the default bucket."""
        module = self._buckets.get(bucket_key)
        if module is None:
            module = self._module(bucket_key)
            module.bind(
                data_shapes,
                label_shapes,
                self.for_training,
                self.inputs_need_grad,
                force_rebind=False,
                shared_module=self._buckets[self._default_bucket_key],
                grad_req=self._grad_req,
            )
            if self._monitor is not None:
                module.install_monitor(self._monitor)
            self._buckets[bucket_key] = module
        return module

    def init_optimizer(
        self,
        kvstore="local",
        optimizer="sgd",
        optimizer_params=(("learning_rate", 0.01),),
        force_init=False,
    ):
        """Choose the optimizer of all buckets."""
        self._require("init_optimizer", params=True)
        if self.optimizer_initialized and not force_init:
            self.logger.warning("optimizer already initialized, ignoring.")
            return
        self._curr_module.init_optimizer(
            kvstore, optimizer, optimizer_params, force_init=force_init
        )
        for module in self._buckets.values():
            if module is not self._curr_module:
                module.borrow_optimizer(self._curr_module)
        self.optimizer_initialized = True

    def prepare(self, data_batch, sparse_row_id_fn=None):
        """Bind the bucket of a batch, and fetch the rows of row_sparse parameters it needs."""
        self._require("prepare", params=True)
        self._module_of(data_batch).prepare(data_batch, sparse_row_id_fn=sparse_row_id_fn)

    def _module_of(self, batch) -> Module:
        """The module for a batch; one that names no bucket belongs to the current one."""
        key = getattr(batch, "bucket_key", None)
        if key is None:
            return self._curr_module
        return self._bucket(key, batch.provide_data, batch.provide_label)

    def forward(self, data_batch, is_train=None):
        """Run a batch in its bucket, which becomes the current one."""
        self._require("forward", params=True)
        self._curr_module = self._module_of(data_batch)
        key = getattr(data_batch, "bucket_key", None)
        if key is not None:
            self._curr_bucket_key = key
        self._curr_module.forward(data_batch, is_train=is_train)

    def backward(self, out_grads=None):
        """Compute gradients in the current bucket."""
        self._require("backward", params=True)
        self._curr_module.backward(out_grads=out_grads)

    def update(self):
        """Change the parameters, which all buckets share."""
        self._require("update", params=True, optimizer=True)
        self._params_dirty = True
        self._curr_module.update()

    def get_outputs(self, merge_multi_context=True):
        """The outputs of the last forward."""
        self._require("get_outputs", params=True)
        return self._curr_module.get_outputs(merge_multi_context=merge_multi_context)

    def get_input_grads(self, merge_multi_context=True):
        """The gradients of the data inputs."""
        self._require("get_input_grads", params=True)
        return self._curr_module.get_input_grads(merge_multi_context=merge_multi_context)

    def get_states(self, merge_multi_context=True):
        """The states of the current bucket."""
        self._require("get_states", params=True)
        return self._curr_module.get_states(merge_multi_context=merge_multi_context)

    def set_states(self, states=None, value=None):
        """Set the states of the current bucket."""
        self._require("set_states", params=True)
        self._curr_module.set_states(states, value)

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        """Let a metric see labels beside the outputs of the last forward."""
        self._require("update_metric", params=True)
        self._curr_module.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon):
        """Let a monitor see what all buckets compute, those made later too."""
        self._require("install_monitor")
        self._monitor = mon
        for module in self._buckets.values():
            module.install_monitor(mon)
