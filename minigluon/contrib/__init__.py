"""``mx.contrib``: what MXNet keeps outside its main interfaces."""

from __future__ import annotations

from . import io

__all__ = ["io"]
