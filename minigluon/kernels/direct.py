"""Convolution without a matrix of windows: data laid out so that windows are shifts of one another.

Data of some samples are copied into a buffer in which the vectors of `tiles` lie side by side:

* *flat*: planes ``(channels, phases, samples, rows, columns)``, padded. A vector is neighbours in
  a plane, so some are computed that belong to no window, where a row goes over into the next.
* *batched*: the same with as many samples as a vector has lanes as the last axis. Nothing is
  wasted, for the price of a transposition.

Strides split a plane into phases (every second element, ...), within which windows move by one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import prod
from typing import Any, NamedTuple

import numpy as np

from . import _memory, tiles
from ._jit import has_numba, jit

#: bytes of data and results worked on at a time, which should stay in an L2 cache
BLOCK_BYTES = 3 << 18
#: below this many multiplications BLAS is faster than loading numba and LLVM
FEWEST = 1_000_000
#: and below this many places it is faster than packing the weight
FEWEST_PLACES = 64


class Axis(NamedTuple):
    """Where along an axis the factors of a sum are: of data at ``origin + (n + shift) * step``.

    ``n`` numbers the sums; for every element of the kernel that takes part there is its ``tap``
    (its number), a shift, and the phase: what is added to that for positions between steps.
    """

    places: int
    origin: int
    step: int
    taps: tuple[int, ...]
    shifts: tuple[int, ...]
    phases: tuple[int, ...]


def forward_axis(places: int, kernel: int, stride: int, dilate: int, pad: int) -> Axis:
    """The axis of a convolution.

    >>> forward_axis(2, 3, 2, 1, 1)
    Axis(places=2, origin=-1, step=2, taps=(0, 1, 2), shifts=(0, 0, 1), phases=(0, 1, 0))
    """
    reach = [i * dilate for i in range(kernel)]
    return Axis(
        places, -pad, stride, tuple(range(kernel)),
        tuple([r // stride for r in reach]), tuple([r % stride for r in reach]),
    )  # fmt: skip


def _ranges(axis: Axis, size: int) -> Any:
    """For each place the first tap that is not padding, and the last + 1; taps are in order."""
    at = axis.origin + np.arange(axis.places)[:, None] * axis.step
    at = at + [s * axis.step + p for s, p in zip(axis.shifts, axis.phases, strict=True)]
    inside = (at >= 0) & (at < size)
    first = inside.argmax(axis=1)
    return np.stack([first, first + inside.sum(axis=1)], axis=1)


class Phase(NamedTuple):
    """One phase of the results along an axis of the adjoint: elements ``first::step``."""

    first: int
    step: int
    axis: Axis


def backward_axes(size: int, kernel: int, stride: int, dilate: int, pad: int) -> list[Phase]:
    """The axes of a convolution's adjoint: for each phase of the data, where it finds gradients.

    All of them see gradients laid out alike.

    >>> [b.axis.taps for b in backward_axes(4, 3, 2, 1, 1)]
    [(1,), (0, 2)]
    """
    found = []
    for first in range(min(stride, size)):
        taps = [i for i in range(kernel) if (first + pad - i * dilate) % stride == 0]
        found.append((first, taps, [(first + pad - i * dilate) // stride for i in taps]))
    low = min([t for _, _, shifts in found for t in shifts])
    return [
        Phase(
            first,
            stride,
            Axis(
                -(-(size - first) // stride), low, 1, tuple(taps),
                tuple([t - low for t in shifts]), (0,) * len(taps),
            ),
        )
        for first, taps, shifts in found
    ]  # fmt: skip


class Layout(NamedTuple):
    """How a block of data is laid out; sizes are in elements."""

    batched: bool
    samples: int
    rows: int
    height: int
    width: int
    phases_y: tuple[int, ...]
    phases_x: tuple[int, ...]

    @property
    def phases(self) -> int:
        return len(self.phases_y) * len(self.phases_x)

    def offsets(self, channels: int, y: Axis, x: Axis, itemsize: int) -> Any:
        """Where each factor of a sum begins, in bytes, for each (channel, y, x)."""
        phase = np.array([self.phases_y.index(p) * len(self.phases_x) for p in y.phases])
        phase = phase[:, None] + [self.phases_x.index(p) for p in x.phases]
        within = np.array(y.shifts)[:, None] * self.width + np.array(x.shifts)
        plane = self.samples * self.height * self.width
        planes = (np.arange(channels)[:, None, None] * self.phases + phase) * plane
        unit = self.samples if self.batched else 1
        return (planes + within * unit) * itemsize

    def buffer(self, channels: int, dtype: Any) -> tuple[Any, Any]:
        """Memory for a block, zero where vectors reach beyond it, and the block as an array."""
        plane = (self.height, self.width)
        shape = (*plane, self.samples) if self.batched else (self.samples, *plane)
        size = self.size(channels)
        memory = np.empty(size + 2 * self.height * self.width + 64, dtype)
        memory[size:] = 0
        return memory, memory[:size].reshape(channels, self.phases, *shape)

    def size(self, channels: int) -> int:
        """How many elements a block has."""
        return channels * self.phases * self.samples * self.height * self.width

    def lines(self, x: Axis, lanes: int) -> tuple[int, int, int]:
        """``(lines, length, step)``: what is computed in one go, and how far lines are apart."""
        if self.batched:
            return self.rows, x.places * self.samples, self.width * self.samples
        length = (self.rows - 1) * self.width + x.places
        return self.samples, -(-length // lanes) * lanes, self.height * self.width


@lru_cache(maxsize=1024)
def _layout(
    samples: int, channels: int, filters: int, groups: int, y: Axis, x: Axis, lanes: int,
    itemsize: int,
) -> Layout:  # fmt: skip
    """The quicker of the two layouts, in blocks that fit the cache."""
    phases_y, phases_x = tuple(sorted(set(y.phases))), tuple(sorted(set(x.phases)))
    phases = len(phases_y) * len(phases_x)
    height, width = y.places + max(y.shifts), x.places + max(x.shifts)
    sums = filters * channels // groups * len(y.taps) * len(x.taps) / 2  # cycles a vector takes
    moved = channels * phases * height * width + filters * y.places * x.places
    flat = -(-((y.places - 1) * width + x.places) // lanes) * sums + 0.3 * moved
    blocks = -(-samples // lanes)
    batched = blocks * (y.places * x.places * sums + lanes * moved) / max(samples, 1)
    is_batched = 1.1 * batched < flat
    unit = lanes * itemsize if is_batched else itemsize
    above = unit * channels * phases * width * max(y.shifts)
    row = unit * (channels * phases * width + filters * x.places)
    count = lanes
    if not is_batched:
        count = min(max(BLOCK_BYTES // (row * y.places + above), 1), max(samples, 1))
        count = -(-samples // -(-samples // count)) if samples else 1
    rows = y.places
    if is_batched or count == 1:
        rows = min(max((BLOCK_BYTES - above) // row, max(y.shifts), 2), y.places)
        rows = -(-y.places // -(-y.places // rows))
    return Layout(is_batched, count, rows, height - y.places + rows, width, phases_y, phases_x)


def can(dtype: Any) -> bool:
    """Whether there are tiles for numbers of a type; loads numba and LLVM."""
    return dtype.char in "fd" and has_numba() and tiles.available()


def worthwhile(samples: int, places: tuple[int, ...], size: int, dtype: Any) -> bool:
    """Whether a convolution by a weight of this size is done here rather than by BLAS.

    Packing the weight must pay, and compiled code must be worth loading.
    """
    count = samples * prod(places)
    return count >= FEWEST_PLACES and count * size >= FEWEST and len(places) <= 2 and can(dtype)


def convolve(data: Any, weight: Any, bias: Any, y: Axis, x: Axis, groups: int, out: Any) -> None:
    """``out[n, f, place] = bias[f] + sum(weight[f] * data[n, window at place])``, two axes."""
    start = np.zeros(len(weight), data.dtype) if bias is None else np.ascontiguousarray(bias)
    _Run(data, out, y, x, groups).products(weight, start)


def spread(g: Any, weight: Any, ys: list[Phase], xs: list[Phase], groups: int, out: Any) -> None:
    """The adjoint in the data; ``ys`` and ``xs`` are from `backward_axes`."""
    filters, per_group, *kernel = weight.shape
    # what were a group's channels are its filters now
    turned = weight.reshape(groups, filters // groups, per_group, *kernel).swapaxes(1, 2)
    turned = turned.reshape(groups * per_group, filters // groups, *kernel)
    start = np.zeros(groups * per_group, g.dtype)
    for y in ys:
        for x in xs:
            part = out[:, :, y.first :: y.step, x.first :: x.step]
            if not y.axis.taps or not x.axis.taps:
                part[...] = 0
                continue
            chosen = turned
            if (len(y.axis.taps), len(x.axis.taps)) != turned.shape[2:]:
                chosen = turned[:, :, y.axis.taps][:, :, :, x.axis.taps]
            _Run(g, part, y.axis, x.axis, groups).products(chosen, start)


def correlate(g: Any, data: Any, y: Axis, x: Axis, groups: int) -> Any:
    """The adjoint in the weight, ``(filters, channels / groups, *kernel)``; None if it cannot.

    That is where data are not finite: what belongs to no window must not be felt.
    """
    run = _Run(data, g, y, x, groups)
    if not run.layout.batched:
        values = run.data.reshape(-1)
        if not np.isfinite(np.dot(values, values)):
            return None
    return run.correlations()


class _Run:
    """Data and ``other``, which has a number for each window: the result, or its gradient."""

    def __init__(self, data: Any, other: Any, y: Axis, x: Axis, groups: int):
        _memory.use_pool()
        self.data, self.other = np.ascontiguousarray(data), other
        self.y, self.x, self.groups = y, x, groups
        self.dtype, self.bytes = data.dtype, data.dtype.itemsize
        self.lanes = tiles.lanes(data.dtype)
        samples, channels = data.shape[:2]
        self.channels, self.filters = channels // groups, other.shape[1] // groups
        self.layout = _layout(
            samples, channels, other.shape[1], groups, y, x, self.lanes, self.bytes
        )
        self.in_place = self._is_in_place()
        if self.in_place:  # lines are whole samples where they are
            places = y.places * x.places
            whole = Layout(False, 1, y.places, y.places, x.places, (0,), (0,))
            self.offsets = whole.offsets(self.channels, y, x, self.bytes)
            self.lines, self.length, self.step = samples, places, channels * places
            self.pitch, self.other_step = places, other.shape[1] * places
            self.group = self.channels * places
            return
        layout = self.layout
        self.offsets = layout.offsets(self.channels, y, x, self.bytes)
        self.lines, self.length, self.step = layout.lines(x, self.lanes)
        self.pitch, self.other_step = self.lines * self.length, self.length
        self.group = layout.size(self.channels)

    def _is_in_place(self) -> bool:
        y, x = self.y, self.x
        places = y.places * x.places
        return (
            len(y.taps) == len(x.taps) == 1
            and (y.origin, y.step, x.origin, x.step) == (0, 1, 0, 1)
            and y.shifts == x.shifts == (0,)
            and self.data.shape[2:] == (y.places, x.places)
            and self.other.flags.c_contiguous
            and places >= 2 * self.lanes
        )

    def _blocks(self) -> Iterator[tuple[int, Any, int]]:
        """For each block, once its data are laid out: row, part of ``other``, address of data."""
        if self.in_place:
            yield 0, self.other, self.data.ctypes.data
            return
        layout, y, x = self.layout, self.y, self.x
        memory, view = layout.buffer(self.data.shape[1], self.dtype)
        lay = _lay_batched if layout.batched else _lay_flat
        phases = np.array(layout.phases_y), np.array(layout.phases_x)
        for n in range(0, len(self.data), layout.samples):
            part = self.data[n : n + layout.samples]
            for r in range(0, y.places, layout.rows):
                lay(part, view, y.origin + r * y.step, x.origin, y.step, x.step, *phases)
                yield (
                    r,
                    self.other[n : n + layout.samples, :, r : r + layout.rows],
                    memory.ctypes.data,
                )

    def _other_block(self) -> Any:
        """Memory for what belongs to a block: filters, then as it is laid out."""
        layout, filters = self.layout, self.groups * self.filters
        if layout.batched:
            return np.empty((filters, layout.rows, self.x.places, self.lanes), self.dtype)
        return np.empty((filters, self.lines, self.length), self.dtype)

    @property
    def _skips(self) -> bool:
        """Whether padding can be left out: where a line is one row."""
        return self.layout.batched and not self.in_place

    def _ranges(self, vectors: int) -> tuple[Any, Any, int, bool]:
        """Which factors matter to a line and to a tile, and how they are counted; see `tiles`.

        That is ``(row_range, tile_range, inner, apart)``.
        """
        tile_count = -(-self.length // (self.lanes * vectors))
        if not self._skips:
            parts, inner = tiles.parts(self.offsets.size)
            return (
                np.array([[0, parts]] * self.lines), np.array([[0, inner]] * tile_count), inner,
                parts > 1,
            )  # fmt: skip
        by_row = _ranges(self.y, self.data.shape[2])
        # rows that make the last block whole
        by_row = np.concatenate([by_row, np.zeros((self.layout.rows, 2), by_row.dtype)])
        found = _ranges(self.x, self.data.shape[3])
        last = len(found) - vectors
        places = [found[min(t * vectors, last) :][:vectors] for t in range(tile_count)]
        used = [p[p[:, 0] < p[:, 1]] for p in places]
        ends = [[p[:, 0].min(), p[:, 1].max()] if len(p) else [0, 0] for p in used]
        inner = self.channels * len(self.x.taps)
        return by_row, np.array(ends) * self.channels, inner, 2 * inner >= tiles.FEWEST_APART

    def products(self, weight: Any, start: Any) -> None:
        """Fill ``other``; the weight's kernel is just the taps of the axes."""
        # the order (y, x, channel) makes padding a range of factors
        matrix = np.ascontiguousarray(weight.transpose(0, 2, 3, 1)).reshape(len(weight), -1)
        offsets = np.ascontiguousarray(self.offsets.transpose(1, 2, 0))
        depth = offsets.size
        # a narrow tile leaves out more padding
        widest = 2 if self._skips and self.x.origin < 0 else 8
        size, vectors = tiles.tile_sizes(self.filters, -(-self.length // self.lanes), widest)
        vectors = min(vectors, self.length // self.lanes)
        split = tiles.split(self.filters, size)
        packed = tiles.packed(matrix, size, self.groups)
        made = None if self.in_place else self._other_block()
        # (filters in a block, blocks, first filter, first group, bytes from block to block)
        calls = []
        if self.groups > 1 and size == self.filters:
            calls.append((self.filters, self.groups, 0, 0, self.group * self.bytes))
        else:
            f = 0
            for k in range(self.groups):
                for n, many in split:
                    calls.append((n, many, f, k, 0))
                    f += n * many
        row_range, tile_range, inner, apart = self._ranges(vectors)
        for r, part, source in self._blocks():
            to = (part if made is None else made).ctypes.data
            for n, many, f, k, x_block in calls:
                tiles.products(tiles.name(self.dtype), n, vectors, x_block > 0, apart)(
                    source + k * self.group * self.bytes, offsets.ctypes.data, depth,
                    packed.ctypes.data + f * depth * self.bytes, start.ctypes.data + f * self.bytes,
                    to + f * self.pitch * self.bytes, self.pitch * self.bytes,
                    self.lines, self.length * self.bytes, self.step * self.bytes,
                    self.other_step * self.bytes, many, x_block,
                    row_range[r:].ctypes.data, tile_range.ctypes.data, inner,
                )  # fmt: skip
            if self.layout.batched and made is not None:
                _collect_batched(made, part)
            elif made is not None:
                _collect_flat(made, part, self.layout.width)

    def correlations(self) -> Any:
        """The gradient of the weight."""
        if self.in_place and self.length % self.lanes:
            self.in_place = False
            again = self.layout
            self.offsets = again.offsets(self.channels, self.y, self.x, self.bytes)
            self.lines, self.length, self.step = again.lines(self.x, self.lanes)
            self.pitch, self.other_step = self.lines * self.length, self.length
            self.group = again.size(self.channels)
        depth = self.offsets.size
        size, terms = tiles.correlation_sizes(self.filters, depth)
        run = tiles.correlations(tiles.name(self.dtype), size, terms)
        before, total = np.zeros((2, self.groups * self.filters, depth), self.dtype)
        incoming = None if self.in_place else self._other_block()
        zero = np.zeros(1, np.int64)
        for _, part, source in self._blocks():
            if incoming is not None and self.layout.batched:
                _lay_batched(part, incoming[:, None], 0, 0, 1, 1, zero, zero)
            elif incoming is not None:
                _widen_flat(part, incoming, self.layout.width)
            run(
                source, self.offsets.ctypes.data, depth,
                (part if incoming is None else incoming).ctypes.data, self.pitch * self.bytes,
                self.filters, before.ctypes.data, total.ctypes.data, self.lines,
                self.length // self.lanes, self.step * self.bytes, self.other_step * self.bytes,
                self.groups, self.group * self.bytes, self.filters * self.pitch * self.bytes,
                self.filters * depth * self.bytes,
            )  # fmt: skip
            before, total = total, before
        return before.reshape(len(before), self.channels, len(self.y.taps), len(self.x.taps))


@jit
def _within(start, step, size, count):
    """The numbers ``k`` below a count for which ``start + k * step`` is an index: from, to."""
    low = min(-(start // step), count) if start < 0 else 0
    return low, min(max((size - 1 - start) // step + 1, low), count)


@jit
def _lay_flat(data, buffer, top, left, step_y, step_x, phases_y, phases_x):
    """Data as (channels, phases, samples, height, width), with zeros around them."""
    samples, channels, size_y, size_x = data.shape
    whole = buffer.reshape(-1)
    for k in range(whole.size):
        whole[k] = 0
    for phase in range(buffer.shape[1]):
        start_y = top + phases_y[phase // phases_x.size]
        start_x = left + phases_x[phase % phases_x.size]
        top_y, end_y = _within(start_y, step_y, size_y, buffer.shape[3])
        top_x, end_x = _within(start_x, step_x, size_x, buffer.shape[4])
        first_y, first_x = start_y + top_y * step_y, start_x + top_x * step_x
        for c in range(channels):
            for n in range(samples):
                to = buffer[c, phase, n, top_y:end_y, top_x:end_x]
                source = data[n, c, first_y:, first_x:]
                if step_x == 1:  # written out, so that it becomes vectors
                    for r in range(to.shape[0]):
                        for k in range(to.shape[1]):
                            to[r, k] = source[r * step_y, k]
                else:
                    for r in range(to.shape[0]):
                        for k in range(to.shape[1]):
                            to[r, k] = source[r * step_y, k * step_x]


@jit
def _lay_batched(data, buffer, top, left, step_y, step_x, phases_y, phases_x):
    """Data as (channels, phases, height, width, samples), with zeros around them."""
    samples, channels, size_y, size_x = data.shape
    whole = buffer.reshape(-1)
    for k in range(whole.size):
        whole[k] = 0
    for phase in range(buffer.shape[1]):
        start_y = top + phases_y[phase // phases_x.size]
        start_x = left + phases_x[phase % phases_x.size]
        top_y, end_y = _within(start_y, step_y, size_y, buffer.shape[2])
        top_x, end_x = _within(start_x, step_x, size_x, buffer.shape[3])
        first_y, first_x = start_y + top_y * step_y, start_x + top_x * step_x
        for c in range(channels):
            to = buffer[c, phase, top_y:end_y, top_x:end_x]
            source = data[:, c, first_y:, first_x:]
            for r in range(to.shape[0]):
                for k in range(to.shape[1]):
                    for n in range(samples):
                        to[r, k, n] = source[n, r * step_y, k * step_x]


@jit
def _collect_flat(made, out, width):
    """Results (filters, samples, line) put into (samples, filters, rows, columns)."""
    columns = out.shape[3]
    for n in range(out.shape[0]):
        for f in range(out.shape[1]):
            for r in range(out.shape[2]):
                row, source = out[n, f, r], made[f, n, r * width :]
                for k in range(columns):
                    row[k] = source[k]


@jit
def _collect_batched(made, out):
    """Results (filters, rows, columns, samples) put into (samples, filters, rows, columns)."""
    columns = out.shape[3]
    for f in range(out.shape[1]):
        for r in range(out.shape[2]):
            for n in range(out.shape[0]):
                row = out[n, f, r]
                for k in range(columns):
                    row[k] = made[f, r, k, n]


@jit
def _widen_flat(g, incoming, width):
    """Gradients as (filters, samples, line), zero where there is no window."""
    samples, filters, rows, columns = g.shape
    for f in range(filters):
        for n in range(incoming.shape[1]):
            line = incoming[f, n]
            for k in range(line.size):
                line[k] = 0
            if n >= samples:
                continue
            for r in range(rows):
                to = line[r * width : r * width + columns]
                for k in range(columns):
                    to[k] = g[n, f, r, k]
