"""Relatives of SGD: signs, noise and delayed gradients."""

from __future__ import annotations

import math

from .. import ndarray as nd
from .base import Optimizer, assign, dense, each, register, zeros_for


@register
class Signum(Optimizer):
    """Moves every value by the learning rate, against the sign of its momentum.

    ``m = momentum * m - (1 - momentum) * (g + wd * w); w = (1 - lr * wd_lh) * w + lr * sign(m)``;
    without momentum ``w = (1 - lr * (wd + wd_lh)) * w - lr * sign(g)``.

    Parameters
    ----------
    momentum : 0 keeps no state and is signSGD.
    wd_lh : decay applied to the weight itself, apart from the gradient (Loshchilov and Hutter).
    """

    def __init__(self, learning_rate=0.01, momentum=0.9, wd_lh=0.0, **kwargs):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.momentum = momentum
        self.wd_lh = wd_lh

    def create_state(self, index, weight):
        """The momentum, stored as the weight is, or None without."""
        if self.momentum == 0.0:
            return None
        return zeros_for(weight, weight.stype)

    def update(self, index, weight, grad, state):
        """One step of one parameter, or of each in the lists."""
        for i, w, g, s in each(index, weight, grad, state):
            self._update_count(i)
            self._step(w, g, s, self._get_lr(i), self._get_wd(i))

    def _step(self, weight, grad, momentum, lr, wd):
        w, g = dense(weight), self._prepared(grad)
        if momentum is None:
            assign(weight, (1 - lr * wd) * w - lr * nd.sign(g))
            return
        m = self.momentum * dense(momentum) - (1 - self.momentum) * (g + wd * w)
        assign(momentum, m)
        assign(weight, (1 - lr * self.wd_lh) * w + lr * nd.sign(m))


@register
class SGLD(Optimizer):
    """Stochastic gradient Langevin dynamics: half a step, and noise of variance ``lr``."""

    def update(self, index, weight, grad, state):
        """One step of one parameter, or of each in the lists."""
        for i, w, g, _ in each(index, weight, grad, state):
            self._update_count(i)
            lr, wd = self._get_lr(i), self._get_wd(i)
            noise = nd.random.normal(0, math.sqrt(lr), shape=w.shape, dtype=w.dtype, ctx=w.context)
            old = dense(w)
            assign(w, old - lr / 2 * (self._prepared(g) + wd * old) + noise)


@register
class DCASGD(Optimizer):
    """SGD that corrects for a gradient computed on an older weight (delay compensation).

    Parameters
    ----------
    lamda : weight of the correction ``g * g * (w - previous w)``.
    """

    def __init__(self, momentum=0.0, lamda=0.04, **kwargs):
        super().__init__(**kwargs)
        self.momentum = momentum
        self.weight_previous = {}
        self.lamda = lamda

    def create_state(self, index, weight):
        """``(momentum or None, previous weight)``."""
        if self.momentum == 0.0:
            return None, weight.copy()
        return zeros_for(weight), weight.copy()

    def update(self, index, weight, grad, state):
        """One step of one parameter, or of each in the lists."""
        for i, w, g, (momentum, previous) in each(index, weight, grad, state):
            self._update_count(i)
            lr, wd = self._get_lr(i), self._get_wd(i)
            old, g = dense(w), self._prepared(g)
            step = -lr * (g + wd * old + self.lamda * g * g * (old - dense(previous)))
            if momentum is not None:
                step = self.momentum * momentum + step
                assign(momentum, step)
            assign(previous, old)
            assign(w, old + step)
