"""cast_storage and retain."""

import itertools

import numpy as np
import pytest

from minigluon import autograd, nd
from minigluon.base import AttributeValueError, IndexOutOfRange, MXNetError
from minigluon.storage import RowSparse, densify, to_csr, to_row_sparse

X = np.array([[0, 1.5, 0], [0, 0, 0], [2, 0, 3]])
STORED = {"default": lambda x: x, "csr": to_csr, "row_sparse": to_row_sparse}
PAIRS = [p for p in itertools.product(STORED, STORED) if set(p) != {"csr", "row_sparse"}]


@pytest.mark.parametrize("dtype", ["float64", "float32", "int32"])
@pytest.mark.parametrize("given, asked", PAIRS)
def test_cast_storage_keeps_the_values(given, asked, dtype, evaluate):
    data = STORED[given](X.astype(dtype))
    result = evaluate("cast_storage", data, stype=asked)
    assert type(result) is type(STORED[asked](X))
    assert result.dtype == dtype
    assert densify(result).tolist() == X.astype(dtype).tolist()
    held = result if asked == "default" else result.values
    held[...] = 7  # of its own
    assert densify(data).tolist() == X.astype(dtype).tolist()


def test_only_rows_with_a_number_are_stored(evaluate):
    assert evaluate("cast_storage", X, stype="row_sparse").indices.tolist() == [0, 2]


def test_three_dimensions_become_row_sparse_but_not_csr():
    cube = nd.ones((2, 2, 2))
    assert nd.cast_storage(cube, stype="row_sparse").shape == (2, 2, 2)
    with pytest.raises(MXNetError):
        nd.cast_storage(cube, stype="csr")


def test_an_unknown_storage_is_refused():
    with pytest.raises(AttributeValueError, match="'csr', 'default', 'row_sparse'"):
        nd.cast_storage(nd.ones((2, 2)), stype="coo")


RETAINED = [([2, 0], [0, 2]), ([0, 0, 2], [0, 2]), ([0, 1], [0]), ([1], []), ([], [])]


@pytest.mark.parametrize("dtype", ["int64", "float32", "int32"])
@pytest.mark.parametrize("ids, stored", RETAINED)
def test_retained_rows_ascend_and_are_stored_once(ids, stored, dtype, evaluate):
    result = evaluate("_sparse_retain", to_row_sparse(X), np.array(ids, dtype))
    assert type(result) is RowSparse
    assert result.indices.tolist() == stored
    wanted = np.zeros(X.shape)
    wanted[ids] = X[ids]
    assert densify(result).tolist() == wanted.tolist()


def test_the_gradient_of_retain_has_the_rows_asked_for_once():
    data = nd.array(X).tostype("row_sparse")
    data.attach_grad()
    with autograd.record():
        kept = nd.sparse.retain(data, nd.array([0, 0, 2]))
    kept.backward()
    data.grad.check_format()
    assert data.grad.indices.asnumpy().tolist() == [0, 2]
    assert data.grad.data.asnumpy().tolist() == [[1, 1, 1], [1, 1, 1]]


@pytest.mark.parametrize("wrong", [3, -1])
def test_rows_that_are_not_there_are_refused(wrong):
    with pytest.raises(IndexOutOfRange, match=rf"(?s)retain: index {wrong}.*0 to 2"):
        nd.sparse.retain(nd.array(X).tostype("row_sparse"), nd.array([0, wrong]))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0,)])
def test_arrays_without_elements_become_row_sparse(shape):
    rows = to_row_sparse(np.zeros(shape, np.float32))
    assert (rows.shape, rows.indices.size, rows.values.shape) == (shape, 0, (0, *shape[1:]))
