import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minigluon.kernels import filled
from minigluon.storage import Csr, RowSparse, cast

KINDS = ("default", "csr", "row_sparse")
SHAPES = [
    ((4, 3), (4, 3)),
    ((4, 3), (1, 3)),
    ((4, 3), (4, 1)),
    ((4, 3), (1, 1)),
    ((1, 3), (4, 3)),
    ((4, 1), (1, 3)),
    ((0, 3), (0, 3)),
]


def numbers(shape, seed, dtype=np.float32):
    r = np.random.RandomState(seed)
    dense = r.randint(-4, 5, shape) * (r.rand(*shape) < 0.5)
    dense[r.rand(shape[0]) < 0.3] = 0
    return dense.astype(dtype)


@pytest.mark.parametrize("kind", KINDS[1:])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int32])
@pytest.mark.parametrize("shape", [(0, 3), (4, 0), (5, 3)])
def test_a_function_is_computed_where_something_is_stored(kind, dtype, shape):
    dense = numbers(shape, 1, dtype)
    sizes = []

    def f(x):
        sizes.append(x.size)
        return x * x + dtype(3)

    result = filled.unary(f, cast(dense, kind))
    np.testing.assert_array_equal(result, dense * dense + dtype(3))
    assert result.dtype == dtype
    assert sum(sizes) <= 1 + np.count_nonzero(dense.any(axis=1)) * shape[1]


def test_entries_stored_twice_are_added_before_the_function():
    twice = Csr(np.float32([1, 2, 5]), np.array([1, 1, 0]), np.array([0, 3]), (1, 3))
    np.testing.assert_array_equal(filled.unary(np.cos, twice), np.cos(np.float32([[5, 3, 0]])))


@given(
    kinds=st.tuples(st.sampled_from(KINDS), st.sampled_from(KINDS)),
    shapes=st.sampled_from(SHAPES),
    name=st.sampled_from(["add", "divide", "greater_equal", "minimum", "power"]),
    seed=st.integers(0, 99),
)
def test_functions_of_two_are_those_of_dense_arrays(kinds, shapes, name, seed):
    f = getattr(np, name)
    left, right = numbers(shapes[0], seed), numbers(shapes[1], seed + 1)
    with np.errstate(all="ignore"):
        result = filled.binary(f, cast(left, kinds[0]), cast(right, kinds[1]))
        np.testing.assert_array_equal(result, f(left, right))


def test_a_vector_broadcasts_to_rows():
    dense, vector = numbers((4, 3), 5), np.float32([1, 2, 3])
    for kind in KINDS[1:]:
        result = filled.binary(np.maximum, cast(dense, kind), vector)
        np.testing.assert_array_equal(result, np.maximum(dense, vector))


def test_operands_stay_as_they_are():
    x, y = cast(numbers((4, 3), 1), "row_sparse"), numbers((4, 3), 2)
    before = x.values.copy(), y.copy()
    filled.binary(np.subtract, x, y)
    filled.binary(np.add, y, x)
    np.testing.assert_array_equal(x.values, before[0])
    np.testing.assert_array_equal(y, before[1])


@pytest.mark.parametrize("kind", KINDS[1:])
def test_transposed_matrices(kind):
    dense = numbers((4, 3), 7)
    np.testing.assert_array_equal(filled.transposed(cast(dense, kind)), dense.T)


def test_row_sparse_arrays_have_any_rank():
    rsp = RowSparse(np.ones((1, 2, 2), np.float32), np.array([1]), (3, 2, 2))
    result = filled.binary(np.subtract, np.ones((3, 2, 2), np.float32), rsp)
    assert result.sum() == 8
