import numpy as np
import pytest

import minigluon as mx
from minigluon import nd
from minigluon.core.plan import cache
from minigluon.optimizer import compiled
from minigluon.optimizer.compiled import Stepper

compiler = pytest.mark.skipif(not cache.available(), reason="llvmlite cannot compile here")


@pytest.fixture(autouse=True)
def compiled_at_once(monkeypatch):
    monkeypatch.setattr(compiled, "USES", 1)


RULES = [
    ("sgd", {"wd": 0.01}),
    ("sgd", {"momentum": 0.9, "wd": 0.01, "clip_gradient": 0.1}),
    ("adam", {"wd": 0.01, "clip_gradient": 0.5}),
    ("adagrad", {"wd": 0.01}),
    ("ftrl", {"wd": 0.01, "clip_gradient": 0.2}),
]
DENSE_RULES = [
    ("nag", {"momentum": 0.9, "wd": 0.01}),
    ("nag", {"wd": 0.01}),
    ("rmsprop", {"wd": 0.01, "clip_gradient": 0.5}),
    ("rmsprop", {}),
    ("adadelta", {"wd": 0.01}),
]


def parameters(rng, dtype):
    """Dense weights of several shapes and a row_sparse one that stores only some rows."""
    dense = [nd.array(rng.normal(size=s), dtype=dtype) for s in [(3, 4), (7,), (2, 3, 5)]]
    rows = nd.array(rng.normal(size=(4, 3)), dtype=dtype), [0, 2, 3, 8]
    return [*dense, nd.sparse.row_sparse_array(rows, shape=(10, 3), dtype=dtype)]


def gradients(rng, weights, dtype):
    dense = [nd.array(rng.normal(size=w.shape), dtype=dtype) for w in weights[:3]]
    rows = (
        nd.array(rng.normal(size=(2, 3)), dtype=dtype),
        sorted(rng.choice([0, 2, 3, 8], 2, False)),
    )
    return [*dense, nd.sparse.row_sparse_array(rows, shape=(10, 3), dtype=dtype)]


def trained(name, options, dtype, is_compiled, steps=3):
    rng = np.random.default_rng(0)
    optimizer = mx.optimizer.create(name, learning_rate=0.1, rescale_grad=0.3, **options)
    if not is_compiled:
        optimizer._rule = None
    updater = mx.optimizer.get_updater(optimizer)
    weights = parameters(rng, dtype)
    for _ in range(steps):
        updater([0, 1, 2, 3], gradients(rng, weights, dtype), weights)
    return weights, updater


def values(weights, updater):
    held = [w.asnumpy() for w in weights]
    for state in updater.states.values():
        held += [
            s.asnumpy() for s in (state if isinstance(state, tuple) else (state,)) if s is not None
        ]
    return held


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("name", "options"), [*RULES, *DENSE_RULES])
def test_compiled_steps_give_the_bits_of_the_operators(name, options, dtype):
    fast, plain = (values(*trained(name, options, dtype, c)) for c in (True, False))
    for left, right in zip(fast, plain, strict=True):
        np.testing.assert_array_equal(left, right)


def test_settings_that_a_rule_does_not_have_leave_it_to_the_operators():
    rule = mx.optimizer.RMSProp(centered=True)
    weight = nd.ones((2,))
    state = rule.create_state(0, weight)
    assert list(Stepper().step(rule, [0], [weight], [weight], [state])) == [0]
    mx.optimizer.get_updater(rule)([0], [nd.ones((2,))], [weight])
    assert (weight.asnumpy() < 1).all()


@compiler
@pytest.mark.parametrize(("name", "options"), DENSE_RULES)
def test_dense_rules_are_compiled(name, options):
    optimizer = mx.optimizer.create(name, **options)
    weight = nd.ones((3,))
    state = optimizer.create_state(0, weight)
    assert not Stepper().step(optimizer, [0], [weight], [nd.ones((3,))], [state])


@compiler
@pytest.mark.parametrize(("name", "options"), RULES)
def test_all_of_a_step_is_compiled(name, options):
    _, updater = trained(name, options, "float32", True)
    weights = parameters(np.random.default_rng(0), "float32")
    grads = gradients(np.random.default_rng(1), weights, "float32")
    states = [updater.states[k] for k in range(4)]
    left = updater._stepper.step(updater.optimizer, [0, 1, 2, 3], weights, grads, states)
    assert list(left) == []


@compiler
def test_rows_of_dense_weights_are_updated_lazily():
    weight = nd.ones((5, 2))
    grad = nd.sparse.row_sparse_array((nd.ones((1, 2)), [3]), shape=(5, 2))
    updater = mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=1.0, wd=0.5))
    updater([0], [grad], [weight])
    expected = np.ones((5, 2), np.float32)
    expected[3] = -0.5
    np.testing.assert_array_equal(weight.asnumpy(), expected)
    assert updater._stepper._run is not None


def test_what_does_not_fit_is_refused_and_counted_once():
    optimizer = mx.optimizer.Adam()
    weights, grads = [nd.ones((2, 3)), nd.ones((4,))], [nd.ones((2, 3)), nd.ones((5,))]
    states = [optimizer.create_state(k, w) for k, w in enumerate(weights)]
    left = Stepper().step(optimizer, [0, 1], weights, grads, states)
    assert list(left) == [0, 1]
    assert (weights[0].asnumpy() == 1).all()
    assert optimizer._index_update_count == {0: 0, 1: 0}
    assert optimizer.num_update == 0


def test_missing_rows_of_a_weight_are_added_by_the_operators():
    weight = nd.sparse.row_sparse_array((nd.ones((1, 2)), [1]), shape=(6, 2))
    grad = nd.sparse.row_sparse_array((nd.ones((2, 2)), [1, 4]), shape=(6, 2))
    updater = mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=1.0))
    updater([0], [grad], [weight])
    assert weight.indices.asnumpy().tolist() == [1, 4]
    np.testing.assert_array_equal(weight.data.asnumpy(), [[0, 0], [-1, -1]])
    assert updater.optimizer.num_update == 1


def test_a_gradient_that_turns_sparse_is_noticed():
    weight = nd.ones((3, 1))
    updater = mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=1.0))
    updater([0], [nd.ones((3, 1))], [weight])
    updater([0], [nd.sparse.row_sparse_array((nd.ones((1, 1)), [2]), shape=(3, 1))], [weight])
    assert weight.asnumpy().ravel().tolist() == [0, 0, -1]


def test_an_update_written_by_a_user_is_the_one_that_runs():
    class Backwards(mx.optimizer.SGD):
        def update(self, index, weight, grad, state):
            for w, g in zip(weight, grad, strict=True):
                w += g

    weight = nd.ones((2,))
    mx.optimizer.get_updater(Backwards())([0], [nd.ones((2,))], [weight])
    assert weight.asnumpy().tolist() == [2, 2]


def test_settings_may_change_between_steps():
    optimizer = mx.optimizer.SGD(learning_rate=1.0)
    updater, weight = mx.optimizer.get_updater(optimizer), nd.zeros((1,))
    updater([0], [nd.ones((1,))], [weight])
    optimizer.rescale_grad = 10.0
    updater([0], [nd.ones((1,))], [weight])
    optimizer.set_learning_rate(2.0)
    updater([0], [nd.ones((1,))], [weight])
    assert weight.asscalar() == -31


@compiler
def test_a_short_script_does_not_wait_for_a_compiler(monkeypatch):
    monkeypatch.setattr(compiled, "USES", 3)
    updater = mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=1.0))
    weight = nd.zeros((2,))
    for _ in range(2):
        updater([0], [nd.ones((2,))], [weight])
        assert updater._stepper._run is None
    updater([0], [nd.ones((2,))], [weight])
    assert updater._stepper._run is not None
    assert weight.asnumpy().tolist() == [-3, -3]


def row_sparse(values, rows, count=4):
    return nd.sparse.row_sparse_array((nd.array(values), rows), shape=(count, 1))


def test_a_gradient_that_turns_dense_updates_nothing_twice():
    updater = mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=1.0))
    weights = [nd.zeros((2,)), nd.zeros((4, 1))]
    for _ in range(4):
        updater([0, 1], [nd.ones((2,)), row_sparse([[1.0]], [2])], weights)
    updater([0, 1], [nd.ones((2,)), nd.ones((4, 1))], weights)
    assert weights[0].asnumpy().tolist() == [-5, -5]
    assert weights[1].asnumpy().ravel().tolist() == [-1, -1, -5, -1]
    assert updater.optimizer._index_update_count == {0: 5, 1: 5}


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_states_of_another_momentum_leave_it_to_the_operators(momentum):
    optimizer = mx.optimizer.SGD(learning_rate=1.0, momentum=0.9 - momentum)
    weight = nd.zeros((2,))
    state = optimizer.create_state(0, weight)
    optimizer.momentum = momentum
    assert list(Stepper().step(optimizer, [0], [weight], [nd.ones((2,))], [state])) == [0]
    assert weight.asnumpy().tolist() == [0, 0]


def test_a_list_with_a_gradient_that_does_not_fit_changes_nothing():
    updater = mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=1.0))
    weights = [nd.zeros((2,)), nd.zeros((2, 3))]
    for grad in (nd.ones((7,)), nd.ones((6,))):
        with pytest.raises(mx.MXNetError, match="parameter 1 does not fit"):
            updater([0, 1], [nd.ones((2,)), grad], weights)
    assert weights[0].asnumpy().tolist() == [0, 0]
    assert set(updater.optimizer._index_update_count.values()) <= {0}


def test_an_update_that_comes_by_way_of_a_mixin_is_the_one_that_runs():
    class Up:
        def update(self, index, weight, grad, state):
            for w, g in zip(weight, grad, strict=True):
                w += g

    class Mixed(Up, mx.optimizer.SGD):
        pass

    weight = nd.ones((2,))
    mx.optimizer.get_updater(Mixed())([0], [nd.ones((2,))], [weight])
    assert weight.asnumpy().tolist() == [2, 2]


def test_an_update_set_on_the_optimizer_is_the_one_that_runs():
    optimizer = mx.optimizer.SGD()
    optimizer.update = lambda index, weight, grad, state: weight[0].__isub__(7)
    weight = nd.zeros((2,))
    mx.optimizer.get_updater(optimizer)([0], [nd.ones((2,))], [weight])
    assert weight.asnumpy().tolist() == [-7, -7]


@pytest.mark.parametrize("name", ["nag", "adagrad", "rmsprop", "adadelta"])
def test_a_bound_of_nothing_means_the_same_at_every_step(name):
    options = {"momentum": 0.9} if name == "nag" else {}
    updater = mx.optimizer.get_updater(mx.optimizer.create(name, clip_gradient=0.0, **options))
    weight = nd.ones((2,))
    for _ in range(5):
        updater([0], [nd.ones((2,))], [weight])
        assert updater._stepper._run is None


def test_the_number_of_updates_is_that_of_the_parameter_updated_most():
    optimizer = mx.optimizer.SGD(learning_rate=0.1)
    updater = mx.optimizer.get_updater(optimizer)
    dense, rows = nd.zeros((2,)), row_sparse([[1.0]], [1])
    for _ in range(6):
        updater([0], [nd.ones((2,))], [dense])
    updater([0, 1], [nd.ones((2,)), row_sparse([[1.0], [1.0]], [1, 3])], [dense, rows])
    assert optimizer.num_update == 7
    assert optimizer._index_update_count == {0: 7, 1: 1}


def test_arrays_that_overlap_are_left_to_the_operators():
    memory = nd.arange(40)
    weight, grad = memory[1:39], memory[0:38]
    expected = weight.asnumpy() - grad.asnumpy()
    updater = mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=1.0))
    updater([0], [grad], [weight])
    np.testing.assert_array_equal(weight.asnumpy(), expected)
