import numpy as np
import pytest

import minigluon as mx
from minigluon import nd, optimizer
from minigluon.optimizer.pickles import loads


def test_a_state_is_made_at_the_first_update_of_an_index():
    updater = optimizer.get_updater(optimizer.SGD(learning_rate=0.1, momentum=0.9))
    weight = nd.ones((2,))
    updater(3, nd.ones((2,)), weight)
    updater(3, nd.ones((2,)), weight)
    assert list(updater.states) == [3]
    np.testing.assert_allclose(updater.states[3].asnumpy(), [-0.19, -0.19], rtol=1e-6)
    np.testing.assert_allclose(weight.asnumpy(), [0.71, 0.71], rtol=1e-6)


def test_byte_keys_are_strings():
    updater = optimizer.get_updater(optimizer.SGD(momentum=0.9))
    updater(b"w", nd.ones((2,)), nd.ones((2,)))
    assert list(updater.states) == ["w"]


class Recorder(optimizer.Optimizer):
    """Notes what it is called with."""

    def __init__(self, aggregate_num):
        super().__init__()
        self.aggregate_num = aggregate_num
        self.calls = []

    def update(self, index, weight, grad, state):
        self.calls.append(index)


def run(aggregate_num, dtypes):
    rule = Recorder(aggregate_num)
    weights = [nd.ones((1,), dtype=d) for d in dtypes]
    optimizer.get_updater(rule)(list(range(len(weights))), weights, weights)
    return rule.calls


def test_rules_that_aggregate_get_lists_of_one_dtype_and_at_most_aggregate_num():
    assert run(2, ["float32"] * 3) == [[0, 1], [2]]
    assert run(4, ["float32", "float64", "float32"]) == [[0, 2], [1]]


def test_other_rules_get_one_parameter_a_call():
    assert run(0, ["float32"] * 3) == [0, 1, 2]


def test_states_come_back_with_and_without_the_optimizer():
    updater = optimizer.get_updater(optimizer.SGD(learning_rate=0.1, momentum=0.9))
    updater([0, 1], [nd.ones((1,)), nd.ones((1,))], [nd.ones((1,)), nd.ones((1,))])
    bare = optimizer.get_updater(optimizer.SGD(learning_rate=0.7, momentum=0.5))
    bare.set_states(updater.get_states())
    assert bare.optimizer.learning_rate == 0.7
    whole = optimizer.get_updater(optimizer.SGD())
    whole.set_states(updater.get_states(dump_optimizer=True))
    assert (whole.optimizer.learning_rate, whole.optimizer.num_update) == (0.1, 1)
    for loaded in (bare, whole):
        assert loaded.states_synced == {0: False, 1: False}
        np.testing.assert_allclose(loaded.states[1].asnumpy(), [-0.1], rtol=1e-6)


def test_loaded_states_move_to_the_weights_context():
    updater = optimizer.get_updater(optimizer.Adam())
    updater(0, nd.ones((1,)), nd.ones((1,)))
    updater.set_states(updater.get_states())
    weight = nd.ones((1,), ctx=mx.cpu(1))
    updater(0, nd.ones((1,), ctx=mx.cpu(1)), weight)
    assert [s.context for s in updater.states[0]] == [mx.cpu(1)] * 2
    assert updater.states_synced == {0: True}


def test_updates_are_counted_per_device():
    updater = optimizer.get_updater(optimizer.SGD())
    for device in (0, 1):
        ctx = mx.cpu(device)
        updater(0, nd.ones((1,), ctx=ctx), nd.ones((1,), ctx=ctx))
    assert updater.optimizer._all_index_update_counts == {0: {0: 1}, 1: {0: 1}}
    assert updater.optimizer.num_update == 1


def test_states_are_a_pickle_of_index_to_state():
    updater = optimizer.get_updater(optimizer.Adam())
    updater("w", nd.ones((1,)), nd.ones((1,)))
    mean, square = loads(updater.get_states())["w"]
    assert mean.asscalar() == pytest.approx(0.1)
    assert square.asscalar() == pytest.approx(0.001, rel=1e-4)
