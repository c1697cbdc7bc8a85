"""Batch normalization; values and habits recorded from MXNet 1.9.1 unless said otherwise."""

import numpy as np
import pytest

from minigluon import MXNetError, autograd, nd, sym
from minigluon.base import DTypeError, ShapeError

HEAD = nd.array([[1, 2.0], [0, 1], [3, 0]])


def inputs():
    """Data, gamma, beta and the moving statistics of what was recorded."""
    values = [[1, 2.0], [3, 5], [8, 1]], [2, 3.0], [0.5, 1], [0.1, 0.2], [1, 2.0]
    arrays = [nd.array(v) for v in values]
    for x in arrays[:3]:
        x.attach_grad()
    return arrays


def run(train=True, **attrs):
    arrays = inputs()
    with autograd.record(train_mode=train):
        y = nd.BatchNorm(*arrays, **attrs)
    return y, arrays


def test_training_uses_the_batch():
    y, (x, gamma, beta, mean, var) = run(fix_gamma=False)
    wanted = [[-1.538, -0.1765], [-0.1793, 5.1177], [3.2173, -1.9412]]
    np.testing.assert_allclose(y.asnumpy(), wanted, atol=1e-4)
    y.backward(HEAD)
    wanted = [[0.4789, 1.9004], [-0.6706, -0.4750], [0.1917, -1.4255]]
    np.testing.assert_allclose(x.grad.asnumpy(), wanted, atol=1e-4)
    np.testing.assert_allclose(gamma.grad.asnumpy(), [3.0569711, 0.5882465], rtol=1e-5)
    np.testing.assert_allclose(beta.grad.asnumpy(), [4, 3], rtol=1e-6)
    np.testing.assert_allclose(mean.asnumpy(), [0.49, 0.4466667], rtol=1e-6)
    np.testing.assert_allclose(var.asnumpy(), [1.7666668, 2.0888889], rtol=1e-6)


def test_moving_statistics_move_in_the_backward_pass():
    y, (*_, mean, var) = run()
    assert mean.asnumpy().tolist() == np.float32([0.1, 0.2]).tolist()
    y.backward(HEAD)
    np.testing.assert_allclose(mean.asnumpy(), [0.49, 0.4466667], rtol=1e-6)
    with autograd.train_mode():
        nd.BatchNorm(nd.ones((2, 2)), *inputs()[1:3], mean, var)
    np.testing.assert_allclose(mean.asnumpy(), [0.49, 0.4466667], rtol=1e-6)


@pytest.mark.parametrize("how", [{"train": False}, {"use_global_stats": True}])
def test_prediction_uses_the_moving_statistics_and_leaves_them(how):
    y, (x, gamma, _, mean, var) = run(fix_gamma=False, **how)
    wanted = [[2.2991, 4.8174], [6.2971, 11.1798], [16.2921, 2.6966]]
    np.testing.assert_allclose(y.asnumpy(), wanted, atol=1e-4)
    # MXNet only with backward(train_mode=False): its backward pass forgets how y was made
    y.backward(HEAD)
    wanted = [[1.999, 4.2416], [0, 2.1208], [5.997, 0]]
    np.testing.assert_allclose(x.grad.asnumpy(), wanted, atol=1e-4)
    np.testing.assert_allclose(gamma.grad.asnumpy(), [24.58771, 5.9382124], rtol=1e-5)
    assert mean.asnumpy().tolist() == np.float32([0.1, 0.2]).tolist()
    assert var.asnumpy().tolist() == [1, 2]


def test_fixed_gamma_is_one_and_has_no_gradient():
    y, (_, gamma, *_) = run()
    np.testing.assert_allclose(y.asnumpy()[0], [-0.5190, 0.6078], atol=1e-4)
    y.backward(HEAD)
    assert gamma.grad.asnumpy().tolist() == [0, 0]
    assert gamma.asnumpy().tolist() == [2, 3]  # MXNet overwrites it with ones


def test_mean_and_reciprocal_deviation_can_be_had():
    (_, mean, scale), _ = run(output_mean_var=True)
    np.testing.assert_allclose(mean.asnumpy(), [4, 2.6666667], rtol=1e-6)
    np.testing.assert_allclose(scale.asnumpy(), [0.3396635, 0.5882466], rtol=1e-5)


def test_a_symbol_makes_states_that_start_as_zero_and_one():
    net = sym.BatchNorm(sym.Variable("data"), name="bn")
    assert net.list_arguments() == ["data", "bn_gamma", "bn_beta"]
    assert net.list_auxiliary_states() == ["bn_moving_mean", "bn_moving_var"]
    assert net.list_outputs() == ["bn_output"]
    attrs = net.attr_dict()
    assert attrs["bn_moving_mean"]["__init__"] == '["zero", {}]'
    assert attrs["bn_moving_var"]["__init__"] == '["one", {}]'
    assert '"node_row_ptr": [0, 1, 2, 3, 4, 5, 8]' in net.tojson()


def test_channels_tell_the_shape_of_everything():
    net = sym.BatchNorm(sym.Variable("data"), axis=-1, name="bn")
    arguments, outputs, states = net.infer_shape(data=(2, 4, 3))
    assert (arguments[1:], outputs, states) == ([(3,), (3,)], [(2, 4, 3)], [(3,), (3,)])


def test_half_precision_has_parameters_in_single_precision():
    net = sym.BatchNorm(sym.Variable("data"), name="bn")
    arguments, outputs, states = net.infer_type(data="float16")
    assert arguments == [np.float16, np.float32, np.float32]
    assert (outputs, states) == ([np.float16], [np.float32, np.float32])
    y = nd.BatchNorm(nd.ones((2, 3), dtype="float16"), *[nd.ones(3)] * 4)
    assert y.dtype == np.float16
    with pytest.raises(DTypeError, match="gamma"):
        nd.BatchNorm(nd.ones((2, 3), dtype="float64"), *[nd.ones(3)] * 4)


def test_parameters_of_another_size_are_refused():  # MXNet takes them
    with pytest.raises(ShapeError, match="gamma"):
        nd.BatchNorm(nd.ones((2, 3, 4)), nd.ones(5), *[nd.ones(3)] * 3)
    net = sym.BatchNorm(sym.Variable("data"), name="bn")
    with pytest.raises(MXNetError, match=r"(?s)bn.*99.*3"):
        net.infer_shape(data=(2, 3, 4), bn_gamma=(99,))
    with pytest.raises(ShapeError, match="axis"):
        nd.BatchNorm(nd.ones((2, 3, 4)), *[nd.ones(3)] * 4, axis=5)


@pytest.mark.parametrize("values", [[1e19, 2e19], [1e20, 3e20]])
def test_squares_beyond_single_precision_do_no_harm(values):
    x = nd.array([[v] for v in values])
    x.attach_grad()
    mean, var = nd.zeros(1), nd.ones(1)
    with autograd.record():
        y = nd.BatchNorm(x, nd.ones(1), nd.zeros(1), mean, var, momentum=0)
    y.backward(nd.array([[1], [0]]))
    np.testing.assert_allclose(y.asnumpy().ravel(), [-1, 1], rtol=1e-5)
    assert np.isfinite(x.grad.asnumpy()).all()
    np.testing.assert_allclose(mean.asnumpy(), np.mean(values), rtol=1e-6)
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(var.asnumpy(), [np.float32(np.var(values))], rtol=1e-5)


def test_sparse_data_need_a_free_gamma():
    x = nd.sparse.csr_matrix(nd.array([[1, 0], [0, 2]]))
    others = [nd.ones(2)] * 4
    with pytest.raises(MXNetError, match="fix_gamma=True is not supported for sparse"):
        nd.BatchNorm(x, *others)
    with pytest.warns(UserWarning, match="Storage type fallback"):
        assert nd.BatchNorm(x, *others, fix_gamma=False).stype == "default"


def test_the_rectified_one_stops_gradients_below_zero():
    # not from MXNet, whose operator does not run here
    arrays = inputs()
    with autograd.record():
        y = nd.contrib.BatchNormWithReLU(*arrays, fix_gamma=False)
    np.testing.assert_allclose(y.asnumpy()[0], [0, 0], atol=1e-6)
    y.backward(nd.array([[1, 1.0], [0, 0], [0, 0]]))
    assert arrays[2].grad.asnumpy().tolist() == [0, 0]
