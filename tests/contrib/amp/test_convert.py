"""Graphs converted for mixed precision; what MXNet 1.9.1 makes of the same graph was recorded."""

import hashlib
import json
import re

import numpy as np
import pytest

import minigluon as mx
import nets
from minigluon import MXNetError, cpu, gluon, nd, sym
from minigluon.contrib import amp
from minigluon.name import NameManager

# (operator, name, inputs) of all operators of the converted graph below
RECORDED = [
    ("amp_cast", "data_amp_cast_float16", ["data"]),
    ("amp_cast", "fc1_weight_amp_cast_float16", ["fc1_weight"]),
    ("amp_cast", "fc1_bias_amp_cast_float16", ["fc1_bias"]),
    ("FullyConnected", "fc1", ["data_amp_cast_float16", "fc1_weight_amp_cast_float16",
                               "fc1_bias_amp_cast_float16"]),
    ("Activation", "act", ["fc1"]),
    ("amp_cast", "act_output_amp_cast_float32", ["act"]),
    ("amp_cast", "fc2_weight_amp_cast_float16", ["fc2_weight"]),
    ("amp_cast", "fc2_bias_amp_cast_float16", ["fc2_bias"]),
    ("FullyConnected", "fc2", ["act", "fc2_weight_amp_cast_float16", "fc2_bias_amp_cast_float16"]),
    ("amp_cast", "fc2_output_amp_cast_float32", ["fc2"]),
    ("exp", "ex", ["fc2_output_amp_cast_float32"]),
    ("broadcast_add", "add", ["act_output_amp_cast_float32", "ex"]),
    ("BatchNorm", "bn", ["add", "bn_gamma", "bn_beta", "bn_moving_mean", "bn_moving_var"]),
    ("SoftmaxOutput", "softmax", ["bn", "softmax_label"]),
]  # fmt: skip


# digests of the graphs that MXNet converts networks of the zoo to
CONVERTED = {
    "alexnet": "a6d59951eeae8475",
    "densenet121": "659c56c73fdf490b",
    "inception_v3": "ee5e9c6fe29291e9",
    "mobilenet_v2_0_25": "85c9de6463722360",
    "resnet18_v1": "c7be431a32812b50",
    "resnet18_v2": "2199711f05883636",
    "squeezenet1_1": "4233803f7e7f06a9",
    "vgg11_bn": "bc48c72ce7c41dea",
}


def graph():
    first = sym.FullyConnected(sym.var("data"), num_hidden=4, name="fc1")
    first = sym.Activation(first, act_type="relu", name="act")
    second = sym.FullyConnected(first, num_hidden=4, name="fc2")
    total = sym.broadcast_add(first, sym.exp(second, name="ex"), name="add")
    return sym.SoftmaxOutput(sym.BatchNorm(total, name="bn"), name="softmax")


def operators(symbol):
    nodes = json.loads(symbol.tojson(remove_amp_cast=False))["nodes"]
    return [
        (node["op"], node["name"], [nodes[i[0]]["name"] for i in node["inputs"]])
        for node in nodes
        if node["op"] != "null"
    ]


def casts(symbol):
    return [name for op, name, _ in operators(symbol) if op == "amp_cast"]


def test_casts_are_where_mxnet_has_them():
    assert operators(amp.convert_symbol(graph())) == RECORDED


@pytest.mark.parametrize("name", CONVERTED)
def test_networks_of_the_zoo_become_the_graphs_of_mxnet(name):
    with NameManager():
        net = getattr(gluon.model_zoo.vision, name)(classes=10)
        converted = amp.convert_symbol(net(sym.var("data")))
    nodes = json.loads(converted.tojson(remove_amp_cast=False))["nodes"]
    names = [re.sub(r"(_output|_0)_amp", "_amp", node["name"]) for node in nodes]
    rows = [
        [node["op"], name, [names[i[0]] for i in node["inputs"]]]
        for node, name in zip(nodes, names, strict=True)
    ]
    assert hashlib.sha1(json.dumps(rows).encode()).hexdigest()[:16] == CONVERTED[name]


@pytest.mark.parametrize("name", ["gru", "transformer", "projected", "shuffled"])
@pytest.mark.parametrize("optional", [False, True])
def test_networks_of_many_kinds_compute_nearly_the_same(name, optional):
    net, x = nets.ready(mx, name, "float32")
    net.hybridize()
    wanted = net(x).asnumpy()
    got = amp.convert_hybrid_block(net, cast_optional_params=optional)(x).asnumpy()
    assert got.dtype == np.float32
    np.testing.assert_allclose(got, wanted, atol=5e-3 * np.abs(wanted).max())


def test_excluded_nodes_stay_in_float32():
    converted = amp.convert_symbol(graph(), excluded_sym_names=["fc1"])
    assert casts(converted) == [
        "act_output_amp_cast_float16",
        "fc2_weight_amp_cast_float16",
        "fc2_bias_amp_cast_float16",
        "fc2_output_amp_cast_float32",
    ]


def test_the_lists_may_be_given():
    converted = amp.convert_symbol(
        graph(), target_dtype_ops=["exp"], fp32_ops=["FullyConnected", "BatchNorm"]
    )
    assert casts(converted) == ["fc2_output_amp_cast_float16", "ex_output_amp_cast_float32"]


def test_an_attribute_may_ask_for_float32():
    converted = amp.convert_symbol(
        graph(), conditional_fp32_ops=[("Activation", "act_type", ["relu"])]
    )
    assert "fc1_output_amp_cast_float32" in casts(converted)
    assert "act_output_amp_cast_float16" in casts(converted)


def test_outputs_stay_in_float32():
    first, second = sym.split(
        sym.FullyConnected(sym.var("x"), num_hidden=4, name="f"), num_outputs=2, name="sp"
    )
    converted = amp.convert_symbol(sym.Group([first, sym.log(second, name="lg")]))
    assert converted.list_outputs() == ["sp_output0_amp_cast_float32_output", "lg_output"]


def test_saved_graphs_are_without_casts():
    converted = amp.convert_symbol(graph())
    assert converted.tojson() == graph().tojson()
    assert "amp_cast" in converted.tojson(remove_amp_cast=False)


def test_a_converted_model_computes_nearly_the_same():
    symbol = graph()
    executor = symbol.simple_bind(cpu(), data=(5, 3))
    draw = np.random.RandomState(0)
    args = {
        name: nd.array(draw.uniform(-1, 1, x.shape))
        for name, x in executor.arg_dict.items()
        if name not in ("data", "softmax_label")
    }
    x = nd.array(draw.uniform(-1, 1, (5, 3)))
    outputs = []
    for s, a, u in (
        (symbol, args, executor.aux_dict),
        amp.convert_model(symbol, args, executor.aux_dict),
        amp.convert_model(symbol, args, executor.aux_dict, cast_optional_params=True),
    ):
        kinds = {name: value.dtype for name, value in a.items()}
        bound = s.simple_bind(cpu(), data=(5, 3), type_dict=kinds)
        bound.copy_params_from(a, u)
        outputs.append(bound.forward(data=x)[0].asnumpy())
        assert outputs[-1].dtype == np.float32
    assert kinds["fc1_weight"] is np.float16
    assert kinds["bn_gamma"] is np.float32
    for output in outputs[1:]:
        assert (output != outputs[0]).any()
        np.testing.assert_allclose(output, outputs[0], atol=3e-3)


def test_a_hybrid_block_is_made_over():
    net = gluon.nn.HybridSequential()
    net.add(gluon.nn.Conv2D(4, 3, activation="relu"), gluon.nn.BatchNorm(), gluon.nn.Dense(2))
    net.initialize()
    x = nd.array(np.random.RandomState(0).normal(size=(2, 1, 6, 6)))
    with pytest.raises(RuntimeError, match=r"first call block\.hybridize\(\)"):
        amp.convert_hybrid_block(net)
    net.hybridize()
    wanted = net(x).asnumpy()
    for optional in (False, True):
        made = amp.convert_hybrid_block(net, cast_optional_params=optional)
        assert made(x).dtype == np.float32
        np.testing.assert_allclose(made(x).asnumpy(), wanted, atol=1e-3)
        weight = made.collect_params()[net[0].weight.name]
        assert weight.dtype == (np.float16 if optional else np.float32)
        assert made.collect_params()[net[1].gamma.name].dtype == np.float32


@pytest.mark.parametrize(
    ("attempt", "kind", "message"),
    [
        (lambda: amp.convert_symbol(3), TypeError, "First argument to convert_symbol"),
        (lambda: amp.convert_symbol(graph(), "int8"), ValueError, "Only target_dtype float16"),
        (lambda: amp.convert_symbol(graph(), "bfloat16"), MXNetError, "numpy has no such type"),
        (
            lambda: amp.convert_symbol(graph(), target_dtype_ops=["nope"]),
            ValueError,
            r"target_dtype_ops: Op \['nope'\] not in any of the lists",
        ),
        (
            lambda: amp.convert_symbol(graph(), fp32_ops="exp"),
            AssertionError,
            "fp32_ops should be a list of strs",
        ),
        (
            lambda: amp.convert_symbol(graph(), target_dtype_ops=["exp"], fp32_ops=["exp"]),
            AssertionError,
            "Ops cannot be in two or more lists",
        ),
        (lambda: amp.convert_model(graph(), [], {}), AssertionError, "arg_params should be"),
        (lambda: amp.convert_hybrid_block(gluon.nn.Sequential()), TypeError, "HybridBlock"),
    ],
)
def test_what_cannot_be_converted_is_named(attempt, kind, message):
    with pytest.raises(kind, match=message):
        attempt()
