"""Machine code for modules of LLVM instructions: compiled once, kept on disk, called as builtins.

Files are named by the sha256 of the text, the processor and LLVM's version, and replaced
atomically, so processes share them. A folder that cannot be read or written costs a compilation and
one warning.
"""

from __future__ import annotations

import ctypes
import hashlib
import struct
import sys
import sysconfig
import threading
import warnings
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from ...kernels import _llvm as _machine_code
from ...kernels import _threads
from ...kernels._llvm import folder
from ...kernels._memory import use_pool
from ..state import state
from . import blas
from .prelude import LAYOUT, TABLE, THREADS

_LOCK = threading.RLock()
_WARNED: set[str] = set()
_METH_FASTCALL = 0x80
#: how many files are kept on disk; each is some KiB
FILES_KEPT = 4096


class _MethodDef(ctypes.Structure):
    """CPython's PyMethodDef."""

    _fields_ = (
        ("name", ctypes.c_char_p), ("method", ctypes.c_void_p), ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )  # fmt: skip


class _Code:
    """What keeps the machine code of a module alive; numpy reads the address table through it."""

    def __init__(self, engine: Any, table: Any):
        self.engine, self.table = engine, table
        self.method: _MethodDef | None = None
        self.__array_interface__ = table.__array_interface__


class CannotCompile(Exception):
    """LLVM refused a module: plans stay with kernels from then on."""


def available() -> bool:
    """Whether plans can be compiled in this process."""
    return "compile" not in _WARNED and _llvm() is not None


@cache
def _llvm() -> Any:
    """``(llvmlite.binding, what the code depends on, address table)`` or None."""
    if sys.implementation.name != "cpython" or sysconfig.get_config_var("Py_GIL_DISABLED"):
        return None
    found = _machine_code.target()
    if found is None:
        return None
    try:
        table = _addresses()
    except (RuntimeError, AttributeError, OSError, ValueError):
        return None
    if table is None:
        return None
    llvm, name, features = found
    depends = [*map(str, llvm.llvm_version_info), llvm.get_process_triple(), name, features]
    return llvm, "\n".join(depends), table


def _addresses() -> Any:
    """The table compiled code reads, or None if CPython or numpy are not laid out as we think."""
    api = ctypes.pythonapi
    core = getattr(np, "_core", None) or np.core
    pointer = api.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    functions = pointer(core._multiarray_umath._ARRAY_API, None)
    make = ctypes.c_void_p.from_address(functions + 8 * 93).value
    if not _laid_out_as_expected(make):
        return None
    known = {
        "ndarray": id(np.ndarray), "float32": id(np.dtype(np.float32)),
        "float64": id(np.dtype(np.float64)), "None": id(None), "PyArray_New": make,
    }  # fmt: skip
    known.update({"threads": 1, "pthread_create": 1, "pthread_join": 1})
    products = blas.found()
    known.update(dict.fromkeys(blas.NAMES, 1) if products is None else products[1])
    values = [known.get(n) or ctypes.cast(getattr(api, n), ctypes.c_void_p).value for n in TABLE]
    return np.array(values, np.int64)


def _use_threads(table: Any) -> None:
    """Tell compiled code how many threads may share a large loop: where it can start them."""
    place = TABLE.index("pthread_create")
    if table[place] == 1:
        try:
            library = ctypes.CDLL(None)
            for k, name in enumerate(("pthread_create", "pthread_join")):
                table[place + k] = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        except (OSError, AttributeError, TypeError):  # there is no such thing here
            return
    table[TABLE.index("threads")] = threads()


def threads() -> int:
    """How many threads compiled code may use."""
    return min(_threads.threads(), THREADS)


def _laid_out_as_expected(make: Any) -> bool:
    x = np.zeros((3, 5), np.float32)

    def read(kind: Any, what: str) -> Any:
        return kind.from_address(id(x) + LAYOUT[what]).value

    if struct.calcsize("P") != 8 or read(ctypes.c_void_p, "type") != id(np.ndarray):
        return False
    dims = read(ctypes.c_void_p, "shape")
    if (
        read(ctypes.c_void_p, "data") != x.ctypes.data
        or read(ctypes.c_int, "ndim") != 2
        or list((ctypes.c_int64 * 2).from_address(dims)) != [3, 5]
        or read(ctypes.c_void_p, "descr") != id(x.dtype)
        or read(ctypes.c_int, "flags") & 0x103 != 0x101
    ):
        return False
    shape = (ctypes.c_int64 * 2)(3, 5)
    prototype = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.py_object, ctypes.c_int, ctypes.c_void_p, ctypes.c_int,
        ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int, ctypes.c_void_p,
    )  # fmt: skip
    made = prototype(make)(np.ndarray, 2, ctypes.addressof(shape), 11, None, None, 0, 0, None)
    return type(made) is np.ndarray and made.shape == (3, 5) and made.dtype == np.float32


#: what is loaded already, by the digest of its text: equal parts of plans share one function
_LOADED: weakref.WeakValueDictionary[str, Callable[..., Any]] = weakref.WeakValueDictionary()


def builtin(text: str) -> Callable[..., Any]:
    """The function ``@part`` of a module as a Python function.

    Raises `CannotCompile`, with a warning the first time, if LLVM does not take it (it may be too
    old) or there is none.
    """
    try:
        return _builtin(text)
    except (RuntimeError, OSError, AttributeError) as error:
        _warn_once(
            "compile",
            f"plans cannot be compiled ({error!r}): they run as numpy calls. Install a newer "
            "llvmlite, or set MINIGLUON_FUSE=never to be rid of this warning.",
        )
        raise CannotCompile(str(error)) from error


def _builtin(text: str) -> Callable[..., Any]:
    found = _llvm()
    if found is None:
        raise RuntimeError("llvmlite cannot be used")
    llvm, depends, table = found
    digest = hashlib.sha256(f"{depends}\n{text}".encode()).hexdigest()[:32]
    _use_threads(table)
    with _LOCK:
        loaded = _LOADED.get(digest)
        if loaded is not None:
            return loaded
        code = _object_code(text, digest)
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _machine_code.machine())
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        holder = _Code(engine, table)
        # the table's owner keeps the code alive, and the function keeps the table
        method = holder.method = _MethodDef(
            b"plan", engine.get_function_address("part"), _METH_FASTCALL, None
        )
        make = ctypes.pythonapi.PyCFunction_NewEx
        make.restype = ctypes.py_object
        make.argtypes = [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
        function: Callable[..., Any] = make(ctypes.addressof(method), np.asarray(holder), None)
        _LOADED[digest] = function
        _pool_memory()
        return function


def _pool_memory() -> None:
    """Have this thread's kernels take large arrays from the pool: 5.7 ms without, 3.6 with."""
    try:
        state.quietly(use_pool)
    except RuntimeError:  # this is a kernel's context already
        use_pool()


def _object_code(text: str, digest: str) -> bytes:
    path = folder() / f"plan-{digest}.o"
    try:
        code = path.read_bytes()
        size = len(code) - 32
        if size > 0 and hashlib.sha256(code[:size]).digest() == code[size:]:
            return code[:size]
    except FileNotFoundError:
        pass
    except OSError as error:
        _machine_code.warn_no_cache(error)
    code = _compile(text)
    try:
        _machine_code.write(path, code + hashlib.sha256(code).digest())
        _forget_old(path.parent)
    except OSError as error:
        _machine_code.warn_no_cache(error)
    return code


def _compile(text: str) -> bytes:
    code: bytes = _machine_code.compiled(text)
    return code


def _forget_old(where: Path) -> None:
    """Remove the older half of the files when there are too many: they take 20 ms each to make."""
    files = list(where.glob("plan-*.o"))
    if len(files) > FILES_KEPT:
        with suppress(FileNotFoundError):  # another process has the same idea
            for _, file in sorted([(f.stat().st_mtime, f) for f in files])[: len(files) // 2]:
                file.unlink()


def kept_files() -> list[Path]:
    """The files of compiled code in the cache folder: of plans, and of kernels if any."""
    found = folder()
    return sorted(
        [
            *found.glob("plan-*.o"),
            *found.glob("kernel-*.o"),
            *found.glob("**/*.nbi"),
            *found.glob("**/*.nbc"),
        ]
    )


def _warn_once(what: str, text: str) -> None:
    if what not in _WARNED:
        _WARNED.add(what)
        warnings.warn(text, RuntimeWarning, stacklevel=4)
