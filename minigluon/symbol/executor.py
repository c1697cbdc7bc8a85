"""Executors: a graph bound to the arrays of its arguments, gradients and auxiliary states."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from .. import storage
from ..base import MXNetError, ShapeError
from ..context import usable
from ..core import infer
from ..core.grad import ZERO, add, zeros_like
from ..core.graph import Entry, Node, instantiate, is_unsized, topological
from ..core.invoke import wrap
from ..core.plan import fuse
from ..core.plan.plan import Plan
from ..core.state import state
from ..core.store import store
from ..core.watch import WatchedGraph, locate
from .symbol import Symbol


class Executor:
    """Runs a symbol on arrays it holds: ``forward`` fills ``outputs``, ``backward`` the gradients.

    Made by ``Symbol.bind`` and ``Symbol.simple_bind``.
    """

    def __init__(
        self, symbol: Symbol, ctx: Any, args: list[Any], grads: list[Any], reqs: list[str],
        aux: list[Any], group2ctx: Any = None,
    ):  # fmt: skip
        symbol = Symbol(instantiate(symbol._entries))
        self._symbol, self._ctx, self._group2ctx = symbol, ctx, group2ctx
        self.arg_arrays, self.grad_arrays, self.aux_arrays = args, grads, aux
        self._grad_req = reqs
        self._arg_names = symbol.list_arguments()
        self._aux_names = symbol.list_auxiliary_states()
        aux_nodes = symbol._auxiliary_nodes()
        variables = symbol._variables()
        self._nodes = [n for n in variables if n not in aux_nodes]
        self._nodes += [n for n in variables if n in aux_nodes]
        self._inputs = [*args, *aux]
        self._wanted = [
            req != "null" and g is not None for req, g in zip(reqs, grads, strict=True)
        ] + [False] * len(aux)
        self._home = [x._data for x in self._inputs]
        self._contexts = [context_of(e[0], ctx, group2ctx) for e in symbol._entries]
        self._plans: dict[Any, Plan] = {}
        self._many_steps = False  # whether it pays to compile plans for small arrays too
        self._checked = False  # whether shapes and dtypes were found to fit together
        self._kept: _Kept | None = None
        self._predicted = False  # whether the last forward was not for training
        self._outputs: list[Any] | None = None
        self._borrowed: list[np.ndarray] | None = None  # memory shared with a larger executor
        self._monitor: tuple[Callable[..., Any], bool] | None = None
        self._arg_dict: dict[str, Any] | None = None

    # ---- arrays by name

    @property
    def arg_dict(self) -> dict[str, Any]:
        """Argument arrays by name; writing into them changes what ``forward`` computes with."""
        return _by_name(self._arg_names, self.arg_arrays, "argument")

    @property
    def grad_dict(self) -> dict[str, Any]:
        """Gradient arrays by argument name; None where no gradient is computed."""
        return _by_name(self._arg_names, self.grad_arrays, "argument")

    @property
    def aux_dict(self) -> dict[str, Any]:
        """Auxiliary arrays by name."""
        return _by_name(self._aux_names, self.aux_arrays, "auxiliary state")

    @property
    def output_dict(self) -> dict[str, Any]:
        """Outputs by name."""
        return _by_name(self._symbol.list_outputs(), self.outputs, "output")

    @property
    def outputs(self) -> list[Any]:
        """The outputs of the last ``forward``; zeros of the right shapes before the first."""
        if self._outputs is None:
            self._outputs = self._empty_outputs()
        return self._outputs

    def _empty_outputs(self) -> list[Any]:
        stypes, shapes, dtypes = self._inferred()
        outputs = []
        for k, entry in enumerate(self._symbol._entries):
            dtype = dtypes[entry] or np.dtype(np.float32)
            if self._borrowed is not None and stypes[entry] == "default":
                outputs.append(wrap(self._borrowed[k], self._contexts[k]))
            else:
                zeros = storage.zeros(stypes[entry], shapes[entry], dtype)
                outputs.append(wrap(zeros, self._contexts[k]))
        return outputs

    def _inferred(self) -> tuple[Any, Any, Any]:
        shapes = {n: x._data.shape for n, x in zip(self._nodes, self._inputs, strict=True)}
        dtypes = {n: x._data.dtype for n, x in zip(self._nodes, self._inputs, strict=True)}
        stypes = {
            n: storage.STYPES[type(x._data)] for n, x in zip(self._nodes, self._inputs, strict=True)
        }
        entries = self._symbol._entries
        return (
            infer.storages(entries, stypes)[0],
            infer.solve(entries, shapes, "shape"),
            infer.solve(entries, dtypes, "dtype"),
        )

    # ---- running

    def forward(self, is_train: bool = False, **kwargs: Any) -> list[Any]:
        """Compute the outputs. Keywords are copied into the arguments of those names first.

        Raises ``TypeError`` for an unknown name, ``ValueError`` for a value of another shape.
        """
        if kwargs:
            self._assign(kwargs)
        data = [x._data for x in self._inputs]
        types = tuple(map(type, data))
        plan = self._plans.get((is_train, types))
        if plan is None:
            plan = self._plans[is_train, types] = self._plan(is_train, types, data)
        before = state.training
        state.training = is_train
        watched = None
        try:
            if self._monitor is None:
                results = state.quietly(plan.forward.run, *data)
            else:
                watched = WatchedGraph(self._symbol._entries, *self._monitor, self._ctx)
                results = tuple([r.copy() for r in watched.forward(self._values(data))])
        except Exception as error:
            raise self._explain(data, error) from error
        finally:
            state.training = before
        self._predicted = not is_train
        self._kept = (plan, data, results[len(plan.outputs) :], watched) if is_train else None
        outputs = self._outputs
        if outputs is None or self._borrowed is not None:
            return self._first_outputs(results)
        for x, r in zip(outputs, results, strict=False):
            x._data = r
        return outputs

    def _values(self, data: Sequence[Any]) -> dict[Entry, Any]:
        return {(n, 0): x for n, x in zip(self._nodes, data, strict=True)}

    def _first_outputs(self, results: Any) -> list[Any]:
        if self._borrowed is None:
            self._outputs = [wrap(r, c) for r, c in zip(results, self._contexts, strict=False)]
            return self._outputs
        for x, r in zip(self.outputs, results, strict=False):
            store(x, r)
        return self.outputs

    def _plan(
        self, is_train: bool, types: tuple[type, ...], data: Sequence[Any] | None = None
    ) -> Plan:
        """The plan for arguments of these storage types, compiled for ``data`` if that is large."""
        if not self._checked:
            self._check_shapes()
        arguments = [(n, 0) for n in self._nodes]
        entries = self._symbol._entries
        wanted = self._wanted if is_train else None
        least = None if data is None else fuse.wanted_bound(data)
        if self._many_steps and data is not None and fuse.wanted() and self._is_short():
            least = 0
        if least is None and any(map(is_unsized, topological(entries))):
            data, least = [x._data for x in self._inputs], sys.maxsize
        if least is None:
            return Plan(arguments, entries, types, wanted)
        return Plan(arguments, entries, types, wanted, data, least)

    def _is_short(self) -> bool:
        """Whether a graph of small arrays is compiled in a moment.

        Unrolled recurrent ones take seconds, for every length, and hardly gain.
        """
        nodes = topological(self._symbol._entries)
        return sum(node.call is not None for node in nodes) <= _SHORT

    def expect_many_steps(self) -> None:
        """Compile short graphs, however small their arrays are: it pays over many runs."""
        if not self._many_steps:
            self._many_steps = True
            self._plans = {}

    def _check_shapes(self) -> None:
        shapes = {n: x._data.shape for n, x in zip(self._nodes, self._inputs, strict=True)}
        infer.solve(self._symbol._entries, shapes, "shape")
        dtypes = {n: x._data.dtype for n, x in zip(self._nodes, self._inputs, strict=True)}
        infer.solve(self._symbol._entries, dtypes, "dtype")
        self._checked = True

    def _explain(self, data: Sequence[Any], error: Exception) -> Exception:
        try:
            self._check_shapes()
        except MXNetError as found:
            return found
        return locate(self._symbol._entries, self._values(data), error)

    def _assign(self, values: dict[str, Any]) -> None:
        """Copy values into arguments: all of them, or none if one does not fit.

        An argument that was lent the memory of a batch gets its own back first.
        """
        place = {name: k for k, name in enumerate(self._arg_names)}
        fitting = []
        for name, value in values.items():
            if name not in place:
                raise TypeError(f"Unknown argument {name}")
            k = place[name]
            array = self._inputs[k]
            if isinstance(value, np.ndarray):
                value = wrap(value.astype(array._data.dtype, copy=False), None)
            elif not hasattr(value, "_data"):
                raise ValueError(
                    "only accept keyword argument of NDArrays and numpy.ndarray\n"
                    f"  received  {name} of type {type(value).__name__}\n"
                    f"  expected  an array of shape {array.shape}\n"
                    f"  fix       {name}=mx.nd.array(...)"
                )
            if tuple(value.shape) != array.shape:
                raise ValueError(
                    f"Shape not match! Argument {name}, need: {array.shape}, "
                    f"received: {tuple(value.shape)}"
                )
            fitting.append((k, value))
        for k, value in fitting:
            array, home = self._inputs[k], self._home[k]
            if array._data is not home and _alike(array._data, home):
                array._data = home
            array[:] = value

    def backward(self, out_grads: Any = None, is_train: bool = True) -> None:
        """Compute the gradients for the last ``forward(is_train=True)``.

        ``out_grads`` are the gradients of the outputs; outputs that are losses need none.
        Raises ``MXNetError`` if one is needed and not given.
        """
        if not any(self._wanted):
            return
        if self._kept is None:
            self._keep()
        assert self._kept is not None
        plan, data, kept, watched = self._kept
        heads = self._heads(plan, out_grads)
        before = state.training
        state.training = is_train
        try:
            if watched is None:
                emitted = plan.backward(tuple(map(type, heads)))
                grads = state.quietly(emitted.run, *heads, *kept, *data)
            else:
                wanted = [n for n, w in zip(self._nodes, self._wanted, strict=True) if w]
                found = watched.backward(heads, wanted)
                grads = [found.get(n) for n in self._nodes]
        finally:
            state.training = before
        held = self.grad_arrays
        for k, g in enumerate(grads):
            if g is not None:
                _deliver(held[k], g, self._grad_req[k])
            elif self._wanted[k] and self._grad_req[k] == "write":
                _clear(held[k]._data)

    def _keep(self) -> None:
        """Compute what backward needs, in the mode of the last forward; outputs stay."""
        if not self._predicted:
            self.forward(is_train=True)
            return
        data = [x._data for x in self._inputs]
        types = tuple(map(type, data))
        plan = self._plans.get((True, types))
        if plan is None:
            plan = self._plans[True, types] = self._plan(True, types, data)
        before, state.training = state.training, False
        try:
            results = state.quietly(plan.forward.run, *data)
        finally:
            state.training = before
        self._kept = (plan, data, results[len(plan.outputs) :], None)

    def _heads(self, plan: Plan, out_grads: Any) -> list[Any]:
        """The storages of the outputs' gradients, in the shapes and dtypes of the outputs."""
        n = len(plan.outputs)
        if out_grads is None and not plan.reads_heads:
            return [ZERO] * n
        names = self._symbol.list_outputs()
        if out_grads is None:
            raise MXNetError(
                "Because the last operator is not Loss function, head_gradient is required when "
                "calling backward. If you are attempting to minimize the output as an objective, "
                "please modify your network and pass it through the make_loss symbol.\n"
                f"  received  backward() without out_grads\n  expected  {n} arrays, one for each "
                f"of {', '.join(names)}\n"
                "  fix       backward([gradient]), or end the graph in make_loss"
            )
        if isinstance(out_grads, dict):
            out_grads = [out_grads[name] for name in names]
        if not isinstance(out_grads, list | tuple):
            out_grads = [out_grads]
        if len(out_grads) > n or (len(out_grads) < n and plan.reads_heads):
            raise MXNetError(
                f"backward: wrong number of head gradients.\n  received  {len(out_grads)}\n"
                f"  expected  {n}: {', '.join(names)}\n"
                "  fix       pass one array for each output"
            )
        heads = [
            zeros_like(output._data) if g is None else _fitting_head(name, g, output)
            for name, g, output in zip(names, out_grads, self.outputs, strict=False)
        ]
        return heads + [ZERO] * (n - len(heads))

    # ---- the rest of MXNet's surface

    def copy_params_from(
        self, arg_params: Any, aux_params: Any = None, allow_extra_params: bool = False
    ) -> None:
        """Copy arrays by name into arguments and auxiliary states.

        Raises ``ValueError`` for an unknown name unless ``allow_extra_params``.
        """
        copies = []
        for given, held, kind in (
            (arg_params, self.arg_dict, "arguments"),
            (aux_params or {}, self.aux_dict, "auxiliary states"),
        ):
            for name, array in given.items():
                if name in held:
                    copies.append((held[name], array.astype(held[name].dtype)))
                elif not allow_extra_params:
                    raise ValueError(f'Find name "{name}" that is not in the {kind}')
        for target, array in copies:  # what cannot be written shows on a copy first
            if target.shape != array.shape:
                target.copy()[:] = array
        for target, array in copies:
            target[:] = array

    def reshape(
        self, partial_shaping: bool = False, allow_up_sizing: bool = False, **kwargs: Any
    ) -> Executor:
        """An executor for other input shapes that shares the arrays whose shape stays.

        Smaller arrays use the memory of the old ones; larger ones need ``allow_up_sizing=True``,
        and arguments not named in ``kwargs`` keep their shape unless ``partial_shaping=True``.
        """
        arg_shapes, _, aux_shapes = self._symbol.infer_shape(**kwargs)
        if arg_shapes is None:
            raise InsufficientShapes("Insufficient argument shapes provided.")
        given = (partial_shaping, allow_up_sizing, kwargs)
        args, grads = [], []
        for name, shape, array, grad in zip(
            self._arg_names, arg_shapes, self.arg_arrays, self.grad_arrays, strict=True
        ):
            args.append(_resized(array, shape, name, given))
            grads.append(None if grad is None else _resized(grad, shape, name, given))
        aux = [
            _resized(a, s, n, given)
            for a, s, n in zip(self.aux_arrays, aux_shapes, self._aux_names, strict=True)
        ]
        new = Executor(self._symbol, self._ctx, args, grads, self._grad_req, aux, self._group2ctx)
        new._borrowed = self._lend(new)
        return new

    def _lend(self, other: Executor) -> list[np.ndarray] | None:
        """The memory of this executor's outputs in the shapes of another's, if it fits."""
        stypes, shapes, dtypes = other._inferred()
        lent = []
        for x, entry in zip(self.outputs, self._symbol._entries, strict=True):
            data, shape = x._data, shapes[entry]
            size = prod(shape)
            if type(data) is not np.ndarray or not data.flags.c_contiguous or size > data.size:
                return None
            if (
                not data.flags.writeable
                or stypes[entry] != "default"
                or dtypes[entry] not in (None, data.dtype)
            ):
                return None
            lent.append(data.reshape(-1)[:size].reshape(shape))
        return lent

    def debug_str(self) -> str:
        """The graph in words, and how much memory the arrays take."""
        arrays = [
            *self.arg_arrays,
            *self.aux_arrays,
            *[g for g in self.grad_arrays if g is not None],
        ]
        total = sum(_bytes(x._data) for x in arrays) >> 20
        return f"{self._symbol.debug_str()}Total {total} MB allocated\n"

    def get_optimized_symbol(self) -> Symbol:
        """The graph that is run."""
        return self._symbol

    def set_monitor_callback(self, callback: Any, monitor_all: bool = False) -> None:
        """Have ``callback(name, array)`` called for every node's output at each ``forward``.

        With ``monitor_all`` inputs are shown too.
        """
        self._monitor = (callback, monitor_all)


#: so many operators are compiled for small arrays too
_SHORT = 40
#: what a training forward leaves for backward: plan, arguments, what was kept, or who watched
_Kept = tuple[Plan, list[Any], tuple[Any, ...], WatchedGraph | None]


def context_of(node: Node, ctx: Any, group2ctx: Any) -> Any:
    """Where a node's values are: on its group's context, if it is in a group that has one."""
    group = (node.attrs or {}).get("__ctx_group__") if group2ctx else None
    return usable(group2ctx[group]) if group is not None and group in group2ctx else ctx


def _alike(left: Any, right: Any) -> bool:
    return (type(left), left.shape, left.dtype) == (type(right), right.shape, right.dtype)


def _fitting_head(name: str, head: Any, output: Any) -> Any:
    """The storage of the gradient given for an output; raises if it cannot be that."""
    data = getattr(head, "_data", None)
    if data is None:
        raise HeadTypeError(
            f"inputs must be NDArray: the gradient of {name} is not.\n"
            f"  received  {type(head).__name__}\n  expected  an NDArray {output.shape}\n"
            "  fix       wrap it: mx.nd.array(...)"
        )
    if data.shape != output.shape:
        raise ShapeError(
            f"backward: the gradient of {name} has the wrong shape.\n  received  {data.shape}\n"
            f"  expected  {output.shape}, the shape of the output\n  fix       pass such an array"
        )
    if data.dtype != output._data.dtype:
        return head.astype(output._data.dtype)._data
    return data


class HeadTypeError(MXNetError, TypeError):
    """A head gradient that is no array."""


def _bytes(x: Any) -> int:
    return int((x if type(x) is np.ndarray else x.values).nbytes)


def _by_name(names: list[str], arrays: list[Any], what: str) -> dict[str, Any]:
    found = dict(zip(names, arrays, strict=True))
    if len(found) != len(names):
        twice = next(n for n in names if names.count(n) > 1)
        raise ValueError(f"Duplicate {what} names are not supported: {twice!r} in {names}")
    return found


def _deliver(array: Any, value: Any, grad_req: str) -> None:
    """Write or add a gradient into its array."""
    held = array._data
    if grad_req == "add":
        value = add(held, value)
    if type(held) is np.ndarray and type(value) is np.ndarray:
        held[...] = value
    else:
        if value is ZERO:
            value = storage.zeros(storage.STYPES[type(held)], held.shape, held.dtype)
        store(array, value)


def _clear(data: Any) -> None:
    """Make a gradient zero that nothing flows into."""
    if type(data) is np.ndarray:
        data.fill(0)
    else:
        data.assign(storage.zeros(data.stype, data.shape, data.dtype))


def _resized(array: Any, shape: tuple[int, ...], name: str, given: Any) -> Any:
    """The array itself, the front of its memory in another shape, or a new and larger one."""
    partial_shaping, allow_up_sizing, named = given
    data = array._data
    if data.shape == shape:
        return array
    if name not in named and not partial_shaping:
        raise ReshapeError(
            f"Shape of unspecified array arg: {name} changed. This can cause the new executor to "
            "not share parameters with the old one. Please check for error in network. If this is "
            f"intended, set partial_shaping=True to suppress this warning.\n  received  {name} "
            f"{data.shape}\n  expected  {shape}, which follows from {named}\n"
            "  fix       reshape to shapes the parameters fit, or pass partial_shaping=True"
        )
    if type(data) is not np.ndarray:
        stype = storage.STYPES[type(data)]
        return wrap(storage.zeros(stype, shape, data.dtype), array._ctx)
    size = prod(shape)
    if size > data.size:
        if not allow_up_sizing:
            raise ShapeError(
                f"New shape of arg: {name} is larger than original.\n"
                f"  received  {shape}, {size} elements\n"
                f"  expected  at most {data.size} elements, as {data.shape} has\n"
                "  fix       bind the larger executor first, or pass allow_up_sizing=True"
            )
        return wrap(np.zeros(shape, data.dtype), array._ctx)
    return wrap(data.reshape(-1)[:size].reshape(shape), array._ctx)


class ReshapeError(ShapeError, AssertionError):
    """An executor that cannot be reshaped so."""


class InsufficientShapes(ShapeError):
    """Shapes from which the others do not follow."""
