"""``mx.contrib.svrg_optimization``: stochastic variance reduced gradient descent."""

from __future__ import annotations

from ..._paths import answer_for_old_modules
from .module import SVRGModule

__all__ = ["SVRGModule"]

answer_for_old_modules(__name__)
