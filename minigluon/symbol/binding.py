"""Binding: from a symbol and arrays, or shapes, to an Executor."""

from __future__ import annotations

import sys
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from .. import config, storage
from ..autograd.tape import GRAD_REQS, GradReqError
from ..base import MXNetError, ShapeError
from ..context import Context, usable
from ..core import infer
from ..core.graph import Node, topological
from ..core.invoke import wrap
from ..core.plan import fuse
from ..dtypes import as_dtype
from .executor import Executor, context_of
from .facts import variable_stypes
from .symbol import Symbol


class SimpleBindError(MXNetError):
    """Arrays for a graph cannot be made from what was given."""


class BindTypeError(MXNetError, TypeError):
    """Something that is no array, or no context, where bind takes one."""


def bind(
    symbol: Symbol, ctx: Any, args: Any, args_grad: Any, grad_req: Any, aux_states: Any,
    group2ctx: Any, shared_exec: Any,
) -> Executor:  # fmt: skip
    """See ``Symbol.bind``."""
    names, aux_names = symbol.list_arguments(), symbol.list_auxiliary_states()
    ctx = _context(ctx)
    arrays = _listed(args, names, "args", required=True)
    reqs = _requirements(names, grad_req, GradReqError)
    grads = _listed(args_grad, names, "args_grad", required=False)
    aux = _listed(aux_states or [], aux_names, "aux_states", required=bool(aux_names))
    for name, array, grad in zip(names, arrays, grads, strict=True):
        if grad is not None and grad.shape != array.shape:
            raise ShapeError(
                f"bind: the gradient array of {name} has the wrong shape.\n"
                f"  received  {name} {array.shape}, gradient {grad.shape}\n"
                f"  expected  {array.shape}, the shape of {name}\n"
                f"  fix       args_grad={{'{name}': mx.nd.zeros({array.shape})}}"
            )
    bound = Executor(symbol, ctx, arrays, grads, reqs, aux, group2ctx)
    bound._check_shapes()
    _log_storages(bound)
    return bound


def simple_bind(
    symbol: Symbol, ctx: Any, grad_req: Any, type_dict: Any, stype_dict: Any, group2ctx: Any,
    shared_arg_names: Any, shared_exec: Any, shared_buffer: Any, shapes: dict[str, Any],
) -> Executor:  # fmt: skip
    """See ``Symbol.simple_bind``."""
    ctx = _context(ctx)

    def fail(reason: Any) -> SimpleBindError:
        lines = "".join(f"\n{k}: {v}" for k, v in shapes.items())
        return SimpleBindError(f"simple_bind error. Arguments:{lines}\n{reason}")

    names = symbol.list_inputs()
    if len(set(names)) != len(names):
        twice = next(n for n in names if names.count(n) > 1)
        raise fail(f"Duplicate argument names are not supported: {twice!r}")
    if grad_req is not None and not isinstance(grad_req, str) and len(grad_req) == 0:
        raise fail(f"grad_req in simple_bind cannot be an empty {type(grad_req).__name__}")
    aux_nodes, variables = symbol._auxiliary_nodes(), symbol._variables()
    nodes = [n for n in variables if n not in aux_nodes]
    reqs = _requirements([n.name for n in nodes], grad_req, fail)
    dtypes = {n: as_dtype(t) for n, t in (type_dict or {}).items() if n in names}
    try:
        shape_of = symbol._solve_shapes((), _known_shapes(shapes, names))
        dtype_of = symbol._solve_dtypes((), dtypes)
    except MXNetError as error:
        raise fail(error) from error
    unknown = [n.name for n in variables if not infer.known(shape_of[(n, 0)])]
    if unknown:
        raise fail(
            f"Shapes of these variables do not follow from what was given: {', '.join(unknown)}.\n"
            f"  received  {shapes}\n  expected  enough shapes to infer all others\n"
            f"  fix       pass {unknown[0]}=(...) too"
        )
    stypes = variable_stypes(variables)
    for name, stype in (stype_dict or {}).items():
        stypes.update({n: stype for n in variables if n.name == name})
    pool = _shared_arrays(shared_exec, shared_arg_names)

    def make(node: Node, kind: str, stype: str) -> Any:
        shape, dtype = shape_of[(node, 0)], dtype_of[(node, 0)] or np.dtype(np.float32)
        have = pool.get((kind, node.name))
        if have is not None:
            if (have.shape, have._data.dtype, have.stype) == (shape, dtype, stype):
                return have
            raise fail(
                f"The array of {node.name} in shared_exec does not fit.\n"
                f"  received  {have.shape} {have._data.dtype} {have.stype}\n"
                f"  expected  {shape} {dtype} {stype}, which follows from the shapes given\n"
                f"  fix       leave {node.name} out of shared_arg_names"
            )
        place = context_of(node, ctx, group2ctx)
        if shared_buffer is None or kind == "aux" or stype != "default":
            return wrap(_zeros(stype, shape, dtype), place)
        name = node.name if kind == "arg" else f"grad of {node.name}"
        return _from_buffer(shared_buffer, name, shape, dtype, place)

    args = [make(n, "arg", stypes.get(n, "default")) for n in nodes]
    aux = [make(n, "aux", stypes.get(n, "default")) for n in variables if n in aux_nodes]
    grads: list[Any] = [None] * len(nodes)
    bound = Executor(symbol, ctx, args, args, reqs, aux, group2ctx)
    bound._checked = True
    if any(r != "null" for r in reqs):
        try:
            found = _gradient_stypes(bound)
        except MXNetError as error:
            raise fail(error) from error
        grads = [
            make(n, "grad", s or stypes.get(n, "default")) if r != "null" else None
            for n, r, s in zip(nodes, reqs, found, strict=False)
        ]
    bound.grad_arrays = grads
    _log_storages(bound)
    return bound


def _from_buffer(
    buffer: dict[str, Any], name: str, shape: tuple[int, ...], dtype: Any, ctx: Any
) -> Any:
    """An array in the memory of the buffer's, or a larger one, which the buffer gets."""
    have = buffer.get(name)
    size = prod(shape)
    if have is not None and have.size >= size and have._data.dtype == dtype:
        if have.shape == shape:
            return have
        return wrap(have._data.reshape(-1)[:size].reshape(shape), ctx)
    made = buffer[name] = wrap(_zeros("default", shape, dtype), ctx)
    return made


def _zeros(stype: str, shape: tuple[int, ...], dtype: Any) -> Any:
    """Zeros for a bound variable.

    As in MXNet a csr variable may be declared of any rank, so that storages can be asked for;
    nothing but zeros can be held by one that is not a matrix.
    """
    if stype == "csr" and len(shape) != 2:
        empty = np.zeros(0, np.int64)
        return storage.Csr(np.zeros(0, dtype), empty, np.zeros(shape[0] + 1, np.int64), shape)
    return storage.zeros(stype, shape, dtype)


def _context(ctx: Any) -> Context:
    if ctx is not None and not isinstance(ctx, Context):
        raise BindTypeError(
            f"Context type error.\n  received  {ctx!r} of type {type(ctx).__name__}\n"
            "  expected  a Context\n  fix       mx.cpu()"
        )
    return usable(ctx)


def _requirements(names: list[str], grad_req: Any, fail: Callable[[str], Exception]) -> list[str]:
    """The grad_req of each argument, from one for all, a list, or a dict by name."""
    if isinstance(grad_req, str):
        reqs = [grad_req] * len(names)
    elif isinstance(grad_req, dict):
        reqs = [grad_req.get(n, "null") for n in names]
    elif isinstance(grad_req, list | tuple):
        reqs = list(grad_req)
    else:
        raise BindTypeError(
            f"grad_req is not understood.\n  received  {grad_req!r} of type "
            f"{type(grad_req).__name__}\n  expected  a word, a list or a dict by name\n"
            "  fix       grad_req='write'"
        )
    for req in reqs:
        if req not in GRAD_REQS:
            raise fail(
                f"grad_req={req} is not a valid input; only 'null', 'write', and 'add' are "
                "supported"
            )
    if len(reqs) != len(names):
        raise fail(
            f"grad_req has the wrong length.\n  received  {len(reqs)} entries\n"
            f"  expected  {len(names)}, one for each of {', '.join(names)}\n"
            "  fix       pass a dict by name, or one word for all"
        )
    return reqs


def _listed(given: Any, names: list[str], what: str, required: bool) -> list[Any]:
    """Arrays in the order of ``names``, from a list or a dict."""
    if given is None and not required:
        return [None] * len(names)
    if isinstance(given, dict):
        for name in names:
            if name not in given and required:
                raise ValueError(
                    f"key `{name}` is missing in `{what}`\n"
                    f"  received  {', '.join(map(str, given)) or 'nothing'}\n"
                    f"  expected  an array for each of {', '.join(names)}\n"
                    f"  fix       add '{name}'"
                )
        arrays = [given.get(name) for name in names]
    elif isinstance(given, list | tuple):
        arrays = list(given)
        if len(arrays) != len(names) and (required or what == "args_grad"):
            raise ValueError(
                f"Length of {what} does not match the number of arguments\n"
                f"  received  {len(arrays)} arrays\n  expected  {len(names)}: {', '.join(names)}\n"
                "  fix       pass a dict by name"
            )
    else:
        arrays = [given]
    for name, array in zip(names, arrays, strict=False):
        if not hasattr(array, "_data") and (required or array is not None):
            raise BindTypeError(
                f"Only accept list of NDArrays or dict of str to NDArray: {what}['{name}'] is not "
                f"one.\n  received  {type(array).__name__}\n  expected  an NDArray\n"
                "  fix       wrap it: mx.nd.array(...)"
            )
    return (arrays + [None] * len(names))[: len(names)]


def _known_shapes(shapes: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """Those of the shapes given that belong to a variable of the graph, as tuples."""
    return {
        n: (s,) if isinstance(s, int | np.integer) else s for n, s in shapes.items() if n in names
    }


def _shared_arrays(
    shared_exec: Executor | None, shared_arg_names: Any
) -> dict[tuple[str, str], Any]:
    """What another executor shares: the arguments named, their gradients, all auxiliary states."""
    if shared_exec is None or shared_arg_names is None:
        return {}
    named = set(shared_arg_names)
    pool: dict[tuple[str, str], Any] = {}
    for kind, arrays in (
        ("arg", shared_exec.arg_dict),
        ("grad", shared_exec.grad_dict),
        ("aux", shared_exec.aux_dict),
    ):
        for name, x in arrays.items():
            if x is not None and (kind == "aux" or name in named):
                pool[kind, name] = x
    return pool


def _gradient_stypes(bound: Executor) -> list[str | None]:
    """The storage type each argument's gradient comes in, by inference through the graph."""
    data = [x._data for x in bound._inputs]
    types = tuple(map(type, data))
    plan = bound._plan(True, types)
    if fuse.wanted_bound(data) is None:
        bound._plans[True, types] = plan  # the very plan that training takes
    if plan.wanted is None:
        return [None] * len(bound._nodes)
    heads = plan.forward.types[: len(plan.outputs)]
    return [None if t is None else storage.STYPES[t] for t in plan.backward(heads).types]


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


__all__ = ["BindTypeError", "GradReqError", "SimpleBindError", "bind", "simple_bind"]
