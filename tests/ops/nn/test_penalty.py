"""Layers that only shape the gradient."""

import numpy as np
import pytest

from minigluon import autograd, nd

X = nd.array([[0.5, 2.0], [-0.2, -3.0]])


@pytest.mark.parametrize(
    ("linear", "wanted"),
    [(True, [[-0.5, 0.5], [0.5, -0.5]]), (False, [[-0.5, 3.0], [0.8, -4.0]])],
)
def test_the_hinge_pushes_every_class(linear, wanted):
    x = X.copy()
    x.attach_grad()
    with autograd.record():
        y = nd.SVMOutput(x, nd.array([0, 1]), regularization_coefficient=0.5, use_linear=linear)
    y.backward()
    np.testing.assert_array_equal(y.asnumpy(), x.asnumpy())
    np.testing.assert_allclose(x.grad.asnumpy(), wanted, rtol=1e-6)


def test_the_sparseness_penalty_follows_the_mean_activation():
    # recorded from MXNet 1.9.1, which moves the means in the backward pass
    x, average = nd.array([[0.2, 0.7], [0.4, 0.6]]), nd.zeros(2)
    x.attach_grad()
    how = {"sparseness_target": 0.1, "penalty": 0.5, "momentum": 0.9}
    for slopes, means in (
        ([-0.2027488, 0.7120528], [0.03, 0.065]),
        ([0.6000077, 1.1085473], [0.057, 0.1235]),
    ):
        with autograd.record():
            y = nd.IdentityAttachKLSparseReg(x, average, **how)
        y.backward()
        np.testing.assert_array_equal(y.asnumpy(), x.asnumpy())
        np.testing.assert_allclose(average.asnumpy(), means, rtol=1e-5)
        np.testing.assert_allclose(x.grad.asnumpy(), [slopes] * 2, rtol=1e-5)


def test_the_means_stay_in_prediction():
    average = nd.ones(2) * 0.3
    nd.IdentityAttachKLSparseReg(X, average)
    np.testing.assert_array_equal(average.asnumpy(), np.float32([0.3, 0.3]))
