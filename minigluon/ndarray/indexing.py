"""What ``x[key]`` means: keys brought to numpy's form, read, written, and frozen into attributes.

numpy's rules hold, with MXNet's three exceptions: boolean masks are taken as the integers 0 and 1,
float index arrays are truncated, and an element is an array of shape ``(1,)``.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from ..base import ArgumentError, ArgumentTypeError, IndexOutOfRange, ShapeError, four_lines
from ..storage import STYPES, densify

_ELLIPSIS = "..."


def normalise(key: Any, shape: tuple[int, ...]) -> tuple[tuple[Any, ...], bool]:
    """The key as ints, slices, None, Ellipsis and int64 arrays; and whether it has arrays.

    Integers in it are checked against the shape. A key of integers only has its last one turned
    into a slice, so that no key gives an array without dimensions.
    """
    parts = key if type(key) is tuple else (key,)
    normal = []
    advanced = False
    for part in parts:
        kind = type(part)
        if kind is int or part is None or part is Ellipsis:
            pass
        elif kind is slice:
            part = _plain_slice(part)
        elif isinstance(part, int | np.integer):  # bool counts as 0 or 1
            part = int(part)
        else:
            part = _index_array(part)
            if part.ndim:
                advanced = True
            else:
                part = int(part)
        normal.append(part)
    _check(normal, shape, key)
    if not advanced and shape:
        _keep_one_dimension(normal, shape)
    return tuple(normal), advanced


def _plain_slice(part: slice) -> slice:
    bounds = [
        b if b is None or type(b) is int else _as_int(b) for b in (part.start, part.stop, part.step)
    ]
    if bounds[2] == 0:
        raise ArgumentError(
            four_lines(
                "slice step cannot be zero", part, "a step other than 0", "leave the step out"
            )
        )
    return slice(*bounds)


def _as_int(bound: Any) -> int:
    data = getattr(bound, "_data", None)
    return int(densify(data).item()) if data is not None else operator.index(bound)


def _index_array(part: Any) -> np.ndarray:
    data = getattr(part, "_data", None)
    if type(data) in STYPES:
        part = densify(data)
    elif not isinstance(part, list | tuple | range | np.ndarray):
        raise ShapeError(
            f"an NDArray cannot be indexed by this.\n  received  {part!r} of type "
            f"{type(part).__name__}\n  expected  integers, slices, None, ..., lists or arrays of "
            "integers\n  fix       convert it to an integer or to an array of integers"
        )
    try:
        with np.errstate(invalid="ignore"):  # NaN becomes a number that no axis has
            return np.asarray(part).astype(np.int64)
    except (TypeError, ValueError) as error:
        raise ArgumentTypeError(
            four_lines(
                "an index list must hold integers only",
                f"{part!r:.60}",
                "integers, all lists of one length",
                "convert them to integers",
            )
        ) from error


def _check(parts: list[Any], shape: tuple[int, ...], key: Any) -> None:
    """Raise ``IndexOutOfRange`` for integers beyond the shape and for too many of them."""
    used = sum(p is not None and p is not Ellipsis for p in parts)
    ellipses = sum(p is Ellipsis for p in parts)
    if used > len(shape) or ellipses > 1:
        raise IndexOutOfRange(
            f"the key does not fit the array.\n  received  {key!r} for shape {shape}\n"
            f"  expected  at most {len(shape)} indices and one ...\n  fix       index fewer axes"
        )
    axis = 0
    for part in parts:
        if part is None:
            continue
        if part is Ellipsis:
            axis += len(shape) - used
            continue
        size = shape[axis]
        if type(part) is int:
            if not -size <= part < size:
                raise out_of_range(part, axis, size)
        elif type(part) is np.ndarray and part.size:
            low, high = int(part.min()), int(part.max())
            if low < -size or high >= size:
                raise out_of_range(low if low < -size else high, axis, size)
        axis += 1


def _keep_one_dimension(parts: list[Any], shape: tuple[int, ...]) -> None:
    """Turn the last integer of a key that picks one element into a slice of one."""
    if len(parts) - (Ellipsis in parts) < len(shape):
        return
    last = -1
    for k, part in enumerate(parts):
        if type(part) is int:
            last = k
        elif part is not Ellipsis:
            return
    index = parts[last]
    parts[last] = slice(index, index + 1 or None)


def read(data: np.ndarray, key: Any) -> np.ndarray:
    """``data[key]``: a view if the key is basic and picks contiguous memory, else a copy."""
    return pick(data, normalise(key, data.shape)[0])


def pick(data: np.ndarray, parts: tuple[Any, ...]) -> np.ndarray:
    """What a normalised key picks, in contiguous memory: a view where that is possible."""
    found = data[parts]
    return found if found.flags.c_contiguous else found.copy()


def write(data: np.ndarray, key: Any, value: Any) -> None:
    """``data[key] = value``, cast to the dtype of ``data`` as C would.

    Raises ``ShapeError`` if the value does not broadcast to what the key picks.
    """
    parts, advanced = normalise(key, data.shape)
    try:
        if not advanced and isinstance(value, np.ndarray) and value.ndim > data.ndim:
            target = data[parts]
            value = _without_leading_ones(value, target.ndim)
            target[...] = value
        else:
            data[parts] = value
    except (OverflowError, ValueError) as error:
        if isinstance(value, int | float | np.number):
            data[parts] = cast_scalar(value, data.dtype)
            return
        picked = data[parts].shape
        raise ShapeError(
            "operands could not be broadcast together: the assigned value does not fit.\n"
            f"  received  a value of shape {np.shape(value)}\n"
            f"  expected  a shape that broadcasts to {picked}, picked out of {data.shape}\n"
            "  fix       reshape the value, or assign to another part"
        ) from error


def _without_leading_ones(value: np.ndarray, ndim: int) -> np.ndarray:
    extra = value.ndim - ndim
    if extra > 0 and value.shape[:extra] == (1,) * extra:
        return value.reshape(value.shape[extra:])
    return value


def cast_scalar(value: Any, dtype: np.dtype[Any]) -> np.ndarray:
    """A number as an array of this dtype, wrapped around or cut off where it does not fit.

    Examples
    --------
    >>> cast_scalar(300, np.dtype("uint8"))
    array(44, dtype=uint8)
    """
    with np.errstate(all="ignore"):
        if isinstance(value, int) and dtype.kind in "iu":
            bits = 8 * dtype.itemsize
            wrapped = value & ((1 << bits) - 1)
            return np.array(wrapped, f"u{dtype.itemsize}").view(dtype)
        return np.array(value, np.float64).astype(dtype)


def out_of_range(index: int, axis: int, size: int) -> IndexOutOfRange:
    """The error for an integer beyond its axis."""
    return IndexOutOfRange(
        four_lines(
            f"index {index} is out of bounds for axis {axis} with size {size}",
            f"index {index}",
            f"{-size} to {size - 1}" if size else "no index, as the axis is empty",
            "correct it, or look at x.shape",
        )
    )


def freeze(parts: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[np.ndarray]]:
    """A normalised key as a hashable attribute, and the index arrays it refers to.

    In the attribute a slice is the tuple ``(start, stop, step)``, Ellipsis the text ``"..."`` and
    the k-th index array the text ``"k"``; integers and None stand for themselves.
    """
    frozen: list[Any] = []
    arrays: list[np.ndarray] = []
    for part in parts:
        if type(part) is slice:
            frozen.append((part.start, part.stop, part.step))
        elif part is Ellipsis:
            frozen.append(_ELLIPSIS)
        elif type(part) is np.ndarray:
            frozen.append(str(len(arrays)))
            arrays.append(part)
        else:
            frozen.append(part)
    return tuple(frozen), arrays


def thaw(frozen: tuple[Any, ...], arrays: Any = ()) -> tuple[Any, ...]:
    """The key that ``freeze`` made this attribute of."""
    parts: list[Any] = []
    for part in frozen:
        if type(part) is tuple:
            parts.append(slice(*part))
        elif part == _ELLIPSIS:
            parts.append(Ellipsis)
        elif type(part) is str:
            parts.append(arrays[int(part)])
        else:
            parts.append(part)
    return tuple(parts)
