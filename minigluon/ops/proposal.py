"""Regions proposed by the network of Faster R-CNN."""

from __future__ import annotations

import numpy as np

from ..base import ShapeError
from ..core.attributes import Floats
from ..core.op import op
from ._shared import at_least
from .detection import suppress


def anchors_of(stride, scales, ratios):
    """The anchors around one position, corner boxes in pixels: for each ratio every scale."""
    side = np.float32(stride)
    center = np.float32(0.5) * (side - 1)
    boxes = []
    for ratio in ratios:
        width = np.floor(np.sqrt(np.floor(side * side / np.float32(ratio))) + np.float32(0.5))
        height = np.floor(width * np.float32(ratio) + np.float32(0.5))
        for scale in scales:
            half = np.array([width * scale - 1, height * scale - 1], np.float32) * np.float32(0.5)
            boxes.append([*(center - half), *(center + half)])
    return np.array(boxes, np.float32)


def _check(name, cls_prob, bbox_pred, im_info, count):
    batch, channels = cls_prob.shape[:2]
    fits = (
        cls_prob.ndim == bbox_pred.ndim == 4
        and channels == 2 * count
        and bbox_pred.shape == (batch, 4 * count, *cls_prob.shape[2:])
        and im_info.shape == (batch, 3)
        and 0 not in cls_prob.shape
    )
    if not fits:
        raise ShapeError(
            f"{name}: the inputs do not fit {count} anchors (scales times ratios).\n"
            f"  received  cls_prob {cls_prob.shape}, bbox_pred {bbox_pred.shape}, "
            f"im_info {im_info.shape}\n"
            f"  expected  cls_prob (batch, {2 * count}, height, width), bbox_pred (batch, "
            f"{4 * count}, height, width), im_info (batch, 3)\n"
            "  fix       change scales and ratios, or what the network gives"
        )


def _moved(anchors, moves, iou_loss):
    """Anchors changed by what the network says, as corner boxes."""
    if iou_loss:
        return anchors + moves
    size = anchors[:, 2:] - anchors[:, :2] + 1
    center = anchors[:, :2] + np.float32(0.5) * (size - 1)
    center = moves[:, :2] * size + center
    half = np.float32(0.5) * (np.exp(moves[:, 2:]) * size - 1)
    return np.concatenate([center - half, center + half], axis=1)


def _areas(boxes):
    return (boxes[..., 2] - boxes[..., 0] + 1) * (boxes[..., 3] - boxes[..., 1] + 1)


def _share(lhs, rhs):
    """Intersection over union of boxes of whole pixels, edges included."""
    sides = np.minimum(lhs[..., 2:], rhs[..., 2:]) - np.maximum(lhs[..., :2], rhs[..., :2]) + 1
    sides = np.maximum(sides, 0)
    shared = sides[..., 0] * sides[..., 1]
    return shared / (_areas(lhs) + _areas(rhs) - shared)


def _propose(image, scores, moves, info, attrs):
    """The rows (image, corners) proposed for one image, and their scores."""
    anchors = anchors_of(attrs["feature_stride"], attrs["scales"], attrs["ratios"])
    count, height, width = len(anchors), *scores.shape[1:]
    y, x = np.mgrid[:height, :width].astype(np.float32) * np.float32(attrs["feature_stride"])
    shifts = np.stack([x, y, x, y], axis=-1)[:, :, None]
    boxes = (anchors + shifts).reshape(-1, 4)
    moves = moves.reshape(count, 4, height, width).transpose(2, 3, 0, 1).reshape(-1, 4)
    scores = scores[count:].transpose(1, 2, 0).copy()
    boxes = _moved(boxes, moves.astype(np.float32), attrs["iou_loss"])
    limits = np.array([info[1], info[0], info[1], info[0]], np.float32) - 1
    boxes = np.maximum(np.minimum(boxes, limits), 0)
    stride = attrs["feature_stride"]
    scores[int(info[0] / stride) :] = -1  # beyond the image
    scores[:, int(info[1] / stride) :] = -1
    scores = scores.reshape(-1).astype(np.float32)
    least = attrs["rpn_min_size"] * info[2]
    small = (boxes[:, 2:] - boxes[:, :2] + 1 < least).any(axis=1)
    boxes[small] += np.array([-1, -1, 1, 1], np.float32) * np.float32(least / 2)
    scores[small] = -1
    order = np.argsort(-scores, kind="stable")
    at_least("Proposal", "rpn_post_nms_top_n", attrs["rpn_post_nms_top_n"], 0)
    before, after = attrs["rpn_pre_nms_top_n"], attrs["rpn_post_nms_top_n"]
    order = order[: before if before > 0 else None]
    after = min(after, order.size)
    threshold = np.float32(attrs["threshold"])
    kept = order[suppress(boxes[order], threshold, limit=after, share=_share)]
    filled = kept[np.arange(attrs["rpn_post_nms_top_n"]) % kept.size]  # once more from the start
    rows = np.column_stack([np.full(filled.size, image, np.float32), boxes[filled]])
    return rows, scores[filled, None]


def _run(name, cls_prob, bbox_pred, im_info, attrs):
    _check(name, cls_prob, bbox_pred, im_info, len(attrs["scales"]) * len(attrs["ratios"]))
    found = [
        _propose(k, cls_prob[k], bbox_pred[k], im_info[k], attrs) for k in range(len(cls_prob))
    ]
    rows, scores = (
        np.concatenate(part).astype(cls_prob.dtype) for part in zip(*found, strict=True)
    )
    return rows, scores


_DOC = """Regions that may hold something: ``(n, 5)`` rows of image and corners in pixels.

    Anchors are moved as the network says, cut off at the image, sorted by score, and suppressed
    where they overlap better ones. Rows repeat where there are too few.

    Parameters
    ----------
    cls_prob : ``(batch, 2 * anchors, height, width)``, the second half for "something is there".
    bbox_pred : ``(batch, 4 * anchors, height, width)``.
    im_info : ``(batch, 3)``: height, width and scale of every image.
    rpn_pre_nms_top_n, rpn_post_nms_top_n : how many are looked at, and how many are given.
    threshold : the overlap that suppresses. rpn_min_size : the least side, before scaling.
    scales, ratios : the anchors'. feature_stride : pixels between positions.
    output_score : give the scores ``(n, 1)`` too. iou_loss : moves are those of corners.
    """


def _outputs(*, output_score, **_):
    return 0 if output_score else 1


def _declare(name):
    @op(
        name=name, outputs=2, hidden_outputs=_outputs, output_names=("output", "score"), grad="zero"
    )
    def proposal(
        cls_prob,
        bbox_pred,
        im_info,
        *,
        rpn_pre_nms_top_n: int = 6000,
        rpn_post_nms_top_n: int = 300,
        threshold: float = 0.7,
        rpn_min_size: int = 16,
        scales: Floats = (4.0, 8.0, 16.0, 32.0),
        ratios: Floats = (0.5, 1.0, 2.0),
        feature_stride: int = 16,
        output_score: bool = False,
        iou_loss: bool = False,
    ):
        attrs = {
            "rpn_pre_nms_top_n": rpn_pre_nms_top_n,
            "rpn_post_nms_top_n": rpn_post_nms_top_n,
            "threshold": threshold,
            "rpn_min_size": rpn_min_size,
            "scales": scales,
            "ratios": ratios,
            "feature_stride": feature_stride,
            "iou_loss": iou_loss,
        }
        return _run(name, cls_prob, bbox_pred, im_info, attrs)

    proposal.doc = _DOC

    @proposal.shape
    def _(s, *, rpn_post_nms_top_n, scales, ratios, **_):
        count = len(scales) * len(ratios)
        batch, _, height, width = (s.cls_prob[k] for k in range(4))
        s.cls_prob = (batch, 2 * count, height, width)
        s.bbox_pred = (batch, 4 * count, height, width)
        s.im_info = (batch, 3)
        s.outs = [(batch * rpn_post_nms_top_n, k) for k in (5, 1)]


_declare("_contrib_Proposal")
_declare("_contrib_MultiProposal")
