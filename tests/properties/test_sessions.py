"""Whatever a script does with a network, it gets the same from it hybridized as not."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minigluon as mx
from cases import assert_close
from minigluon import autograd, gluon, nd
from minigluon.base import MXNetError
from minigluon.test_utils import environment
from picks import Drawn

#: operators on rows of three, with the weights of the block
STEPS = [
    lambda F, x, y, w, b: F.dot(x, w),
    lambda F, x, y, w, b: F.broadcast_add(x, b),
    lambda F, x, y, w, b: F.FullyConnected(x, w, b, num_hidden=3),
    lambda F, x, y, w, b: F.tanh(x) + y,
    lambda F, x, y, w, b: F.softmax(x) * 2,
    lambda F, x, y, w, b: F.relu(x) - 0.25 * y,
    lambda F, x, y, w, b: x * y,
    lambda F, x, y, w, b: F.slice_axis(F.concat(x, y, dim=1), axis=1, begin=1, end=4),
    lambda F, x, y, w, b: F.broadcast_mul(x, F.mean(y, axis=1, keepdims=True)),
    lambda F, x, y, w, b: F.BlockGrad(x) + F.sin(y),
    lambda F, x, y, w, b: F.where(x > y, x, -y),
    lambda F, x, y, w, b: F.broadcast_mul(F.Dropout(x, p=0.0), F.sum(w * w, axis=0, keepdims=True)),
]
LOSSES = [
    gluon.loss.L2Loss(),
    gluon.loss.L1Loss(weight=2.0),
    gluon.loss.HuberLoss(),
    gluon.loss.SigmoidBCELoss(),
    gluon.loss.SoftmaxCELoss(sparse_label=False),
]


class Network(gluon.HybridBlock):
    """Steps on the input and on earlier results."""

    def __init__(self, steps, norm):
        super().__init__(prefix="net_")
        self.steps = steps
        self.norm = norm(in_channels=3, prefix="net_norm_") if norm else None
        self.w = self.params.get("w", shape=(3, 3), init="zeros")
        self.b = self.params.get("b", shape=(3,), init="zeros")

    def hybrid_forward(self, F, x, w, b):
        """The last result, kept from growing."""
        values = [x, F.dot(x, w)]
        if self.norm is not None:
            values[1] = self.norm(values[1])
        for function, first, second in self.steps:
            values.append(function(F, values[first], values[second], w, b))
        return F.tanh(values[-1] + F.broadcast_mul(values[1], F.reshape(b, shape=(1, 3))))


NORMS = [None, gluon.nn.BatchNorm, gluon.nn.LayerNorm]


def steps(pick):
    """What a network does, and how it normalizes."""
    found = []
    for k in range(pick.integer(0, 5)):
        places = pick.integer(0, 1 + k), pick.integer(0, 1 + k)
        found.append((STEPS[pick.integer(0, len(STEPS) - 1)], *places))
    return found, NORMS[pick.integer(0, len(NORMS) - 1)]


ACTIONS = {}


def action(function):
    ACTIONS[function.__name__] = function
    return function


class Session:
    """A network, the numbers it is given, and what was seen so far."""

    def __init__(self, made, hybrid, seed):
        self.net = Network(*made)
        self.net.initialize()
        if hybrid:
            self.net.hybridize(inline_limit=0)
        self.random = np.random.default_rng(seed)
        self.write("w")
        self.write("b")
        self.trainer = gluon.Trainer(
            self.net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.5}
        )
        self.seen = []

    def draw(self, *shape):
        return nd.array(self.random.uniform(-1, 1, shape), dtype="float32")

    def write(self, name):
        parameter = getattr(self.net, name)
        parameter.set_data(self.draw(*parameter.shape))

    def see(self, *arrays):
        self.seen += [a.asnumpy() for a in arrays]

    def see_gradients(self):
        for p in self.net.collect_params().values():
            if p.grad_req != "null":
                self.see(p.grad())

    def do(self, name, *numbers):
        """An action, or the class of the error it ended in."""
        try:
            ACTIONS[name](self, *numbers)
        except (MXNetError, UserWarning) as error:
            self.seen.append(type(error).__name__)
        self.see_gradients()
        self.see(*[p.data() for p in self.net.collect_params().values()])


@action
def train(s, rows, kind, marked, how):
    x = s.draw(rows, 3)
    if marked:
        x.attach_grad()
    loss = LOSSES[kind % len(LOSSES)]
    with autograd.record(train_mode=how != 1):
        out = s.net(s.net(x)) if how == 2 else s.net(x)
        value = loss(out, s.draw(rows, 3)) if kind < len(LOSSES) else out
        if rows == 4:
            value = (value.mean(), value.sum(), value * 2)[kind % 3]
    s.see(out, value)
    if how == 3:
        value.backward(s.draw(*value.shape))
    elif how == 4:
        value.backward(retain_graph=True)
        value.backward()
    else:
        value.backward()
    if marked:
        s.see(x.grad)


@action
def infer(s, rows, kind, marked, how):
    x = s.draw(rows, 3)
    if marked:
        x.attach_grad()
    with autograd.train_mode() if how else autograd.predict_mode():
        out = s.net(x)
    s.see(out, LOSSES[kind % len(LOSSES)](out, s.draw(rows, 3)))


@action
def use_twice(s, rows, kind, marked, how):
    with autograd.record():
        out = s.net(s.draw(rows, 3))
        first = LOSSES[kind % len(LOSSES)](out, s.draw(rows, 3))
        second = LOSSES[how % len(LOSSES)](out, s.draw(rows, 3))
    if marked:
        autograd.backward([first, second])
    else:
        first.backward(retain_graph=True)
        s.see_gradients()
        second.backward()


@action
def pause(s, rows, kind, marked, how):
    x = s.draw(rows, 3)
    with autograd.record():
        before = s.net(x)
        with autograd.pause(train_mode=bool(marked)):
            aside = s.net(x)
        value = LOSSES[kind % len(LOSSES)](before, aside * 2)
    assert aside._entry is None
    value.backward()


@action
def require(s, rows, kind, marked, how):
    parameter = s.net.w if marked else s.net.b
    parameter.grad_req = ("write", "add", "null", "write", "add")[how]


@action
def step(s, rows, kind, marked, how):
    s.trainer.step(rows, ignore_stale_grad=bool(how))


@action
def change(s, rows, kind, marked, how):
    parameter = s.net.w if marked else s.net.b
    if how == 0:
        parameter.data()[:] = s.draw(*parameter.shape)
    elif how == 1:
        s.net.initialize(mx.init.Zero(), force_reinit=True)
    elif how == 2:
        parameter.zero_grad()
    else:
        parameter.set_data(s.draw(*parameter.shape))


@action
def sparse(s, rows, kind, marked, how):
    x = (s.draw(rows, 3) * nd.array([[1, 0, 1]])).tostype("csr")
    with autograd.record():
        out = s.net(x)
        value = LOSSES[kind % len(LOSSES)](out, s.draw(rows, 3))
    value.backward()
    s.see(value)


@action
def differentiate_twice(s, rows, kind, marked, how):
    x = s.draw(rows, 3)
    x.attach_grad()
    with autograd.record():
        value = s.net(x)
        (slope,) = autograd.grad(value, [x], create_graph=True)
        total = nd.sum(slope * slope)
    s.see(slope)
    total.backward()
    s.see(x.grad)


@st.composite
def sessions(draw):
    pick = Drawn(draw)
    made = steps(pick)
    names = sorted(ACTIONS)
    plan = [
        (
            "train" if k % 3 == 0 else names[pick.integer(0, len(names) - 1)],
            (1, 2, 4)[pick.integer(0, 2)],
            pick.integer(0, len(LOSSES)),
            pick.integer(0, 1),
            pick.integer(0, 4),
        )
        for k in range(pick.integer(2, 9))
    ]
    return made, plan, pick.integer(0, 1000)


def outcome(session, hybrid):
    made, plan, seed = session
    run = Session(made, hybrid, seed)
    for name, *numbers in plan:
        run.do(name, *numbers)
    return run.seen


def compare(got, wanted):
    assert len(got) == len(wanted)
    for ours, theirs in zip(got, wanted, strict=True):
        if isinstance(theirs, str):
            assert ours == theirs
        else:
            assert_close(ours, theirs, factor=50)


@pytest.mark.slow
@pytest.mark.parametrize("fuse", ["always", "never"])
@given(session=sessions())
@settings(max_examples=settings.default.max_examples // 4 or 1)
def test_a_hybridized_network_does_what_its_code_does(fuse, session):
    with environment({"MINIGLUON_FUSE": fuse, "MXNET_STORAGE_FALLBACK_LOG_VERBOSE": "0"}):
        compare(outcome(session, True), outcome(session, False))


@pytest.mark.slow
@given(session=sessions())
@settings(max_examples=3)
def test_threads_do_not_disturb_each_other(session):
    with environment("MXNET_STORAGE_FALLBACK_LOG_VERBOSE", "0"):
        wanted = outcome(session, True)
        found = [None] * 3

        def work(k):
            found[k] = outcome(session, True)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    for got in found:
        compare(got, wanted)
