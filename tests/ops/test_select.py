"""Rows chosen by a mask, stored values, column-wise products."""

import numpy as np
import pytest

from minigluon import MXNetError, autograd, gluon, nd


@pytest.mark.parametrize("hybrid", [None, {}, {"static_alloc": True}])
def test_boolean_mask_follows_every_new_mask(hybrid):
    # known bug 45, which MXNet 1.9.1 gets right
    class Net(gluon.HybridBlock):
        def hybrid_forward(self, F, x, m):
            return F.contrib.boolean_mask(x, m).sum(axis=1) * 2

    net = Net()
    if hybrid is not None:
        net.hybridize(**hybrid)
    x = nd.arange(6).reshape((3, 2))
    x.attach_grad()
    for mask, sums, slopes in (
        ([1, 0, 1], [2, 18], [2, 0, 2]),
        ([1, 1, 1], [2, 10, 18], [2, 2, 2]),
        ([0, 1, 0], [10], [0, 2, 0]),
    ):
        with autograd.record():
            y = net(x, nd.array(mask))
        y.backward()
        assert y.asnumpy().tolist() == sums
        assert x.grad.asnumpy()[:, 0].tolist() == slopes


def test_a_mask_may_choose_nothing():
    assert nd.contrib.boolean_mask(nd.ones((2, 3)), nd.zeros(2)).shape == (0, 3)


def test_masks_that_do_not_fit_are_refused():
    with pytest.raises(MXNetError, match="boolean_mask: index"):
        nd.contrib.boolean_mask(nd.ones((2, 3)), nd.ones(3))
    with pytest.raises(MXNetError, match="boolean_mask: axis"):
        nd.contrib.boolean_mask(nd.ones((2, 3)), nd.ones(3), axis=1)


def test_getnnz_counts_what_csr_arrays_store():
    x = nd.array([[1, 0, 2], [0, 0, 3]]).tostype("csr")
    assert nd.contrib.getnnz(x).asnumpy().tolist() == [3]
    assert nd.contrib.getnnz(x, axis=1).asnumpy().tolist() == [2, 1]
    with pytest.raises(MXNetError, match="axis"):
        nd.contrib.getnnz(x, axis=0)
    with pytest.raises(MXNetError, match="only csr"):
        nd.contrib.getnnz(nd.ones((2, 2)))


def test_edge_id_is_what_is_stored_for_an_edge_or_minus_one():
    # as MXNet 1.9.1 answers, and nodes outside of the graph have no edges
    graph = nd.array([[0, 2, 0], [3, 0, 7]]).tostype("csr")
    u, v = nd.array([0, 0, 1, 1, 1, 0, 5, -1]), nd.array([1, 0, 0, 2, 1, 3, 0, 1])
    assert nd.contrib.edge_id(graph, u, v).asnumpy().tolist() == [2, -1, 3, 7, -1, -1, -1, -1]
    empty = nd.sparse.zeros("csr", (2, 2))
    assert nd.contrib.edge_id(empty, nd.array([1]), nd.array([1])).asnumpy().tolist() == [-1]
    with pytest.raises(MXNetError, match="edge_id: only csr"):
        nd.contrib.edge_id(nd.ones((2, 2)), nd.array([0]), nd.array([0]))


def test_khatri_rao_is_a_kronecker_product_of_columns():
    a, b, c = (np.random.default_rng(k).normal(size=(n, 2)) for k, n in enumerate((2, 3, 1)))
    wanted = np.stack([np.kron(np.kron(a[:, k], b[:, k]), c[:, k]) for k in range(2)], axis=1)
    got = nd.khatri_rao(*[nd.array(x) for x in (a, b, c)])
    np.testing.assert_allclose(got.asnumpy(), wanted, rtol=1e-5)
    with pytest.raises(MXNetError, match="khatri_rao"):
        nd.khatri_rao(nd.ones((2, 3)), nd.ones((2, 4)))
