import numpy as np
import pytest

from minigluon.kernels import csr, csr_arithmetic
from minigluon.storage import Csr, densify

pytestmark = pytest.mark.usefixtures("path")
DTYPES = [np.float32, np.float64, np.float16, np.int32, np.uint8]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("kernel", "ufunc"),
    [
        (csr_arithmetic.add, np.add),
        (csr_arithmetic.subtract, np.subtract),
        (csr_arithmetic.multiply, np.multiply),
        (lambda a, b: csr_arithmetic.union(np.maximum, a, b), np.maximum),
        (lambda a, b: csr_arithmetic.union(np.minimum, a, b), np.minimum),
    ],
)
def test_csr_with_csr_agrees_with_numpy(random_csr, kernel, ufunc, dtype):
    a, dense_a = random_csr(6, 9, dtype=dtype, seed=1)
    b, dense_b = random_csr(6, 9, dtype=dtype, seed=2)
    result = kernel(a, b)
    np.testing.assert_array_equal(densify(result), ufunc(dense_a, dense_b))
    assert csr.check_format(result) is None
    assert result.dtype == dtype


def test_the_union_holds_what_either_stores(random_csr):
    a, b = random_csr(6, 9, seed=1)[0], random_csr(6, 9, seed=2)[0]
    union = csr.from_dense((densify(a) != 0) | (densify(b) != 0))
    for result in (csr_arithmetic.add(a, b), csr_arithmetic.union(np.hypot, a, b)):
        np.testing.assert_array_equal(result.indices, union.indices)
        np.testing.assert_array_equal(result.indptr, union.indptr)


def test_products_are_trimmed_and_ascending():
    # known bug: MXNet 1.9.1 leaves 7 values and descending columns
    a = csr.from_dense(np.float32([[1, 2, 3, 0, 0, 0, 0]]))
    b = csr.from_dense(np.float32([[0, 1, 2, 3, 4, 0, 0]]))
    c = csr_arithmetic.multiply(a, b)
    np.testing.assert_array_equal(c.values, [2, 6])
    np.testing.assert_array_equal(c.indices, [1, 2])
    np.testing.assert_array_equal(c.indptr, [0, 2])


@pytest.mark.parametrize(
    "kernel",
    [
        csr_arithmetic.add,
        csr_arithmetic.subtract,
        csr_arithmetic.multiply,
        lambda a, b: csr_arithmetic.union(np.maximum, a, b),
    ],
)
def test_unsorted_and_repeated_columns_are_put_in_order(kernel):
    messy = Csr(np.float32([1, 2, 4]), np.array([3, 0, 3]), np.array([0, 3]), (1, 4))
    other = csr.from_dense(np.float32([[1, 0, 0, 2]]))
    for a, b in ((messy, other), (other, messy), (messy, csr.from_dense(np.zeros((1, 4), "f")))):
        result = kernel(a, b)
        expected = kernel(csr.canonical(a), csr.canonical(b))
        np.testing.assert_array_equal(densify(result), densify(expected))
        assert csr.check_format(result) is None


def test_one_pattern_is_shared(random_csr):
    a, dense = random_csr(3, 4)
    b = a.with_values(a.values * 2)
    for kernel, expected in (
        (csr_arithmetic.add, 3 * dense),
        (csr_arithmetic.multiply, 2 * dense**2),
    ):
        result = kernel(a, b)
        assert result.indices is a.indices
        np.testing.assert_array_equal(densify(result), expected)


SHAPES = [(3, 4), (1, 4), (4,), (3, 1), (1, 1), (1,), ()]


@pytest.mark.parametrize("shape", SHAPES)
def test_dense_factors_broadcast_and_keep_the_pattern(random_csr, shape):
    a, dense = random_csr(3, 4, 0.5)
    other = np.arange(1, 1 + np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    product, quotient = (
        csr_arithmetic.multiply_dense(a, other),
        csr_arithmetic.divide_dense(a, other),
    )
    assert product.indices is quotient.indices is a.indices
    np.testing.assert_array_equal(densify(product), dense * other)
    np.testing.assert_array_equal(densify(quotient), dense / other)
    assert product.dtype == quotient.dtype == np.float32


@pytest.mark.parametrize("rows", [0, 1, 3])
@pytest.mark.parametrize("columns", [0, 1, 4])
def test_broadcasting_copes_with_sides_of_zero_and_one(random_csr, rows, columns):
    a, dense = random_csr(rows, columns, 0.9)
    for shape in {(rows, columns), (1, columns), (rows, 1), (1, 1)}:
        other = np.full(shape, 2, np.float32)
        result = csr_arithmetic.multiply_dense(a, other)
        np.testing.assert_array_equal(densify(result), dense * 2)


@pytest.mark.parametrize("shape", SHAPES)
def test_sums_with_dense_are_dense(path, random_csr, shape):
    a, dense = random_csr(3, 4, 0.5)
    other = np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape)
    np.testing.assert_array_equal(csr_arithmetic.add_dense(a, other), dense + other)
    np.testing.assert_array_equal(csr_arithmetic.subtract_dense(a, other), dense - other)
    np.testing.assert_array_equal(csr_arithmetic.dense_subtract(other, a), other - dense)
    out = np.empty((3, 4), np.float32)
    assert csr_arithmetic.add_dense(a, other, out=out) is out


def test_absent_entries_stay_zero_whatever_they_meet():
    a = csr.from_dense(np.float32([[1, 0], [0, 0]]))
    bad = np.float32([[np.nan, np.inf], [0, np.nan]])
    product = csr_arithmetic.multiply_dense(a, bad)
    np.testing.assert_array_equal(densify(product), [[np.nan, 0], [0, 0]])
    quotient = csr_arithmetic.divide_dense(a, np.zeros((2, 2), np.float32))
    np.testing.assert_array_equal(densify(quotient), [[np.inf, 0], [0, 0]])


def test_whole_numbers_divide_towards_zero():
    a = csr.from_dense(np.int32([[-3, 3, 4, 0]]))
    result = csr_arithmetic.divide_dense(a, np.int32([[2, -2, 2, 1]]))
    np.testing.assert_array_equal(result.values, [-1, -1, 2])
    assert result.dtype == np.int32
