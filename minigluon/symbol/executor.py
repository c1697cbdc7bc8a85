"""Executors: a graph bound to the arrays of its arguments, gradients and auxiliary states."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import config, storage
from ..base import MXNetError, ShapeError
from ..context import usable
from ..core import infer
from ..core.call import Call
from ..core.grad import ZERO
from ..core.graph import Node, topological
from ..core.graphop import watch
from ..core.invoke import store, wrap
from ..core.op import registry
from ..core.plan.plan import Plan
from ..core.state import state
from .symbol import Symbol, variable_stypes

GRAD_REQS = ("null", "write", "add")


class Executor:
    """Runs a symbol on arrays it holds: ``forward`` fills ``outputs``, ``backward`` the gradients.

    Made by ``Symbol.bind`` and ``Symbol.simple_bind``.
    """

    def __init__(
        self, symbol: Symbol, ctx: Any, args: list[Any], grads: list[Any], reqs: list[str],
        aux: list[Any], group2ctx: Any = None,
    ):  # fmt: skip
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
        self._plans: dict[Any, Plan] = {}
        self._kept: tuple[Plan, list[Any], tuple[Any, ...]] | None = None
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
                outputs.append(wrap(self._borrowed[k], self._ctx))
            else:
                outputs.append(wrap(storage.zeros(stypes[entry], shapes[entry], dtype), self._ctx))
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
        if self._monitor is not None:
            self._run_monitored(is_train)
        data = [x._data for x in self._inputs]
        key = (is_train, *map(type, data))
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plans[key] = self._plan(is_train, key[1:])
        before = state.training
        state.training = is_train
        try:
            results = state.quietly(plan.forward.run, *data)
        except MXNetError:
            raise
        except Exception as error:
            raise self._explain(error) from error
        finally:
            state.training = before
        if is_train:
            self._kept = (plan, data, results[len(plan.outputs) :])
        outputs = self._outputs
        if outputs is None or self._borrowed is not None:
            return self._first_outputs(results)
        for x, r in zip(outputs, results, strict=False):
            x._data = r
        return outputs

    def _first_outputs(self, results: Any) -> list[Any]:
        n = len(self._symbol._entries)
        if self._borrowed is None:
            self._outputs = [wrap(r, self._ctx) for r in results[:n]]
            return self._outputs
        for x, r in zip(self.outputs, results, strict=False):
            store(x, r)
        return self.outputs

    def _plan(self, is_train: bool, types: tuple[type, ...]) -> Plan:
        self._check_shapes()
        arguments = [(n, 0) for n in self._nodes]
        wanted = self._wanted if is_train else None
        return Plan(arguments, self._symbol._entries, types, wanted)

    def _check_shapes(self) -> None:
        shapes = {n: x._data.shape for n, x in zip(self._nodes, self._inputs, strict=True)}
        infer.solve(self._symbol._entries, shapes, "shape")
        dtypes = {n: x._data.dtype for n, x in zip(self._nodes, self._inputs, strict=True)}
        infer.solve(self._symbol._entries, dtypes, "dtype")

    def _explain(self, error: Exception) -> MXNetError:
        try:
            self._check_shapes()
        except MXNetError as found:
            return found
        shown = ", ".join(
            f"{n.name} {x._data.shape} {x._data.dtype} {x.stype}"
            for n, x in zip(self._nodes, self._inputs, strict=True)
        )
        return MXNetError(
            f"forward: the graph cannot be computed.\n  received  {shown}\n"
            f"  expected  arrays the graph {self._symbol.name or 'group'} is defined for\n"
            f"  fix       {type(error).__name__}: {error}"
        )

    def _assign(self, values: dict[str, Any]) -> None:
        arrays = self.arg_dict
        for name, value in values.items():
            if name not in arrays:
                raise TypeError(f"Unknown argument {name}")
            if tuple(value.shape) != arrays[name].shape:
                raise ValueError(
                    f"Shape not match! Argument {name}, need: {arrays[name].shape}, "
                    f"received: {tuple(value.shape)}"
                )
        for name, value in values.items():
            arrays[name][:] = value

    def backward(self, out_grads: Any = None, is_train: bool = True) -> None:
        """Compute the gradients for the last ``forward(is_train=True)``.

        ``out_grads`` are the gradients of the outputs; outputs that are losses need none.
        Raises ``MXNetError`` if one is needed and not given.
        """
        if not any(self._wanted):
            return
        if self._kept is None:
            self.forward(is_train=True)
        assert self._kept is not None
        plan, data, kept = self._kept
        heads = self._heads(plan, out_grads)
        emitted = plan.backward(tuple(map(type, heads)))
        before = state.training
        state.training = is_train
        try:
            grads = state.quietly(emitted.run, *heads, *kept, *data)
        finally:
            state.training = before
        held = self.grad_arrays
        for k, g in enumerate(grads):
            if g is not None:
                _deliver(held[k], g, self._grad_req[k])
            elif self._wanted[k] and self._grad_req[k] == "write":
                _deliver(held[k], ZERO, "write")

    def _heads(self, plan: Plan, out_grads: Any) -> list[Any]:
        n = len(plan.outputs)
        if out_grads is None:
            if plan.reads_heads:
                raise MXNetError(
                    "Because the last operator is not Loss function, head_gradient is required when "
                    "calling backward. If you are attempting to minimize the output as an objective, "
                    "please modify your network and pass it through the make_loss symbol.\n"
                    "  received  backward() without out_grads\n"
                    f"  expected  {n} arrays, one for each of {self._symbol.list_outputs()}\n"
                    "  fix       backward([gradient]), or end the graph in make_loss"
                )
            return [ZERO] * n
        if isinstance(out_grads, dict):
            out_grads = [out_grads[name] for name in self._symbol.list_outputs()]
        if not isinstance(out_grads, list | tuple):
            out_grads = [out_grads]
        if len(out_grads) != n and plan.reads_heads:
            raise MXNetError(
                f"backward: wrong number of head gradients.\n  received  {len(out_grads)}\n"
                f"  expected  {n}: {', '.join(self._symbol.list_outputs())}\n"
                "  fix       pass one array for each output"
            )
        heads = [ZERO if g is None else g._data for g in out_grads]
        return heads + [ZERO] * (n - len(heads))

    # ---- the rest of MXNet's surface

    def copy_params_from(
        self, arg_params: Any, aux_params: Any = None, allow_extra_params: bool = False
    ) -> None:
        """Copy arrays by name into arguments and auxiliary states.

        Raises ``ValueError`` for an unknown name unless ``allow_extra_params``.
        """
        for given, held, kind in (
            (arg_params, self.arg_dict, "arguments"),
            (aux_params or {}, self.aux_dict, "auxiliary states"),
        ):
            for name, array in given.items():
                if name in held:
                    held[name][:] = array.astype(held[name].dtype)
                elif not allow_extra_params:
                    raise ValueError(f'Find name "{name}" that is not in the {kind}')

    def reshape(
        self, partial_shaping: bool = False, allow_up_sizing: bool = False, **kwargs: Any
    ) -> Executor:
        """An executor for other input shapes that shares the arrays whose shape stays.

        Smaller arrays use the memory of the old ones; larger ones need ``allow_up_sizing=True``,
        and arguments not named in ``kwargs`` keep their shape unless ``partial_shaping=True``.
        """
        arg_shapes, _, aux_shapes = self._symbol.infer_shape(**kwargs)
        if arg_shapes is None:
            raise ValueError("Insufficient argument shapes provided.")
        args, grads = [], []
        for name, shape, array, grad in zip(
            self._arg_names, arg_shapes, self.arg_arrays, self.grad_arrays, strict=True
        ):
            if shape != array.shape and not (partial_shaping or name in kwargs or allow_up_sizing):
                if int(np.prod(shape)) <= array._data.size:
                    raise AssertionError(
                        f"Shape of unspecified array arg:{name} changed. This can cause the new "
                        "executor to not share parameters with the old one. Please check for error "
                        "in the network. If this is intended, set partial_shaping=True to suppress "
                        "this warning."
                    )
            args.append(_resized(array, shape, name, allow_up_sizing))
            grads.append(None if grad is None else _resized(grad, shape, name, allow_up_sizing))
        aux = [
            _resized(a, s, n, allow_up_sizing)
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
            size = int(np.prod(shape))
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

    def _run_monitored(self, is_train: bool) -> None:
        """Run the graph node by node, showing every value to the monitor."""
        assert self._monitor is not None
        callback, everything = self._monitor
        values = {(n, 0): x._data for n, x in zip(self._nodes, self._inputs, strict=True)}
        before, state.training = state.training, is_train
        try:
            watch(self._symbol._entries, values, callback, everything, self._ctx)
        finally:
            state.training = before


def _kernel(call: Call, data: Sequence[Any]) -> Any:
    types = tuple(map(type, data))
    return call.memo.get(types) or call.kernel(types)


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
        call = registry["_grad_add"].call()
        value = _kernel(call, (held, value))(held, value)
    if type(held) is np.ndarray and type(value) is np.ndarray:
        held[...] = value
    else:
        if value is ZERO:
            value = storage.zeros(storage.STYPES[type(held)], held.shape, held.dtype)
        store(array, value)


def _resized(array: Any, shape: tuple[int, ...], name: str, allow_up_sizing: bool) -> Any:
    """The array itself, the front of its memory in another shape, or a new and larger one."""
    data = array._data
    if data.shape == shape:
        return array
    if type(data) is not np.ndarray:
        stype = storage.STYPES[type(data)]
        return wrap(storage.zeros(stype, shape, data.dtype), array._ctx)
    size = int(np.prod(shape))
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


# ---- binding


def _requirements(symbol: Symbol, grad_req: Any, wrap_error: Any) -> list[str]:
    names = symbol.list_arguments()
    if isinstance(grad_req, str):
        reqs = [grad_req] * len(names)
    elif isinstance(grad_req, dict):
        reqs = [grad_req.get(n, "null") for n in names]
    else:
        reqs = list(grad_req)
    for req in reqs:
        if req not in GRAD_REQS:
            raise wrap_error(
                f"grad_req={req} is not a valid input; only 'null', 'write', and 'add' are "
                "supported"
            )
    return reqs


def _listed(symbol: Symbol, given: Any, names: list[str], what: str, missing_ok: bool) -> list[Any]:
    if given is None:
        return [None] * len(names)
    if isinstance(given, dict):
        for name in names:
            if name not in given and not missing_ok:
                raise ValueError(f"key `{name}` is missing in `{what}`")
        return [given.get(name) for name in names]
    given = list(given)
    if len(given) != len(names):
        raise ValueError(f"Length of {what} does not match the number of arguments")
    return given


def bind(
    symbol: Symbol, ctx: Any, args: Any, args_grad: Any, grad_req: Any, aux_states: Any,
    group2ctx: Any, shared_exec: Any,
) -> Executor:  # fmt: skip
    """See ``Symbol.bind``."""
    names, aux_names = symbol.list_arguments(), symbol.list_auxiliary_states()
    arrays = _listed(symbol, args, names, "args", missing_ok=False)
    reqs = _requirements(symbol, grad_req, ValueError)
    grads = _listed(symbol, args_grad, names, "args_grad", missing_ok=True)
    aux = _listed(symbol, aux_states, aux_names, "aux_states", missing_ok=False)
    if None in aux:
        raise ValueError(f"aux_states is missing: {', '.join(aux_names)}")
    grads = [g if r != "null" else None for g, r in zip(grads, reqs, strict=True)]
    bound = Executor(symbol, usable(ctx), arrays, grads, reqs, aux, group2ctx)
    bound._check_shapes()
    _log_storages(bound)
    return bound


class SimpleBindError(MXNetError):
    """Arrays for a graph cannot be made from what was given."""


def simple_bind(
    symbol: Symbol, ctx: Any, grad_req: Any, type_dict: Any, stype_dict: Any, group2ctx: Any,
    shared_exec: Any, shared_buffer: Any, shapes: dict[str, Any],
) -> Executor:  # fmt: skip
    """See ``Symbol.simple_bind``."""
    ctx = usable(ctx)

    def fail(reason: Any) -> SimpleBindError:
        lines = "".join(f"\n{k}: {v}" for k, v in shapes.items())
        return SimpleBindError(f"simple_bind error. Arguments:{lines}\n{reason}")

    aux_nodes = symbol._auxiliary_nodes()
    variables = symbol._variables()
    names = [n.name for n in variables]
    if len(set(names)) != len(names):
        twice = next(n for n in names if names.count(n) > 1)
        raise fail(f"Duplicate argument names are not supported: {twice!r}")
    reqs = _requirements(symbol, grad_req, fail)
    try:
        shape_of = symbol._solve_shapes((), shapes)
        dtype_of = symbol._solve_dtypes((), type_dict or {})
    except MXNetError as error:
        raise fail(error) from error
    stypes = variable_stypes(variables)
    for name, stype in (stype_dict or {}).items():
        stypes.update({n: stype for n in variables if n.name == name})
    unknown = [n.name for n in variables if not infer.known(shape_of[(n, 0)])]
    if unknown:
        raise fail(
            f"Shapes of these variables do not follow from what was given: {', '.join(unknown)}.\n"
            f"  received  {shapes}\n  expected  enough shapes to infer all others\n"
            f"  fix       pass {unknown[0]}=(...) too"
        )
    pool = _shared_arrays(shared_exec)

    def make(node: Node, kind: str, stype: str) -> Any:
        shape, dtype = shape_of[(node, 0)], dtype_of[(node, 0)] or np.dtype(np.float32)
        have = pool.get((kind, node.name))
        if (
            have is not None
            and have.shape == shape
            and have._data.dtype == dtype
            and have.stype == stype
        ):
            return have
        return wrap(_zeros(stype, shape, dtype), _context_of(node, ctx, group2ctx))

    nodes = [n for n in variables if n not in aux_nodes]
    args = [make(n, "arg", stypes.get(n, "default")) for n in nodes]
    aux = [make(n, "aux", stypes.get(n, "default")) for n in variables if n in aux_nodes]
    grads: list[Any] = [None] * len(nodes)
    if any(r != "null" for r in reqs):
        probe = Executor(symbol, ctx, args, args, reqs, aux, group2ctx)
        found = _gradient_stypes(probe)
        grads = [
            make(n, "grad", s or stypes.get(n, "default")) if r != "null" else None
            for n, r, s in zip(nodes, reqs, found, strict=False)
        ]
    bound = Executor(symbol, ctx, args, grads, reqs, aux, group2ctx)
    _log_storages(bound)
    return bound


def _zeros(stype: str, shape: tuple[int, ...], dtype: Any) -> Any:
    """Zeros for a bound variable. As in MXNet a csr variable may be declared of any rank, so that
    storages can be asked for; nothing but nothing can be stored in one that is not a matrix."""
    if stype == "csr" and len(shape) != 2:
        empty = np.zeros(0, np.int64)
        return storage.Csr(np.zeros(0, dtype), empty, np.zeros(shape[0] + 1, np.int64), shape)
    return storage.zeros(stype, shape, dtype)


def _context_of(node: Node, ctx: Any, group2ctx: Any) -> Any:
    group = (node.attrs or {}).get("__ctx_group__")
    return usable(group2ctx[group]) if group2ctx and group in group2ctx else ctx


def _shared_arrays(shared_exec: Executor | None) -> dict[tuple[str, str], Any]:
    if shared_exec is None:
        return {}
    pool: dict[tuple[str, str], Any] = {}
    for kind, arrays in (
        ("arg", shared_exec.arg_dict), ("grad", shared_exec.grad_dict), ("aux", shared_exec.aux_dict),
    ):  # fmt: skip
        pool.update({(kind, n): x for n, x in arrays.items() if x is not None})
    return pool


def _gradient_stypes(probe: Executor) -> list[str | None]:
    """The storage type each argument's gradient comes in, by inference through the graph."""
    types = tuple([type(x._data) for x in probe._inputs])
    try:
        plan = probe._plan(True, types)
    except MXNetError as error:
        raise SimpleBindError(f"simple_bind error. Arguments:\n{error}") from error
    probe._plans[(True, *types)] = plan
    if plan.wanted is None:
        return [None] * len(probe._nodes)
    heads = plan.forward.types[: len(plan.outputs)]
    emitted = plan.backward(heads)
    return [None if t is None else storage.STYPES[t] for t in emitted.types]


def _log_storages(bound: Executor) -> None:
    """Print every node's dispatch mode and storages if the environment asks for it."""
    if not config.get("MXNET_INFER_STORAGE_TYPE_VERBOSE_LOGGING"):
        return
    stypes = {n: x.stype for n, x in zip(bound._nodes, bound._inputs, strict=True)}
    heads = list(bound._symbol._entries)
    entry_stypes, dispatches = infer.storages(heads, stypes)
    if any(bound._wanted):
        plan = bound._plan(True, tuple([type(x._data) for x in bound._inputs]))
        kinds = plan.forward.types[: len(plan.outputs)]
        stypes.update({h[0]: storage.STYPES[t] for h, t in zip(plan.heads, kinds, strict=True)})
        entry_stypes, dispatches = infer.storages([*heads, *plan.gradients], stypes)
        heads = [*heads, *[g for g in plan.gradients if g is not None]]
    number: dict[Any, int] = {}
    lines = []
    for k, node in enumerate(topological(heads)):
        outputs = [(node, j) for j in range(1 if node.call is None else node.call.outputs)]
        for entry in outputs:
            number[entry] = len(number)
        if node.call is None:
            lines.append(f"node {k} var")
            continue
        lines.append(f"node {k} {node.call.op.name}: {dispatches[node].mode}")
        lines += [f"\t\tinput {number[e]}: {entry_stypes[e]}" for e in node.inputs if e is not None]
        lines += [f"\t\toutput {number[e]}: {entry_stypes[e]}" for e in outputs]
    sys.stderr.write("\n".join(lines) + "\n")
    sys.stderr.flush()
