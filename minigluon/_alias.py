"""``import mxnet`` gives minigluon: in this process and its children, or in a whole environment."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import sysconfig
from pathlib import Path

import minigluon

from .base import MXNetError

SHIM = str(Path(__file__).parent / "_shim")
"""A folder with nothing but an ``mxnet.py``, which child processes find on their path."""


def install() -> None:
    """Answer ``import mxnet`` with minigluon from now on; doing it twice changes nothing.

    Spawned children copy ``sys.path`` and other Python processes read ``PYTHONPATH``, so the shim
    goes in both, before any folder that could hold the real MXNet.

    Raises ``MXNetError`` when another ``mxnet`` is loaded already.
    """
    loaded = sys.modules.get("mxnet")
    if loaded not in (None, minigluon) and not hasattr(loaded, "__minigluon__"):
        raise MXNetError(
            "alias: another mxnet is loaded already.\n"
            f"  received  mxnet from {getattr(loaded, '__file__', None)}\n"
            "  expected  no import of mxnet before minigluon.alias()\n"
            "  fix       call minigluon.alias() first, or start the program by `minigluon run`"
        )
    sys.modules["mxnet"] = minigluon
    if not any(isinstance(finder, MXNetFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, MXNetFinder())
    if SHIM not in sys.path:
        sys.path.insert(1, SHIM)
    inherited = os.environ.get("PYTHONPATH")
    if SHIM not in (inherited or "").split(os.pathsep):
        os.environ["PYTHONPATH"] = SHIM + (os.pathsep + inherited if inherited else "")


class MXNetFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds ``mxnet.x.y`` where ``minigluon.x.y`` is, and loads it as the very same module.

    Because both names lead to one module object, classes are identical under both, so that
    ``isinstance`` and pickles hold.
    """

    def find_spec(self, fullname, path=None, target=None):
        """A spec for ``mxnet`` and every module below it that minigluon has; None for others."""
        package, _, module = fullname.partition(".")
        if package != "mxnet":
            return None
        real = importlib.util.find_spec(real_name(module))
        if real is None or real.origin is None:
            return None
        return importlib.machinery.ModuleSpec(
            fullname,
            self,
            origin=real.origin,
            is_package=real.submodule_search_locations is not None,
        )

    def create_module(self, spec):
        """The minigluon module; its own spec is kept aside while the import system sets another."""
        module = importlib.import_module(real_name(spec.name.partition(".")[2]))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module) -> None:
        """Give the module, which has been executed already, its own spec back."""
        module.__spec__ = module.__spec__.loader_state


def real_name(module: str) -> str:
    """The full name of the minigluon module that answers for ``mxnet.<module>``.

    Examples
    --------
    >>> real_name("nd.sparse"), real_name("gluon"), real_name("")
    ('minigluon.ndarray.sparse', 'minigluon.gluon', 'minigluon')
    """
    first, _, rest = module.partition(".")
    parts = ("minigluon", minigluon.SHORT_NAMES.get(first, first), rest)
    return ".".join(part for part in parts if part)


_TEXT = '''"""``import mxnet`` gives minigluon here, until ``minigluon alias remove``."""

import minigluon

__minigluon__ = True
minigluon.alias()
'''


def install_everywhere() -> Path:
    """Write a module ``mxnet`` into the active environment; its path.

    Raises ``MXNetError`` where a real MXNet, or anything else of that name, is installed.
    """
    path = _installed_file()
    foreign = _foreign_mxnet()
    if foreign is not None:
        raise MXNetError(
            f"alias install: there is another mxnet.\n  received  {foreign}\n"
            "  expected  an environment without mxnet\n"
            "  fix       pip uninstall mxnet, or run programs by `minigluon run`"
        )
    try:
        path.write_text(_TEXT, encoding="utf-8")
    except OSError as error:
        raise MXNetError(
            f"alias install: {error.strerror}.\n  received  {path}\n"
            "  expected  an environment this user may write to\n"
            "  fix       use a virtual environment"
        ) from error
    return path


def remove_everywhere() -> Path | None:
    """Delete what `install_everywhere` wrote; its path, or None if there was nothing of ours."""
    path = _installed_file()
    if not path.is_file() or path.read_text(encoding="utf-8") != _TEXT:
        return None
    path.unlink()
    return path


def _installed_file() -> Path:
    return Path(sysconfig.get_path("purelib")) / "mxnet.py"


def _foreign_mxnet() -> str | None:
    """Where an ``mxnet`` would be imported from that is none of ours."""
    for finder in sys.meta_path:
        if isinstance(finder, MXNetFinder) or not hasattr(finder, "find_spec"):
            continue
        spec = finder.find_spec("mxnet", None)
        if spec is None:
            continue
        if spec.origin is None:
            return str(next(iter(spec.submodule_search_locations or ["?"])))
        ours = spec.origin.endswith(".py") and "__minigluon__" in Path(spec.origin).read_text(
            encoding="utf-8"
        )
        return None if ours else spec.origin
    return None
