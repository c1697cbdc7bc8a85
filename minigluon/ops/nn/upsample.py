"""Larger, smaller and cut out images: UpSampling, BilinearResize2D, Crop."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ...base import AttributeValueError, ShapeError
from ...core.attributes import Count, Shape
from ...core.infer import UNKNOWN, UnknownShape, known
from ...core.op import op
from ...kernels import convolution
from ...kernels.convolution import Window
from .pool import _check_images, _resampled

# ---- UpSampling


@op()
def UpSampling(
    *data,
    scale: Count,
    num_filter: int = 0,
    sample_type: Literal["bilinear", "nearest"],
    multi_input_mode: Literal["concat", "sum"] = "concat",
    workspace: int = 512,
):
    """Images ``scale`` times as large, by repeating elements or by a learned interpolation.

    With ``nearest`` there may be several arrays; the others are enlarged to the size of the first
    one's result and then joined along the channels, or summed. With ``bilinear`` the second array
    is the weight of a ``Deconvolution`` that treats every channel alone: ``(channels, 1, k, k)``
    with ``k = 2 * scale - scale % 2``. Left out in a symbol, it is made and starts as bilinear
    weights.

    Examples
    --------
    >>> x = nd.array([[[[1, 2]]]])
    >>> nd.UpSampling(x, scale=2, sample_type="nearest").asnumpy()
    array([[[[1., 1., 2., 2.],
             [1., 1., 2., 2.]]]], dtype=float32)
    """
    _check_images(data[0].shape, "UpSampling")
    if sample_type == "bilinear":
        x, weight = data
        window = _window(scale)
        spatial = tuple([n * scale for n in x.shape[2:]])
        if weight.shape != (x.shape[1], 1, *window.kernel):
            raise ShapeError("the weight does not fit scale and channels")
        return convolution.spread(x, weight, spatial, window, x.shape[1])
    factors = _factors([x.shape for x in data], scale)
    parts = [_repeated(x, f) for x, f in zip(data, factors, strict=True)]
    if len(parts) == 1:
        return parts[0]
    if multi_input_mode == "sum":
        return np.add.reduce(parts)
    return np.concatenate(parts, axis=1)


@UpSampling.input_names
def _(sample_type, **_):
    return ("data", "weight") if sample_type == "bilinear" else None


UpSampling.starts = {"weight": '["bilinear", {}]'}


def _window(scale):
    """How the kernel of the bilinear Deconvolution moves."""
    size, pad = 2 * scale - scale % 2, scale // 2
    return Window((size, size), (scale, scale), (1, 1), (pad, pad))


def _factors(shapes, scale):
    """How many times each array is enlarged for all to have the size of the first one's result."""
    height, width = shapes[0][2] * scale, shapes[0][3] * scale
    factors = [height // shape[2] for shape in shapes]
    for shape, factor in zip(shapes, factors, strict=True):
        if len(shape) != 4 or (shape[2] * factor, shape[3] * factor) != (height, width):
            raise ShapeError(
                "UpSampling: an array cannot be enlarged to the common size.\n"
                f"  received  an array {shape}, result {height} x {width}\n"
                "  expected  height and width that divide those of the result alike\n"
                "  fix       pass images whose size is a whole fraction of the result's"
            )
    return factors


def _repeated(x, factor):
    """Every element ``factor`` times along both spatial axes."""
    if factor == 1:
        return x.copy()
    n, c, height, width = x.shape
    spread = np.broadcast_to(x[:, :, :, None, :, None], (n, c, height, factor, width, factor))
    return np.ascontiguousarray(spread).reshape(n, c, height * factor, width * factor)


@UpSampling.shape
def _(s, *, scale, sample_type, multi_input_mode, **_):
    shapes = s.ins
    if not shapes or isinstance(shapes[0], UnknownShape):
        return
    first = shapes[0]
    _check_images(first, "UpSampling")
    if sample_type == "bilinear":
        s.state(("in", 1), (first[1], 1, *_window(scale).kernel))
    channels = first[1]
    if sample_type == "nearest" and multi_input_mode == "concat":
        for shape in shapes[1:]:
            channels = channels + shape[1]
    if all(known(shape) for shape in shapes) and sample_type == "nearest":
        _factors(shapes, scale)
    s.out = (first[0], channels, first[2] * scale, first[3] * scale)


@UpSampling.grad
def _(F, g, *data, out, scale, sample_type, multi_input_mode, **_):
    if sample_type == "bilinear":
        x, weight = data
        window = _window(scale)
        # the channels are as many as the weight has; a group for each is not known here
        how = {"kernel": window.kernel, "stride": window.stride, "pad": window.pad}
        return (
            F._channelwise_data_grad(g, x, weight, **how),
            F._channelwise_weight_grad(g, x, weight, **how),
        )
    if len(data) == 1:
        return (F._upsampling_grad(g, *data, part=0, scale=scale, concat=False),)
    concat = multi_input_mode == "concat"
    return tuple(
        [F._upsampling_grad(g, *data, part=k, scale=scale, concat=concat) for k in range(len(data))]
    )


@op(shape_only=("data",))
def _upsampling_grad(g, *data, part: int, scale: int, concat: bool):
    """The gradient of nearest UpSampling for one of its arrays: sums over repeated elements."""
    shape = data[part].shape
    if concat:
        first = sum(x.shape[1] for x in data[:part])
        g = g[:, first : first + shape[1]]
    factor = _factors([x.shape for x in data], scale)[part]
    blocks = g.reshape(*shape[:3], factor, shape[3], factor)
    return np.add.reduce(blocks, axis=(3, 5))


@_upsampling_grad.shape
def _(s, *, part, **_):
    s.out = s.ins[1 + part]


@_upsampling_grad.grad
def _(F, h, g, *data, out, part, scale, concat):
    enlarged = F._upsampling_part(h, g, *data, part=part, scale=scale, concat=concat)
    return (enlarged, *[None] * len(data))


@op(shape_only=("g", "data"))
def _upsampling_part(h, g, *data, part: int, scale: int, concat: bool):
    """One array enlarged, at its place in the joined result, zeros elsewhere."""
    enlarged = _repeated(h, _factors([x.shape for x in data], scale)[part])
    if not concat:
        return enlarged
    result = np.zeros(g.shape, h.dtype)
    first = sum(x.shape[1] for x in data[:part])
    result[:, first : first + h.shape[1]] = enlarged
    return result


@_upsampling_part.shape
def _(s, **_):
    s.out = s.ins[1]


@_upsampling_part.grad
def _(F, g, h, like, *data, out, part, scale, concat):
    own = F._upsampling_grad(g, *data, part=part, scale=scale, concat=concat)
    return (own, None, *[None] * len(data))


@op(shape_only=("data",))
def _channelwise_data_grad(g, data, weight, *, kernel: Shape, stride: Shape, pad: Shape):
    """The gradient of a Deconvolution of every channel alone, for its data."""
    window = Window(kernel, stride, (1, 1), pad)
    return convolution.convolve(g, weight, None, window, g.shape[1])


@_channelwise_data_grad.shape
def _(s, **_):
    s.out = s.data


@op(shape_only=("weight",))
def _channelwise_weight_grad(g, data, weight, *, kernel: Shape, stride: Shape, pad: Shape):
    """The gradient of a Deconvolution of every channel alone, for its weight."""
    window = Window(kernel, stride, (1, 1), pad)
    return convolution.correlate(data, g, window, g.shape[1])


@_channelwise_weight_grad.shape
def _(s, **_):
    s.out = s.weight


# ---- BilinearResize2D


@op()
def _contrib_BilinearResize2D(
    data,
    like=None,
    *,
    height: int = 1,
    width: int = 1,
    scale_height: float | None = None,
    scale_width: float | None = None,
    mode: Literal[
        "like", "odd_scale", "size", "to_even_down", "to_even_up", "to_odd_down", "to_odd_up"
    ] = "size",
    align_corners: bool = True,
):
    """Images of another size, interpolated linearly along both axes.

    Parameters
    ----------
    data : ``(samples, channels, height, width)``.
    like : with ``mode="like"``, the array whose height and width the result gets.
    height, width : the size of the result, unless ``scale_height`` and ``scale_width`` are given.
    mode : ``size`` as said; ``odd_scale`` scales even sizes plainly and odd ones so that they stay
        odd under whole scales; the other four go to the next even or odd size.
    align_corners : corner elements of data and result coincide; otherwise their outer edges do.

    Examples
    --------
    >>> x = nd.array([[[[1, 3]]]])
    >>> nd.contrib.BilinearResize2D(x, height=1, width=3).asnumpy()
    array([[[[1., 2., 3.]]]], dtype=float32)
    """
    _check_images(data.shape, "BilinearResize2D")
    size = _new_size(data.shape, None if like is None else like.shape, height, width,
                     scale_height, scale_width, mode)  # fmt: skip
    down, across = _interpolations(data.shape[2:], size, align_corners)
    return _resampled(data, down, across)


@_contrib_BilinearResize2D.input_names
def _(mode, **_):
    return ("data", "like") if mode == "like" else ("data",)


def _new_size(shape, like, height, width, scale_height, scale_width, mode):
    if mode == "like":
        return tuple(like[2:])
    scales = (scale_height, scale_width)
    if mode == "size" and scale_height is None:
        return height, width
    if mode in ("size", "odd_scale"):
        if None in scales:
            raise AttributeValueError(
                f"BilinearResize2D: both scales are needed.\n"
                f"  received  scale_height={scale_height}, scale_width={scale_width}\n"
                "  expected  two numbers\n  fix       pass both, or height and width"
            )
        scaled = _scaled if mode == "size" else _odd_scaled
        return tuple([scaled(n, x) for n, x in zip(shape[2:], scales, strict=True)])
    odd, step = mode.startswith("to_odd"), 1 if mode.endswith("up") else -1
    return tuple([n if n is UNKNOWN or n % 2 == odd else n + step for n in shape[2:]])


def _scaled(size, scale):
    return UNKNOWN if size is UNKNOWN else int(np.float32(scale) * np.float32(size))


def _odd_scaled(size, scale):
    if size is UNKNOWN or size % 2 == 0:
        return _scaled(size, scale)
    return _scaled(size - 1, scale) + 1


def _interpolations(sizes, new_sizes, align_corners):
    """The matrices that interpolate along height and width."""
    if min(new_sizes) < 1:
        raise ShapeError(
            f"BilinearResize2D: nothing is left of the images.\n  received  images {sizes}\n"
            f"  expected  a result of at least one element, here {new_sizes}\n"
            "  fix       choose a larger size or scale"
        )
    return [_interpolation(n, m, align_corners) for n, m in zip(sizes, new_sizes, strict=True)]


def _interpolation(size, new_size, align_corners):
    """The matrix ``(new_size, size)`` of linear interpolation along an axis."""
    at = np.arange(new_size, dtype=np.float64)
    if align_corners:
        at *= (size - 1) / (new_size - 1) if new_size > 1 else 0
    else:
        step = size / new_size if new_size > 1 else 0  # one element is the first, as in MXNet
        at = np.maximum((at + 0.5) * step - 0.5, 0)
    lower = np.minimum(at.astype(np.int64), size - 1)
    share = at - lower
    matrix = np.zeros((new_size, size))
    rows = np.arange(new_size)
    np.add.at(matrix, (rows, lower), 1 - share)
    np.add.at(matrix, (rows, np.minimum(lower + 1, size - 1)), share)
    return matrix


@_contrib_BilinearResize2D.shape
def _(s, *, height, width, scale_height, scale_width, mode, align_corners):
    if isinstance(s.data, UnknownShape) or (mode == "like" and isinstance(s.like, UnknownShape)):
        return
    _check_images(s.data, "BilinearResize2D")
    like = s.like if mode == "like" else None
    size = _new_size(s.data, like, height, width, scale_height, scale_width, mode)
    s.data = (s.out[0], s.out[1], UNKNOWN, UNKNOWN)
    s.out = (*s.data[:2], *size)


@_contrib_BilinearResize2D.grad
def _(F, g, data, like=None, *, out, align_corners, **_):
    grad = F._resize_grad(g, data, align_corners=align_corners)
    return grad if like is None else (grad, None)


@op(shape_only=("data",))
def _resize_grad(g, data, *, align_corners: bool):
    """The gradient of bilinear resizing."""
    down, across = _interpolations(data.shape[2:], g.shape[2:], align_corners)
    return _resampled(g, down.T, across.T)


@_resize_grad.shape
def _(s, **_):
    s.out = s.data


@_resize_grad.grad
def _(F, h, g, data, *, out, align_corners):
    return F._contrib_BilinearResize2D(h, g, mode="like", align_corners=align_corners), None


# ---- Crop


@op()
def Crop(*data, offset: Shape = (0, 0), h_w: Shape = (0, 0), center_crop: bool = False):
    """A part of images: of size ``h_w``, or of the height and width of a second array.

    Parameters
    ----------
    data : images, and possibly an array whose size decides.
    offset : where the part begins, downwards and to the right.
    center_crop : take the part from the middle instead.

    Examples
    --------
    >>> nd.Crop(nd.array([[[[1, 2, 3, 4]]]]), offset=(0, 1), h_w=(1, 2)).asnumpy()
    array([[[[2., 3.]]]], dtype=float32)
    """
    shapes = [x.shape for x in data]
    return np.ascontiguousarray(data[0][_cut(*_cropped(shapes, offset, h_w, center_crop))])


def _cropped(shapes, offset, h_w, center_crop):
    """Where a part begins and how large it is."""
    _check_images(shapes[0], "Crop")
    size = tuple(shapes[1][2:]) if len(shapes) > 1 else tuple(h_w)
    whole = shapes[0][2:]
    if UNKNOWN in (*size, *whole):
        return (0, 0), size
    begin = (
        tuple([(n - m) // 2 for n, m in zip(whole, size, strict=True)]) if center_crop else offset
    )
    if any(m < 1 or b < 0 or b + m > n for b, m, n in zip(begin, size, whole, strict=True)):
        raise ShapeError(
            f"Crop: the part does not lie within the images.\n"
            f"  received  images {shapes[0]}, a part of {size} at {begin}\n"
            "  expected  a part of at least one element inside the images\n"
            "  fix       change offset, h_w or the second array"
        )
    return begin, size


def _cut(begin, size):
    return (..., *[slice(b, b + m) for b, m in zip(begin, size, strict=True)])


@Crop.shape
def _(s, *, offset, h_w, center_crop):
    shapes = s.ins
    if not shapes or any(isinstance(shape, UnknownShape) for shape in shapes):
        return
    _, size = _cropped(shapes, offset, h_w, center_crop)
    s.state(("in", 0), (s.out[0], s.out[1], UNKNOWN, UNKNOWN))
    first = s.ins[0]
    s.out = (first[0], first[1], *size)


@Crop.grad
def _(F, g, *data, out, offset, h_w, center_crop):
    grad = F._crop_grad(g, data[0], offset=offset, center_crop=center_crop)
    return (grad, *[None] * (len(data) - 1))


@op(shape_only=("data",))
def _crop_grad(g, data, *, offset: Shape, center_crop: bool):
    """A part put back into zeros."""
    result = np.zeros(data.shape, g.dtype)
    result[_cut(*_cropped([data.shape, g.shape], offset, (0, 0), center_crop))] = g
    return result


@_crop_grad.shape
def _(s, **_):
    s.out = s.data


@_crop_grad.grad
def _(F, h, g, data, *, out, offset, center_crop):
    return F.Crop(h, g, offset=offset, center_crop=center_crop), None
