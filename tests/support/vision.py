"""Cases of the operators on boxes, regions, images, and places to read images at."""

from __future__ import annotations

import numpy as np

from cases import fixed, plain, smooth
from entries import Entry

WIDE = ("float32", "float64")
CASES: dict[str, Entry] = {}


def corner_boxes(pick, shape):
    """Boxes (left, top, right, bottom) of positive size, as float64."""
    start = pick.numbers.uniform(0, 0.6, (*shape, 2))
    return np.concatenate([start, start + pick.numbers.uniform(0.1, 0.6, (*shape, 2))], axis=-1)


# ---- boxes


def _iou(pick):
    shapes = [pick.shape(1, 2, 3) for _ in range(2)]
    attrs = {"format": pick.choice(["corner", "center"])}
    return [plain(corner_boxes(pick, s)) for s in shapes], attrs


def _nms(pick):
    batch = () if pick.boolean() else (pick.integer(1, 2),)
    n = pick.integer(1, 6)
    classes = pick.numbers.integers(0, 3, (*batch, n, 1))
    scores = pick.numbers.permutation(n)[:, None] / n + 0.07
    scores = np.broadcast_to(scores, (*batch, n, 1))
    rows = np.concatenate([classes, scores, corner_boxes(pick, (*batch, n))], axis=-1)
    form = pick.choice(["corner", "center"])
    attrs = {
        "overlap_thresh": pick.choice([0.5, 0.2]),
        "valid_thresh": pick.choice([0.0, 0.3]),
        "topk": pick.choice([-1, 2]),
        "id_index": pick.choice([-1, 0]),
        "force_suppress": pick.smooth or pick.boolean(),  # else a class is a kink
        "in_format": form,
        "out_format": form,
    }
    return [smooth(rows)], attrs


def _matching(pick):
    shape = (*(() if pick.boolean() else (2,)), pick.integer(1, 4), pick.integer(1, 4))
    attrs = {
        "threshold": pick.choice([0.1, 0.5]), "is_ascend": pick.boolean(),
        "topk": pick.choice([-1, 1]),
    }  # fmt: skip
    return [plain(pick.numbers.uniform(0, 1, shape))], attrs


def _encode(pick):
    batch, n, m = (pick.integer(1, 3) for _ in range(3))
    numbers = pick.numbers
    return [
        plain(numbers.integers(-1, 2, (batch, n))),
        plain(numbers.integers(0, m, (batch, n))),
        plain(corner_boxes(pick, (batch, n))),
        plain(corner_boxes(pick, (batch, m))),
        plain(numbers.uniform(0, 0.2, 4)),
        plain(numbers.uniform(0.1, 0.3, 4)),
    ]


def _decode(pick):
    batch, n = pick.integer(1, 3), pick.integer(1, 4)
    attrs = {
        "std0": pick.choice([1.0, 0.1]), "std3": pick.choice([1.0, 0.2]),
        "clip": pick.choice([-1.0, 0.5]), "format": pick.choice(["center", "corner"]),
    }  # fmt: skip
    return [plain(pick.values((batch, n, 4))), plain(corner_boxes(pick, (1, n)))], attrs


def _prior(pick):
    shape = (1, 2, pick.integer(1, 4), pick.integer(1, 4))
    attrs = {
        "sizes": pick.choice([(1.0,), (0.3, 0.7)]),
        "ratios": pick.choice([(1.0,), (2.0, 1.0, 0.5)]),
        "clip": pick.boolean(), "steps": pick.choice([(-1.0, -1.0), (0.2, 0.3)]),
        "offsets": pick.choice([(0.5, 0.5), (0.2, 0.4)]),
    }  # fmt: skip
    return [plain(pick.values(shape))], attrs


def _target(pick):
    batch, n, m, classes = pick.integer(1, 2), pick.integer(1, 8), pick.integer(1, 3), 3
    label = np.concatenate(
        [pick.numbers.integers(0, classes, (batch, m, 1)), corner_boxes(pick, (batch, m))], axis=-1
    )
    for row in label:
        row[pick.integer(0, m) :] = -1
    attrs = {
        "overlap_threshold": pick.choice([0.5, 0.3]),
        "negative_mining_ratio": pick.choice([-1.0, 1.0]),
        "negative_mining_thresh": 0.9,
        "ignore_label": pick.choice([-1.0, -5.0]),
    }
    scores = pick.numbers.normal(size=(batch, classes + 1, n))
    return [plain(corner_boxes(pick, (1, n))), plain(label), plain(scores)], attrs


def _detection(pick):
    batch, n, classes = pick.integer(1, 2), pick.integer(1, 6), pick.integer(1, 3)
    scores = pick.numbers.uniform(0, 1, (batch, classes + 1, n))
    attrs = {
        "clip": pick.boolean(), "threshold": pick.choice([0.01, 0.3]),
        "nms_threshold": pick.choice([0.5, 0.1]), "force_suppress": pick.boolean(),
        "nms_topk": pick.choice([-1, 2]),
    }  # fmt: skip
    inputs = [scores / scores.sum(axis=1, keepdims=True), pick.numbers.normal(size=(batch, n * 4))]
    return [*map(plain, inputs), plain(corner_boxes(pick, (1, n)))], attrs


_ZERO = "MXNet's gradient is zero, and so is this one"
CASES.update(
    {
        "_contrib_box_iou": Entry(_iou, slopes=_ZERO),
        "_contrib_box_nms": Entry(_nms, dtypes=WIDE),
        "_contrib_bipartite_matching": Entry(_matching, slopes=_ZERO),
        "_contrib_box_encode": Entry(_encode, slopes=_ZERO, dtypes=WIDE),
        "_contrib_box_decode": Entry(_decode, slopes=_ZERO, dtypes=WIDE),
        "_contrib_MultiBoxPrior": Entry(_prior, slopes=_ZERO, dtypes=WIDE),
        "_contrib_MultiBoxTarget": Entry(_target, slopes=_ZERO, dtypes=WIDE),
        "_contrib_MultiBoxDetection": Entry(_detection, slopes=_ZERO, dtypes=WIDE),
    }
)

# ---- regions


def _features(pick, channels=None):
    shape = (
        pick.integer(1, 2), channels or pick.integer(1, 2), pick.integer(1, 5), pick.integer(1, 5),
    )  # fmt: skip
    return pick.numbers.permutation(int(np.prod(shape))).reshape(shape) * 0.1


def _regions(pick, batch, scale):
    n = pick.integer(1, 3)
    boxes = corner_boxes(pick, (n,)) * 4 / scale
    return np.concatenate([pick.numbers.integers(0, batch, (n, 1)), boxes], axis=1)


def _pooled(pick, **more):
    scale = pick.choice([1.0, 0.5])
    size = (pick.integer(1, 3), pick.integer(1, 3))
    attrs = {"pooled_size": size, "spatial_scale": scale}
    attrs.update({name: pick.choice(options) for name, options in more.items()})
    cells = size[0] * size[1] if attrs.get("position_sensitive") else None
    data = _features(pick, cells)
    return [smooth(data), plain(_regions(pick, len(data), scale))], attrs


def _align(pick):
    return _pooled(
        pick, sample_ratio=[2, -1], position_sensitive=[False, True], aligned=[False, True]
    )


def _turned(pick):
    inputs, attrs = _pooled(pick)
    rois = inputs[1].values
    rois = np.concatenate([rois, pick.numbers.uniform(-90, 90, (len(rois), 1))], axis=1)
    attrs["sampling_ratio"] = pick.choice([2, -1])
    return [plain(inputs[0].values), plain(rois)], attrs


def _own_cells(pick):
    size, scale = pick.integer(1, 3), pick.choice([1.0, 0.5])
    group = pick.choice([0, 2])
    data = _features(pick, 2 * (group or size) ** 2)
    attrs = {
        "spatial_scale": scale, "output_dim": 2, "pooled_size": size, "group_size": group,
    }  # fmt: skip
    return [smooth(data), plain(_regions(pick, len(data), scale))], attrs


CASES.update(
    {
        "ROIPooling": Entry(_pooled, dtypes=WIDE),
        "_contrib_ROIAlign": Entry(_align, dtypes=WIDE),
        "_contrib_RROIAlign": Entry(_turned, slopes="MXNet has no gradient", dtypes=WIDE),
        "_contrib_PSROIPooling": Entry(_own_cells, dtypes=WIDE),
    }
)

# ---- images


def _picture(pick, batch=True, channels=(1, 3)):
    shape = (pick.integer(1, 4), pick.integer(1, 4), pick.choice(channels))
    if batch and pick.boolean():
        shape = (2, *shape)
    return pick.numbers.integers(0, 256, shape).astype(np.float64)


def _image(channels=(1, 3), batch=False, **attributes):
    def make(pick):
        attrs = {name: pick.choice(options) for name, options in attributes.items()}
        return [smooth(_picture(pick, batch, channels))], attrs

    return make


def _crop(pick):
    image = _picture(pick)
    height, width = image.shape[-3:-1]
    x, y = pick.integer(0, width - 1), pick.integer(0, height - 1)
    attrs = {
        "x": x,
        "y": y,
        "width": pick.integer(1, width - x),
        "height": pick.integer(1, height - y),
    }
    return [smooth(image)], attrs


def _resize(pick):
    attrs = {
        "size": pick.choice([(3, 2), (2,), (5, 6)]),
        "keep_ratio": pick.boolean(),
        "interp": pick.integer(0, 4),
    }
    shape = (pick.integer(2, 5), pick.integer(2, 5), pick.integer(1, 4))
    return [smooth(pick.numbers.integers(0, 256, shape).astype(np.float64))], attrs


def _normalize(pick):
    image = np.moveaxis(_picture(pick), -1, -3) / 255
    count = image.shape[-3]
    attrs = {
        "mean": pick.choice([(0.5,), (0.1, 0.2, 0.3)[:count]]),
        "std": pick.choice([(2.0,), (0.5, 1.0, 2.0)[:count]]),
    }
    return [smooth(image)], attrs


def _jitter(low, high):
    return Entry(
        _image(min_factor=[low], max_factor=[high]),
        slopes="as in MXNet the gradient is that of a copy",
        random=True,
        dtypes=WIDE,
    )


def _sized(pick):
    attrs = {"w": pick.integer(1, 5), "h": pick.integer(1, 5), "interp": pick.integer(0, 4)}
    return [
        plain(pick.numbers.integers(0, 256, (pick.integer(1, 4), pick.integer(1, 4), 3)))
    ], attrs


def _bordered(pick):
    attrs = {side: pick.integer(0, 2) for side in ("top", "bot", "left", "right")}
    attrs["type"], attrs["value"] = pick.integer(0, 4), pick.choice([0.0, 7.0])
    attrs["values"] = pick.choice([(), (1.0, 2.0, 3.0)])
    return [
        plain(pick.numbers.integers(0, 256, (pick.integer(3, 5), pick.integer(3, 5), 3)))
    ], attrs


_COPY = {"slopes": "as in MXNet the gradient is that of a copy", "random": True, "dtypes": WIDE}
_STRENGTHS = dict.fromkeys(("brightness", "contrast", "saturation", "hue"), (0.2, 0.0))
CASES.update(
    {
        "_image_to_tensor": Entry(lambda pick: [plain(_picture(pick, True, (1, 3, 4)))]),
        "_image_normalize": Entry(_normalize),
        "_image_crop": Entry(_crop),
        "_image_resize": Entry(_resize, dtypes=WIDE),
        "_cvimresize": Entry(_sized, dtypes=("float32",)),
        "_cvcopyMakeBorder": Entry(_bordered, dtypes=("float32",)),
        "_image_flip_left_right": Entry(_image()),
        "_image_flip_top_bottom": Entry(_image()),
        "_image_random_flip_left_right": Entry(_image(), random=True),
        "_image_random_flip_top_bottom": Entry(_image(), random=True),
        "_image_random_brightness": _jitter(0.5, 1.5),
        "_image_random_contrast": _jitter(0.5, 1.5),
        "_image_random_saturation": _jitter(0.5, 1.5),
        "_image_random_hue": _jitter(0.0, 0.2),
        "_image_random_color_jitter": Entry(_image(**_STRENGTHS), **_COPY),
        "_image_random_lighting": Entry(_image(alpha_std=[0.05, 0.0]), **_COPY),
        "_image_adjust_lighting": Entry(_image(alpha=[(0.1, -0.2, 0.3)]), dtypes=WIDE),
    }
)

# ---- reading at places


def _affine(pick):
    batch = pick.integer(1, 2)
    near = np.array([1, 0, 0, 0, 1, 0]) * 0.8 + pick.numbers.uniform(-0.15, 0.15, (batch, 6))
    return near, (pick.integer(2, 4), pick.integer(2, 4))


def _grid(pick):
    if pick.boolean():
        shape = (pick.integer(1, 2), 2, pick.integer(2, 4), pick.integer(2, 4))
        return [smooth(pick.values(shape))], {"transform_type": "warp"}
    near, shape = _affine(pick)
    return [smooth(near)], {"transform_type": "affine", "target_shape": shape}


def _sampler(pick):
    data = _features(pick)
    grid = pick.numbers.uniform(-1.3, 1.3, (len(data), 2, pick.integer(1, 3), pick.integer(1, 3)))
    return [smooth(data), smooth(grid)]


def _transformer(pick):
    near, shape = _affine(pick)
    data = pick.values((len(near), pick.integer(1, 2), pick.integer(2, 4), pick.integer(2, 4)))
    attrs = {"target_shape": shape, "transform_type": "affine", "sampler_type": "bilinear"}
    return [smooth(data), smooth(near)], attrs


def _correlation(pick):
    shape = (pick.integer(1, 2), pick.integer(1, 2), pick.integer(3, 5), pick.integer(3, 5))
    reach = pick.integer(0, 2)
    attrs = {
        "kernel_size": pick.choice([1, 3]), "max_displacement": reach,
        "stride1": pick.integer(1, 2), "stride2": pick.integer(1, 2), "pad_size": reach + 1,
        "is_multiply": pick.boolean(),
    }  # fmt: skip
    numbers = (pick.numbers.permutation(2 * int(np.prod(shape))) + 1) * 0.1
    return [smooth(half.reshape(shape)) for half in np.split(numbers, 2)], attrs


CASES.update(
    {
        "GridGenerator": Entry(_grid, dtypes=WIDE),
        "BilinearSampler": Entry(_sampler, dtypes=WIDE),
        "SpatialTransformer": Entry(_transformer, dtypes=WIDE),
        "Correlation": Entry(_correlation, dtypes=WIDE),
    }
)

# ---- windows that are bent, regions that are proposed, events


def _bent(pick, mask):
    groups, parts = pick.choice([1, 2]), pick.choice([1, 2])
    kernel = (pick.integer(1, 3), pick.integer(1, 3))
    stride, pad = (pick.integer(1, 2), 1), (pick.integer(0, 1), 1)
    sides = (pick.integer(3, 5), pick.integer(3, 5))
    dilate = (1, pick.integer(1, 2) if sides[1] > 4 else 1)
    places = [
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, d, p in zip(sides, kernel, stride, dilate, pad, strict=True)
    ]
    taps, batch, numbers = kernel[0] * kernel[1], pick.integer(1, 2), pick.numbers
    no_bias = pick.boolean()
    inputs = [
        numbers.normal(size=(batch, 4, *sides)),
        numbers.integers(-1, 2, (batch, 2 * parts * taps, *places))
        + numbers.uniform(0.1, 0.9, (batch, 2 * parts * taps, *places)),
    ]
    if mask:
        inputs.append(numbers.uniform(0, 1, (batch, parts * taps, *places)))
    inputs.append(numbers.normal(size=(2, 4 // groups, *kernel)))
    if not no_bias:
        inputs.append(numbers.normal(size=2))
    attrs = {
        "kernel": kernel, "stride": stride, "dilate": dilate, "pad": pad, "num_filter": 2,
        "num_group": groups, "num_deformable_group": parts, "no_bias": no_bias,
    }  # fmt: skip
    return list(map(smooth, inputs)), attrs


def _moved_cells(pick):
    size, group, classes = pick.integer(1, 2), pick.integer(1, 2), pick.choice([1, 2])
    part, still = pick.choice([0, 1]), pick.boolean()
    data = pick.numbers.normal(size=(2, 2 * group**2, 5, 6))
    rois = _regions(pick, 2, 1)
    attrs = {
        "spatial_scale": 1.0, "output_dim": 2, "group_size": group, "pooled_size": size,
        "part_size": part, "sample_per_part": pick.integer(1, 2), "trans_std": 0.1,
        "no_trans": still,
    }  # fmt: skip
    inputs = [smooth(data), plain(rois)]
    if not still:
        shape = (len(rois), 2 * classes, part or size, part or size)
        inputs.append(smooth(pick.numbers.uniform(0.1, 0.9, shape)))
    return inputs, attrs


def _proposal(several):
    def make(pick):
        batch = pick.integer(1, 2) if several else 1
        height, width = pick.integer(1, 3), pick.integer(1, 3)
        scales, ratios = pick.choice([(2.0,), (1.0, 2.0)]), pick.choice([(1.0,), (0.5, 1.0)])
        count = len(scales) * len(ratios)
        scores = pick.numbers.permutation(batch * 2 * count * height * width) / 100
        attrs = {
            "scales": scales, "ratios": ratios, "rpn_post_nms_top_n": pick.integer(1, 6),
            "rpn_pre_nms_top_n": pick.choice([6000, 5]), "rpn_min_size": pick.choice([1, 16]),
            "threshold": pick.choice([0.7, 0.4]), "output_score": pick.boolean(),
        }  # fmt: skip
        moves = pick.numbers.normal(size=(batch, 4 * count, height, width)) * 0.2
        info = np.tile([[height * 16 - 3.0, width * 16.0, 1.0]], (batch, 1))
        return [
            plain(scores.reshape(batch, 2 * count, height, width)), plain(moves), plain(info),
        ], attrs  # fmt: skip

    return make


def _hawkes(pick):
    batch, marks, events = (pick.integer(1, 3) for _ in range(3))
    numbers = pick.numbers
    lags = numbers.uniform(0.1, 1, (batch, events))
    return [
        smooth(numbers.uniform(0.5, 1.5, (batch, marks))),
        smooth(numbers.uniform(0.1, 0.9, marks)),
        smooth(numbers.uniform(0.5, 1.5, marks)),
        smooth(numbers.uniform(0, 1, (batch, marks))),
        plain(lags),
        fixed(numbers.integers(0, marks, (batch, events)), "int32"),
        plain(numbers.integers(0, events + 1, batch)),
        plain(lags.sum(axis=1) + 0.5),
    ]


CASES.update(
    {
        "_contrib_DeformableConvolution": Entry(
            lambda pick: _bent(pick, False), dtypes=WIDE, factor=5
        ),
        "_contrib_ModulatedDeformableConvolution": Entry(
            lambda pick: _bent(pick, True), dtypes=WIDE, factor=5
        ),
        "_contrib_DeformablePSROIPooling": Entry(_moved_cells, dtypes=WIDE, factor=5),
        "_contrib_Proposal": Entry(_proposal(False), slopes=_ZERO, dtypes=WIDE),
        "_contrib_MultiProposal": Entry(_proposal(True), slopes=_ZERO, dtypes=WIDE),
        "_contrib_hawkesll": Entry(_hawkes, dtypes=WIDE, factor=5),
    }
)

ELSEWHERE = {
    **dict.fromkeys(
        ["_foreach", "_while_loop", "_cond"], "tests/symbol/test_control_flow.py: they run graphs"
    ),
    **dict.fromkeys(["_cvimdecode", "_cvimread"], "tests/ops/test_opencv.py: they read files"),
}
PARTS_OF_GRADIENTS = frozenset(
    "_bilinear_sampler_grad _box_nms_grad _box_nms_rows _correlation_grad _crop_image_grad "
    "_deformable_convolution_grad _deformable_psroi_grad _deformable_psroi_grads _hawkesll_grad "
    "_modulated_convolution_grad "
    "_flip_image_if _grid_generator_grad _grid_of _psroi_pooling_grad _resize_image_grad "
    "_resize_image_like _roi_align_grad _roi_pooling_grad _roi_pooling_take _to_tensor_grad".split()
)
__all__ = ["CASES", "ELSEWHERE", "PARTS_OF_GRADIENTS"]
