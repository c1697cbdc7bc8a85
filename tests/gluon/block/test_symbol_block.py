"""SymbolBlock: networks made of symbols and read from exported files."""

import numpy as np
import pytest

import minigluon as mx
from minigluon import autograd, gluon, nd, sym
from minigluon.gluon import SymbolBlock, nn


def exported(folder):
    """A two-layer network of ones, and the files it was exported to."""
    net = nn.HybridSequential(prefix="k_")
    with net.name_scope():
        net.add(nn.Dense(3, activation="relu"), nn.Dense(2))
    net.initialize("ones")
    net.hybridize()
    net(nd.ones((1, 2)))
    net.export(str(folder / "m"))
    return net, str(folder / "m-symbol.json"), str(folder / "m-0000.params")


@pytest.fixture
def two_inputs(tmp_path):
    """Files of a graph that adds its two inputs."""

    class Sum(gluon.HybridBlock):
        def hybrid_forward(self, F, a, b):
            return a + b

    block = Sum()
    block.hybridize()
    block(nd.ones(1), nd.ones(1))
    block.export(str(tmp_path / "sum"))
    return str(tmp_path / "sum-symbol.json"), str(tmp_path / "sum-0000.params")


@pytest.mark.parametrize("names", ["data", ["data"]])
def test_exported_network_computes_the_same(tmp_path, names):
    _, graph, params = exported(tmp_path)
    block = SymbolBlock.imports(graph, names, params)
    assert block(nd.ones((1, 2))).asnumpy().tolist() == [[6, 6]]


def test_imported_network_can_live_on_another_context_and_be_hybridized(tmp_path):
    _, graph, params = exported(tmp_path)
    block = SymbolBlock.imports(graph, "data", params, ctx=mx.cpu(1))
    block.hybridize()
    assert block(nd.ones((1, 2), ctx=mx.cpu(1))).context == mx.cpu(1)


def test_imported_network_trains(tmp_path):
    _, graph, params = exported(tmp_path)
    block = SymbolBlock.imports(graph, "data", params)
    with autograd.record():
        loss = block(nd.ones((1, 2))).sum()
    loss.backward()
    assert block.collect_params()["k_dense1_weight"].grad().asnumpy().tolist() == [[2] * 3] * 2


def test_two_inputs_are_given_by_name(two_inputs):
    block = SymbolBlock.imports(two_inputs[0], ["data0", "data1"], two_inputs[1])
    assert block(nd.ones(1), nd.ones(1)).asnumpy().tolist() == [2]


def test_input_that_is_neither_named_nor_in_the_file_is_named(two_inputs):
    with pytest.raises(AssertionError, match="Parameter 'data1' is missing in file"):
        SymbolBlock.imports(two_inputs[0], ["data0"], two_inputs[1])


def test_without_parameter_file_the_parameters_are_initialized(tmp_path):
    _, graph, _ = exported(tmp_path)
    block = SymbolBlock.imports(graph, ["data"])
    block.initialize("ones")
    # ones for the biases too: (1 + 1 + 1) * 3 + 1
    assert block(nd.ones((1, 2))).asnumpy().tolist() == [[10, 10]]


def test_uninitialized_parameters_are_named(tmp_path):
    _, graph, _ = exported(tmp_path)
    with pytest.raises(RuntimeError, match="'k_dense0_weight' has not been initialized"):
        SymbolBlock.imports(graph, ["data"])(nd.ones((1, 2)))


def test_parameters_survive_saving_and_loading(tmp_path):
    _, graph, params = exported(tmp_path)
    block = SymbolBlock.imports(graph, ["data"], params)
    file = str(tmp_path / "again.params")
    block.save_parameters(file)
    other = SymbolBlock.imports(graph, ["data"])
    other.load_parameters(file)
    assert other(nd.ones((1, 2))).asnumpy().tolist() == [[6, 6]]
    other.load_parameters(params)
    assert other(nd.ones((1, 2))).asnumpy().tolist() == [[6, 6]]


def test_imported_network_can_be_exported_again(tmp_path):
    _, graph, params = exported(tmp_path)
    SymbolBlock.imports(graph, ["data"], params).export(str(tmp_path / "n"), 5)
    assert set(nd.load(str(tmp_path / "n-0005.params"))) == set(nd.load(params))


def test_internals_of_a_network_are_outputs(tmp_path):
    net, _, _ = exported(tmp_path)
    internals = net(sym.var("data")).get_internals()
    wanted = [internals["k_dense0_relu_fwd_output"], internals["k_dense1_fwd_output"]]
    block = SymbolBlock(wanted, sym.var("data"), params=net.collect_params())
    hidden, out = block(nd.ones((1, 2)))
    assert (hidden.asnumpy().tolist(), out.asnumpy().tolist()) == ([[2, 2, 2]], [[6, 6]])
    everything = SymbolBlock(internals, sym.var("data"), params=net.collect_params())
    assert len(everything(nd.ones((1, 2)))) == 8


def test_shared_parameters_are_the_same_objects(tmp_path):
    net, _, _ = exported(tmp_path)
    block = SymbolBlock(net(sym.var("data")), sym.var("data"), params=net.collect_params())
    assert block.collect_params()["k_dense0_weight"] is net[0].weight


def test_call_with_a_symbol_composes(tmp_path):
    _, graph, _ = exported(tmp_path)
    composed = SymbolBlock.imports(graph, ["data"])(sym.var("other"))
    assert composed.list_arguments()[0] == "other"


def test_repr_says_graph_and_numbers_of_inputs_and_outputs(two_inputs):
    text = repr(SymbolBlock.imports(two_inputs[0], ["data0", "data1"]))
    assert text.startswith("SymbolBlock(\n<Symbol sum")
    assert text.endswith(" : 2 -> 1\n)")


def test_row_sparse_parameter_is_refused():
    graph = sym.dot(sym.var("data"), sym.var("w", stype="row_sparse"))
    with pytest.raises(AssertionError, match="'w' because its storage type is 'row_sparse'"):
        SymbolBlock(graph, sym.var("data"))


def test_inputs_must_be_variables():
    with pytest.raises(AssertionError, match="Input symbols must be variable"):
        SymbolBlock(sym.var("a") + 1, sym.var("a") * 2)


def test_cast_changes_what_is_computed():
    block = SymbolBlock(sym.FullyConnected(sym.var("a"), num_hidden=2, name="f"), sym.var("a"))
    block.initialize("ones")
    block.cast("float64")
    assert block(nd.ones((1, 2), dtype="float64")).dtype == np.float64


def test_wrong_number_of_inputs_is_a_value_error():
    block = SymbolBlock(sym.FullyConnected(sym.var("a"), num_hidden=2, name="f"), sym.var("a"))
    block.initialize()
    with pytest.raises(ValueError, match="argument structure of HybridBlock does not match"):
        block(nd.ones((1, 2)), nd.ones((1, 2)))


def test_module_checkpoint_of_the_original_gives_its_predictions(golden_folder):
    files = nd.load(str(golden_folder / "mlp_io.params"))
    block = SymbolBlock.imports(
        str(golden_folder / "mlp-symbol.json"),
        ["data", "softmax_label"],
        str(golden_folder / "mlp-0002.params"),
    )
    out = block(files["data"], files["label"]).asnumpy()
    np.testing.assert_allclose(out, files["softmax_output"].asnumpy(), atol=1e-6)
