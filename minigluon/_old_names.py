"""Names that Python and numpy had when old scripts were written, given back to a program.

Only names are given back, under which the same thing is there today; nothing present is changed.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any

from . import _old_modules

_ABSTRACT = (
    "Awaitable Callable Container Coroutine Generator Hashable ItemsView Iterable Iterator "
    "KeysView Mapping MappingView MutableMapping MutableSequence MutableSet Sequence Set Sized "
    "ValuesView"
)
_ASSERTIONS = {
    "assertAlmostEquals": "assertAlmostEqual",
    "assertEquals": "assertEqual",
    "assertNotAlmostEquals": "assertNotAlmostEqual",
    "assertNotEquals": "assertNotEqual",
    "assertNotRegexpMatches": "assertNotRegex",
    "assertRaisesRegexp": "assertRaisesRegex",
    "assertRegexpMatches": "assertRegex",
    "assert_": "assertTrue",
    "failIf": "assertFalse",
    "failUnless": "assertTrue",
}

#: module -> old name -> where the thing is today, as ``module:attribute``
PYTHON_NAMES: dict[str, dict[str, str]] = {
    "asyncio": {"async": "asyncio:ensure_future", "coroutine": "types:coroutine"},
    "base64": {"decodestring": "base64:decodebytes", "encodestring": "base64:encodebytes"},
    "collections": {name: f"collections.abc:{name}" for name in _ABSTRACT.split()},
    "configparser": {"SafeConfigParser": "configparser:ConfigParser"},
    "fractions": {"gcd": "math:gcd"},
    "inspect": {"getargspec": f"{__name__}:getargspec"},
    "locale": {"format": "locale:format_string"},
    "os": {"errno": "errno:", "getcwdu": "os:getcwd"},
    "time": {"clock": "time:process_time"},
}

#: submodules that importing mxnet brought along, so that programs use them without an import
BROUGHT_ALONG: dict[str, dict[str, str]] = {
    "multiprocessing": {"pool": "multiprocessing.pool:"},
}

#: class -> old method -> its name today
PYTHON_METHODS: dict[str, dict[str, str]] = {
    "threading:Thread": {"isAlive": "is_alive"},
    "unittest:TestCase": _ASSERTIONS,
}

#: old name in numpy -> where the thing is today
NUMPY_NAMES: dict[str, str] = {
    "AxisError": "numpy.exceptions:AxisError",
    "ComplexWarning": "numpy.exceptions:ComplexWarning",
    "DataSource": "numpy.lib.npyio:DataSource",
    "Inf": "numpy:inf",
    "Infinity": "numpy:inf",
    "ModuleDeprecationWarning": "numpy.exceptions:ModuleDeprecationWarning",
    "NAN": "numpy:nan",
    "NINF": f"{__name__}:MINUS_INFINITY",
    "NZERO": f"{__name__}:MINUS_ZERO",
    "NaN": "numpy:nan",
    "PINF": "numpy:inf",
    "PZERO": f"{__name__}:ZERO",
    "RankWarning": "numpy.exceptions:RankWarning",
    "TooHardError": "numpy.exceptions:TooHardError",
    "VisibleDeprecationWarning": "numpy.exceptions:VisibleDeprecationWarning",
    "alen": "builtins:len",
    "alltrue": "numpy:all",
    "asfarray": f"{__name__}:asfarray",
    "asscalar": f"{__name__}:asscalar",
    "bool": "builtins:bool",
    "bool8": "numpy:bool_",
    "byte_bounds": "numpy.lib.array_utils:byte_bounds",
    "bytes0": "numpy:bytes_",
    "cfloat": "numpy:complex128",
    "clongfloat": "numpy:clongdouble",
    "complex": "builtins:complex",
    "complex_": "numpy:complex128",
    "cumproduct": "numpy:cumprod",
    "float": "builtins:float",
    "float_": "numpy:float64",
    "format_parser": "numpy.rec:format_parser",
    "in1d": "numpy:isin",
    "infty": "numpy:inf",
    "int": "builtins:int",
    "int0": "numpy:intp",
    "issubclass_": "builtins:issubclass",
    "long": "builtins:int",
    "longcomplex": "numpy:clongdouble",
    "longfloat": "numpy:longdouble",
    "mat": "numpy:asmatrix",
    "math": "math:",
    "msort": f"{__name__}:msort",
    "object": "builtins:object",
    "object0": "numpy:object_",
    "os": "os:",
    "product": "numpy:prod",
    "rank": "numpy:ndim",
    "round_": "numpy:round",
    "row_stack": "numpy:vstack",
    "singlecomplex": "numpy:complex64",
    "sometrue": "numpy:any",
    "str": "builtins:str",
    "str0": "numpy:str_",
    "string_": "numpy:bytes_",
    "sys": "sys:",
    "trapz": "numpy:trapezoid",
    "typeDict": "numpy:sctypeDict",
    "uint0": "numpy:uintp",
    "unicode": "builtins:str",
    "unicode_": "numpy:str_",
    "void0": "numpy:void",
    "warnings": "warnings:",
}

ZERO, MINUS_ZERO, MINUS_INFINITY = 0.0, -0.0, float("-inf")


def asscalar(a: Any) -> Any:
    """The one value of an array, as ``numpy.asscalar`` gave it."""
    return a.item()


def asfarray(a: Any, dtype: Any = None) -> Any:
    """An array of floats, as ``numpy.asfarray`` gave it."""
    import numpy as np

    floating = dtype is not None and np.issubdtype(dtype, np.inexact)
    return np.asarray(a, dtype=dtype if floating else np.float64)


def msort(a: Any) -> Any:
    """An array sorted along its first axis, as ``numpy.msort`` gave it."""
    import numpy as np

    return np.sort(a, axis=0)


def getargspec(func: Callable[..., Any]) -> Any:
    """``(args, varargs, keywords, defaults)`` of a function, as ``inspect.getargspec`` gave it."""
    import inspect
    from collections import namedtuple

    full = inspect.getfullargspec(func)
    ArgSpec = namedtuple("ArgSpec", ["args", "varargs", "keywords", "defaults"])
    return ArgSpec(full.args, full.varargs, full.varkw, full.defaults)


def give_back_numpy_names() -> None:
    """Let numpy answer to the names it has dropped; the first use of one is told, once."""
    import numpy as np

    _answer(np, NUMPY_NAMES, f"numpy {np.__version__}", "; --no-numpy-names leaves numpy alone")


def give_back_python_names() -> None:
    """Let modules of Python answer to names they have dropped, now or when they are imported."""
    if any(isinstance(finder, _Patching) for finder in sys.meta_path):
        return
    waiting = {*PYTHON_NAMES, *BROUGHT_ALONG}
    waiting.update(path.partition(":")[0] for path in PYTHON_METHODS)
    for name in [n for n in waiting if n in sys.modules]:
        _patch(sys.modules[name])
        waiting.remove(name)
    sys.meta_path.insert(0, _Patching(waiting))
    _old_modules.give_back()


def _patch(module: types.ModuleType) -> None:
    version = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    _answer(module, PYTHON_NAMES.get(module.__name__, {}), version, "")
    _answer(module, BROUGHT_ALONG.get(module.__name__, {}), None, "")
    for path, methods in PYTHON_METHODS.items():
        home, _, cls = path.partition(":")
        if home == module.__name__:
            for old, new in methods.items():
                owner = getattr(module, cls)
                if not hasattr(owner, old) and hasattr(owner, new):
                    setattr(owner, old, getattr(owner, new))


_told: set[str] = set()


def _answer(module: types.ModuleType, names: dict[str, str], who: str | None, more: str) -> None:
    """Give a module a ``__getattr__`` that knows these names; ``who`` has dropped them, if any."""
    if not names:
        return
    before = vars(module).get("__getattr__")
    if getattr(before, "_gives_back", False):
        return

    def __getattr__(name: str) -> Any:
        target = names.get(name)
        if target is None or not _exists(target):
            if before is not None:
                return before(name)
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        if who is not None and who not in _told:
            _told.add(who)
            warnings.warn(
                f"{who} has no {module.__name__}.{name} any more: it and other names that were "
                f"dropped are given back to this program{more}",
                stacklevel=2,
            )
        return _there(target)

    __getattr__._gives_back = True  # type: ignore[attr-defined]
    module.__getattr__ = __getattr__  # type: ignore[method-assign]


def _there(target: str) -> Any:
    home, _, name = target.partition(":")
    module = importlib.import_module(home)
    return getattr(module, name) if name else module


def _exists(target: str) -> bool:
    home, _, name = target.partition(":")
    try:
        return not name or name in vars(importlib.import_module(home))
    except ImportError:
        return False


class _Patching(importlib.abc.MetaPathFinder):
    """Finds modules that have dropped names, and patches them when they have been executed."""

    def __init__(self, waiting: set[str]):
        self._waiting = waiting

    def find_spec(self, fullname, path=None, target=None):
        """The module's own spec with a loader that patches it, or None."""
        if fullname not in self._waiting:
            return None
        self._waiting.remove(fullname)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            _patch_after(spec)
        return spec


def _patch_after(spec: importlib.machinery.ModuleSpec) -> None:
    loader = spec.loader
    assert loader is not None
    execute = loader.exec_module

    def exec_module(module: types.ModuleType) -> None:
        execute(module)
        _patch(module)

    loader.exec_module = exec_module  # type: ignore[method-assign]
