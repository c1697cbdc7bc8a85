"""Loss and its namesakes, CustomMetric and np."""

import numpy as np
import pytest

from minigluon import metric, nd


def total_error(label, pred):
    return float(np.abs(label - pred).sum())


def test_loss_is_the_mean_of_all_outputs_and_needs_no_labels():
    loss = metric.Loss()
    loss.update(None, [nd.array([1.0, 2.0]), nd.array([[6.0]])])
    loss.update(None, nd.array([3.0]))
    assert loss.get() == ("loss", 3.0)
    assert loss.get_global() == ("loss", 3.0)


@pytest.mark.parametrize("name", ["torch", "caffe"])
def test_namesakes_of_loss_do_the_same(name):
    made = metric.create(name)
    made.update(None, [nd.array([1.0, 2.0])])
    assert made.get() == (name, 1.5)


def test_a_function_counts_once_a_pair_of_arrays():
    made = metric.create(total_error)
    made.update([nd.array([1, 2]), nd.ones(1)], [nd.array([3, 4]), nd.zeros(1)])
    assert made.get() == ("total_error", 2.5)
    made.reset_local()
    assert made.get_global() == ("total_error", 2.5)


def test_a_function_may_return_sum_and_count():
    made = metric.CustomMetric(lambda label, pred: (3.0, 2))
    made.update([nd.ones(1)], [nd.ones(1)])
    assert made.get() == ("custom(<lambda>)", 1.5)


def test_extra_outputs_are_refused_unless_allowed():
    made = metric.CustomMetric(total_error)
    with pytest.raises(ValueError, match="labels 1 does not match shape of predictions 2"):
        made.update([nd.ones(1)], [nd.ones(1), nd.ones(1)])
    allowed = metric.CustomMetric(total_error, allow_extra_outputs=True)
    allowed.update([nd.ones(1)], [nd.ones(1), nd.ones(1)])
    assert allowed.num_inst == 1


def test_a_function_may_write_to_what_it_is_given():
    def spoiling(label, pred):
        label[:] = 7
        return 0.0

    label = nd.ones(2)
    metric.CustomMetric(spoiling).update([label], [label])
    assert label.asnumpy().tolist() == [1, 1]


def test_a_function_cannot_be_written_down():
    with pytest.raises(NotImplementedError, match="cannot be serialized"):
        metric.CustomMetric(total_error).get_config()


def test_np_names_the_metric_after_the_function():
    assert metric.np(total_error).name == "total_error"
    assert metric.np(total_error, name="x").name == "x"
    assert metric.np(lambda label, pred: 0.0).name == "custom(<lambda>)"
