"""One executor for every device of a module: the batch is cut, the outputs are joined."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from .. import ndarray as nd
from ..base import ShapeError
from ..io import DataDesc
from ..storage import STYPES, cast
from .errors import ModuleError

# As many shapes a module keeps executors for; a training loop has two, the last batch being short.
_KEPT_SHAPES = 8


class DataParallelExecutorGroup:
    """The executors of a module, one for every context, each with its share of the batch.

    ``param_arrays[i][k]`` is parameter ``i`` on context ``k``, and so are ``grad_arrays``,
    ``aux_arrays``, ``state_arrays`` and ``input_grad_arrays``; ``data_arrays[i]`` and
    ``label_arrays[i]`` are pairs of the slice of the batch and the array it goes to.
    """

    def __init__(
        self,
        symbol,
        contexts,
        workload,
        data_shapes,
        label_shapes,
        param_names,
        for_training,
        inputs_need_grad,
        shared_group=None,
        logger=logging,
        fixed_param_names=None,
        grad_req="write",
        state_names=None,
        group2ctxs=None,
    ):
        self.symbol, self.contexts, self.workload = symbol, contexts, workload
        self.param_names = param_names
        self.arg_names = symbol.list_arguments()
        self.aux_names = symbol.list_auxiliary_states()
        self.output_names = symbol.list_outputs()
        self.num_outputs = len(self.output_names)
        self.for_training, self.inputs_need_grad = for_training, inputs_need_grad
        self.logger = logger
        self.fixed_param_names = fixed_param_names or []
        self.state_names = state_names or []
        self.group2ctxs = _prepare_group2ctxs(group2ctxs, len(contexts))
        self._total_exec_bytes = 0
        self._monitors: list[Any] = []
        self.grad_req = self._grad_reqs(grad_req, [desc.name for desc in data_shapes])
        self.output_layouts = [
            DataDesc.get_batch_axis(symbol[name].attr("__layout__")) for name in self.output_names
        ]
        self._bound: dict[Any, list[Any]] = {}
        self._many_steps = False
        self.execs: list[Any] = []
        self.bind_exec(data_shapes, label_shapes, shared_group)

    def _grad_reqs(self, grad_req: Any, data_names: list[str]) -> dict[str, str]:
        """What happens to the gradient of every argument."""
        if not self.for_training:
            return dict.fromkeys(self.arg_names, "null")
        if isinstance(grad_req, list | tuple):
            return dict(zip(self.arg_names, grad_req, strict=True))
        usual = "write" if isinstance(grad_req, dict) else grad_req
        result = dict.fromkeys(self.arg_names, "null")
        for name in self.param_names:
            result[name] = "null" if name in self.fixed_param_names else usual
        for name in data_names:
            result[name] = usual if self.inputs_need_grad else "null"
        if isinstance(grad_req, dict):
            result.update(grad_req)
        return result

    # -- binding -----------------------------------------------------------------------------------

    def bind_exec(self, data_shapes, label_shapes, shared_group=None, reshape=False):
        """Make an executor for every context, or go back to those made for these shapes before."""
        label_shapes = label_shapes or []
        inputs = [*data_shapes, *(d for d in label_shapes if d.name in self.arg_names)]
        batch_size, slices = self.decide_slices(inputs)
        key = tuple([(desc.name, tuple(desc.shape)) for desc in inputs])
        execs = self._bound.get(key)
        if execs is None:
            shapes = [{desc.name: _share(desc, part) for desc in inputs} for part in slices]
            shared = self.execs if reshape else shared_group.execs if shared_group else None
            if reshape:
                self._check_parameters(shapes[0])
            types = {desc.name: desc.dtype for desc in inputs}
            execs = [
                self._bind(i, mine, types, shared[i] if shared else None)
                for i, mine in enumerate(shapes)
            ]
            for monitor in self._monitors:
                for executor in execs:
                    monitor.install(executor)
            if self._many_steps:
                for executor in execs:
                    executor.expect_many_steps()
        if len(self._bound) >= _KEPT_SHAPES:
            del self._bound[next(iter(self._bound))]
        self._bound[key] = execs
        self.execs, self.batch_size, self.slices = execs, batch_size, slices
        self.data_shapes, self.label_shapes = data_shapes, label_shapes or None
        self.data_layouts = [DataDesc.get_batch_axis(desc.layout) for desc in data_shapes]
        self.label_layouts = [DataDesc.get_batch_axis(desc.layout) for desc in label_shapes]
        self._collect_arrays()

    def expect_many_steps(self):
        """Have executors compile their plans: a training loop runs them again and again."""
        self._many_steps = True
        for executor in (e for execs in self._bound.values() for e in execs):
            executor.expect_many_steps()

    def decide_slices(self, data_shapes):
        """The size of the batch, and the part of it that each context gets."""
        batch_size = None
        for desc in data_shapes:
            axis = DataDesc.get_batch_axis(desc.layout)
            if axis < 0:
                continue
            size = desc.shape[axis] if axis < len(desc.shape) else None
            if batch_size is None:
                batch_size = size
            if size != batch_size:
                raise ModuleError(
                    f"all data must have the same batch size: batch_size = {batch_size}, "
                    f"but {desc.name} has shape {tuple(desc.shape)}.\n"
                    f"  received  {_shown({d.name: tuple(d.shape) for d in data_shapes})}\n"
                    "  expected  the same size along each input's batch axis (N of its layout)\n"
                    "  fix       reshape the input, or give its DataDesc the right layout"
                )
        if batch_size is None:
            return 0, [slice(None)] * len(self.contexts)
        return batch_size, _split_input_slice(batch_size, self.workload)

    def _bind(self, i: int, shapes: Any, types: Any, shared: Any) -> Any:
        """A new executor for context ``i``, on the arrays of ``shared`` that fit."""
        sharing = {}
        if shared is not None:
            names = [*self.param_names, *self.aux_names, *self.state_names]
            sharing = {"shared_exec": shared, "shared_arg_names": names, "shared_buffer": {}}
        return self.symbol.simple_bind(
            ctx=self.contexts[i],
            grad_req=self.grad_req,
            type_dict=types,
            group2ctx=self.group2ctxs[i],
            **sharing,
            **shapes,
        )

    def _check_parameters(self, inputs: dict[str, Any]) -> None:
        """Raise unless inputs of these shapes go with the parameters there are."""
        known = self.execs[0].arg_dict
        shapes, _, _ = self.symbol.infer_shape(**inputs)
        for name, shape in zip(self.arg_names, shapes or (), strict=shapes is not None):
            if name in self.param_names and known[name].shape != tuple(shape):
                raise ShapeError(
                    f"Module: inputs of these shapes do not fit the parameters.\n"
                    f"  received  {_shown(inputs)}\n"
                    f"  expected  shapes for which {name} is {known[name].shape}, not {shape}\n"
                    "  fix       change the data, or bind a new module for such inputs"
                )

    def reshape(self, data_shapes, label_shapes):
        """Change the shapes of inputs; parameters, gradients and states of the optimizer stay."""
        self.bind_exec(data_shapes, label_shapes, reshape=True)

    def _collect_arrays(self) -> None:
        """List the arrays of all executors by what they are for."""
        execs = self.execs
        args = [executor.arg_dict for executor in execs]
        grads = [executor.grad_dict for executor in execs]
        self.data_names = [desc.name for desc in self.data_shapes]
        self.label_names = [desc.name for desc in self.label_shapes or ()]
        self.data_arrays = [
            list(zip(self.slices, [a[name] for a in args], strict=True)) for name in self.data_names
        ]
        # a label the symbol does not have is known to metrics only
        self.label_arrays = [
            list(zip(self.slices, [a[name] for a in args], strict=True)) if name in args[0] else []
            for name in self.label_names
        ] or None
        self.state_arrays = [[a[name] for a in args] for name in self.state_names]
        self.param_arrays = [[a[name] for a in args] for name in self.param_names]
        self.grad_arrays = None
        if self.for_training:
            self.grad_arrays = [[g.get(name) for g in grads] for name in self.param_names]
        self.aux_arrays = [[e.aux_dict[name] for e in execs] for name in self.aux_names]
        self.input_grad_arrays = None
        if self.inputs_need_grad:
            self.input_grad_arrays = [[g.get(name) for g in grads] for name in self.data_names]
        # What the hot path of a single context walks over, ready made
        self._only = execs[0] if len(execs) == 1 else None
        self._data_targets = [args[0][name] for name in self.data_names]
        self._label_targets = [args[0].get(name) for name in self.label_names]
        self.update_lists = None
        if self._only is not None and self.for_training:
            updated = [
                (i, grad, array)
                for i, ((array,), (grad,)) in enumerate(
                    zip(self.param_arrays, self.grad_arrays, strict=True)
                )
                if grad is not None
            ]
            self.update_lists = tuple(map(list, zip(*updated, strict=True))) or ([], [], [])

    # -- parameters and states ---------------------------------------------------------------------

    def set_params(self, arg_params, aux_params, allow_extra=False):
        """Copy parameters and auxiliary states to every context."""
        for executor in self.execs:
            executor.copy_params_from(arg_params, aux_params, allow_extra_params=allow_extra)

    def get_params(self, arg_params, aux_params):
        """Copy parameters and auxiliary states, averaged over the contexts, into these dicts."""
        for names, arrays, target in (
            (self.param_names, self.param_arrays, arg_params),
            (self.aux_names, self.aux_arrays, aux_params),
        ):
            for name, parts in zip(names, arrays, strict=True):
                value = parts[0]
                for part in parts[1:]:
                    value = value + part.as_in_context(value.context)
                if len(parts) > 1:
                    value = value / len(parts)
                value.copyto(target[name])

    def get_states(self, merge_multi_context=True):
        """The values of the states."""
        if merge_multi_context:
            raise ModuleError(
                "merge_multi_context=True is not supported for get_states yet.\n"
                "  received  merge_multi_context=True\n"
                "  expected  merge_multi_context=False: a list by state of a list by context\n"
                "  fix       call get_states(merge_multi_context=False)"
            )
        return self.state_arrays

    def set_states(self, states=None, value=None):
        """Set the states, from arrays by state and context, or all of them to one number."""
        if (states is None) == (value is None):
            which = "At least" if states is None else "Only"
            raise ModuleError(f"{which} one of states & value must be specified.")
        if states is not None:
            for sources, targets in zip(states, self.state_arrays, strict=True):
                for source, target in zip(sources, targets, strict=True):
                    source.copyto(target)
            return
        for targets in self.state_arrays:
            for target in targets:
                target[:] = value

    # -- running -----------------------------------------------------------------------------------

    def forward(self, data_batch, is_train=None):
        """Run a batch whose shapes are those that are bound; labels may be missing."""
        if is_train is None:
            is_train = self.for_training
        label = getattr(data_batch, "label", None)
        if self._only is not None:
            for source, target in zip(data_batch.data, self._data_targets, strict=True):
                hand_over(source, target)
            if label:
                for source, target in zip(label, self._label_targets, strict=False):
                    if target is not None:
                        hand_over(source, target)
            self._only.forward(is_train=is_train)
            return
        _scatter(data_batch.data, self.data_arrays, self.data_layouts)
        if label and self.label_arrays:
            _scatter(label, self.label_arrays, self.label_layouts)
        for executor in self.execs:
            executor.forward(is_train=is_train)

    def backward(self, out_grads=None):
        """Compute gradients; ``out_grads`` are those of the outputs, unless they are losses."""
        if not self.for_training:
            raise ModuleError("re-bind with for_training=True to run backward")
        if out_grads is None:
            for executor in self.execs:
                executor.backward()
            return
        if not isinstance(out_grads, list | tuple):
            out_grads = [out_grads]
        for part, executor in zip(self.slices, self.execs, strict=True):
            executor.backward(
                [
                    _cut(grad, axis, part).as_in_context(self.contexts[0])
                    if self._only is None
                    else grad
                    for grad, axis in zip(out_grads, self.output_layouts, strict=True)
                ]
            )

    def get_outputs(self, merge_multi_context=True, begin=0, end=None):
        """The outputs of the last forward, joined over the contexts or as lists by context."""
        if self._only is not None and merge_multi_context:
            return self._only.outputs[begin:end]
        outputs = [list(parts) for parts in zip(*(e.outputs for e in self.execs), strict=True)]
        outputs = outputs[begin:end]
        if not merge_multi_context:
            return outputs
        return _merge_multi_context(outputs, self.output_layouts[begin:end])

    def get_output_shapes(self):
        """``(name, shape)`` of every output, of the whole batch."""
        known = {desc.name: desc.shape for desc in (*self.data_shapes, *(self.label_shapes or ()))}
        _, shapes, _ = self.symbol.infer_shape(**known)
        return list(zip(self.output_names, [tuple(shape) for shape in shapes], strict=True))

    def get_input_grads(self, merge_multi_context=True):
        """The gradients of the data inputs, joined over the contexts or as lists by context."""
        if self.input_grad_arrays is None:
            raise ModuleError(
                "get_input_grads: there are no gradients of the inputs.\n"
                "  received  a module bound with inputs_need_grad=False\n"
                "  expected  inputs_need_grad=True\n"
                "  fix       bind with inputs_need_grad=True"
            )
        if merge_multi_context:
            return _merge_multi_context(self.input_grad_arrays, self.data_layouts)
        return self.input_grad_arrays

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        """Let a metric see labels and the last outputs, by name, one context after the other."""
        names, outputs = self.label_names, self.output_names
        if self._only is not None and not pre_sliced:
            eval_metric.update_dict(_named(names, labels), dict(zip(outputs, self._only.outputs)))  # noqa: B905
            return
        axes = self.label_layouts or [0] * len(labels)
        for i, (part, executor) in enumerate(zip(self.slices, self.execs, strict=True)):
            mine = (
                labels[i]
                if pre_sliced
                else [_cut(x, axis, part) for x, axis in zip(labels, axes, strict=True)]
            )
            eval_metric.update_dict(
                _named(names, mine), dict(zip(outputs, executor.outputs, strict=True))
            )

    def install_monitor(self, mon):
        """Let a monitor see all executors, those made later too."""
        self._monitors.append(mon)
        for execs in self._bound.values():
            for executor in execs:
                mon.install(executor)


def hand_over(source: Any, target: Any) -> None:
    """Let an input array of an executor hold what a batch holds, without copying if it can.

    The two share memory until the next batch: an executor reads its inputs and never writes them.
    """
    try:
        data = source._data
    except AttributeError:
        source = nd.array(source, dtype=target.dtype)
        data = source._data
    have = target._data
    if type(data) is not type(have):
        data = cast(cast(data, "default"), STYPES[type(have)])
    if data.dtype != have.dtype:
        data = (
            data.astype(have.dtype)
            if isinstance(data, np.ndarray)
            else data.with_values(data.values.astype(have.dtype))
        )
    target._data = data


def _scatter(sources: Any, targets: Any, axes: list[int]) -> None:
    """Give every context its part of each array of a batch."""
    for source, parts, axis in zip(sources, targets, axes, strict=False):
        for part, target in parts:
            hand_over(_cut(source, axis, part), target)


def _cut(array: Any, axis: int, part: slice) -> Any:
    """The part of an array along its batch axis; all of it if it has none."""
    if axis < 0 or part == slice(None):
        return array
    if axis == 0:
        return array[part]
    return nd.slice_axis(array, axis=axis, begin=part.start, end=part.stop)


def _share(desc: Any, part: slice) -> tuple[int, ...]:
    """The shape of the part of an input that one context gets."""
    shape, axis = list(desc.shape), DataDesc.get_batch_axis(desc.layout)
    if axis >= 0 and part.stop is not None:
        shape[axis] = part.stop - part.start
    return tuple(shape)


def _shown(shapes: dict[str, Any]) -> str:
    return ", ".join(f"{name} {shape}" for name, shape in shapes.items())


def _named(names: list[str], values: Any) -> dict[str, Any]:
    """Labels by name; those the module is not bound to get a name of their own."""
    values = values or ()
    if len(names) < len(values):
        names = [*names, *(f"label{i}" for i in range(len(names), len(values)))]
    return dict(zip(names, values))  # noqa: B905


def _merge_multi_context(outputs: list[list[Any]], axes: list[int]) -> list[Any]:
    """One array for every output; what has no batch axis is the same on all contexts."""
    return [
        parts[0]
        if len(parts) == 1 or axis < 0
        else nd.concat(*(part.as_in_context(parts[0].context) for part in parts), dim=axis)
        for parts, axis in zip(outputs, axes, strict=True)
    ]


def _split_input_slice(batch_size: int, workload: list[float]) -> list[slice]:
    """Slices of a batch in proportion to the workloads; ValueError if one would be empty.

    Examples
    --------
    >>> _split_input_slice(10, [1, 2, 3])
    [slice(0, 2, None), slice(2, 5, None), slice(5, 10, None)]
    """
    total, slices, begin = sum(workload), [], 0
    sizes = [round(batch_size * load / total) for load in workload]
    sizes[-1] += batch_size - sum(sizes)
    for size in sizes:
        end = min(begin + size, batch_size)
        if begin >= end:
            raise ValueError(
                "Too many slices. Some splits are empty.\n"
                f"  received  a batch of {batch_size} for {len(workload)} contexts\n"
                "  expected  at least one sample for each context\n"
                "  fix       use a larger batch or fewer contexts"
            )
        slices.append(slice(begin, end))
        begin = end
    return slices


def _prepare_group2ctxs(group2ctxs: Any, count: int) -> list[Any]:
    """For each of ``count`` contexts the dict that says where a group of nodes runs."""
    if group2ctxs is None:
        return [None] * count
    if isinstance(group2ctxs, list):
        _expect_length(group2ctxs, (count,), "group2ctxs")
        return group2ctxs
    if isinstance(group2ctxs, dict):
        result: list[dict[str, Any]] = [{} for _ in range(count)]
        for group, contexts in group2ctxs.items():
            if not isinstance(contexts, list | tuple):
                contexts = [contexts]
            _expect_length(contexts, (1, count), f"group2ctxs[{group}]")
            for i, places in enumerate(result):
                places[group] = contexts[i if len(contexts) == count else 0]
        return result
    raise ModuleError(
        "group2ctxs should be list of dict of str to context, or dict of str to context or list of "
        f"context, not {type(group2ctxs).__name__}"
    )


def _expect_length(values: Any, lengths: tuple[int, ...], what: str) -> None:
    if len(values) not in lengths:
        expected = " or ".join(str(n) for n in sorted(set(lengths), reverse=True))
        raise ModuleError(f"length of {what} should be {expected}, not {len(values)}")
