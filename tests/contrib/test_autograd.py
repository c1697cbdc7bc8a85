"""How gradients were recorded before ``mx.autograd``."""

import numpy as np
import pytest

import minigluon as mx
from minigluon import nd
from minigluon.contrib import autograd


def test_sections_record_and_pause():
    with autograd.train_section():
        assert mx.autograd.is_training()
        assert mx.autograd.is_recording()
        with autograd.test_section():
            assert not mx.autograd.is_training()
            assert not mx.autograd.is_recording()
    assert not mx.autograd.is_recording()


def test_setting_the_mode_gives_the_one_before():
    assert [autograd.set_is_training(x) for x in (True, False, False)] == [False, True, False]


def test_gradients_of_functions():
    x, y = nd.array([1, 2]), nd.array([3, 4])
    grads, value = autograd.grad_and_loss(lambda x, y: x * x * y)(x, y)
    np.testing.assert_array_equal(grads[0].asnumpy(), [6, 16])
    np.testing.assert_array_equal(grads[1].asnumpy(), [1, 4])
    np.testing.assert_array_equal(value.asnumpy(), [3, 16])
    (second,) = autograd.grad(lambda x, y: (x * y, x + y), argnum=[1])(x, y)
    np.testing.assert_array_equal(second.asnumpy(), [2, 3])


def test_marked_arrays_get_gradients():
    x, grad = nd.array([1, 2]), nd.zeros(2)
    autograd.mark_variables([x], [grad])
    with autograd.train_section():
        y = x * 3
    autograd.compute_gradient([y])
    np.testing.assert_array_equal(grad.asnumpy(), [3, 3])


def test_arguments_have_to_be_arrays():
    with pytest.raises(AssertionError, match="should NDArray"):
        autograd.grad(lambda x: x)(1)
