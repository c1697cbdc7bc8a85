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
    rule = optimizer.Adam(learning_rate=0.1, wd=0.01)  # recorded from MXNet 1.9.1
    found = three_steps(rule, weight_stype)
    np.testing.assert_allclose(found, [0.9, 1, 0.8, 1, 0.93612], atol=1e-5)


@pytest.mark.parametrize("grad_stype", ["default", "row_sparse"])
def test_without_lazy_update_every_row_moves(grad_stype):
    rule = optimizer.Adam(learning_rate=0.1, wd=0.01, lazy_update=False)  # recorded as above
    found = three_steps(rule, grad_stype=grad_stype)
    np.testing.assert_allclose(found, [0.7795, 0.70159, 0.72235, 0.70159, 0.73551], atol=1e-5)


@pytest.mark.parametrize(("lazy", "stype"), [(True, "row_sparse"), (False, "default")])
def test_states_are_stored_as_the_weight_if_lazy(lazy, stype):
    weight = nd.ones((2, 2), dtype="float64").tostype("row_sparse")
    states = optimizer.Adam(lazy_update=lazy).create_state(0, weight)
    assert [(s.stype, s.dtype) for s in states] == [(stype, np.float64)] * 2


def test_bias_correction_counts_each_parameter_for_itself():
    rule = optimizer.Adam(learning_rate=0.1)
    weights = [nd.ones((1,)), nd.ones((1,))]
    states = [rule.create_state(i, w) for i, w in enumerate(weights)]
    for _ in range(5):
        rule.update(0, weights[0], nd.ones((1,)), states[0])
    rule.update(1, weights[1], nd.ones((1,)), states[1])
    assert weights[1].asscalar() == pytest.approx(0.9, abs=1e-6)


def test_adamax_leaves_values_without_a_gradient_alone():  # MXNet 1.9.1 makes them NaN
    rule = optimizer.Adamax(learning_rate=0.1)
    weight = nd.array([1.0, 1.0])
    rule.update(0, weight, nd.array([0.0, 2.0]), rule.create_state(0, weight))
    np.testing.assert_allclose(weight.asnumpy(), [1.0, 0.9], rtol=1e-6)
