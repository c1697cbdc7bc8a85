"""Modules written in Python: a computation without parameters in a chain of modules."""

from __future__ import annotations

import logging

from .. import ndarray as nd
from ..io import DataDesc
from .base_module import _UNIFORM, BaseModule, _parse_data_desc
from .errors import ModuleError


class PythonModule(BaseModule):
    """A base for modules whose ``forward`` is plain Python and that have no parameters.

    A subclass says what its output shapes are (``_compute_output_shapes``) and provides
    ``forward``, ``get_outputs``, ``backward`` and ``get_input_grads``.
    """

    def __init__(self, data_names, label_names, output_names, logger=logging):
        super().__init__(logger=logger)
        self._data_names = list(data_names)
        self._label_names = list(label_names) if label_names is not None else None
        self._output_names = list(output_names)
        self._data_shapes: list[DataDesc] | None = None
        self._label_shapes: list[DataDesc] | None = None
        self._output_shapes: list[tuple[str, tuple[int, ...]]] | None = None

    @property
    def data_names(self):
        """The names of the data inputs."""
        return self._data_names

    @property
    def output_names(self):
        """The names of the outputs."""
        return self._output_names

    @property
    def data_shapes(self):
        """``DataDesc`` of every data input; None before ``bind``."""
        return self._data_shapes

    @property
    def label_shapes(self):
        """``DataDesc`` of every label; None without labels."""
        return self._label_shapes

    @property
    def output_shapes(self):
        """``(name, shape)`` of every output; None before ``bind``."""
        return self._output_shapes

    def get_params(self):
        """Two empty dicts: there are no parameters."""
        return {}, {}

    def init_params(
        self,
        initializer=_UNIFORM,
        arg_params=None,
        aux_params=None,
        allow_missing=False,
        force_init=False,
        allow_extra=False,
    ):
        """Nothing to do: there are no parameters."""
        self.params_initialized = True

    def init_optimizer(
        self,
        kvstore="local",
        optimizer="sgd",
        optimizer_params=(("learning_rate", 0.01),),
        force_init=False,
    ):
        """Nothing to do: there are no parameters."""
        self.optimizer_initialized = True

    def update(self):
        """Nothing to do: there are no parameters."""

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        """Let a metric see labels beside the outputs, if the module was bound to labels."""
        if self._label_shapes is None:
            return
        if pre_sliced:
            raise RuntimeError("PythonModule does not support pre-sliced labels")
        eval_metric.update(labels, self.get_outputs())

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
        """Take over the shapes of the inputs."""
        if self.binded and not force_rebind:
            self.logger.warning("Already bound, ignoring bind()")
            return
        if grad_req != "write":
            raise ModuleError("bind: Python module only support write gradient")
        self._data_shapes, self._label_shapes = _parse_data_desc(
            self._data_names, self._label_names or (), data_shapes, label_shapes
        )
        self.for_training, self.inputs_need_grad = for_training, inputs_need_grad
        self.binded = True
        self._output_shapes = self._compute_output_shapes()

    def _compute_output_shapes(self):
        """``(name, shape)`` of every output, for the bound ``data_shapes``."""
        raise NotImplementedError


class PythonLossModule(PythonModule):
    """A loss whose gradient is a Python function of scores and labels.

    Its output are the scores it gets. ``grad_func(scores, labels)`` returns the gradient, as an
    NDArray or anything ``mx.nd.array`` takes.
    """

    def __init__(
        self,
        name="pyloss",
        data_names=("data",),
        label_names=("softmax_label",),
        logger=logging,
        grad_func=None,
    ):
        super().__init__(data_names, label_names, [f"{name}_output"], logger=logger)
        if len(self._data_names) != 1 or len(self._label_names or ()) != 1:
            raise ModuleError(
                "PythonLossModule: it takes one array of scores and one of labels.\n"
                f"  received  data_names={list(data_names)}, label_names={label_names}\n"
                "  expected  one name in each\n  fix       write a subclass of PythonModule"
            )
        if grad_func is not None and not callable(grad_func):
            raise ModuleError(f"PythonLossModule: grad_func={grad_func!r} is not callable")
        self._name, self._grad_func = name, grad_func
        self._scores = self._labels = self._scores_grad = None

    def _compute_output_shapes(self):
        """The shape of the scores."""
        return [(f"{self._name}_output", tuple(self._data_shapes[0].shape))]

    def forward(self, data_batch, is_train=None):
        """Remember scores, and labels in training."""
        self._scores = data_batch.data[0]
        if self.for_training if is_train is None else is_train:
            self._labels = data_batch.label[0]

    def get_outputs(self, merge_multi_context=True):
        """The scores."""
        if not merge_multi_context:
            raise ModuleError("get_outputs: a Python module has no contexts to keep apart")
        return [self._scores]

    def backward(self, out_grads=None):
        """Compute the gradient of the scores."""
        if out_grads is not None:
            raise ModuleError("backward: For a loss module, out_grads should be None")
        if not self.for_training:
            raise ModuleError("backward: re-bind with for_training=True to run backward")
        self._backward_impl()

    def _backward_impl(self):
        """Set ``_scores_grad``; a subclass may do so without a ``grad_func``."""
        if self._grad_func is None:
            raise NotImplementedError
        grad = self._grad_func(self._scores, self._labels)
        self._scores_grad = grad if isinstance(grad, nd.NDArray) else nd.array(grad)

    def get_input_grads(self, merge_multi_context=True):
        """The gradient of the scores."""
        if not merge_multi_context:
            raise ModuleError("get_input_grads: a Python module has no contexts to keep apart")
        return [self._scores_grad]

    def install_monitor(self, mon):
        """Not possible: there is no executor to look into."""
        raise NotImplementedError
