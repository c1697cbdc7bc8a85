"""``mx.sym.contrib``: control flow, and operators under the names this namespace gives them."""

from __future__ import annotations

from typing import Any

from ..core.namespace import operator_namespace
from .control_flow import cond, foreach, rand_zipfian, while_loop
from .creation import _made, full
from .random import uniform
from .symbol import Symbol

__getattr__, __dir__ = operator_namespace(globals(), "sym", "contrib")


def _rescale(factor: Any) -> Symbol:
    """A number as the array of one element that the operators take."""
    return factor if isinstance(factor, Symbol) else full((1,), factor)


def adamw_update(
    weight: Symbol, grad: Symbol, mean: Symbol, var: Symbol, rescale_grad: Any, lr: float,
    eta: float, **kwargs: Any,
) -> Symbol:  # fmt: skip
    """One step of Adam with decoupled weight decay; ``rescale_grad`` may be a number."""
    arrays = (weight, grad, mean, var, _rescale(rescale_grad))
    return _made("_adamw_update", *arrays, lr=lr, eta=eta, **kwargs)


def mp_adamw_update(
    weight: Symbol, grad: Symbol, mean: Symbol, var: Symbol, weight32: Symbol, rescale_grad: Any,
    lr: float, eta: float, **kwargs: Any,
) -> Symbol:  # fmt: skip
    """`adamw_update` of float16 weights that have a float32 copy, ``weight32``."""
    arrays = (weight, grad, mean, var, weight32, _rescale(rescale_grad))
    return _made("_mp_adamw_update", *arrays, lr=lr, eta=eta, **kwargs)


__all__ = [
    "adamw_update", "cond", "foreach", "mp_adamw_update", "rand_zipfian", "uniform", "while_loop",
]  # fmt: skip
