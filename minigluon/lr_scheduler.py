"""Learning rates that change with the number of updates done."""

from __future__ import annotations

import itertools
import logging
import operator
from math import cos, pi

from .base import ArgumentError


class LRScheduler:
    """A learning rate for each update: an optimizer calls it with the number of updates done.

    Parameters
    ----------
    base_lr : the learning rate after the warm-up; the optimizer's ``learning_rate`` replaces it.
    warmup_steps : during so many updates the rate rises to ``base_lr``.
    warmup_begin_lr : the rate it rises from.
    warmup_mode : ``"linear"``, or ``"constant"``, which stays at ``warmup_begin_lr``.
    """

    def __init__(self, base_lr=0.01, warmup_steps=0, warmup_begin_lr=0, warmup_mode="linear"):
        warmup_steps = _whole("warmup_steps", warmup_steps)
        if warmup_begin_lr > base_lr:
            raise _refused(
                "Base lr has to be higher than warmup_begin_lr",
                f"base_lr={base_lr}, warmup_begin_lr={warmup_begin_lr}",
                "base_lr >= warmup_begin_lr",
            )
        if warmup_steps < 0:
            raise _refused(
                "Warmup steps has to be positive or 0", f"warmup_steps={warmup_steps}", "0 or more"
            )
        if warmup_mode not in ("linear", "constant"):
            raise _refused(
                "Supports only linear and constant modes of warmup",
                f"warmup_mode={warmup_mode!r}",
                "'linear' or 'constant'",
            )
        self.base_lr = base_lr
        self.warmup_steps = warmup_steps
        self.warmup_final_lr = base_lr
        self.warmup_begin_lr = warmup_begin_lr
        self.warmup_mode = warmup_mode

    def get_warmup_lr(self, num_update):
        """The learning rate of an update before ``warmup_steps``."""
        if num_update >= self.warmup_steps:
            raise _refused(
                "The warm-up is over",
                f"num_update={num_update}, warmup_steps={self.warmup_steps}",
                "num_update < warmup_steps",
            )
        if self.warmup_mode == "constant":
            return self.warmup_begin_lr
        rise = self.warmup_final_lr - self.warmup_begin_lr
        return self.warmup_begin_lr + rise * float(num_update) / float(self.warmup_steps)

    def __call__(self, num_update):
        """The learning rate of update ``num_update``, counted from 0."""
        raise NotImplementedError("must override this")


def _whole(name, value):
    try:
        return operator.index(value)
    except TypeError as error:
        raise _refused(f"{name} has to be an integer", f"{name}={value!r}", "an int") from error


def _refused(what, received, expected):
    return ArgumentError(
        f"{what}\n  received  {received}\n  expected  {expected}\n"
        "  fix       change the scheduler's arguments"
    )


def _check_factor(factor):
    if factor > 1.0:
        raise _refused(
            "Factor must be no more than 1 to make lr reduce", f"factor={factor}", "at most 1"
        )
    return factor


class FactorScheduler(LRScheduler):
    """Multiplies the rate by ``factor`` after every ``step`` updates.

    Parameters
    ----------
    step : updates between two changes; the first change comes with update ``step + 1``.
    factor : at most 1.
    stop_factor_lr : the rate does not fall below this one.

    Examples
    --------
    >>> halving = FactorScheduler(step=2, factor=0.5, base_lr=1.0)
    >>> [halving(update) for update in range(6)]
    [1.0, 1.0, 1.0, 0.5, 0.5, 0.25]
    """

    def __init__(
        self,
        step,
        factor=1,
        stop_factor_lr=1e-8,
        base_lr=0.01,
        warmup_steps=0,
        warmup_begin_lr=0,
        warmup_mode="linear",
    ):
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if step < 1:
            raise _refused(
                "Schedule step must be greater or equal than 1 round", f"step={step}", "1 or more"
            )
        self.step = step
        self.factor = _check_factor(factor)
        self.stop_factor_lr = stop_factor_lr
        self.count = 0

    def __call__(self, num_update):
        """The learning rate of update ``num_update``; updates never go back."""
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        while num_update > self.count + self.step:
            self.count += self.step
            self.base_lr *= self.factor
            if self.base_lr < self.stop_factor_lr:
                self.base_lr = self.stop_factor_lr
                logging.info(
                    "Update[%d]: now learning rate arrived at %0.5e, will not change in the future",
                    num_update,
                    self.base_lr,
                )
            else:
                _log(num_update, self.base_lr)
        return self.base_lr


def _log(num_update, rate):
    logging.info("Update[%d]: Change learning rate to %0.5e", num_update, rate)


class MultiFactorScheduler(LRScheduler):
    """Multiplies the rate by ``factor`` after each of the given updates.

    Parameters
    ----------
    step : ascending list of updates; the change comes with the one after.
    factor : at most 1.
    """

    def __init__(
        self,
        step,
        factor=1,
        base_lr=0.01,
        warmup_steps=0,
        warmup_begin_lr=0,
        warmup_mode="linear",
    ):
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        if not isinstance(step, list) or not step:
            raise _refused(
                "Schedule step must be a list", f"step={step!r}", "a list such as [2, 5]"
            )
        if any(b <= a for a, b in itertools.pairwise(step)):
            raise _refused(
                "Schedule step must be an increasing integer list", f"step={step}", "a < b < c ..."
            )
        if step[0] < 1:
            raise _refused(
                "Schedule step must be greater or equal than 1 round", f"step={step}", "1 or more"
            )
        self.step = step
        self.cur_step_ind = 0
        self.factor = _check_factor(factor)
        self.count = 0

    def __call__(self, num_update):
        """The learning rate of update ``num_update``; updates never go back."""
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        while self.cur_step_ind < len(self.step) and num_update > self.step[self.cur_step_ind]:
            self.count = self.step[self.cur_step_ind]
            self.cur_step_ind += 1
            self.base_lr *= self.factor
            _log(num_update, self.base_lr)
        return self.base_lr


class _FallingScheduler(LRScheduler):
    """Falls from ``base_lr`` to ``final_lr`` along a curve that ends at ``max_update``."""

    def __init__(self, max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode):
        super().__init__(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        max_update = _whole("max_update", max_update)
        if max_update < 1:
            raise _refused(
                "maximum number of updates must be strictly positive",
                f"max_update={max_update}",
                "1 or more",
            )
        self.base_lr_orig = self.base_lr
        self.max_update = max_update
        self.final_lr = final_lr
        self.max_steps = self.max_update - self.warmup_steps

    def __call__(self, num_update):
        """The learning rate of update ``num_update``; it stays where it is after ``max_update``."""
        if num_update < self.warmup_steps:
            return self.get_warmup_lr(num_update)
        if num_update <= self.max_update:
            done = (num_update - self.warmup_steps) / self.max_steps if self.max_steps else 1.0
            span = self.base_lr_orig - self.final_lr
            self.base_lr = self.final_lr + span * self.remaining(done)
        return self.base_lr


class PolyScheduler(_FallingScheduler):
    """Falls as ``(1 - done)**pwr`` until ``max_update``.

    Examples
    --------
    >>> falling = PolyScheduler(max_update=4, base_lr=1.0, pwr=2)
    >>> [falling(update) for update in range(6)]
    [1.0, 0.5625, 0.25, 0.0625, 0.0, 0.0]
    """

    def __init__(
        self,
        max_update,
        base_lr=0.01,
        pwr=2,
        final_lr=0,
        warmup_steps=0,
        warmup_begin_lr=0,
        warmup_mode="linear",
    ):
        super().__init__(max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode)
        self.power = pwr

    def remaining(self, done):
        """The share of the way down that is left when ``done`` of the updates are."""
        return (1 - done) ** self.power


class CosineScheduler(_FallingScheduler):
    """Falls along half a cosine until ``max_update``.

    Examples
    --------
    >>> falling = CosineScheduler(max_update=4, base_lr=1.0)
    >>> [round(falling(update), 3) for update in range(6)]
    [1.0, 0.854, 0.5, 0.146, 0.0, 0.0]
    """

    def __init__(
        self,
        max_update,
        base_lr=0.01,
        final_lr=0,
        warmup_steps=0,
        warmup_begin_lr=0,
        warmup_mode="linear",
    ):
        super().__init__(max_update, base_lr, final_lr, warmup_steps, warmup_begin_lr, warmup_mode)

    def remaining(self, done):
        """The share of the way down that is left when ``done`` of the updates are."""
        return (1 + cos(pi * done)) / 2
