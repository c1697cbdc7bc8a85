"""``mx.contrib.text``: counting tokens, vocabularies, and vectors of words read from files."""

from __future__ import annotations

from . import embedding, utils, vocab

__all__ = ["embedding", "utils", "vocab"]
