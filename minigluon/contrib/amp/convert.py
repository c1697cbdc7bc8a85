"""Graphs and networks made over for mixed precision, with casts where they are needed."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import ndarray as nd
from ... import symbol as sym
from ...base import ArgumentTypeError, four_lines
from ...core.graph import Entry, Node, topological
from ...gluon import HybridBlock, SymbolBlock
from .policy import FULL, LOW, WIDEST, Policy, policies, require_float16

Symbol = sym.Symbol


def convert_symbol(
    sym: Symbol,
    target_dtype: str = "float16",
    target_dtype_ops: list[str] | None = None,
    fp32_ops: list[str] | None = None,
    conditional_fp32_ops: list[tuple] | None = None,
    excluded_sym_names: list[str] | None = None,
    data_names: list[str] | None = None,
    cast_optional_params: bool = False,
) -> Symbol:
    """The graph with ``amp_cast`` nodes, so that it runs in float16 where that is enough.

    Inputs and outputs stay in float32. ``sym.tojson()`` leaves the casts out, unless it is called
    with ``remove_amp_cast=False``.

    Parameters
    ----------
    target_dtype_ops, fp32_ops, conditional_fp32_ops : operators for float16, for float32, and for
        float32 by the value of an attribute, instead of the usual.
    excluded_sym_names : names of nodes that stay in float32.

    Examples
    --------
    >>> from minigluon import sym
    >>> net = sym.FullyConnected(sym.var("data"), num_hidden=2, name="fc")
    >>> convert_symbol(net).list_outputs()
    ['fc_output_amp_cast_float32_output']
    """
    _require(sym, Symbol, "First argument to convert_symbol should be Symbol")
    require_float16(target_dtype)
    table = policies(target_dtype_ops, fp32_ops, conditional_fp32_ops)
    return _Conversion(sym, table, set(excluded_sym_names or ())).run()


class _Conversion:
    """One pass over a graph: which entries are float16, and the casts that were made."""

    def __init__(self, symbol: Symbol, table: dict[Any, Policy], excluded: set[str]):
        self._symbol, self._table, self._excluded = symbol, table, excluded
        self._new: dict[Entry, Entry] = {}
        self._low: set[Entry] = set()
        self._casts: dict[tuple[Entry, str], Entry] = {}

    def run(self) -> Symbol:
        """The converted graph."""
        states = self._symbol._auxiliary_nodes()
        for node in topological(self._symbol._entries):
            if node.call is None:
                self._new[node, 0] = node, 0
                continue
            kind = self._kind(node)
            inputs = []
            for entry in node.inputs:
                stays = entry is None or entry[0] in states
                if kind == LOW and not stays and entry[0].call is None:
                    stays = self._decides(node)
                inputs.append(entry if stays else self._in_type(entry, kind))
            new = Node(node.call, tuple(inputs), node.name, node.attrs)
            for k in range(node.call.outputs):
                self._new[node, k] = new, k
                if kind == LOW:
                    self._low.add((node, k))
        return Symbol([self._in_type(entry, FULL) for entry in self._symbol._entries])

    def _kind(self, node: Node) -> str:
        """``float16`` if the node is to run in it, otherwise ``float32``."""
        call = node.call
        if node.name in self._excluded:
            return FULL
        if call.op.name in ("Cast", "amp_cast"):
            return LOW if np.dtype(call.attrs["dtype"]) == LOW else FULL
        policy = self._table.get(call.op)
        kind = None if policy is None else policy(call.attrs)
        if kind in (LOW, FULL):
            return kind
        made = [e in self._low for e in node.inputs if e is not None and e[0].call is not None]
        if kind == WIDEST:
            made += [False for e in node.inputs if e is not None and e[0].call is None]
        return LOW if made and all(made) else FULL

    def _decides(self, node: Node) -> bool:
        """Whether an operator without a policy takes parameters of another type, as BatchNorm."""
        return node.call.op not in self._table and node.call.op.dtype_rule is not None

    def _in_type(self, entry: Entry, kind: str) -> Entry:
        """The entry in the type of the node that reads it."""
        if (entry in self._low) == (kind == LOW):
            return self._new[entry]
        key = entry, kind
        if key not in self._casts:
            plain = Symbol([entry])
            name = f"{plain.list_outputs()[0]}_amp_cast_{kind}"
            cast = sym.amp_cast(Symbol([self._new[entry]]), dtype=kind, name=name)
            self._casts[key] = cast._entries[0]
        return self._casts[key]


def convert_model(
    sym: Symbol,
    arg_params: dict,
    aux_params: dict,
    target_dtype: str = "float16",
    target_dtype_ops: list[str] | None = None,
    fp32_ops: list[str] | None = None,
    conditional_fp32_ops: list[tuple] | None = None,
    excluded_sym_names: list[str] | None = None,
    cast_optional_params: bool = False,
) -> tuple[Symbol, dict, dict]:
    """A graph and its parameters for mixed precision, as for Module.

    Parameters
    ----------
    cast_optional_params : hold the parameters that are read in float16 in float16.
    """
    _require(sym, Symbol, "First argument to convert_model should be Symbol")
    for params, name in ((arg_params, "arg_params"), (aux_params, "aux_params")):
        _require(params, dict, f"{name} should be a dict of strs to NDArrays")
    converted = convert_symbol(
        sym, target_dtype, target_dtype_ops, fp32_ops, conditional_fp32_ops, excluded_sym_names
    )
    low = _read_in_float16(converted) if cast_optional_params else set()
    args = {name: nd.cast(x, LOW) if name in low else x for name, x in arg_params.items()}
    return converted, args, dict(aux_params)


def _read_in_float16(symbol: Symbol) -> set[str]:
    """Names of the variables that every reader has in float16."""
    low, full = set(), set()
    for node in topological(symbol._entries):
        if node.call is None:
            continue
        cast = node.call.op.name == "amp_cast" and np.dtype(node.call.attrs["dtype"]) == LOW
        for entry in node.inputs:
            if entry is not None and entry[0].call is None:
                (low if cast else full).add(entry[0].name)
    return low - full


def convert_hybrid_block(
    block: HybridBlock,
    target_dtype: str = "float16",
    target_dtype_ops: list[str] | None = None,
    fp32_ops: list[str] | None = None,
    conditional_fp32_ops: list[tuple] | None = None,
    excluded_sym_names: list[str] | None = None,
    ctx: Any = None,
    cast_optional_params: bool = False,
) -> SymbolBlock:
    """A network for mixed precision, made of one that was hybridized and has run once.

    Parameters
    ----------
    ctx : where to put the parameters; where they are if not given.
    cast_optional_params : hold the parameters that are read in float16 in float16.

    Examples
    --------
    >>> from minigluon import gluon, nd
    >>> net = gluon.nn.Dense(2, in_units=3)
    >>> net.initialize()
    >>> net.hybridize()
    >>> y = net(nd.ones((1, 3)))
    >>> convert_hybrid_block(net)(nd.ones((1, 3))).dtype
    <class 'numpy.float32'>
    """
    _require(block, HybridBlock, "block input should be a HybridBlock")
    if not block._cached_graph:
        raise RuntimeError(
            "Please first call block.hybridize() and then run forward with this block at least "
            "once before calling export."
        )
    inputs, graph = block._cached_graph
    params = block.collect_params()
    states = set(graph.list_auxiliary_states())
    held = {name: param._reduce() for name, param in params.items()}
    converted, args, aux = convert_model(
        graph,
        {name: x for name, x in held.items() if name not in states},
        {name: x for name, x in held.items() if name in states},
        target_dtype,
        target_dtype_ops,
        fp32_ops,
        conditional_fp32_ops,
        excluded_sym_names,
        cast_optional_params,
    )
    made = SymbolBlock(converted, list(inputs))
    contexts = next((p.list_ctx() for p in params.values()), None) if ctx is None else ctx
    for name, param in made.collect_params().items():
        value = args[name] if name in args else aux[name]
        param.cast(value.dtype)
        param._load_init(value, contexts)
    return made


def _require(value: Any, kind: type, message: str) -> None:
    if not isinstance(value, kind):
        raise ArgumentTypeError(
            four_lines(message, type(value).__name__, f"a {kind.__name__}", "check the argument")
        )
