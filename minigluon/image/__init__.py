"""``mx.image``: pictures as arrays, what is done to them before learning, batches of them."""

from __future__ import annotations

from .image import *  # noqa: F403
from .image import __all__  # noqa: F401
