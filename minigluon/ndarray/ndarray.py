"""The NDArray: a dense array that knows its context, its gradient and its place on the tape."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from math import prod
from operator import index
from typing import Any

import numpy as np

from .. import autograd, storage
from ..autograd import direct
from ..base import (
    MXNetError,
    ShapeError,
)
from ..context import Context, current_context, usable
from ..core.explain import recorded_write
from ..core.invoke import invoke, new, wrap, wrappers
from ..core.note import record
from ..core.op import registry
from ..core.reshape import reshaped
from ..core.state import state
from ..core.store import store
from ..dtypes import as_dtype
from . import errors, indexing, serialize


class NDArray:
    """A multi-dimensional array of one element type on one context.

    Made by ``nd.array``, ``nd.zeros`` and the like, or by any operator. Arithmetic broadcasts and
    keeps the dtype; contiguous slices share memory with the array they are taken of.

    Examples
    --------
    >>> x = nd.array([[1, 2], [3, 4]])
    >>> (x + 1)[1].asnumpy()
    array([4., 5.], dtype=float32)
    """

    __slots__ = ("__weakref__", "_ctx", "_data", "_entry", "_fresh", "_grad", "_grad_req")
    __array_priority__ = 1000.0

    def __init__(self, handle: Any = None, writable: bool = True):
        self._data, self._entry, self._ctx = handle, None, current_context()

    # ---- what it is

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of every axis."""
        return self._data.shape

    @property
    def dtype(self) -> type:
        """The element type, as the numpy class: ``x.dtype is np.float32``."""
        return self._data.dtype.type

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._data.size

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._data.shape)

    @property
    def context(self) -> Context:
        """The device the array is on."""
        return self._ctx or current_context()

    ctx = context

    @property
    def stype(self) -> str:
        """How the array is stored: ``"default"``, ``"csr"`` or ``"row_sparse"``."""
        return "default"

    @property
    def T(self) -> NDArray:
        """The array with its axes in reverse order."""
        return _run("transpose", self)

    @property
    def handle(self) -> int:
        """A number that identifies the array; MXNet has the address of its C++ object here."""
        return id(self)

    @property
    def writable(self) -> bool:
        """True: arrays can be written to."""
        return True

    # ---- gradients

    @property
    def grad(self) -> NDArray | None:
        """The array gradients are written into, or None before ``attach_grad``."""
        try:
            return self._grad
        except AttributeError:
            return None

    @property
    def _fresh_grad(self) -> bool:
        """Whether the gradient was written since this was last set to False."""
        try:
            return self._fresh
        except AttributeError:
            return False

    @_fresh_grad.setter
    def _fresh_grad(self, value: bool) -> None:
        self._fresh = bool(value)

    def attach_grad(self, grad_req: str = "write", stype: str | None = None) -> None:
        """Have ``backward`` write the gradient of this array into ``x.grad``.

        The array becomes a leaf: what it was computed from gets no gradient through it any more.
        The gradient has this array's storage type unless ``stype`` names another.
        """
        grad = wrap(storage.zeros(stype or self.stype, self.shape, self._data.dtype), self._ctx)
        autograd.mark_variables([self], [grad], grad_req)

    def detach(self) -> NDArray:
        """The same values, sharing memory, through which no gradient flows."""
        return wrap_as(type(self), self._data, self._ctx)

    def backward(
        self, out_grad: NDArray | None = None, retain_graph: bool = False, train_mode: bool = True
    ) -> None:
        """Compute the gradients of this array with respect to the leaves it was computed from.

        ``out_grad`` is the gradient of what follows with respect to this array; ones if not given.
        """
        seed = None if out_grad is None else getattr(out_grad, "_data", out_grad)
        if direct.backward(self, retain_graph, seed):
            return
        heads = None if out_grad is None else [out_grad]
        autograd.swept([self], heads, retain_graph, train_mode)

    # ---- conversion

    def asnumpy(self) -> np.ndarray:
        """The values as a numpy array, copied."""
        return self._data.copy()

    def asscalar(self) -> Any:
        """The only element as a numpy scalar; ``ValueError`` if there are more or none."""
        data = self._data
        if data.shape == (1,):
            return data[0]
        if data.size != 1:
            raise errors.not_a_scalar(self.shape)
        return data.reshape(-1)[0]

    def item(self) -> Any:
        """The only element as a Python number."""
        return self.asscalar().item()

    def astype(self, dtype: Any, copy: bool = True) -> NDArray:
        """The array with its elements converted; itself if ``copy=False`` and nothing changes."""
        dtype = as_dtype(dtype)
        if dtype == self._data.dtype and not copy:
            return self
        if self._is_recorded():
            return _run("Cast", self, dtype=dtype.name)
        with np.errstate(all="ignore"):
            return wrap_dense(self._data.astype(dtype), self._ctx)

    def copy(self) -> NDArray:
        """A copy with memory of its own."""
        if self._is_recorded():
            return _run("_copy", self)
        return wrap_as(type(self), self._data.copy(), self._ctx)

    def copyto(self, other: NDArray | Context) -> NDArray | bool:
        """Copy the values into an array of the same shape, or to a context; returns the copy.

        The dtype and the storage type of an array that is copied into are kept.
        """
        if isinstance(other, NDArray):
            if other is self:
                warnings.warn(
                    "You are attempting to copy an array to itself", RuntimeWarning, stacklevel=2
                )
                return False
            other._refuse_recorded_write("copyto")
            with np.errstate(all="ignore"):
                store(other, self._data)
            return other
        if isinstance(other, Context):
            copied = self.copy()
            copied._ctx = usable(other)
            return copied
        raise errors.no_copy_to(other)

    def as_in_context(self, context: Context) -> NDArray:
        """The array on that context: itself if it is there already, else a copy."""
        return self if self.context == context else self.copyto(context)

    as_in_ctx = as_in_context

    def as_nd_ndarray(self) -> NDArray:
        """The array itself; the counterpart of ``as_np_ndarray``."""
        return self

    def as_np_ndarray(self) -> Any:
        """The array as an ``mx.np.ndarray``, which minigluon does not have: raises MXNetError."""
        raise MXNetError(
            "as_np_ndarray: minigluon has no mx.np arrays.\n  received  an NDArray\n"
            "  expected  a script that uses mx.nd\n  fix       use x.asnumpy() for a numpy array"
        )

    def tostype(self, stype: str) -> NDArray:
        """The array in another storage type: ``"default"``, ``"csr"`` or ``"row_sparse"``."""
        if stype == "csr" and len(self.shape) != 2:
            raise errors.no_matrix(self.shape)
        return _run("cast_storage", self, stype=stype)

    def wait_to_read(self) -> None:
        """Nothing: every value is there as soon as the call that computes it returns."""

    wait_to_write = wait_to_read

    def to_dlpack_for_read(self) -> Any:
        """A DLPack capsule of the array's memory, for other libraries to read."""
        return self._data.__dlpack__()

    def to_dlpack_for_write(self) -> Any:
        """A DLPack capsule of the array's memory, for other libraries to write to."""
        return self._data.__dlpack__()

    def __dlpack__(self, **options: Any) -> Any:
        """What ``torch.from_dlpack(x)`` and the like of other libraries ask for."""
        return self._data.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False and isinstance(self._data, np.ndarray):
            return np.asarray(self._data, dtype)
        values = self.asnumpy()
        return values if dtype is None else values.astype(dtype, copy=False)

    # ---- python's protocols

    def __repr__(self) -> str:
        shape = "x".join(map(str, self.shape))
        return f"\n{self.asnumpy()!s}\n<{type(self).__name__} {shape} @{self.context}>"

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of an array without dimensions")
        return self.shape[0]

    def __bool__(self) -> bool:
        size = prod(self.shape)
        if size > 1:
            raise errors.no_single_truth(self.shape)
        return size == 1 and bool(self.asscalar())

    __nonzero__ = __bool__

    def __float__(self) -> float:
        return float(self._only_element("float"))

    def __int__(self) -> int:
        return int(self._only_element("int"))

    def __index__(self) -> int:
        value = self._only_element("an index")
        if not isinstance(value, np.integer):
            raise errors.no_index(value.dtype)
        return int(value)

    def _only_element(self, wanted: str) -> Any:
        if prod(self.shape) != 1:
            raise errors.no_number(wanted, self.shape)
        return self.asscalar()

    def __iter__(self) -> Iterator[NDArray]:
        for k in range(len(self)):
            yield self[k]

    def __copy__(self) -> NDArray:
        return wrap_as(type(self), self._data.copy(), self._ctx)

    def __deepcopy__(self, memo: Any) -> NDArray:
        return self.__copy__()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (None,), self.__getstate__()

    def __getstate__(self) -> dict[str, Any]:
        data = self._data
        return {"handle": None if data is None else bytearray(serialize.dumps_one(data))}

    def __setstate__(self, pickled: dict[str, Any]) -> None:
        raw = pickled["handle"]
        self._data = None if raw is None else serialize.loads_one(raw)
        self._entry, self._ctx = None, Context("cpu", 0)

    # ---- shape

    def reshape(self, *shape: Any, **kwargs: Any) -> NDArray:
        """The same values, sharing memory, in another shape.

        In ``shape``, 0 keeps a length, -1 is worked out, -2 keeps all remaining lengths, -3 joins
        two axes and -4 splits one into the next two numbers; ``reverse=True`` matches from the
        right. Another number of elements is a ``ShapeError``.
        """
        if not kwargs:
            wanted = shape[0] if len(shape) == 1 and type(shape[0]) is tuple else shape
            try:
                if 0 not in wanted and min(wanted) >= -1:  # as numpy understands it
                    view = self._data.reshape(wanted)
                    if self._entry is not None and state.recording:
                        return _run("Reshape", self, shape=view.shape)
                    return wrap_dense(view, self._ctx)
            except (TypeError, ValueError):
                pass  # told below
        unknown = [k for k in kwargs if k not in ("shape", "reverse")]
        if unknown:
            raise errors.unknown_keywords(unknown)
        if len(shape) == 1 and isinstance(shape[0], tuple | list):
            shape = tuple(shape[0])
        elif not shape:
            if "shape" not in kwargs:
                raise errors.no_shape()
            given = kwargs["shape"]
            shape = tuple(given) if isinstance(given, tuple | list) else (given,)
        shape = tuple(map(index, shape))
        target = reshaped(self.shape, shape, kwargs.get("reverse", False))
        if self._is_recorded():
            return _run("Reshape", self, shape=target)
        return wrap_dense(self._data.reshape(target), self._ctx)

    def expand_dims(self, axis: int, inplace: bool = False) -> NDArray:
        """The array with an axis of length 1 put in; with ``inplace=True`` it shares memory."""
        if not inplace:
            return _run("expand_dims", self, axis=axis)
        ndim = self.ndim
        if not -ndim - 1 <= axis <= ndim:
            raise errors.no_axis(axis, ndim)
        at = axis % (ndim + 1)
        return self._with_shape((*self.shape[:at], 1, *self.shape[at:]))

    def squeeze(self, axis: Any = None, inplace: bool = False) -> NDArray:
        """The array without its axes of length 1 (or without those named)."""
        if not inplace:
            return _run("squeeze", self, axis=axis)
        return self._with_shape(_squeezed(self.shape, axis))

    def flatten(self, inplace: bool = False) -> NDArray:
        """The array with all axes but the first joined into one."""
        if not inplace:
            return _run("Flatten", self)
        return self._with_shape((self.shape[0], prod(self.shape[1:])))

    def _with_shape(self, shape: tuple[int, ...]) -> NDArray:
        """A view in a shape of as many elements, recorded if need be."""
        if self._is_recorded():
            return _run("Reshape", self, shape=shape)
        return wrap_dense(self._data.reshape(shape), self._ctx)

    def broadcast_to(self, shape: Any) -> NDArray:
        """The array repeated along axes of length 1 (and new leading axes) to fill ``shape``."""
        current, target = self.shape, tuple(shape)
        missing = len(target) - len(current)
        lengths = (1,) * missing + current
        if missing < 0 or any(
            have not in (1, want) and want != 0 for have, want in zip(lengths, target, strict=True)
        ):
            raise ShapeError(
                "operands could not be broadcast together with remapped shapes"
                f"[original->remapped]: {current} and requested shape {target}"
            )
        source = self._with_shape(lengths) if missing else self
        return _run("broadcast_to", source, shape=target)

    def broadcast_like(self, other: NDArray) -> NDArray:
        """The array broadcast to the shape of ``other``."""
        return self.broadcast_to(other.shape)

    def diag(self, k: int = 0, **kwargs: Any) -> NDArray:
        """The ``k``-th diagonal, or a matrix with this vector on it."""
        return _run("diag", self, k=k, **kwargs)

    # ---- elements

    def __getitem__(self, key: Any) -> NDArray:
        if self._entry is not None and state.recording:
            return self._recorded_item(key)
        data = self._data
        kind = type(key)
        if kind is int:
            shape = data.shape
            if shape:
                size = shape[0]
                if not -size <= key < size:
                    raise indexing.out_of_range(key, 0, size)
                view = data[key] if len(shape) > 1 else data[key : key + 1 or None]
                return wrap_dense(view, self._ctx)
        elif kind is slice and key.step is None and data.shape:
            try:
                view = data[key]
            except TypeError:  # bounds that are arrays
                view = indexing.read(data, key)
            return wrap_dense(view, self._ctx)
        return wrap_dense(indexing.read(data, key), self._ctx)

    def _recorded_item(self, key: Any) -> NDArray:
        data = self._data
        parts, advanced = indexing.normalise(key, data.shape)
        frozen, arrays = indexing.freeze(parts)
        if advanced:
            indices = [wrap_dense(a, self._ctx) for a in arrays]
            return _run("_gather_index", self, *indices, key=frozen)
        found = indexing.pick(data, parts)  # a view where it can be, recorded or not
        call = registry["_basic_index"].call(key=frozen)
        node = record(call, (self,), (data,), found)
        return wrap(found, self._ctx, (node, 0))

    def __setitem__(self, key: Any, value: Any) -> None:
        if state.recording:
            self._refuse_recorded_assignment(key, value)
        data = self._data
        if isinstance(value, NDArray):
            value = storage.densify(value._data)
        elif isinstance(value, int | float):
            if not -_SAFE <= value <= _SAFE:
                value = indexing.cast_scalar(value, data.dtype)
        elif not isinstance(value, np.ndarray | np.generic):
            value = _as_values(value, data.dtype, type(self))
        if isinstance(value, np.ndarray | np.generic) and value.dtype != data.dtype:
            with np.errstate(all="ignore"):
                value = value.astype(data.dtype)
        kind = type(key)
        if (kind is int and data.ndim > 1) or (kind is slice and key.step is None and data.ndim):
            try:
                data[key] = value
            except (ValueError, TypeError, IndexError, OverflowError):
                pass  # written below, or told what is wrong
            else:
                return
        indexing.write(data, key, value)

    def _refuse_recorded_assignment(self, key: Any, value: Any) -> None:
        """Raise ``MXNetError`` for an assignment that would spoil the recording.

        As in MXNet, ``x[:] = numpy_array`` always passes, and so does ``x[:] = y`` into an array
        that is not recorded.
        """
        whole = type(key) is slice and key == slice(None)
        if not (whole and isinstance(value, np.ndarray)):
            self._refuse_recorded_write("x[...] = y")
            if not whole and isinstance(value, NDArray) and value._entry is not None:
                raise recorded_write("x[...] = y")

    def slice_assign(self, rhs: NDArray, begin: Any, end: Any, step: Any) -> NDArray:
        """Write ``rhs`` into the region ``begin:end:step`` and return this array."""
        self[_region(begin, end, step)] = rhs
        return self

    def slice_assign_scalar(self, value: float, begin: Any, end: Any, step: Any) -> NDArray:
        """Write a number into the region ``begin:end:step`` and return this array."""
        self[_region(begin, end, step)] = value
        return self

    def _at(self, idx: int) -> NDArray:
        """Row ``idx``, sharing memory."""
        return self[idx]

    def _slice(self, start: int | None, stop: int | None) -> NDArray:
        """Rows ``start:stop``, sharing memory."""
        return self[slice(start, stop)]

    def _full(self, value: float) -> NDArray:
        """Fill the array with a number and return it."""
        self[:] = value
        return self

    def _sync_copyfrom(self, source_array: Any) -> None:
        """Copy the values of something numpy can read into this array."""
        source = np.ascontiguousarray(source_array, self._data.dtype)
        if source.shape != self.shape and self.shape:
            raise errors.other_shape(source.shape, self.shape)
        store(self, source)

    @staticmethod
    def _basic_indexing_slice_is_contiguous(slc_key: Any, shape: tuple[int, ...]) -> bool:
        """Whether a tuple of slices, one an axis, picks one contiguous piece of memory."""
        strides = np.cumprod((1, *shape[:0:-1]))[::-1] if shape else ()
        probe = np.lib.stride_tricks.as_strided(np.empty(1, np.int8), shape, strides)
        return bool(probe[tuple(slc_key)].flags.c_contiguous)

    # ---- recording

    def _is_recorded(self) -> bool:
        """Whether what is done with the array now has to go on the tape."""
        return self._entry is not None and state.recording

    def _refuse_recorded_write(self, what: str) -> None:
        """Raise ``MXNetError`` if a write now would spoil what gradients are computed from."""
        if self._entry is not None and state.recording:
            raise recorded_write(what)

    __hash__ = object.__hash__


#: numbers up to here can be assigned to arrays of any float dtype without overflow
_SAFE = 65504

wrappers[np.ndarray] = NDArray


def wrap_dense(data: np.ndarray, ctx: Context | None) -> NDArray:
    """An NDArray of these very values, not on the tape; scalars stay without dimensions."""
    array = new(NDArray)
    array._data, array._entry, array._ctx = data, None, ctx
    return array


def wrap_as(cls: type, data: Any, ctx: Context | None) -> Any:
    """An array of a class that fits the storage, not on the tape."""
    array = new(cls)
    array._data, array._entry, array._ctx = data, None, ctx
    return array


def _run(name: str, *inputs: Any, **attrs: Any) -> Any:
    """The operator of that name on these arrays."""
    return invoke(registry[name].call(**attrs), inputs)


def _as_values(value: Any, dtype: np.dtype[Any], cls: type) -> np.ndarray:
    """What is assigned, as a numpy array of the target's dtype."""
    if isinstance(value, str | dict):
        error: Exception | None = None
    else:
        try:
            with np.errstate(all="ignore"):
                return np.asarray(value, dtype)
        except (TypeError, ValueError, OverflowError) as raised:
            error = raised
    raise errors.not_assignable(cls, value) from error


def _region(begin: Any, end: Any, step: Any) -> tuple[slice, ...]:
    steps = step or (None,) * len(begin)
    return tuple([slice(*bounds) for bounds in zip(begin, end, steps, strict=True)])


def _squeezed(shape: tuple[int, ...], axis: Any) -> tuple[int, ...]:
    """The shape without its axes of length 1; ``AssertionError`` for an axis that is not."""
    ndim = len(shape)
    if axis is None:
        return tuple([n for n in shape if n != 1]) or (1,)
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    if len(set(axes)) < len(axes):
        raise errors.axis_repeated(axis)
    for a in axes:
        if not -ndim <= a < ndim:
            raise errors.no_axis(a, ndim)
        if shape[a] != 1:
            raise errors.axis_not_of_length_one(a, shape)
    dropped = {a % ndim for a in axes}
    return tuple([n for k, n in enumerate(shape) if k not in dropped]) or (1,)
