"""The command line: run old MXNet scripts unchanged, look operators up, keep the cache small."""

from __future__ import annotations

import argparse
import io
import os
import sys
import types
from pathlib import Path

import minigluon


def main(arguments: list[str] | None = None) -> int:
    """Entry point of ``minigluon`` and of ``python -m minigluon``; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="minigluon", description="The MXNet 1.x Python API on numpy, scipy and numba."
    )
    parser.add_argument("--version", action="version", version=version())
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    run = commands.add_parser(
        "run",
        help="run a script that imports mxnet",
        description="Run a Python script in which `import mxnet` gives minigluon, "
        "in the processes it starts too. Exit code and traceback are the script's own.",
    )
    run.add_argument(
        "--gpu-as-cpu",
        action="store_true",
        help="let the CPU stand in where the script names a GPU (sets MINIGLUON_GPU_AS_CPU=1)",
    )
    run.add_argument("script", metavar="SCRIPT", help="the Python file")
    run.add_argument("arguments", metavar="ARGS", nargs=argparse.REMAINDER, help="its arguments")

    run.set_defaults(function=lambda options: run_command(run, options))

    ops = commands.add_parser("ops", help="list the operators, or describe one")
    ops.add_argument("name", metavar="NAME", nargs="?", help="an operator or an alias of one")
    ops.set_defaults(function=lambda options: ops_command(ops, options))

    cache = commands.add_parser("cache", help="show or remove compiled code kept on disk")
    cache.add_argument("action", choices=["info", "clear"], help="show, or remove")
    cache.set_defaults(function=cache_command)

    options = parser.parse_args(arguments)
    options.function(options)
    return 0


def version() -> str:
    """What ``minigluon --version`` prints: the release, and which API it is."""
    return f"minigluon {minigluon.__release__} (the API of MXNet {minigluon.__version__})"


def run_command(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """``minigluon run [--gpu-as-cpu] SCRIPT [ARGS]``."""
    if not Path(options.script).is_file():
        parser.error(f"no such file: {options.script!r}")
    if options.gpu_as_cpu:
        os.environ["MINIGLUON_GPU_AS_CPU"] = "1"
    run_script(options.script, options.arguments)


def ops_command(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """``minigluon ops [NAME]``."""
    from . import _catalogue  # the operator table is not loaded for the other commands

    try:
        print(_catalogue.details(options.name) if options.name else _catalogue.overview())
    except minigluon.MXNetError as error:
        parser.error(str(error))


def cache_command(options: argparse.Namespace) -> None:
    """``minigluon cache info|clear``."""
    from .core.plan import cache

    files = cache.kept_files()
    size = sum(file.stat().st_size for file in files)
    if options.action == "clear":
        for file in files:
            file.unlink(missing_ok=True)
    what = "removed from" if options.action == "clear" else "in"
    print(f"{len(files)} files, {size / 1024:.0f} KiB, {what} {cache.folder()}")


def run_script(script: str, arguments: list[str]) -> None:
    """Execute ``script`` as ``python script *arguments`` would, ``mxnet`` being minigluon.

    The module stays ``__main__`` until the process ends, as threads, exit handlers and spawned
    children expect (``runpy`` would take it away when the script's last line is done).
    """
    minigluon.alias()
    sys.argv = [script, *arguments]
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = str(Path(script).resolve().parent)
    module = types.ModuleType("__main__")
    module.__file__ = script
    sys.modules["__main__"] = module
    try:
        with io.open_code(str(Path(script).absolute())) as file:
            code = compile(file.read(), script, "exec", dont_inherit=True)
        exec(code, module.__dict__)
    except BaseException:
        _show_from(script)
        raise


def _show_from(script: str) -> None:
    """Let the traceback of an error that ends the program begin in the script."""
    show = sys.excepthook

    def show_own_frames(kind, error, trace):
        while trace is not None and trace.tb_frame.f_code.co_filename != script:
            trace = trace.tb_next
        show(kind, error.with_traceback(trace), trace)

    sys.excepthook = show_own_frames


if __name__ == "__main__":
    raise SystemExit(main())
