"""Convolution and its two adjoints: windows of some samples in a cache-sized buffer, then BLAS.

Arrays are ``(samples, channels, *spatial)`` with any number of spatial axes; a weight is
``(filters, channels / groups, *kernel)``. Inside, samples lie on the last axis, so that the copies
into and out of the buffer run over long contiguous stretches.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import as_strided

from . import _memory, direct, layouts, rows, tiles, windows

#: bytes of windows gathered at a time, about what an L2 cache holds
BUFFER_BYTES = 1 << 21
#: matrix products narrower than this are slow, so more is gathered if the buffer would hold less
FEWEST_COLUMNS = 192
#: below this many multiplications numpy is faster than loading compiled code
FEWEST_FOR_VECTORS = 200_000


class Window(NamedTuple):
    """How a kernel moves over the spatial axes: for each property a number for each axis."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    dilate: tuple[int, ...]
    pad: tuple[int, ...]

    def positions(self, spatial: tuple[int, ...]) -> tuple[int, ...]:
        """How many places there are for the kernel along each axis.

        >>> Window((3,), (2,), (1,), (1,)).positions((8,))
        (4,)
        """
        return tuple(
            [
                (size + 2 * p - (d * (k - 1) + 1)) // s + 1
                for size, k, s, d, p in zip(spatial, *self, strict=True)
            ]
        )

    def as_plane(self) -> Window:
        """The same on two axes, if it is on one: along images of one row."""
        if len(self.kernel) != 1:
            return self
        return Window((1, *self.kernel), (1, *self.stride), (1, *self.dilate), (0, *self.pad))

    def is_pointwise(self) -> bool:
        """Whether every element is a window of its own."""
        return set(self.kernel) == {1} and set(self.stride) == {1} and set(self.pad) == {0}

    def pads_less_than_it_reaches(self) -> bool:
        """Whether no window lies in the padding alone."""
        spans = zip(self.kernel, self.dilate, self.pad, strict=True)
        return all(p <= d * (k - 1) for k, d, p in spans)

    def slices(self, offset: tuple[int, ...], first: int, places: tuple[int, ...]) -> Any:
        """Padded elements at an offset within the windows at ``places``, from a first row on."""
        starts = [o * d for o, d in zip(offset, self.dilate, strict=True)]
        starts[0] += first * self.stride[0]
        return tuple(
            [
                slice(b, b + s * (n - 1) + 1, s)
                for b, s, n in zip(starts, self.stride, places, strict=True)
            ]
        )


def widened(*arrays: Any) -> list[Any]:
    """Half precision as single, which is what is computed in; other arrays as they are."""
    return [x.astype(np.float32) if x.dtype == np.float16 else x for x in arrays]


class Block(NamedTuple):
    """Some samples and, along the first spatial axis, some of the windows' places."""

    samples: slice
    rows: slice
    places: tuple[int, ...]


def _blocks(samples: int, places: tuple[int, ...], depth: int, itemsize: int) -> Iterator[Block]:
    """Blocks whose windows, of ``depth`` elements each, fill the buffer."""
    total = prod(places)
    columns = max(BUFFER_BYTES // max(depth * itemsize, 1), FEWEST_COLUMNS)
    if total <= columns:
        step = max(columns // max(total, 1), 1)
        # as many for each block as there can be without one more block
        step = -(-samples // max(-(-samples // step), 1)) or 1
        for n in range(0, samples, step):
            yield Block(slice(n, min(n + step, samples)), slice(0, places[0]), places)
        return
    rows = max(columns // max(prod(places[1:]), 1), 1)
    for n in range(samples):
        for r in range(0, places[0], rows):
            chosen = slice(r, min(r + rows, places[0]))
            yield Block(slice(n, n + 1), chosen, (chosen.stop - r, *places[1:]))


def _samples_last(x: Any) -> Any:
    return x.transpose(*range(1, x.ndim), 0)


class _Padded:
    """Samples moved to the last axis and surrounded by zeros, a block at a time."""

    def __init__(self, data: Any, pad: tuple[int, ...]):
        self.data, self.pad = data, pad
        self.held: Any = None
        self.samples: Any = None
        self.memory: Any = None

    def block(self, samples: slice) -> Any:
        """``(channels, *padded, samples)``; made anew only if the samples change."""
        if samples == self.samples:
            return self.held
        part = _samples_last(self.data[samples])
        count = part.shape[-1]
        if count == 1 and not any(self.pad):
            self.held = part
        else:
            spatial = [n + 2 * p for n, p in zip(part.shape[1:-1], self.pad, strict=True)]
            shape = (part.shape[0], *spatial, count)
            if self.memory is None or self.memory.shape != shape:
                self.memory = np.zeros(shape, part.dtype)
            self.memory[interior(self.pad, part.shape[1:-1])] = part
            self.held = self.memory
        self.samples = samples
        return self.held


def interior(pad: tuple[int, ...], spatial: tuple[int, ...]) -> Any:
    """The index of what is not padding, behind a leading axis."""
    return (slice(None), *[slice(p, p + n) for p, n in zip(pad, spatial, strict=True)])


def _windows(padded: Any, window: Window, block: Block) -> Any:
    """A view ``(channels, *kernel, *places, samples)`` of padded data."""
    first = padded[:, block.rows.start * window.stride[0] :]
    steps = first.strides[1:-1]
    return as_strided(
        first,
        (first.shape[0], *window.kernel, *block.places, first.shape[-1]),
        (
            first.strides[0],
            *[s * d for s, d in zip(steps, window.dilate, strict=True)],
            *[s * t for s, t in zip(steps, window.stride, strict=True)],
            first.strides[-1],
        ),
        writeable=False,
    )


class _Gathered:
    """The windows of data as matrices, one for each group, a block at a time."""

    def __init__(self, data: Any, window: Window, groups: int):
        self.padded, self.window, self.groups = _Padded(data, window.pad), window, groups
        self.depth = data.shape[1] * prod(window.kernel)
        self.scratch = _Scratch(data.dtype)

    def block(self, block: Block) -> Any:
        """``(groups, depth of a group, places * samples)``."""
        view = _windows(self.padded.block(block.samples), self.window, block)
        gathered = self.scratch.array(*view.shape)
        np.copyto(gathered, view)
        return gathered.reshape(self.groups, self.depth // self.groups, -1)


def _result_block(result: Any, block: Block) -> Any:
    """The part of ``(samples, filters, *places)`` that a block is about, samples last."""
    return _samples_last(result[block.samples, :, block.rows])


def convolve(
    data: Any, weight: Any, bias: Any, window: Window, groups: int = 1, out: Any = None
) -> Any:
    """``out[n, f, place] = bias[f] + sum(weight[f] * data[n, window at place])``."""
    dtype = data.dtype
    data, weight = widened(data, weight)
    places = window.positions(data.shape[2:])
    filters = weight.shape[0]
    shape = (data.shape[0], filters, *places)
    if out is None:
        out = np.empty(shape, dtype)
    if groups == data.shape[1] == filters and groups > 1:
        _convolve_each_channel(data, weight, bias, window, out)
        return out
    if groups == 1 and _by_rows(data.shape[0], places, weight.shape, data.dtype):
        matrix = np.ascontiguousarray(weight).reshape(filters, -1)
        found = rows.gathered(_as_plane(data), window.as_plane(), _two(places))
        made = rows.multiply(found, matrix)
        if bias is not None:
            made += bias[:, None]
        out[...] = made.reshape(filters, -1, *places).swapaxes(0, 1)
        return out
    if direct.worthwhile(data.shape[0], places, weight.size, data.dtype):
        if bias is not None:
            bias = bias.astype(data.dtype, copy=False)
        to = out if out.dtype == data.dtype else np.empty(shape, data.dtype)
        y, x = _forward_axes(window, places)
        direct.convolve(_as_plane(data), _as_plane(weight), bias, y, x, groups, _as_plane(to))
        if to is not out:
            out[...] = to
        return out
    if groups == 1 and window.is_pointwise():
        _multiply_channels(weight.reshape(filters, -1), data, bias, out)
        return out
    matrices = weight.reshape(groups, filters // groups, -1)
    gathered = _Gathered(data, window, groups)
    column = None if bias is None else bias.reshape(-1, *[1] * (len(places) + 1))
    scratch = _Scratch(data.dtype)
    for block in _blocks(data.shape[0], places, gathered.depth, data.itemsize):
        columns = gathered.block(block)
        made = scratch.array(groups, filters // groups, columns.shape[-1])
        for k in range(groups):
            np.dot(matrices[k], columns[k], out=made[k])
        made = made.reshape(filters, *block.places, -1)
        if column is None:
            np.copyto(_result_block(out, block), made, casting="same_kind")
        else:
            np.add(made, column, out=_result_block(out, block), casting="same_kind")
    return out


def _as_plane(x: Any) -> Any:
    """Sequences as images of one row."""
    return x if x.ndim == 4 else x[:, :, None]


def _two(sizes: tuple[int, ...]) -> tuple[int, ...]:
    return (1, *sizes)[-2:]


def _by_rows(samples: int, places: Any, weight_shape: Any, dtype: Any) -> bool:
    return rows.worthwhile(samples, tuple(places), weight_shape[0], prod(weight_shape[1:]), dtype)


@lru_cache(maxsize=256)
def _forward_axes(window: Window, places: tuple[int, ...]) -> Any:
    ways = zip(_two(places), *window.as_plane(), strict=True)
    return [layouts.forward_axis(*way) for way in ways]


@lru_cache(maxsize=256)
def _backward_axes(window: Window, spatial: tuple[int, ...]) -> Any:
    ways = zip(_two(spatial), *window.as_plane(), strict=True)
    return [layouts.backward_axes(*way) for way in ways]


def _multiply_channels(matrix: Any, data: Any, bias: Any, out: Any) -> None:
    """A convolution by kernels of one element is a matrix product for every sample."""
    flat = np.ascontiguousarray(data).reshape(*data.shape[:2], -1)
    made = np.matmul(matrix, flat)
    if bias is not None:
        made += bias[:, None]
    out[...] = made.reshape(out.shape)


def _convolve_each_channel(data: Any, weight: Any, bias: Any, window: Window, out: Any) -> None:
    """Every channel with a kernel of its own: products of shifted data, added up by sample."""
    places = out.shape[2:]
    if _in_vectors(data, window, out):
        _each_channel_in_vectors(data, weight, bias, window, out)
        return
    padded = _Padded(data, window.pad)
    total = np.empty(out.shape[1:], data.dtype)
    shape = (-1, *[1] * len(places))
    term = np.empty(out.shape[1:], data.dtype)
    for n in range(data.shape[0]):
        sample = padded.block(slice(n, n + 1))[..., 0]
        total[...] = 0 if bias is None else bias.reshape(shape)
        for offset in product(*map(range, window.kernel)):
            factor = weight[(slice(None), 0, *offset)].reshape(shape)
            part = sample[(slice(None), *window.slices(offset, 0, places))]
            np.multiply(part, factor, out=term)
            total += term
        out[n] = total


def _in_vectors(data: Any, window: Window, out: Any) -> bool:
    work = out.size * prod(window.kernel)
    return (
        work >= FEWEST_FOR_VECTORS
        and len(window.kernel) <= 2
        and out.dtype == data.dtype
        and windows.can(data.dtype, window.kernel[-1])
    )


def _each_channel_in_vectors(data: Any, weight: Any, bias: Any, window: Window, out: Any) -> None:
    _memory.use_pool()
    plane = window.as_plane()
    channels = data.shape[1]
    data, weight = np.ascontiguousarray(_as_plane(data)), np.ascontiguousarray(weight)
    start = np.zeros(channels, data.dtype)
    if bias is not None:
        start[...] = bias
    run = windows.weighted(
        tiles.name(data.dtype), plane.kernel[1], plane.stride[1], plane.dilate[1]
    )
    run(
        data.ctypes.data, out.ctypes.data, weight.ctypes.data, start.ctypes.data,
        len(data) * channels, channels, *data.shape[2:], *_two(out.shape[2:]), plane.kernel[0],
        plane.stride[0], plane.dilate[0], *plane.pad,
    )  # fmt: skip


def _spread_each_channel(g: Any, weight: Any, window: Window, out: Any) -> None:
    """The adjoint of that for data: a convolution of spaced out gradients by turned kernels."""
    reach = [d * (k - 1) + 1 for k, d in zip(window.kernel, window.dilate, strict=True)]
    spatial = out.shape[2:]
    spaced = np.zeros(
        (*g.shape[:2], *[n + r - 1 for n, r in zip(spatial, reach, strict=True)]), g.dtype
    )
    at = [
        slice(r - 1 - p, r - p + s * (n - 1), s)
        for r, p, s, n in zip(reach, window.pad, window.stride, g.shape[2:], strict=True)
    ]
    spaced[(slice(None), slice(None), *at)] = g
    turned = np.ascontiguousarray(np.flip(weight, tuple(range(2, weight.ndim))))
    ones = (1,) * len(reach)
    plain = Window(window.kernel, ones, window.dilate, (0,) * len(reach))
    _convolve_each_channel(spaced, turned, None, plain, out)


def spread(g: Any, weight: Any, spatial: tuple[int, ...], window: Window, groups: int = 1) -> Any:
    """The adjoint of `convolve` in its data: what gradient ``g`` gives for data of a spatial size.

    It is what a "deconvolution" computes.
    """
    dtype = g.dtype
    g, weight = widened(g, weight)
    samples, filters, *places = g.shape
    channels = weight.shape[1] * groups
    out = np.empty((samples, channels, *spatial), dtype)
    depthwise = groups == channels == filters and groups > 1
    if groups == 1 and _by_rows(samples, places, weight.shape, g.dtype):
        matrix = np.ascontiguousarray(weight).reshape(filters, -1)
        found = rows.combine(_filters_first(g).T, matrix, matrix.shape[1])
        plane = _two(spatial)
        made = rows.added(
            found, (samples, channels, *plane), window.as_plane(), _two(tuple(places))
        )
        out[...] = made.reshape(out.shape)
        return out
    if not depthwise and direct.worthwhile(samples, tuple(places), weight.size, g.dtype):
        to = out if out.dtype == g.dtype else np.empty(out.shape, g.dtype)
        ys, xs = _backward_axes(window, tuple(spatial))
        direct.spread(_as_plane(g), _as_plane(weight), ys, xs, groups, _as_plane(to))
        if to is not out:
            out[...] = to
        return out
    if groups == 1 and window.is_pointwise():
        _multiply_channels(weight.reshape(filters, -1).T, g, None, out)
        return out
    if groups == channels == filters and groups > 1 and window.pads_less_than_it_reaches():
        _spread_each_channel(g, weight, window, out)
        return out
    matrices = weight.reshape(groups, filters // groups, -1).transpose(0, 2, 1)
    depth = channels * prod(window.kernel)
    inside = interior(window.pad, spatial)
    padded = [n + 2 * p for n, p in zip(spatial, window.pad, strict=True)]
    transposed, columns, total = _Scratch(g.dtype), _Scratch(g.dtype), _Scratch(g.dtype)
    for block in _blocks(samples, tuple(places), depth, g.itemsize):
        incoming = _columns(g, block, groups, transposed)
        count = block.samples.stop - block.samples.start
        made = columns.array(groups, depth // groups, incoming.shape[-1])
        for k in range(groups):
            np.dot(matrices[k], incoming[k], out=made[k])
        added = total.array(channels, *padded, count)
        if block.rows.start == 0:
            added[...] = 0
        parts = made.reshape(channels, *window.kernel, *block.places, count)
        add_windows(parts, window, added, block.rows.start)
        if block.rows.stop == places[0]:
            _samples_last(out[block.samples])[...] = added[inside]
    return out


def _filters_first(g: Any) -> Any:
    """Gradients as a matrix ``(filters, samples * places)``."""
    return g.swapaxes(0, 1).reshape(g.shape[1], -1)


class _Scratch:
    """Memory for arrays of changing shapes, taken anew only if it does not suffice."""

    def __init__(self, dtype: Any):
        self.memory = np.empty(0, dtype)

    def array(self, *shape: int) -> Any:
        """An array of this shape, holding anything."""
        size = prod(shape)
        if self.memory.size < size:
            self.memory = np.empty(size, self.memory.dtype)
        return self.memory[:size].reshape(shape)


def _columns(g: Any, block: Block, groups: int, scratch: _Scratch) -> Any:
    """A block of ``(samples, filters, *places)`` as ``(groups, filters, places * samples)``."""
    part = _result_block(g, block)
    if part.shape[-1] > 1 or not part.flags.c_contiguous:
        copy = scratch.array(*part.shape)
        np.copyto(copy, part)
        part = copy
    return part.reshape(groups, part.shape[0] // groups, -1)


def add_windows(columns: Any, window: Window, total: Any, first: int = 0) -> None:
    """Add windows ``(channels, *kernel, *places, samples)`` to the padded data they came from."""
    axes = len(window.kernel)
    places = columns.shape[1 + axes : 1 + 2 * axes]
    for offset in product(*map(range, window.kernel)):
        part = total[(slice(None), *window.slices(offset, first, places))]
        part += columns[(slice(None), *offset)]


def correlate(g: Any, data: Any, window: Window, groups: int = 1) -> Any:
    """The adjoint of `convolve` in its weight: what gradient ``g`` gives for the weight."""
    dtype = g.dtype
    g, data = widened(g, data)
    samples, filters, *places = g.shape
    shape = (filters, data.shape[1] // groups, *window.kernel)
    if groups == 1 and _by_rows(samples, places, shape, g.dtype):
        gathered_rows = rows.gathered(_as_plane(data), window.as_plane(), _two(tuple(places)))
        made = rows.combine(_filters_first(g), gathered_rows, prod(shape[1:]))
        return made.reshape(shape).astype(dtype, copy=False)
    if direct.worthwhile(samples, tuple(places), prod(shape), g.dtype):
        y, x = _forward_axes(window, tuple(places))
        found = direct.correlate(_as_plane(g), _as_plane(data), y, x, groups)
        if found is not None:
            return found.reshape(shape).astype(dtype, copy=False)
    total = np.zeros((groups, filters // groups, prod(shape[1:])), g.dtype)
    if groups == 1 and window.is_pointwise():
        flat = data.reshape(*data.shape[:2], -1)
        for incoming, sample in zip(g.reshape(samples, filters, -1), flat, strict=True):
            total[0] += np.dot(incoming, sample.T)
        return total.reshape(shape).astype(dtype, copy=False)
    gathered = _Gathered(data, window, groups)
    part = np.empty_like(total)
    scratch = _Scratch(g.dtype)
    for block in _blocks(samples, tuple(places), gathered.depth, g.itemsize):
        columns = gathered.block(block)
        incoming = _columns(g, block, groups, scratch)
        for k in range(groups):
            np.dot(incoming[k], columns[k].T, out=part[k])
        total += part
    return total.reshape(shape).astype(dtype, copy=False)


def im2col(data: Any, window: Window) -> Any:
    """The windows of each sample as the columns of a matrix, ``(samples, depth, places)``."""
    places = window.positions(data.shape[2:])
    whole = slice(0, data.shape[0])
    view = _windows(
        _Padded(data, window.pad).block(whole), window, Block(whole, slice(0, places[0]), places)
    )
    moved = view.transpose(view.ndim - 1, *range(view.ndim - 1))
    # np.array, not ascontiguousarray: the columns are never the data's own memory
    return np.array(moved, order="C").reshape(
        data.shape[0], data.shape[1] * prod(window.kernel), prod(places)
    )


def col2im(columns: Any, spatial: tuple[int, ...], window: Window) -> Any:
    """Columns of windows added up where they came from: the adjoint of `im2col`."""
    samples = columns.shape[0]
    channels = columns.shape[1] // prod(window.kernel)
    places = window.positions(spatial)
    padded = [n + 2 * p for n, p in zip(spatial, window.pad, strict=True)]
    total = np.zeros((channels, *padded, samples), columns.dtype)
    parts = columns.reshape(samples, channels, *window.kernel, *places)
    add_windows(_samples_last(parts), window, total)
    inside = total[interior(window.pad, spatial)]
    return np.ascontiguousarray(inside.transpose(inside.ndim - 1, *range(inside.ndim - 1)))
