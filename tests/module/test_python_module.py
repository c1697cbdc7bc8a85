"""minigluon/module/python_module.py."""

import numpy as np
import pytest

import minigluon as mx


def softmax_gradient(scores, labels):
    return mx.nd.softmax(scores) - mx.nd.one_hot(labels, 3)


def bound(grad_func=softmax_gradient):
    module = mx.mod.PythonLossModule(grad_func=grad_func)
    module.bind([("data", (2, 3))], [("softmax_label", (2,))])
    module.init_params()
    module.init_optimizer()
    return module


SCORES = np.array([[1, 2, 3], [3, 2, 1]], np.float32)


def batch():
    return mx.io.DataBatch([mx.nd.array(SCORES)], [mx.nd.array([0, 1])])


def test_the_scores_are_the_output_and_the_function_gives_their_gradient():
    module = bound()
    module.forward_backward(batch())
    module.update()
    assert module.get_outputs()[0].asnumpy().tolist() == SCORES.tolist()
    assert module.output_shapes == [("pyloss_output", (2, 3))]
    expected = np.exp(SCORES) / np.exp(SCORES).sum(1, keepdims=True) - np.eye(3)[[0, 1]]
    np.testing.assert_allclose(module.get_input_grads()[0].asnumpy(), expected, atol=1e-6)
    assert module.get_params() == ({}, {})


def test_a_gradient_may_be_any_array():
    module = bound(lambda scores, labels: np.ones((2, 3)))
    module.forward_backward(batch())
    assert module.get_input_grads()[0].asnumpy().tolist() == np.ones((2, 3)).tolist()


def test_a_metric_sees_the_scores():
    module, metric = bound(), mx.metric.create("acc")
    module.forward(batch())
    module.update_metric(metric, [mx.nd.array([2, 0])])
    assert metric.get() == ("accuracy", 1.0)


def test_a_loss_has_no_gradient_from_above():
    module = bound()
    module.forward(batch())
    with pytest.raises(AssertionError, match="loss"):
        module.backward([mx.nd.ones((2, 3))])


def test_wrong_arguments_are_refused():
    with pytest.raises(AssertionError, match="callable"):
        mx.mod.PythonLossModule(grad_func=3)
    with pytest.raises(AssertionError, match="one array"):
        mx.mod.PythonLossModule(data_names=["a", "b"])


def test_it_ends_a_chain_of_modules():
    scores = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc")
    chain = mx.mod.SequentialModule().add(mx.mod.Module(scores, label_names=[]))
    chain.add(
        mx.mod.PythonLossModule(grad_func=softmax_gradient), take_labels=True, auto_wiring=True
    )
    chain.bind([("data", (2, 5))], [("softmax_label", (2,))])
    chain.init_params(mx.init.One())
    chain.init_optimizer(optimizer_params={"learning_rate": 1.0})
    chain.forward_backward(mx.io.DataBatch([mx.nd.ones((2, 5))], [mx.nd.array([0, 1])]))
    chain.update()
    bias = chain.get_params()[0]["fc_bias"].asnumpy()
    # equal scores: the gradient of each is 1/3 minus the one-hot label, averaged over the batch
    np.testing.assert_allclose(bias, [1 / 6, 1 / 6, -1 / 3], atol=1e-6)
