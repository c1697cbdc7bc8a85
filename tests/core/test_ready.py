"""The shortest way to run a hybridized block again, and when it is not taken."""

import copy
import sys

import numpy as np
import pytest

import minigluon as mx
from minigluon import autograd, gluon, nd
from minigluon.gluon import nn

X = nd.array([[1.0, 2.0], [3.0, -4.0]])


def network(hybrid=True):
    net = nn.HybridSequential()
    net.add(nn.Dense(3, activation="relu", in_units=2), nn.Dense(2, in_units=3))
    net.initialize(mx.init.One())
    if hybrid:
        net.hybridize()
    return net


def run(net, x=X):
    return net(x).asnumpy()


def calls_of(function):
    """The Python functions entered."""
    entered = []
    sys.setprofile(lambda frame, event, _: event == "call" and entered.append(frame.f_code.co_name))
    try:
        function()
    finally:
        sys.setprofile(None)
    return entered[1:]


@pytest.fixture
def net():
    made = network()
    for _ in range(2):
        made(X)
    return made


def test_a_call_takes_two_python_functions(net):
    assert calls_of(lambda: net(X)) == ["__call__", "run"]


def test_so_does_a_recorded_call(net):
    def recorded():
        with autograd.record():
            net(X)

    recorded()
    scopes = ["record", "__init__", "__enter__", "__exit__"]
    assert [n for n in calls_of(recorded) if n not in scopes] == ["__call__", "run"]


def test_weights_written_to_are_read(net):
    before = run(net)
    net[1].bias.data()[:] = 5
    np.testing.assert_array_equal(run(net), before + 5)


def test_weights_set_anew_are_read(net):
    before = run(net)
    net[1].bias.set_data(nd.array([1.0, 1.0]))
    np.testing.assert_array_equal(run(net), before + 1)


def test_weights_initialized_again_are_read(net):
    net.initialize(mx.init.Zero(), force_reinit=True)
    for _ in range(2):
        np.testing.assert_array_equal(run(net), np.zeros((2, 2)))
    net.initialize(mx.init.One(), force_reinit=True)
    for _ in range(2):
        assert run(net).any()


def test_the_short_way_is_found_again_after_weights_were_made_anew(net):
    net.initialize(mx.init.Zero(), force_reinit=True)
    net(X)
    assert calls_of(lambda: net(X)) == ["__call__", "run"]


def test_another_type_counts(net):
    net.cast("float64")
    assert net(X.astype("float64")).dtype == np.float64


def test_other_shapes_in_turn_are_right(net):
    plain = network(False)
    for rows in (2, 1, 2, 1):
        np.testing.assert_array_equal(run(net, X[:rows]), run(plain, X[:rows]))


def test_hooks_registered_later_are_called(net):
    seen = []
    net.register_forward_hook(lambda block, inputs, out: seen.append("after"))
    net.register_forward_pre_hook(lambda block, inputs: seen.append("before"))
    net(X)
    assert seen == ["before", "after"]


def test_a_monitor_installed_later_sees_values(net):
    seen = []
    net.register_op_hook(lambda name, op, array: seen.append(op))
    net(X)
    assert len(seen) == 3


def test_code_is_run_again_when_no_longer_hybridized(net):
    net.hybridize(False)
    with autograd.record():
        out = net(X)
    assert out._entry[0].call.op.name == "FullyConnected"


def test_layers_added_later_count(net):
    net.add(nn.Dense(1, in_units=2))
    net.initialize(mx.init.One(), force_reinit=True)
    assert net(X).shape == (2, 1)


def test_copies_are_apart(net):
    other = copy.deepcopy(net)
    other(X)
    other[1].bias.set_data(nd.array([7.0, 7.0]))
    np.testing.assert_array_equal(run(other), run(net) + 7)


def test_a_wrong_shape_says_what_is_wrong(net):
    with pytest.raises(mx.MXNetError, match="FullyConnected"):
        net(nd.ones((2, 5)))


def test_what_is_no_array_is_refused(net):
    with pytest.raises(Exception, match="NDArray"):
        net(3)


def test_modes_are_kept_apart():
    net = nn.HybridSequential()
    net.add(nn.Dense(8, in_units=2), nn.Dropout(0.5), nn.Dense(4, in_units=8))
    mx.random.seed(2)
    net.initialize(mx.init.Normal(1))
    net.hybridize()
    calm = run(net)
    for _ in range(3):
        with autograd.record():
            wild = net(X).asnumpy()
        np.testing.assert_array_equal(run(net), calm)
        with autograd.record(train_mode=False):
            np.testing.assert_array_equal(net(X).asnumpy(), calm)
    assert (wild != calm).any()


def test_inputs_on_the_tape_are_followed(net):
    for marked in (False, True, False, True):
        x = X.copy()
        if marked:
            x.attach_grad()
        with autograd.record():
            out = net(x)
        assert (out._entry[0].inputs[0] is not None) == marked
        out.backward()
        if marked:
            assert x.grad.asnumpy().any()


def test_weights_without_gradients_are_off_the_tape(net):
    with autograd.record():
        net(X)
    net.collect_params().setattr("grad_req", "null")
    with autograd.record():
        assert net(X)._entry is None


def test_the_context_of_the_input_is_that_of_the_output():
    net = network()
    net.collect_params().reset_ctx([mx.cpu(0), mx.cpu(1)])
    for _ in range(2):
        for k in (0, 1):
            assert net(X.as_in_context(mx.cpu(k))).context == mx.cpu(k)


def test_a_forward_of_ones_own_is_run_every_time():
    class Counting(nn.HybridSequential):
        calls = 0

        def forward(self, x):
            self.__dict__["calls"] = self.calls + 1
            return super().forward(x)

    net = Counting()
    net.add(nn.Dense(3, in_units=2), nn.Dense(3, in_units=3), nn.Dense(3, in_units=3))
    net.initialize()
    net.hybridize()
    for _ in range(3):
        net(X)
    assert net.calls == 3


def test_a_loss_takes_two_python_functions_beside_its_kernels():
    loss = gluon.loss.L2Loss()
    for _ in range(2):
        loss(X, X)
    entered = calls_of(lambda: loss(X, X))
    assert entered[:4] == ["__call__", "run", "checked", "forward"]
    assert "invoke" not in entered


def test_a_loss_with_other_arguments_in_turn_is_right():
    loss = gluon.loss.L1Loss()
    weight = nd.array([[2.0], [0.0]])
    for _ in range(2):
        np.testing.assert_allclose(loss(X, -X).asnumpy(), [3, 7])
        np.testing.assert_allclose(loss(X, -X, weight).asnumpy(), [6, 0])
        np.testing.assert_allclose(loss(X, -X, None).asnumpy(), [3, 7])
