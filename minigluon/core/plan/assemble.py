"""A plan's function made of compiled parts and of kernels between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..graph import Entry, Node
from . import cache
from .codegen import Part, module
from .emit import Emitted, Text, check_arguments, emit
from .fuse import (
    FEWEST,
    LONGEST,
    Facts,
    Stage,
    describe_arrays,
    distinct,
    lower,
    reasons,
    stages,
)  # fmt: skip
from .loops import Array, contiguous, copied, ordered

#: the operators that each compiled function was last made of, for whoever shows what runs
made_of: WeakKeyDictionary[Callable[..., Any], tuple[str, ...]] = WeakKeyDictionary()


def assemble(
    name: str, arguments: Sequence[Entry], results: Sequence[Entry | None],
    kinds: dict[Entry, Any], order: list[Node], known: Facts, fresh: int | None,
    phantoms: Mapping[Entry, Any],
) -> tuple[Emitted | None, list[str]]:  # fmt: skip
    """The function ``name`` with parts of it compiled, or None if nothing is.

    And for every node that is not compiled a line that says why.
    """
    if not order:
        return None, []
    dense = lambda e: kinds[e] is np.ndarray  # noqa: E731
    why = reasons(order, known, dense)
    emitted = None
    if all(r is None for r in why.values()):
        emitted = _whole(name, arguments, results, order, known, fresh, phantoms)
    if emitted is None:
        emitted = _mixed(name, arguments, results, kinds, order, known, fresh, why, phantoms)
    if emitted is None:
        why = {node: reason or "too little to compile around it" for node, reason in why.items()}
    return emitted, [f"# {node.call.op.name}: {r}" for node, r in why.items() if r and node.call]


def _whole(
    name: str, arguments: Sequence[Entry], results: Sequence[Entry | None], order: list[Node],
    known: Facts, fresh: int | None, phantoms: Mapping[Entry, Any],
) -> Emitted | None:  # fmt: skip
    """The plan as one compiled function."""
    given = {}
    for k, entry in enumerate(arguments):
        array = known.find(entry, k)
        if array is not None:  # else only its shape is read, or nobody reads it
            given[entry] = array
    given.update((entry, known.array(entry)) for entry in phantoms)
    stage = Stage()
    stage.nodes = order
    arrays = describe_arrays(stage, known, given)
    places = {entry: k for k, entry in enumerate(arguments)}
    wants: list[Array | int | None] = []
    for k, head in enumerate(results):
        if head is None:
            wants.append(None)
        elif head in places and not (fresh is None or k < fresh):
            wants.append(places[head])
        elif head in places:
            wants.append(copied(arrays[head]))
        else:
            wants.append(arrays[head])
    part = _part(len(arguments), [given.get(e) for e in arguments], wants, fresh)
    text = module(part)
    if len(text) > LONGEST:
        return None
    fast = cache.builtin(text)
    slow = _Otherwise(name, arguments, results, fresh, fast, phantoms)
    emitted = Emitted(_guarded(fast, slow), "", (), None)
    made_of[fast] = made_of[emitted.run] = _operators(order)
    emitted.fast, emitted.builtin = fast, True
    emitted.text = _picture(name, part, arguments, order)
    return emitted


def _part(
    count: int, inputs: Sequence[Array | None], wants: Sequence[Array | int | None],
    fresh: int | None,
) -> Part:  # fmt: skip
    """A part whose results have memory of their own, reading just the inputs it needs."""
    before = None if fresh is None else sum(isinstance(w, Array) for w in wants[:fresh])
    arrays = iter(distinct([w for w in wants if isinstance(w, Array)], before))
    final = [next(arrays) if isinstance(w, Array) else w for w in wants]
    reached = {id(a) for a in ordered([w for w in final if isinstance(w, Array)])}
    reads = {k: a for k, a in enumerate(inputs) if a is not None and id(a) in reached}
    return Part(count, reads, final)


def _guarded(fast: Callable[..., Any], slow: Callable[..., Any]) -> Callable[..., Any]:
    def run(*data: Any) -> Any:
        return fast(*data) or slow(*data)

    return run


class _Otherwise:
    """What runs when a compiled function refuses its arguments.

    Arrays that are merely laid out otherwise are copied, so that the results are the same as ever;
    everything else (numbers a compiled function is not exact for) goes to the kernels.
    """

    def __init__(
        self, name: str, arguments: Sequence[Entry], results: Sequence[Entry | None],
        fresh: int | None, fast: Callable[..., Any], phantoms: Mapping[Entry, Any],
    ):  # fmt: skip
        self.graph = (name, arguments, results, fresh, phantoms)
        self.fast = fast
        self.plain: Callable[..., Any] | None = None

    def __call__(self, *data: Any) -> Any:
        tidy = [_tidied(x) for x in data]
        if any(x is not y for x, y in zip(tidy, data, strict=True)):
            found = self.fast(*tidy)
            if found is not None:
                return found
        if self.plain is None:
            name, arguments, results, fresh, phantoms = self.graph
            types = [type(x) for x in data]
            self.plain = emit(
                name, arguments, results, types, fresh=fresh, phantoms=phantoms
            ).run  # fmt: skip
        return self.plain(*data)


def _tidied(x: Any) -> Any:
    """An array in C order with numpy's own dtype object, if it is an array of floats."""
    if type(x) is not np.ndarray or x.dtype.kind != "f":
        return x
    return np.require(x, np.dtype(x.dtype.name), ["C", "A"])


# ---- several parts


def _mixed(
    name: str, arguments: Sequence[Entry], results: Sequence[Entry | None],
    kinds: dict[Entry, Any], order: list[Node], known: Facts, fresh: int | None,
    why: dict[Node, str | None], phantoms: Mapping[Entry, Any],
) -> Emitted | None:  # fmt: skip
    """Python that calls compiled parts and kernels in turn."""
    fused = {n for n, r in why.items() if r is None}
    fused = _worthwhile(order, fused, results, known)
    steps, parts = _parts(order, fused, results, known)
    while True:
        texts = [module(part) for part in parts]
        beyond = _beyond(steps, texts)
        if not beyond:
            break
        why.update(dict.fromkeys(beyond, "the plan is too long to compile all of it"))
        fused -= beyond
        steps, parts = _parts(order, fused, results, known)
    if not parts:
        return None
    functions = iter([cache.builtin(text) for text in texts])
    out = Text(name, arguments, phantoms)
    last = _last_steps(steps, results)
    dispatches: dict[Node, Any] = {}
    pictures = []
    numbered = iter(parts)
    for number, step in enumerate(steps):
        if isinstance(step, Stage):
            function = next(functions)
            made_of[function] = _operators(step.nodes)
            _call_part(out, step, function, known, number)
            pictures.append(_picture(f"c{number}", next(numbered), step.takes, step.nodes))
            read = step.takes
        else:
            call = step.call
            assert call is not None
            hint = step.attrs.get("__stype__") if step.attrs else None
            inputs = tuple([kinds[e] for e in step.inputs if e is not None])
            dispatch = dispatches[step] = call.resolve(inputs, hint)
            out.call(step, dispatch.kernel)
            read = [e for e in step.inputs if e is not None]
        out.forget([e for e in read if last.get(e) is step])
    checks = check_arguments(out, arguments, kinds, known)
    emitted = out.finish(results, fresh, kinds, dispatches, checks)
    emitted.text = "\n".join([*pictures, emitted.text])
    return emitted


def checks(
    out: Text, arguments: Sequence[Entry], kinds: dict[Entry, Any], known: Facts
) -> list[str]:
    """Lines that return None unless the arguments have the shapes and dtypes of ``known``.

    Arrays of floats are looked at by one compiled function: 0.1 us for five of them.
    """
    lines = []
    seen: dict[int, Array] = {}
    for k, entry in enumerate(arguments):
        if entry not in known.dtypes:  # an argument that the graph does not read
            continue
        array = known.find(entry, k) if kinds[entry] is np.ndarray else None
        if array is not None:
            seen[k] = array
            continue
        out.environment.update({f"kind{k}": kinds[entry], f"dtype{k}": known.dtypes[entry]})
        lines.append(
            f"if type(a{k}) is not kind{k} or a{k}.shape != {known.shapes[entry]!r} "
            f"or a{k}.dtype != dtype{k}: return None"
        )
    if seen:
        out.environment["fits"] = cache.builtin(module(Part(len(arguments), seen, [])))
        given = ", ".join(f"a{k}" for k in range(len(arguments)))
        lines.insert(0, f"if fits({given}) is None: return None")
    return lines


def _beyond(steps: Sequence[Stage | Node], texts: Sequence[str]) -> set[Node]:
    """The nodes of the parts that would make the texts too long; equal ones count once."""
    total = 0
    seen: set[str] = set()
    found: set[Node] = set()
    for stage, text in zip([s for s in steps if isinstance(s, Stage)], texts, strict=True):
        total += 0 if text in seen else len(text)
        seen.add(text)
        if total > LONGEST:
            found.update(stage.nodes)
    return found


def _call_part(
    out: Text, stage: Stage, function: Callable[..., Any], known: Facts, number: int
) -> None:
    """The line that calls a compiled part, and the kernels if it refuses."""
    name = f"c{number}"
    out.environment[name] = function
    inside = set(stage.nodes)
    outer = [e for n in stage.nodes for e in n.inputs if e is not None and e[0] not in inside]
    others = {e: known.like(e) for e in outer if e not in stage.takes}
    slow = _Otherwise(name, list(stage.takes), list(stage.results), None, function, others)
    out.environment[f"s{number}"] = slow
    taken = ", ".join(out.names[e] for e in stage.takes)
    given = [f"{name}_{k}" for k in range(len(stage.results))]
    out.lines.append(f"{', '.join(given)}, = {name}({taken}) or s{number}({taken})")
    out.names.update(zip(stage.results, given, strict=True))


def _worthwhile(
    order: Sequence[Node], fused: set[Node], results: Sequence[Entry | None], known: Facts
) -> set[Node]:
    """The nodes to compile without views at the edges, which cost nothing as kernels."""
    fused = set(fused)
    views = {n for n in fused if _is_view(n, known)}
    for node in order:
        first = node.inputs[0] if node in views else None
        if first is not None and first[0] not in fused:
            fused.discard(node)
    users: dict[Node, list[Node]] = {}
    for node in order:
        for entry in node.inputs:
            if entry is not None:
                users.setdefault(entry[0], []).append(node)
    heads = {e[0] for e in results if e is not None}
    for node in reversed(order):
        used = node in heads or any(u in fused for u in users.get(node, ()))
        if node in views and not used:
            fused.discard(node)
    return fused


def _is_view(node: Node, known: Facts) -> bool:
    """Whether a node gives its input's memory in the same order, in another shape."""
    assert node.call is not None
    if not (node.call.op.view or node.call.op.copies_view):
        return False
    results = lower(node, [known.array(e) for e in node.inputs if e is not None], known)
    return all(r.role == "view" and r.strides() == contiguous(r.shape) for r in results)


def _parts(
    order: Sequence[Node], fused: set[Node], results: Sequence[Entry | None], known: Facts
) -> tuple[list[Stage | Node], list[Part]]:
    """The steps and the compiled parts among them; small parts become kernels again."""
    while True:
        steps = stages(order, fused, results)
        parts = []
        small: set[Node] = set()
        for step in steps:
            if not isinstance(step, Stage):
                continue
            part = _stage_part(step, order, results, known)
            if sum(len(loop.arrays) for loop in part.loops) < FEWEST:
                small.update(step.nodes)
            parts.append(part)
        if not small:
            return steps, parts
        fused = fused - small


def _stage_part(
    stage: Stage, order: Sequence[Node], results: Sequence[Entry | None], known: Facts
) -> Part:
    inside = set(stage.nodes)
    outer = [e for n in stage.nodes for e in n.inputs if e is not None and e[0] not in inside]
    given = {e: known.array(e) for e in dict.fromkeys(outer)}
    arrays = describe_arrays(stage, known, given)
    read = {e for n in order if n not in inside for e in n.inputs if e is not None}
    read.update(e for e in results if e is not None)
    stage.results = [(n, k) for n in stage.nodes for k in range(_outputs(n)) if (n, k) in read]
    wants = distinct([arrays[e] for e in stage.results])
    reached = {id(a) for a in ordered(wants)}
    stage.takes = [e for e, a in given.items() if id(a) in reached]
    inputs = {k: given[e] for k, e in enumerate(stage.takes)}
    return Part(len(inputs), inputs, wants)


def _outputs(node: Node) -> int:
    assert node.call is not None
    return node.call.outputs


def _last_steps(
    steps: Sequence[Stage | Node], results: Sequence[Entry | None]
) -> dict[Entry, Stage | Node]:
    """For each entry that is not a result, the last step that reads it."""
    last: dict[Entry, Stage | Node] = {}
    for step in steps:
        for entry in step.takes if isinstance(step, Stage) else step.inputs:
            if entry is not None:
                last[entry] = step
    for entry in results:
        if entry is not None:
            last.pop(entry, None)
    return last


def _operators(nodes: Sequence[Node]) -> tuple[str, ...]:
    return tuple([n.call.op.name for n in nodes if n.call is not None])


def _picture(name: str, part: Part, takes: Sequence[Entry], nodes: Sequence[Node]) -> str:
    """A compiled part in words: what it reads, and its loops with the operators in them."""
    read = [f"a{k} {a.shape}" for k, a in part.inputs.items()]
    lines = [f"compiled {name}({', '.join(read)}):"]
    lines.append(f"    # {', '.join(_operators(nodes))}")
    for loop in part.loops:
        if loop.product is not None:
            shape = (*loop.shape, loop.product.sources[0].shape[1])
            lines.append(f"    product {' x '.join(map(str, shape))}")
            continue
        maps = sum(a.role == "map" for a in loop.arrays)
        sums = [a.detail[0] for a in loop.arrays if a.role == "reduce"]
        stored = sum(a.stored for a in loop.arrays)
        over = " x ".join(map(str, loop.shape)) or "1"
        lines.append(
            f"    loop {over}: {maps} maps, {', '.join(sums) or 'no'} reductions, {stored} stored"
        )
    lines.append("")
    return "\n".join(lines)
