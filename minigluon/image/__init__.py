"""``mx.image``: pictures as arrays, what is done to them before learning, batches of them."""

from __future__ import annotations

from . import detection as det
from . import image
from .detection import *  # noqa: F403
from .image import *  # noqa: F403

__all__ = [*image.__all__, *det.__all__]
