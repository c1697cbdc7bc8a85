import numpy as np
import pytest

from minigluon import nd, optimizer


def test_groupadagrad_has_one_step_size_a_row():
    rule = optimizer.contrib.GroupAdaGrad(learning_rate=0.01)
    weight = nd.ones((3, 2))
    history = rule.create_state(0, weight)
    rule.update(0, weight, nd.array([[1, 2], [0, 0], [3, 4]]), history)
    assert history.shape == (3, 1)
    expected = [[0.99367547, 0.98735094], [1, 1], [0.99151474, 0.98868632]]  # MXNet 1.9.1
    np.testing.assert_allclose(weight.asnumpy(), expected, rtol=1e-6)


def test_groupadagrad_refuses_weight_decay_and_vectors():
    with pytest.raises(AssertionError, match="Weight decay is not supported"):
        optimizer.create("groupadagrad", wd=0.1).update(
            0, nd.ones((2, 2)), nd.ones((2, 2)), nd.ones((2, 1))
        )
    with pytest.raises(AssertionError, match="matrix"):
        optimizer.create("groupadagrad").create_state(0, nd.ones((2,)))


@pytest.mark.parametrize("stype", ["default", "row_sparse"])
def test_groupadagrad_changes_the_rows_of_a_row_sparse_gradient_only(stype):
    # recorded from MXNet 1.9.1: two steps with the same gradient
    weight = nd.array(np.arange(1, 9).reshape(4, 2)).tostype(stype)
    gradient = nd.array([[1, 2], [0, 0], [0, 0], [3, 4]]).tostype("row_sparse")
    rule = optimizer.contrib.GroupAdaGrad(learning_rate=0.1)
    state = rule.create_state(0, weight)
    held = weight._data
    for _ in range(2):
        rule.update(0, weight, gradient, state)
    wanted = [[0.8920333, 1.7840666], [3, 4], [5, 6], [6.8551474, 7.8068629]]
    np.testing.assert_allclose(weight.asnumpy(), wanted, rtol=1e-6)
    assert state.asnumpy().tolist() == [[5], [0], [0], [25]]
    assert (weight.stype, state.stype) == (stype, stype)
    assert weight._data is held
