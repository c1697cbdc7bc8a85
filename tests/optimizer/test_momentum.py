import numpy as np
import pytest

import minigluon as mx
from minigluon import nd, optimizer


def test_sgld_takes_half_a_step_and_adds_noise_of_variance_lr():
    mx.random.seed(3)
    weight = nd.zeros((20000,))
    optimizer.SGLD(learning_rate=0.25).update(0, weight, nd.ones((20000,)), None)
    found = weight.asnumpy()
    assert found.mean() == pytest.approx(-0.125, abs=0.02)
    assert found.std() == pytest.approx(0.5, abs=0.02)


def test_dcasgd_with_momentum_is_its_formula():  # MXNet 1.9.1 raises for any momentum
    rule = optimizer.DCASGD(learning_rate=0.1, momentum=0.9, lamda=0.5, wd=0.01)
    weight = nd.array([2.0, -1.0])
    state = rule.create_state(0, weight)
    w = previous = np.array([2.0, -1.0])
    m = np.zeros(2)
    for g in (np.array([1.0, -2.0]), np.array([0.5, 0.5]), np.array([-1.0, 0.25])):
        rule.update(0, weight, nd.array(g), state)
        m = 0.9 * m - 0.1 * (g + 0.01 * w + 0.5 * g * g * (w - previous))
        previous, w = w, w + m
    np.testing.assert_allclose(weight.asnumpy(), w, rtol=1e-6)
    np.testing.assert_allclose(state[1].asnumpy(), previous, rtol=1e-6)


def test_signum_moves_by_the_learning_rate():
    rule = optimizer.Signum(learning_rate=0.1, momentum=0.9)
    weight = nd.array([1.0, 1.0, 1.0])
    rule.update(0, weight, nd.array([100.0, -1e-3, 0.0]), rule.create_state(0, weight))
    np.testing.assert_allclose(weight.asnumpy(), [0.9, 1.1, 1.0], rtol=1e-6)
