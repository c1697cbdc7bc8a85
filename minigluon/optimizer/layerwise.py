"""Rules for large batches: norms of weight and gradient scale a layer's step."""

from __future__ import annotations

import math

from .. import ndarray as nd
from .base import Optimizer, assign, dense, each, register, zeros_for
from .sgd import SGD


def norm(array):
    """The Euclidean norm as a number, summed in float32 or wider."""
    values = dense(array)
    if values.dtype.__name__ == "float16":
        values = values.astype("float32")
    return nd.norm(values).asscalar().item()


@register
class LARS(SGD):
    """SGD whose learning rate is multiplied, layer by layer, by ``eta * |w| / (|g| + wd * |w|)``.

    Parameters named ``*bias``, ``*gamma`` or ``*beta`` keep the plain learning rate (You et al.,
    2017).

    Parameters
    ----------
    eta : the trust in a layer's direction.
    eps : added to the denominator.
    momentum_correction : scale the momentum by how much the learning rate changed.
    """

    decaying = ("_weight",)

    def __init__(
        self,
        momentum=0.0,
        lazy_update=True,
        eta=0.001,
        eps=0,
        momentum_correction=True,
        **kwargs,
    ):
        super().__init__(momentum=momentum, lazy_update=lazy_update, **kwargs)
        self.momentum_correction = momentum_correction
        self.eta = eta
        self.eps = eps
        self.skip = 0
        self.last_lr = None
        self.cur_lr = None

    def _get_lrs(self, indices):
        """Learning rates before the layers' factors; notes the last two for the momentum."""
        if self.cur_lr is not None:
            self.last_lr = self.cur_lr
        self.cur_lr = self.lr if self.lr_scheduler is None else self.lr_scheduler(self.num_update)
        if self.last_lr is None:
            self.last_lr = self.cur_lr
        return self._multiplied(self.cur_lr, indices, self.lr_mult, "lr_mult")

    def update(self, index, weight, grad, state):
        """One step of one parameter, or of each in the lists."""
        for i, w, g, s in each(index, weight, grad, state):
            self._update_count(i)
            wd = self._get_wd(i)
            lr = self._get_lr(i) * self._get_lars(i, w, g, wd)
            self._step(w, g, s, lr, wd)

    def _step(self, weight, grad, momentum, lr, wd):
        kept = self.momentum
        if momentum is not None and self.momentum_correction and self.last_lr:
            self.momentum = kept * (self.cur_lr / self.last_lr)
        try:
            super()._step(weight, grad, momentum, lr, wd)
        finally:
            self.momentum = kept

    def _get_lars(self, i, weight, grad, wd):
        """The factor of one layer's learning rate."""
        named = self.param_dict[i].name if i in self.param_dict else self.idx2name.get(i, str(i))
        if named.endswith(("gamma", "beta", "bias")):
            return 1.0
        w, g = norm(weight), norm(grad) * self.rescale_grad
        if w > 0.0 and g > 0.0:
            return self.eta * w / (g + wd * w + self.eps)
        return 1.0


@register
class LBSGD(Optimizer):
    """Large-batch SGD: gathers ``batch_scale`` gradients a step and warms the learning rate up.

    Parameters
    ----------
    warmup_strategy : ``linear``, ``power2``, ``sqrt`` raise the learning rate's factor from 1 to
        ``batch_scale``; ``lars`` takes it from the norms.
    warmup_epochs, updates_per_epoch, begin_epoch : length and start of the warm-up.
    batch_scale : how many gradients make a step.
    """

    def __init__(
        self,
        momentum=0.0,
        multi_precision=False,
        warmup_strategy="linear",
        warmup_epochs=5,
        batch_scale=1,
        updates_per_epoch=32,
        begin_epoch=0,
        num_epochs=60,
        **kwargs,
    ):
        super().__init__(multi_precision=multi_precision, **kwargs)
        self.momentum = momentum
        self.warmup_strategy = warmup_strategy
        self.warmup_epochs = warmup_epochs
        self.batch_scale = batch_scale
        self.updates_per_epoch = updates_per_epoch
        self.init_updates = begin_epoch * updates_per_epoch
        self.num_epochs = num_epochs
        self.lbmult = 1
        self.cumgrads = {}
        self.adaptive = False
        self.admult = 1

    def create_state(self, index, weight):
        """The momentum, stored as the weight is, or None without."""
        if self.momentum == 0.0:
            return None
        return zeros_for(weight, weight.stype)

    def update(self, index, weight, grad, state):
        """Add a gradient, and step when ``batch_scale`` of them are there."""
        for i, w, g, s in each(index, weight, grad, state):
            self._update_count(i)
            gathered = self._cumulate_gradient(g, i)
            total, count = gathered["cum_grad"], gathered["num_cums"]
            if count % self.batch_scale == 0:
                gathered["cum_grad"] = 0
                self._step(i, w, total / self.batch_scale, s, count)

    def _cumulate_gradient(self, grad, index):
        gathered = self.cumgrads.setdefault(
            index, {"cum_grad": 0, "num_cums": self.init_updates}
        )  # as MXNet has it in its files
        first = isinstance(gathered["cum_grad"], int)
        gathered["cum_grad"] = grad.copy() if first else gathered["cum_grad"] + grad
        gathered["num_cums"] += 1
        return gathered

    def _step(self, index, weight, grad, momentum, count):
        lr, wd = self._get_lr(index), self._get_wd(index)
        if self.warmup_strategy == "lars":
            lr *= self._get_lars(weight, grad, wd)
        else:
            lr *= self._get_lbmult(count)
        options = self._operator_options()
        if momentum is None:
            nd.sgd_update(weight, grad, out=weight, lr=lr, wd=wd, **options)
        else:
            nd.sgd_mom_update(
                weight, grad, momentum, out=weight, lr=lr, wd=wd, momentum=self.momentum, **options
            )

    def _get_lbmult(self, nup):
        """The warm-up's factor after ``nup`` updates."""
        length = self.warmup_epochs * self.updates_per_epoch
        if nup >= length:
            return float(self.batch_scale)
        if length <= 1:
            return 1.0
        part = {
            "linear": nup / length,
            "power2": (nup / length) ** 2,
            "sqrt": math.sqrt(nup / length),
        }.get(self.warmup_strategy, 0.0)
        return 1.0 + (self.batch_scale - 1) * part

    def _get_lars(self, weight, grad, wd):
        """The factor of the learning rate by norms, between 0.01 and 100."""
        w, g = norm(weight) ** 2, norm(grad) ** 2
        return min(max(math.sqrt(w / (g + wd * w + 1e-18)), 0.01), 100.0)


@register
class LAMB(Optimizer):
    """Adam with a step as long as the layer's weight says (You et al., 2019).

    Parameters
    ----------
    lower_bound, upper_bound : bounds of the weight's norm.
    bias_correction : correct the running means for their start at zero.
    """

    def __init__(
        self,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-6,
        lower_bound=None,
        upper_bound=None,
        bias_correction=True,
        **kwargs,
    ):
        super().__init__(learning_rate=learning_rate, **kwargs)
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound
        self.bias_correction = bias_correction
        self.aggregate_num = 45  # MXNet's number: it trains on from states only with one

    def create_state(self, index, weight):
        """``(mean, square)``, stored as the weight is."""
        return zeros_for(weight, weight.stype), zeros_for(weight, weight.stype)

    def update(self, index, weight, grad, state):
        """One step of one parameter, or of each in the lists."""
        for i, w, g, (mean, square) in each(index, weight, grad, state):
            self._update_count(i)
            old = dense(w)
            direction = self._direction(i, old, self._prepared(g), mean, square)
            length, size = norm(old), norm(direction)
            if self.lower_bound is not None:
                length = max(length, self.lower_bound)
            if self.upper_bound is not None:
                length = min(length, self.upper_bound)
            ratio = length / size if length > 0 and size > 0 else 1.0
            assign(w, old - self._get_lr(i) * ratio * direction)

    def _direction(self, index, weight, g, mean, square):
        m = self.beta1 * dense(mean) + (1.0 - self.beta1) * g
        v = self.beta2 * dense(square) + (1.0 - self.beta2) * g * g
        assign(mean, m)
        assign(square, v)
        if self.bias_correction:
            t = self._index_update_count[index]
            m, v = m / (1.0 - self.beta1**t), v / (1.0 - self.beta2**t)
        return m / (nd.sqrt(v) + self.epsilon) + self._get_wd(index) * weight
