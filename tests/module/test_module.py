"""minigluon/module/module.py; numbers called recorded come from MXNet 1.9.1."""

from pathlib import Path

import numpy as np
import pytest

import minigluon as mx
from minigluon.base import MXNetError

GOLDEN = Path(__file__).parent.parent / "data" / "module"


def values(module, name):
    return module.get_params()[0][name].asnumpy()


def fit(small, **options):
    module = mx.mod.Module(small.symbol, **options.pop("module", {}))
    options.setdefault("optimizer_params", {"learning_rate": 0.3, "momentum": 0.9})
    module.fit(
        small.iterator(), eval_metric="ce", num_epoch=2, arg_params=small.params(), **options
    )
    return module


# ---- training


RECORDED_FC1_BIAS = {
    "sgd": [-0.7227428, -0.22366542, -0.5372812, -1.823131],
    "adam": [0.28240383, 0.38481462, -0.2758473, -1.1482713],
    "decayed": [0.39671046, 0.61545336, -0.09179427, -1.1032051],
}


@pytest.mark.parametrize(
    ("recorded", "options"),
    [
        ("sgd", {}),
        ("sgd", {"kvstore": None}),
        ("sgd", {"kvstore": "device"}),
        ("sgd", {"module": {"context": [mx.cpu(0), mx.cpu(1)]}}),
        ("sgd", {"module": {"context": [mx.cpu(0), mx.cpu(1)], "work_load_list": [1, 3]}}),
        ("adam", {"optimizer": "adam", "optimizer_params": {"learning_rate": 0.1}}),
        ("decayed", {"optimizer_params": {"learning_rate": 0.3, "wd": 0.1}}),
    ],
)
def test_training_gives_the_parameters_mxnet_gets(small, recorded, options):
    module = fit(small, **options)
    np.testing.assert_allclose(
        values(module, "fc1_bias"), RECORDED_FC1_BIAS[recorded], rtol=2e-5, atol=1e-6
    )


def test_devices_that_update_on_their_own_sum_their_gradients(small, monkeypatch):
    monkeypatch.setenv("MXNET_UPDATE_ON_KVSTORE", "0")
    module = fit(small, module={"context": [mx.cpu(0), mx.cpu(1)]})
    assert module._updater is not None
    np.testing.assert_allclose(
        values(module, "fc1_bias"), RECORDED_FC1_BIAS["sgd"], rtol=2e-5, atol=1e-6
    )


def test_sparse_training_gives_the_weights_of_mxnet():
    symbol = mx.sym.load(str(GOLDEN / "sparse_linreg-symbol.json"))
    arrays = mx.nd.load(str(GOLDEN / "sparse_linreg_io.params"))
    module = mx.mod.Module(symbol, label_names=["label"])
    module.bind([("data", (8, 20))], [("label", (8,))])
    rows = mx.nd.sparse.row_sparse_array((np.zeros((20, 1), np.float32), np.arange(20)), (20, 1))
    module.init_params(arg_params={"weight": rows, "bias": mx.nd.zeros((1,))})
    module.init_optimizer(kvstore=None, optimizer_params={"learning_rate": 0.05, "momentum": 0.5})
    for _ in range(3):
        for half in (slice(0, 8), slice(8, 16)):
            batch = mx.io.DataBatch([arrays["data"][half]], [arrays["label"][half]])
            module.forward_backward(batch)
            module.update()
    trained = mx.nd.load(str(GOLDEN / "sparse_linreg-0003.params"))
    weight = module.get_params()[0]["weight"]
    assert weight.stype == "row_sparse"
    np.testing.assert_allclose(weight.asnumpy(), trained["arg:weight"].asnumpy(), atol=1e-7)
    np.testing.assert_allclose(values(module, "bias"), trained["arg:bias"].asnumpy(), atol=1e-7)


def factorization_machine(width, factors):
    data = mx.sym.Variable("data", stype="csr")
    pairs = mx.sym.Variable("v", shape=(width, factors), stype="row_sparse")
    weight = mx.sym.Variable("w", shape=(width, 1), stype="row_sparse")
    linear = mx.sym.broadcast_add(
        mx.sym.sparse.dot(data, weight), mx.sym.Variable("bias", shape=(1,))
    )
    squares = mx.sym.sparse.dot(
        mx.sym.sparse.square(data), mx.sym.sum(mx.sym.square(pairs), axis=1, keepdims=True)
    )
    products = mx.sym.sum(mx.sym.square(mx.sym.sparse.dot(data, pairs)), axis=1, keepdims=True)
    return mx.sym.LinearRegressionOutput(
        linear + 0.5 * (products - squares), mx.sym.Variable("label"), name="fm"
    )


@pytest.mark.slow
def test_a_factorization_machine_learns_as_in_mxnet(small, monkeypatch):
    monkeypatch.setenv("MXNET_STORAGE_FALLBACK_LOG_VERBOSE", "0")  # v is squared and summed
    draw = np.random.RandomState(1)
    data = ((draw.rand(40, 20) < 0.2) * draw.rand(40, 20)).astype(np.float32)
    target = data.sum(1) + data.sum(1) ** 2 * 0.1
    batches = mx.io.NDArrayIter(
        mx.nd.array(data).tostype("csr"),
        target.astype(np.float32),
        10,
        last_batch_handle="discard",
        label_name="label",
    )
    module = mx.mod.Module(factorization_machine(20, 4), label_names=["label"])
    module.bind(batches.provide_data, batches.provide_label)
    module.init_params(
        arg_params={
            "v": mx.nd.array(0.1 * small.wave(20, 4)).tostype("row_sparse"),
            "w": mx.nd.array(0.1 * small.wave(20, 1)).tostype("row_sparse"),
            "bias": mx.nd.zeros((1,)),
        }
    )
    module.init_optimizer(optimizer_params={"learning_rate": 0.3, "momentum": 0.9})
    metric, losses = mx.metric.create("mse"), []
    for _ in range(50):
        batches.reset()
        metric.reset()
        for batch in batches:
            module.forward(batch, is_train=True)
            module.update_metric(metric, batch.label)
            module.backward()
            module.update()
        losses.append(metric.get()[1])
    np.testing.assert_allclose(losses[:2], [4.929616794, 2.984630853], rtol=1e-4)  # recorded
    assert losses[-1] < 0.02


def test_fixed_parameters_stay_and_have_no_gradient(small):
    module = fit(small, module={"fixed_param_names": ["fc1_weight"]})
    assert values(module, "fc1_weight").tolist() == small.params()["fc1_weight"].asnumpy().tolist()
    assert module._exec_group.execs[0].grad_dict["fc1_weight"] is None


def test_gradients_of_inputs_are_those_of_mxnet(small):
    module = small.bound(bind={"inputs_need_grad": True})
    module.forward_backward(small.batch())
    recorded = [0.000227109, -0.012158333, -0.013365461, -0.002284445, 0.010896879]
    np.testing.assert_allclose(
        module.get_input_grads()[0].asnumpy()[0], recorded, rtol=2e-5, atol=1e-7
    )


def test_gradients_accumulate_with_grad_req_add(small):
    once, twice = small.bound(), small.bound(bind={"grad_req": "add"})
    once.forward_backward(small.batch())
    twice.forward_backward(small.batch())
    twice.forward_backward(small.batch())
    for (single,), (double,) in zip(
        once._exec_group.grad_arrays, twice._exec_group.grad_arrays, strict=True
    ):
        np.testing.assert_allclose(double.asnumpy(), 2 * single.asnumpy(), rtol=1e-6)


def test_the_arrays_of_a_batch_are_never_written(small):
    module = small.bound()
    module.init_optimizer()
    for size in (4, 3, 4):
        batch = small.batch(size)
        module.forward_backward(batch)
        module.update()
        assert batch.data[0].asnumpy().tolist() == small.data[:size].tolist()
        assert batch.label[0].asnumpy().tolist() == small.label[:size].tolist()


def test_a_step_of_the_same_shapes_describes_no_inputs(small, monkeypatch):
    module = small.bound()
    module.init_optimizer()
    batch, metric = small.batch(), mx.metric.create("ce")
    made = []
    monkeypatch.setattr(
        mx.io.DataDesc, "get_batch_axis", staticmethod(lambda layout: made.append(layout))
    )
    for _ in range(3):
        module.forward(batch, is_train=True)
        module.update_metric(metric, batch.label)
        module.backward()
        module.update()
    assert made == []


# ---- names


def test_a_data_name_the_symbol_does_not_have_is_refused(small):
    with pytest.raises(ValueError, match="Did you mean one of"):
        mx.mod.Module(small.symbol, data_names=["dat"])


def test_a_label_name_the_symbol_does_not_have_is_warned_about(small):
    with pytest.warns(UserWarning, match="softmax_label"):
        mx.mod.Module(small.symbol, label_names=["lab"])


def test_there_must_be_a_workload_for_each_context(small):
    with pytest.raises(AssertionError, match="work_load_list"):
        mx.mod.Module(small.symbol, context=[mx.cpu(0), mx.cpu(1)], work_load_list=[1])


def test_names_and_shapes_are_those_of_symbol_and_bind(small):
    module = small.bound()
    assert module.data_names == ["data"]
    assert module.label_names == ["softmax_label"]
    assert module.output_names == ["softmax_output"]
    assert module.output_shapes == [("softmax_output", (4, 3))]
    assert module.data_shapes[0].shape == (4, 5)
    assert module.label_shapes[0].shape == (4,)


# ---- binding


def test_an_array_in_place_of_a_shape_is_a_type_error_and_nothing_is_bound(small):
    module = mx.mod.Module(small.symbol)
    with pytest.raises(TypeError, match="pair"):
        module.bind([("data", mx.nd.ones((4, 5)))])
    assert not module.binded


def test_shapes_for_other_inputs_are_refused(small):
    with pytest.raises(ValueError, match="data_names"):
        mx.mod.Module(small.symbol).bind([("dat", (4, 5))])


def test_inputs_that_disagree_about_the_batch_size_are_refused(small):
    with pytest.raises(AssertionError, match="same batch size"):
        mx.mod.Module(small.symbol).bind([("data", (5, 5))], [("softmax_label", (4,))])


def test_binding_again_is_ignored_unless_forced(small, caplog):
    module = small.bound()
    module.bind([("data", (2, 5))], [("softmax_label", (2,))])
    assert "Already bound" in caplog.text
    assert module.data_shapes[0].shape == (4, 5)
    module.bind([("data", (2, 5))], [("softmax_label", (2,))], force_rebind=True)
    assert module.data_shapes[0].shape == (2, 5)


def test_parameters_survive_a_forced_rebind(small):
    module = small.bound()
    module.init_optimizer(optimizer_params={"learning_rate": 0.5})
    module.forward_backward(small.batch())
    module.update()
    before = values(module, "fc2_bias").copy()
    module._params_dirty = True
    module.bind([("data", (2, 5))], [("softmax_label", (2,))], force_rebind=True)
    assert values(module, "fc2_bias").tolist() == before.tolist()


def test_a_bound_module_needs_parameters_to_run(small):
    module = mx.mod.Module(small.symbol)
    for step in (module.get_params, module.update, lambda: module.forward(small.batch())):
        with pytest.raises(AssertionError, match="needs bind"):
            step()
    module.bind([("data", (4, 5))], [("softmax_label", (4,))])
    with pytest.raises(AssertionError, match="needs init_params"):
        module.forward(small.batch())


def test_a_module_on_shared_parameters_sees_them_change(small):
    owner, sharer = small.bound(), mx.mod.Module(small.symbol)
    owner.init_optimizer()
    sharer.bind([("data", (2, 5))], [("softmax_label", (2,))], shared_module=owner)
    assert sharer.params_initialized
    assert sharer._updater is owner._updater
    owner.set_params({"fc1_bias": mx.nd.ones((4,)) * 5}, {}, allow_missing=True)
    assert sharer._exec_group.execs[0].arg_dict["fc1_bias"].asnumpy().tolist() == [5.0] * 4


def test_only_a_bound_module_can_share(small):
    for other in (mx.mod.Module(small.symbol), 3):
        with pytest.raises(AssertionError, match="shared"):
            mx.mod.Module(small.symbol).bind([("data", (4, 5))], shared_module=other)


def test_groups_of_nodes_keep_their_arrays_on_their_own_context():
    data = mx.sym.Variable("data")
    with mx.AttrScope(ctx_group="first"):
        hidden = mx.sym.FullyConnected(data, name="fc1", num_hidden=4)
    with mx.AttrScope(ctx_group="second"):
        symbol = mx.sym.FullyConnected(hidden, name="fc2", num_hidden=2)
    places = {"first": mx.cpu(1), "second": [mx.cpu(2)]}
    module = mx.mod.Module(symbol, label_names=None, group2ctxs=places)
    module.bind([("data", (4, 5))])
    arrays = module._exec_group.execs[0].arg_dict
    assert arrays["fc1_weight"].context == mx.cpu(1)
    assert arrays["fc2_weight"].context == mx.cpu(2)


def test_parameters_have_the_dtype_of_the_data(small):
    module = mx.mod.Module(small.symbol)
    label = mx.io.DataDesc("softmax_label", (4,), "float64")
    module.bind([mx.io.DataDesc("data", (4, 5), "float64")], [label])
    module.init_params(mx.init.One())
    assert values(module, "fc1_weight").dtype == np.float64
    module.forward(small.batch())  # of float32
    assert module.get_outputs()[0].dtype == np.float64


# ---- parameters


@pytest.mark.parametrize("name", ["Zero", "One", "Uniform", "Normal", "Xavier", "Orthogonal"])
def test_a_row_sparse_parameter_is_initialized_with_all_its_rows(name):
    weight = mx.sym.Variable("w_weight", stype="row_sparse", shape=(4, 3))
    symbol = mx.sym.sparse.dot(mx.sym.Variable("data", stype="csr"), weight)
    module = mx.mod.Module(symbol, label_names=None)
    module.bind([("data", (2, 4))])
    module.init_params(getattr(mx.init, name)())
    array = module.get_params()[0]["w_weight"]
    assert array.stype == "row_sparse"
    assert array.indices.asnumpy().tolist() == [0, 1, 2, 3]


def test_missing_parameters_are_a_runtime_error_and_nothing_changes(small):
    module = small.bound()
    with pytest.raises(RuntimeError, match="is not presented"):
        module.set_params({"fc1_weight": mx.nd.zeros((4, 5))}, {})
    assert values(module, "fc1_weight").tolist() == small.wave(4, 5).tolist()


def test_missing_parameters_may_be_allowed(small):
    module = small.bound()
    module.set_params({"fc1_bias": mx.nd.ones((4,))}, {}, allow_missing=True)
    assert values(module, "fc1_bias").tolist() == [1.0] * 4
    assert values(module, "fc2_bias").tolist() == small.wave(3).tolist()


def test_an_extra_parameter_is_a_value_error_unless_allowed(small):
    module, extra = small.bound(), {"zz": mx.nd.ones((1,))}
    with pytest.raises(ValueError, match='"zz" that is not in the arguments'):
        module.set_params(extra, {}, allow_missing=True)
    with pytest.raises(ValueError, match='"zz" that is not in the auxiliary states'):
        module.set_params({}, extra, allow_missing=True)
    module.set_params(extra, {}, allow_missing=True, allow_extra=True)


def test_a_parameter_of_the_wrong_shape_is_refused_and_nothing_changes(small):
    module = small.bound()
    wrong = {**small.params(), "fc1_bias": mx.nd.ones((4,)), "fc2_bias": mx.nd.ones((9,))}
    with pytest.raises(MXNetError, match="fc2_bias"):
        module.set_params(wrong, {})
    with pytest.raises(MXNetError, match="fc2_bias"):
        module.set_params(wrong, {}, allow_missing=True)
    assert values(module, "fc1_bias").tolist() == small.wave(4).tolist()


def test_initializing_again_is_ignored_with_a_warning_unless_forced(small):
    module = small.bound()
    with pytest.warns(UserWarning, match="already initialized"):
        module.init_params(mx.init.One())
    with pytest.warns(UserWarning, match="already initialized"):
        module.set_params({}, {}, allow_missing=True, force_init=False)
    module.init_params(mx.init.One(), force_init=True)
    assert values(module, "fc1_weight").tolist() == np.ones((4, 5)).tolist()


def test_an_initializer_fills_what_was_not_given(small):
    module = mx.mod.Module(small.symbol)
    module.bind([("data", (4, 5))], [("softmax_label", (4,))])
    given = {"fc1_weight": mx.nd.zeros((4, 5))}
    module.init_params(mx.init.One(), arg_params=given, allow_missing=True)
    assert values(module, "fc1_weight").sum() == 0
    assert values(module, "fc2_weight").tolist() == np.ones((3, 4)).tolist()


def test_the_initializer_of_a_variable_wins():
    weight = mx.sym.Variable("w", init=mx.init.Constant(3.0))
    symbol = mx.sym.FullyConnected(mx.sym.Variable("data"), weight=weight, num_hidden=2, name="f")
    module = mx.mod.Module(symbol, label_names=None)
    module.bind([("data", (2, 3))])
    module.init_params(mx.init.One())
    assert values(module, "w").tolist() == [[3.0] * 3] * 2
    assert values(module, "f_bias").tolist() == [0.0, 0.0]


# ---- optimizer


def test_gradients_are_divided_by_the_batch_size(small):
    module = small.bound()
    module.init_optimizer()
    assert module._optimizer.rescale_grad == 0.25
    assert module._optimizer.idx2name == {
        0: "fc1_weight", 1: "fc1_bias", 2: "fc2_weight", 3: "fc2_bias"
    }  # fmt: skip
    assert module._optimizer.wd_mult == {"fc1_bias": 0.0, "fc2_bias": 0.0}


def test_an_optimizer_with_another_scale_is_warned_about(small):
    with pytest.warns(UserWarning, match="rescale_grad"):
        small.bound().init_optimizer(optimizer=mx.optimizer.SGD())


def test_what_is_no_optimizer_or_kvstore_is_refused(small):
    module = small.bound()
    with pytest.raises(AssertionError, match="optimizer"):
        module.init_optimizer(optimizer=3)
    with pytest.raises(TypeError, match="kvstore must be"):
        module.init_optimizer(kvstore=3)
    assert not module.optimizer_initialized


def test_a_second_optimizer_is_ignored_unless_forced(small, caplog):
    module = small.bound()
    module.init_optimizer(optimizer_params={"learning_rate": 0.1})
    module.init_optimizer(optimizer_params={"learning_rate": 0.2})
    assert "already initialized" in caplog.text
    assert module._optimizer.lr == 0.1
    module.init_optimizer(optimizer_params={"learning_rate": 0.2}, force_init=True)
    assert module._optimizer.lr == 0.2


def test_multipliers_of_the_symbol_reach_the_optimizer():
    weight = mx.sym.Variable("f_weight", lr_mult=0.0)
    symbol = mx.sym.FullyConnected(mx.sym.Variable("data"), weight=weight, num_hidden=1, name="f")
    module = mx.mod.Module(mx.sym.make_loss(symbol), label_names=None)
    module.bind([("data", (1, 2))])
    module.init_params(mx.init.One())
    module.init_optimizer(optimizer_params={"learning_rate": 0.5})
    module.forward_backward(mx.io.DataBatch([mx.nd.ones((1, 2))]))
    module.update()
    assert values(module, "f_weight").tolist() == [[1.0, 1.0]]
    assert values(module, "f_bias").tolist() == [-0.5]


# ---- running


def test_a_batch_of_another_size_is_bound_and_parameters_stay(small):
    module = small.bound()
    module.init_optimizer(optimizer_params={"learning_rate": 0.0, "momentum": 0.9})
    module.forward(small.batch(7))
    whole = module.get_outputs()[0].asnumpy()
    assert whole.shape == (7, 3)
    assert module.data_shapes[0].shape == (7, 5)
    assert module.label_shapes[0].shape == (7,)
    module.forward(small.batch(2))
    np.testing.assert_allclose(module.get_outputs()[0].asnumpy(), whole[:2], rtol=1e-6)
    assert module.optimizer_initialized


def test_shapes_seen_before_are_not_bound_again(small):
    module = small.bound()
    module.forward(small.batch(4))
    first = module._exec_group.execs[0]
    module.forward(small.batch(3))
    assert module._exec_group.execs[0] is not first
    module.forward(small.batch(4))
    assert module._exec_group.execs[0] is first


def test_training_on_varying_batch_sizes_updates_one_set_of_parameters(small):
    module = small.bound()
    module.init_optimizer(optimizer_params={"learning_rate": 0.5})
    for size in (4, 2, 4, 3):
        before = values(module, "fc2_bias").copy()
        module.forward_backward(small.batch(size))
        module.update()
        assert values(module, "fc2_bias").tolist() != before.tolist()


def test_a_batch_without_labels_can_be_predicted_in_any_size(small):
    module = small.bound()
    module.forward(mx.io.DataBatch([mx.nd.array(small.data)]), is_train=False)
    assert module.get_outputs()[0].shape == (10, 3)


def test_any_object_with_data_is_a_batch(small):
    class Batch:
        data = [mx.nd.array(small.data[:4])]

    module = small.bound()
    module.forward(Batch(), is_train=False)
    assert module.get_outputs()[0].shape == (4, 3)


def test_a_list_of_batches_is_one_batch_in_parts(small):
    module = small.bound(context=[mx.cpu(0), mx.cpu(1)])
    module.forward(small.batch(4), is_train=False)
    whole = module.get_outputs()[0].asnumpy()
    parts = [
        mx.io.DataBatch([mx.nd.array(small.data[s])], [mx.nd.array(small.label[s])])
        for s in (slice(0, 2), slice(2, 4))
    ]
    module.forward(parts, is_train=False)
    assert module.get_outputs()[0].asnumpy().tolist() == whole.tolist()


def test_data_that_do_not_fit_the_parameters_are_refused_and_the_module_still_runs(small):
    module = small.bound()
    with pytest.raises(MXNetError, match="fc1_weight"):
        module.forward(mx.io.DataBatch([mx.nd.ones((4, 6))], [mx.nd.ones((4,))]))
    with pytest.raises(ValueError, match="number of data arrays"):
        module.forward(mx.io.DataBatch([], []))
    module.forward(small.batch())
    assert module.get_outputs()[0].shape == (4, 3)


def test_reshape_keeps_optimizer_and_parameters(small):
    module = small.bound()
    module.init_optimizer()
    module.reshape([("data", (2, 5))], [("softmax_label", (2,))])
    assert module.optimizer_initialized
    assert values(module, "fc1_bias").tolist() == small.wave(4).tolist()
    with pytest.raises(ValueError, match="data_names"):
        module.reshape([("dat", (2, 5))])


def test_backward_needs_a_module_bound_for_training(small):
    module = small.bound(bind={"for_training": False})
    module.forward(small.batch())
    with pytest.raises(AssertionError, match="for_training=True"):
        module.backward()


def test_input_gradients_need_to_be_asked_for(small):
    with pytest.raises(AssertionError, match="inputs_need_grad"):
        small.bound().get_input_grads()


def test_csr_batches_are_not_copied_and_keep_their_storage():
    data = mx.sym.Variable("data", stype="csr")
    weight = mx.sym.Variable("weight", stype="row_sparse", shape=(6, 1))
    symbol = mx.sym.LinearRegressionOutput(
        mx.sym.sparse.dot(data, weight), mx.sym.Variable("label"), name="out"
    )
    module = mx.mod.Module(symbol, label_names=["label"])
    module.bind([("data", (2, 6))], [("label", (2,))])
    module.init_params(mx.init.One())
    batch = mx.nd.array([[1, 0, 2, 0, 0, 0], [0, 0, 0, 3, 0, 0]]).tostype("csr")
    for array in (batch, batch[0:1], batch):
        module.forward(mx.io.DataBatch([array], [mx.nd.ones((array.shape[0],))]))
        assert module._exec_group.execs[0].arg_dict["data"]._data is array._data
    assert module.get_outputs()[0].asnumpy().ravel().tolist() == [3.0, 3.0]


# ---- states


def with_state():
    data, state = mx.sym.Variable("data"), mx.sym.Variable("state")
    symbol = mx.sym.Group([data + state, mx.sym.BlockGrad(state * 2)])
    module = mx.mod.Module(symbol, state_names=["state"], label_names=None)
    module.bind([("data", (2, 3))])
    module.init_params()
    return module


def test_states_are_neither_parameters_nor_data():
    module = with_state()
    assert module.get_params()[0] == {}
    module.set_states(value=3)
    module.forward(mx.io.DataBatch([mx.nd.ones((2, 3))]))
    assert module.get_outputs()[1].asnumpy().tolist() == [[6.0] * 3] * 2
    module.set_states(states=[[mx.nd.ones((2, 3))]])
    assert module.get_states(merge_multi_context=False)[0][0].asnumpy().sum() == 6


def test_states_are_set_from_arrays_or_from_a_number_not_both():
    module = with_state()
    for arguments in ({}, {"states": [[mx.nd.ones((2, 3))]], "value": 1}):
        with pytest.raises(AssertionError, match="one of states & value"):
            module.set_states(**arguments)
    with pytest.raises(AssertionError, match="merge_multi_context"):
        module.get_states()


# ---- sparse parameters on a kvstore


def sparse_on_kvstore(context=None):
    data = mx.sym.Variable("data", stype="csr")
    weight = mx.sym.Variable("weight", stype="row_sparse", shape=(6, 1))
    product = mx.sym.broadcast_add(
        mx.sym.sparse.dot(data, weight), mx.sym.Variable("bias", shape=(1,))
    )
    symbol = mx.sym.LinearRegressionOutput(product, mx.sym.Variable("label"), name="out")
    module = mx.mod.Module(symbol, label_names=["label"], context=context or mx.cpu())
    module.bind([("data", (2, 6))], [("label", (2,))])
    module.init_params(mx.init.One())
    module.init_optimizer(kvstore=mx.kv.create("local"), optimizer_params={"learning_rate": 1.0})
    data = mx.nd.array([[1, 0, 2, 0, 0, 0], [0, 0, 0, 3, 0, 0]]).tostype("csr")
    return module, mx.io.DataBatch([data], [mx.nd.array([1, 2])])


@pytest.mark.parametrize("context", [None, [mx.cpu(0), mx.cpu(1)]])
def test_prepare_fetches_the_rows_a_batch_needs(context):
    module, batch = sparse_on_kvstore(context)
    module.forward_backward(batch)
    module.update()
    held = module._exec_group.execs[0].arg_dict["weight"]
    assert held.asnumpy().ravel().tolist() == [1.0] * 6  # not fetched yet
    module.prepare(batch, sparse_row_id_fn=lambda b: {"weight": b.data[0].indices})
    held = module._exec_group.execs[0].arg_dict["weight"]
    assert held.indices.asnumpy().tolist() == [0, 2, 3]
    recorded = [0.0, 1.0, -1.0, -0.5, 1.0, 1.0]
    assert held.asnumpy().ravel().tolist() == [0.0, 0.0, -1.0, -0.5, 0.0, 0.0]
    assert values(module, "weight").ravel().tolist() == recorded


def test_prepare_says_what_is_wrong_with_the_row_ids():
    module, batch = sparse_on_kvstore()
    with pytest.raises(AssertionError, match="dict"):
        module.prepare(batch, sparse_row_id_fn=lambda b: 3)
    with pytest.raises(ValueError, match="not in list"):
        module.prepare(batch, sparse_row_id_fn=lambda b: {"zz": b.data[0].indices})
    with pytest.warns(UserWarning, match="not 'row_sparse'"):
        module.prepare(batch, sparse_row_id_fn=lambda b: {"bias": mx.nd.array([0])})


def test_prepare_has_nothing_to_do_without_a_kvstore(small):
    module = small.bound()
    module.init_optimizer(kvstore=None)
    module.prepare(small.batch())
    with pytest.warns(UserWarning, match="No need"):
        module.prepare(small.batch(), sparse_row_id_fn=lambda b: {})


# ---- files


def test_a_checkpoint_of_mxnet_predicts_what_mxnet_predicts():
    module = mx.mod.Module.load(str(GOLDEN / "mlp"), 2)
    arrays = mx.nd.load(str(GOLDEN / "mlp_io.params"))
    module.bind([("data", arrays["data"].shape)], for_training=False)
    module.forward(mx.io.DataBatch([arrays["data"]]))
    np.testing.assert_allclose(
        module.get_outputs()[0].asnumpy(), arrays["softmax_output"].asnumpy(), rtol=1e-5, atol=1e-6
    )


@pytest.mark.parametrize("prefix", ["mlp", "sparse_linreg"])
def test_optimizer_states_of_mxnet_are_taken_over(prefix):
    label = "softmax_label" if prefix == "mlp" else "label"
    epoch = 2 if prefix == "mlp" else 3
    module = mx.mod.Module.load(
        str(GOLDEN / prefix), epoch, load_optimizer_states=True, label_names=[label]
    )
    width = 6 if prefix == "mlp" else 20
    module.bind([("data", (4, width))], [(label, (4,))])
    module.init_optimizer(kvstore=None, optimizer_params={"momentum": 0.9})
    states = module._updater.states
    assert sorted(states) == list(range(len(module._param_names)))
    shapes = [module.get_params()[0][name].shape for name in module._param_names]
    assert [states[i].shape for i in sorted(states)] == shapes


@pytest.mark.parametrize("options", [{}, {"context": [mx.cpu(0), mx.cpu(1)]}])
def test_training_resumed_from_a_checkpoint_goes_on_as_if_never_stopped(small, tmp_path, options):
    def steps(module, count):
        for _ in range(count):
            module.forward_backward(small.batch())
            module.update()

    def prepared(module):
        module.init_optimizer(optimizer_params={"learning_rate": 0.3, "momentum": 0.9})
        return module

    straight = prepared(small.bound(**options))
    steps(straight, 4)
    stopped = prepared(small.bound(**options))
    steps(stopped, 2)
    prefix = str(tmp_path / "half")
    stopped.save_checkpoint(prefix, 2, save_optimizer_states=True)
    resumed = mx.mod.Module.load(prefix, 2, load_optimizer_states=True, **options)
    resumed.bind([("data", (4, 5))], [("softmax_label", (4,))])
    prepared(resumed)
    steps(resumed, 2)
    for name in straight.get_params()[0]:
        assert values(resumed, name).tolist() == values(straight, name).tolist()


def test_checkpoint_files_are_named_as_in_mxnet(small, tmp_path):
    module = small.bound()
    module.init_optimizer()
    module.save_checkpoint(str(tmp_path / "m"), 7, save_optimizer_states=True)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["m-0007.params", "m-0007.states", "m-symbol.json"]


@pytest.mark.parametrize("label_names", [None, [], ["softmax_label"]])
def test_predicting_from_a_checkpoint_needs_no_label(small, tmp_path, label_names):
    prefix = str(tmp_path / "m")
    small.bound().save_checkpoint(prefix, 1)
    symbol, arg_params, aux_params = mx.model.load_checkpoint(prefix, 1)
    module = mx.mod.Module(symbol, label_names=label_names)
    module.bind([("data", (4, 5))], for_training=False)
    module.set_params(arg_params, aux_params)
    module.forward(mx.io.DataBatch([mx.nd.array(small.data[:4])]))
    recorded = [9.9107403e-01, 1.4068736e-04, 8.7853028e-03]
    np.testing.assert_allclose(module.get_outputs()[0].asnumpy()[0], recorded, rtol=1e-5)
    module.forward(mx.io.DataBatch([mx.nd.array(small.data)]))
    assert module.get_outputs()[0].shape == (10, 3)


def test_a_monitor_sees_the_nodes_of_a_step(small):
    module = small.bound()
    module.init_optimizer()
    monitor = mx.mon.Monitor(1, sort=True)
    module.install_monitor(monitor)
    monitor.tic()
    module.forward_backward(small.batch())
    names = [name for _, name, _ in monitor.toc()]
    assert names == sorted(names)
    assert {"fc1_output", "relu1_output", "fc2_output", "softmax_output"} <= set(names)
    monitor.tic()
    module.forward_backward(small.batch(3))  # on executors made after the monitor came
    assert "fc1_output" in [name for _, name, _ in monitor.toc()]
