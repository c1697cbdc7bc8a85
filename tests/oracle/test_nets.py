"""Networks of every kind compute what the real MXNet does, from parameters that it saved."""

import os
from pathlib import Path

import numpy as np
import pytest

import minigluon as mx
import nets
from minigluon import gluon, nd
from oracle import Oracle

PYTHON = os.environ.get("MINIGLUON_ORACLE")
pytestmark = [
    pytest.mark.skipif(not PYTHON, reason="MINIGLUON_ORACLE does not name a python with MXNet"),
    pytest.mark.slow,
]
NORMALIZED = [n for n in nets.ZOO if n not in ("alexnet", "squeezenet1_1", "resnet18_v1")]
"""Networks whose gradients in single precision are mostly rounding, with a batch of two."""


@pytest.fixture(scope="module")
def child():
    """One process of the real MXNet for all networks."""
    oracle = Oracle(PYTHON, Path(__file__).with_name("child_nets.py"), patience=120)
    yield oracle
    oracle.close()


def recorded(child, folder, name, dtype, **more):
    """The results of the real MXNet; its parameters are in the folder afterwards."""
    said = child.ask({"net": name, "dtype": dtype, "folder": str(folder), **more})
    assert "error" not in said, said
    return nd.load(str(folder / "results.params"))


def assert_close(got, wanted, tolerance):
    """Compare by the largest value of each array: sums of many terms cancel in small ones."""
    assert list(got) == list(wanted)
    for name, array in wanted.items():
        array, ours = array.asnumpy(), got[name].asnumpy()
        assert ours.dtype == array.dtype, name
        scale = max(np.abs(array).max(), 1e-3)
        np.testing.assert_allclose(
            ours / scale, array / scale, rtol=0, atol=tolerance, err_msg=name
        )


@pytest.mark.parametrize("name", nets.NETS)
def test_nets_from_parameters_of_mxnet_compute_what_mxnet_does(child, tmp_path, name):
    dtype = "float32" if name in nets.SINGLE else "float64"
    wanted = recorded(child, tmp_path, name, dtype)
    x = nd.array(nets.data(name), dtype=dtype)
    for hybrid in (False, True):
        net = nets.build(mx, name)
        net.cast(dtype)
        net.load_parameters(str(tmp_path / "net.params"))
        net.hybridize(hybrid)
        assert_close(nets.run(mx, net, x), wanted, 1e-6)


@pytest.mark.parametrize("name", nets.NETS)
def test_nets_in_single_precision_compute_what_mxnet_does(child, tmp_path, name):
    wanted = recorded(child, tmp_path, name, "float32")
    net = nets.build(mx, name)
    net.load_parameters(str(tmp_path / "net.params"))
    net.hybridize()
    got = nets.run(mx, net, nd.array(nets.data(name)))
    if name in NORMALIZED:
        got, wanted = {"predicted": got["predicted"]}, {"predicted": wanted["predicted"]}
    assert_close(got, wanted, 5e-5)


@pytest.mark.parametrize("name", ["lenet", "gru", "transformer", "mobilenet_v2_0_25"])
def test_all_files_of_mxnet_are_read(child, tmp_path, name):
    recorded(child, tmp_path, name, "float32", export=True)
    x = nd.array(nets.data(name))
    by_path = nets.build(mx, name)
    by_path.load_parameters(str(tmp_path / "after.params"))
    by_name = nets.build(mx, name)
    by_name.collect_params().load(str(tmp_path / "full.params"))
    of_graph = nets.build(mx, name)
    of_graph.load_parameters(str(tmp_path / "exported-0000.params"))
    graph = gluon.SymbolBlock.imports(
        str(tmp_path / "exported-symbol.json"), ["data"], str(tmp_path / "exported-0000.params")
    )
    outputs = [net(x).asnumpy() for net in (by_path, by_name, of_graph, graph)]
    for output in outputs[1:]:
        np.testing.assert_allclose(output, outputs[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["lenet", "gru", "transformer", "mobilenet_v2_0_25"])
def test_all_files_are_read_by_mxnet(child, tmp_path, name):
    net, x = nets.ready(mx, name, "float32")
    wanted = net(x).asnumpy()
    net.save_parameters(str(tmp_path / "net.params"))
    net.collect_params().save(str(tmp_path / "full.params"))
    net.hybridize()
    net(x)
    net.export(str(tmp_path / "exported"))
    said = child.ask({"net": name, "read": True, "folder": str(tmp_path)})
    assert "error" not in said, said
    for name, output in nd.load(str(tmp_path / "read.params")).items():
        np.testing.assert_allclose(output.asnumpy(), wanted, rtol=1e-4, atol=1e-4, err_msg=name)


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "rmsprop", "ftrl", "adagrad"])
@pytest.mark.parametrize("begin", ["mxnet", "minigluon"])
def test_training_goes_on_from_states_of_the_other_library(child, tmp_path, begin, optimizer):
    question = {"net": "mlp", "optimizer": optimizer, "folder": str(tmp_path)}
    net, x = nets.ready(mx, "mlp", "float32")
    trainer = nets.trainer(mx, net, optimizer)
    if begin == "minigluon":
        nets.train(mx, net, trainer, x, 3)
        net.save_parameters(str(tmp_path / "net.params"))
        trainer.save_states(str(tmp_path / "net.states"))
    said = child.ask({**question, "train": "start" if begin == "mxnet" else "continue"})
    assert "error" not in said, said
    if begin == "mxnet":
        net.load_parameters(str(tmp_path / "net.params"))
        trainer.load_states(str(tmp_path / "net.states"))
    nets.train(mx, net, trainer, x, 2)
    for name, wanted in nd.load(str(tmp_path / "after.params")).items():
        got = net._collect_params_with_prefix()[name].data().asnumpy()
        np.testing.assert_allclose(got, wanted.asnumpy(), rtol=1e-4, atol=1e-6, err_msg=name)
