"""Pooling over windows: sums along one axis after the other, maxima with where they came from.

Arrays are ``(samples, channels, *spatial)``. Padding never is the largest and is zero in a sum.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np

from . import _memory, tiles
from . import windows as vectors
from ._jit import has_numba, jit

#: below this many elements of windows numpy is faster than loading compiled code
FEWEST_FOR_NUMBA = 50_000


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


def scaled_sums(data: Any, pool: Pool, factor: Any) -> Any:
    """The sum of every window times a factor for its place; ``factor`` broadcasts to places."""
    everything = prod(pool.places) == 1 and pool.kernel == data.shape[2:]
    if everything or not _in_vectors(data, pool):
        total = add_up(data, pool)
        if factor is not None:
            total *= factor
        return total
    factors = np.ones((), data.dtype) if factor is None else factor.astype(data.dtype, copy=False)
    return _sums_in_vectors(data, pool, np.broadcast_to(factors, pool.places))


def _sums_in_vectors(data: Any, pool: Pool, factors: Any) -> Any:
    _memory.use_pool()
    total = np.empty((*data.shape[:2], *pool.places), data.dtype)
    images, flat = _as_images(np.ascontiguousarray(data), pool)
    if len(pool.kernel) == 1:
        factors = np.broadcast_to(factors, flat.places)
    factors = np.ascontiguousarray(factors)
    run = vectors.sums(tiles.name(data.dtype), flat.kernel[1], flat.stride[1])
    run(*_for_vectors(images, total, factors, flat))
    return total


def _for_vectors(images: Any, out: Any, extra: Any, pool: Pool) -> tuple[int, ...]:
    """The arguments of the functions in `windows`."""
    addresses = [x.ctypes.data for x in (images, out, extra)]
    planes, *size = images.shape
    return (
        *addresses, 0, planes, planes, *size, *pool.places, pool.kernel[0], pool.stride[0], 1,
        *pool.pad,
    )  # fmt: skip


def _in_vectors(data: Any, pool: Pool) -> bool:
    return _compiled(data, pool) and vectors.can(data.dtype, pool.kernel[-1])


def spread_sum(g: Any, pool: Pool, spatial: tuple[int, ...]) -> Any:
    """The adjoint of `add_up`: every window's value added to each of its elements."""
    if prod(pool.places) == 1 and not any(pool.pad) and pool.kernel == spatial:
        return np.array(np.broadcast_to(g, (*g.shape[:2], *spatial)))
    if set(pool.stride) == {1} and _in_vectors(g, pool):
        # an element's windows begin at the places of a window that ends at it
        pad = tuple([k - 1 - p for k, p in zip(pool.kernel, pool.pad, strict=True)])
        turned = Pool(pool.kernel, pool.stride, pad, spatial)
        return _sums_in_vectors(g, turned, np.ones(spatial, g.dtype))
    for axis in range(len(spatial) - 1, -1, -1):  # strided writes while there is little to write
        kernel, size = pool.kernel[axis], spatial[axis]
        shape = (*g.shape[: 2 + axis], size, *g.shape[3 + axis :])
        total = np.zeros(shape, g.dtype)
        for offset in range(kernel):
            source, to = pool.span(axis, offset, size)
            part = total[_along(axis, to)]
            if kernel <= pool.stride[axis]:  # every element is in one window at most
                part[...] = g[_along(axis, source)]
            else:
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

    NaN is never larger, and minus infinity not larger than nothing: such a window gives minus
    infinity and number 0 (MXNet: the lowest finite number).
    """
    shape = (*data.shape[:2], *pool.places)
    if _compiled(data, pool):
        return _largest_of_images(np.ascontiguousarray(data), shape, pool)
    winner = np.zeros(shape, winner_dtype(pool.kernel))
    best = np.full(shape, _lowest(data.dtype))
    for number, offset in enumerate(product(*map(range, pool.kernel))):
        sizes = zip(offset, data.shape[2:], strict=True)
        spans = [pool.span(axis, *of_axis) for axis, of_axis in enumerate(sizes)]
        to = (slice(None), slice(None), *[s[0] for s in spans])
        value = data[(slice(None), slice(None), *[s[1] for s in spans])]
        better = value > best[to]
        np.copyto(best[to], value, where=better)
        np.copyto(winner[to], winner.dtype.type(number), where=better)
    return best, winner


def _lowest(dtype: Any) -> Any:
    return dtype.type(-np.inf) if dtype.kind == "f" else np.iinfo(dtype).min


def _compiled(data: Any, pool: Pool) -> bool:
    if len(pool.kernel) > 2 or data.dtype.itemsize < 4:
        return False
    work = data.shape[0] * data.shape[1] * prod(pool.places) * prod(pool.kernel)
    return work >= FEWEST_FOR_NUMBA and has_numba()


def _as_images(x: Any, pool: Pool) -> tuple[Any, Pool]:
    """``(planes, height, width)``; sequences become the rows of one image."""
    if len(pool.kernel) == 2:
        return x.reshape(-1, *x.shape[2:]), pool
    rows = x.shape[0] * x.shape[1]
    sides = [(1, *pool.kernel), (1, *pool.stride), (0, *pool.pad), (rows, *pool.places)]
    return x.reshape(1, rows, x.shape[2]), Pool(*sides)


def _largest_of_images(data: Any, shape: tuple[int, ...], pool: Pool) -> tuple[Any, Any]:
    """Maxima and winners by the kernel that is quickest."""
    _memory.use_pool()
    images, flat = _as_images(data, pool)
    best, winner = np.empty(shape, data.dtype), np.empty(shape, winner_dtype(pool.kernel))
    if vectors.can(data.dtype, flat.kernel[1]):
        run = vectors.largest(
            tiles.name(data.dtype), winner.itemsize, flat.kernel[1], flat.stride[1]
        )
        run(*_for_vectors(images, best, winner, flat))
    else:
        best[...] = _lowest(data.dtype)
        places = (-1, *flat.places)
        _largest(
            images, best.reshape(places), winner.reshape(places), *flat.kernel, *flat.stride,
            *flat.pad,
        )  # fmt: skip
    return best, winner


@jit
def _largest(data, best, winner, kernel_y, kernel_x, stride_y, stride_x, pad_y, pad_x):
    """Maxima of windows of (planes, height, width); ``best`` comes full of the lowest number."""
    height, width = data.shape[1], data.shape[2]
    for plane in range(data.shape[0]):
        for y in range(best.shape[1]):
            top = y * stride_y - pad_y
            for x in range(best.shape[2]):
                left = x * stride_x - pad_x
                value = best[plane, y, x]
                number = 0
                for i in range(max(top, 0), min(top + kernel_y, height)):
                    for j in range(max(left, 0), min(left + kernel_x, width)):
                        candidate = data[plane, i, j]
                        better = candidate > value
                        value = candidate if better else value
                        number = (i - top) * kernel_x + j - left if better else number
                best[plane, y, x] = value
                winner[plane, y, x] = number


def _winners(winner: Any, pool: Pool, spatial: tuple[int, ...]) -> tuple[Any, Any]:
    """The number, within its plane, of the element that won each window, and whether one did.

    None wins a window that lies in the padding.
    """
    offsets = np.unravel_index(winner, pool.kernel)
    index: Any = 0
    inside: Any = True
    for axis, (offset, size) in enumerate(zip(offsets, spatial, strict=True)):
        shape = [-1 if k == axis else 1 for k in range(len(spatial))]
        begin = (np.arange(pool.places[axis]) * pool.stride[axis] - pool.pad[axis]).reshape(shape)
        place = begin + offset
        inside = inside & (place >= 0) & (place < size)
        # winners come from users where a workspace is theirs: stay inside whatever they say
        index = index * size + np.clip(place, 0, size - 1)
    return index, inside


def spread_largest(g: Any, winner: Any, pool: Pool, spatial: tuple[int, ...]) -> Any:
    """Every window's value added to the element that won it."""
    result = np.zeros((*g.shape[:2], *spatial), g.dtype)
    if _compiled(g, pool):
        values, images = _as_images(np.ascontiguousarray(g), pool._replace(places=spatial))
        numbers = _as_images(winner, pool)[0]
        down, across = np.divmod(np.arange(prod(images.kernel)), images.kernel[1])
        _spread_largest(
            values, numbers, result.reshape(-1, *images.places), down, across,
            *images.stride, *images.pad,
        )  # fmt: skip
        return result
    planes, total = prod(g.shape[:2]), prod(spatial)
    index, inside = _winners(winner, pool, spatial)
    index = index.reshape(planes, -1) + (np.arange(planes) * total)[:, None]
    weights = np.where(inside, g, 0).ravel()
    added = np.bincount(index.ravel(), weights=weights, minlength=planes * total)
    result[...] = added.reshape(result.shape)
    return result


@jit
def _spread_largest(g, winner, result, down, across, stride_y, stride_x, pad_y, pad_x):
    """Add (planes, height, width) of window values to the planes' elements that won.

    ``down`` and ``across`` say where the numbered elements of a window are: dividing costs 5 ns.
    """
    height, width = result.shape[1], result.shape[2]
    for plane in range(g.shape[0]):
        for y in range(g.shape[1]):
            for x in range(g.shape[2]):
                number = winner[plane, y, x]
                if number < down.size:
                    i = y * stride_y - pad_y + down[number]
                    j = x * stride_x - pad_x + across[number]
                    if 0 <= i < height and 0 <= j < width:
                        result[plane, i, j] += g[plane, y, x]


def pick_largest(data: Any, winner: Any, pool: Pool) -> Any:
    """The elements that won: the adjoint of `spread_largest`."""
    planes = prod(data.shape[:2])
    index, inside = _winners(winner, pool, data.shape[2:])
    flat = data.reshape(planes, -1)
    picked = np.take_along_axis(flat, index.reshape(planes, -1), axis=1).reshape(winner.shape)
    return np.where(inside, picked, data.dtype.type(0))


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
