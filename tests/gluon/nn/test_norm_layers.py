"""Normalization layers; texts, names and requests recorded from MXNet 1.9.1."""

import numpy as np
import pytest

import minigluon as mx
from minigluon import autograd, nd, sym
from minigluon.gluon import nn
from minigluon.gluon.nn import norm_layers


@pytest.fixture(autouse=True)
def fresh_names():
    """Names count from 0 in every test."""
    with mx.name.NameManager():
        yield


def requests(layer):
    return {k.partition("_")[2]: p.grad_req for k, p in layer.collect_params().items()}


def test_batch_norm_says_what_it_is():
    layer = nn.BatchNorm()
    text = "BatchNorm(axis=1, eps=1e-05, momentum=0.9, fix_gamma=False, use_global_stats=False, "
    assert repr(layer) == text + "in_channels=None)"
    layer.initialize()
    layer(nd.ones((2, 3, 4)))
    assert repr(layer) == text + "in_channels=3)"
    assert requests(layer) == {
        "gamma": "write", "beta": "write", "running_mean": "null", "running_var": "null",
    }  # fmt: skip
    assert requests(nn.BatchNorm(scale=False, center=False))["gamma"] == "null"


@pytest.mark.parametrize("hybrid", [False, True])
def test_batch_norm_keeps_running_averages(hybrid):
    layer = nn.BatchNorm(momentum=0.8)
    layer.initialize()
    if hybrid:
        layer.hybridize()
    x = np.random.default_rng(0).standard_normal((4, 3, 5)) * 2 + 1
    with autograd.record():
        y = layer(nd.array(x))
    y.backward()
    mean, var = x.mean((0, 2)), x.var((0, 2))
    shape = (1, 3, 1)
    wanted = (x - mean.reshape(shape)) / np.sqrt(var.reshape(shape) + 1e-5)
    np.testing.assert_allclose(y.asnumpy(), wanted, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(layer.running_mean.data().asnumpy(), 0.2 * mean, rtol=1e-5)
    np.testing.assert_allclose(layer.running_var.data().asnumpy(), 0.8 + 0.2 * var, rtol=1e-5)


def test_batch_norm_of_half_precision_keeps_single_precision():
    layer = nn.BatchNorm(in_channels=2)
    layer.initialize()
    layer.cast("float16")
    assert np.dtype(layer.gamma.dtype) == np.float32
    assert layer(nd.ones((3, 2), dtype="float16")).dtype == np.float16


def test_names_in_symbols_are_mxnets():
    data = sym.Variable("data")
    names = nn.BatchNorm(prefix="b_")(data).get_internals().list_outputs()
    assert names == ["data", "b_gamma", "b_beta", "b_running_mean", "b_running_var", "b_fwd_output"]
    names = nn.InstanceNorm(axis=3, prefix="i_")(data).get_internals().list_outputs()
    assert names == [
        "data", "i_swapaxes0_output", "i_gamma", "i_beta", "i_fwd_output", "i_swapaxes1_output",
    ]  # fmt: skip
    assert nn.LayerNorm(prefix="l_")(data).name == "l_layernorm0"
    assert nn.GroupNorm(prefix="g_")(data).name == "g_groupnorm0"


@pytest.mark.parametrize(
    "layer, text",
    [
        (nn.LayerNorm, "LayerNorm(eps=1e-05, axis=-1, center=True, scale=True, in_channels=3)"),
        (
            nn.InstanceNorm,
            "InstanceNorm(eps=1e-05, axis=1, center=True, scale=False, in_channels=3)",
        ),
    ],
)
def test_other_norms_say_what_they_are(layer, text):
    assert repr(layer(in_channels=3)) == text
    assert repr(nn.GroupNorm(3)) == "GroupNorm(eps=1e-05, num_groups=3, center=True, scale=True)"


@pytest.mark.parametrize(
    "layer, shape, axes",
    [
        (nn.LayerNorm, (4, 5), (1,)),
        (lambda: nn.LayerNorm(axis=1), (2, 3, 4), (1,)),
        (nn.InstanceNorm, (2, 3, 7), (2,)),
        (lambda: nn.InstanceNorm(axis=3), (2, 4, 5, 3), (1, 2)),
        (nn.GroupNorm, (2, 4, 5), (1, 2)),
    ],
)
def test_statistics_are_taken_along_the_right_axes(layer, shape, axes):
    made = layer()
    made.initialize()
    x = np.random.default_rng(0).standard_normal(shape)
    wanted = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)
    for _hybrid in range(2):
        np.testing.assert_allclose(made(nd.array(x)).asnumpy(), wanted, rtol=1e-4, atol=1e-5)
        made.hybridize()


def test_the_layer_for_several_devices_is_batch_norm_here():
    layer = norm_layers.SyncBatchNorm(in_channels=1, num_devices=2)
    assert repr(layer) == (
        "SyncBatchNorm(eps=1e-05, momentum=0.9, fix_gamma=False, use_global_stats=False, ndev=2, "
        "key='syncbatchnorm0_', in_channels=1)"
    )
    layer.initialize()
    with autograd.record():
        y = layer(nd.array([[1], [3]]))
    np.testing.assert_allclose(y.asnumpy().ravel(), [-1, 1], rtol=1e-4)
    attrs = layer(sym.Variable("data")).attr_dict()["syncbatchnorm0_fwd"]
    assert (attrs["ndev"], attrs["key"]) == ("2", "syncbatchnorm0_")


def test_the_rectified_one_cuts_off_below_zero():
    layer = nn.BatchNormReLU(in_channels=1)
    layer.initialize()
    assert layer(nd.array([[-1], [2]])).asnumpy().ravel().round(3).tolist() == [0, 2]
