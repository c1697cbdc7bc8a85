import numpy as np
import pytest

from minigluon import nd, optimizer


def test_lars_scales_the_step_by_the_norms():
    rule = optimizer.LARS(learning_rate=1.0, eta=0.1, wd=0.5)
    weight = nd.array([3.0, 4.0])
    rule.update(0, weight, nd.array([0.0, 1.0]), None)
    rate = 0.1 * 5 / (1 + 0.5 * 5)
    expected = np.array([3.0, 4.0]) - rate * (np.array([0.0, 1.0]) + 0.5 * np.array([3.0, 4.0]))
    np.testing.assert_allclose(weight.asnumpy(), expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["fc_bias", "bn_gamma", "bn_beta"])
def test_lars_leaves_biases_and_scales_at_the_plain_rate(name):
    rule = optimizer.LARS(learning_rate=0.5, param_idx2name={0: name})
    weight = nd.array([3.0, 4.0])
    rule.update(0, weight, nd.array([1.0, 1.0]), None)
    np.testing.assert_allclose(weight.asnumpy(), [2.5, 3.5], rtol=1e-6)


def test_lbsgd_steps_once_its_batches_are_together():
    rule = optimizer.LBSGD(learning_rate=1.0, batch_scale=2, warmup_strategy="none")
    weight = nd.array([1.0])
    rule.update(0, weight, nd.array([0.5]), None)
    assert weight.asscalar() == 1.0
    rule.update(0, weight, nd.array([0.25]), None)
    assert weight.asscalar() == pytest.approx(1 - 0.375)


def test_lamb_moves_float16_weights_at_every_step():  # MXNet 1.9.1 forgets all but the last one
    rule = optimizer.LAMB(learning_rate=0.1, multi_precision=True)
    weights = [nd.array([1.0, 2.0, 3.0], dtype=d) for d in ("float16", "float32")]
    for index, weight in enumerate(weights):
        state = rule.create_state_multi_precision(index, weight)
        for _ in range(3):
            grad = nd.array([1.0, 1.0, -1.0], dtype=weight.dtype)
            rule.update_multi_precision(index, weight, grad, state)
    np.testing.assert_allclose(weights[0].asnumpy(), weights[1].asnumpy(), rtol=2e-3)
