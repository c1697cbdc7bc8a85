"""Callbacks; log lines are recorded from MXNet 1.9.1."""

import logging
from types import SimpleNamespace

import pytest

from minigluon import callback, metric, nd


@pytest.fixture
def lines(caplog):
    """What was logged so far."""
    caplog.set_level(logging.INFO)
    return lambda: [record.getMessage() for record in caplog.records]


@pytest.fixture
def half_seconds(monkeypatch):
    """A clock that goes half a second further each time it is read."""
    ticks = iter(range(1000))
    monkeypatch.setattr(callback, "time", SimpleNamespace(time=lambda: next(ticks) / 2))


@pytest.fixture
def accuracy():
    """A metric that shows 0.5."""
    made = metric.Accuracy()
    made.update([nd.array([1, 0])], [nd.array([1, 1])])
    return made


def step(number, eval_metric, epoch=0):
    return SimpleNamespace(epoch=epoch, nbatch=number, eval_metric=eval_metric, locals={})


def test_speedometer_logs_speed_and_metric(half_seconds, lines, accuracy):
    speedometer = callback.Speedometer(batch_size=4, frequent=2)
    for number in range(5):
        speedometer(step(number, accuracy))
    assert lines() == [
        "Epoch[0] Batch [0-2]\tSpeed: 16.00 samples/sec\taccuracy=0.500000",
        "Epoch[0] Batch [2-4]\tSpeed: 16.00 samples/sec\taccuracy=nan",
    ]
    assert accuracy.get_global()[1] == 0.5


def test_speedometer_can_leave_the_metric_alone(half_seconds, lines, accuracy):
    speedometer = callback.Speedometer(4, 2, auto_reset=False)
    for number in range(5):
        speedometer(step(number, accuracy))
    assert lines() == [
        "Epoch[0] Batch [0-2]\tSpeed: 16.00 samples/sec\taccuracy=0.500000",
        "Epoch[0] Batch [0-4]\tSpeed: 16.00 samples/sec\taccuracy=0.500000",
    ]


def test_speedometer_shows_every_metric_of_a_composite(half_seconds, lines):
    speedometer = callback.Speedometer(4, 1)
    for number in range(2):
        speedometer(step(number, metric.create(["acc", "mse"]), epoch=1))
    assert lines() == ["Epoch[1] Batch [0-1]\tSpeed: 8.00 samples/sec\taccuracy=nan\tmse=nan"]


def test_speedometer_works_without_metric(half_seconds, lines):
    speedometer = callback.Speedometer(4, 2)
    for number in range(3):
        speedometer(step(number, None))
    assert lines() == ["Iter[0] Batch [2]\tSpeed: 16.00 samples/sec"]


def test_speedometer_starts_its_clock_anew_in_each_epoch(half_seconds, lines):
    speedometer = callback.Speedometer(4, 1)
    for number in (0, 1, 0, 1):
        speedometer(step(number, None))
    assert len(lines()) == 2


def test_progress_bar_grows(lines):
    bar = callback.ProgressBar(total=4, length=10)
    for number in (0, 1, 4):
        bar(SimpleNamespace(nbatch=number))
    assert lines() == ["[----------] 0%\r", "[==--------] 25%\r", "[==========] 100%\r"]


def test_train_metric_is_logged_each_period(lines, accuracy):
    log = callback.log_train_metric(2)
    for number in range(4):
        log(step(number, accuracy, epoch=3))
    assert lines() == [
        "Iter[3] Batch[0] Train-accuracy=0.500000",
        "Iter[3] Batch[2] Train-accuracy=0.500000",
    ]


def test_train_metric_can_be_reset_after_logging(lines, accuracy):
    log = callback.log_train_metric(1, auto_reset=True)
    log(step(0, accuracy))
    assert accuracy.num_inst == 0
    log(step(1, None))
    assert len(lines()) == 1


def test_validation_metric_is_logged(lines, accuracy):
    log = callback.LogValidationMetricsCallback()
    log(SimpleNamespace(epoch=3, eval_metric=accuracy))
    log(SimpleNamespace(epoch=3, eval_metric=None))
    assert lines() == ["Epoch[3] Validation-accuracy=0.500000"]


def test_checkpoints_are_saved_each_period(tmp_path):
    checkpoint = callback.do_checkpoint(str(tmp_path / "net"), period=2)
    for epoch in range(4):
        checkpoint(epoch, None, {"w": nd.ones((1,))}, {})
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "net-0002.params",
        "net-0004.params",
    ]


def test_modules_are_saved_each_period():
    saved = []
    module = SimpleNamespace(save_checkpoint=lambda *args: saved.append(args))
    checkpoint = callback.module_checkpoint(module, "net", 2, save_optimizer_states=True)
    for epoch in range(4):
        checkpoint(epoch)
    assert saved == [("net", 2, True), ("net", 4, True)]
