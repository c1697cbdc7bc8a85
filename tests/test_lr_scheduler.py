"""Learning rate schedules; sequences and log lines are recorded from MXNet 1.9.1."""

import logging
import subprocess
import sys

import numpy as np
import pytest

from minigluon import lr_scheduler
from minigluon.lr_scheduler import (
    CosineScheduler,
    FactorScheduler,
    LRScheduler,
    MultiFactorScheduler,
    PolyScheduler,
)

RECORDED = [
    (FactorScheduler(2, 0.5, base_lr=1), [1, 1, 1, 0.5, 0.5, 0.25, 0.25, 0.125]),
    (
        FactorScheduler(2, 0.5, stop_factor_lr=0.2, base_lr=1),
        [1, 1, 1, 0.5, 0.5, 0.25, 0.25, 0.2, 0.2, 0.2, 0.2],
    ),
    (FactorScheduler(1, 0.5, stop_factor_lr=0.2, base_lr=1), [1, 1, 0.5, 0.25, 0.2, 0.2]),
    (
        FactorScheduler(2, 0.5, base_lr=1, warmup_steps=5, warmup_begin_lr=0.1),
        [0.1, 0.28, 0.46, 0.64, 0.82, 0.25, 0.25, 0.125],
    ),
    (
        FactorScheduler(2, 0.5, base_lr=1, warmup_steps=3, warmup_mode="constant"),
        [0, 0, 0, 0.5, 0.5, 0.25],
    ),
    (MultiFactorScheduler([2, 5], 0.5, base_lr=1), [1, 1, 1, 0.5, 0.5, 0.5, 0.25, 0.25]),
    (
        MultiFactorScheduler([2, 5], 0.5, base_lr=1, warmup_steps=3),
        [0, 1 / 3, 2 / 3, 0.5, 0.5, 0.5, 0.25],
    ),
    (
        PolyScheduler(10, 1, 2, 0.1),
        [1, 0.829, 0.676, 0.541, 0.424, 0.325, 0.244, 0.181, 0.136, 0.109, 0.1, 0.1],
    ),
    (
        PolyScheduler(10, 1, 2, 0.1, 4, 0.05),
        [0.05, 0.2875, 0.525, 0.7625, 1, 0.725, 0.5, 0.325, 0.2, 0.125, 0.1, 0.1],
    ),
    (
        CosineScheduler(10, 1, 0.1),
        [1, 0.9779754323, 0.9140576475, 0.8145033635, 0.6890576475, 0.55, 0.4109423525],
    ),
    (
        CosineScheduler(10, 1, 0.1, 4, 0.05),
        [0.05, 0.2875, 0.525, 0.7625, 1, 0.9397114317, 0.775, 0.55, 0.325, 0.1602885683, 0.1],
    ),
]


@pytest.mark.parametrize(("scheduler", "expected"), RECORDED)
def test_rates_are_those_of_mxnet(scheduler, expected):
    found = [scheduler(update) for update in range(len(expected))]
    np.testing.assert_allclose(found, expected, atol=1e-10)


def test_updates_may_be_skipped():
    scheduler = FactorScheduler(2, 0.5, base_lr=1)
    assert scheduler(9) == 0.0625
    assert scheduler.count == 8
    assert scheduler(3) == 0.0625


def test_a_new_base_rate_is_what_factors_act_on():
    scheduler = FactorScheduler(1, 0.5)
    scheduler.base_lr = 8.0
    assert [scheduler(update) for update in range(4)] == [8.0, 8.0, 4.0, 2.0]


def test_changes_are_logged(caplog):
    caplog.set_level(logging.INFO)
    scheduler = FactorScheduler(1, 0.5, stop_factor_lr=0.4, base_lr=1)
    scheduler(2)
    scheduler(3)
    assert [record.getMessage() for record in caplog.records] == [
        "Update[2]: Change learning rate to 5.00000e-01",
        "Update[3]: now learning rate arrived at 4.00000e-01, will not change in the future",
    ]


def test_numpy_integers_are_integers():
    assert PolyScheduler(np.int64(4), base_lr=1.0)(4) == 0.0


def test_a_warm_up_that_lasts_until_the_end_ends_at_the_final_rate():
    assert CosineScheduler(10, 1.0, 0.1, warmup_steps=10)(10) == pytest.approx(0.1)


def test_the_base_class_has_no_rate():
    with pytest.raises(NotImplementedError, match="must override this"):
        LRScheduler()(1)


REFUSED = {
    "LRScheduler(warmup_steps=1.5)": "warmup_steps has to be an integer",
    "LRScheduler(warmup_steps=-1)": "Warmup steps has to be positive or 0",
    "LRScheduler(.1, 2, .2)": "Base lr has to be higher than warmup_begin_lr",
    "LRScheduler(.1, 2, .1, 'foo')": "Supports only linear and constant modes of warmup",
    "LRScheduler(.1, 2).get_warmup_lr(2)": "The warm-up is over",
    "FactorScheduler(0)": "Schedule step must be greater or equal than 1 round",
    "FactorScheduler(2, 1.5)": "Factor must be no more than 1 to make lr reduce",
    "MultiFactorScheduler(step=())": "Schedule step must be a list",
    "MultiFactorScheduler([])": "Schedule step must be a list",
    "MultiFactorScheduler([2, 2])": "Schedule step must be an increasing integer list",
    "MultiFactorScheduler([0, 2])": "Schedule step must be greater or equal than 1 round",
    "MultiFactorScheduler([1, 2], 1.5)": "Factor must be no more than 1 to make lr reduce",
    "PolyScheduler(0)": "maximum number of updates must be strictly positive",
    "PolyScheduler(1.5)": "max_update has to be an integer",
    "CosineScheduler(0)": "maximum number of updates must be strictly positive",
    "CosineScheduler(2.5)": "max_update has to be an integer",
}


@pytest.mark.parametrize("call", REFUSED)
@pytest.mark.parametrize("kind", [ValueError, AssertionError])
def test_wrong_arguments_are_refused(call, kind):
    with pytest.raises(kind, match=REFUSED[call]):
        eval(call, vars(lr_scheduler))


@pytest.mark.slow
def test_wrong_arguments_are_refused_by_an_optimising_python():
    code = (
        "from minigluon.lr_scheduler import *\n"
        f"for call in {list(REFUSED)!r}:\n"
        "    try: eval(call)\n"
        "    except ValueError: continue\n"
        "    raise SystemExit(call)\n"
    )
    subprocess.run([sys.executable, "-O", "-c", code], check=True)
