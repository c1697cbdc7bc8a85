"""What is said when an array is used as it cannot be."""

from __future__ import annotations

from typing import Any

from ..base import ArgumentError, ArgumentTypeError, ShapeError, StorageError, four_lines

#: what csr and row_sparse arrays allow where a part of one is assigned to
_WHOLE = ("x[:] = ...", "assign to all of it, or work on x.tostype('default')")


def not_a_scalar(shape: tuple[int, ...]) -> ArgumentError:
    """An array of several elements, or none, where one is asked for."""
    return ArgumentError(
        four_lines(
            "The current array is not a scalar",
            f"an array of shape {shape}",
            "one element",
            "pick an element, or reduce the array (x.sum())",
        )
    )


def no_single_truth(shape: tuple[int, ...]) -> ArgumentError:
    """An array of several elements where a condition stands."""
    return ArgumentError(
        four_lines(
            "The truth value of an NDArray with multiple elements is ambiguous.",
            f"an array of shape {shape}",
            "one element",
            "reduce it first, for example with (x > 0).min()",
        )
    )


def no_number(wanted: str, shape: tuple[int, ...]) -> ArgumentTypeError:
    """An array of several elements where Python wants a number."""
    return ArgumentTypeError(
        four_lines(
            f"only an array of one element converts to {wanted}",
            f"an array of shape {shape}",
            "one element",
            "pick an element, or reduce the array",
        )
    )


def no_index(dtype: Any) -> ArgumentTypeError:
    """An array of floats where Python wants an index."""
    return ArgumentTypeError(
        four_lines(
            "only an integer array can be an index",
            f"an array of {dtype}",
            "an integer type",
            "convert it: x.astype('int64')",
        )
    )


def no_copy_to(other: Any) -> ArgumentTypeError:
    """A target of ``copyto`` that is neither an array nor a context."""
    return ArgumentTypeError(
        four_lines(
            f"copyto does not support type {type(other)}",
            f"{other!r:.60}",
            "an NDArray or a Context",
            "use asnumpy() for other libraries",
        )
    )


def no_copy_between(source: str, target: str) -> ArgumentTypeError:
    """A copy from one sparse storage into the other."""
    return ArgumentTypeError(
        four_lines(
            f"copyto does not support destination NDArray stype {target}",
            f"a {source} array into a {target} one",
            f"a target stored as default or {source}",
            "go through x.tostype('default')",
        )
    )


def no_matrix(shape: tuple[int, ...]) -> StorageError:
    """An array of other than two dimensions that is to become csr."""
    return StorageError(
        four_lines(
            f"To convert to a CSR, the NDArray should be 2 Dimensional. Current shape is {shape}",
            f"an array of shape {shape}",
            "two dimensions",
            "reshape it first, or use row_sparse",
        )
    )


def unknown_keywords(unknown: list[str]) -> ArgumentTypeError:
    """Keywords that ``reshape`` does not have."""
    return ArgumentTypeError(
        four_lines(
            f"Got unknown keywords in reshape: {', '.join(unknown)}. "
            "Accepted keyword arguments are 'shape' and 'reverse'.",
            ", ".join(f"{k}=..." for k in unknown),
            "shape and reverse",
            "leave the others out",
        )
    )


def no_shape() -> ArgumentError:
    """``reshape()`` of nothing."""
    return ArgumentError(
        four_lines("Shape must be provided.", "reshape()", "a shape", "pass one: reshape((2, -1))")
    )


def no_axis(axis: int, ndim: int) -> ArgumentError:
    """An axis beyond the dimensions."""
    return ArgumentError(
        four_lines(
            f"axis {axis} is out of range for {ndim}d array",
            f"axis={axis}",
            f"an axis of an array of {ndim} dimensions",
            "choose another axis",
        )
    )


def axis_repeated(axis: Any) -> ArgumentError:
    """One axis named twice."""
    return ArgumentError(
        four_lines(
            f"axis {axis} contains duplicate which is not allowed.",
            f"axis={axis}",
            "each axis once",
            "name an axis once",
        )
    )


def axis_not_of_length_one(axis: int, shape: tuple[int, ...]) -> ArgumentError:
    """An axis that holds more than ``squeeze`` may drop."""
    return ArgumentError(
        four_lines(
            f"Squeeze target axis {axis} must be size 1, got {shape[axis]}.",
            f"axis={axis} for an array of shape {shape}",
            "axes of length 1",
            "leave the axis out, or reshape",
        )
    )


def other_shape(source: tuple[int, ...], shape: tuple[int, ...]) -> ShapeError:
    """Values of another shape than the array they are copied into."""
    return ShapeError(
        four_lines(
            f"Shape inconsistent: expected {source} vs got {shape}",
            f"values of shape {source} for an array of shape {shape}",
            f"shape {shape}",
            "reshape the values",
        )
    )


def not_assignable(cls: type, value: Any) -> ArgumentTypeError:
    """Something assigned to a part of an array that numpy makes no numbers of."""
    return ArgumentTypeError(
        four_lines(
            f"{cls} does not support assignment with non-array-like object {value!r:.80} of type "
            f"{type(value)}",
            f"{value!r:.60}",
            "a number, or an array or nested lists of numbers",
            "convert it with np.array",
        )
    )


def whole_only(name: str, key: Any) -> ArgumentTypeError | StorageError:
    """An assignment to a part of a sparse array."""
    came = f"x[{key!r:.60}] = ..."
    if isinstance(key, slice):
        what = f"Assignment with slice for {name} is not implemented yet."
        return StorageError(four_lines(what, came, *_WHOLE))
    what = f"{name} only supports [:] for assignment"
    return ArgumentTypeError(four_lines(what, came, *_WHOLE))


def not_an_array(value: Any) -> ArgumentTypeError:
    """Something assigned to a sparse array that is none."""
    return ArgumentTypeError(
        four_lines(
            f"type {type(value)} not supported",
            f"{value!r:.60}",
            "an NDArray or a numpy array",
            "convert it with mx.nd.array",
        )
    )


def no_number_into_csr(value: Any) -> StorageError:
    """One number for all of a csr matrix."""
    return StorageError(
        four_lines(
            "Assigning numeric types to CSRNDArray is not implemented yet.",
            f"x[:] = {value}",
            "an array",
            "assign an array, or make a new one",
        )
    )


def no_stepping(key: slice) -> StorageError:
    """Rows of a csr matrix with gaps between them."""
    return StorageError(
        four_lines(
            "CSRNDArray only supports continuous slicing on axis 0",
            f"x[{key}]",
            "a step of 1",
            "slice without a step, or x.tostype('default') first",
        )
    )


def no_slicing(key: slice) -> StorageError:
    """Some rows of a row_sparse array."""
    return StorageError(
        four_lines(
            "RowSparseNDArray only supports [:] for __getitem__",
            f"x[{key}]",
            "x[:]",
            "x.tostype('default') first, or x.retain(rows)",
        )
    )


def no_such_index(key: Any, expected: str) -> StorageError:
    """A key that sparse arrays do not take."""
    several = isinstance(key, tuple)
    what = (
        "Multi-dimension indexing is not supported" if several else f"Undefined behaviour for {key}"
    )
    return StorageError(four_lines(what, f"x[{key!r:.60}]", expected, "x.tostype('default') first"))
