"""Rows of whatever holds data: slices for a step, other orders for shuffling."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import ndarray as nd
from ..base import ArgumentError
from ..core.invoke import wrap
from ..kernels import csr as csr_kernels
from ..ndarray import CSRNDArray, NDArray, RowSparseNDArray


class DenseRows:
    """Rows of a dense NDArray; batches are copies, so that writing to one spoils nothing."""

    __slots__ = ("array",)
    slices_only = False

    def __init__(self, array: NDArray):
        self.array = array

    def slice(self, start: int, stop: int) -> NDArray:
        """Rows ``start`` to ``stop``."""
        array = self.array
        return wrap(array._data[start:stop].copy(), array._ctx)

    def take(self, ids: np.ndarray) -> NDArray:
        """The rows with these numbers."""
        return wrap(self.array._data.take(ids, axis=0), self.array._ctx)

    def reordered(self, order: np.ndarray) -> DenseRows:
        """All rows in another order."""
        return DenseRows(self.take(order))


class CsrRows:
    """Rows of a CSRNDArray; index arrays are shared with it, values are copied."""

    __slots__ = ("array",)
    slices_only = True

    def __init__(self, array: CSRNDArray):
        self.array = array

    def slice(self, start: int, stop: int) -> CSRNDArray:
        """Rows ``start`` to ``stop``."""
        array = self.array
        return wrap(csr_kernels.slice_rows(array._data, start, stop), array._ctx)

    def take(self, ids: np.ndarray) -> CSRNDArray:
        """The rows with these numbers."""
        return wrap(csr_kernels.take_rows(self.array._data, ids), self.array._ctx)

    def reordered(self, order: np.ndarray) -> CsrRows:
        """All rows in another order."""
        return CsrRows(self.take(order))


class RowSparseRows:
    """Rows of a RowSparseNDArray, handed out dense as MXNet does."""

    __slots__ = ("array",)
    slices_only = False

    def __init__(self, array: RowSparseNDArray):
        self.array = array

    def slice(self, start: int, stop: int) -> NDArray:
        """Rows ``start`` to ``stop``."""
        return self.take(np.arange(start, stop))

    def take(self, ids: np.ndarray) -> NDArray:
        """The rows with these numbers."""
        stored = self.array._data
        out = np.zeros((len(ids), *stored.shape[1:]), stored.dtype)
        places = np.searchsorted(stored.indices, ids)
        found = np.flatnonzero(places < stored.indices.size)
        found = found[stored.indices[places[found]] == ids[found]]
        out[found] = stored.values[places[found]]
        return wrap(out, self.array._ctx)

    def reordered(self, order: np.ndarray) -> DenseRows:
        """All rows in another order."""
        return DenseRows(self.take(order))


class FileRows:
    """Rows of something on disk that is sliced like an array, an h5py Dataset for one.

    Only the rows of a batch are read; shuffling permutes numbers, not the file.
    """

    __slots__ = ("array", "order")
    slices_only = False

    def __init__(self, array: Any, order: np.ndarray | None = None):
        self.array, self.order = array, order

    def slice(self, start: int, stop: int) -> NDArray:
        """Rows ``start`` to ``stop``."""
        if self.order is None:
            return nd.array(np.asarray(self.array[start:stop]))
        return self.take(np.arange(start, stop))

    def take(self, ids: np.ndarray) -> NDArray:
        """The rows with these numbers; h5py reads ascending distinct ones only."""
        wanted = ids if self.order is None else self.order[ids]
        rows, places = np.unique(wanted, return_inverse=True)
        return nd.array(np.asarray(self.array[rows])[places])

    def reordered(self, order: np.ndarray) -> FileRows:
        """All rows in another order."""
        return FileRows(self.array, order if self.order is None else self.order[order])


_KINDS = {NDArray: DenseRows, CSRNDArray: CsrRows, RowSparseNDArray: RowSparseRows}
_WANTED = "NDArray, numpy.ndarray, h5py.Dataset"


def rows_of(array: Any) -> Any:
    """The reader of rows for an array."""
    kind = _KINDS.get(type(array))
    if kind is None:
        kind = DenseRows if isinstance(array, NDArray) else FileRows
    return kind(array)


def named_arrays(data: Any, allow_empty: bool, default_name: str) -> list[tuple[str, Any]]:
    """``(name, array)`` of data given bare, in a list, or in a dict (whose names are sorted).

    Anything that is not an NDArray and not on disk becomes one, float32 if it was numpy's.
    """
    if data is None:
        data = []
    if isinstance(data, NDArray | np.ndarray) or _is_scipy(data) or _is_on_disk(data):
        data = [data]
    if isinstance(data, list):
        if len(data) == 1:
            data = {default_name: data[0]}
        else:
            data = {f"_{k}_{default_name}": x for k, x in enumerate(data)}
    if not isinstance(data, dict):
        raise TypeError(
            f"Input must be {_WANTED} a list of them or dict with them as values\n"
            f"  received  {type(data).__name__}\n  expected  {_WANTED}, scipy.sparse.csr_matrix\n"
            "  fix       convert with numpy.asarray first"
        )
    if not data and not allow_empty:
        raise ArgumentError(
            "NDArrayIter: there is no data.\n  received  data=None or empty\n"
            f"  expected  {_WANTED}, a list or a dict\n  fix       pass at least one array"
        )
    return [(name, _as_array(name, data[name])) for name in sorted(data)]


def _is_scipy(x: Any) -> bool:
    return getattr(x, "format", None) == "csr" and hasattr(x, "indptr")


def _is_on_disk(x: Any) -> bool:
    """Whether ``x`` looks like an h5py Dataset: an array that is neither numpy's nor ours."""
    if isinstance(x, NDArray | np.ndarray) or hasattr(x, "indptr") or hasattr(x, "tocsr"):
        return False
    return all(hasattr(x, name) for name in ("shape", "dtype", "__getitem__", "__len__"))


def _as_array(name: str, x: Any) -> Any:
    if isinstance(x, NDArray) or _is_on_disk(x):
        array = x
    else:
        try:
            if not _is_scipy(x) and hasattr(x, "tocsr"):
                raise TypeError("only csr matrices of scipy are read by rows")
            array = nd.array(x)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"Invalid type '{type(x)}' for {name}, should be {_WANTED}\n"
                f"  received  {type(x).__name__}\n  expected  {_WANTED}, scipy.sparse.csr_matrix\n"
                "  fix       convert with numpy.asarray, or with .tocsr()"
            ) from error
    if not array.shape:
        raise ArgumentError(
            f"NDArrayIter: {name} has no axis of samples.\n  received  shape ()\n"
            "  expected  one or more dimensions\n  fix       reshape it to (1,)"
        )
    return array
