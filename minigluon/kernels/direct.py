"""Convolution without a matrix of windows: data laid out so that windows are shifts of one another.

Data of some samples are copied into a buffer in which the vectors of `tiles` lie side by side:

* *flat*: planes ``(channels, phases, samples, rows, columns)``, padded. A vector is neighbours in
  a plane, so some are computed that belong to no window, where a row goes over into the next.
* *batched*: the same with as many samples as a vector has lanes as the last axis. Nothing is
  wasted, for the price of a transposition.

Kernels of one element without strides or padding find their data in place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from math import prod
from typing import Any

import numpy as np

from . import _memory, _threads, layouts, tiles
from ._jit import has_numba
from .layouts import Axis

#: below this many multiplications BLAS is faster than loading numba and LLVM
FEWEST = 1_000_000
#: and below this many places it is faster than packing the weight
FEWEST_PLACES = 64
#: so many multiplications, 250 us, are worth a thread
FEWEST_FOR_A_THREAD = 1 << 25


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


def spread(
    g: Any, weight: Any, ys: list[layouts.Phase], xs: list[layouts.Phase], groups: int, out: Any
) -> None:
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
    run = _Run(data, g, y, x, groups, whole_vectors=True)
    if not run.batched:
        values = run.data.reshape(-1)
        if not np.isfinite(np.dot(values, values)):
            return None
    return run.correlations()


class _Run:
    """Data and ``other``, which has a number for each window: the result, or its gradient."""

    def __init__(
        self, data: Any, other: Any, y: Axis, x: Axis, groups: int, whole_vectors: bool = False
    ):
        _memory.use_pool()
        self.data, self.other = np.ascontiguousarray(data), other
        self.dtype = data.dtype
        in_place = other.flags.c_contiguous and _lies_right(
            y, x, data.shape[2:], tiles.lanes(data.dtype), whole_vectors
        )
        self.geometry = _geometry(
            *data.shape[:2], other.shape[1], groups, y, x, data.shape[2:], data.dtype, in_place
        )
        self.batched = self.geometry.batched

    def _blocks(self) -> list[tuple[int, int]]:
        """The first sample and the first row of each block."""
        layout = self.geometry.layout
        return [
            (n, r)
            for n in range(0, len(self.data), layout.samples)
            for r in range(0, self.geometry.y.places, layout.rows)
        ]

    def _laid_out(self, blocks: Sequence[tuple[int, int]], room: Any) -> Iterator[tuple[int, Any]]:
        """For each block, once its data are laid out in ``room``: row, part of ``other``."""
        geometry = self.geometry
        layout, y, x = geometry.layout, geometry.y, geometry.x
        lay = layouts.lay_batched if layout.batched else layouts.lay_flat
        for n, r in blocks:
            part = self.data[n : n + layout.samples]
            lay(part, room, y.origin + r * y.step, x.origin, y.step, x.step, *geometry.phases)
            yield r, self.other[n : n + layout.samples, :, r : r + layout.rows]

    def products(self, weight: Any, start: Any) -> None:
        """Fill ``other``; the weight's kernel is just the taps of the axes."""
        geometry = self.geometry
        # the order (y, x, channel) makes padding a range of factors
        matrix = np.ascontiguousarray(weight.transpose(0, 2, 3, 1)).reshape(len(weight), -1)
        packed = np.empty(matrix.size, self.dtype)
        tiles.pack(matrix, packed, geometry.sizes)
        given = packed.ctypes.data, start.ctypes.data
        work = matrix.size * len(self.data) * geometry.y.places * geometry.x.places
        most = _threads.worth(work, FEWEST_FOR_A_THREAD)
        if geometry.in_place:
            samples = _threads.share(range(len(self.data)), most)
            _threads.run(samples, lambda part: self._fill_in_place(part, *given))
            return
        parts = [
            (blocks, geometry.layout.buffer(self.data.shape[1], self.dtype),
             np.empty(geometry.other_shape, self.dtype))
            for blocks in _threads.share(self._blocks(), most)
        ]  # fmt: skip
        _threads.run(parts, lambda part: self._fill(*part, *given))

    def _fill_in_place(self, samples: Any, weights: int, first: int) -> None:
        """The results of some samples, whose lines are where they should be."""
        geometry = self.geometry
        source = self.data[samples.start :].ctypes.data
        to = self.other[samples.start :].ctypes.data
        for run, x_shift, w_shift, f_shift, to_shift, middle, rows, last in geometry.calls:
            pitch, _, *others = middle
            run(
                source + x_shift, *geometry.offsets, weights + w_shift, first + f_shift,
                to + to_shift, pitch, len(samples), *others, rows, *last,
            )  # fmt: skip

    def _fill(self, blocks: Any, buffer: Any, made: Any, weights: int, first: int) -> None:
        """The results of some blocks."""
        geometry = self.geometry
        memory, room = buffer
        source, to = memory.ctypes.data, made.ctypes.data
        skipping = 16 if geometry.skips else 0  # bytes from row to row of the ranges
        for r, part in self._laid_out(blocks, room):
            for run, x_shift, w_shift, f_shift, to_shift, middle, rows, last in geometry.calls:
                run(
                    source + x_shift, *geometry.offsets, weights + w_shift, first + f_shift,
                    to + to_shift, *middle, rows + r * skipping, *last,
                )  # fmt: skip
            if geometry.batched:
                layouts.collect_batched(made, part)
            else:
                layouts.collect_flat(made, part, geometry.layout.width)

    def correlations(self) -> Any:
        """The gradient of the weight."""
        geometry = self.geometry
        run, depth, (offsets, middle, last) = geometry.correlation
        before, total = np.zeros((2, self.other.shape[1], depth), self.dtype)
        addresses = before.ctypes.data, total.ctypes.data
        if geometry.in_place:
            source, g = self.data.ctypes.data, self.other.ctypes.data
            run(source, offsets, depth, g, *middle, *addresses, *last)
            before = total
        else:
            incoming = np.empty(geometry.other_shape, self.dtype)
            memory, room = geometry.layout.buffer(self.data.shape[1], self.dtype)
            source, g = memory.ctypes.data, incoming.ctypes.data
            for _, part in self._laid_out(self._blocks(), room):
                if geometry.batched:
                    layouts.lay_batched(part, incoming[:, None], 0, 0, 1, 1, _ZERO, _ZERO)
                else:
                    layouts.widen_flat(part, incoming, geometry.layout.width)
                run(source, offsets, depth, g, *middle, *addresses, *last)
                before, total, addresses = total, before, addresses[::-1]
        taps = len(geometry.y.taps), len(geometry.x.taps)
        return before.reshape(len(before), -1, *taps)


_ZERO = np.zeros(1, np.int64)


def _lies_right(
    y: Axis, x: Axis, spatial: tuple[int, ...], lanes: int, whole_vectors: bool
) -> bool:
    """Whether planes are lines of places already."""
    places = y.places * x.places
    return (
        len(y.taps) == len(x.taps) == 1
        and (y.origin, y.step, x.origin, x.step) == (0, 1, 0, 1)
        and y.shifts == x.shifts == (0,)
        and spatial == (y.places, x.places)
        and places >= 2 * lanes
        and not (whole_vectors and places % lanes)
    )


class _Geometry:
    """All that follows from shapes: where everything lies, and the arguments of the tiles."""

    def __init__(
        self, samples: int, channels: int, filters: int, groups: int, y: Axis, x: Axis,
        spatial: tuple[int, ...], dtype: Any, in_place: bool,
    ):  # fmt: skip
        self.y, self.x, self.spatial, self.groups = y, x, spatial, groups
        self.dtype, self.bytes, self.lanes = dtype, dtype.itemsize, tiles.lanes(dtype)
        self.channels, self.filters = channels // groups, filters // groups
        self.in_place = in_place
        places = y.places * x.places
        if in_place:  # lines are whole samples
            self.layout = layouts.Layout(False, 1, y.places, y.places, x.places, (0,), (0,))
            self.lines, self.length, self.step = samples, places, channels * places
            self.pitch, self.other_step = places, filters * places
        else:
            self.layout = layouts.choose(
                samples, channels, filters, groups, y, x, self.lanes, self.bytes
            )
            self.lines, self.length, self.step = self.layout.lines(x, self.lanes)
            self.pitch, self.other_step = self.lines * self.length, self.length
        self.batched = self.skips = self.layout.batched
        self.group = self.layout.size(self.channels)
        self.phases = np.array(self.layout.phases_y), np.array(self.layout.phases_x)
        #: what belongs to a block: filters, then as it is laid out
        self.other_shape: tuple[int, ...] = (filters, self.lines, self.length)
        if self.batched:
            self.other_shape = (filters, self.layout.rows, x.places, self.lanes)
        where = self.layout.offsets(self.channels, y, x, self.bytes)
        self._by_channel = np.ascontiguousarray(where)
        self._by_tap = np.ascontiguousarray(where.transpose(1, 2, 0))
        self.depth = where.size
        self.offsets = self._by_tap.ctypes.data, self.depth

    @cached_property
    def _tile(self) -> tuple[int, int]:
        # a narrow tile leaves out more padding
        widest = 2 if self.skips and self.x.origin < 0 else 8
        size, vectors = tiles.tile_sizes(self.filters, -(-self.length // self.lanes), widest)
        return size, min(vectors, self.length // self.lanes)

    @cached_property
    def sizes(self) -> Any:
        """How many filters each block of the packed weight has."""
        split = tiles.split(self.filters, self._tile[0])
        return np.array([n for _ in range(self.groups) for n, many in split for _ in range(many)])

    @cached_property
    def _factors(self) -> tuple[Any, Any, int, bool]:
        """Which factors matter to a line and to a tile, and how they are counted; see `tiles`.

        That is ``(row_range, tile_range, inner, apart)``.
        """
        vectors = self._tile[1]
        tile_count = -(-self.length // (self.lanes * vectors))
        if not self.skips:
            parts, inner = tiles.parts(self.depth)
            lines, each = np.array([[0, parts]] * self.lines), np.array([[0, inner]] * tile_count)
            return lines, each, inner, parts > 1
        by_row = layouts.ranges(self.y, self.spatial[0])
        # rows that make the last block whole
        by_row = np.concatenate([by_row, np.zeros((self.layout.rows, 2), by_row.dtype)])
        found = layouts.ranges(self.x, self.spatial[1])
        last = len(found) - vectors
        places = [found[min(t * vectors, last) :][:vectors] for t in range(tile_count)]
        used = [p[p[:, 0] < p[:, 1]] for p in places]
        ends = [[p[:, 0].min(), p[:, 1].max()] if len(p) else [0, 0] for p in used]
        inner = self.channels * len(self.x.taps)
        return by_row, np.array(ends) * self.channels, inner, 2 * inner >= tiles.FEWEST_APART

    @cached_property
    def calls(self) -> list[Any]:
        """Each product of a block of data with some filters: a function, and its arguments.

        That is ``(run, shifts of x, weights, filters and results, arguments, row range, others)``.
        """
        row_range, tile_range, inner, apart = self._factors
        size, vectors = self._tile
        one = self.bytes
        if self.groups > 1 and size == self.filters:  # blocks are groups
            split = [(self.filters, self.groups, 0, 0, self.group * one)]
        else:
            split, f = [], 0
            for k in range(self.groups):
                for n, many in tiles.split(self.filters, size):
                    split.append((n, many, f, k, 0))
                    f += n * many
        made = []
        for n, many, f, k, x_block in split:
            run = tiles.products(tiles.name(self.dtype), n, vectors, x_block > 0, apart)
            middle = (
                self.pitch * one, self.lines, self.length * one, self.step * one,
                self.other_step * one, many, x_block,
            )  # fmt: skip
            shifts = k * self.group * one, f * self.depth * one, f * one, f * self.pitch * one
            last = tile_range.ctypes.data, inner
            made.append((run, *shifts, middle, row_range.ctypes.data, last))
        return made

    @cached_property
    def correlation(self) -> tuple[Any, int, Any]:
        """The function for gradients of the weight, how many terms it gives, and its arguments."""
        one = self.bytes
        size, terms = tiles.correlation_sizes(self.filters, self.depth)
        run = tiles.correlations(tiles.name(self.dtype), size, terms)
        middle = self.pitch * one, self.filters
        last = (
            self.lines, self.length // self.lanes, self.step * one, self.other_step * one,
            self.groups, self.group * one, self.filters * self.pitch * one,
            self.filters * self.depth * one,
        )  # fmt: skip
        return run, self.depth, (self._by_channel.ctypes.data, middle, last)


_geometry = lru_cache(maxsize=512)(_Geometry)
