"""``gluon.contrib.data``: more ways to sample, and text."""

import importlib

from . import sampler
from .sampler import IntervalSampler

__all__ = ["IntervalSampler", "sampler", "text"]


def __getattr__(name: str):
    """Import ``text`` at its first use: it brings the vocabularies along."""
    if name == "text":
        return importlib.import_module(f"{__name__}.text")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
