"""Machine code for kernels written as LLVM instructions: compiled once a machine, kept on disk.

For loops that must keep many accumulators in vector registers, which numba does not promise. A
module of text becomes functions that are called with addresses, without Python's lock.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from .. import config


@cache
def target() -> Any:
    """``(llvmlite.binding, cpu, features)`` of this machine; None if llvmlite cannot be used."""
    try:
        import llvmlite
        import llvmlite.binding as llvm

        if tuple(map(int, llvmlite.__version__.split(".")[:2])) < (0, 45):
            llvm.initialize()
        if llvm.llvm_version_info[0] < 16:  # knows typed pointers only
            return None
        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        llvm.parse_assembly("declare void @f(ptr)")
        return llvm, llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    except (ImportError, RuntimeError, AttributeError, OSError, ValueError):
        return None


def machine() -> Any:
    """LLVM's description of this machine, for one compilation or one engine."""
    llvm, cpu, features = target()
    triple = llvm.Target.from_default_triple()
    return triple.create_target_machine(opt=3, cpu=cpu, features=features)


@cache
def vector_bytes() -> int:
    """How many bytes a vector register holds, and so what kernels are written for."""
    found = target()
    features = found[2].split(",") if found else []
    if "+avx512f" in features:
        return 64
    return 32 if "+avx2" in features else 16


@cache
def registers() -> int:
    """How many vector registers there are."""
    wide = vector_bytes() == 64 or platform.machine().lower() in ("aarch64", "arm64")
    return 32 if wide else 16


class Module:
    """The functions of a module of LLVM instructions; each takes 64-bit integers."""

    def __init__(self, text: str):
        llvm = target()[0]
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine())
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(_object_code(text)))
        self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Where a function is."""
        return int(self._engine.get_function_address(name))

    def function(self, name: str, arguments: int) -> Any:
        """A function of so many integers or addresses, which gives nothing back."""
        prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * arguments)
        function = prototype(self.address(name))
        function.module = self  # the code lives as long as its function
        return function


def _object_code(text: str) -> bytes:
    import hashlib  # 8 ms that start-up does not need

    llvm, cpu, features = target()
    depends = "\n".join([*map(str, llvm.llvm_version_info), cpu, features, text])
    path = folder() / f"kernel-{hashlib.sha256(depends.encode()).hexdigest()[:32]}.o"
    with suppress(OSError):
        code = path.read_bytes()
        if len(code) > 32 and hashlib.sha256(code[:-32]).digest() == code[-32:]:
            return code[:-32]
    code = compiled(text)
    try:
        write(path, code + hashlib.sha256(code).digest())
    except OSError as error:
        warn_no_cache(error)
    return code


def compiled(text: str) -> bytes:
    """The object code of a module: 20 ms for a small one."""
    llvm = target()[0]
    here = machine()
    module = llvm.parse_assembly(text)
    options = llvm.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = options.slp_vectorization = True
    options.loop_unrolling = False  # a third of the time to compile, and not slower
    passes = llvm.create_pass_builder(here, options)
    passes.getModulePassManager().run(module, passes)
    code: bytes = here.emit_object(module)
    return code


def write(path: Path, data: bytes) -> None:
    """Put data in the place of a file at once, so that no reader sees half of it."""
    import tempfile  # 5 ms that start-up does not need

    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem[:6]}-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def folder() -> Path:
    """Where compiled code is kept: ``MINIGLUON_CACHE_DIR``, or the user's cache folder."""
    given = config.get("MINIGLUON_CACHE_DIR")
    if given:
        return Path(given)
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local"
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "minigluon"


def warn_no_cache(error: Exception) -> None:
    """Say, once, that compiled code cannot be kept."""
    global _told
    if not _told:
        _told = True
        warnings.warn(
            f"compiled code cannot be kept on disk ({error!r}): every process compiles "
            "them anew. Set MINIGLUON_CACHE_DIR to a folder that can be written.",
            RuntimeWarning,
            stacklevel=4,
        )


_told = False

_NAMES = {"float32": ("float", "f32", 4), "float64": ("double", "f64", 8)}


class Text:
    """Lines of instructions for vectors of one type."""

    def __init__(self, dtype: str):
        self.kind, self.suffix, size = _NAMES[dtype]
        self.lanes, self.align = vector_bytes() // size, size
        self.vector = f"<{self.lanes} x {self.kind}>"
        self.name = f"v{self.lanes}{self.suffix}"
        self.lines: list[str] = []

    def __call__(self, text: str) -> None:
        self.lines.append(text)

    def load(self, name: str, pointer: str, place: int) -> None:
        """A vector that lies ``place`` vectors behind an address."""
        self(f"%p{name} = getelementptr i8, ptr {pointer}, i64 {place * vector_bytes()}")
        self(f"%{name} = load {self.vector}, ptr %p{name}, align {self.align}")

    def spread(self, name: str, pointer: str, place: int) -> None:
        """A number at ``place`` behind an address, in all lanes."""
        self(f"%p{name} = getelementptr {self.kind}, ptr {pointer}, i64 {place}")
        self(f"%s{name} = load {self.kind}, ptr %p{name}")
        self(f"%i{name} = insertelement {self.vector} poison, {self.kind} %s{name}, i32 0")
        self(
            f"%{name} = shufflevector {self.vector} %i{name}, {self.vector} poison, "
            f"<{self.lanes} x i32> zeroinitializer"
        )

    def fma(self, name: str, x: str, y: str, z: str) -> None:
        v = self.vector
        self(f"%{name} = call {v} @llvm.fma.{self.name}({v} {x}, {v} {y}, {v} {z})")

    def at(self, name: str, pointer: str, *, index: str = "1", pitch: str) -> None:
        """``pointer + index * pitch`` bytes."""
        self(f"%by_{name} = mul i64 {index}, {pitch}")
        self(f"%{name} = getelementptr i8, ptr {pointer}, i64 %by_{name}")

    def count(self, name: str, limit: str, again: str, after: str) -> None:
        """The end of a loop: on to ``again`` with the next number of the counter, or ``after``."""
        self(f"%next_{name} = add i64 %{name}, 1")
        self(f"%end_{name} = icmp sge i64 %next_{name}, {limit}")
        self(f"br i1 %end_{name}, label %{after}, label %{again}")

    def clamped(self, name: str, counter: str, step: int, size: str) -> None:
        """``min(counter * step, size - step)``: the last tile overlaps the one before it."""
        self(f"%wish_{name} = mul i64 %{counter}, {step}")
        self(f"%last_{name} = sub i64 {size}, {step}")
        self(f"%{name} = call i64 @llvm.smin.i64(i64 %wish_{name}, i64 %last_{name})")

    def define(self, name: str, arguments: str, addresses: str) -> None:
        """The head of a function of integers; those that are addresses become ``%name_``."""
        self._name, self._arguments = name, arguments.split()
        self(f"define void @{name}({', '.join(f'i64 %{a}' for a in self._arguments)}) {{\nentry:")
        for address in addresses.split():
            self(f"%{address}_ = inttoptr i64 %{address} to ptr")

    def function(self, declarations: str = "") -> Any:
        """The function these lines define, compiled."""
        v = self.vector
        head = (
            f"declare {v} @llvm.fma.{self.name}({v}, {v}, {v})\n"
            f"declare {self.kind} @llvm.vector.reduce.fadd.{self.name}({self.kind}, {v})\n"
            "declare i64 @llvm.smin.i64(i64, i64)\n"
        )
        text = f"{head}{declarations}\n" + "\n".join(self.lines) + "\n"
        return Module(text).function(self._name, len(self._arguments))
