"""Gradients: rules traced once per Call, and the gradient of a graph as another graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..base import MXNetError
from .call import Call
from .explain import in_node, not_differentiable
from .graph import Entry, Node, substitute, topological, variable
from .op import Op, registry
from .plan.fuse import Like as Like
from .state import state
from .trace import Expr, F, LeftOpen, Number


class Gradient:
    """The traced gradient of a Call: a graph from its output gradients, inputs and outputs.

    ``results[i]`` is the entry of the gradient of input ``i``, or None where there is none. With
    ``open_numbers`` the `Scalar` attributes are entries too, ``numbers`` by name, so that one graph
    serves all their values; raises `LeftOpen` for a rule that looks at them.
    """

    __slots__ = ("call", "heads", "inputs", "numbers", "outputs", "refused", "results")

    def __init__(self, call: Call, count: int, open_numbers: bool = False):
        self.call = call
        self.refused = call.op.grad_rule is None  # an error where a gradient arrives, not before
        self.inputs = [variable(f"x{k}") for k in range(count)]
        self.outputs = [variable(f"y{k}") for k in range(call.outputs)]
        self.heads = [variable(f"g{k}") for k in range(call.outputs)]
        self.numbers = {n: variable(n) for n in call.op.scalars} if open_numbers else {}
        self.results = self._trace()

    def _trace(self) -> list[Entry | None]:
        rule = self.call.op.grad_rule
        if rule is None or rule == "zero":
            return [None] * len(self.inputs)
        g, out = self.heads, self.outputs
        single = self.call.outputs == 1
        attrs = self.call.attrs | {n: Number(e) for n, e in self.numbers.items()}
        got = rule(
            F,
            Expr(g[0]) if single else tuple(map(Expr, g)),
            *[Expr(x) for x in self.inputs],
            out=Expr(out[0]) if single else tuple(map(Expr, out)),
            **attrs,
        )
        got = tuple(got) if isinstance(got, tuple | list) else (got,)
        if len(got) < len(self.inputs):
            got = (*got, *[None] * (len(self.inputs) - len(got)))
        results = [None if r is None else r.entry for r in got[: len(self.inputs)]]
        stype = self.call.op.grad_stype
        for entry in results:
            if stype is not None and entry is not None and entry[0].call is not None:
                entry[0].attrs = {"__stype__": stype}
        return results

    def refuse(self) -> None:
        """Raise ``MXNetError`` if the operator has no gradient."""
        if self.refused:
            raise not_differentiable(self.call)


def trace(call: Call, count: int) -> Gradient:
    """The Call's gradient on so many inputs, traced on first use."""
    gradient: Gradient | None = call.gradients.get(count)
    if gradient is None:
        gradient = call.gradients[count] = Gradient(call, count)
    return gradient


def trace_open(call: Call, count: int) -> Gradient:
    """The gradient with numbers left open, if the rule allows that; else as `trace`."""
    try:
        return Gradient(call, count, open_numbers=True)
    except LeftOpen:
        return trace(call, count)


def symbolic(
    heads: Sequence[Entry], seeds: Sequence[Entry | None], wanted: Iterable[Node]
) -> dict[Entry, Entry]:
    """The gradients of heads as a graph: from each wanted variable's entry to its gradient's.

    ``seeds`` are the entries of the head gradients (None: ones). Variables that the heads do not
    depend on are absent from the result.
    """
    total = registry["_grad_add"].call()
    ones = registry["ones_like"].call()
    zeros = registry["zeros_like"].call()
    wanted = set(wanted)
    nodes = topological(heads)
    needs = set(wanted)
    for node in nodes:
        if any(e is not None and e[0] in needs for e in node.inputs):
            needs.add(node)
    grads: dict[Entry, Entry] = {}

    def accumulate(entry: Entry, grad: Entry) -> None:
        old = grads.get(entry)
        grads[entry] = grad if old is None else (Node(total, (old, grad), "grad_add"), 0)

    for head, seed in zip(heads, seeds, strict=True):
        if head[0] in needs:
            accumulate(head, seed or (Node(ones, (head,), "ones"), 0))
    for node in reversed(nodes):
        if node.call is None or node not in needs:
            continue
        incoming = [grads.pop((node, k), None) for k in range(node.call.outputs)]
        if all(g is None for g in incoming):
            continue
        gradient = node.call.op.gradient_of(node.call, len(node.inputs))
        if gradient.refused:
            raise in_node(node, not_differentiable(node.call))
        replace: dict[Entry, Entry] = {}
        for k, g in enumerate(incoming):
            replace[gradient.heads[k]] = g or (Node(zeros, ((node, k),), "zeros"), 0)
            replace[gradient.outputs[k]] = (node, k)
        actuals = zip(gradient.inputs, node.inputs, strict=True)
        replace.update({formal: actual for formal, actual in actuals if actual is not None})
        asked = [
            r if e is not None and e[0] in needs else None
            for r, e in zip(gradient.results, node.inputs, strict=True)
        ]
        for entry, got in zip(node.inputs, substitute(asked, replace), strict=True):
            if entry is not None and got is not None:
                accumulate(entry, got)
    return {(n, 0): grads[(n, 0)] for n in wanted if (n, 0) in grads}


_ADD: list[Call] = []


def add(left: Any, right: Any) -> Any:
    """The sum of two gradients; sparse ones stay sparse."""
    if not _ADD:
        _ADD.append(registry["_grad_add"].call())
    types = (type(left), type(right))
    return state.quietly(_ADD[0].memo.get(types) or _ADD[0].kernel(types), left, right)


def released(name: str) -> MXNetError:
    """The tape was run backwards before."""
    return MXNetError(
        f"{name}: Cannot differentiate node because it is not in a computational "
        "graph.\n  received  a graph whose values were released by an earlier backward\n"
        "  expected  one backward per recording, or retain_graph=True on the earlier ones\n"
        "  fix       call backward(retain_graph=True) the first time, or record again"
    )


def zeros_like(like: Any) -> np.ndarray:
    """Dense zeros in the shape and dtype of a storage, or of what stands for one."""
    return np.zeros(like.shape, like.dtype)


#: a gradient of zero of whatever shape is needed
ZERO = np.zeros((), np.float32)


Op.gradient_of = staticmethod(trace)  # type: ignore[method-assign]
