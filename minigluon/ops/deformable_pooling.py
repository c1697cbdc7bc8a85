"""Position-sensitive pooling whose cells are moved by offsets that a network computes."""

from __future__ import annotations

import numpy as np

from ..base import ShapeError
from ..core.op import op
from .roi import check_reach, check_regions, half_up


@op(name="_contrib_DeformablePSROIPooling", outputs=2, hidden_outputs=1)
def DeformablePSROIPooling(
    data,
    rois,
    trans=None,
    *,
    spatial_scale: float,
    output_dim: int,
    group_size: int,
    pooled_size: int,
    part_size: int = 0,
    sample_per_part: int = 1,
    trans_std: float = 0.0,
    no_trans: bool = False,
):
    """`PSROIPooling` on samples, each cell moved by ``trans`` times ``trans_std`` and its region.

    Parameters
    ----------
    data : ``(batch, output_dim * group_size ** 2, height, width)``.
    rois : ``(regions, 5)``.
    trans : ``(regions, 2 * classes, part, part)``, absent with ``no_trans``.
    part_size : cells of ``trans``, 0 for ``pooled_size``. sample_per_part : samples along a side.
    """
    check_regions("_contrib_DeformablePSROIPooling", data, rois)
    channels = output_dim * group_size**2
    if min(output_dim, group_size, pooled_size, sample_per_part) < 1 or data.shape[1] != channels:
        raise ShapeError(
            "_contrib_DeformablePSROIPooling: data has the wrong number of channels.\n"
            f"  received  data {data.shape}, output_dim={output_dim}, group_size={group_size}\n"
            f"  expected  {channels} channels, output_dim times group_size twice, all 1 or more\n"
            "  fix       change output_dim or group_size"
        )
    out = np.zeros((len(rois), output_dim, pooled_size, pooled_size), data.dtype)
    count = np.zeros_like(out)
    attrs = _Cells(locals())
    for k, i, j, top in attrs.walk(data, rois, trans):
        plane, y, x = attrs.samples
        values = _between(data[int(rois[k, 0])][plane], y, x)
        count[k, top, i, j] = y.size
        if y.size:
            out[k, top, i, j] = values.sum(axis=1) / y.size
    return out, count


class _Cells:
    """The cells of deformable pooling, one after the other."""

    def __init__(self, names):
        for name in (
            "spatial_scale", "output_dim", "group_size", "pooled_size", "part_size",
            "sample_per_part", "trans_std", "no_trans",
        ):  # fmt: skip
            setattr(self, name, names[name])
        self.part_size = self.part_size or self.pooled_size
        self.samples = None

    def walk(self, data, rois, trans):
        """Yield region, cell and results; ``samples`` holds channels and places to read."""
        size, group, part = self.pooled_size, self.group_size, self.part_size
        moved = not self.no_trans and trans is not None
        classes = trans.shape[1] // 2 if moved else 1
        each = self.output_dim // classes
        height, width = data.shape[2:]
        scale = np.float32(self.spatial_scale)
        check_reach("_contrib_DeformablePSROIPooling", rois[:, 1:] * scale)
        for k, box in enumerate(rois[:, 1:].astype(np.float32)):
            if rois[k, 0] < 0:
                continue
            left, top = half_up(box[:2]) * scale - np.float32(0.5)
            right, bottom = (half_up(box[2:]) + 1) * scale - np.float32(0.5)
            w, h = max(right - left, np.float32(0.1)), max(bottom - top, np.float32(0.1))
            cell_w, cell_h = w / size, h / size
            step_w, step_h = cell_w / self.sample_per_part, cell_h / self.sample_per_part
            for i in range(size):
                for j in range(size):
                    row, column = i * part // size, j * part // size
                    gh = min(max(i * group // size, 0), group - 1)
                    gw = min(max(j * group // size, 0), group - 1)
                    for c in range(classes):
                        dx, dy = (
                            trans[k, 2 * c : 2 * c + 2, row, column] * self.trans_std
                            if moved
                            else (0, 0)
                        )
                        span = np.arange(self.sample_per_part, dtype=np.float32)
                        x = j * cell_w + left + dx * w + span * step_w
                        y = i * cell_h + top + dy * h + span * step_h
                        y, x = (v.ravel() for v in np.meshgrid(y, x, indexing="ij"))
                        inside = (x >= -0.5) & (x <= width - 0.5)
                        inside &= (y >= -0.5) & (y <= height - 0.5)
                        results = np.arange(c * each, (c + 1) * each)
                        planes = (results * group + gh) * group + gw
                        self.samples = planes, y[inside], x[inside]
                        self.size, self.place = (w, h), (c, row, column)
                        yield k, i, j, results


def _around(plane, y, x):
    height, width = plane.shape[-2:]
    y, x = np.clip(y, 0, height - 1), np.clip(x, 0, width - 1)
    y0, x0 = np.floor(y).astype(np.intp), np.floor(x).astype(np.intp)
    y1, x1 = np.ceil(y).astype(np.intp), np.ceil(x).astype(np.intp)
    v, u = y - y0, x - x0
    return (
        (
            (y0, x0, (1 - v) * (1 - u)),
            (y0, x1, (1 - v) * u),
            (y1, x0, v * (1 - u)),
            (y1, x1, v * u),
        ),
        v,
        u,
    )


def _between(plane, y, x):
    return sum(plane[:, row, column] * weight for row, column, weight in _around(plane, y, x)[0])


@DeformablePSROIPooling.input_names
def _(no_trans, **_):
    return ("data", "rois") if no_trans else ("data", "rois", "trans")


@DeformablePSROIPooling.shape
def _(s, *, output_dim, pooled_size, **_):
    s.outs = [(s.rois[0], output_dim, pooled_size, pooled_size)] * 2


@DeformablePSROIPooling.grad
def _(F, g, data, rois, trans=None, *, out, no_trans, **attrs):
    if no_trans:
        return F._deformable_psroi_grad(g[0], out[1], data, rois, **attrs), F.zeros_like(rois)
    values, moves = F._deformable_psroi_grads(g[0], out[1], data, rois, trans, **attrs)
    return values, F.zeros_like(rois), moves


def _pooling_grads(g, count, data, rois, trans, names):
    total = np.zeros(data.shape, g.dtype)
    moves = None if trans is None else np.zeros(trans.shape, g.dtype)
    attrs = _Cells({**names, "no_trans": trans is None})
    for k, i, j, top in attrs.walk(data, rois, trans):
        planes, y, x = attrs.samples
        if not y.size:
            continue
        image = int(rois[k, 0])
        share = (g[k, top, i, j] / count[k, top, i, j])[:, None]
        corners, v, u = _around(data[image], y, x)
        for row, column, weight in corners:
            np.add.at(total[image], (planes[:, None], row, column), share * weight)
        if moves is None or not attrs.trans_std:
            continue
        q00, q01, q10, q11 = (
            data[image][planes[:, None], row, column] for row, column, _ in corners
        )
        slope_x = ((q11 - q10) * v + (q01 - q00) * (1 - v)) * attrs.trans_std * attrs.size[0]
        slope_y = ((q11 - q01) * u + (q10 - q00) * (1 - u)) * attrs.trans_std * attrs.size[1]
        c, row, column = attrs.place
        moves[k, 2 * c, row, column] += (share * slope_x).sum()
        moves[k, 2 * c + 1, row, column] += (share * slope_y).sum()
    return total, moves


@op(shape_only=())
def _deformable_psroi_grad(
    g, count, data, rois, *, spatial_scale: float, output_dim: int, group_size: int,
    pooled_size: int, part_size: int, sample_per_part: int, trans_std: float,
):  # fmt: skip
    """The gradient of `DeformablePSROIPooling` for data, without offsets."""
    return _pooling_grads(g, count, data, rois, None, locals())[0]


@op(outputs=2)
def _deformable_psroi_grads(
    g, count, data, rois, trans, *, spatial_scale: float, output_dim: int, group_size: int,
    pooled_size: int, part_size: int, sample_per_part: int, trans_std: float,
):  # fmt: skip
    """The gradients of `DeformablePSROIPooling` for data and offsets."""
    return _pooling_grads(g, count, data, rois, trans, locals())


@_deformable_psroi_grad.shape
def _(s, **_):
    s.out = s.data


@_deformable_psroi_grads.shape
def _(s, **_):
    s.outs = [s.data, s.trans]
