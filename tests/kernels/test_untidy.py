"""Csr arrays as scripts make them: columns in any order, entries stored twice, rows without any."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minigluon import nd
from minigluon.kernels import csr, csr_arithmetic, csr_dot, extremes, filled, products
from minigluon.storage import Csr, RowSparse, densify

DTYPES = [np.float16, np.float32, np.float64, np.int64]


@st.composite
def untidy(draw, rows=None, columns=None):
    """A Csr of small whole numbers, and the dense array it means."""
    rows = draw(st.integers(0, 4)) if rows is None else rows
    columns = draw(st.integers(1, 4)) if columns is None else columns
    dtype = draw(st.sampled_from(DTYPES))
    counts = draw(st.lists(st.integers(0, 5), min_size=rows, max_size=rows))
    r = np.random.RandomState(draw(st.integers(0, 99)))
    indptr = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
    indices = r.randint(0, columns, indptr[-1]).astype(np.int64)
    values = r.randint(-2, 3, indptr[-1]).astype(dtype)
    dense = np.zeros((rows, columns), dtype)
    np.add.at(dense, (np.arange(rows).repeat(counts), indices), values)
    return Csr(values, indices, indptr, (rows, columns)), dense


def numbers(shape, dtype, seed=1):
    return np.random.RandomState(seed).randint(-2, 3, shape).astype(dtype)


@given(untidy())
def test_sums_and_copies(pair):
    x, dense = pair
    np.testing.assert_array_equal(csr.densify(x), dense)
    np.testing.assert_array_equal(csr.row_sums(x), dense.sum(1))
    np.testing.assert_array_equal(csr.column_sums(x), dense.sum(0))
    np.testing.assert_array_equal(densify(csr.canonical(x)), dense)
    assert csr.check_format(csr.canonical(x)) is None
    np.testing.assert_array_equal(densify(csr.transposed(x)), dense.T)
    ids = np.arange(x.shape[0])[::-1]
    np.testing.assert_array_equal(densify(csr.take_rows(x, ids)), dense[ids])


@given(untidy(), st.integers(1, 3))
def test_products(pair, width):
    x, dense = pair
    right, left = (
        numbers((x.shape[1], width), x.dtype),
        numbers((width, x.shape[0]), x.dtype),
    )
    np.testing.assert_array_equal(csr_dot.dot(x, right), dense @ right)
    np.testing.assert_array_equal(densify(csr_dot.dot_transposed(x, left.T)), dense.T @ left.T)
    np.testing.assert_array_equal(csr_dot.dense_dot(left, x), left @ dense)
    np.testing.assert_array_equal(products.product(x, x, False, True), dense @ dense.T)
    np.testing.assert_array_equal(products.product(x, x, True, False), dense.T @ dense)
    rows = RowSparse(right[::2], np.arange(x.shape[1])[::2], right.shape)
    np.testing.assert_array_equal(products.product(x, rows, False, False), dense @ densify(rows))


@given(untidy(3, 4), untidy(3, 4))
def test_arithmetic(first, second):
    (a, dense_a), (b, _) = first, second
    b = b.with_values(b.values.astype(a.dtype))
    dense_b = densify(b)
    for function, wanted in (
        (csr_arithmetic.add, np.add),
        (csr_arithmetic.subtract, np.subtract),
        (csr_arithmetic.multiply, np.multiply),
    ):
        np.testing.assert_array_equal(densify(function(a, b)), wanted(dense_a, dense_b))
        np.testing.assert_array_equal(densify(function(a, a)), wanted(dense_a, dense_a))
    united = csr_arithmetic.union(np.maximum, a, a)
    np.testing.assert_array_equal(densify(united), dense_a)
    np.testing.assert_array_equal(filled.unary(np.square, a), dense_a**2)
    np.testing.assert_array_equal(filled.binary(np.minimum, a, b), np.minimum(dense_a, dense_b))
    np.testing.assert_array_equal(filled.transposed(a), dense_a.T)


@given(untidy(3, 4))
def test_extremes(pair):
    x, dense = pair
    for axes in ((0,), (1,), (0, 1)):
        np.testing.assert_array_equal(extremes.reduced(np.maximum, x, axes), dense.max(axes))
    for axis in (0, 1):
        np.testing.assert_array_equal(extremes.positions(x, axis, False), dense.argmin(axis))


def test_norms_see_entries_stored_twice_as_one():
    twice = nd.sparse.csr_matrix((np.float32([3, 1, -2]), [2, 2, 0], [0, 3, 3]), shape=(2, 3))
    assert nd.norm(twice).asscalar() == np.float32(20) ** np.float32(0.5)
    assert nd.norm(twice, ord=1, axis=1).asnumpy().tolist() == [6, 0]


@pytest.mark.parametrize("name", ["square", "sqrt", "abs", "sign", "tanh"])
def test_functions_that_keep_zero_see_entries_stored_twice_as_one(name):
    twice = nd.sparse.csr_matrix((np.float32([3, 1, -2]), [2, 2, 0], [0, 3, 3]), shape=(2, 3))
    with np.errstate(invalid="ignore"):
        result = getattr(nd, name)(twice)
        wanted = getattr(nd, name)(nd.array(twice.asnumpy()))
    assert result.stype == "csr"
    np.testing.assert_array_equal(result.asnumpy(), wanted.asnumpy())


def test_what_is_tidy_is_remembered_as_long_as_the_array_lives():
    x = Csr(np.ones(3), np.array([0, 2, 1]), np.array([0, 2, 3]), (2, 3))
    assert csr.is_canonical(x)
    key = id(x.indices)
    assert key in csr._tidy
    # the same columns in other rows are another question
    assert not csr.is_canonical(Csr(x.values, x.indices, np.array([0, 3, 3]), (2, 3)))
    del x
    assert key not in csr._tidy
