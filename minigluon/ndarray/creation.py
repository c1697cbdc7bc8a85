"""Making arrays: of values, of zeros, of ranges, of other libraries' memory, and of files."""

from __future__ import annotations

import os
from math import ceil
from typing import Any

import numpy as np

from .. import storage
from ..base import (
    ArgumentError,
    ArgumentTypeError,
    AttributeValueError,
    MXNetError,
    ShapeError,
    four_lines,
)
from ..context import Context, usable
from ..core.invoke import invoke, wrap
from ..core.op import registry
from ..core.state import state
from ..core.store import store
from ..dtypes import FLAGS, as_dtype
from . import serialize, sparse
from .indexing import cast_scalar
from .ndarray import NDArray, wrap_dense
from .shapes import as_shape


def array(source_array: Any, ctx: Context | None = None, dtype: Any = None) -> NDArray:
    """An array of the values of a list, number, numpy array, NDArray, or sparse matrix.

    The dtype is float32 unless given; NDArrays and sparse sources keep theirs. Sparse sources
    (NDArrays and scipy's csr) give sparse arrays.

    Examples
    --------
    >>> nd.array([[1, 2], [3, 4]]).asnumpy()
    array([[1., 2.],
           [3., 4.]], dtype=float32)
    """
    ctx = usable(ctx)
    if isinstance(source_array, NDArray):
        if source_array.stype != "default":
            return sparse.array(source_array, ctx, dtype)
        data = source_array._data
        return wrap_dense(data.astype(data.dtype if dtype is None else as_dtype(dtype)), ctx)
    kind = type(source_array)
    if kind.__module__.startswith("scipy.sparse") and source_array.format == "csr":
        return sparse.array(source_array, ctx, dtype)
    target = as_dtype(dtype)
    if kind is np.ndarray:
        if source_array.dtype == target:
            return wrap_dense(source_array.copy(), ctx)
        with np.errstate(all="ignore"):
            return wrap_dense(_real(source_array).astype(target, order="C"), ctx)
    if not isinstance(source_array, str | dict | set):
        try:
            return wrap_dense(np.array(source_array, target, order="C"), ctx)
        except OverflowError:
            with np.errstate(all="ignore"):
                return wrap_dense(np.array(source_array).astype(target), ctx)
        except (TypeError, ValueError) as error:
            raise _not_array_like(source_array) from error
    raise _not_array_like(source_array)


def _real(values: np.ndarray) -> np.ndarray:
    return values.real if values.dtype.kind == "c" else values


def _not_array_like(source: Any) -> ArgumentTypeError:
    return ArgumentTypeError(
        "source_array must be array like object\n"
        f"  received  {source!r:.60} of type {type(source)}\n"
        "  expected  a number, nested lists of equal lengths, a numpy array or an NDArray\n"
        "  fix       bring it to such a form, for example with np.array"
    )


def _full_shape(shape: Any, what: str) -> tuple[int, ...]:
    """The shape, which has to be known completely unless numpy shapes are switched on."""
    shape = as_shape(shape)
    if (not shape or 0 in shape) and not state.np_shape:
        raise ShapeError(
            f"{what}: the shape is not known completely.\n  received  shape={shape}\n"
            "  expected  one or more dimensions of at least 1: 0 means unknown in MXNet\n"
            "  fix       give the full shape, or work within mx.util.np_shape()"
        )
    return shape


def _made(make: Any, shape: Any, dtype: Any, what: str) -> np.ndarray:
    """``make(shape, dtype)``; numpy checks plain shapes as it goes (0.4 us less)."""
    if type(shape) is tuple and shape and 0 not in shape:
        try:
            return make(shape, as_dtype(dtype))  # type: ignore[no-any-return]
        except (TypeError, ValueError, OverflowError):
            pass  # told below
    return make(_full_shape(shape, what), as_dtype(dtype))  # type: ignore[no-any-return]


def zeros(
    shape: Any,
    ctx: Context | None = None,
    dtype: Any = None,
    stype: str | None = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """An array of zeros; with ``stype="csr"`` or ``"row_sparse"`` one that stores nothing."""
    if kwargs:
        _refuse_keywords("zeros", kwargs)
    if stype is not None and stype != "default":
        return sparse.zeros(stype, shape, ctx, dtype)
    return _put(_made(np.zeros, shape, dtype, "zeros"), ctx, out)


def ones(
    shape: Any,
    ctx: Context | None = None,
    dtype: Any = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """An array of ones."""
    _refuse_keywords("ones", kwargs)
    made = _made(np.empty, shape, dtype, "ones")
    made.fill(1)  # np.ones takes 0.5 us more
    return _put(made, ctx, out)


def empty(
    shape: Any, ctx: Context | None = None, dtype: Any = None, stype: str | None = None
) -> NDArray:
    """An array whose values are whatever was in memory; sparse ones store nothing."""
    if stype is not None and stype != "default":
        return sparse.empty(stype, shape, ctx, dtype)
    return wrap_dense(np.empty(as_shape(shape), as_dtype(dtype)), usable(ctx))


def full(
    shape: Any,
    val: Any,
    ctx: Context | None = None,
    dtype: Any = np.float32,
    out: NDArray | None = None,
) -> NDArray:
    """An array filled with a number, or with an array that is broadcast."""
    made = _made(np.empty, shape, dtype, "full")
    if isinstance(val, int | float | np.number):
        made[...] = cast_scalar(val, made.dtype)
    else:
        wrap_dense(made, None)[:] = val
    return _put(made, ctx, out)


def arange(
    start: float,
    stop: float | None = None,
    step: float = 1.0,
    repeat: int = 1,
    infer_range: bool | None = None,
    ctx: Context | None = None,
    dtype: Any = np.float32,
) -> NDArray:
    """Numbers from ``start`` up to, and without, ``stop``, each ``repeat`` times.

    With one number it counts from 0 to that. Whole numbers are exact in integer dtypes.
    """
    if stop is None:
        start, stop = 0, start
    dtype = np.dtype(np.float64) if dtype is None else as_dtype(dtype)
    _check_range(start, stop, step, repeat)
    if step == int(step):
        step = int(step)
    whole = all(isinstance(x, int | np.integer) for x in (start, stop, step))
    count = -((int(start) - int(stop)) // int(step)) if whole else ceil((stop - start) / step)
    values = np.arange(count, dtype=np.int64 if dtype.kind in "iub" else dtype)
    if whole and dtype.kind in "iub":
        values = values * int(step) + int(start)
    else:
        values = values * dtype.type(step) + dtype.type(start)
    return wrap_dense(np.repeat(values, repeat).astype(dtype, copy=False), usable(ctx))


def _check_range(start: float, stop: float, step: float, repeat: int) -> None:
    problem = None
    if step == 0:
        problem = "a step other than 0"
    elif (stop - start) / step <= 0:
        problem = "Invalid range: one that has at least one number"
    elif repeat < 1:
        problem = "repeat of at least 1"
    if problem:
        raise AttributeValueError(
            f"arange: nothing to make.\n  received  start={start}, stop={stop}, step={step}, "
            f"repeat={repeat}\n  expected  {problem}\n  fix       change the bounds or the step"
        )


def linspace(
    start: float,
    stop: float,
    num: int,
    endpoint: bool = True,
    ctx: Context | None = None,
    dtype: Any = np.float32,
) -> NDArray:
    """``num`` evenly spaced numbers from ``start`` to ``stop``; integer dtypes round down."""
    if not isinstance(num, int | np.integer) or num < 0:
        raise AttributeValueError(
            f"linspace: num is not valid.\n  received  num={num!r}\n"
            "  expected  an integer of 0 or more\n  fix       pass such an integer"
        )
    dtype = as_dtype(dtype)
    values = np.linspace(start, stop, num, endpoint)
    if dtype.kind != "f":
        values = np.floor(values)
    return wrap_dense(values.astype(dtype), usable(ctx))


def eye(
    N: int,
    M: int = 0,
    k: int = 0,
    ctx: Context | None = None,
    dtype: Any = None,
    out: NDArray | None = None,
    **kwargs: Any,
) -> NDArray:
    """A matrix of ``N`` rows (and ``M`` columns) with ones on its ``k``-th diagonal."""
    _refuse_keywords("eye", kwargs)
    rows, columns = as_shape((N, M if M > 0 else N))
    return _put(np.eye(rows, columns, int(k), as_dtype(dtype)), ctx, out)


def _put(made: np.ndarray, ctx: Context | None, out: NDArray | None) -> NDArray:
    """The new values as an array, or in the one that was given for them."""
    if out is None:
        return wrap_dense(made, usable(ctx))
    out._refuse_recorded_write("out=")
    store(out, made)
    return out


def _refuse_keywords(function: str, kwargs: dict[str, Any]) -> None:
    kwargs.pop("name", None)
    if kwargs:
        raise AttributeValueError(f"{function}: Cannot find argument '{next(iter(kwargs))}'")


# ---- rearranging


def concatenate(arrays: list[NDArray], axis: int = 0, always_copy: bool = True) -> NDArray:
    """Arrays joined along an axis; a single one is returned as it is if ``always_copy=False``."""
    if not isinstance(arrays, list | tuple) or not arrays:
        raise ArgumentTypeError(
            four_lines(
                "concatenate: nothing to join.",
                f"{arrays!r:.80}",
                "a list of one or more NDArrays",
                "pass such a list",
            )
        )
    first = arrays[0]
    if len(arrays) == 1 and not always_copy:
        return first
    for other in arrays:
        if other.ndim != first.ndim or other.dtype is not first.dtype:
            shown = ", ".join(f"{x.shape} {x.dtype.__name__}" for x in arrays)
            raise ArgumentError(
                four_lines(
                    "concatenate: the arrays do not go together.",
                    shown,
                    "equal dtypes, and equal numbers of dimensions",
                    "convert with astype, or reshape",
                )
            )
    return invoke(registry["Concat"].call(dim=axis), tuple(arrays))


def moveaxis(tensor: NDArray, source: Any, destination: Any) -> NDArray:
    """The array with axes ``source`` moved to ``destination``, the others in their order."""
    moved = _axes(source, tensor.ndim, "Source")
    places = _axes(destination, tensor.ndim, "Destination")
    if len(moved) != len(places):
        raise ArgumentError(
            four_lines(
                "`source` and `destination` arguments must have the same number of elements",
                f"source={source}, destination={destination}",
                "a place for each axis that moves",
                "make them equally long",
            )
        )
    if len(set(moved)) < len(moved) or len(set(places)) < len(places):
        raise ArgumentError(
            four_lines(
                "moveaxis: repeated axis.",
                f"source={source}, destination={destination}",
                "each axis once",
                "name an axis once",
            )
        )
    order = [axis for axis in range(tensor.ndim) if axis not in moved]
    for place, axis in sorted(zip(places, moved, strict=True)):
        order.insert(place, axis)
    return invoke(registry["transpose"].call(axes=tuple(order)), (tensor,))


def _axes(axes: Any, ndim: int, what: str) -> list[int]:
    listed = [axes] if isinstance(axes, int | np.integer) else list(axes)
    for axis in listed:
        if not -ndim <= axis < ndim:
            raise ArgumentError(
                four_lines(
                    f"{what} should verify 0 <= axis < tensor.ndim. Got {axis}",
                    f"axis {axis} of an array of {ndim} dimensions",
                    f"axes from {-ndim} to {ndim - 1}",
                    "choose such an axis",
                )
            )
    return [int(axis) % ndim for axis in listed]


def split_v2(
    ary: NDArray, indices_or_sections: Any, axis: int = 0, squeeze_axis: bool = False
) -> Any:
    """An array cut along an axis into equal sections, or before each of the given indices.

    A single piece is returned bare, as MXNet does.
    """
    indices: tuple[int, ...] = ()
    sections = 0
    if isinstance(indices_or_sections, int | np.integer):
        sections = int(indices_or_sections)
        if sections < 1 or ary.shape[axis] % sections:
            raise ArgumentError(
                four_lines(
                    "array split does not result in an equal division",
                    f"{indices_or_sections} parts of {ary.shape} along axis {axis}",
                    "a number that divides the length of the axis",
                    "choose another number, or give the places to cut at",
                )
            )
    elif isinstance(indices_or_sections, tuple | list):
        indices = (0, *map(int, indices_or_sections))
    else:
        raise ArgumentError(
            four_lines(
                "indices_or_sections must either int or tuple of ints",
                f"{indices_or_sections!r:.60}",
                "a number of parts, or the places to cut at",
                "pass one of these",
            )
        )
    call = registry["_split_v2"].call(
        indices=indices, axis=axis, squeeze_axis=squeeze_axis, sections=sections
    )
    return invoke(call, (ary,))


def onehot_encode(indices: NDArray, out: NDArray) -> NDArray:
    """Write a one-hot row for each index into ``out``; rows stay zero for indices outside of it."""
    rows, depth = out.shape
    picked = indices._data.astype(np.int64).reshape(-1)
    encoded = np.zeros((rows, depth), out._data.dtype)
    inside = np.flatnonzero((picked >= 0) & (picked < depth))
    encoded[inside, picked[inside]] = 1
    store(out, encoded)
    return out


def histogram(a: NDArray, bins: Any = 10, range: Any = None) -> tuple[NDArray, NDArray]:
    """How many values fall into each bin, and the edges of the bins; the last edge is closed."""
    values = storage.densify(a._data).reshape(-1)
    if isinstance(bins, NDArray):
        edges = bins._data
        if edges.ndim != 1 or edges.size < 2 or (np.diff(edges) < 0).any():
            raise _bad_bins(f"edges {edges!s:.80}", "two or more edges that do not fall")
        counts = np.histogram(values.astype(np.float64), edges.astype(np.float64))[0]
        return wrap_dense(counts.astype(np.int64), a._ctx), wrap_dense(edges.copy(), a._ctx)
    if not isinstance(bins, int | np.integer):
        raise ArgumentError(
            four_lines(
                "bins argument should be either an integer or an NDArray",
                f"bins={bins!r:.60}",
                "a number of bins, or their edges as an NDArray",
                "pass one of these",
            )
        )
    if bins < 1:
        raise _bad_bins(f"bins={bins}", "a number of bins of at least 1")
    if range is not None and range[0] > range[1]:
        raise _bad_bins(f"range={range}", "a range whose first number is not above its second")
    counts, edges = np.histogram(values, int(bins), range)
    dtype = values.dtype if values.dtype.kind == "f" else np.dtype(np.float32)
    counted = counts.astype(dtype if range is None else np.int64)
    return wrap_dense(counted, a._ctx), wrap_dense(edges.astype(dtype), a._ctx)


def _bad_bins(received: str, expected: str) -> AttributeValueError:
    return AttributeValueError(
        f"histogram: bins is not valid.\n  received  {received}\n  expected  {expected}\n"
        "  fix       pass such bins"
    )


# ---- other libraries' memory


def from_numpy(ndarray: np.ndarray, zero_copy: bool = True, array_cls: type = NDArray) -> NDArray:
    """An array of a numpy array's values, in its dtype.

    With ``zero_copy`` they share memory, and the numpy array becomes read-only. Raises
    ``ValueError`` for arrays that are not contiguous, and for dtypes that arrays do not have.
    """
    if ndarray.dtype not in FLAGS:
        raise ArgumentError(
            four_lines(
                f"{ndarray.dtype} is not supported.",
                f"an array of {ndarray.dtype}",
                "numbers of a type that MXNet has",
                "convert it with astype first",
            )
        )
    if not zero_copy:
        return array(ndarray, dtype=ndarray.dtype)
    if not isinstance(ndarray, np.ndarray) or not ndarray.flags.c_contiguous:
        raise ArgumentError(
            four_lines(
                "Only c-contiguous arrays are supported for zero-copy",
                f"{type(ndarray).__name__} that is not laid out so",
                "a numpy array in C order",
                "pass zero_copy=False, or np.ascontiguousarray(x)",
            )
        )
    shared = ndarray.view() if ndarray.flags.writeable else ndarray.copy()
    ndarray.flags.writeable = False
    return wrap_dense(shared, usable(None))


class _Capsule:
    """Makes a bare DLPack capsule readable for ``numpy.from_dlpack``."""

    __slots__ = ("capsule",)

    def __init__(self, capsule: Any):
        self.capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self.capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def from_dlpack(dlpack: Any) -> NDArray:
    """An array that shares the memory of a DLPack capsule, or of anything that can give one.

    A capsule can be used once; a second time raises ``AssertionError``.
    """
    holder = dlpack if hasattr(dlpack, "__dlpack__") else _Capsule(dlpack)
    try:
        shared = np.from_dlpack(holder)
    except (ValueError, TypeError, BufferError, RuntimeError, AttributeError) as error:
        raise ArgumentError(
            four_lines(
                "Invalid DLPack Tensor. DLTensor capsules can be consumed only once.",
                f"{dlpack!r:.60} ({error})",
                "a fresh capsule, or an object with __dlpack__, of a dtype that numpy has",
                "make a new capsule, or convert the array in the other library",
            )
        ) from error
    if not shared.flags.writeable:
        shared = _writable(shared)
    return wrap_dense(np.ascontiguousarray(shared), usable(None))


def _writable(shared: np.ndarray) -> np.ndarray:
    """The same memory, writable: numpy marks what it gets of old capsules read-only."""
    pointer = shared.__array_interface__
    return np.asarray(_Memory({**pointer, "data": (pointer["data"][0], False)}, shared))


class _Memory:
    """Memory described to numpy, kept alive by its owner."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, interface: dict[str, Any], owner: Any):
        self.__array_interface__, self.owner = interface, owner


def to_dlpack_for_read(data: NDArray) -> Any:
    """A DLPack capsule of the array's memory, for other libraries to read."""
    return data.to_dlpack_for_read()


def to_dlpack_for_write(data: NDArray) -> Any:
    """A DLPack capsule of the array's memory, for other libraries to write to."""
    return data.to_dlpack_for_write()


def waitall() -> None:
    """Nothing: every value is there as soon as the call that computes it returns."""


# ---- files


def save(fname: str, data: Any) -> None:
    """Write an array, a list of arrays, or a dict of arrays by name in MXNet's ``.params`` format.

    Sparse arrays are stored compressed. The file is replaced as a whole or not at all.
    """
    if not isinstance(fname, str | os.PathLike):
        raise _not_a_path("save", fname)
    if isinstance(data, NDArray):
        data = [data]
    if isinstance(data, dict):
        if any(not isinstance(k, str) or not isinstance(v, NDArray) for k, v in data.items()):
            raise _not_savable(data)
        content: Any = {name: value._data for name, value in data.items()}
    elif isinstance(data, list | tuple):
        if any(not isinstance(v, NDArray) for v in data):
            raise _not_savable(data)
        content = [value._data for value in data]
    else:
        raise _not_savable(data)
    serialize.save(fname, content, state.np_shape)


class NotSavable(MXNetError, TypeError, ValueError):
    """Something that is no array where one is saved; MXNet raises either of the two."""


def _not_savable(data: Any) -> NotSavable:
    return NotSavable(
        four_lines(
            "save only accept dict str->NDArray or list of NDArray",
            f"{data!r:.80}",
            "an NDArray, a list of them, or a dict of them by name",
            "convert the values with mx.nd.array",
        )
    )


def _not_a_path(function: str, fname: Any) -> ArgumentTypeError:
    return ArgumentTypeError(
        four_lines(
            f"{function}: fname required to be a string",
            f"{fname!r:.60} of type {type(fname).__name__}",
            "the name of a file",
            "pass a string or a path",
        )
    )


def load(fname: str) -> Any:
    """What ``save`` wrote: a list of arrays, or a dict if they have names."""
    if not isinstance(fname, str | os.PathLike):
        raise _not_a_path("load", fname)
    return _arrays(serialize.load(fname, state.np_shape))


def load_frombuffer(buf: bytes | str) -> Any:
    """The arrays in the bytes of a file that ``save`` wrote; ``MXNetError`` if some are missing."""
    if isinstance(buf, str):
        buf = buf.encode("latin-1", "replace")
    if not isinstance(buf, bytes | bytearray | memoryview):
        raise ArgumentTypeError(
            four_lines(
                "buf required to be a string or bytes",
                f"{type(buf).__name__}",
                "the bytes of a file that save wrote",
                "read the file in binary mode",
            )
        )
    return _arrays(serialize.loads(buf, state.np_shape))


def _arrays(loaded: list[tuple[str | None, storage.Storage, Any]]) -> Any:
    """A dict of arrays, or a list if they have no names."""
    cpu = Context("cpu", 0)
    pairs = [(name, _loaded(data, cpu)) for name, data, _ in loaded]
    if pairs and pairs[0][0] is not None:
        return dict(pairs)
    return [made for _, made in pairs]


def _loaded(data: storage.Storage, ctx: Context) -> NDArray:
    return wrap_dense(data, ctx) if isinstance(data, np.ndarray) else wrap(data, ctx)
