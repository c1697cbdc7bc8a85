"""Reading images at computed places."""

import numpy as np
import pytest

from minigluon import MXNetError, nd

X = np.random.default_rng(0).normal(size=(2, 3, 4, 5)).astype("float32")
SAME = np.tile([[1, 0, 0, 0, 1, 0]], (2, 1)).astype("float32")


def test_the_same_places_give_the_same_image():
    affine = {"transform_type": "affine", "target_shape": (4, 5)}
    grid = nd.GridGenerator(nd.array(SAME), **affine)
    np.testing.assert_allclose(nd.BilinearSampler(nd.array(X), grid).asnumpy(), X, atol=1e-5)
    warp = nd.GridGenerator(nd.zeros((2, 2, 4, 5)), transform_type="warp")
    np.testing.assert_allclose(warp.asnumpy(), grid.asnumpy(), atol=1e-6)
    got = nd.SpatialTransformer(nd.array(X), nd.array(SAME), sampler_type="bilinear", **affine)
    np.testing.assert_allclose(got.asnumpy(), X, atol=1e-5)


def test_flows_are_in_pixels():
    flow = np.zeros((2, 2, 4, 5), "float32")
    flow[:, 0] = 1
    grid = nd.GridGenerator(nd.array(flow), transform_type="warp")
    got = nd.BilinearSampler(nd.array(X), grid).asnumpy()
    np.testing.assert_allclose(got[..., :4], X[..., 1:], atol=1e-5)
    np.testing.assert_allclose(got[..., 4], 0, atol=1e-6)


def test_a_single_position_is_at_the_edge():  # MXNet gives NaN
    grid = nd.GridGenerator(nd.array(SAME), transform_type="affine", target_shape=(1, 3))
    np.testing.assert_array_equal(grid.asnumpy()[0], [[[-1, 0, 1]], [[-1, -1, -1]]])


@pytest.mark.parametrize("is_multiply", [True, False])
def test_correlation_compares_patches(is_multiply):
    a, b = X[:1], X[1:]
    got = nd.Correlation(
        nd.array(a), nd.array(b), kernel_size=1, max_displacement=1, pad_size=1,
        is_multiply=is_multiply,
    ).asnumpy()  # fmt: skip
    padded = np.pad(b, ((0, 0), (0, 0), (1, 1), (1, 1)))
    for k, (dy, dx) in enumerate((y, x) for y in (0, 1, 2) for x in (0, 1, 2)):
        moved = padded[:, :, dy : dy + 4, dx : dx + 5]
        alike = a * moved if is_multiply else np.abs(a - moved)
        np.testing.assert_allclose(got[:, k], alike.mean(axis=1), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: nd.GridGenerator(nd.ones((1, 6)), transform_type="affine"), "target_shape"),
        (
            lambda: nd.GridGenerator(nd.ones((1, 5)), transform_type="affine", target_shape=(2, 2)),
            r"\(1, 5\)",
        ),
        (lambda: nd.GridGenerator(nd.ones((1, 3, 2, 2)), transform_type="warp"), "should be 2|2"),
        (lambda: nd.BilinearSampler(nd.ones((1, 3, 2, 2)), nd.ones((2, 2, 2, 2))), "grid"),
        (
            lambda: nd.Correlation(nd.ones((1, 3, 2, 2)), nd.ones((1, 3, 2, 2)), kernel_size=2),
            "odd",
        ),
        (lambda: nd.Correlation(nd.ones((1, 1, 2, 2)), nd.ones((1, 1, 2, 2))), "fit in blob"),
    ],
)
def test_wrong_inputs_are_named(call, words):
    with pytest.raises(MXNetError, match=words):
        call()
