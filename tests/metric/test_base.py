"""EvalMetric, CompositeEvalMetric and create."""

import copy
import json
import math
import pickle

import numpy as np
import pytest

from minigluon import metric, nd
from minigluon.base import MXNetError

SETTINGS = {
    "acc": {},
    "top_k_accuracy": {"top_k": 3},
    "f1": {"average": "micro"},
    "mcc": {"average": "micro"},
    "pcc": {},
    "perplexity": {"ignore_label": 2, "axis": 1},
    "mae": {},
    "mse": {},
    "rmse": {},
    "ce": {"eps": 1e-6},
    "nll_loss": {},
    "pearsonr": {"average": "micro"},
    "loss": {},
    "torch": {},
    "caffe": {},
}


@pytest.fixture
def mse():
    return metric.create("mse")


@pytest.mark.parametrize("name", SETTINGS)
def test_value_is_nan_before_the_first_update(name):
    made = metric.create(name, **SETTINGS[name])
    assert math.isnan(made.get()[1])
    assert math.isnan(made.get_global()[1])


@pytest.mark.parametrize("name", SETTINGS)
def test_configuration_survives_json(name):
    made = metric.create(name, **SETTINGS[name])
    again = metric.create(json.dumps(made.get_config()))
    assert type(again) is type(made)
    assert again.get_config() == made.get_config()


@pytest.mark.parametrize("name", SETTINGS)
def test_metrics_can_be_copied_and_pickled(name):
    made = metric.create(name, **SETTINGS[name])
    assert copy.deepcopy(made).get_config() == made.get_config()
    assert pickle.loads(pickle.dumps(made)).get_config() == made.get_config()


def test_configuration_of_a_composite_survives_json():
    made = metric.create(["acc", metric.TopKAccuracy(5), metric.F1(average="micro")])
    again = metric.create(json.dumps(made.get_config()))
    assert again.get_config() == made.get_config()
    assert again.metrics[2].average == "micro"


# recorded from MXNet 1.9.1
NAMES = {
    "acc": ("Accuracy", "accuracy"),
    "f1": ("F1", "f1"),
    "mcc": ("MCC", "mcc"),
    "pcc": ("PCC", "pcc"),
    "mae": ("MAE", "mae"),
    "mse": ("MSE", "mse"),
    "rmse": ("RMSE", "rmse"),
    "ce": ("CrossEntropy", "cross-entropy"),
    "nll_loss": ("NegativeLogLikelihood", "nll-loss"),
    "pearsonr": ("PearsonCorrelation", "pearsonr"),
    "loss": ("Loss", "loss"),
    "torch": ("Torch", "torch"),
    "caffe": ("Caffe", "caffe"),
    "composite": ("CompositeEvalMetric", "composite"),
    "topkaccuracy": ("TopKAccuracy", "top_k_accuracy_2"),
    "top_k_acc": ("TopKAccuracy", "top_k_accuracy_2"),
    "perplexity": ("Perplexity", "perplexity"),
}


@pytest.mark.parametrize("name", NAMES)
def test_names_are_those_of_mxnet(name):
    more = {"topk": {"top_k": 2}, "top_": {"top_k": 2}, "perp": {"ignore_label": None}}
    made = metric.create(name, **more.get(name[:4], {}))
    assert (type(made).__name__, made.name) == NAMES[name]


def test_text_shows_names_and_values(mse):
    assert str(mse) == "EvalMetric: {'mse': nan}"
    mse.update(nd.array([1.0]), nd.array([3.0]))
    assert str(mse) == "EvalMetric: {'mse': 4.0}"


def test_local_reset_leaves_the_global_value(mse):
    mse.update([nd.array([1, 2])], [nd.array([2, 3])])
    mse.reset_local()
    mse.update([nd.array([1, 2])], [nd.array([1, 2])])
    assert mse.get_name_value() == [("mse", 0.0)]
    assert mse.get_global_name_value() == [("mse", 0.5)]


def test_reset_forgets_both_values(mse):
    mse.update([nd.array([1, 2])], [nd.array([2, 3])])
    mse.reset()
    assert math.isnan(mse.get()[1])
    assert math.isnan(mse.get_global()[1])


def test_a_metric_without_global_state_shows_the_local_one():
    class Mine(metric.EvalMetric):
        def update(self, labels, preds):
            self.sum_metric += 2
            self.num_inst += 1

    mine = Mine("mine")
    mine.update(None, None)
    assert mine.get_global() == ("mine", 2.0)


def test_update_dict_chooses_by_name():
    chosen = metric.MSE(output_names=["b"], label_names=["y"])
    labels = {"y": nd.array([1, 2]), "z": nd.array([9, 9])}
    chosen.update_dict(labels, {"a": nd.array([7, 7]), "b": nd.array([2, 3])})
    assert chosen.get() == ("mse", 1.0)


def test_update_dict_with_a_missing_name_is_a_key_error():
    with pytest.raises(KeyError):
        metric.MSE(label_names=["y"]).update_dict({"z": nd.ones(1)}, {"a": nd.ones(1)})


def test_different_numbers_of_labels_and_predictions_are_refused(mse):
    with pytest.raises(ValueError, match="labels 2 does not match shape of predictions 1"):
        mse.update([nd.ones(2), nd.ones(2)], [nd.ones(2)])


def test_missing_labels_are_a_type_error(mse):
    with pytest.raises(TypeError, match="labels or predictions are missing"):
        mse.update(None, [nd.ones(2)])


def test_nothing_is_taken_in_of_a_batch_that_fails(mse):
    good, bad = nd.ones((2, 1)), nd.ones((3, 2))
    with pytest.raises(ValueError, match="do not fit together"):
        mse.update([good, good], [good, bad])
    assert mse.num_inst == 0


def test_numpy_arrays_are_taken_as_well(mse):
    mse.update(np.ones(3), np.zeros(3))
    assert mse.get() == ("mse", 1.0)


def test_base_class_does_not_know_how_to_update():
    with pytest.raises(NotImplementedError):
        metric.EvalMetric("mine").update([], [])


def test_configuration_holds_the_constructor_arguments():
    assert metric.Accuracy(axis=2).get_config() == {  # recorded from MXNet 1.9.1
        "axis": 2,
        "metric": "Accuracy",
        "name": "accuracy",
        "output_names": None,
        "label_names": None,
    }


def test_create_passes_an_object_through(mse):
    assert metric.create(mse) is mse


def test_create_refuses_arguments_beside_an_object(mse):
    with pytest.raises(AssertionError, match="already an instance"):
        metric.create(mse, name="x")


@pytest.mark.parametrize("unusable", [None, 3])
def test_create_refuses_what_is_no_name(unusable):
    with pytest.raises(AssertionError, match="must be of string type"):
        metric.create(unusable)


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(MXNetError, match=r"zz is not registered(.|\n)*top_k_accuracy"):
        metric.create("zz")


def test_create_makes_an_object_of_a_class():
    assert isinstance(metric.create(metric.MSE), metric.MSE)


def test_create_reads_a_list_of_name_and_arguments():
    assert metric.create('["mse", {"name": "q"}]').name == "q"


def test_a_list_makes_a_composite_of_like_arguments():
    assert metric.create(["mse", "mae"], name="x").get()[0] == ["x", "x"]


def test_composite_collects_names_and_values():
    both = metric.create(["mse", "mae"])
    both.add("rmse")
    both.update([nd.array([1, 2])], [nd.array([2, 4])])
    names, found = both.get()
    assert names == ["mse", "mae", "rmse"]
    np.testing.assert_allclose(found, [2.5, 1.5, 2.5**0.5])
    both.reset_local()
    assert math.isnan(both.get()[1][0])
    assert both.get_global()[1] == found


def test_composite_passes_on_named_arrays_it_may_see():
    both = metric.CompositeEvalMetric(
        [metric.MSE(output_names=["a"]), metric.MAE(output_names=["b"])],
        output_names=["a", "b"],
        label_names=["y"],
    )
    labels = {"y": nd.array([1, 2]), "z": nd.array([3, 4])}
    preds = {"a": nd.array([1, 1]), "b": nd.array([2, 2]), "c": nd.array([4, 4])}
    both.update_dict(labels, preds)
    assert both.get() == (["mse", "mae"], [0.5, 0.5])  # recorded from MXNet 1.9.1


def test_composite_has_no_metric_beyond_its_last():
    with pytest.raises(ValueError, match="Metric index 5 is out of range 0 and 1"):
        metric.CompositeEvalMetric(["mse"]).get_metric(5)


def test_check_label_shapes_compares_lengths_or_shapes():
    column, wide = nd.ones((3, 1)), nd.ones((3, 2))
    assert metric.check_label_shapes(column, wide) == (column, wide)
    with pytest.raises(ValueError, match=r"labels \(3, 1\) does not match"):
        metric.check_label_shapes(column, wide, shape=True)


def test_check_label_shapes_wraps_bare_arrays():
    column = nd.ones((3, 1))
    labels, preds = metric.check_label_shapes(column, column, wrap=True)
    assert labels[0] is column
    assert len(preds) == 1


def test_a_registered_class_is_found_by_its_name_and_aliases():
    @metric.alias("short_form")
    @metric.register
    class RegisteredForThisTest(metric.EvalMetric):
        def __init__(self):
            super().__init__("mine")

    assert type(metric.create("registeredforthistest")) is RegisteredForThisTest
    assert type(metric.create("Short_Form")) is RegisteredForThisTest


def test_registering_a_taken_name_warns():
    class Again(metric.EvalMetric):
        pass

    metric.register(Again, "taken_for_this_test")
    other = type("Again", (metric.EvalMetric,), {})
    with pytest.warns(UserWarning, match="is overriding existing metric"):
        metric.register(other, "taken_for_this_test")


def test_only_metrics_can_be_registered():
    with pytest.raises(AssertionError, match="Can only register subclass of EvalMetric"):
        metric.register(int)
