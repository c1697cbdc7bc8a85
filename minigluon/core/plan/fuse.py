"""Which nodes of a plan are compiled, and in which parts.

The nodes that can be are gathered in stages: a stage holds all compiled nodes that wait for the
same number of calls of other kernels, so a plan alternates between kernels and a few compiled
functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ... import config
from ...base import MXNetError
from ...kernels.scalar import Unsupported
from .. import infer
from ..graph import Entry, Node, topological
from .loops import KINDS, Array, copied, elements, in_order, reshaped

#: operator name -> (the function that describes it by arrays, what else that is handed)
LOWERINGS: dict[str, tuple[Callable[..., Any], bool, bool, bool]] = {}
#: a part of fewer maps and reductions than this is not worth a call of its own
FEWEST = 2
#: characters of LLVM's language that a function of a plan may have: 10,000 take 20 to 40 ms
LONGEST = 150_000
#: elements of elementwise work from which on a bound executor's plan is compiled
LARGE = 1 << 17
#: elements from which on numpy, which goes through arrays in their own order, is faster
SCATTERED = 1 << 12


def lowers(
    *names: str, gives_shape: bool = False, with_name: bool = False, with_training: bool = False
) -> Any:
    """Decorate the function that describes operators of these names by `Array`s.

    It takes the inputs as Arrays and the attributes as keywords, ``shape`` (of the result),
    ``name`` and ``training`` as well if asked for, and raises `Unsupported` where a kernel has to
    do it. One that asks for ``training`` is not tried where the mode may change.
    """

    def attach(function: Any) -> Any:
        for name in names:
            LOWERINGS[name] = (function, gives_shape, with_name, with_training)
        return function

    return attach


#: operator name -> a function of shapes, dtype and attributes that gives a kernel for just these
EXACT: dict[str, Callable[..., Any]] = {}


def exactly(name: str) -> Any:
    """Decorate a function of input shapes, a dtype and attributes that makes a kernel or None.

    The kernel gives the bits of the operator's own, for dense inputs of these shapes, in less time.
    """

    def attach(function: Any) -> Any:
        EXACT[name] = function
        return function

    return attach


def exact_kernel(node: Node, known: Facts | None, kinds: Mapping[Entry, Any]) -> Any:
    """The kernel for just the shapes of a node; None if there is none."""
    call = node.call
    maker = None if known is None or call is None else EXACT.get(call.op.name)
    if maker is None:
        return None
    assert known is not None and call is not None
    entries = [e for e in node.inputs if e is not None]
    if any(kinds[e] is not np.ndarray or not infer.known(known.shapes.get(e)) for e in entries):
        return None
    return maker([known.shapes[e] for e in entries], known.dtypes[entries[0]], **call.attrs)


class Facts:
    """Shapes and dtypes of every entry of a graph, for arguments of these shapes and dtypes.

    ``training`` says in which mode the graph is run; None if in either.
    """

    __slots__ = ("dtypes", "shapes", "training")

    def __init__(
        self, shapes: dict[Entry, Any], dtypes: dict[Entry, Any], training: bool | None = None
    ):
        self.shapes, self.dtypes, self.training = shapes, dtypes, training

    def array(self, entry: Entry, number: int = -1) -> Array:
        """The entry as an input; raises `Unsupported` if it is not an array of floats."""
        found = self.find(entry, number)
        if found is None:
            raise Unsupported(f"{entry[0].name}: not float32 or float64 of known shape")
        return found

    def find(self, entry: Entry, number: int) -> Array | None:
        """The same, or None."""
        shape: Any = self.shapes.get(entry)
        dtype = self.dtypes.get(entry)
        kind = None if dtype is None else KINDS.get(dtype)
        if kind is None or not infer.known(shape) or not elements(shape):
            return None
        return Array("input", shape, kind, (), number)

    def work(self) -> int:
        """How many elements the results have of operators that can be compiled."""
        sizes = [
            elements(shape) for (node, _), shape in self.shapes.items()
            if node.call is not None and node.call.op.name in LOWERINGS and infer.known(shape)
        ]  # fmt: skip
        return sum(sizes)

    def learn(self, entry: Entry, other: Entry) -> None:
        """An entry is like another."""
        self.shapes[entry], self.dtypes[entry] = self.shapes[other], self.dtypes[other]

    def like(self, entry: Entry) -> Like:
        """What answers for the entry where only its shape and dtype are asked for."""
        return Like(self.shapes[entry], self.dtypes[entry])


class Like:
    """Stands for an array of which only shape and dtype are read."""

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: Any):
        self.shape, self.dtype = shape, dtype

    @property
    def ndim(self) -> int:
        """How many axes there are."""
        return len(self.shape)


def facts(
    heads: Sequence[Entry | None], shapes: Mapping[Node, Any], dtypes: Mapping[Node, Any],
    training: bool | None,
) -> Facts | None:  # fmt: skip
    """What follows for a graph from the arguments; None where inference finds a contradiction."""
    known = [h for h in heads if h is not None]
    try:
        found = infer.solve(known, shapes, "shape")
        kinds = infer.solve(known, dtypes, "dtype")
    except MXNetError:
        return None
    return Facts(found, kinds, training)


def wanted() -> bool:
    """Whether plans are to be compiled."""
    return config.get("MINIGLUON_FUSE") != "never" and _available()


def _available() -> bool:
    from .cache import available  # not at start-up: it takes 5 ms, and LLVM 40 more

    return available()


def wanted_bound(data: Sequence[Any]) -> int | None:
    """How much work has to be in the plan of an executor on these arrays for it to be compiled.

    None if none would be enough. Scripts bind many small graphs, and each would take 20 ms.
    """
    choice = config.get("MINIGLUON_FUSE")
    if choice == "always":
        return 0 if wanted() else None
    size = sum(elements(x.shape) for x in data)
    return LARGE if choice != "never" and size >= LARGE // 64 and _available() else None


def lower(node: Node, inputs: Sequence[Array], known: Facts) -> tuple[Array, ...]:
    """The outputs of a node as Arrays; raises `Unsupported` if it has no such form."""
    call = node.call
    assert call is not None
    found = LOWERINGS.get(call.op.name)
    if found is None:
        raise Unsupported(f"{call.op.name} has no compiled form")
    if node.attrs and node.attrs.get("__stype__", "default") != "default":
        raise Unsupported("a sparse result is asked for")
    function, gives_shape, with_name, with_training = found
    attrs = dict(call.attrs)
    if with_training:
        if known.training is None:
            raise Unsupported(f"{call.op.name} in a graph for training and prediction")
        attrs["training"] = known.training
    if gives_shape:
        attrs["shape"] = known.shapes[(node, 0)]
    if with_name:
        attrs["name"] = call.op.name
    got = function(*inputs, **attrs)
    results = list(got) if isinstance(got, tuple) else [got]
    for k, result in enumerate(results):
        wants = known.array((node, k))
        if result.shape == () and wants.shape == (1,):  # users see no arrays without axes
            result = results[k] = reshaped(result, (1,))
        if result.shape != wants.shape or result.kind != wants.kind:
            raise Unsupported(f"{call.op.name}: {result.shape} instead of {wants.shape}")
    return tuple(results)


def reasons(
    order: Sequence[Node], known: Facts, dense: Callable[[Entry], bool]
) -> dict[Node, str | None]:
    """For each node why it is not compiled, or None if it can be."""
    found: dict[Node, str | None] = {}
    scattered: set[Entry] = set()  # what kernels give in an order that loops do not like
    for node in order:
        try:
            inputs = []
            for entry in node.inputs:
                if entry is None:
                    continue
                if not dense(entry):
                    raise Unsupported("a sparse input")
                if entry in scattered:
                    raise Unsupported("a large input in another order")
                inputs.append(known.array(entry))
            if not dense((node, 0)):
                raise Unsupported("a sparse result")
            for k, array in enumerate(lower(node, inputs, known)):
                if elements(array.shape) > SCATTERED and not in_order(array):
                    scattered.add((node, k))
            if (node, 0) in scattered:
                raise Unsupported("a large result in another order")
            found[node] = None
        except Unsupported as error:
            found[node] = str(error)
    return found


class Stage:
    """Nodes that one compiled function computes, in order."""

    __slots__ = ("nodes", "results", "takes")

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.takes: list[Entry] = []
        self.results: list[Entry] = []


def stages(
    order: Sequence[Node], compiled: set[Node], results: Sequence[Entry | None]
) -> list[Stage | Node]:
    """Kernels' nodes and compiled stages in the order they are run.

    Kernels keep their order among those of one level; those that draw random numbers or write into
    their inputs keep it altogether.
    """
    level: dict[Node, int] = {}
    keeper = 0
    for node in order:
        here = 0
        mine = node in compiled
        for entry in node.inputs:
            if entry is None or entry[0] not in level:
                continue
            source = entry[0]
            here = max(here, level[source] + (source in compiled and not mine))
        call = node.call
        assert call is not None
        if not mine and (call.op.mutates or "rng" in call.op.injects):
            here = keeper = max(here, keeper)
        level[node] = here
    _sink(order, compiled, results, level)
    steps: list[Stage | Node] = []
    for k in range(max(level.values(), default=-1) + 1):
        steps += [n for n in order if level[n] == k and n not in compiled]
        stage = Stage()
        stage.nodes = [n for n in order if level[n] == k and n in compiled]
        if stage.nodes:
            steps.append(stage)
    return steps


def _sink(
    order: Sequence[Node], compiled: set[Node], results: Sequence[Entry | None],
    level: dict[Node, int],
) -> None:  # fmt: skip
    """Move compiled nodes to the later stage that reads them, where fewer arrays then go from stage
    to stage: what depends on arguments only, and what one stage reads of one value."""
    users: dict[Node, set[Node]] = {}
    for node in order:
        for entry in node.inputs:
            if entry is not None:
                users.setdefault(entry[0], set()).add(node)
    heads = {e[0] for e in results if e is not None}
    free: set[Node] = set()
    for node in order:
        sources = {e[0] for e in node.inputs if e is not None and e[0] in level}
        if node in compiled and sources <= free:
            free.add(node)
    for node in reversed(order):
        if node not in compiled or node in heads:
            continue
        later = {level[u] - (u not in compiled) for u in users.get(node, ())}
        if node in free:
            level[node] = min(later, default=0)
            continue
        # what kernels made would have to stay in memory for longer
        taken = {e[0] for e in node.inputs if e is not None and e[0] in level}
        if len(later) == 1 and users[node] <= compiled and len(taken) <= 1 and taken <= compiled:
            level[node] = later.pop()


def describe_arrays(stage: Stage, known: Facts, given: Mapping[Entry, Array]) -> dict[Entry, Array]:
    """Every entry of a stage as an Array, from the Arrays it is given."""
    arrays = dict(given)
    for node in stage.nodes:
        inputs = [arrays[e] for e in node.inputs if e is not None]
        for k, result in enumerate(lower(node, inputs, known)):
            arrays[(node, k)] = result
    return arrays


def distinct(results: Sequence[Array], fresh: int | None = None) -> list[Array]:
    """Results with memory of their own: copies where it is not theirs.

    Those from number ``fresh`` on may share memory with others.
    """
    seen: set[int] = set()
    made = []
    for k, array in enumerate(results):
        if array.role not in ("map", "join", "product") or (
            id(array) in seen and (fresh is None or k < fresh)
        ):
            array = copied(array)
        seen.add(id(array))
        made.append(array)
    return made


def recomputed(
    read: Sequence[Entry], arguments: set[Entry], known: Facts, dense: Callable[[Entry], bool],
    by_kernels: set[Entry],
) -> set[Entry]:  # fmt: skip
    """The values read by a backward pass that it can rather compute anew than be given.

    Those are chains of maps over arguments and over values that are kept anyway: computing costs
    less than writing them to memory and reading them back. What kernels read has to be there.
    """
    mutated = {
        e for n in topological(read) if n.call is not None and n.call.op.mutates for e in n.inputs
    }
    firm = set(read) | (arguments - mutated)
    dropped: set[Entry] = set()
    for entry in read:
        if entry in by_kernels:
            continue
        cone: set[Node] = set()
        frontier = [entry]
        while frontier and len(cone) <= 16:
            node = frontier.pop()[0]
            if node in cone:
                continue
            cone.add(node)
            frontier += [
                e for e in node.inputs
                if e is not None and (e not in firm or e in dropped) and e[0] not in cone
            ]  # fmt: skip
            if node.call is None:
                break
        else:
            if frontier:
                continue
            order = [n for n in topological([entry]) if n in cone]
            if all(_is_map(n, known, dense) for n in order):
                dropped.add(entry)
    return dropped


def values_read(nodes: Iterable[Node]) -> set[Entry]:
    """The entries of which nodes read more than shape and dtype."""
    found: set[Entry] = set()
    for node in nodes:
        call = node.call
        if call is None:
            continue
        op = call.op
        names = op.names_of_inputs(call.attrs, len(node.inputs))
        for k, entry in enumerate(node.inputs):
            role = op.variadic if op.variadic and k >= len(op.inputs) else names[k]
            if entry is not None and role not in op.shape_only:
                found.add(entry)
    return found


def _is_map(node: Node, known: Facts, dense: Callable[[Entry], bool]) -> bool:
    try:
        if not all(dense(e) for e in node.inputs if e is not None):
            return False
        inputs = [known.array(e) for e in node.inputs if e is not None]
        for result in lower(node, inputs, known):
            stack = [result]
            while stack:
                array = stack.pop()
                if array.role not in ("map", "input"):
                    return False
                stack += array.sources
    except Unsupported:
        return False
    return True
