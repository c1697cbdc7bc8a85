"""Batches on their way from a worker process: small in a message, large in a file of memory.

A batch is pickled with its arrays beside it. When they are large they are written to a file in a
memory file system, which the receiver maps and unlinks: the arrays of the batch are that memory,
and it is given back with the last of them.
"""

from __future__ import annotations

import io
import mmap
import os
import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from ...context import Context
from ...core.invoke import wrap
from ...ndarray import NDArray

SMALL = 1 << 18
"""Bytes up to which arrays are sent in the message itself."""

_MEMORY = Path("/dev/shm")
_ALIGNMENT = 64


def shared_folder() -> str | None:
    """A new folder for the batches of one pool of workers; None where memory has no file system."""
    if not (_MEMORY.is_dir() and os.access(_MEMORY, os.W_OK)):
        return None
    return tempfile.mkdtemp(prefix="minigluon-", dir=_MEMORY)


class _Pickler(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        if type(value) is NDArray and isinstance(value._data, np.ndarray):
            return _rebuilt, (np.ascontiguousarray(value._data), value._ctx)
        return NotImplemented


def _rebuilt(storage: np.ndarray, ctx: Context) -> NDArray:
    return wrap(storage, ctx)


def pack(batch: Any, folder: str | None) -> tuple:
    """What is to be sent for a batch: a pickle, a file name or the buffers, and their sizes."""
    buffers: list[memoryview] = []
    stream = io.BytesIO()
    _Pickler(stream, 5, buffer_callback=lambda buffer: buffers.append(buffer.raw())).dump(batch)
    sizes = [buffer.nbytes for buffer in buffers]
    if folder is None or sum(sizes) <= SMALL:
        return stream.getvalue(), [bytes(buffer) for buffer in buffers], sizes
    descriptor, name = tempfile.mkstemp(dir=folder)
    with os.fdopen(descriptor, "wb") as file:
        for buffer in buffers:
            file.write(buffer)
            file.write(bytes(-buffer.nbytes % _ALIGNMENT))
    return stream.getvalue(), name, sizes


def unpack(pickled: bytes, content: Any, sizes: list[int]) -> Any:
    """The batch that `pack` packed."""
    if not isinstance(content, str):
        return pickle.loads(pickled, buffers=[bytearray(piece) for piece in content])
    with open(content, "r+b") as file:  # noqa: PTH123 - mmap wants the descriptor
        memory = memoryview(mmap.mmap(file.fileno(), 0))
    discard(content)
    buffers, start = [], 0
    for size in sizes:
        buffers.append(memory[start : start + size])
        start += size + -size % _ALIGNMENT
    return pickle.loads(pickled, buffers=buffers)


def discard(content: Any) -> None:
    """Give back the memory of a batch that nobody wants."""
    if isinstance(content, str):
        Path(content).unlink(missing_ok=True)
