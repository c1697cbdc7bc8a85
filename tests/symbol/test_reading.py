"""minigluon/symbol/reading.py: what MXNet 1.9.1 makes of older files was recorded from it."""

import json

import pytest

from minigluon import sym
from minigluon.base import AttributeValueError, MXNetError
from minigluon.symbol.reading import read

ZERO, ONE, QUARTER = '["zero", {}]', '["one", {}]', '["Constant", {"value": 0.25}]'


def variable(name, **more):
    return {"op": "null", "name": name, "inputs": [], **more}


def node(op, inputs, name="n", **more):
    return {"op": op, "name": name, "inputs": [[k, 0, 0] for k in inputs], **more}


def text(*nodes, version=None, **more):
    attrs = {} if version is None else {"attrs": {"mxnet_version": ["int", version]}}
    return json.dumps({"nodes": nodes, "heads": [[len(nodes) - 1, 0, 0]], **attrs, **more})


def attributes(*nodes, version=None):
    """Attributes of every node of a file, by its name."""
    rows = json.loads(read(text(*nodes, version=version)).tojson())["nodes"]
    return {row["name"]: row.get("attrs", {}) for row in rows}


X, W, B = (variable(n) for n in "xwb")


@pytest.mark.parametrize("version", [None, 900, 904, 10000, 10900])
def test_hidden_attributes_of_inputs_go_to_the_inputs(version):
    given = {"num_hidden": "2", "weight_lr_mult": "3", "bias_force_mirroring": "True",
             "ctx_group": "d", "lr_mult": "5"}  # fmt: skip
    found = attributes(X, W, B, node("FullyConnected", [0, 1, 2], attr=given), version=version)
    assert found == {
        "x": {}, "w": {"__lr_mult__": "3"}, "b": {"__force_mirroring__": "True"},
        "n": {"__ctx_group__": "d", "__lr_mult__": "5", "num_hidden": "2"},
    }  # fmt: skip


def test_inputs_left_out_get_the_attributes_of_their_node_and_what_they_start_as():
    found = attributes(X, W, B, node("BatchNorm", [0, 1, 2], param={"momentum": ".9"}))
    assert found["n_moving_mean"] == {"__init__": ZERO, "momentum": ".9"}
    assert found["n_moving_var"] == {"__init__": ONE, "momentum": ".9"}


@pytest.mark.parametrize(("version", "given"), [(900, True), (903, True), (904, False)])
def test_what_inputs_start_as_is_added_before_0_9_4(version, given):
    moving = variable("mean"), variable("var")
    found = attributes(X, W, B, *moving, node("BatchNorm", range(5)), version=version)
    assert found["mean"] == ({"__init__": ZERO} if given else {})
    assert found["var"] == ({"__init__": ONE} if given else {})
    slope = node("LeakyReLU", [0, 1], attrs={"act_type": "prelu"})
    assert attributes(X, W, slope, version=version)["w"] == ({"__init__": QUARTER} if given else {})


@pytest.mark.parametrize(("version", "kept"), [(None, False), (904, False), (905, True)])
@pytest.mark.parametrize("op", ["argmax", "argmin"])
def test_an_axis_of_minus_one_meant_all_axes_before_0_9_5(op, version, kept):
    found = attributes(X, node(op, [0], attrs={"axis": "-1"}), version=version)
    assert found["n"] == ({"axis": "-1"} if kept else {})


def test_operators_without_attributes_carry_what_they_are_given():
    assert attributes(X, node("relu", [0], attrs={"mood": "calm"}))["n"] == {"mood": "calm"}


@pytest.mark.parametrize("shape", ["(3,3)", "[3,3]", "[3L, 3L]", "(3L,3)"])
def test_shapes_are_read_in_the_writing_of_every_language(shape):
    graph = read(text(X, node("Reshape", [0], attrs={"shape": shape})))
    assert graph.infer_shape(x=(9,))[1] == [(3, 3)]


def test_a_slope_made_for_leaky_relu_starts_at_a_quarter():
    made = sym.LeakyReLU(sym.var("x"), act_type="prelu", name="p").attr_dict()
    assert made["p_gamma"] == {"__init__": QUARTER, "act_type": "prelu"}


def test_unknown_operators_are_told_all_at_once(tmp_path):
    path = tmp_path / "net-symbol.json"
    inner = {"nodes": [X, node("Baz", [0], "deep")], "heads": [[1, 0, 0]]}
    path.write_text(text(X, node("Foo", [0], "a"), node("Bar", [1], "b", subgraphs=[inner])))
    with pytest.raises(MXNetError) as caught:
        sym.load(str(path))
    assert f"{path}: node a has an unknown operator, 2 more nodes too" in str(caught.value)
    assert "node a has Foo, node b has Bar, node deep has Baz" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (text(X, node("relu", [1])), r"node n|inputs: this is"),
        (text(X, node("relu", [-1])), "none of the 1 nodes before it"),
        (text(X, node("relu", [True])), "none of the 1 nodes before it"),
        (text(X, node("relu", [0.0])), "none of the 1 nodes before it"),
        (text(X, heads=[[0, 1, 0]]), "x has 1 outputs"),
        (text(X, heads=[]), "a symbol has an output"),
        (text(variable(5)), "a name that is a int"),
        (text(X, {**W, "inputs": [[0, 0, 0]]}), "a variable has no inputs"),
        (text(X, W, node("relu", [0, 1])), "2 inputs for data"),
        (text(X, node("multi_sum_sq", [0], attrs={"num_arrays": "1000000000"})), "with 1 inputs"),
        (text(X, node("Reshape", [0], attrs={"shape": "(" * 300})), "attribute shape is not valid"),
        (text(X, node("_foreach", [0], subgraphs=[])), "node n"),
        ("[" * 100_000, "RecursionError"),
        ('{"nodes": [', "line 1 column"),
    ],
)
def test_a_mistake_is_told_with_file_and_node(tmp_path, content, says):
    path = tmp_path / "bad-symbol.json"
    path.write_text(content)
    with pytest.raises(MXNetError, match=says) as caught:
        sym.load(str(path))
    assert f"{path}: " in str(caught.value)
    assert "\n  fix       " in str(caught.value)


def test_the_class_of_an_error_says_what_is_wrong_with_an_attribute():
    with pytest.raises(AttributeValueError, match="node n: FullyConnected: attribute num_hidden"):
        read(text(X, node("FullyConnected", [0], attrs={"num_hidden": "many"})))
