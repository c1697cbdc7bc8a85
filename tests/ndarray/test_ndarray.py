"""The NDArray class: properties, conversion, python's protocols."""

import copy
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

import minigluon as mx
from minigluon import autograd, nd

DATA = Path(__file__).parent.parent / "data" / "params"


def test_properties_describe_the_array():
    array = nd.array(np.zeros((2, 3)), dtype="int32", ctx=mx.cpu(1))
    assert (array.shape, array.size, array.ndim, array.stype) == ((2, 3), 6, 2, "default")
    assert array.dtype is np.int32
    assert array.context == array.ctx == mx.cpu(1)
    assert (array.grad, array._fresh_grad, array.writable) == (None, False, True)


# recorded from MXNet 1.9.1
@pytest.mark.parametrize(
    ("array", "text"),
    [
        (nd.array([[1, 2], [3, 4]]), "\n[[1. 2.]\n [3. 4.]]\n<NDArray 2x2 @cpu(0)>"),
        (nd.array([1, 2], dtype="int32"), "\n[1 2]\n<NDArray 2 @cpu(0)>"),
        (nd.array(np.array(5)), "\n5.0\n<NDArray  @cpu(0)>"),
        (nd.array([]), "\n[]\n<NDArray 0 @cpu(0)>"),
        (nd.array([1], ctx=mx.cpu(1)), "\n[1.]\n<NDArray 1 @cpu(1)>"),
        (nd.sparse.zeros("csr", (3, 3)), "\n<CSRNDArray 3x3 @cpu(0)>"),
        (nd.sparse.zeros("row_sparse", (3,)), "\n<RowSparseNDArray 3 @cpu(0)>"),
    ],
)
def test_repr_is_that_of_mxnet(array, text):
    assert repr(array) == str(array) == text


def test_truth_is_that_of_the_only_element():
    assert not nd.array([])
    assert nd.array([2]) and not nd.array([0])
    with pytest.raises(ValueError, match="truth value of an NDArray with multiple elements"):
        bool(nd.ones((2,)))


def test_one_element_converts_to_a_number():
    array = nd.array([3.7])
    assert (float(array), int(array), array.item()) == (pytest.approx(3.7), 3, pytest.approx(3.7))
    assert array.asscalar().dtype == np.float32
    assert [10, 11][nd.array([1], dtype="int32")] == 11
    with pytest.raises(TypeError):
        [10, 11][nd.array([1])]
    with pytest.raises(TypeError):
        float(nd.ones((2,)))
    with pytest.raises(ValueError, match="not a scalar"):
        nd.ones((2,)).asscalar()


def test_arrays_are_dictionary_keys_by_identity():
    array, twin = nd.ones((2,)), nd.ones((2,))
    assert {array: 1}[array] == 1
    assert twin not in {array: 1}


def test_length_is_that_of_the_first_axis():
    assert len(nd.ones((3, 2))) == 3
    with pytest.raises(TypeError):
        len(nd.array(np.array(1.0)))


def test_asnumpy_is_a_copy():
    array = nd.ones((2,))
    array.asnumpy()[:] = 5
    assert array.asnumpy().tolist() == [1, 1]


def test_numpy_reads_arrays():
    array = nd.array([[1, 2]])
    np.testing.assert_array_equal(np.asarray(array), [[1, 2]])
    assert np.asarray(array, dtype="int32").dtype == np.int32
    np.testing.assert_array_equal(np.stack([array, array]), [[[1, 2]], [[1, 2]]])


def test_astype_converts_and_copies_unless_told_not_to():
    array = nd.array([1.5, -1.5])
    assert array.astype("int32").asnumpy().tolist() == [1, -1]
    assert array.astype("float32") is not array
    assert array.astype(np.float32, copy=False) is array
    assert array.astype(float).dtype is np.float64
    with pytest.raises(TypeError):
        array.astype("foo")


def test_copyto_keeps_the_dtype_and_storage_of_the_target():
    source = nd.array([[0, 1.5], [2, 0]])
    for target in (nd.zeros((2, 2), dtype="int32"), nd.sparse.zeros("csr", (2, 2))):
        dtype, stype = target.dtype, target.stype
        assert source.copyto(target) is target
        assert (target.dtype, target.stype) == (dtype, stype)
        np.testing.assert_array_equal(target.asnumpy(), source.asnumpy().astype(dtype))


def test_copyto_another_shape_or_kind_is_refused():
    with pytest.raises(mx.MXNetError):
        nd.ones((2,)).copyto(nd.ones((3,)))
    with pytest.raises(TypeError, match="copyto does not support type"):
        nd.ones((2,)).copyto(None)


def test_copying_an_array_to_itself_warns():
    array = nd.ones((2,))
    with pytest.warns(RuntimeWarning, match="to itself"):
        array.copyto(array)


def test_contexts_tell_arrays_apart():
    array = nd.ones((2,))
    assert array.as_in_context(mx.cpu(0)) is array
    moved = array.as_in_context(mx.cpu(1))
    assert moved.context == mx.cpu(1)
    assert (moved * 2).context == mx.cpu(1)
    with mx.cpu(2):
        assert nd.zeros((1,)).context == mx.cpu(2)


def test_gradients_flow_through_conversions():
    x = nd.ones((2, 3))
    x.attach_grad()
    with autograd.record():
        y = x.as_in_context(mx.cpu(1)).astype("float64").copy().T * 2
    y.backward()
    assert x.grad.dtype is np.float32
    np.testing.assert_array_equal(x.grad.asnumpy(), np.full((2, 3), 2))


def test_detach_shares_memory_and_stops_gradients():
    x = nd.ones((2,))
    x.attach_grad()
    with autograd.record():
        y = x * x.detach()
    y.backward()
    assert x.grad.asnumpy().tolist() == [1, 1]
    x.detach()[:] = 7
    assert x.asnumpy().tolist() == [7, 7]


def test_attach_grad_makes_a_gradient_of_the_asked_storage():
    x = nd.ones((3, 2))
    x.attach_grad(stype="row_sparse")
    assert (x.grad.stype, x.grad.shape) == ("row_sparse", (3, 2))
    for stype in ("csr", "row_sparse"):
        sparse = x.tostype(stype)
        sparse.attach_grad()
        assert sparse.grad.stype == stype


def test_the_fresh_mark_is_set_by_backward_and_can_be_written():
    x = nd.ones((2,))
    x.attach_grad()
    assert not x._fresh_grad
    with autograd.record():
        y = x * 2
    y.backward()
    assert x._fresh_grad
    x._fresh_grad = False
    assert not x._fresh_grad


@pytest.mark.parametrize("stype", ["default", "csr", "row_sparse"])
def test_pickles_and_copies_keep_values_and_storage(stype):
    array = nd.array([[0, 1], [0, 0]], dtype="float64").tostype(stype)
    for twin in (pickle.loads(pickle.dumps(array)), copy.copy(array), copy.deepcopy(array)):
        assert type(twin) is type(array)
        assert twin.dtype is np.float64
        np.testing.assert_array_equal(twin.asnumpy(), array.asnumpy())
        twin[:] = nd.ones((2, 2), dtype="float64")
        assert array.asnumpy().tolist() == [[0, 1], [0, 0]]


def test_pickles_of_mxnet_are_read(monkeypatch):
    monkeypatch.setitem(sys.modules, "mxnet", mx)
    monkeypatch.setitem(sys.modules, "mxnet.ndarray", nd)
    monkeypatch.setitem(sys.modules, "mxnet.ndarray.ndarray", sys.modules[nd.NDArray.__module__])
    monkeypatch.setitem(sys.modules, "mxnet.ndarray.sparse", nd.sparse)
    loaded = pickle.loads((DATA / "ndarray_pickle.pkl").read_bytes())
    assert sorted(a.stype for a in loaded.values()) == ["csr", "default", "row_sparse"]
    assert all(np.isfinite(a.asnumpy()).all() for a in loaded.values())


def test_slice_assign_writes_a_region_and_returns_the_array():
    array = nd.zeros((3, 3))
    assert array.slice_assign(nd.ones((1, 3)), (0, 0), (1, 3), (1, 1)) is array
    array.slice_assign_scalar(2, (None, 1), (None, None), (None, None))
    assert array.asnumpy().tolist() == [[1, 2, 2], [0, 2, 2], [0, 2, 2]]


def test_raw_copies_check_the_shape():
    array = nd.zeros((2, 3))
    array._sync_copyfrom([[1, 2, 3], [4, 5, 6]])
    assert array[1, 2].asscalar() == 6
    with pytest.raises(ValueError, match="Shape inconsistent"):
        array._sync_copyfrom(np.ones((3, 2)))


def test_numpy_arrays_of_the_fork_are_refused_with_a_reason():
    assert nd.ones((1,)).as_nd_ndarray().shape == (1,)
    with pytest.raises(mx.MXNetError, match=r"mx\.np"):
        nd.ones((1,)).as_np_ndarray()


def test_dlpack_capsules_share_memory_and_outlive_their_source():
    source = nd.ones((2, 3))
    capsule = source.to_dlpack_for_write()
    shared = nd.from_dlpack(capsule)
    shared[0] = 5
    assert source.asnumpy()[0].tolist() == [5, 5, 5]
    del source
    assert shared.asnumpy()[1].tolist() == [1, 1, 1]
    with pytest.raises(AssertionError, match="consumed only once"):
        nd.from_dlpack(capsule)
