"""Numbers as 0-d arrays, as operators of an array and a number compute with them."""

from __future__ import annotations

from typing import Any

import numpy as np

_constants: dict[Any, np.ndarray] = {}


def constant(dtype: np.dtype[Any], value: float) -> np.ndarray:
    """The number as a 0-d array of the dtype, kept: cheaper for ufuncs than a Python number.

    Whole dtypes take the whole part, and what does not fit wraps around.
    """
    key = (dtype, value or repr(value))  # 0.0 and -0.0 are equal keys otherwise
    found = _constants.get(key)
    if found is None:
        if len(_constants) > 4096:
            _constants.clear()
        found = _constants[key] = _make(dtype, value)
    return found


def _make(dtype: np.dtype[Any], value: float) -> np.ndarray:
    if dtype.kind in "iub":
        bits = 8 * dtype.itemsize
        whole = int(value) if np.isfinite(value) else 0
        return np.array(whole % 2**bits, np.uint64).astype(dtype)
    if -60000 < value < 60000:  # fits every float dtype: no need to silence numpy (1 us)
        return np.array(value, dtype)
    with np.errstate(over="ignore"):
        return np.array(value, np.float64).astype(dtype)
