"""``mx.sym``: symbols, and every operator of the table as a function on them."""

from __future__ import annotations

from .. import ops  # noqa: F401  (fills the operator table)
from .._paths import answer_for_old_modules
from ..core.namespace import operator_namespace
from . import _internal, contrib, image, linalg, op, random, sparse
from .creation import (
    arange,
    eye,
    full,
    histogram,
    hypot,
    linspace,
    maximum,
    minimum,
    ones,
    pow,
    power,
    split_v2,
    zeros,
)
from .executor import Executor
from .json import load, loads
from .symbol import Symbol
from .variable import Group, Variable, var

load_json = loads


def _install() -> None:
    import sys

    from ..ndarray import methods

    methods.install(Symbol, sys.modules[__name__], fluent=methods.FLUENT + methods.FLUENT_SYMBOL)


__getattr__, __dir__ = operator_namespace(globals(), "sym")
_install()

__all__ = [
    "Executor", "Group", "Symbol", "Variable", "_internal", "arange", "contrib", "eye", "full",
    "histogram", "hypot", "image", "linalg", "linspace", "load", "load_json", "maximum", "minimum",
    "ones", "op", "pow", "power", "random", "sparse", "split_v2", "var", "zeros",
]  # fmt: skip

answer_for_old_modules(__name__)
