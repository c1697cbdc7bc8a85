"""``ImageDetRecordIter``: batches of pictures and of the boxes on them, from record files."""

from __future__ import annotations

import math

import numpy as np

from ..base import ArgumentError, MXNetError, four_lines
from ..kernels.pixels import resize
from .records import _MEANS, _STDS, _WITHOUT_EFFECT, RecordPictures, _require, normalised
from .variation import shifted, shortened

#: the options of the augmenter, and what they are if they are not given
DET_DEFAULTS = {
    "resize": -1, "rand_crop_prob": 0.0, "min_crop_scales": (0.0,), "max_crop_scales": (1.0,),
    "min_crop_aspect_ratios": (1.0,), "max_crop_aspect_ratios": (1.0,),
    "min_crop_overlaps": (0.0,), "max_crop_overlaps": (1.0,),
    "min_crop_sample_coverages": (0.0,), "max_crop_sample_coverages": (1.0,),
    "min_crop_object_coverages": (0.0,), "max_crop_object_coverages": (1.0,),
    "num_crop_sampler": 1, "crop_emit_mode": "center", "emit_overlap_thresh": 0.3,
    "max_crop_trials": (25,), "rand_pad_prob": 0.0, "max_pad_scale": 1.0, "max_random_hue": 0,
    "random_hue_prob": 0.0, "max_random_saturation": 0, "random_saturation_prob": 0.0,
    "max_random_illumination": 0, "random_illumination_prob": 0.0, "max_random_contrast": 0.0,
    "random_contrast_prob": 0.0, "rand_mirror_prob": 0.0, "fill_value": 127, "inter_method": 1,
    "resize_mode": "force",
}  # fmt: skip
_MODES = ("force", "shrink", "fit")


class ImageDetRecordIter(RecordPictures):
    """Batches of the pictures of a record file, with labels of the objects on them.

    A row of the labels is ``channels, height, width`` of the picture, the length of its label, and
    the label itself: ``header width, object width, ...`` and ``(class, xmin, ymin, xmax, ymax,
    ...)`` of each object, places from 0 to 1, then -1 up to the length of the longest one.

    Parameters
    ----------
    path_imgrec, data_shape, batch_size, path_imglist, shuffle, seed, round_batch, num_parts,
    part_index, preprocess_threads, mean_r and so on : as for `ImageRecordIter`.
    label_width : how many numbers a label must have; -1 for any.
    label_pad_width, label_pad_value : how long labels are made, and with what; the longest label
        of the file if it is 0 or -1.
    resize_mode : ``"force"`` to ``data_shape``; ``"fit"`` into it in proportion; ``"shrink"`` only
        what is too large.
    options : see ``DET_DEFAULTS``: random crops that keep enough of the objects, larger canvases,
        mirrors and colours, each with its probability.
    """

    def __init__(
        self, path_imgrec="./data/imgrec.rec", data_shape=None, batch_size=None, path_imglist="",
        label_width=-1, shuffle=False, seed=0, round_batch=True, num_parts=1, part_index=0,
        preprocess_threads=4, label_pad_width=0, label_pad_value=-1.0, dtype=None, mean_img="",
        scale=1.0, data_name="data", label_name="softmax_label", **options,
    ):  # fmt: skip
        _require(self, data_shape=data_shape, batch_size=batch_size)
        means = [options.pop(name, 0.0) for name in _MEANS]
        stds = [options.pop(name, 0.0) or 1.0 for name in _STDS]
        self._options = {k: options.pop(k, v) for k, v in DET_DEFAULTS.items()}
        if self._options["resize_mode"] not in _MODES:
            raise ArgumentError(
                four_lines(
                    "ImageDetRecordIter: resize_mode is not valid.",
                    repr(self._options["resize_mode"]), ", ".join(_MODES),
                    "pass resize_mode='force'",
                )
            )  # fmt: skip
        settings = {k: v for k, v in options.items() if k not in _WITHOUT_EFFECT}
        super().__init__(
            path_imgrec, data_shape, batch_size, path_imglist, "", label_width, shuffle, seed, None,
            round_batch, num_parts, part_index, preprocess_threads, dtype, data_name, label_name,
            settings,
        )  # fmt: skip
        channels = self.data_shape[0]
        self._mean = np.array(means[:channels], np.float32)
        self._factor = np.float32(scale) / np.array(stds[:channels], np.float32)
        self._pad_value = label_pad_value
        longest = max(self._label_of(*self._header(k)).size for k in range(self._count))
        if 0 < label_pad_width < longest:
            raise MXNetError(
                four_lines(
                    "ImageDetRecordIter: label_pad_width is smaller than a label.",
                    f"label_pad_width={label_pad_width}", f"at least {longest}",
                    "leave it out: the longest label is looked for",
                )
            )  # fmt: skip
        self._label_size = 4 + max(longest, label_pad_width)
        self._describe((self._label_size,))

    def _header(self, number):
        header, _, place = self._record(number)
        return header, place

    def _label_of(self, header, place):
        label = super()._label_of(header, place)
        if label.size < 7 or int(label[0]) < 2 or int(label[1]) < 5:
            raise MXNetError(
                four_lines(
                    "Not enough label packed in img_list or rec file.",
                    f"{label.tolist()} at {place}",
                    "header width, object width, then (class, xmin, ymin, xmax, ymax, ...)",
                    "pack such labels, or use ImageRecordIter",
                )
            )  # fmt: skip
        if (label.size - int(label[0])) % int(label[1]):
            raise MXNetError(
                four_lines(
                    "ImageDetRecordIter: a label is no whole number of objects.",
                    f"{label.tolist()} at {place}", f"{int(label[1])} numbers for each object",
                    "correct the second number of the label, or the objects",
                )
            )  # fmt: skip
        if self.label_width not in (-1, label.size):
            raise MXNetError(
                four_lines(
                    f"rec file provide {label.size}-dimensional label but label_width is set to "
                    f"{self.label_width}", place, f"{self.label_width} numbers", "leave it out",
                )
            )  # fmt: skip
        return label

    def _made(self, picture, label, rng):
        head, width = int(label[0]), int(label[1])
        boxes = label[head:].reshape(-1, width).copy()
        picture, boxes = vary(picture, boxes, self._options, rng)
        channels, height, wide = self.data_shape
        tall, broad = fitting(picture.shape[:2], (height, wide), self._options["resize_mode"])
        picture = resize(picture, tall, broad, _interp(self._options["inter_method"], rng))
        pixels = np.zeros((channels, height, wide), np.float32)
        pixels[:, :tall, :broad] = normalised(picture, self._mean, self._factor)
        filled = np.full(self._label_size, self._pad_value, np.float32)
        content = np.concatenate([label[:head], boxes.ravel()])
        filled[:4] = channels, tall, broad, content.size
        filled[4 : 4 + content.size] = content
        if self.dtype != "float32":
            limits = np.iinfo(self.dtype)
            pixels = np.clip(pixels, limits.min, limits.max).astype(self.dtype)
        return pixels, filled


def _interp(method, rng):
    return int(rng.integers(0, 5)) if method == 10 else 1 if method == 9 else method


def fitting(size, wanted, mode):
    """The height and width a picture gets."""
    if mode == "force":
        return wanted
    factor = min(new / old for new, old in zip(wanted, size, strict=True))
    if mode == "shrink" and factor >= 1:
        return size
    return tuple(min(new, max(1, int(old * factor))) for old, new in zip(size, wanted, strict=True))


def vary(picture, boxes, options, rng):
    """Picture and boxes after everything that has a probability."""
    if options["resize"] > 0:
        picture = shortened(picture, options["resize"], _interp(options["inter_method"], rng))
    picture = _coloured(picture, options, rng)
    if rng.random() < options["rand_mirror_prob"]:
        picture = picture[:, ::-1]
        boxes[:, [1, 3]] = 1 - boxes[:, [3, 1]]
    if rng.random() < options["rand_pad_prob"] and options["max_pad_scale"] > 1:
        picture, boxes = _on_canvas(picture, boxes, options, rng)
    if rng.random() < options["rand_crop_prob"]:
        picture, boxes = _cropped(picture, boxes, options, rng)
    return picture, boxes


def _coloured(picture, options, rng):
    amounts = [
        rng.uniform(-options[f"max_random_{name}"], options[f"max_random_{name}"])
        if rng.random() < options[f"random_{name}_prob"]
        else 0
        for name in ("hue", "illumination", "saturation")
    ]
    if any(amounts) and picture.shape[2] == 3:
        picture = shifted(picture, amounts)
    if rng.random() < options["random_contrast_prob"]:
        most = options["max_random_contrast"]
        factor = 1 + rng.uniform(-most, most)
        picture = np.clip(np.rint(picture * factor), 0, 255).astype(np.uint8)
    return picture


def _on_canvas(picture, boxes, options, rng):
    """The picture somewhere on a larger canvas."""
    height, width = picture.shape[:2]
    factor = rng.uniform(1, options["max_pad_scale"])
    tall, wide = int(height * factor), int(width * factor)
    top, left = int(rng.integers(0, tall - height + 1)), int(rng.integers(0, wide - width + 1))
    canvas = np.full((tall, wide, picture.shape[2]), options["fill_value"], np.uint8)
    canvas[top : top + height, left : left + width] = picture
    boxes[:, [1, 3]] = (boxes[:, [1, 3]] * width + left) / wide
    boxes[:, [2, 4]] = (boxes[:, [2, 4]] * height + top) / tall
    return canvas, boxes


def _cropped(picture, boxes, options, rng):
    """A part that one of the samplers drew and that keeps its conditions; or the whole."""
    found = []
    for k in range(options["num_crop_sampler"]):
        limits = {
            name: (_of(options[f"min_crop_{name}s"], k), _of(options[f"max_crop_{name}s"], k))
            for name in ("scale", "aspect_ratio", "overlap", "sample_coverage", "object_coverage")
        }
        for _ in range(_of(options["max_crop_trials"], k)):
            crop = _drawn(limits, rng)
            if crop is not None and _allowed(crop, boxes, limits):
                kept = _kept(crop, boxes, options)
                if len(kept):
                    found.append((crop, kept))
                    break
    if not found:
        return picture, boxes
    crop, kept = found[int(rng.integers(0, len(found)))]
    height, width = picture.shape[:2]
    left, top, right, bottom = crop
    x0, x1 = int(left * width), max(int(left * width) + 1, int(right * width))
    y0, y1 = int(top * height), max(int(top * height) + 1, int(bottom * height))
    kept[:, [1, 3]] = np.clip((kept[:, [1, 3]] - left) / (right - left), 0, 1)
    kept[:, [2, 4]] = np.clip((kept[:, [2, 4]] - top) / (bottom - top), 0, 1)
    return picture[y0:y1, x0:x1], kept


def _of(values, k):
    values = values if isinstance(values, list | tuple) else (values,)
    return values[min(k, len(values) - 1)]


def _drawn(limits, rng):
    """A part of the unit square, or None if what was drawn does not fit."""
    scale = rng.uniform(*limits["scale"])
    ratio = rng.uniform(*limits["aspect_ratio"])
    width, height = scale * math.sqrt(ratio), scale / math.sqrt(ratio)
    if not 0 < width <= 1 or not 0 < height <= 1:
        return None
    left, top = rng.uniform(0, 1 - width), rng.uniform(0, 1 - height)
    return left, top, left + width, top + height


def _shared(crop, boxes):
    """The area each box shares with the crop, and the areas of the boxes."""
    left, top, right, bottom = crop
    wide = np.minimum(boxes[:, 3], right) - np.maximum(boxes[:, 1], left)
    tall = np.minimum(boxes[:, 4], bottom) - np.maximum(boxes[:, 2], top)
    own = (boxes[:, 3] - boxes[:, 1]) * (boxes[:, 4] - boxes[:, 2])
    return np.maximum(wide, 0) * np.maximum(tall, 0), np.maximum(own, 1e-12)


def _allowed(crop, boxes, limits):
    """Whether some object keeps all the conditions."""
    both, own = _shared(crop, boxes)
    area = (crop[2] - crop[0]) * (crop[3] - crop[1])
    kept = both > 0
    for name, value in (
        ("overlap", both / (own + area - both)), ("sample_coverage", both / area),
        ("object_coverage", both / own),
    ):  # fmt: skip
        low, high = limits[name]
        kept &= (value >= low) & (value <= high)
    return kept.any()


def _kept(crop, boxes, options):
    """The objects that remain: those with their middle inside, or of which enough is inside."""
    if options["crop_emit_mode"] == "center":
        x, y = (boxes[:, 1] + boxes[:, 3]) / 2, (boxes[:, 2] + boxes[:, 4]) / 2
        inside = (x >= crop[0]) & (x <= crop[2]) & (y >= crop[1]) & (y <= crop[3])
    else:
        both, own = _shared(crop, boxes)
        inside = both / own >= options["emit_overlap_thresh"]
    return boxes[inside].copy()
