"""Convolution kernels against sums written out, and against their adjoints."""

import numpy as np
import pytest

from minigluon.kernels import convolution, direct, rows, tiles
from minigluon.kernels.convolution import Window

CASES = [
    # data, weight, groups, window
    ((2, 3, 8), (4, 3, 3), 1, Window((3,), (2,), (1,), (1,))),
    ((3, 2, 6, 7), (4, 2, 2, 3), 1, Window((2, 3), (2, 1), (1, 2), (0, 1))),
    ((2, 4, 5, 6), (6, 2, 3, 3), 2, Window((3, 3), (1, 2), (1, 1), (1, 1))),
    ((2, 3, 5, 5), (3, 1, 3, 3), 3, Window((3, 3), (2, 1), (1, 1), (1, 0))),
    ((2, 3, 5, 6), (3, 1, 3, 3), 3, Window((3, 3), (1, 1), (1, 1), (1, 1))),
    ((1, 2, 8, 9), (2, 1, 3, 3), 2, Window((3, 3), (2, 2), (2, 2), (1, 2))),
    ((1, 2, 5, 6), (2, 1, 2, 4), 2, Window((2, 4), (1, 2), (1, 1), (0, 3))),
    ((1, 2, 3, 3), (2, 1, 1, 1), 2, Window((1, 1), (2, 1), (1, 1), (1, 1))),
    ((2, 3, 4, 5), (2, 3, 1, 1), 1, Window((1, 1), (1, 1), (1, 1), (0, 0))),
    ((17, 3, 7, 6), (5, 3, 3, 3), 1, Window((3, 3), (2, 1), (1, 2), (2, 3))),
    ((18, 4, 5, 5), (4, 2, 2, 2), 2, Window((2, 2), (1, 1), (1, 1), (1, 0))),
    ((2, 2, 9, 9), (30, 2, 3, 3), 1, Window((3, 3), (1, 1), (1, 1), (1, 1))),
    ((2, 3, 8, 8), (20, 3, 1, 1), 1, Window((1, 1), (1, 1), (1, 1), (0, 0))),
    ((1, 2, 4, 3, 4), (2, 2, 2, 2, 1), 1, Window((2, 2, 1), (1, 1, 2), (2, 1, 1), (1, 0, 0))),
]


def written_out(data, weight, groups, window):
    """The definition, one output element at a time."""
    padded = np.pad(data, [(0, 0), (0, 0), *[(p, p) for p in window.pad]])
    places = window.positions(data.shape[2:])
    filters, per_group = weight.shape[0] // groups, weight.shape[1]
    out = np.zeros((data.shape[0], weight.shape[0], *places))
    for n, f, *place in np.ndindex(out.shape):
        first = f // filters * per_group
        at = [
            slice(q * s, q * s + d * (k - 1) + 1, d)
            for q, s, d, k in zip(place, window.stride, window.dilate, window.kernel, strict=True)
        ]
        part = padded[(n, slice(first, first + per_group), *at)]
        out[(n, f, *place)] = np.sum(part * weight[f])
    return out


def arrays(data, weight, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(data), rng.standard_normal(weight)


NEVER = 1 << 60


@pytest.fixture(params=["one-block", "many-blocks", "tiles", "few-windows"])
def blocks(request, monkeypatch):
    """BLAS with a large and with a tiny buffer, and both ways of compiled tiles."""
    large = request.param == "one-block"
    monkeypatch.setattr(convolution, "BUFFER_BYTES", 1 << 20 if large else 600)
    monkeypatch.setattr(convolution, "FEWEST_COLUMNS", 2)
    compiled = request.param in ("tiles", "few-windows")
    if compiled and not tiles.available():
        pytest.skip("llvmlite is not there")
    monkeypatch.setattr(convolution, "FEWEST_FOR_VECTORS", 0 if compiled else NEVER)
    monkeypatch.setattr(direct, "FEWEST", 0 if compiled else NEVER)
    monkeypatch.setattr(direct, "FEWEST_PLACES", 0)
    few = request.param == "few-windows"
    monkeypatch.setattr(rows, "worthwhile", lambda n, places, *_: few and len(places) <= 2)


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("shape, weight_shape, groups, window", CASES)
def test_convolution_is_the_sum_over_windows(shape, weight_shape, groups, window):
    data, weight = arrays(shape, weight_shape)
    bias = np.arange(weight_shape[0], dtype=float)
    wanted = written_out(data, weight, groups, window)
    found = convolution.convolve(data, weight, None, window, groups)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
    wanted += bias.reshape(-1, *[1] * (len(shape) - 2))
    found = convolution.convolve(data, weight, bias, window, groups)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.usefixtures("blocks")
@pytest.mark.parametrize("shape, weight_shape, groups, window", CASES)
def test_spread_and_correlate_are_the_adjoints(shape, weight_shape, groups, window):
    data, weight = arrays(shape, weight_shape)
    out = written_out(data, weight, groups, window)
    g = np.random.default_rng(1).standard_normal(out.shape)
    by_data = convolution.spread(g, weight, shape[2:], window, groups)
    by_weight = convolution.correlate(g, data, window, groups)
    assert (by_data.shape, by_weight.shape) == (shape, weight_shape)
    inner = np.sum(g * out)
    np.testing.assert_allclose(np.sum(by_data * data), inner, rtol=1e-10)
    np.testing.assert_allclose(np.sum(by_weight * weight), inner, rtol=1e-10)


@pytest.mark.parametrize("shape, weight_shape, groups, window", CASES)
def test_columns_times_the_weight_are_the_convolution(shape, weight_shape, groups, window):
    if groups > 1:
        return
    data, weight = arrays(shape, weight_shape)
    columns = convolution.im2col(data, window)
    found = weight.reshape(weight_shape[0], -1) @ columns
    wanted = written_out(data, weight, groups, window)
    np.testing.assert_allclose(found.reshape(wanted.shape), wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape, weight_shape, groups, window", CASES)
def test_col2im_is_the_adjoint_of_im2col(shape, weight_shape, groups, window):
    data, _ = arrays(shape, weight_shape)
    columns = convolution.im2col(data, window)
    g = np.random.default_rng(2).standard_normal(columns.shape)
    back = convolution.col2im(g, shape[2:], window)
    assert back.shape == shape
    np.testing.assert_allclose(np.sum(back * data), np.sum(g * columns), rtol=1e-10)


def test_columns_never_share_memory_with_the_data():
    data = np.ones((1, 1, 3))
    columns = convolution.im2col(data, Window((1,), (1,), (1,), (0,)))
    assert not np.shares_memory(columns, data)


def test_half_precision_is_summed_in_single_precision():
    # 3000 ones: half precision cannot count beyond 2048
    data, weight = np.ones((1, 3000, 2), np.float16), np.ones((1, 3000, 2), np.float16)
    window = Window((2,), (1,), (1,), (0,))
    out = convolution.convolve(data, weight, None, window)
    assert out.dtype == np.float16
    assert out.ravel().tolist() == [6000]
    assert convolution.spread(out, weight, (2,), window).dtype == np.float16
    assert convolution.correlate(out, data, window).dtype == np.float16


def test_an_empty_batch_gives_an_empty_result():
    window = Window((2,), (1,), (1,), (0,))
    out = convolution.convolve(np.ones((0, 2, 4)), np.ones((3, 2, 2)), None, window)
    assert out.shape == (0, 3, 3)
    assert not convolution.correlate(out, np.ones((0, 2, 4)), window).any()
    assert convolution.spread(out, np.ones((3, 2, 2)), (4,), window).shape == (0, 2, 4)
