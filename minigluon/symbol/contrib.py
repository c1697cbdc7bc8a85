"""``mx.sym.contrib``: control flow, and operators under the names this namespace gives them."""

from __future__ import annotations

from ..core.namespace import operator_namespace
from .control_flow import cond, foreach, rand_zipfian, while_loop

__getattr__, __dir__ = operator_namespace(globals(), "sym", "contrib")

__all__ = ["cond", "foreach", "rand_zipfian", "while_loop"]
