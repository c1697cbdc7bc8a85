"""The two sparse array classes: CSRNDArray and RowSparseNDArray."""

from __future__ import annotations

import warnings
from typing import Any, NoReturn

import numpy as np

from .. import storage
from ..base import (
    MXNetError,
    NotSupportedForSparseNDArray,
    StorageError,
    four_lines,
)
from ..context import Context, usable
from ..core.explain import recorded_write
from ..core.invoke import invoke, new, wrappers
from ..core.op import registry
from ..core.state import state
from ..core.store import store
from ..dtypes import as_dtype
from ..storage import Csr, RowSparse
from . import arithmetic, errors
from .indexing import out_of_range
from .methods import Binary, Method
from .ndarray import NDArray, wrap_as, wrap_dense


class BaseSparseNDArray(NDArray):
    """What CSRNDArray and RowSparseNDArray have in common."""

    __slots__ = ()

    def __repr__(self) -> str:
        shape = "x".join(map(str, self.shape))
        name = type(self).__name__.removeprefix("Invalid")
        return f"\n<{name} {shape} @{self.context}>"

    @property
    def size(self) -> int:
        """Not defined for sparse arrays: raises NotImplementedError, as in MXNet."""
        raise NotImplementedError(
            "the size of a sparse array is ambiguous: use x.data.size for the stored values, or "
            "the product of x.shape"
        )

    @property
    def stype(self) -> str:
        """How the array is stored: ``"csr"`` or ``"row_sparse"``."""
        return self._parts.stype

    @property
    def _parts(self) -> Any:
        """The storage, to look at; not to compute with, as its indices may be invalid."""
        return self._data

    @property
    def data(self) -> NDArray:
        """The stored values, copied."""
        return wrap_dense(self._parts.values.copy(), self._ctx)

    @data.setter
    def data(self, value: Any) -> None:
        raise _cannot_assign("data")

    @property
    def indices(self) -> NDArray:
        """Where the stored values are, copied: columns of csr, rows of row_sparse; int64."""
        return wrap_dense(self._parts.indices.copy(), self._ctx)

    @indices.setter
    def indices(self, value: Any) -> None:
        raise _cannot_assign("indices")

    @property
    def _num_aux(self) -> int:
        """How many index arrays there are."""
        return len(self._aux_arrays())

    @property
    def _aux_types(self) -> list[type]:
        return [a.dtype.type for a in self._aux_arrays()]

    def _aux_type(self, i: int) -> type:
        return self._aux_types[i]

    def _aux_data(self, i: int) -> NDArray:
        """The i-th index array, copied: indptr, indices of csr; indices of row_sparse."""
        arrays = self._aux_arrays()
        if not 0 <= i < len(arrays):
            raise MXNetError(
                four_lines(
                    f"a {self.stype} array has {len(arrays)} index arrays",
                    f"number {i}",
                    f"0 to {len(arrays) - 1}",
                    "use x.indices and x.indptr",
                )
            )
        return wrap_dense(arrays[i].copy(), self._ctx)

    def _aux_arrays(self) -> tuple[np.ndarray, ...]:
        raise NotImplementedError

    def asnumpy(self) -> np.ndarray:
        """The values as a dense numpy array."""
        return storage.densify(self._data)

    def asscalar(self) -> Any:
        """The only element as a numpy scalar; ``ValueError`` if there are more or none."""
        return NDArray.asscalar(wrap_dense(self.asnumpy(), self._ctx))

    def astype(self, dtype: Any, copy: bool = True) -> Any:
        """The array with its values converted, in the same storage."""
        dtype = as_dtype(dtype)
        if dtype == self._data.dtype and not copy:
            return self
        if self._is_recorded():
            cast = invoke(registry["Cast"].call(dtype=dtype.name), (self,))
            return cast.tostype(self.stype)
        with np.errstate(all="ignore"):
            values = self._data.values.astype(dtype)
        return wrap_as(type(self), self._data.with_values(values), self._ctx)

    def copyto(self, other: Any) -> Any:
        """Copy the values into a dense array or one of the same storage, or to a context."""
        if isinstance(other, NDArray):
            if other is self:
                warnings.warn(
                    "You are attempting to copy an array to itself", RuntimeWarning, stacklevel=2
                )
                return False
            if other.stype not in ("default", self.stype):
                raise errors.no_copy_between(self.stype, other.stype)
            other._refuse_recorded_write("copyto")
            with np.errstate(all="ignore"):
                store(other, self._data)
            return other
        if isinstance(other, Context):
            copied = self.copy()
            copied._ctx = usable(other)
            return copied
        raise errors.no_copy_to(other)

    def tostype(self, stype: str) -> Any:
        """The array in another storage type: ``"default"`` or the one it has."""
        if stype != self.stype and stype in ("csr", "row_sparse"):
            raise StorageError(
                f"cast_storage from {self.stype} to {stype} is not supported\n"
                f"  received  {self.shape} {self.dtype.__name__} {self.stype}\n"
                f"  expected  'default' or {self.stype!r}\n"
                f"  fix       x.tostype('default').tostype('{stype}')"
            )
        return invoke(registry["cast_storage"].call(stype=stype), (self,))

    def check_format(self, full_check: bool = True) -> None:
        """Raise ``MXNetError`` unless the index arrays are valid and in order.

        ``full_check=False`` looks at their lengths and ends only.
        """
        fault = self._fault(full_check)
        if fault:
            raise MXNetError(
                f"check_format: not a valid {self.stype} array.\n"
                f"  received  {self.shape} {self.dtype.__name__} {self.stype}: {fault}\n"
                f"  expected  {self._expected}\n"
                "  fix       sort the indices, or make the array of a dense one or of coordinates"
            )

    _expected = ""

    def _fault(self, full_check: bool) -> str | None:
        raise NotImplementedError

    def broadcast_to(self, shape: Any) -> Any:
        """The array as a dense one, broadcast to ``shape``."""
        return self.tostype("default").broadcast_to(shape)

    def reshape(self, *shape: Any, **kwargs: Any) -> NoReturn:
        """Not supported for sparse arrays."""
        raise NotSupportedForSparseNDArray(self.reshape, None, shape)

    def _with_shape(self, shape: tuple[int, ...]) -> NoReturn:
        raise NotSupportedForSparseNDArray(self.reshape, None, shape)

    def _at(self, idx: int) -> NoReturn:
        raise NotSupportedForSparseNDArray(self._at, "[idx]", idx)

    def _slice(self, start: Any, stop: Any) -> NoReturn:
        raise NotSupportedForSparseNDArray(self._slice, None, start, stop)

    def to_dlpack_for_read(self) -> NoReturn:
        """Not supported for sparse arrays."""
        raise NotSupportedForSparseNDArray(self.to_dlpack_for_read)

    to_dlpack_for_write = to_dlpack_for_read

    def __dlpack__(self, **options: Any) -> NoReturn:
        raise NotSupportedForSparseNDArray(self.__dlpack__)

    def _sync_copyfrom(self, source_array: Any) -> NoReturn:
        raise NotImplementedError("a sparse array is not filled from raw memory: use x[:] = values")

    def __setitem__(self, key: Any, value: Any) -> None:
        self._check_assigned_key(key)
        self._refuse_recorded_write("x[:] = y")
        if isinstance(value, NDArray):
            if value is self:
                return
            if value.stype not in ("default", self.stype):
                raise errors.no_copy_between(value.stype, self.stype)
            value.copyto(self)
        elif isinstance(value, arithmetic.NUMBERS):
            self._fill(value)
        elif isinstance(value, np.ndarray | np.generic):
            store(self, np.ascontiguousarray(value).astype(self._data.dtype))
        else:
            raise errors.not_an_array(value)

    def _check_assigned_key(self, key: Any) -> None:
        name = type(self).__name__
        if not isinstance(key, slice) or key != slice(None):
            raise errors.whole_only(name, key)

    def _fill(self, value: Any) -> None:
        raise NotImplementedError


class CSRNDArray(BaseSparseNDArray):
    """A matrix in compressed sparse rows: row ``i`` holds ``data[indptr[i]:indptr[i+1]]``.

    Examples
    --------
    >>> x = nd.sparse.csr_matrix(([1, 2], [0, 2], [0, 1, 2]), shape=(2, 3))
    >>> x.asnumpy()
    array([[1., 0., 0.],
           [0., 0., 2.]], dtype=float32)
    """

    __slots__ = ()
    _expected = (
        "indptr ascending from 0 to the number of values; columns ascending in each row, "
        "below the number of columns"
    )

    @property
    def indptr(self) -> NDArray:
        """Where each row starts among the stored values, copied; int64."""
        return wrap_dense(self._parts.indptr.copy(), self._ctx)

    @indptr.setter
    def indptr(self, value: Any) -> None:
        raise _cannot_assign("indptr")

    def _aux_arrays(self) -> tuple[np.ndarray, ...]:
        return self._parts.indptr, self._parts.indices

    def _fault(self, full_check: bool) -> str | None:
        return csr_fault(self._parts, in_order=full_check)

    def asscipy(self) -> Any:
        """The array as a ``scipy.sparse.csr_matrix``, copied."""
        from scipy.sparse import csr_matrix

        data = self._data
        parts = (data.values.copy(), data.indices.copy(), data.indptr.copy())
        return csr_matrix(parts, shape=data.shape, dtype=data.dtype)

    def __getitem__(self, key: Any) -> CSRNDArray:
        if isinstance(key, int | np.integer):
            rows = self.shape[0]
            begin = int(key) + rows if key < 0 else int(key)
            if not 0 <= begin < rows:
                raise out_of_range(int(key), 0, rows)
            return self._rows(begin, begin + 1)
        if isinstance(key, slice):
            if key.step not in (None, 1):
                raise errors.no_stepping(key)
            if key.start is None and key.stop is None:
                return self
            begin, end, _ = key.indices(self.shape[0])
            return self._rows(begin, max(begin, end))
        raise errors.no_such_index(key, "an integer or a slice of rows")

    def _rows(self, begin: int, end: int) -> CSRNDArray:
        if self._is_recorded():
            return invoke(registry["slice"].call(begin=(begin,), end=(end,)), (self,))
        data = self._data
        first, last = int(data.indptr[begin]), int(data.indptr[end])
        rows = Csr(
            data.values[first:last].copy(),
            data.indices[first:last],
            data.indptr[begin : end + 1] - first,
            (end - begin, data.shape[1]),
        )
        return wrap_as(CSRNDArray, rows, self._ctx)

    def _fill(self, value: Any) -> None:
        raise errors.no_number_into_csr(value)


class RowSparseNDArray(BaseSparseNDArray):
    """An array of which only some rows are stored: row ``indices[k]`` is ``data[k]``.

    Gradients of embeddings and of products with csr data are of this kind.

    Examples
    --------
    >>> x = nd.sparse.row_sparse_array(([[1, 2]], [1]), shape=(3, 2))
    >>> x.asnumpy()
    array([[0., 0.],
           [1., 2.],
           [0., 0.]], dtype=float32)
    """

    __slots__ = ()
    _expected = "as many values as rows are named; rows ascending and below the number of rows"

    def _aux_arrays(self) -> tuple[np.ndarray, ...]:
        return (self._parts.indices,)

    def _fault(self, full_check: bool) -> str | None:
        return row_sparse_fault(self._parts, in_order=full_check)

    def retain(self, *args: Any, **kwargs: Any) -> RowSparseNDArray:
        """The rows named by the given indices, and no others."""
        from . import sparse

        return sparse.retain(self, *args, **kwargs)

    def __getitem__(self, key: Any) -> RowSparseNDArray:
        if isinstance(key, slice):
            if key == slice(None):
                return self
            raise errors.no_slicing(key)
        if isinstance(key, int | np.integer):
            raise NotImplementedError(
                "__getitem__ with int key is not implemented for RowSparseNDArray yet"
            )
        raise errors.no_such_index(key, "x[:]")

    def _fill(self, value: Any) -> None:
        shape = self.shape
        values = np.empty(shape, self._data.dtype)
        values[...] = value
        self._data.assign(RowSparse(values, np.arange(shape[0], dtype=np.int64), shape))


class _Uncomputable:
    """An array whose given indices lead outside of it: it shows its parts and ``check_format``
    tells the fault. All else raises what ``check_format`` raises, so no kernel can meet it.
    """

    __slots__ = ()

    @property
    def _data(self: Any) -> NoReturn:
        self.check_format()
        raise AssertionError("an array with valid indices")

    @property
    def shape(self: Any) -> tuple[int, ...]:
        return self._parts.shape

    @property
    def dtype(self: Any) -> type:
        return self._parts.dtype.type


class InvalidCSRNDArray(_Uncomputable, CSRNDArray):
    """A csr array that cannot be computed with."""

    __slots__ = ("_parts",)


class InvalidRowSparseNDArray(_Uncomputable, RowSparseNDArray):
    """A row_sparse array that cannot be computed with."""

    __slots__ = ("_parts",)


def wrap_checked(parts: Csr | RowSparse, ctx: Context) -> BaseSparseNDArray:
    """An array of parts a user gave: one of the uncomputable if they lead outside of it.

    Or if a row_sparse one has a row twice: there is no saying which counts.
    """
    if isinstance(parts, Csr):
        valid, invalid, fault = CSRNDArray, InvalidCSRNDArray, csr_fault(parts, in_order=False)
    else:
        valid, invalid = RowSparseNDArray, InvalidRowSparseNDArray
        fault = row_sparse_fault(parts)
    if fault is None:
        return wrap_as(valid, parts, ctx)
    array = new(invalid)
    array._parts, array._entry, array._ctx = parts, None, ctx
    return array


for _cls in (BaseSparseNDArray, CSRNDArray, RowSparseNDArray):
    _cls.__module__ = __name__.replace("sparse_ndarray", "sparse")  # where pickles look for them

wrappers[Csr] = CSRNDArray
wrappers[RowSparse] = RowSparseNDArray


def _cannot_assign(name: str) -> NotImplementedError:
    return NotImplementedError(
        f"{name} of a sparse array cannot be assigned: make a new array, or write x[:] = values"
    )


def csr_fault(x: Csr, in_order: bool = True) -> str | None:
    """What is wrong with the index arrays of a csr storage, or None."""
    if x.values.ndim != 1 or x.indices.shape != x.values.shape:
        return f"{x.values.shape} values for {x.indices.shape} columns"
    if x.indptr.shape != (x.shape[0] + 1,):
        return f"an indptr of shape {x.indptr.shape} for {x.shape[0]} rows"
    if x.indptr[0] != 0 or x.indptr[-1] != x.values.size:
        return f"an indptr from {x.indptr[0]} to {x.indptr[-1]} for {x.values.size} values"
    if (np.diff(x.indptr) < 0).any():
        return "an indptr that falls"
    if x.indices.size:
        low, high = int(x.indices.min()), int(x.indices.max())
        if low < 0 or high >= x.shape[1]:
            return f"column {low if low < 0 else high} of {x.shape[1]}"
        if in_order and x.indices.size > 1:
            rising = np.diff(x.indices) > 0
            starts = x.indptr[1:-1]
            starts = starts[(starts > 0) & (starts < x.indices.size)]
            rising[starts - 1] = True  # a new row may start anywhere
            if not rising.all():
                return "columns that do not ascend within a row"
    return None


def row_sparse_fault(x: RowSparse, in_order: bool = True) -> str | None:
    """What is wrong with the row numbers of a row_sparse storage, or None."""
    if x.indices.ndim != 1 or x.values.shape != (x.indices.size, *x.shape[1:]):
        return f"values of shape {x.values.shape} for {x.indices.size} rows"
    if x.indices.size:
        low, high = int(x.indices.min()), int(x.indices.max())
        if low < 0 or high >= x.shape[0]:
            return f"row {low if low < 0 else high} of {x.shape[0]}"
        if in_order and not (np.diff(x.indices) > 0).all():
            return "rows that do not ascend"
    return None


# ---- arithmetic: + - * of one shape go to the elemwise family, which keeps storages

_ELEMWISE = {"add": "elemwise_add", "sub": "elemwise_sub", "mul": "elemwise_mul"}


def binary(row: Binary, reflected: bool) -> Method:
    """The method of a Python operator whose left (or, reflected, right) operand is sparse."""
    general = arithmetic.binary(row, reflected)
    elemwise = _ELEMWISE.get(row.name)
    if reflected or not elemwise:  # a dense left operand decides: d * c is dense, c * d is csr
        return general

    def method(self: NDArray, other: Any) -> Any:
        if isinstance(other, NDArray) and other.shape == self.shape:
            return invoke(registry[elemwise].call(), (self, other))
        return general(self, other)

    return method


def inplace(row: Binary) -> Method:
    """The method of ``x += y`` for a sparse ``x``, which keeps its storage."""
    general = arithmetic.inplace(row)
    elemwise = _ELEMWISE.get(row.name)

    def method(self: NDArray, other: Any) -> Any:
        if elemwise and isinstance(other, NDArray) and other.shape == self.shape:
            if state.recording and (self._entry is not None or other._entry is not None):
                raise recorded_write(f"in-place {row.name}")
            return invoke(registry[elemwise].call(), (self, other), self)
        return general(self, other)

    return method


def arithmetic_function(name: str, row_name: str) -> Any:
    """``nd.sparse.add`` and the like: equal shapes elementwise, others broadcast."""
    general = arithmetic.FUNCTIONS[name]
    elemwise = {**_ELEMWISE, "truediv": "elemwise_div"}[row_name]

    def made(lhs: Any, rhs: Any) -> Any:
        if isinstance(lhs, NDArray) and isinstance(rhs, NDArray) and lhs.shape == rhs.shape:
            return invoke(registry[elemwise].call(), (lhs, rhs))
        return general(lhs, rhs)

    made.__name__ = made.__qualname__ = name
    made.__doc__ = f"``{name}`` of two arrays (sparse storage is kept where it can be) or numbers."
    return made


FUNCTIONS = {
    name: arithmetic_function(name, row)
    for name, row in (
        ("add", "add"), ("subtract", "sub"), ("multiply", "mul"), ("divide", "truediv"),
    )
}  # fmt: skip
