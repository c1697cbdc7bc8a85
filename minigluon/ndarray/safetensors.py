"""``.safetensors`` files: a JSON header of names, types, shapes and places, then the values.

The format other libraries exchange weights in. It holds named dense arrays only.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..base import ArgumentError, MXNetError, four_lines
from ..storage import STYPES, Storage

_NAMES = {
    "float64": "F64", "float32": "F32", "float16": "F16", "int64": "I64", "int32": "I32",
    "int16": "I16", "int8": "I8", "uint64": "U64", "uint32": "U32", "uint16": "U16", "uint8": "U8",
    "bool": "BOOL",
}  # fmt: skip
#: the types in the order in which the library of the format writes them
_ORDER = (
    "U64", "I64", "F64", "F32", "U32", "I32", "BF16", "F16", "U16", "I16", "I8", "U8", "BOOL",
)  # fmt: skip
_DTYPES = {name: np.dtype(dtype).newbyteorder("<") for dtype, name in _NAMES.items()}
_DTYPES["BF16"] = np.dtype("<u2")
_LARGEST_HEADER = 100_000_000


def dumps(arrays: Mapping[str, Storage] | Iterable[Storage]) -> bytes:
    """The bytes of a file that holds dense arrays by name.

    Raises ``ArgumentError`` for arrays without names and for sparse ones.

    Examples
    --------
    >>> dumps({"w": np.ones(1, np.float32)})[8:]
    b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}  \\x00\\x00\\x80?'
    """
    if not isinstance(arrays, Mapping):
        raise _refused("arrays without names", "a dict of arrays", "nd.save(fname, {'w': w})")
    header: dict[str, Any] = {}
    parts, at = [], 0
    for name, x in sorted(arrays.items(), key=_rank):
        raw = np.ascontiguousarray(x, x.dtype.newbyteorder("<")).tobytes()
        header[name] = {
            "dtype": _NAMES[x.dtype.name],
            "shape": list(x.shape),
            "data_offsets": [at, at + len(raw)],
        }
        parts.append(raw)
        at += len(raw)
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([struct.pack("<Q", len(text)), text, *parts])


def _rank(item: tuple[str, Storage]) -> tuple[int, str]:
    name, x = item
    if not isinstance(x, np.ndarray) or x.dtype.name not in _NAMES:
        raise _refused(
            f"{name}: {x.shape} {x.dtype} {STYPES[type(x)]}",
            "dense arrays",
            f"save a .params file, or {name}.tostype('default')",
        )
    return _ORDER.index(_NAMES[x.dtype.name]), name


def _refused(received: str, expected: str, fix: str) -> ArgumentError:
    what = "save: a .safetensors file cannot hold this."
    return ArgumentError(four_lines(what, received, expected, fix))


def loads(data: bytes, path: object = None) -> list[tuple[str | None, Storage, np.dtype[Any]]]:
    """``(name, array, dtype)`` for everything in the bytes of a file, in the order of their places.

    bfloat16 values come back as float32. Raises ``MXNetError`` naming the place where the file is
    not as it should be.
    """
    header, start = _header(data, path)
    header.pop("__metadata__", None)
    entries, at = [], 0
    try:
        described = sorted(header.items(), key=lambda item: item[1]["data_offsets"])
        for name, entry in described:
            dtype, shape = _DTYPES[entry["dtype"]], tuple(entry["shape"])
            begin, end = entry["data_offsets"]
            if not all(type(n) is int and n >= 0 for n in (*shape, begin, end)):
                raise ValueError("shape and data_offsets are whole numbers from 0")
            if begin != at or end - begin != math.prod(shape) * dtype.itemsize:
                raise ValueError(f"{shape} {entry['dtype']} does not lie at {begin} to {end}")
            if start + end > len(data):
                raise ValueError(f"the file ends at byte {len(data)}, before {start + end}")
            raw = np.frombuffer(data, dtype, math.prod(shape), start + begin).reshape(shape)
            if entry["dtype"] == "BF16":
                x = (raw.astype(np.uint32) << 16).view(np.float32)
            else:
                x = raw.astype(raw.dtype.newbyteorder("="))
            entries.append((name, x, x.dtype))
            at = end
    except (ValueError, LookupError, TypeError, AttributeError, MemoryError) as error:
        raise _bad(path, start + at, f"{type(error).__name__}: {error}") from error
    if start + at != len(data):
        raise _bad(path, start + at, f"{len(data) - start - at} bytes that no array is made of")
    return entries


def _header(data: bytes, path: object) -> tuple[dict[str, Any], int]:
    """The header and where the values start."""
    if len(data) < 8:
        raise _bad(path, 0, f"{len(data)} bytes")
    (size,) = struct.unpack_from("<Q", data)
    if size > min(_LARGEST_HEADER, len(data) - 8):
        raise _bad(path, 0, f"a header of {size} bytes in a file of {len(data)}")
    try:
        header = json.loads(data[8 : 8 + size], object_pairs_hook=_distinct)
    except (ValueError, RecursionError) as error:
        raise _bad(path, 8, f"{type(error).__name__}: {error}") from error
    if not isinstance(header, dict):
        raise _bad(path, 8, f"a header that is a {type(header).__name__}")
    return header, 8 + size


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name stands twice")
    return found


def _bad(path: object, at: int, received: str) -> MXNetError:
    place = f"byte {at}" if path is None else f"{path}, byte {at}"
    return MXNetError(
        four_lines(
            f"load: {place}: this is no .safetensors file, or a damaged one.",
            received,
            "length of the header, JSON header, then the values one after the other",
            "check the path, and that the file was copied or downloaded completely",
        )
    )
