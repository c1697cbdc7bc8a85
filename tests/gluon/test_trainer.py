import sys

import numpy as np
import pytest

import minigluon as mx
from minigluon import autograd, gluon, kvstore, nd, optimizer
from minigluon.gluon import Parameter, Trainer
from minigluon.optimizer.pickles import loads

TWO = [mx.cpu(0), mx.cpu(1)]


def parameter(name="w", ctx=None, **kwargs):
    p = Parameter(name, shape=(4, 1), **kwargs)
    p.initialize("ones", ctx=ctx or mx.cpu())
    return p


def backward(*parameters, factor=2.0):
    with autograd.record():
        losses = [(a * factor).sum() for p in parameters for a in p.list_data()]
    autograd.backward(losses)


def step(trainer, *parameters, **kwargs):
    backward(*parameters)
    trainer.step(1, **kwargs)
    return [float(a.asnumpy()[0, 0]) for p in parameters for a in p.list_data()]


def embedding_step(trainer, p, ids):
    rows = nd.array(ids, dtype="int64")
    with autograd.record():
        weight = p.row_sparse_data(rows) if p._stype == "row_sparse" else p.data()
        loss = nd.Embedding(rows, weight, input_dim=4, output_dim=1, sparse_grad=True).sum()
    loss.backward()
    trainer.step(1)


# --- construction ---------------------------------------------------------------------------------


def test_parameters_come_as_a_list_or_by_name_in_a_dict():
    a, b = parameter("a"), parameter("b")
    assert Trainer([b, a], "sgd")._params == [b, a]
    assert Trainer({"b": b, "a": a}, "sgd")._params == [a, b]


@pytest.mark.parametrize("params", [3, [1]])
def test_other_params_are_a_value_error(params):
    with pytest.raises(ValueError, match="First argument must be a list or dict of Parameters"):
        Trainer(params, "sgd")


def test_an_optimizer_object_takes_no_options_and_learns_of_the_parameters():
    p, rule = parameter(), optimizer.SGD(rescale_grad=0.25)
    trainer = Trainer([p], rule)
    assert trainer.optimizer is rule
    assert rule.param_dict == {0: p}
    assert trainer._scale == 0.25
    with pytest.raises(AssertionError, match="optimizer_params must be None"):
        Trainer([p], rule, {"learning_rate": 1})


def test_all_parameters_are_on_the_same_contexts():
    with pytest.raises(AssertionError, match="same set of contexts, but Parameter b"):
        Trainer([parameter("a"), parameter("b", mx.cpu(1))], "sgd")


def test_only_one_trainer_has_a_row_sparse_parameter():
    p = parameter(stype="row_sparse", grad_stype="row_sparse")
    first = Trainer([p], "sgd")
    assert first is p._trainer
    with pytest.raises(RuntimeError, match="More than one trainers"):
        Trainer([p], "sgd")
    dense = parameter()
    Trainer([dense], "sgd")
    Trainer([dense], "sgd")


# --- learning rate --------------------------------------------------------------------------------


def test_the_learning_rate_can_be_read_and_set():
    p = parameter()
    trainer = Trainer([p], "sgd", {"learning_rate": 0.1})
    trainer.set_learning_rate(0.25)
    assert trainer.learning_rate == 0.25
    assert step(trainer, p) == [0.5]


def test_a_scheduler_decides_the_learning_rate():
    scheduler = mx.lr_scheduler.FactorScheduler(1, 0.5, base_lr=1.0)
    p = parameter()
    trainer = Trainer([p], "sgd", {"lr_scheduler": scheduler})
    rates = []
    for _ in range(3):
        rates.append(trainer.learning_rate)
        step(trainer, p)
    assert rates == [1.0, 1.0, 0.5]
    with pytest.raises(UserWarning, match="LRScheduler of the optimizer has already been defined"):
        trainer.set_learning_rate(1)


def test_multipliers_of_a_parameter_act_at_once():
    p = parameter()
    p.lr_mult = 5
    trainer = Trainer([p], "sgd", {"learning_rate": 0.1})
    assert step(trainer, p) == [0.0]
    p.lr_mult = 0
    assert step(trainer, p) == [0.0]


# --- a step ---------------------------------------------------------------------------------------


def test_gradients_are_divided_by_the_batch_size():
    p = parameter()
    trainer = Trainer([p], "sgd", {"learning_rate": 0.1, "rescale_grad": 2.0})
    backward(p)
    trainer.step(4)
    np.testing.assert_allclose(p.data().asnumpy(), 0.9, rtol=1e-6)


def test_a_batch_size_of_zero_is_named():  # MXNet 1.9.1: ZeroDivisionError
    p = parameter()
    trainer = Trainer([p], "sgd")
    backward(p)
    with pytest.raises(ValueError, match="batch_size"):
        trainer.step(0)


def test_squares_shrink_as_recorded():  # MXNet 1.9.1
    p = parameter()
    trainer = Trainer([p], "sgd", {"learning_rate": 0.1})
    for batch_size, expected in ((2, 0.9), (1, 0.72)):
        with autograd.record():
            loss = (p.data() ** 2).sum()
        loss.backward()
        trainer.step(batch_size)
        np.testing.assert_allclose(p.data().asnumpy(), expected, rtol=1e-6)


def test_added_gradients_stay_until_they_are_zeroed():
    p = parameter(grad_req="add")
    trainer = Trainer([p], "sgd", {"learning_rate": 0.1})
    np.testing.assert_allclose(step(trainer, p), [0.8], rtol=1e-6)
    np.testing.assert_allclose(step(trainer, p), [0.4], rtol=1e-6)
    p.zero_grad()
    np.testing.assert_allclose(step(trainer, p), [0.2], rtol=1e-6)


def test_constants_and_frozen_parameters_are_not_updated():
    p, frozen = parameter("a"), parameter("b", grad_req="null")
    constant = gluon.Constant("c", [1.0, 2.0])
    constant.initialize()
    trainer = Trainer([p, frozen, constant], "sgd", {"learning_rate": 0.5})
    assert step(trainer, p) == [0.0]
    assert frozen.data().asnumpy()[0, 0] == 1
    assert constant.data().asnumpy().tolist() == [1, 2]


def test_multi_precision_reaches_the_updater():
    p = parameter(dtype="float16")
    trainer = Trainer([p], "sgd", {"learning_rate": 1e-5, "multi_precision": True})
    for _ in range(50):
        step(trainer, p)
    assert p.data().asnumpy()[0, 0] == np.float16(0.999)


def test_a_step_of_two_dense_parameters_stays_short():
    a, b = parameter("a"), parameter("b")
    trainer = Trainer([a, b], "sgd", {"learning_rate": 0.1})
    step(trainer, a, b)
    backward(a, b)
    calls = []
    sys.setprofile(lambda frame, event, _: calls.append(frame) if event == "call" else None)
    try:
        trainer.step(1)
    finally:
        sys.setprofile(None)
    names = [frame.f_code.co_name for frame in calls]
    assert len(names) < 70, names


# --- stale gradients ------------------------------------------------------------------------------


@pytest.mark.parametrize("ctx", [mx.cpu(), TWO])
def test_a_stale_gradient_raises_and_changes_nothing(ctx):
    used, unused = parameter("used", ctx), parameter("unused", ctx)
    trainer = Trainer([used, unused], "sgd", {"learning_rate": 0.1})
    step(trainer, used, unused)
    backward(used)
    before = used.list_data()[0].asnumpy().copy()
    with pytest.raises(UserWarning, match=r"Gradient of Parameter `unused` on context cpu\(0\)"):
        trainer.step(1)
    np.testing.assert_array_equal(used.list_data()[0].asnumpy(), before)


@pytest.mark.parametrize("update_on_kvstore", [True, False])
@pytest.mark.parametrize("ctx", [mx.cpu(), TWO])
def test_ignoring_stale_gradients_updates_the_fresh_ones(ctx, update_on_kvstore):
    used, unused = parameter("used", ctx), parameter("unused", ctx)
    trainer = Trainer(
        [used, unused], "sgd", {"learning_rate": 0.1}, update_on_kvstore=update_on_kvstore
    )
    step(trainer, used, unused)
    before = unused.list_data()[0].asnumpy().copy()
    after_one = used.list_data()[0].asnumpy().copy()
    backward(used)
    trainer.step(1, ignore_stale_grad=True)
    np.testing.assert_array_equal(unused.list_data()[0].asnumpy(), before)
    assert (used.list_data()[0].asnumpy() < after_one).all()


def test_a_step_without_any_backward_raises():
    with pytest.raises(UserWarning, match="has not been updated by backward"):
        Trainer([parameter()], "sgd").step(1)


# --- with and without a store ---------------------------------------------------------------------


@pytest.mark.parametrize("store", ["local", "device", None, "teststore"])
@pytest.mark.parametrize("update_on_kvstore", [None, True, False])
def test_one_device_needs_no_store(store, update_on_kvstore):
    p = parameter()
    trainer = Trainer(
        [p], "sgd", {"learning_rate": 0.1}, kvstore=store, update_on_kvstore=update_on_kvstore
    )
    np.testing.assert_allclose(step(trainer, p), [0.8], rtol=1e-6)
    assert trainer._kvstore is None
    assert trainer._update_on_kvstore is None


@pytest.mark.parametrize("store", ["local", "device"])
@pytest.mark.parametrize(("asked", "decided"), [(None, True), (True, True), (False, False)])
def test_two_devices_add_up_their_gradients(store, asked, decided):
    p = parameter(ctx=TWO)
    trainer = Trainer([p], "sgd", {"learning_rate": 0.1}, kvstore=store, update_on_kvstore=asked)
    np.testing.assert_allclose(step(trainer, p), [0.6, 0.6], rtol=1e-6)
    np.testing.assert_allclose(step(trainer, p), [0.2, 0.2], rtol=1e-6)
    assert trainer._kvstore.type == store
    assert trainer._update_on_kvstore is decided


def test_two_devices_without_a_store_train_apart():
    p = parameter(ctx=TWO)
    trainer = Trainer([p], "sgd", {"learning_rate": 0.1}, kvstore=None)
    np.testing.assert_allclose(step(trainer, p), [0.8, 0.8], rtol=1e-6)


def test_a_store_without_an_optimizer_only_adds():
    p = parameter(ctx=TWO)
    trainer = Trainer([p], "sgd", {"learning_rate": 0.1}, kvstore="teststore")
    np.testing.assert_allclose(step(trainer, p), [0.6, 0.6], rtol=1e-6)
    assert trainer._update_on_kvstore is False
    trainer = Trainer([parameter(ctx=TWO)], "sgd", kvstore="teststore", update_on_kvstore=True)
    with pytest.raises(ValueError, match="Please set update_on_kvstore=False"):
        trainer._init_kvstore()


def test_a_given_store_is_used_on_one_device_too():
    p, store = parameter(), kvstore.create("local")
    trainer = Trainer([p], "sgd", {"learning_rate": 0.1}, kvstore=store)
    np.testing.assert_allclose(step(trainer, p), [0.8], rtol=1e-6)
    assert trainer._kvstore is store
    assert trainer._update_on_kvstore is True


def test_the_environment_can_keep_updates_off_the_store(monkeypatch):
    monkeypatch.setenv("MXNET_UPDATE_ON_KVSTORE", "0")
    p = parameter(ctx=TWO)
    trainer = Trainer([p], "sgd", {"learning_rate": 0.1})
    step(trainer, p)
    assert trainer._update_on_kvstore is False


def test_reduce_and_update_are_two_calls_without_update_on_kvstore():
    p = parameter(ctx=TWO)
    trainer = Trainer([p], "sgd", {"learning_rate": 0.1}, update_on_kvstore=False)
    backward(p)
    trainer.allreduce_grads()
    assert [g.asnumpy()[0, 0] for g in p.list_grad()] == [4, 4]
    for grad in p.list_grad():
        grad[:] = 1
    trainer.update(2)
    np.testing.assert_allclose([a.asnumpy()[0, 0] for a in p.list_data()], [0.95, 0.95], rtol=1e-6)


def test_reduce_and_update_are_refused_with_update_on_kvstore():
    p = parameter(ctx=TWO)
    trainer = Trainer([p], "sgd", update_on_kvstore=True)
    backward(p)
    with pytest.raises(AssertionError, match=r"allreduce_grads\(\) when parameters are updated"):
        trainer.allreduce_grads()
    with pytest.raises(AssertionError, match=r"update\(\) when parameters are updated"):
        trainer.update(1)


def test_compression_reaches_the_store():
    p = parameter(ctx=TWO)
    trainer = Trainer(
        [p],
        "sgd",
        {"learning_rate": 0.1},
        compression_params={"type": "2bit", "threshold": 0.5},
    )
    np.testing.assert_allclose(step(trainer, p), [0.9, 0.9], rtol=1e-6)  # recorded


def test_deferred_parameters_wait_for_their_shape():
    net = gluon.nn.Dense(1)
    net.initialize(ctx=TWO)
    trainer = Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    trainer._ready()
    assert net.weight in trainer._params_to_init
    with autograd.record():
        losses = [net(nd.ones((2, 3), ctx=c)).sum() for c in TWO]
    autograd.backward(losses)
    trainer.step(1)
    assert trainer._params_to_init == []


@pytest.mark.parametrize("load", ["set_data", "params"])
def test_new_data_resets_the_store(load, tmp_path):
    net = gluon.nn.Dense(1, in_units=1, use_bias=False)
    net.initialize("ones", ctx=TWO)
    trainer = Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    net.collect_params().save(str(tmp_path / "params"))
    step(trainer, net.weight)
    if load == "params":
        net.collect_params().load(str(tmp_path / "params"), TWO)
    else:
        net.weight.set_data(nd.ones((1, 1)))
    assert not trainer._kv_initialized
    np.testing.assert_allclose(step(trainer, net.weight), [0.6, 0.6], rtol=1e-6)


# --- sparse ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("store", [None, "device"])
def test_a_sparse_gradient_changes_its_rows(store):
    p = parameter(grad_stype="row_sparse")
    trainer = Trainer([p], "sgd", {"learning_rate": 1.0}, kvstore=store)
    embedding_step(trainer, p, [1, 1])
    assert p.data().asnumpy()[:, 0].tolist() == [1, -1, 1, 1]
    assert trainer._kvstore is None


def test_a_sparse_gradient_on_two_devices_is_not_updated_on_the_store():
    p = parameter(grad_stype="row_sparse", ctx=TWO)
    trainer = Trainer([p], "sgd", {"learning_rate": 1.0})
    ids = [nd.array(i, ctx=c) for i, c in zip(([0, 1], [1]), TWO, strict=True)]
    with autograd.record():
        losses = [
            nd.Embedding(i, p.data(c), input_dim=4, output_dim=1, sparse_grad=True).sum()
            for i, c in zip(ids, TWO, strict=True)
        ]
    autograd.backward(losses)
    trainer.step(1)
    assert trainer._update_on_kvstore is False
    assert [a.asnumpy()[:, 0].tolist() for a in p.list_data()] == [[0, -1, 1, 1]] * 2


def test_a_row_sparse_weight_lives_in_the_store():
    p = parameter(stype="row_sparse", grad_stype="row_sparse")
    trainer = Trainer([p], "sgd", {"learning_rate": 1.0})
    embedding_step(trainer, p, [1, 3])
    rows = p.row_sparse_data(nd.arange(4, dtype="int64"))
    assert rows.asnumpy()[:, 0].tolist() == [1, 0, 1, 0]
    assert trainer._update_on_kvstore is True


def test_row_sparse_weights_need_a_store_that_updates():
    def trainer(store, update_on_kvstore=None):
        p = parameter(stype="row_sparse", grad_stype="row_sparse")
        return Trainer([p], "sgd", kvstore=store, update_on_kvstore=update_on_kvstore)

    with pytest.raises(TypeError, match="The type must be KVStore or str"):
        trainer(None)._init_kvstore()
    with pytest.raises(ValueError, match="Cannot set update_on_kvstore=False"):
        trainer("device", False)._init_kvstore()
    with pytest.raises(AssertionError, match="does not support optimizer"):
        trainer("teststore")._init_kvstore()


# --- states ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("update_on_kvstore", [True, False])
@pytest.mark.parametrize("ctx", [mx.cpu(), TWO])
def test_training_goes_on_from_saved_states(ctx, update_on_kvstore, tmp_path):
    def trained(steps, states=None, value=1.0, lr=0.1):
        p = parameter(ctx=ctx)
        p.set_data(nd.ones((4, 1)) * value)
        options = {"learning_rate": lr, "momentum": 0.9}
        trainer = Trainer([p], "sgd", options, update_on_kvstore=update_on_kvstore)
        if states:
            trainer.load_states(states)
        for _ in range(steps):
            value = step(trainer, p)[0]
        trainer.save_states(str(tmp_path / "states"))
        return value

    half = trained(2)
    rest = trained(2, str(tmp_path / "states"), half, lr=77)
    assert rest == pytest.approx(trained(4), rel=1e-6)


def test_loaded_states_listen_to_the_parameters(tmp_path):
    p, q = parameter(), parameter()
    p.lr_mult = 5
    trainer = Trainer([p], "sgd", {"learning_rate": 0.1, "momentum": 0.9})
    step(trainer, p)
    trainer.save_states(str(tmp_path / "states"))
    other = Trainer([q], "sgd", {"learning_rate": 0.3})
    other.load_states(str(tmp_path / "states"))
    assert (other.learning_rate, other.optimizer.momentum) == (0.1, 0.9)
    q.lr_mult = 0
    found = step(other, q)
    np.testing.assert_allclose(found, [0.1], rtol=1e-6)  # momentum alone: 1 - 0.9 * 1.0


def test_states_hold_the_optimizer_and_no_parameters(tmp_path):
    p = parameter()
    trainer = Trainer([p], "adam")
    step(trainer, p)
    trainer.save_states(str(tmp_path / "states"))
    states, rule = loads((tmp_path / "states").read_bytes())
    assert type(rule) is optimizer.Adam
    assert rule.param_dict == {}
    assert [s.shape for s in states[0]] == [(4, 1), (4, 1)]


def test_golden_states_load(golden_folder):
    states, _ = loads((golden_folder / "gluon_trainer.states").read_bytes())
    params = []
    for i in range(max(states) + 1):  # running means and the like have no state
        shape = states[i][0].shape if i in states else (1,)
        params.append(Parameter(f"p{i}", shape=shape, grad_req="write" if i in states else "null"))
        params[-1].initialize("ones")
    trainer = Trainer(params, "sgd")
    trainer.load_states(str(golden_folder / "gluon_trainer.states"))
    assert type(trainer.optimizer) is optimizer.Adam
    assert trainer.optimizer.num_update == 3
    backward(*(params[i] for i in states))
    trainer.step(1)
    assert trainer.optimizer.num_update == 4


@pytest.mark.parametrize("store", ["device", None])
@pytest.mark.parametrize("use", ["step", "update"])
def test_a_step_before_the_first_batch_says_that_parameters_wait_for_it(use, store):
    net = gluon.nn.Dense(2)  # the bias is there already, the weight is not
    net.initialize()
    trainer = Trainer(net.collect_params(), "sgd", kvstore=store)
    with pytest.raises(gluon.parameter.DeferredInitializationError, match="weight"):
        getattr(trainer, use)(1)


@pytest.mark.parametrize("batch_size", [0, "x", None])
def test_what_gradients_cannot_be_divided_by_is_refused(batch_size):
    with pytest.raises(ValueError, match="cannot be divided by a batch_size of"):
        gluon.Trainer({}, "sgd").step(batch_size)
