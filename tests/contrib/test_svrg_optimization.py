"""SVRG: gradients as the paper has them; the numbers are recorded from MXNet 1.9.1."""

import numpy as np
import pytest

import minigluon as mx
from minigluon.contrib.svrg_optimization import SVRGModule

RNG = np.random.RandomState(0)
DATA = RNG.randn(24, 3).astype(np.float32)
LABEL = (DATA @ np.array([1, 2, 3.0]))[:, None].astype(np.float32) + 0.1 * RNG.randn(24, 1)


def network():
    x = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=1, name="fc")
    return mx.sym.LinearRegressionOutput(x, mx.sym.var("lin_label"), name="lin")


def params():
    return {"fc_weight": mx.nd.array([[0.1, 0.2, 0.3]]), "fc_bias": mx.nd.zeros(1)}


def batches(size=8):
    return mx.io.NDArrayIter(DATA, LABEL, size, label_name="lin_label")


def module(**kwargs):
    return SVRGModule(network(), label_names=["lin_label"], **{"update_freq": 2, **kwargs})


def bound(data):
    made = module()
    made.bind(data.provide_data, data.provide_label)
    made.init_params(arg_params=params(), aux_params={}, force_init=True)
    made.init_optimizer(optimizer_params={"learning_rate": 0.1})
    return made


@pytest.mark.parametrize(
    ("size", "weight", "bias"),
    [
        (8, [-12.758164, -15.214486, -20.976313], 2.5913131),
        (10, [-23.986546, -23.728411, -30.09383], -3.8045795),
        (5, [-9.8350983, -9.9312582, -14.142859], 0.56447417),
    ],
)
def test_the_full_gradient_is_the_mean_over_batches(size, weight, bias):
    data = batches(size)
    made = bound(data)
    made.update_full_grads(data)
    (found,) = made._param_dict
    np.testing.assert_allclose(found["fc_weight"].asnumpy()[0], weight, rtol=1e-5)
    np.testing.assert_allclose(found["fc_bias"].asnumpy()[0], bias, rtol=1e-5)


def test_a_step_at_the_copy_is_a_step_by_the_full_gradient():
    data = batches()
    made = bound(data)
    made.update_full_grads(data)
    made.forward_backward(next(iter(data)))
    made.update()
    weight = made.get_params()[0]["fc_weight"].asnumpy()[0]
    np.testing.assert_allclose(weight, [0.25947705, 0.39018106, 0.56220388], rtol=1e-6)


@pytest.mark.parametrize("contexts", [1, 2])
def test_training_goes_as_in_mxnet_until_the_second_copy(contexts):
    seen = []
    module(context=[mx.cpu(k) for k in range(contexts)]).fit(
        batches(),
        eval_metric="mse",
        optimizer_params={"learning_rate": 0.1},
        num_epoch=2,
        arg_params=params(),
        batch_end_callback=lambda p: seen.append(p.eval_metric.get()[1]),
    )
    wanted = [16.17385, 12.67824, 10.04144, 8.11475, 6.49413, 5.04478]
    np.testing.assert_allclose(seen, wanted, atol=1e-4)


def test_the_full_gradient_of_a_second_copy_is_that_copy_s_alone():
    """MXNet adds it to the one before."""
    data = batches()
    made = bound(data)
    made.update_full_grads(data)
    made.update_full_grads(data)
    weight = made._param_dict[0]["fc_weight"].asnumpy()[0]
    np.testing.assert_allclose(weight, [-12.758164, -15.214486, -20.976313], rtol=1e-5)


@pytest.mark.parametrize(
    ("update_freq", "error"),
    [(None, TypeError), (1.5, TypeError), (True, TypeError), (0, ValueError)],
)
def test_update_freq_is_a_positive_integer(update_freq, error):
    with pytest.raises(error, match="update_freq"):
        module(update_freq=update_freq)
