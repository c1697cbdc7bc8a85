"""Embedding: rows of a table, and its dense and row_sparse gradients."""

import numpy as np
import pytest

from minigluon import autograd, nd, sym
from minigluon.base import AttributeValueError, IndexOutOfRange, ShapeError
from minigluon.storage import RowSparse, densify, to_row_sparse

TABLE = np.arange(15.0).reshape(5, 3)
SIZES = {"input_dim": 5, "output_dim": 3}
IDS = [np.array([1, 0, 4]), np.array([[1, 1], [3, 1]], "float32"), np.array([[[0]]], "uint8")]


@pytest.mark.parametrize("ids", IDS, ids=lambda x: str(x.dtype))
def test_embedding_gives_rows_of_the_table(ids, evaluate, inferred):
    wanted = TABLE[ids.astype(int)]
    assert evaluate("Embedding", ids, TABLE, **SIZES).tolist() == wanted.tolist()
    found = inferred("Embedding", "shape", [ids.shape, None], **SIZES)
    assert found == ([ids.shape, (5, 3)], [wanted.shape])


def test_ids_outside_are_clipped(evaluate):
    assert (
        evaluate("Embedding", np.array([-1, 9]), TABLE, **SIZES).tolist() == TABLE[[0, 4]].tolist()
    )


@pytest.mark.parametrize("ids", IDS, ids=lambda x: str(x.dtype))
def test_the_sparse_gradient_is_the_dense_one_in_rows_that_were_read(ids, differentiate):
    head = np.random.default_rng(0).normal(size=(*ids.shape, 3))
    _, dense = differentiate("Embedding", ids, TABLE, head=head, **SIZES)
    wanted = np.zeros(TABLE.shape)
    np.add.at(wanted, ids.astype(int), head)
    np.testing.assert_allclose(dense, wanted, rtol=1e-12)
    for name, how in (("Embedding", {"sparse_grad": True}), ("_contrib_SparseEmbedding", {})):
        _, sparse = differentiate(name, ids, TABLE, head=head, **SIZES, **how)
        assert type(sparse) is RowSparse
        assert sparse.indices.tolist() == np.unique(ids).tolist()
        assert densify(sparse).tolist() == dense.tolist()


def test_a_row_sparse_table_gives_its_rows(evaluate):
    table = TABLE * [[1], [0], [1], [0], [1]]
    ids = np.array([[1, 2], [4, 3]])
    assert evaluate("Embedding", ids, to_row_sparse(table), **SIZES).tolist() == table[ids].tolist()


def test_rows_that_a_row_sparse_table_does_not_have_are_refused():
    table = nd.array(TABLE).tostype("row_sparse")
    with pytest.raises(IndexOutOfRange, match=r"(?s)Embedding: index 5.*0 to 4"):
        nd.Embedding(nd.array([5]), table, **SIZES)


def test_grad_req_add_adds_up():
    table = nd.zeros((4, 1))
    table.attach_grad("add")
    for _ in range(2):
        with autograd.record():
            loss = nd.Embedding(nd.array([1, 1, 3]), table, input_dim=4, output_dim=1).sum()
        loss.backward()
    assert table.grad.asnumpy().ravel().tolist() == [0, 4, 0, 2]


def test_duplicate_ids_merge_in_the_sparse_gradient():
    table = nd.ones((7, 2))
    table.attach_grad(stype="row_sparse")
    with autograd.record():
        rows = nd.Embedding(
            nd.array([[1, 3], [3, 3]]), table, input_dim=7, output_dim=2, sparse_grad=True
        )
        loss = (rows * rows).sum()
    loss.backward()
    assert table.grad.stype == "row_sparse"
    assert table.grad.indices.asnumpy().tolist() == [1, 3]
    assert table.grad.data.asnumpy().tolist() == [[2, 2], [6, 6]]


@pytest.mark.parametrize("shape", [(4, 3), (5, 2), (5,)])
def test_a_table_of_another_shape_is_refused(shape):
    with pytest.raises(
        ShapeError, match=r"(?s)Embedding: weight has the wrong shape.*received.*expected.*\(5, 3\)"
    ):
        nd.Embedding(nd.array([0]), nd.ones(shape), **SIZES)


@pytest.mark.parametrize("name", ["input_dim", "output_dim"])
def test_a_table_has_at_least_one_row_and_column(name):
    with pytest.raises(AttributeValueError, match=name):
        nd.Embedding(nd.array([0]), nd.ones((5, 3)), **{**SIZES, name: 0})


def test_dtype_is_that_of_the_table(inferred):
    assert inferred("Embedding", "dtype", ["int64", None], **SIZES) == (
        [np.dtype("int64"), np.dtype("float32")],
        [np.dtype("float32")],
    )
    assert inferred("Embedding", "dtype", [None, "float64"], **SIZES)[1] == [np.dtype("float64")]


def test_ids_are_inferred_from_the_output():
    rows = sym.Embedding(sym.var("ids"), sym.var("w"), **SIZES) + sym.var("y")
    assert rows.infer_shape(y=(2, 4, 3))[0] == [(2, 4), (5, 3), (2, 4, 3)]
