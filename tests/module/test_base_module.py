"""minigluon/module/base_module.py: what fit, score and predict make of the steps of a module."""

import logging

import numpy as np
import pytest

import minigluon as mx
from minigluon.base import MXNetError
from minigluon.module.base_module import _as_list, _parse_data_desc


def test_callbacks_come_in_the_order_of_mxnet(small):
    seen = []
    module = mx.mod.Module(small.symbol)
    module.fit(
        small.iterator(),
        eval_data=small.iterator(),
        num_epoch=2,
        begin_epoch=1,
        batch_end_callback=[lambda p: seen.append(("batch", p.epoch, p.nbatch))],
        epoch_end_callback=lambda epoch, symbol, arg, aux: seen.append(
            ("epoch", epoch, symbol is module.symbol, sorted(arg), aux)
        ),
        eval_batch_end_callback=lambda p: seen.append(("eval batch", p.nbatch)),
        eval_end_callback=lambda p: seen.append(("eval", p.epoch, p.nbatch)),
    )
    params = ["fc1_bias", "fc1_weight", "fc2_bias", "fc2_weight"]
    assert seen == [
        *(("batch", 1, n) for n in range(3)),
        ("epoch", 1, True, params, {}),
        *(("eval batch", n) for n in range(3)),
        ("eval", 1, 3),
    ]


def test_callbacks_can_look_at_what_fit_works_with(small):
    found = {}
    mx.mod.Module(small.symbol).fit(
        small.iterator(), num_epoch=1, batch_end_callback=lambda p: found.update(p.locals)
    )
    assert {"self", "data_batch", "epoch", "nbatch", "eval_metric", "train_data"} <= set(found)


def test_fit_reports_metrics_in_mxnets_words(small, caplog):
    caplog.set_level(logging.INFO)
    mx.mod.Module(small.symbol).fit(
        small.iterator(), eval_data=small.iterator(), num_epoch=1, arg_params=small.params()
    )
    assert "Epoch[0] Train-accuracy=" in caplog.text
    assert "Epoch[0] Time cost=" in caplog.text
    assert "Epoch[0] Validation-accuracy=" in caplog.text


def test_fit_needs_the_number_of_epochs(small):
    with pytest.raises(AssertionError, match="number of epochs"):
        mx.mod.Module(small.symbol).fit(small.iterator())


def test_a_label_is_read_before_the_next_batch_is_fetched(small):
    class Reusing(mx.io.DataIter):
        """Fills the arrays of its one batch anew every time."""

        def __init__(self):
            super().__init__(2)
            self.provide_data = [mx.io.DataDesc("data", (2, 5))]
            self.provide_label = [mx.io.DataDesc("softmax_label", (2,))]
            self.batch, self.at = small.batch(2), 0

        def reset(self):
            self.at = 0

        def next(self):
            if self.at == 3:
                raise StopIteration
            self.at += 1
            self.batch.label[0][:] = self.at - 1
            return self.batch

    class Labels(mx.metric.EvalMetric):
        """Remembers the labels it was shown."""

        def __init__(self):
            self.seen = []
            super().__init__("labels")

        def update(self, labels, preds):
            self.seen.append(labels[0].asnumpy().tolist())

    metric = Labels()
    mx.mod.Module(small.symbol).fit(Reusing(), eval_metric=metric, num_epoch=1)
    assert metric.seen == [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]


def test_fit_prepares_every_batch(small):
    asked = []

    class Watching(mx.mod.Module):
        def prepare(self, data_batch, sparse_row_id_fn=None):
            asked.append(sparse_row_id_fn)

    def rows(batch):
        return {}

    Watching(small.symbol).fit(small.iterator(), num_epoch=1, sparse_row_id_fn=rows)
    assert asked == [rows] * 3


def test_a_monitor_is_asked_about_every_batch(small):
    class Counting:
        calls: list[str] = []

        def install(self, executor):
            self.calls.append("install")

        def tic(self):
            self.calls.append("tic")

        def toc_print(self):
            self.calls.append("toc")

    mx.mod.Module(small.symbol).fit(small.iterator(), num_epoch=1, monitor=Counting())
    assert Counting.calls == ["install", *["tic", "toc"] * 3]


def test_scores_repeat_and_an_exhausted_iterator_scores_nan(small):
    module, batches = small.bound(), small.iterator()
    first, second = module.score(batches, "ce"), module.score(batches, "ce")
    assert first == second
    [(name, value)] = module.score(batches, "ce", reset=False)
    assert name == "cross-entropy"
    assert np.isnan(value)


def test_score_can_stop_early_and_takes_several_metrics(small):
    ends = []
    found = small.bound().score(
        small.iterator(),
        ["acc", "ce"],
        num_batch=1,
        score_end_callback=lambda p: ends.append(p.nbatch),
    )
    assert [name for name, _ in found] == ["accuracy", "cross-entropy"]
    assert ends == [1]


def test_predict_joins_batches_and_cuts_the_padding(small):
    module = small.bound()
    merged = module.predict(small.iterator())
    assert merged.shape == (10, 3)
    apart = module.predict(small.iterator(), merge_batches=False)
    assert [[out.shape for out in outputs] for outputs in apart] == [[(4, 3)], [(4, 3)], [(2, 3)]]
    joined = np.concatenate([outputs[0].asnumpy() for outputs in apart])
    assert joined.tolist() == merged.asnumpy().tolist()


def test_predict_gives_a_list_if_asked(small):
    outputs = small.bound().predict(small.iterator(), always_output_list=True)
    assert [out.shape for out in outputs] == [(10, 3)]


def test_predict_can_stop_early(small):
    assert small.bound().predict(small.iterator(), num_batch=2).shape == (8, 3)


def test_predict_takes_arrays_as_one_batch(small):
    module = small.bound()
    expected = module.predict(small.iterator()).asnumpy()
    for data in (small.data, mx.nd.array(small.data)):
        np.testing.assert_allclose(module.predict(data).asnumpy(), expected, rtol=1e-6)


def test_predict_refuses_what_is_no_data(small):
    with pytest.raises(ValueError, match="must be of type NDArray or DataIter"):
        small.bound().predict(3)


def test_iter_predict_yields_outputs_number_and_batch(small):
    found = list(small.bound().iter_predict(small.iterator()))
    assert [(outputs[0].shape, n, batch.pad) for outputs, n, batch in found] == [
        ((4, 3), 0, 0),
        ((4, 3), 1, 0),
        ((2, 3), 2, 2),
    ]


def test_parameters_survive_a_file(small, tmp_path):
    module, fname = small.bound(), str(tmp_path / "m.params")
    module.save_params(fname)
    assert sorted(mx.nd.load(fname)) == [
        "arg:fc1_bias", "arg:fc1_weight", "arg:fc2_bias", "arg:fc2_weight"
    ]  # fmt: skip
    module.init_params(mx.init.One(), force_init=True)
    module.load_params(fname)
    assert module.get_params()[0]["fc1_bias"].asnumpy().tolist() == small.wave(4).tolist()


def test_a_file_without_tags_is_refused(small, tmp_path):
    fname = str(tmp_path / "m.params")
    mx.nd.save(fname, small.params())
    with pytest.raises(ValueError, match="arg: or aux:"):
        small.bound().load_params(fname)


def test_a_damaged_file_leaves_the_parameters_alone(small, tmp_path):
    module, path = small.bound(), tmp_path / "m.params"
    module.save_params(str(path))
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(MXNetError):
        module.load_params(str(path))
    assert module.get_params()[0]["fc1_bias"].asnumpy().tolist() == small.wave(4).tolist()


def test_a_module_of_its_own_kind_does_not_call_sparse_row_id_fn():
    with pytest.warns(UserWarning, match="not invoked"):
        mx.mod.BaseModule().prepare(None, sparse_row_id_fn=lambda batch: {})


def test_shapes_become_descriptions():
    data, label = _parse_data_desc(["x"], ["y"], [("x", (2, 3), "float16", "TNC")], [("y", (2,))])
    assert (data[0].shape, data[0].layout) == ((2, 3), "TNC")
    assert label[0].name == "y"
    assert _parse_data_desc(["x"], [], [("x", (2, 3))], None)[1] is None


def test_other_labels_than_named_are_warned_about():
    with pytest.warns(UserWarning, match="label_names"):
        _parse_data_desc(["x"], ["y"], [("x", (2, 3))], [("z", (2,))])


def test_one_is_a_list_of_one():
    assert (_as_list(3), _as_list((3,)), _as_list([3])) == ([3], (3,), [3])
