"""Loops and branches whose bodies are Python functions, remembered: ``mx.sym.contrib.foreach``."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..attribute import AttrScope
from ..attribute import current as current_scope
from ..base import ArgumentError
from ..core.graph import Entry, Node, numbers, substitute
from ..core.op import registry
from ..name import current as current_names
from ..ops.control_flow import Body, Cond, ControlFlow, Foreach, WhileLoop
from .facts import output_name
from .symbol import Symbol

#: how symbols are nested: None is a symbol, a list holds the forms of its members
Form = Any

_counts: dict[str, int] = defaultdict(int)


def foreach(body: Callable[..., Any], data: Any, init_states: Any, name: str = "foreach") -> Any:
    """Run ``outputs, states = body(slice, states)`` over the first axis of ``data``.

    ``data``, the states and the outputs are symbols or nested lists of them. Returns the outputs of
    all steps, stacked, and the last states. Other symbols may be used in ``body``.

    Examples
    --------
    >>> step = lambda x, total: (total + x, total + x)
    >>> sums, total = sym.contrib.foreach(step, sym.var("x"), sym.var("start"))
    >>> sums.eval(x=nd.array([[1], [2]]), start=nd.zeros(1))[0].asnumpy().ravel()
    array([1., 3.], dtype=float32)
    """
    sources, data_form = flatten(data, "foreach input")
    started, state_form = flatten(init_states, "foreach states")
    slices, states = _variables(sources), _variables(started)
    with _inside(name) as inside:
        result = body(regroup(iter(slices), data_form), regroup(iter(states), state_form))
        outputs, after = _pair(result, "foreach: body")
        outputs, form = flatten(outputs, "foreach output")
        given, given_form = flatten(after, "foreach states")
        if len(given) != len(started):
            raise ArgumentError(
                "foreach: body returned another number of states than it was given.\n"
                f"  received  {len(given)} states\n  expected  {len(started)}\n"
                "  fix       return every state, changed or not"
            )
        heads, outer = inside.cut([*outputs, *given])
    inputs = Inputs([*sources, *started], [*slices, *states], outer)
    body_ = inputs.body(name, heads)
    call = Foreach(body_, len(sources), len(started), len(inputs.entries)).call()
    found = [body_.places.index(k) if k in body_.places else -1 for k in range(len(inputs.entries))]
    first, last = len(sources), len(sources) + len(started)
    texts = {
        "in_data_locs": found[:first],
        "in_state_locs": found[first:last],
        "remain_locs": found[last:],
        "num_args": len(found) + 1,
        "num_out_data": len(outputs),
        "num_outputs": len(heads),
    }
    results = iter(_compose(call, inputs.entries, texts))
    return regroup(results, form), regroup(results, given_form)


def while_loop(
    cond: Callable[..., Any],
    func: Callable[..., Any],
    loop_vars: Any,
    max_iterations: int | None = None,
    name: str = "while_loop",
) -> Any:
    """Run ``outputs, loop_vars = func(*loop_vars)`` as long as ``cond(*loop_vars)`` holds.

    Returns the outputs of all steps, stacked and filled up with zeros to ``max_iterations``, and
    the last loop variables.
    """
    limit = _limit(max_iterations)
    single = isinstance(loop_vars, Symbol)
    started, form = flatten(loop_vars, "while_loop loop_vars")
    if not started:
        raise ArgumentError("loop_vars should contain at least one element")
    variables = _variables(started)
    arguments = [variables[0]] if single else regroup(iter(variables), form)
    with _inside(f"{name}_cond") as inside:
        answer = cond(*arguments)
        if not isinstance(answer, Symbol) or len(answer) != 1:
            raise ArgumentError(
                "Return of cond must be a Symbol\n"
                f"  received  {_shown(answer)} from cond\n  expected  one symbol of one element\n"
                "  fix       combine the conditions, as in a * b"
            )
        test_heads, test_outer = inside.cut([answer])
    with _inside(f"{name}_func") as inside:
        result, after = _pair(func(*arguments), "while_loop: func")
        outputs, out_form = flatten([] if result is None else result, "while_loop output")
        given, _ = flatten(after, "while_loop loop_vars")
        if len(given) != len(started):
            raise ArgumentError(
                "The number of loop_vars should be consistent during the loop\n"
                f"  received  {len(given)} from func\n  expected  {len(started)}\n"
                "  fix       return every loop variable, changed or not"
            )
        heads, outer = inside.cut([*outputs, *given])
    inputs = Inputs([], [], {})
    inputs.known.update(
        {v._entries[0]: s._entries[0] for v, s in zip(variables, started, strict=True)}
    )
    inputs.known.update(test_outer)
    test = inputs.body(f"{name}_cond", test_heads)
    inputs.known.update(outer)
    body = inputs.body(f"{name}_func", heads)
    loop = [inputs.place(v._entries[0]) for v in variables]
    call = WhileLoop(test, body, loop, limit, len(inputs.entries)).call()
    texts = {
        "cond_input_locs": test.places,
        "func_input_locs": body.places,
        "func_var_locs": [body.places.index(k) if k in body.places else -1 for k in loop],
        "max_iterations": limit,
        "num_args": len(inputs.entries) + 2,
        "num_out_data": len(outputs),
        "num_outputs": len(heads),
    }
    results = iter(_compose(call, inputs.entries, texts))
    stacked = regroup(results, out_form)
    return stacked, next(results) if single else regroup(results, form)


def cond(
    pred: Any, then_func: Callable[[], Any], else_func: Callable[[], Any], name: str = "cond"
) -> Any:
    """``then_func()`` if ``pred`` (a symbol of one element) is not zero, else ``else_func()``.

    Only the branch that is chosen runs, and only what it reads gets a gradient other than zero.
    """
    if callable(pred) and not isinstance(pred, Symbol):
        pred = pred()
    if not isinstance(pred, Symbol) or len(pred) != 1:
        raise ArgumentError(
            "cond: pred has to be a symbol.\n"
            f"  received  {_shown(pred)}\n  expected  one symbol of one element\n"
            "  fix       combine the conditions, as in a * b"
        )
    inputs = Inputs([], [], {})
    bodies, forms = [], []
    with _inside(f"{name}_pred") as inside:
        heads, outer = inside.cut([pred])
    inputs.known.update(outer)
    bodies.append(inputs.body(f"{name}_pred", heads))
    for branch, function in (("then", then_func), ("else", else_func)):
        with _inside(f"{name}_{branch}") as inside:
            results, form = flatten(function(), f"cond {branch} branch")
            heads, outer = inside.cut(results)
        inputs.known.update(outer)
        bodies.append(inputs.body(f"{name}_{branch}", heads))
        forms.append(form)
    counts = [len(body.heads) for body in bodies[1:]]
    if counts[0] != counts[1]:
        raise ArgumentError(
            "Number of outputs differs between then-branch and else-branch\n"
            f"  received  {counts[0]} and {counts[1]}\n  expected  as many of each\n"
            "  fix       return the same results from both"
        )
    call = Cond(bodies[0], bodies[1], bodies[2], len(inputs.entries)).call()
    texts = {
        "cond_input_locs": bodies[0].places,
        "then_input_locs": bodies[1].places,
        "else_input_locs": bodies[2].places,
        "num_args": len(inputs.entries) + 3,
        "num_outputs": counts[0],
    }
    return regroup(iter(_compose(call, inputs.entries, texts)), forms[0])


class _inside:
    """The scope in which a body is called: what is made in it is inside the graph of the body."""

    def __init__(self, name: str):
        self.scope = AttrScope(__subgraph_name__=f"{name}{_counts[name]}")
        _counts[name] += 1
        self.start = 0

    def __enter__(self) -> _inside:
        self.start = next(numbers)
        self.scope.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self.scope.__exit__(*exception)

    def cut(self, heads: list[Symbol]) -> tuple[list[Entry], dict[Entry, Entry]]:
        """The graph of what was made inside, and what its new variables stand for.

        Results from outside become variables. Heads that are variables, or that share a node with
        another, are copied, as in MXNet.
        """
        entries = [head._entries[0] for head in heads]
        outer: dict[Entry, Entry] = {}
        seen: set[Node] = set()
        stack = list(reversed(entries))
        while stack:
            entry = stack.pop()
            node = entry[0]
            if node.call is None:
                continue
            if node.number < self.start:
                if entry not in outer:
                    outer[entry] = (Node(None, (), output_name(entry)), 0)
            elif node not in seen:
                seen.add(node)
                stack.extend(e for e in reversed(node.inputs) if e is not None)
        inner = [e for e in substitute(entries, outer) if e is not None]
        copy, used = registry["_copy"].call(), set()
        for k, (node, _) in enumerate(inner):
            if node.call is None or node in used:
                name = current_names().get(None, "identity")
                inner[k] = (Node(copy, (inner[k],), name, current_scope().get(None) or None), 0)
            used.add(node)
        return inner, {new: old for old, new in outer.items()}


class Inputs:
    """The inputs of an operator with graphs inside, in the order in which they are first needed.

    ``known`` says for variables of the graphs what they stand for; other variables are themselves.
    """

    def __init__(self, given: list[Symbol], variables: list[Symbol], outer: dict[Entry, Entry]):
        self.entries: list[Entry] = [s._entries[0] for s in given]
        self.places = {v._entries[0]: k for k, v in enumerate(variables)}
        self.known = outer

    def place(self, variable: Entry) -> int:
        """The number of the input that a variable of a graph stands for."""
        found = self.places.get(variable)
        if found is None:
            entry = self.known.get(variable, variable)
            for k, known in enumerate(self.entries):
                if known == entry and variable not in self.known:
                    found = k
            if found is None:
                found = len(self.entries)
                self.entries.append(entry)
            self.places[variable] = found
        return found

    def body(self, name: str, heads: list[Entry]) -> Body:
        """A graph with the places of its variables."""
        body = Body(name, heads, [])
        body.places = [self.place((v, 0)) for v in body.variables]
        return body


def _compose(call: Any, entries: list[Entry], texts: dict[str, Any]) -> list[Symbol]:
    op: ControlFlow = call.op
    attrs = current_scope().get({k: str(v) for k, v in texts.items()})
    node = Node(call, tuple(entries), current_names().get(None, op.name), attrs)
    return [Symbol(((node, k),)) for k in range(call.visible)]


def _variables(symbols: Sequence[Symbol]) -> list[Symbol]:
    return [
        Symbol(((Node(None, (), f"{s._entries[0][0].name}-{s._entries[0][1]}"), 0),))
        for s in symbols
    ]


def flatten(value: Any, what: str) -> tuple[list[Symbol], Form]:
    """The symbols in a nested list, one after the other, and how they were nested."""
    if isinstance(value, Symbol):
        if len(value) == 1:
            return [value], None
        value = list(value)
    if not isinstance(value, list | tuple):
        raise ArgumentError(
            f"{what} must be (nested) list of Symbol, but got {value!s:.60} of type {type(value)}"
        )
    leaves: list[Symbol] = []
    forms = []
    for member in value:
        inner, form = flatten(member, what)
        leaves += inner
        forms.append(form)
    return leaves, forms


def regroup(leaves: Iterator[Any], form: Form) -> Any:
    """Nest symbols the way ``flatten`` found them nested."""
    return next(leaves) if form is None else [regroup(leaves, inner) for inner in form]


def _pair(result: Any, who: str) -> tuple[Any, Any]:
    if isinstance(result, list | tuple) and len(result) == 2:
        return result[0], result[1]
    raise ArgumentError(
        f"{who} has to return two things.\n  received  {_shown(result)}\n"
        "  expected  (outputs, states)\n  fix       return a pair; [] for no outputs or states"
    )


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"{type(value).__name__} of {len(value)}"
    return type(value).__name__


def _limit(max_iterations: Any) -> int:
    if max_iterations is None:
        raise ArgumentError("max_iterations should be specified")
    try:
        return int(max_iterations)
    except (TypeError, ValueError) as error:
        raise ArgumentError("Cannot convert max_iteration to python int") from error


def rand_zipfian(
    true_classes: Symbol, num_sampled: int, range_max: int
) -> tuple[Symbol, Symbol, Symbol]:
    """Class numbers drawn by the approximate Zipfian distribution, and what counts to expect.

    ``P(k) = log((k + 2) / (k + 1)) / log(range_max + 1)``. Returns ``num_sampled`` int64 classes,
    and how often each of ``true_classes`` and of the drawn is expected among them (float64).
    """
    from . import random

    scale = math.log(range_max + 1)
    drawn = random.uniform(0, scale, shape=(num_sampled,), dtype="float64")
    classes = (drawn.exp() - 1).astype("int64") % range_max

    def expected(numbers: Any) -> Any:
        k = numbers.astype("float64")
        return ((k + 2) / (k + 1)).log() / scale * num_sampled

    return classes, expected(true_classes), expected(classes)
