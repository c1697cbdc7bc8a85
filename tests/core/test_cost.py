"""What the paths scripts live on may cost, counted in Python calls instead of with a clock."""

import sys

import numpy as np
import pytest

import minigluon as mx
from minigluon import autograd, gluon, nd, sym


def python_calls(function):
    """How many Python functions are entered while ``function`` runs, itself not counted."""
    entered = []

    def profile(frame, event, argument):
        if event == "call":
            entered.append(frame.f_code.co_name)

    for _ in range(3):  # first uses choose kernels, make functions and the like
        function()
    sys.setprofile(profile)
    try:
        function()
    finally:
        sys.setprofile(None)
    return entered[1:]


@pytest.fixture
def pair():
    return nd.ones((4, 4)), nd.ones((4, 4))


def recorded(function):
    def run():
        with autograd.record():
            function()

    return run


SCOPES = ["record", "__init__", "__enter__", "__exit__"]


def test_adding_takes_one_call_and_that_of_a_number_one_more(pair):
    x, y = pair
    assert python_calls(lambda: x + y) == ["method"]
    assert len(python_calls(lambda: x * 2)) <= 2
    assert len(python_calls(lambda: 2 - x)) <= 2


def test_an_operator_by_name_takes_little_more(pair):
    x, y = pair
    assert len(python_calls(lambda: nd.dot(x, y))) <= 4
    assert len(python_calls(lambda: nd.relu(x))) <= 3
    assert len(python_calls(lambda: nd.FullyConnected(x, y, y[0], num_hidden=4))) <= 6


def test_a_method_is_the_function_once_it_was_called(pair):
    x, _ = pair
    assert len(python_calls(lambda: x.sum())) == len(python_calls(lambda: nd.sum(x))) <= 4


def test_making_and_reshaping_are_direct(pair):
    x, _ = pair
    assert len(python_calls(lambda: nd.zeros((2, 3)))) <= 6
    assert len(python_calls(lambda: x.reshape((2, 8)))) <= 2
    assert len(python_calls(lambda: x[1])) <= 2


def test_recording_adds_the_node(pair):
    x, y = pair
    x.attach_grad()
    entered = [n for n in python_calls(recorded(lambda: x + y)) if n not in SCOPES]
    assert entered == ["run", "method", "note"] or entered == ["<lambda>", "method", "note"]


def chained(x, y, length):
    def step():
        with autograd.record():
            z = x
            for _ in range(length):
                z = z * y
        z.backward()

    return step


def test_backward_is_one_call_for_each_operator_beside_its_kernels(pair):
    x, y = pair
    x.attach_grad()
    short, long = (len(python_calls(chained(x, y, n))) for n in (2, 12))
    assert long - short == 10 * len(["method", "note", "pull"])


def test_a_node_keeps_what_the_gradients_of_its_recorded_inputs_read(pair):
    x, y = pair
    x.attach_grad()
    with autograd.record():
        added, scaled, wide = x + y, x * y, x * nd.ones((2, 4, 4))
    assert added._entry[0].values == ()
    assert [v is y._data for v in scaled._entry[0].values] == [True]
    assert [type(v).__name__ for v in wide._entry[0].values] == ["Like", "ndarray"]


def test_a_number_that_changes_is_traced_once(pair, monkeypatch):
    from minigluon.core import note

    x, _ = pair
    x.attach_grad()
    made = []
    make = note.make_note
    monkeypatch.setattr(note, "make_note", lambda *given: made.append(given[0]) or make(*given))
    for k in range(1, 6):
        with autograd.record():
            y = (x * (0.137 * k) + 0.731 * k) / (0.317 * k)
        y.backward()
        np.testing.assert_allclose(x.grad.asnumpy(), np.full((4, 4), 0.137 / 0.317), rtol=1e-6)
    assert len(made) <= 3


def test_gradients_of_many_uses_are_added_up_in_one_array(pair, monkeypatch):
    x, y = pair
    x.attach_grad()
    made = []
    add = np.add

    def counting(left, right, out=None):
        made.append(out is None)
        return add(left, right, out)

    monkeypatch.setattr(np, "add", counting)
    with autograd.record():
        total = nd.concat(*[x * y for _ in range(5)], dim=0)
    total.backward()
    assert made.count(False) == 3
    np.testing.assert_array_equal(x.grad.asnumpy(), np.full((4, 4), 5))


def test_a_hybridised_net_costs_the_same_however_many_layers_it_has():
    def calls_of(layers):
        net = gluon.nn.HybridSequential()
        for _ in range(layers):
            net.add(gluon.nn.Dense(4, activation="relu", in_units=4))
        net.initialize()
        net.hybridize()
        x = nd.ones((2, 4))
        return len(python_calls(lambda: net(x)))

    assert calls_of(2) == calls_of(6) <= 14


def test_a_bound_graph_runs_in_a_few_calls_beside_its_kernels():
    executor = (sym.var("x") * 2 + 1).bind(mx.cpu(), {"x": nd.ones((2,))})
    assert len(python_calls(executor.forward)) <= 6


class Allocations:
    """Counts numpy arrays of at least ``size`` elements made through numpy's functions."""

    def __init__(self, monkeypatch, size):
        self.made = []
        for name in ("zeros", "empty", "ones", "full", "zeros_like", "empty_like", "full_like"):
            monkeypatch.setattr(np, name, self._counting(name, getattr(np, name), size))

    def _counting(self, name, function, size):
        def count(*args, **kwargs):
            made = function(*args, **kwargs)
            if made.size >= size:
                self.made.append((name, made.shape))
            return made

        return count


FEATURES = 1_000_000


def sparse_regression():
    """A module of the sparse linear regression with a million features, and two batches of one."""
    data, label = sym.var("data", stype="csr"), sym.var("label")
    weight = sym.var("weight", stype="row_sparse", shape=(FEATURES, 1))
    bias = sym.var("bias", shape=(1,))
    pred = sym.broadcast_add(sym.sparse.dot(data, weight), bias)
    module = mx.mod.Module(sym.LinearRegressionOutput(pred, label, name="lro"), ["data"], ["label"])
    module.bind([("data", (1, FEATURES))], [("label", (1, 1))])
    module.init_params(mx.init.Zero())
    module.init_optimizer(optimizer=mx.optimizer.SGD(learning_rate=0.1, momentum=0.9))
    batches = []
    for columns in ([3, 500, 999_999], [7, 500]):
        values = np.ones(len(columns), np.float32)
        csr = nd.sparse.csr_matrix((values, columns, [0, len(columns)]), shape=(1, FEATURES))
        batches.append(mx.io.DataBatch([csr], [nd.ones((1, 1))]))
    return module, batches


def test_a_step_of_sparse_regression_makes_nothing_of_the_size_of_the_weight(monkeypatch):
    import tracemalloc

    from minigluon import storage

    module, batches = sparse_regression()
    metric = mx.metric.create("mse")

    def step(batch):
        module.forward(batch, is_train=True)
        module.update_metric(metric, batch.label)
        module.backward()
        module.update()

    for batch in batches * 2:
        step(batch)
    densified = []
    monkeypatch.setattr(storage, "densify", lambda x: densified.append(x) or x)
    allocations = Allocations(monkeypatch, FEATURES // 10)
    tracemalloc.start()
    try:
        for batch in batches * 3:
            step(batch)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert allocations.made == []
    assert [x for x in densified if not isinstance(x, np.ndarray)] == []
    assert peak < FEATURES  # bytes: a dense gradient would take four times that, and a copy too
    grad = module._exec_group.execs[0].grad_dict["weight"]
    assert grad.stype == "row_sparse"
    np.testing.assert_array_equal(grad.indices.asnumpy(), [7, 500])


def test_sparse_regression_learns_without_touching_other_rows():
    module, batches = sparse_regression()
    for batch in batches * 2:
        module.forward(batch, is_train=True)
        module.backward()
        module.update()
    weight = module.get_params()[0]["weight"].asnumpy().ravel()
    assert set(np.flatnonzero(weight)) == {3, 7, 500, 999_999}
