import tracemalloc

import numpy as np
import pytest

from minigluon.kernels import csr_dot
from minigluon.storage import Csr, RowSparse, densify

WIDTHS = [1, 2, 3, 16]


def operand(shape, dtype, seed=5):
    return np.random.RandomState(seed).randint(-4, 5, shape).astype(dtype)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("rows", [0, 1, 7])
def test_dot_agrees_with_the_dense_product(path, random_csr, rows, width):
    csr, dense = random_csr(rows, 9)
    weight = operand((9, width), np.float32)
    result = csr_dot.dot(csr, weight)
    np.testing.assert_array_equal(result, dense @ weight)
    assert result.dtype == np.float32


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int32, np.int64])
def test_dot_keeps_the_dtype(path, random_csr, dtype):
    csr, dense = random_csr(4, 6, dtype=dtype)
    weight = operand((6, 2), dtype)
    result = csr_dot.dot(csr, weight)
    np.testing.assert_array_equal(result, dense @ weight)
    assert result.dtype == dtype


def test_dot_with_a_vector_is_a_vector(path):
    csr = Csr(np.array([2, 1], np.float32), np.array([1, 3]), np.array([0, 2]), (1, 4))
    result = csr_dot.dot(csr, np.array([1, 2, 3, 4], np.float32))
    assert result.shape == (1,)
    assert result[0] == 8


@pytest.mark.parametrize("width", WIDTHS)
def test_dot_fills_out_of_any_layout(path, random_csr, width):
    csr, dense = random_csr(5, 6)
    weight = operand((width, 6), np.float32).T  # not contiguous either
    for out in (np.full((5, width), 9, np.float32), np.full((width, 5), 9, np.float32).T):
        assert csr_dot.dot(csr, weight, out=out) is out
        np.testing.assert_array_equal(out, dense @ weight)


@pytest.mark.parametrize("stored", [0, 3, 9])
@pytest.mark.parametrize("width", WIDTHS)
def test_dot_rows_treats_absent_rows_as_zero(path, random_csr, random_rsp, stored, width):
    csr, dense = random_csr(6, 9)
    rsp, weight = random_rsp(9, width, stored)
    np.testing.assert_array_equal(csr_dot.dot_rows(csr, rsp), dense @ weight)


def test_dot_rows_does_not_multiply_absent_rows_with_stored_nan(path):
    csr = Csr(np.array([1.0, 1.0]), np.array([0, 2]), np.array([0, 1, 2]), (2, 3))
    rsp = RowSparse(np.array([[np.nan]]), np.array([0]), (3, 1))
    np.testing.assert_array_equal(csr_dot.dot_rows(csr, rsp), [[np.nan], [0]])


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("rows", [0, 1, 7])
def test_transposed_dot_stores_only_columns_that_occur(path, random_csr, rows, width):
    csr, dense = random_csr(rows, 30, 0.2)
    g = operand((rows, width), np.float32)
    result = csr_dot.dot_transposed(csr, g)
    assert result.shape == (30, width)
    np.testing.assert_array_equal(result.indices, np.unique(csr.indices))
    np.testing.assert_array_equal(densify(result), dense.T @ g)
    np.testing.assert_array_equal(csr_dot.dot_transposed_dense(csr, g), dense.T @ g)


def test_transposed_dot_adds_repeated_and_unsorted_columns(path):
    csr = Csr(np.array([1, 2, 4], np.float32), np.array([5, 0, 5]), np.array([0, 3]), (1, 6))
    result = csr_dot.dot_transposed(csr, np.array([[10, 100]], np.float32))
    np.testing.assert_array_equal(result.indices, [0, 5])
    np.testing.assert_array_equal(result.values, [[20, 200], [50, 500]])
    into = np.full((6, 2), 7, np.float32)
    assert csr_dot.dot_transposed_dense(csr, np.array([[10, 100]], np.float32), out=into) is into
    np.testing.assert_array_equal(into, densify(result))


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int32])
def test_transposed_dot_keeps_the_dtype(path, random_csr, dtype):
    csr, dense = random_csr(4, 6, dtype=dtype)
    g = operand((4, 2), dtype)
    result = csr_dot.dot_transposed(csr, g)
    np.testing.assert_array_equal(densify(result), dense.T @ g)
    assert result.dtype == dtype


@pytest.mark.parametrize("stored", [0, 2, 6])
def test_transposed_dot_with_rows_uses_the_rows_that_are_stored(
    path, random_csr, random_rsp, stored
):
    csr, dense = random_csr(6, 9)
    rsp, right = random_rsp(6, 2, stored)
    np.testing.assert_array_equal(densify(csr_dot.dot_transposed_rows(csr, rsp)), dense.T @ right)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64])
def test_dense_times_csr_in_all_its_forms(path, random_csr, dtype):
    csr, dense = random_csr(5, 8, dtype=dtype)
    left, wide = operand((3, 5), dtype), operand((3, 8), dtype)
    np.testing.assert_array_equal(csr_dot.dense_dot(left, csr), left @ dense)
    np.testing.assert_array_equal(densify(csr_dot.dense_dot_csr(left, csr)), left @ dense)
    np.testing.assert_array_equal(csr_dot.dense_dot_transposed(wide, csr), wide @ dense.T)
    out = np.full((3, 8), 3, dtype)
    assert csr_dot.dense_dot(left, csr, out=out) is out
    np.testing.assert_array_equal(out, left @ dense)


def test_one_column_accumulates_in_double_precision(numba_loaded):
    size = 1000
    values = np.full(size, 1e-4, np.float32)
    values[0] = 1e4
    csr = Csr(values, np.arange(size), np.array([0, size]), (1, size))
    csr = Csr(np.tile(values, 2), np.tile(csr.indices, 2), np.array([0, size, 2 * size]), (2, size))
    exact = values.astype(np.float64).sum()
    result = csr_dot.dot(csr, np.ones((size, 1), np.float32))
    np.testing.assert_array_equal(result, np.float32([[exact], [exact]]))


def test_a_batch_of_one_allocates_nothing_of_weight_size():
    features = 1_000_000
    weight = RowSparse(np.ones((features, 1), np.float32), np.arange(features), (features, 1))
    part = RowSparse(weight.values[::2], weight.indices[::2], (features, 1))
    batch = Csr(
        np.ones(30, np.float32), np.arange(0, 600_000, 20_000), np.array([0, 30]), (1, features)
    )
    tracemalloc.start()
    try:
        csr_dot.dot_rows(batch, weight)
        csr_dot.dot_rows(batch, part)
        csr_dot.dot_transposed(batch, np.ones((1, 1), np.float32))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < features // 16
