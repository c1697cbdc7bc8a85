"""Convolution and Deconvolution: layouts, inference and errors; facts recorded from MXNet 1.9.1."""

import numpy as np
import pytest

from minigluon import MXNetError, nd, sym
from minigluon.base import AttributeValueError, DTypeError, ShapeError

DATA = sym.Variable("data")


def random(*shape):
    return nd.array(np.random.default_rng(len(shape)).standard_normal(shape))


def test_channels_last_gives_the_same_as_channels_first():
    x, w, b = random(2, 4, 5, 6), random(6, 2, 3, 3), random(6)
    attrs = {"kernel": (3, 3), "num_filter": 6, "num_group": 2, "pad": (1, 1), "stride": (2, 1)}
    wanted = nd.Convolution(x, w, b, **attrs).asnumpy()
    last = [v.transpose((0, 2, 3, 1)) for v in (x, w)]
    found = nd.Convolution(*last, b, layout="NHWC", **attrs).asnumpy()
    np.testing.assert_allclose(np.moveaxis(found, -1, 1), wanted, rtol=1e-5, atol=1e-5)


def test_convolution_knows_weight_and_bias():
    net = sym.Convolution(
        DATA, kernel=(3, 3), num_filter=4, num_group=3, pad=(1, 1), stride=(2, 2), name="c"
    )
    assert net.list_arguments() == ["data", "c_weight", "c_bias"]
    with pytest.raises(MXNetError, match="num_group"):
        net.infer_shape(data=(2, 6, 7, 6))
    net = sym.Convolution(DATA, kernel=(3, 3), num_filter=4, pad=(1, 1), stride=(2, 2), name="c")
    arguments, outputs, _ = net.infer_shape(data=(2, 3, 7, 6))
    assert arguments == [(2, 3, 7, 6), (4, 3, 3, 3), (4,)]
    assert outputs == [(2, 4, 4, 3)]
    arguments, outputs, _ = net.infer_shape_partial(data=(0, 3, 0, 6))
    assert (arguments[1:], outputs) == ([(4, 3, 3, 3), (4,)], [(0, 4, 0, 3)])


def test_convolution_of_stride_one_knows_its_data_from_its_result():
    net = sym.Convolution(DATA, kernel=(3, 3), num_filter=4, pad=(1, 1), name="c")
    total = net + sym.Variable("o", shape=(2, 4, 5, 6))
    arguments, _, _ = total.infer_shape_partial(data=(0, 3, 0, 0))
    assert arguments[:2] == [(2, 3, 5, 6), (4, 3, 3, 3)]


def test_the_layout_decides_where_weights_have_their_channels():
    net = sym.Convolution(DATA, kernel=(3, 3), num_filter=4, layout="NHWC", name="c")
    arguments, outputs, _ = net.infer_shape(data=(2, 7, 6, 5))
    assert (arguments[1], outputs) == ((4, 3, 3, 5), [(2, 5, 4, 4)])


@pytest.mark.parametrize(
    "attrs, arguments, output",
    [
        ({"pad": (1, 1), "stride": (2, 2), "adj": (1, 1)}, [(3, 4, 3, 3)], (2, 4, 14, 12)),
        ({"no_bias": False, "dilate": (2, 2)}, [(3, 4, 3, 3), (4,)], (2, 4, 11, 10)),
        ({"stride": (2, 2), "target_shape": (14, 13)}, [(3, 4, 3, 3)], (2, 4, 14, 13)),
    ],
)
def test_deconvolution_knows_its_weight_and_its_result(attrs, arguments, output):
    net = sym.Deconvolution(DATA, kernel=(3, 3), num_filter=4, name="d", **attrs)
    found, outputs, _ = net.infer_shape(data=(2, 3, 7, 6))
    assert (found[1:], outputs) == (arguments, [output])


def test_deconvolution_turns_a_convolution_around():
    x, w = random(2, 3, 4, 5), random(3, 2, 3, 3)
    attrs = {"kernel": (3, 3), "stride": (2, 2), "pad": (1, 1)}
    y = nd.Deconvolution(x, w, num_filter=2, adj=(1, 1), **attrs)
    back = nd.Convolution(y, w, num_filter=3, no_bias=True, **attrs)
    assert back.shape == x.shape
    # <x, conv(y)> = <deconv(x), y>
    np.testing.assert_allclose((x * back).sum().asscalar(), (y * y).sum().asscalar(), rtol=1e-5)


CONVOLUTION = {"kernel": (3, 3), "num_filter": 4, "no_bias": True}
WRONG = {
    "kernel exceeds the data": ({"kernel": (9, 9)}, (4, 3, 9, 9), "kernel size exceed input"),
    "stride has one number": ({"stride": (2,)}, (4, 3, 3, 3), "stride"),
    "stride is zero": ({"stride": (0, 0)}, (4, 3, 3, 3), "stride"),
    "kernel has one number": ({"kernel": (3,)}, (4, 3, 3), "Input data should be 3D"),
    "groups do not divide": ({"num_group": 2}, (4, 1, 3, 3), "num_group"),
    "weight has other channels": ({}, (4, 2, 3, 3), "weight"),
    "weight as long in all": ({}, (4, 27, 1, 1), "weight"),
    "layout of other rank": ({"layout": "NCW"}, (4, 3, 3, 3), "layout"),
    "no filters": ({"num_filter": 0}, (4, 3, 3, 3), "num_filter"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_does_not_fit_is_named(what):
    attrs, weight, match = WRONG[what]
    with pytest.raises((ShapeError, AttributeValueError), match=match):
        nd.Convolution(nd.ones((2, 3, 7, 6)), nd.ones(weight), **{**CONVOLUTION, **attrs})


def test_mixed_dtypes_are_refused():
    with pytest.raises(DTypeError, match="float64"):
        nd.Convolution(nd.ones((1, 1, 3)), nd.ones((1, 1, 2), dtype="float64"),
                       kernel=(2,), num_filter=1, no_bias=True)  # fmt: skip


@pytest.mark.parametrize(
    "attrs, match",
    [({"adj": (2, 2)}, "adj"), ({"target_shape": (20, 20)}, "too big"), ({"pad": (9, 9)}, "pad")],
)
def test_deconvolutions_that_cannot_be_are_named(attrs, match):
    with pytest.raises(MXNetError, match=match):
        nd.Deconvolution(nd.ones((2, 3, 7, 6)), nd.ones((3, 4, 3, 3)),
                         kernel=(3, 3), num_filter=4, stride=(2, 2), **attrs)  # fmt: skip


def test_float16_is_computed_in_float32():
    # known from MXNet, which refuses it on the CPU; 65504 is the largest half number
    x = nd.full((1, 1, 3), 60000, dtype="float16")
    w = nd.array([[[1, -1, 1]]], dtype="float16")
    y = nd.Convolution(x, w, kernel=(3,), num_filter=1, no_bias=True)
    assert y.asnumpy().tolist() == [[[60000]]]


def test_columns_of_other_attributes_are_refused():
    columns = nd.ones((1, 8, 5))
    with pytest.raises(ShapeError, match="output size does not match"):
        nd.col2im(columns, output_size=(2, 3), kernel=(2, 2))
