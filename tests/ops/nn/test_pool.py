"""Pooling; values recorded from MXNet 1.9.1 unless said otherwise."""

import numpy as np
import pytest

from minigluon import MXNetError, autograd, nd, sym
from minigluon.base import AttributeValueError, ShapeError

IMAGE = nd.array(np.arange(24).reshape(1, 1, 4, 6))
THREE = {"kernel": (3, 3), "stride": (2, 2), "pooling_convention": "full", "pool_type": "avg"}


@pytest.mark.parametrize(
    "attrs, wanted",
    [
        (THREE, [7, 9, 10.5, 16, 18, 19.5]),
        (
            {**THREE, "pad": (1, 1)},
            [14 / 9, 30 / 9, 42 / 9, 16 / 6, 75 / 9, 14, 16, 8.5, 37 / 6, 10, 11, 5.75],
        ),
        (
            {**THREE, "pad": (1, 1), "count_include_pad": False},
            [3.5, 5, 7, 8, 12.5, 14, 16, 17, 18.5, 20, 22, 23],
        ),
        (
            {"kernel": (3, 3), "stride": (3, 3), "pad": (1, 1), "pool_type": "sum"},
            [14, 36, 62, 108],
        ),
        ({"global_pool": True, "pool_type": "avg"}, [11.5]),
        ({"global_pool": True, "pool_type": "lp", "p_value": 3}, [42.390907]),
    ],
)
def test_averages_count_what_mxnet_counts(attrs, wanted):
    for kind in ("float32", "float64"):
        found = nd.Pooling(IMAGE.astype(kind), **attrs).asnumpy()
        np.testing.assert_allclose(found.ravel(), wanted, rtol=1e-6)


def test_the_older_operator_divides_by_the_whole_kernel():
    found = nd.Pooling_v1(IMAGE, **{**THREE, "pad": (1, 1)}).asnumpy()
    wanted = [[14, 30, 42, 16], [75, 126, 144, 51], [37, 60, 66, 23]]
    np.testing.assert_allclose(found[0, 0], np.array(wanted) / 9, rtol=1e-6)


def test_the_older_operator_takes_padding_as_zero_in_maxima():
    x = nd.array(-np.arange(42).reshape(1, 1, 6, 7) - 1)
    x.attach_grad()
    with autograd.record():
        y = nd.Pooling_v1(x, kernel=(3, 2), stride=(2, 2), pad=(1, 1))
    y.backward()
    assert y.asnumpy()[0, 0].tolist() == [[0, 0, 0, 0], [0, -9, -11, -13], [0, -23, -25, -27]]
    assert np.argwhere(x.grad.asnumpy()[0, 0]).tolist() == [
        [i, j] for i in (1, 3) for j in (1, 3, 5)
    ]


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_the_first_of_equal_elements_takes_the_gradient(dtype):
    x = nd.array([[[[1, 1, 2, 2, 2, 0]]]], dtype=dtype)
    x.attach_grad()
    with autograd.record():
        y = nd.Pooling(x, kernel=(1, 3), stride=(1, 1))
    y.backward()
    assert x.grad.asnumpy().ravel().tolist() == [0, 0, 3, 1, 0, 0]


@pytest.mark.parametrize("pool_type", ["max", "avg", "sum"])
def test_channels_last_gives_the_same_as_channels_first(pool_type):
    x = np.random.default_rng(0).standard_normal((2, 3, 5, 6))
    attrs = {"kernel": (2, 3), "stride": (2, 2), "pad": (1, 1), "pool_type": pool_type}
    wanted = nd.Pooling(nd.array(x), **attrs).asnumpy()
    found = nd.Pooling(nd.array(np.moveaxis(x, 1, -1)), layout="NHWC", **attrs).asnumpy()
    np.testing.assert_allclose(np.moveaxis(found, -1, 1), wanted, rtol=1e-6)


def test_same_has_a_window_for_every_stride():
    # not from MXNet, which fails on it: ceil(9 / 2) windows, one element of padding at each end
    x = nd.array(np.arange(9).reshape(1, 1, 9))
    y = nd.Pooling(x, kernel=(3,), stride=(2,), pooling_convention="same")
    assert y.asnumpy().ravel().tolist() == [1, 3, 5, 7, 8]


def test_a_norm_has_no_gradient_where_all_is_zero():
    x = nd.zeros((1, 1, 2))
    x.attach_grad()
    with autograd.record():
        y = nd.Pooling(x, kernel=(2,), pool_type="lp", p_value=2)
    y.backward()
    assert x.grad.asnumpy().ravel().tolist() == [0, 0]


def test_shapes_follow_from_the_data_only():
    net = sym.Pooling(sym.Variable("data"), kernel=(3, 3), stride=(2, 2))
    assert net.infer_shape(data=(2, 3, 7, 6))[1] == [(2, 3, 3, 2)]
    assert net.infer_shape_partial(data=(0, 3, 0, 7))[1] == [(0, 3, 0, 3)]
    total = net + sym.Variable("o")
    assert total.infer_shape_partial(o=(2, 3, 4, 4))[0][0] == ()


def test_symbol_files_count_the_workspace_as_mxnet_does():
    data = sym.Variable("data")
    assert '"node_row_ptr": [0, 1, 3]' in sym.Pooling(data, kernel=(2, 2)).tojson()
    average = sym.Pooling(data, kernel=(2, 2), pool_type="avg")
    assert '"node_row_ptr": [0, 1, 2]' in average.tojson()
    assert sym.Pooling(data, kernel=(2, 2), name="p").list_outputs() == ["p_output"]


@pytest.mark.parametrize(
    "attrs, match",
    [
        ({"kernel": (9, 9)}, "exceeds input"),
        ({}, "kernel"),
        ({"kernel": (3,)}, "kernel"),
        ({"kernel": (2, 2), "stride": (0, 1)}, "stride"),
        ({"kernel": (2, 2), "pool_type": "lp"}, "p_value"),
        ({"kernel": (2, 2), "pad": (1, 1), "pooling_convention": "same"}, "same"),
        ({"kernel": (2, 2), "pool_type": "median"}, "pool_type"),
    ],
)
def test_windows_that_cannot_be_are_named(attrs, match):
    with pytest.raises((ShapeError, AttributeValueError), match=match):
        nd.Pooling(IMAGE, **attrs)


def test_data_of_two_axes_are_refused():
    with pytest.raises(MXNetError, match="number of axes"):
        nd.Pooling(nd.ones((3, 7)), kernel=(2, 2))


def test_grid_averages_are_those_of_the_overlapping_parts():
    x = np.random.default_rng(1).standard_normal((2, 3, 5, 4))
    found = nd.contrib.AdaptiveAvgPooling2D(nd.array(x), output_size=(3, 2)).asnumpy()
    parts = [(0, 2), (1, 4), (3, 5)]
    wanted = np.stack(
        [x[:, :, a:b].reshape(2, 3, b - a, 2, 2).mean((2, 4)) for a, b in parts], axis=2
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_a_window_of_padding_alone_passes_nothing_back():
    x = nd.array([[[1.0, 2.0, 3.0]]], dtype="float64")
    x.attach_grad()
    with autograd.record():
        out = nd.Pooling(
            x, kernel=(2,), stride=(2,), pad=(1,), pooling_convention="full", pool_type="max"
        )
    out.backward(nd.array([[[1, 10, 100]]], dtype="float64"))
    assert x.grad.asnumpy().tolist() == [[[1, 0, 10]]]
