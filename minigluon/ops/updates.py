"""One step of an optimizer as an operator; states change in place, weights go to ``out``."""

from __future__ import annotations

from functools import partial

import numpy as np

from ..base import ShapeError
from ..core.op import op
from ..kernels import csr, updates
from ..storage import Csr


def _checked(name, weight, *others):
    """Refuse arrays of other shapes before anything is written: compiled loops do not look."""
    for x in others:
        if x is not None and x.shape != weight.shape:
            raise ShapeError(
                f"{name}: the arrays have different shapes.\n"
                f"  received  weight {weight.shape} and {x.shape}\n"
                "  expected  weight, grad, states and out in one shape\n"
                "  fix       pass the gradient and the states that belong to this weight"
            )


def _into(name, out, weight, *others):
    """Where the new weight goes, once all shapes are seen to agree."""
    _checked(name, weight, out, *others)
    return np.empty_like(weight) if out is None else out


@op(aliases=("_sparse_sgd_update",), inplace=True)
def sgd_update(
    weight,
    grad,
    *,
    lr: float,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
    out=None,
):
    """Stochastic gradient descent: ``w - lr * (clip(rescale_grad * g) + wd * w)``.

    With a row_sparse gradient and ``lazy_update`` only its rows change, weight decay included.

    Parameters
    ----------
    out : where the new weight goes; the weight itself for a step in place.
    clip_gradient : gradients are limited to ``[-clip, clip]``; negative: not at all.

    Examples
    --------
    >>> w = nd.ones(2)
    >>> nd.sgd_update(w, nd.ones(2), lr=0.5, out=w).asnumpy()
    array([0.5, 0.5], dtype=float32)
    """
    return updates.sgd(
        weight, grad, _into("sgd_update", out, weight, grad),
        lr=lr, wd=wd, rescale_grad=rescale_grad, clip_gradient=clip_gradient,
    )  # fmt: skip


@op(aliases=("_sparse_sgd_mom_update",), mutates=("mom",), inplace=True)
def sgd_mom_update(
    weight,
    grad,
    mom,
    *,
    lr: float,
    momentum: float = 0.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
    out=None,
):
    """SGD with momentum: ``m = momentum * m - lr * (clip(rescale_grad * g) + wd * w)``, ``w + m``.

    ``mom`` changes in place. Lazily, rows absent from a row_sparse gradient keep weight and state.

    Examples
    --------
    >>> w, m = nd.ones(2), nd.zeros(2)
    >>> nd.sgd_mom_update(w, nd.ones(2), m, lr=0.5, momentum=0.9, out=w).asnumpy()
    array([0.5, 0.5], dtype=float32)
    """
    return updates.sgd_momentum(
        weight, grad, mom, _into("sgd_mom_update", out, weight, grad, mom),
        lr=lr, momentum=momentum, wd=wd, rescale_grad=rescale_grad, clip_gradient=clip_gradient,
    )  # fmt: skip


@op(aliases=("_sparse_adam_update",), mutates=("mean", "var"), inplace=True)
def adam_update(
    weight,
    grad,
    mean,
    var,
    *,
    lr: float,
    beta1: float = 0.899999976,
    beta2: float = 0.999000013,
    epsilon: float = 9.99999994e-09,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    lazy_update: bool = True,
    out=None,
):
    """Adam (Kingma & Ba, 2015) without bias correction, which belongs into ``lr``.

    ``mean`` and ``var`` change in place.

    Examples
    --------
    >>> w, mean, var = nd.ones(1), nd.zeros(1), nd.zeros(1)
    >>> nd.adam_update(w, nd.ones(1), mean, var, lr=0.1, out=w).shape
    (1,)
    """
    return updates.adam(
        weight, grad, mean, var, _into("adam_update", out, weight, grad, mean, var),
        lr=lr, beta1=beta1, beta2=beta2, epsilon=epsilon, wd=wd, rescale_grad=rescale_grad,
        clip_gradient=clip_gradient,
    )  # fmt: skip


@op(mutates=("history",), inplace=True)
def _sparse_adagrad_update(
    weight,
    grad,
    history,
    *,
    lr: float,
    epsilon: float = 1.00000001e-07,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    out=None,
):
    """AdaGrad (Duchi et al., 2011): ``h += g*g``, ``w - lr * (g / sqrt(h + epsilon) + wd * w)``.

    ``history`` changes in place.
    """
    return updates.adagrad(
        weight, grad, history, _into("adagrad_update", out, weight, grad, history),
        lr=lr, epsilon=epsilon, wd=wd, rescale_grad=rescale_grad, clip_gradient=clip_gradient,
    )  # fmt: skip


@op(aliases=("_sparse_ftrl_update",), mutates=("z", "n"), inplace=True)
def ftrl_update(
    weight,
    grad,
    z,
    n,
    *,
    lr: float,
    lamda1: float = 0.00999999978,
    beta: float = 1.0,
    wd: float = 0.0,
    rescale_grad: float = 1.0,
    clip_gradient: float = -1.0,
    out=None,
):
    """Follow the regularised leader (McMahan et al., 2013); ``lamda1`` makes small weights zero.

    ``z`` and ``n`` change in place. As in MXNet a row_sparse weight changes only in the rows of a
    row_sparse gradient, a dense one everywhere: a weight that ``z`` knows nothing of becomes zero.

    Examples
    --------
    >>> w, z, n = nd.ones(2), nd.zeros(2), nd.zeros(2)
    >>> nd.ftrl_update(w, nd.array([1, 0]), z, n, lr=0.1, out=w).asnumpy().round(3)
    array([0.45, 0.  ], dtype=float32)
    """
    return updates.ftrl(
        weight, grad, z, n, _into("ftrl_update", out, weight, grad, z, n),
        lr=lr, lamda1=lamda1, beta=beta, wd=wd, rescale_grad=rescale_grad,
        clip_gradient=clip_gradient,
    )  # fmt: skip


def _same_shape(s, **_):
    for shape in (*s.ins, s.out):
        s.ins = [shape] * len(s.ins)
        s.out = shape


def _same_dtype(t, **_):
    for dtype in (*t.ins, t.out):
        if dtype is not None:
            t.ins = [dtype] * len(t.ins)
            t.out = dtype


def _step_rows(declared, whole, lazy, lazy_weights=("default", "row_sparse")):
    """Rows for sparse operands: ``lazy`` on the rows of a row_sparse gradient, else ``whole``.

    States are written back whatever their storage is.
    """
    n = len(declared.inputs) - 2
    states = " default|row_sparse" * n
    lazily, wholly = _stepping(declared.name, lazy), _stepping(declared.name, whole)
    asked = "lazy_update" in declared.attributes
    for weight in ("default", "row_sparse"):
        grads = "csr"
        if weight in lazy_weights:
            when = _is_lazy if asked else None
            # as in MXNet a step is lazy only where the states are stored as the weight is
            alike = f" {weight}" * n if asked or n > 1 else states
            declared.kernel(f"{weight} row_sparse{alike} -> {weight}", when=when)(lazily)
        if asked or weight not in lazy_weights or n > 1:
            grads = "row_sparse|csr"
        declared.kernel(f"{weight} {grads}{states} -> {weight}")(wholly)
    declared.kernel(f"row_sparse default{states} -> row_sparse")(wholly)
    for k in range(n):  # dense weight and gradient, and the first k states, but not the next one
        mixed = " default" * k + " row_sparse" + " default|row_sparse" * (n - k - 1)
        declared.kernel(f"default default{mixed} -> default")(wholly)


def _is_lazy(lazy_update, **_):
    return lazy_update


def _stepping(name, step):
    """A kernel that takes a step in place if ``out`` is the weight, and else on a copy of it."""

    def run(weight, grad, *states, out=None, lazy_update=False, **attrs):
        _checked(name, weight, out, grad, *states)
        if out is not weight:
            weight = weight.copy()
        grad = csr.densify(grad) if type(grad) is Csr else grad
        results = step(weight, grad, *states, **attrs)
        for held, new in zip((weight, *states), results, strict=True):
            if new is not held:  # rows were added
                held.assign(new)
        return weight

    return run


for _declared, _whole, _lazy in (
    (sgd_update, updates.sgd, updates.sgd_rows),
    (sgd_mom_update, updates.sgd_momentum, updates.sgd_momentum_rows),
    (adam_update, updates.adam, updates.adam_rows),
    (_sparse_adagrad_update, updates.adagrad, updates.adagrad_rows),
    (ftrl_update, updates.ftrl, updates.ftrl_rows),
):
    _declared.shape(_same_shape)
    _declared.dtype(_same_dtype)
    _weights = ("row_sparse",) if _declared is ftrl_update else ("default", "row_sparse")
    _step_rows(_declared, partial(updates.all_rows, _whole), _lazy, _weights)
