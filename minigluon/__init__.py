"""The MXNet 1.x Python API on numpy, scipy and numba: ``import minigluon as mx``."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil

from . import attribute, base, context, name
from .attribute import AttrScope
from .base import MXNetError
from .context import Context, cpu, cpu_pinned, current_context, gpu, num_gpus

__release__ = "0.1.0"
"""minigluon's own release, and the version of the distribution."""

__version__ = base.API_VERSION
"""The release of MXNet whose API this is: MXNet programs look here to decide what they may call."""

__all__ = [
    "AttrScope",
    "Context",
    "MXNetError",
    "alias",
    "attribute",
    "base",
    "context",
    "cpu",
    "cpu_pinned",
    "current_context",
    "gpu",
    "name",
    "num_gpus",
]

SHORT_NAMES = {
    "img": "image",
    "init": "initializer",
    "kv": "kvstore",
    "mod": "module",
    "mon": "monitor",
    "nd": "ndarray",
    "np": "numpy",
    "npx": "numpy_extension",
    "rnd": "random",
    "sym": "symbol",
    "viz": "visualization",
}
"""The names MXNet scripts use for modules, and the modules they stand for."""

# fmt: off
FROM_UTIL = frozenset((
    "is_np_array", "is_np_shape", "np_array", "np_shape", "set_np_shape", "use_np", "use_np_array",
    "use_np_shape",
))
# fmt: on
"""What MXNet has both in ``mx.util`` and at the top."""


def alias() -> None:
    """Let ``import mxnet`` and ``import mxnet.x.y`` find minigluon from now on.

    For programs that cannot be started by ``minigluon run``; processes they start are served too.
    """
    from ._alias import install

    install()


def __getattr__(attribute_name: str):
    """Import a module of the package at its first use: start-up pays for what is used only."""
    if attribute_name in FROM_UTIL:
        found = globals()[attribute_name] = getattr(
            importlib.import_module(f"{__name__}.util"), attribute_name
        )
        return found
    module = SHORT_NAMES.get(attribute_name, attribute_name)
    if not module.startswith("_") and _exists(module):
        found = importlib.import_module(f"{__name__}.{module}")
        globals()[attribute_name] = found
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {attribute_name!r}")


def _exists(module: str) -> bool:
    spec = importlib.util.find_spec(f"{__name__}.{module}")
    return spec is not None and spec.origin is not None


def __dir__() -> list[str]:
    modules = {module.name for module in pkgutil.iter_modules(__path__) if module.name[0] != "_"}
    short = {short for short, module in SHORT_NAMES.items() if module in modules}
    return sorted({*__all__, *modules, *short, *FROM_UTIL, "__release__", "__version__"})
