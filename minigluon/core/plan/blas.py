"""The matrix products of the BLAS that numpy runs on, for compiled parts to call."""

from __future__ import annotations

import ctypes
from functools import cache
from typing import Any

import numpy as np

#: the functions, as compiled code finds them in its table
NAMES = ("sgemm", "dgemm", "sgemv", "dgemv")
ROWS, PLAIN, TURNED = 101, 111, 112
#: how BLAS is spelled where numpy comes from, and the integers it takes
_SPELLINGS = (
    ("scipy_cblas_{}64_", "i64"), ("cblas_{}64_", "i64"), ("scipy_cblas_{}", "i32"),
    ("cblas_{}", "i32"),
)  # fmt: skip


@cache
def found() -> tuple[str, dict[str, int]] | None:
    """The type of the integers and the functions' addresses; None if there are none.

    They are found among the libraries that numpy itself is linked with, and tried once.
    """
    core = getattr(np, "_core", None) or np.core
    try:
        library = ctypes.CDLL(core._multiarray_umath.__file__)
    except (OSError, AttributeError):
        return None
    for spelling, kind in _SPELLINGS:
        functions: list[Any] = [getattr(library, spelling.format(n), None) for n in NAMES]
        if all(functions) and _multiplies(functions[0], kind):
            addresses = [ctypes.cast(f, ctypes.c_void_p).value or 0 for f in functions]
            return kind, dict(zip(NAMES, addresses, strict=True))
    return None


def _multiplies(function: Any, kind: str) -> bool:
    """Whether ``sgemm`` gives the right product."""
    number = ctypes.c_int64 if kind == "i64" else ctypes.c_int32
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    b = np.arange(6, 18, dtype=np.float32).reshape(4, 3)
    c = np.full((2, 4), np.nan, np.float32)
    one, zero = ctypes.c_float(1), ctypes.c_float(0)
    sizes = [number(n) for n in (2, 4, 3)]
    places = [ctypes.c_void_p(x.ctypes.data) for x in (a, b, c)]
    steps = [number(n) for n in (3, 3, 4)]
    function.restype = None
    function(
        ROWS, PLAIN, TURNED, *sizes, one, places[0], steps[0], places[1], steps[1], zero,
        places[2], steps[2],
    )  # fmt: skip
    return bool((c == a @ b.T).all())
