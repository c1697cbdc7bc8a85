"""Convolution with windows as the rows of a matrix, for weights that are large beside the data.

The weight is read where it lies, once for some hundred windows; `direct` would have to copy it.
Vectors run along the elements of a window, ``(channels, *kernel)``.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from . import _memory, direct, tiles
from ._jit import jit

#: bytes of windows multiplied at a time: they are read again for every few filters
BLOCK_BYTES = 1 << 19
#: and how many elements of them at a time, if there are many windows
LONGEST, MANY = 1536, 64


def worthwhile(samples: int, places: tuple[int, ...], filters: int, depth: int, dtype: Any) -> bool:
    """Whether a convolution is done here: there are few windows, and many filters.

    Copying windows costs as much as multiplying them by 40 filters.
    """
    count = samples * prod(places)
    return (
        2 * count <= filters
        and count * filters * depth >= direct.FEWEST
        and len(places) <= 2
        and direct.can(dtype)
    )


def gathered(data: Any, window: Any, places: tuple[int, ...]) -> Any:
    """The windows of images as rows ``(samples * places, depth)``; behind them, zeros.

    Rows are as many vectors long as it takes.
    """
    _memory.use_pool()
    samples, channels = data.shape[:2]
    lanes = tiles.lanes(data.dtype)
    depth = channels * window.kernel[0] * window.kernel[1]
    rows = np.empty((samples, *places, -(-depth // lanes) * lanes), data.dtype)
    rows[..., depth:] = 0
    if window.is_pointwise():
        rows[..., :depth] = data.transpose(0, 2, 3, 1)
    else:
        _gather(np.ascontiguousarray(data), rows, *zip(*window, strict=True))
    return rows.reshape(-1, rows.shape[-1])


def multiply(rows: Any, weight: Any) -> Any:
    """``weight @ rows.T``: ``(filters, windows)`` for a weight ``(filters, depth)``."""
    dtype, itemsize = rows.dtype, rows.dtype.itemsize
    filters, depth = weight.shape
    lanes = tiles.lanes(dtype)
    whole = depth // lanes
    count, length = rows.shape
    if not whole:
        return weight @ rows[:, :depth].T
    made = np.empty((filters, count), dtype)
    step = max(BLOCK_BYTES // (min(length, LONGEST) * itemsize), 16)
    step = -(-count // -(-count // step))
    offsets = np.arange(step) * (length * itemsize)
    # so that a tile of the weight stays in the L1 cache: 943 us for 128 windows, with parts 762
    chunk = whole if step < MANY else -(-whole // -(-whole * lanes // LONGEST))
    for first in range(0, count, step):
        n = min(step, count - first)
        before, part = np.zeros((2, filters, n), dtype)
        size, terms = tiles.correlation_sizes(filters, n)
        run = tiles.correlations(tiles.name(dtype), size, terms)
        for begin in range(0, whole, chunk):
            at = begin * lanes * itemsize
            run(
                rows[first:].ctypes.data + at, offsets.ctypes.data, n, weight.ctypes.data + at,
                depth * itemsize, filters, before.ctypes.data, part.ctypes.data, 1,
                min(chunk, whole - begin), 0, 0, 1, 0, 0, 0,
            )  # fmt: skip
            before, part = part, before
        made[:, first : first + n] = before
    if depth > whole * lanes:
        made += weight[:, whole * lanes :] @ rows[:, whole * lanes : depth].T
    return made


def combine(coefficients: Any, rows: Any, depth: int) -> Any:
    """``coefficients @ rows[:, :depth]`` for a matrix of few columns, ``(any, len(rows))``."""
    dtype, itemsize = rows.dtype, rows.dtype.itemsize
    lanes = tiles.lanes(dtype)
    count = len(coefficients)
    if depth < lanes:
        return coefficients @ rows[:, :depth]
    made = np.empty((count, depth), dtype)
    size, vectors = tiles.tile_sizes(count, -(-depth // lanes))
    vectors = min(vectors, depth // lanes)
    parts, inner = tiles.parts(len(rows))
    start, everything = np.zeros(count, dtype), np.array([[0, parts]])
    each = np.array([[0, inner]] * -(-depth // lanes))
    offsets = np.arange(len(rows)) * rows.strides[0]
    packed = tiles.packed(np.ascontiguousarray(coefficients), size)
    first = 0
    for n, many in tiles.split(count, size):
        tiles.products(tiles.name(dtype), n, vectors, apart=parts > 1)(
            rows.ctypes.data, offsets.ctypes.data, len(rows),
            packed.ctypes.data + first * len(rows) * itemsize, start.ctypes.data,
            made[first:].ctypes.data, depth * itemsize, 1, depth * itemsize, 0, 0, many, 0,
            everything.ctypes.data, each.ctypes.data, inner,
        )  # fmt: skip
        first += n * many
    return made


def added(rows: Any, shape: tuple[int, ...], window: Any, places: tuple[int, ...]) -> Any:
    """Rows added up where they come from in images of a shape: the adjoint of `gathered`."""
    total = np.zeros(shape, rows.dtype)
    _add(rows.reshape(shape[0], *places, rows.shape[-1]), total, *zip(*window, strict=True))
    return total


@jit
def _gather(data, rows, way_y, way_x):
    """Copy windows into rows; a way is kernel, stride, dilation and padding along an axis."""
    kernel_y, stride_y, dilate_y, pad_y = way_y
    kernel_x, stride_x, dilate_x, pad_x = way_x
    samples, channels, height, width = data.shape
    for n in range(samples):
        for y in range(rows.shape[1]):
            for x in range(rows.shape[2]):
                left = x * stride_x - pad_x
                inside = left >= 0 and left + (kernel_x - 1) * dilate_x < width
                for c in range(channels):
                    for i in range(kernel_y):
                        row = y * stride_y - pad_y + i * dilate_y
                        at = (c * kernel_y + i) * kernel_x
                        if row < 0 or row >= height:
                            for j in range(kernel_x):
                                rows[n, y, x, at + j] = 0
                        elif inside and kernel_x == 3:  # written out: twice as quick
                            rows[n, y, x, at] = data[n, c, row, left]
                            rows[n, y, x, at + 1] = data[n, c, row, left + dilate_x]
                            rows[n, y, x, at + 2] = data[n, c, row, left + 2 * dilate_x]
                        elif inside:
                            for j in range(kernel_x):
                                rows[n, y, x, at + j] = data[n, c, row, left + j * dilate_x]
                        else:
                            for j in range(kernel_x):
                                k = left + j * dilate_x
                                if 0 <= k < width:
                                    rows[n, y, x, at + j] = data[n, c, row, k]
                                else:
                                    rows[n, y, x, at + j] = 0


@jit
def _add(rows, total, way_y, way_x):
    """Add rows to where `_gather` finds them."""
    kernel_y, stride_y, dilate_y, pad_y = way_y
    kernel_x, stride_x, dilate_x, pad_x = way_x
    samples, channels, height, width = total.shape
    for n in range(samples):
        for y in range(rows.shape[1]):
            for x in range(rows.shape[2]):
                left = x * stride_x - pad_x
                low = min(-(left // dilate_x), kernel_x) if left < 0 else 0
                high = min(max((width - 1 - left) // dilate_x + 1, low), kernel_x)
                for c in range(channels):
                    for i in range(kernel_y):
                        row = y * stride_y - pad_y + i * dilate_y
                        if 0 <= row < height:
                            at = (c * kernel_y + i) * kernel_x
                            for j in range(low, high):
                                total[n, c, row, left + j * dilate_x] += rows[n, y, x, at + j]
