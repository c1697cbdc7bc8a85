"""Layers that only shape the gradient: the SVM loss and the sparseness penalty."""

from __future__ import annotations

import numpy as np

from ...core.infer import UnknownShape
from ...core.op import op
from .._shared import filled


@op()
def SVMOutput(
    data,
    label,
    *,
    margin: float = 1.0,
    regularization_coefficient: float = 1.0,
    use_linear: bool = False,
    out=None,
):
    """The data itself, with the gradient of the hinge loss of every class against the rest.

    Head gradients are ignored.

    Parameters
    ----------
    data : scores, (batch, classes).
    label : class numbers, (batch,).
    margin : scores of the right class are pushed above it, the others below its negative.
    regularization_coefficient : the factor of the gradient.
    use_linear : the hinge loss itself instead of its square.

    Examples
    --------
    >>> nd.SVMOutput(nd.array([[1, 2]]), nd.array([0])).asnumpy()
    array([[1., 2.]], dtype=float32)
    """
    return filled(np.array(data), out)


@SVMOutput.shape
def _(s, **_):
    s.data = s.out
    s.out = s.data
    if not isinstance(s.data, UnknownShape):
        s.label = s.data[:1]


@SVMOutput.grad
def _(F, g, data, label, *, out, **attrs):
    return F._svm_output_grad(out, label, **attrs), F.zeros_like(label)


@op()
def _svm_output_grad(
    out,
    label,
    *,
    margin: float = 1.0,
    regularization_coefficient: float = 1.0,
    use_linear: bool = False,
):
    """The gradient of the hinge loss, or of its square."""
    sign = np.where(np.arange(out.shape[1]) == label.astype(np.int64)[:, None], -1, 1)
    sign = sign.astype(out.dtype)
    short = np.maximum(out.dtype.type(margin) + sign * out, 0)
    slope = (short > 0).astype(out.dtype) if use_linear else 2 * short
    return sign * slope * out.dtype.type(regularization_coefficient)


@_svm_output_grad.shape
def _(s, **_):
    s.out = s.ins[0]


@_svm_output_grad.dtype
def _(t, **_):
    t.out = t.ins[0]


@op(mutates=("moving_avg",))
def IdentityAttachKLSparseReg(
    data,
    moving_avg,
    *,
    sparseness_target: float = 0.100000001,
    penalty: float = 0.00100000005,
    momentum: float = 0.899999976,
    training,
    out=None,
):
    """The data itself, with a gradient that keeps the mean activation of each unit small.

    In training ``moving_avg`` follows the means of the columns; the gradient gets that of the
    Kullback-Leibler divergence between ``sparseness_target`` and these means added. MXNet moves the
    means in the backward pass instead.

    Parameters
    ----------
    data : activations between 0 and 1, (batch, units).
    momentum : how much of ``moving_avg`` each batch keeps.
    """
    if training:
        moving_avg *= data.dtype.type(momentum)
        moving_avg += data.dtype.type(1 - momentum) * data.mean(axis=0)
    return filled(np.array(data), out)


@IdentityAttachKLSparseReg.shape
def _(s, **_):
    s.data = s.out
    s.out = s.data
    if not isinstance(s.data, UnknownShape):
        s.moving_avg = s.data[1:]


@IdentityAttachKLSparseReg.grad
def _(F, g, data, average, *, out, sparseness_target, penalty, momentum):
    return g + penalty * ((1 - sparseness_target) / (1 - average) - sparseness_target / average)
