"""``mx.nd.sparse``: constructors of csr and row_sparse arrays, and operators on them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import storage
from ..base import (
    ArgumentError,
    ArgumentTypeError,
    IndexOutOfRange,
    MXNetError,
    ShapeError,
    StorageError,
    four_lines,
)
from ..context import Context, usable
from ..core.invoke import invoke
from ..core.namespace import operator_namespace
from ..core.op import registry
from ..dtypes import as_dtype
from ..kernels.distinct import as_ids
from ..storage import Csr, RowSparse
from .ndarray import NDArray, wrap_as
from .shapes import as_shape
from .sparse_ndarray import (
    FUNCTIONS,
    BaseSparseNDArray,
    CSRNDArray,
    RowSparseNDArray,
    wrap_checked,
)

add, subtract, multiply, divide = (FUNCTIONS[n] for n in ("add", "subtract", "multiply", "divide"))

__getattr__, __dir__ = operator_namespace(globals(), kind="nd", space="sparse")


def csr_matrix(
    arg1: Any, shape: Any = None, ctx: Context | None = None, dtype: Any = None
) -> CSRNDArray:
    """A matrix in compressed sparse rows.

    ``arg1`` is ``(data, indices, indptr)``, ``(data, (row, col))``, a shape ``(M, N)``, or a
    matrix: dense (NDArray, numpy, list), csr, or any of scipy's. Without ``dtype`` it is that of
    the data, float32 for lists. Coordinates given twice are summed.

    Raises ``ShapeError`` if ``shape`` differs from the source's or cannot be worked out.
    """
    ctx = usable(ctx)
    if isinstance(arg1, tuple):
        if len(arg1) == 2 and not _is_number(arg1[0]):
            made = _csr_of_coordinates(arg1[0], arg1[1], shape, dtype)
        elif len(arg1) == 2:
            given = as_shape(arg1)
            _check_shape(given, shape)
            made = storage.zeros("csr", _positive(given), as_dtype(dtype))
        elif len(arg1) == 3:
            return wrap_checked(_csr_of_parts(*arg1, shape, dtype), ctx)
        else:
            raise _unexpected_tuple(
                "csr_matrix", arg1, "(data, indices, indptr) or (data, (row, col))"
            )
    elif isinstance(arg1, RowSparseNDArray):
        raise _unexpected_type("csr_matrix", arg1)
    elif isinstance(arg1, CSRNDArray):
        _check_shape(arg1.shape, shape)
        made = _with_dtype(arg1._data.copy(), dtype)
    elif _is_scipy(arg1):
        _check_shape(arg1.shape, shape)
        made = _csr_of_scipy(arg1, dtype)
    else:
        values = _dense_values(arg1, dtype)
        _check_shape(values.shape, shape)
        if values.ndim != 2:
            raise _needs_two_dimensions(values.shape)
        made = storage.to_csr(values)
    return wrap_as(CSRNDArray, made, ctx)


def row_sparse_array(
    arg1: Any, shape: Any = None, ctx: Context | None = None, dtype: Any = None
) -> RowSparseNDArray:
    """An array of which only some rows are stored.

    ``arg1`` is ``(data, indices)`` with one row of data per index, a shape, or an array: dense
    (NDArray, numpy, list) or row_sparse. Without ``dtype`` it is that of the data, float32 for
    lists.

    Raises ``ShapeError`` if ``shape`` differs from the source's or cannot be worked out.
    """
    ctx = usable(ctx)
    if isinstance(arg1, tuple):
        if len(arg1) < 2:
            raise _unexpected_tuple("row_sparse_array", arg1, "(data, indices)")
        if len(arg1) > 2 or _is_number(arg1[0]):
            given = as_shape(arg1)
            _check_shape(given, shape)
            made = storage.zeros("row_sparse", _positive(given), as_dtype(dtype))
        else:
            return wrap_checked(_row_sparse_of_parts(arg1[0], arg1[1], shape, dtype), ctx)
    elif isinstance(arg1, CSRNDArray):
        raise _unexpected_type("row_sparse_array", arg1)
    elif isinstance(arg1, RowSparseNDArray):
        _check_shape(arg1.shape, shape)
        made = _with_dtype(arg1._data.copy(), dtype)
    elif _is_scipy(arg1):
        raise ArgumentTypeError(
            four_lines(
                "row_sparse_array does not take scipy matrices",
                type(arg1).__name__,
                "(data, indices), a shape, or an array",
                "use csr_matrix for scipy's matrices",
            )
        )
    else:
        values = _dense_values(arg1, dtype)
        _check_shape(values.shape, shape)
        made = storage.cast(values, "row_sparse")
    return wrap_as(RowSparseNDArray, made, ctx)


def array(source_array: Any, ctx: Context | None = None, dtype: Any = None) -> BaseSparseNDArray:
    """A sparse array of a sparse one: csr, row_sparse, or scipy's csr (put in canonical form)."""
    if isinstance(source_array, RowSparseNDArray):
        return row_sparse_array(source_array, ctx=ctx, dtype=dtype)
    if isinstance(source_array, CSRNDArray):
        return csr_matrix(source_array, ctx=ctx, dtype=dtype)
    if isinstance(source_array, NDArray):
        raise ArgumentError(
            four_lines(
                "Please use `tostype` to create RowSparseNDArray or CSRNDArray from an NDArray",
                f"a dense array of shape {source_array.shape}",
                "a sparse array",
                "x.tostype('csr') or x.tostype('row_sparse')",
            )
        )
    if _is_scipy(source_array):
        return wrap_as(CSRNDArray, _csr_of_scipy(source_array, dtype), usable(ctx))
    if isinstance(source_array, np.ndarray | np.generic):
        raise ArgumentError(
            four_lines(
                "Please use mx.nd.array to create an NDArray with source_array of type "
                f"{type(source_array)}",
                f"a numpy array of shape {source_array.shape}",
                "a sparse array",
                "mx.nd.array(x), and tostype after it",
            )
        )
    raise ArgumentError(
        four_lines(
            f"Unexpected source_array type: {type(source_array)}",
            f"{source_array!r:.60}",
            "a csr, row_sparse or scipy csr array",
            "use csr_matrix or row_sparse_array",
        )
    )


def _unexpected_tuple(function: str, given: tuple[Any, ...], expected: str) -> ArgumentError:
    return ArgumentError(
        four_lines(
            f"Unexpected length of input tuple: {len(given)}",
            f"{function} of {len(given)} parts",
            expected,
            "pass such a tuple",
        )
    )


def _unexpected_type(function: str, given: Any) -> ArgumentError:
    return ArgumentError(
        four_lines(
            f"Unexpected input type: {type(given).__name__}",
            f"{function}({type(given).__name__})",
            "a dense array, or one stored so already",
            "x.tostype('default') first",
        )
    )


def zeros(
    stype: str, shape: Any, ctx: Context | None = None, dtype: Any = None, **kwargs: Any
) -> NDArray:
    """An array of zeros in the given storage; sparse ones store nothing."""
    unknown = [k for k in kwargs if k != "aux_types"]
    if unknown:
        raise MXNetError(f"sparse.zeros: Cannot find argument '{unknown[0]}'")
    if stype not in storage.TYPES:
        raise _unknown_stype("zeros", stype, storage.TYPES)
    shape = as_shape(shape)
    if stype == "csr" and len(shape) != 2:
        raise _needs_two_dimensions(shape)
    made = storage.zeros(stype, _positive(shape), as_dtype(dtype))
    return wrap_as(_CLASSES[stype], made, usable(ctx))


def empty(stype: str, shape: Any, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """A sparse array that stores nothing yet; the same as ``zeros``."""
    if stype not in ("csr", "row_sparse"):
        raise _unknown_stype("empty", stype, ("csr", "row_sparse"))
    return zeros(stype, shape, ctx, dtype)


def _unknown_stype(what: str, stype: Any, expected: Iterable[str]) -> StorageError:
    words = ", ".join(map(repr, expected))
    return StorageError(
        f"{what}: unknown storage type {stype!r}.\n  received  stype={stype!r}\n"
        f"  expected  one of {words}\n  fix       pass one of these"
    )


def retain(
    data: RowSparseNDArray, indices: Any, out: Any = None, **kwargs: Any
) -> RowSparseNDArray:
    """The rows of a row_sparse array named by the indices, and no others."""
    kwargs.pop("name", None)
    if kwargs:
        raise MXNetError(f"retain: Cannot find argument '{next(iter(kwargs))}'")
    if not isinstance(indices, NDArray):
        indices = wrap_as(NDArray, _index_values(indices), data._ctx)
    return invoke(registry["_sparse_retain"].call(), (data, indices), out)


_CLASSES = {"default": NDArray, "csr": CSRNDArray, "row_sparse": RowSparseNDArray}


def _csr_of_parts(data: Any, indices: Any, indptr: Any, shape: Any, dtype: Any) -> Csr:
    values = _dense_values(data, dtype)
    columns, starts = _index_values(indices), _index_values(indptr)
    if values.ndim != 1 or columns.ndim != 1 or starts.ndim != 1 or starts.size == 0:
        raise _invalid_shape(f"data {values.shape}, indices {columns.shape}, indptr {starts.shape}")
    if shape is None:
        if columns.size == 0:
            raise _invalid_shape("no indices to work the number of columns out from")
        shape = (starts.size - 1, int(columns.max()) + 1)
    shape = as_shape(shape)
    if len(shape) != 2:
        raise _invalid_shape(f"shape={shape}: a csr matrix has two dimensions")
    if values.shape != columns.shape:
        raise ShapeError(f"csr_matrix: {values.size} values and {columns.size} indices")
    return Csr(values, columns, starts, shape)


def _csr_of_coordinates(data: Any, coordinates: Any, shape: Any, dtype: Any) -> Csr:
    """Coordinates to csr: rows and columns sorted, values of equal places summed."""
    values = _dense_values(data, dtype)
    rows, columns = (_index_values(c) for c in coordinates)
    if (
        not values.ndim == rows.ndim == columns.ndim == 1
        or not values.size == rows.size == columns.size
    ):
        raise _invalid_shape(f"data {values.shape}, row {rows.shape}, col {columns.shape}")
    if shape is None:
        if rows.size == 0:
            raise ArgumentError(
                four_lines(
                    "cannot infer dimensions from zero sized index arrays",
                    "no coordinates and no shape",
                    "a shape",
                    "pass shape=(rows, columns)",
                )
            )
        shape = (int(rows.max()) + 1, int(columns.max()) + 1)
    shape = as_shape(shape)
    if len(shape) != 2:
        raise _invalid_shape(f"shape={shape}: a csr matrix has two dimensions")
    for index, size, axis in ((rows, shape[0], "row"), (columns, shape[1], "column")):
        if index.size and int(index.max()) >= size:
            raise _bad_coordinate(f"{axis} index exceeds matrix dimensions", int(index.max()), size)
        if index.size and int(index.min()) < 0:
            raise _bad_coordinate(f"negative {axis} index found", int(index.min()), size)
    return _sorted_csr(values, rows, columns, shape)


def _bad_coordinate(what: str, index: int, size: int) -> ArgumentError:
    return ArgumentError(
        four_lines(what, f"index {index}", f"0 to {size - 1}", "correct it, or give a larger shape")
    )


def _sorted_csr(
    values: np.ndarray, rows: np.ndarray, columns: np.ndarray, shape: tuple[int, ...]
) -> Csr:
    order = np.lexsort((columns, rows))
    values, rows, columns = values[order], rows[order], columns[order]
    first = np.ones(rows.size, np.bool_)  # where a place stands for the first time
    first[1:] = (np.diff(rows) != 0) | (np.diff(columns) != 0)
    if not first.all():
        values = np.add.reduceat(values, np.flatnonzero(first), dtype=values.dtype)
        rows, columns = rows[first], columns[first]
    indptr = np.zeros(shape[0] + 1, np.int64)
    np.cumsum(np.bincount(rows, minlength=shape[0]), out=indptr[1:])
    return Csr(values, columns, indptr, shape)


def _csr_of_scipy(matrix: Any, dtype: Any) -> Csr:
    matrix = matrix.tocsr()
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    values = matrix.data.astype(as_dtype(dtype if dtype is not None else matrix.dtype))
    index = [a.astype(np.int64) for a in (matrix.indices, matrix.indptr)]
    return Csr(values, *index, tuple(map(int, matrix.shape)))


def _row_sparse_of_parts(data: Any, indices: Any, shape: Any, dtype: Any) -> RowSparse:
    values, rows = _dense_values(data, dtype), _index_values(indices)
    if shape is None:
        if rows.size == 0:
            raise _invalid_shape("no indices to work the number of rows out from")
        shape = (int(rows.max()) + 1, *values.shape[1:])
    shape = as_shape(shape)
    if values.ndim != len(shape) or rows.ndim != 1 or min(shape, default=0) < 1:
        raise _invalid_shape(f"data {values.shape}, indices {rows.shape}, shape={shape}")
    if values.shape != (rows.size, *shape[1:]):
        raise ShapeError(
            "row_sparse_array: the data does not fit.\n"
            f"  received  data {values.shape}, {rows.size} indices, shape={shape}\n"
            f"  expected  data {(rows.size, *shape[1:])}: one row of the array per index\n"
            "  fix       reshape the data, or leave shape away"
        )
    if (rows[1:] < rows[:-1]).any():  # storages have them ascending
        order = np.argsort(rows, kind="stable")
        values, rows = values[order], rows[order]
    return RowSparse(values, rows, shape)


def _dense_values(source: Any, dtype: Any) -> np.ndarray:
    """The source as a numpy array that is nobody else's, float32 unless it has a dtype."""
    if isinstance(source, NDArray):
        source = storage.densify(source._data)
    elif not isinstance(source, np.ndarray | np.generic) and dtype is None:
        dtype = np.float32
    try:
        values = np.array(source, None if dtype is None else as_dtype(dtype), order="C")
    except (ValueError, TypeError) as error:
        if isinstance(error, MXNetError):
            raise
        raise ArgumentTypeError(
            four_lines(
                "source_array must be array like object",
                "something that numpy makes no array of",
                "an array, or nested lists of equal lengths",
                "convert it with np.array",
            )
        ) from error
    as_dtype(values.dtype)
    return values


def _index_values(source: Any) -> np.ndarray:
    """The source as int64 that is nobody else's; raises if it holds no exact whole numbers."""
    if isinstance(source, NDArray):
        source = storage.densify(source._data)
    given = np.asarray(source)
    if given.dtype.kind != "f":
        return np.array(given, np.int64)
    places = as_ids(given).reshape(given.shape)
    if not np.array_equal(places, given):
        raise IndexOutOfRange(
            four_lines(
                "indices have to be whole numbers",
                f"{given[places != given][0]} among {given.size} {given.dtype} indices",
                "0, 1, 2, ...",
                "round them, or look for the place where they were computed",
            )
        )
    return places


def _with_dtype(made: Any, dtype: Any) -> Any:
    if dtype is None or as_dtype(dtype) == made.dtype:
        return made
    return made.with_values(made.values.astype(as_dtype(dtype)))


def _is_number(value: Any) -> bool:
    return isinstance(value, int | np.integer)


def _is_scipy(value: Any) -> bool:
    return type(value).__module__.startswith("scipy.sparse")


def _positive(shape: tuple[int, ...]) -> tuple[int, ...]:
    if not shape or min(shape) < 1:
        raise ShapeError(
            f"a sparse array cannot be made in this shape.\n  received  shape={shape}\n"
            "  expected  one or more dimensions of at least 1\n  fix       give the full shape"
        )
    return shape


def _check_shape(have: tuple[int, ...], wanted: Any) -> None:
    if wanted is not None and tuple(have) != as_shape(wanted):
        raise ShapeError(f"Shape mismatch detected. {tuple(have)} v.s. {as_shape(wanted)}")


def _needs_two_dimensions(shape: tuple[int, ...]) -> ShapeError:
    return ShapeError(
        f"To convert to a CSR, the NDArray should be 2 Dimensional. Current shape is {tuple(shape)}"
    )


def _invalid_shape(detail: str) -> ShapeError:
    return ShapeError(
        f"invalid shape: the parts of a sparse array do not fit.\n  received  {detail}\n"
        "  expected  csr: data and indices of one length, indptr of rows + 1; row_sparse: one row\n"
        "            of data per index\n  fix       give the parts in these shapes, and shape="
    )
