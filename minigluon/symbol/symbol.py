"""The Symbol: one or more outputs of a graph that is remembered instead of run."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..base import (
    ArgumentTypeError,
    DTypeError,
    MXNetError,
    NotImplementedForSymbol,
)
from ..core import compose as composing
from ..core import infer
from ..core.graph import Entry, Node, substitute, topological
from ..core.op import registry
from ..core.state import state
from ..dtypes import FROM_FLAG, as_dtype
from .facts import (
    count_writes,
    is_complete,
    named_values,
    output_name,
    private_shape,
    public_shape,
    shown_attrs,
    texts,
    variable_shapes,
    variable_stypes,
    visible,
)


class Symbol:
    """Outputs of a graph of operators on variables.

    Made by ``sym.Variable`` and by the functions of ``sym``; arithmetic makes new symbols.

    Examples
    --------
    >>> x = sym.Variable("x")
    >>> (x * 2 + 1).list_arguments()
    ['x']
    """

    __slots__ = ("_entries", "_order")

    def __init__(self, entries: Iterable[Entry]):
        self._entries: tuple[Entry, ...] = tuple(entries)
        self._order: list[Node] = []

    # ---- what it is

    @property
    def name(self) -> str | None:
        """The node's name; None for a group."""
        nodes = {e[0] for e in self._entries}
        return self._entries[0][0].name if len(nodes) == 1 else None

    def __repr__(self) -> str:
        if self.name is None:
            return "<Symbol group [{}]>".format(", ".join(str(s.name) for s in self))
        return f"<Symbol {self.name}>"

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Symbol]:
        return (self[k] for k in range(len(self._entries)))

    def __bool__(self) -> bool:
        raise NotImplementedForSymbol("__bool__", "bool")

    def __getitem__(self, index: int | str | slice) -> Symbol:
        """One output, by position or by name (``internals["fc1_output"]``)."""
        if isinstance(index, str):
            found = [k for k, name in enumerate(self.list_outputs()) if name == index]
            if not found:
                raise ValueError(f'Cannot find output that matches name "{index}"')
            if len(found) > 1:
                raise ValueError(f'There are multiple outputs with name "{index}"')
            index = found[0]
        if isinstance(index, slice):
            return Symbol(self._entries[index])
        if not isinstance(index, int | np.integer):
            raise ArgumentTypeError(
                "Symbol only support integer index to fetch i-th output\n"
                f"  received  [{index!r}]\n  expected  a number, a name or a slice\n"
                "  fix       see list_outputs()"
            )
        if not -len(self._entries) <= index < len(self._entries):
            raise IndexError(
                f"symbol has {len(self._entries)} outputs.\n  received  [{index}]\n"
                f"  expected  0 to {len(self._entries) - 1}\n  fix       see list_outputs()"
            )
        return Symbol((self._entries[index],))

    def __copy__(self) -> Symbol:
        return self.__deepcopy__(None)

    def __deepcopy__(self, memo: Any) -> Symbol:
        return Symbol(_copied(self._entries))

    def __reduce__(self) -> Any:
        from .json import loads

        return loads, (self.tojson(remove_amp_cast=False),)

    # ---- composition

    def __call__(self, *args: Any, **kwargs: Any) -> Symbol:
        """This graph with variables replaced by symbols: ``net(data=other)``."""
        name = kwargs.pop("name", None)
        if args and kwargs:
            raise ArgumentTypeError(
                "compose only accept input Symbols either as positional or keyword arguments, not "
                "both\n  received  symbols by position and by name\n"
                "  expected  net(variable_name=symbol)\n  fix       name all of them"
            )
        if args:
            raise MXNetError(
                "Symbol composition takes keywords only.\n  received  positional symbols\n"
                "  expected  net(variable_name=symbol)\n  fix       name the variable to replace"
            )
        variables = self._variables()
        replace: dict[Entry, Entry] = {}
        for key, value in kwargs.items():
            chosen = [n for n in variables if n.name == key]
            if not chosen:
                raise MXNetError(
                    f"Symbol composition: argument name {key} not found.\n"
                    f"  received  {key}=...\n"
                    f"  expected  one of {', '.join(n.name for n in variables)}\n"
                    "  fix       see list_arguments()"
                )
            replace.update({(n, 0): _single(key, value) for n in chosen})
        entries = [e for e in substitute(self._entries, replace) if e is not None]
        if name is not None and entries[0][0].call is not None:
            old = entries[0][0]
            new = Node(old.call, old.inputs, name, old.attrs)
            entries = [(new, k) if n is old else (n, k) for n, k in entries]
        return Symbol(entries)

    # ---- names

    def _nodes(self) -> list[Node]:
        """All nodes, inputs before what is made of them; found once, for graphs do not change."""
        if not self._order:
            self._order = topological(self._entries)
        return self._order

    def _variables(self) -> list[Node]:
        return [n for n in self._nodes() if n.call is None]

    def _auxiliary_nodes(self) -> set[Node]:
        aux: set[Node] = set()
        for node in self._nodes():
            if node.call is None or not node.call.op.mutates:
                continue
            names = node.call.op.names_of_inputs(node.call.attrs, len(node.inputs))
            for name, entry in zip(names, node.inputs, strict=False):
                if name in node.call.op.mutates and entry is not None and entry[0].call is None:
                    aux.add(entry[0])
        return aux

    def list_arguments(self) -> list[str]:
        """The names of the variables, depth first, auxiliary states left out."""
        aux = self._auxiliary_nodes()
        return [n.name for n in self._variables() if n not in aux]

    def list_auxiliary_states(self) -> list[str]:
        """The names of the variables operators write to (running means and the like)."""
        aux = self._auxiliary_nodes()
        return [n.name for n in self._variables() if n in aux]

    def list_inputs(self) -> list[str]:
        """The names of all variables, arguments and auxiliary states."""
        return [n.name for n in self._variables()]

    def list_outputs(self) -> list[str]:
        """The name of every output: ``fc_output``; a variable's is its own."""
        return [output_name(e) for e in self._entries]

    @property
    def num_outputs(self) -> int:
        """The number of outputs."""
        return len(self._entries)

    def get_internals(self) -> Symbol:
        """All outputs of all nodes, as one group."""
        return Symbol([(n, k) for n in self._nodes() for k in range(visible(n))])

    def get_children(self) -> Symbol | None:
        """The inputs of the outputs' nodes as a group; None for a variable."""
        entries = [e for n in dict.fromkeys(e[0] for e in self._entries) for e in n.inputs]
        return Symbol([e for e in entries if e is not None]) if entries else None

    # ---- attributes

    def attr(self, key: str) -> str | None:
        """One textual attribute of this symbol, or None."""
        return shown_attrs(self._entries[0][0]).get(key)

    def list_attr(self, recursive: bool = False) -> dict[str, str]:
        """The textual attributes of this symbol."""
        if recursive:
            raise DeprecationWarning(
                "Symbol.list_attr with recursive=True has been deprecated. Please use attr_dict "
                "instead."
            )
        return shown_attrs(self._entries[0][0])

    def attr_dict(self) -> dict[str, dict[str, str]]:
        """The attributes of every node that has some, by name."""
        found = {n.name: shown_attrs(n) for n in self._nodes()}
        return {name: attrs for name, attrs in found.items() if attrs}

    def _set_attr(self, **kwargs: str) -> None:
        """Set textual attributes of this symbol; an operator's own change what it computes."""
        texts(kwargs)
        node = self._entries[0][0]
        call = None if node.call is None else composing.with_attributes(node.call, kwargs)
        node.call, node.attrs = call, {**(node.attrs or {}), **composing.hide(kwargs)}

    # ---- inference

    def infer_shape(self, *args: Any, **kwargs: Any) -> Any:
        """(argument shapes, output shapes, auxiliary shapes) that follow from those given.

        Three Nones, with a warning, if some do not follow. Raises ``MXNetError`` on contradiction.
        """
        results = self._infer_shape(args, kwargs)
        arguments = results[0]
        if any(not is_complete(s) for part in results for s in part):
            unknown = [
                f"{name}: {shape}"
                for name, shape in zip(self.list_arguments(), arguments, strict=True)
                if not is_complete(shape)
            ]
            warnings.warn(
                "Cannot decide shape for the following arguments (0s in shape means unknown "
                "dimensions). Consider providing them as input:\n\t" + "\n\t".join(unknown),
                stacklevel=2,
            )
            return None, None, None
        return results

    def infer_shape_partial(self, *args: Any, **kwargs: Any) -> Any:
        """Like ``infer_shape``, with () for unknown shapes and 0 for unknown dimensions."""
        return self._infer_shape(args, kwargs)

    def _infer_shape(self, args: Any, kwargs: Any) -> Any:
        values = self._solve_shapes(args, kwargs)
        return self._by_role(values, public_shape)

    def _solve_shapes(self, args: Any, kwargs: Any) -> dict[Entry, Any]:
        given = variable_shapes(self._variables())
        named = named_values(self, args, kwargs, "infer_shape")
        for node, shape in named.items():
            if not isinstance(shape, tuple | list):
                if shape is None and args:
                    continue
                raise DTypeError(
                    f"Arguments need to be shapes (tuple), but '{node.name}' is {type(shape)}.\n"
                    f"  received  {node.name}={shape!r}\n  expected  a tuple of integers\n"
                    f"  fix       pass {node.name}=(2, 3)"
                )
            given[node] = private_shape(shape)
        return infer.solve(self._entries, given, "shape", scalars_are_1d=not state.np_shape)

    def infer_type(self, *args: Any, **kwargs: Any) -> Any:
        """(argument, output, auxiliary dtypes) that follow from those given.

        Three Nones if some do not follow.
        """
        results = self.infer_type_partial(*args, **kwargs)
        if any(t is None for part in results for t in part):
            return None, None, None
        return results

    def infer_type_partial(self, *args: Any, **kwargs: Any) -> Any:
        """Like ``infer_type``, with None for what is not known."""
        return self._by_role(
            self._solve_dtypes(args, kwargs), lambda t: None if t is None else t.type
        )

    def _solve_dtypes(self, args: Any, kwargs: Any) -> dict[Entry, Any]:
        given: dict[Node, Any] = {}
        for node in self._variables():
            flag = (node.attrs or {}).get("__dtype__")
            if flag is not None and flag.lstrip("-").isdigit() and int(flag) in FROM_FLAG:
                given[node] = FROM_FLAG[int(flag)]
        for node, dtype in named_values(self, args, kwargs, "infer_type").items():
            if dtype is not None:
                given[node] = as_dtype(dtype)
        return infer.solve(self._entries, given, "dtype")

    def _by_role(self, values: dict[Entry, Any], show: Any) -> Any:
        aux = self._auxiliary_nodes()
        variables = self._variables()
        return (
            [show(values[(n, 0)]) for n in variables if n not in aux],
            [show(values[e]) for e in self._entries],
            [show(values[(n, 0)]) for n in variables if n in aux],
        )

    def infer_storage_type(self, **kwargs: str) -> Any:
        """(argument, output, auxiliary storage types) when variables are stored as given."""
        given = variable_stypes(self._variables())
        for node, stype in named_values(self, (), kwargs, "infer_storage_type").items():
            given[node] = stype
        stypes, _ = infer.storages(self._entries, given)
        return self._by_role(stypes, str)

    # ---- files

    def tojson(self, remove_amp_cast: bool = True) -> str:
        """The text of a ``-symbol.json`` file, without the casts of mixed precision."""
        from .json import dumps

        return dumps(_without_amp_casts(self) if remove_amp_cast else self)

    def save(self, fname: str, remove_amp_cast: bool = True) -> None:
        """Write ``tojson()`` to a file, whole or not at all."""
        from .json import save

        save(_without_amp_casts(self) if remove_amp_cast else self, fname)

    def debug_str(self) -> str:
        """The graph in words, a few lines a node."""
        lines = ["Symbol Outputs:"]
        for k, (node, j) in enumerate(self._entries):
            lines.append(f"\toutput[{k}]={node.name}({j})")
        versions: dict[Entry, int] = {}
        for node in self._nodes():
            count_writes(node, versions)
            if node.call is None:
                lines.append(f"Variable:{node.name}")
                continue
            lines += [
                "--------------------",
                f"Op:{node.call.op.name}, Name={node.name}",
                "Inputs:",
            ]
            for k, entry in enumerate(node.inputs):
                if entry is not None:
                    variable = entry[0].call is None
                    version = f" version={versions.get(entry, 0)}" if variable else ""
                    lines.append(f"\targ[{k}]={entry[0].name}({entry[1]}){version}")
            if node.attrs:
                lines.append("Attrs:")
                lines += [f"\t{k}={v}" for k, v in sorted(node.attrs.items())]
        return "\n".join(lines) + "\n"

    # ---- running

    def bind(
        self, ctx: Any, args: Any, args_grad: Any = None, grad_req: Any = "write",
        aux_states: Any = None, group2ctx: Any = None, shared_exec: Any = None,
    ) -> Any:  # fmt: skip
        """An `Executor` on given arrays: ``args`` and ``args_grad`` are lists or dicts by name."""
        from .binding import bind

        return bind(self, ctx, args, args_grad, grad_req, aux_states, group2ctx, shared_exec)

    def simple_bind(
        self, ctx: Any, grad_req: Any = "write", type_dict: Any = None, stype_dict: Any = None,
        group2ctx: Any = None, shared_arg_names: Any = None, shared_exec: Any = None,
        shared_buffer: Any = None, **kwargs: Any,
    ) -> Any:  # fmt: skip
        """An `Executor` on zeros it makes itself, in the shapes that follow from those given.

        ``type_dict`` and ``stype_dict`` say dtypes and storage types by name. The arguments in
        ``shared_arg_names``, and auxiliary states, are those of ``shared_exec``; others use the
        memory of ``shared_buffer``, a dict by name, where it is large enough, and are put there.
        """
        from .binding import simple_bind

        return simple_bind(
            self,
            ctx,
            grad_req,
            type_dict,
            stype_dict,
            group2ctx,
            shared_arg_names,
            shared_exec,
            shared_buffer,
            kwargs,
        )

    def eval(self, ctx: Any = None, **kwargs: Any) -> Any:
        """The outputs for given arrays, as a list."""
        from ..context import current_context

        return self.bind(ctx or current_context(), kwargs, grad_req="null").forward()

    def gradient(self, wrt: list[str]) -> Symbol:
        """The gradients of the outputs' sum with respect to variables, as a group.

        MXNet 1.x declares this method without implementing it.
        """
        from ..core.grad import symbolic

        by_name = {n.name: n for n in self._variables()}
        missing = [name for name in wrt if name not in by_name]
        if missing:
            raise MXNetError(
                f"gradient: no variable {missing[0]}.\n  received  wrt={wrt}\n"
                f"  expected  names among {list(by_name)}\n  fix       see list_arguments()"
            )
        nodes = [by_name[name] for name in wrt]
        found = symbolic(self._entries, [None] * len(self._entries), nodes)
        zeros = registry["zeros_like"].call()
        return Symbol(
            [found.get((n, 0)) or (Node(zeros, ((n, 0),), f"{n.name}_grad"), 0) for n in nodes]
        )

    def optimize_for(self, backend: str, *args: Any, **kwargs: Any) -> Symbol:
        """The graph itself: it is compiled when it is bound, whatever backend is named."""
        notice_backend(backend)
        return self

    def get_backend_symbol(self, backend: str) -> Symbol:
        """The graph as a subgraph backend has it; there is none, so this raises ``MXNetError``."""
        raise _unknown_backend("get_backend_symbol", backend)

    def as_np_ndarray(self) -> Symbol:
        """The symbol as one of ``mx.sym.np``, which is not supported: raises ``MXNetError``."""
        raise MXNetError(
            "as_np_ndarray: there are no symbols of mx.np.\n  received  a symbol of mx.sym\n"
            "  expected  code written with mx.sym\n  fix       leave the call out"
        )

    def as_nd_ndarray(self) -> Symbol:
        """The symbol itself: it is one of the ``mx.sym`` kind already."""
        return self

    def astype(self, dtype: Any) -> Symbol:
        """The elements converted to another type."""
        from . import Cast

        made: Symbol = Cast(self, dtype=np.dtype(dtype).name)
        return made

    def reshape(self, *shape: Any, **kwargs: Any) -> Symbol:
        """The same elements in another shape, with MXNet's special codes 0, -1, -2, -3, -4."""
        from . import reshape

        if len(shape) == 1 and isinstance(shape[0], list | tuple):
            shape = tuple(shape[0])
        if not shape:
            if "shape" not in kwargs:
                raise ArgumentTypeError(
                    "Symbol.reshape: to which shape?\n  received  no shape\n"
                    "  expected  numbers, or a tuple of them\n  fix       x.reshape((0, -1))"
                )
            shape = kwargs.pop("shape")
        made: Symbol = reshape(self, shape=shape, **kwargs)
        return made

    def tostype(self, stype: str) -> Symbol:
        """The same values in another storage."""
        from . import cast_storage

        made: Symbol = cast_storage(self, stype=stype)
        return made

    def __hash__(self) -> int:
        raise TypeError("unhashable type: 'Symbol'")


_noticed: list[str] = []


def notice_backend(backend: object) -> None:
    """Say once in a process that backends to optimise graphs for mean nothing here."""
    if not _noticed:
        _noticed.append(str(backend))
        warnings.warn(
            f"backend={backend!r} changes nothing: graphs are compiled for the CPU whatever "
            "backend is named. optimize_for and hybridize(backend=...) can be left as they are.",
            UserWarning,
            stacklevel=3,
        )


def _unknown_backend(asked: str, backend: object) -> MXNetError:
    return MXNetError(
        f"{asked}: unknown backend.\n  received  backend={backend!r}\n"
        "  expected  one of: (none is registered)\n"
        "  fix       leave the call out: graphs are compiled when they are bound"
    )


_ONLY_ARRAYS = (
    "as_in_context", "asnumpy", "asscalar", "backward", "copy", "detach", "wait_to_read",
)  # fmt: skip

_IN_PLACE = {"iadd": "+=", "isub": "-=", "imul": "*=", "itruediv": "/=", "idiv": "/="}


def _refusing(name: str, alias: str | None) -> Any:
    def refuse(self: Symbol, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedForSymbol(name, alias, *args)

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = "Only arrays can do this: raises ``NotImplementedForSymbol``."
    return refuse


for _name in _ONLY_ARRAYS:
    setattr(Symbol, _name, _refusing(_name, None))
for _name, _alias in _IN_PLACE.items():
    setattr(Symbol, f"__{_name}__", _refusing(f"__{_name}__", _alias))


def _single(name: str, value: Any) -> Entry:
    """The entry of a symbol with one output, to replace a variable with."""
    if not isinstance(value, Symbol):
        raise ArgumentTypeError(
            f"Compose expect `Symbol` as arguments: {name} is not a symbol.\n"
            f"  received  {name} of type {type(value).__name__}\n  expected  a Symbol\n"
            "  fix       make it one: mx.sym.Variable('name')"
        )
    if len(value) != 1:
        raise MXNetError(
            f"Keyword Argument {name} is a tuple, single value is required.\n"
            f"  received  {name} with outputs {', '.join(value.list_outputs())}\n"
            "  expected  a symbol of one output\n  fix       choose one, as in symbol[0]"
        )
    return value._entries[0]


def _without_amp_casts(symbol: Symbol) -> Symbol:
    """The graph in which what ``amp_cast`` and ``amp_multicast`` read is used directly."""
    nodes = topological(symbol._entries)
    casts = {n for n in nodes if n.call and n.call.op.name in ("amp_cast", "amp_multicast")}
    if not casts:
        return symbol
    current: dict[Entry | None, Entry | None] = {}
    for node in nodes:
        inputs = tuple([current.get(e, e) for e in node.inputs])
        if node in casts:
            current.update({(node, k): e for k, e in enumerate(inputs)})
        elif node.call is not None and inputs != node.inputs:
            new = Node(node.call, inputs, node.name, node.attrs)
            current.update({(node, k): (new, k) for k in range(node.call.outputs)})
    return Symbol([current.get(e, e) or e for e in symbol._entries])


def _copied(entries: tuple[Entry, ...]) -> list[Entry]:
    """The same graph in nodes of its own."""
    copies: dict[Node, Node] = {}
    for node in topological(entries):
        inputs = tuple([None if e is None else (copies[e[0]], e[1]) for e in node.inputs])
        attrs = dict(node.attrs) if node.attrs else None
        copies[node] = Node(node.call, inputs, node.name, attrs)
    return [(copies[n], k) for n, k in entries]


composing.wrap_entries.append(Symbol)
