"""How data are laid out for `direct`: axes, layouts, and the copying.

Strides split a plane into phases (every second element, ...), within which windows move by one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ._jit import jit

#: bytes of data and results worked on at a time, which should stay in an L2 cache
BLOCK_BYTES = 3 << 18


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


def ranges(axis: Axis, size: int) -> Any:
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
def choose(
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


@jit
def _within(start, step, size, count):
    """The numbers ``k`` below a count for which ``start + k * step`` is an index: from, to."""
    low = min(-(start // step), count) if start < 0 else 0
    return low, min(max((size - 1 - start) // step + 1, low), count)


@jit
def lay_flat(data, buffer, top, left, step_y, step_x, phases_y, phases_x):
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
def lay_batched(data, buffer, top, left, step_y, step_x, phases_y, phases_x):
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
def collect_flat(made, out, width):
    """Results (filters, samples, line) put into (samples, filters, rows, columns)."""
    columns = out.shape[3]
    for n in range(out.shape[0]):
        for f in range(out.shape[1]):
            for r in range(out.shape[2]):
                row, source = out[n, f, r], made[f, n, r * width :]
                for k in range(columns):
                    row[k] = source[k]


@jit
def collect_batched(made, out):
    """Results (filters, rows, columns, samples) put into (samples, filters, rows, columns)."""
    columns = out.shape[3]
    for f in range(out.shape[1]):
        for r in range(out.shape[2]):
            for n in range(out.shape[0]):
                row = out[n, f, r]
                for k in range(columns):
                    row[k] = made[f, r, k, n]


@jit
def widen_flat(g, incoming, width):
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
