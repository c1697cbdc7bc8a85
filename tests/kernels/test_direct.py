"""Convolution by shifted data: where its factors lie, and what must not be felt."""

import numpy as np
import pytest

from minigluon.kernels import convolution, direct, layouts, rows, tiles
from minigluon.kernels.convolution import Window
from minigluon.kernels.layouts import backward_axes, forward_axis

pytestmark = pytest.mark.skipif(not tiles.available(), reason="llvmlite is not there")

SAME = Window((3, 3), (1, 1), (1, 1), (1, 1))


def axes(window, places):
    return [forward_axis(*way) for way in zip(places, *window, strict=True)]


def in_float64(monkeypatch, *arrays):
    """What BLAS makes of it in double precision."""
    monkeypatch.setattr(direct, "FEWEST", 1 << 60)
    return [x.astype(np.float64) for x in arrays]


@pytest.mark.parametrize("kernel, stride, dilate, pad", [(3, 2, 1, 1), (2, 3, 2, 4), (1, 4, 1, 0)])
def test_an_axis_says_where_a_window_has_its_elements(kernel, stride, dilate, pad):
    axis = forward_axis(5, kernel, stride, dilate, pad)
    for place in range(axis.places):
        wanted = [place * stride - pad + i * dilate for i in range(kernel)]
        parts = zip(axis.shifts, axis.phases, strict=True)
        assert wanted == [axis.origin + (place + s) * axis.step + p for s, p in parts]


@pytest.mark.parametrize("kernel, stride, dilate, pad", [(3, 2, 1, 1), (2, 3, 2, 4), (5, 1, 1, 0)])
def test_every_element_finds_the_windows_it_is_in(kernel, stride, dilate, pad):
    size = 11
    phases = backward_axes(size, kernel, stride, dilate, pad)
    assert sorted(k for p in phases for k in range(p.first, size, p.step)) == list(range(size))
    for first, step, axis in phases:
        for n, element in enumerate(range(first, size, step)):
            found = {(axis.origin + n + s, i) for s, i in zip(axis.shifts, axis.taps, strict=True)}
            wanted = {
                ((element + pad - i * dilate) // stride, i)
                for i in range(kernel)
                if (element + pad - i * dilate) % stride == 0
            }
            assert found == wanted


@pytest.mark.parametrize(
    "samples, side, batched", [(1, 28, False), (16, 4, True), (3, 6, False), (40, 5, True)]
)
def test_small_images_of_many_samples_are_batched(samples, side, batched):
    y, x = axes(SAME, (side, side))
    lanes = tiles.lanes(np.float32)
    if lanes < 16:
        pytest.skip("the figures are for vectors of 16 numbers")
    assert layouts.choose(samples, 32, 32, 1, y, x, lanes, 4).batched is batched


@pytest.mark.parametrize("shape", [(1, 20, 40, 30), (33, 20, 6, 5)], ids=["flat", "batched"])
def test_blocks_smaller_than_the_data_give_the_same(monkeypatch, shape):
    rng = np.random.default_rng(0)
    data = rng.standard_normal(shape).astype(np.float32)
    weight = rng.standard_normal((24, 20, 3, 3)).astype(np.float32)
    monkeypatch.setattr(layouts, "BLOCK_BYTES", 1 << 14)
    layouts.choose.cache_clear()
    direct._geometry.cache_clear()
    found = [convolution.convolve(data, weight, None, SAME)]
    g = rng.standard_normal(found[0].shape).astype(np.float32)
    found += [
        convolution.spread(g, weight, shape[2:], SAME), convolution.correlate(g, data, SAME)
    ]  # fmt: skip
    layouts.choose.cache_clear()
    direct._geometry.cache_clear()
    data, weight, g = in_float64(monkeypatch, data, weight, g)
    wanted = [
        convolution.convolve(data, weight, None, SAME),
        convolution.spread(g, weight, shape[2:], SAME),
        convolution.correlate(g, data, SAME),
    ]
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4 * np.abs(b).max())


def test_infinite_data_are_not_felt_by_weights_that_do_not_meet_them(monkeypatch):
    monkeypatch.setattr(direct, "FEWEST", 0)
    data, g = np.ones((1, 1, 9, 20), np.float32), np.ones((1, 1, 7, 18), np.float32)
    data[0, 0, 0, 0] = np.inf  # in one window only
    found = convolution.correlate(g, data, Window((3, 3), (1, 1), (1, 1), (0, 0)))
    assert np.isposinf(found[0, 0, 0, 0])
    assert np.isfinite(found.ravel()[1:]).all()


def test_the_tiles_lose_no_more_than_twenty_roundings_at_depth_4608():
    rng = np.random.default_rng(0)
    data = rng.standard_normal((2, 512, 8, 8)).astype(np.float32)
    weight = rng.standard_normal((16, 512, 3, 3)).astype(np.float32)
    found = convolution.convolve(data, weight, None, SAME)
    wanted = convolution.convolve(
        data[:1].astype(np.float64), weight.astype(np.float64), None, SAME
    )
    scale = np.sqrt(4608)  # the size of the sums
    assert np.abs(found[:1] - wanted).max() < 20 * scale * np.finfo(np.float32).eps


@pytest.mark.parametrize("depth", [5, 16, 1600, 1609])
def test_windows_are_multiplied_in_blocks_and_in_parts(monkeypatch, depth):
    monkeypatch.setattr(rows, "MANY", 8)
    monkeypatch.setattr(rows, "LONGEST", 300)
    monkeypatch.setattr(rows, "BLOCK_BYTES", 40 * 4 * depth)
    numbers = np.random.default_rng(0)
    weight = numbers.integers(-3, 4, (21, depth)).astype(np.float32)
    length = -(-depth // tiles.lanes(np.float32)) * tiles.lanes(np.float32)
    windows = np.zeros((95, length), np.float32)
    windows[:, :depth] = numbers.integers(-3, 4, (95, depth))
    found = rows.multiply(windows, weight)
    np.testing.assert_array_equal(found, weight @ windows[:, :depth].T)


@pytest.mark.parametrize("shape", [(1, 20, 40, 30), (70, 20, 6, 5), (5, 20, 16, 16)])
@pytest.mark.parametrize("kernel", [1, 3])
def test_the_number_of_threads_changes_no_bit(monkeypatch, shape, kernel):
    rng = np.random.default_rng(0)
    data = rng.standard_normal(shape).astype(np.float32)
    weight = rng.standard_normal((24, 20, kernel, kernel)).astype(np.float32)
    window = Window((kernel,) * 2, (1, 1), (1, 1), (kernel // 2,) * 2)
    monkeypatch.setattr(direct, "FEWEST", 0)
    monkeypatch.setattr(direct, "FEWEST_FOR_A_THREAD", 1)
    found = []
    for count in ("1", "2", "5"):
        monkeypatch.setenv("MINIGLUON_NUM_THREADS", count)
        found.append(convolution.convolve(data, weight, None, window))
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])
