"""The layers of SSD: anchors, what they should say, and what they say."""

from __future__ import annotations

import numpy as np

from ..base import AttributeValueError, ShapeError
from ..core.attributes import Floats
from ..core.infer import UNKNOWN_SHAPE
from ..core.op import op
from .detection import check_last, overlaps, suppress, to_center


@op(name="_contrib_MultiBoxPrior", aliases=("_npx_multibox_prior",), grad="zero")
def MultiBoxPrior(
    data,
    *,
    sizes: Floats = (1.0,),
    ratios: Floats = (1.0,),
    clip: bool = False,
    steps: Floats = (-1.0, -1.0),
    offsets: Floats = (0.5, 0.5),
):
    """Anchors for every position of a feature map: ``(1, height * width * k, 4)`` corner boxes.

    Each position gets a box of every size with the first ratio, and of the first size with each
    further ratio.

    Parameters
    ----------
    data : ``(batch, channels, height, width)``.
    sizes : heights, as parts of the image's; ratios : width by height.
    steps : distances of centres (y, x), as parts of the image; -1 for even ones.
    offsets : where in its cell a centre is (y, x). clip : cut boxes off at the image's edges.
    """
    if data.ndim < 4:
        raise ShapeError(
            "_contrib_MultiBoxPrior: Input data should be 4D: batch-channel-y-x.\n"
            f"  received  data {data.shape}\n  expected  (batch, channels, height, width)\n"
            "  fix       pass a feature map"
        )
    _check_prior(sizes, ratios, steps, offsets)
    height, width = data.shape[2:4]
    step_y, step_x = steps[0], steps[1]
    if step_y <= 0 or step_x <= 0:
        step_y, step_x = 1 / height, 1 / width
    shapes = [(size, ratios[0]) for size in sizes] + [(sizes[0], ratio) for ratio in ratios[1:]]
    half = np.array(
        [(s * height / width * r**0.5 / 2, s / r**0.5 / 2) for s, r in shapes], np.float64
    )
    x = (np.arange(width) + offsets[1]) * step_x
    y = (np.arange(height) + offsets[0]) * step_y
    centers = np.empty((height, width, 1, 2))
    centers[..., 0], centers[..., 1] = x[None, :, None], y[:, None, None]
    boxes = np.concatenate([centers - half, centers + half], axis=-1)
    if clip:
        boxes = np.clip(boxes, 0, 1)
    return boxes.reshape(1, -1, 4).astype(data.dtype)


def _check_prior(sizes, ratios, steps, offsets):
    for name, values, wanted in (
        ("sizes", sizes, None), ("ratios", ratios, None), ("steps", steps, 2),
        ("offsets", offsets, 2),
    ):  # fmt: skip
        bad = not values if wanted is None else len(values) != wanted
        if bad or (wanted is None and min(values) <= 0):
            raise AttributeValueError(
                f"_contrib_MultiBoxPrior: {name} is not valid.\n  received  {name}={values}\n"
                f"  expected  {'positive numbers' if wanted is None else 'two numbers, (y, x)'}\n"
                f"  fix       pass such {name}"
            )


@MultiBoxPrior.shape
def _(s, *, sizes, ratios, **_):
    if s.data is not UNKNOWN_SHAPE:
        s.out = (1, s.data[2] * s.data[3] * (len(sizes) + len(ratios) - 1), 4)


@op(
    name="_contrib_MultiBoxTarget",
    aliases=("_npx_multibox_target",),
    outputs=3,
    grad="zero",
    output_names=("loc_target", "loc_mask", "cls_target"),
)
def MultiBoxTarget(
    anchor,
    label,
    cls_pred,
    *,
    overlap_threshold: float = 0.5,
    ignore_label: float = -1.0,
    negative_mining_ratio: float = -1.0,
    negative_mining_thresh: float = 0.5,
    minimum_negative_samples: int = 0,
    variances: Floats = (0.1, 0.1, 0.2, 0.2),
):
    """What SSD should say of each anchor: location targets, their masks, and classes.

    Every box of ``label`` gets the anchor that fits best; anchors that overlap a box by more than
    ``overlap_threshold`` get that box. The others are background (0), or with
    ``negative_mining_ratio`` only those that the network is most wrong about, so many for each
    positive one; the rest is to be ignored.

    Parameters
    ----------
    anchor : ``(1, n, 4)`` corner boxes.
    label : ``(batch, boxes, 5)``: class and corners; a class of -1 ends an image's boxes.
    cls_pred : ``(batch, classes + 1, n)``, read for mining only.
    variances : what differences of centres and logarithms of sizes are divided by.
    """
    check_last("_contrib_MultiBoxTarget", "anchor", anchor.shape, 4)
    n = anchor.size // 4
    fits = label.ndim == cls_pred.ndim == 3 and label.shape[2] >= 5
    if not fits or (len(cls_pred), cls_pred.shape[2]) != (len(label), n):
        raise ShapeError(
            "_contrib_MultiBoxTarget: label or cls_pred does not fit the anchors.\n"
            f"  received  anchor {anchor.shape}, label {label.shape}, cls_pred {cls_pred.shape}\n"
            f"  expected  label (batch, boxes, 5), cls_pred (batch, classes + 1, {n})\n"
            "  fix       transpose cls_pred, or pad labels with -1"
        )
    anchors = anchor.reshape(-1, 4)
    batch, n = label.shape[0], len(anchors)
    location = np.zeros((batch, n, 4), anchor.dtype)
    mask = np.zeros((batch, n, 4), anchor.dtype)
    classes = np.full((batch, n), ignore_label, anchor.dtype)
    own = to_center(anchors)
    scale = np.array(variances, anchor.dtype)
    for k in range(batch):
        ends = np.flatnonzero(label[k, :, 0] == -1)
        truth = label[k, : ends[0] if ends.size else None]
        if not len(truth):
            continue
        shared = overlaps(anchors[:, None], truth[:, 1:5])
        match = _match(shared, overlap_threshold)
        positive = match >= 0
        if negative_mining_ratio > 0:
            open_ = np.flatnonzero(~positive & (shared.max(axis=1) < negative_mining_thresh))
            count = min(int(positive.sum() * negative_mining_ratio), n - int(positive.sum()))
            hardest = open_[np.argsort(_background(cls_pred[k][:, open_]), kind="stable")]
            classes[k, hardest[:count]] = 0
        else:
            classes[k] = 0
        boxes = truth[match[positive]]
        classes[k, positive] = boxes[:, 0] + 1
        wanted = to_center(boxes[:, 1:5])
        moved = (wanted[:, :2] - own[positive, :2]) / own[positive, 2:]
        grown = np.log(wanted[:, 2:] / own[positive, 2:])
        location[k, positive] = np.concatenate([moved, grown], axis=-1) / scale
        mask[k, positive] = 1
    return location.reshape(batch, -1), mask.reshape(batch, -1), classes


def _match(shared, threshold):
    """The box of each anchor, or -1: first the best anchor for every box, then good overlaps."""
    n, m = shared.shape
    match = np.full(n, -1, np.intp)
    left = shared.astype(np.float64)
    for _ in range(min(n, m)):
        best, box = np.unravel_index(np.argmax(left), left.shape)
        if left[best, box] <= 1e-6:
            break
        match[best] = box
        left[best, :] = left[:, box] = -1
    if threshold > 0:
        best = shared.argmax(axis=1)
        good = (match < 0) & (shared.max(axis=1) > threshold)
        match[good] = best[good]
    return match


def _background(scores):
    """The probability of class 0."""
    e = np.exp(scores - scores.max(axis=0, keepdims=True)) if scores.size else scores
    return e[0] / e.sum(axis=0)


@MultiBoxTarget.shape
def _(s, **_):
    n, batch = s.anchor[1], s.label[0]
    s.anchor = (1, n, 4)
    s.cls_pred = (batch, s.cls_pred[1], n)
    s.outs = [(batch, n * 4), (batch, n * 4), (batch, n)]


@op(name="_contrib_MultiBoxDetection", aliases=("_npx_multibox_detection",), grad="zero")
def MultiBoxDetection(
    cls_prob,
    loc_pred,
    anchor,
    *,
    clip: bool = True,
    threshold: float = 0.01,
    background_id: int = 0,
    nms_threshold: float = 0.5,
    force_suppress: bool = False,
    variances: Floats = (0.1, 0.1, 0.2, 0.2),
    nms_topk: int = -1,
):
    """Boxes found by SSD: ``(batch, n, 6)`` rows of class, score and corners; class -1 for none.

    Parameters
    ----------
    cls_prob : ``(batch, classes + 1, n)``; class 0 is the background.
    loc_pred : ``(batch, n * 4)`` differences to the anchors. anchor : ``(1, n, 4)``.
    threshold : the least score. clip : cut boxes off at the image's edges.
    nms_threshold : boxes that overlap a better one of their class so much go (of any class with
        ``force_suppress``); 0 and less keep all. nms_topk : how many of the best may stay.
    """
    check_last("_contrib_MultiBoxDetection", "anchor", anchor.shape, 4)
    if (
        cls_prob.ndim != 3
        or loc_pred.shape != (len(cls_prob), anchor.size)
        or (cls_prob.shape[2] * 4 != anchor.size)
    ):
        raise ShapeError(
            "_contrib_MultiBoxDetection: the inputs do not fit together.\n"
            f"  received  cls_prob {cls_prob.shape}, loc_pred {loc_pred.shape}, "
            f"anchor {anchor.shape}\n"
            "  expected  cls_prob (batch, classes + 1, n), loc_pred (batch, n * 4), "
            "anchor (1, n, 4)\n"
            "  fix       transpose cls_prob, or flatten loc_pred"
        )
    batch, _, n = cls_prob.shape
    out = np.full((batch, n, 6), -1, cls_prob.dtype)
    own = to_center(anchor.reshape(-1, 4))
    scale = np.array(variances, cls_prob.dtype)
    best = cls_prob[:, 1:].argmax(axis=1) if cls_prob.shape[1] > 1 else None
    for k in range(batch if best is not None else 0):
        scores = np.take_along_axis(cls_prob[k, 1:], best[k][None], 0)[0]
        found = np.flatnonzero(scores >= threshold)
        moves = loc_pred[k].reshape(-1, 4)[found] * scale
        middle = moves[:, :2] * own[found, 2:] + own[found, :2]
        half = np.exp(moves[:, 2:]) * own[found, 2:] / 2
        boxes = np.concatenate([middle - half, middle + half], axis=-1)
        rows = out[k, : found.size]
        rows[:, 0], rows[:, 1] = best[k][found], scores[found]
        rows[:, 2:] = np.clip(boxes, 0, 1) if clip else boxes
        if not 0 < nms_threshold <= 1:
            continue
        order = np.argsort(-rows[:, 1], kind="stable")
        if nms_topk > 0:  # as in MXNet the rows beyond stay where they were
            rows[nms_topk:, 0] = -1
            order = order[:nms_topk]
        unsorted = np.column_stack([best[k][found], rows[:, 1:]])
        rows[: order.size] = unsorted[order]
        top = rows[: order.size]
        groups = None if force_suppress else top[:, 0].copy()
        kept = suppress(top[:, 2:], nms_threshold, groups, inclusive=True)
        gone = np.setdiff1d(np.arange(order.size), kept)
        top[gone, 0] = -1
    return out


@MultiBoxDetection.shape
def _(s, **_):
    batch, n = s.cls_prob[0], s.cls_prob[2]
    s.loc_pred = (batch, n * 4)
    s.anchor = (1, n, 4)
    s.out = (batch, n, 6)
