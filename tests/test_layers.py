"""Imports point upwards in the list of layers only, wherever in a module they stand."""

import ast
from pathlib import Path

import pytest

import minigluon

ROOT = Path(minigluon.__file__).parent
LAYERS = [
    "base _paths _current config context dtypes name attribute",
    "storage",
    "kernels",
    "core",
    "ops",
    "ndarray symbol autograd",
    "random executor engine profiler runtime util libinfo recordio image io kvstore registry log "
    "error optimizer metric initializer lr_scheduler operator misc library rtc",
    "gluon module model rnn callback monitor graphview visualization contrib executor_manager onnx",
    "__init__ __main__ _alias _catalogue _check _old_modules _old_names _run _shim test_utils",
]
PARTS = {f"minigluon.{part}" for parts in LAYERS for part in parts.split()}
LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts.split()}
CORE_SEES_OF_KERNELS = {
    f"minigluon.kernels.{name}" for name in ("_jit", "_llvm", "_memory", "_threads", "scalar")
}


def module_name(path):
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in sorted(ROOT.rglob("*.py"))}


def imports(module, path):
    """The full names of all minigluon modules that the module imports."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.startswith("minigluon"))
        elif isinstance(node, ast.ImportFrom):
            origin = node.module or ""
            if node.level:
                parents = package.split(".")[: len(package.split(".")) - node.level + 1]
                origin = ".".join([*parents, *filter(None, [origin])])
            if origin.partition(".")[0] != "minigluon":
                continue
            for name in node.names:
                inner = f"{origin}.{name.name}"
                yield inner if inner in MODULES or inner in PARTS else origin


def level(module):
    """Where in the list a module stands; the package itself is its last layer."""
    part = [*module.split("."), "__init__"][1]
    assert part in LEVEL, f"{module} has no layer: say in LAYERS where it belongs"
    return LEVEL[part]


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_upwards(module):
    downward = {
        imported for imported in imports(module, MODULES[module]) if level(imported) > level(module)
    }
    assert not downward


def test_core_sees_of_the_kernels_only_how_to_compile_and_the_scalar_bodies():
    seen = {
        imported
        for module, path in MODULES.items()
        if module.startswith("minigluon.core")
        for imported in imports(module, path)
        if imported.startswith("minigluon.kernels")
    }
    assert seen <= CORE_SEES_OF_KERNELS
