import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minigluon.kernels import csr, products, row_sparse
from minigluon.storage import Csr, RowSparse, cast, densify

STYPES = ("default", "csr", "row_sparse")
DTYPES = (np.float16, np.float32, np.float64, np.int32)


def matrix(rows, columns, dtype, seed):
    """Small whole numbers, exact in every dtype; many zeros, and rows of zeros."""
    r = np.random.RandomState(seed)
    dense = r.randint(-3, 4, (rows, columns)) * (r.rand(rows, columns) < 0.6)
    dense[r.rand(rows) < 0.3] = 0
    return dense.astype(dtype)


@given(
    sizes=st.tuples(*[st.integers(0, 5)] * 3),
    stypes=st.sampled_from(list(itertools.product(STYPES, repeat=3))),
    transposes=st.tuples(st.booleans(), st.booleans()),
    dtype=st.sampled_from(DTYPES),
    seed=st.integers(0, 99),
)
def test_products_are_those_of_dense_matrices(sizes, stypes, transposes, dtype, seed):
    m, k, n = sizes
    left = matrix(k if transposes[0] else m, m if transposes[0] else k, dtype, seed)
    right = matrix(n if transposes[1] else k, k if transposes[1] else n, dtype, seed + 1)
    result = products.product(cast(left, stypes[0]), cast(right, stypes[1]), *transposes, stypes[2])
    wanted = (left.T if transposes[0] else left).astype(np.float64) @ (
        right.T if transposes[1] else right
    )
    assert products.matrix_is(result, stypes[2])
    np.testing.assert_array_equal(densify(result), wanted)
    assert result.dtype == dtype
    if stypes[2] == "csr":
        assert csr.check_format(result) is None
    elif stypes[2] == "row_sparse":
        assert row_sparse.check_format(result) is None


@pytest.mark.parametrize(("given_", "asked"), [("csr", "row_sparse"), ("row_sparse", "csr")])
def test_csr_and_row_sparse_become_each_other(given_, asked):
    dense = matrix(6, 4, np.float32, 3)
    result = products.stored(cast(dense, given_), asked)
    assert products.matrix_is(result, asked)
    np.testing.assert_array_equal(densify(result), dense)


WIDE = 1_000_000


def peak_of(run):
    """Bytes at most in use while ``run`` runs, the second time."""
    run()
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def wide_batch(rows=8192, each=2):
    r = np.random.RandomState(0)
    indices = np.sort(r.randint(0, WIDE, (rows, each)), axis=1)
    values = r.rand(rows * each).astype(np.float32)
    return Csr(values, indices.ravel(), np.arange(rows + 1) * each, (rows, WIDE))


@pytest.mark.parametrize("stored", [0, 1000, WIDE])
def test_a_product_of_a_wide_batch_takes_memory_of_its_entries(numba_loaded, stored):
    batch = wide_batch()
    ids = np.arange(WIDE)[:: WIDE // stored] if stored else np.zeros(0, np.int64)
    weight = RowSparse(np.ones((ids.size, 1), np.float32), ids, (WIDE, 1))
    grad = np.ones((8192, 1), np.float32)
    # 16k entries; the looked-up ids take a bit and a count a word for each possible one: 187 kB
    assert peak_of(lambda: products.product(batch, weight, False, False)) < 1_500_000
    assert peak_of(lambda: products.product(batch, grad, True, False, "row_sparse")) < 1_500_000


def test_products_with_a_wide_csr_never_make_it_dense(numba_loaded):
    batch, narrow = wide_batch(64, 2), np.ones((3, 64), np.float32)
    tall = RowSparse(np.ones((2, WIDE), np.float32), np.array([1, 3]), (5, WIDE))
    assert peak_of(lambda: products.product(narrow, batch, False, False, "csr")) < 1_000_000
    wide = np.ones((3, WIDE), np.float32)
    assert peak_of(lambda: products.product(batch, wide, False, True)) < 1_000_000
    assert peak_of(lambda: products.product(batch, batch, False, True, "csr")) < 1_000_000
    assert peak_of(lambda: products.product(batch, batch, False, True)) < 1_000_000
    assert peak_of(lambda: products.product(batch, tall, False, True)) < 12_000_000
