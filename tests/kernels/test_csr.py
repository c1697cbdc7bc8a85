import subprocess
import sys

import numpy as np
import pytest

from minigluon.kernels import csr as kernels
from minigluon.storage import Csr, densify


def make(values, indices, indptr, columns, dtype=np.float32):
    indptr = np.array(indptr, np.int64)
    return Csr(
        np.array(values, dtype), np.array(indices, np.int64), indptr, (indptr.size - 1, columns)
    )


@pytest.mark.slow
def test_importing_the_kernels_loads_neither_numba_nor_scipy():
    code = (
        "import sys, minigluon.kernels.csr, minigluon.kernels.csr_dot, minigluon.kernels.updates\n"
        "import minigluon.kernels.row_sparse, minigluon.kernels.libsvm\n"
        "import minigluon.kernels.csr_arithmetic\n"
        "assert not {'numba', 'scipy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.slow
def test_small_operands_never_load_numba():
    code = """
import sys
import numpy as np
from minigluon.kernels import csr, csr_arithmetic, csr_dot, libsvm, row_sparse, updates
a = csr.from_dense(np.eye(4, dtype="f"))
b = csr.from_dense(np.ones((4, 4), "f"))
csr_arithmetic.add(a, b), csr_arithmetic.multiply(a, b), csr_arithmetic.add_dense(a, np.eye(4))
csr.densify(a), csr.row_sums(a), csr.column_sums(a), csr.canonical(a), csr.check_format(a)
g = csr_dot.dot_transposed(a, csr_dot.dot(a, np.ones((4, 2), "f")))
csr_dot.dense_dot(np.eye(4, dtype="f"), a), csr_dot.dense_dot_transposed(np.eye(4, dtype="f"), a)
row_sparse.add(g, g), row_sparse.retain(g, np.arange(2))
row_sparse.scatter_rows(np.arange(3), np.ones((3, 2)), 4)
updates.adam_rows(np.ones((4, 2), "f"), g, *np.zeros((2, 4, 2), "f"), lr=0.1)
libsvm.parse(b"1 2:3")
assert not {"numba", "scipy"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32])
def test_densify_and_from_dense_are_inverses(path, random_csr, dtype):
    csr, dense = random_csr(6, 7, dtype=dtype)
    np.testing.assert_array_equal(kernels.densify(csr), dense)
    back = kernels.from_dense(dense)
    np.testing.assert_array_equal(back.values, csr.values)
    np.testing.assert_array_equal(back.indices, csr.indices)
    np.testing.assert_array_equal(back.indptr, csr.indptr)
    assert back.dtype == dtype
    assert back.indices.dtype == back.indptr.dtype == np.int64


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (2, 3)])
def test_nothing_stored_is_a_matrix_of_zeros(path, shape):
    csr = kernels.from_dense(np.zeros(shape, np.float32))
    assert kernels.check_format(csr) is None
    np.testing.assert_array_equal(kernels.densify(csr), np.zeros(shape))
    np.testing.assert_array_equal(kernels.row_sums(csr), np.zeros(shape[0]))
    np.testing.assert_array_equal(kernels.column_sums(csr), np.zeros(shape[1]))


def test_from_dense_keeps_nan_and_takes_any_layout():
    dense = np.array([[0, np.nan], [1, 0], [0, -0.0]], np.float32).T
    csr = kernels.from_dense(dense)
    np.testing.assert_array_equal(csr.values, np.float32([1, np.nan]))
    np.testing.assert_array_equal(csr.indices, [1, 0])
    np.testing.assert_array_equal(csr.indptr, [0, 1, 2])


def test_densify_adds_duplicates_and_fills_out(path):
    csr = make([1, 2, 4], [1, 1, 0], [0, 2, 3], 2)
    out = np.full((2, 2), 9, np.float32)
    assert kernels.densify(csr, out=out) is out
    np.testing.assert_array_equal(out, [[0, 3], [4, 0]])


def test_canonical_sorts_columns_and_adds_duplicates():
    csr = make([1, 2, 4, 8], [3, 1, 3, 0], [0, 3, 4], 4)
    result = kernels.canonical(csr)
    np.testing.assert_array_equal(result.values, [2, 5, 8])
    np.testing.assert_array_equal(result.indices, [1, 3, 0])
    np.testing.assert_array_equal(result.indptr, [0, 2, 3])
    assert kernels.canonical(result) is result


@pytest.mark.parametrize(("begin", "end"), [(0, 6), (2, 4), (3, 3), (5, 6)])
def test_row_slices_agree_with_numpy_and_own_their_values(random_csr, begin, end):
    csr, dense = random_csr(6, 5)
    part = kernels.slice_rows(csr, begin, end)
    np.testing.assert_array_equal(densify(part), dense[begin:end])
    assert kernels.check_format(part) is None
    assert not np.shares_memory(part.values, csr.values)


@pytest.mark.parametrize("columns", [(0, 5), (1, 4), (2, 2), (4, 0 + 5), (0, 0)])
def test_blocks_agree_with_numpy(random_csr, columns):
    csr, dense = random_csr(6, 5)
    part = kernels.slice_block(csr, (1, 5), columns)
    np.testing.assert_array_equal(densify(part), dense[1:5, columns[0] : columns[1]])
    assert part.shape == (4, columns[1] - columns[0])
    assert kernels.check_format(part) is None


@pytest.mark.parametrize("ids", [[], [2], [5, 0, 0, 3]])
def test_take_rows_agrees_with_numpy(random_csr, ids):
    csr, dense = random_csr(6, 5)
    ids = np.array(ids, np.int64)
    part = kernels.take_rows(csr, ids)
    np.testing.assert_array_equal(densify(part), dense[ids])
    assert kernels.check_format(part) is None


def test_concat_rows_agrees_with_numpy(random_csr):
    parts = [random_csr(rows, 5, seed=rows) for rows in (2, 0, 3)]
    joined = kernels.concat_rows([csr for csr, _ in parts])
    np.testing.assert_array_equal(densify(joined), np.concatenate([dense for _, dense in parts]))
    assert kernels.check_format(joined) is None


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8])
def test_sums_are_wide_and_right(path, random_csr, dtype):
    csr, dense = random_csr(6, 7, dtype=dtype)
    wide = np.float64 if np.dtype(dtype).kind == "f" else np.int64
    exact = dense.astype(wide)
    for result, expected in (
        (kernels.row_sums(csr), exact.sum(1)),
        (kernels.column_sums(csr), exact.sum(0)),
        (kernels.total(csr), exact.sum()),
        (kernels.square_sums(csr), (exact**2).sum()),
        (kernels.square_sums(csr, 0), (exact**2).sum(0)),
        (kernels.square_sums(csr, 1), (exact**2).sum(1)),
    ):
        np.testing.assert_array_equal(result, expected)
        assert result.dtype == wide


def test_stored_counts_count_zeros_that_are_stored():
    csr = make([0, 2, 3], [1, 0, 1], [0, 1, 3], 3)
    assert kernels.stored_counts(csr) == 3
    np.testing.assert_array_equal(kernels.stored_counts(csr, 0), [1, 2, 0])
    np.testing.assert_array_equal(kernels.stored_counts(csr, 1), [1, 2])


@pytest.mark.parametrize(
    ("indices", "indptr", "message"),
    [
        ([0, 1, 2], [0, 1], "indptr has 2 elements, expected 3"),
        ([0, 1, 2], [1, 2, 3], "starts with 1"),
        ([0, 1, 2], [0, 1, 2], "ends with 2, expected 3"),
        ([0, 1, 2], [0, 4, 3], "falls from 4 to 3 at row 1"),
        ([0, 2, 1], [0, 0, 3], "column index 1 follows 2"),
        ([0, 1, 1], [0, 1, 3], "column index 1 follows 1"),
        ([0, -1, 1], [0, 1, 3], "column index -1 of entry 1"),
        ([0, 1, 3], [0, 1, 3], "column index 3 of entry 2 is not in 0..2"),
    ],
)
def test_check_format_says_what_is_wrong(indices, indptr, message):
    csr = Csr(np.ones(3), np.array(indices), np.array(indptr), (2, 3))
    assert message in kernels.check_format(csr)


def test_check_format_looks_at_indices_only_when_full():
    csr = Csr(np.ones(2), np.array([1, 0]), np.array([0, 2]), (1, 2))
    assert kernels.check_format(csr, full=False) is None
    assert kernels.check_format(csr) is not None


def test_columns_may_fall_from_one_row_to_the_next():
    assert kernels.check_format(make([1, 1, 1], [2, 0, 1], [0, 0, 1, 3, 3], 3)) is None
