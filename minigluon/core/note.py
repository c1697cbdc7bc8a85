"""What recording a Call takes: a node that holds what the gradient reads, and the way back from it.

Both are worked out once for a Call and the pattern of its inputs that are on the tape, and written
as Python functions. What is kept is what the gradients of just these inputs read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from types import CodeType
from typing import Any

import numpy as np

from .call import Call
from .grad import Gradient, trace, trace_open
from .graph import Entry, Node, numbers, substitute, topological
from .infer import all_broadcast, all_same
from .number import constant
from .plan.emit import Emitted, emit
from .plan.fuse import Like

#: (call, entries of the inputs, storages of the inputs, result) -> the node
Note = Callable[[Call, tuple[Entry | None, ...], Any, Any], Node]


class Step(Node):
    """A node of the tape; what the tape does not read stays unset."""

    __slots__ = ()
    __init__ = object.__init__  # 0.1 us less than a Python function


class Pull:
    """The way from the gradients of a recorded Call's outputs to those of its inputs.

    ``results`` is the part of the traced gradient that is asked for, ``kept`` what it reads of
    inputs, outputs and numbers: the ``values`` of a node. ``run(g, values)`` is the function for
    the dense gradient of a single output; None where there is none. ``only`` is the number of the
    input that gets a gradient, if one is on the tape.
    """

    # fmt: off
    __slots__ = (
        "closed", "equal", "gradient", "kept", "only", "results", "run", "shapes", "variants",
    )
    # fmt: on

    def __init__(self, gradient: Gradient, wanted: Sequence[bool], equal: bool = False):
        self.gradient, self.equal = gradient, equal
        self.closed: dict[Any, Pull] = {}
        full = _of_equal_shapes(gradient) if equal else gradient.results
        self.results = [r if w else None for r, w in zip(full, wanted, strict=True)]
        given = [*gradient.inputs, *gradient.outputs, *gradient.numbers.values()]
        values, self.shapes = _reads(self.results, given)
        if len(gradient.outputs) > 1:  # zeros stand for the gradient of an output nothing uses
            self.shapes |= set(gradient.outputs) - values
        self.kept = [e for e in given if e in values or e in self.shapes]
        self.variants: dict[Any, Callable[..., Any]] = {}
        self.run: Callable[[Any, Any], Any] | None = None
        found = [k for k, w in enumerate(wanted) if w]
        lone = len(found) == 1 and self.results[found[0]] is not None
        self.only = found[0] if lone else None

    def close(self, call: Call, values: Any, sparse: Any = None) -> tuple[Pull, Any]:
        """The way as the rule of one Call says it word for word, and its kept values.

        Its numbers are attributes of operators. For a ``sparse`` gradient of the output it is the
        one for all shapes too: then storages are what the rows of all these operators say.
        """
        equal = self.equal and sparse is None
        if equal == self.equal and not self.gradient.numbers:
            return self, values
        own = self.closed.get((call, equal))
        if own is None:
            if len(self.closed) > 16:
                self.closed.clear()
            wanted = [r is not None for r in self.results]
            own = self.closed[call, equal] = Pull(trace(call, len(wanted)), wanted, equal)
        mine, theirs = self.gradient, own.gradient
        formals = zip(theirs.inputs + theirs.outputs, mine.inputs + mine.outputs, strict=True)
        same, places = dict(formals), dict(zip(self.kept, values, strict=True))
        like = None if sparse is None else Like(sparse.shape, sparse.dtype)
        return own, tuple([places.get(same[e], like) for e in own.kept])

    def function(self, wanted: tuple[bool, ...], types: tuple[type, ...]) -> Any:
        """The function of output gradients and kept values that gives the wanted gradients.

        ``types`` are the storage types of these arguments.
        """
        run = self.variants.get((wanted, types))
        if run is None:
            self.gradient.refuse()
            run = self.variants[wanted, types] = self.emitted(wanted, types).run
        return run

    def emitted(self, wanted: tuple[bool, ...], types: tuple[type, ...]) -> Emitted:
        """The same as text and function."""
        results = [r if w else None for r, w in zip(self.results, wanted, strict=True)]
        name = f"{self.gradient.call.op.name}_pullback"
        return emit(name, self.gradient.heads + self.kept, results, types, fresh=0)

    def places(self) -> list[str]:
        """Where each kept value is found, as the text of an expression."""
        g = self.gradient
        names = {e: f"data[{k}]" for k, e in enumerate(g.inputs)}
        single = len(g.outputs) == 1
        names |= {e: "result" if single else f"result[{k}]" for k, e in enumerate(g.outputs)}
        for e in self.shapes:
            names[e] = f"Like({names[e]}.shape, {names[e]}.dtype)"
        names |= {e: f"constant(result.dtype, call.attrs[{n!r}])" for n, e in g.numbers.items()}
        return [names[e] for e in self.kept]


def record(call: Call, inputs: Any, data: Any, result: Any) -> Node | None:
    """The node of a Call that was run, or None if no input is on the tape."""
    entries = tuple([x._entry for x in inputs])
    first = 1 << len(entries)
    key: Any = first + sum([1 << k for k, e in enumerate(entries) if e is not None])
    if key == first:
        return None
    types = tuple([type(d) for d in data])
    if set(types) != {np.ndarray}:
        key = (key, types)
    note = call.notes.get(key) or note_for(call, key, data, result)
    return note(call, entries, data, result)


def note_for(call: Call, key: Any, data: Any, result: Any) -> Note:
    """What records such a call from now on.

    The key says how many inputs there are, as the highest bit of a number, and which of them are on
    the tape by the bits below; the storage types follow unless all are dense. Dense Calls that
    differ in numbers only share what recording takes, unless the rule looks at the numbers.
    """
    dense = not isinstance(key, tuple)
    mask = key if dense else key[0]
    wanted = tuple([bool(mask >> k & 1) for k in range(len(data))])
    types = tuple([type(d) for d in data])
    shared = None
    if call.op.scalars and dense:
        place = (key, *[repr(v) for n, v in call.attrs.items() if n not in call.op.scalars])
        shared = call.op.notes.get(place)
        if shared is None:
            gradient = trace_open(call, len(data))
            shared = bool(gradient.numbers) and make_note(call, gradient, wanted, types, result)
            call.op.notes[place] = shared
    note: Note = shared or make_note(call, trace(call, len(data)), wanted, types, result)
    call.notes[key] = note
    return note


def make_note(
    call: Call, gradient: Gradient, wanted: tuple[bool, ...], types: tuple[type, ...], result: Any
) -> Note:
    """The function that records the Call on inputs of these types; ``wanted`` are on the tape."""
    rule = call.op.shape_rule
    broadcasts = rule is all_broadcast and types == (np.ndarray, np.ndarray)
    same = rule is all_same and set(types) == {np.ndarray}
    pulls = [Pull(gradient, wanted, equal) for equal in ((True, False) if broadcasts else (same,))]
    environment = {"Step": Step, "Like": Like, "constant": constant, "numbers": numbers}
    lines = []
    for k, pull in enumerate(pulls):
        if call.outputs == 1:
            pull.run = _unpacking(pull, wanted, types, type(result))
        environment[f"pull{k}"] = pull
        values = ", ".join(pull.places())
        values = f"{values}," if values else ""
        lines.append(f"node.pull, node.values = pull{k}, ({values})")
    if broadcasts:
        equal, general = lines
        lines = ["if data[0].shape == data[1].shape:", f"    {equal}", "else:", f"    {general}"]
    body = "".join([f"    {line}\n" for line in lines])
    exec(_code(_NOTE.format(body), "<note>"), environment)
    note: Any = environment["note"]
    return note  # type: ignore[no-any-return]


_NOTE = """\
def note(call, entries, data, result):
    node = Step()
    node.call, node.inputs, node.number = call, entries, next(numbers)
{}    return node
"""


@lru_cache(maxsize=1024)
def _code(text: str, title: str) -> CodeType:
    """The text compiled; many operators are recorded alike."""
    return compile(text, title, "exec")


def _unpacking(pull: Pull, wanted: tuple[bool, ...], types: Any, result: type) -> Any:
    """The function for a dense gradient and the kept values as they lie on the node.

    Unpacking them inside costs 0.05 us less than passing ``*values``.
    """
    gradient = pull.gradient
    if gradient.refused:
        return lambda g, kept: gradient.refuse()
    kinds = dict(zip(gradient.inputs, types, strict=True)) | {gradient.outputs[0]: result}
    emitted = pull.emitted(wanted, (np.ndarray, *[kinds.get(e, np.ndarray) for e in pull.kept]))
    _, _, body = emitted.text.partition("\n")
    names = "".join([f"a{k + 1}, " for k in range(len(pull.kept))])
    text = f"def pull(a0, kept):\n    {names + '= kept' if names else 'pass'}\n{body}"
    environment = emitted.run.__globals__
    exec(_code(text, f"<plan {emitted.run.__name__}>"), environment)
    function = environment["pull"]
    function.__name__ = emitted.run.__name__
    return function


def _reads(
    results: Sequence[Entry | None], candidates: list[Entry]
) -> tuple[set[Entry], set[Entry]]:
    """Which candidates the graph reads for their values, and which only for their shape."""
    values: set[Entry] = {r for r in results if r in candidates}
    shapes: set[Entry] = set()
    for node in topological(results):
        if node.call is None:
            continue
        op = node.call.op
        names = op.names_of_inputs(node.call.attrs, len(node.inputs))
        for k, (name, entry) in enumerate(zip(names, node.inputs, strict=False)):
            if entry in candidates:
                role = op.variadic if op.variadic and k >= len(op.inputs) else name
                (shapes if role in op.shape_only else values).add(entry)
    return values, shapes - values


def _of_equal_shapes(gradient: Gradient) -> list[Entry | None]:
    """The traced gradient for inputs and outputs of one shape: nothing is summed over axes.

    Only what is made elementwise of such arrays is known to have their shape.
    """
    full = {*gradient.heads, *gradient.inputs, *gradient.outputs}
    fitting = full | set(gradient.numbers.values())
    replace: dict[Entry, Entry] = {}
    for node in topological(gradient.results):
        if node.call is None:
            continue
        inputs = [replace.get(e, e) for e in node.inputs if e is not None]
        op = node.call.op
        if op.name == "_sum_to" and inputs[0] in full and inputs[1] in full:
            replace[node, 0] = inputs[0]
        elif op.shape_rule in (all_same, all_broadcast) and fitting.issuperset(inputs):
            full.add((node, 0))
            fitting.add((node, 0))
    return substitute(gradient.results, replace)
