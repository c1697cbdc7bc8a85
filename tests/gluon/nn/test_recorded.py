"""Networks with convolution, pooling and batch normalization that real MXNet trained and saved."""

import numpy as np
import pytest

import minigluon as mx
from minigluon import nd
from minigluon.gluon import nn


def assert_near(found, wanted):
    np.testing.assert_allclose(found.asnumpy(), wanted.asnumpy(), rtol=1e-4, atol=1e-6)


def test_a_module_checkpoint_predicts(golden_folder):
    recorded = nd.load(str(golden_folder / "lenet_io.params"))
    data = recorded["data"]
    module = mx.mod.Module.load(str(golden_folder / "lenet"), 2, label_names=["softmax_label"])
    module.bind([("data", data.shape)], [("softmax_label", (data.shape[0],))], for_training=False)
    module.forward(mx.io.DataBatch([data]), is_train=False)
    assert_near(module.get_outputs()[0], recorded["softmax_output"])


def test_an_exported_network_predicts(golden_folder):
    recorded = nd.load(str(golden_folder / "gluon_io.params"))
    net = mx.gluon.SymbolBlock.imports(
        str(golden_folder / "gluon_export-symbol.json"), ["data"],
        str(golden_folder / "gluon_export-0007.params"),
    )  # fmt: skip
    assert_near(net(recorded["data"]), recorded["output"])


@pytest.mark.parametrize("hybrid", [False, True])
def test_saved_parameters_fit_the_layers(golden_folder, hybrid):
    recorded = nd.load(str(golden_folder / "gluon_io.params"))
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(3, 3, activation="relu"), nn.BatchNorm(), nn.Flatten(),
        nn.Dense(4, activation="tanh"), nn.Dense(2),
    )  # fmt: skip
    net.load_parameters(str(golden_folder / "gluon_save.params"))
    if hybrid:
        net.hybridize()
    assert_near(net(recorded["data"]), recorded["output"])
