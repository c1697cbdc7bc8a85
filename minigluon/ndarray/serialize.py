"""The ``.params`` file format: storages to bytes and back, in every version MXNet 1.x has read.

A file is a list of arrays and, unless it is a plain list, one name for each. Everything is
little-endian and unpadded. Reading never trusts a count: no size is believed before the bytes that
it speaks of are there, and sparse arrays whose indices point outside of their shape are refused.
"""

from __future__ import annotations

import contextlib
import io
import os
import stat
import struct
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .. import dtypes
from ..base import MXNetError
from ..storage import FLAGS, STYPES, Csr, RowSparse, Storage

LIST_MAGIC = 0x112
V1, V2, V3 = 0xF993FAC8, 0xF993FAC9, 0xF993FACA
SAFETENSORS = ".safetensors"
_CPU = struct.pack("<ii", 1, 0)
_BFLOAT16 = 12
_MAX_NDIM = 64


def dumps(arrays: Mapping[str, Storage] | Iterable[Storage], np_shape: bool = False) -> bytes:
    """The bytes of a file that holds a list of storages, or a dict of them by name.

    With ``np_shape`` arrays are written as version 3, which knows scalars and empty arrays but no
    sparse ones; otherwise as version 2, where a scalar becomes an array of shape ``(1,)``.

    Examples
    --------
    >>> loads(dumps({"w": np.ones(2, np.float32)}))
    [('w', array([1., 1.], dtype=float32), dtype('float32'))]
    """
    return b"".join(_parts(arrays, np_shape))


def _parts(arrays: Mapping[str, Storage] | Iterable[Storage], np_shape: bool) -> list[Any]:
    """The bytes of a file in pieces; the large ones are the arrays' own memory."""
    if isinstance(arrays, Mapping):
        names, values = list(arrays), list(arrays.values())
    else:
        names, values = [], list(arrays)
    parts: list[Any] = [struct.pack("<QQQ", LIST_MAGIC, 0, len(values))]
    for value in values:
        _write(parts, value, np_shape)
    parts.append(struct.pack("<Q", len(names)))
    for name in names:
        text = name.encode()
        parts += (struct.pack("<Q", len(text)), text)
    return parts


def loads(
    data: Any, np_shape: bool = False, path: object = None
) -> list[tuple[str | None, Storage, np.dtype[Any]]]:
    """``(name or None, storage, dtype)`` for every array in the bytes of a file.

    As in MXNet, version 3 is read under numpy-shape semantics only and the older versions only
    outside of it. bfloat16 values come back as float32. Bytes that are cut short, or no such file
    at all, raise ``MXNetError`` with the place, and the ``path`` if it is told.
    """
    data = memoryview(data).cast("B")
    return _loaded(_Reader(io.BytesIO(data), len(data), path), np_shape)


def _loaded(reader: _Reader, np_shape: bool) -> list[tuple[str | None, Storage, np.dtype[Any]]]:
    if reader.number("<Q") != LIST_MAGIC:
        raise reader.bad("Invalid NDArray file format", "the first 8 bytes are not 0x112")
    reader.number("<Q")
    count = reader.count(4)
    values = [_read(reader, np_shape) for _ in range(count)]
    named = reader.count(8)
    if named not in (0, count):
        raise reader.bad("Invalid NDArray file format", f"{named} names for {count} arrays")
    names = [_read_name(reader) for _ in range(named)] or [None] * count
    return [(name, value, value.dtype) for name, value in zip(names, values, strict=True)]


def dumps_one(array: Storage, np_shape: bool = False) -> bytes:
    """One array without the container around it, as pickled arrays hold it."""
    parts: list[Any] = []
    _write(parts, array, np_shape)
    return b"".join(parts)


def loads_one(data: Any, np_shape: bool = False) -> Storage:
    """The array that ``dumps_one`` (or MXNet's own pickling) made these bytes of."""
    data = memoryview(data).cast("B")
    return _read(_Reader(io.BytesIO(data), len(data)), np_shape)


def save(
    path: str | os.PathLike[str],
    arrays: Mapping[str, Storage] | Iterable[Storage],
    np_shape: bool = False,
) -> None:
    """Write a file of arrays, whole or not at all; ``.safetensors`` files are written as such."""
    if os.fspath(path).endswith(SAFETENSORS):
        from .safetensors import dumps as write

        write_file(path, write(arrays))
    else:
        write_file(path, _parts(arrays, np_shape))


def load(
    path: str | os.PathLike[str], np_shape: bool = False
) -> list[tuple[str | None, Storage, np.dtype[Any]]]:
    """What `loads` gives for a file; ``.safetensors`` files are read as such."""
    if os.fspath(path).endswith(SAFETENSORS):
        from .safetensors import loads as read

        return read(read_file(path), path)
    try:
        with Path(path).open("rb") as file:
            status = os.fstat(file.fileno())
            if stat.S_ISREG(status.st_mode):
                return _loaded(_Reader(file, status.st_size, path), np_shape)
            return loads(file.read(), np_shape, path)  # a pipe, say, has no length
    except OSError as error:
        raise _unreachable("load", path, error) from error


def write_file(path: str | os.PathLike[str], data: bytes | list[Any]) -> None:
    """Write a file at once or not at all: whoever opens ``path`` sees the old bytes or the new.

    The bytes may come in pieces. Raises ``MXNetError`` when the file cannot be written.
    """
    target = Path(path).resolve()
    parts = [data] if isinstance(data, bytes) else data
    try:
        if target.exists() and not target.is_file():
            with target.open("wb") as out:
                out.writelines(parts)  # a pipe or a device cannot be replaced
            return
        draft = target.with_name(f"{target.name}.{os.getpid()}-{os.urandom(4).hex()}.tmp")
        try:
            with draft.open("xb") as out:
                out.writelines(parts)
            if target.exists():
                draft.chmod(target.stat().st_mode & 0o7777)
            draft.replace(target)
        except BaseException:
            with contextlib.suppress(OSError):
                draft.unlink()
            raise
    except OSError as error:
        raise _unreachable("save", path, error) from error


def read_file(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a file; ``MXNetError`` when it cannot be read."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise _unreachable("load", path, error) from error


def _write(parts: list[Any], x: Storage, np_shape: bool) -> None:
    """Append one array: magic, storage type, shapes, context, dtype, then the raw values."""
    stype = STYPES[type(x)]
    if np_shape and stype != "default":
        raise MXNetError(
            f"save: a sparse array cannot be written under numpy-shape semantics.\n"
            f"  received  {x.shape} {x.dtype} {stype}\n  expected  a dense array\n"
            "  fix       save outside of np_shape, or save x.tostype('default')"
        )
    shape = x.shape if x.shape or np_shape else (1,)
    parts.append(struct.pack("<Ii", V3 if np_shape else V2, FLAGS[stype]))
    dtype = struct.pack("<i", dtypes.FLAGS[x.dtype])
    if isinstance(x, np.ndarray):
        parts += (_shape_bytes(shape), _CPU, dtype, _raw(x))
        return
    aux = [x.indices] if isinstance(x, RowSparse) else [x.indptr, x.indices]
    aux = [a.astype(np.int64, copy=False) for a in aux]
    parts += (_shape_bytes(x.values.shape), _shape_bytes(shape), _CPU, dtype)
    for a in aux:
        parts += (struct.pack("<i", dtypes.FLAGS[a.dtype]), _shape_bytes(a.shape))
    parts += (_raw(x.values), *map(_raw, aux))


def _shape_bytes(shape: tuple[int, ...]) -> bytes:
    return struct.pack(f"<i{len(shape)}q", len(shape), *shape)


def _raw(x: np.ndarray) -> Any:
    """The bytes of an array, without a copy where they lie in order."""
    return np.ascontiguousarray(x, x.dtype.newbyteorder("<")).reshape(-1).view(np.uint8).data


class _Reader:
    """A position in a file that never goes past its end."""

    __slots__ = ("at", "file", "path", "size")

    def __init__(self, file: Any, size: int, path: object = None):
        self.file, self.size, self.at, self.path = file, size, 0, path

    def place(self) -> str:
        """File and byte, for messages."""
        return f"byte {self.at}" if self.path is None else f"{self.path}, byte {self.at}"

    def bad(self, what: str, detail: str) -> MXNetError:
        """What is wrong with the bytes before this place."""
        return MXNetError(
            f"load: {self.place()}: {what}.\n  received  {detail}\n"
            "  expected  a whole file written by nd.save, Module or Gluon\n"
            "  fix       check the path, and that the file was copied or downloaded completely"
        )

    def claim(self, size: int) -> None:
        """Check that the next ``size`` bytes are there, and count them as read."""
        if size < 0 or self.at + size > self.size:
            raise self.bad("the data ends too early", f"{size} more bytes expected of {self.size}")
        self.at += size

    def take(self, size: int) -> bytes:
        """The next ``size`` bytes."""
        self.claim(size)
        part: bytes = self.file.read(size)
        if len(part) != size:
            raise self.bad("the file became shorter", f"{len(part)} bytes of {size}")
        return part

    def number(self, form: str) -> int:
        """The next integer, in one of ``struct``'s formats."""
        value: int = struct.unpack(form, self.take(struct.calcsize(form)))[0]
        return value

    def count(self, least: int) -> int:
        """The next number of things, each of which takes ``least`` bytes or more."""
        value = self.number("<Q")
        if value * least > self.size - self.at:
            raise self.bad("the data ends too early", f"{value} entries announced")
        return value

    def shape(self, ndim: int, width: str = "q") -> tuple[int, ...]:
        """The next ``ndim`` dimensions."""
        if not 0 <= ndim <= _MAX_NDIM:
            raise self.bad("Invalid NDArray file format", f"an array of {ndim} dimensions")
        size = struct.calcsize(f"<{width}")
        shape = struct.unpack(f"<{ndim}{width}", self.take(ndim * size))
        if min(shape, default=0) < 0:
            raise self.bad("Invalid NDArray file format", f"an array of shape {shape}")
        return shape

    def values(self, flag: int, shape: tuple[int, ...]) -> np.ndarray:
        """The next array of raw values, read to where they stay."""
        if flag != _BFLOAT16 and flag not in dtypes.FROM_FLAG:
            raise self.bad(f"Unknown type enum {flag}", f"flag {flag}")
        dtype = np.dtype(np.uint16) if flag == _BFLOAT16 else dtypes.FROM_FLAG[flag]
        size = dtype.itemsize
        for side in shape:
            size *= side
        self.claim(size)
        try:
            found = np.empty(shape, dtype)
        except (ValueError, MemoryError) as error:  # no values, but too large for numpy
            raise self.bad("Invalid NDArray file format", f"an array of shape {shape}") from error
        count = self.file.readinto(found.reshape(-1).view(np.uint8).data) if size else 0
        if count != size:
            raise self.bad("the file became shorter", f"{count} bytes of {size}")
        if sys.byteorder == "big":
            found.byteswap(inplace=True)
        if flag == _BFLOAT16:
            return (found.astype(np.uint32) << 16).view(np.float32)
        return found.view(np.uint8) != 0 if dtype.kind == "b" else found


def _read(reader: _Reader, np_shape: bool) -> Storage:
    """The next array, whatever version it was written by."""
    magic = reader.number("<I")
    if np_shape != (magic == V3):
        raise MXNetError(
            f"load: {reader.place()}: an array saved "
            + ("without numpy-shape semantics is loaded under it.\n" if np_shape else
               "under numpy-shape semantics is loaded without it.\n")
            + f"  received  version {magic:#x}\n"
            f"  expected  {'version 3' if np_shape else 'version 2 or older'}\n"
            f"  fix       load it within `with mx.util.np_shape({not np_shape})`"
        )  # fmt: skip
    if magic not in (V1, V2, V3):
        return _read_dense(reader, reader.shape(magic, "I"))
    if magic == V1:
        return _read_dense(reader, reader.shape(reader.number("<i")))
    stype = reader.number("<i")
    if stype == FLAGS["default"]:
        ndim = reader.number("<i")
        return _nothing() if ndim == -1 else _read_dense(reader, reader.shape(ndim), magic == V3)
    if stype not in (FLAGS["csr"], FLAGS["row_sparse"]) or magic == V3:
        raise reader.bad("Invalid NDArray file format", f"storage type {stype}")
    stored = reader.shape(reader.number("<i"))
    shape = reader.shape(reader.number("<i"))
    if not shape:
        return _nothing()
    _read_context(reader)
    flag = reader.number("<i")
    aux = [(reader.number("<i"), reader.shape(reader.number("<i"))) for _ in range(stype)]
    if 0 in stored or not stored:  # MXNet may write this shape before it knows it
        stored = aux[1][1] if stype == FLAGS["csr"] else (*aux[0][1], *shape[1:])
    values = reader.values(flag, stored)
    indices = [reader.values(f, s).astype(np.int64, copy=False) for f, s in aux]
    if stype == FLAGS["csr"]:
        return _checked_csr(reader, values, indices[1], indices[0], shape)
    return _checked_row_sparse(reader, values, indices[0], shape)


def _read_dense(reader: _Reader, shape: tuple[int, ...], scalar: bool = False) -> np.ndarray:
    """What follows the shape of a dense array; without dimensions it is an array never made."""
    if not shape and not scalar:
        return _nothing()
    _read_context(reader)
    return reader.values(reader.number("<i"), shape)


def _read_context(reader: _Reader) -> None:
    """Skip the device: an array saved on any of them is loaded onto the CPU."""
    device = reader.number("<i")
    reader.number("<i")
    if device not in (1, 2, 3, 5):
        raise reader.bad("Invalid NDArray file format", f"device type {device}")


def _nothing() -> np.ndarray:
    """An array that was saved before it had a shape."""
    return np.zeros(0, np.float32)


def _checked_csr(
    reader: _Reader,
    values: np.ndarray,
    indices: np.ndarray,
    indptr: np.ndarray,
    shape: tuple[int, ...],
) -> Csr:
    """A csr storage no index of which leads outside of it."""
    if len(shape) == 2 and values.shape == indices.shape == indptr.shape == (0,):
        try:  # MXNet writes an empty one so, too; nothing of it is in memory before it is used
            return Csr(values, indices, np.zeros(shape[0] + 1, np.int64), shape)
        except (MemoryError, ValueError) as error:
            raise reader.bad("Invalid NDArray file format", f"a csr array of {shape}") from error
    if (
        len(shape) != 2
        or values.ndim != 1
        or indices.shape != values.shape
        or indptr.shape != (shape[0] + 1,)
        or indptr[0] != 0
        or indptr[-1] != values.size
        or (np.diff(indptr) < 0).any()
        or _outside(indices, shape[1])
    ):
        raise reader.bad(
            "Invalid NDArray file format", f"a csr array of {shape} with wrong indices"
        )
    return Csr(values, indices, indptr, shape)


def _checked_row_sparse(
    reader: _Reader, values: np.ndarray, indices: np.ndarray, shape: tuple[int, ...]
) -> RowSparse:
    """A row_sparse storage with its rows in ascending order."""
    fits = indices.ndim == 1 and values.shape == (indices.size, *shape[1:])
    if fits and (np.diff(indices) < 0).any():
        order = np.argsort(indices, kind="stable")
        indices, values = indices[order], values[order]
    if not fits or _outside(indices, shape[0]) or (np.diff(indices) == 0).any():
        raise reader.bad(
            "Invalid NDArray file format", f"a row_sparse array of {shape} with wrong rows"
        )
    return RowSparse(values, indices, shape)


def _outside(indices: np.ndarray, size: int) -> bool:
    return bool(indices.size) and (int(indices.min()) < 0 or int(indices.max()) >= size)


def _read_name(reader: _Reader) -> str:
    try:
        return str(reader.take(reader.number("<Q")), "utf-8")
    except UnicodeDecodeError as error:
        raise reader.bad("Invalid NDArray file format", "a name that is not UTF-8") from error


def _unreachable(verb: str, path: object, error: OSError) -> MXNetError:
    wanted = "a file that can be read" if verb == "load" else "a path that can be written"
    return MXNetError(
        f"{verb}: {error.strerror or error}.\n  received  {str(path)!r}\n"
        f"  expected  {wanted}\n  fix       check the path and its permissions"
    )
