"""Runs a program in which ``import mxnet`` gives minigluon: what ``minigluon run`` does."""

from __future__ import annotations

import importlib.util
import io
import os
import sys
import types
from pathlib import Path
from typing import Any

import minigluon

from . import _old_names, config
from .base import MXNetError


def prepare(numpy_names: bool) -> None:
    """Let ``import mxnet`` find minigluon, and give back names that old programs use.

    Processes the program starts do the same when they import mxnet.
    """
    minigluon.alias()
    os.environ["MINIGLUON_OLD_NAMES"] = "all" if numpy_names else "python"
    give_back_old_names()


def give_back_old_names() -> None:
    """Give back the names that ``MINIGLUON_OLD_NAMES`` asks for: none, python or all."""
    wanted = config.get("MINIGLUON_OLD_NAMES")
    if wanted != "none":
        _old_names.give_back_python_names()
    if wanted == "all":
        _old_names.give_back_numpy_names()


def run_script(script: str, arguments: list[str]) -> None:
    """Execute ``script`` as ``python script *arguments`` would."""
    sys.argv = [script, *arguments]
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = str(Path(script).resolve().parent)
    with io.open_code(str(Path(script).absolute())) as file:
        text = file.read()
    module = types.ModuleType("__main__")
    module.__file__ = script
    _execute(module, lambda: compile(text, script, "exec", dont_inherit=True), script)


def find_module(name: str) -> Any:
    """The spec of a module that can be run as ``python -m name``.

    Raises ``MXNetError`` when there is no such module, or it is a package without ``__main__``.
    """
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = str(Path.cwd())
    spec = _spec(name)
    if spec is not None and spec.submodule_search_locations is not None:
        spec = _spec(f"{name}.__main__")
    if spec is None or not hasattr(spec.loader, "get_code"):
        raise MXNetError(
            f"run: there is no module {name} to run.\n  received  -m {name}\n"
            "  expected  a module, or a package with a __main__, on sys.path\n"
            "  fix       check the name, or run the file: minigluon run SCRIPT"
        )
    return spec


def run_module(spec: Any, arguments: list[str]) -> None:
    """Execute the module that `find_module` found, as ``python -m`` would."""
    sys.argv = [spec.origin, *arguments]
    module = types.ModuleType("__main__")
    module.__file__, module.__spec__ = spec.origin, spec
    module.__package__, module.__loader__ = spec.parent, spec.loader
    _execute(module, lambda: spec.loader.get_code(spec.name), spec.origin)


def _spec(name: str) -> Any:
    try:
        return importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None


def _execute(module: types.ModuleType, compiled: Any, filename: str) -> None:
    """Run a program's code as the main module.

    The module stays ``__main__`` until the process ends, as threads, exit handlers and spawned
    children expect (``runpy`` would take it away when the program's last line is done).
    """
    sys.modules["__main__"] = module
    try:
        exec(compiled(), module.__dict__)
    except BaseException:
        _show_from(filename)
        raise


def _show_from(filename: str) -> None:
    """Let the traceback of an error that ends the program begin in the program."""
    show = sys.excepthook

    def show_own_frames(kind, error, trace):
        while trace is not None and trace.tb_frame.f_code.co_filename != filename:
            trace = trace.tb_next
        show(kind, error.with_traceback(trace), trace)

    sys.excepthook = show_own_frames
