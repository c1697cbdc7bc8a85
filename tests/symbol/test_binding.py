import numpy as np
import pytest

import minigluon as mx
from minigluon import nd, sym
from minigluon.base import MXNetError

CPU = mx.cpu()


def layer():
    return sym.FullyConnected(sym.var("data"), num_hidden=3, name="fc")


def doubled():
    return sym.var("x") * 2


def product():
    return sym.var("x") * sym.var("y")


def ones(*shape):
    return nd.ones(shape)


# ---- bind


def test_arrays_are_given_by_name_or_in_order():
    for args in ({"y": ones(2), "x": ones(2) * 3}, [ones(2) * 3, ones(2)]):
        executor = product().bind(CPU, args)
        assert list(executor.arg_dict) == ["x", "y"]
        np.testing.assert_array_equal(executor.forward()[0].asnumpy(), [3, 3])


def test_arrays_that_are_not_needed_are_ignored():
    assert doubled().bind(CPU, {"x": ones(2), "z": ones(3)}).forward()[0].shape == (2,)


@pytest.mark.parametrize(
    ("symbol", "arguments", "error", "message"),
    [
        (layer, {"args": {"data": ones(2, 5)}}, ValueError, "key `fc_weight` is missing in `args`"),
        (layer, {"args": [ones(2, 5)]}, ValueError, "Length of args does not match"),
        (doubled, {"args": {"x": 3}}, TypeError, "Only accept list of NDArrays or dict of str"),
        (doubled, {"args": [np.ones(2)]}, TypeError, "Only accept list of NDArrays or dict of str"),
        (doubled, {"args": [None]}, TypeError, "Only accept list of NDArrays or dict of str"),
        (doubled, {"ctx": "cpu", "args": [ones(2)]}, TypeError, "Context type error"),
        (doubled, {"args": [ones(2)], "grad_req": "foo"}, KeyError, "grad_req=foo"),
        (doubled, {"args": [ones(2)], "grad_req": {"x": "foo"}}, KeyError, "grad_req=foo"),
        (doubled, {"args": [ones(2)], "grad_req": 3}, TypeError, "grad_req is not understood"),
        (
            product, {"args": [ones(2), ones(2)], "grad_req": ["write"]},
            ValueError, "grad_req has the wrong length",
        ),
        (
            product, {"args": [ones(2), ones(2)], "args_grad": [ones(2)]},
            ValueError, "Length of args_grad does not match",
        ),
        (
            doubled, {"args": [ones(2)], "args_grad": [ones(3)]},
            ValueError, "the gradient array of x has the wrong shape",
        ),
        (
            layer,
            {"args": {"data": ones(2, 5), "fc_weight": ones(3, 4), "fc_bias": ones(3)}},
            MXNetError, r"weight \(fc_weight\) has the wrong shape",
        ),
        (
            product, {"args": [ones(2), nd.ones((2,), dtype="float64")]},
            MXNetError, "wrong dtype",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_bound_is_told(symbol, arguments, error, message):
    with pytest.raises(error, match=message):
        symbol().bind(**{"ctx": CPU, **arguments})


def test_a_device_that_is_not_there_is_told():
    with pytest.raises(MXNetError, match="MINIGLUON_GPU_AS_CPU"):
        doubled().bind(mx.gpu(0), [ones(2)])


def test_a_failed_bind_leaves_the_arrays_as_they_were():
    x, grad = ones(2), ones(3) * 7
    with pytest.raises(MXNetError):
        doubled().bind(CPU, [x], [grad])
    np.testing.assert_array_equal(x.asnumpy(), [1, 1])
    np.testing.assert_array_equal(grad.asnumpy(), [7, 7, 7])


def test_gradients_may_be_given_for_some_arguments():
    executor = product().bind(CPU, [ones(2), ones(2) * 3], {"x": nd.zeros((2,))})
    assert executor.grad_dict["y"] is None
    executor.forward(is_train=True)
    executor.backward(ones(2))
    np.testing.assert_array_equal(executor.grad_dict["x"].asnumpy(), [3, 3])


def test_requests_are_a_word_a_list_or_a_dict():
    for grad_req in (["write", "null"], {"x": "write"}):
        grads = [nd.zeros((2,)), nd.zeros((2,))]
        executor = product().bind(CPU, [ones(2), ones(2)], grads, grad_req)
        executor.forward(is_train=True)
        executor.backward(ones(2))
        np.testing.assert_array_equal(grads[0].asnumpy(), [1, 1])
        np.testing.assert_array_equal(grads[1].asnumpy(), [0, 0])


def test_the_same_array_may_be_two_arguments():
    x = nd.array([2.0])
    executor = product().bind(CPU, [x, x], [nd.zeros((1,)), nd.zeros((1,))])
    executor.forward(is_train=True)
    executor.backward(ones(1))
    assert [g.asscalar() for g in executor.grad_arrays] == [2, 2]


def test_one_array_may_collect_two_gradients():
    grad = nd.zeros((1,))
    executor = product().bind(CPU, [nd.array([2.0]), nd.array([5.0])], [grad, grad], "add")
    executor.forward(is_train=True)
    executor.backward(ones(1))
    assert grad.asscalar() == 7


# ---- simple_bind


def test_arrays_are_made_in_the_shapes_that_follow():
    executor = layer().simple_bind(CPU, data=(2, 5))
    shapes = {"data": (2, 5), "fc_weight": (3, 5), "fc_bias": (3,)}
    assert {n: x.shape for n, x in executor.arg_dict.items()} == shapes
    assert {n: x.shape for n, x in executor.grad_dict.items()} == shapes
    assert executor.outputs[0].shape == (2, 3)
    assert all((x.asnumpy() == 0).all() for x in executor.arg_arrays)


def test_no_gradient_is_made_where_none_is_wanted():
    executor = layer().simple_bind(CPU, grad_req={"fc_weight": "add"}, data=(2, 5))
    assert {n: g is None for n, g in executor.grad_dict.items()} == {
        "data": True, "fc_weight": False, "fc_bias": True,
    }  # fmt: skip


def test_dtypes_are_given_by_name_and_travel():
    for dtype in ("float64", np.float64):
        executor = layer().simple_bind(CPU, type_dict={"data": dtype}, data=(2, 5))
        assert {x.dtype for x in executor.arg_arrays + executor.grad_arrays} == {np.float64}


def test_storage_types_come_from_variables_or_by_name():
    graph = sym.dot(sym.var("x", stype="csr"), sym.var("w"))
    executor = graph.simple_bind(CPU, stype_dict={"w": "row_sparse"}, x=(2, 3), w=(3, 1))
    assert [x.stype for x in executor.arg_arrays] == ["csr", "row_sparse"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "Shapes of these variables do not follow from what was given: data"),
        ({"data": (2, 3), "fc_weight": (9, 9)}, r"weight \(fc_weight\) has the wrong shape"),
        ({"data": (0, 5)}, "do not follow"),
        ({"data": (2, 5), "grad_req": "foo"}, "grad_req=foo is not a valid input"),
        ({"data": (2, 5), "grad_req": ["null"]}, "grad_req has the wrong length"),
        ({"data": (2, 5), "grad_req": []}, "cannot be an empty list"),
        ({"data": (2, 5), "grad_req": {}}, "cannot be an empty dict"),
    ],
)
def test_failures_are_runtime_errors_that_show_the_arguments(arguments, message):
    with pytest.raises(RuntimeError, match=message) as caught:
        layer().simple_bind(CPU, **arguments)
    assert str(caught.value).startswith("simple_bind error. Arguments:")


def test_unknown_dtypes_are_type_errors():
    with pytest.raises(TypeError, match="float7"):
        layer().simple_bind(CPU, type_dict={"data": "float7"}, data=(2, 5))


def test_two_variables_of_one_name_cannot_be_bound_by_shape():
    with pytest.raises(RuntimeError, match="Duplicate argument names are not supported: 'x'"):
        (sym.var("x") + sym.var("x")).simple_bind(CPU, x=(2,))


def test_a_gradient_through_an_operator_without_one_fails_unless_it_is_blocked():
    # recorded from MXNet 1.9.1
    taken = sym.batch_take(sym.var("x"), sym.var("i"))
    given = {"x": (10, 10), "i": (10,), "type_dict": {"x": "float32", "i": "int32"}}
    with pytest.raises(RuntimeError, match="batch_take is non-differentiable"):
        taken.simple_bind(CPU, **given)
    executor = sym.BlockGrad(taken).simple_bind(CPU, **given)
    executor.forward(is_train=True)
    executor.backward()
    taken.simple_bind(CPU, grad_req="null", **given)


def test_the_arguments_named_are_shared_with_their_gradients_and_no_others():
    first = layer().simple_bind(CPU, data=(4, 5))
    second = layer().simple_bind(
        CPU, shared_exec=first, shared_arg_names=["fc_weight"], data=(2, 5)
    )
    assert second.arg_dict["fc_weight"] is first.arg_dict["fc_weight"]
    assert second.grad_dict["fc_weight"] is first.grad_dict["fc_weight"]
    assert second.arg_dict["fc_bias"] is not first.arg_dict["fc_bias"]
    assert second.arg_dict["data"].shape == (2, 5)


def test_auxiliary_states_are_shared_where_arguments_are():
    net = sym.BatchNorm(sym.var("data"), name="bn")
    first = net.simple_bind(CPU, data=(4, 5))
    sharing = net.simple_bind(CPU, data=(4, 5), shared_exec=first, shared_arg_names=["bn_gamma"])
    alone = net.simple_bind(CPU, data=(4, 5), shared_exec=first)
    assert sharing.aux_dict["bn_moving_mean"] is first.aux_dict["bn_moving_mean"]
    assert alone.aux_dict["bn_moving_mean"] is not first.aux_dict["bn_moving_mean"]


def test_a_shared_array_of_another_shape_is_refused():
    first = layer().simple_bind(CPU, data=(4, 5))
    with pytest.raises(RuntimeError, match=r"fc_weight in shared_exec does not fit(.|\n)*\(3, 6\)"):
        layer().simple_bind(CPU, shared_exec=first, shared_arg_names=["fc_weight"], data=(4, 6))


def test_a_shared_buffer_is_filled_and_its_memory_used_while_it_is_large_enough():
    # names and sharing recorded from MXNet 1.9.1
    buffer = {}
    kwargs = {"shared_arg_names": ["fc_weight"], "shared_buffer": buffer}
    owner = layer().simple_bind(CPU, data=(4, 5))
    first = layer().simple_bind(CPU, shared_exec=owner, data=(4, 5), **kwargs)
    assert sorted(buffer) == ["data", "fc_bias", "grad of data", "grad of fc_bias"]
    second = layer().simple_bind(CPU, shared_exec=owner, data=(2, 5), **kwargs)
    first.arg_dict["data"][:] = 7
    assert (second.arg_dict["data"].asnumpy() == 7).all()
    third = layer().simple_bind(CPU, shared_exec=owner, data=(8, 5), **kwargs)
    assert buffer["data"].shape == (8, 5)
    assert (third.arg_dict["data"].asnumpy() == 0).all()


def test_groups_sit_on_their_contexts():
    # recorded from MXNet 1.9.1
    with mx.AttrScope(ctx_group="a"):
        first = sym.FullyConnected(sym.var("p"), num_hidden=3, name="q")
    with mx.AttrScope(ctx_group="b"):
        second = sym.FullyConnected(first, num_hidden=3, name="r")
    groups = {"a": mx.cpu(1), "b": mx.cpu(2)}
    executor = second.simple_bind(CPU, group2ctx=groups, p=(2, 3))
    executor.forward()
    contexts = [x.context for x in executor.arg_arrays]
    assert contexts == [mx.cpu(1)] * 3 + [mx.cpu(2)] * 2
    assert [g.context for g in executor.grad_arrays] == contexts
    assert executor.outputs[0].context == mx.cpu(2)


# ---- gradient storages, as recorded from MXNet 1.9.1

D, R, C = "default", "row_sparse", "csr"


@pytest.mark.parametrize(
    ("build", "stypes", "gradients"),
    [
        (sym.dot, (C, D), (D, R)),
        (sym.dot, (C, R), (D, R)),
        (lambda a, b: sym.dot(a, b, transpose_a=True), (C, D), (D, D)),
        (sym.elemwise_add, (R, R), (R, R)),
        (sym.elemwise_add, (C, C), (C, C)),
        (sym.elemwise_mul, (R, R), (D, D)),
        (sym.broadcast_add, (R, R), (D, D)),
        (lambda a, b: sym.relu(a), (R, D), (R,)),
        (lambda a, b: sym.square(a), (C, D), (C,)),
        (lambda a, b: sym.sin(a), (R, D), (D,)),
        (lambda a, b: a * 2, (R, D), (R,)),
        (lambda a, b: a + 1, (R, D), (D,)),
        (lambda a, b: sym.cast_storage(a, stype="row_sparse"), (D, D), (R,)),
        (
            lambda a, b: sym.Embedding(a, b, input_dim=2, output_dim=2, sparse_grad=True),
            (D, D), (D, R),
        ),
        (lambda a, b: sym.Embedding(a, b, input_dim=2, output_dim=2), (D, R), (D, D)),
        (lambda a, b: sym.FullyConnected(a, b, num_hidden=2, no_bias=True), (D, R), (D, D)),
    ],
)  # fmt: skip
def test_gradients_are_made_in_the_storage_they_come_in(build, stypes, gradients):
    a, b = (sym.var(n, stype=s) for n, s in zip("ab", stypes, strict=True))
    graph = build(a, b)
    shapes = dict.fromkeys(graph.list_arguments(), (2, 2))
    executor = graph.simple_bind(CPU, **shapes)
    assert tuple(g.stype for g in executor.grad_arrays) == gradients


# ---- what is printed

SPARSE_LOG = [
    # recorded from MXNet 1.9.1, up to the gradients, which are made of other operators there
    "node 0 var", "node 1 var", "node 2 dot: fcompute_ex", "\t\tinput 0: csr",
    "\t\tinput 1: row_sparse", "\t\toutput 2: default", "node 3 var",
    "node 4 broadcast_add: fcompute", "\t\tinput 2: default", "\t\tinput 3: default",
    "\t\toutput 4: default", "node 5 var", "node 6 SoftmaxOutput: fcompute_ex",
    "\t\tinput 4: default", "\t\tinput 5: default", "\t\toutput 6: default",
]  # fmt: skip


def classifier():
    data = sym.var("data", stype="csr", shape=(32, 100))
    weight = sym.var("weight", stype="row_sparse", shape=(100, 2))
    pred = sym.broadcast_add(sym.sparse.dot(data, weight), sym.var("bias", shape=(2,)))
    return sym.SoftmaxOutput(pred, sym.var("label"), name="output")


def test_dispatch_is_printed_at_bind_if_the_environment_asks(capfd, monkeypatch):
    monkeypatch.setenv("MXNET_INFER_STORAGE_TYPE_VERBOSE_LOGGING", "1")
    classifier().simple_bind(CPU)
    lines = capfd.readouterr().err.splitlines()
    assert lines[: len(SPARSE_LOG)] == SPARSE_LOG
    assert "\t\toutput" in lines[-1]
    assert any(line.endswith(": row_sparse") and "output" in line for line in lines)


def test_nothing_is_printed_otherwise(capfd):
    classifier().simple_bind(CPU)
    assert capfd.readouterr() == ("", "")


def test_sparse_training_does_not_fall_back():
    executor = classifier().simple_bind(CPU)
    executor.forward(is_train=True)  # a fallback would warn, and warnings are errors
    executor.backward()
    assert executor.grad_dict["weight"].stype == "row_sparse"
