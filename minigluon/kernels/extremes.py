"""Reductions of sparse arrays in which the zeros that are not stored count: extremes, products.

===================================  ==============================================================
``reduced(ufunc, x, axes)``          ``ufunc.reduce`` over axes (not negative) of a sparse array
``positions(csr, axis, largest)``    where the first largest or smallest element of each line is
===================================  ==============================================================

Results are dense and have the dtype of the array (int64 positions); reduced axes are gone.
"""

from __future__ import annotations

import numpy as np

from ..storage import Csr, RowSparse
from . import csr as structure


def reduced(ufunc: np.ufunc, x: Csr | RowSparse, axes: tuple[int, ...]) -> np.ndarray:
    """What ``ufunc`` (maximum, minimum, multiply) makes of each line along ``axes``.

    Lines have at least one element. NaN propagates as it does in a dense array.
    """
    if x.dtype == np.float16:
        wide = x.with_values(x.values.astype(np.float32))
        return reduced(ufunc, wide, axes).astype(np.float16)
    if type(x) is Csr:
        return _of_csr(ufunc, structure.canonical(x), axes)
    return _of_rows(ufunc, x, axes)  # type: ignore[arg-type]


def _of_csr(ufunc: np.ufunc, csr: Csr, axes: tuple[int, ...]) -> np.ndarray:
    values, dtype = csr.values, csr.dtype
    if len(axes) == 2:
        found = np.zeros(1, dtype)
        if values.size:
            found = ufunc.reduce(values, dtype=dtype, keepdims=True)
        return _with_zeros(ufunc, found, values.size < csr.shape[0] * csr.shape[1])[0]
    lines = csr if axes == (1,) else structure.transposed(csr)
    counts = lines.indptr[1:] - lines.indptr[:-1]
    out = np.zeros(counts.size, dtype)
    filled = np.flatnonzero(counts)
    if filled.size:
        starts = lines.indptr[:-1][filled]
        found = ufunc.reduceat(lines.values, starts, dtype=dtype)
        out[filled] = _with_zeros(ufunc, found, counts[filled] < lines.shape[1])
    return out


def _with_zeros(ufunc: np.ufunc, found: np.ndarray, gaps: np.ndarray | bool) -> np.ndarray:
    """``found``, and where there are gaps what it becomes with a zero."""
    return np.where(gaps, ufunc(found, found.dtype.type(0)), found)


def _of_rows(ufunc: np.ufunc, rsp: RowSparse, axes: tuple[int, ...]) -> np.ndarray:
    values, rows = rsp.values, rsp.shape[0]
    if 0 not in axes:
        part = ufunc.reduce(values, axis=axes, dtype=values.dtype)
        out = np.zeros((rows, *part.shape[1:]), values.dtype)
        out[rsp.indices] = part
        return out
    if rsp.indices.size == 0:
        return np.zeros([n for k, n in enumerate(rsp.shape) if k not in axes], values.dtype)
    found = ufunc.reduce(values, axis=axes, dtype=values.dtype, keepdims=True)
    return _with_zeros(ufunc, found, rsp.indices.size < rows).reshape(
        [n for k, n in enumerate(rsp.shape) if k not in axes]
    )


def positions(csr: Csr, axis: int, largest: bool) -> np.ndarray:
    """The place of the first extreme element of each line along ``axis``; NaN is extreme."""
    csr = structure.canonical(csr)
    lines = csr if axis == 1 else structure.transposed(csr)
    counts = lines.indptr[1:] - lines.indptr[:-1]
    out = np.zeros(counts.size, np.int64)
    filled = np.flatnonzero(counts)
    if filled.size == 0:
        return out
    counts, starts = counts[filled], lines.indptr[:-1][filled]
    values, width = lines.values, lines.shape[1]
    ufunc = np.maximum if largest else np.minimum
    best = ufunc.reduceat(values, starts)
    spread = best.repeat(counts)
    hit = (values == spread) | ((values != values) & (spread != spread))
    stored = np.minimum.reduceat(np.where(hit, lines.indices, width), starts)
    # columns ascend, so the first that is not stored is where they get ahead of their places
    local = np.arange(values.size) - starts.repeat(counts)
    gap = np.minimum.reduceat(
        np.where(lines.indices != local, local, counts.repeat(counts)), starts
    )
    zero_wins = (best < 0) if largest else (best > 0)
    place = np.where(zero_wins, gap, np.where(best == 0, np.minimum(stored, gap), stored))
    out[filled] = np.where(counts < width, place, stored)
    return out
