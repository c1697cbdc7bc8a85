"""Rules that divide a running mean of gradients by a running size: Adam and its relatives."""

from __future__ import annotations

import math

import numpy as np

from .. import ndarray as nd
from ..kernels import steps
from ..storage import RowSparse
from .base import Optimizer, assign, dense, each, register, zeros_for


@register
class Adam(Optimizer):
    """Adam (Kingma and Ba, 2014): steps of about the learning rate, whatever the gradient's scale.

    ``g += wd * w; m = beta1 * m + (1 - beta1) * g; v = beta2 * v + (1 - beta2) * g * g;
    w -= lr_t * m / (sqrt(v) + epsilon)`` where ``lr_t = lr * sqrt(1 - beta2**t) / (1 - beta1**t)``.
    A ``row_sparse`` gradient changes only the rows it has, unless ``lazy_update`` is False.

    Examples
    --------
    >>> adam, weight = Adam(learning_rate=0.1), nd.ones((2,))
    >>> adam.update(0, weight, nd.ones((2,)), adam.create_state(0, weight))
    >>> weight.asnumpy().round(4)
    array([0.9, 0.9], dtype=float32)
    """

    def __init__(
        self,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-8,
        lazy_update=True,
        **kwargs,
    ):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.lazy_update = lazy_update

    def create_state(self, index, weight):
        """``(mean, square)``, stored as the weight is if updates are lazy."""
        stype = weight.stype if self.lazy_update else "default"
        return zeros_for(weight, stype), zeros_for(weight, stype)

    def _rule(self):
        """``kernels.steps.adam``, as the operator."""
        lazily = (np.ndarray, RowSparse) if self.lazy_update else ()
        others = (self.beta1, self.beta2, self.epsilon, self.rescale_grad, self._clip())
        return steps.adam, others, lazily

    def _rates(self, indices):
        """The learning rates correct for means that started at zero."""
        lrs, wds = super()._rates(indices)
        counts = self._index_update_count
        return [
            lr * math.sqrt(1.0 - self.beta2 ** counts[i]) / (1.0 - self.beta1 ** counts[i])
            for i, lr in zip(indices, lrs, strict=True)
        ], wds

    def _rates_ahead(self, indices, steps):
        """``_rates`` of so many steps at a constant learning rate: 0.2 us each, not 4."""
        lrs, wds = super()._rates(indices)
        counts, columns = self._index_update_count, []
        for i, lr in zip(indices, lrs, strict=True):
            first = counts[i]
            columns.append(
                [
                    lr * math.sqrt(1.0 - self.beta2**t) / (1.0 - self.beta1**t)
                    for t in range(first, first + steps)
                ]
            )
        self._count_ahead(indices, steps - 1)
        return list(zip(*columns, strict=True)), [wds]

    def update(self, index, weight, grad, state):
        """One step of one parameter, or of each in the lists."""
        options = self._operator_options()
        for i, w, g, (mean, square) in each(index, weight, grad, state):
            self._update_count(i)
            t = self._index_update_count[i]
            lr = self._get_lr(i) * math.sqrt(1.0 - self.beta2**t) / (1.0 - self.beta1**t)
            nd.adam_update(
                w,
                g,
                mean,
                square,
                out=w,
                lr=lr,
                wd=self._get_wd(i),
                beta1=self.beta1,
                beta2=self.beta2,
                epsilon=self.epsilon,
                lazy_update=self.lazy_update,
                **options,
            )


@register
class Adamax(Optimizer):
    """Adam with the running maximum of ``|g|`` in place of the root of the running square."""

    def __init__(self, learning_rate=0.002, beta1=0.9, beta2=0.999, **kwargs):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2

    def create_state(self, index, weight):
        """``(mean, maximum)``."""
        return zeros_for(weight), zeros_for(weight)

    def update(self, index, weight, grad, state):
        """One step of one parameter, or of each in the lists.

        A value whose gradients were all zero stays as it is (MXNet makes it NaN).
        """
        for i, w, g, (mean, largest) in each(index, weight, grad, state):
            self._update_count(i)
            lr = self._get_lr(i) / (1.0 - self.beta1 ** self._index_update_count[i])
            old = dense(w)
            g = self._prepared(g, old, self._get_wd(i))
            m = self.beta1 * mean + (1.0 - self.beta1) * g
            u = nd.maximum(self.beta2 * largest, nd.abs(g))
            assign(mean, m)
            assign(largest, u)
            assign(w, old - lr * m / (u + (u == 0)))


@register
class Nadam(Optimizer):
    """Adam with Nesterov's look ahead (Dozat, 2016).

    As in MXNet the product of momenta is one for the whole optimizer, and every parameter's update
    multiplies it.
    """

    def __init__(
        self,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-8,
        schedule_decay=0.004,
        **kwargs,
    ):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.schedule_decay = schedule_decay
        self.m_schedule = 1.0

    def create_state(self, index, weight):
        """``(mean, square)``."""
        return zeros_for(weight), zeros_for(weight)

    def update(self, index, weight, grad, state):
        """One step of one parameter, or of each in the lists."""
        for i, w, g, (mean, square) in each(index, weight, grad, state):
            self._update_count(i)
            t = self._index_update_count[i]
            momentum = self._momentum(t)
            next_momentum = self._momentum(t + 1)
            self.m_schedule *= momentum
            old = dense(w)
            g = self._prepared(g, old, self._get_wd(i))
            m = self.beta1 * mean + (1.0 - self.beta1) * g
            v = self.beta2 * square + (1.0 - self.beta2) * g * g
            assign(mean, m)
            assign(square, v)
            now = (1.0 - momentum) / (1.0 - self.m_schedule)
            ahead = next_momentum / (1.0 - self.m_schedule * next_momentum)
            size = nd.sqrt(v / (1.0 - self.beta2**t)) + self.epsilon
            assign(w, old - self._get_lr(i) * (now * g + ahead * m) / size)

    def _momentum(self, t):
        return self.beta1 * (1.0 - 0.5 * 0.96 ** (t * self.schedule_decay))


@register
class FTML(Optimizer):
    """Follow the moving leader (Zheng and Kwok, 2017)."""

    def __init__(self, beta1=0.6, beta2=0.999, epsilon=1e-8, **kwargs):
        super().__init__(**kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon

    def create_state(self, index, weight):
        """``(d, v, z)`` of the paper."""
        return zeros_for(weight), zeros_for(weight), zeros_for(weight)

    def update(self, index, weight, grad, state):
        """One step of one parameter, or of each in the lists."""
        for i, w, g, (d, v, z) in each(index, weight, grad, state):
            self._update_count(i)
            t, lr = self._index_update_count[i], self._get_lr(i)
            old = dense(w)
            g = self._prepared(g, old, self._get_wd(i))
            square = self.beta2 * v + (1.0 - self.beta2) * g * g
            size = nd.sqrt(square / (1.0 - self.beta2**t)) + self.epsilon
            new_d = (1.0 - self.beta1**t) / lr * size
            new_z = self.beta1 * z + (1.0 - self.beta1) * g - (new_d - self.beta1 * d) * old
            for array, value in ((d, new_d), (v, square), (z, new_z), (w, -new_z / new_d)):
                assign(array, value)
