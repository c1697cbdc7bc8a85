"""Pooling over windows: sums along one axis after the other, maxima with where they came from.

Arrays are ``(samples, channels, *spatial)``. Padding never is the largest and is zero in a sum.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from ._jit import has_numba, jit

#: below this many comparisons numpy is faster than loading numba
FEWEST_FOR_NUMBA = 200_000


class Pool(NamedTuple):
    """How windows lie on the spatial axes: a tuple for each property, a number for each axis."""

    kernel: tuple[int, ...]
    stride: tuple[int, ...]
    pad: tuple[int, ...]
    places: tuple[int, ...]

    def span(self, axis: int, offset: int, size: int) -> tuple[slice, slice]:
        """Places whose element at ``offset`` exists, and these elements."""
        stride, start = self.stride[axis], offset - self.pad[axis]
        first = max(-(start // stride), 0) if start < 0 else 0
        last = min((size - 1 - start) // stride, self.places[axis] - 1)
        n = max(last - first + 1, 0)
        begin = start + first * stride
        return slice(first, first + n), slice(begin, begin + stride * n, stride) if n else slice(0)


def winner_dtype(kernel: tuple[int, ...]) -> type:
    """The dtype that can number the elements of a window."""
    return np.uint8 if prod(kernel) <= 256 else np.int32


# ---- sums


def _along(axis: int, at: slice) -> Any:
    return (*[slice(None)] * (2 + axis), at)


def add_up(data: Any, pool: Pool) -> Any:
    """The sum of every window."""
    for axis, kernel in enumerate(pool.kernel):
        size = data.shape[2 + axis]
        places = pool.places[axis]
        if places == 1 and pool.pad[axis] == 0 and kernel == size:
            data = np.add.reduce(data, axis=2 + axis, keepdims=True)
            continue
        shape = (*data.shape[: 2 + axis], places, *data.shape[3 + axis :])
        total = np.zeros(shape, data.dtype)
        for offset in range(kernel):
            to, source = pool.span(axis, offset, size)
            part = total[_along(axis, to)]
            part += data[_along(axis, source)]
        data = total
    return data


def spread_sum(g: Any, pool: Pool, spatial: tuple[int, ...]) -> Any:
    """The adjoint of `add_up`: every window's value added to each of its elements."""
    for axis, kernel in enumerate(pool.kernel):
        size = spatial[axis]
        shape = (*g.shape[: 2 + axis], size, *g.shape[3 + axis :])
        total = np.zeros(shape, g.dtype)
        for offset in range(kernel):
            source, to = pool.span(axis, offset, size)
            part = total[_along(axis, to)]
            part += g[_along(axis, source)]
        g = total
    return g


def counts(pool: Pool, spatial: tuple[int, ...], include_pad: bool) -> Any:
    """How many elements each window has; padding counts if asked, what lies beyond it never."""
    result: Any = np.ones((), np.float64)
    for axis, size in enumerate(spatial):
        begin = np.arange(pool.places[axis]) * pool.stride[axis] - pool.pad[axis]
        end = np.minimum(begin + pool.kernel[axis], size + pool.pad[axis])
        if not include_pad:
            begin, end = np.maximum(begin, 0), np.minimum(end, size)
        result = np.multiply.outer(result, np.maximum(end - begin, 1))
    return result


# ---- maxima


def largest(data: Any, pool: Pool) -> tuple[Any, Any]:
    """The largest element of every window, and its number in the window: the first if several are.

    NaN wins only where there is nothing else, as in MXNet (which gives the lowest number then).
    """
    shape = (*data.shape[:2], *pool.places)
    winner = np.empty(shape, winner_dtype(pool.kernel))
    best = np.full(shape, _lowest(data.dtype))
    if _compiled(data, pool):
        _largest(
            np.ascontiguousarray(data).reshape(-1, *data.shape[2:]),
            best.reshape(-1, *pool.places), winner.reshape(-1, *pool.places), *_sizes(pool),
        )  # fmt: skip
        return best, winner
    winner[...] = 0
    found = np.zeros(shape, bool)
    for number, offset in enumerate(product(*map(range, pool.kernel))):
        spans = [
            pool.span(a, o, n) for a, (o, n) in enumerate(zip(offset, data.shape[2:], strict=True))
        ]
        to = (slice(None), slice(None), *[s[0] for s in spans])
        value = data[(slice(None), slice(None), *[s[1] for s in spans])]
        better = (value > best[to]) | (~found[to] | (best[to] != best[to]))
        np.copyto(best[to], value, where=better)
        np.copyto(winner[to], winner.dtype.type(number), where=better)
        found[to] = True
    return best, winner


def _lowest(dtype: Any) -> Any:
    return dtype.type(-np.inf) if dtype.kind == "f" else np.iinfo(dtype).min


def _compiled(data: Any, pool: Pool) -> bool:
    if len(pool.kernel) != 2 or data.dtype.itemsize < 4:
        return False
    work = data.shape[0] * data.shape[1] * prod(pool.places) * prod(pool.kernel)
    return work >= FEWEST_FOR_NUMBA and has_numba()


def _sizes(pool: Pool) -> tuple[int, ...]:
    return (*pool.kernel, *pool.stride, *pool.pad)


@jit
def _largest(data, best, winner, kernel_y, kernel_x, stride_y, stride_x, pad_y, pad_x):
    """Maxima of windows of (planes, height, width); ``best`` comes full of the lowest number."""
    height, width = data.shape[1], data.shape[2]
    for plane in range(data.shape[0]):
        for y in range(best.shape[1]):
            top = y * stride_y - pad_y
            low, high = max(top, 0), min(top + kernel_y, height)
            for x in range(best.shape[2]):
                left = x * stride_x - pad_x
                found = False
                value = best[plane, y, x]
                number = 0
                for i in range(low, high):
                    for j in range(max(left, 0), min(left + kernel_x, width)):
                        candidate = data[plane, i, j]
                        if not found or candidate > value or value != value:
                            value = candidate
                            number = (i - top) * kernel_x + j - left
                            found = True
                best[plane, y, x] = value
                winner[plane, y, x] = number


def _winners(winner: Any, pool: Pool, spatial: tuple[int, ...]) -> Any:
    """The number, within its plane, of the element that won each window."""
    offsets = np.unravel_index(winner, pool.kernel)
    index: Any = 0
    for axis, (offset, size) in enumerate(zip(offsets, spatial, strict=True)):
        shape = [-1 if k == axis else 1 for k in range(len(spatial))]
        begin = (np.arange(pool.places[axis]) * pool.stride[axis] - pool.pad[axis]).reshape(shape)
        # winners come from users where a workspace is theirs: stay inside whatever they say
        index = index * size + np.clip(begin + offset, 0, size - 1)
    return index


def spread_largest(g: Any, winner: Any, pool: Pool, spatial: tuple[int, ...]) -> Any:
    """Every window's value added to the element that won it."""
    planes, total = prod(g.shape[:2]), prod(spatial)
    result = np.zeros((planes, total), g.dtype)
    if _compiled(g, pool):
        _spread_largest(
            np.ascontiguousarray(g).reshape(planes, *pool.places),
            winner.reshape(planes, *pool.places), result.reshape(planes, *spatial), *_sizes(pool),
        )  # fmt: skip
        return result.reshape(*g.shape[:2], *spatial)
    index = _winners(winner, pool, spatial).reshape(planes, -1)
    index += (np.arange(planes) * total)[:, None]
    added = np.bincount(index.ravel(), weights=g.ravel(), minlength=planes * total)
    result[...] = added.reshape(planes, total)
    return result.reshape(*g.shape[:2], *spatial)


@jit
def _spread_largest(g, winner, result, kernel_y, kernel_x, stride_y, stride_x, pad_y, pad_x):
    """Add (planes, height, width) of window values to the planes' elements that won."""
    height, width = result.shape[1], result.shape[2]
    for plane in range(g.shape[0]):
        for y in range(g.shape[1]):
            for x in range(g.shape[2]):
                number = winner[plane, y, x]
                i = y * stride_y - pad_y + number // kernel_x
                j = x * stride_x - pad_x + number % kernel_x
                if 0 <= i < height and 0 <= j < width:
                    result[plane, i, j] += g[plane, y, x]


def pick_largest(data: Any, winner: Any, pool: Pool) -> Any:
    """The elements that won: the adjoint of `spread_largest`."""
    planes = prod(data.shape[:2])
    index = _winners(winner, pool, data.shape[2:]).reshape(planes, -1)
    flat = data.reshape(planes, -1)
    return np.take_along_axis(flat, index, axis=1).reshape(winner.shape)


# ---- average over a grid of given size


def grid_bounds(size: int, parts: int) -> tuple[Any, Any]:
    """Where the parts of an axis begin and end; they may overlap."""
    k = np.arange(parts)
    return k * size // parts, -((-(k + 1) * size) // parts)


def grid_weights(size: int, parts: int, dtype: Any) -> Any:
    """The matrix ``(parts, size)`` that averages each part of an axis.

    >>> grid_weights(3, 2, "float32")
    array([[0.5, 0.5, 0. ],
           [0. , 0.5, 0.5]], dtype=float32)
    """
    begin, end = grid_bounds(size, parts)
    at = np.arange(size)
    inside = (at >= begin[:, None]) & (at < end[:, None])
    return (inside / (end - begin)[:, None]).astype(dtype)
