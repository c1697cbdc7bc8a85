"""sort, argsort, topk: order, ties, NaN, dtypes, gradients."""

import numpy as np
import pytest

import minigluon as mx
from minigluon import MXNetError, autograd, nd


def test_equal_elements_keep_their_order():
    x = nd.array([3, 1, 2, 1, 3, 1])
    assert nd.argsort(x).asnumpy().tolist() == [1, 3, 5, 2, 0, 4]
    assert nd.argsort(x, is_ascend=False).asnumpy().tolist() == [0, 4, 2, 1, 3, 5]
    assert nd.topk(x, k=3).asnumpy().tolist() == [0, 4, 2]
    assert nd.topk(x, k=3, is_ascend=True).asnumpy().tolist() == [1, 3, 5]


@pytest.mark.parametrize("ascending", [True, False])
def test_topk_of_a_long_axis_is_the_front_of_argsort(ascending):
    numbers = np.random.default_rng(0)
    for values in (numbers.normal(size=(4, 100)), numbers.integers(0, 6, (4, 100))):
        x = nd.array(values)
        whole = nd.argsort(x, is_ascend=ascending).asnumpy()
        for k in (1, 7):
            front = nd.topk(x, k=k, is_ascend=ascending).asnumpy()
            np.testing.assert_array_equal(front, whole[:, :k])


@pytest.mark.parametrize("k", [1, 3, 9])
def test_nan_counts_as_the_largest(k):
    values = np.arange(40.0)
    values[[5, 11]] = np.nan
    assert nd.topk(nd.array(values), k=k).asnumpy()[:2].tolist() == [5, 11][:k]
    assert np.isnan(nd.sort(nd.array(values)).asnumpy()[-2:]).all()
    assert np.isnan(nd.sort(nd.array(values), is_ascend=False).asnumpy()[:2]).all()


def test_half_precision_is_sorted():
    # known bug 54: MXNet refuses sort and argsort of float16
    x = nd.array([[3, -1.5, 2.25, 0], [4, -3, 1.5, 8]], dtype="float16")
    assert nd.sort(x).asnumpy().tolist() == [[-1.5, 0, 2.25, 3], [-3, 1.5, 4, 8]]
    assert nd.sort(x).dtype is np.float16
    assert nd.argsort(x).asnumpy().tolist() == [[1, 3, 2, 0], [1, 2, 0, 3]]
    assert nd.topk(x, k=2, ret_typ="value").asnumpy().tolist() == [[3, 2.25], [8, 4]]


def test_no_axis_means_the_flattened_array():
    x = nd.array([[1, 2], [3, 4]])
    assert nd.sort(x, axis=None, is_ascend=False).asnumpy().tolist() == [4, 3, 2, 1]
    assert nd.topk(x, axis=None, k=3).asnumpy().tolist() == [3, 2, 1]
    assert nd.topk(x, axis=None, k=3, ret_typ="mask").asnumpy().tolist() == [[0, 1], [1, 1]]


def test_topk_gives_values_and_indices_in_the_dtype_asked_for():
    values, indices = nd.topk(nd.array([[1, 5], [3, 4]]), axis=0, ret_typ="both", dtype="int64")
    assert values.asnumpy().tolist() == [[3, 5]]
    assert (indices.dtype, indices.asnumpy().tolist()) == (np.int64, [[1, 0]])


@pytest.mark.parametrize("k", [0, -1])
def test_k_below_one_means_all(k):
    assert nd.topk(nd.array([2, 3, 1]), k=k, ret_typ="value").asnumpy().tolist() == [3, 2, 1]


def test_a_dtype_too_small_for_the_indices_is_refused():
    assert nd.topk(nd.arange(200), dtype="uint8").asscalar() == 199
    with pytest.raises(MXNetError, match="uint8 cannot hold the indices"):
        nd.topk(nd.arange(300), dtype="uint8")
    with pytest.raises(MXNetError, match="float16 cannot hold"):
        nd.argsort(nd.arange(3000), dtype="float16")


@pytest.mark.parametrize("call", [nd.sort, nd.argsort, nd.topk])
def test_an_axis_that_is_not_there_is_refused(call):
    with pytest.raises(MXNetError, match="axis"):
        call(nd.ones((2, 3)), axis=2)


def test_k_beyond_the_axis_is_refused():
    with pytest.raises(MXNetError, match="k is larger than the axis"):
        nd.topk(nd.ones((2, 3)), k=4)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0)])
def test_arrays_without_elements_are_sorted(shape):
    with mx.util.np_shape(True) if hasattr(mx, "util") else autograd.pause():
        x = nd.from_numpy(np.zeros(shape, np.float32), zero_copy=False)
        assert nd.sort(x).shape == shape
        assert nd.argsort(x).shape == shape


def test_gradients_go_back_to_where_the_elements_came_from():
    x = nd.array([[3, 1, 2]])
    x.attach_grad()
    with autograd.record():
        y = nd.topk(x, k=2, ret_typ="value") * nd.array([[10, 20]])
    y.backward()
    assert x.grad.asnumpy().tolist() == [[10, 0, 20]]


def test_outputs_are_named_as_in_mxnet():
    data = mx.sym.Variable("data")
    names = {r: mx.sym.topk(data, ret_typ=r, name="t").list_outputs() for r in ("value", "both")}
    assert names == {"value": ["t_output0"], "both": ["t_output0", "t_output1"]}
    assert mx.sym.sort(data, name="s").list_outputs() == ["s_output0"]
