"""Monitor."""

import logging
from types import SimpleNamespace

import numpy as np
import pytest

from minigluon import monitor, nd


class Watched:
    """An executor as a monitor sees it: two arguments, one state, one output a run."""

    def __init__(self):
        self._symbol = SimpleNamespace(
            list_arguments=lambda: ["data", "fc_weight"], list_auxiliary_states=lambda: ["bn_mean"]
        )
        self.arg_arrays = [nd.full((2, 2), 3.0), nd.full(4, 2.0)]
        self.aux_arrays = [nd.zeros(1)]

    def set_monitor_callback(self, callback, monitor_all=False):
        self.callback, self.monitor_all = callback, monitor_all

    def forward(self):
        self.callback("fc_output", nd.full((1, 2), 1.0))


def watch(**settings):
    watched, watching = Watched(), monitor.Monitor(**settings)
    watching.install(watched)
    return watched, watching


def batch(watched, watching):
    watching.tic()
    watched.forward()
    return watching.toc()


def test_outputs_arguments_and_states_are_collected():
    assert batch(*watch(interval=1)) == [
        (1, "fc_output", "1.0\t"),
        (1, "data", "3.0\t"),
        (1, "fc_weight", "2.0\t"),
        (1, "bn_mean", "0.0\t"),
    ]


def test_only_every_interval_th_batch_is_looked_at():
    watched, watching = watch(interval=2)
    assert [len(batch(watched, watching)) for _ in range(4)] == [4, 0, 4, 0]


def test_a_pattern_chooses_names():
    found = batch(*watch(interval=1, pattern=".*weight"))
    assert [name for _, name, _ in found] == ["fc_weight"]


def test_results_can_be_sorted_by_name():
    found = batch(*watch(interval=1, sort=True))
    assert [name for _, name, _ in found] == ["bn_mean", "data", "fc_output", "fc_weight"]


def test_a_statistic_may_be_a_list_of_arrays():
    settings = {"interval": 1, "pattern": "data", "stat_func": lambda x: [x.max(), x]}
    assert batch(*watch(**settings)) == [(1, "data", "3.0\t[[3. 3.]\n [3. 3.]]\t")]


def test_a_statistic_that_is_no_array_is_refused():
    _, watching = watch(interval=1, stat_func=lambda x: 3)
    watching.tic()
    with pytest.raises(TypeError, match="stat_func gave something else than arrays"):
        watching.toc()


def test_inputs_are_looked_at_when_asked_for():
    watched, _ = watch(interval=1, monitor_all=True)
    assert watched.monitor_all is True


def test_results_are_logged(caplog):
    caplog.set_level(logging.INFO)
    _, watching = watch(interval=1, pattern="data")
    watching.tic()
    watching.toc_print()
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.split() == ["Batch:", "1", "data", "3.0"]


def test_default_statistic_is_the_root_of_the_mean_square():
    x = np.array([1.0, -3.0, 2.0], np.float32)
    found = monitor.root_mean_square(nd.array(x)).asnumpy()
    np.testing.assert_allclose(found, [np.sqrt(np.mean(x**2))], rtol=1e-6)
