import numpy as np
import pytest

from minigluon.base import IndexOutOfRange
from minigluon.kernels import row_sparse as kernels
from minigluon.storage import RowSparse, densify

DTYPES = [np.float32, np.float16, np.int32]


def hypot(a, b):
    return kernels.union(np.hypot, a, b)


@pytest.mark.parametrize("stored", [(0, 0), (3, 0), (0, 4), (3, 4), (9, 4), (5, 9), (9, 9)])
@pytest.mark.parametrize(
    ("kernel", "ufunc"),
    [
        (kernels.add, np.add),
        (kernels.subtract, np.subtract),
        (kernels.multiply, np.multiply),
        (hypot, np.hypot),
        (lambda a, b: kernels.union(np.maximum, a, b), np.maximum),
        (lambda a, b: kernels.union(np.minimum, a, b), np.minimum),
    ],
)
def test_rsp_with_rsp_stores_the_union_of_the_rows(path, random_rsp, kernel, ufunc, stored):
    a, dense_a = random_rsp(9, 2, stored[0], seed=1)
    b, dense_b = random_rsp(9, 2, stored[1], seed=2)
    result = kernel(a, b)
    np.testing.assert_array_equal(densify(result), ufunc(dense_a, dense_b))
    np.testing.assert_array_equal(result.indices, np.union1d(a.indices, b.indices))
    assert kernels.check_format(result) is None
    assert not np.shares_memory(result.values, a.values)


def test_add_n_adds_from_left_to_right(path, random_rsp):
    parts = [random_rsp(9, 2, stored, seed=stored) for stored in (3, 0, 5)]
    result = kernels.add_n([rsp for rsp, _ in parts])
    np.testing.assert_array_equal(densify(result), sum(dense for _, dense in parts))
    assert kernels.check_format(result) is None
    first = parts[0][0]
    np.testing.assert_array_equal(kernels.add_n([first] * 3).values, 3 * first.values)
    assert not np.shares_memory(kernels.add_n([first]).values, first.values)


def test_dense_operands(random_rsp):
    rsp, dense = random_rsp(6, 2, 3)
    other = np.arange(1, 13, dtype=np.float32).reshape(6, 2)
    for kernel, expected in (
        (kernels.multiply_dense, dense * other),
        (kernels.divide_dense, dense / other),
    ):
        result = kernel(rsp, other)
        assert result.indices is rsp.indices
        np.testing.assert_array_equal(densify(result), expected)
    np.testing.assert_array_equal(kernels.add_dense(rsp, other), dense + other)
    np.testing.assert_array_equal(kernels.subtract_dense(rsp, other), dense - other)
    np.testing.assert_array_equal(kernels.dense_subtract(other, rsp), other - dense)
    np.testing.assert_array_equal(kernels.add_dense(rsp, other[0]), dense + other[0])


def test_add_dense_into_its_operand_adds_the_rows_only(random_rsp):
    rsp, dense = random_rsp(6, 2, 3)
    other = np.ones((6, 2), np.float32)
    assert kernels.add_dense(rsp, other, out=other) is other
    np.testing.assert_array_equal(other, dense + 1)


@pytest.mark.parametrize("shape", [(4,), (4, 2), (4, 2, 3), (0, 2)])
def test_densify_and_from_dense_are_inverses(shape):
    dense = np.arange(np.prod(shape), dtype=np.float32).reshape(shape) % 3
    dense[1:2] = 0
    rsp = kernels.from_dense(dense)
    np.testing.assert_array_equal(kernels.densify(rsp), dense)
    assert kernels.check_format(rsp) is None
    assert 1 not in rsp.indices
    out = np.full(shape, 8, np.float32)
    assert kernels.densify(rsp, out=out) is out
    np.testing.assert_array_equal(out, dense)


@pytest.mark.parametrize(
    ("ids", "expected"),
    [([2, 0], [0, 2]), ([3, 0], [0, 3]), ([0, 0, 3], [0, 3]), ([1], []), ([], [])],
)
def test_retain_is_ascending_and_unique(path, ids, expected):
    # known bug: MXNet 1.9.1 keeps the order and repeats of ids
    rsp = RowSparse(np.float32([[1], [3], [4]]), np.array([0, 2, 3]), (5, 1))
    result = kernels.retain(rsp, np.array(ids, np.int64))
    np.testing.assert_array_equal(result.indices, expected)
    np.testing.assert_array_equal(result.values[:, 0], np.float32([i + 1 for i in expected]))
    assert kernels.check_format(result) is None


def test_retain_stores_absent_rows_as_zeros_when_asked():
    rsp = RowSparse(np.float32([[1], [3]]), np.array([0, 2]), (5, 1))
    result = kernels.retain(rsp, np.array([2, 1]), absent=True)
    np.testing.assert_array_equal(result.indices, [1, 2])
    np.testing.assert_array_equal(result.values, [[0], [3]])


def test_the_gradient_of_retain_has_unique_rows(path):
    g = RowSparse(np.float32([[1], [2]]), np.array([0, 2]), (4, 1))
    for head in (g, densify(g)):
        result = kernels.retain_gradient(head, np.array([0, 0, 2]))
        np.testing.assert_array_equal(result.indices, [0, 2])
        np.testing.assert_array_equal(result.values, [[1], [2]])


@pytest.mark.parametrize("stored", [0, 4, 9])
def test_lookup_agrees_with_dense_indexing(path, random_rsp, stored):
    rsp, dense = random_rsp(9, 2, stored)
    for ids in (np.array([3, 3, 0, 8]), np.array([[1, 2], [7, 1]]), np.array(4)):
        np.testing.assert_array_equal(kernels.lookup(rsp, ids), dense[ids])


def test_take_clips_wraps_or_checks():
    dense = np.arange(6, dtype=np.float32).reshape(3, 2)
    ids = np.array([[5.0, -1.0], [1.0, -4.0]])
    np.testing.assert_array_equal(kernels.take(dense, ids, "clip"), dense[[[2, 0], [1, 0]]])
    np.testing.assert_array_equal(kernels.take(dense, ids, "wrap"), dense[[[2, 2], [1, 2]]])
    np.testing.assert_array_equal(kernels.take(dense, np.array([[2, 0]]), "raise"), dense[[[2, 0]]])
    with pytest.raises(IndexOutOfRange, match="index 5 "):
        kernels.take(dense, ids, "raise")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (3,), (2, 2)])
@pytest.mark.parametrize("size", [0, 1, 40])
def test_an_embeddings_gradient_adds_repeated_ids(path, size, shape, dtype):
    r = np.random.RandomState(size)
    ids = r.randint(0, 12, size)
    g = r.randint(-5, 5, (size, *shape)).astype(dtype)
    expected = np.zeros((12, *shape), dtype)
    np.add.at(expected, ids, g)
    result = kernels.scatter_rows(ids, g, 12)
    np.testing.assert_array_equal(result.indices, np.unique(ids))
    np.testing.assert_array_equal(densify(result), expected)
    np.testing.assert_array_equal(kernels.scatter_rows_dense(ids, g, 12), expected)
    assert result.dtype == dtype


def test_repeated_ids_are_added_in_the_order_they_come(path):
    # in float32 1e8 + 1 - 1e8 is 0, and 1e8 - 1e8 + 1 is 1
    g = np.float32([[1e8], [1e8], [1], [-1e8], [-1e8], [1]])
    result = kernels.scatter_rows(np.array([3, 1, 3, 3, 1, 1]), g, 5)
    np.testing.assert_array_equal(result.values, [[1], [0]])


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32])
@pytest.mark.parametrize("shape", [(0, 3), (5, 1), (40, 30)])
def test_sums_of_rows(path, shape, dtype):
    values = np.random.RandomState(1).randint(-3, 4, shape).astype(dtype)
    sums, squares = kernels.row_sums(values), kernels.row_squares(values)
    np.testing.assert_array_equal(sums, values.sum(1))
    np.testing.assert_array_equal(squares, (values * values).sum(1))
    assert (sums.dtype.itemsize, squares.dtype) == (8, dtype)


def test_square_sums(random_rsp):
    rsp, dense = random_rsp(6, 3, 4)
    np.testing.assert_array_equal(kernels.square_sum(rsp), (dense**2).sum())
    np.testing.assert_array_equal(kernels.square_sum(rsp, 0), (dense**2).sum(0))
    np.testing.assert_array_equal(
        kernels.square_sum(rsp, 0, True), (dense**2).sum(0, keepdims=True)
    )
    np.testing.assert_array_equal(kernels.square_sum(rsp, 1), (dense**2).sum(1))
    kept = kernels.square_sum(rsp, 1, True)
    assert kept.indices is rsp.indices
    np.testing.assert_array_equal(densify(kept), (dense**2).sum(1, keepdims=True))
    assert kernels.total(rsp) == dense.sum()


def test_row_positions_add_rows_that_are_missing(path, random_rsp):
    rsp, dense = random_rsp(9, 2, 4)
    ids = np.array([0, 3, 4, 8])
    grown, at = kernels.row_positions(rsp, ids)
    np.testing.assert_array_equal(grown.indices[at], ids)
    np.testing.assert_array_equal(densify(grown), dense)
    same, at = kernels.row_positions(grown, ids)
    assert same is grown
    np.testing.assert_array_equal(grown.indices[at], ids)
    full = kernels.with_all_rows(rsp)
    np.testing.assert_array_equal(full.values, dense)
    assert kernels.with_all_rows(full) is full
    assert kernels.row_positions(full, ids) == (full, ids)


@pytest.mark.parametrize(
    ("indices", "message"),
    [
        ([0, 0], "follows 0"),
        ([2, 1], "1 follows 2"),
        ([-1, 1], "-1 is not in 0..2"),
        ([0, 3], "3 is not"),
    ],
)
def test_check_format_says_what_is_wrong(indices, message):
    rsp = RowSparse(np.ones((2, 2)), np.array(indices), (3, 2))
    assert message in kernels.check_format(rsp)
    assert kernels.check_format(rsp, full=False) is None


def test_check_format_compares_sizes():
    rsp = RowSparse(np.ones((2, 2)), np.array([0]), (3, 2))
    assert "data has shape (2, 2), expected (1, 2)" in kernels.check_format(rsp, full=False)
