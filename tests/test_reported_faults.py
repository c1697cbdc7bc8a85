"""What users reported against MXNet is right here, whether or not MXNet 1.9.1 still does it."""

import numpy as np
import pytest

import minigluon as mx
from minigluon import MXNetError, autograd, nd, sym
from minigluon.base import NotSupportedForSparseNDArray


def csr(values, dtype="float32"):
    return nd.array(values, dtype=dtype).tostype("csr")


def quiet(record):
    """Whether nothing was said about dense copies."""
    return not [w for w in record if issubclass(w.category, mx.base.StorageFallbackWarning)]


def gradient(function, *arrays, grad_req="write", start=0):
    """Gradients of the sum of a function, added to buffers that hold ``start``."""
    arrays = [nd.array(a) for a in arrays]
    for a in arrays:
        a.attach_grad(grad_req)
        a.grad[:] = start
    with autograd.record():
        y = function(*arrays)
    y.backward()
    return [a.grad.asnumpy().tolist() for a in arrays]


# ---- sparse arrays


def test_a_product_of_csr_arrays_holds_the_shared_places_only():
    # 1
    a, b = csr([[1, 2, 3, 0, 0, 0, 0]]), csr([[0, 1, 2, 3, 4, 0, 0]])
    c = nd.sparse.elemwise_mul(a, b)
    c.check_format()
    assert c.stype == "csr"
    assert c.data.asnumpy().tolist() == [2, 6]
    assert c.indices.asnumpy().tolist() == [1, 2]
    assert c.indptr.asnumpy().tolist() == [0, 2]


def test_csr_times_a_vector_is_what_the_dense_product_is():
    # 2
    assert nd.dot(csr([[0, 2, 0, 1]]), nd.array([1, 2, 3, 4])).asnumpy().tolist() == [8]


def test_an_empty_range_of_csr_columns_holds_nothing_of_other_columns():
    # 3
    part = csr(np.eye(4)).slice(begin=(0, 0), end=(4, 0))
    assert part.shape == (4, 0)
    assert part.asnumpy().size == 0


def test_what_a_csr_array_cannot_do_is_refused_by_name():
    # 4
    with pytest.raises(NotSupportedForSparseNDArray, match="reshape"):
        csr(np.eye(2)).reshape((4,))
    with pytest.raises(ValueError, match=r"\(6,\)"):
        nd.sparse.csr_matrix(nd.ones((6,)))


def test_the_norm_and_square_of_csr_arrays_need_no_dense_copy(recwarn):
    # 11, 12
    x = csr([[0, 3], [4, 0]])
    assert nd.sparse.norm(x).asscalar() == 5
    assert nd.square(x).stype == "csr"
    assert nd.square(nd.array([[0], [3]]).tostype("row_sparse")).stype == "row_sparse"
    assert nd.sum(x, axis=1, keepdims=True).asnumpy().tolist() == [[3], [4]]
    assert nd.sum(x, axis=0).asnumpy().tolist() == [4, 3]
    assert quiet(recwarn)


@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_csr_arrays_keep_the_dtype_of_their_source(dtype):
    # 14
    sparse = pytest.importorskip("scipy.sparse")
    source = sparse.csr_matrix(np.array([[0, 1], [2, 0]], dtype))
    x = nd.sparse.csr_matrix(source)
    assert x.dtype == np.dtype(dtype)
    assert (x.asscipy() != source).nnz == 0
    assert nd.sparse.csr_matrix(source.toarray()).dtype == np.dtype(dtype)
    assert nd.array(source.data, dtype=source.data.dtype).dtype == np.dtype(dtype)


def test_rows_and_items_of_csr_arrays_are_csr_or_refused():
    # 35
    x = csr([[0, 1], [2, 0]])
    with pytest.raises((AttributeError, NotImplementedError)):
        x.indices = nd.array([0])
    with pytest.raises(ValueError, match="."):
        x[0, 1] = 5
    assert [(x[k].stype, x[k].shape) for k in (slice(0, 1), 1)] == [("csr", (1, 2))] * 2


def test_only_csr_arrays_make_a_csr_array_when_joined():
    # 36
    x = csr([[0, 1], [2, 0]])
    twice = [[0, 1], [2, 0], [0, 1], [2, 0]]
    joined = nd.concat(x, x, dim=0)
    assert (joined.stype, joined.asnumpy().tolist()) == ("csr", twice)
    with pytest.warns(mx.base.StorageFallbackWarning) if _first_time() else _nothing():
        joined = nd.concat(x, x.tostype("default"), dim=0)
    assert (joined.stype, joined.asnumpy().tolist()) == ("default", twice)
