"""Tables and drawings of symbols; tables are MXNet 1.9.1's but for parameters it does not count."""

import re
import sys

import pytest

from minigluon import sym, viz
from minigluon.name import NameManager

HEAD = "Layer (type)                                        Output Shape            Param #     "


@pytest.fixture
def network():
    with NameManager():  # names count from 0, whatever ran before
        return _network()


def _network():
    data = sym.Variable("data")
    vectors = sym.Embedding(data, input_dim=30, output_dim=8, name="emb")
    picture = sym.Reshape(vectors, shape=(-1, 1, 4, 8), name="rs")
    conv = sym.Convolution(picture, kernel=(3, 3), pad=(1, 1), num_filter=4, name="conv1")
    active = sym.Activation(sym.BatchNorm(conv, name="bn"), act_type="relu", name="relu")
    small = sym.Pooling(active, kernel=(2, 2), stride=(2, 2), pool_type="max", name="pool")
    halves = sym.SliceChannel(sym.flatten(small, name="flat"), num_outputs=2, name="halves")
    dense = sym.FullyConnected(halves[0] + halves[1], num_hidden=10, name="fc")
    return sym.SoftmaxOutput(dense, name="softmax")


def rows(text):
    """Layer, shape, parameters and inputs of each row of a table."""
    found = []
    for line in text.splitlines()[3:]:
        cells = [line[:52], line[52:76], line[76:88], line[88:]]
        if set(line) <= set("_=") or line.startswith("Total"):
            continue
        found.append(tuple(cell.strip() for cell in cells))
    return found


def test_a_summary_shows_layers_shapes_parameters_and_inputs(network, capsys):
    viz.print_summary(network, shape={"data": (2, 4)})
    text = capsys.readouterr().out
    assert text.splitlines()[1] == HEAD + "Previous Layer                  "
    assert rows(text) == [
        ("data(null)", "4", "0", ""),
        ("emb(Embedding)", "4x8", "240", "data"),
        ("rs(Reshape)", "1x4x8", "0", "emb"),
        ("conv1(Convolution)", "4x4x8", "40", "rs"),
        ("bn(BatchNorm)", "4x4x8", "8", "conv1"),
        ("relu(Activation)", "4x4x8", "0", "bn"),
        ("pool(Pooling)", "4x2x4", "0", "relu"),
        ("flat(Flatten)", "32", "0", "pool"),
        ("halves(SliceChannel)", "", "0", "flat"),
        ("_plus0(elemwise_add)", "16", "0", "halves"),
        ("", "", "", "halves"),
        ("fc(FullyConnected)", "10", "170", "_plus0"),
        ("softmax(SoftmaxOutput)", "10", "0", "fc"),
    ]
    assert text.splitlines()[-2:] == ["Total params: 458", "_" * 120]


def test_lines_divide_the_layers(network, capsys):
    viz.print_summary(network, shape={"data": (2, 4)})
    lines = [line for line in capsys.readouterr().out.splitlines() if set(line) <= set("_=")]
    assert lines == ["_" * 120, "=" * 120, *["_" * 120] * 11, "=" * 120, "_" * 120]


def test_without_shapes_a_summary_counts_what_needs_none(network, capsys):
    viz.print_summary(network)
    counts = {name: (shape, count) for name, shape, count, _ in rows(capsys.readouterr().out)}
    assert counts["emb(Embedding)"] == ("", "240")  # as in MXNet, so are the biases below
    assert counts["conv1(Convolution)"] == ("", "4")
    assert counts["fc(FullyConnected)"] == ("", "10")


@pytest.mark.parametrize("positions", [(0.3, 0.6, 0.75, 1.0), (24, 48, 60, 80)])
def test_columns_may_be_placed(network, capsys, positions):
    viz.print_summary(network, shape={"data": (2, 4)}, line_length=80, positions=positions)
    line = capsys.readouterr().out.splitlines()[5]
    assert (
        line == "emb(Embedding)          4x8                     240         data                "
    )


def test_a_name_too_long_for_its_column_is_cut(capsys):
    viz.print_summary(sym.sin(sym.Variable("x" * 60), name="s"), shape={"x" * 60: (2, 3)})
    assert capsys.readouterr().out.splitlines()[3].startswith("x" * 52 + "3 ")


def test_layers_that_mxnet_does_not_count_are_counted(capsys):
    data = sym.Variable("data")
    up = sym.Deconvolution(data, kernel=(2, 2), num_filter=5, name="up")
    layer = sym.LayerNorm(sym.FullyConnected(up, num_hidden=7, name="fc"), name="norm")
    viz.print_summary(layer, shape={"data": (2, 3, 4, 4)})
    counts = [count for _, _, count, _ in rows(capsys.readouterr().out)]
    assert counts == ["0", str(3 * 5 * 4), str(7 * 5 * 5 * 5 + 7), "14"]


def test_a_shared_weight_counts_once_in_the_total(capsys):
    data, weight = sym.Variable("data"), sym.Variable("w")
    first = sym.FullyConnected(data, weight, num_hidden=4, no_bias=True)
    viz.print_summary(
        sym.FullyConnected(first, weight, num_hidden=4, no_bias=True), shape={"data": (2, 4)}
    )
    assert "Total params: 16\n" in capsys.readouterr().out


@pytest.mark.parametrize("show", [viz.print_summary, viz.plot_network])
def test_shapes_that_do_not_suffice_are_refused_with_what_is_missing(show):
    if show is viz.plot_network:
        pytest.importorskip("graphviz", reason="drawings need graphviz")
    total = sym.Variable("data") + sym.sum(sym.Variable("other"))
    with pytest.raises(ValueError, match=r"Input shape is incomplete[^$]*add 'other'"):
        show(total, shape={"data": (2, 3)})


@pytest.mark.parametrize("show", [viz.print_summary, viz.plot_network])
def test_only_symbols_are_shown(show):
    if show is viz.plot_network:
        pytest.importorskip("graphviz", reason="drawings need graphviz")
    with pytest.raises(TypeError, match="symbol must be Symbol"):
        show(3)


# ---- drawings


def drawn(*args, **kwargs):
    """Captions of nodes and labels of edges, by name."""
    pytest.importorskip("graphviz", reason="drawings need graphviz")
    source = viz.plot_network(*args, **kwargs).source
    edges = dict(re.findall(r'(\w+ -> \w+) \[label="?([^" ]*)', source))
    nodes = dict(re.findall(r'^\t(\w+) \[label=(?:"([^"]*)"|\w+)', source, re.MULTILINE))
    return nodes, edges


def test_a_drawing_says_what_the_best_known_layers_are(network):
    nodes, _ = drawn(network)
    assert nodes["conv1"] == "Convolution\n3x3/1, 4"
    assert nodes["pool"] == "Pooling\nmax, 2x2/2x2"
    assert nodes["relu"] == "Activation\nrelu"
    assert nodes["fc"] == "FullyConnected\n10"


def test_a_drawing_leaves_out_learnt_variables_or_shows_them(network):
    few, _ = drawn(network)
    assert "data" in few
    assert "softmax_label" in few
    assert "conv1_weight" not in few
    all_nodes, _ = drawn(network, hide_weights=False)
    assert set(all_nodes) - set(few) == {
        "emb_weight", "conv1_weight", "conv1_bias", "bn_gamma", "bn_beta", "bn_moving_mean",
        "bn_moving_var", "fc_weight", "fc_bias",
    }  # fmt: skip


def test_edges_show_shapes_and_dtypes(network):
    _, edges = drawn(network, shape={"data": (2, 4)}, dtype={"data": "int32"})
    assert edges["emb -> data"] == "4(int32)"
    assert edges["conv1 -> rs"] == "1x4x8(float32)"


def test_an_edge_shows_the_output_that_is_consumed():
    parts = sym.split_v2(sym.Variable("data"), (1, 3), axis=1)
    _, edges = drawn(sym.concat(parts[1], dim=1, name="joined"), shape={"data": (2, 5)})
    name = parts.name
    assert edges == {f"{name} -> data": "5", f"joined -> {name}": "2"}


def test_a_drawing_is_a_digraph_with_title_format_and_attributes(network):
    graphviz = pytest.importorskip("graphviz", reason="drawings need graphviz")
    plot = viz.plot_network(network, "net", "svg", node_attrs={"shape": "oval"})
    assert isinstance(plot, graphviz.Digraph)
    assert (plot.name, plot.format) == ("net", "svg")
    assert "shape=box" not in plot.source


def test_repeated_names_are_warned_of_once():
    pytest.importorskip("graphviz", reason="drawings need graphviz")
    with pytest.warns(RuntimeWarning) as warned:
        viz.plot_network(sym.Variable("data") + sym.Variable("data") * 2)
    (message,) = [str(w.message) for w in warned]
    assert message.startswith("There are multiple variables with the same name in your graph")
    assert message.endswith("Repeated names: data")


def test_without_graphviz_a_drawing_says_how_to_get_it(network, monkeypatch):
    monkeypatch.setitem(sys.modules, "graphviz", None)
    with pytest.raises(ImportError, match=r"pip install minigluon\[viz\]"):
        viz.plot_network(network)
