"""Backward passes of compiled networks and losses, written straight into gradients."""

import threading

import numpy as np
import pytest

from minigluon import autograd, gluon, nd
from minigluon.autograd import direct
from minigluon.base import MXNetError
from minigluon.core.plan import cache

pytestmark = pytest.mark.skipif(not cache.available(), reason="plans cannot be compiled here")


def network(hybrid=True):
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(3, activation="tanh", in_units=2), gluon.nn.Dense(1, in_units=3))
    net.initialize()
    numbers = np.random.default_rng(5)
    for p in net.collect_params().values():
        p.set_data(nd.array(numbers.normal(size=p.shape)))
    if hybrid:
        net.hybridize()
    return net


X, Y = nd.array([[0.5, 0.9], [0.1, -0.4]]), nd.array([[1.5], [0.5]])
LOSS = gluon.loss.L2Loss()


def grads(net):
    return [p.grad().asnumpy() for p in net.collect_params().values()]


def same(net, other, times=1):
    for got, wanted in zip(grads(net), grads(other), strict=True):
        np.testing.assert_allclose(got, times * wanted, rtol=1e-5, atol=1e-6)


@pytest.fixture
def done(monkeypatch):
    """Whether each backward pass was direct."""
    seen = []
    run = direct.backward

    def spy(*args):
        seen.append(run(*args))
        return seen[-1]

    monkeypatch.setattr(direct, "backward", spy)
    return seen


@pytest.fixture
def plain():
    """The network with its gradients as eager code finds them."""
    net = network(False)
    with autograd.record():
        loss = LOSS(net(X), Y)
    loss.backward()
    return net


def test_a_loss_of_a_network_is_direct_and_right(plain, done):
    net = network()
    for _ in range(3):
        with autograd.record():
            loss = LOSS(net(X), Y)
        loss.backward()
        same(net, plain)
    assert done == [True] * 3


def test_a_network_alone_starts_from_ones(done):
    net, other = network(), network(False)
    for n in (net, other):
        with autograd.record():
            out = n(X)
        out.backward()
    same(net, other)
    assert done == [True, False]


def test_weights_say_that_their_gradients_are_fresh(plain):
    net = network()
    with autograd.record():
        loss = LOSS(net(X), Y)
    loss.backward()
    assert all(p.data()._fresh_grad for p in net.collect_params().values())


def test_gradients_are_written_into_the_same_memory(plain):
    net = network()
    bias = net[1].bias.grad()
    view = bias[:]
    with autograd.record():
        loss = LOSS(net(X), Y)
    loss.backward()
    assert net[1].bias.grad() is bias
    np.testing.assert_array_equal(view.asnumpy(), bias.asnumpy())
    assert bias.asnumpy() != 0


def test_gradients_that_add_up_are_swept(plain, done):
    net = network()
    net.collect_params().setattr("grad_req", "add")
    for _ in range(2):
        with autograd.record():
            loss = LOSS(net(X), Y)
        loss.backward()
    same(net, plain, 2)
    assert done == [False] * 2


def test_head_gradients_count(plain, done):
    net = network()
    for _ in range(2):
        with autograd.record():
            loss = LOSS(net(X), Y)
        loss.backward(nd.array([2.0, 2.0]))
        same(net, plain, 2)
    assert done == [True] * 2


@pytest.mark.parametrize(
    ("function", "factor"),
    [
        (lambda x: x.sum(), 1),
        (lambda x: x.mean(), 0.5),
        (lambda x: x * 3, 3),
        (lambda x: nd.negative(x), -1),
    ],
)
def test_one_operator_after_the_loss_is_taken_along(function, factor, plain, done):
    net = network()
    for _ in range(2):
        with autograd.record():
            total = function(LOSS(net(X), Y))
        total.backward()
        same(net, plain, factor)
    with pytest.raises(MXNetError, match="Cannot differentiate"):
        total.backward()
    assert done == [True, True, False]


def test_more_operators_after_the_loss_are_swept(plain, done):
    net = network()
    with autograd.record():
        total = (LOSS(net(X), Y) * 2).sum()
    total.backward()
    same(net, plain, 2)
    assert done == [False]


def test_head_gradients_that_do_not_fit_are_refused_as_ever():
    net = network()
    with autograd.record():
        loss = LOSS(net(X), Y)
    for wrong in (nd.ones((3,)), 2.0, np.ones(2)):
        with pytest.raises(MXNetError, match="head gradient 0"):
            loss.backward(wrong)


def test_head_gradients_of_another_type_are_converted(plain):
    net = network()
    with autograd.record():
        loss = LOSS(net(X), Y)
    loss.backward(nd.array([2, 2], dtype="float64"))
    same(net, plain, 2)


def test_a_second_backward_needs_the_graph_to_be_retained(plain, done):
    net = network()
    with autograd.record():
        loss = LOSS(net(X), Y)
    loss.backward(retain_graph=True)
    net[0].weight.grad()[:] = 0
    loss.backward()
    same(net, plain)
    with pytest.raises(MXNetError, match="Cannot differentiate"):
        loss.backward()
    assert done == [True, True, False]


def test_an_output_with_a_gradient_of_its_own_stops_there(done):
    net = network()
    with autograd.record():
        out = net(X)
        out.attach_grad()
        loss = LOSS(out, Y)
    loss.backward()
    np.testing.assert_allclose(out.grad.asnumpy(), (out - Y).asnumpy(), rtol=1e-6)
    assert done == [False]


def test_an_input_with_a_gradient_gets_it(done):
    both = []
    for hybrid in (True, False):
        net = network(hybrid)
        x = X.copy()
        x.attach_grad()
        with autograd.record():
            loss = LOSS(net(x), Y)
        loss.backward()
        both.append(x.grad.asnumpy())
    np.testing.assert_allclose(*both, rtol=1e-5, atol=1e-6)
    assert done == [True, False]


def test_an_output_used_twice_is_right(plain):
    net = network()
    with autograd.record():
        out = net(X)
        first, second = LOSS(out, Y), LOSS(out, Y)
    autograd.backward([first, second])
    same(net, plain, 2)


def test_a_loss_of_two_outputs_is_right(done):
    def run(net):
        with autograd.record():
            loss = LOSS(net(X), net(X * 2))
        loss.backward()
        return net

    same(run(network()), run(network(False)))
    assert not any(done)


def test_new_gradient_arrays_are_found(plain):
    net = network()
    for _ in range(2):
        for p in net.collect_params().values():
            p.grad_req = "null"
            p.grad_req = "write"
        with autograd.record():
            loss = LOSS(net(X), Y)
        loss.backward()
        same(net, plain)


def test_a_gradient_that_is_the_variable_itself_is_right(plain):
    net = network()
    weight = net[1].weight.data()
    with autograd.record():
        LOSS(net(X), Y).backward()
    autograd.mark_variables([weight], [weight])
    with autograd.record():
        loss = LOSS(net(X), Y)
    loss.backward()
    wanted = plain[1].weight.grad().asnumpy()
    np.testing.assert_allclose(weight.asnumpy(), wanted, rtol=2e-6)
    np.testing.assert_allclose(
        net[0].weight.grad().asnumpy(), plain[0].weight.grad().asnumpy(), rtol=1e-5, atol=1e-6
    )


def test_gradients_laid_out_otherwise_are_written_too(plain):
    net = network()
    weight = net[0].weight.data()
    turned = nd.zeros((3, 2))
    turned._data = np.asfortranarray(turned._data)
    autograd.mark_variables([weight], [turned])
    with autograd.record():
        loss = LOSS(net(X), Y)
    loss.backward()
    np.testing.assert_allclose(
        turned.asnumpy(), plain[0].weight.grad().asnumpy(), rtol=1e-5, atol=1e-6
    )


def test_other_shapes_in_turn_are_right(done):
    net, other = network(), network(False)
    for rows in (1, 2, 1, 2):
        for n in (net, other):
            with autograd.record():
                loss = LOSS(n(X[:rows]), Y[:rows])
            loss.backward()
        same(net, other)
    assert done == [True, False] * 4


def test_threads_that_share_a_graph_keep_their_gradients_apart():
    op = network()
    op(X)
    graph = op._cached_op
    weights = [p.data() for p in op.collect_params().values()]
    order = [[*op.collect_params()].index(n) if n in op.collect_params() else -1
             for n in graph.symbol.list_inputs()]  # fmt: skip
    wrong = []

    def work(scale):
        mine = [w * scale for w in weights]
        for w in mine:
            w.attach_grad()
        expected = None
        for _ in range(200):
            with autograd.record():
                out = graph(*[X if k < 0 else mine[k] for k in order])
            out.backward()
            found = [w.grad.asnumpy() for w in mine]
            expected = expected or found
            if any((a != b).any() for a, b in zip(found, expected, strict=True)):
                wrong.append(scale)

    threads = [threading.Thread(target=work, args=(scale,)) for scale in (1.0, 2.0, 3.0)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert wrong == []


def test_a_shared_weight_adds_up(done):
    both = []
    for hybrid in (True, False):
        net = network(hybrid)
        second = gluon.nn.Dense(1, in_units=3, params=net[1].params)

        class Twice(gluon.HybridBlock):
            def __init__(self, net, second):
                super().__init__()
                self.net, self.second = net, second

            def hybrid_forward(self, F, x):
                return self.net(x) + self.second(F.tanh(self.net[0](x)))

        twice = Twice(net, second)
        if hybrid:
            twice.hybridize()
        with autograd.record():
            loss = LOSS(twice(X), Y)
        loss.backward()
        both.append(net)
    same(*both)


def test_new_weights_are_used_after_a_step():
    net, other = network(), network(False)
    for n in (net, other):
        trainer = gluon.Trainer(n.collect_params(), "sgd", {"learning_rate": 0.1})
        for _ in range(5):
            with autograd.record():
                loss = LOSS(n(X), Y)
            loss.backward()
            trainer.step(2)
    for p, q in zip(net.collect_params().values(), other.collect_params().values(), strict=True):
        np.testing.assert_allclose(p.data().asnumpy(), q.data().asnumpy(), rtol=1e-5, atol=1e-6)


def test_a_recorded_step_is_a_dozen_python_functions():
    import sys

    net = network()

    def step():
        with autograd.record():
            loss = LOSS(net(X), Y)
        loss.backward()

    for _ in range(3):
        step()
    entered = []
    sys.setprofile(lambda frame, event, _: event == "call" and entered.append(frame.f_code.co_name))
    try:
        step()
    finally:
        sys.setprofile(None)
    assert len(entered) <= 13, entered
