"""``mx.contrib.symbol``: operators under the names this namespace gives them."""

from __future__ import annotations

from ..core.namespace import operator_namespace

__getattr__, __dir__ = operator_namespace(globals(), "sym", "contrib")
