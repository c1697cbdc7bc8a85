"""The text of a compiled loop over the rows of an epoch: products, the dense rest, updates.

`Recipe` says what a step of one row is made of. The compiled function is handed one array of int64
with row numbers and addresses (`Recipe.slots` names its places); whoever calls it has looked at all
arrays before and keeps them alive.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..core.plan import codegen
from ..core.plan.codegen import LAYOUT, PRELUDE, TABLE, Part
from ..core.plan.loops import elements
from ..kernels import steps
from ..kernels.scalar import FLOAT, Unsupported

#: bytes that a step may keep on the stack; where more is computed a row, calls cost little
_STACK = 1 << 15


class Dot(NamedTuple):
    """A product of a csr row and a weight, both by number; the result is input ``place``."""

    data: int
    weight: int
    width: int
    place: int


class Update(NamedTuple):
    """How a parameter is updated.

    ``how`` is "dense" (by target ``target``), "rows" (by the outer product of csr row ``data`` and
    target ``target``, where the csr row has entries) or "all" (by that product, zeros elsewhere).
    """

    how: str
    weight: int
    data: int
    target: int
    size: int
    width: int


class Recipe(NamedTuple):
    """A step of one row.

    ``rows`` are the inputs of which each row has its own, ``held`` the other arrays, by number;
    ``outputs`` are the targets that are kept for each row, ``part`` the dense rest.
    """

    part: Part
    kind: str
    dots: Sequence[Dot]
    rows: Sequence[int]
    held: Sequence[int]
    outputs: Sequence[int]
    csr: Sequence[int]
    updates: Sequence[Update]
    rule: Any
    states: int

    def slots(self) -> dict[Any, int]:
        """The place of each number in the array that the compiled function is handed."""
        names: list[Any] = ["start", "stop", "settings", "stride"]
        names += [(what, k) for k in self.csr for what in ("values", "indices", "indptr")]
        names += [("row", k) for k in self.rows]
        names += [("held", k) for k in self.held]
        names += [("output", k) for k in self.outputs]
        for u in self.updates:
            names += [("state", u.weight, j) for j in range(self.states)]
            names += [("gradient", u.weight)] if u.how == "all" else []
        return {name: k for k, name in enumerate(names)}

    @property
    def arity(self) -> int:
        """How many settings the rule takes."""
        return self.rule.__code__.co_argcount - 2 - self.states


def module(recipe: Recipe) -> str:
    """A module with the function ``@part``; raises `Unsupported` for what is not to be compiled."""
    row = _Row(recipe.part, {}).text()
    step = steps.loop(recipe.rule, recipe.states, recipe.arity, recipe.kind)
    return "\n".join([PRELUDE, step, row, _Epoch(recipe).text()])


class _Row(codegen._Function):
    """The dense rest of a step: ``@row(table, inputs, targets)``."""

    def text(self) -> str:
        part = self.part
        loops = [
            self._loop(k, loop) if loop.product is None else None
            for k, loop in enumerate(part.loops)
        ]
        parameters = ["ptr %table"]
        for letter, arrays in (("a", part.inputs), ("o", part.targets)):
            for k, array in arrays.items():
                self.places[id(array)] = f"%{letter}{k}"
                parameters.append(f"ptr %{letter}{k}")
        if self._scratch() is not None:
            raise Unsupported("a step computes so much that the calls around it do not matter")
        for join in part.joins:
            self.places.update({id(x): self.places[id(join)] for x in join.sources})
        self._run(loops)
        if self.flag:
            raise Unsupported("an operator is compiled for some numbers only")
        bodies = [loop.text for loop in loops if loop is not None]
        head = f"define internal void @row({', '.join(parameters)}) {{\nstart:"
        return "\n".join([*bodies, head, *self.stack, *self.lines, "  ret void\n}\n"])


class _Epoch:
    """The text of ``@part``: a loop over rows."""

    def __init__(self, recipe: Recipe):
        self.recipe = recipe
        self.lines: list[str] = []
        self.first: list[str] = []  # what is done once, before the loop
        self.numbers = 0
        self.label = "row"
        self.slots = recipe.slots()
        self.taken = 0

    def say(self, text: str) -> None:
        self.lines.append("  " + text)

    def new(self, text: str) -> str:
        self.numbers += 1
        self.say(f"%t{self.numbers} = {text}")
        return f"%t{self.numbers}"

    def slot(self, name: Any, kind: str = "ptr") -> str:
        """A number or an address of the array, read before the loop."""
        k = self.slots[name]
        if f"  %f{k} = load {kind}, ptr %fp{k}" not in self.first:
            self.first += [
                f"  %fp{k} = getelementptr i64, ptr %frame, i64 {k}",
                f"  %f{k} = load {kind}, ptr %fp{k}",
            ]
        return f"%f{k}"

    def scratch(self, count: int, kind: str) -> str:
        """Memory for a step."""
        self.taken += count * (4 if kind == FLOAT else 8)
        if self.taken > _STACK:
            raise Unsupported("a step keeps so much that the calls around it do not matter")
        name = f"%m{len(self.first)}"
        self.first.append(f"  {name} = alloca [{count} x {kind}], align 64")
        return name

    def at(self, pointer: str, kind: str, index: str) -> str:
        return self.new(f"getelementptr {kind}, ptr {pointer}, i64 {index}")

    def load(self, pointer: str, kind: str, index: str) -> str:
        return self.new(f"load {kind}, ptr {self.at(pointer, kind, index)}")

    def each(self, begin: str, end: str, body: Any) -> None:
        """A loop; ``body`` is called with the counter's name."""
        if (begin, end) == ("0", "1"):
            body("0")
            return
        self.numbers += 1
        n = self.numbers
        self.say(f"br label %h{n}")
        self.lines.append(f"h{n}:")
        place = len(self.lines)
        before, self.label = self.label, f"b{n}"
        self.say(f"%g{n} = icmp slt i64 %i{n}, {end}")
        self.say(f"br i1 %g{n}, label %b{n}, label %x{n}")
        self.lines.append(f"b{n}:")
        body(f"%i{n}")
        self.say(f"%n{n} = add nsw i64 %i{n}, 1")
        self.say(f"br label %h{n}")
        self.lines.insert(place, f"  %i{n} = phi i64 [{begin}, %{before}], [%n{n}, %{self.label}]")
        self.lines.append(f"x{n}:")
        self.label = f"x{n}"

    def text(self) -> str:
        recipe = self.recipe
        kind = recipe.kind
        inputs: dict[int, str] = {}
        self.relative = self.new("sub i64 %i, %first")
        self.after = self.new("add nsw i64 %i, 1")
        bounds = {}
        for k in recipe.csr:
            indptr = self.slot(("indptr", k))
            bounds[k] = self.load(indptr, "i64", "%i"), self.load(indptr, "i64", self.after)
        for dot in recipe.dots:
            inputs[dot.place] = self._product(dot, bounds[dot.data])
        for k in recipe.rows:
            array = recipe.part.inputs[k]
            offset = self.new(f"mul i64 %i, {elements(array.shape)}")
            inputs[k] = self.at(self.slot(("row", k)), array.kind, offset)
        for k in recipe.held:
            inputs[k] = self.slot(("held", k))
        targets: dict[int, str] = {}
        for k, array in recipe.part.targets.items():
            if k in recipe.outputs:
                offset = self.new(f"mul i64 {self.relative}, {elements(array.shape)}")
                targets[k] = self.at(self.slot(("output", k)), kind, offset)
            else:
                targets[k] = self.scratch(elements(array.shape), kind)
        given = [inputs[k] for k in recipe.part.inputs] + [targets[k] for k in recipe.part.targets]
        self.say(f"call void @row({', '.join(f'ptr {x}' for x in ('%table', *given))})")
        for number, update in enumerate(recipe.updates):
            self._update(number, update, targets[update.target], bounds)
        return self._whole()

    def _product(self, dot: Dot, bounds: tuple[str, str]) -> str:
        """The row times the weight, summed in double precision."""
        kind, width = self.recipe.kind, dot.width
        total, result = self.scratch(width, "double"), self.scratch(width, kind)
        values, indices = self.slot(("values", dot.data)), self.slot(("indices", dot.data))
        weight = self.slot(("held", dot.weight))
        self.say(f"call void @llvm.memset.p0.i64(ptr {total}, i8 0, i64 {8 * width}, i1 false)")

        def entry(j: str) -> None:
            value = self._wide(self.load(values, kind, j))
            base = self.new(f"mul i64 {self.load(indices, 'i64', j)}, {width}")

            def column(c: str) -> None:
                place = self.new(f"add i64 {base}, {c}")
                other = self._wide(self.load(weight, kind, place))
                product = self.new(f"fmul double {value}, {other}")
                at = self.at(total, "double", c)
                before = self.new(f"load double, ptr {at}")
                after = self.new(f"fadd double {before}, {product}")
                self.say(f"store double {after}, ptr {at}")

            self.each("0", str(width), column)

        self.each(*bounds, entry)

        def narrow(c: str) -> None:
            value = self.load(total, "double", c)
            if kind == FLOAT:
                value = self.new(f"fptrunc double {value} to float")
            self.say(f"store {kind} {value}, ptr {self.at(result, kind, c)}")

        self.each("0", str(width), narrow)
        return result

    def _wide(self, value: str) -> str:
        return self.new(f"fpext float {value} to double") if self.recipe.kind == FLOAT else value

    def _update(
        self, number: int, update: Update, target: str, bounds: dict[int, tuple[str, str]]
    ) -> None:
        recipe, kind, width = self.recipe, self.recipe.kind, update.width
        held = [self.slot(("held", update.weight))]
        held += [self.slot(("state", update.weight, j)) for j in range(recipe.states)]
        numbers = self._settings(number)

        def step(weight_states: list[str], gradient: str, size: int) -> None:
            weight, *states = weight_states
            given = ", ".join(f"ptr {x}" for x in (weight, gradient, *states))
            self.say(f"call void @step({given}, i64 {size}, {numbers})")

        if update.how == "dense":
            step(held, target, update.size)
            return
        values, indices = (self.slot((what, update.data)) for what in ("values", "indices"))

        def outer(j: str, gradient: str, base: str) -> None:
            value = self.load(values, kind, j)

            def column(c: str) -> None:
                product = self.new(f"fmul {kind} {value}, {self.load(target, kind, c)}")
                place = self.new(f"add i64 {base}, {c}")
                self.say(f"store {kind} {product}, ptr {self.at(gradient, kind, place)}")

            self.each("0", str(width), column)

        def base_of(j: str) -> str:
            return self.new(f"mul i64 {self.load(indices, 'i64', j)}, {width}")

        if update.how == "rows":
            gradient = self.scratch(width, kind)

            def entry(j: str) -> None:
                outer(j, gradient, "0")
                base = base_of(j)
                step([self.at(x, kind, base) for x in held], gradient, width)

            self.each(*bounds[update.data], entry)
            return
        gradient = self.slot(("gradient", update.weight))
        self.each(*bounds[update.data], lambda j: outer(j, gradient, base_of(j)))
        step(held, gradient, update.size)

        def clear(j: str) -> None:
            place = self.at(gradient, kind, base_of(j))
            size = width * (4 if kind == FLOAT else 8)
            self.say(f"call void @llvm.memset.p0.i64(ptr {place}, i8 0, i64 {size}, i1 false)")

        self.each(*bounds[update.data], clear)

    def _settings(self, number: int) -> str:
        """The numbers of a parameter in this step, as ``@step`` takes them."""
        arity, kind = self.recipe.arity, self.recipe.kind
        offset = self.new(f"mul i64 {self.relative}, {self.slot('stride', 'i64')}")
        row = self.at(self.slot("settings"), "double", offset)
        found = []
        for k in range(arity):
            value = self.load(row, "double", str(number * arity + k))
            if kind == FLOAT:
                value = self.new(f"fptrunc double {value} to float")
            found.append(f"{kind} {value}")
        return ", ".join(found)

    def _whole(self) -> str:
        start, stop = self.slot("start", "i64"), self.slot("stop", "i64")
        entry = [f"call ptr @entry(ptr %table, i64 {TABLE.index(n)})" for n in _USED]
        return "\n".join(
            [
                "define ptr @part(ptr %self, ptr %args, i64 %count) {\nstart:",
                "  %tablep = getelementptr i8, ptr %self, i64 16",
                "  %table = load ptr, ptr %tablep",
                "  %given = load ptr, ptr %args",
                f"  %framep = getelementptr i8, ptr %given, i64 {LAYOUT['data']}",
                "  %frame = load ptr, ptr %framep",
                *self.first,
                *[f"  %use{k} = {text}" for k, text in enumerate(entry)],
                f"  %first = add i64 {start}, 0",
                "  %saved = call ptr %use0()",
                f"  %some = icmp slt i64 {start}, {stop}",
                "  br i1 %some, label %row, label %done",
                "row:",
                f"  %i = phi i64 [{start}, %start], [{self.after}, %{self.label}]",
                *self.lines,
                f"  %more = icmp slt i64 {self.after}, {stop}",
                "  br i1 %more, label %row, label %done",
                "done:",
                "  call void %use1(ptr %saved)",
                "  call void %use2(ptr %use3)",
                "  ret ptr %use3\n}\n",
            ]
        )


_USED = ("PyEval_SaveThread", "PyEval_RestoreThread", "Py_IncRef", "None")
