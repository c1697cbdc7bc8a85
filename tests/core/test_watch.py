import numpy as np
import pytest

import minigluon as mx
from minigluon import nd, sym
from minigluon.core.watch import WatchedGraph

CPU = mx.cpu()


def two_layers():
    first = sym.FullyConnected(sym.var("data"), num_hidden=4, name="fc1")
    hidden = sym.Activation(first, act_type="relu", name="relu1")
    return sym.SoftmaxOutput(sym.FullyConnected(hidden, num_hidden=3, name="fc2"), name="softmax")


def watched(symbol, everything, out_grads=None, **shapes):
    """The names a monitor sees: (in forward, in backward)."""
    seen = []
    executor = symbol.simple_bind(CPU, **shapes)
    executor.set_monitor_callback(lambda name, array: seen.append(name), monitor_all=everything)
    executor.forward(is_train=True)
    count = len(seen)
    executor.backward(out_grads)
    return seen[:count], seen[count:]


def test_outputs_are_shown_forward_and_backward():
    # recorded from MXNet 1.9.1
    assert watched(two_layers(), False, data=(2, 5)) == (
        ["fc1_output", "relu1_output", "fc2_output", "softmax_output"],
        [
            "softmax_backward_output0", "softmax_backward_output1", "fc2_backward_output0",
            "fc2_backward_output1", "fc2_backward_output2", "relu1_backward_output",
            "fc1_backward_output0", "fc1_backward_output1", "fc1_backward_output2",
        ],
    )  # fmt: skip


def test_inputs_are_shown_too_if_asked_for():
    # recorded from MXNet 1.9.1
    forward, backward = watched(two_layers(), True, data=(2, 5))
    assert forward == [
        "data", "fc1_data", "fc1_weight", "fc1_weight", "fc1_bias", "fc1_bias", "fc1_output",
        "relu1_input0", "relu1_output", "fc2_data", "fc2_weight", "fc2_weight", "fc2_bias",
        "fc2_bias", "fc2_output", "softmax_data", "softmax_label", "softmax_label",
        "softmax_output",
    ]  # fmt: skip
    assert sorted(backward) == sorted([
        "softmax_backward_input0", "softmax_label", "softmax_backward_input1",
        "softmax_backward_output0", "softmax_backward_output1", "fc2_backward_input0",
        "fc2_backward_input1", "fc2_weight", "fc2_backward_input2", "fc2_backward_output0",
        "fc2_backward_output1", "fc2_backward_output2", "relu1_backward_input0",
        "relu1_backward_input1", "relu1_backward_output", "fc1_backward_input0", "data",
        "fc1_backward_input1", "fc1_weight", "fc1_backward_input2", "fc1_backward_output0",
        "fc1_backward_output1", "fc1_backward_output2",
    ])  # fmt: skip


def test_binary_operators_name_both_sides():
    a, b = sym.var("a"), sym.var("b")
    forward, backward = watched(sym.dot(a, b, name="d"), True, nd.ones((2, 2)), a=(2, 3), b=(3, 2))
    assert forward == ["a", "d_lhs", "b", "d_rhs", "d_output"]
    assert backward[-2:] == ["d_backward_output0", "d_backward_output1"]


def test_hidden_outputs_are_shown():
    # recorded from MXNet 1.9.1
    graph = sym.BatchNorm(sym.var("data"), name="bn")
    assert watched(graph, False, nd.ones((4, 3)), data=(4, 3))[0] == [
        "bn_output",
        "bn_mean",
        "bn_var",
    ]


def test_auxiliary_states_are_updated_once():
    executor = sym.BatchNorm(sym.var("data"), momentum=0.5, name="bn").simple_bind(CPU, data=(4, 3))
    executor.set_monitor_callback(lambda name, array: None, monitor_all=True)
    executor.forward(is_train=True, data=nd.ones((4, 3)) * 8)
    executor.backward(nd.ones((4, 3)))
    np.testing.assert_array_equal(executor.aux_dict["bn_moving_mean"].asnumpy(), [4, 4, 4])


def test_a_monitored_module_shows_nineteen_values_of_a_batch():
    # recorded from MXNet 1.9.1: six arguments, four outputs, nine gradients
    module = mx.mod.Module(two_layers())
    module.bind([("data", (2, 5))], [("softmax_label", (2,))])
    module.init_params()
    monitor = mx.mon.Monitor(1, sort=True)
    module.install_monitor(monitor)
    monitor.tic()
    module.forward(mx.io.DataBatch([nd.ones((2, 5))], [nd.ones((2,))]), is_train=True)
    module.backward()
    assert [name for _, name, _ in monitor.toc()] == [
        "data", "fc1_backward_output0", "fc1_backward_output1", "fc1_backward_output2", "fc1_bias",
        "fc1_output", "fc1_weight", "fc2_backward_output0", "fc2_backward_output1",
        "fc2_backward_output2", "fc2_bias", "fc2_output", "fc2_weight", "relu1_backward_output",
        "relu1_output", "softmax_backward_output0", "softmax_backward_output1", "softmax_label",
        "softmax_output",
    ]  # fmt: skip


def trained(monitored):
    """Output and gradients of a step, with or without a monitor."""
    executor = two_layers().simple_bind(mx.cpu(), data=(2, 5))
    for k, (_, array) in enumerate(sorted(executor.arg_dict.items())):
        array[:] = np.random.default_rng(k).normal(size=array.shape)
    if monitored:
        executor.set_monitor_callback(lambda name, array: None)
    executor.forward(is_train=True)
    executor.backward()
    return [executor.outputs[0], *executor.grad_arrays]


def test_watching_changes_nothing():
    for watched_value, plain in zip(trained(True), trained(False), strict=True):
        np.testing.assert_allclose(watched_value.asnumpy(), plain.asnumpy(), rtol=1e-6, atol=1e-7)


def test_what_the_callback_does_to_a_value_stays_with_the_callback():
    executor = (sym.var("x") * 2 + 1).bind(mx.cpu(), {"x": nd.ones((2,))})

    def spoil(name, array):
        array[:] = 100

    executor.set_monitor_callback(spoil, monitor_all=True)
    np.testing.assert_array_equal(executor.forward()[0].asnumpy(), [3, 3])
    np.testing.assert_array_equal(executor.arg_dict["x"].asnumpy(), [1, 1])


def test_random_numbers_are_drawn_once():
    executor = sym.Dropout(sym.var("x"), p=0.5, name="d").simple_bind(mx.cpu(), x=(50,))
    executor.arg_dict["x"][:] = 1
    shown = {}
    executor.set_monitor_callback(shown.__setitem__)
    executor.forward(is_train=True)
    np.testing.assert_array_equal(shown["d_output"].asnumpy(), executor.outputs[0].asnumpy())
    executor.backward(nd.ones((50,)))
    np.testing.assert_array_equal(executor.grad_dict["x"].asnumpy(), executor.outputs[0].asnumpy())


def test_an_unused_output_gets_a_gradient_of_zeros():
    parts = sym.split(sym.var("x"), num_outputs=2, axis=1)
    graph = WatchedGraph((parts[0] * 2)._entries, lambda name, array: None, False, None)
    node = parts.get_internals()["x"]._entries[0]
    graph.forward({node: np.ones((1, 2), np.float32)})
    found = graph.backward([np.ones((1, 1), np.float32)], [node[0]])
    np.testing.assert_array_equal(found[node[0]], [[2, 0]])


@pytest.mark.parametrize("grad_req", ["write", "add"])
def test_gradients_are_delivered_as_asked(grad_req):
    executor = (sym.var("x") * 3).bind(
        mx.cpu(), {"x": nd.ones((2,))}, {"x": nd.ones((2,)) * 10}, grad_req
    )
    executor.set_monitor_callback(lambda name, array: None)
    executor.forward(is_train=True)
    executor.backward(nd.ones((2,)))
    expected = {"write": [3, 3], "add": [13, 13]}[grad_req]
    np.testing.assert_array_equal(executor.grad_dict["x"].asnumpy(), expected)
