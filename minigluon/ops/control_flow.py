"""Loops and branches inside graphs: their bodies are graphs, run step by step.

Each is an operator of its own kind, made for its graphs. Beside the results users see there is a
hidden one, an array of one object, that holds what the steps kept for backward.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import storage
from ..base import MXNetError, ShapeError
from ..core import infer
from ..core.call import Call
from ..core.graph import Entry, topological
from ..core.graphop import GraphOp
from ..core.infer import UNKNOWN, UNKNOWN_SHAPE, known
from ..core.op import Op, op, registry
from ..core.state import state
from ..core.trace import apply


class Body:
    """A graph that a step runs: its variables, where their values come from, its heads.

    ``places[k]`` is the number of the operator's input that variable ``k`` stands for.
    """

    __slots__ = ("graph", "heads", "places", "variables", "wanted")

    def __init__(self, name: str, heads: Sequence[Entry], places: Sequence[int]):
        self.heads = list(heads)
        self.variables = [n for n in topological(self.heads) if n.call is None]
        self.places = list(places)
        self.graph = GraphOp(name, [(n, 0) for n in self.variables], self.heads)
        states = set(states_of(self.heads))
        self.wanted = tuple([n not in states for n in self.variables])

    def run(self, values: Sequence[Any], keep: bool) -> tuple[Any, Any]:
        """The heads for the variables' values, and what is to be kept for `pull`."""
        if not keep or not any(self.wanted):
            return self.graph.plan(state.training, None, values).forward.run(*values), None
        try:
            plan = self.graph.plan(state.training, self.wanted, values)
        except MXNetError as error:  # something in it has no gradient, which may not be asked for
            return self.graph.plan(state.training, None, values).forward.run(*values), error
        results = plan.forward.run(*values)
        n = len(self.heads)
        return results[:n], (plan, values, results[n:])

    def pull(self, kept: Any, heads: list[Any]) -> Sequence[Any]:
        """The gradient for each variable, or None, from those of the heads."""
        if kept is None:
            return [None] * len(self.variables)
        if isinstance(kept, MXNetError):
            raise kept
        plan, values, saved = kept
        results: Sequence[Any] = plan.backward(tuple(map(type, heads))).run(*heads, *saved, *values)
        return results

    def solve(self, given: list[Any], kind: str) -> tuple[list[Any], list[Any]]:
        """What is known of the variables and of the heads, from what is known of the variables."""
        values = infer.solve(self.heads, dict(zip(self.variables, given, strict=True)), kind)
        return [values[(n, 0)] for n in self.variables], [values[e] for e in self.heads]


def states_of(heads: Sequence[Entry]) -> list[Any]:
    """The variables of a graph that its operators write to."""
    found = {}
    for node in topological(heads):
        if node.call is not None and node.call.op.mutates:
            names = node.call.op.names_of_inputs(node.call.attrs, len(node.inputs))
            for name, entry in zip(names, node.inputs, strict=False):
                if name in node.call.op.mutates and entry is not None and entry[0].call is None:
                    found[entry[0]] = None
    return list(found)


class ControlFlow(Op):
    """What loops and branches share: hidden results, rules made of their bodies, gradients."""

    def __init__(self, name: str, bodies: list[Body], count: int, visible: int):
        super().__init__(self.run, name=name)
        self.doc = registry[name].doc
        self.graphs = [body.heads for body in bodies]
        names, states = [f"arg{k}" for k in range(count)], set()
        for body in bodies:
            own = set(states_of(body.heads))
            for variable, place in zip(body.variables, body.places, strict=True):
                if variable in own:
                    states.add(f"arg{place}")
        self.inputs, self.variadic, self.mutates = tuple(names), None, tuple(sorted(states))
        self.attributes, self.injects = {}, ()
        self.outputs, self.hidden_outputs, self.unsaved = visible + 1, 1, 1
        self.output_names = [f"output{k}" for k in range(visible)] if visible > 1 else ["output"]
        self.output_names.append("kept")
        self.shape_rule, self.dtype_rule = self.say_shapes, self.say_dtypes
        self.grad_rule = self.pull_back
        self.backward = _Backward(self)

    def pull_back(self, F: Any, g: Any, *inputs: Any, out: Any) -> Any:
        """The gradient rule: one operator that runs the steps backwards."""
        got = apply(self.backward.call(), (out[-1], *g[:-1], *inputs))
        return got if isinstance(got, tuple) else (got,)

    def say_dtypes(self, t: Any) -> None:
        """The dtype rule; the hidden output holds an object."""
        t.state(("out", len(t.outs) - 1), np.dtype(object))
        self.say(t, "dtype")

    def say_shapes(self, s: Any) -> None:
        """The shape rule."""
        s.state(("out", len(s.outs) - 1), (1,))
        self.say(s, "shape")

    def run(self, *data: Any) -> Any:
        """The kernel."""
        raise NotImplementedError

    def say(self, s: Any, kind: str) -> None:
        """State what the bodies say of shapes or dtypes."""
        raise NotImplementedError

    def unroll(self, held: Any, g: list[Any], data: tuple[Any, ...]) -> list[Any]:
        """The gradients of the inputs, None for zero."""
        raise NotImplementedError


class _Backward(Op):
    """The gradients of a loop or branch: (what was kept, output gradients, inputs) -> one each."""

    def __init__(self, owner: ControlFlow):
        self.owner = owner
        super().__init__(self.run, name=f"_backward{owner.name}", outputs=len(owner.inputs))
        self.variadic, self.attributes, self.injects = "arrays", {}, ()
        self.shape_rule = self.dtype_rule = self.say_nothing

    def say_nothing(self, s: Any) -> None:
        """Gradient graphs are not inferred."""

    def run(self, *arrays: Any) -> Any:
        """The kernel."""
        owner = self.owner
        n = len(owner.inputs)
        held, g, data = arrays[0][0], list(arrays[1:-n]), arrays[-n:]
        for k, shape in enumerate(held.shapes):
            if g[k].shape != shape:  # no gradient came for this output
                g[k] = np.zeros(shape, held.dtypes[k])
        grads = owner.unroll(held, g, data)
        results = tuple(
            [
                np.zeros(x.shape, x.dtype) if d is None else storage.densify(d)
                for x, d in zip(data, grads, strict=True)
            ]
        )
        return results if n > 1 else results[0]


class Kept:
    """What a run leaves for backward: what each step kept, and what the results were like."""

    __slots__ = ("chosen", "dtypes", "shapes", "steps")

    def __init__(self, steps: list[Any], results: Sequence[Any], chosen: Any = None):
        self.steps, self.chosen = steps, chosen
        self.shapes = [x.shape for x in results]
        self.dtypes = [x.dtype for x in results]

    def held(self) -> np.ndarray:
        """This, in an array of one object."""
        array = np.empty(1, object)
        array[0] = self
        return array


def _keeping() -> bool:
    return state.training or state.recording


def _merge(held: Any, new: Any) -> Any:
    if held is None or new is None:
        return new if held is None else held
    total = registry["_grad_add"].call()
    return total.resolve((type(held), type(new))).kernel(held, new)


class Foreach(ControlFlow):
    """``outputs, states = body(slices, states)`` over the first axis of some inputs.

    Inputs are the data, the states, and what else the body reads; results the stacked outputs and
    the last states.
    """

    def __init__(self, body: Body, data: int, states: int, count: int):
        self.body, self.data, self.states = body, data, states
        self.stacked = len(body.heads) - states
        super().__init__("_foreach", [body], count, len(body.heads))

    def run(self, *data: Any) -> Any:
        """The kernel: steps one after the other, outputs written into arrays for all."""
        length = self._length([x.shape for x in data[: self.data]])
        values = list(data)
        keep, steps = _keeping(), []
        stacks: list[Any] = []
        for step in range(length):
            for k in range(self.data):
                values[k] = _slice(data[k], step)
            heads, kept = self.body.run([values[p] for p in self.body.places], keep)
            steps.append(kept)
            if not stacks:
                stacks = [np.empty((length, *x.shape), x.dtype) for x in heads[: self.stacked]]
            for stack, x in zip(stacks, heads, strict=False):
                stack[step] = x
            values[self.data : self.data + self.states] = heads[self.stacked :]
        results = (*stacks, *values[self.data : self.data + self.states])
        return (*results, Kept(steps, results).held())

    def _length(self, shapes: list[tuple[int, ...]]) -> int:
        lengths = {s[0] for s in shapes}
        if len(lengths) == 1 and 0 not in lengths:
            return int(lengths.pop())
        raise ShapeError(
            "_foreach: data needs one length of at least 1 along the first axis.\n"
            f"  received  shapes {', '.join(map(str, shapes)) or 'none'}\n"
            "  expected  arrays of equal length\n  fix       cut or pad them to one length"
        )

    def say(self, s: Any, kind: str) -> None:
        """What the body says of a step holds for every step."""
        ins, outs = list(s.ins), list(s.outs)
        first, last = self.data, self.data + self.states
        length: Any = UNKNOWN
        if kind == "shape":
            lengths = [x[0] for x in ins[:first]] + [x[0] for x in outs[: self.stacked]]
            length = next((n for n in lengths if n is not UNKNOWN), UNKNOWN)
            ins[:first] = [_tail(x) for x in ins[:first]]
            ins = [None if x is UNKNOWN_SHAPE else x for x in ins]
        for _round in range(2):  # a state's shape may follow from what the step makes of it
            variables, heads = self.body.solve([ins[p] for p in self.body.places], kind)
            for place, value in zip(self.body.places, variables, strict=True):
                ins[place] = value if value is not None else ins[place]
            for k, value in enumerate(heads[self.stacked :], first):
                if ins[k] is None:
                    ins[k] = value
        for k, value in enumerate(ins):
            if value is None:
                continue
            if kind == "shape" and k < first:
                if value != (1,) or not known(s.ins[k]) or len(s.ins[k]) != 1:
                    s.state(("in", k), (length, *value))
            else:
                s.state(("in", k), value)
        for k, value in enumerate(heads):
            stacked = kind == "shape" and k < self.stacked and value is not None
            s.state(("out", k), (length, *value) if stacked else value)
        for k in range(first, last):
            s.state(("out", self.stacked + k - first), ins[k])

    def unroll(self, held: Any, g: list[Any], data: tuple[Any, ...]) -> list[Any]:
        """Back through the steps: states hand their gradients on, the rest adds up."""
        first, last = self.data, self.data + self.states
        if not any(held.steps):  # it was run for prediction: once more, keeping what is needed
            held = _recording(self.run, data)
        grads: list[Any] = [None] * len(data)
        grads[:first] = [np.zeros(x.shape, x.dtype) for x in data[:first]]
        coming = g[self.stacked :]
        for step in range(len(held.steps) - 1, -1, -1):
            heads = [_slice(x, step) for x in g[: self.stacked]] + coming
            got = self.body.pull(held.steps[step], heads)
            handed: list[Any] = [None] * self.states
            for place, d in zip(self.body.places, got, strict=True):
                if d is None:
                    continue
                if place < first:
                    grads[place][step] = storage.densify(d)
                elif place < last:
                    handed[place - first] = d
                else:
                    grads[place] = _merge(grads[place], d)
            coming = [
                np.zeros(x.shape, x.dtype) if d is None else storage.densify(d)
                for d, x in zip(handed, data[first:last], strict=True)
            ]
        grads[first:last] = coming
        return grads


def _recording(run: Any, data: tuple[Any, ...]) -> Any:
    before, state.recording = state.recording, True
    try:
        return run(*data)[-1][0]
    finally:
        state.recording = before


def _slice(array: Any, step: int) -> Any:
    return array[step] if array.ndim > 1 else array[step : step + 1]


def _tail(shape: Any) -> Any:
    if shape is UNKNOWN_SHAPE or len(shape) > 1:
        return shape if shape is UNKNOWN_SHAPE else shape[1:]
    return (1,)


class WhileLoop(ControlFlow):
    """``outputs, variables = body(variables)`` while a condition holds, a limited number of times.

    ``loop[k]`` is the input that starts loop variable ``k``. Results are the outputs, stacked and
    filled up with zeros, and the last variables.
    """

    def __init__(self, test: Body, body: Body, loop: list[int], limit: int, count: int):
        self.test, self.body, self.loop, self.limit = test, body, loop, limit
        self.stacked = len(body.heads) - len(loop)
        super().__init__("_while_loop", [test, body], count, len(body.heads))

    def run(self, *data: Any) -> Any:
        """The kernel: steps as long as the condition gives something other than zero."""
        values = list(data)
        keep, steps = _keeping(), []
        stacks: list[Any] = []
        while len(steps) < self.limit and self._holds(values):
            heads, kept = self.body.run([values[p] for p in self.body.places], keep)
            if not stacks:
                stacks = [np.zeros((self.limit, *x.shape), x.dtype) for x in heads[: self.stacked]]
            for stack, x in zip(stacks, heads, strict=False):
                stack[len(steps)] = x
            steps.append(kept)
            for place, x in zip(self.loop, heads[self.stacked :], strict=True):
                values[place] = x
        if not steps:
            stacks = self._nothing(data)
        last = [values[p] if steps else values[p].copy() for p in self.loop]
        results = (*stacks, *last)
        return (*results, Kept(steps, results).held())

    def _holds(self, values: list[Any]) -> bool:
        (answer,), _ = self.test.run([values[p] for p in self.test.places], False)
        return _truth(answer, "_while_loop: cond")

    def _nothing(self, data: tuple[Any, ...]) -> list[Any]:
        """Outputs of a loop without a step: zeros in the shapes a step would give."""
        _, shapes = self.body.solve([data[p].shape for p in self.body.places], "shape")
        _, dtypes = self.body.solve([data[p].dtype for p in self.body.places], "dtype")
        return [
            np.zeros((self.limit, *shape), dtype)
            for shape, dtype in zip(shapes[: self.stacked], dtypes, strict=False)
        ]

    def say(self, s: Any, kind: str) -> None:
        """A step gives variables that are like those it was given."""
        ins = [None if x is UNKNOWN_SHAPE else x for x in s.ins]
        for _round in range(2):
            variables, heads = self.body.solve([ins[p] for p in self.body.places], kind)
            for place, value in zip(self.body.places, variables, strict=True):
                ins[place] = value if value is not None else ins[place]
            for place, value in zip(self.loop, heads[self.stacked :], strict=True):
                ins[place] = value if ins[place] is None else ins[place]
            variables, _ = self.test.solve([ins[p] for p in self.test.places], kind)
            for place, value in zip(self.test.places, variables, strict=True):
                ins[place] = value if value is not None else ins[place]
        for k, value in enumerate(ins):
            s.state(("in", k), value)
        for k, value in enumerate(heads[: self.stacked]):
            grown = kind == "shape" and value is not None
            s.state(("out", k), (self.limit, *value) if grown else value)
        for k, place in enumerate(self.loop):
            s.state(("out", self.stacked + k), ins[place])

    def unroll(self, held: Any, g: list[Any], data: tuple[Any, ...]) -> list[Any]:
        """Back through the steps that were taken."""
        if held.steps and not any(held.steps):
            held = _recording(self.run, data)
        grads: list[Any] = [None] * len(data)
        coming = dict(zip(self.loop, g[self.stacked :], strict=True))
        for step in range(len(held.steps) - 1, -1, -1):
            heads = [_slice(x, step) for x in g[: self.stacked]]
            heads += [coming[p] for p in self.loop]
            got = self.body.pull(held.steps[step], heads)
            coming = {p: np.zeros(data[p].shape, data[p].dtype) for p in self.loop}
            for place, d in zip(self.body.places, got, strict=True):
                if d is None:
                    continue
                if place in coming:
                    coming[place] = storage.densify(d)
                else:
                    grads[place] = _merge(grads[place], d)
        for place, d in coming.items():
            grads[place] = d
        return grads


class Cond(ControlFlow):
    """One of two graphs, by a condition."""

    def __init__(self, test: Body, then: Body, otherwise: Body, count: int):
        self.test, self.branches = test, (otherwise, then)
        super().__init__("_cond", [test, then, otherwise], count, len(then.heads))

    def run(self, *data: Any) -> Any:
        """The kernel: the condition, and the branch it chooses."""
        (answer,), _ = self.test.run([data[p] for p in self.test.places], False)
        chosen = self.branches[_truth(answer, "_cond: pred")]
        results, kept = chosen.run([data[p] for p in chosen.places], _keeping())
        return (*results, Kept([kept], results, chosen).held())

    def say(self, s: Any, kind: str) -> None:
        """Both branches give results that are alike."""
        ins = [None if x is UNKNOWN_SHAPE else x for x in s.ins]
        for body in (self.test, *self.branches):
            variables, heads = body.solve([ins[p] for p in body.places], kind)
            for place, value in zip(body.places, variables, strict=True):
                s.state(("in", place), value)
            if body is not self.test:
                for k, value in enumerate(heads):
                    s.state(("out", k), value)

    def unroll(self, held: Any, g: list[Any], data: tuple[Any, ...]) -> list[Any]:
        """Back through the branch that was run; the other's inputs get zeros."""
        chosen = held.chosen
        if not any(held.steps):
            held = _recording(self.run, data)
        grads: list[Any] = [None] * len(data)
        for place, d in zip(chosen.places, chosen.pull(held.steps[0], g), strict=True):
            grads[place] = _merge(grads[place], d)
        return grads


def _truth(answer: Any, what: str) -> bool:
    if answer.size == 1:
        return bool(answer.reshape(())[()])
    raise ShapeError(
        f"{what} has to give one truth value.\n  received  shape {answer.shape}\n"
        "  expected  one element\n  fix       combine the conditions"
    )


# ---- the names of symbol files


def _read_foreach(attrs: dict[str, str], graphs: list[Any]) -> Call:
    data, states, rest = [
        _numbers(attrs[f"{name}_locs"]) for name in ("in_data", "in_state", "remain")
    ]
    located = [*data, *states, *rest]
    heads = graphs[0]._entries
    variables = [n for n in topological(heads) if n.call is None]
    places = [located.index(k) for k in range(len(variables))]
    body = Body("_foreach", heads, places)
    return Foreach(body, len(data), len(states), len(located)).call()


def _read_while(attrs: dict[str, str], graphs: list[Any]) -> Call:
    test_places, places, found = [
        _numbers(attrs[name]) for name in ("cond_input_locs", "func_input_locs", "func_var_locs")
    ]
    test = Body("_while_loop_cond", graphs[0]._entries, test_places)
    body = Body("_while_loop", graphs[1]._entries, places)
    count = int(attrs["num_args"]) - 2
    loop = [places[k] for k in found]
    return WhileLoop(test, body, loop, int(attrs["max_iterations"]), count).call()


def _read_cond(attrs: dict[str, str], graphs: list[Any]) -> Call:
    bodies = [
        Body(f"_cond_{name}", graph._entries, _numbers(attrs[f"{name}_input_locs"]))
        for name, graph in zip(("cond", "then", "else"), graphs, strict=True)
    ]
    return Cond(*bodies, int(attrs["num_args"]) - 3).call()


def _numbers(text: str) -> list[int]:
    return [int(k) for k in text.strip("[]() ").split(",") if k.strip()]


def _declare(name: str, what: str, read: Any, function: str) -> None:
    def body(*data: Any, num_args: int) -> Any:
        raise MXNetError(f"{name} is made by mx.sym.contrib.{function}, with the graphs it runs")

    body.__annotations__ = {"num_args": "int"}
    body.__doc__ = f"{what}; made by ``sym.contrib.{function}``, with the graphs it runs."
    op(name=name)(body).read = read


_declare("_foreach", "A loop over the first axis of arrays", _read_foreach, "foreach")
_declare("_while_loop", "A loop that runs while a condition holds", _read_while, "while_loop")
_declare("_cond", "A choice between two graphs", _read_cond, "cond")

__all__ = ["Body", "Cond", "Foreach", "WhileLoop"]
