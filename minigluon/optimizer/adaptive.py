"""Rules with a step size of their own for every value: AdaGrad, RMSProp, AdaDelta, Ftrl."""

from __future__ import annotations

from .. import ndarray as nd
from ..kernels.steps import adadelta, adagrad, ftrl, rmsprop
from ..storage import RowSparse
from .base import Optimizer, assign, dense, each, register, zeros_for


@register
class AdaGrad(Optimizer):
    """``h += g * g; w -= lr * (g / sqrt(h + eps) + wd * w)`` (Duchi et al., 2011).

    Values seldom touched keep large steps, which is what sparse features want. With a
    ``row_sparse`` gradient only its rows change and decay (MXNet refuses weight decay there).
    """

    def __init__(self, eps=1e-7, **kwargs):
        super().__init__(**kwargs)
        self.float_stable_eps = eps

    def create_state(self, index, weight):
        """The sum of squared gradients, stored as the weight is."""
        return zeros_for(weight, weight.stype)

    def _rule(self):
        """``kernels.steps.adagrad``, as the operators."""
        if self._clips_oddly():
            return None
        others = (self.float_stable_eps, self.rescale_grad, self._clip())
        return adagrad, others, (RowSparse,)

    def update(self, index, weight, grad, state):
        """One step of one parameter, or of each in the lists."""
        for i, w, g, history in each(index, weight, grad, state):
            self._update_count(i)
            lr, wd = self._get_lr(i), self._get_wd(i)
            if g.stype == "row_sparse":
                nd.sparse.adagrad_update(
                    w,
                    g,
                    history,
                    out=w,
                    lr=lr,
                    wd=wd,
                    epsilon=self.float_stable_eps,
                    **self._operator_options(),
                )
                continue
            old, g = dense(w), self._prepared(g)
            total = dense(history) + g * g
            assign(history, total)
            assign(w, old - lr * (g / nd.sqrt(total + self.float_stable_eps) + wd * old))


@register
class RMSProp(Optimizer):
    """Gradients divided by the root of their running square (Tieleman and Hinton, 2012).

    Parameters
    ----------
    gamma1 : decay of the running square.
    gamma2 : momentum, used if ``centered``.
    centered : subtract the running mean, as Graves (2013) does.
    clip_weights : bound of the weights' absolute values.
    """

    def __init__(
        self,
        learning_rate=0.001,
        gamma1=0.9,
        gamma2=0.9,
        epsilon=1e-8,
        centered=False,
        clip_weights=None,
        **kwargs,
    ):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.gamma1 = gamma1
        self.gamma2 = gamma2
        self.centered = centered
        self.epsilon = epsilon
        self.clip_weights = clip_weights

    def create_state(self, index, weight):
        """``(square,)``, or ``(square, mean, step)`` if centered."""
        count = 3 if self.centered else 1
        return tuple(zeros_for(weight, weight.stype) for _ in range(count))

    def _rule(self):
        """``kernels.steps.rmsprop``; None where there is more to do."""
        if self.centered or self.clip_weights or self._clips_oddly():
            return None
        others = (self.gamma1, 1.0 - self.gamma1, self.epsilon, self.rescale_grad, self._clip())
        return rmsprop, others, ()

    def update(self, index, weight, grad, state):
        """One step of one parameter, or of each in the lists."""
        for i, w, g, s in each(index, weight, grad, state):
            self._update_count(i)
            old = dense(w)
            g = self._prepared(g, old, self._get_wd(i))
            new = old + self._step(g, s, self._get_lr(i))
            if self.clip_weights:
                new = nd.clip(new, -self.clip_weights, self.clip_weights)
            assign(w, new)

    def _step(self, g, state, lr):
        square = self._decayed(state[0], g * g)
        if not self.centered:
            return -lr * g / nd.sqrt(square + self.epsilon)
        mean = self._decayed(state[1], g)
        size = nd.sqrt(square - mean * mean + self.epsilon)
        step = self.gamma2 * dense(state[2]) - lr * g / size
        assign(state[2], step)
        return step

    def _decayed(self, running, value):
        result = self.gamma1 * dense(running) + (1.0 - self.gamma1) * value
        assign(running, result)
        return result


@register
class AdaDelta(Optimizer):
    """Steps in the unit of the weight, without a learning rate (Zeiler, 2012)."""

    def __init__(self, rho=0.90, epsilon=1e-5, **kwargs):
        super().__init__(**kwargs)
        self.rho = rho
        self.epsilon = epsilon

    def create_state(self, index, weight):
        """``(running squared gradient, running squared step)``."""
        return zeros_for(weight), zeros_for(weight)

    def _rule(self):
        """``kernels.steps.adadelta``."""
        if self._clips_oddly():
            return None
        others = (self.rho, 1.0 - self.rho, self.epsilon, self.rescale_grad, self._clip())
        return adadelta, others, ()

    def update(self, index, weight, grad, state):
        """One step of one parameter, or of each in the lists."""
        for i, w, g, (gradients, steps) in each(index, weight, grad, state):
            self._update_count(i)
            old, g = dense(w), self._prepared(g)
            seen = self.rho * gradients + (1.0 - self.rho) * g * g
            step = nd.sqrt(steps + self.epsilon) / nd.sqrt(seen + self.epsilon) * g
            assign(gradients, seen)
            assign(steps, self.rho * steps + (1.0 - self.rho) * step * step)
            assign(w, old - (step + self._get_wd(i) * old))


@register
class Ftrl(Optimizer):
    """Follow the regularised leader (McMahan et al., 2013): L1 makes weights exactly zero.

    With a ``row_sparse`` weight and gradient only the gradient's rows change.

    Parameters
    ----------
    lamda1 : strength of the L1 penalty.
    beta : offset of the root in the step size.
    """

    def __init__(self, lamda1=0.01, learning_rate=0.1, beta=1, **kwargs):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.lamda1 = lamda1
        self.beta = beta

    def create_state(self, index, weight):
        """``(z, n)`` of the paper, stored as the weight is."""
        return zeros_for(weight, weight.stype), zeros_for(weight, weight.stype)

    def _rule(self):
        """``kernels.steps.ftrl``, as the operator."""
        others = (self.lamda1, self.beta, self.rescale_grad, self._clip())
        return ftrl, others, (RowSparse,)

    def update(self, index, weight, grad, state):
        """One step of one parameter, or of each in the lists."""
        options = self._operator_options()
        for i, w, g, (z, n) in each(index, weight, grad, state):
            self._update_count(i)
            nd.ftrl_update(
                w,
                g,
                z,
                n,
                out=w,
                lr=self._get_lr(i),
                wd=self._get_wd(i),
                lamda1=self.lamda1,
                beta=self.beta,
                **options,
            )
