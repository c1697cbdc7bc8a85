"""SymbolBlock: a block made of a symbol, such as a network that was exported to files."""

from __future__ import annotations

from typing import Any

from ... import symbol as sym
from ...base import ArgumentError
from ..parameter import ParameterDict
from ..utils import _indent
from .block import Block
from .hybrid import RUN_THE_GRAPH, HybridBlock, Symbol
from .nesting import flatten, regroup, tensors


class SymbolBlock(HybridBlock):
    """A block that runs a graph: ``inputs`` are given, its other variables are parameters.

    Use it to take features out of a network, or to run one that was exported.

    Parameters
    ----------
    outputs : symbol, or list of symbols.
    inputs : variable, or list of variables.
    params : parameters of the network the symbol comes from, to share them.

    Examples
    --------
    >>> from minigluon import nd, sym
    >>> data = sym.var("data")
    >>> hidden = sym.FullyConnected(data, num_hidden=3, name="fc")
    >>> block = SymbolBlock(sym.relu(hidden), data)
    >>> block.initialize("ones")
    >>> block(nd.ones((1, 2))).asnumpy()
    array([[3., 3., 3.]], dtype=float32)
    """

    @staticmethod
    def imports(
        symbol_file: str,
        input_names: Any,
        param_file: str | None = None,
        ctx: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
    ) -> SymbolBlock:
        """The network in the files that ``HybridBlock.export`` or a Module checkpoint wrote.

        Parameters
        ----------
        input_names : name or names of the variables that are inputs.
        param_file : file of the parameters; without it they have to be initialized or loaded.
        ctx : where to put the parameters.
        """
        graph = sym.load(symbol_file)
        names = [input_names] if isinstance(input_names, str) else list(input_names)
        block = SymbolBlock(graph, [sym.var(name) for name in names])
        if param_file is not None:
            block.collect_params().load(param_file, ctx, allow_missing, ignore_extra)
        return block

    def __init__(self, outputs: Any, inputs: Any, params: ParameterDict | None = None):
        super().__init__(prefix=None, params=None)
        self._prefix = ""
        self._params = ParameterDict("", params)
        if isinstance(inputs, Symbol) and len(inputs.list_outputs()) == 1:
            inputs = [inputs]
        if isinstance(outputs, list | tuple) and len(outputs) == 1:
            outputs = outputs[0]
        variables, self._in_format = flatten(list(inputs), "input")
        heads, self._out_format = flatten(outputs, "output")
        graph = heads[0] if len(heads) == 1 else sym.Group(heads)
        for x in variables:
            if len(x.get_internals().list_outputs()) != 1:
                raise ArgumentError(
                    f"Input symbols must be variable, but {x} is an output of operators\n"
                    f"  received  {x}\n  expected  a variable\n"
                    "  fix       pass mx.sym.var(...), and cut the graph there"
                )
        _refuse_sparse(graph)
        self._declare_parameters(graph, {x.name for x in variables})
        self._cached_graph = variables, graph

    def _declare_parameters(self, graph: Symbol, inputs: set) -> None:
        arguments, auxiliary = graph.list_arguments(), graph.list_auxiliary_states()
        types = _types(graph)
        for name in arguments + auxiliary:
            if name not in inputs:
                kind = {} if types.get(name) is None else {"dtype": types[name]}
                if name in auxiliary:
                    kind["grad_req"] = "null"
                if self._params._get_impl(name) is None:
                    self._params.get(name, allow_deferred_init=True, **kind)
        shared = _common_begin(list(self._params))
        self._reg_params = {name[shared:]: p for name, p in self._params.items()}

    def __repr__(self) -> str:
        inputs, graph = self._cached_graph
        content = f"{graph} : {len(inputs)} -> {len(graph.list_outputs())}"
        return f"{type(self).__name__}(\n{_indent(content, 2)}\n)"

    def _clear_cached_op(self) -> None:
        """Make the operator anew at the next call; the graph itself stays."""
        kept = (
            getattr(self, "_cached_graph", ()),
            *(getattr(self, name, None) for name in ("_in_format", "_out_format")),
        )
        super()._clear_cached_op()
        self._cached_graph, self._in_format, self._out_format = kept

    def reset_ctx(self, ctx: Any) -> None:
        """Move all parameters to other contexts."""
        self._params.reset_ctx(ctx)

    def cast(self, dtype: Any) -> None:
        """Convert all parameters to another element type."""
        self._clear_cached_op()
        Block.cast(self, dtype)

    def forward(self, x: Any, *args: Any) -> Any:
        """Run the graph on arrays, or compose it with symbols."""
        if not isinstance(x, Symbol):
            return self._call_cached_op(x, *args)
        values = tensors((x, *args))
        inputs, graph = self._cached_graph
        composed = graph(**{v.name: s for v, s in zip(inputs, values, strict=True)})
        if self._out_format == 0:
            return composed
        return regroup(list(composed), self._out_format)

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        """Not used: the graph says what is computed."""
        raise NotImplementedError("SymbolBlock runs its graph")


RUN_THE_GRAPH.append(SymbolBlock.forward)


def _refuse_sparse(graph: Symbol) -> None:
    """Parameters are handed to the graph whole, which row_sparse ones cannot be."""
    stypes = {"1": "row_sparse", "2": "csr"}
    for name, attributes in graph.attr_dict().items():
        stype = stypes.get(attributes.get("__storage_type__", ""))
        if stype == "row_sparse":
            raise ArgumentError(
                f"SymbolBlock doesn't support Parameter '{name}' because its storage type is "
                f"'{stype}'.\n  received  {name} of storage {stype}\n  expected  default storage\n"
                "  fix       run the symbol with Module, which knows sparse weights"
            )


def _common_begin(names: list[str]) -> int:
    """How many characters all names begin with in common."""
    first, last = min(names, default=""), max(names, default="")
    return next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), 0)


def _types(graph: Symbol) -> dict[str, Any]:
    """Element types of the variables, as far as the graph alone decides them."""
    arguments, _, auxiliary = graph.infer_type_partial()
    names = [*graph.list_arguments(), *graph.list_auxiliary_states()]
    return dict(zip(names, [*(arguments or ()), *(auxiliary or ())], strict=False))
