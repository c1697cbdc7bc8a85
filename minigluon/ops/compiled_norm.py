"""How normalization and dropout are compiled."""

from __future__ import annotations

from ..core.graph import Node
from ..core.op import Op, registry
from ..core.plan.fuse import lowers
from ..core.plan.loops import (
    cast,
    elements,
    full,
    mapped,
    reduced,
    reshaped,
)
from ..core.plan.simplify import rewrites
from ..kernels.scalar import (
    BINARY,
    DOUBLE,
    UNARY,
    Unsupported,
    select,
)


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
