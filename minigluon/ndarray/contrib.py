"""``mx.nd.contrib``: control flow, and operators under the names this namespace gives them."""

from __future__ import annotations

from ..core.namespace import operator_namespace
from .contrib_updates import (
    adamw_update,
    mp_adamw_update,
    multi_adamw_update,
    multi_lamb_update,
    multi_mp_adamw_update,
    multi_mp_lamb_update,
)
from .control_flow import cond, foreach, isfinite, isinf, isnan, rand_zipfian, while_loop
from .random import uniform

__getattr__, __dir__ = operator_namespace(globals(), "nd", "contrib")

__all__ = [
    "adamw_update", "cond", "foreach", "isfinite", "isinf", "isnan", "mp_adamw_update",
    "multi_adamw_update", "multi_lamb_update", "multi_mp_adamw_update", "multi_mp_lamb_update",
    "rand_zipfian", "uniform", "while_loop",
]  # fmt: skip
