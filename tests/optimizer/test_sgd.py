import numpy as np
import pytest

from minigluon import nd, optimizer

ROWS = [[0, 2], [2], [4]]  # rows of the gradient in three steps


def three_steps(rule, weight_stype="default", grad_stype="row_sparse"):
    weight = nd.ones((5, 2)).tostype(weight_stype)
    state = rule.create_state(0, weight)
    for rows in ROWS:
        grad = np.zeros((5, 2), np.float32)
        grad[rows] = 1
        rule.update(0, weight, nd.array(grad).tostype(grad_stype), state)
    return weight.asnumpy()[:, 0]


@pytest.mark.parametrize("weight_stype", ["default", "row_sparse"])
def test_lazy_updates_leave_rows_alone_that_have_no_gradient(weight_stype):
    rule = optimizer.SGD(learning_rate=0.1, wd=0.01)  # recorded from MXNet 1.9.1
    found = three_steps(rule, weight_stype)
    np.testing.assert_allclose(found, [0.899, 1, 0.7981, 1, 0.899], atol=1e-4)
    assert found[1] == found[3] == 1


@pytest.mark.parametrize("grad_stype", ["default", "row_sparse"])
def test_without_lazy_update_decay_reaches_all_rows(grad_stype):
    rule = optimizer.SGD(learning_rate=0.1, wd=0.01, lazy_update=False)  # recorded as above
    found = three_steps(rule, grad_stype=grad_stype)
    np.testing.assert_allclose(found, [0.8972, 0.997, 0.7973, 0.997, 0.897], atol=1e-4)


def test_momentum_of_absent_rows_rests():
    rule = optimizer.SGD(learning_rate=0.1, momentum=0.9)
    weight = nd.ones((2, 1))
    momentum = rule.create_state(0, weight)
    rule.update(0, weight, nd.array([[1], [1]]), momentum)
    rule.update(0, weight, nd.array([[0], [1]]).tostype("row_sparse"), momentum)
    np.testing.assert_allclose(momentum.asnumpy(), [[-0.1], [-0.19]], rtol=1e-6)
    np.testing.assert_allclose(weight.asnumpy(), [[0.9], [0.71]], rtol=1e-6)


@pytest.mark.parametrize(("lazy", "stype"), [(True, "row_sparse"), (False, "default")])
def test_momentum_is_stored_as_the_weight_if_lazy(lazy, stype):
    rule = optimizer.SGD(momentum=0.9, lazy_update=lazy)
    weight = nd.ones((2, 2)).tostype("row_sparse")
    assert rule.create_state(0, weight).stype == stype


def test_no_momentum_keeps_no_state():
    assert optimizer.SGD().create_state(0, nd.ones((2,))) is None


def test_lists_update_like_one_after_the_other():
    weights = [nd.array([1.0, 2.0]), nd.array([3.0])]
    rule = optimizer.SGD(learning_rate=0.1, momentum=0.9)
    states = [rule.create_state(i, w) for i, w in enumerate(weights)]
    for _ in range(2):
        rule.update([0, 1], weights, [nd.ones((2,)), nd.ones((1,))], states)
    # two steps of 0.1, then 0.1 + 0.09
    np.testing.assert_allclose(weights[0].asnumpy(), [0.71, 1.71], rtol=1e-6)
    np.testing.assert_allclose(weights[1].asnumpy(), [2.71], rtol=1e-6)
    assert rule._index_update_count == {0: 2, 1: 2}


def test_multi_precision_state_is_momentum_then_master():
    rule = optimizer.SGD(momentum=0.9, multi_precision=True)
    momentum, master = rule.create_state_multi_precision(0, nd.ones((2,), dtype="float16"))
    assert momentum.asnumpy().tolist() == [0, 0]
    assert master.asnumpy().tolist() == [1, 1]
    assert {momentum.dtype, master.dtype} == {np.float32}


def test_multi_precision_takes_lists_of_mixed_dtypes():
    rule = optimizer.SGD(learning_rate=1e-4, multi_precision=True)
    weights = [nd.ones((1,), dtype="float16"), nd.ones((1,))]
    states = [rule.create_state_multi_precision(i, w) for i, w in enumerate(weights)]
    for _ in range(20):
        rule.update_multi_precision(
            [0, 1], weights, [nd.ones((1,), dtype=w.dtype) for w in weights], states
        )
    assert weights[0].asscalar() == np.float16(0.998)
    assert weights[1].asscalar() == pytest.approx(0.998)


def test_csr_weights_and_gradients_work(monkeypatch):
    monkeypatch.setenv("MXNET_STORAGE_FALLBACK_LOG_VERBOSE", "0")
    rule = optimizer.SGD(learning_rate=0.5)
    weight = nd.array([[1.0, 0.0], [0.0, 2.0]]).tostype("csr")
    rule.update(0, weight, nd.array([[1.0, 0.0], [0.0, 1.0]]).tostype("csr"), None)
    assert weight.stype == "csr"
    np.testing.assert_allclose(weight.asnumpy(), [[0.5, 0], [0, 1.5]])


def test_nag_is_the_textbook_formula():
    rule = optimizer.NAG(learning_rate=0.1, momentum=0.9, wd=0.01)
    weight, w, m = nd.array([2.0, -1.0]), np.array([2.0, -1.0]), np.zeros(2)
    state = rule.create_state(0, weight)
    for g in ([1.0, -2.0], [0.5, 0.5], [-1.0, 0.0]):
        rule.update(0, weight, nd.array(g), state)
        step = 0.1 * (np.array(g) + 0.01 * w)
        m = 0.9 * m - step
        w = w + 0.9 * m - step
    np.testing.assert_allclose(weight.asnumpy(), w, rtol=1e-6)
