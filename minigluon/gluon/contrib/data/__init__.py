"""``gluon.contrib.data``: more ways to sample."""

from . import sampler
from .sampler import IntervalSampler

__all__ = ["IntervalSampler", "sampler"]
