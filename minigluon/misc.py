"""``mx.misc``: schedulers of learning rates under their oldest path."""

from .lr_scheduler import FactorScheduler, LRScheduler

LearningRateScheduler = LRScheduler

__all__ = ["FactorScheduler", "LearningRateScheduler"]
