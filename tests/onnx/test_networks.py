"""Whole networks to ONNX files and back; golden checkpoints were trained by MXNet 1.9.1."""

import logging

import numpy as np
import pytest

import minigluon as mx
from minigluon import MXNetError, nd, sym
from minigluon.gluon import nn

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.slow,
]


class Residual(nn.HybridSequential):
    """A residual block, as ResNet v1 has it."""

    def __init__(self, channels, stride):
        super().__init__()
        with self.name_scope():
            self.add(
                nn.Conv2D(channels, 3, stride, 1, use_bias=False), nn.BatchNorm(),
                nn.Activation("relu"), nn.Conv2D(channels, 3, 1, 1, use_bias=False), nn.BatchNorm(),
            )  # fmt: skip
            self.shortcut = nn.Conv2D(channels, 1, stride)

    def hybrid_forward(self, F, x):
        short = self.shortcut(x)
        for child in list(self._children.values())[:5]:
            x = child(x)
        return F.relu(x + short)


def resnet():
    net = nn.HybridSequential()
    net.add(
        nn.Conv2D(8, 7, 2, 3), nn.BatchNorm(scale=False), nn.Activation("relu"),
        nn.MaxPool2D(3, 2, 1), Residual(8, 1), Residual(16, 2), nn.GlobalAvgPool2D(), nn.Dense(5),
    )  # fmt: skip
    return net, (1, 3, 32, 32)


def mobilenet():
    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, 3, 2, 1, use_bias=False), nn.BatchNorm())
    for channels, stride in ((8, 1), (16, 2)):
        net.add(
            nn.Conv2D(8, 3, stride, 1, groups=8, use_bias=False), nn.BatchNorm(),
            nn.HybridLambda(lambda F, x: F.clip(x, 0, 6)), nn.Conv2D(channels, 1, use_bias=False),
            nn.BatchNorm(), nn.LeakyReLU(0.1),
        )  # fmt: skip
    net.add(nn.GlobalAvgPool2D(), nn.Flatten(), nn.Dense(7), nn.Dropout(0.5))
    return net, (1, 3, 24, 24)


def recurrent():
    net = nn.HybridSequential()
    net.add(mx.gluon.rnn.LSTM(6, num_layers=2, bidirectional=True, layout="NTC"),
            mx.gluon.rnn.GRU(5, layout="NTC"), nn.Dense(3))  # fmt: skip
    return net, (2, 4, 3)


def mlp():
    net = nn.HybridSequential()
    net.add(
        nn.Dense(16, activation="tanh"), nn.Dense(8, flatten=False), nn.LayerNorm(), nn.GELU(),
        nn.PReLU(), nn.SELU(), nn.Dense(3),
    )  # fmt: skip
    return net, (2, 3, 4)


def run(path, *inputs):
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(None, {i.name: x for i, x in zip(session.get_inputs(), inputs, strict=True)})


def values(shape):
    return np.random.default_rng(2).random(shape).astype(np.float32)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("make", [mlp, resnet, mobilenet, recurrent])
def test_a_block_gives_its_results_in_onnxruntime_and_when_read_again(tmp_path, make, dynamic):
    net, shape = make()
    net.initialize(mx.init.Xavier())
    net.hybridize()
    x = values(shape)
    net(nd.array(x))
    path = mx.onnx.export_model(
        net, in_shapes=[shape], onnx_file_path=str(tmp_path / "net.onnx"), dynamic=dynamic
    )
    if dynamic:
        x = values((3, *shape[1:]))
    wanted = net(nd.array(x)).asnumpy()
    np.testing.assert_allclose(run(path, x)[0], wanted, 1e-4, 1e-5)
    again = mx.onnx.import_to_gluon(path, mx.cpu())
    np.testing.assert_allclose(again(nd.array(x)).asnumpy(), wanted, 1e-5, 1e-6)


@pytest.mark.parametrize("name", ["mlp-0002", "lenet-0002", "gluon_export-0007"])
def test_checkpoints_of_mxnet_predict_the_same_in_onnxruntime(golden_folder, tmp_path, name):
    prefix = name.rpartition("-")[0]
    held = nd.load(str(golden_folder / f"{prefix.replace('_export', '')}_io.params"))
    data = held["data"].asnumpy()
    path = mx.contrib.onnx.export_model(
        str(golden_folder / f"{prefix}-symbol.json"), str(golden_folder / f"{name}.params"),
        [data.shape], np.float32, str(tmp_path / "net.onnx"),
    )  # fmt: skip
    wanted = next(x for k, x in held.items() if "output" in k).asnumpy()
    np.testing.assert_allclose(run(path, data)[0], wanted, 1e-4, 1e-6)
    graph, arguments, auxiliary = mx.contrib.onnx.import_model(path)
    module = mx.mod.Module(graph, label_names=None)
    module.bind([("data", data.shape)], for_training=False)
    module.set_params(arguments, auxiliary)
    module.forward(mx.io.DataBatch([nd.array(data)], None))
    np.testing.assert_allclose(module.get_outputs()[0].asnumpy(), wanted, 1e-4, 1e-6)


def two_inputs():
    a, b = sym.var("a"), sym.var("b")
    return sym.Group([sym.dot(a, sym.var("w"), name="d"), sym.broadcast_add(a, b, name="s")])


def test_metadata_names_what_goes_in_and_comes_out(tmp_path):
    path = mx.onnx.export_model(
        two_inputs(), {"arg:w": nd.ones((3, 2))}, [(4, 3), (1, 3)], [np.float32, np.float32],
        str(tmp_path / "two.onnx"), dynamic=True, dynamic_input_shapes=[("n", 3), (1, None)],
        run_shape_inference=True,
    )  # fmt: skip
    found = mx.onnx.get_model_metadata(path)
    assert found["input_tensor_data"] == [("a", ("n", 3)), ("b", (1, 0))]
    assert [name for name, _ in found["output_tensor_data"]] == ["d_output", "s_output"]
    d, s = run(path, values((5, 3)), values((1, 3)))
    assert (d.shape, s.shape) == ((5, 2), (5, 3))


def test_parameters_keep_their_names_and_values(tmp_path):
    w = nd.array(values((3, 2)))
    path = mx.onnx.export_model(
        two_inputs(), {"w": w}, [(4, 3), (1, 3)], onnx_file_path=str(tmp_path / "m")
    )
    _, arguments, auxiliary = mx.onnx.import_model(path)
    assert arguments["w"].asnumpy().tolist() == w.asnumpy().tolist()
    assert not auxiliary


def test_nodes_are_logged_if_asked_for(tmp_path, caplog):
    with caplog.at_level(logging.INFO):
        mx.onnx.export_model(
            sym.relu(sym.var("x"), name="r"), {}, [(2,)], onnx_file_path=str(tmp_path / "m"),
            verbose=True,
        )  # fmt: skip
    assert "Relu r_Relu: x" in caplog.text


def test_a_network_of_a_variable_or_of_constants_is_written(tmp_path):
    path = mx.onnx.export_model(sym.var("x"), {}, [(2,)], onnx_file_path=str(tmp_path / "m"))
    assert run(path, values((2,)))[0].shape == (2,)


class TestWhatIsRefused:
    def test_all_operators_without_counterpart_are_told_at_once(self, tmp_path):
        x = sym.var("x")
        graph = sym.gamma(sym.erfinv(x, name="first"), name="second")
        with pytest.raises(MXNetError, match=r"2 nodes[\s\S]*first \(erfinv\), second \(gamma\)"):
            mx.onnx.export_model(graph, {}, [(2,)], onnx_file_path=str(tmp_path / "m"))
        assert not list(tmp_path.iterdir())

    def test_unknown_onnx_operators_are_told_at_once(self, tmp_path):
        helper = onnx.helper
        nodes = [
            helper.make_node("Det", ["x"], ["y"], name="first"),
            helper.make_node("Mine", ["y"], ["z"], name="second", domain="here"),
        ]
        kind = onnx.TensorProto.FLOAT
        ends = [helper.make_tensor_value_info(n, kind, [2, 2]) for n in "xz"]
        model = helper.make_model(
            helper.make_graph(nodes, "g", ends[:1], ends[1:]),
            opset_imports=[helper.make_opsetid("", 13), helper.make_opsetid("here", 1)],
        )
        path = tmp_path / "m.onnx"
        path.write_bytes(model.SerializeToString())
        with pytest.raises(MXNetError, match=r"first \(Det\), second \(here\.Mine\)"):
            mx.onnx.import_model(str(path))

    @pytest.mark.parametrize("content", [b"", b"hello", b"\xff" * 50, b"\x08\x07"])
    def test_a_file_that_is_no_model_is_named(self, tmp_path, content):
        path = tmp_path / "bad.onnx"
        path.write_bytes(content)
        for function in (mx.onnx.import_model, mx.onnx.get_model_metadata):
            with pytest.raises(MXNetError, match=r"bad\.onnx: this is no ONNX file"):
                function(str(path))

    def test_inputs_without_shapes_are_named(self, tmp_path):
        with pytest.raises(ValueError, match="a shape for each of a, w, b"):
            mx.onnx.export_model(two_inputs(), {}, [(4, 3)], onnx_file_path=str(tmp_path / "m"))

    def test_a_block_that_never_ran_is_refused(self):
        with pytest.raises(MXNetError, match="the block has no graph"):
            mx.onnx.export_model(nn.Dense(2), in_shapes=[(1, 2)])

    def test_an_attribute_without_counterpart_is_named_with_its_node(self, tmp_path):
        graph = sym.take(sym.var("a"), sym.var("i"), mode="wrap", name="t")
        with pytest.raises(MXNetError, match=r"node t \(take\): indices are not wrapped"):
            mx.onnx.export_model(graph, {}, [(2,), (2,)], onnx_file_path=str(tmp_path / "m"))
