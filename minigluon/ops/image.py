"""Operators on images: ``mx.nd.image``, what Gluon's transforms are made of."""

from __future__ import annotations

import numpy as np

from ..base import AttributeValueError, ShapeError
from ..core.attributes import Floats, Shape
from ..core.infer import UNKNOWN_SHAPE, all_same
from ..core.op import op
from ..kernels import image as kernels
from ._shared import at_least


def _check(name, data, layout="(height, width, channels)", batch=False, channels=(1, 3), axis=-1):
    wanted = (3, 4) if batch else (3,)
    if data.ndim not in wanted or (channels and data.shape[axis] not in channels):
        batches = f" or (batch, {layout[1:]}" if batch else ""
        colours = " with 1 or 3 channels" if channels else ""
        raise ShapeError(
            f"{name}: data is not an image.\n  received  data {data.shape}\n"
            f"  expected  {layout}{batches}{colours}\n"
            "  fix       transpose it, or convert it to grey or colour"
        )


# ---- arrays of bytes to tensors


@op(name="_image_to_tensor", aliases=("_npx__image_to_tensor",))
def to_tensor(data):
    """An image of bytes as a float32 tensor ``(channels, height, width)`` from 0 to 1.

    A batch ``(batch, height, width, channels)`` becomes ``(batch, channels, height, width)``.

    Examples
    --------
    >>> nd.image.to_tensor(nd.array([[[255, 0, 51]]], dtype="uint8")).asnumpy().ravel()
    array([1. , 0. , 0.2], dtype=float32)
    """
    _check("_image_to_tensor", data, batch=True, channels=())
    moved = np.moveaxis(data, -1, -3)
    return np.divide(moved, np.float32(255), dtype=np.float32, order="C")


@to_tensor.shape
def _(s):
    if s.data is not UNKNOWN_SHAPE and len(s.data) >= 3:
        *lead, height, width, channels = s.data
        s.out = (*lead, channels, height, width)


@to_tensor.dtype
def _(t):
    t.out = np.float32


@to_tensor.grad
def _(F, g, data, *, out):
    return F._to_tensor_grad(g, data)


@op(shape_only=("like",))
def _to_tensor_grad(g, like):
    """Channels moved back to the end, 255 to 1."""
    return np.ascontiguousarray(np.moveaxis(g, -3, -1) / np.float32(255)).astype(like.dtype)


@_to_tensor_grad.shape
def _(s):
    s.out = s.like


@_to_tensor_grad.dtype
def _(t):
    t.out = t.like


@_to_tensor_grad.grad
def _(F, g, gradient, like, *, out):
    return F._image_to_tensor(g), None


@op(name="_image_normalize", aliases=("_npx__image_normalize",))
def normalize(data, *, mean: Floats = (0.0, 0.0, 0.0, 0.0), std: Floats = (1.0, 1.0, 1.0, 1.0)):
    """``(data - mean) / std``, a mean and a deviation for each channel of ``(channels, h, w)``.

    One number stands for all channels.
    """
    _check("_image_normalize", data, "(channels, height, width)", batch=True, axis=-3)
    dtype = data.dtype if data.dtype.kind == "f" else np.dtype(np.float32)
    result = (data - _per_channel(data, mean, "mean", dtype)) / _per_channel(
        data, std, "std", dtype
    )
    return result.astype(data.dtype, copy=False)


def _per_channel(data, values, name, dtype):
    count = data.shape[-3]
    if len(values) not in (1, count) and not (len(values) == 4 and len(set(values)) == 1):
        raise AttributeValueError(
            f"_image_normalize: Invalid {name} for {count} channels.\n"
            f"  received  {name}={values}\n  expected  1 or {count} numbers\n"
            f"  fix       pass one for each channel"
        )
    row = np.array(values[:count], dtype)
    return row.reshape(-1, 1, 1)


normalize.shape(all_same)


@normalize.grad
def _(F, g, data, *, out, mean, std):
    return F._image_normalize(g, mean=(0.0,), std=std)


# ---- parts and sizes


@op(name="_image_crop", aliases=("_npx__image_crop",), copies_view=True)
def crop(data, *, x: int, y: int, width: int, height: int):
    """The part of an image that starts at ``(x, y)``, ``width`` by ``height``."""
    _check("_image_crop", data, batch=True)
    rows, columns = data.shape[-3:-1]
    for name, start, length, limit, side in (
        ("x", x, width, columns, "width"), ("y", y, height, rows, "height"),
    ):  # fmt: skip
        if start < 0 or length < 1 or start + length > limit:
            raise AttributeValueError(
                f"_image_crop: {name} + {side} should not be greater than input {side}, nor "
                f"{name} below 0, nor {side} below 1.\n"
                f"  received  {name}={start}, {side}={length} for an image with {side} {limit}\n"
                f"  expected  a part of the image\n  fix       choose {name} and {side} inside it"
            )
    return data[..., y : y + height, x : x + width, :]


@crop.shape
def _(s, *, x, y, width, height):
    if s.data is not UNKNOWN_SHAPE and len(s.data) >= 3:
        s.out = (*s.data[:-3], height, width, s.data[-1])


@crop.grad
def _(F, g, data, *, out, **attrs):
    return F._crop_image_grad(g, data, **attrs)


@op(shape_only=("like",))
def _crop_image_grad(g, like, *, x: int, y: int, width: int, height: int):
    """Zeros around a part."""
    total = np.zeros(like.shape, g.dtype)
    total[..., y : y + height, x : x + width, :] = g
    return total


@_crop_image_grad.grad
def _(F, g, gradient, like, *, out, **attrs):
    return F._image_crop(g, **attrs), None


@op(name="_image_resize", aliases=("_npx__image_resize",))
def resize(data, *, size: Shape = (), keep_ratio: bool = False, interp: int = 1):
    """An image in another size, the very bytes that OpenCV gives.

    Parameters
    ----------
    size : ``(width, height)``, or one number for both.
    keep_ratio : with one number, that is the shorter side.
    interp : 0 nearest, 1 bilinear, 2 bicubic, 3 area, 4 Lanczos.
    """
    _check("_image_resize", data, batch=True, channels=())
    if 0 in data.shape[-3:-1]:
        raise ShapeError(
            f"_image_resize: data has no pixels.\n  received  data {data.shape}\n"
            "  expected  a height and a width of 1 or more\n  fix       leave such images out"
        )
    return kernels.resize(data, *_new_size(data.shape, size, keep_ratio), checked_interp(interp))


def checked_interp(interp, name="_image_resize"):
    """The number of the interpolation; raises ``AttributeValueError`` unless it is 0 to 4."""
    if 0 <= interp <= 4:
        return interp
    raise AttributeValueError(
        f"{name}: interp is not valid.\n  received  interp={interp}\n"
        "  expected  0 nearest, 1 bilinear, 2 bicubic, 3 area, 4 Lanczos\n"
        "  fix       pass one of these"
    )


def _new_size(shape, size, keep_ratio):
    """Height and width; raises ``AttributeValueError`` for a size that is none."""
    if len(size) not in (1, 2) or min(size) < 1:
        raise AttributeValueError(
            f"_image_resize: size is not valid.\n  received  size={size}\n"
            "  expected  width and height, or one number for both, 1 or more\n"
            "  fix       pass such a size"
        )
    if len(size) == 2:
        return size[1], size[0]
    if not keep_ratio:
        return size[0], size[0]
    height, width = shape[-3:-1]
    if height > width:
        return height * size[0] // width, size[0]
    return size[0], width * size[0] // height


@resize.shape
def _(s, *, size, keep_ratio, interp):
    if s.data is not UNKNOWN_SHAPE and len(s.data) >= 3:
        known = not keep_ratio or len(size) == 2 or all(isinstance(d, int) for d in s.data[-3:-1])
        if known and len(size) in (1, 2):
            s.out = (*s.data[:-3], *_new_size(s.data, size, keep_ratio), s.data[-1])


@resize.grad
def _(F, g, data, *, out, size, keep_ratio, interp):
    return F._resize_image_grad(g, data, interp=interp)


@op(shape_only=("like",))
def _resize_image_grad(g, like, *, interp: int):
    """Gradients spread over the pixels that were weighed."""
    return kernels.resize_grad(g, *like.shape[-3:-1], interp)


@_resize_image_grad.grad
def _(F, g, gradient, like, *, out, interp):
    return F._resize_image_like(g, gradient, interp=interp), None


@op(shape_only=("like",))
def _resize_image_like(data, like, *, interp: int):
    """An image in the size of another."""
    return kernels.resize(data, *like.shape[-3:-1], interp)


@_resize_image_like.grad
def _(F, g, data, like, *, out, interp):
    return F._resize_image_grad(g, data, interp=interp), None


for _part in (_crop_image_grad, _resize_image_grad, _resize_image_like):

    @_part.shape
    def _(s, **_):
        s.out = s.like

    @_part.dtype
    def _(t, **_):
        t.out = t.ins[0]


# ---- mirrors


def _mirror(name, axis, what):
    private = f"_image_{name}"

    @op(name=private, aliases=(f"_npx_{private}",), copies_view=True)
    def flip(data):
        _check(private, data)
        return np.flip(data, axis)

    flip.doc = f"An image ``(height, width, channels)`` {what}."
    flip.shape(all_same)
    flip.grad(lambda F, g, data, *, out: getattr(F, private)(g))

    @op(
        name=f"_image_random_{name}",
        aliases=(f"_npx__image_random_{name}",),
        outputs=2,
        hidden_outputs=1,
        output_names=("output", "flag"),
    )
    def random_flip(data, *, rng):
        _check(f"_image_random_{name}", data)
        turned = rng.random() < 0.5
        flag = np.full(1, turned, np.float32)
        return (np.flip(data, axis).copy() if turned else data.copy()), flag

    random_flip.doc = f"An image {what}, or as it is, by chance."
    random_flip.unsaved = 1
    random_flip.shape(_with_flag)
    random_flip.dtype(_with_flag_dtype)
    random_flip.grad(lambda F, g, data, *, out: F._flip_image_if(g[0], out[1], axis=axis))


def _with_flag(s, **_):
    s.data = s.outs[0]
    s.outs = [s.data, (1,)]


def _with_flag_dtype(t, **_):
    t.data = t.outs[0]
    t.outs = [t.data, np.float32]


@op()
def _flip_image_if(data, flag, *, axis: int):
    """An image mirrored along an axis, if the flag is set."""
    return np.flip(data, axis).copy() if flag[0] else data.copy()


@_flip_image_if.shape
def _(s, *, axis):
    s.out = s.data
    s.flag = (1,)


@_flip_image_if.dtype
def _(t, *, axis):
    t.out = t.data
    t.flag = np.float32


@_flip_image_if.grad
def _(F, g, data, flag, *, out, axis):
    return F._flip_image_if(g, flag, axis=axis), None


_mirror("flip_left_right", 1, "mirrored, left for right")
_mirror("flip_top_bottom", 0, "mirrored, top for bottom")

# ---- colours; as in MXNet their gradient is that of a copy


def _pass_on(F, g, data, *, out, **_):
    return g


def _jitter(name, function, doc):
    private = f"_image_random_{name}"

    @op(name=private, aliases=(f"_npx_{private}",))
    def random_jitter(data, *, min_factor: float, max_factor: float, rng):
        _check(private, data)
        at_least(private, "min_factor", min_factor, 0)
        at_least(private, "max_factor", max_factor, 0)
        return _in_dtype(function, data, _between(rng, min_factor, max_factor))

    random_jitter.doc = doc
    random_jitter.shape(all_same)
    random_jitter.grad(_pass_on)


def _between(rng, low, high):
    """A number between two, which may come in either order."""
    return low + (high - low) * rng.random()


def _in_dtype(function, data, amount):
    dtype = data.dtype if data.dtype.kind == "f" and data.dtype.itemsize > 2 else np.float32
    return kernels.saturate(function(data.astype(dtype), np.dtype(dtype).type(amount)), data.dtype)


def _brighten(image, factor):
    return image * factor


def _contrast(image, factor):
    grey = kernels.gray(image) if image.shape[-1] == 3 else image
    mean = grey.mean(dtype=np.float64) if grey.size else 0
    return image * factor + (1 - factor) * image.dtype.type(mean)


def _saturate(image, factor):
    return image if image.shape[-1] == 1 else image * factor + kernels.gray(image) * (1 - factor)


def _turn_hue(image, turns):
    return image if image.shape[-1] == 1 else kernels.turn_hue(image, turns)


_jitter("brightness", _brighten, "An image made brighter or darker by a random factor.")
_jitter("contrast", _contrast, "An image moved away from its mean grey by a random factor.")
_jitter("saturation", _saturate, "An image moved away from its own grey by a random factor.")
_jitter("hue", _turn_hue, "An image whose hues are turned by a random part of the circle.")


@op(name="_image_random_color_jitter", aliases=("_npx__image_random_color_jitter",))
def random_color_jitter(
    data, *, brightness: float, contrast: float, saturation: float, hue: float, rng
):
    """Brightness, contrast, saturation and hue changed by random factors, in random order.

    A number says by how much a factor may differ from 1 (hue: from 0).
    """
    _check("_image_random_color_jitter", data)
    changes = [
        (_brighten, brightness, 1), (_contrast, contrast, 1), (_saturate, saturation, 1),
        (_turn_hue, hue, 0),
    ]  # fmt: skip
    for k in rng.permutation(len(changes)):
        function, amount, middle = changes[k]
        if amount > 0:
            data = _in_dtype(function, data, middle + _between(rng, -amount, amount))
    return data.copy()


random_color_jitter.shape(all_same)
random_color_jitter.grad(_pass_on)


@op(name="_image_adjust_lighting", aliases=("_npx__image_adjust_lighting",))
def adjust_lighting(data, *, alpha: Floats):
    """An image shifted along ImageNet's main directions of colour, by three amounts (AlexNet)."""
    _check("_image_adjust_lighting", data)
    if len(alpha) != 3:
        raise AttributeValueError(
            f"_image_adjust_lighting: alpha is not valid.\n  received  alpha={alpha}\n"
            "  expected  three numbers\n  fix       pass one for each direction of colour"
        )
    return _lit(data, alpha)


def _lit(data, alpha):
    if data.shape[-1] == 1:
        return data.copy()
    shift = (kernels.COLOUR_DIRECTIONS @ np.array(alpha)).astype(np.float32)
    return _in_dtype(lambda image, _: image + shift.astype(image.dtype), data, 0)


@op(name="_image_random_lighting", aliases=("_npx__image_random_lighting",))
def random_lighting(data, *, alpha_std: float = 0.05, rng):
    """`adjust_lighting` by amounts drawn from a normal distribution."""
    _check("_image_random_lighting", data)
    at_least("_image_random_lighting", "alpha_std", alpha_std, 0)
    return _lit(data, rng.normal(0, alpha_std, 3))


for _lighting in (adjust_lighting, random_lighting):
    _lighting.shape(all_same)
    _lighting.grad(_pass_on)
