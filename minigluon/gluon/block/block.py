"""Block: a layer or a network, made of parameters and of other blocks."""

from __future__ import annotations

import json
import re
import warnings
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ... import initializer
from ... import ndarray as nd
from ...base import ArgumentError, ShapeError
from ...ndarray.serialize import write_file
from ..parameter import Parameter, ParameterDict
from ..parameter.dictionary import deprecated, without_tags
from ..parameter.loading import Options, load_arrays
from ..utils import HookHandle, _brief_print_list, _indent
from .blame import put_path
from .scope import BlockScope
from .summary import summarize


class Block:
    """A layer or network written in plain Python: ``forward`` says what it computes.

    Blocks and parameters assigned to attributes become part of it.

    Parameters
    ----------
    prefix : begin of the names of its parameters; ``""`` lets children stand for themselves.
    params : the parameters of another block, to share them.

    Examples
    --------
    >>> from minigluon import nd
    >>> from minigluon.gluon import nn
    >>> class Net(Block):
    ...     def __init__(self, **kwargs):
    ...         super().__init__(**kwargs)
    ...         with self.name_scope():
    ...             self.hidden = nn.Dense(4, activation="relu")
    ...             self.output = nn.Dense(1)
    ...
    ...     def forward(self, x):
    ...         return self.output(self.hidden(x))
    >>> net = Net(prefix="net_")
    >>> net.initialize()
    >>> net(nd.ones((2, 3))).shape
    (2, 1)
    >>> list(net.collect_params(".*bias"))
    ['net_dense0_bias', 'net_dense1_bias']
    """

    _is_container = False
    """Whether ``summary`` shows the children only."""

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None):
        self._empty_prefix = prefix == ""
        self._prefix, self._params = BlockScope.create(prefix, params, self._alias())
        self._name = self._prefix[:-1] if self._prefix.endswith("_") else self._prefix
        self._scope = BlockScope(self)
        self._children: OrderedDict[str, Block] = OrderedDict()
        self._reg_params: dict[str, Parameter] = {}
        self._forward_hooks: OrderedDict[int, Callable] = OrderedDict()
        self._forward_pre_hooks: OrderedDict[int, Callable] = OrderedDict()

    def __repr__(self) -> str:
        content = "\n".join(
            f"  ({name}): {_indent(repr(block), 2)}"
            for name, block in self.__dict__.items()
            if isinstance(block, Block)
        )
        return f"{type(self).__name__}(\n{content}\n)"

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute; blocks and parameters are registered under its name."""
        held = getattr(self, name, None)
        if isinstance(held, Parameter | Block) and not isinstance(value, type(held)):
            raise TypeError(
                f"Changing attribute type for {name} from {type(held)} to {type(value)}"
                f"is not allowed.\n  received  {type(value).__name__}\n"
                f"  expected  {type(held).__name__}, as self.{name} is\n"
                "  fix       use another attribute name"
            )
        if isinstance(value, Block):
            self.register_child(value, name)
        elif isinstance(value, Parameter):
            if name in self._reg_params and self._reg_params[name] is not value:
                raise ArgumentError(
                    f"Overriding Parameter attribute {name} is not allowed. If you want to share "
                    "parameters between blocks, please set 'params' at Block construction "
                    f"instead.\n  received  {value!r}\n  expected  {self._reg_params[name]!r}\n"
                    "  fix       pass params=other.params when the block is made"
                )
            self._reg_params[name] = value
        super().__setattr__(name, value)

    def _alias(self) -> str:
        return type(self).__name__.lower()

    @property
    def prefix(self) -> str:
        """What the names of its parameters begin with."""
        return self._prefix

    @property
    def name(self) -> str:
        """The prefix without the underscore at its end."""
        return self._name

    def name_scope(self) -> BlockScope:
        """A ``with`` block inside which children get names that begin with this block's."""
        return self._scope

    @property
    def params(self) -> ParameterDict:
        """The block's own parameters, without those of its children."""
        return self._params

    # Parts ----------------------------------------------------------------------------------

    def register_child(self, block: Block, name: str | None = None) -> None:
        """Make ``block`` a part of this one; assigning it to an attribute does it as well."""
        self._children[str(len(self._children)) if name is None else name] = block

    def collect_params(self, select: str | None = None) -> ParameterDict:
        """All parameters, its own and those of its children.

        Parameters
        ----------
        select : a regular expression the begin of a name has to match: ``".*weight|.*bias"``.
        """
        self._warn_of_loose_blocks()
        found = ParameterDict(self._params.prefix)
        if select:
            pattern = re.compile(select)
            found.update({n: p for n, p in self.params.items() if pattern.match(n)})
        else:
            found.update(self.params)
        for child in self._children.values():
            found.update(child.collect_params(select=select))
        return found

    def _warn_of_loose_blocks(self) -> None:
        """Blocks in lists or dictionaries are easily forgotten: say so."""
        children = set(map(id, self._children.values()))
        for name, value in self.__dict__.items():
            if (
                isinstance(value, list | tuple | dict)
                and not name.startswith("__")
                and any(id(block) not in children for block in _blocks_in(value))
            ):
                warnings.warn(
                    f'"{type(self).__name__}.{name}" is an unregistered container with Blocks. '
                    "Note that Blocks inside the list, tuple or dict will not be registered "
                    "automatically. Make sure to register them using register_child() or "
                    "switching to nn.Sequential/nn.HybridSequential instead. ",
                    UserWarning,
                    stacklevel=3,
                )

    def _collect_params_with_prefix(self, prefix: str = "") -> dict[str, Parameter]:
        """Parameters by path of attribute names, as in ``features.0.weight``."""
        prefix = prefix and prefix + "."
        found = {prefix + name: param for name, param in self._reg_params.items()}
        for name, child in self._children.items():
            found.update(child._collect_params_with_prefix(prefix + name))
        return found

    def apply(self, fn: Callable[[Block], Any]) -> Block:
        """Call ``fn`` on every block inside and then on this one, which is returned."""
        for child in self._children.values():
            child.apply(fn)
        fn(self)
        return self

    # State ----------------------------------------------------------------------------------

    def initialize(
        self,
        init: Any = initializer.Uniform(),  # noqa: B008 - the signature scripts know
        ctx: Any = None,
        verbose: bool = False,
        force_reinit: bool = False,
    ) -> None:
        """Initialize all parameters, with their own initializers or with ``init``, on ``ctx``."""
        self.collect_params().initialize(init, ctx, verbose, force_reinit)

    def hybridize(self, active: bool = True, **kwargs: Any) -> None:
        """Let all hybrid blocks inside run as compiled graphs, or not; see ``HybridBlock``."""
        for child in self._children.values():
            child.hybridize(active, **kwargs)

    def cast(self, dtype: Any) -> None:
        """Convert all parameters to another element type."""
        for child in self._children.values():
            child.cast(dtype)
        for param in self.params.values():
            param.cast(dtype)

    def save_parameters(self, filename: str, deduplicate: bool = False) -> None:
        """Write all parameters to a file by attribute path, so that any instance can load it.

        Parameters
        ----------
        deduplicate : write a parameter that several layers share once only.
        """
        params = self._collect_params_with_prefix()
        if deduplicate:
            last = {id(param): name for name, param in params.items()}
            params = {name: params[name] for name in last.values()}
        nd.save(filename, {name: param._reduce() for name, param in params.items()})

    def load_parameters(
        self,
        filename: str,
        ctx: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        cast_dtype: bool = False,
        dtype_source: str = "current",
    ) -> None:
        """Read parameters written by ``save_parameters``, ``export`` or ``collect_params().save``.

        Parameters
        ----------
        ctx : where parameters without data are put.
        allow_missing, ignore_extra : accept parameters the file lacks, or more than there are.
        cast_dtype, dtype_source : accept other element types; ``"current"`` keeps the block's,
            ``"saved"`` takes the file's.
        """
        arrays = without_tags(nd.load(filename), f"file '{filename}'")
        params = self._collect_params_with_prefix()
        if arrays and not any("." in name or name in params for name in arrays):
            full = self.collect_params()
            restore = "" if any(name in full for name in arrays) else self.prefix
            full.load_dict(
                arrays,
                ctx,
                allow_missing,
                ignore_extra,
                restore,
                filename,
                cast_dtype,
                dtype_source,
            )
            return

        def words(problem: str, name: str) -> str:
            if problem == "missing":
                return (
                    f"Parameter '{name}' is missing in file '{filename}', which contains "
                    f"parameters: {_brief_print_list(arrays)}. Set allow_missing=True to ignore "
                    "missing parameters."
                )
            names = [param.name for param in params.values()]
            return (
                f"Parameter '{name}' loaded from file '{filename}' is not present in "
                f"ParameterDict, which contains parameters {_brief_print_list(names)}. Set "
                "ignore_extra=True to ignore. "
            )

        options = Options(ctx, allow_missing, ignore_extra, cast_dtype, dtype_source)
        load_arrays(params, arrays, options, words)

    def save_params(self, filename: str) -> None:
        """The former ``save_parameters``: full names without the block's prefix."""
        deprecated(
            "save_params",
            "Please use save_parameters. Note that if you want load from SymbolBlock later, "
            "please use export instead.",
        )
        self.collect_params().save(filename, strip_prefix=self.prefix)

    def load_params(
        self,
        filename: str,
        ctx: Any = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
    ) -> None:
        """The former name of ``load_parameters``."""
        deprecated("load_params", "Please use load_parameters.")
        self.load_parameters(filename, ctx, allow_missing, ignore_extra)

    def save(self, prefix: str) -> None:
        """Write ``prefix-model.json`` (which blocks there are, how they run) and the parameters."""
        write_file(f"{prefix}-model.json", json.dumps(self._structure({})).encode())
        self.save_parameters(f"{prefix}-model.params")

    def load(self, prefix: str) -> None:
        """Restore what ``save`` wrote into a block that was made in the same way."""
        text = Path(f"{prefix}-model.json").read_text(encoding="utf-8")
        self._restore(json.loads(text), [0])
        self.load_parameters(f"{prefix}-model.params")

    def _structure(self, counter: dict[str, int]) -> dict:
        """A description of this block and those inside it, as ``save`` writes it."""
        number = counter.setdefault("blocks", 0)
        counter["blocks"] += 1
        described = {"orig_name": self.name, **self._hybrid_state(), "children": {}}
        for name, child in self._children.items():
            described["children"][child.name] = name
            described.update(child._structure(counter))
        return {f"{type(self).__name__.lower()}{number}": described}

    def _hybrid_state(self) -> dict:
        return {"hybridized": False}

    def _restore(self, described: dict, counter: list[int]) -> None:
        """Take over what ``_structure`` described."""
        key = f"{type(self).__name__.lower()}{counter[0]}"
        counter[0] += 1
        if key not in described:
            raise ArgumentError(
                f"load: the file describes another network.\n  received  {', '.join(described)}\n"
                f"  expected  {key}: {type(self).__name__}\n"
                "  fix       make the network in the same way as the one that was saved"
            )
        mine = described[key]
        self._restore_hybrid_state(mine)
        for child in self._children.values():
            child._restore(mine, counter)

    def _restore_hybrid_state(self, described: dict) -> None:
        """Nothing to restore in a block that only runs as Python."""

    # Running --------------------------------------------------------------------------------

    def __call__(self, *args: Any) -> Any:
        """Run ``forward`` with the hooks around it."""
        if self._forward_pre_hooks:
            for hook in list(self._forward_pre_hooks.values()):
                hook(self, args)
        try:
            out = self.forward(*args)
        except ShapeError as error:
            put_path(self, error)
            raise
        if self._forward_hooks:
            for hook in list(self._forward_hooks.values()):
                hook(self, args, out)
        return out

    def forward(self, *args: Any) -> Any:
        """What the block computes; every subclass defines it."""
        raise NotImplementedError(
            f"{type(self).__name__} does not say what it computes.\n"
            f"  received  a call with {len(args)} inputs\n  expected  a method forward(self, x)\n"
            "  fix       define forward, or hybrid_forward in a HybridBlock"
        )

    def register_forward_pre_hook(self, hook: Callable) -> HookHandle:
        """Call ``hook(block, inputs)`` before every forward pass."""
        handle = HookHandle()
        handle.attach(self._forward_pre_hooks, hook)
        return handle

    def register_forward_hook(self, hook: Callable) -> HookHandle:
        """Call ``hook(block, inputs, output)`` after every forward pass."""
        handle = HookHandle()
        handle.attach(self._forward_hooks, hook)
        return handle

    def register_op_hook(self, callback: Callable, monitor_all: bool = False) -> None:
        """Call ``callback(array name, operator, array)`` on what hybridized blocks compute inside.

        Parameters
        ----------
        monitor_all : show the inputs of every operator as well.
        """
        for child in self._children.values():
            child.register_op_hook(callback, monitor_all)

    def summary(self, *inputs: Any) -> None:
        """Print the layers with their output shapes and numbers of parameters for such inputs."""
        print(summarize(self, inputs))  # noqa: T201 - printing is what it is for


def _blocks_in(value: Any) -> Any:
    """The blocks in nested lists, tuples and dictionaries."""
    if isinstance(value, Block):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _blocks_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _blocks_in(inner)
