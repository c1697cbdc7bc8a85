"""A graph as an operator: one call, one node on the tape, its gradient a plan too."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from . import infer
from .call import Call
from .grad import released, symbolic, zeros_like
from .graph import Entry, Node, is_unsized, substitute, topological, variable
from .invoke import wrap
from .op import Op
from .plan import fuse
from .plan.fuse import Like
from .plan.plan import Plan
from .state import state
from .watch import locate

#: for how many sets of shapes, dtypes and modes a graph is compiled
SIGNATURES = 64


def _refuse(*data: Any) -> None:
    """What is tried where nothing is compiled."""


NOTHING = (None, _refuse)


class GraphOp(Op):
    """An operator whose body is a graph of others.

    ``arguments`` are the graph's variables in the order arrays are passed, ``outputs`` its heads.
    """

    def __init__(self, name: str, arguments: list[Entry], outputs: list[Entry]):
        super().__init__(lambda *arrays: self.run(*arrays), name=name)
        self.arguments, self.heads = list(arguments), list(outputs)
        self.outputs = len(self.heads)
        self.unsized = any(map(is_unsized, topological(self.heads)))  # no plan fits all shapes
        self.plans: dict[Any, Plan] = {}
        self.the_call = Call(self, {})
        self.gradient_ops: dict[tuple[bool, ...], GraphOp] = {}
        self.recent: dict[Any, Any] = {}  # by mode, the compiled plan used last and its function

    def plan(self, training: bool, wanted: tuple[bool, ...] | None, data: Sequence[Any]) -> Plan:
        """The plan for such arguments in this mode, with these gradients.

        Compiled plans are for one set of shapes and dtypes; when an operator has seen `SIGNATURES`
        of them, it runs others with a plan that is for all.
        """
        types = tuple([type(d) for d in data])
        key: Any = (training, wanted, types)
        exact = (*key, *[d.shape for d in data], *[d.dtype for d in data])
        found = self.plans.get(exact)
        if found is None:
            if self.unsized and not fuse.wanted():
                self.check(data)
                found = Plan(self.arguments, self.heads, types, wanted, data, sys.maxsize)
                self.plans[exact] = found
            elif self.unsized or (fuse.wanted() and len(self.plans) < SIGNATURES):
                self.check(data)
                found = Plan(self.arguments, self.heads, types, wanted, data)
                self.plans[exact] = found
            else:
                found = self.plans.get(key)
        if found is None:
            self.check(data)
            found = self.plans[key] = Plan(self.arguments, self.heads, types, wanted)
        if found.forward.fast is not None:
            self.recent[training, wanted] = found, found.forward.fast
        return found

    def run(self, *data: Any) -> Any:
        """The outputs for storages, without recording."""
        results = self.plan(state.training, None, data).forward.run(*data)
        return results if len(results) > 1 else results[0]

    def __call__(self, inputs: Any) -> Any:
        """Run on arrays; record one node when recording. A list when there are several outputs."""
        data = [x._data for x in inputs]
        wanted = None
        if state.recording:
            wanted = tuple([x._entry is not None for x in inputs])
            if not any(wanted):
                wanted = None
        plan, fast = self.recent.get((state.training, wanted), NOTHING)
        # such a plan looks for itself whether it is for these arrays: 0.1 us for five of them
        try:
            results = state.quietly(fast, *data)
        except Exception as error:
            raise self._explain(data, error) from error
        if results is None:
            plan = self.plan(state.training, wanted, data)
            results = self._run(plan, data)
        ctx = inputs[0]._ctx if inputs else None
        n = self.outputs
        node = None
        if wanted is not None:
            entries = tuple([x._entry for x in inputs])
            likes = [Like(r.shape, r.dtype) for r in results[:n]] if n > 1 else ()
            node = Node(self.the_call, entries, self.name, None, (plan, data, results[n:], likes))
        if n == 1:
            return wrap(results[0], ctx, None if node is None else (node, 0))
        return [
            wrap(r, ctx, None if node is None else (node, k)) for k, r in enumerate(results[:n])
        ]

    def _run(self, plan: Plan, data: Any) -> Any:
        try:
            return state.quietly(plan.forward.run, *data)
        except Exception as error:
            raise self._explain(data, error) from error

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
        plan, data, kept, likes = node.values
        heads = [zeros_like(likes[k]) if g is None else g for k, g in enumerate(incoming)]
        if plan.pull is not None:
            found = plan.pull(*heads, *kept, *data)
            if found is not None:
                return found
        run = plan.backward(tuple(map(type, heads))).run
        return state.quietly(run, *heads, *kept, *data)

    @staticmethod
    def pull_recorded(call: Call, node: Any, incoming: list[Any], wanted: tuple[bool, ...]) -> Any:
        """Gradients of the arguments as one more GraphOp, so that they can be differentiated."""
        if node.values is None:
            raise released(call.op.name)
        op: Any = call.op
        gradient = op.gradient_op(wanted)
        _, data, _, likes = node.values
        arrays = [wrap(d, None, e) for d, e in zip(data, node.inputs, strict=True)]
        heads = [
            wrap(zeros_like(likes[k]), None) if g is None else g for k, g in enumerate(incoming)
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
        )
        new.has_gradient = [r is not None for r in results]  # type: ignore[attr-defined]
        return new

    @staticmethod
    def gradient_of(call: Call, count: int) -> Any:
        """The traced gradient, for a graph inside a graph."""
        op: Any = call.op
        return _GraphGradient(op)


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
