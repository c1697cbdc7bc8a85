"""Row ids and the rows they name: what ``row_sparse_pull`` copies."""

from __future__ import annotations

import numpy as np

from .. import storage
from ..base import DTypeError, IndexOutOfRange


def unique_rows(row_ids, rows, key):
    """The ids, each once and ascending, as int64.

    Raises ``DTypeError`` for float ids so large that their type skips integers, and
    ``IndexOutOfRange`` for ids outside ``0 ... rows - 1``.
    """
    ids = np.unique(row_ids.asnumpy())
    if not ids.size:
        return ids.astype(np.int64)
    if ids.dtype.kind == "f" and ids[-1] >= 2 ** (np.finfo(ids.dtype).nmant + 1):
        raise DTypeError(
            f"row_sparse_pull: {ids.dtype} row_ids cannot name all rows of key {key!r}.\n"
            f"  received  ids up to {int(ids[-1])} in {ids.dtype}\n"
            f"  expected  ids below {2 ** (np.finfo(ids.dtype).nmant + 1)}: beyond it this dtype "
            "skips whole numbers\n"
            "  fix       make row_ids with dtype='int64'"
        )
    ids = ids.astype(np.int64)
    if ids[0] < 0 or ids[-1] >= rows:
        raise IndexOutOfRange(
            f"row_sparse_pull: a row of key {key!r} does not exist.\n"
            f"  received  row_ids from {ids[0]} to {ids[-1]}\n"
            f"  expected  0 to {rows - 1}\n"
            "  fix       pull rows that the value has"
        )
    return ids


def pull_rows(source, ids, out):
    """Make a row_sparse array hold the given rows of another, zeros where it has none."""
    have: storage.RowSparse = source._data
    if have.indices.size == have.shape[0]:
        values = have.values[ids]
    else:
        at = np.searchsorted(have.indices, ids)
        at[at == have.indices.size] = 0
        values = np.zeros((ids.size, *have.shape[1:]), have.values.dtype)
        if have.indices.size:
            found = have.indices[at] == ids
            values[found] = have.values[at[found]]
    if values.dtype != out._data.dtype:
        values = values.astype(out._data.dtype)
    out._data.assign(storage.RowSparse(values, ids, have.shape))
