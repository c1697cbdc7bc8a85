"""How to draw inputs and attributes for convolution, pooling and normalization."""

from __future__ import annotations

import numpy as np

from cases import plain, smooth
from entries import Entry

#: single and double precision; half would need parameters in single precision
WIDE = ("float32", "float64")

CASES: dict[str, Entry] = {}


def _sizes(pick, axes, low=3, high=4):
    """The size along every axis; the lowest where three axes would make the laws slow."""
    return tuple(pick.integer(low, low if axes == 3 else high) for _ in range(axes))


def _windows(pick, axes):
    """Attributes of windows that fit into three elements along every axis."""
    return {
        "kernel": _sizes(pick, axes, 1, 2),
        "stride": _sizes(pick, axes, 1, 2),
        "dilate": _sizes(pick, axes, 1, 2),
        "pad": _sizes(pick, axes, 0, 1),
    }


def _convolution(pick, transposed=False):
    axes, groups = pick.choice([2, 1, 3]), pick.choice([1, 2])
    channels = groups * (pick.integer(1, 2) if axes < 3 and groups == 1 else 1)
    filters = groups * pick.integer(1, 2)
    attrs = {**_windows(pick, axes), "num_filter": filters, "num_group": groups}
    last = pick.boolean()
    layout = {1: "NCW", 2: "NHWC" if last else "NCHW", 3: "NDHWC" if last else "NCDHW"}[axes]
    attrs["layout"] = pick.choice([None, layout])
    attrs["no_bias"] = pick.boolean()
    first, second = (channels, filters) if transposed else (filters, channels)
    data = (pick.integer(1, 2) if axes == 1 else 1, channels, *_sizes(pick, axes))
    weight = (first, second // groups, *attrs["kernel"])
    if transposed and pick.boolean():
        attrs["adj"] = tuple(s - 1 for s in attrs["stride"])
    arrays = [pick.values(data), pick.values(weight)]
    if attrs["layout"] is not None and attrs["layout"].endswith("C"):
        arrays = [np.moveaxis(x, 1, -1) for x in arrays]
    if not attrs["no_bias"]:
        arrays.append(pick.values((filters,)))
    return [smooth(x) for x in arrays], attrs


CASES["Convolution"] = Entry(_convolution, factor=4)
CASES["Deconvolution"] = Entry(lambda pick: _convolution(pick, transposed=True), factor=4)


def _im2col(pick):
    axes = pick.choice([2, 1])
    data = (pick.integer(1, 2), pick.integer(1, 2), *_sizes(pick, axes))
    return [smooth(pick.values(data))], _windows(pick, axes)


def _col2im(pick):
    axes = pick.choice([2, 1])
    attrs, size = _windows(pick, axes), _sizes(pick, axes)
    places = 1
    for n, k, s, d, p in zip(size, *attrs.values(), strict=True):
        places *= (n + 2 * p - d * (k - 1) - 1) // s + 1
    depth = pick.integer(1, 2) * int(np.prod(attrs["kernel"]))
    data = pick.values((pick.integer(1, 2), depth, places))
    return [smooth(data)], {**attrs, "output_size": size}


CASES["im2col"] = Entry(_im2col)
CASES["col2im"] = Entry(_col2im, factor=4)


def _pooling(pick):
    axes = pick.choice([2, 1, 3])
    attrs = {
        "kernel": _sizes(pick, axes, 2, 3),
        "stride": _sizes(pick, axes, 1, 2),
        "pad": _sizes(pick, axes, 0, 1),
        "pooling_convention": pick.choice(["valid", "full", "same"]),
        "pool_type": pick.choice(["max", "avg", "sum", "lp"]),
        "global_pool": pick.integer(0, 4) == 4,
        "count_include_pad": pick.choice([None, True, False]),
    }
    if attrs["pooling_convention"] == "same" or _may_hold_nothing(attrs):
        attrs["pad"] = ()
    data = pick.values((1, pick.integer(1, 2), *_sizes(pick, axes)))
    if attrs["pool_type"] == "lp":
        attrs["p_value"] = pick.integer(1, 3)
        data = np.abs(data) + 0.2
    last = {1: "NWC", 2: "NHWC", 3: "NDHWC"}[axes]
    attrs["layout"] = pick.choice([None, last])
    return [smooth(data if attrs["layout"] is None else np.moveaxis(data, 1, -1))], attrs


def _older_pooling(pick):
    attrs = {
        "kernel": _sizes(pick, 2, 2, 3),
        "stride": _sizes(pick, 2, 1, 2),
        "pad": _sizes(pick, 2, 0, 1),
        "pooling_convention": pick.choice(["valid", "full"]),
        "pool_type": pick.choice(["max", "avg", "sum"]),
    }
    if _may_hold_nothing(attrs):
        attrs["pad"] = ()
    return [smooth(pick.values((1, pick.integer(1, 2), *_sizes(pick, 2))))], attrs


def _may_hold_nothing(attrs):
    """Whether a window may lie in the padding only: its maximum is the lowest number there is,
    beside which differences of the others cannot be seen."""
    return attrs["pool_type"] == "max" and attrs["pooling_convention"] == "full"


# outside training MXNet keeps nothing for the gradients of this and of LRN: they are memory's noise
CASES["Pooling"] = Entry(_pooling, factor=4, training=True)
CASES["Pooling_v1"] = Entry(_older_pooling)
CASES["_contrib_AdaptiveAvgPooling2D"] = Entry(
    lambda pick: (
        [smooth(pick.values((1, 2, *_sizes(pick, 2))))],
        {"output_size": pick.choice([(), (1,), (2,), (2, 3), (6, 4)])},
    ),
    factor=4,
)


def _normalized(pick, shape, size, attrs):
    """Data whose statistics are not degenerate, gamma and beta."""
    data = pick.values(shape) + pick.numbers.uniform(-1, 1, shape)
    return [smooth(data), smooth(pick.values((size,))), smooth(pick.values((size,)))], attrs


def batch_norm(pick, axis=True, **more):
    """Data, gamma, beta and states, and attributes; ``axis`` where channels are anywhere."""
    shape = (pick.integer(3, 4), 2, *_sizes(pick, pick.integer(0, 2), 2, 3))
    attrs = {"eps": 0.1, "momentum": 0.5, "fix_gamma": pick.boolean(), **more}
    attrs["use_global_stats"] = pick.boolean()
    if axis:
        attrs["axis"] = pick.choice([1, -1])
    size = shape[attrs.get("axis", 1)]
    arrays, attrs = _normalized(pick, shape, size, attrs)
    states = [plain(pick.values((size,))), plain(np.abs(pick.values((size,))) + 0.5)]
    return [*arrays, *states], attrs


_BATCH = {"training": True, "dtypes": WIDE, "factor": 10}
CASES["BatchNorm"] = Entry(batch_norm, **_BATCH)
CASES["BatchNorm_v1"] = Entry(lambda pick: batch_norm(pick, axis=False), **_BATCH)
CASES["_contrib_SyncBatchNorm"] = Entry(
    lambda pick: batch_norm(pick, axis=False, key="key"), **_BATCH
)
CASES["_contrib_BatchNormWithReLU"] = Entry(
    batch_norm, second="the rectifier's kink may be anywhere", **_BATCH
)


def _layer_norm(pick):
    shape = _sizes(pick, pick.integer(1, 3), 2, 4)
    axis = pick.axis(shape)
    return _normalized(pick, shape, shape[axis], {"axis": axis, "eps": 0.1})


def _group_norm(pick):
    groups = pick.integer(1, 2)
    shape = (pick.integer(1, 2), groups * 2, *_sizes(pick, pick.integer(1, 2), 2, 3))
    return _normalized(pick, shape, groups, {"num_groups": groups, "eps": 0.1})


def _instance_norm(pick):
    shape = (pick.integer(1, 2), 2, *_sizes(pick, pick.integer(1, 2), 2, 3))
    return _normalized(pick, shape, 2, {"eps": 0.1})


def _unit_length(pick):
    shape = (pick.integer(1, 2), *_sizes(pick, pick.integer(2, 3), 1, 3))
    attrs = {"mode": pick.choice(["instance", "channel", "spatial"]), "eps": 0.1}
    return [smooth(pick.values(shape))], attrs


def _neighbours(pick):
    attrs = {"nsize": pick.integer(1, 5), "alpha": 0.5, "beta": 0.75, "knorm": 1.0}
    return [smooth(pick.values((1, pick.integer(1, 5), *_sizes(pick, 2, 1, 2))))], attrs


CASES["LayerNorm"] = Entry(_layer_norm, factor=10)
CASES["GroupNorm"] = Entry(_group_norm, factor=10)
CASES["InstanceNorm"] = Entry(_instance_norm, factor=10)
CASES["L2Normalization"] = Entry(_unit_length, factor=4)
CASES["LRN"] = Entry(_neighbours, factor=4, training=True)


def _up_sampling(pick):
    scale, size = pick.integer(1, 3), _sizes(pick, 2, 1, 2)
    attrs = {"scale": scale, "sample_type": pick.choice(["nearest", "bilinear"])}
    data = [smooth(pick.values((1, 2, *size)))]
    if attrs["sample_type"] == "bilinear":
        kernel = 2 * scale - scale % 2
        return [*data, smooth(pick.values((2, 1, kernel, kernel)))], attrs
    if pick.boolean():
        attrs["multi_input_mode"] = pick.choice(["concat", "sum"])
        data.append(smooth(pick.values((1, 2, *[n * scale for n in size]))))
    return data, attrs


def _resize(pick):
    attrs = {"align_corners": pick.boolean(), "mode": pick.choice(["size", "like", "to_odd_up"])}
    data = [smooth(pick.values((1, 2, *_sizes(pick, 2, 1, 4))))]
    if attrs["mode"] == "like":
        data.append(plain(pick.values((1, 1, *_sizes(pick, 2, 1, 5)))))
    elif attrs["mode"] == "size":
        attrs["height"], attrs["width"] = _sizes(pick, 2, 1, 5)
    return data, attrs


def _crop(pick):
    attrs = {"center_crop": pick.boolean(), "offset": _sizes(pick, 2, 0, 1)}
    data, size = [smooth(pick.values((1, 2, *_sizes(pick, 2, 4, 5))))], _sizes(pick, 2, 1, 3)
    if pick.boolean():
        return [*data, plain(pick.values((1, 1, *size)))], attrs
    return data, {**attrs, "h_w": size}


CASES["UpSampling"] = Entry(
    _up_sampling, second="its bilinear gradient is a kernel without gradient", factor=4
)
CASES["_contrib_BilinearResize2D"] = Entry(_resize, factor=4)
CASES["Crop"] = Entry(_crop)

#: operators that only gradients of the ones above are made of
PARTS_OF_GRADIENTS = frozenset(
    "_batch_norm_grad _batch_norm_second _channel_neighbours _channelwise_data_grad "
    "_channelwise_weight_grad _col2im_like _convolution _convolution_data_grad "
    "_convolution_weight_grad _crop_grad _deconvolution _deconvolution_data_grad "
    "_deconvolution_weight_grad _grid_average_grad _max_pool_grad _max_pool_pick _max_pool_winner "
    "_normalization_grad _normalization_second _resize_grad _sum_pool _sum_pool_grad "
    "_upsampling_grad _upsampling_part".split()
)
