"""Reading images at computed places: spatial transformers, and correlation of two images."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ..base import AttributeValueError, ShapeError
from ..core.attributes import Shape
from ..core.infer import UNKNOWN_SHAPE
from ..core.op import op
from ._shared import at_least

# ---- where to read


def _line(count, dtype):
    """``count`` even places from -1 to 1; a single one is at -1."""
    return (np.arange(count, dtype=dtype) * dtype.type(2 / max(count - 1, 1))) - dtype.type(1)


def _positions(height, width, dtype):
    """``(3, height * width)``: x, y and 1 for every position."""
    x, y = np.meshgrid(_line(width, dtype), _line(height, dtype))
    return np.stack([x.ravel(), y.ravel(), np.ones(height * width, dtype)])


def _check_target(name, shape):
    if len(shape) != 2 or min(shape) < 1:
        raise AttributeValueError(
            f"{name}: incorrect target_shape.\n  received  target_shape={shape}\n"
            "  expected  (height, width), both 1 or more\n  fix       pass the size of the result"
        )


@op()
def GridGenerator(data, *, transform_type: Literal["affine", "warp"], target_shape: Shape = (0, 0)):
    """Where to read an image: ``(batch, 2, height, width)`` of x and y, -1 and 1 being its edges.

    Parameters
    ----------
    data : for "affine" ``(batch, 6)``, the rows of a 2 by 3 matrix that places are multiplied with;
        for "warp" ``(batch, 2, height, width)``, how many pixels every place is moved.
    target_shape : height and width of the result, for "affine".

    Examples
    --------
    >>> same = nd.array([[1, 0, 0, 0, 1, 0]])
    >>> nd.GridGenerator(same, transform_type="affine", target_shape=(2, 3))[0, 0].asnumpy()
    array([[-1.,  0.,  1.],
           [-1.,  0.,  1.]], dtype=float32)
    """
    if transform_type == "affine":
        _check_target("GridGenerator", target_shape)
        _check_affine("GridGenerator", "data", data)
        return _affine(data, target_shape)
    if data.ndim != 4 or data.shape[1] != 2:
        raise ShapeError(
            "GridGenerator: incorrect data shape[1], should be 2.\n"
            f"  received  data {data.shape}\n  expected  (batch, 2, height, width)\n"
            "  fix       pass how far to move x and y"
        )
    height, width = data.shape[2:]
    scale = np.array([2 / max(width - 1, 1), 2 / max(height - 1, 1)], data.dtype)
    start = _positions(height, width, data.dtype)[:2].reshape(2, height, width)
    return data * scale[:, None, None] + start


def _check_affine(name, what, data):
    if data.ndim != 2 or data.shape[1] != 6:
        raise ShapeError(
            f"{name}: incorrect {what} shape[1], should be 6.\n  received  {what} {data.shape}\n"
            "  expected  (batch, 6), a 2 by 3 matrix for each image\n  fix       reshape it"
        )


def _affine(data, shape):
    positions = _positions(*shape, data.dtype)
    return np.matmul(data.reshape(-1, 2, 3), positions).reshape(-1, 2, *shape)


@GridGenerator.shape
def _(s, *, transform_type, target_shape):
    if transform_type == "warp":
        s.data = s.out
        s.out = s.data
        s.data = (s.data[0], 2, s.data[2], s.data[3])
    else:
        s.data = (s.data[0], 6)
        s.out = (s.data[0], 2, *target_shape)


GridGenerator.unsaved = -1  # MXNet has a hidden output more


@GridGenerator.grad
def _(F, g, data, *, out, transform_type, target_shape):
    return F._grid_generator_grad(g, transform_type=transform_type)


@op()
def _grid_generator_grad(g, *, transform_type: Literal["affine", "warp"]):
    """The gradient of `GridGenerator` for its input."""
    height, width = g.shape[2:]
    if transform_type == "affine":
        positions = _positions(height, width, g.dtype)
        return np.matmul(g.reshape(-1, 2, height * width), positions.T).reshape(-1, 6)
    scale = np.array([2 / max(width - 1, 1), 2 / max(height - 1, 1)], g.dtype)
    return g * scale[:, None, None]


@_grid_generator_grad.shape
def _(s, *, transform_type):
    s.out = (s.g[0], 6) if transform_type == "affine" else s.g


@_grid_generator_grad.grad
def _(F, g, gradient, *, out, transform_type):
    return F._grid_of(g, gradient, transform_type=transform_type)


@op(shape_only=("like",))
def _grid_of(data, like, *, transform_type: Literal["affine", "warp"]):
    """The part of `GridGenerator` that is linear in ``data``."""
    if transform_type == "affine":
        return _affine(data, like.shape[2:])
    return _grid_generator_grad.dense(data, transform_type="warp")


@_grid_of.shape
def _(s, **_):
    s.out = s.like


@_grid_of.grad
def _(F, g, data, like, *, out, transform_type):
    return F._grid_generator_grad(g, transform_type=transform_type), None


# ---- reading between pixels


@op()
def BilinearSampler(data, grid, *, cudnn_off: bool | None = None):
    """``data`` read at the places of ``grid``, between pixels by weighing four of them.

    Parameters
    ----------
    data : ``(batch, channels, height, width)``.
    grid : ``(batch, 2, new height, new width)`` of x and y; -1 and 1 are the edges, and beyond them
        is nothing but zeros.
    """
    _check_sampler(data, grid)
    return sum(weight * values for weight, values, *_ in _corners(data, grid))


def _check_sampler(data, grid):
    if data.ndim != 4 or 0 in data.shape[2:] or grid.ndim != 4 or grid.shape[:2] != (len(data), 2):
        raise ShapeError(
            "BilinearSampler: data or grid has the wrong shape.\n"
            f"  received  data {data.shape}, grid {grid.shape}\n"
            "  expected  data (batch, channels, height, width), grid (batch, 2, height, width) "
            "for as large a batch\n  fix       make the grid with GridGenerator"
        )


def _corners(data, grid):
    """For each of the four pixels around the places: its weight, its values, where it is, ...

    Weights are ``(batch, 1, h, w)`` and zero outside; the rest are the offsets' signs.
    """
    height, width = data.shape[2:]
    x = (grid[:, 0] + 1) * ((width - 1) / 2)
    y = (grid[:, 1] + 1) * ((height - 1) / 2)
    x0, y0 = np.floor(x), np.floor(y)
    u, v = x - x0, y - y0
    batch = np.arange(len(data))[:, None, None]
    for down in (0, 1):
        for right in (0, 1):
            column, row = x0 + right, y0 + down
            inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
            column = np.where(inside, column, 0).astype(np.intp)
            row = np.where(inside, row, 0).astype(np.intp)
            across, along = (u if right else 1 - u), (v if down else 1 - v)
            values = np.where(inside[:, None], np.moveaxis(data[batch, :, row, column], -1, 1), 0)
            weight = np.where(inside, across * along, 0)[:, None].astype(data.dtype)
            yield weight, values, (row, column), (across, along), (right, down)


@BilinearSampler.shape
def _(s, *, cudnn_off):
    if s.data is not UNKNOWN_SHAPE:
        s.grid = (s.data[0], 2, s.grid[2], s.grid[3])
    s.out = (s.data[0], s.data[1], s.grid[2], s.grid[3])


BilinearSampler.unsaved = -1


@BilinearSampler.grad
def _(F, g, data, grid, *, out, cudnn_off):
    return F._bilinear_sampler_grad(g, data, grid)


@op(outputs=2)
def _bilinear_sampler_grad(g, data, grid):
    """The gradients of `BilinearSampler` for data and grid."""
    total = np.zeros(data.shape, data.dtype)
    moves = np.zeros(grid.shape, grid.dtype)
    height, width = data.shape[2:]
    batch = np.arange(len(data))[:, None, None, None]
    channel = np.arange(data.shape[1])[:, None, None]
    for weight, values, (row, column), (across, along), (right, down) in _corners(data, grid):
        np.add.at(total, (batch, channel, row[:, None], column[:, None]), weight * g)
        slope = (g * values).sum(axis=1)
        moves[:, 0] += slope * along * (1 if right else -1)
        moves[:, 1] += slope * across * (1 if down else -1)
    moves[:, 0] *= (width - 1) / 2
    moves[:, 1] *= (height - 1) / 2
    return total, moves


@_bilinear_sampler_grad.shape
def _(s):
    s.outs = [s.data, s.grid]


@op()
def SpatialTransformer(
    data,
    loc,
    *,
    target_shape: Shape = (0, 0),
    transform_type: Literal["affine"],
    sampler_type: Literal["bilinear"],
    cudnn_off: bool | None = None,
):
    """``data`` moved, turned, scaled and sheared as ``loc`` says: `BilinearSampler` on a grid.

    ``loc`` is ``(batch, 6)``, a 2 by 3 matrix for each image, as `GridGenerator` takes it.
    """
    _check_target("SpatialTransformer", target_shape)
    _check_affine("SpatialTransformer", "loc", loc)
    return BilinearSampler.dense(data, _affine(loc, target_shape))


@SpatialTransformer.shape
def _(s, *, target_shape, **_):
    s.loc = (s.data[0], 6)
    s.out = (s.data[0], s.data[1], *target_shape)


SpatialTransformer.unsaved = -2


@SpatialTransformer.grad
def _(F, g, data, loc, *, out, target_shape, **_):
    grid = F.GridGenerator(loc, transform_type="affine", target_shape=target_shape)
    values, moves = F._bilinear_sampler_grad(g, data, grid)
    return values, F._grid_generator_grad(moves, transform_type="affine")


# ---- how alike two images are


@op()
def Correlation(
    data1,
    data2,
    *,
    kernel_size: int = 1,
    max_displacement: int = 1,
    stride1: int = 1,
    stride2: int = 1,
    pad_size: int = 0,
    is_multiply: bool = True,
):
    """How alike two images are around every place, for every way of moving the second: FlowNet's.

    Parameters
    ----------
    data1, data2 : ``(batch, channels, height, width)``.
    kernel_size : side of the patches that are compared, odd.
    max_displacement, stride2 : moves go up to so many pixels each way, in steps.
    stride1 : steps between places. pad_size : zeros around both.
    is_multiply : take the mean of products; else that of absolute differences.
    """
    geometry = _Geometry(data1, data2, kernel_size, max_displacement, stride1, stride2, pad_size)
    out = np.empty((len(data1), len(geometry.moves), *geometry.places), data1.dtype)
    for k, (first, second) in enumerate(geometry.pairs(data1, data2)):
        alike = first * second if is_multiply else np.abs(first - second)
        total = alike.sum(axis=1)
        out[:, k] = sum(total[:, y, x] for y, x in geometry.windows())
    return np.divide(out, data1.dtype.type(geometry.count), out=out)


class _Geometry:
    """Which parts of two padded images are compared."""

    def __init__(self, data1, data2, kernel, displacement, stride1, stride2, pad):
        if data1.ndim != 4 or data1.shape != data2.shape:
            raise ShapeError(
                f"Correlation: data2 has the wrong shape.\n"
                f"  received  data1 {data1.shape}, data2 {data2.shape}\n"
                "  expected  two equal shapes (batch, channels, height, width)\n"
                "  fix       resize one of them"
            )
        at_least("Correlation", "max_displacement", displacement, 0)
        at_least("Correlation", "pad_size", pad, 0)
        _check_correlation(kernel, stride1, stride2)
        self.kernel, self.stride, self.pad, self.reach = kernel, stride1, pad, displacement
        steps = displacement // stride2
        span = range(-steps, steps + 1)
        self.moves = [(y * stride2, x * stride2) for y in span for x in span]
        self.places = tuple(
            [_places(n, kernel, displacement, stride1, pad) for n in data1.shape[2:]]
        )
        if min(self.places) < 1:
            raise ShapeError(
                "Correlation cannot be done with current settings. Neighborhood and kernel don't "
                f"fit in blob.\n  received  data1 {data1.shape}, kernel_size={kernel}, "
                f"max_displacement={displacement}, pad_size={pad}\n"
                "  expected  at least one place\n  fix       pad more, or move less"
            )
        self.count = kernel * kernel * data1.shape[1]
        self.sides = [(n - 1) * stride1 + kernel for n in self.places]

    def padded(self, data):
        pad = self.pad
        return np.pad(data, ((0, 0), (0, 0), (pad, pad), (pad, pad))) if pad else data

    def part(self, move=(0, 0)):
        """The block of a padded image that a move compares."""
        starts = [self.reach + m for m in move]
        return (..., *[slice(a, a + n) for a, n in zip(starts, self.sides, strict=True)])

    def pairs(self, data1, data2):
        """The two blocks for every move; blocks beyond the edge end with zeros."""
        first, second = self.padded(data1), self.padded(data2)
        for move in self.moves:
            yield first[self.part()], second[self.part(move)]

    def windows(self):
        """For every place in a patch, where that is in a block for all patches."""
        for y in range(self.kernel):
            for x in range(self.kernel):
                yield tuple(
                    [
                        slice(a, a + (n - 1) * self.stride + 1, self.stride)
                        for a, n in zip((y, x), self.places, strict=True)
                    ]
                )


def _check_correlation(kernel, stride1, stride2):
    for name, value in (("kernel_size", kernel), ("stride1", stride1), ("stride2", stride2)):
        if value < 1 or (name == "kernel_size" and value % 2 == 0):
            raise AttributeValueError(
                f"Correlation: {name} is not valid.\n  received  {name}={value}\n"
                f"  expected  {'an odd number' if name == 'kernel_size' else '1 or more'}\n"
                f"  fix       pass such a {name}"
            )


def _places(size, kernel, displacement, stride, pad):
    return -(-(size + 2 * pad - 2 * (displacement + (kernel - 1) // 2)) // stride)


@Correlation.shape
def _(s, *, kernel_size, max_displacement, stride1, stride2, pad_size, is_multiply):
    s.data1 = s.data2
    s.data2 = s.data1
    moves = (2 * (max_displacement // max(stride2, 1)) + 1) ** 2
    sides = [
        _places(n, kernel_size, max_displacement, max(stride1, 1), pad_size) for n in s.data1[2:]
    ]
    s.out = (s.data1[0], moves, *sides)


Correlation.unsaved = -2


@Correlation.grad
def _(F, g, data1, data2, *, out, **attrs):
    return F._correlation_grad(g, data1, data2, **attrs)


@op(outputs=2)
def _correlation_grad(
    g,
    data1,
    data2,
    *,
    kernel_size: int,
    max_displacement: int,
    stride1: int,
    stride2: int,
    pad_size: int,
    is_multiply: bool,
):
    """The gradients of `Correlation` for both images."""
    geometry = _Geometry(data1, data2, kernel_size, max_displacement, stride1, stride2, pad_size)
    totals = [np.zeros_like(geometry.padded(data1)) for _ in range(2)]
    for k, (first, second) in enumerate(geometry.pairs(data1, data2)):
        spread = np.zeros((len(data1), *geometry.sides), g.dtype)
        for y, x in geometry.windows():
            spread[:, y, x] += g[:, k]
        spread = spread[:, None] / g.dtype.type(geometry.count)
        if is_multiply:
            slopes = (second, first)
        else:
            sign = np.where(first >= second, 1, -1).astype(g.dtype)  # equal ones as MXNet does
            slopes = (sign, -sign)
        moves = ((0, 0), geometry.moves[k])
        for total, move, slope in zip(totals, moves, slopes, strict=True):
            total[geometry.part(move)] += spread * slope
    pad = pad_size
    return tuple([t[:, :, pad : t.shape[2] - pad, pad : t.shape[3] - pad] for t in totals])


@_correlation_grad.shape
def _(s, **_):
    s.outs = [s.data1, s.data1]
