"""Indices that come as arrays of any dtype: made whole numbers, clipped, wrapped or refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base import IndexOutOfRange
from ..kernels import distinct

#: float16 cannot tell whole numbers beyond this one apart, float32 those beyond ``2**24``
_EXACT_ANYWHERE = 2**11


def whole_numbers(x: np.ndarray, size: int = 0) -> np.ndarray:
    """Indices as int64, fractions cut off.

    Raises ``IndexOutOfRange`` for floats too large to tell neighbours apart, if ``size`` (how many
    there are to choose from) makes that matter.
    """
    if x.dtype == np.int64:
        return x
    if size > _EXACT_ANYWHERE:
        distinct.as_ids(x)
    return x.astype(np.int64)


def within(indices: np.ndarray, size: int, mode: str, name: str) -> np.ndarray:
    """Indices brought into ``0 <= i < size``: clipped, wrapped around, or refused."""
    places = whole_numbers(indices, size)
    if mode == "raise":
        return checked(places, size, name)
    if size == 0 and places.size:
        raise IndexOutOfRange(f"{name}: there is nothing to take from an axis of length 0")
    if mode == "wrap":
        return np.remainder(places, size)
    return np.minimum(np.maximum(places, 0), size - 1)


def checked(places: np.ndarray, size: int, name: str) -> np.ndarray:
    """``places`` (int64) if all are in ``[0, size)``; raises ``IndexOutOfRange`` otherwise."""
    # seen as unsigned, negative ones are huge: one reduction instead of two
    if places.size and np.maximum.reduce(places.view(np.uint64), axis=None) >= size:
        wrong = places[(places < 0) | (places >= size)]
        raise out_of_range(name, wrong, 0, size)
    return places


def coordinates(indices: np.ndarray, shape: Any, name: str) -> tuple[np.ndarray, ...]:
    """The rows of ``indices`` as an index into a shape; negative ones count from the end.

    Raises ``IndexOutOfRange`` for those outside.
    """
    rows = whole_numbers(indices)
    if len(rows) > len(shape):
        raise IndexOutOfRange(
            f"{name}: there are more coordinates than dimensions.\n"
            f"  received  {len(rows)} rows of indices for shape {tuple(shape)}\n"
            f"  expected  at most {len(shape)}\n  fix       take rows of indices away"
        )
    found = []
    for row, size in zip(rows, shape, strict=False):
        outside = (row < -size) | (row >= size)
        if outside.any():
            raise out_of_range(name, row[outside], -size, size)
        found.append(np.where(row < 0, row + size, row))
    return tuple(found)


def out_of_range(name: str, wrong: np.ndarray, least: int, size: int) -> IndexOutOfRange:
    """The exception for indices outside ``least <= i < size``, with those that are wrong."""
    return IndexOutOfRange(
        f"{name}: index {wrong.flat[0]} is out of bounds.\n"
        f"  received  {wrong.size} such {'index' if wrong.size == 1 else 'indices'}\n"
        f"  expected  {least} to {size - 1}, as there are {size} to choose from\n"
        "  fix       correct them before the call"
    )
