import copy
import pickle

import numpy as np
import pytest

import minigluon as mx
from minigluon import nd, sym
from minigluon.base import MXNetError, NotImplementedForSymbol


@pytest.fixture(autouse=True)
def fresh_names():
    with mx.name.NameManager():
        yield


def layer(name="fc", data="data", num_hidden=3):
    return sym.FullyConnected(sym.var(data), num_hidden=num_hidden, name=name)


# ---- names and parts


def test_outputs_are_named_after_their_node():
    parts = sym.SliceChannel(sym.var("x"), num_outputs=2, name="s")
    assert layer().list_outputs() == ["fc_output"]
    assert parts.list_outputs() == ["s_output0", "s_output1"]
    assert sym.SliceChannel(sym.var("x"), num_outputs=1, name="s").list_outputs() == ["s_output0"]
    assert sym.make_loss(sym.var("x"), name="m").list_outputs() == ["m_loss"]
    assert sym.var("x").list_outputs() == ["x"]


@pytest.mark.parametrize(
    ("build", "name"),
    [
        (lambda a, b: a + b, "_plus0"), (lambda a, b: a - b, "_minus0"),
        (lambda a, b: a * b, "_mul0"), (lambda a, b: a / b, "_div0"),
        (lambda a, b: a % b, "_mod0"), (lambda a, b: a**b, "_power0"),
        (lambda a, b: a + 1, "_plusscalar0"), (lambda a, b: 2 - a, "_rminusscalar0"),
        (lambda a, b: 2 / a, "_rdivscalar0"), (lambda a, b: a**2, "_powerscalar0"),
        (lambda a, b: 2**a, "_rpower_scalar0"), (lambda a, b: -a, "_mulscalar0"),
        (lambda a, b: abs(a), "abs0"), (lambda a, b: a > b, "_greater0"),
        (lambda a, b: a >= 2, "_greater_equal_scalar0"),
        (lambda a, b: a != 2, "_not_equal_scalar0"),
        (lambda a, b: sym.maximum(a, b), "_maximum0"),
        (lambda a, b: sym.Flatten(a), "flatten0"),
    ],
)  # fmt: skip
def test_automatic_names_are_mxnets(build, name):
    assert build(sym.var("a"), sym.var("b")).name == name


def test_a_group_has_no_name_but_length_and_elements():
    group = sym.Group([sym.var("a"), layer()])
    assert group.name is None
    assert repr(group) == "<Symbol group [a, fc]>"
    assert (len(group), [s.name for s in group]) == (2, ["a", "fc"])
    assert repr(layer()) == "<Symbol fc>"


def test_outputs_are_found_by_position_and_by_name():
    internals = layer().get_internals()
    assert internals.list_outputs() == ["data", "fc_weight", "fc_bias", "fc_output"]
    assert internals["fc_output"].list_arguments() == ["data", "fc_weight", "fc_bias"]
    assert internals[0].name == "data"
    assert sym.Group([sym.var("a"), sym.var("b")])[0:1].list_outputs() == ["a"]


@pytest.mark.parametrize(
    ("index", "error"),
    [("nope", ValueError), ("fc", ValueError), (1, IndexError), (-2, IndexError)],
)
def test_outputs_that_are_not_there(index, error):
    with pytest.raises(error):
        layer()[index]


def test_an_ambiguous_name_finds_nothing():
    with pytest.raises(ValueError, match="multiple outputs"):
        sym.Group([sym.var("a"), sym.var("a")])["a"]


def test_children_are_the_inputs_of_the_outermost_nodes():
    x = sym.var("x")
    assert x.get_children() is None
    assert layer().get_children().list_outputs() == ["data", "fc_weight", "fc_bias"]
    assert (x + x).get_children().list_outputs() == ["x", "x"]


def test_a_variable_used_twice_is_one_argument():
    x = sym.var("x")
    assert (x + x).list_arguments() == ["x"]
    assert (sym.var("x") + sym.var("x")).list_arguments() == ["x", "x"]


# ---- what symbols cannot do


def test_a_symbol_has_no_truth():
    with pytest.raises(NotImplementedForSymbol, match="__bool__"):
        bool(sym.var("x") > 1)


@pytest.mark.parametrize("name", ["asnumpy", "asscalar", "wait_to_read", "copy", "detach"])
def test_what_only_arrays_do_is_refused_by_name(name):
    with pytest.raises(NotImplementedForSymbol, match=name):
        getattr(sym.var("x"), name)()


def test_symbols_are_not_written_to():
    x = sym.var("x")
    for write in ("__iadd__", "__isub__", "__imul__", "__itruediv__"):
        with pytest.raises(NotImplementedForSymbol):
            getattr(x, write)(1)
    with pytest.raises(TypeError):
        x[0] = 1


def test_symbols_have_no_shape_before_inference():
    for name in ("shape", "dtype", "stype", "context", "grad", "attach_grad"):
        assert not hasattr(sym.var("x"), name)


@pytest.mark.parametrize("other", [nd.ones((1,)), "a", None])
def test_arithmetic_is_with_symbols_and_numbers_only(other):
    with pytest.raises(TypeError):
        sym.var("x") + other


# ---- composition


def test_variables_are_replaced_by_name():
    net, other = layer("a"), layer("b", "data2")
    composed = other(data2=net, name="composed")
    assert composed.list_arguments() == ["data", "a_weight", "a_bias", "b_weight", "b_bias"]
    assert composed.list_outputs() == ["composed_output"]
    assert other.list_arguments() == ["data2", "b_weight", "b_bias"]
    assert other.list_outputs() == ["b_output"]


def test_composition_renames_the_first_output_only():
    a = sym.var("a")
    group = sym.Group([a + 1, a + 2])(a=sym.var("q"), name="z")
    assert group.list_outputs() == ["z_output", "_plusscalar1_output"]


def test_composition_reaches_every_use():
    a = sym.var("a")
    assert (a * a + a)(a=sym.var("z")).list_arguments() == ["z"]


@pytest.mark.parametrize(
    ("compose", "error"),
    [
        (lambda s: s(bogus=sym.var("z")), MXNetError),
        (lambda s: s(sym.var("z")), MXNetError),
        (lambda s: s(data=3), TypeError),
        (lambda s: s(data=sym.Group([sym.var("a"), sym.var("b")])), MXNetError),
    ],
)
def test_composition_refuses_what_does_not_fit(compose, error):
    with pytest.raises(error):
        compose(layer())


# ---- attributes


def test_attributes_are_read_one_by_one_or_together():
    w = sym.var("w", attr={"mood": "calm"}, lr_mult=2)
    assert (w.attr("mood"), w.attr("lr_mult"), w.attr("__lr_mult__")) == ("calm", "2", "2")
    assert w.attr("nothing") is None
    assert (w + 1).attr_dict()["w"] == w.list_attr()


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: layer()._set_attr(mood=1), ValueError),
        (lambda: layer()._set_attr(mood="calm"), MXNetError),
    ],
)
def test_attributes_that_cannot_be(make, error):
    with pytest.raises(error):
        make()


def test_setting_an_operators_own_attribute_changes_what_it_computes():
    fc = layer()
    fc._set_attr(num_hidden="9", lr_mult="2")
    assert fc.list_attr() == {"num_hidden": "9", "__lr_mult__": "2", "lr_mult": "2"}
    assert fc.infer_shape(data=(2, 5))[1] == [(2, 9)]


def test_recursive_attributes_are_gone():
    with pytest.raises(DeprecationWarning):
        layer().list_attr(recursive=True)


# ---- copies


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))]
)
def test_a_copy_is_the_same_graph_with_a_life_of_its_own(copied):
    original = layer()
    other = copied(original)
    assert other.tojson() == original.tojson()
    other._set_attr(lr_mult="3")
    assert original.attr("lr_mult") is None


# ---- inference


def test_shapes_that_do_not_follow_give_nones_and_a_warning():
    with pytest.warns(UserWarning, match="Cannot decide shape for the following arguments"):
        assert layer().infer_shape() == (None, None, None)


def test_shapes_are_inferred_by_name_and_by_position():
    expected = ([(2, 5), (3, 5), (3,)], [(2, 3)], [])
    assert layer().infer_shape(data=(2, 5)) == expected
    assert layer().infer_shape((2, 5)) == expected
    assert layer().infer_shape_partial(None, (3, 5))[0][1:] == [(3, 5), (3,)]


def test_partial_inference_tells_what_it_knows():
    assert layer().infer_shape_partial(data=(0, 5)) == ([(0, 5), (3, 5), (3,)], [(0, 3)], [])


@pytest.mark.parametrize(
    ("build", "given", "arguments", "outputs"),
    [
        # recorded from MXNet 1.9.1
        (lambda a, b: a + b, {"a": (0, 3)}, [(0, 3), (0, 3)], [(0, 3)]),
        (lambda a, b: a + b, {"a": (0, 3), "b": (2, 0)}, [(2, 3), (2, 3)], [(2, 3)]),
        (sym.dot, {"a": (0, 3), "b": (3, 4)}, [(0, 3), (3, 4)], [(0, 4)]),
        (sym.batch_dot, {"a": (0, 3, 4), "b": (0, 4, 5)}, [(0, 3, 4), (0, 4, 5)], [(0, 3, 5)]),
        (lambda a, b: sym.pick(a, b), {"a": (0, 4), "b": (0,)}, [(0, 4), (0,)], [(0,)]),
        (
            lambda a, b: sym.transpose(a, axes=(1, 0, 2)) + b,
            {"a": (0, 4, 5)}, [(0, 4, 5), (4, 0, 5)], [(4, 0, 5)],
        ),
        (
            lambda a, b: sym.Concat(a, b, dim=1),
            {"a": (5, 0), "b": (0, 3)}, [(5, 0), (5, 3)], [(5, 0)],
        ),
        (
            lambda a, b: sym.broadcast_add(a, b),
            {"a": (0, 1), "b": (1, 3)}, [(0, 1), (1, 3)], [(0, 3)],
        ),
    ],
)  # fmt: skip
def test_unknown_dimensions_travel(build, given, arguments, outputs):
    found = build(sym.var("a"), sym.var("b")).infer_shape_partial(**given)
    assert found == (arguments, outputs, [])


@pytest.mark.parametrize(
    ("build", "given", "argument"),
    [
        (lambda a, c: sym.transpose(a) + c, (5, 3), (3, 5)),
        (lambda a, c: sym.Activation(a, act_type="relu") + c, (5, 3), (5, 3)),
        (lambda a, c: sym.SliceChannel(a, num_outputs=3)[0] + c, (5, 3), (5, 9)),
        (lambda a, c: sym._internal._identity_with_attr_like_rhs(a, c), (5, 3), (5, 3)),
    ],
)
def test_inputs_follow_from_outputs(build, given, argument):
    graph = build(sym.var("a"), sym.var("c"))
    found = dict(zip(graph.list_arguments(), graph.infer_shape_partial(c=given)[0], strict=True))
    assert found["a"] == argument


def test_a_concatenation_completes_the_input_that_is_missing():
    a, b, c = sym.var("a"), sym.var("b"), sym.var("c")
    graph = sym.Concat(a, b, dim=1) + c
    assert graph.infer_shape(a=(5, 1), c=(5, 3))[0] == [(5, 1), (5, 2), (5, 3)]


def test_inference_reaches_a_fixed_point_across_outputs():
    a, b, c = (sym.var(n) for n in "abc")
    assert sym.Group([a + b, b * c]).infer_shape(c=(2, 3))[0] == [(2, 3)] * 3


def test_a_variables_own_shape_counts_unless_another_is_given():
    graph = sym.var("a", shape=(2, 3)) + sym.var("b")
    assert graph.infer_shape()[0] == [(2, 3), (2, 3)]
    assert graph.infer_shape(a=(5, 6))[0] == [(5, 6), (5, 6)]
    partly = sym.var("a", shape=(0, 3)) + sym.var("b")
    assert partly.infer_shape(b=(5, 3))[0] == [(5, 3), (5, 3)]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda s: s.infer_shape(data=(2, 5), fc_weight=(9, 9)), MXNetError),
        (lambda s: s.infer_shape(nope=(2, 5)), MXNetError),
        (lambda s: s.infer_shape((2, 5), data=(2, 5)), ValueError),
        (lambda s: s.infer_shape(data=3), TypeError),
        (lambda s: s.infer_shape(data=None), TypeError),
        (lambda s: s.infer_shape(data="abc"), TypeError),
        (lambda s: s.infer_shape((1, 1), (1, 1), (1,), (1,)), MXNetError),
        (lambda s: s.infer_type(data="float64", fc_weight="float32"), MXNetError),
        (lambda s: s.infer_type(data="float7"), TypeError),
    ],
)
def test_inference_refuses_what_cannot_be(call, error):
    with pytest.raises(error):
        call(layer())


def test_with_numpy_shapes_unknown_is_minus_one_or_none():
    # recorded from MXNet 1.9.1
    a, b = sym.var("a"), sym.var("b")
    with mx.util.np_shape(True):
        assert (a + b).infer_shape_partial() == ([None, None], [None], [])
        assert (a + b).infer_shape_partial(a=(-1, 3)) == ([(-1, 3)] * 2, [(-1, 3)], [])
        assert (a + b).infer_shape(a=()) == ([(), ()], [()], [])
        assert (a + b).infer_shape(a=(0, 3)) == ([(0, 3)] * 2, [(0, 3)], [])
        partly = sym.var("a", shape=(-1, 3)) + b
        assert partly.infer_shape(b=(5, 3))[0] == [(5, 3), (5, 3)]


def test_one_dtype_fixes_the_others():
    f64, f16, i32 = np.float64, np.float16, np.int32
    assert layer().infer_type(data="float64") == ([f64] * 3, [f64], [])
    assert layer().infer_type(fc_weight=f16) == ([f16] * 3, [f16], [])
    cast = sym.Cast(sym.var("a"), dtype="float16") + sym.var("b")
    assert cast.infer_type(a="int32") == ([i32, f16], [f16], [])


def test_dtypes_that_do_not_follow_are_none():
    assert layer().infer_type() == (None, None, None)
    cast = sym.Cast(sym.var("a"), dtype="float16") + sym.var("b")
    assert cast.infer_type_partial() == ([None, np.float16], [np.float16], [])


def test_storage_types_are_inferred_from_those_declared_or_given():
    graph = sym.dot(sym.var("x", stype="csr"), sym.var("w"))
    assert graph.infer_storage_type() == (["csr", "default"], ["default"], [])
    graph = sym.var("a") + sym.var("b")
    found = graph.infer_storage_type(a="row_sparse", b="row_sparse")
    assert found == (["row_sparse"] * 2, ["row_sparse"], [])


# ---- the rest


def test_eval_binds_and_runs():
    (got,) = (sym.var("x") * 2).eval(ctx=mx.cpu(), x=nd.array([1.0, 2.0]))
    np.testing.assert_array_equal(got.asnumpy(), [2, 4])
    with pytest.raises(ValueError, match="key `y` is missing"):
        (sym.var("x") * sym.var("y")).eval(x=nd.ones((1,)))


def test_debug_str_is_mxnets():
    # recorded from MXNet 1.9.1
    graph = sym.Activation(layer(), act_type="relu", name="act")
    assert graph.debug_str() == (
        "Symbol Outputs:\n\toutput[0]=act(0)\nVariable:data\nVariable:fc_weight\n"
        "Variable:fc_bias\n--------------------\nOp:FullyConnected, Name=fc\nInputs:\n"
        "\targ[0]=data(0) version=0\n\targ[1]=fc_weight(0) version=0\n"
        "\targ[2]=fc_bias(0) version=0\nAttrs:\n\tnum_hidden=3\n--------------------\n"
        "Op:Activation, Name=act\nInputs:\n\targ[0]=fc(0)\nAttrs:\n\tact_type=relu\n"
    )


def test_gradient_is_a_symbol():
    x, y = sym.var("x"), sym.var("y")
    of_x, of_y = (x * x + y).gradient(["x", "y"])
    arrays = {"x": nd.array([3.0]), "y": nd.array([4.0])}
    assert of_x.eval(**arrays)[0].asscalar() == 6
    assert of_y.eval(**arrays)[0].asscalar() == 1
    with pytest.raises(MXNetError, match="no variable z"):
        (x * x).gradient(["z"])


def test_backends_to_optimise_for_are_noticed_once_and_change_nothing(monkeypatch):
    monkeypatch.setattr("minigluon.symbol.symbol._noticed", [])
    net = sym.relu(sym.var("x"))
    with pytest.warns(UserWarning, match="backend='MKLDNN' changes nothing"):
        assert net.optimize_for("MKLDNN") is net
    assert net.optimize_for("MKLDNN") is net


def test_fluent_methods_make_the_same_graph_as_functions():
    x = sym.var("x")
    pairs = [
        (x.reshape((2, 2)), sym.reshape(x, shape=(2, 2))),
        (x.reshape(shape=(2, 2)), sym.reshape(x, shape=(2, 2))),
        (x.sum(axis=1), sym.sum(x, axis=1)),
        (x.astype("float16"), sym.Cast(x, dtype="float16")),
        (x.tostype("csr"), sym.cast_storage(x, stype="csr")),
    ]
    for fluent, function in pairs:
        assert fluent.list_attr() == function.list_attr()
        assert fluent.debug_str().count("Op:") == 1


def test_casts_of_mixed_precision_are_left_out_of_files_unless_told_otherwise(tmp_path):
    # recorded from MXNet 1.9.1
    x, y = sym.var("x"), sym.var("y")
    once = sym.amp_cast(sym.amp_cast(x, dtype="float16"), dtype="float32")
    both = sym.amp_multicast(once, y, num_outputs=2, name="both")
    whole = sym.Group([both[1] + both[0], once])
    assert whole.tojson().count("amp_") == 0
    assert sym.load_json(whole.tojson()).list_arguments() == ["y", "x"]
    assert sym.load_json(whole.tojson()).list_outputs() == ["_plus0_output", "x"]
    assert whole.tojson(remove_amp_cast=False).count('"op": "amp_') == 3
    path = str(tmp_path / "net-symbol.json")
    whole.save(path)
    assert "amp_" not in sym.load(path).tojson(remove_amp_cast=False)
    whole.save(path, remove_amp_cast=False)
    assert "amp_" in sym.load(path).tojson(remove_amp_cast=False)
    assert pickle.loads(pickle.dumps(whole)).list_outputs() == whole.list_outputs()


def test_truth_values_given_for_numbers_are_written_as_numbers():
    x = sym.var("x")
    assert (x + True).attr("scalar") == "1"
    assert sym.sum(x, axis=0, keepdims=True).attr("keepdims") == "True"


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda x: sym.Concat(), ValueError, "num_args should be greater"),
        (lambda x: sym.add_n(), ValueError, "num_args should be greater"),
        (lambda x: sym.contrib.box_nms(x, x), ValueError, "overlap_thresh is not valid"),
        (lambda x: sym.relu(x, name=5), TypeError, "the name is no text"),
        (lambda x: x.reshape(), TypeError, "to which shape"),
    ],
)
def test_what_makes_no_symbol_is_refused_in_words(make, error, words):
    with pytest.raises(error, match=words) as told:
        make(sym.var("x"))
    assert isinstance(told.value, MXNetError)
