"""Arrays described by loops: the small language that compiled parts of a plan are lowered to.

An `Array` is an input, a map (one number from the numbers at the same place of other arrays, which
broadcast), a reduction, a view (the memory of another array with other strides), a join (memory
that several maps fill), or a product that BLAS computes. A small matrix product is a reduction over
the product of two views. `schedule` puts maps and reductions of one iteration shape into one loop.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ...kernels.scalar import DOUBLE, FLOAT, Block, Unsupported, Value

Shape = tuple[int, ...]
KINDS = {np.dtype(np.float32): FLOAT, np.dtype(np.float64): DOUBLE}


class Array:
    """A node of the language.

    ``role`` is "input", "map", "reduce", "view", "join", "product" or "positions"; ``detail`` what
    the role needs: the number of the argument, the function of numbers, ``(how, axes)``,
    ``(strides, offset)`` in elements, nothing, for each operand whether it is transposed and the
    step between its rows, or the axis along which positions are counted. ``into`` are the
    strides and the offset at which a map is written into the join that has it among its sources.
    """

    __slots__ = ("detail", "into", "kind", "loop", "role", "shape", "sources", "stored")

    def __init__(self, role: str, shape: Shape, kind: str, sources: Sequence[Array], detail: Any):
        self.role, self.shape, self.kind = role, shape, kind
        self.sources, self.detail = tuple(sources), detail
        self.into: tuple[Shape, int] | None = None
        self.stored = role == "input"  # whether it has memory of its own
        self.loop = -1

    @property
    def root(self) -> Array:
        """The array whose memory this is."""
        return self.sources[0] if self.role == "view" else self

    @property
    def domain(self) -> Shape:
        """What is iterated over to compute it."""
        return self.sources[0].shape if self.role == "reduce" else self.shape

    def strides(self) -> Shape:
        """Where its elements lie in the memory of its root."""
        if self.role == "positions":
            return tuple([int(k == self.detail) for k in range(len(self.shape))])
        return self.detail[0] if self.role == "view" else contiguous(self.shape)

    def offset(self) -> int:
        """Where its first element lies in the memory of its root."""
        return self.detail[1] if self.role == "view" else 0

    def __repr__(self) -> str:
        return f"<{self.role} {self.shape}>"


def contiguous(shape: Shape) -> Shape:
    """Strides of an array in C order, in elements."""
    strides, step = [], 1
    for d in reversed(shape):
        strides.append(step)
        step *= d
    return tuple(reversed(strides))


# ---- making arrays: what lowerings are written with


def mapped(function: Callable[..., Any], *sources: Array, shape: Shape | None = None) -> Array:
    """``function`` of the elements of arrays that broadcast together."""
    if shape is None:
        shape = np.broadcast_shapes(*[s.shape for s in sources])
    kinds = {s.kind for s in sources}
    if len(kinds) != 1:
        raise Unsupported("arrays of different types")
    kind = kinds.pop()
    function(*[Value(Block(), kind, "%x")] * len(sources))  # refuses now rather than later
    return Array("map", tuple(shape), kind, sources, function)


def full(value: float, like: Array) -> Array:
    """A number in the shape and type of another array, which is not read."""
    return Array("map", like.shape, like.kind, (), value)


def cast(x: Array, kind: str) -> Array:
    """The numbers in another type."""
    return x if x.kind == kind else Array("map", x.shape, kind, (x,), lambda v: v.to(kind))


def positions(like: Array, axis: int) -> Array:
    """0, 1, 2, ... along an axis of another array."""
    return Array("positions", like.shape, like.kind, (), axis)


def copied(x: Array) -> Array:
    """The same numbers in memory of their own."""
    return Array("map", x.shape, x.kind, (x,), lambda v: v)


def reduced(x: Array, axes: Iterable[int], how: str = "sum", keepdims: bool = False) -> Array:
    """The sum or maximum over some axes. Sums are added up in float64."""
    axes = tuple(axes)
    if how == "max" and x.kind != FLOAT:
        raise Unsupported("the maximum of float64")
    if not axes or all(x.shape[k] == 1 for k in axes):
        kept = x
    else:
        rest = tuple([d for k, d in enumerate(x.shape) if k not in axes])
        kept = Array("reduce", rest, x.kind, (x,), (how, axes))
    shape = [1 if k in axes else d for k, d in enumerate(x.shape) if keepdims or k not in axes]
    return reshaped(kept, tuple(shape))


def viewed(x: Array, shape: Shape, strides: Shape, offset: int = 0) -> Array:
    """The memory of an array seen with other strides, from another element on."""
    root = x.root
    offset += x.offset()
    if root.role == "map" and not root.sources and not callable(root.detail):
        return Array("map", shape, x.kind, (), root.detail)
    return Array("view", shape, x.kind, (root,), (strides, offset))


def reshaped(x: Array, shape: Shape) -> Array:
    """The same elements in another shape."""
    if x.shape == shape:
        return x
    if x.strides() != contiguous(x.shape):
        x = copied(x)
    return viewed(x, shape, contiguous(shape))


def in_order(x: Array) -> bool:
    """Whether elements that follow each other lie so in memory, at least along the last axis."""
    steps = [s for s, d in zip(x.strides(), x.shape, strict=True) if d > 1]
    return not steps or steps[-1] == 1


def sliced(x: Array, axis: int, begin: int, end: int) -> Array:
    """Part of an axis."""
    shape = list(x.shape)
    shape[axis] = end - begin
    strides = x.strides()
    return viewed(x, tuple(shape), strides, begin * strides[axis])


def joined(parts: Sequence[Array], axis: int) -> Array:
    """Arrays one after the other along an axis."""
    if len({p.kind for p in parts}) != 1:
        raise Unsupported("arrays of different types")
    parts = [p for p in parts if elements(p.shape)]
    if len(parts) == 1:
        return parts[0]
    shape = list(parts[0].shape)
    shape[axis] = sum(p.shape[axis] for p in parts)
    strides = contiguous(tuple(shape))
    filled, offset = [], 0
    for part in parts:
        mine = copied(part)
        mine.into = strides, offset * strides[axis]
        filled.append(mine)
        offset += part.shape[axis]
    return Array("join", tuple(shape), parts[0].kind, filled, None)


def padded(x: Array, shape: Shape, begins: Sequence[int]) -> Array:
    """Zeros of a shape with an array from ``begins`` on."""
    for axis, (begin, length) in enumerate(zip(begins, shape, strict=True)):
        before, after = list(x.shape), list(x.shape)
        before[axis], after[axis] = begin, length - begin - x.shape[axis]
        zeros = [Array("map", tuple(s), x.kind, (), 0.0) for s in (before, after)]
        x = joined([zeros[0], x, zeros[1]], axis)
    return x


def transposed(x: Array, axes: Sequence[int]) -> Array:
    """The axes in another order."""
    strides = x.strides()
    return viewed(x, tuple([x.shape[k] for k in axes]), tuple([strides[k] for k in axes]))


def product(a: Array, b: Array, transpose_a: bool = False, transpose_b: bool = False) -> Array:
    """The product of two matrices, added up in float64."""
    if transpose_a:
        a = transposed(a, (1, 0))
    if transpose_b:
        b = transposed(b, (1, 0))
    (n, k), (_, m) = a.shape, b.shape
    p, q = a.strides(), b.strides()
    left = viewed(a, (n, 1, k), (p[0], 0, p[1]))
    right = viewed(b, (1, m, k), (0, q[1], q[0]))
    return reduced(mapped(lambda x, y: x * y, left, right), (2,))


def multiplied(a: Array, b: Array) -> Array:
    """The product of two matrices by BLAS."""
    if a.kind != b.kind:
        raise Unsupported("arrays of different types")
    (a, *how_a), (b, *how_b) = _operand(a), _operand(b)
    return Array("product", (a.shape[0], b.shape[1]), a.kind, (a, b), (tuple(how_a), tuple(how_b)))


def _operand(x: Array) -> tuple[Array, bool, int]:
    """A matrix as BLAS takes it: in memory as it is, whether transposed, and the step of rows."""
    if x.root.role not in ("input", "map", "join", "product") or x.root.into is not None:
        x = copied(x)
    rows, columns = x.shape
    down, along = x.strides()
    if (along == 1 or columns == 1) and (down >= columns or rows == 1):
        return x, False, max(down, columns)
    if (down == 1 or rows == 1) and (along >= rows or columns == 1):
        return x, True, max(along, rows)
    return copied(x), False, columns


# ---- loops


class Loop:
    """Maps and reductions that are computed together, over one shape; or one product."""

    __slots__ = ("arrays", "shape", "work")

    def __init__(self, shape: Shape, product: Array | None = None):
        self.shape = shape
        self.arrays: list[Array] = [] if product is None else [product]
        self.work = elements(shape)
        if product is not None:
            self.work *= product.sources[0].shape[1]

    @property
    def product(self) -> Array | None:
        """The product that this is instead of a loop."""
        return self.arrays[0] if self.arrays and self.arrays[0].role == "product" else None


def schedule(results: Sequence[Array]) -> list[Loop]:
    """Loops that compute the results, in order; marks the arrays that have to be stored.

    An array goes into the first loop of its shape that comes after everything it reads; what it
    reads from an earlier loop is stored.
    """
    loops: list[Loop] = []
    for result in results:
        result.stored = True
    for array in ordered(results):
        if array.role == "join":
            array.stored = True
            array.loop = max(part.loop for part in array.sources)
        if array.role == "product":
            array.loop = len(loops)
            loops.append(Loop(array.shape, array))
            for matrix in (array, *array.sources):
                matrix.root.stored = True
        if array.role not in ("map", "reduce"):
            continue
        domain = array.domain
        first = 0
        for source in array.sources:
            root = source.root
            if root.role in ("input", "positions"):
                continue
            together = source is root and root.role == "map" and root.shape == domain
            first = max(first, root.loop if together else root.loop + 1)
        for k in range(first, len(loops)):
            if loops[k].shape == domain and loops[k].product is None:
                array.loop = k
                break
        else:
            array.loop = len(loops)
            loops.append(Loop(domain))
        loops[array.loop].arrays.append(array)
        if array.role == "reduce" or array.into is not None:
            array.stored = True
        for source in array.sources:
            root = source.root
            if source is not root or root.shape != domain or root.loop != array.loop:
                root.stored = True
    return loops


def ordered(results: Sequence[Array]) -> list[Array]:
    """Everything the results are made of, sources first."""
    order: list[Array] = []
    done: set[int] = set()
    stack: list[tuple[Array, bool]] = [(r, False) for r in reversed(results)]
    while stack:
        array, ready = stack.pop()
        if ready:
            order.append(array)
        elif id(array) not in done:
            done.add(id(array))
            stack.append((array, True))
            stack.extend((s, False) for s in reversed(array.sources) if id(s) not in done)
    return order


def operand_strides(array: Array, domain: Shape) -> Shape:
    """How far one step along each axis of the domain moves in an array that broadcasts to it."""
    strides, shape = array.strides(), array.shape
    missing = len(domain) - len(shape)
    own = [0 if d == 1 else s for d, s in zip(shape, strides, strict=True)]
    return (*[0] * missing, *own)


def result_strides(array: Array) -> Shape:
    """The same for what a loop writes: 0 along the axes a reduction sums over."""
    if array.into is not None:
        return array.into[0]
    if array.role == "map":
        return contiguous(array.shape)
    _, axes = array.detail
    strides = iter(contiguous(array.shape))
    return tuple([0 if k in axes else next(strides) for k in range(len(array.domain))])


def collapse(shape: Shape, moves: list[Shape], reorder: bool) -> tuple[Shape, list[Shape]]:
    """The domain with fewer axes: those of length one left out, neighbours joined where all agree.

    With ``reorder`` the axis along which most arrays are read in order comes last.
    """
    axes = [k for k, d in enumerate(shape) if d != 1]
    if reorder and axes:
        last = max(axes, key=lambda k: (sum(m[k] <= 1 for m in moves), k))
        axes = [*[k for k in axes if k != last], last]
    sizes = [shape[k] for k in axes]
    steps = [[m[k] for k in axes] for m in moves]
    k = len(sizes) - 2
    while k >= 0:
        if all(s[k] == s[k + 1] * sizes[k + 1] for s in steps):
            sizes[k] *= sizes.pop(k + 1)
            for s in steps:
                s[k] = s.pop(k + 1)
        k -= 1
    return tuple(sizes), [tuple(s) for s in steps]


def elements(shape: Shape) -> int:
    """How many there are."""
    return math.prod(shape)
