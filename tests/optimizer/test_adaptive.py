import numpy as np
import pytest

from minigluon import nd, optimizer


def sparse_step(rule, weight_stype):
    weight = nd.ones((3, 2)).tostype(weight_stype)
    state = rule.create_state(0, weight)
    rule.update(0, weight, nd.array([[1, 2], [0, 0], [3, 4]]).tostype("row_sparse"), state)
    return weight, state


@pytest.mark.parametrize("weight_stype", ["default", "row_sparse"])
def test_adagrad_changes_only_rows_in_a_row_sparse_gradient(weight_stype):
    weight, history = sparse_step(optimizer.AdaGrad(learning_rate=0.01), weight_stype)
    np.testing.assert_allclose(weight.asnumpy(), [[0.99] * 2, [1] * 2, [0.99] * 2], rtol=1e-6)
    np.testing.assert_allclose(history.asnumpy(), [[1, 4], [0, 0], [9, 16]])
    assert history.stype == weight_stype


def test_ftrl_is_lazy_when_weight_and_gradient_are_row_sparse():
    weight, (z, _) = sparse_step(optimizer.Ftrl(wd=0.01), "row_sparse")
    expected = [[0.44927534, 0.59946686], [1, 1], [0.67458135, 0.71965611]]  # MXNet 1.9.1
    np.testing.assert_allclose(weight.asnumpy(), expected, rtol=1e-5)
    assert z.stype == "row_sparse"


def test_ftrl_with_a_dense_weight_reaches_every_row(monkeypatch):
    monkeypatch.setenv("MXNET_STORAGE_FALLBACK_LOG_VERBOSE", "0")
    weight, _ = sparse_step(optimizer.Ftrl(wd=0.01), "default")
    expected = [[0.44927534, 0.59946686], [0, 0], [0.67458135, 0.71965611]]  # MXNet 1.9.1
    np.testing.assert_allclose(weight.asnumpy(), expected, rtol=1e-5)


@pytest.mark.parametrize("name", ["adagrad", "rmsprop", "adadelta", "ftrl"])
@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_states_have_the_weights_dtype(name, dtype):  # MXNet 1.9.1 fails for these
    rule = optimizer.create(name, learning_rate=0.1)
    weight = nd.array([1.0, -1.0], dtype=dtype)
    states = rule.create_state(0, weight)
    rule.update(0, weight, nd.array([0.5, 0.25], dtype=dtype), states)
    single = nd.array([1.0, -1.0])
    rule.update(1, single, nd.array([0.5, 0.25]), rule.create_state(1, single))
    np.testing.assert_allclose(weight.asnumpy(), single.asnumpy(), rtol=2e-3)
    assert weight.dtype == np.dtype(dtype)


def test_rmsprop_keeps_one_state_or_three():
    weight = nd.ones((2,))
    assert len(optimizer.RMSProp().create_state(0, weight)) == 1
    assert len(optimizer.RMSProp(centered=True).create_state(0, weight)) == 3
