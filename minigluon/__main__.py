"""The command line: run old MXNet scripts unchanged, look operators up, keep the cache small."""

from __future__ import annotations

import argparse
import os
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
        usage="minigluon run [--gpu-as-cpu] [--no-numpy-names] SCRIPT | -m MODULE [ARGS ...]",
        description="Run a Python script or module in which `import mxnet` gives minigluon, "
        "in the processes it starts too. Exit code and traceback are the program's own.",
    )
    run.add_argument(
        "--gpu-as-cpu",
        action="store_true",
        help="let the CPU stand in where the program names a GPU (sets MINIGLUON_GPU_AS_CPU=1)",
    )
    run.add_argument(
        "--no-numpy-names",
        action="store_true",
        help="do not give back the names numpy has dropped (np.bool, np.float, np.asscalar, ...)",
    )
    run.add_argument(
        "-m", dest="is_module", action="store_true", help="SCRIPT is the name of a module"
    )
    run.add_argument("script", metavar="SCRIPT", help="the Python file, or the module")
    run.add_argument("arguments", metavar="ARGS", nargs=argparse.REMAINDER, help="its arguments")
    run.set_defaults(function=lambda options: run_command(run, options))

    check = commands.add_parser(
        "check",
        help="list what scripts use of mxnet that is not supported",
        description="Read Python files and notebooks, without running them, for names of mxnet "
        "that are not supported, and list them with line numbers. Exit code 1 if there are any.",
    )
    check.add_argument("scripts", metavar="SCRIPT", nargs="+", help="Python files or notebooks")
    check.set_defaults(function=check_command)

    alias = commands.add_parser(
        "alias",
        help="let all programs of this environment import minigluon as mxnet",
        description="Write a module mxnet into the active environment, or remove it.",
    )
    alias.add_argument("action", choices=["install", "remove"], help="write it, or remove it")
    alias.set_defaults(function=lambda options: alias_command(alias, options))

    ops = commands.add_parser("ops", help="list the operators, or describe one")
    ops.add_argument("name", metavar="NAME", nargs="?", help="an operator or an alias of one")
    ops.set_defaults(function=lambda options: ops_command(ops, options))

    show = commands.add_parser(
        "show",
        help="make a page that shows a saved symbol",
        description="Write a self-contained HTML page with the graph of a -symbol.json file: "
        "shapes, storage types, dispatch, what falls back to dense copies, parameters and bytes.",
    )
    show.add_argument("symbol", metavar="FILE", type=Path, help="a -symbol.json file")
    show.add_argument(
        "--shape",
        action="append",
        default=[],
        metavar="NAME=N,N,...",
        help="the shape of an input, such as data=1,3,224,224",
    )
    show.add_argument("--output", type=Path, help="the page; by default FILE with .html")
    show.set_defaults(function=lambda options: show_command(show, options))

    cache = commands.add_parser("cache", help="show or remove compiled code kept on disk")
    cache.add_argument("action", choices=["info", "clear"], help="show, or remove")
    cache.set_defaults(function=cache_command)

    options = parser.parse_args(arguments)
    return int(options.function(options) or 0)


def version() -> str:
    """What ``minigluon --version`` prints: the release, and which API it is."""
    return f"minigluon {minigluon.__release__} (the API of MXNet {minigluon.__version__})"


def run_command(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """``minigluon run [--gpu-as-cpu] [--no-numpy-names] SCRIPT | -m MODULE [ARGS]``."""
    from . import _run

    if not options.is_module and not Path(options.script).is_file():
        parser.error(f"no such file: {options.script!r}")
    if options.gpu_as_cpu:
        os.environ["MINIGLUON_GPU_AS_CPU"] = "1"
    _run.prepare(numpy_names=not options.no_numpy_names)
    if not options.is_module:
        _run.run_script(options.script, options.arguments)
        return
    try:
        program = _run.find_module(options.script)
    except minigluon.MXNetError as error:
        parser.error(str(error))
    _run.run_module(program, options.arguments)


def check_command(options: argparse.Namespace) -> int:
    """``minigluon check SCRIPT ...``: 1 if something is not supported."""
    from . import _check

    found = [finding for script in options.scripts for finding in _check.check_file(script)]
    for finding in found:
        print(finding)
    return int(bool(found))


def alias_command(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """``minigluon alias install|remove``."""
    from . import _alias

    if options.action == "remove":
        path = _alias.remove_everywhere()
        print(f"removed {path}" if path else "there is no alias in this environment")
        return
    try:
        print(f"wrote {_alias.install_everywhere()}: import mxnet gives minigluon")
    except minigluon.MXNetError as error:
        parser.error(str(error))


def ops_command(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """``minigluon ops [NAME]``."""
    from . import _catalogue  # the operator table is not loaded for the other commands

    try:
        print(_catalogue.details(options.name) if options.name else _catalogue.overview())
    except minigluon.MXNetError as error:
        parser.error(str(error))


def show_command(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """``minigluon show FILE [--shape NAME=N,N] [--output FILE]``."""
    shapes = {}
    for text in options.shape:
        name, _, numbers = text.partition("=")
        try:
            shapes[name] = tuple([int(n) for n in numbers.split(",") if n.strip()])
        except ValueError:
            parser.error(f"--shape {text}: expected NAME=N,N,...")
    try:
        symbol = minigluon.sym.load(str(options.symbol))
        page = minigluon.viz.html(symbol, shape=shapes or None, title=options.symbol.name)
    except (minigluon.MXNetError, OSError) as error:
        parser.error(str(error))
    print(page.save(options.output or options.symbol.with_suffix(".html")))


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


if __name__ == "__main__":
    raise SystemExit(main())
