"""A Parameter: shapes, initialization, contexts, gradients, storage; texts as in MXNet 1.9.1."""

import pickle

import numpy as np
import pytest

import minigluon as mx
from minigluon import autograd, gluon, nd
from minigluon.gluon import DeferredInitializationError, Parameter


def initialized(name="w", init="ones", ctx=None, **kwargs):
    """A parameter of shape (2, 3) with data."""
    parameter = Parameter(name, shape=(2, 3), **kwargs)
    parameter.initialize(init, ctx=ctx)
    return parameter


def deferred():
    """A parameter whose first dimension is not known yet."""
    parameter = Parameter("w", shape=(0, 3), allow_deferred_init=True)
    parameter.initialize("ones")
    return parameter


@pytest.mark.parametrize(
    "ask", [Parameter.data, Parameter.grad, Parameter.list_data, Parameter.list_grad]
)
def test_data_before_initialize_is_an_error_that_says_so(ask):
    with pytest.raises(RuntimeError, match="Parameter 'w' has not been initialized"):
        ask(Parameter("w", shape=(2, 3)))


@pytest.mark.parametrize("ask", [Parameter.data, Parameter.grad, Parameter.list_data])
def test_data_of_a_deferred_parameter_asks_for_a_first_batch(ask):
    with pytest.raises(DeferredInitializationError, match="pass one batch of data"):
        ask(deferred())


def test_deferred_initialization_error_is_caught_as_mxnet_error():
    assert issubclass(DeferredInitializationError, mx.MXNetError)


def test_unknown_shape_without_permission_to_defer_is_a_value_error():
    with pytest.raises(ValueError, match=r"'w' because it has invalid shape: \(0, 3\)"):
        Parameter("w", shape=(0, 3)).initialize()


def test_failed_initialization_leaves_the_parameter_as_it_was():
    parameter = Parameter("w", shape=(2,))
    with pytest.raises(AssertionError, match="nonsense is not registered"):
        parameter.initialize("nonsense")
    with pytest.raises(RuntimeError, match="has not been initialized"):
        parameter.data()


def test_set_data_completes_a_deferred_parameter():
    parameter = deferred()
    parameter.set_data(nd.array([[1, 2, 3]]))
    assert parameter.shape == (1, 3)
    assert parameter.data().asnumpy().tolist() == [[1, 2, 3]]


def test_set_data_writes_into_the_same_array():
    parameter = initialized()
    array = parameter.data()
    parameter.set_data(np.full((2, 3), 7.0))
    assert parameter.data() is array
    assert array.asnumpy().tolist() == [[7] * 3] * 2


def test_set_data_of_another_shape_is_refused():
    with pytest.raises(AssertionError, match=r"Expected shape \(4, 4\) is incompatible"):
        initialized().set_data(nd.ones((4, 4)))


def test_set_data_before_initialize_is_refused():
    with pytest.raises(AssertionError, match="has not been initialized"):
        Parameter("w", shape=(2, 3)).set_data(nd.ones((2, 3)))


def test_second_initialize_warns_and_changes_nothing():
    parameter = initialized()
    with pytest.warns(UserWarning, match="Parameter 'w' is already initialized, ignoring"):
        parameter.initialize("zeros")
    assert parameter.data().sum().asscalar() == 6


def test_force_reinit_starts_again():
    parameter = initialized()
    parameter.initialize("zeros", force_reinit=True)
    assert parameter.data().sum().asscalar() == 0


def test_own_initializer_is_stronger_than_the_default_and_weaker_than_the_argument():
    first = Parameter("foo_bias", shape=(2,), init="ones")
    first.initialize(default_init="zeros")
    second = Parameter("foo_bias", shape=(2,), init="ones")
    second.initialize("zeros")
    assert first.data().asnumpy().tolist() == [1, 1]
    assert second.data().asnumpy().tolist() == [0, 0]


def test_explicit_initializer_ignores_the_meaning_of_the_name():
    parameter = Parameter("foo_bias", shape=(2,))
    parameter.initialize(default_init=mx.init.One())
    assert parameter.data().asnumpy().tolist() == [1, 1]


def test_mixed_initializer_goes_by_the_name():
    parameter = Parameter("foo_weight", shape=(2, 2))
    mixed = mx.init.Mixed([".*weight", ".*"], [mx.init.One(), mx.init.Zero()])
    parameter.initialize(default_init=mixed)
    assert parameter.data().sum().asscalar() == 4


def test_constant_initializer_takes_an_array():
    parameter = Parameter("w", shape=(2,), init=mx.init.Constant(nd.array([1, 2])))
    parameter.initialize()
    assert parameter.data().asnumpy().tolist() == [1, 2]


def test_copies_live_on_all_contexts_and_are_found_by_context():
    parameter = initialized(ctx=[mx.cpu(0), mx.cpu(1)])
    assert parameter.list_ctx() == [mx.cpu(0), mx.cpu(1)]
    assert [a.context for a in parameter.list_data()] == [mx.cpu(0), mx.cpu(1)]
    assert parameter.data(mx.cpu(1)).context == mx.cpu(1)
    with mx.cpu(1):
        assert parameter.data() is parameter.list_data()[1]


def test_every_kind_of_cpu_memory_is_one_device():
    assert initialized().data(mx.cpu_pinned(0)).shape == (2, 3)


def test_data_on_another_context_is_an_error_naming_where_it_is():
    with pytest.raises(RuntimeError, match=r"not initialized on context cpu\(3\).*\[cpu\(0\)\]"):
        initialized().data(mx.cpu(3))


def test_gpu_is_refused_before_anything_is_made():
    parameter = Parameter("w", shape=(0, 3), allow_deferred_init=True)
    with pytest.raises(mx.MXNetError, match="runs on the CPU"):
        parameter.initialize(ctx=mx.gpu(0))
    assert not parameter._deferred_init


@pytest.mark.filterwarnings("ignore:gpu")
def test_cpu_stands_in_for_a_gpu_when_asked_to(monkeypatch):
    monkeypatch.setenv("MINIGLUON_GPU_AS_CPU", "1")
    parameter = initialized(ctx=mx.gpu(1))
    assert parameter.list_ctx() == [mx.cpu(1)]
    assert parameter.data(mx.gpu(1)) is parameter.data(mx.cpu(1))
    parameter._load_init(nd.zeros((2, 3)), mx.gpu(1))
    assert parameter.data().sum().asscalar() == 0


def test_reset_ctx_moves_data_and_gradient():
    parameter = initialized()
    parameter.reset_ctx(mx.cpu(1))
    assert parameter.list_ctx() == [mx.cpu(1)]
    assert parameter.grad().context == mx.cpu(1)
    assert parameter.data().sum().asscalar() == 6


def test_reset_ctx_of_a_deferred_parameter_is_remembered():
    parameter = deferred()
    parameter.reset_ctx(mx.cpu(1))
    parameter.shape = (2, 3)
    parameter._finish_deferred_init()
    assert parameter.list_ctx() == [mx.cpu(1)]


def test_reset_ctx_before_initialize_is_a_value_error():
    with pytest.raises(ValueError, match="Cannot reset context for Parameter 'w'"):
        Parameter("w", shape=(2,)).reset_ctx(mx.cpu(1))


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        ({"grad_req": "x"}, "grad_req must be one of 'write', 'add', or 'null', but got 'x'"),
        ({"stype": "x"}, "stype for Parameter 'w' must be one of"),
        ({"grad_stype": "x"}, "grad_stype for Parameter 'w' must be one of"),
    ],
)
def test_bad_arguments_raise_what_old_scripts_catch(argument, words):
    with pytest.raises(AssertionError, match=words) as caught:
        Parameter("w", **argument)
    assert isinstance(caught.value, ValueError)


def test_gradient_of_a_frozen_parameter_is_a_runtime_error():
    with pytest.raises(RuntimeError, match="because grad_req='null'"):
        initialized(grad_req="null").grad()


def test_not_differentiable_fixes_grad_req():
    parameter = Parameter("w", shape=(2,), differentiable=False)
    parameter.grad_req = "write"
    assert parameter.grad_req == "null"


def test_changing_grad_req_makes_zero_gradients():
    parameter = initialized()
    with autograd.record():
        loss = (parameter.data() * 2).sum()
    loss.backward()
    assert parameter.grad().sum().asscalar() == 12
    parameter.grad_req = "add"
    assert parameter.grad().sum().asscalar() == 0
    for _ in range(3):
        with autograd.record():
            loss = (parameter.data() * 2).sum()
        loss.backward()
    assert parameter.grad().sum().asscalar() == 36
    parameter.zero_grad()
    assert parameter.grad().sum().asscalar() == 0


def test_null_grad_req_takes_the_parameter_off_the_tape():
    parameter = initialized()
    parameter.grad_req = "null"
    assert parameter._grad is None
    assert parameter.data().grad is None


def test_unknown_dimensions_can_be_set_and_known_ones_cannot():
    parameter = Parameter("w", shape=(0, 3))
    parameter.shape = (2, 3)
    assert parameter.shape == (2, 3)
    with pytest.raises(AssertionError, match=r"Expected shape \(2, 0\) is incompatible"):
        parameter.shape = (2, 0)


@pytest.mark.parametrize("shape", [(5, 5), (2, 3, 4), (2,)])
def test_conflicting_shape_is_refused(shape):
    parameter = Parameter("w", shape=(2, 3))
    with pytest.raises(AssertionError, match="incompatible with given shape"):
        parameter.shape = shape


def test_integer_shape_is_a_vector():
    assert Parameter("w", shape=4).shape == (4,)


def test_repr_shows_name_shape_and_dtype_as_given():
    # recorded from MXNet 1.9.1
    assert repr(Parameter("w")) == "Parameter w (shape=None, dtype=<class 'numpy.float32'>)"
    assert (
        repr(Parameter("w", shape=(2,), dtype="float16"))
        == "Parameter w (shape=(2,), dtype=float16)"
    )


def test_var_carries_what_module_and_optimizer_need():
    parameter = Parameter(
        "w", shape=(2, 3), lr_mult=2, init=mx.init.One(), stype="row_sparse", dtype="float16"
    )
    # recorded from MXNet 1.9.1
    assert parameter.var().attr_dict()["w"] == {
        "__storage_type__": "1",
        "__init__": '["one", {}]',
        "__dtype__": "2",
        "__wd_mult__": "1.0",
        "wd_mult": "1.0",
        "__lr_mult__": "2",
        "lr_mult": "2",
        "__shape__": "(2, 3)",
    }
    assert parameter.var() is parameter.var()


def test_cast_converts_data_gradient_and_variable():
    parameter = initialized()
    parameter.cast("float16")
    assert parameter.dtype == "float16"
    assert parameter.data().dtype == parameter.grad().dtype == np.float16
    assert parameter.var().attr_dict()["w"]["__dtype__"] == "2"


def test_assigning_dtype_casts():
    parameter = initialized()
    parameter.dtype = "float64"
    assert parameter.data().dtype == np.float64


def test_cast_parameter_still_takes_gradients():
    parameter = initialized()
    parameter.cast("float64")
    with autograd.record():
        loss = (parameter.data() ** 2).sum()
    loss.backward()
    assert parameter.grad().asnumpy().tolist() == [[2] * 3] * 2


def test_row_sparse_data_is_not_handed_out_whole():
    parameter = initialized(stype="row_sparse")
    with pytest.raises(RuntimeError, match=r"via data\(\) because its storage type is row_sparse"):
        parameter.data()
    with pytest.raises(RuntimeError, match=r"via list_data\(\) because its storage type"):
        parameter.list_data()


def test_rows_need_a_trainer_first():
    with pytest.raises(RuntimeError, match="when no Trainer is created with it"):
        initialized(stype="row_sparse").row_sparse_data(nd.array([1]))


def test_rows_of_a_dense_parameter_are_refused():
    with pytest.raises(RuntimeError, match=r"Please use data\(\) instead"):
        initialized().row_sparse_data(nd.array([1]))
    with pytest.raises(RuntimeError, match=r"Please use data\(\) instead"):
        initialized().list_row_sparse_data(nd.array([1]))


def test_row_numbers_must_be_an_array():
    parameter = initialized(stype="row_sparse")
    with pytest.raises(TypeError, match="row_id must have NDArray type"):
        parameter.row_sparse_data([1])


def test_asked_rows_come_from_the_trainer():
    parameter = Parameter("s", shape=(4, 2), stype="row_sparse", grad_stype="row_sparse")
    parameter.initialize("ones")
    gluon.Trainer([parameter], "sgd", {"learning_rate": 1.0})
    rows = parameter.row_sparse_data(nd.array([1, 3]))
    assert rows.stype == "row_sparse"
    assert rows.indices.asnumpy().tolist() == [1, 3]
    assert rows.data.asnumpy().tolist() == [[1, 1], [1, 1]]


def test_second_trainer_for_a_sparse_parameter_is_refused():
    parameter = initialized(stype="row_sparse")
    gluon.Trainer([parameter], "sgd")
    with pytest.raises(RuntimeError, match="More than one trainers"):
        gluon.Trainer([parameter], "sgd")


def test_set_data_reaches_the_rows_of_a_sparse_parameter():
    parameter = initialized(stype="row_sparse")
    gluon.Trainer([parameter], "sgd")
    parameter.row_sparse_data(nd.array([0]))
    parameter.set_data(nd.ones((2, 3)) * 3)
    assert parameter.row_sparse_data(nd.array([1])).data.asnumpy().tolist() == [[3, 3, 3]]


def test_gradient_storage_is_as_declared():
    assert initialized(grad_stype="row_sparse").grad().stype == "row_sparse"


def test_zero_grad_of_a_sparse_gradient_stores_no_rows():
    parameter = initialized(grad_stype="row_sparse")
    with autograd.record():
        loss = nd.Embedding(
            nd.array([1]), parameter.data(), input_dim=2, output_dim=3, sparse_grad=True
        ).sum()
    loss.backward()
    parameter.zero_grad()
    assert parameter.grad().indices.shape == (0,)


def test_reduce_is_the_mean_of_the_copies():
    parameter = initialized(ctx=[mx.cpu(0), mx.cpu(1)])
    parameter.data(mx.cpu(1))[:] = 3
    assert parameter._reduce().asnumpy().tolist() == [[2] * 3] * 2


def test_parameter_survives_pickling():
    twin = pickle.loads(pickle.dumps(initialized()))
    assert twin.name == "w"
    assert twin.data().sum().asscalar() == 6


def test_constant_keeps_its_value_and_takes_no_gradient():
    constant = gluon.Constant("const", [[1, 2], [3, 4]])
    constant.initialize()
    assert constant.data().asnumpy().tolist() == [[1, 2], [3, 4]]
    assert constant.grad_req == "null"
    assert repr(constant) == "Constant const (shape=(2, 2), dtype=<class 'numpy.float32'>)"


def test_constant_warns_when_told_to_learn():
    constant = gluon.Constant("const", [1])
    with pytest.warns(UserWarning, match='does not support grad_req other than "null"'):
        constant.grad_req = "write"
    assert constant.grad_req == "null"


def test_constant_keeps_the_dtype_of_an_array():
    assert gluon.Constant("c", nd.array([1, 2], dtype="int32")).dtype == np.int32
