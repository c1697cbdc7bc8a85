"""Normalization kernels against the formulas in double precision."""

import numpy as np
import pytest

from minigluon.kernels import normalization
from minigluon.kernels.normalization import batch_plane, group_plane, row_plane

PLANES = [
    ((6, 4, 5), batch_plane(4)),
    ((6, 4, 1), batch_plane(4)),
    ((3, 2, 7), group_plane(2)),
    ((5, 8), row_plane(8)),
]


@pytest.fixture(params=[1 << 18, 1], ids=["one-block", "many-blocks"], autouse=True)
def blocks(request, monkeypatch):
    """All at once, and one sample at a time."""
    monkeypatch.setattr(normalization, "BLOCK_BYTES", request.param)


def drawn(shape, plane, dtype="float64"):
    rng = np.random.default_rng(0)
    gamma, beta = rng.standard_normal((2, max(plane.parameters)))
    x = rng.standard_normal(shape) * 3 + 5
    return x.astype(dtype), gamma.astype(dtype), beta.astype(dtype)


@pytest.mark.parametrize("shape, plane", PLANES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_moments_are_mean_and_variance(shape, plane, dtype):
    x, _, _ = drawn(shape, plane, dtype)
    mean, variance = normalization.moments(x, plane)
    wide = x.astype(np.float64)
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(mean, wide.mean(plane.axes, keepdims=True), rtol=tolerance)
    np.testing.assert_allclose(variance, wide.var(plane.axes, keepdims=True), rtol=tolerance)


@pytest.mark.parametrize("shape, plane", PLANES)
def test_standardized_data_are_those_of_the_formula(shape, plane):
    x, gamma, beta = drawn(shape, plane)
    mean, variance = x.mean(plane.axes, keepdims=True), x.var(plane.axes, keepdims=True)
    scale = 1 / np.sqrt(variance + 0.1)
    found = normalization.standardize(x, plane, mean, scale, gamma, beta)
    hat = (x - mean) * scale
    wanted = hat * gamma.reshape(plane.parameters) + beta.reshape(plane.parameters)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
    plain = normalization.standardize(x, plane, mean, scale, None, beta)
    np.testing.assert_allclose(plain, hat + beta.reshape(plane.parameters), rtol=1e-12, atol=1e-12)


def test_variances_beyond_single_precision_are_found():
    x = np.array([[1e20], [3e20]], np.float32)[:, :, None]
    mean, variance = normalization.moments(x, batch_plane(1))
    np.testing.assert_allclose([mean.item(), variance.item()], [2e20, 1e40], rtol=1e-6)


def test_a_large_mean_does_not_spoil_the_variance():
    x = (np.arange(8, dtype=np.float32) + 1e6).reshape(8, 1, 1)
    _, variance = normalization.moments(x, batch_plane(1))
    assert variance.item() == 5.25
