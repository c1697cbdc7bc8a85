"""Element types: their numpy classes, names and the numbers they have in files."""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import DTypeError

#: dtype -> its number in ``.params`` files and in the ``__dtype__`` attribute of symbols
FLAGS: dict[np.dtype[Any], int] = {
    np.dtype(name): flag
    for name, flag in (
        ("float32", 0), ("float64", 1), ("float16", 2), ("uint8", 3), ("int32", 4), ("int8", 5),
        ("int64", 6), ("bool", 7), ("int16", 8), ("uint16", 9), ("uint32", 10), ("uint64", 11),
    )
}  # fmt: skip
#: the number of bfloat16, which is among the others once the package ml_dtypes has taught it numpy
BFLOAT16 = 12
FROM_FLAG = {flag: dtype for dtype, flag in FLAGS.items()}
_INTERNED: dict[Any, np.dtype[Any]] = {}


def as_dtype(dtype: Any) -> np.dtype[Any]:
    """The numpy dtype that a class, a name, a dtype or None (float32) stands for.

    Raises ``DTypeError`` for anything that is not an element type arrays can have.

    Examples
    --------
    >>> as_dtype("float16"), as_dtype(None)
    (dtype('float16'), dtype('float32'))
    """
    try:
        found = _INTERNED.get(dtype)
    except TypeError:
        found = None
    if found is not None:
        return found
    try:
        if dtype == "bfloat16":
            import ml_dtypes  # noqa: F401  (numpy knows the name then)
        result = np.dtype("float32" if dtype is None else dtype)
    except ImportError as error:
        raise _absent(dtype) from error
    except TypeError as error:
        raise _unknown(dtype) from error
    if result.name == "bfloat16":
        FLAGS[result] = BFLOAT16
        FROM_FLAG[BFLOAT16] = result
    if result not in FLAGS:
        raise _unknown(dtype)
    result = np.dtype(result.type)
    _INTERNED[dtype] = result
    return result


def _absent(dtype: Any) -> DTypeError:
    return DTypeError(
        f"numpy does not know {dtype}.\n  received  dtype={dtype!r}\n"
        "  expected  a dtype of numpy's own, or the package ml_dtypes\n"
        "  fix       pip install ml_dtypes, or use float16"
    )


def _unknown(dtype: Any) -> DTypeError:
    return DTypeError(
        f"unknown dtype.\n  received  {dtype!r}\n"
        f"  expected  one of {', '.join(d.name for d in FLAGS)}\n  fix       pass dtype='float32'"
    )
