"""What old scripts use of modules that Python has dropped: ``imp``, ``distutils``."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import re
import sys
from types import ModuleType
from typing import Any


def give_back() -> None:
    """Put the modules that this Python does not have among those that can be imported."""
    for name, contents in _MODULES.items():
        root = name.partition(".")[0]
        if name not in sys.modules and (root in _made or importlib.util.find_spec(root) is None):
            _made.add(root)
            module = sys.modules[name] = ModuleType(name, f"What scripts use of {name}.")
            vars(module).update(contents)
            parent, _, last = name.rpartition(".")
            if parent:
                setattr(sys.modules[parent], last, module)
            else:
                module.__path__ = []


_made: set[str] = set()


def load_source(name: str, pathname: str, file: Any = None) -> ModuleType:
    """The module in a Python file, as ``imp.load_source`` gave it."""
    spec = importlib.util.spec_from_file_location(name, pathname)
    if spec is None or spec.loader is None:
        raise ImportError(f"{pathname} is not a Python file", name=name, path=pathname)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@functools.total_ordering
class LooseVersion:
    """A version that is compared number by number, as ``distutils.version`` had it.

    Examples
    --------
    >>> LooseVersion("1.10.0") > LooseVersion("1.9.1") > "1.9"
    True
    """

    def __init__(self, vstring: str):
        self.vstring = vstring
        parts = re.findall(r"\d+|[a-z]+", vstring)
        self.version = [int(part) if part.isdigit() else part for part in parts]

    def __str__(self) -> str:
        return self.vstring

    def __repr__(self) -> str:
        return f"LooseVersion ('{self.vstring}')"

    def __eq__(self, other: object) -> bool:
        return self.version == _parts(other)

    def __lt__(self, other: object) -> bool:
        return self.version < _parts(other)

    __hash__ = None  # type: ignore[assignment]


def _parts(version: Any) -> list[Any]:
    return (LooseVersion(version) if isinstance(version, str) else version).version


_TRUTHS = dict.fromkeys(("y", "yes", "t", "true", "on", "1"), 1)
_TRUTHS |= dict.fromkeys(("n", "no", "f", "false", "off", "0"), 0)


def strtobool(val: str) -> int:
    """1 or 0 for words such as yes and no, as ``distutils.util`` had it."""
    try:
        return _TRUTHS[val.lower()]
    except KeyError:
        raise ValueError(f"invalid truth value {val!r}") from None


_MODULES: dict[str, dict[str, Any]] = {
    "distutils": {},
    "distutils.util": {"strtobool": strtobool},
    "distutils.version": {"LooseVersion": LooseVersion, "StrictVersion": LooseVersion},
    "imp": {"load_source": load_source, "reload": importlib.reload},
}
