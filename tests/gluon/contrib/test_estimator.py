"""Estimator and its handlers; the log lines were recorded from MXNet 1.9.1."""

import logging
import re

import numpy as np
import pytest

from minigluon import MXNetError, cpu, gluon, gpu, init, metric, nd
from minigluon.gluon.contrib.estimator import (
    BatchBegin,
    BatchEnd,
    BatchProcessor,
    CheckpointHandler,
    EarlyStoppingHandler,
    EpochBegin,
    EpochEnd,
    Estimator,
    GradientUpdateHandler,
    LoggingHandler,
    MetricHandler,
    StoppingHandler,
    TrainBegin,
    TrainEnd,
    ValidationHandler,
)

LINES = """\
Training begin: using optimizer SGD with current learning rate 0.1000 
Train for 2 epochs.
[Epoch 0] Begin, current learning rate: 0.1000
[Epoch 0][Batch 0][Samples 4] time/interval: T training accuracy: 0.5000, training softmaxcrossentropyloss: 0.6931
[Epoch 0][Batch 2][Samples 10] time/interval: T training accuracy: 0.8000, training softmaxcrossentropyloss: 0.6517
Validation Begin
[Epoch 0] Finished in T, validation accuracy: 1.0000, validation softmaxcrossentropyloss: 0.5378
[Epoch 0] Finished in T, training accuracy: 0.8000, training softmaxcrossentropyloss: 0.6517
[Epoch 1] Begin, current learning rate: 0.1000
[Epoch 1][Batch 0][Samples 14] time/interval: T training accuracy: 1.0000, training softmaxcrossentropyloss: 0.5438
[Epoch 1][Batch 2][Samples 20] time/interval: T training accuracy: 1.0000, training softmaxcrossentropyloss: 0.5091
Validation Begin
[Epoch 0] Finished in T, validation accuracy: 1.0000, validation softmaxcrossentropyloss: 0.4298
[Epoch 1] Finished in T, training accuracy: 1.0000, training softmaxcrossentropyloss: 0.5091
Train finished using total 0s with 2 epochs. training accuracy: 1.0000, training softmaxcrossentropyloss: 0.5091
"""  # noqa: E501, W291


def loader(rows=10, size=4):
    x = np.sin(np.arange(3 * rows)).reshape(rows, 3)
    dataset = gluon.data.ArrayDataset(nd.array(x), nd.array(np.arange(rows) % 2))
    return gluon.data.DataLoader(dataset, batch_size=size)


def estimator(net=None, quiet=True, **kwargs):
    net = gluon.nn.Dense(2, in_units=3) if net is None else net
    net.initialize(init.One())
    trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    loss = gluon.loss.SoftmaxCrossEntropyLoss()
    made = Estimator(net, loss, trainer=trainer, context=cpu(), **kwargs)
    if quiet:
        made.logger.setLevel(logging.WARNING)
    return made


def test_the_lines_of_a_training_are_those_of_mxnet(capsys):
    it = estimator(quiet=False)
    handlers = [LoggingHandler(2, it.train_metrics)]
    it.fit(loader(), val_data=loader(6, 3), epochs=2, event_handlers=handlers)
    assert re.sub(r"\d+\.\d{3}s", "T", capsys.readouterr().out) == LINES


class Diary(TrainBegin, TrainEnd, EpochBegin, EpochEnd, BatchBegin, BatchEnd):
    """Writes down what is called."""

    def __init__(self):
        self.seen = []

    def train_begin(self, estimator, *args, **kwargs):
        self.seen.append("train_begin")

    def train_end(self, estimator, *args, **kwargs):
        self.seen.append("train_end")

    def epoch_begin(self, estimator, *args, **kwargs):
        self.seen.append("epoch_begin")

    def epoch_end(self, estimator, *args, **kwargs):
        self.seen.append("epoch_end")

    def batch_begin(self, estimator, *args, **kwargs):
        self.seen.append(("batch_begin", *kwargs))

    def batch_end(self, estimator, *args, **kwargs):
        self.seen.append(("batch_end", *kwargs))


def test_handlers_are_called_in_the_order_of_the_loop():
    diary = Diary()
    estimator().fit(loader(4), epochs=1, event_handlers=diary)
    assert diary.seen == [
        "train_begin",
        "epoch_begin",
        ("batch_begin", "batch"),
        ("batch_end", "batch", "pred", "label", "loss"),
        "epoch_end",
        "train_end",
    ]


def test_handlers_of_lower_priority_number_go_first():
    order = []

    class Marked(EpochEnd):
        def __init__(self, priority):
            self.priority = priority

        def epoch_end(self, estimator, *args, **kwargs):
            order.append(self.priority)

    handlers = [Marked(5), Marked(-5), Marked(1)]
    estimator().fit(loader(4), epochs=1, event_handlers=handlers)
    assert order == [-5, 1, 5]


def test_training_ends_after_so_many_batches():
    diary = Diary()
    estimator().fit(loader(), batches=4, event_handlers=[diary])
    assert sum(what[0] == "batch_end" for what in diary.seen) == 4
    assert diary.seen.count("epoch_end") == 2


def test_evaluate_runs_the_network_for_validation():
    other = gluon.nn.Dense(2, in_units=3)
    other.initialize(init.Zero())
    it = estimator(val_net=other, val_metrics=metric.Loss("l"))
    it.evaluate(loader())
    name, value = it.val_metrics[0].get()
    assert name == "validation l"
    assert value == pytest.approx(np.log(2), rel=1e-6)


def test_parts_of_a_batch_run_on_every_context():
    net = gluon.nn.Dense(2, in_units=3)
    with pytest.warns(UserWarning, match="No trainer specified, default SGD"):
        it = Estimator(
            net,
            gluon.loss.L2Loss(),
            context=[cpu(0), cpu(1)],
            initializer=init.One(),
            batch_processor=BatchProcessor(),
        )
    assert net.weight.list_ctx() == [cpu(0), cpu(1)]
    data, label = nd.ones((4, 3)), nd.ones((4, 2))
    parts = it.batch_processor.fit_batch(it, (data, label))
    assert [len(part) for part in parts] == [2, 2, 2, 2]
    assert parts[2][1].context == cpu(1)


def test_validation_is_run_with_the_given_period():
    calls = []

    def evaluate(val_data, batch_axis, event_handlers):
        calls.append((val_data, batch_axis, event_handlers))

    handler = ValidationHandler("data", evaluate, epoch_period=None, batch_period=2)
    estimator().fit(loader(20), epochs=1, event_handlers=[handler])
    assert calls == [("data", 0, None)] * 2


def test_the_best_and_the_last_checkpoints_are_kept(tmp_path):
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Dense(2, in_units=3))
    net.hybridize()
    it = estimator(net)
    keep = CheckpointHandler(
        tmp_path, "m", monitor=it.train_metrics[1], save_best=True, max_checkpoints=2
    )
    it.fit(loader(), epochs=4, event_handlers=[keep])
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "m-best.params",
        "m-best.states",
        "m-epoch2batch9.params",
        "m-epoch2batch9.states",
        "m-epoch3batch12.params",
        "m-epoch3batch12.states",
        "m-symbol.json",
    ]
    best = nd.load(str(tmp_path / "m-best.params"))["0.weight"]
    np.testing.assert_array_equal(best.asnumpy(), net[0].weight.data().asnumpy())


def test_training_goes_on_from_the_last_checkpoint(tmp_path):
    straight = estimator()
    straight.fit(loader(), epochs=5)
    first = estimator()
    first.fit(loader(), epochs=3, event_handlers=[CheckpointHandler(tmp_path)])
    second, diary = estimator(), Diary()
    resume = CheckpointHandler(tmp_path, resume_from_checkpoint=True)
    second.fit(loader(), epochs=5, event_handlers=[resume, diary])
    assert diary.seen.count("epoch_end") == 2
    np.testing.assert_allclose(
        second.net.weight.data().asnumpy(), straight.net.weight.data().asnumpy(), rtol=1e-6
    )
    assert (tmp_path / "model-epoch4batch15.params").is_file()
    with pytest.raises(ValueError, match="maximum number of epoch 5 reached"):
        second.fit(loader(), epochs=5, event_handlers=[resume])


def test_training_stops_when_the_metric_gets_no_better():
    it = estimator()
    stop = EarlyStoppingHandler(it.train_metrics[0], patience=2, baseline=1.5)
    diary = Diary()
    it.fit(loader(), epochs=9, event_handlers=[stop, diary])
    assert diary.seen.count("epoch_end") == 2
    assert (stop.wait, stop.best, stop.stopped_epoch) == (2, 1.5, 1)


def test_auto_mode_goes_by_the_name_of_the_metric():
    assert EarlyStoppingHandler(metric.Loss()).monitor_op is np.less
    assert EarlyStoppingHandler(metric.Accuracy()).monitor_op is np.greater
    with pytest.warns(RuntimeWarning, match="mode nope is unknown"):
        EarlyStoppingHandler(metric.MSE(), mode="nope")


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda it: it.fit(loader(), epochs=1, batches=1), "only support exactly one type"),
        (lambda it: it.fit(loader()), "only support exactly one type"),
        (lambda it: it.fit([1], epochs=1), "Estimator only support input as Gluon DataLoader"),
        (lambda it: it.fit(loader(0), batches=2), "there is nothing to train on"),
        (lambda it: it.evaluate(3), "Estimator only support input as Gluon DataLoader"),
        (lambda it: it.fit(loader(), epochs=1, event_handlers=[3]), "list of EventHandler, got"),
        (
            lambda it: it.fit(loader(), epochs=1, event_handlers=MetricHandler(metric.MSE())),
            "outside of the known training and validation metrics",
        ),
        (lambda it: Estimator(it.net, "loss"), "loss must be a Loss"),
        (lambda it: Estimator(it.net, it.loss, train_metrics="acc"), "metrics must be a Metric"),
        (lambda it: Estimator(it.net, it.loss, trainer="sgd"), "Trainer must be a Gluon Trainer"),
        (lambda it: Estimator(it.net, it.loss, context="cpu"), "context must be a Context"),
        (
            lambda it: Estimator(it.net, it.loss, trainer=it.trainer, batch_processor=3),
            r"must contain fit_batch\(\) and evaluate_batch\(\)",
        ),
        (lambda it: LoggingHandler("x"), "log_interval must be either an integer or string"),
        (lambda it: CheckpointHandler("x", save_best=True), "To save best model only"),
        (lambda it: EarlyStoppingHandler(3), "Please provide one of the metric objects"),
    ],
)
def test_what_an_estimator_cannot_use_is_named(attempt, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=message):
        attempt(estimator())


def test_a_context_that_is_not_there_is_an_error():
    it = estimator()
    with pytest.raises(MXNetError, match="gpu"):
        Estimator(it.net, it.loss, context=gpu(7))


def test_an_initialized_network_is_not_initialized_again():
    it = estimator()
    with pytest.warns(UserWarning, match="already fully initialized, skipping"):
        Estimator(it.net, it.loss, trainer=it.trainer, initializer=init.Zero())
    assert it.net.weight.data().asnumpy().min() == 1


def test_own_handlers_take_the_place_of_the_usual_ones():
    class Silent(GradientUpdateHandler):
        def batch_end(self, estimator, *args, **kwargs):
            return False

    it = estimator()
    it.fit(loader(), epochs=1, event_handlers=[Silent(), StoppingHandler()])
    assert it.net.weight.data().asnumpy().min() == 1
