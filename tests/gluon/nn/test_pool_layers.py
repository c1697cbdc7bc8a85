"""Pooling layers and reflection; texts, attributes and names recorded from MXNet 1.9.1."""

import numpy as np
import pytest

import minigluon as mx
from minigluon import nd, sym
from minigluon.gluon import nn


@pytest.fixture(autouse=True)
def fresh_names():
    """Names count from 0 in every test."""
    with mx.name.NameManager():
        yield


@pytest.mark.parametrize(
    "layer, shape, result",
    [
        (lambda: nn.MaxPool1D(), (1, 2, 5), (1, 2, 2)),
        (lambda: nn.MaxPool2D(3, 2, 1), (1, 2, 5, 5), (1, 2, 3, 3)),
        (lambda: nn.MaxPool2D(2, ceil_mode=True), (1, 2, 5, 5), (1, 2, 3, 3)),
        (lambda: nn.MaxPool3D(), (1, 2, 4, 4, 4), (1, 2, 2, 2, 2)),
        (lambda: nn.AvgPool1D(3, padding=1, count_include_pad=False), (1, 2, 5), (1, 2, 2)),
        (lambda: nn.AvgPool2D(layout="NHWC"), (1, 4, 6, 2), (1, 2, 3, 2)),
        (lambda: nn.AvgPool3D(2, 1), (1, 2, 4, 4, 4), (1, 2, 3, 3, 3)),
        (lambda: nn.GlobalMaxPool1D(), (1, 2, 5), (1, 2, 1)),
        (lambda: nn.GlobalMaxPool2D(), (1, 2, 5, 4), (1, 2, 1, 1)),
        (lambda: nn.GlobalMaxPool3D(), (1, 2, 3, 3, 3), (1, 2, 1, 1, 1)),
        (lambda: nn.GlobalAvgPool1D(), (1, 2, 5), (1, 2, 1)),
        (lambda: nn.GlobalAvgPool2D(), (1, 2, 5, 4), (1, 2, 1, 1)),
        (lambda: nn.GlobalAvgPool3D(), (1, 2, 3, 3, 3), (1, 2, 1, 1, 1)),
    ],
)
def test_layers_pool(layer, shape, result):
    made = layer()
    x = nd.array(np.random.default_rng(0).standard_normal(shape))
    y = made(x)
    assert y.shape == result
    made.hybridize()
    np.testing.assert_array_equal(made(x).asnumpy(), y.asnumpy())


def test_layers_say_what_they_are():
    assert repr(nn.MaxPool2D()) == (
        "MaxPool2D(size=(2, 2), stride=(2, 2), padding=(0, 0), ceil_mode=False, "
        "global_pool=False, pool_type=max, layout=NCHW)"
    )
    assert repr(nn.GlobalAvgPool1D()) == (
        "GlobalAvgPool1D(size=(1,), stride=(1,), padding=(0,), ceil_mode=True, global_pool=True, "
        "pool_type=avg, layout=NCW)"
    )
    assert nn.AvgPool2D().prefix == "pool2_"


def test_attributes_in_symbols_are_mxnets():
    net = nn.AvgPool2D(3, 2, 1, ceil_mode=True, prefix="p_")(sym.Variable("data"))
    assert net.list_outputs() == ["p_fwd_output"]
    assert net.attr_dict()["p_fwd"] == {
        "kernel": "(3, 3)", "stride": "(2, 2)", "pad": "(1, 1)", "global_pool": "False",
        "pool_type": "avg", "layout": "NCHW", "pooling_convention": "full",
        "count_include_pad": "True",
    }  # fmt: skip


@pytest.mark.parametrize(
    "make, match",
    [
        (lambda: nn.MaxPool2D(layout="BAD"), "Only NCHW and NHWC layouts are valid for 2D Pooling"),
        (lambda: nn.MaxPool1D(layout="NCHW"), "Only NCW and NWC layouts are valid for 1D Pooling"),
    ],
)
def test_wrong_layouts_are_named(make, match):
    with pytest.raises(AssertionError, match=match):
        make()


def test_reflection_pads_both_spatial_axes():
    x = np.arange(12.0).reshape(1, 1, 3, 4)
    found = nn.ReflectionPad2D(2)(nd.array(x)).asnumpy()
    wanted = np.pad(x, [(0, 0), (0, 0), (2, 2), (2, 2)], mode="reflect")
    assert found.tolist() == wanted.tolist()
    with pytest.raises(AssertionError):
        nn.ReflectionPad2D((1, 1))
