"""How operators are compiled: what each of them is as maps, reductions and views of arrays.

An operator that is not here or in the modules beside, or refuses with `Unsupported`, stays the
kernel it is; plans then call it between their compiled parts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.plan.fuse import lowers
from ..core.plan.loops import (
    KINDS,
    Array,
    cast,
    copied,
    elements,
    full,
    mapped,
    positions,
    reduced,
    reshaped,
)
from ..kernels.scalar import (
    BINARY,
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


@lowers("_copyto")
def _(x):
    return copied(x)


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
