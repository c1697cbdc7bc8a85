"""Losses run as one operator: the same bits as their operators run one by one."""

import copy
import pickle

import numpy as np
import pytest

from minigluon import autograd, gluon, nd, sym
from minigluon.core.graphop import PlannedCall
from minigluon.gluon import loss as losses
from minigluon.gluon.block import HybridBlock
from minigluon.util import np_shape

from .test_loss import RECORDED


def one_by_one(loss, *arrays):
    """The loss by its operators, as a class of a user's would run."""
    return HybridBlock.forward(loss, *arrays)


def outcome(run, arrays):
    """Values, and the gradients of all inputs."""
    inputs = [nd.array(a) for a in arrays]
    for x in inputs:
        x.attach_grad()
    with autograd.record():
        values = run(*inputs)
    values.backward(nd.arange(1, values.size + 1).reshape(values.shape))
    return [values.asnumpy(), *[x.grad.asnumpy() for x in inputs]]


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: type(case[0]).__name__)
def test_values_and_gradients_are_those_of_the_operators_to_the_bit(case):
    loss, arrays = case[:2]
    for _ in range(2):
        traced = outcome(loss, arrays)
        plain = outcome(lambda *x: one_by_one(loss, *x), arrays)
        for got, wanted in zip(traced, plain, strict=True):
            np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: type(case[0]).__name__)
def test_without_recording_values_are_the_same(case):
    loss, arrays = case[:2]
    inputs = [nd.array(a) for a in arrays]
    np.testing.assert_array_equal(loss(*inputs).asnumpy(), one_by_one(loss, *inputs).asnumpy())


def batch(seed=0, shape=(3, 4)):
    numbers = np.random.default_rng(seed)
    return [nd.array(numbers.normal(size=shape)) for _ in range(2)]


def nodes_on_the_tape(head):
    seen, stack = set(), [head._entry[0]]
    while stack:
        node = stack.pop()
        if node.call is not None and node not in seen:
            seen.add(node)
            stack += [e[0] for e in node.inputs if e is not None]
    return len(seen)


def test_a_loss_is_one_node_of_the_tape():
    pred, label = batch()
    pred.attach_grad()
    with autograd.record():
        loss = losses.L2Loss()(pred, label)
    assert nodes_on_the_tape(loss) == 1


def test_the_symbol_of_a_loss_shows_its_operators():
    pred, label = batch()
    pred.attach_grad()
    with autograd.record():
        traced = losses.L2Loss()(pred * 2, label)
        plain = one_by_one(losses.L2Loss(), pred * 2, label)
    shown, wanted = [autograd.get_symbol(x).tojson().count('"op"') for x in (traced, plain)]
    assert shown == wanted > 5


def test_second_order_gradients_are_those_of_the_operators():
    def slope_of_slope(run):
        pred, label = batch()
        pred.attach_grad()
        with autograd.record():
            value = run(pred, label)
            (slope,) = autograd.grad(value, [pred], create_graph=True)
            total = (slope * slope).sum()
        total.backward()
        return pred.grad.asnumpy()

    loss = losses.SigmoidBCELoss()
    plain = slope_of_slope(lambda *x: one_by_one(loss, *x))
    np.testing.assert_allclose(slope_of_slope(loss), plain, rtol=1e-6)


def test_a_loss_after_a_compiled_network_has_the_gradients_of_the_plain_one():
    def gradients(hybrid):
        net = gluon.nn.HybridSequential()
        net.add(gluon.nn.Dense(5, activation="tanh", in_units=4), gluon.nn.Dense(3, in_units=5))
        net.initialize()
        for p in net.collect_params().values():
            p.set_data(nd.array(np.random.default_rng(3).normal(size=p.shape)))
        if hybrid:
            net.hybridize()
        x, labels = batch()[0], nd.array([0, 2, 1])
        loss = losses.SoftmaxCELoss()
        with autograd.record():
            value = loss(net(x), labels)
        value.backward()
        return [value.asnumpy(), *[p.grad().asnumpy() for p in net.collect_params().values()]]

    for got, wanted in zip(gradients(True), gradients(False), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=2e-6, atol=1e-6)


def test_only_a_loss_after_a_compiled_network_is_compiled():
    net = gluon.nn.Dense(4, in_units=4)
    net.initialize()
    x, label = batch()
    loss = losses.L2Loss()

    def compiles():
        with autograd.record():
            call = loss(net(x), label)._entry[0].call
        assert isinstance(call, PlannedCall)
        return call.op.compiles

    assert not compiles()
    net.hybridize()
    assert compiles()


def test_settings_changed_later_count():
    loss = losses.L2Loss()
    pred, label = batch()
    before = loss(pred, label).asnumpy()
    loss._weight = 3.0
    np.testing.assert_allclose(loss(pred, label).asnumpy(), 3 * before, rtol=1e-6)


def test_other_shapes_and_types_are_other_graphs():
    loss = losses.L1Loss()
    for shape in ((3, 4), (1, 4), (3, 4), (2, 2, 2)):
        pred, label = batch(1, shape)
        np.testing.assert_array_equal(
            loss(pred, label).asnumpy(), one_by_one(loss, pred, label).asnumpy()
        )
    wide = [x.astype("float64") for x in batch()]
    assert loss(*wide).dtype == np.float64


def test_more_shapes_than_are_remembered_are_right(monkeypatch):
    monkeypatch.setattr("minigluon.core.traced.SIGNATURES", 2)
    loss = losses.HuberLoss(rho=0.25)
    for n in range(1, 6):
        pred, label = batch(n, (n, 3))
        np.testing.assert_array_equal(
            loss(pred, label).asnumpy(), one_by_one(loss, pred, label).asnumpy()
        )


def test_labels_that_broadcast_do_so():
    loss = losses.KLDivLoss()
    pred, label = nd.ones((2, 3)) * -1, nd.ones((1, 3)) * 0.5
    np.testing.assert_allclose(loss(pred, label).asnumpy(), [1.5 * (np.log(0.5) + 1)] * 2, 1e-6)
    arrays = [pred.asnumpy(), label.asnumpy()]
    traced = outcome(loss, arrays)
    for got, wanted in zip(traced, outcome(lambda *x: one_by_one(loss, *x), arrays), strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_what_does_not_fit_raises_as_the_operators_do():
    loss = losses.L2Loss()
    pred, label = nd.ones((2, 3)), nd.ones((5,))
    with pytest.raises(Exception) as plain:
        one_by_one(loss, pred, label)
    for _ in range(2):
        with pytest.raises(type(plain.value)) as traced:
            loss(pred, label)
        assert str(traced.value) == str(plain.value)


def test_mixed_types_raise_as_the_operators_do():
    loss = losses.L2Loss()
    pred, label = nd.ones((2, 3)), nd.ones((2, 3), dtype="float64")
    loss(pred, nd.ones((2, 3)))
    with pytest.raises(Exception) as plain:
        one_by_one(loss, pred, label)
    with pytest.raises(type(plain.value)):
        loss(pred, label)


def test_batches_of_none_give_losses_of_none():
    with np_shape():
        nothing = nd.zeros((0, 3))
        assert losses.L2Loss()(nothing, nothing).shape == (0,)


def test_sparse_predictions_go_to_the_operators():
    dense = nd.array([[1.0, 0], [0, 2]])
    loss = losses.L1Loss()
    got = loss(dense.tostype("csr"), nd.ones((2, 2)))
    np.testing.assert_array_equal(got.asnumpy(), [0.5, 1])


def test_subclasses_of_users_run_as_they_are_written():
    shapes = []

    class Mine(losses.L2Loss):
        def hybrid_forward(self, F, pred, label, sample_weight=None):
            shapes.append(pred.shape)
            scale = float(label.asnumpy().max())
            return super().hybrid_forward(F, pred, label, sample_weight) * scale

    loss = Mine()
    pred, label = nd.ones((2, 1)), nd.array([[3.0], [2.0]])
    np.testing.assert_allclose(loss(pred, label).asnumpy(), [6, 1.5])
    np.testing.assert_allclose(loss(pred, label * 2).asnumpy(), [75, 27])
    assert shapes == [(2, 1)] * 2


def test_hooks_see_every_call():
    loss = losses.L2Loss()
    seen = []
    loss.register_forward_hook(lambda block, inputs, out: seen.append(out.shape))
    loss(*batch())
    loss(*batch())
    assert seen == [(3,), (3,)]


def test_a_loss_of_symbols_is_a_symbol():
    loss = losses.L2Loss()
    loss(*batch())
    assert loss(sym.var("pred"), sym.var("label")).list_arguments() == ["label", "pred"]


def test_copies_and_pickles_of_a_used_loss_work():
    loss = losses.L2Loss(weight=2.0)
    pred, label = batch()
    value = loss(pred, label).asnumpy()
    for other in (copy.deepcopy(loss), pickle.loads(pickle.dumps(loss))):
        np.testing.assert_array_equal(other(pred, label).asnumpy(), value)


def test_gradients_are_added_where_asked():
    loss = losses.L2Loss()
    pred, label = batch()
    pred.attach_grad("add")
    for _ in range(2):
        with autograd.record():
            value = loss(pred, label)
        value.backward()
    once = (pred - label).asnumpy() / 4
    np.testing.assert_allclose(pred.grad.asnumpy(), 2 * once, rtol=1e-6)


def test_a_graph_is_kept_when_asked():
    loss = losses.L2Loss()
    pred, label = batch()
    pred.attach_grad()
    with autograd.record():
        value = loss(pred, label)
    value.backward(retain_graph=True)
    first = pred.grad.asnumpy()
    value.backward()
    np.testing.assert_array_equal(pred.grad.asnumpy(), first)
    with pytest.raises(Exception, match="Cannot differentiate"):
        value.backward()
