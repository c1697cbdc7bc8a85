"""Memory of large arrays is kept for the next ones, inside kernels, instead of going back.

The C library maps every large array anew and gives it back when it is freed, and the system clears
every page again: a training step of LeNet takes 13.5 ms with that and 7.6 without. Raising malloc's
thresholds would cure it for the whole process, and keep everybody's memory. So kernels have numpy
take its memory from a pool of ours, by the hook numpy has for that; it is a context variable, and
kernels run in a context of their own, so other arrays of the program are not touched.

Blocks are kept by size, within an eighth, and the one freed last is used first. They begin at
multiples of 64 bytes, so that vectors do not straddle cache lines.
"""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from typing import Any

import numpy as np

from .. import config
from . import _llvm

#: smaller arrays are left to numpy, which has a cache of its own
SMALLEST = 1 << 16
#: from here on the system is asked for huge pages, as numpy does
HUGE = 1 << 22
#: how many blocks are kept
BLOCKS = 128
#: where numpy's table has the functions that set and get how memory is taken
_SET, _GET = 304, 305


def use_pool() -> bool:
    """Have arrays made in the current context, from now on, use the pool; whether there is one.

    Examples
    --------
    >>> import contextvars
    >>> contextvars.copy_context().run(use_pool) in (True, False)
    True
    """
    made = _handler()
    if made is None:
        return False
    made.use()
    return True


def kept_bytes() -> int:
    """How much memory is kept at the moment."""
    made = _handler()
    return 0 if made is None else int(made.state[2])


class _Handler:
    """numpy's ``PyDataMem_Handler`` around four compiled functions, and the pool's state."""

    def __init__(self, limit: int):
        libc = ctypes.CDLL(None)
        core = getattr(np, "_core", None) or np.core
        capsule = ctypes.pythonapi.PyCapsule_GetPointer
        capsule.restype, capsule.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        table = capsule(core._multiarray_umath._ARRAY_API, None)

        def function(place: int, *arguments: Any) -> Any:
            address = ctypes.c_void_p.from_address(table + 8 * place).value
            return ctypes.PYFUNCTYPE(ctypes.py_object, *arguments)(address)

        usual = capsule(function(_GET)(), b"mem_handler")
        if ctypes.c_uint8.from_address(usual + 127).value != 1:
            raise RuntimeError("numpy's handlers are not laid out as expected")
        parts = [ctypes.c_void_p.from_address(usual + 128 + 8 * k).value or 0 for k in range(5)]
        known = [libc.aligned_alloc, libc.calloc, libc.realloc, libc.free]
        addresses = [ctypes.cast(f, ctypes.c_void_p).value for f in known]
        if sys.platform == "linux":
            known.append(libc.madvise)
            addresses.append(ctypes.cast(libc.madvise, ctypes.c_void_p).value)
        else:
            addresses.append(0)
        #: lock, count of blocks, bytes kept, most bytes, numpy's 5, the C library's 5, the blocks
        self.state = np.zeros(14 + 2 * BLOCKS, np.int64)
        self.state[3] = limit
        self.state[4:9], self.state[9:14] = parts, addresses
        module = _llvm.Module(_text())
        self._functions = [module.address(n) for n in ("malloc", "calloc", "realloc", "free")]
        self._module = module
        self._name = ctypes.create_string_buffer(168)
        self._name[:10] = b"minigluon\0"
        self._name[127] = 1
        fields = np.frombuffer(self._name, np.int64, 5, 128)
        fields[:] = [self.state.ctypes.data, *self._functions]
        make = ctypes.pythonapi.PyCapsule_New
        make.restype = ctypes.py_object
        make.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self._handler = make(ctypes.addressof(self._name), b"mem_handler", None)
        self._set = function(_SET, ctypes.py_object)

    def use(self) -> None:
        self._set(self._handler)


#: arrays may outlive the interpreter's modules, and free their memory through it
_FOREVER: list[_Handler] = []


@cache
def _handler() -> _Handler | None:
    limit = config.get("MINIGLUON_KEPT_MEMORY")
    if limit < 0:
        limit = min(_physical_memory() // 8, 1 << 30)
    if limit == 0 or sys.implementation.name != "cpython" or _llvm.target() is None:
        return None
    try:
        made = _Handler(limit)
    except (AttributeError, OSError, RuntimeError, TypeError):
        return None
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(made))
    _FOREVER.append(made)
    return made


def _physical_memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 0


def _text() -> str:
    """The functions as LLVM instructions; ``%s`` is the state, 64-bit words as in `_Handler`."""

    def word(name: str, place: int) -> str:
        return f"""
  %p_{name} = getelementptr i64, ptr %s, i64 {place}
  %{name} = load i64, ptr %p_{name}"""

    def call(result: str, place: int, arguments: str, label: str = "") -> str:
        kind = "ptr" if result else "void"
        return f"""
  %f{label or place}p = getelementptr ptr, ptr %s, i64 {place}
  %f{label or place} = load ptr, ptr %f{label or place}p
  {result + " = " if result else ""}call {kind} %f{label or place}({arguments})"""

    return f"""
declare i64 @llvm.ctlz.i64(i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

; sizes are rounded up to an eighth of a power of two
define internal i64 @rounded(i64 %size) alwaysinline {{
  %zeros = call i64 @llvm.ctlz.i64(i64 %size, i1 true)
  %shift = sub i64 60, %zeros
  %unit = shl i64 1, %shift
  %less = sub i64 %unit, 1
  %sum = add i64 %size, %less
  %mask = sub i64 0, %unit
  %result = and i64 %sum, %mask
  ret i64 %result
}}

define internal i1 @lock(ptr %s) alwaysinline {{
  %pair = cmpxchg ptr %s, i64 0, i64 1 acquire monotonic
  %done = extractvalue {{i64, i1}} %pair, 1
  ret i1 %done
}}

define internal void @unlock(ptr %s) alwaysinline {{
  store atomic i64 0, ptr %s release, align 8
  ret void
}}

; the last block of this size, or null
define internal ptr @take(ptr %s, i64 %size) {{
  %got = call i1 @lock(ptr %s)
  br i1 %got, label %search, label %none
search:{word("count", 1)}{word("kept", 2)}
  %last = sub i64 %count, 1
  %blocks = getelementptr i64, ptr %s, i64 14
  br label %next
next:
  %i = phi i64 [%last, %search], [%before, %other]
  %more = icmp sge i64 %i, 0
  br i1 %more, label %look, label %nothing
look:
  %j = shl i64 %i, 1
  %p = getelementptr i64, ptr %blocks, i64 %j
  %q = getelementptr i64, ptr %p, i64 1
  %its = load i64, ptr %q
  %fits = icmp eq i64 %its, %size
  br i1 %fits, label %found, label %other
other:
  %before = sub i64 %i, 1
  br label %next
found:
  %block = load ptr, ptr %p
  br label %close
close:
  %k = phi i64 [%i, %found], [%k1, %move]
  %k1 = add i64 %k, 1
  %at_end = icmp sge i64 %k, %last
  br i1 %at_end, label %closed, label %move
move:
  %jk = shl i64 %k, 1
  %to = getelementptr i64, ptr %blocks, i64 %jk
  %from = getelementptr i64, ptr %to, i64 2
  %pair = load <2 x i64>, ptr %from, align 8
  store <2 x i64> %pair, ptr %to, align 8
  br label %close
closed:
  store i64 %last, ptr %p_count
  %left = sub i64 %kept, %size
  store i64 %left, ptr %p_kept
  call void @unlock(ptr %s)
  ret ptr %block
nothing:
  call void @unlock(ptr %s)
  br label %none
none:
  ret ptr null
}}

define ptr @malloc(ptr %s, i64 %size) {{
  %small = icmp ult i64 %size, {SMALLEST}
  br i1 %small, label %usual, label %large
usual:{word("ctx", 4)}{call("%plain", 5, "i64 %ctx, i64 %size")}
  ret ptr %plain
large:
  %whole = call i64 @rounded(i64 %size)
  %kept = call ptr @take(ptr %s, i64 %whole)
  %none = icmp eq ptr %kept, null
  br i1 %none, label %new, label %done
new:
  %huge = icmp uge i64 %whole, {HUGE}
  %alignment = select i1 %huge, i64 2097152, i64 64{call("%fresh", 9, "i64 %alignment, i64 %whole")}
  %failed = icmp eq ptr %fresh, null{word("advise", 13)}
  %can = icmp ne i64 %advise, 0
  %worth = and i1 %can, %huge
  %refuse = xor i1 %failed, true
  %both = and i1 %worth, %refuse
  br i1 %both, label %advice, label %made
advice:
  %advising = inttoptr i64 %advise to ptr
  %told = call i32 %advising(ptr %fresh, i64 %whole, i32 14)
  br label %made
made:
  ret ptr %fresh
done:
  ret ptr %kept
}}

define ptr @calloc(ptr %s, i64 %n, i64 %each) {{
  %size = mul i64 %n, %each
  %small = icmp ult i64 %size, {SMALLEST}
  br i1 %small, label %usual, label %large
usual:{word("ctx", 4)}{call("%plain", 6, "i64 %ctx, i64 %n, i64 %each")}
  ret ptr %plain
large:
  %whole = call i64 @rounded(i64 %size)
  %kept = call ptr @take(ptr %s, i64 %whole)
  %none = icmp eq ptr %kept, null
  br i1 %none, label %new, label %clear
new:{word("ctx_large", 4)}{call("%fresh", 6, "i64 %ctx_large, i64 1, i64 %whole", "_large")}
  ret ptr %fresh
clear:
  call void @llvm.memset.p0.i64(ptr %kept, i8 0, i64 %size, i1 false)
  ret ptr %kept
}}

define ptr @realloc(ptr %s, ptr %block, i64 %size) {{
  %small = icmp ult i64 %size, {SMALLEST}
  %larger = call i64 @rounded(i64 %size)
  %whole = select i1 %small, i64 %size, i64 %larger{call("%fresh", 11, "ptr %block, i64 %whole")}
  ret ptr %fresh
}}

define void @free(ptr %s, ptr %block, i64 %size) {{
  %small = icmp ult i64 %size, {SMALLEST}
  br i1 %small, label %usual, label %large
usual:{word("ctx", 4)}{call("", 8, "i64 %ctx, ptr %block, i64 %size")}
  ret void
large:
  %whole = call i64 @rounded(i64 %size){word("most", 3)}
  %too_large = icmp ugt i64 %whole, %most
  br i1 %too_large, label %back, label %try
try:
  %got = call i1 @lock(ptr %s)
  br i1 %got, label %room, label %back
room:{word("count", 1)}{word("kept", 2)}
  %sum = add i64 %kept, %whole
  %over = icmp ugt i64 %sum, %most
  %full = icmp sge i64 %count, {BLOCKS}
  %either = or i1 %over, %full
  %blocks = getelementptr i64, ptr %s, i64 14
  br i1 %either, label %oldest, label %keep
oldest:
  %first = load ptr, ptr %blocks
  %first_q = getelementptr i64, ptr %blocks, i64 1
  %first_size = load i64, ptr %first_q
  %fewer = sub i64 %count, 1
  store i64 %fewer, ptr %p_count
  %less = sub i64 %kept, %first_size
  store i64 %less, ptr %p_kept
  br label %close
close:
  %k = phi i64 [0, %oldest], [%k1, %move]
  %k1 = add i64 %k, 1
  %at_end = icmp sge i64 %k, %fewer
  br i1 %at_end, label %closed, label %move
move:
  %jk = shl i64 %k, 1
  %to = getelementptr i64, ptr %blocks, i64 %jk
  %from = getelementptr i64, ptr %to, i64 2
  %pair = load <2 x i64>, ptr %from, align 8
  store <2 x i64> %pair, ptr %to, align 8
  br label %close
closed:{call("", 12, "ptr %first", "_first")}
  br label %room
keep:
  %j = shl i64 %count, 1
  %p = getelementptr i64, ptr %blocks, i64 %j
  %q = getelementptr i64, ptr %p, i64 1
  store ptr %block, ptr %p
  store i64 %whole, ptr %q
  %one_more = add i64 %count, 1
  store i64 %one_more, ptr %p_count
  store i64 %sum, ptr %p_kept
  call void @unlock(ptr %s)
  ret void
back:{call("", 12, "ptr %block")}
  ret void
}}
"""
