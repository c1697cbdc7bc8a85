"""Products, sums and casts of csr matrices with a million columns and 40 values a row."""

from __future__ import annotations

import functools

import numpy as np

from benchmarks.case import Case, numbers, repeated

ROWS, BIG_ROWS, COLUMNS, WIDTHS = 2000, 8192, 1_000_000, (1, 2, 16, 64)
TARGETS = {
    **{f"dot(csr, dense {w})": {"mxnet": 1, "scipy": 0.9} for w in WIDTHS},
    **{f"dot(csr.T, dense {w})": {"mxnet": 3} for w in WIDTHS[:2]},
    **{f"dot(csr.T, dense {w})": {"mxnet": 3, "scipy": 0.9} for w in WIDTHS[2:]},
    "csr + csr": {"mxnet": 1, "scipy": 0.9},
    "sum over columns": {"mxnet": 1, "scipy": 0.9},
    "sum over rows": {"mxnet": 1000, "scipy": 0.9},
    "mean over columns": {"mxnet": 1, "scipy": 0.9},
    "retain": {"mxnet": 1},
    "dense to csr": {"mxnet": 1, "scipy": 0.9},
    "csr to dense": {"mxnet": 1, "scipy": 0.9},
}


@functools.lru_cache(None)
def matrix(rows, seed):
    """``(values, indices, indptr)`` with a value in each fortieth of a row."""
    rng = np.random.RandomState(seed)
    step = COLUMNS // 40
    indices = rng.randint(0, step, (rows, 40)) + np.arange(40) * step
    return rng.rand(rows * 40).astype("f"), indices.ravel(), np.arange(rows + 1) * 40


@functools.lru_cache(None)
def dense(rows, columns, seed):
    return np.random.RandomState(seed).rand(rows, columns).astype("f")


@functools.lru_cache(None)
def square():
    """A dense matrix in which one number of a hundred is not zero."""
    rng = np.random.RandomState(2)
    return (rng.rand(4096, 4096) * (rng.rand(4096, 4096) < 0.01)).astype("f")


def kept():
    """Ids of rows there are, and of rows to retain."""
    rng = np.random.RandomState(4)
    have = np.unique(rng.randint(0, COLUMNS, 100000))
    return have, np.unique(np.concatenate([have[::20], rng.randint(0, COLUMNS, 5000)]))


def mx(mx):
    nd, sparse = mx.nd, mx.nd.sparse
    cases, checks = [], {}

    def case(name, function):
        cases.append(Case(name, repeated(lambda: function().wait_to_read())))
        return function()

    for rows, widths in ((ROWS, WIDTHS), (BIG_ROWS, WIDTHS[1:3])):
        if mx.__name__ == "mxnet" and rows * COLUMNS >= 2**31:
            continue  # MXNet 1.9.1 refuses arrays of so many elements
        big = "" if rows == ROWS else ", 8192 rows"
        a, b = (sparse.csr_matrix(matrix(rows, k), shape=(rows, COLUMNS)) for k in (11, 12))
        for width in widths:
            right, left = nd.array(dense(COLUMNS, width, 1)), nd.array(dense(rows, width, 2))
            found = case(f"dot(csr, dense {width}){big}", lambda a=a, x=right: sparse.dot(a, x))
            checks[f"dot {width}{big}"] = numbers(found[:4].asnumpy())
            found = case(
                f"dot(csr.T, dense {width}){big}",
                lambda a=a, x=left: sparse.dot(a, x, transpose_a=True, forward_stype="row_sparse"),
            )
            checks[f"dot T {width}{big}"] = float(found.data.asnumpy().sum(dtype="d"))
        if not big:
            added = case("csr + csr", lambda a=a, b=b: sparse.elemwise_add(a, b))
            checks["add"] = float(added.data.asnumpy().sum(dtype="d"))
            case("sum over columns", lambda a=a: sparse.sum(a, axis=1))
            case("sum over rows", lambda a=a: sparse.sum(a, axis=0))
            case("mean over columns", lambda a=a: sparse.mean(a, axis=1))
    have, wanted = kept()
    rows = sparse.row_sparse_array((dense(len(have), 16, 3), have), shape=(COLUMNS, 16))
    ids = nd.array(wanted, dtype="int64")
    checks["retain"] = float(
        case("retain", lambda: sparse.retain(rows, ids)).data.asnumpy().sum(dtype="d")
    )
    whole = nd.array(square())
    csr = case("dense to csr", lambda: whole.tostype("csr"))
    checks["cast"] = float(csr.data.asnumpy().sum(dtype="d"))
    case("csr to dense", lambda: csr.tostype("default"))
    return cases, checks


def scipy_():
    import scipy.sparse as sp

    cases, checks = [], {}

    def case(name, function):
        cases.append(Case(name, repeated(function)))
        return function()

    for rows, widths in ((ROWS, WIDTHS), (BIG_ROWS, WIDTHS[1:3])):
        big = "" if rows == ROWS else ", 8192 rows"
        a, b = (
            sp.csr_matrix((v, i.astype("i4"), p.astype("i4")), shape=(rows, COLUMNS))
            for v, i, p in (matrix(rows, 11), matrix(rows, 12))
        )
        for width in widths:
            right, left = dense(COLUMNS, width, 1), dense(rows, width, 2)
            found = case(f"dot(csr, dense {width}){big}", lambda a=a, x=right: a @ x)
            checks[f"dot {width}{big}"] = numbers(found[:4])
            # the result is dense: scipy has no row_sparse arrays
            case(f"dot(csr.T, dense {width}){big}", lambda a=a.T, x=left: a @ x)
        if not big:
            checks["add"] = float(case("csr + csr", lambda a=a, b=b: a + b).data.sum(dtype="d"))
            case("sum over columns", lambda a=a: a.sum(axis=1))
            case("sum over rows", lambda a=a: a.sum(axis=0))
            case("mean over columns", lambda a=a: a.mean(axis=1))
    csr = case("dense to csr", lambda: sp.csr_matrix(square()))
    checks["cast"] = float(csr.data.sum(dtype="d"))
    case("csr to dense", csr.toarray)
    return cases, checks


def torch_():
    import torch

    cases, checks = [], {}
    values, indices, indptr = (torch.from_numpy(x) for x in matrix(ROWS, 11))
    a = torch.sparse_csr_tensor(indptr, indices, values, size=(ROWS, COLUMNS))
    for width in WIDTHS:
        right = torch.from_numpy(dense(COLUMNS, width, 1))
        left = torch.from_numpy(dense(ROWS, width, 2))
        cases.append(Case(f"dot(csr, dense {width})", repeated(lambda x=right: a @ x)))
        cases.append(Case(f"dot(csr.T, dense {width})", repeated(lambda x=left: a.t() @ x)))
        checks[f"dot {width}"] = numbers((a @ right)[:4].numpy())
    cases.append(Case("sum over columns", repeated(lambda: torch.sum(a, dim=1, keepdim=True))))
    cases.append(Case("sum over rows", repeated(lambda: torch.sum(a, dim=0, keepdim=True))))
    return cases, checks
