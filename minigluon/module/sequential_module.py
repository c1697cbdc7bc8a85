"""Modules in a row: the outputs of one are the data of the next."""

from __future__ import annotations

import logging

from ..io import DataBatch
from .base_module import _UNIFORM, BaseModule
from .errors import ModuleError


class SequentialModule(BaseModule):
    """A chain of modules that is trained as one.

    ``add(module, take_labels=True)`` marks a module that gets the labels of a batch;
    ``auto_wiring=True`` gives the inputs of a module whatever names its ``data_names`` are.
    """

    META_TAKE_LABELS = "take_labels"
    META_AUTO_WIRING = "auto_wiring"

    def __init__(self, logger=logging):
        super().__init__(logger=logger)
        self._modules: list[BaseModule] = []
        self._metas: list[dict[str, object]] = []
        self._data_shapes = self._label_shapes = None
        self._meta_keys = {self.META_TAKE_LABELS, self.META_AUTO_WIRING}

    def add(self, module, **kwargs):
        """Append a module; returns this one, so that calls can be chained."""
        for key in kwargs:
            if key not in self._meta_keys:
                raise ModuleError(
                    f'Unknown meta "{key}", a typo?\n  received  {sorted(kwargs)}\n'
                    f"  expected  some of {sorted(self._meta_keys)}\n"
                    "  fix       use take_labels=True or auto_wiring=True"
                )
        self._modules.append(module)
        self._metas.append(kwargs)
        self.binded = self.params_initialized = self.optimizer_initialized = False
        return self

    @property
    def data_names(self):
        """The names of the data inputs of the first module."""
        return self._modules[0].data_names if self._modules else []

    @property
    def output_names(self):
        """The names of the outputs of the last module."""
        return self._modules[-1].output_names if self._modules else []

    @property
    def data_shapes(self):
        """``DataDesc`` of every data input of the first module."""
        self._require("data_shapes")
        return self._modules[0].data_shapes

    @property
    def label_shapes(self):
        """The labels as they were bound; None if no module takes them."""
        self._require("label_shapes")
        return self._label_shapes

    @property
    def output_shapes(self):
        """``(name, shape)`` of every output of the last module."""
        self._require("output_shapes")
        return self._modules[-1].output_shapes

    def get_params(self):
        """``(arg_params, aux_params)`` of all modules together."""
        self._require("get_params", params=True)
        arg_params, aux_params = {}, {}
        for module in self._modules:
            arg, aux = module.get_params()
            arg_params |= arg
            aux_params |= aux
        return arg_params, aux_params

    def init_params(
        self,
        initializer=_UNIFORM,
        arg_params=None,
        aux_params=None,
        allow_missing=False,
        force_init=False,
        allow_extra=False,
    ):
        """Give every parameter its first value; no two modules may use one name."""
        if self.params_initialized and not force_init:
            return
        self._require("init_params")
        owners: dict[str, int] = {}
        for i, module in enumerate(self._modules):
            module.init_params(
                initializer, arg_params, aux_params, allow_missing, force_init, allow_extra=True
            )
            for names in module.get_params():
                for name in names:
                    if name in owners:
                        raise ModuleError(
                            f'Duplicated parameter names: name "{name}" in layer {i} '
                            f"({type(module).__name__}) is already used in layer {owners[name]} "
                            f"({type(self._modules[owners[name]]).__name__})."
                        )
                    owners[name] = i
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
        """Bind each module to the output shapes of the one before it."""
        if self.binded and not force_rebind:
            self.logger.warning("Already bound, ignoring bind()")
            return
        if shared_module is not None:
            raise ModuleError("bind: shared_module for SequentialModule is not supported")
        if not self._modules:
            raise ModuleError("Attempting to bind an empty SequentialModule")
        shapes, takes_labels = data_shapes, False
        for i, (module, meta) in enumerate(zip(self._modules, self._metas, strict=True)):
            labels = label_shapes if meta.get(self.META_TAKE_LABELS) else None
            takes_labels |= labels is not None
            if meta.get(self.META_AUTO_WIRING):
                shapes = [
                    (name, _shape_of(entry))
                    for name, entry in zip(module.data_names, shapes, strict=True)
                ]
            module.bind(
                shapes,
                labels,
                for_training,
                inputs_need_grad or (for_training and i > 0),
                force_rebind=force_rebind,
                shared_module=None,
                grad_req=grad_req,
            )
            shapes = module.output_shapes
        self.for_training, self.inputs_need_grad = for_training, inputs_need_grad
        self._label_shapes = label_shapes if takes_labels else None
        self.binded = True

    def init_optimizer(
        self,
        kvstore="local",
        optimizer="sgd",
        optimizer_params=(("learning_rate", 0.01),),
        force_init=False,
    ):
        """Choose the optimizer of each module."""
        self._require("init_optimizer", params=True)
        if self.optimizer_initialized and not force_init:
            self.logger.warning("optimizer already initialized, ignoring.")
            return
        for module in self._modules:
            module.init_optimizer(kvstore, optimizer, optimizer_params, force_init=force_init)
        self.optimizer_initialized = True

    def forward(self, data_batch, is_train=None):
        """Run a batch through all modules."""
        self._require("forward", params=True)
        label = getattr(data_batch, "label", None)
        for module, following in zip(self._modules, [*self._modules[1:], None], strict=True):
            module.forward(data_batch, is_train=is_train)
            if following is not None:
                pad = getattr(data_batch, "pad", None)
                data_batch = DataBatch(module.get_outputs(), label, pad=pad)

    def backward(self, out_grads=None):
        """Compute gradients from the last module to the first."""
        self._require("backward", params=True)
        for i, module in reversed(list(enumerate(self._modules))):
            module.backward(out_grads=out_grads)
            if i:
                out_grads = module.get_input_grads()

    def update(self):
        """Change the parameters of all modules."""
        self._require("update", params=True, optimizer=True)
        for module in self._modules:
            module.update()

    def get_outputs(self, merge_multi_context=True):
        """The outputs of the last module."""
        self._require("get_outputs", params=True)
        return self._modules[-1].get_outputs(merge_multi_context=merge_multi_context)

    def get_input_grads(self, merge_multi_context=True):
        """The gradients of the data inputs of the first module."""
        self._require("get_input_grads", params=True)
        return self._modules[0].get_input_grads(merge_multi_context=merge_multi_context)

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        """Let a metric see labels beside the outputs of the modules that take labels."""
        self._require("update_metric", params=True)
        for module, meta in zip(self._modules, self._metas, strict=True):
            if meta.get(self.META_TAKE_LABELS):
                module.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon):
        """Let a monitor see what all modules compute."""
        self._require("install_monitor")
        for module in self._modules:
            module.install_monitor(mon)


def _shape_of(entry):
    return entry.shape if hasattr(entry, "shape") else entry[1]
