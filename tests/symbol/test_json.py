import copy
import json
import pickle
from pathlib import Path

import pytest

import minigluon as mx
from minigluon import nd, sym
from minigluon.base import MXNetError

# as MXNet 1.9.1 writes it, spaces before line breaks included
LAYER = """{
  "nodes": [
    {
      "op": "null", 
      "name": "data", 
      "attrs": {
        "__lr_mult__": "2", 
        "__shape__": "(2, 3)"
      }, 
      "inputs": []
    }, 
    {
      "op": "null", 
      "name": "fc_weight", 
      "attrs": {"num_hidden": "3"}, 
      "inputs": []
    }, 
    {
      "op": "null", 
      "name": "fc_bias", 
      "attrs": {"num_hidden": "3"}, 
      "inputs": []
    }, 
    {
      "op": "FullyConnected", 
      "name": "fc", 
      "attrs": {"num_hidden": "3"}, 
      "inputs": [[0, 0, 0], [1, 0, 0], [2, 0, 0]]
    }
  ], 
  "arg_nodes": [0, 1, 2], 
  "node_row_ptr": [0, 1, 2, 3, 4], 
  "heads": [[3, 0, 0]], 
  "attrs": {"mxnet_version": ["int", 10901]}
}"""  # noqa: W291


def layer():
    data = sym.var("data", lr_mult=2, shape=(2, 3))
    return sym.FullyConnected(data, num_hidden=3, name="fc")


def graphs():
    x = sym.var("x")
    parts = sym.SliceChannel(x, num_outputs=2, name="s")
    return [
        layer(),
        sym.Group([layer(), parts[1]]),
        sym.SoftmaxOutput(layer(), name="softmax"),
        (x * 2.5 + 1e-5) ** 2,
        sym.concat(*[sym.var(f"v{k}") for k in range(12)], dim=0, name="c"),
        sym.var('a"b\\c/é'),
    ]


def test_the_text_is_mxnets_to_the_byte():
    assert layer().tojson() == LAYER


def test_more_than_ten_elements_get_a_line_each():
    text = sym.Group([sym.var(f"x{k}") for k in range(11)]).tojson()
    assert '"heads": [\n    [0, 0, 0], \n    [1, 0, 0], ' in text
    assert '"arg_nodes": [\n    0, \n    1, ' in text


@pytest.mark.parametrize("graph", graphs(), ids=range(len(graphs())))
def test_text_survives_every_way_of_copying(graph, tmp_path):
    text = graph.tojson()
    graph.save(str(tmp_path / "net.json"))
    assert sym.load_json(text).tojson() == text
    assert sym.load(str(tmp_path / "net.json")).tojson() == text
    assert pickle.loads(pickle.dumps(graph)).tojson() == text
    assert copy.deepcopy(graph).tojson() == text


def test_a_loaded_graph_computes_the_same():
    graph = sym.load_json((sym.var("x") * 2.5 - 1).tojson())
    assert graph.eval(x=nd.array([2.0]))[0].asscalar() == 4


def test_outputs_of_nodes_are_counted():
    parts = sym.SliceChannel(sym.var("x"), num_outputs=2, name="s")
    described = json.loads(parts[1].tojson())
    assert described["node_row_ptr"] == [0, 1, 3]
    assert described["heads"] == [[1, 1, 0]]


GOLDEN = ["attrs", "group", "mlp", "sparse_linreg", "lenet", "gluon_export"]


@pytest.mark.parametrize("name", GOLDEN)
def test_files_of_the_original_are_written_back_to_the_byte(golden_folder, name):
    path = golden_folder / f"{name}-symbol.json"
    assert sym.load(str(path)).tojson() == path.read_text()


@pytest.mark.parametrize("version", ["v08", "v09"])
def test_older_layouts_mean_the_graph_of_the_newest(golden_folder, version):
    old = sym.load(str(golden_folder / f"mlp_legacy_{version}-symbol.json"))
    new = sym.load(str(golden_folder / "mlp-symbol.json"))
    assert old.tojson() == new.tojson()


def test_a_file_of_version_0_8_gets_the_auxiliary_states_it_leaves_out(golden_folder):
    graph = sym.load(str(golden_folder / "mxnet_save_000800.json"))
    assert graph.list_arguments()[:3] == ["data", "fc1_weight", "fc1_bias"]
    assert graph.list_auxiliary_states() == ["batchnorm0_moving_mean", "batchnorm0_moving_var"]


def test_attributes_of_golden_files_are_those_of_the_original(golden_folder):
    # recorded from MXNet 1.9.1
    graph = sym.load(str(golden_folder / "attrs-symbol.json"))
    assert graph.attr_dict()["data"] == {
        "__ctx_group__": "dev1", "ctx_group": "dev1", "__lr_mult__": "0.5", "lr_mult": "0.5",
        "mood": "calm",
    }  # fmt: skip


def test_old_files_keep_attributes_under_other_keys():
    old = LAYER.replace('"attrs": {"num_hidden": "3"}', '"param": {"num_hidden": "3"}')
    old = old.replace('"__lr_mult__"', '"lr_mult"')
    graph = sym.load_json(old)
    assert graph.infer_shape(data=(2, 3))[1] == [(2, 3)]
    assert graph.attr_dict()["data"]["__lr_mult__"] == "2"


@pytest.mark.parametrize("text", ["", "{", "[]", '{"nodes": 1}', "null", '{"a": 1}'])
def test_text_that_is_no_symbol_is_refused(text):
    with pytest.raises(MXNetError, match="this is not a symbol"):
        sym.load_json(text)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"FullyConnected"', '"NoSuchThing"', "node fc has an unknown operator"),
        ('{"num_hidden": "3"}', '{"num_hidden": "x"}', "attribute num_hidden is not valid"),
        ('{"num_hidden": "3"}', "{}", "num_hidden is not presented"),
        ("[2, 0, 0]]", "[9, 0, 0]]", "this is not a symbol"),
    ],
)
def test_a_file_with_a_mistake_says_where(old, new, message):
    with pytest.raises(MXNetError, match=message):
        sym.load_json(LAYER.replace(old, new))


def test_writes_to_auxiliary_states_are_counted():
    # recorded from MXNet 1.9.1
    x, mean, var = sym.var("x"), sym.var("mean"), sym.var("var")
    first = sym.BatchNorm(x, sym.var("g1"), sym.var("b1"), mean, var, name="first")
    second = sym.BatchNorm(first, sym.var("g2"), sym.var("b2"), mean, var, name="second")
    rows = {n["name"]: n["inputs"] for n in json.loads((second + sym.sum(mean)).tojson())["nodes"]}
    assert [version for _, _, version in rows["first"]] == [0, 0, 0, 1, 1]
    assert [version for _, _, version in rows["second"]] == [0, 0, 0, 2, 2]
    assert "arg[3]=mean(0) version=1" in first.debug_str()


def test_numpy_shapes_are_noted():
    with mx.util.np_shape(True):
        described = json.loads(layer().tojson())
    assert described["attrs"] == {"is_np_shape": ["int", 1], "mxnet_version": ["int", 10901]}


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(MXNetError, match=r"missing\.json"):
        sym.load(str(tmp_path / "missing.json"))
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(MXNetError, match=r"binary\.json"):
        sym.load(str(tmp_path / "binary.json"))


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "net.json"
    layer().save(str(path))
    before = path.read_bytes()

    def fail(self, target):
        raise OSError(28, "disk is full")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(MXNetError, match="disk is full"):
        (layer() + 1).save(str(path))
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["net.json"]


def test_checkpoints_hold_the_symbol(tmp_path):
    mx.model.save_checkpoint(str(tmp_path / "net"), 1, layer(), {"fc_bias": nd.ones((3,))}, {})
    graph, arguments, _ = mx.model.load_checkpoint(str(tmp_path / "net"), 1)
    assert graph.tojson() == LAYER
    assert list(arguments) == ["fc_bias"]
