"""How operators are compiled: what each of them is as maps, reductions and views of arrays.

An operator that is not here, or refuses with `Unsupported`, stays the kernel it is; plans then call
it between their compiled parts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.graph import Node
from ..core.op import Op, registry
from ..core.plan import blas
from ..core.plan.fuse import lowers
from ..core.plan.loops import (
    KINDS,
    Array,
    cast,
    contiguous,
    copied,
    elements,
    full,
    joined,
    mapped,
    multiplied,
    padded,
    positions,
    product,
    reduced,
    reshaped,
    sliced,
    transposed,
    viewed,
)
from ..core.plan.simplify import rewrites, splits
from ..kernels import dense
from ..kernels.scalar import (
    BINARY,
    DOUBLE,
    UNARY,
    Unsupported,
    exp,
    expm1,
    log,
    maximum,
    minimum,
    power,
    select,
    truth,
    whole,
)
from .nn.activation import SELU_ALPHA, SELU_SCALE
from .reduce import axes_of
from .scalar import _FUNCTIONS as SCALAR_FUNCTIONS
from .slicing import _slices, thaw

#: products of more multiplications than this are left to BLAS
PRODUCT_LIMIT = 2048


# ---- element by element

_BINARY = {
    **{f"broadcast_{name}": name for name in BINARY},
    **{f"elemwise_{name}": name for name in ("add", "sub", "mul", "div")},
    **{f"_{n}": n for n in (
        "maximum", "minimum", "equal", "not_equal", "greater", "greater_equal", "lesser",
        "lesser_equal",
    )},
    "_grad_add": "add", "_grad_mul": "mul",
}  # fmt: skip


def _unary(name: str) -> Any:
    function = UNARY[name]
    return lambda x: mapped(function, x)


def _binary(name: str) -> Any:
    function = BINARY[name]
    return lambda x, y: mapped(function, x, y)


for _name in UNARY:
    lowers(_name)(_unary(_name))
for _name, _key in _BINARY.items():
    lowers(_name)(_binary(_key))


def _with_scalar(name: str) -> Any:
    key, _, _, number_first = SCALAR_FUNCTIONS[name]

    def lower(x: Array, *, scalar: float, is_int: bool) -> Array:
        if key == "power":
            if number_first:
                raise Unsupported("a number to the power of an array")
            return mapped(lambda v: power(v, scalar), x)
        function = BINARY[key]
        if number_first:
            return mapped(lambda v: function(v.like(scalar), v), x)
        return mapped(lambda v: function(v, v.like(scalar)), x)

    return lower


for _name, (_key, *_) in SCALAR_FUNCTIONS.items():
    if _key in BINARY or _name == "_power_scalar":
        lowers(_name)(_with_scalar(_name))


@lowers(
    "_copy", "BlockGrad", "make_loss", "LinearRegressionOutput", "MAERegressionOutput", "MakeLoss"
)
def _(x, *_, **attrs):
    return x


@lowers("LogisticRegressionOutput")
def _(x, label, **attrs):
    return mapped(UNARY["sigmoid"], x)


@lowers("ones_like")
def _(x):
    return full(1.0, x)


@lowers("zeros_like")
def _(x):
    return full(0.0, x)


@lowers("add_n")
def _(first, *others):
    for x in others:
        first = mapped(BINARY["add"], first, x)
    return copied(first)


@lowers("where")
def _(condition, x, y):
    if condition.shape != x.shape:
        raise Unsupported("a condition for whole rows")
    return mapped(lambda c, a, b: select(c.compare("une", 0), a, b), condition, x, y)


@lowers("_where_grad")
def _(condition, g, *, taken):
    if condition.shape != g.shape:
        raise Unsupported("a condition for whole rows")
    how = "une" if taken else "oeq"
    return mapped(lambda c, v: select(c.compare(how, 0), v, 0.0), condition, g)


@lowers("smooth_l1")
def _(x, *, scalar):
    square = float(scalar) ** 2
    if square == 0:
        raise Unsupported("smooth_l1 with a scalar of 0")

    def smooth(v):
        size = UNARY["abs"](v)
        return select(size.compare("olt", 1 / square), v * v * (square / 2), size - 0.5 / square)

    return mapped(smooth, x)


@lowers("clip")
def _(x, *, a_min, a_max):
    return mapped(lambda v: minimum(maximum(v, a_min), a_max), x)


@lowers("Activation")
def _(x, *, act_type):
    return mapped(UNARY["_softrelu" if act_type == "softrelu" else act_type], x)


@lowers("LeakyReLU")
def _(x, *others, act_type, slope, **attrs):
    if act_type == "leaky":
        return mapped(lambda v: select(v.compare("olt", 0), v * slope, v), x)
    if act_type == "elu":
        low = lambda v: expm1(select(v.compare("olt", 0), v, 0.0)) * slope  # noqa: E731
        return mapped(lambda v: select(v.compare("olt", 0), low(v), v), x)
    if act_type == "selu":
        low = lambda v: expm1(select(v.compare("olt", 0), v, 0.0)) * SELU_ALPHA  # noqa: E731
        return mapped(lambda v: select(v.compare("ogt", 0), v, low(v)) * SELU_SCALE, x)
    if act_type == "prelu":
        gamma = _by_channel(others[0], len(x.shape))
        return mapped(lambda v, s: select(v.compare("ogt", 0), v, v * s), x, gamma, shape=x.shape)
    if act_type == "gelu":
        erf = UNARY["erf"]
        return mapped(lambda v: v * 0.5 * (erf(v * 0.5**0.5) + 1.0), x)
    raise Unsupported(f"LeakyReLU {act_type}")


def _by_channel(gamma, rank):
    if gamma.shape == (1,) or rank < 2:
        return gamma
    return reshaped(gamma, (1, *gamma.shape, *[1] * (rank - 2)))


@lowers("_leaky_slopes")
def _(gamma, like):
    return mapped(lambda v: v, _by_channel(gamma, len(like.shape)), shape=like.shape)


@lowers("_prelu_gamma_grad")
def _(g, gamma):
    axes = range(len(g.shape))
    if gamma.shape != (1,):
        axes = [k for k in axes if k != 1] if len(g.shape) > 1 else ()
    return reshaped(reduced(g, axes), gamma.shape)


@lowers("Cast", "amp_cast")
def _(x, *, dtype):
    kind = KINDS.get(np.dtype(dtype))
    if kind is None:
        raise Unsupported(f"a cast to {dtype}")
    return cast(x, kind)


@lowers("_cast_like")
def _(x, like):
    return cast(x, like.kind)


# ---- shapes


@lowers("Reshape", "Flatten", "expand_dims", "squeeze", "reshape_like", gives_shape=True)
def _(x, *others, shape, **attrs):
    return reshaped(x, shape)


@lowers("transpose")
def _(x, *, axes):
    return transposed(x, axes or range(len(x.shape))[::-1])


@lowers("SwapAxis")
def _(x, *, dim1, dim2):
    axes = list(range(len(x.shape)))
    axes[dim1], axes[dim2] = axes[dim2], axes[dim1]
    return transposed(x, axes)


@lowers("slice_axis")
def _(x, *, axis, begin, end):
    axis %= len(x.shape)
    length = x.shape[axis]
    begin = max(begin + length, 0) if begin < 0 else begin
    end = length if end is None else end + length if end < 0 else end
    return sliced(x, axis, begin, min(end, length))


@lowers("SliceChannel")
def _(x, *, num_outputs, axis, squeeze_axis):
    axis %= len(x.shape)
    width = x.shape[axis] // num_outputs
    parts = [sliced(x, axis, k * width, (k + 1) * width) for k in range(num_outputs)]
    if squeeze_axis:
        shape = (*x.shape[:axis], *x.shape[axis + 1 :])
        strides = [p.strides() for p in parts]
        parts = [
            viewed(p, shape, (*s[:axis], *s[axis + 1 :]))
            for p, s in zip(parts, strides, strict=True)
        ]
    return tuple(parts)


@lowers("broadcast_like", "broadcast_to", "broadcast_axis", "_spread_like", gives_shape=True)
def _(x, *others, shape, **attrs):
    if x.shape == shape:
        return x
    if len(x.shape) > len(shape):
        raise Unsupported("fewer axes than before")
    return mapped(lambda v: v, x, shape=shape)


@lowers("slice")
def _(x, *, begin, end, step):
    return _indexed(x, _slices(begin, end, step))


@lowers("_basic_index", gives_shape=True)
def _(x, *, shape, key):
    return reshaped(_indexed(x, _plain_key(key)), shape)


def _plain_key(key):
    key = thaw(key)
    if not all(type(k) in (slice, int) for k in key):
        raise Unsupported("an index with new axes or an ellipsis")
    return [slice(k, k + 1 or None) if type(k) is int else k for k in key]


def _indexed(x, keys):
    for axis, key in enumerate(keys):
        begin, end, step = key.indices(x.shape[axis])
        if step != 1:
            raise Unsupported("a slice with steps")
        x = sliced(x, axis, begin, end)
    return x


@lowers("_basic_index_grad")
def _(g, like, *, key):
    keys = _plain_key(key)
    keys += [slice(None)] * (len(like.shape) - len(keys))
    places = [k.indices(d) for k, d in zip(keys, like.shape, strict=True)]
    if any(step != 1 for _, _, step in places):
        raise Unsupported("a slice with steps")
    wide = reshaped(g, tuple([end - begin for begin, end, _ in places]))
    return padded(wide, like.shape, [begin for begin, _, _ in places])


@lowers("_slice_axis_grad")
def _(g, like, *, axis, begin, end):
    begins = [0] * len(like.shape)
    begins[axis % len(begins)] = begin % like.shape[axis] if begin < 0 else begin
    return padded(g, like.shape, begins)


@lowers("Concat")
def _(*parts, dim):
    return joined(parts, dim % len(parts[0].shape))


@lowers("_concat_grad")
def _(g, *likes, dim, count):
    axis, stop, parts = dim % len(g.shape), 0, []
    for like in likes:
        parts.append(sliced(g, axis, stop, stop + like.shape[axis]))
        stop += like.shape[axis]
    return tuple(parts)


@lowers("stack")
def _(*parts, axis):
    axis %= len(parts[0].shape) + 1
    wide = (*parts[0].shape[:axis], 1, *parts[0].shape[axis:])
    return joined([reshaped(p, wide) for p in parts], axis)


@lowers("tile", gives_shape=True)
def _(x, *, shape, reps):
    times = (*[1] * (len(shape) - len(reps)), *reps)
    lengths = (*[1] * (len(shape) - len(x.shape)), *x.shape)
    return _repeated(x, lengths, times, shape, before=True)


@lowers("repeat", gives_shape=True)
def _(x, *, shape, repeats, axis):
    if axis is None:
        x, axis = reshaped(x, (elements(x.shape),)), 0
    times = [repeats if k == axis % len(shape) else 1 for k in range(len(shape))]
    return _repeated(x, x.shape, times, shape, before=False)


def _repeated(x, lengths, times, shape, before):
    """Every axis read several times: as a whole, or (``before=False``) each element."""
    strides = contiguous(tuple(lengths))
    if x.strides() != contiguous(x.shape):
        x = copied(x)
    pairs = [(t, n) if before else (n, t) for t, n in zip(times, lengths, strict=True)]
    steps = [(0, s) if before else (s, 0) for s in strides]
    flat = [d for pair in pairs for d in pair], [d for pair in steps for d in pair]
    return reshaped(viewed(x, tuple(flat[0]), tuple(flat[1])), shape)


@lowers("_tile_grad")
def _(g, like, *, reps):
    n = len(g.shape)
    lengths = (*[1] * (n - len(like.shape)), *like.shape)
    folded = [
        d for whole, part in zip(g.shape, lengths, strict=True) for d in (whole // part, part)
    ]
    return reshaped(reduced(reshaped(g, tuple(folded)), range(0, 2 * n, 2)), like.shape)


@lowers("_repeat_grad")
def _(g, like, *, repeats, axis):
    axis = len(like.shape) - 1 if axis is None else axis % len(like.shape)
    folded = (*like.shape[: axis + 1], repeats, *like.shape[axis + 1 :])
    return reduced(reshaped(g, folded), (axis + 1,))


# ---- reductions


@lowers("_sum_to")
def _(x, like):
    extra = len(x.shape) - len(like.shape)
    if extra < 0:
        raise Unsupported("the zero that stands for a gradient")
    stretched = [extra + k for k, n in enumerate(like.shape) if n == 1 and x.shape[extra + k] != 1]
    return reshaped(reduced(x, (*range(extra), *stretched)), like.shape)


@lowers("sum")
def _(x, *, axis, keepdims, exclude):
    return reduced(x, axes_of(len(x.shape), axis, exclude), "sum", keepdims)


@lowers("max")
def _(x, *, axis, keepdims, exclude):
    return reduced(x, axes_of(len(x.shape), axis, exclude), "max", keepdims)


@lowers("min")
def _(x, *, axis, keepdims, exclude):
    negative = mapped(UNARY["negative"], x)
    return mapped(
        UNARY["negative"], reduced(negative, axes_of(len(x.shape), axis, exclude), "max", keepdims)
    )


@lowers("_tie_weights")
def _(x, extreme, *, axis, keepdims, exclude):
    axes = axes_of(len(x.shape), axis, exclude)

    def ties(v, e):
        same = truth(v.compare("oeq", e), v)
        lost = truth(v.compare("uno", v), v) * truth(e.compare("uno", e), v)
        return same + lost

    tied = mapped(ties, x, _opened(extreme, x, axis, exclude)[0], shape=x.shape)
    return mapped(lambda t, n: t / maximum(n, 1.0), tied, reduced(tied, axes, "sum", True))


@lowers("mean")
def _(x, *, axis, keepdims, exclude):
    axes = axes_of(len(x.shape), axis, exclude)
    count = float(elements(tuple([x.shape[k] for k in axes])))
    return mapped(lambda v: v / count, reduced(x, axes, "sum", keepdims))


def _opened(x, like, axis, exclude):
    axes = axes_of(len(like.shape), axis, exclude)
    kept = tuple([1 if k in axes else d for k, d in enumerate(like.shape)])
    return reshaped(x, kept), elements(tuple([like.shape[k] for k in axes]))


@lowers("_spread_reduced")
def _(x, like, *, axis, keepdims, exclude):
    return mapped(lambda v: v, _opened(x, like, axis, exclude)[0], shape=like.shape)


@lowers("_spread_mean")
def _(x, like, *, axis, keepdims, exclude):
    kept, count = _opened(x, like, axis, exclude)
    return mapped(lambda v: v / float(count), kept, shape=like.shape)


@lowers("_sum_rows")
def _(x):
    return reduced(x, range(len(x.shape) - 1))


# ---- normalization


def _moments(x, axes):
    """Mean and variance in float64, with the axes kept."""
    count = float(elements(tuple([x.shape[k] for k in axes])))
    mean = mapped(lambda v: v / count, reduced(cast(x, DOUBLE), axes, "sum", True))
    centred = cast(mapped(BINARY["sub"], x, cast(mean, x.kind)), DOUBLE)
    squares = reduced(mapped(UNARY["square"], centred), axes, "sum", True)
    return mean, mapped(lambda v: v / count, squares)


def _along(x, rank, axis):
    """The parameters of an axis, so that they broadcast."""
    return reshaped(x, tuple([x.shape[0] if k == axis else 1 for k in range(rank)]))


def _standardized(x, mean, scale, gamma, beta):
    result = mapped(BINARY["mul"], mapped(BINARY["sub"], x, cast(mean, x.kind)), scale)
    if gamma is not None:
        result = mapped(BINARY["mul"], result, gamma)
    return mapped(BINARY["add"], result, beta)


_GROUPED = {"GroupNorm": "num_groups", "InstanceNorm": ""}


@lowers("LayerNorm", *_GROUPED, with_name=True)
def _(x, gamma, beta, *, name, eps, axis=None, output_mean_var=False, num_groups=None):
    shape = x.shape
    if name in _GROUPED:
        x = reshaped(x, (shape[0], gamma.shape[0], elements(shape[1:]) // gamma.shape[0]))
        axis, axes = 1, (2,)
    else:
        axis %= len(shape)
        axes = (axis,)
    rank = len(x.shape)
    mean, variance = _moments(x, axes)
    deviation = mapped(lambda v: UNARY["sqrt"](v + eps), variance)
    scale = cast(mapped(lambda v: 1.0 / v, deviation), x.kind)
    gamma, beta = _along(gamma, rank, axis), _along(beta, rank, axis)
    result = reshaped(_standardized(x, mean, scale, gamma, beta), shape)
    kept = x.shape[:2] if name in _GROUPED else mean.shape
    return result, *[reshaped(cast(v, x.kind), kept) for v in (mean, deviation)]


@lowers("_normalization_grad")
def _(g, x, gamma, mean, deviation, *, kind, axis, groups):
    shape, length = x.shape, gamma.shape[0]
    if kind == "group":
        flat = (shape[0], length, elements(shape[1:]) // length)
        x, g = reshaped(x, flat), reshaped(g, flat)
        mean, deviation = (reshaped(v, (*flat[:2], 1)) for v in (mean, deviation))
        axis, axes = 1, (2,)
    else:
        axis %= len(shape)
        axes = (axis,)
    rank = len(x.shape)
    others = [k for k in range(rank) if k != axis]
    times, minus = BINARY["mul"], BINARY["sub"]
    scale = mapped(lambda v: 1.0 / v, deviation)
    hat = mapped(times, mapped(minus, x, mean), scale)
    products = mapped(times, g, hat)
    factor = _along(gamma, rank, axis)
    pushed = mapped(times, g, factor)
    count = float(elements(tuple([x.shape[k] for k in axes])))
    along, middle = (
        mapped(lambda v: v / count, reduced(v, axes, "sum", True))
        for v in (mapped(times, products, factor), pushed)
    )
    rest = mapped(minus, mapped(minus, pushed, middle), mapped(times, hat, along))
    by_x = reshaped(mapped(times, rest, scale), shape)
    return by_x, reduced(products, others), reduced(g, others)


@lowers("BatchNorm", "BatchNorm_v1", "_contrib_SyncBatchNorm", "_contrib_BatchNormWithReLU",
        with_name=True, with_training=True)  # fmt: skip
def _(
    x, gamma, beta, moving_mean, moving_var, *, name, training, eps, fix_gamma, use_global_stats,
    axis=1, **attrs,
):  # fmt: skip
    axis %= len(x.shape)
    axes = [k for k in range(len(x.shape)) if k != axis]
    wide = [_along(v, len(x.shape), axis) for v in (gamma, beta, moving_mean, moving_var)]
    if training and not use_global_stats:
        mean, variance = _moments(x, axes)
        of_batch = reshaped(cast(variance, x.kind), gamma.shape)
    else:
        mean, variance = (cast(v, DOUBLE) for v in wide[2:])
        of_batch = full(-1.0, gamma)
    scale = cast(mapped(lambda v: 1.0 / UNARY["sqrt"](v + eps), variance), x.kind)
    factor = scale if fix_gamma else mapped(BINARY["mul"], scale, wide[0])
    result = _standardized(x, mean, factor, None, wide[1])
    if name.endswith("ReLU"):
        result = mapped(UNARY["relu"], result)
    return result, *[reshaped(cast(v, x.kind), gamma.shape) for v in (mean, scale)], of_batch


# the gradient of BatchNorm also moves its states, which only kernels do; that part is small


def _moved(mean, variance, moving_mean, moving_var, *, momentum: float):
    """``mean``, when the moving statistics have been moved, if those of the batch were used."""
    if not variance.size or variance[0] >= 0:
        for moving, found in ((moving_mean, mean), (moving_var, variance)):
            moving *= moving.dtype.type(momentum)
            moving += found * mean.dtype.type(1 - momentum)
    return mean


def _slopes(g, data, gamma, mean, scale, variance, *, axis: int, fix_gamma: bool):
    """What ``_batch_norm_grad`` gives, without its effect."""
    unmoved = mean.copy(), mean.copy()
    how = {"axis": axis, "momentum": 1.0, "fix_gamma": fix_gamma}
    return registry["_batch_norm_grad"].dense(
        g, data, gamma, mean, scale, variance, *unmoved, **how
    )


_MOVED = Op(_moved, name="_batch_norm_moved", mutates=("moving_mean", "moving_var"))
_SLOPES = Op(_slopes, name="_batch_norm_slopes", outputs=3)


@rewrites("_batch_norm_grad")
def _(node, inputs, known):
    g, data, gamma, mean, scale, variance, *moving = inputs
    attrs = dict(node.call.attrs)
    moved = Node(_MOVED.call(momentum=attrs.pop("momentum")), (mean, variance, *moving), "moved")
    known.learn((moved, 0), mean)
    whole = Node(_SLOPES.call(**attrs), (g, data, gamma, (moved, 0), scale, variance), "slopes")
    return [(whole, k) for k in range(3)]


@lowers("_batch_norm_slopes")
def _(g, x, gamma, mean, scale, variance, *, axis, fix_gamma):
    rank, times = len(x.shape), BINARY["mul"]
    axis %= rank
    others = [k for k in range(rank) if k != axis]
    count = float(elements(tuple([x.shape[k] for k in others])))
    wide = [_along(v, rank, axis) for v in (gamma, mean, scale, variance)]
    centred = mapped(BINARY["sub"], x, wide[1])
    along, by_beta = reduced(mapped(times, g, centred), others), reduced(g, others)
    by_gamma = mapped(times, along, scale)
    factor, middle = (
        _along(mapped(lambda v: v / count, v), rank, axis)
        for v in (mapped(times, by_gamma, scale), by_beta)
    )
    slope = wide[2] if fix_gamma else mapped(times, wide[2], wide[0])

    def through(g, c, f, m, s, v):
        return select(v.compare("olt", 0), g * s, (g - c * f - m) * s)

    by_x = mapped(through, g, centred, factor, middle, slope, wide[3], shape=x.shape)
    return by_x, full(0.0, gamma) if fix_gamma else by_gamma, by_beta


@lowers("Dropout", with_training=True)
def _(x, *, training, p, mode, **attrs):
    if p and (training or mode == "always"):
        raise Unsupported("random numbers")
    return x, full(1.0, x)


# ---- softmax


def _shifted(x, axis, temperature):
    if temperature not in (None, 1.0):
        x = mapped(lambda v: v / temperature, x)
    return mapped(BINARY["sub"], x, reduced(x, (axis % len(x.shape),), "max", True))


@lowers("softmax", "log_softmax", with_name=True)
def _(x, *others, name, axis, temperature, dtype, use_length):
    if use_length or dtype is not None:
        raise Unsupported("softmax with lengths or another type")
    shifted = _shifted(x, axis, temperature)
    axes = (axis % len(x.shape),)
    powers = mapped(exp, shifted)
    total = reduced(powers, axes, "sum", True)
    if name == "softmax":
        return mapped(BINARY["div"], powers, total)
    return mapped(BINARY["sub"], shifted, mapped(log, total))


@lowers("SoftmaxOutput")
def _(x, label, *, multi_output, preserve_shape, **attrs):
    if multi_output or (len(x.shape) != 2 and not preserve_shape):
        raise Unsupported("classes on other than the last axis")
    powers = mapped(exp, _shifted(x, -1, None))
    return mapped(BINARY["div"], powers, reduced(powers, (len(x.shape) - 1,), "sum", True))


@lowers("_softmax_output_grad")
def _(
    out, label, *, grad_scale, ignore_label, multi_output, use_ignore, preserve_shape,
    normalization, out_grad, smooth_alpha,
):  # fmt: skip
    if label.shape == out.shape:
        return mapped(lambda p, q: (p - q) * grad_scale, out, label)
    classes, count = out.shape[-1], elements(label.shape)
    if (
        multi_output or normalization == "valid" or elements(out.shape) != count * classes
        or (len(out.shape) != 2 and not preserve_shape)
    ):  # fmt: skip
        raise Unsupported("classes on other than the last axis, or a number of labels to count")
    rest = smooth_alpha / (classes - 1) if smooth_alpha else 0.0
    scale = grad_scale / (count if normalization == "batch" else 1)

    def slope(p, place, target):
        number = whole(target)
        result = p - rest if rest else p
        hit = 1 - smooth_alpha - rest if rest else 1.0
        result = select(place.compare("oeq", number), result - hit, result)
        if use_ignore:
            ignored = number.compare("oeq", float(int(ignore_label)))
            result = select(ignored, result.like(0), result)
        return result * scale if scale != 1 else result

    targets = reshaped(label, (*out.shape[:-1], 1))
    return mapped(slope, out, positions(out, len(out.shape) - 1), targets)


# ---- elements by their numbers


def _hits(x, index, axis, mode):
    """1 where the position along an axis is that of the index, else 0."""
    axis %= len(x.shape)
    size = x.shape[axis]
    if size > 1 << 20:
        raise Unsupported("more places than float32 can tell apart")

    def hit(place, number):
        number = whole(number)
        if mode == "wrap":
            number = number - UNARY["floor"](number / float(size)) * float(size)
        else:
            number = select(number.compare("ogt", 0), number, 0.0)
            number = minimum(number, float(size - 1))
        return truth(place.compare("oeq", number), place)

    kept = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    return mapped(hit, positions(x, axis), reshaped(index, kept))


@lowers("one_hot")
def _(index, *, depth, on_value, off_value, dtype):
    if np.dtype(dtype) not in KINDS or KINDS[np.dtype(dtype)] != index.kind or depth > 1 << 20:
        raise Unsupported(f"one_hot in {dtype} of {index.kind}")
    rank = len(index.shape)
    place = positions(Array("map", (*index.shape, depth), index.kind, (), 0.0), rank)
    return mapped(
        lambda p, v: select(p.compare("oeq", whole(v)), p.like(on_value), off_value),
        place,
        reshaped(index, (*index.shape, 1)),
    )


@lowers("pick", gives_shape=True)
def _(x, index, *, shape, axis, keepdims, mode):
    if axis is None:
        raise Unsupported("pick without an axis")
    hits = _hits(x, index, axis, mode)
    chosen = mapped(lambda h, v: select(h.compare("une", 0), v, 0.0), hits, x)
    return reshaped(reduced(chosen, (axis % len(x.shape),)), shape)


@lowers("_pick_grad")
def _(g, like, index, *, axis, mode):
    hits = _hits(like, index, axis, mode)
    axis %= len(like.shape)
    wide = reshaped(g, (*like.shape[:axis], 1, *like.shape[axis + 1 :]))
    return mapped(lambda h, v: select(h.compare("une", 0), v, 0.0), hits, wide)


@lowers("_regression_grad")
def _(out, label, *, kind, scale):
    if len(out.shape) != 1:
        scale /= elements(out.shape) // out.shape[0]
    difference = mapped(BINARY["sub"], out, reshaped(label, out.shape))
    if kind == "sign":  # as in MXNet the sign of 0 is -1
        return mapped(lambda v: select(v.compare("ogt", 0), v.like(scale), -scale), difference)
    return mapped(lambda v: v * scale, difference)


# ---- products of small matrices


def _product(a, b, transpose_a=False, transpose_b=False):
    rows = a.shape[1 if transpose_a else 0]
    work = rows * elements(b.shape)
    if work <= PRODUCT_LIMIT:
        return product(a, b, transpose_a, transpose_b)
    if work >= dense.FEWEST:
        raise Unsupported("a large product, which has a kernel")
    if blas.found() is None:
        raise Unsupported("a product for BLAS, which was not found")
    a = transposed(a, (1, 0)) if transpose_a else a
    return multiplied(a, transposed(b, (1, 0)) if transpose_b else b)


def _rows(x, flatten):
    if len(x.shape) == 2:
        return x
    width = elements(x.shape[1:]) if flatten else x.shape[-1]
    return reshaped(x, (elements(x.shape) // width, width))


@lowers("FullyConnected", gives_shape=True)
def _(data, weight, bias=None, *, shape, num_hidden, no_bias, flatten):
    result = _product(_rows(data, flatten), weight, transpose_b=True)
    if bias is not None:
        result = mapped(BINARY["add"], result, bias)
    return reshaped(result, shape)


@splits("FullyConnected")
def _(F, data, weight, bias=None, *, num_hidden, no_bias, flatten):
    result = F.FullyConnected(data, weight, num_hidden=num_hidden, no_bias=True, flatten=flatten)
    return result if bias is None else F.broadcast_add(result, bias)


@lowers("_fully_connected_data_grad")
def _(g, data, weight):
    return reshaped(_product(_rows(g, False), weight), data.shape)


@lowers("_fully_connected_weight_grad")
def _(g, data, *, flatten):
    return _product(_rows(g, False), _rows(data, flatten), transpose_a=True)


@lowers("dot")
def _(a, b, *, transpose_a, transpose_b, forward_stype):
    if len(a.shape) != 2 or len(b.shape) != 2 or forward_stype not in (None, "default"):
        raise Unsupported("dot of other than two matrices")
    return _product(a, b, transpose_a, transpose_b)


@lowers("batch_dot")
def _(a, b, *, transpose_a, transpose_b, forward_stype):
    rank = len(a.shape)
    swapped = [*range(rank - 2), rank - 1, rank - 2]
    a = transposed(a, swapped) if transpose_a else a
    b = b if transpose_b else transposed(b, swapped)
    stack, (n, k), m = a.shape[:-2], a.shape[-2:], b.shape[-2]
    if elements(stack) * n * k * m > PRODUCT_LIMIT:
        raise Unsupported("a product for BLAS")
    p, q = a.strides(), b.strides()
    left = viewed(a, (*stack, n, 1, k), (*p[:-1], 0, p[-1]))
    right = viewed(b, (*stack, 1, m, k), (*q[:-2], 0, *q[-2:]))
    return reduced(mapped(BINARY["mul"], left, right), (rank,))


@lowers("_dot_lhs_grad")
def _(g, a, b, *, transpose_a, transpose_b):
    if len(a.shape) != 2 or len(b.shape) != 2:
        raise Unsupported("dot of other than two matrices")
    return (
        _product(b, g, transpose_b, True) if transpose_a else _product(g, b, False, not transpose_b)
    )


@lowers("_dot_rhs_grad")
def _(g, a, b, *, transpose_a, transpose_b):
    if len(a.shape) != 2 or len(b.shape) != 2:
        raise Unsupported("dot of other than two matrices")
    return (
        _product(g, a, True, transpose_a) if transpose_b else _product(a, g, not transpose_a, False)
    )
