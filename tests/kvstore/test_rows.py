import numpy as np
import pytest

import minigluon as mx
from minigluon import nd
from minigluon.kvstore.rows import pull_rows, unique_rows


@pytest.mark.parametrize(("dtype", "limit"), [("float16", 2**11), ("float32", 2**24)])
def test_float_ids_that_skip_whole_numbers_are_refused(dtype, limit):
    # MXNet 1.9.1 silently pulls other rows
    with pytest.raises(TypeError, match=f"{dtype} row_ids cannot name all rows of key 'w'"):
        unique_rows(nd.array([0, limit], dtype=dtype), limit + 8, "w")
    assert unique_rows(nd.array([limit - 1], dtype=dtype), limit + 8, "w") == [limit - 1]


def test_int64_ids_reach_beyond_float32():
    ids = nd.array(np.arange(2**24, 2**24 + 6), dtype="int64")
    found = unique_rows(ids, 2**24 + 8, "w")
    assert found.tolist() == list(range(2**24, 2**24 + 6))


def test_ids_out_of_range_name_the_range():
    with pytest.raises(mx.MXNetError, match="0 to 3"):
        unique_rows(nd.array([4], dtype="int64"), 4, "w")


@pytest.mark.parametrize("rows", [[], [0, 2], [1, 3], [0, 1, 2, 3]])
def test_rows_that_are_not_stored_are_zero(rows):
    dense = np.zeros((4, 2), np.float32)
    dense[rows] = np.arange(1, len(rows) + 1)[:, None]
    out = nd.zeros((4, 2), stype="row_sparse")
    for ids in ([0, 1], [2, 3], [0, 1, 2, 3]):
        pull_rows(nd.array(dense).tostype("row_sparse"), np.array(ids), out)
        assert out.indices.asnumpy().tolist() == ids
        np.testing.assert_array_equal(out.data.asnumpy(), dense[ids])


def test_pulled_rows_are_a_copy():
    source, out = nd.ones((2, 1)).tostype("row_sparse"), nd.zeros((2, 1), stype="row_sparse")
    pull_rows(source, np.array([0, 1]), out)
    out.data[:] = 5
    assert source.asnumpy().tolist() == [[1], [1]]
