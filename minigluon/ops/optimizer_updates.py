"""Further optimizer steps, their mixed-precision forms, and those for many weights at a time.

A rule is a function ``step(weight, grad, *states, **attributes)`` that changes the states in place
and returns the new weight. From it come the operators: ``name`` itself; ``mp_name``, which works on
a float32 copy of a float16 weight; ``multi_name`` for several weights in one call.
"""

from __future__ import annotations

import math

import numpy as np

from ..base import ShapeError
from ..core.infer import UnknownShape
from ..core.op import op
from ..kernels import updates
from ._shared import filled
from ._signature import REQUIRED, with_signature

_LR = ("lr", "float", REQUIRED)
_WD = ("wd", "float", 0.0)
_RESCALE = ("rescale_grad", "float", 1.0)
_CLIP = ("clip_gradient", "float", -1.0)
_MOMENTUM = ("momentum", "float", 0.0)
_LAZY = ("lazy_update", "bool", True)
_BETAS = (("beta1", "float", 0.899999976), ("beta2", "float", 0.999000013))
_TAIL = (_WD, _RESCALE, _CLIP)


def _clipped(grad, limit):
    return np.clip(grad, -limit, limit) if limit >= 0 else grad


def _mix(state, share, value):
    """``state = share * state + (1 - share) * value``, in place."""
    state *= share
    state += (1 - share) * value


# ---- the rules


def _sgd(weight, grad, *, lazy_update=True, **attrs):
    return updates.sgd(weight, grad, np.empty_like(weight), **attrs)


def _sgd_mom(weight, grad, mom, *, lazy_update=True, **attrs):
    return updates.sgd_momentum(weight, grad, mom, np.empty_like(weight), **attrs)


def _nag_mom(weight, grad, mom, *, lr, momentum, wd, rescale_grad, clip_gradient):
    """Momentum as if the step had been made already (Nesterov).

    MXNet updates the weight first and then reads it for the decay in the state.
    """
    slope = _clipped(rescale_grad * grad, clip_gradient)
    mom *= momentum
    step = lr * (slope + wd * weight)
    weight = weight + momentum * (mom - step) - step
    mom -= lr * (slope + wd * weight)
    return weight


def _rmsprop(
    weight, grad, n, *, lr, gamma1, epsilon, wd, rescale_grad, clip_gradient, clip_weights
):  # fmt: skip
    slope = _clipped(rescale_grad * grad + wd * weight, clip_gradient)
    _mix(n, gamma1, slope * slope)
    return _clipped(weight - lr * slope / np.sqrt(n + epsilon), clip_weights or -1)


def _rmspropalex(
    weight, grad, n, g, delta, *, lr, gamma1, gamma2, epsilon, wd, rescale_grad, clip_gradient,
    clip_weights,
):  # fmt: skip
    slope = _clipped(rescale_grad * grad + wd * weight, clip_gradient)
    _mix(n, gamma1, slope * slope)
    _mix(g, gamma1, slope)
    delta *= gamma2
    delta -= lr * slope / np.sqrt(n - g * g + epsilon)
    return _clipped(weight + delta, clip_weights or -1)


def _ftml(weight, grad, d, v, z, *, lr, beta1, beta2, epsilon, t, wd, rescale_grad, clip_grad):
    slope = _clipped(rescale_grad * grad + wd * weight, clip_grad)
    _mix(v, beta2, slope * slope)
    new = (1 - beta1**t) / lr * (np.sqrt(v / (1 - beta2**t)) + epsilon)
    z *= beta1
    z += (1 - beta1) * slope - (new - beta1 * d) * weight
    d[...] = new
    return -z / d


def _signsgd(weight, grad, *, lr, wd, rescale_grad, clip_gradient):
    return (1 - lr * wd) * weight - lr * np.sign(grad)


def _signum(weight, grad, mom, *, lr, momentum, wd, rescale_grad, clip_gradient, wd_lh):
    slope = _clipped(rescale_grad * grad, clip_gradient) + wd * weight
    mom *= momentum
    mom -= (1 - momentum) * slope
    return (1 - lr * wd_lh) * weight + lr * np.sign(mom)


def _lamb_direction(
    weight, grad, mean, var, *, beta1, beta2, epsilon, t, bias_correction, wd, rescale_grad,
    clip_gradient,
):  # fmt: skip
    slope = _clipped(rescale_grad * grad, clip_gradient)
    _mix(mean, beta1, slope)
    _mix(var, beta2, slope * slope)
    first, second = mean, var
    if bias_correction:
        first, second = mean / (1 - beta1**t), var / (1 - beta2**t)
    return first / (np.sqrt(second) + epsilon) + wd * weight


def _lamb_step(weight, direction, weight_norm, direction_norm, lr, lower_bound, upper_bound):
    if lower_bound >= 0:
        weight_norm = max(weight_norm, lower_bound)
    if upper_bound >= 0:
        weight_norm = min(weight_norm, upper_bound)
    ratio = weight_norm / direction_norm if weight_norm and direction_norm else 1.0
    return weight - (lr * ratio) * direction


def _lamb(weight, grad, mean, var, *, lr, lower_bound, upper_bound, **attrs):
    direction = _lamb_direction(weight, grad, mean, var, **attrs)
    norms = [float(np.sqrt(np.vdot(x, x))) for x in (weight, direction)]
    return _lamb_step(weight, direction, *norms, lr, lower_bound, upper_bound)


def _adamw(
    weight, grad, mean, var, *, lr, beta1, beta2, epsilon, wd, eta, clip_gradient, rescale_grad
):  # fmt: skip
    """Adam with the decay outside of the means; nothing changes if the scale is not finite or 0."""
    if not np.isfinite(rescale_grad) or rescale_grad == 0:
        return weight.copy()
    slope = _clipped(rescale_grad * grad, clip_gradient)
    _mix(mean, beta1, slope)
    _mix(var, beta2, slope * slope)
    return weight - eta * (lr * mean / (np.sqrt(var) + epsilon) + wd * weight)


# ---- operators of one weight


def _checked(name, weight, others):
    for x in others:
        if x.shape != weight.shape:
            raise ShapeError(
                f"{name}: the arrays have different shapes.\n"
                f"  received  weight {weight.shape} and {x.shape}\n"
                "  expected  weight, grad and states in one shape\n"
                "  fix       pass the gradient and the states that belong to this weight"
            )


def _run(step, weight, grad, states, attrs):
    """A step, float16 computed in float32 and rounded once."""
    if weight.dtype != np.float16:
        return step(weight, grad, *states, **attrs)
    wide = [x.astype(np.float32) for x in states]
    result = step(weight.astype(np.float32), grad.astype(np.float32), *wide, **attrs)
    for state, new in zip(states, wide, strict=True):
        state[...] = new
    return result.astype(weight.dtype)


def _run_mixed(step, weight, grad, states, attrs):
    """A step on the float32 copy of the weight, which comes last among the states."""
    *states, wide = states
    wide[...] = step(wide, grad.astype(np.float32), *states, **attrs)
    return wide.astype(weight.dtype)


def _same_shape(s, **_):
    for shape in (*s.ins, s.out):
        s.ins = [shape] * len(s.ins)
        s.out = shape


def _same_dtype(t, /, **_):
    for dtype in (*t.ins, t.out):
        if dtype is not None:
            t.ins = [dtype] * len(t.ins)
            t.out = dtype


def _mixed_dtype(t, /, **_):
    t.out = t.weight
    t.weight = t.out
    t.grad = t.weight
    for k in range(2, len(t.ins)):
        t.state(("in", k), np.float32)


def _declare(name, step, states, attributes, title):
    """The operator of a rule; under ``mp_...`` the one that also takes ``weight32``."""
    mixed = name.startswith("mp_")
    states = (*states, "weight32") if mixed else states
    run = _run_mixed if mixed else _run

    def kernel(weight, grad, *held, **attrs):
        _checked(name, weight, (grad, *held))
        return run(step, weight, grad, held, attrs)

    change = f"; {', '.join(states)} change in place" if states else ""
    doc = f"{title}\n\n    The new weight goes to ``out``{change}.\n"
    if mixed:
        doc += "\n    Computed on ``weight32``, the float32 copy of a weight of less precision.\n"
    made = op(
        with_signature(kernel, name, doc, ("weight", "grad", *states), attributes), mutates=states
    )
    made.shape(_same_shape)
    made.dtype(_mixed_dtype if mixed else _same_dtype)
    return made


_LAMB = (
    *_BETAS, ("epsilon", "float", 9.99999997e-07), ("t", "int", REQUIRED),
    ("bias_correction", "bool", True), ("wd", "float", REQUIRED), _RESCALE, _CLIP,
)  # fmt: skip
_WEIGHT_CLIP = ("clip_weights", "float", -1.0)
_EPSILON = ("epsilon", "float", 9.99999994e-09)
_GAMMA1 = ("gamma1", "float", 0.949999988)
_SGD_TITLE = "Stochastic gradient descent: ``w - lr * (clip(rescale_grad * g) + wd * w)``."
_MOM_TITLE = (
    "SGD with momentum: ``m = momentum * m - lr * (clip(rescale_grad * g) + wd * w)``, ``w + m``."
)
_NAG_TITLE = (
    "Nesterov's momentum: a step from where momentum alone would lead.\n\n"
    "    ``s = clip(rescale_grad * g) + wd * w``, ``m = momentum * m - lr * s``,\n"
    "    ``w + momentum * m - lr * s``; the state keeps the decay of the new weight, as in MXNet."
)
_LAMB_TITLE = (
    "The direction of a step of LAMB (You et al., 2020).\n\n"
    "    ``mean / (sqrt(var) + epsilon) + wd * w``, the means corrected for their start at ``t``."
)

_RULES = (
    ("mp_sgd_update", _sgd, (), (_LR, *_TAIL, _LAZY), _SGD_TITLE),
    ("mp_sgd_mom_update", _sgd_mom, ("mom",), (_LR, _MOMENTUM, *_TAIL, _LAZY), _MOM_TITLE),
    ("nag_mom_update", _nag_mom, ("mom",), (_LR, _MOMENTUM, *_TAIL), _NAG_TITLE),
    ("mp_nag_mom_update", _nag_mom, ("mom",), (_LR, _MOMENTUM, *_TAIL), _NAG_TITLE),
    (
        "rmsprop_update", _rmsprop, ("n",), (_LR, _GAMMA1, _EPSILON, *_TAIL, _WEIGHT_CLIP),
        "RMSProp (Tieleman & Hinton, 2012).\n\n"
        "    ``n = gamma1 * n + (1 - gamma1) * g * g``, ``w - lr * g / sqrt(n + epsilon)``;\n"
        "    weight decay is a part of g.",
    ),
    (
        "rmspropalex_update", _rmspropalex, ("n", "g", "delta"),
        (_LR, _GAMMA1, ("gamma2", "float", 0.899999976), _EPSILON, *_TAIL, _WEIGHT_CLIP),
        "RMSProp with centred variance and momentum (Graves, 2013), equations 38 to 45.",
    ),
    (
        "ftml_update", _ftml, ("d", "v", "z"),
        (
            _LR, ("beta1", "float", 0.600000024), _BETAS[1],
            ("epsilon", "float", 9.9999999392252903e-09), ("t", "int", REQUIRED), _WD, _RESCALE,
            ("clip_grad", "float", -1.0),
        ),
        "Follow the moving leader (Zheng & Kwok, 2017) at step ``t``.",
    ),
    (
        "signsgd_update", _signsgd, (), (_LR, *_TAIL),
        "SGD by signs (Bernstein et al., 2018): ``(1 - lr * wd) * w - lr * sign(g)``.",
    ),
    (
        "signum_update", _signum, ("mom",), (_LR, _MOMENTUM, *_TAIL, ("wd_lh", "float", 0.0)),
        "The sign of the momentum: ``(1 - lr * wd_lh) * w + lr * sign(m)``.",
    ),
    ("lamb_update_phase1", _lamb_direction, ("mean", "var"), _LAMB, _LAMB_TITLE),
)  # fmt: skip

for _rule in _RULES:
    _declare(*_rule)


def _declare_lamb_phases():
    def kernel(weight, grad, mean, var, weight32, **attrs):
        _checked("mp_lamb_update_phase1", weight, (grad, mean, var, weight32))
        return _lamb_direction(weight32, grad.astype(np.float32), mean, var, **attrs)

    doc = f"{_LAMB_TITLE}\n\nComputed from ``weight32`` and given as float32."
    arrays = ("weight", "grad", "mean", "var", "weight32")
    made = op(
        with_signature(kernel, "mp_lamb_update_phase1", doc, arrays, _LAMB),
        mutates=("mean", "var"),
    )
    made.shape(_same_shape)

    @made.dtype
    def _(t, /, **_):
        t.grad = t.weight
        t.mean = t.var = t.weight32 = t.out = np.float32


_declare_lamb_phases()


def _norms_are_numbers(s, **_):
    arrays = ("weight", "g", "weight32") if "weight32" in s else ("weight", "g")
    for shape in (*[getattr(s, n) for n in arrays], s.out):
        for name in arrays:
            setattr(s, name, shape)
        s.out = shape
    s.r1 = s.r2 = (1,)


@op()
def lamb_update_phase2(
    weight, g, r1, r2, *, lr: float, lower_bound: float = -1.0, upper_bound: float = -1.0
):
    """The step of LAMB: ``w - lr * (r1 / r2) * g``; the ratio is 1 where a norm is 0.

    Parameters
    ----------
    g : the direction that ``lamb_update_phase1`` gives.
    r1, r2 : the norms of the weight and of the direction.
    lower_bound, upper_bound : limits of ``r1``; negative ones do not limit.
    """
    _checked("lamb_update_phase2", weight, (g,))
    return _lamb_step(weight, g, float(r1[0]), float(r2[0]), lr, lower_bound, upper_bound)


lamb_update_phase2.shape(_norms_are_numbers)


@op(mutates=("weight32",))
def mp_lamb_update_phase2(
    weight, g, r1, r2, weight32, *, lr: float, lower_bound: float = -1.0, upper_bound: float = -1.0
):
    """The step of LAMB on ``weight32``, which changes in place; the weight is rounded from it."""
    _checked("mp_lamb_update_phase2", weight, (g, weight32))
    norms = float(r1[0]), float(r2[0])
    weight32[...] = _lamb_step(weight32, g, *norms, lr, lower_bound, upper_bound)
    return weight32.astype(weight.dtype)


mp_lamb_update_phase2.shape(_norms_are_numbers)


@mp_lamb_update_phase2.dtype
def _(t, **_):
    t.out = t.weight
    t.weight = t.out
    t.g = t.r1 = t.r2 = t.weight32 = np.float32


_ADAMW = (_LR, *_BETAS, _EPSILON, _WD, ("eta", "float", REQUIRED), _CLIP)


def _declare_adamw(name, mixed):
    states = ("mean", "var", "weight32") if mixed else ("mean", "var")
    run = _run_mixed if mixed else _run

    def kernel(weight, grad, *held, **attrs):
        *held, scale = held
        _checked(name, weight, (grad, *held))
        attrs["rescale_grad"] = float(scale.reshape(-1)[0])
        return run(_adamw, weight, grad, held, attrs)

    doc = f"""Adam with decoupled weight decay (Loshchilov & Hutter, 2019).

    ``w - eta * (lr * mean / (sqrt(var) + epsilon) + wd * w)``; {", ".join(states)} change in place.

    Parameters
    ----------
    rescale_grad : an array of one number; nothing happens if it is 0 or not finite.
    """
    made = op(
        with_signature(kernel, name, doc, ("weight", "grad", *states, "rescale_grad"), _ADAMW),
        mutates=states,
    )

    @made.shape
    def _(s, **_):
        for shape in (*s.ins[:-1], s.out):
            for k in range(len(s.ins) - 1):
                s.state(("in", k), shape)
            s.out = shape
        s.rescale_grad = (1,)

    @made.dtype
    def _(t, **_):
        t.out = t.weight
        t.weight = t.out
        t.grad = t.weight
        for name in states:
            setattr(t, name, np.float32 if mixed else t.weight)
        t.rescale_grad = np.float32


_declare_adamw("_adamw_update", False)
_declare_adamw("_mp_adamw_update", True)


# ---- many weights at a time


def _groups(data, count, size):
    return [data[k * size : (k + 1) * size] for k in range(count)]


def _declare_multi(name, step, size, attributes, each, *, mixed=False, count="num_weights", tail=0):
    """An operator on ``count`` groups of ``size`` arrays: weight, grad, states.

    ``each`` maps attributes of the rule to the attribute that lists their values; with ``tail``
    the last arrays hold such values instead: those of ``each`` in order, or one scale for all.
    """
    run = _run_mixed if mixed else _run

    def kernel(*data, **attrs):
        number = attrs.pop(count)
        data, extra = (data[:-tail], data[-tail:]) if tail else (data, ())
        if len(data) != number * size:
            raise ShapeError(
                f"{name}: the number of arrays does not fit.\n  received  {len(data)} arrays\n"
                f"  expected  {number * size}: {size} for each of {count}={number} weights\n"
                "  fix       pass weight, grad and states of one weight after the other"
            )
        if tail == len(each):
            values = dict(zip(each, [x.reshape(-1).tolist() for x in extra], strict=True))
        else:
            values = {inner: attrs.pop(outer) for inner, outer in each.items()}
            if tail:
                attrs["rescale_grad"] = float(extra[0].reshape(-1)[0])
        results = []
        for k, (weight, grad, *states) in enumerate(_groups(data, number, size)):
            _checked(name, weight, (grad, *states))
            own = {inner: listed[k] for inner, listed in values.items()}
            results.append(run(step, weight, grad, states, {**attrs, **own}))
        return tuple(results) if number > 1 else results[0]

    rule = step.__name__.lstrip("_")
    doc = f"""The step of ``{rule}`` for several weights: for each, its arrays one after the other.

    The new weights go to ``out``, a list; states (and float32 copies) change in place.
    """
    made = op(
        with_signature(kernel, name, doc, ("data",), attributes, variadic=True),
        outputs=lambda **attrs: attrs[count],
    )

    @made.shape
    def _(s, **attrs):
        shapes = s.ins
        for k, group in enumerate(_groups(shapes, attrs[count], size)):
            for shape in group:
                if not isinstance(shape, UnknownShape):
                    for j in range(size):
                        s.state(("in", k * size + j), shape)
                    s.state(("out", k), shape)

    @made.dtype
    def _(t, **attrs):
        for k, group in enumerate(_groups(t.ins, attrs[count], size)):
            t.state(("out", k), group[0])


_EACH = {"lr": "lrs", "wd": "wds"}
_LISTS = (("lrs", "Floats", REQUIRED), ("wds", "Floats", REQUIRED))
_COUNT = ("num_weights", "int", 1)

for _name, _step, _size, _own in (
    ("sgd_update", _sgd, 2, ()),
    ("sgd_mom_update", _sgd_mom, 3, (_MOMENTUM,)),
):
    for _mixed in (False, True):
        _full = ("mp_" if _mixed else "") + _name
        _shared = (*_own, _RESCALE, _CLIP, _COUNT)
        _declare_multi(
            f"multi_{_full}", _step, _size + _mixed, (*_LISTS, *_shared), _EACH, mixed=_mixed
        )
        _declare_multi(
            f"preloaded_multi_{_full}", _step, _size + _mixed, _shared, _EACH, mixed=_mixed, tail=2
        )

for _mixed in (False, True):
    _declare_multi(
        "_multi_mp_adamw_update" if _mixed else "_multi_adamw_update",
        _adamw,
        4 + _mixed,
        (
            _LISTS[0], *_BETAS, _EPSILON, _LISTS[1], ("etas", "Floats", REQUIRED), _CLIP, _COUNT,
        ),
        {**_EACH, "eta": "etas"},
        mixed=_mixed,
        tail=1,
    )  # fmt: skip
    _declare_multi(
        "_multi_mp_lamb_update" if _mixed else "_multi_lamb_update",
        _lamb,
        4 + _mixed,
        (
            ("learning_rates", "Floats", REQUIRED), *_BETAS, ("epsilon", "float", 9.99999997e-07),
            _LISTS[1], _RESCALE, ("lower_bound", "float", -1.0), ("upper_bound", "float", -1.0),
            _CLIP, ("bias_correction", "bool", True), ("step_count", "Shape", REQUIRED),
            ("num_tensors", "int", 1),
        ),
        {"lr": "learning_rates", "wd": "wds", "t": "step_count"},
        mixed=_mixed,
        count="num_tensors",
    )  # fmt: skip


@op()
def multi_lars(
    lrs, weights_sum_sq, grads_sum_sq, wds, *, eta: float, eps: float, rescale_grad: float = 1.0
):
    """Learning rates of layers by LARS (You et al., 2017), from the norms of weights and gradients.

    ``lr * eta * |w| / (rescale_grad * |g| + wd * |w| + eps)``, or ``lr`` where a norm is 0.

    Examples
    --------
    >>> one = nd.ones(1)
    >>> nd.multi_lars(one, one, one, one * 0, eta=0.5, eps=0).asnumpy()
    array([0.5], dtype=float32)
    """
    weights, grads = np.sqrt(weights_sum_sq), np.sqrt(grads_sum_sq)
    both = (weights > 0) & (grads > 0)
    down = rescale_grad * grads + wds * weights + eps
    scaled = np.divide(eta * weights, down, out=np.ones_like(lrs), where=both)
    return lrs * scaled


multi_lars.shape(_same_shape)


def _rows_step(weight, grad, history, lr, rescale_grad, clip_gradient, epsilon):
    """The new rows and the new history of rows."""
    slope = _clipped(rescale_grad * grad, clip_gradient)
    squares = (slope * slope).mean(axis=tuple(range(1, slope.ndim)))
    history = history + squares.reshape(history.shape)
    root = np.sqrt(history + epsilon).reshape(-1, *[1] * (slope.ndim - 1))
    return weight - lr * slope / root, history


@op(mutates=("history",), inplace=True)
def _contrib_group_adagrad_update(
    weight,
    grad,
    history,
    *,
    lr: float,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    epsilon: float = 9.99999975e-06,
    out=None,
):
    """AdaGrad with one step size a row: ``h += mean(g * g)``, ``w - lr * g / sqrt(h + epsilon)``.

    ``history`` (rows, 1) changes in place. With a row_sparse gradient only its rows change.
    """
    _check_rows(weight, grad, history)
    result, history[...] = _rows_step(
        weight, grad, history, lr, rescale_grad, clip_gradient, epsilon
    )
    return filled(result, out)


def _check_rows(weight, grad, history):
    _checked("group_adagrad_update", weight, (grad,))
    if history.shape[0] != weight.shape[0] or math.prod(history.shape) != weight.shape[0]:
        raise ShapeError(
            f"group_adagrad_update: history has the wrong shape.\n  received  {history.shape}\n"
            f"  expected  {(weight.shape[0], 1)}, one number for each row of the weight\n"
            "  fix       create the state with such a shape"
        )


@_contrib_group_adagrad_update.kernel("default row_sparse default -> default")
@_contrib_group_adagrad_update.kernel("row_sparse row_sparse row_sparse -> row_sparse")
def _(weight, grad, history, *, out=None, **attrs):
    _check_rows(weight, grad, history)
    if out is not weight:
        weight = weight.copy()
    results = updates.group_adagrad_rows(weight, grad, history, **attrs)
    for held, new in zip((weight, history), results, strict=True):
        if new is not held:  # rows were added
            held.assign(new)
    return weight


@_contrib_group_adagrad_update.shape
def _(s, **_):
    for shape in (s.weight, s.grad, s.out):
        s.weight = s.grad = s.out = shape
    if not isinstance(s.weight, UnknownShape):
        s.history = (s.weight[0], 1)


_contrib_group_adagrad_update.dtype(_same_dtype)
