"""Products of dense matrices in the tiles of `tiles`: about twice as quick as numpy's BLAS.

The right operand is read as rows of vectors, where it lies or as `Panels`, which are worth making
for a matrix that is multiplied many times; the left one is copied, which costs little.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from . import _memory, _threads, tiles

#: below this many multiplications BLAS is quicker than loading compiled code
FEWEST = 1 << 22
#: so many, 250 us, are worth a thread
FEWEST_FOR_A_THREAD = 1 << 25


def can(dtype: Any) -> bool:
    """Whether there are tiles for numbers of a type; loads LLVM."""
    return dtype.char in "fd" and tiles.available()


def matmul(a: Any, b: Any, out: Any = None) -> Any:
    """``a @ b`` of matrices of any strides; ``out`` is C-contiguous."""
    if not _fits(a, b, out):
        return np.dot(a, b, out=out)
    (m, k), n = a.shape, b.shape[1]
    if out is None:
        _memory.use_pool()
        out = np.empty((m, n), a.dtype)
    most = _threads.worth(m * k * n, FEWEST_FOR_A_THREAD)
    panels = None if b.strides[1] == b.itemsize else Panels(b)
    jobs = []
    for rows in _threads.share(range(m), most):
        calls = _Calls(len(rows), k, n, a.dtype)
        if panels is None:
            calls.add(b.ctypes.data, b.strides[0], n, 1, 0, 0)
        else:
            panels.add_to(calls)
        part = slice(rows.start, rows.stop)
        jobs.append(partial(calls, a[part], out[part]))
    _threads.run(jobs, lambda job: job())
    return out


def _fits(a: Any, b: Any, out: Any) -> bool:
    """Whether this is worth it, and a product that numpy would not refuse."""
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0] or a.dtype != b.dtype:
        return False
    if a.size * b.shape[1] < FEWEST or len(a) < 4 or not can(a.dtype):
        return False
    shape = (len(a), b.shape[1])
    fits = out is None or (out.shape == shape and out.dtype == a.dtype and out.flags.c_contiguous)
    return fits and b.shape[1] >= 2 * tiles.lanes(a.dtype)


def right(matrix: Any, rows: int) -> Any:
    """A function ``(left, out)`` that puts ``left @ matrix`` into ``out``, for many calls.

    ``rows`` is how many rows all left operands have together; ``out`` is C-contiguous.
    """
    work = rows * matrix.size
    if work >= FEWEST and matrix.shape[1] >= 2 * tiles.lanes(matrix.dtype) and can(matrix.dtype):
        return Panels(matrix)
    return lambda left, out: np.matmul(left, matrix, out=out)


class Panels:
    """A matrix in panels of as many columns as two vectors hold, to be multiplied from the left.

    It has to have at least so many columns.
    """

    def __init__(self, matrix: Any):
        self.depth, self.columns = matrix.shape
        self.width = 2 * tiles.lanes(matrix.dtype)
        self.whole = self.columns // self.width
        rows = matrix.T
        self.panels = tiles.packed_by(rows[: self.whole * self.width], self.width)
        # what is left over, in a panel that overlaps the last
        self.last = None
        if self.whole * self.width < self.columns:
            self.last = tiles.packed_by(rows[self.columns - self.width :], self.width)
        self.calls: dict[int, _Calls] = {}

    def __call__(self, left: Any, out: Any) -> Any:
        """``left @ matrix`` put into ``out``, which is C-contiguous; ``left`` has any strides."""
        rows = len(left)
        calls = self.calls.get(rows)
        if calls is None:
            calls = self.calls[rows] = _Calls(rows, self.depth, self.columns, left.dtype)
            self.add_to(calls)
        calls(left, out)
        return out

    def add_to(self, calls: _Calls) -> None:
        """Have calls multiply with this matrix."""
        pitch = self.width * calls.bytes
        panel = pitch * self.depth
        calls.add(self.panels.ctypes.data, pitch, self.width, self.whole, panel, 0)
        if self.last is not None:
            last = self.columns - self.width
            calls.add(self.last.ctypes.data, pitch, self.width, 1, 0, last)


class _Calls:
    """Products of left operands of a shape with some columns, of which all is known but where."""

    def __init__(self, rows: int, depth: int, columns: int, dtype: Any):
        self.dtype, self.bytes = dtype, dtype.itemsize
        self.depth, self.columns = depth, columns
        size, self.vectors = tiles.tile_sizes(rows, 2, 2)
        self.split = tiles.split(rows, size)
        self.sizes = np.array([n for n, many in self.split for _ in range(many)])
        self.memory = np.empty(rows * depth, dtype)
        self.zeros = np.zeros(rows, dtype)
        self.pack = tiles.packing(tiles.name(dtype))
        addresses = self.memory.ctypes.data, self.sizes.ctypes.data
        self.packing = depth, *addresses, len(self.sizes)
        self.kept: list[Any] = []
        self.calls: list[Any] = []

    def add(self, right: int, pitch: int, width: int, panels: int, panel: int, first: int) -> None:
        """Columns from ``first`` on: panels of a width, with rows ``pitch`` bytes apart."""
        lanes = tiles.lanes(self.dtype)
        offsets = np.arange(self.depth) * pitch
        parts, inner = tiles.parts(self.depth)
        rows = np.array([[0, parts]] * panels)
        each = np.array([[0, inner]] * -(-width // (lanes * self.vectors)))
        self.kept += [offsets, rows, each]
        left, start, line = self.memory.ctypes.data, self.zeros.ctypes.data, self.columns
        row = 0
        for n, many in self.split:
            before = (
                right, offsets.ctypes.data, self.depth, left + row * self.depth * self.bytes,
                start,
            )  # fmt: skip
            after = (
                line * self.bytes, panels, width * self.bytes, panel, width * self.bytes, many, 0,
                rows.ctypes.data, each.ctypes.data, inner,
            )  # fmt: skip
            run = tiles.products(tiles.name(self.dtype), n, self.vectors, apart=parts > 1)
            self.calls.append((run, before, (row * line + first) * self.bytes, after))
            row += n * many

    def __call__(self, left: Any, out: Any) -> None:
        """Put the products with a left operand into the C-contiguous ``out``."""
        self.pack(left.ctypes.data, *left.strides, *self.packing)
        to = out.ctypes.data
        for run, before, shift, after in self.calls:
            run(*before, to + shift, *after)
