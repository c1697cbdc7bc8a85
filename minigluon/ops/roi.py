"""Features of regions of interest: pooled, or sampled between positions."""

from __future__ import annotations

import numpy as np

from ..base import AttributeValueError, ShapeError
from ..core.attributes import Shape, Share
from ..core.infer import UNKNOWN_SHAPE
from ..core.op import op
from ._shared import at_least


def check_regions(name, data, rois, numbers=5):
    """Raise unless data is a batch of images and every region names one of them."""
    if data.ndim != 4 or rois.ndim != 2 or rois.shape[1] != numbers:
        raise ShapeError(
            f"{name}: data or rois has the wrong shape.\n"
            f"  received  data {data.shape}, rois {rois.shape}\n"
            f"  expected  data (batch, channels, height, width), rois (regions, {numbers})\n"
            f"  fix       give every region the number of its image and its box"
        )
    images = rois[:, 0]
    if images.size and (images.max() >= len(data) or np.isnan(images).any()):
        raise ShapeError(
            f"{name}: rois names an image that is not there.\n"
            f"  received  image {images.max():g} of a batch of {len(data)}\n"
            f"  expected  0 to {len(data) - 1}; below 0 for no region\n"
            "  fix       the first number of a region counts images from 0"
        )


#: regions reach so many positions of the data at most
FARTHEST = 1e6


def check_reach(name, boxes):
    """``boxes`` are in positions of the data."""
    if boxes.size and not np.abs(boxes).max() <= FARTHEST:  # NaN is refused too
        raise ShapeError(
            f"{name}: rois has corners that are no places.\n"
            f"  received  {boxes.ravel()[np.argmax(~(np.abs(boxes.ravel()) <= FARTHEST))]}\n"
            f"  expected  numbers of at most {FARTHEST:g} after scaling\n"
            "  fix       cut regions off at the image"
        )


def _pair(name, size):
    if len(size) != 2 or min(size) < 1:
        raise AttributeValueError(
            f"{name}: pooled_size is not valid.\n  received  pooled_size={size}\n"
            "  expected  (height, width), both 1 or more\n  fix       pass such a size"
        )
    return size


def _regions_of(s, channels):
    if s.rois is not UNKNOWN_SHAPE:
        s.rois = (s.rois[0], 5)
    return (s.rois[0], channels)


def half_up(x):
    """Rounded to whole numbers, halves away from zero."""
    return np.trunc(x + np.copysign(0.5, x))


# ---- the largest value of every cell


@op(
    aliases=("_npx_roi_pooling",),
    outputs=2,
    hidden_outputs=1,
    output_names=("output", "maxidx"),
)
def ROIPooling(data, rois, *, pooled_size: Shape, spatial_scale: Share):
    """The largest value in each cell of a grid laid over every region: Fast R-CNN's layer.

    Parameters
    ----------
    data : ``(batch, channels, height, width)``.
    rois : ``(regions, 5)``: the number of the image and a corner box in the image's pixels.
    pooled_size : the grid's height and width.
    spatial_scale : what a pixel of the image is in ``data``.
    """
    check_regions("ROIPooling", data, rois)
    rows, columns = _pair("ROIPooling", pooled_size)
    channels, height, width = data.shape[1:]
    out = np.zeros((len(rois), channels, rows, columns), data.dtype)
    place = np.full(out.shape, -1, np.float32 if data.dtype.itemsize < 4 else data.dtype)
    boxes = rois[:, 1:].astype(np.float32) * np.float32(spatial_scale)
    check_reach("ROIPooling", boxes)
    boxes = half_up(boxes).astype(np.intp)
    for k, (left, top, right, bottom) in enumerate(boxes):
        image = int(rois[k, 0])
        if rois[k, 0] < 0:
            continue
        ys = _cells(top, bottom, rows, height)
        xs = _cells(left, right, columns, width)
        for i, (y0, y1) in enumerate(ys):
            for j, (x0, x1) in enumerate(xs):
                if y1 <= y0 or x1 <= x0:
                    continue
                block = data[image, :, y0:y1, x0:x1].reshape(channels, (y1 - y0) * (x1 - x0))
                best = block.argmax(axis=1)
                out[k, :, i, j] = block[np.arange(channels), best]
                y, x = np.divmod(best, x1 - x0)
                place[k, :, i, j] = (y + y0) * width + x + x0
    return out, place


def _cells(first, last, count, limit):
    """Where each of ``count`` cells of the pixels ``first`` to ``last`` starts and ends."""
    size = np.float32(max(last - first + 1, 1)) / np.float32(count)
    k = np.arange(count, dtype=np.float32)
    starts = np.clip(np.floor(k * size).astype(np.intp) + first, 0, limit)
    ends = np.clip(np.ceil((k + 1) * size).astype(np.intp) + first, 0, limit)
    return list(zip(starts.tolist(), ends.tolist(), strict=True))


@ROIPooling.shape
def _(s, *, pooled_size, spatial_scale):
    shape = (*_regions_of(s, s.data[1]), *pooled_size)
    s.outs = [shape, shape]


@ROIPooling.dtype
def _(t, **_):
    t.data = t.rois = t.outs[0]
    t.data = t.rois
    t.rois = t.data
    t.state(("out", 0), t.data)
    if t.data is not None:
        t.state(("out", 1), np.float32 if t.data.itemsize < 4 else t.data)


@ROIPooling.grad
def _(F, g, data, rois, *, out, **_):
    return F._roi_pooling_grad(g[0], out[1], data, rois), F.zeros_like(rois)


@op(shape_only=("data",))
def _roi_pooling_grad(g, place, data, rois):
    """Gradients put where the largest values were."""
    channels, area = data.shape[1], data.shape[2] * data.shape[3]
    total = np.zeros((data.shape[0] * channels, area), g.dtype)
    there = place >= 0
    image = np.maximum(rois[:, 0], 0).astype(np.intp)
    plane = image[:, None] * channels + np.arange(channels)
    plane = np.broadcast_to(plane[:, :, None, None], g.shape)
    np.add.at(total, (plane[there], place[there].astype(np.intp)), g[there])
    return total.reshape(data.shape)


@_roi_pooling_grad.grad
def _(F, g, gradient, place, data, rois, *, out):
    return F._roi_pooling_take(g, place, rois), None, None, None


@op()
def _roi_pooling_take(data, place, rois):
    """The values of ``data`` where the largest values were."""
    channels = data.shape[1]
    image = np.maximum(rois[:, 0], 0).astype(np.intp)[:, None, None, None]
    flat = data.reshape(len(data), channels, -1)
    spot = np.maximum(place, 0).astype(np.intp)
    found = flat[image, np.arange(channels)[:, None, None], spot]
    return np.where(place >= 0, found, 0).astype(data.dtype)


@_roi_pooling_take.grad
def _(F, g, data, place, rois, *, out):
    return F._roi_pooling_grad(g, place, data, rois), None, None


# ---- samples between positions, averaged


@op(name="_contrib_ROIAlign")
def ROIAlign(
    data,
    rois,
    *,
    pooled_size: Shape,
    spatial_scale: Share,
    sample_ratio: int = -1,
    position_sensitive: bool = False,
    aligned: bool = False,
):
    """The mean of samples in each cell of a grid laid over every region: Mask R-CNN's layer.

    Samples lie between positions and are interpolated; nothing is rounded.

    Parameters
    ----------
    data : ``(batch, channels, height, width)``.
    rois : ``(regions, 5)``: the number of the image and a corner box in the image's pixels.
    sample_ratio : samples along each side of a cell; -1 for one per position of ``data``.
    position_sensitive : every cell has channels of its own; there are cells times fewer results.
    aligned : take pixels for squares around whole numbers (shift boxes by half a pixel).
    """
    check_regions("_contrib_ROIAlign", data, rois)
    rows, columns = _pair("_contrib_ROIAlign", pooled_size)
    channels = _channels(data.shape[1], rows * columns, position_sensitive)
    out = np.zeros((len(rois), channels, rows, columns), data.dtype)
    for k, image, down, across in _grids(
        data, rois, pooled_size, spatial_scale, sample_ratio, aligned
    ):
        y, x = _touched(down), _touched(across)
        found = np.matmul(np.matmul(down[:, y], data[image, :, y, x]), across[:, x].T)
        if position_sensitive:
            found = _own_cells(found.reshape(channels, rows, columns, rows, columns))
        out[k] = found
    return out


def _channels(channels, cells, position_sensitive):
    if not position_sensitive:
        return channels
    if channels % cells:
        raise ShapeError(
            f"_contrib_ROIAlign: position_sensitive needs channels for every cell.\n"
            f"  received  {channels} channels for {cells} cells\n"
            f"  expected  a multiple of {cells}\n  fix       change channels or pooled_size"
        )
    return channels // cells


def _own_cells(values):
    """The diagonal: of ``(c, i, j, i, j)`` what each cell's own channels give for it."""
    return np.einsum("cijij->cij", values)


def _grids(data, rois, size, scale, ratio, aligned):
    """Each region's number and image, and the weights that make cells of rows and of columns."""
    dtype = np.dtype(data.dtype if data.dtype.itemsize > 2 else np.float32)
    shift = 0.5 if aligned else 0.0
    boxes = rois[:, 1:].astype(dtype) * dtype.type(scale) - dtype.type(shift)
    check_reach("_contrib_ROIAlign", boxes)
    for k, (left, top, right, bottom) in enumerate(boxes):
        if rois[k, 0] < 0:
            continue
        sides = (bottom - top, right - left)
        if not aligned:
            sides = [max(side, dtype.type(1)) for side in sides]
        elif min(sides) <= 0:  # MXNet ends the process here
            raise ShapeError(
                "_contrib_ROIAlign: a region is empty.\n"
                f"  received  region {k}: {rois[k, 1:].tolist()}\n"
                "  expected  left < right and top < bottom: aligned=True takes boxes as they are\n"
                "  fix       drop such regions, or give them image -1"
            )
        weights = [
            _weights(start, side, count, limit, ratio)
            for start, side, count, limit in zip(
                (top, left), sides, size, data.shape[2:], strict=True
            )
        ]
        yield k, int(rois[k, 0]), *weights


def _touched(weights):
    """The positions between the first and the last that has a weight."""
    used = np.flatnonzero(weights.any(axis=0))
    return slice(used[0], used[-1] + 1) if used.size else slice(0, 0)


def _weights(start, side, count, limit, ratio):
    """``(count, limit)``: how much each position adds to each of ``count`` cells along a side."""
    cell = side / count
    samples = ratio if ratio > 0 else int(np.ceil(cell))
    weights = np.zeros((count, limit), type(start))
    if samples < 1 or not limit:
        return weights
    step = np.arange(samples, dtype=type(start)) + type(start)(0.5)
    at = start + np.arange(count, dtype=type(start))[:, None] * cell + step * cell / samples
    row = np.repeat(np.arange(count), samples)
    at = at.ravel()
    inside = (at >= -1) & (at <= limit)
    at = np.maximum(at, 0)
    low = np.minimum(at.astype(np.intp), limit - 1)
    high = np.minimum(low + 1, limit - 1)
    part = np.where(low >= limit - 1, 0, at - low)
    np.add.at(weights, (row, low), np.where(inside, 1 - part, 0) / samples)
    np.add.at(weights, (row, high), np.where(inside, part, 0) / samples)
    return weights


@ROIAlign.shape
def _(s, *, pooled_size, position_sensitive, **_):
    channels = s.data[1]
    if position_sensitive:
        channels = channels // (pooled_size[0] * pooled_size[1])
    s.out = (*_regions_of(s, channels), *pooled_size)


@ROIAlign.grad
def _(F, g, data, rois, *, out, **attrs):
    return F._roi_align_grad(g, data, rois, **attrs), F.zeros_like(rois)


@op(shape_only=("data",))
def _roi_align_grad(
    g,
    data,
    rois,
    *,
    pooled_size: Shape,
    spatial_scale: Share,
    sample_ratio: int,
    position_sensitive: bool,
    aligned: bool,
):
    """Gradients spread over the positions that samples lay between."""
    total = np.zeros(data.shape, g.dtype)
    rows, columns = pooled_size
    for k, image, down, across in _grids(
        data, rois, pooled_size, spatial_scale, sample_ratio, aligned
    ):
        coming = g[k]
        if position_sensitive:
            wide = np.zeros((len(coming), rows, columns, rows, columns), g.dtype)
            i, j = np.arange(rows)[:, None], np.arange(columns)
            wide[:, i, j, i, j] = coming
            coming = wide.reshape(-1, rows, columns)
        y, x = _touched(down), _touched(across)
        total[image, :, y, x] += np.matmul(np.matmul(down[:, y].T, coming), across[:, x])
    return total


@_roi_align_grad.grad
def _(F, g, gradient, data, rois, *, out, **attrs):
    return F._contrib_ROIAlign(g, rois, **attrs), None, None


@op(name="_contrib_RROIAlign", grad="zero")
def RROIAlign(data, rois, *, pooled_size: Shape, spatial_scale: Share, sampling_ratio: int = -1):
    """`ROIAlign` for turned boxes ``(image, x, y, width, height, degrees)`` around their centre.

    It has no gradient, as in MXNet.
    """
    check_regions("_contrib_RROIAlign", data, rois, 6)
    rows, columns = _pair("_contrib_RROIAlign", pooled_size)
    height, width = data.shape[2:]
    check_reach("_contrib_RROIAlign", rois[:, 1:5] * spatial_scale)
    out = np.zeros((len(rois), data.shape[1], rows, columns), data.dtype)
    for k, (image, x, y, w, h, degrees) in enumerate(rois.astype(np.float64)):
        if image < 0:
            continue
        x, y, w, h = (v * spatial_scale for v in (x, y, w, h))
        w, h = max(w, 1.0), max(h, 1.0)
        down = sampling_ratio if sampling_ratio > 0 else int(np.ceil(h / rows))
        across = sampling_ratio if sampling_ratio > 0 else int(np.ceil(w / columns))
        dy = ((np.arange(rows * down) + 0.5) / (rows * down) - 0.5) * h
        dx = ((np.arange(columns * across) + 0.5) / (columns * across) - 0.5) * w
        angle = np.deg2rad(degrees)
        px = dx * np.cos(angle) + dy[:, None] * np.sin(angle) + x
        py = dy[:, None] * np.cos(angle) - dx * np.sin(angle) + y
        found = _between(data[int(image)], py, px, height, width)
        out[k] = found.reshape(-1, rows, down, columns, across).mean(axis=(2, 4))
    return out


def _between(plane, y, x, height, width):
    inside = (y >= -1) & (y <= height) & (x >= -1) & (x <= width)
    y, x = np.maximum(y, 0), np.maximum(x, 0)
    y0 = np.minimum(y.astype(np.intp), height - 1)
    x0 = np.minimum(x.astype(np.intp), width - 1)
    y1, x1 = np.minimum(y0 + 1, height - 1), np.minimum(x0 + 1, width - 1)
    v = np.where(y0 >= height - 1, 0, y - y0)
    u = np.where(x0 >= width - 1, 0, x - x0)
    upper = plane[:, y0, x0] * (1 - u) + plane[:, y0, x1] * u
    lower = plane[:, y1, x0] * (1 - u) + plane[:, y1, x1] * u
    return (upper * (1 - v) + lower * v) * inside


@RROIAlign.shape
def _(s, *, pooled_size, **_):
    s.out = (s.rois[0], s.data[1], *pooled_size)


# ---- every cell has channels of its own


@op(name="_contrib_PSROIPooling")
def PSROIPooling(
    data, rois, *, spatial_scale: Share, output_dim: int, pooled_size: int, group_size: int = 0
):
    """The mean of each cell of a grid over every region, from channels of the cell's own: R-FCN.

    ``data`` has ``output_dim * group_size ** 2`` channels; ``group_size=0`` is ``pooled_size``.
    """
    check_regions("_contrib_PSROIPooling", data, rois)
    out = np.zeros((len(rois), output_dim, pooled_size, pooled_size), data.dtype)
    attrs = (spatial_scale, output_dim, pooled_size, group_size)
    for k, image, i, j, channels, y, x in _own_blocks(data, rois, *attrs):
        out[k, :, i, j] = data[image, channels, y, x].mean(axis=(1, 2))
    return out


def _own_blocks(data, rois, scale, output_dim, size, group_size):
    """For every cell that is not empty: region, image, where it is, its channels and its block."""
    group = group_size or size
    at_least("_contrib_PSROIPooling", "pooled_size", size, 1)
    at_least("_contrib_PSROIPooling", "group_size", group_size, 0)
    if data.shape[1] != output_dim * group * group:
        raise ShapeError(
            "_contrib_PSROIPooling: data has the wrong number of channels.\n"
            f"  received  data {tuple(data.shape)}\n"
            f"  expected  {output_dim * group * group}: output_dim={output_dim} times "
            f"{group} x {group} groups\n  fix       change output_dim or group_size"
        )
    height, width = data.shape[2:]
    channels = np.arange(output_dim) * group * group
    check_reach("_contrib_PSROIPooling", rois[:, 1:] * scale)
    boxes = half_up(rois[:, 1:].astype(np.float32))
    scale = np.float32(scale)
    for k, (left, top, right, bottom) in enumerate(boxes):
        if rois[k, 0] < 0:
            continue
        ys = _float_cells(top * scale, (bottom + 1) * scale, size, height)
        xs = _float_cells(left * scale, (right + 1) * scale, size, width)
        for i, (y0, y1) in enumerate(ys):
            for j, (x0, x1) in enumerate(xs):
                if y1 <= y0 or x1 <= x0:
                    continue
                own = channels + (i * group // size) * group + j * group // size
                yield k, int(rois[k, 0]), i, j, own, slice(y0, y1), slice(x0, x1)


def _float_cells(start, end, count, limit):
    cell = np.maximum(end - start, np.float32(0.1)) / np.float32(count)
    k = np.arange(count, dtype=np.float32)
    starts = np.clip(np.floor(k * cell + start).astype(np.intp), 0, limit)
    ends = np.clip(np.ceil((k + 1) * cell + start).astype(np.intp), 0, limit)
    return list(zip(starts.tolist(), ends.tolist(), strict=True))


@PSROIPooling.shape
def _(s, *, output_dim, pooled_size, group_size, **_):
    group = group_size or pooled_size
    s.data = (s.data[0], output_dim * group * group, s.data[2], s.data[3])
    s.out = (*_regions_of(s, output_dim), pooled_size, pooled_size)


@PSROIPooling.grad
def _(F, g, data, rois, *, out, **attrs):
    return F._psroi_pooling_grad(g, data, rois, **attrs), F.zeros_like(rois)


@op(shape_only=("data",))
def _psroi_pooling_grad(
    g, data, rois, *, spatial_scale: float, output_dim: int, pooled_size: int, group_size: int
):
    """Gradients spread evenly over the blocks that were averaged."""
    total = np.zeros(data.shape, g.dtype)
    attrs = (spatial_scale, output_dim, pooled_size, group_size)
    for k, image, i, j, channels, y, x in _own_blocks(data, rois, *attrs):
        share = g[k, :, i, j] / ((y.stop - y.start) * (x.stop - x.start))
        total[image, channels, y, x] += share[:, None, None]
    return total


@_psroi_pooling_grad.grad
def _(F, g, gradient, data, rois, *, out, **attrs):
    return F._contrib_PSROIPooling(g, rois, **attrs), None, None


def _like_data(s, **_):
    s.out = s.data


def _like_gradient(t, **_):
    t.out = t.ins[0]


for _part in (_roi_pooling_grad, _roi_align_grad, _psroi_pooling_grad):
    _part.shape(_like_data)
    _part.dtype(_like_gradient)
_roi_pooling_take.dtype(_like_gradient)


@_roi_pooling_take.shape
def _(s, **_):
    s.out = s.place
