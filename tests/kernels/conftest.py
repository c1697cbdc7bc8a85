"""Random sparse operands, and both ways through a kernel's entry point."""

import numpy as np
import pytest

from minigluon.kernels import csr, csr_arithmetic, csr_dot, distinct, libsvm, row_sparse, updates
from minigluon.kernels._jit import jit
from minigluon.storage import Csr, RowSparse

THRESHOLDS = [
    (csr, "SMALL", -1),
    (csr_dot, "SMALL", -1),
    (csr_arithmetic, "SMALL", -1),
    (row_sparse, "SMALL", -1),
    (updates, "SMALL", 0),
    (libsvm, "SMALL", 0),
    (distinct, "_SORT_BELOW", 0),
    (distinct, "_WORDS_PER_ID", 1 << 40),
]


@jit
def _nothing():
    return 0


@pytest.fixture(scope="session")
def numba_loaded():
    """Pays for loading numba once, outside of the tests' own time."""
    _nothing()


@pytest.fixture(params=["numpy", "compiled"])
def path(request, monkeypatch, numba_loaded):
    """Runs a test twice: with sizes counted as small, and as large."""
    for module, name, value in THRESHOLDS:
        if request.param == "compiled":
            monkeypatch.setattr(module, name, value)
        else:
            monkeypatch.setattr(module, name, 1 << 60)
    return request.param


@pytest.fixture
def random_csr():
    """``random_csr(rows, columns, density, dtype, seed) -> (Csr, its dense twin)``."""

    def make(rows, columns, density=0.3, dtype=np.float32, seed=0):
        r = np.random.RandomState(seed)
        mask = r.rand(rows, columns) < density
        dense = np.where(mask, r.randint(1, 9, mask.shape) * r.choice([-1, 1], mask.shape), 0)
        dense = dense.astype(dtype)
        row, column = np.nonzero(dense)
        indptr = np.searchsorted(row, np.arange(rows + 1)).astype(np.int64)
        return Csr(dense[row, column], column.astype(np.int64), indptr, dense.shape), dense

    return make


@pytest.fixture
def random_rsp():
    """``random_rsp(rows, width, stored, dtype, seed) -> (RowSparse, its dense twin)``."""

    def make(rows, width, stored, dtype=np.float32, seed=0):
        r = np.random.RandomState(seed)
        ids = np.sort(r.choice(rows, stored, replace=False)).astype(np.int64)
        dense = np.zeros((rows, width), dtype)
        dense[ids] = r.randint(1, 9, (stored, width))
        return RowSparse(dense[ids], ids, dense.shape), dense

    return make
