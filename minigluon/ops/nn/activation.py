"""Activation functions chosen by a word: Activation and LeakyReLU."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from ...core.infer import UnknownShape, same_as
from ...core.op import op, registry
from .._shared import floating

#: act_type -> the operator that does it
_ACTIVATIONS = {
    "relu": "relu",
    "sigmoid": "sigmoid",
    "softrelu": "_softrelu",
    "softsign": "softsign",
    "tanh": "tanh",
}

#: the constants of Klambauer et al. (2017), Self-Normalizing Neural Networks
SELU_SCALE, SELU_ALPHA = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717


@op()
def _softrelu(data, *, out=None):
    """Elementwise ``log(1 + exp(x))``, without overflow."""
    return np.logaddexp(data, data.dtype.type(0), out=out)


_softrelu.shape(same_as("data"))


@_softrelu.grad
def _(F, g, data, *, out):
    return g * F.sigmoid(data)


@op(aliases=("_npx_activation",))
def Activation(
    data, *, act_type: Literal["relu", "sigmoid", "softrelu", "softsign", "tanh"], out=None
):
    """An elementwise activation function.

    Parameters
    ----------
    act_type : ``relu`` max(x, 0), ``sigmoid`` 1/(1+exp(-x)), ``softrelu`` log(1+exp(x)),
        ``softsign`` x/(1+abs(x)), ``tanh``.

    Examples
    --------
    >>> nd.Activation(nd.array([-1.0, 2.0]), act_type="relu").asnumpy()
    array([0., 2.], dtype=float32)
    """
    return registry[_ACTIVATIONS[act_type]].dense(floating(data, "Activation"), out=out)


@Activation.prepare
def _(act_type):
    kernel = registry[_ACTIVATIONS[act_type]].dense
    return lambda data, *, out=None: kernel(floating(data, "Activation"), out=out)


Activation.shape(same_as("data"))


@Activation.grad
def _(F, g, data, *, out, act_type):
    if act_type == "relu":
        return g * F.sign(out)
    if act_type == "sigmoid":
        return g * (out * (1 - out))
    if act_type == "tanh":
        return g * (1 - F.square(out))
    if act_type == "softrelu":
        return g * (1 - F.exp(-out))
    return g / F.square(F.abs(data) + 1)


Activation.grad(stype="default")
Activation.runs_dense("default -> default")


def _random_slope(act_type, **_):
    return 1 if act_type == "rrelu" else 0


@op(
    aliases=("_npx_leaky_relu",),
    outputs=lambda act_type, **_: 1 + _random_slope(act_type),
    output_names=lambda act_type, **_: ("output", "mask")[: 1 + _random_slope(act_type)],
)
def LeakyReLU(
    data,
    gamma=None,
    *,
    act_type: Literal["elu", "gelu", "leaky", "prelu", "rrelu", "selu"] = "leaky",
    slope: float = 0.25,
    lower_bound: float = 0.125,
    upper_bound: float = 0.333999991,
    rng,
    training,
):
    """Activations that let something through below zero.

    Parameters
    ----------
    gamma : the learned slopes of ``prelu``: one, or one for each channel (axis 1).
    act_type : ``leaky`` x*slope below 0, ``prelu`` x*gamma, ``elu`` slope*(exp(x)-1), ``selu`` elu
        scaled to keep unit variance, ``gelu`` x times the normal distribution function, ``rrelu``
        a slope drawn between the bounds in training and their mean otherwise; its second output
        holds the slopes.

    Examples
    --------
    >>> nd.LeakyReLU(nd.array([-4.0, 2.0]), act_type="leaky").asnumpy()
    array([-1.,  2.], dtype=float32)
    """
    if (gamma is None) is (act_type == "prelu"):
        raise ValueError("gamma goes with prelu and with nothing else")
    number = floating(data, "LeakyReLU").dtype.type
    if act_type == "gelu":
        return data * number(0.5) * (number(1) + registry["erf"].dense(data * number(0.5**0.5)))
    above = data > 0
    if act_type == "elu":
        return np.where(above, data, number(slope) * np.expm1(np.minimum(data, number(0))))
    if act_type == "selu":
        low = number(SELU_ALPHA) * np.expm1(np.minimum(data, number(0)))
        return number(SELU_SCALE) * np.where(above, data, low)
    if act_type == "prelu":
        return np.where(above, data, data * _by_channel(gamma, data.ndim))
    if act_type == "rrelu":
        if training:
            drawn = rng.uniform(lower_bound, upper_bound, data.shape).astype(data.dtype)
        else:
            drawn = np.full(data.shape, (lower_bound + upper_bound) / 2, data.dtype)
        slopes = np.where(above, number(1), drawn)
        return data * slopes, slopes
    return np.where(above, data, data * number(slope))


def _by_channel(gamma, ndim):
    """Slopes shaped so that they broadcast along axis 1."""
    if gamma.size == 1:
        return gamma.reshape(())
    return gamma.reshape(-1, *[1] * (ndim - 2)) if ndim > 1 else gamma


@LeakyReLU.input_names
def _(act_type, **_):
    return ("data", "gamma") if act_type == "prelu" else ("data",)


@LeakyReLU.shape
def _(s, *, act_type, **_):
    for _round in range(2):
        s.outs = [s.data] * len(s.outs)
        s.data = s.out
    data = s.data
    if (
        act_type == "prelu"
        and not isinstance(data, UnknownShape)
        and isinstance(s.gamma, UnknownShape)
    ):
        s.gamma = (data[1] if len(data) > 1 else data[0],)


@LeakyReLU.grad
def _(F, g, data, gamma=None, *, out, act_type, slope, **_):
    if act_type == "rrelu":
        return g[0] * out[1]
    if act_type == "gelu":
        cdf = (F.erf(data * 0.5**0.5) + 1) * 0.5
        return g * (cdf + data * F.exp(F.square(data) * -0.5) * (0.5 / math.pi) ** 0.5)
    above = data > 0
    if act_type == "prelu":
        grad = F.where(above, g, g * F._leaky_slopes(gamma, data))
        return grad, F._prelu_gamma_grad(F.where(above, F.zeros_like(g), g * data), gamma)
    if act_type == "elu":
        return F.where(above, g, g * (out + slope))
    if act_type == "selu":
        return F.where(above, g * SELU_SCALE, g * (out + SELU_SCALE * SELU_ALPHA))
    return F.where(above, g, g * slope)


LeakyReLU.starts = {"gamma": '["Constant", {"value": 0.25}]'}
LeakyReLU.grad(stype="default")
LeakyReLU.runs_dense("default -> default")


@op(shape_only=("like",))
def _leaky_slopes(gamma, like, *, out=None):
    """PReLU's slopes in the shape of the data they multiply."""
    return np.array(np.broadcast_to(_by_channel(gamma, like.ndim), like.shape))


_leaky_slopes.shape(lambda s: setattr(s, "out", s.like))


@_leaky_slopes.grad
def _(F, h, gamma, like, *, out):
    return F._prelu_gamma_grad(h, gamma), None


@op(shape_only=("gamma",))
def _prelu_gamma_grad(g, gamma, *, out=None):
    """``g`` summed over everything but the channel, or over everything for a single slope."""
    if gamma.shape in ((), (1,)):
        return np.add.reduce(g, axis=None).reshape(gamma.shape)
    axes = tuple([k for k in range(g.ndim) if k != 1]) if g.ndim > 1 else ()
    return np.add.reduce(g, axis=axes).reshape(gamma.shape)


_prelu_gamma_grad.shape(lambda s: setattr(s, "out", s.gamma))


@_prelu_gamma_grad.grad
def _(F, h, g, gamma, *, out):
    return F._leaky_slopes(h, g), None
