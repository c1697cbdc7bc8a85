"""Convolution layers; texts, names and shapes recorded from MXNet 1.9.1."""

import numpy as np
import pytest

import minigluon as mx
from minigluon import autograd, nd, sym
from minigluon.gluon import nn


@pytest.fixture(autouse=True)
def fresh_names():
    """Names count from 0 in every test."""
    with mx.name.NameManager():
        yield


@pytest.mark.parametrize(
    "layer, text, weight",
    [
        (
            lambda: nn.Conv2D(8, (3, 2), strides=2, padding=1, dilation=2, groups=2, use_bias=False,
                              in_channels=4),
            "Conv2D(2 -> 8, kernel_size=(3, 2), stride=(2, 2), padding=(1, 1), dilation=(2, 2), "
            "groups=2, bias=False)",
            (8, 2, 3, 2),
        ),
        (
            lambda: nn.Conv1D(4, 3, dilation=2, padding=1, strides=2),
            "Conv1D(None -> 4, kernel_size=(3,), stride=(2,), padding=(1,), dilation=(2,))",
            (4, 0, 3),
        ),
        (
            lambda: nn.Conv3D(4, (1, 2, 3), activation="relu"),
            "Conv3D(None -> 4, kernel_size=(1, 2, 3), stride=(1, 1, 1), Activation(relu))",
            (4, 0, 1, 2, 3),
        ),
        (
            lambda: nn.Conv2DTranspose(8, 3, in_channels=4, groups=2),
            "Conv2DTranspose(4 -> 4, kernel_size=(3, 3), stride=(1, 1), groups=2)",
            (4, 4, 3, 3),
        ),
        (
            lambda: nn.Conv2DTranspose(8, 3, output_padding=1, strides=2),
            "Conv2DTranspose(8 -> 0, kernel_size=(3, 3), stride=(2, 2))",
            (0, 8, 3, 3),
        ),
    ],
)  # fmt: skip
def test_layers_say_what_they_are(layer, text, weight):
    made = layer()
    assert repr(made) == text
    assert made.weight.shape == weight
    assert made.prefix == "conv0_"


@pytest.mark.parametrize(
    "layer, shape, result",
    [
        (lambda: nn.Conv1D(4, 3, padding=1), (2, 3, 8), (2, 4, 8)),
        (lambda: nn.Conv2D(6, 3, groups=3, activation="tanh"), (2, 3, 8, 8), (2, 6, 6, 6)),
        (lambda: nn.Conv3D(2, 2), (1, 2, 4, 4, 4), (1, 2, 3, 3, 3)),
        (lambda: nn.Conv1DTranspose(4, 3, strides=2), (2, 3, 5), (2, 4, 11)),
        (
            lambda: nn.Conv2DTranspose(4, 3, strides=2, output_padding=1),
            (2, 3, 5, 5),
            (2, 4, 12, 12),
        ),
        (lambda: nn.Conv3DTranspose(2, 2, strides=2), (1, 2, 2, 2, 2), (1, 2, 4, 4, 4)),
    ],
)
@pytest.mark.parametrize("hybrid", [False, True])
def test_layers_find_out_their_channels_and_train(layer, shape, result, hybrid):
    made = layer()
    made.initialize()
    if hybrid:
        made.hybridize()
    with autograd.record():
        y = made(nd.ones(shape))
    y.backward()
    assert y.shape == result
    assert np.abs(made.weight.grad().asnumpy()).sum() > 0
    assert made.bias.data().asnumpy().tolist() == [0] * made.bias.shape[0]


def test_a_convolution_layer_is_the_operator_on_its_parameters():
    layer = nn.Conv2D(4, 3, strides=2, padding=1)
    layer.initialize()
    x = nd.array(np.random.default_rng(0).standard_normal((2, 3, 7, 6)))
    y = layer(x)
    wanted = nd.Convolution(
        x, layer.weight.data(), layer.bias.data(), kernel=(3, 3), num_filter=4, stride=(2, 2),
        pad=(1, 1),
    )  # fmt: skip
    np.testing.assert_array_equal(y.asnumpy(), wanted.asnumpy())


def test_names_and_attributes_in_symbols_are_mxnets():
    layer = nn.Conv2D(4, 3, activation="relu", prefix="c_")
    net = layer(sym.Variable("data"))
    assert net.get_internals().list_outputs() == [
        "data", "c_weight", "c_bias", "c_fwd_output", "c_relu_fwd_output",
    ]  # fmt: skip
    assert net.attr_dict()["c_fwd"] == {
        "kernel": "(3, 3)", "stride": "(1, 1)", "dilate": "(1, 1)", "pad": "(0, 0)",
        "num_filter": "4", "num_group": "1", "no_bias": "False", "layout": "NCHW",
    }  # fmt: skip


@pytest.mark.parametrize(
    "make, match",
    [
        (lambda: nn.Conv2D(4, 3, layout="BAD"), "Only supports 'NCHW' and 'NHWC' layout for now"),
        (lambda: nn.Conv1D(4, 3, layout="NWC"), "Only supports 'NCW' layout for now"),
        (lambda: nn.Conv2D(4, (3, 3, 3)), "kernel_size must be a number or a list of 2 ints"),
    ],
)
def test_wrong_arguments_are_named(make, match):
    for kind in (AssertionError, ValueError):
        with pytest.raises(kind, match=match):
            make()


def test_channels_last_works():
    layer = nn.Conv2D(4, 3, layout="NHWC")
    assert layer.weight.shape == (4, 3, 3, 0)
    layer.initialize()
    assert layer(nd.ones((2, 5, 6, 3))).shape == (2, 3, 4, 4)
