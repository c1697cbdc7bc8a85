"""The benchmarks run; how fast anything is no test says."""

import importlib

import pytest

import minigluon
from benchmarks import driver

SMALL = ["operators", "two_layers", "start_up"]


@pytest.mark.parametrize("name", driver.names())
def test_a_workload_says_what_it_is_and_what_is_wanted(name):
    module = importlib.import_module(f"benchmarks.workloads.{name}")
    assert module.__doc__
    assert module.TARGETS
    assert callable(module.mx)


@pytest.mark.parametrize("name", SMALL)
def test_targets_are_those_of_cases(name):
    module = importlib.import_module(f"benchmarks.workloads.{name}")
    cases, _ = module.mx(minigluon)
    assert set(module.TARGETS) <= {case.name for case in cases}


def test_results_that_differ_are_told():
    checks = {"minigluon": {"loss": 1.0}, "mxnet": {"loss": [1.1]}}
    assert driver._differences(checks) == ["loss: mxnet [1.1], minigluon [1.0]"]


def test_ratios_say_how_many_times_better_minigluon_is():
    samples = {"minigluon": [(2.0, 1.0), (4.0, 1.0)], "mxnet": [(6.0, 1.0), (12.0, 2.0)]}
    row = driver._row("step", "us", True, samples, {"mxnet": 4})
    assert row["ratios"] == {"mxnet": 3.0}
    assert driver._row("rate", "rows/s", False, samples, {})["ratios"]["mxnet"] == pytest.approx(
        1 / 3
    )
    table = driver.report(
        {"workload": "w", "about": "What.", "rows": [row], "differ": [], "failed": {}}
    )
    assert "mxnet 3 (4, MISSED)" in table
