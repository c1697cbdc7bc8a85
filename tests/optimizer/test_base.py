import pickle

import numpy as np
import pytest

from minigluon import nd, optimizer
from minigluon import symbol as sym
from minigluon.lr_scheduler import FactorScheduler

NAMES = {0: "fc_weight", 1: "fc_bias", 2: "bn_gamma", 3: "bn_beta", 4: "other"}


class Multipliers:
    lr_mult = 3.0
    wd_mult = 5.0


def test_names_find_classes_in_any_case():
    assert type(optimizer.create("SGD")) is optimizer.SGD
    assert type(optimizer.Optimizer.create_optimizer("rmsprop")) is optimizer.RMSProp


def test_an_unknown_name_is_a_value_error_that_names_it():
    with pytest.raises(ValueError, match="Cannot find optimizer zz"):
        optimizer.create("zz")


def test_an_unknown_option_is_a_type_error():
    with pytest.raises(TypeError, match="foo"):
        optimizer.create("sgd", foo=1)


def test_a_finished_optimizer_is_given_back():
    rule = optimizer.SGD()
    assert optimizer.create(rule) is rule
    with pytest.raises(ValueError, match="finished optimizer"):
        optimizer.create(rule, wd=1)


def test_every_rule_of_mxnet_is_registered():
    expected = (
        "sgd signum ftml lars lbsgd lamb dcasgd nag sgld ccsgd adam adagrad rmsprop adadelta ftrl "
        "adamax nadam test groupadagrad"
    )
    assert set(expected.split()) <= set(optimizer.Optimizer.opt_registry)


@pytest.mark.parametrize(
    ("name", "rate"),  # MXNet 1.9.1's defaults
    [("sgd", 0.01), ("adam", 0.001), ("ftrl", 0.1), ("adamax", 0.002), ("adadelta", 0.01)],
)
def test_the_default_learning_rate_is_the_rules_own(name, rate):
    assert optimizer.create(name).learning_rate == rate


def test_registering_a_taken_name_warns_and_replaces(monkeypatch):
    monkeypatch.setattr(optimizer.Optimizer, "opt_registry", dict(optimizer.Optimizer.opt_registry))

    class SGD(optimizer.Optimizer):
        pass

    with pytest.warns(UserWarning, match="is overriding existing optimizer"):
        optimizer.register(SGD)
    assert type(optimizer.create("sgd")) is SGD


def test_parameters_not_called_weight_or_gamma_do_not_decay():
    rule = optimizer.SGD(wd=0.01, param_idx2name=NAMES)
    assert rule.wd_mult == {"fc_bias": 0.0, "bn_beta": 0.0, "other": 0.0}
    assert [rule._get_wd(i) for i in range(6)] == [0.01, 0.0, 0.01, 0.0, 0.0, 0.01]


def test_lars_decays_weights_alone():
    rule = optimizer.LARS(param_idx2name=NAMES)
    assert rule.wd_mult == {"fc_bias": 0.0, "bn_gamma": 0.0, "bn_beta": 0.0, "other": 0.0}


def test_multipliers_go_by_index_before_name_and_keep_the_defaults():
    rule = optimizer.SGD(learning_rate=0.1, wd=0.01, param_idx2name=NAMES)
    rule.set_lr_mult({"fc_weight": 2.0, 3: 5})
    rule.set_wd_mult({"fc_bias": 4.0})
    assert [rule._get_lr(i) for i in range(4)] == pytest.approx([0.2, 0.1, 0.1, 0.5])
    assert rule.wd_mult == {"fc_bias": 4.0, "bn_beta": 0.0, "other": 0.0}


def test_param_dict_has_the_first_word_and_is_read_at_every_step():
    parameter = Multipliers()
    rule = optimizer.SGD(learning_rate=0.1, wd=0.01, param_dict={7: parameter})
    rule.set_lr_mult({7: 100})
    assert (rule._get_lr(7), rule._get_wd(7)) == pytest.approx((0.3, 0.05))
    parameter.lr_mult = 0.0
    assert rule._get_lr(7) == 0.0


def test_symbol_attributes_are_multipliers():
    weight, bias = sym.Variable("a_weight", lr_mult=2.5), sym.Variable("c_bias", wd_mult=0.5)
    graph = sym.FullyConnected(weight * 1, bias, sym.Variable("a_bias"), num_hidden=2)
    names = {0: "a_weight", 1: "a_bias", 2: "c_bias"}
    rule = optimizer.SGD(learning_rate=0.1, wd=0.01, param_idx2name=names, sym=graph)
    assert rule.lr_mult == {"a_weight": 2.5}
    assert rule.wd_mult == {"a_bias": 0.0, "c_bias": 0.5}
    rule.set_wd_mult({})
    assert rule.wd_mult == {"a_bias": 0.0, "c_bias": 0.5}


def test_param_idx2name_is_a_dict():
    with pytest.raises(AssertionError, match="param_idx2name should be a dict"):
        optimizer.SGD(param_idx2name=["w"])


def test_updates_are_counted_per_parameter_and_device_from_begin_num_update():
    rule = optimizer.SGD(begin_num_update=10)
    rule._update_count(3)
    rule._update_count([3, 4])
    rule._set_current_context(1)
    rule._update_count(3)
    assert rule.num_update == 12
    assert rule._all_index_update_counts == {0: {3: 12, 4: 11}, 1: {3: 11}}
    assert rule._index_update_count == {3: 11}


def test_a_scheduler_decides_the_learning_rate():
    rule = optimizer.SGD(lr_scheduler=FactorScheduler(2, 0.5, base_lr=0.7))
    assert rule.learning_rate == 0.7
    for _ in range(3):
        rule._update_count(0)
    assert rule._get_lrs([0, 1]) == [0.35, 0.35]
    with pytest.raises(UserWarning, match="LRScheduler of the optimizer has already been defined"):
        rule.set_learning_rate(1.0)


def test_learning_rate_becomes_the_schedulers_base():
    scheduler = FactorScheduler(2, 0.5, base_lr=0.7)
    assert optimizer.SGD(lr_scheduler=scheduler, learning_rate=0.2).learning_rate == 0.2
    assert scheduler.base_lr == 0.2


def test_set_learning_rate_acts_at_once():
    rule = optimizer.SGD(learning_rate=0.1)
    rule.set_learning_rate(0.5)
    assert (rule.learning_rate, rule._get_lr("anything")) == (0.5, 0.5)


def test_a_pickle_leaves_param_dict_behind_and_keeps_the_counts():
    rule = optimizer.Adam(learning_rate=0.3, param_dict={0: Multipliers()})
    rule._update_count(0)
    loaded = pickle.loads(pickle.dumps(rule))
    assert loaded.param_dict == {}
    loaded._update_count(0)
    assert loaded._all_index_update_counts == {0: {0: 2}}
    assert loaded.learning_rate == 0.3


def test_a_new_rule_needs_only_update():
    class Plain(optimizer.Optimizer):
        def update(self, index, weight, grad, state):
            weight -= self._get_lr(index) * grad

    weight = nd.ones((2,))
    rule = Plain(learning_rate=0.25)
    assert rule.create_state_multi_precision(0, weight) is None
    rule.update_multi_precision(0, weight, nd.ones((2,)), None)
    np.testing.assert_array_equal(weight.asnumpy(), [0.75, 0.75])


def test_a_rule_without_update_says_so():
    with pytest.raises(NotImplementedError, match="update"):
        optimizer.Optimizer().update(0, nd.ones((1,)), nd.ones((1,)), None)


def test_multi_precision_keeps_small_steps_that_float16_loses():
    rule = optimizer.Adam(learning_rate=1e-4, multi_precision=True)
    weight = nd.ones((2,), dtype="float16")
    state = rule.create_state_multi_precision(0, weight)
    for _ in range(10):
        rule.update_multi_precision(0, weight, nd.ones((2,), dtype="float16"), state)
    master, (mean, square) = state
    assert {master.dtype, mean.dtype, square.dtype} == {np.float32}
    np.testing.assert_allclose(master.asnumpy(), 0.999, rtol=1e-5)
    np.testing.assert_allclose(weight.asnumpy(), np.float16(0.999))


def test_float16_without_multi_precision_warns():
    with pytest.warns(UserWarning, match="Accumulating with float16 in optimizer"):
        optimizer.Adam().create_state_multi_precision(0, nd.ones((1,), dtype="float16"))


@pytest.mark.parametrize("stype", ["default", "row_sparse"])
def test_the_test_rule_adds_the_gradient(stype):
    weight = nd.ones((2, 1)).tostype(stype)
    rule = optimizer.create("test", rescale_grad=2.0)
    state = rule.create_state(0, weight)
    rule.update(0, weight, nd.array([[1], [2]]).tostype(stype), state)
    np.testing.assert_array_equal(weight.asnumpy(), [[3], [5]])
    np.testing.assert_array_equal(state.asnumpy(), [[3], [5]])


@pytest.mark.parametrize("name", ["adam", "adagrad", "ftrl", "rmsprop", "signum", "lamb"])
def test_states_of_a_complete_row_sparse_weight_store_every_row_from_the_start(name):
    complete = nd.ones((3, 2)).tostype("row_sparse")
    partial = nd.array([[0, 0], [1, 1], [0, 0]]).tostype("row_sparse")
    for weight, rows in ((complete, [0, 1, 2]), (partial, [])):
        state = optimizer.create(name).create_state(0, weight)
        state = state[0] if isinstance(state, tuple) else state
        assert state.indices.asnumpy().tolist() == rows
        assert not state.asnumpy().any()


def test_settings_may_be_numpy_scalars():
    rule = optimizer.SGD(
        learning_rate=np.float32(0.5), wd=np.float64(0.0), momentum=np.float64(0.9)
    )
    weight = nd.ones((1,))
    rule.update(0, weight, nd.ones((1,)), rule.create_state(0, weight))
    assert weight.asscalar() == 0.5
