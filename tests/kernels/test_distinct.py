import gc

import numpy as np
import pytest

from minigluon.base import IndexOutOfRange
from minigluon.kernels import distinct


@pytest.mark.parametrize(("size", "limit"), [(1, 5), (2, 2), (7, 3), (100, 130), (400, 64)])
def test_distinct_agrees_with_numpy_unique(path, size, limit):
    ids = np.random.RandomState(size).randint(0, limit, size)
    rows, slots = distinct.distinct(ids, limit)
    expected_rows, expected_slots = np.unique(ids, return_inverse=True)
    np.testing.assert_array_equal(rows, expected_rows)
    np.testing.assert_array_equal(slots, expected_slots)
    assert rows.dtype == np.int64


def test_distinct_of_nothing_is_nothing(path):
    rows, slots = distinct.distinct(np.zeros(0, np.int64), 9)
    assert rows.size == slots.size == 0


def test_sorting_falls_back_when_ids_and_positions_do_not_fit_in_one_word():
    ids = np.array([2**61, 5, 2**61, 7])
    rows, slots = distinct._distinct_by_sorting(ids, 2**62)
    np.testing.assert_array_equal(rows, [5, 7, 2**61])
    np.testing.assert_array_equal(slots, [2, 0, 2, 1])


def test_few_ids_of_many_never_use_memory_of_the_limits_size():
    assert not distinct.uses_bitmap(40, 10**6)
    assert not distinct.uses_bitmap(300, 10**6)


@pytest.mark.parametrize("limit", [1, 64, 65, 500])
def test_find_gives_positions_and_minus_one(path, limit):
    r = np.random.RandomState(limit)
    rows = np.flatnonzero(r.rand(limit) < 0.5)
    ids = r.randint(0, limit, 300)
    position = {row: k for k, row in enumerate(rows.tolist())}
    at = distinct.find(ids, rows, limit)
    np.testing.assert_array_equal(at, [position.get(i, -1) for i in ids.tolist()])


def test_checked_ids_name_the_offender_and_the_limit():
    with pytest.raises(IndexOutOfRange, match=r"index -2 is out of range(.|\n)*0 to 4"):
        distinct.checked_ids(np.array([0, -2, 9]), 5)
    with pytest.raises(IndexError, match="index 5 "):
        distinct.checked_ids(np.array([[0.0, 5.0]]), 5)
    np.testing.assert_array_equal(distinct.checked_ids(np.array([[4.0, 0.0]]), 5), [4, 0])


def test_float32_ids_that_cannot_be_exact_are_refused():
    exact = distinct.as_ids(np.array([2**24 - 1], np.float32))
    assert exact.tolist() == [2**24 - 1]
    with pytest.raises(IndexOutOfRange):  # it may be 2**24 + 1 rounded
        distinct.as_ids(np.array([2**24 + 1], np.float32))
    with pytest.raises(IndexOutOfRange, match="int64"):
        distinct.as_ids(np.array([2**24 + 2], np.float32))
    with pytest.raises(IndexOutOfRange):
        distinct.as_ids(np.array([np.nan], np.float32))


def test_clip_and_wrap_keep_the_shape():
    ids = np.array([[5.0, -1.0], [1.0, -4.0]])
    np.testing.assert_array_equal(distinct.clipped_ids(ids, 3), [[2, 0], [1, 0]])
    np.testing.assert_array_equal(distinct.wrapped_ids(ids, 3), [[2, 2], [1, 2]])


def test_what_is_remembered_goes_with_the_array(numba_loaded):
    ids = np.random.RandomState(0).randint(0, 900, 1000)
    known = len(distinct._remembered.found)
    rows, slots = distinct.distinct_columns(ids, 900)
    np.testing.assert_array_equal(rows[slots], ids)
    again = distinct.distinct_columns(ids, 900)
    assert again[0] is rows
    assert again[1] is slots
    assert len(distinct._remembered.found) == known + 1
    del ids
    gc.collect()
    assert len(distinct._remembered.found) == known


def test_only_so_much_is_remembered(numba_loaded, monkeypatch):
    monkeypatch.setattr(distinct, "_remembered", distinct._Remembered())
    monkeypatch.setattr(distinct, "_REMEMBERED_IDS", 1500)
    arrays = [np.random.RandomState(k).randint(0, 900, 600) for k in range(4)]
    for ids in arrays:
        distinct.distinct_columns(ids, 900)
    found = [entry[0]() for entry in distinct._remembered.found.values()]
    assert [x is y for x, y in zip(found, arrays[2:], strict=True)] == [True, True]
    assert distinct._remembered.size == 1200


def test_another_limit_is_looked_through_again(numba_loaded):
    ids = np.random.RandomState(0).randint(0, 64, 600)
    for limit in (64, 900):
        rows, _ = distinct.distinct_columns(ids, limit)
        np.testing.assert_array_equal(rows, np.unique(ids))


@pytest.mark.parametrize("density", [0.001, 0.05, 0.9])
def test_bitmaps_of_any_density_give_what_unique_gives(numba_loaded, density):
    ids = np.flatnonzero(np.random.RandomState(1).rand(20_000) < density)
    ids = np.random.RandomState(2).permutation(np.repeat(ids, 2))
    rows = distinct.ranks(ids, 20_000)[2]
    np.testing.assert_array_equal(rows, np.unique(ids))
    assert rows.flags.owndata or 2 * rows.size > ids.size
