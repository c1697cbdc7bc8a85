"""Module paths that old scripts import from, and the modules that answer for them.

MXNet keeps in one file what stands in several here, and the other way round. One table says where.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

#: package -> the modules MXNet has in it; what they lack, or all of it, is in the package itself
OLD_MODULES = {
    "contrib.svrg_optimization": ("svrg_module", "svrg_optimizer"),
    "gluon.nn": ("basic_layers", "conv_layers"),
    "io": ("io", "utils"),
    "kvstore": ("base", "kvstore", "kvstore_server"),
    "ndarray": ("ndarray", "utils"),
    "optimizer": ("optimizer",),
    "symbol": ("symbol",),
}


def answer_for_old_modules(package: str) -> None:
    """Let the paths of the table below ``package`` lead somewhere; called when it is complete.

    A module that is not there is the package itself under another name. One that is there is asked
    first, and the package for what it lacks.

    Examples
    --------
    >>> import minigluon.optimizer.optimizer as old, minigluon
    >>> old.SGD is minigluon.optimizer.SGD
    True
    """
    whole = sys.modules[package]
    for name in OLD_MODULES[package.partition(".")[2]]:
        path = f"{package}.{name}"
        part = sys.modules.get(path)
        if part is None:
            sys.modules[path] = whole
            setattr(whole, name, whole)
        elif "__getattr__" not in vars(part):
            part.__getattr__ = _asking(part, whole)  # type: ignore[method-assign]


def _asking(part: ModuleType, whole: ModuleType) -> Any:
    """A module's ``__getattr__`` that looks into its package."""

    def __getattr__(name: str) -> Any:
        if not name.startswith("__"):
            try:
                return getattr(whole, name)
            except AttributeError:
                pass
        raise AttributeError(f"module {part.__name__!r} has no attribute {name!r}")

    return __getattr__
