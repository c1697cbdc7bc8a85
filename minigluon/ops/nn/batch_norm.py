"""Batch normalization, in its four spellings."""

from __future__ import annotations

import numpy as np

from ...base import DTypeError, MXNetError, ShapeError
from ...core.attributes import Count
from ...core.infer import UNKNOWN, UnknownShape
from ...core.op import op
from ...kernels import normalization as kernels
from ...kernels.convolution import widened
from ...kernels.normalization import batch_plane

_HALF = np.dtype(np.float16)


def _planar(data, axis):
    """Data as ``(before, channels, after)``, in single precision or better."""
    axis %= data.ndim
    before, after = data.shape[:axis], data.shape[axis + 1 :]
    shape = (int(np.prod(before)), data.shape[axis], int(np.prod(after)))
    return widened(data)[0].reshape(shape)


def _check_axis(name, shape, axis):
    if not -len(shape) <= axis < len(shape):
        raise ShapeError(
            f"{name}: Channel axis out of range: {axis}.\n  received  data {shape}, axis={axis}\n"
            f"  expected  an axis from {-len(shape)} to {len(shape) - 1}\n  fix       change axis"
        )


def _forward(name, arrays, training, *, eps, momentum, fix_gamma, use_global_stats, axis, **_):
    """(result, mean, reciprocal deviation, variance of the batch or -1 if it was not used)."""
    data, gamma, beta, moving_mean, moving_var = arrays
    _check_axis(name, data.shape, axis)
    _check_parameters(name, arrays, axis)
    x = _planar(data, axis)
    plane = batch_plane(x.shape[1])
    if training and not use_global_stats:
        mean, variance = kernels.moments(x, plane)
        of_batch = variance.ravel().astype(gamma.dtype)
    else:
        mean = moving_mean.reshape(plane.parameters).astype(np.float64)
        variance = moving_var.reshape(plane.parameters).astype(np.float64)
        of_batch = np.full(gamma.shape, -1, gamma.dtype)
    scale = 1 / np.sqrt(variance + eps)
    result = kernels.standardize(x, plane, mean, scale, None if fix_gamma else gamma, beta)
    result = result.astype(data.dtype, copy=False).reshape(data.shape)
    return result, *[v.ravel().astype(gamma.dtype) for v in (mean, scale)], of_batch


def _check_parameters(name, arrays, axis):
    data, *parameters = arrays
    dtype = np.dtype(np.float32) if data.dtype == _HALF else data.dtype
    for label, x in zip(("gamma", "beta", "moving_mean", "moving_var"), parameters, strict=True):
        if x.shape != (data.shape[axis],):
            raise ShapeError(f"{name}: {label} should have shape ({data.shape[axis]},)")
        if x.dtype != dtype:
            raise DTypeError(
                f"{name}: {label} has the wrong dtype: This layer requires uniform type.\n"
                f"  received  data {data.dtype}, {label} {x.dtype}\n"
                f"  expected  {label} in {dtype} (float32 for float16 data)\n"
                f"  fix       convert it with astype('{dtype}')"
            )


def _hidden(output_mean_var, **_):
    return 1 if output_mean_var else 3


def _shape_rule(name):
    def rule(s, *, axis=1, **_):
        data = s.data
        if isinstance(data, UnknownShape):
            return
        _check_axis(name, data, axis)
        axis %= len(data)
        parameters = ("gamma", "beta", "moving_mean", "moving_var")
        for label in parameters:
            setattr(s, label, (data[axis],))
        for label in parameters:
            s.data = (*[UNKNOWN] * axis, getattr(s, label)[0], *[UNKNOWN] * (len(data) - axis - 1))
        s.data = s.out
        channels = s.data[axis : axis + 1]
        s.outs = [s.data, channels, channels, channels]

    return rule


def _dtype_rule(t, **_):
    t.data = t.out
    t.out = t.data
    if t.data is not None:
        kept = np.dtype(np.float32) if t.data == _HALF else t.data
        t.ins = [None, kept, kept, kept, kept]
        t.outs = [None, kept, kept, kept]


def _gradient_rule(F, g, data, gamma, beta, moving_mean, moving_var, *, out, eps, **attrs):
    statistics = (out[1], out[2], out[3], moving_mean, moving_var)
    how = {n: attrs[n] for n in ("momentum", "fix_gamma") if n in attrs}
    axis = attrs.get("axis", 1)
    found = F._batch_norm_grad(g[0], data, gamma, *statistics, axis=axis, **how)
    return (*found, None, None)


def _finish(declared):
    """What all spellings share: rules, states, and the output that MXNet does not have."""
    declared.shape(_shape_rule(declared.name))
    declared.dtype(_dtype_rule)
    declared.unsaved = 1
    declared.starts = {"moving_mean": '["zero", {}]', "moving_var": '["one", {}]'}
    for place in range(5):
        stypes = ["default"] * place + ["csr|row_sparse"] + ["default|csr|row_sparse"] * (4 - place)
        declared.kernel(f"{' '.join(stypes)} -> default", when=lambda fix_gamma, **_: fix_gamma)(
            _refuse_sparse
        )
    return declared


def _refuse_sparse(*arrays, **_):
    raise MXNetError(
        "BatchNorm: fix_gamma=True is not supported for sparse ndarrays.\n"
        "  received  a csr or row_sparse array, fix_gamma=True\n"
        "  expected  dense arrays, or fix_gamma=False\n"
        "  fix       pass fix_gamma=False, or convert with tostype('default')"
    )


#: rows that only say no, for whoever lists what an operator can do
_refuse_sparse.refuses = True

_STATES = {
    "outputs": 4,
    "hidden_outputs": _hidden,
    "output_names": ("output", "mean", "var", "batch_var"),
    "mutates": ("moving_mean", "moving_var"),
}


@op(**_STATES)
def BatchNorm(
    data,
    gamma,
    beta,
    moving_mean,
    moving_var,
    *,
    eps: float = 0.0010000000474974513,
    momentum: float = 0.899999976,
    fix_gamma: bool = True,
    use_global_stats: bool = False,
    output_mean_var: bool = False,
    axis: int = 1,
    cudnn_off: bool = False,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    training,
):
    """``(x - mean) / sqrt(var + eps) * gamma + beta``, each channel by statistics of the batch.

    In training mean and variance are those of the batch, and the backward pass moves the auxiliary
    states: ``moving = momentum * moving + (1 - momentum) * batch``. Otherwise the states are used.
    That the backward pass and not the forward pass moves them is how MXNet does it on the CPU.

    Parameters
    ----------
    gamma, beta, moving_mean, moving_var : one number for each channel; float32 if data is float16.
    fix_gamma : take gamma as 1 and give it no gradient (MXNet also overwrites it with 1).
    use_global_stats : use the moving statistics in training too.
    output_mean_var : give the mean and ``1 / sqrt(var + eps)`` as well; they have no gradient.
    axis : where the channels are.

    Examples
    --------
    >>> x = nd.array([[1], [3]])
    >>> state = nd.zeros(1), nd.ones(1)
    >>> with mx.autograd.train_mode():
    ...     y = nd.BatchNorm(x, nd.ones(1), nd.zeros(1), *state)
    >>> y.asnumpy().round(2)
    array([[-1.],
           [ 1.]], dtype=float32)
    """
    arrays = (data, gamma, beta, moving_mean, moving_var)
    return _forward("BatchNorm", arrays, training, eps=eps, momentum=momentum, fix_gamma=fix_gamma,
                    use_global_stats=use_global_stats, axis=axis)  # fmt: skip


_finish(BatchNorm).grad(_gradient_rule)


@op(**_STATES)
def BatchNorm_v1(
    data,
    gamma,
    beta,
    moving_mean,
    moving_var,
    *,
    eps: float = 0.00100000005,
    momentum: float = 0.899999976,
    fix_gamma: bool = True,
    use_global_stats: bool = False,
    output_mean_var: bool = False,
    training,
):
    """``BatchNorm`` along axis 1, under its older name."""
    arrays = (data, gamma, beta, moving_mean, moving_var)
    return _forward("BatchNorm_v1", arrays, training, eps=eps, momentum=momentum, axis=1,
                    fix_gamma=fix_gamma, use_global_stats=use_global_stats)  # fmt: skip


_finish(BatchNorm_v1).grad(_gradient_rule)


@op(**_STATES)
def _contrib_SyncBatchNorm(
    data,
    gamma,
    beta,
    moving_mean,
    moving_var,
    *,
    eps: float = 0.00100000005,
    momentum: float = 0.899999976,
    fix_gamma: bool = True,
    use_global_stats: bool = False,
    output_mean_var: bool = False,
    ndev: Count = 1,
    key: str,
    training,
):
    """``BatchNorm`` along axis 1 of what one device sees.

    Statistics are not exchanged between devices: they are those of each device's own part of a
    batch, whatever ``ndev`` and ``key`` say.
    """
    arrays = (data, gamma, beta, moving_mean, moving_var)
    return _forward("SyncBatchNorm", arrays, training, eps=eps, momentum=momentum, axis=1,
                    fix_gamma=fix_gamma, use_global_stats=use_global_stats)  # fmt: skip


_finish(_contrib_SyncBatchNorm).grad(_gradient_rule)


@op(**{**_STATES, "output_names": ("output", "mean", "var", "batch_var")})
def _contrib_BatchNormWithReLU(
    data,
    gamma,
    beta,
    moving_mean,
    moving_var,
    *,
    eps: float = 0.0010000000474974513,
    momentum: float = 0.899999976,
    fix_gamma: bool = True,
    use_global_stats: bool = False,
    output_mean_var: bool = False,
    axis: int = 1,
    cudnn_off: bool = False,
    min_calib_range: float | None = None,
    max_calib_range: float | None = None,
    training,
):
    """``relu(BatchNorm(x))`` as one operator."""
    arrays = (data, gamma, beta, moving_mean, moving_var)
    result, *rest = _forward("BatchNormWithReLU", arrays, training, eps=eps, momentum=momentum,
                             fix_gamma=fix_gamma, use_global_stats=use_global_stats,
                             axis=axis)  # fmt: skip
    return np.maximum(result, result.dtype.type(0), out=result), *rest


@_finish(_contrib_BatchNormWithReLU).grad
def _(F, g, *inputs, out, **attrs):
    return _gradient_rule(F, (g[0] * (out[0] > 0),), *inputs, out=out, **attrs)


_contrib_BatchNormWithReLU.unsaved = 0  # MXNet's has a fourth output as well, a mask


@op(outputs=3, mutates=("moving_mean", "moving_var"))
def _batch_norm_grad(
    g, data, gamma, mean, scale, variance, moving_mean, moving_var, *, axis: int = 1,
    momentum: float = 0.9, fix_gamma: bool = True,
):  # fmt: skip
    """The gradients of BatchNorm for data, gamma and beta; moves the moving statistics."""
    constant = bool(variance.size) and variance[0] < 0
    if not constant:
        moving_mean *= moving_mean.dtype.type(momentum)
        moving_mean += mean * mean.dtype.type(1 - momentum)
        moving_var *= moving_var.dtype.type(momentum)
        moving_var += variance * variance.dtype.type(1 - momentum)
    incoming, x, plane, *statistics = _as_planes(g, data, mean, scale, axis)
    found = kernels.gradients(
        incoming, x, plane, *statistics, None if fix_gamma else gamma, constant
    )
    by_data = found[0].astype(data.dtype, copy=False).reshape(data.shape)
    by_gamma, by_beta = [v.ravel().astype(gamma.dtype) for v in found[1:]]
    return by_data, np.zeros_like(by_gamma) if fix_gamma else by_gamma, by_beta


def _as_planes(g, data, mean, scale, axis):
    incoming, x = _planar(g, axis), _planar(data, axis)
    plane = batch_plane(x.shape[1])
    return incoming, x, plane, mean.reshape(plane.parameters), scale.reshape(plane.parameters)


@_batch_norm_grad.shape
def _(s, **_):
    s.outs = [s.data, s.gamma, s.gamma]


@_batch_norm_grad.dtype
def _(t, **_):
    t.outs = [t.data, t.gamma, t.gamma]


@_batch_norm_grad.grad
def _(F, h, g, data, gamma, mean, scale, variance, *moving, out, axis, fix_gamma, **_):
    found = F._batch_norm_second(
        *h, g, data, gamma, mean, scale, variance, axis=axis, fix_gamma=fix_gamma
    )
    return (*found, None, None, None, None, None)


@op(outputs=3)
def _batch_norm_second(
    h, h_gamma, h_beta, g, data, gamma, mean, scale, variance, *, axis: int = 1,
    fix_gamma: bool = True,
):  # fmt: skip
    """The gradients of ``_batch_norm_grad`` for g, data and gamma."""
    constant = bool(variance.size) and variance[0] < 0
    incoming, x, plane, *statistics = _as_planes(g, data, mean, scale, axis)
    if fix_gamma:
        h_gamma = np.zeros_like(gamma)
    pushed = h if h.ndim == 0 else _planar(h, axis)
    by_g, by_data, by_gamma = kernels.second_gradients(
        pushed, h_gamma, h_beta, incoming, x, plane, *statistics, None if fix_gamma else gamma,
        constant,
    )  # fmt: skip
    by_g, by_data = [
        np.broadcast_to(v, x.shape).reshape(data.shape).astype(data.dtype) for v in (by_g, by_data)
    ]
    if fix_gamma:
        return by_g, by_data, np.zeros_like(gamma)
    return by_g, by_data, np.broadcast_to(by_gamma, plane.parameters).ravel().astype(gamma.dtype)


@_batch_norm_second.shape
def _(s, **_):
    s.outs = [s.data, s.data, s.gamma]


@_batch_norm_second.dtype
def _(t, **_):
    t.outs = [t.data, t.data, t.gamma]
