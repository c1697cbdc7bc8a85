"""The three ways to hold an array: ``np.ndarray`` (default), ``Csr`` and ``RowSparse``.

Storages know nothing of contexts, recording or operators. Index arrays are int64 and never written
to once made, so storages may share them; values may be written in place by who owns the storage.
"""

from __future__ import annotations

from typing import Any, TypeAlias, final

import numpy as np

from .base import StorageError

Shape: TypeAlias = tuple[int, ...]


@final
class Csr:
    """Compressed sparse rows: row ``i`` has ``values[indptr[i]:indptr[i+1]]``, at ``indices``."""

    __slots__ = ("indices", "indptr", "shape", "values")
    stype = "csr"
    ndim = 2

    def __init__(self, values: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: Shape):
        self.values, self.indices, self.indptr, self.shape = values, indices, indptr, shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values."""
        return self.values.dtype

    def with_values(self, values: np.ndarray) -> Csr:
        """The same pattern holding other values."""
        return Csr(values, self.indices, self.indptr, self.shape)

    def copy(self) -> Csr:
        """A storage whose values may be written without this one noticing."""
        return self.with_values(self.values.copy())

    def assign(self, other: Csr) -> None:
        """Hold what ``other`` holds from now on; whoever shares this storage sees it."""
        self.values, self.indices, self.indptr = other.values, other.indices, other.indptr


@final
class RowSparse:
    """Some rows of an array: ``values[k]`` is row ``indices[k]``, ascending; others are zero."""

    __slots__ = ("indices", "shape", "values")
    stype = "row_sparse"

    def __init__(self, values: np.ndarray, indices: np.ndarray, shape: Shape):
        self.values, self.indices, self.shape = values, indices, shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values."""
        return self.values.dtype

    @property
    def ndim(self) -> int:
        """How many axes the array has."""
        return len(self.shape)

    def with_values(self, values: np.ndarray) -> RowSparse:
        """The same rows holding other values."""
        return RowSparse(values, self.indices, self.shape)

    def copy(self) -> RowSparse:
        """A storage whose values may be written without this one noticing."""
        return self.with_values(self.values.copy())

    def assign(self, other: RowSparse) -> None:
        """Hold what ``other`` holds from now on; whoever shares this storage sees it."""
        self.values, self.indices = other.values, other.indices


Storage: TypeAlias = np.ndarray | Csr | RowSparse

#: storage type name -> the Python type that holds it
TYPES: dict[str, type] = {"default": np.ndarray, "csr": Csr, "row_sparse": RowSparse}
#: the Python type -> its storage type name
STYPES: dict[type, str] = {kind: name for name, kind in TYPES.items()}
#: storage type name -> its number in files and in the ``__storage_type__`` attribute
FLAGS = {"undefined": -1, "default": 0, "row_sparse": 1, "csr": 2}


def zeros(stype: str, shape: Shape, dtype: Any) -> Storage:
    """An all-zero array in the given storage; sparse ones store nothing."""
    if stype == "default":
        return np.zeros(shape, dtype)
    if stype == "row_sparse" and len(shape) > 0:
        return RowSparse(np.zeros((0, *shape[1:]), dtype), np.zeros(0, np.int64), shape)
    if stype == "csr" and len(shape) == 2:
        empty = np.zeros(0, np.int64)
        return Csr(np.zeros(0, dtype), empty, np.zeros(shape[0] + 1, np.int64), shape)
    raise StorageError(
        f"no array of this shape can be stored so.\n  received  stype={stype!r}, shape={shape}\n"
        "  expected  default, row_sparse with one or more dimensions, or csr with exactly two\n"
        "  fix       choose another stype or shape"
    )


def densify(x: Storage) -> np.ndarray:
    """The same values as an ``np.ndarray``; a dense input is returned as it is."""
    if type(x) is RowSparse:
        out = np.zeros(x.shape, x.values.dtype)
        out[x.indices] = x.values
        return out
    if type(x) is Csr:
        out = np.zeros(x.shape, x.values.dtype)
        rows = np.repeat(np.arange(x.shape[0]), np.diff(x.indptr))
        np.add.at(out, (rows, x.indices), x.values)
        return out
    return x


def to_row_sparse(x: np.ndarray) -> RowSparse:
    """The rows of a dense array that have a non-zero."""
    filled = x.any(axis=tuple(range(1, x.ndim)))
    rows = np.flatnonzero(filled).astype(np.int64, copy=False)
    return RowSparse(x[rows], rows, x.shape)


def to_csr(x: np.ndarray) -> Csr:
    """The non-zeros of a dense matrix, row by row."""
    rows, columns = np.nonzero(x)
    indptr = np.zeros(x.shape[0] + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=x.shape[0]), out=indptr[1:])
    return Csr(x[rows, columns], columns.astype(np.int64, copy=False), indptr, x.shape)


def cast(x: Storage, stype: str) -> Storage:
    """The same values in another storage; ``x`` itself if it is stored so already.

    Raises ``StorageError`` for csr <-> row_sparse and for csr of other than two dimensions.
    """
    have = STYPES[type(x)]
    if have == stype:
        return x
    if stype == "default":
        return densify(x)
    if type(x) is np.ndarray:
        if stype == "csr" and x.ndim == 2:
            return to_csr(x)
        if stype == "row_sparse" and x.ndim > 0:
            return to_row_sparse(x)
    raise StorageError(
        f"cast_storage: {have} cannot become {stype}.\n  received  {x.shape} {x.dtype} {have}\n"
        "  expected  default <-> csr (two dimensions) or default <-> row_sparse\n"
        "  fix       go through x.tostype('default') first"
    )
