"""A graph as an operator: one call, one node on the tape, its gradient a plan too."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import infer
from .call import Call
from .grad import released, symbolic, zeros_like
from .graph import Entry, Node, is_unsized, numbers, substitute, topological, variable
from .invoke import wrap
from .op import Op
from .plan import fuse
from .plan.fuse import Like
from .plan.plan import Plan
from .state import state
from .watch import locate

#: for how many sets of shapes, dtypes and modes a graph is compiled, and how many are remembered
SIGNATURES, REMEMBERED = 64, 4096

new = object.__new__


class PlannedCall(Call):
    """The Call of a graph with the plan chosen for some shapes, dtypes, mode and wanted gradients.

    ``fast(*arrays)`` is the forward function, or None for arrays the plan was not made for.
    ``pull`` is what the tape calls for a dense gradient of a single output, once it is known.
    """

    __slots__ = ("fast", "plan", "pull")

    def __init__(self, op: GraphOp, plan: Plan, data: Sequence[Any]):
        super().__init__(op, {})
        self.plan = plan
        self.fast: Any = plan.forward.fast or plan.forward.only_for(data)
        self.pull: Any = None


class CompiledCall(PlannedCall):
    """One whose plan is compiled where that is possible.

    ``chains`` are for `autograd.direct`: by the Call above it, what runs both backwards.
    """

    __slots__ = ("chains",)

    def __init__(self, op: GraphOp, plan: Plan, data: Sequence[Any]):
        super().__init__(op, plan, data)
        self.chains: dict[Call, Any] = {}


class GraphOp(Op):
    """An operator whose body is a graph of others.

    ``arguments`` are the graph's variables in the order arrays are passed, ``outputs`` its heads.
    With ``compiles=False`` its plans call kernels only, so that results are those of eager code to
    the bit; with ``inlined=True`` `autograd.get_symbol` shows the operators it is made of.
    ``shared`` says that it outlives what it is run for.
    """

    def __init__(
        self, name: str, arguments: list[Entry], outputs: list[Entry], *, compiles: bool = True,
        inlined: bool = False, shared: bool = False,
    ):  # fmt: skip
        super().__init__(lambda *arrays: self.run(*arrays), name=name)
        self.arguments, self.heads = list(arguments), list(outputs)
        self.outputs = len(self.heads)
        self.compiles, self.inlined, self.shared = compiles, inlined, shared
        self.unsized = any(map(is_unsized, topological(self.heads)))  # no plan fits all shapes
        self.plans: dict[Any, Plan] = {}  # those for all shapes, by mode, gradients and storages
        self.planned: dict[Any, PlannedCall] = {}  # by shapes and dtypes as well
        self.the_call = Call(self, {})
        self.gradient_ops: dict[tuple[bool, ...], GraphOp] = {}
        self.recent: dict[Any, PlannedCall] = {}  # by mode and gradients, the one used last

    def plan(self, training: bool, wanted: tuple[bool, ...] | None, data: Sequence[Any]) -> Plan:
        """The plan for such arguments in this mode, with these gradients."""
        return self.plan_call(training, wanted, data).plan

    def plan_call(
        self, training: bool, wanted: tuple[bool, ...] | None, data: Sequence[Any]
    ) -> PlannedCall:
        """The same with what the tape has to know about it.

        Shapes and dtypes are checked when they come for the first time. Plans are compiled for one
        set of them; when an operator has seen `SIGNATURES`, it runs others with a plan for all.
        """
        types = tuple([type(d) for d in data])
        exact = (training, wanted, types, *[d.shape for d in data], *[d.dtype for d in data])
        found = self.planned.get(exact)
        if found is None:
            self.check(data)
            plan = self._make_plan(training, wanted, types, data)
            if len(self.planned) >= REMEMBERED:
                self.planned.clear()
            kind = CompiledCall if self.compiles else PlannedCall
            found = self.planned[exact] = kind(self, plan, data)
        self.recent[training, wanted] = found
        return found

    def _make_plan(
        self, training: bool, wanted: tuple[bool, ...] | None, types: tuple[type, ...],
        data: Sequence[Any],
    ) -> Plan:  # fmt: skip
        compiles = self.compiles and fuse.wanted()
        if self.unsized:
            least = 0 if compiles else sys.maxsize
            return Plan(self.arguments, self.heads, types, wanted, data, least, training)
        if len(self.planned) < SIGNATURES and (compiles or not self.compiles):
            return Plan(self.arguments, self.heads, types, wanted, data, 0, training, compiles)
        key = (training, wanted, types)
        found = self.plans.get(key)
        if found is None:
            found = self.plans[key] = Plan(self.arguments, self.heads, types, wanted)
        return found

    def run(self, *data: Any) -> Any:
        """The outputs for storages, without recording."""
        results = self.plan(state.training, None, data).forward.run(*data)
        return results if len(results) > 1 else results[0]

    def __call__(self, inputs: Any) -> Any:
        """Run on arrays; record one node when recording. A list when there are several outputs."""
        data = [x._data for x in inputs]
        entries: Any = ()
        wanted = None
        if state.recording:
            entries = tuple([x._entry for x in inputs])
            if entries.count(None) < len(entries):
                wanted = tuple([e is not None for e in entries])
        planned = self.recent.get((state.training, wanted))
        results = None
        try:
            if planned is not None:
                # it looks itself whether it is for these arrays: 0.1 us for five of them
                results = state.quietly(planned.fast, *data)
            if results is None:
                planned = self.plan_call(state.training, wanted, data)
                results = state.quietly(planned.plan.forward.run, *data)
        except Exception as error:
            raise self._explain(data, error) from error
        node = None
        if wanted is not None:
            node = recorded(planned, entries, results, data)
        ctx = inputs[0]._ctx if inputs else None
        n = self.outputs
        if n == 1:
            return wrap(results[0], ctx, None if node is None else (node, 0))
        return [
            wrap(r, ctx, None if node is None else (node, k)) for k, r in enumerate(results[:n])
        ]

    def _explain(self, data: Any, error: Exception) -> Exception:
        self.check(data)
        return locate(self.heads, dict(zip(self.arguments, data, strict=True)), error)

    def check(self, data: Any) -> None:
        """Raise what shape and dtype inference find wrong with these arguments."""
        nodes = [e[0] for e in self.arguments]
        shapes = dict(zip(nodes, [d.shape for d in data], strict=True))
        infer.solve(self.heads, shapes, "shape")
        dtypes = dict(zip(nodes, [d.dtype for d in data], strict=True))
        infer.solve(self.heads, dtypes, "dtype")

    @staticmethod
    def pull(call: Call, node: Any, incoming: list[Any], wanted: tuple[bool, ...]) -> Any:
        """Gradients of the arguments, by the plan's backward function."""
        if node.values is None:
            raise released(call.op.name)
        planned: Any = call
        if planned.pull is not None and type(incoming[0]) is np.ndarray:
            return state.quietly(planned.pull, incoming[0], *node.values)
        heads = [zeros_like(node.attrs[k]) if g is None else g for k, g in enumerate(incoming)]
        backward = planned.plan.backward(tuple(map(type, heads)))
        if len(heads) == 1 and type(heads[0]) is np.ndarray:
            planned.pull = backward.run
        return state.quietly(backward.run, *heads, *node.values)

    @staticmethod
    def pull_recorded(call: Call, node: Any, incoming: list[Any], wanted: tuple[bool, ...]) -> Any:
        """Gradients of the arguments as one more GraphOp, so that they can be differentiated."""
        if node.values is None:
            raise released(call.op.name)
        planned: Any = call
        gradient = planned.op.gradient_op(wanted)
        data = node.values[len(node.values) - len(node.inputs) :]
        arrays = [wrap(d, None, e) for d, e in zip(data, node.inputs, strict=True)]
        heads = [
            wrap(zeros_like(node.attrs[k]), None) if g is None else g
            for k, g in enumerate(incoming)
        ]
        got = gradient([*heads, *arrays])
        got = iter(got if isinstance(got, list) else [got])
        return [next(got) if has else None for has in gradient.has_gradient]

    def gradient_op(self, wanted: tuple[bool, ...]) -> GraphOp:
        """The operator (head gradients, arguments) -> gradients of the wanted arguments."""
        made = self.gradient_ops.get(wanted)
        if made is None:
            made = self.gradient_ops[wanted] = self._make_gradient_op(wanted)
        return made

    def _make_gradient_op(self, wanted: tuple[bool, ...]) -> GraphOp:
        seeds = [variable(f"g{k}") for k in range(self.outputs)]
        asked = [e[0] for e, w in zip(self.arguments, wanted, strict=True) if w]
        found = symbolic(self.heads, seeds, asked)
        results = [found.get(e) if w else None for e, w in zip(self.arguments, wanted, strict=True)]
        new = GraphOp(
            f"{self.name}_backward",
            [*seeds, *self.arguments],
            [r for r in results if r is not None],
            compiles=self.compiles,
            inlined=self.inlined,
            shared=self.shared,
        )
        new.has_gradient = [r is not None for r in results]  # type: ignore[attr-defined]
        return new

    @staticmethod
    def gradient_of(call: Call, count: int) -> Any:
        """The traced gradient, for a graph inside a graph."""
        op: Any = call.op
        return _GraphGradient(op)


def recorded(planned: Any, entries: Any, results: Any, data: Any) -> Node:
    """The tape's node for a run of a graph."""
    node: Any = new(Node)  # what the tape does not read stays unset
    n = planned.outputs
    node.call, node.inputs, node.pull = planned, entries, planned.pull
    node.values = (*results[n:], *data)
    if n > 1:  # what stands for the outputs that no gradient comes for
        node.attrs = [Like(r.shape, r.dtype) for r in results[:n]]
    node.number = next(numbers)
    return node  # type: ignore[no-any-return]


def expanded(entry: Entry) -> Entry:
    """The entry with the operators of inlined graphs in their place."""
    replace: dict[Entry, Entry] = {}
    for node in topological((entry,)):
        op = node.call and node.call.op
        if isinstance(op, GraphOp) and op.inlined:
            inputs = [e and replace.get(e, e) for e in node.inputs]
            missing = [variable("") if e is None else e for e in inputs]
            heads = substitute(op.heads, dict(zip(op.arguments, missing, strict=True)))
            replace.update({(node, k): h for k, h in enumerate(heads) if h is not None})
    found = substitute([entry], replace)[0]
    assert found is not None
    return found


class _GraphGradient:
    """What `core.grad.Gradient` is for operators with a rule, for a graph."""

    refused = False

    def __init__(self, op: GraphOp):
        self.inputs = [variable(f"x{k}") for k in range(len(op.arguments))]
        self.outputs = [variable(f"y{k}") for k in range(op.outputs)]
        self.heads = [variable(f"g{k}") for k in range(op.outputs)]
        found = symbolic(op.heads, self.heads, [e[0] for e in op.arguments])
        results = [found.get(e) for e in op.arguments]
        replace = dict(zip(op.arguments, self.inputs, strict=True))
        self.results = substitute(results, replace)


class CachedOp:
    """A symbol that runs as one operator on arrays, in the order of ``symbol.list_inputs()``."""

    def __init__(self, sym: Any, flags: Any = (), thread_safe: bool = False):
        heads = list(sym._entries)
        arguments = [(n, 0) for n in topological(heads) if n.call is None]
        self.symbol, self.flags = sym, dict(flags)
        self.op = GraphOp("_CachedOp", arguments, heads)

    def __call__(self, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        """The outputs for arrays: one, or a list."""
        inputs = args[0] if len(args) == 1 and isinstance(args[0], list | tuple) else args
        result = self.op(inputs)
        if out is None:
            return result
        outs = out if isinstance(out, list | tuple) else [out]
        for x, r in zip(outs, result if isinstance(result, list) else [result], strict=True):
            x[:] = r
        return out


__all__ = ["CachedOp", "GraphOp"]
