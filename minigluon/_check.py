"""Reads programs, without running them, for names of mxnet that are not here."""

from __future__ import annotations

import ast
import difflib
import importlib
import json
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import minigluon


class Finding(NamedTuple):
    """A name that is not supported: where it stands, and why or what is there instead."""

    path: str
    line: int
    name: str
    note: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.name}: {self.note}"


def check_file(path: str) -> list[Finding]:
    """What a Python file or notebook uses of mxnet that is not supported, by line.

    A line of a notebook is told as ``notebook.ipynb[cell]:line``, cells counted from 1. A file that
    cannot be parsed gives one finding that says so.
    """
    try:
        parts = _cells(path) if path.endswith(".ipynb") else [(path, Path(path).read_bytes())]
    except OSError as error:
        return [Finding(path, 0, "the file", f"cannot be read: {error.strerror}")]
    except (ValueError, KeyError, TypeError) as error:
        return [Finding(path, 0, "the file", f"cannot be read: no notebook ({error})")]
    found = []
    reader = _Reader()
    for place, text in parts:
        reader.used.clear()
        try:
            reader.visit(ast.parse(text, place))
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None) or 0
            reason = f"cannot be read: {getattr(error, 'msg', error)} (is it Python 2?)"
            found.append(Finding(place, line, "the file", reason))
            continue
        problems = {(line, *_problem(name)) for line, name in reader.used}
        found += [Finding(place, *problem) for problem in sorted(problems) if problem[2]]
    return found


def _cells(path: str) -> list[tuple[str, str]]:
    """The code cells of a notebook; lines for IPython itself (``%`` and ``!``) are left empty."""
    cells = json.loads(Path(path).read_text(encoding="utf-8"))["cells"]
    found = []
    for k, cell in enumerate(cells, 1):
        if cell["cell_type"] == "code":
            lines = "".join(cell["source"]).splitlines()
            kept = ["" if line.lstrip()[:1] in ("%", "!") else line for line in lines]
            found.append((f"{path}[{k}]", "\n".join(kept)))
    return found


class _Reader(ast.NodeVisitor):
    """Collects the dotted names of mxnet that a program uses.

    It follows ``import mxnet as mx``, ``from mxnet import nd`` and ``F = mx.sym``, each from where
    it stands to the end of the file or function, and takes the ``F`` of a ``hybrid_forward`` for
    ``mx.nd``.
    """

    def __init__(self) -> None:
        self.used: list[tuple[int, str]] = []
        self._names: list[dict[str, str | None]] = [{}]

    def _known(self, name: str) -> str | None:
        for names in reversed(self._names):
            if name in names:
                return names[name]
        return None

    def _dotted(self, node: ast.AST) -> str | None:
        """``mxnet.nd.dot`` for the expression ``mx.nd.dot``; None for anything else."""
        if isinstance(node, ast.Name):
            return self._known(node.id)
        if isinstance(node, ast.Attribute):
            inner = self._dotted(node.value)
            return None if inner is None else f"{inner}.{node.attr}"
        return None

    def visit_Import(self, node: ast.Import) -> None:
        for name in node.names:
            if name.name.partition(".")[0] == "mxnet":
                self.used.append((node.lineno, name.name))
                bound = name.name if name.asname else "mxnet"
                self._names[-1][name.asname or "mxnet"] = bound

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if node.level or (node.module or "").partition(".")[0] != "mxnet":
            return
        for name in node.names:
            if name.name == "*":
                self.used.append((node.lineno, str(node.module)))
                self._names[-1].update(_everything(str(node.module)))
                continue
            self.used.append((node.lineno, f"{node.module}.{name.name}"))
            self._names[-1][name.asname or name.name] = f"{node.module}.{name.name}"

    def visit_Attribute(self, node: ast.Attribute) -> None:
        dotted = self._dotted(node)
        if dotted is None:
            self.generic_visit(node)
        elif isinstance(node.ctx, ast.Load):
            self.used.append((node.lineno, dotted))

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        value = self._dotted(node.value)
        for target in node.targets:
            if isinstance(target, ast.Name):
                self._names[-1][target.id] = value
            else:
                self.visit(target)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for part in (*node.decorator_list, node.args):
            self.visit(part)
        self._inside(node, node.body)

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.visit(node.args)
        self._inside(node, [node.body])

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for part in (*node.decorator_list, *node.bases, *node.keywords):
            self.visit(part)
        self._names.append({})
        for part in node.body:
            self.visit(part)
        self._names.pop()

    def _inside(self, node: Any, body: list[Any]) -> None:
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        arguments += [a for a in (node.args.vararg, node.args.kwarg) if a is not None]
        hidden: dict[str, str | None] = {a.arg: None for a in arguments}
        if getattr(node, "name", "") == "hybrid_forward" and "F" in hidden:
            hidden["F"] = "mxnet.nd"
        self._names.append(hidden)
        for part in body:
            self.visit(part)
        self._names.pop()


def _everything(module: str) -> dict[str, str | None]:
    """What ``from module import *`` binds."""
    found: Any = minigluon
    for part in module.split(".")[1:]:
        found = _attribute(found, part)
    if not isinstance(found, ModuleType):
        return {}
    names = getattr(found, "__all__", None) or [n for n in dir(found) if n[0] != "_"]
    return {name: f"{module}.{name}" for name in names}


def _problem(name: str) -> tuple[str, str]:
    """What of a dotted name is not supported, and why; the reason is empty if it is."""
    found: Any = minigluon
    parts = name.split(".")
    for k, part in enumerate(parts[1:], 2):
        inner = _attribute(found, part)
        if inner is None:
            near = difflib.get_close_matches(part, set(dir(found)) - {"annotations"}, n=3)
            there = f" (there is {', '.join(near)})" if near else ""
            return ".".join(parts[:k]), f"not supported{there}"
        found = inner
        reason = getattr(found, "unsupported", None)
        if isinstance(reason, str):
            return ".".join(parts[:k]), f"not supported: {reason}"
        if not isinstance(found, ModuleType | type):
            break  # a value: what it has, only running tells
    return name, ""


def _attribute(owner: Any, name: str) -> Any:
    """What a module or class has under a name, imported if need be; None for nothing."""
    try:
        return getattr(owner, name)
    except AttributeError:
        pass
    try:
        return importlib.import_module(f"{owner.__name__}.{name}")
    except (ImportError, AttributeError):
        return None
