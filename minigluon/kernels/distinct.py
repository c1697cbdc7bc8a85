"""Row and column ids: checking them, finding the distinct ones, looking them up.

Every row_sparse gradient starts with "which ids occur, ascending, and where does each entry go".
That id pass costs more than the arithmetic, so it is chosen by size: packed sort, or one bit per
possible id with popcount ranks (sorted ids without sorting).

======================================  =========================================================
``checked_ids(ids, limit)``             int64 ids, or IndexOutOfRange naming the value and the limit
``clipped_ids / wrapped_ids``           int64 ids brought into ``[0, limit)``
``distinct(ids, limit)``                ``(rows, slots)``: ``rows`` ascend, ``rows[slots] == ids``
``distinct_columns(indices, limit)``    the same, remembered as long as ``indices`` lives
``find(ids, rows, limit)``              position of each id in ascending ``rows``, -1 if absent
``gather(dense, ids)``                  ``dense[ids]``
======================================  =========================================================
"""

from __future__ import annotations

import weakref

import numpy as np

from ..base import IndexOutOfRange
from . import _jit
from ._jit import jit

#: below this many ids the bitmap saves less than 3 us, not worth loading numba for
_SORT_BELOW = 256
#: clearing and counting this many 64-bit words costs as much as sorting one id:
#: 14k ids of 1M 36 us against 76, 1k of 1M 11.8 against 10.1
_WORDS_PER_ID = 8
#: beyond 4M ids the bitmap leaves the cache: 80k ids of 10M 836 us against 460
_IN_CACHE = 1 << 22
#: so many ids are taken out of a word of the bitmap without asking whether there are any left
_AT_ONCE = 3
#: results for so many ids in all are remembered (128 MB of slots, and the rows)
_REMEMBERED_IDS = 1 << 25
_EXACT = {2: 2**11, 4: 2**24, 8: 2**53}


def as_ids(ids: np.ndarray) -> np.ndarray:
    """``ids`` as flat int64.

    Scripts pass float32 ids. Beyond ``2**24`` those cannot tell neighbours apart, so they are
    refused rather than answered with other rows.
    """
    if ids.dtype.kind == "f" and ids.size:
        largest = float(np.abs(ids).max())
        if not largest < _EXACT[ids.dtype.itemsize]:
            raise IndexOutOfRange(
                f"ids cannot be read exactly.\n  received  {ids.dtype} ids up to {largest:.0f}\n"
                f"  expected  less than {_EXACT[ids.dtype.itemsize]}: from there on {ids.dtype} "
                "cannot tell whole numbers apart\n  fix       pass dtype='int64' ids"
            )
    return np.asarray(ids, np.int64).ravel()


def checked_ids(ids: np.ndarray, limit: int) -> np.ndarray:
    """``ids`` as flat int64, all of them in ``[0, limit)``.

    Raises ``IndexOutOfRange`` with the first offending value and the limit.
    """
    ids = as_ids(ids)
    # seen as unsigned, negative ids are huge: one reduction instead of two
    if ids.size and np.maximum.reduce(ids.view(np.uint64)) >= limit:
        wrong = ids[(ids < 0) | (ids >= limit)]
        raise IndexOutOfRange(
            f"index {wrong[0]} is out of range.\n"
            f"  received  {ids.size} ids from {ids.min()} to {ids.max()}\n"
            f"  expected  0 to {limit - 1}, as there are {limit}\n"
            "  fix       check the ids, or the size of what they point into"
        )
    return ids


def clipped_ids(ids: np.ndarray, limit: int) -> np.ndarray:
    """``ids`` as int64 in their own shape, too small ones 0 and too large ones ``limit - 1``."""
    return np.clip(as_ids(ids), 0, limit - 1).reshape(np.shape(ids))


def wrapped_ids(ids: np.ndarray, limit: int) -> np.ndarray:
    """``ids`` as int64 in their own shape, counted from the end when negative, modulo ``limit``."""
    return np.remainder(as_ids(ids), limit).reshape(np.shape(ids))


def distinct(ids: np.ndarray, limit: int) -> tuple[np.ndarray, np.ndarray]:
    """The distinct ``ids`` ascending, and for each id its place among them (int32 or int64).

    ``ids`` are flat int64 in ``[0, limit)``.
    """
    size = ids.size
    if size == 1:
        return ids.copy(), np.zeros(1, np.int64)
    if uses_bitmap(size, limit):
        bits, before, rows = ranks(ids, limit)
        return rows, _slots(ids, bits, before, np.empty(size, np.int32))
    return _distinct_by_sorting(ids, limit)


class _Remembered:
    """What ``distinct`` found for index arrays that live, the oldest forgotten beyond a size."""

    def __init__(self) -> None:
        self.found: dict[int, tuple[weakref.ref[np.ndarray], int, np.ndarray, np.ndarray]] = {}
        self.size = 0

    def get(self, ids: np.ndarray, limit: int) -> tuple[np.ndarray, np.ndarray]:
        key = id(ids)
        known = self.found.get(key)
        if known is not None and known[0]() is ids and known[1] == limit:
            return known[2], known[3]
        rows, slots = distinct(ids, limit)
        self.forget(key)
        reference = weakref.ref(ids, lambda _: self.forget(key))
        self.found[key] = reference, limit, rows, slots
        self.size += ids.size
        while self.size > _REMEMBERED_IDS and len(self.found) > 1:
            self.forget(next(iter(self.found)))
        return rows, slots

    def forget(self, key: int) -> None:
        known = self.found.pop(key, None)
        if known is not None:
            self.size -= known[3].size


_remembered = _Remembered()


def distinct_columns(indices: np.ndarray, limit: int) -> tuple[np.ndarray, np.ndarray]:
    """``distinct`` of the index array of a csr matrix, which nobody writes to.

    A batch whose gradients are taken for several weights, or in every epoch, is looked through
    once. This takes 4 bytes for each stored entry, and 8 for each column that occurs.
    """
    if indices.size < _SORT_BELOW:
        return distinct(indices, limit)
    return _remembered.get(indices, limit)


def uses_bitmap(size: int, limit: int) -> bool:
    """Whether ``size`` ids below ``limit`` are better ranked by a bitmap than by a sort."""
    words = limit >> 6 if limit <= _IN_CACHE else limit >> 3
    return size >= _SORT_BELOW and words <= _WORDS_PER_ID * size and _jit.has_numba()


def _distinct_by_sorting(ids: np.ndarray, limit: int) -> tuple[np.ndarray, np.ndarray]:
    """Sort ``(id, position)`` packed in one int64: numpy sorts plain int64 with SIMD."""
    size = ids.size
    shift = (size - 1).bit_length() if size else 0
    if limit.bit_length() + shift < 63:
        packed = ids << shift
        packed |= np.arange(size)
        packed.sort()
        order = packed & ((1 << shift) - 1)
        packed >>= shift
    else:
        order = ids.argsort(kind="stable")
        packed = ids[order]
    first = np.empty(size, bool)
    first[:1] = True
    np.not_equal(packed[1:], packed[:-1], out=first[1:])
    slots = np.empty(size, np.int64)
    place = first.cumsum()
    place -= 1
    slots[order] = place
    return packed[first], slots


def ranks(ids: np.ndarray, limit: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A bit for every id, how many bits precede each 64-bit word, and the ids that have one.

    The rank of an id is ``before[word] + popcount(bits[word] below it)``: sorted distinct ids
    without sorting, in memory of ``limit / 8`` bytes (80k ids of 1M: 166 us, np.unique 1,430 us).
    """
    bits = np.zeros((limit + 63) >> 6, np.uint64)
    before = np.empty(bits.size, np.int32)
    _mark(ids, bits)
    rows = np.empty(min(ids.size, limit) + _AT_ONCE - 1, np.int64)
    rows = rows[: _marked(bits, before, rows)]
    return bits, before, rows if 2 * rows.size > ids.size else rows.copy()


def find(ids: np.ndarray, rows: np.ndarray, limit: int) -> np.ndarray:
    """Where each of ``ids`` is in the ascending ``rows``; -1 where it is not."""
    if rows.size == limit:
        return ids
    if rows.size == 0:
        return np.full(ids.size, -1, np.int64)
    if ids.size >= _SORT_BELOW and rows.size + (limit >> 6) <= 64 * ids.size and _jit.has_numba():
        # 80k ids among 500k rows of 1M: 1.1 ms, binary search 11 ms
        bits, before = np.zeros((limit + 63) >> 6, np.uint64), np.empty((limit + 63) >> 6, np.int32)
        _mark(rows, bits)
        _count(bits, before)
        return _ranked(ids, bits, before, np.empty(ids.size, np.int64))
    at = rows.searchsorted(ids)
    at[at == rows.size] = 0
    at[rows[at] != ids] = -1
    return at


def gather(dense: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """``dense[ids]`` along the first axis, for ids in range."""
    if dense.flags.c_contiguous:
        return dense.take(ids, axis=0)  # half the time of dense[ids] for few ids
    return dense[ids]  # take would first copy all of an array that is not contiguous


@jit
def popcount(word):
    """How many bits of a uint64 are set; LLVM knows this idiom and emits one instruction."""
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@jit
def trailing_zeros(word):
    """How many low bits of a uint64 are not set, 64 of zero; one instruction, too."""
    return popcount(~word & (word - np.uint64(1)))


# Unsigned indices spare numba's wrap-around of negative ones: half the time of these loops.


@jit
def rank(identity, bits, before):
    """How many marked ids are smaller than this one (uint64)."""
    word = identity >> np.uint64(6)
    below = (np.uint64(1) << (identity & np.uint64(63))) - np.uint64(1)
    return before[word] + popcount(bits[word] & below)


@jit
def _mark(ids, bits):
    """Set the bit of every id."""
    for k in range(ids.size):
        identity = np.uint64(ids[k])
        bits[identity >> np.uint64(6)] |= np.uint64(1) << (identity & np.uint64(63))


@jit
def _count(bits, before):
    """How many ids come before each word."""
    count = 0
    for word in range(bits.size):
        before[word] = count
        count += popcount(bits[word])


@jit
def _marked(bits, before, out):
    """The ids whose bit is set, ascending, and how many come before each word; their number.

    ``out`` has room for two more than there are: three are written for every word that has one,
    as how many it has cannot be foretold (16k ids of 1M: 42 us against 71).
    """
    count = 0
    for word in range(bits.size):
        left = bits[word]
        before[word] = count
        if left == 0:
            continue
        size, first = popcount(left), word * 64
        for k in range(3):
            out[count + k] = first + trailing_zeros(left)
            left &= left - np.uint64(1)
        place = count + 3
        while left != 0:
            out[place] = first + trailing_zeros(left)
            place += 1
            left &= left - np.uint64(1)
        count += size
    return count


@jit
def _slots(ids, bits, before, out):
    """The rank of every id."""
    for k in range(ids.size):
        out[k] = rank(np.uint64(ids[k]), bits, before)
    return out


@jit
def _ranked(ids, bits, before, out):
    """The rank of every id, -1 for those whose bit is not set."""
    for k in range(ids.size):
        identity = np.uint64(ids[k])
        word = bits[identity >> np.uint64(6)] >> (identity & np.uint64(63))
        out[k] = rank(identity, bits, before) if word & np.uint64(1) else -1
    return out
