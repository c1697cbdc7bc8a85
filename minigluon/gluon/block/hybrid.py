"""HybridBlock: a block written once that runs eagerly, composes symbols, or runs as one graph."""

from __future__ import annotations

import warnings
from typing import Any

from ... import ndarray as nd
from ... import symbol as sym
from ...base import ArgumentError, MXNetError, ShapeError
from ...context import current_context
from ...core.ready import ready
from ...core.state import state
from ...symbol.symbol import notice_backend
from ..parameter import DeferredInitializationError, Parameter
from .blame import naming_layer, put_path, raise_naming
from .block import Block
from .nesting import NDArray, Symbol, flatten, regroup, tensors
from .stepwise import StepwiseGraph

#: how many shortest ways a block keeps: one for each shape and mode
_READY = 64


class HybridBlock(Block):
    """A block whose ``hybrid_forward(F, x, **parameters)`` takes arrays as well as symbols.

    ``F`` is ``mx.nd`` when arrays come in and ``mx.sym`` when symbols do. After ``hybridize()``
    it is called once with symbols; the graph it builds runs from then on as one operator.

    Examples
    --------
    >>> from minigluon import nd
    >>> class Scale(HybridBlock):
    ...     def __init__(self, **kwargs):
    ...         super().__init__(**kwargs)
    ...         self.factor = self.params.get("factor", shape=(1,), init="ones")
    ...
    ...     def hybrid_forward(self, F, x, factor):
    ...         return F.broadcast_mul(x, factor)
    >>> block = Scale()
    >>> block.initialize()
    >>> block.hybridize()
    >>> block(nd.array([1.0, 2.0])).asnumpy()
    array([1., 2.], dtype=float32)
    """

    def __init__(self, prefix: str | None = None, params: Any = None):
        super().__init__(prefix, params)
        self._active = False
        self._flags: list = []
        self._callback: Any = None
        self._monitor_all = False
        self._clear_cached_op()

    def __call__(self, *args: Any) -> Any:
        """Run ``forward`` with the hooks around it."""
        if self._ready:
            ready = self._ready.get((len(args), state.recording, state.training))
            if ready is not None:
                try:
                    out = ready(*args)
                except Exception:  # the long way finds it too, and says what is wrong
                    out = None
                if out is not None:
                    return out
        if self._forward_hooks or self._forward_pre_hooks:
            return super().__call__(*args)
        try:
            return self.forward(*args)
        except ShapeError as error:
            put_path(self, error)
            raise

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if isinstance(value, HybridBlock | Parameter):
            self._clear_cached_op()

    def __getstate__(self) -> dict:
        """What copying and pickling keep: the graph is compiled again at the next call."""
        forgotten = {"_cached_op": None, "_own": None, "_arguments": None}
        return {**self.__dict__, **forgotten, "_ready": {}, "_made_ready": {}}

    def _clear_cached_op(self) -> None:
        """Forget the graph: something it was made of has changed."""
        self._cached_graph: tuple = ()
        self._cached_op: Any = None
        self._in_format: Any = None
        self._out_format: Any = None
        self._own: _Held | None = None
        self._arguments: _Held | None = None
        self._forget_ready()

    def _forget_ready(self) -> None:
        """Take the long way at the next call."""
        self._ready: dict = {}  # by number of arguments and modes, what to try first
        self._made_ready: dict = {}

    def register_child(self, block: Block, name: str | None = None) -> None:
        """Make ``block``, which must be a HybridBlock, a part of this one."""
        if not isinstance(block, HybridBlock):
            raise ArgumentError(
                f"Children of HybridBlock must also be HybridBlock, but {block} has type "
                f"{type(block)}. If you are using Sequential, please try HybridSequential instead."
                f"\n  received  {type(block).__name__}\n  expected  a HybridBlock\n"
                "  fix       derive the child from HybridBlock, or the parent from Block"
            )
        super().register_child(block, name)
        self._clear_cached_op()

    def hybridize(
        self,
        active: bool = True,
        backend: str | None = None,
        clear: bool = True,
        static_alloc: bool = False,
        static_shape: bool = False,
        inline_limit: int = 2,
        forward_bulk_size: int | None = None,
        backward_bulk_size: int | None = None,
        **kwargs: Any,
    ) -> None:
        """Run as one compiled graph from the next call on, or (``active=False``) as Python again.

        Parameters
        ----------
        clear : forget a graph made earlier.
        static_alloc, static_shape : accepted; graphs are planned for each shape anyway.
        inline_limit : what is recorded shows the operators of a graph of at most so many.
        """
        if backend is not None:
            notice_backend(backend)
        bulk = {"forward_bulk_size": forward_bulk_size, "backward_bulk_size": backward_bulk_size}
        chosen = {
            "static_alloc": static_alloc,
            "static_shape": static_shape,
            "inline_limit": inline_limit,
            **{name: size for name, size in bulk.items() if size is not None},
        }
        self._active = active
        self._flags = list(chosen.items())
        self._forget_ready()
        if clear:
            self._clear_cached_op()
        if active and (self._forward_hooks or self._forward_pre_hooks):
            warnings.warn(
                f'"{self}" is being hybridized while still having forward hook/pre-hook. If '
                f'"{self}" is a child of HybridBlock, the hooks will not take effect.',
                UserWarning,
                stacklevel=2,
            )
        super().hybridize(active, **chosen, **kwargs)

    def optimize_for(
        self,
        x: Any,
        *args: Any,
        backend: str | None = None,
        clear: bool = False,
        static_alloc: bool = False,
        static_shape: bool = False,
        inline_limit: int = 2,
        forward_bulk_size: int | None = None,
        backward_bulk_size: int | None = None,
        **kwargs: Any,
    ) -> None:
        """Hybridise and run once: a graph is compiled whatever backend is named (one notice).

        Raises ``ValueError`` without a ``backend``.
        """
        if backend is None:
            raise ArgumentError(
                'Must specify "backend" to optimize_for\n  received  backend=None\n'
                "  expected  the name of a backend\n  fix       call hybridize() instead"
            )
        self.hybridize(
            True, backend=backend, static_alloc=static_alloc, static_shape=static_shape,
            inline_limit=inline_limit, forward_bulk_size=forward_bulk_size,
            backward_bulk_size=backward_bulk_size,
        )  # fmt: skip
        self(x, *args)

    def cast(self, dtype: Any) -> None:
        """Convert all parameters to another element type."""
        self._clear_cached_op()
        super().cast(dtype)

    def _hybrid_state(self) -> dict:
        state: dict[str, Any] = {"hybridized": bool(self._cached_graph), "active": self._active}
        if self._cached_graph:
            inputs, out = self._cached_graph
            state["in_format"], state["out_format"] = self._in_format, self._out_format
            state["inputs"] = [x.tojson() for x in inputs]
            state["symbol"] = out.tojson()
        return state

    def _restore_hybrid_state(self, described: dict) -> None:
        """Run as the saved block did; the graph comes from this block's own code."""
        self._clear_cached_op()
        self._active = bool(described.get("active", described.get("hybridized")))

    # The graph ------------------------------------------------------------------------------

    def _get_graph(self, *args: Any) -> tuple:
        """The input symbols and the output symbol of ``hybrid_forward`` for such arguments."""
        if not self._cached_graph:
            flat, self._in_format = flatten(args, "input")
            count = sum(x is not None for x in flat)
            inputs = [sym.var("data" if count == 1 else f"data{k}") for k in range(count)]
            parameters = {name: param.var() for name, param in self._reg_params.items()}
            with self.name_scope():
                out = self.hybrid_forward(sym, *regroup(inputs, self._in_format), **parameters)
            outputs, self._out_format = flatten(out, "output")
            outputs = [x for x in outputs if x is not None]
            self._cached_graph = inputs, outputs[0] if len(outputs) == 1 else sym.Group(outputs)
        return self._cached_graph

    def _build_cache(self, *args: Any) -> None:
        """Make the operator that runs the graph, and find out where its arguments come from."""
        inputs, out = self._get_graph(*args)
        names = out.list_inputs()
        place = {name: k for k, name in enumerate(names)}
        for k, x in enumerate(inputs):
            if x.name not in place:
                _warn(
                    f"The {k}-th input to HybridBlock is not used by any computation. "
                    "Is this intended?"
                )
        params = self.collect_params()
        for name in params:
            if name not in place:
                _warn(f"Parameter {name} is not used by any computation. Is this intended?")
        self._slots = [(k, place.pop(x.name)) for k, x in enumerate(inputs) if x.name in place]
        for name in place:
            if name not in params:
                raise ArgumentError(
                    f"Unknown input to HybridBlock: {name}\n"
                    f"  received  a graph that needs {', '.join(names)}\n"
                    f"  expected  its inputs and parameters of the block only\n"
                    "  fix       assign the parameter or the block it belongs to to an attribute"
                )
        self._argument_params = [(k, params[name]) for name, k in place.items()]
        self._plain = len(inputs) if all(form == 0 for form in self._in_format) else -1
        steps = StepwiseGraph(out, self._callback, self._monitor_all)
        if self._callback is not None:
            self._cached_op = steps
        else:
            self._cached_op = nd.CachedOp(out, self._flags)
            limit = dict(self._flags).get("inline_limit", 2)
            self._cached_op.op.inlined = len(steps) <= limit

    def _call_cached_op(self, *args: Any) -> Any:
        """Run the graph: put inputs and parameters in the order it wants them, and call it."""
        if self._cached_op is None:
            self._build_cache(*args)
        flat = self._flat_inputs(args)
        context = flat[0].context
        held = self._arguments
        if held is None or not held.on(context):
            held = self._arguments = self._bind(context, args)
        values = held.arrays.copy()
        for k, place in self._slots:
            values[place] = flat[k]
        try:
            out = self._cached_op(*values)
        except MXNetError as error:
            named = naming_layer(self, error)
            if named is error:
                raise
            raise named from error
        if self._out_format == 0:
            if flat is args and type(self._cached_op) is nd.CachedOp:
                free = [place for _, place in self._slots]
                as_it_is = "forward" not in vars(self) and type(self).forward in RUN_THE_GRAPH
                if as_it_is and len(free) == len(args):
                    self._get_ready(len(args), self._cached_op.op.recent, values, free, held.lists)
            return out
        return regroup(out if isinstance(out, list | tuple) else [out], self._out_format)

    def _get_ready(
        self, count: int, recent: dict, inputs: list, free: list, lists: Any, key: Any = (),
        **options: Any,
    ) -> None:  # fmt: skip
        """Make the shortest way to run what has just been run on ``inputs``, for the next time."""
        recording, training = state.recording, state.training
        wanted = None
        if recording:
            wanted = tuple([x._entry is not None for x in inputs])
            wanted = wanted if any(wanted) else None
        planned = recent.get((*key, training, wanted))
        made = self._made_ready
        name = (planned, recording, inputs[0]._ctx)
        found = made.get(name)
        if found is None or found[0] is not lists:
            if len(made) > _READY:
                made.clear()
            hooks = self._forward_hooks, self._forward_pre_hooks
            run = planned and ready(
                planned, inputs, free, recording, wanted, hooks, lists, **options
            )
            found = made[name] = lists, run
        self._ready[count, recording, training] = found[1]

    def _flat_inputs(self, args: tuple) -> Any:
        """The input arrays, once their structure and their contexts are checked."""
        if len(args) == self._plain:
            context = None
            for x in args:
                if not isinstance(x, NDArray):
                    break
                here = x.context
                if here is not context:
                    if context is not None and here != context:
                        break
                    context = here
            else:
                return args
        flat, form = flatten(args, "input")
        if form != self._in_format:
            raise ArgumentError(
                "The argument structure of HybridBlock does not match the cached version. Stored "
                f"format = {form}, input format = {self._in_format}\n"
                f"  received  {form} (0: an array, -1: None, lists as they are nested)\n"
                f"  expected  {self._in_format}, as in the first call\n"
                "  fix       pass the same structure, or call hybridize() again to start anew"
            )
        flat = [x for x in flat if x is not None]
        contexts = {x.context for x in flat}
        if len(contexts) > 1:
            raise ArgumentError(
                "Find multiple contexts in the input, After hybridized, the HybridBlock only "
                "supports one input context. You can print the ele.ctx in the input arguments to "
                f"inspect their contexts. Find all contexts = {contexts}\n"
                f"  received  arrays on {contexts}\n  expected  all on one context\n"
                "  fix       move them with as_in_context"
            )
        return flat

    def _bind(self, context: Any, args: tuple) -> _Held:
        """The parameters of the graph on ``context``; the first call may have to make them."""
        held = self._argument_params
        try:
            arrays = {k: param.data(context) for k, param in held}
        except DeferredInitializationError:
            self._deferred_infer_shape(*args)
            for _, param in held:
                param._finish_deferred_init()
            arrays = {k: param.data(context) for k, param in held}
        values = [arrays.get(k) for k in range(len(held) + len(self._slots))]
        return _Held(context, [param for _, param in held], values)

    def _deferred_infer_shape(self, *args: Any) -> None:
        try:
            self.infer_shape(*args)
        except Exception as error:
            failed = ArgumentError(
                f"Deferred initialization failed because shape cannot be inferred. {error}"
            )
            raise naming_layer(self, failed) from error

    def infer_shape(self, *args: Any) -> None:
        """Fill in unknown shapes of the parameters from such inputs."""
        found = self._infer("infer_shape_partial", "shape", args)
        unknown = {}
        for name, param in self.collect_params().items():
            shape = found.get(name)
            if shape is None:
                continue
            if len(shape) == 0 or 0 in shape or -1 in shape:
                unknown[name] = shape
            else:
                param.shape = shape
        if unknown:
            raise ArgumentError(
                "Cannot decide shape for the following arguments (0s in shape means unknown "
                "dimensions). Consider providing them as input:\n"
                + "\n".join(f"\t{name}: {shape}" for name, shape in unknown.items())
                + f"\n  received  {_describe(args)}\n"
                f"  expected  enough to know the shape of {', '.join(unknown)}\n"
                "  fix       specify in_units and the like, or override infer_shape"
            )

    def infer_type(self, *args: Any) -> None:
        """Set the element types of the parameters from such inputs."""
        found = self._infer("infer_type", "dtype", args)
        for name, param in self.collect_params().items():
            if found.get(name) is not None:
                param.dtype = found[name]

    def _infer(self, method: str, attribute: str, args: tuple) -> dict:
        """What inference on the graph says about its arguments, by name."""
        inputs, out = self._get_graph(*args)
        flat = [x for x in flatten(args, "input")[0] if x is not None]
        used = set(out.list_inputs())
        known = {
            x.name: getattr(value, attribute)
            for x, value in zip(inputs, flat, strict=True)
            if x.name in used
        }
        arguments, _, auxiliary = getattr(out, method)(**known)
        names = [*out.list_arguments(), *out.list_auxiliary_states()]
        values = [*(arguments or ()), *(auxiliary or ())]
        return dict(zip(names, values, strict=False))

    def export(self, path: str, epoch: int = 0, remove_amp_cast: bool = True) -> None:
        """Write ``path-symbol.json`` and ``path-0000.params``, for SymbolBlock or Module.

        The block must have run once, so that there is a graph.
        """
        if not self._cached_graph:
            raise MXNetError(
                "Please first call block.hybridize() and then run forward with this block at least "
                "once before calling export.\n  received  a block without a graph\n"
                "  expected  a hybridized block that ran once\n"
                "  fix       net.hybridize(); net(x); net.export(path)"
            )
        out = self._cached_graph[1]
        out.save(f"{path}-symbol.json", remove_amp_cast=remove_amp_cast)
        arguments, auxiliary = set(out.list_arguments()), set(out.list_auxiliary_states())
        arrays = {}
        for name, param in self.collect_params().items():
            if name in arguments:
                arrays[f"arg:{name}"] = param._reduce()
            elif name in auxiliary:
                arrays[f"aux:{name}"] = param._reduce()
            else:
                _warn(f"Parameter {name} is not found in the graph.")
        nd.save(f"{path}-{epoch:04d}.params", arrays)

    def register_op_hook(self, callback: Any, monitor_all: bool = False) -> None:
        """Call ``callback(array name, operator, array)`` on what the graph computes inside."""
        self._callback, self._monitor_all = callback, monitor_all
        self._cached_op = None
        self._forget_ready()
        super().register_op_hook(callback, monitor_all)

    # Running --------------------------------------------------------------------------------

    def forward(self, x: Any, *args: Any) -> Any:
        """Run ``hybrid_forward`` on arrays or symbols, or the graph when hybridized."""
        if isinstance(x, NDArray):
            for other in args:
                if isinstance(other, Symbol):
                    raise _mixed()
            if self._active:
                return self._call_cached_op(x, *args)
            if not self._reg_params:
                return self.hybrid_forward(nd, x, *args)
            return self._run_eagerly(x._ctx or current_context(), x, args)
        found = tensors((x, *args))
        symbols = [value for value in found if isinstance(value, Symbol)]
        if not found:
            raise ArgumentError(
                "In HybridBlock, there must be one NDArray or one Symbol in the input. Please "
                f"check the type of the args.\n  received  {_describe((x, *args))}\n"
                "  expected  at least one NDArray or Symbol\n"
                "  fix       convert with mx.nd.array(...)"
            )
        if symbols:
            if len(symbols) < len(found):
                raise _mixed()
            parameters = {name: param.var() for name, param in self._reg_params.items()}
            with self.name_scope():
                return self.hybrid_forward(sym, x, *args, **parameters)
        if self._active:
            return self._call_cached_op(x, *args)
        return self._run_eagerly(found[0].context, x, args)

    def _run_eagerly(self, context: Any, x: Any, args: tuple) -> Any:
        """Call ``hybrid_forward`` with the block's own parameters on ``context``."""
        own = self._own
        if own is None or not own.on(context):
            own = self._own = self._gather(context, x, args)
        try:
            return self.hybrid_forward(nd, x, *args, **own.arrays)
        except ShapeError as error:
            raise_naming(self, error)

    def _gather(self, context: Any, x: Any, args: tuple) -> _Held:
        """The block's own parameters on ``context``; the first call may have to make them."""
        own = self._reg_params
        try:
            arrays = {name: param.data(context) for name, param in own.items()}
        except DeferredInitializationError:
            self._deferred_infer_shape(x, *args)
            for param in own.values():
                param._finish_deferred_init()
            arrays = {name: param.data(context) for name, param in own.items()}
        return _Held(context, own.values(), arrays)

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
        """What the block computes, written with the operators of ``F``; subclasses define it."""
        raise NotImplementedError(
            f"{type(self).__name__} does not say what it computes.\n"
            f"  received  a call with {1 + len(args)} inputs\n"
            "  expected  a method hybrid_forward(self, F, x, **parameters)\n"
            "  fix       define hybrid_forward"
        )


#: what ``forward`` may be so that a call may run the graph without it
RUN_THE_GRAPH: list = [HybridBlock.forward]


class _Held:
    """Parameters fetched for a context, kept for the next call.

    A parameter makes a new list whenever it gets other arrays, so comparing lists is enough to see
    that what is held is still right: 25 ns a parameter.
    """

    __slots__ = ("arrays", "context", "lists")

    def __init__(self, context: Any, params: Any, arrays: Any):
        self.context = context
        self.lists = [(param, param._data) for param in params]
        self.arrays = arrays

    def on(self, context: Any) -> bool:
        """Whether this is for ``context`` and no parameter got other arrays since."""
        if context is not self.context and context != self.context:
            return False
        for param, data in self.lists:  # noqa: SIM110 - all() costs a generator
            if param._data is not data:
                return False
        return True


def _warn(text: str) -> None:
    warnings.warn(text, UserWarning, stacklevel=6)


def _describe(args: tuple) -> str:
    return ", ".join(
        f"{type(x).__name__} {x.shape}" if isinstance(x, NDArray) else type(x).__name__
        for x in args
    )


def _mixed() -> ArgumentError:
    return ArgumentError(
        "In HybridBlock, we do not support mixed NDArrays and Symbols types for the input. Please "
        "check the type of the args.\n  received  both\n  expected  arrays only or symbols only\n"
        "  fix       make the arrays parameters or variables of the graph"
    )
