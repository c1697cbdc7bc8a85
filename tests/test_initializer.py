"""First values of parameters."""

import json
import logging

import numpy as np
import pytest

import minigluon as mx
from minigluon import initializer, nd
from minigluon.initializer import InitDesc

EVERY = [
    initializer.Zero(),
    initializer.One(),
    initializer.Constant(3),
    initializer.Constant([1, 2, 3]),
    initializer.Uniform(),
    initializer.Normal(),
    initializer.Orthogonal(),
    initializer.Xavier(),
    initializer.MSRAPrelu(),
    initializer.LSTMBias(),
]


def filled(init, name, shape=(4, 3), attrs=None, stype="default"):
    array = nd.full(shape, 7.0).tostype(stype)
    init(InitDesc(name, attrs), array)
    return array


def first_value(init, name, attrs=None):
    return filled(init, name, (2, 2), attrs).asnumpy()[0, 0]


# recorded from MXNet 1.9.1
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("fc_weight", 5),
        ("fc_bias", 0),
        ("bn_gamma", 1),
        ("bn_beta", 0),
        ("x_min", 0),
        ("x_max", 1),
        ("stn_loc_weight", 5),
        ("w_bias_quantize", 0),
    ],
)
def test_the_end_of_the_name_decides(name, expected):
    assert first_value(initializer.Constant(5), name) == expected


@pytest.mark.parametrize("name", ["foo", "bn_moving_mean", "bn_running_var", "fc_WEIGHT", "alpha"])
def test_other_names_are_refused(name):
    with pytest.raises(ValueError, match=f"Unknown initialization pattern for {name}"):
        first_value(initializer.One(), name)


# recorded from MXNet 1.9.1
@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a_moving_mean", 0),
        ("a_moving_var", 1),
        ("a_moving_inv_var", 0),
        ("a_moving_avg", 0),
        ("stn_loc_weight", 0),
        ("fc_weight", 5),
        ("fc_bias", 0),
        ("bn_gamma", 1),
    ],
)
def test_a_bare_name_is_deprecated_and_known_in_more_forms(name, expected):
    array = nd.full((2, 2), 7.0)
    with pytest.warns(DeprecationWarning, match=r"init\(str, NDArray\) has been deprecated"):
        initializer.Constant(5)(name, array)
    assert array.asnumpy()[0, 0] == expected


@pytest.mark.filterwarnings("ignore:Calling initializer with")
def test_arguments_of_wrong_type_are_refused():
    with pytest.raises(TypeError, match="name must be string"):
        initializer.One()(nd.ones(2), "a_weight")
    with pytest.raises(TypeError, match="arr must be NDArray"):
        initializer.One()("a_weight", np.ones(2))


@pytest.mark.parametrize(
    "own", ['["constant", {"value": 5}]', '{"initializer": "constant", "value": 5}']
)
@pytest.mark.parametrize("name", ["foo", "foo_bias"])
def test_the_initializer_of_the_variable_goes_first(own, name):
    assert first_value(initializer.One(), name, {"__init__": own}) == 5


def test_the_initializer_of_the_variable_may_be_a_name():
    assert first_value(initializer.One(), "foo_gamma", {"__init__": "zeros"}) == 0


# recorded from MXNet 1.9.1
@pytest.mark.parametrize(
    ("init", "expected"),
    [
        (initializer.Zero(), '["zero", {}]'),
        (initializer.Constant(1), '["constant", {"value": 1}]'),
        (initializer.Uniform(), '["uniform", {"scale": 0.07}]'),
        (initializer.Normal(2), '["normal", {"sigma": 2}]'),
        (initializer.Orthogonal(), '["orthogonal", {"scale": 1.414, "rand_type": "uniform"}]'),
        (
            initializer.Xavier(),
            '["xavier", {"rnd_type": "uniform", "factor_type": "avg", "magnitude": 3}]',
        ),
        (initializer.MSRAPrelu(), '["msraprelu", {"factor_type": "avg", "slope": 0.25}]'),
        (initializer.LSTMBias(2), '["lstmbias", {"forget_bias": 2}]'),
        (
            initializer.FusedRNN(None, 3, 2, "lstm"),
            '["fusedrnn", {"init": null, "num_hidden": 3, "num_layers": 2, "mode": "lstm", '
            '"bidirectional": false, "forget_bias": 1.0}]',
        ),
    ],
)
def test_text_form_is_that_of_mxnet(init, expected):
    assert init.dumps() == expected


def test_arrays_are_written_as_nested_lists():
    init = initializer.Constant(nd.array([[1, 2]]))
    assert json.loads(init.dumps()) == ["constant", {"value": [[1, 2]]}]


@pytest.mark.parametrize("init", EVERY, ids=lambda init: init.dumps())
def test_text_form_makes_the_initializer_again(init):
    assert initializer.create(init.dumps()) == init


@pytest.mark.parametrize("init", EVERY, ids=lambda init: init.dumps())
def test_row_sparse_parameters_get_the_values_dense_ones_get(init):
    mx.random.seed(1)
    dense = filled(init, "x_weight")
    mx.random.seed(1)
    sparse = filled(init, "x_weight", stype="row_sparse")
    assert sparse.stype == "row_sparse"
    np.testing.assert_array_equal(sparse.asnumpy(), dense.asnumpy())


@pytest.mark.parametrize(
    ("name", "kind"), [("zeros", "Zero"), ("ones", "One"), ("Xavier", "Xavier")]
)
def test_names_make_initializers(name, kind):
    assert type(initializer.create(name)).__name__ == kind


def test_an_unknown_name_is_refused():
    with pytest.raises(AssertionError, match="bad is not registered"):
        initializer.create("bad")


def test_initializers_of_like_arguments_are_equal():
    assert initializer.Uniform(1) == initializer.Uniform(1.0)
    assert initializer.Uniform() != initializer.Uniform(1)
    assert initializer.Constant(nd.array([1, 2])) == initializer.Constant(nd.array([1, 2]))
    assert initializer.Zero() != initializer.One()


def test_uniform_and_normal_draw_what_nd_random_draws():
    mx.random.seed(3)
    uniform, normal = (
        filled(initializer.Uniform(2), "w_weight"),
        filled(initializer.Normal(2), "w_weight"),
    )
    mx.random.seed(3)
    np.testing.assert_array_equal(uniform.asnumpy(), nd.random.uniform(-2, 2, (4, 3)).asnumpy())
    np.testing.assert_array_equal(normal.asnumpy(), nd.random.normal(0, 2, (4, 3)).asnumpy())


# reach from the definition: n inputs 3 * 4 = 12, outputs 2 * 4 = 8
@pytest.mark.parametrize(("factor", "n"), [("avg", 10), ("in", 12), ("out", 8)])
def test_xavier_reaches_as_far_as_its_factor_says(factor, n):
    mx.random.seed(3)
    found = filled(initializer.Xavier("uniform", factor, 2), "w_weight", (2, 3, 2, 2)).asnumpy()
    mx.random.seed(3)
    draw = nd.random.uniform(-1, 1, (2, 3, 2, 2)).asnumpy()
    np.testing.assert_allclose(found, draw * np.sqrt(2 / n), rtol=1e-5)


def test_msra_is_gaussian_xavier_of_another_magnitude():
    mx.random.seed(3)
    found = filled(initializer.MSRAPrelu("in", 0.5), "w_weight").asnumpy()
    mx.random.seed(3)
    other = filled(initializer.Xavier("gaussian", "in", 2 / 1.25), "w_weight").asnumpy()
    np.testing.assert_allclose(found, other)


@pytest.mark.parametrize("init", [initializer.Xavier(), initializer.Orthogonal()])
def test_vectors_have_no_inputs_and_outputs(init):
    with pytest.raises(ValueError, match="cannot be applied to vector w_weight"):
        filled(init, "w_weight", (3,))


def test_xavier_refuses_unknown_rules():
    with pytest.raises(ValueError, match="Unknown random type"):
        filled(initializer.Xavier("foo"), "w_weight")
    with pytest.raises(ValueError, match="Incorrect factor type"):
        filled(initializer.Xavier("uniform", "foo"), "w_weight")


@pytest.mark.parametrize("kind", ["uniform", "normal"])
@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (2, 3, 2)])
def test_orthogonal_rows_or_columns_are_orthonormal(kind, shape):
    found = filled(initializer.Orthogonal(2.0, kind), "w_weight", shape).asnumpy()
    matrix = found.reshape(shape[0], -1) / 2.0
    small = matrix @ matrix.T if matrix.shape[0] <= matrix.shape[1] else matrix.T @ matrix
    np.testing.assert_allclose(small, np.eye(len(small)), atol=1e-6)


def test_orthogonal_refuses_an_unknown_distribution():
    with pytest.raises(ValueError, match="unknown random type"):
        initializer.Orthogonal(1, "foo")


def test_constant_broadcasts_an_array():
    found = filled(initializer.Constant(nd.array([1, 2, 3])), "w_weight").asnumpy()
    np.testing.assert_array_equal(found, [[1, 2, 3]] * 4)


def test_constant_refuses_an_array_that_does_not_fit():
    with pytest.raises(ValueError, match="the value does not fit w_weight"):
        filled(initializer.Constant([1, 2]), "w_weight")


def test_bilinear_kernel_is_that_of_mxnet():
    found = filled(initializer.Bilinear(), "up_weight", (2, 1, 3, 4)).asnumpy()
    kernel = [  # recorded from MXNet 1.9.1
        [0.0625, 0.1875, 0.1875, 0.0625],
        [0.1875, 0.5625, 0.5625, 0.1875],
        [0.1875, 0.5625, 0.5625, 0.1875],
    ]
    np.testing.assert_allclose(found, [[kernel], [kernel]])


def test_bilinear_needs_the_weight_of_a_convolution():
    with pytest.raises(ValueError, match="not the weight of a convolution"):
        filled(initializer.Bilinear(), "up_weight", (3, 3))


def test_forget_gates_start_open():
    own = {"__init__": initializer.LSTMBias(2).dumps()}
    found = filled(initializer.Zero(), "lstm_bias", (8,), own).asnumpy()
    assert found.tolist() == [0, 0, 2, 2, 0, 0, 0, 0]  # recorded from MXNet 1.9.1


# recorded from MXNet 1.9.1
@pytest.mark.parametrize(
    ("layers", "mode", "both_ways", "expected"),
    [
        (1, "lstm", False, [1] * 12 + [0, 3, 0, 0] * 2),
        (1, "lstm", True, [1] * 24 + [0, 3, 0, 0] * 4),
        (2, "gru", False, [1] * 15 + [0] * 12),
    ],
)
def test_fused_parameters_are_filled_gate_by_gate(layers, mode, both_ways, expected):
    init = initializer.FusedRNN(initializer.One(), 1, layers, mode, both_ways, 3.0)
    found = filled(init, "lstm_weight", (len(expected),)).asnumpy()
    assert found.tolist() == expected


def test_fused_parameters_can_be_filled_by_the_network_s_initializer():
    own = {"__init__": initializer.FusedRNN(None, 1, 1, "rnn_tanh").dumps()}
    found = filled(initializer.Constant(4), "parameters", (5,), own).asnumpy()
    assert found.tolist() == [4, 4, 4, 0, 0]


def test_fused_parameters_of_impossible_length_are_refused():
    init = initializer.FusedRNN(initializer.One(), 2, 1, "lstm")
    with pytest.raises(ValueError, match="not the parameters of such a layer"):
        filled(init, "lstm_weight", (21,))


def test_load_fills_by_name_and_leaves_the_rest_to_the_default(caplog):
    caplog.set_level(logging.INFO)
    load = initializer.Load(
        {"arg:a": nd.full(2, 4.0), "aux:b": nd.full(2, 5.0)}, initializer.Zero(), True
    )
    arrays = {name: nd.ones(2) for name in ("a", "b", "c_weight")}
    for name, array in arrays.items():
        load(InitDesc(name), array)
    assert [array.asnumpy()[0] for array in arrays.values()] == [4, 5, 0]
    assert [record.getMessage() for record in caplog.records] == [
        "Initialized a by loading",
        "Initialized b by loading",
        "Initialized c_weight by default",
    ]


def test_load_refuses_other_shapes_and_unknown_names():
    load = initializer.Load({"a": nd.ones(2)})
    with pytest.raises(AssertionError, match=r"Shape mismatch, target \(3,\) vs loaded \(2,\)"):
        load("a", nd.ones(3))
    with pytest.raises(AssertionError, match="Cannot Initialize z"):
        load("z", nd.ones(3))


def test_load_reads_a_file(tmp_path):
    file = str(tmp_path / "saved.params")
    nd.save(file, {"a": nd.full(2, 4.0)})
    array = nd.ones(2)
    initializer.Load(file)("a", array)
    assert array.asnumpy().tolist() == [4, 4]


def test_mixed_takes_the_first_pattern_that_matches():
    mixed = initializer.Mixed([".*first", ".*"], [initializer.Constant(2), initializer.One()])
    assert filled(mixed, "first_weight").asnumpy()[0, 0] == 2
    assert filled(mixed, "second_weight").asnumpy()[0, 0] == 1


def test_mixed_refuses_a_name_without_pattern():
    with pytest.raises(ValueError, match="Parameter name fc_weight did not match any pattern"):
        initializer.Mixed(["bias"], [initializer.Zero()])("fc_weight", nd.ones(2))


def test_verbosity_logs_what_was_filled_and_how(caplog):
    caplog.set_level(logging.INFO)
    init = initializer.One().set_verbosity(True)
    filled(init, "fc_weight")
    filled(init, "foo", attrs={"__init__": "zeros"})
    init.set_verbosity(True, lambda array: f"{array.shape}")
    filled(init, "fc_bias")
    assert [record.getMessage() for record in caplog.records] == [
        "Initialized fc_weight as weight: 1.0",
        "Initialized foo as zeros: 0.0",
        "Initialized fc_bias as bias: (4, 3)",
    ]


def test_an_own_initializer_can_be_registered():
    @initializer.register
    class NinesForThisTest(initializer.Initializer):
        def _init_weight(self, name, array):
            array[:] = 9

    assert first_value(initializer.create("ninesforthistest"), "x_weight") == 9


def test_a_description_is_a_string_that_knows_more():
    desc = InitDesc("fc_weight", {"a": "1"}, initializer.One())
    assert desc == "fc_weight"
    assert desc.attrs == {"a": "1"}
    assert InitDesc("fc_weight").attrs == {}
