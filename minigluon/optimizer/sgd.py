"""Stochastic gradient descent, plain, with momentum, and what only renames or looks ahead."""

from __future__ import annotations

import numpy as np

from .. import config
from .. import ndarray as nd
from ..kernels import steps
from ..storage import RowSparse
from .base import Optimizer, assign, dense, each, register, warn_about_float16, zeros_for


@register
class SGD(Optimizer):
    """``w -= lr * (g + wd * w)``; with momentum ``m = momentum * m - lr * (g + wd * w); w += m``.

    A ``row_sparse`` gradient changes only the rows it has, decay and momentum included, unless
    ``lazy_update`` is False. Lists of parameters are taken in one call.

    Parameters
    ----------
    momentum : 0 keeps no state.
    lazy_update : leave rows alone that a row_sparse gradient does not have.

    Examples
    --------
    >>> weight = nd.ones((2,))
    >>> SGD(learning_rate=0.5).update(0, weight, nd.ones((2,)), None)
    >>> weight.asnumpy()
    array([0.5, 0.5], dtype=float32)
    """

    def __init__(self, momentum=0.0, lazy_update=True, **kwargs):
        super().__init__(**kwargs)
        self.momentum = momentum
        self.lazy_update = lazy_update
        self.aggregate_num = config.get("MXNET_OPTIMIZER_AGGREGATION_SIZE")

    def create_state(self, index, weight):
        """The momentum, stored as the weight is if updates are lazy."""
        if self.momentum == 0.0:
            return None
        return zeros_for(weight, weight.stype if self.lazy_update else "default")

    def create_state_multi_precision(self, index, weight):
        """``(momentum, float32 copy)`` for a float16 weight, this order being SGD's own."""
        if weight.dtype == np.float16:
            if self.multi_precision:
                master = weight.astype(np.float32)
                return self.create_state(index, master), master
            warn_about_float16("SGD optimizer")
        return self.create_state(index, weight)

    def _rule(self):
        """``kernels.steps.sgd`` or ``momentum``, as the operators."""
        lazily = (np.ndarray, RowSparse) if self.lazy_update else ()
        if self.momentum == 0.0:
            return steps.sgd, (self.rescale_grad, self._clip()), lazily
        return steps.momentum, (self.momentum, self.rescale_grad, self._clip()), lazily

    def _rates(self, indices):
        """Count an update of each parameter; their learning rates and weight decays."""
        self._update_count(indices)
        return self._get_lrs(indices), self._get_wds(indices)

    def update(self, index, weight, grad, state):
        """One step of one parameter, or of each in the lists."""
        if not isinstance(index, list | tuple):
            self._update_count(index)
            self._step(weight, grad, state, self._get_lr(index), self._get_wd(index))
            return
        self._update_count(index)
        lrs, wds = self._get_lrs(index), self._get_wds(index)
        for w, g, s, lr, wd in zip(weight, grad, state, lrs, wds, strict=True):
            self._step(w, g, s, lr, wd)

    def _step(self, weight, grad, momentum, lr, wd):
        # by position, as keywords cost 0.4 us of 3.4 us a step
        rescale, clip, lazy = self.rescale_grad, self._clip(), self.lazy_update
        if momentum is None:
            nd.sgd_update(weight, grad, lr, wd, rescale, clip, lazy, weight)
        else:
            nd.sgd_mom_update(
                weight, grad, momentum, lr, self.momentum, wd, rescale, clip, lazy, weight
            )

    def update_multi_precision(self, index, weight, grad, state):
        """``update``, on the float32 copy where there is one."""
        if not self.multi_precision:
            self.update(index, weight, grad, state)
            return
        for i, w, g, s in each(index, weight, grad, state):
            if w.dtype == np.float16:
                momentum, master = s
                self.update(i, master, g.astype(np.float32), momentum)
                master.astype(w.dtype).copyto(w)
            else:
                self.update(i, w, g, s)


@register
class ccSGD(SGD):
    """SGD under the name it had before MXNet 0.9."""


@register
class NAG(SGD):
    """Nesterov's accelerated gradient: the step looks one momentum ahead.

    ``m = momentum * m - lr * (g + wd * w); w += momentum * m - lr * (g + wd * w)``, for every
    row; without momentum it is SGD, lazy like it. (MXNet decays the momentum by the new weight in
    place of the old one, which changes it by a factor of ``1 + lr * wd`` at most.)
    """

    lazy_update = True  # for files of MXNet, whose rule has no such attribute

    def __init__(self, momentum=0.0, **kwargs):
        super().__init__(momentum=momentum, **kwargs)
        self.aggregate_num = 0

    def create_state(self, index, weight):
        """The momentum, dense, or None without."""
        if self.momentum == 0.0:
            return None
        return zeros_for(weight)

    def _rule(self):
        """``kernels.steps.nag``, or SGD's without momentum."""
        if self.momentum == 0.0:
            return super()._rule()
        if self._clips_oddly():
            return None
        return steps.nag, (self.momentum, self.rescale_grad, self._clip()), ()

    def _step(self, weight, grad, momentum, lr, wd):
        if momentum is None:
            super()._step(weight, grad, momentum, lr, wd)
            return
        w = dense(weight)
        step = lr * (self._prepared(grad) + wd * w)
        ahead = self.momentum * momentum - step
        assign(momentum, ahead)
        assign(weight, w + self.momentum * ahead - step)
