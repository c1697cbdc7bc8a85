"""Boxes of object detection: overlap, suppression, matching, differences to anchors."""

from __future__ import annotations

from math import prod
from typing import Literal

import numpy as np

from ..base import AttributeValueError, ShapeError
from ..core.infer import UNKNOWN_SHAPE
from ..core.op import op

CORNER = "corner"


def check_last(name, what, shape, wanted):
    """Raise ``ShapeError`` unless the last axis of ``what`` is ``wanted`` long."""
    if shape[-1:] != (wanted,):
        raise ShapeError(
            f"{name}: last dimension of {what} must be {wanted}.\n"
            f"  received  {what} {tuple(shape)}\n  expected  (..., {wanted})\n"
            f"  fix       give every box {wanted} numbers"
        )


def to_corner(boxes):
    """Boxes ``(x, y, width, height)`` around a centre as ``(left, top, right, bottom)``."""
    half = boxes[..., 2:] / 2
    return np.concatenate([boxes[..., :2] - half, boxes[..., :2] + half], axis=-1)


def to_center(boxes):
    """The way back."""
    middle = (boxes[..., :2] + boxes[..., 2:]) / 2
    return np.concatenate([middle, boxes[..., 2:] - boxes[..., :2]], axis=-1)


def overlaps(lhs, rhs):
    """Intersection over union of corner boxes whose leading axes broadcast; 0 for empty ones."""
    sides = np.minimum(lhs[..., 2:], rhs[..., 2:]) - np.maximum(lhs[..., :2], rhs[..., :2])
    sides = np.maximum(sides, 0)
    shared = sides[..., 0] * sides[..., 1]
    total = area(lhs) + area(rhs) - shared
    positive = total > 0
    return np.where(positive, shared / np.where(positive, total, 1), 0).astype(shared.dtype)


def area(boxes):
    """Width times height of corner boxes; 0 for those that are turned inside out."""
    width, height = boxes[..., 2] - boxes[..., 0], boxes[..., 3] - boxes[..., 1]
    return np.where((width < 0) | (height < 0), 0, width * height).astype(boxes.dtype)


@op(name="_contrib_box_iou", grad="zero")
def box_iou(lhs, rhs, *, format: Literal["center", "corner"] = "corner"):
    """Intersection over union of every box of ``lhs`` with every box of ``rhs``.

    Boxes are the last axis: ``(left, top, right, bottom)``, or ``(x, y, width, height)`` if
    ``format="center"``.

    Examples
    --------
    >>> nd.contrib.box_iou(nd.array([[0, 0, 2, 1]]), nd.array([[1, 0, 2, 1]])).asnumpy()
    array([[0.5]], dtype=float32)
    """
    for what, boxes in (("lhs", lhs), ("rhs", rhs)):
        check_last("_contrib_box_iou", what, boxes.shape, 4)
    if format != CORNER:
        lhs, rhs = to_corner(lhs), to_corner(rhs)
    shares = overlaps(lhs.reshape(*lhs.shape[:-1], *[1] * (rhs.ndim - 1), 4), rhs)
    return shares.astype(rhs.dtype, copy=False)


@box_iou.shape
def _(s, *, format):
    lhs, rhs = s.lhs, s.rhs
    if lhs is not UNKNOWN_SHAPE and rhs is not UNKNOWN_SHAPE:
        s.out = (*lhs[:-1], *rhs[:-1])
        s.lhs, s.rhs = (*lhs[:-1], 4), (*rhs[:-1], 4)


# ---- suppression of boxes that overlap better ones


@op(
    name="_contrib_box_nms",
    aliases=("_contrib_box_non_maximum_suppression",),
    outputs=2,
    hidden_outputs=1,
)
def box_nms(
    data,
    *,
    overlap_thresh: float = 0.5,
    valid_thresh: float = 0.0,
    topk: int = -1,
    coord_start: int = 2,
    score_index: int = 1,
    id_index: int = -1,
    background_id: int = -1,
    force_suppress: bool = False,
    in_format: Literal["center", "corner"] = "corner",
    out_format: Literal["center", "corner"] = "corner",
):
    """Boxes by falling score, without those that overlap a better one; -1 fills what is left.

    Parameters
    ----------
    data : ``(..., boxes, values)``; among the values a score, four coordinates, perhaps a class.
    overlap_thresh : a box goes if its overlap with a better one is above this.
    valid_thresh : only boxes with a score above this are looked at.
    topk : how many of the best are looked at; -1 for all.
    coord_start, score_index, id_index : where the values of a box are; id_index=-1: no classes.
    background_id : boxes of this class are dropped, if there are classes.
    force_suppress : boxes suppress those of other classes too.
    in_format, out_format : ``"corner"`` (left, top, right, bottom) or ``"center"`` (x, y, w, h).

    Examples
    --------
    >>> boxes = nd.array([[0, 0.5, 0, 0, 1, 1], [0, 0.9, 0, 0, 1, 0.9], [0, 0.7, 4, 4, 5, 5]])
    >>> nd.contrib.box_nms(boxes, overlap_thresh=0.5)[:, 1].asnumpy()
    array([ 0.9,  0.7, -1. ], dtype=float32)
    """
    _check_nms(data.shape, coord_start, score_index, id_index)
    count, width = data.shape[-2:]
    flat = data.reshape(prod(data.shape[:-2]), count, width)
    out = np.full(flat.shape, -1, data.dtype)
    record = np.full(flat.shape[:2], -1, data.dtype if data.dtype.itemsize > 2 else np.float32)
    where = slice(coord_start, coord_start + 4)
    for k, rows in enumerate(flat):
        classes = rows[:, id_index] if id_index >= 0 else None
        valid = rows[:, score_index] > valid_thresh
        if classes is not None:
            valid &= classes != background_id
        order = np.flatnonzero(valid)
        order = order[np.argsort(-rows[order, score_index], kind="stable")]
        if topk > 0:
            order = order[:topk]
        boxes = rows[order, where]
        if in_format != CORNER:
            boxes = to_corner(boxes)
        groups = classes[order] if classes is not None and not force_suppress else None
        kept = order[suppress(boxes, overlap_thresh, groups)]
        out[k, : kept.size] = rows[kept]
        record[k, : kept.size] = kept
        if in_format != out_format:
            change = to_corner if out_format == CORNER else to_center
            out[k, : kept.size, where] = change(rows[kept, where])
    return out.reshape(data.shape), record.reshape(data.shape[:-1])


def _check_nms(shape, coord_start, score_index, id_index):
    name = "_contrib_box_nms"
    least = 5 if id_index < 0 else 6
    if len(shape) < 2 or shape[-1] < least:
        raise ShapeError(
            f"{name}: data has to hold boxes: the last dimension must have at least {least} "
            f"elements.\n  received  data {tuple(shape)}\n"
            f"  expected  (..., boxes, values) with {least} or more values a box\n"
            "  fix       give every box a score and four coordinates"
        )
    if id_index == score_index:
        raise AttributeValueError(
            f"{name}: id_index is where the score is.\n"
            f"  received  id_index={id_index}, score_index={score_index}\n"
            "  expected  two places in a row\n  fix       change one of them"
        )
    width = shape[-1]
    for attribute, value, last in (
        ("score_index", score_index, width - 1),
        ("coord_start", coord_start, width - 4),
        ("id_index", max(id_index, 0), width - 1),
    ):
        if not 0 <= value <= last:
            raise AttributeValueError(
                f"{name}: {attribute} is out of range.\n  received  {attribute}={value}\n"
                f"  expected  0 to {last}, for a box has {width} values\n"
                f"  fix       say where in a row it is"
            )


#: how many boxes are compared with all others at once
BLOCK = 128


def suppress(boxes, threshold, groups=None, *, inclusive=False, limit=None, share=overlaps):
    """Which of some corner boxes, best first, stay: those that overlap no better one that stays.

    With ``groups``, boxes of different groups leave each other alone. ``share`` says how much boxes
    overlap; ``limit`` ends the search.
    """

    def clash(first, second):
        shared = share(boxes[first, None], boxes[second])
        hit = shared >= threshold if inclusive else shared > threshold
        if groups is not None:
            hit &= groups[first, None] == groups[second]
        return hit

    alive = np.ones(len(boxes), bool)
    kept, count = [np.empty(0, np.intp)], 0
    for start in range(0, len(boxes), BLOCK):
        block = start + np.flatnonzero(alive[start : start + BLOCK])
        stays = np.ones(block.size, bool)
        for k, hits in enumerate(clash(block, block)):
            if stays[k]:
                stays[k + 1 :] &= ~hits[k + 1 :]
        kept.append(block[stays])
        count += kept[-1].size
        if limit is not None and count >= limit:
            break
        rest = start + BLOCK + np.flatnonzero(alive[start + BLOCK :])
        if rest.size:
            alive[rest[clash(kept[-1], rest).any(axis=0)]] = False
    return np.concatenate(kept)[:limit]


@box_nms.shape
def _(s, **_):
    s.data = s.outs[0]
    s.state(("out", 0), s.data)
    if s.data is not UNKNOWN_SHAPE:
        s.state(("out", 1), s.data[:-1])


@box_nms.dtype
def _(t, **_):
    t.data = t.outs[0]
    t.state(("out", 0), t.data)
    if t.data is not None:
        t.state(("out", 1), t.data if t.data.itemsize > 2 else np.float32)


@box_nms.grad
def _(F, g, data, *, out, **_):
    return F._box_nms_grad(g[0], out[1])


@op()
def _box_nms_grad(g, record):
    """Rows put back to where ``record`` says they came from."""
    images = prod(g.shape[:-2])
    flat = g.reshape(images, *g.shape[-2:])
    rows = record.reshape(images, g.shape[-2]).astype(np.intp)
    out = np.zeros_like(flat)
    for k, where in enumerate(rows):
        there = where >= 0
        out[k, where[there]] = flat[k, there]
    return out.reshape(g.shape)


@_box_nms_grad.grad
def _(F, g, data, record, *, out):
    return F._box_nms_rows(g, record), None


@op()
def _box_nms_rows(data, record):
    """The rows that ``record`` names, zeros where it names none."""
    rows = record.astype(np.intp)[..., None]
    return np.where(rows >= 0, np.take_along_axis(data, np.maximum(rows, 0), -2), 0).astype(
        data.dtype
    )


@_box_nms_rows.grad
def _(F, g, data, record, *, out):
    return F._box_nms_grad(g, record), None


for _private in (_box_nms_grad, _box_nms_rows):

    @_private.dtype
    def _(t, **_):
        t.out = t.ins[0]

    @_private.shape
    def _(s, **_):
        s.out = s.ins[0]


# ---- matching


@op(name="_contrib_bipartite_matching", outputs=2, grad="zero")
def bipartite_matching(data, *, is_ascend: bool = False, threshold: float, topk: int = -1):
    """Pairs of rows and columns, the best score first: the partner of each row, and of each column.

    -1 stands for none. A pair counts if its score is above ``threshold`` (below it if
    ``is_ascend``); matching stops after ``topk + 1`` pairs if ``topk`` is positive, as in MXNet.

    Examples
    --------
    >>> scores = nd.array([[0.5, 0.6], [0.1, 0.2], [0.3, 0.4]])
    >>> rows, columns = nd.contrib.bipartite_matching(scores, threshold=1e-12)
    >>> rows.asnumpy(), columns.asnumpy()
    (array([ 1., -1.,  0.], dtype=float32), array([2., 0.], dtype=float32))
    """
    if data.ndim < 2:
        raise ShapeError(
            "_contrib_bipartite_matching: score matrix must have dim >= 2.\n"
            f"  received  data {data.shape}\n  expected  (..., rows, columns)\n"
            "  fix       give it a row and a column axis"
        )
    n, m = data.shape[-2:]
    flat = data.reshape(prod(data.shape[:-2]), n, m)
    rows = np.full((len(flat), n), -1, data.dtype)
    columns = np.full((len(flat), m), -1, data.dtype)
    limit = topk + 1 if topk > 0 else min(n, m)
    for k, scores in enumerate(flat):
        order = np.argsort(scores.ravel() if is_ascend else -scores.ravel(), kind="stable")
        good = scores.ravel()[order]
        order = order[good < threshold if is_ascend else good > threshold]
        found = 0
        for place in order:
            row, column = divmod(int(place), m)
            if rows[k, row] < 0 and columns[k, column] < 0:
                rows[k, row], columns[k, column] = column, row
                found += 1
                if found >= limit:
                    break
    return rows.reshape(data.shape[:-1]), columns.reshape(*data.shape[:-2], m)


@bipartite_matching.shape
def _(s, **_):
    if s.data is not UNKNOWN_SHAPE and len(s.data) >= 2:
        s.outs = [s.data[:-1], (*s.data[:-2], s.data[-1])]


# ---- boxes as differences to anchors


@op(name="_contrib_box_encode", outputs=2, grad="zero")
def box_encode(samples, matches, anchors, refs, means, stds):
    """What a network should say of each anchor, and where it counts: targets and masks.

    Parameters
    ----------
    samples : ``(batch, anchors)``, above 0.5 for anchors that count.
    matches : ``(batch, anchors)``, the number of the box in ``refs`` that each should find.
    anchors, refs : ``(batch, n, 4)`` corner boxes; ``means`` and ``stds`` normalise the targets.
    """
    batch, count = refs.shape[:2]
    positive = samples > 0.5
    index = matches.astype(np.intp)
    wrong = positive & ((index < 0) | (index >= count))
    if wrong.any():
        raise ShapeError(
            "_contrib_box_encode: matches points outside of refs.\n"
            f"  received  refs {refs.shape}, {int(index[wrong][0])} in matches\n"
            f"  expected  0 to {count - 1}{' (refs is empty)' if not count else ''}\n"
            "  fix       mark anchors without a box by 0 or -1 in samples"
        )
    if not count:
        zeros = np.zeros((*samples.shape, 4), anchors.dtype)
        return zeros, zeros.copy()
    chosen = np.where(positive, index, 0)
    boxes = to_center(refs[np.arange(batch)[:, None], chosen])
    own = to_center(np.broadcast_to(anchors, (batch, *anchors.shape[1:])))
    with np.errstate(all="ignore"):  # rows that do not count may hold anything
        moved = (boxes[..., :2] - own[..., :2]) / own[..., 2:]
        grown = np.log(boxes[..., 2:] / own[..., 2:])
        targets = (np.concatenate([moved, grown], axis=-1) - means) / stds
    masks = np.repeat(positive[..., None], 4, -1).astype(anchors.dtype)
    return np.where(positive[..., None], targets, 0).astype(anchors.dtype), masks


@box_encode.shape
def _(s):
    s.means = s.stds = (4,)
    if s.samples is not UNKNOWN_SHAPE:
        s.matches = s.samples
        s.outs = [(*s.samples, 4)] * 2


@op(name="_contrib_box_decode", grad="zero")
def box_decode(
    data,
    anchors,
    *,
    std0: float = 1.0,
    std1: float = 1.0,
    std2: float = 1.0,
    std3: float = 1.0,
    clip: float = -1.0,
    format: Literal["center", "corner"] = "center",
):
    """Corner boxes from what a network says of anchors.

    Parameters
    ----------
    data : ``(batch, n, 4)``: how far the centre moved and the logarithm of how far the box grew.
    anchors : ``(1, n, 4)`` boxes in ``format``.
    std0, std1, std2, std3 : what the differences were divided by.
    clip : the most that the logarithms may be, if positive.
    """
    own = to_center(anchors) if format == CORNER else anchors
    scale = np.array([std0, std1, std2, std3], data.dtype)
    scaled = data * scale
    growth = scaled[..., 2:]
    if clip > 0:
        growth = np.minimum(growth, data.dtype.type(clip))
    middle = scaled[..., :2] * own[..., 2:] + own[..., :2]
    half = np.exp(growth) * own[..., 2:] / 2
    return np.concatenate([middle - half, middle + half], axis=-1)


@box_decode.shape
def _(s, **_):
    s.data = s.out
    s.out = s.data
    s.data = (s.data[0], s.data[1], 4)
    s.anchors = (1, s.data[1], 4)
