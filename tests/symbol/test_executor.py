import numpy as np
import pytest

import minigluon as mx
from minigluon import nd, sym
from minigluon.base import MXNetError

CPU = mx.cpu()


def layer():
    return sym.FullyConnected(sym.var("data"), num_hidden=3, name="fc")


def doubled(grad_req="write"):
    """An executor of 2x at [1, 2]."""
    return (sym.var("x") * 2).bind(
        CPU, {"x": nd.array([1.0, 2.0])}, {"x": nd.zeros((2,))}, grad_req
    )


# ---- forward


@pytest.mark.parametrize("value", [nd.array([3.0, 4.0]), np.array([3.0, 4.0])])
def test_keywords_are_copied_into_arguments(value):
    executor = doubled()
    np.testing.assert_array_equal(executor.forward(x=value)[0].asnumpy(), [6, 8])
    np.testing.assert_array_equal(executor.arg_dict["x"].asnumpy(), [3, 4])
    executor.arg_dict["x"][:] = 0
    np.testing.assert_array_equal(value.asnumpy() if hasattr(value, "asnumpy") else value, [3, 4])


def test_keywords_are_converted_to_the_dtype_of_the_argument():
    executor = doubled()
    executor.forward(x=nd.array([3, 4], dtype="int32"))
    assert executor.arg_dict["x"].dtype == np.float32


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({"x": nd.ones((3,))}, ValueError, r"Argument x, need: \(2,\), received: \(3,\)"),
        ({"y": nd.ones((2,))}, TypeError, "Unknown argument y"),
        ({"x": [1.0, 2.0]}, ValueError, "only accept keyword argument of NDArrays"),
    ],
)
def test_keywords_that_do_not_fit_are_refused(values, error, message):
    with pytest.raises(error, match=message):
        doubled().forward(**values)


def test_a_refused_forward_changes_no_argument():
    executor = (sym.var("x") * sym.var("y")).bind(CPU, [nd.ones((2,)), nd.ones((2,))])
    with pytest.raises(ValueError):
        executor.forward(x=nd.zeros((2,)), y=nd.zeros((3,)))
    np.testing.assert_array_equal(executor.arg_dict["x"].asnumpy(), [1, 1])


def test_a_failed_forward_leaves_outputs_and_gradients_as_they_were():
    graph = sym.take(sym.var("x"), sym.var("i"), mode="raise")
    executor = graph.bind(
        CPU, {"x": nd.array([1.0, 2.0]), "i": nd.array([1.0])}, {"x": nd.array([7.0, 7.0])},
        {"x": "write"},
    )  # fmt: skip
    (out,) = executor.forward()
    with pytest.raises(IndexError):
        executor.forward(is_train=True, i=nd.array([9.0]))
    assert out.asscalar() == 2
    np.testing.assert_array_equal(executor.grad_dict["x"].asnumpy(), [7, 7])
    assert not mx.autograd.is_training()


def test_writing_into_an_argument_changes_what_is_computed():
    executor = doubled()
    executor.arg_dict["x"][:] = 5
    np.testing.assert_array_equal(executor.forward()[0].asnumpy(), [10, 10])
    executor.arg_arrays[0][:] = 1
    np.testing.assert_array_equal(executor.forward()[0].asnumpy(), [2, 2])


def test_outputs_are_the_same_arrays_from_run_to_run():
    executor = doubled()
    (out,) = executor.forward()
    executor.forward(x=nd.array([5.0, 6.0]))
    assert out is executor.outputs[0]
    np.testing.assert_array_equal(out.asnumpy(), [10, 12])
    assert next(iter(executor.output_dict.values())) is out


def test_outputs_have_their_shape_before_the_first_run():
    assert doubled().outputs[0].shape == (2,)


def test_outputs_share_no_memory_with_arguments():
    x = nd.array([1.0, 2.0])
    group = sym.Group([sym.var("x"), sym.reshape(sym.var("x"), shape=(2, 1))])
    for out in sym.Group([group[0]]).bind(CPU, [x]).forward():
        out[:] = 9
    for out in group[1].bind(CPU, [x]).forward():
        out[:] = 9
    np.testing.assert_array_equal(x.asnumpy(), [1, 2])


def test_forward_never_writes_into_a_batch_whose_memory_it_was_lent():
    batch, other = nd.array([1.0, 2.0]), nd.array([5.0, 6.0])
    executor = doubled()
    executor.arg_dict["x"]._data = batch._data  # what a module does with its batches
    executor.forward()
    executor.forward(x=other)
    np.testing.assert_array_equal(batch.asnumpy(), [1, 2])
    np.testing.assert_array_equal(executor.outputs[0].asnumpy(), [10, 12])


def test_a_modules_batches_stay_as_they_are():
    module = mx.mod.Module(
        sym.LinearRegressionOutput(layer(), name="lro"), label_names=["lro_label"]
    )
    module.bind([("data", (2, 5))], [("lro_label", (2, 3))])
    module.init_params()
    batches = [mx.io.DataBatch([nd.ones((2, 5)) * k], [nd.ones((2, 3))]) for k in (1, 2, 3)]
    for batch in batches:
        module.forward(batch, is_train=True)
        module.backward()
    executor = module._exec_group.execs[0]
    executor.forward(data=nd.zeros((2, 5)))
    for k, batch in zip((1, 2, 3), batches, strict=True):
        np.testing.assert_array_equal(batch.data[0].asnumpy(), np.full((2, 5), k))


def test_dropout_follows_is_train():
    executor = sym.Dropout(sym.var("x"), p=0.5).bind(
        CPU, {"x": nd.ones((300,))}, {"x": nd.zeros((300,))}
    )
    assert (executor.forward()[0].asnumpy() == 1).all()
    out = executor.forward(is_train=True)[0].asnumpy()
    assert set(out.tolist()) == {0.0, 2.0}
    executor.backward(nd.ones((300,)))
    np.testing.assert_array_equal(executor.grad_arrays[0].asnumpy(), out)


# ---- backward


@pytest.mark.parametrize(
    "out_grads",
    [
        lambda name: nd.array([1.0, 3.0]),
        lambda name: [nd.array([1.0, 3.0])],
        lambda name: {name: nd.array([1.0, 3.0])},
        lambda name: nd.array([1, 3], dtype="float64"),
    ],
)
def test_head_gradients_are_given_bare_in_a_list_or_by_name(out_grads):
    executor = doubled()
    executor.forward(is_train=True)
    executor.backward(out_grads(executor._symbol.list_outputs()[0]))
    np.testing.assert_array_equal(executor.grad_dict["x"].asnumpy(), [2, 6])


@pytest.mark.parametrize(
    ("out_grads", "error", "message"),
    [
        (None, MXNetError, "head_gradient is required"),
        (np.ones(2), TypeError, "inputs must be NDArray"),
        (nd.ones((3,)), MXNetError, "has the wrong shape"),
        ([nd.ones((2,)), nd.ones((2,))], MXNetError, "wrong number of head gradients"),
    ],
)
def test_head_gradients_that_do_not_fit_are_refused_and_nothing_is_written(
    out_grads, error, message
):
    executor = doubled()
    executor.grad_dict["x"][:] = 7
    executor.forward(is_train=True)
    with pytest.raises(error, match=message):
        executor.backward(out_grads)
    np.testing.assert_array_equal(executor.grad_dict["x"].asnumpy(), [7, 7])


@pytest.mark.parametrize(("grad_req", "expected"), [("write", 2), ("add", 14), ("null", 10)])
def test_gradients_are_written_added_or_left_alone(grad_req, expected):
    executor = doubled(grad_req)
    executor.grad_arrays[0][:] = 10
    for _ in range(2):
        executor.forward(is_train=True)
        executor.backward(nd.ones((2,)))
    np.testing.assert_array_equal(executor.grad_arrays[0].asnumpy(), [expected] * 2)


def test_backward_without_forward_runs_forward():
    executor = doubled()
    executor.backward(nd.ones((2,)))
    np.testing.assert_array_equal(executor.grad_dict["x"].asnumpy(), [2, 2])


@pytest.mark.parametrize(
    ("loss", "gradient"),
    [
        (lambda x, y: sym.make_loss(sym.square(x)), lambda x, y: 2 * x),
        (lambda x, y: sym.LinearRegressionOutput(x, y), lambda x, y: (x - y) / 3),
        (lambda x, y: sym.MAERegressionOutput(x, y), lambda x, y: np.sign(x - y) / 3),
        (
            lambda x, y: sym.LogisticRegressionOutput(x, y),
            lambda x, y: (1 / (1 + np.exp(-x)) - y) / 3,
        ),
    ],
)
def test_losses_need_no_head_gradient(loss, gradient):
    x = np.array([[1.0, -2.0, 3.0], [0.5, 0.25, -1.0]], np.float32)
    graph = loss(sym.var("x"), sym.var("y"))
    shapes = dict.fromkeys(graph.list_arguments(), x.shape)
    executor = graph.simple_bind(CPU, **shapes)
    executor.forward(is_train=True, x=x)
    executor.backward()
    np.testing.assert_allclose(executor.grad_dict["x"].asnumpy(), gradient(x, 0.0), rtol=1e-6)


def test_a_group_of_losses_and_blocked_values_needs_none_either():
    a, b = sym.var("a"), sym.var("b")
    group = sym.Group([sym.make_loss(a * b), sym.BlockGrad(a + b)])
    executor = group.bind(
        CPU, {"a": nd.array([2.0]), "b": nd.array([3.0])}, [nd.zeros((1,)), nd.zeros((1,))]
    )
    executor.forward(is_train=True)
    executor.backward()
    assert [g.asscalar() for g in executor.grad_arrays] == [3, 2]
    assert [o.asscalar() for o in executor.outputs] == [6, 5]


def test_an_output_may_be_left_without_a_gradient():
    a, b = sym.var("a"), sym.var("b")
    executor = sym.Group([a * b, a + b]).bind(
        CPU, {"a": nd.array([2.0]), "b": nd.array([3.0])}, [nd.zeros((1,)), nd.zeros((1,))]
    )
    executor.forward(is_train=True)
    executor.backward([nd.array([1.0]), None])
    assert [g.asscalar() for g in executor.grad_arrays] == [3, 2]
    executor.backward([nd.array([1.0]), nd.array([10.0])])
    assert [g.asscalar() for g in executor.grad_arrays] == [13, 12]


def test_an_argument_nothing_flows_to_gets_zeros():
    # recorded from MXNet 1.9.1
    group = sym.Group([sym.var("x") * 2, sym.BlockGrad(sym.var("y"))])
    executor = group.simple_bind(CPU, x=(2,), y=(2,))
    executor.grad_dict["y"][:] = 5
    executor.forward(is_train=True)
    executor.backward([nd.ones((2,)), nd.ones((2,))])
    np.testing.assert_array_equal(executor.grad_dict["y"].asnumpy(), [0, 0])


def test_sparse_gradients_add_up():
    x = nd.array([[0.0, 1.0], [0.0, 2.0]]).tostype("csr")
    graph = sym.sparse.dot(sym.var("x", stype="csr"), sym.var("w"))
    grad = mx.nd.sparse.zeros("row_sparse", (2, 1))
    executor = graph.bind(CPU, {"x": x, "w": nd.ones((2, 1))}, {"w": grad}, {"w": "add"})
    for _ in range(2):
        executor.forward(is_train=True)
        executor.backward(nd.ones((2, 1)))
    assert grad.stype == "row_sparse"
    np.testing.assert_array_equal(grad.indices.asnumpy(), [1])
    np.testing.assert_array_equal(grad.data.asnumpy(), [[6]])


# ---- parameters


def test_parameters_are_copied_by_name():
    executor = doubled()
    executor.copy_params_from({"x": nd.array([7.0, 8.0], dtype="float64")})
    np.testing.assert_array_equal(executor.arg_dict["x"].asnumpy(), [7, 8])
    assert executor.arg_dict["x"].dtype == np.float32


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [(({"z": nd.ones((2,))},), "arguments"), (({}, {"z": nd.ones((2,))}), "auxiliary states")],
)
def test_parameters_of_unknown_names_are_refused_unless_allowed(arguments, kind):
    executor = doubled()
    with pytest.raises(ValueError, match=f'Find name "z" that is not in the {kind}'):
        executor.copy_params_from(*arguments)
    executor.copy_params_from(*arguments, allow_extra_params=True)


@pytest.mark.parametrize("wrong", [{"z": nd.ones((3,))}, {"q": nd.ones((2,))}])
def test_of_several_parameters_none_is_copied_when_one_does_not_fit(wrong):
    executor = (sym.var("x") * sym.var("z")).simple_bind(CPU, x=(2,), z=(2,))
    with pytest.raises(ValueError):
        executor.copy_params_from({"x": nd.ones((2,)), **wrong})
    assert executor.arg_dict["x"].asnumpy().tolist() == [0, 0]


# ---- reshape


def test_a_smaller_executor_uses_the_memory_of_the_larger_one():
    # recorded from MXNet 1.9.1
    old = layer().simple_bind(CPU, data=(4, 5))
    old.arg_dict["fc_weight"][:] = 1
    old.arg_dict["data"][:] = 2
    old.forward(is_train=True)
    new = old.reshape(data=(2, 5))
    assert new.arg_dict["fc_weight"] is old.arg_dict["fc_weight"]
    new.arg_dict["fc_weight"][:] = 3
    new.arg_dict["data"][:] = 1
    new.forward(is_train=True)
    np.testing.assert_array_equal(new.outputs[0].asnumpy(), np.full((2, 3), 15))
    np.testing.assert_array_equal(old.arg_dict["data"].asnumpy()[:2], np.ones((2, 5)))
    np.testing.assert_array_equal(old.outputs[0].asnumpy()[:2], np.full((2, 3), 15))
    np.testing.assert_array_equal(old.outputs[0].asnumpy()[2:], np.full((2, 3), 10))


def test_gradients_of_a_reshaped_executor_go_to_the_shared_arrays():
    old = layer().simple_bind(CPU, data=(4, 5))
    new = old.reshape(data=(2, 5))
    new.forward(is_train=True)
    new.backward(nd.ones((2, 3)))
    np.testing.assert_array_equal(old.grad_dict["fc_bias"].asnumpy(), [2, 2, 2])


def test_a_larger_executor_must_be_allowed():
    executor = layer().simple_bind(CPU, data=(4, 5))
    with pytest.raises(MXNetError, match="New shape of arg: data is larger than original"):
        executor.reshape(data=(8, 5))
    larger = executor.reshape(allow_up_sizing=True, data=(8, 5))
    assert larger.arg_dict["fc_weight"] is executor.arg_dict["fc_weight"]
    larger.forward(is_train=True)
    larger.backward(nd.ones((8, 3)))
    np.testing.assert_array_equal(executor.grad_dict["fc_bias"].asnumpy(), [8, 8, 8])


@pytest.mark.parametrize("allow_up_sizing", [False, True])
def test_a_parameter_that_would_change_shape_must_be_allowed_to(allow_up_sizing):
    executor = layer().simple_bind(CPU, data=(4, 5))
    with pytest.raises(MXNetError, match="Shape of unspecified array arg: fc_weight changed"):
        executor.reshape(allow_up_sizing=allow_up_sizing, data=(4, 4))
    smaller = executor.reshape(partial_shaping=True, data=(4, 4))
    assert smaller.arg_dict["fc_weight"].shape == (3, 4)
    with pytest.raises(MXNetError, match="larger than original"):
        executor.reshape(partial_shaping=True, data=(4, 6))


def test_a_failed_reshape_leaves_the_executor_as_it_was():
    executor = layer().simple_bind(CPU, data=(4, 5))
    before = [x._data for x in executor.arg_arrays]
    with pytest.raises(MXNetError):
        executor.reshape(data=(8, 5))
    assert all(x._data is y for x, y in zip(executor.arg_arrays, before, strict=True))
    assert executor.forward()[0].shape == (4, 3)


def test_reshaping_can_be_repeated():
    executor = layer().simple_bind(CPU, data=(4, 5))
    assert executor.reshape(data=(2, 5)).reshape(data=(1, 5)).forward()[0].shape == (1, 3)


def test_debug_str_tells_the_graph_and_the_memory():
    text = layer().simple_bind(CPU, data=(4, 5)).debug_str()
    assert text.startswith("Symbol Outputs:\n\toutput[0]=fc(0)\n")
    assert "Total 0 MB allocated\n" in text


def test_backward_after_a_forward_for_prediction_is_of_that_forward():
    x = sym.var("x")
    bound = sym.make_loss(sym.exp(x)).bind(
        CPU, {"x": nd.zeros((1,))}, args_grad={"x": nd.zeros((1,))}
    )
    bound.forward(is_train=True)
    bound.backward()
    bound.forward(is_train=False, x=nd.array([1.0]))
    bound.backward()
    assert bound.grad_dict["x"].asscalar() == pytest.approx(np.e)


def test_backward_after_prediction_drops_nothing_out():
    net = sym.make_loss(sym.Dropout(sym.var("x"), p=0.5) * 2)
    bound = net.bind(CPU, {"x": nd.ones((6,))}, args_grad={"x": nd.zeros((6,))})
    bound.forward(is_train=False)
    bound.backward()
    assert bound.outputs[0].asnumpy().tolist() == [2] * 6
    assert bound.grad_dict["x"].asnumpy().tolist() == [2] * 6
