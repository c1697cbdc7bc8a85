"""Clipping, the smooth L1 loss and the hard sigmoid."""

import numpy as np
import pytest

from minigluon.base import MXNetError
from minigluon.storage import densify, to_csr, to_row_sparse

X = np.array([-3.1, -0.7, -0.1, 0.2, 0.9, 2.6])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
def test_clip_bounds_the_values(dtype, evaluate):
    data = np.array([-3, -1, 0, 1, 5], dtype)
    result = evaluate("clip", data, a_min=-1, a_max=2)
    assert result.dtype == dtype
    assert result.tolist() == [-1, -1, 0, 1, 2]


def test_bounds_beyond_a_whole_dtype_are_its_ends(evaluate):
    data = np.array([0, 7, 255], "uint8")
    assert evaluate("clip", data, a_min=-5, a_max=300).tolist() == [0, 7, 255]


def test_clip_passes_nan(evaluate):
    assert np.isnan(evaluate("clip", np.array([np.nan]), a_min=0, a_max=1))


def test_clip_has_a_gradient_within_and_on_the_bounds(differentiate):
    data = np.array([-1.0, 0, 1, 2, 3])
    assert differentiate("clip", data, a_min=0, a_max=2)[0].tolist() == [0, 1, 1, 1, 0]


@pytest.mark.parametrize("make", [to_csr, to_row_sparse])
def test_clip_of_sparse_arrays_stays_sparse(make, evaluate):
    sparse = make(np.array([[0, 3.0], [-4, 0]]))
    result = evaluate("clip", sparse, a_min=-1, a_max=2)
    assert type(result) is type(sparse)
    assert densify(result).tolist() == [[0, 2], [-1, 0]]


@pytest.mark.parametrize("bounds", [(1, 2), (-2, -1)])
def test_clip_of_sparse_arrays_needs_bounds_around_zero(bounds, evaluate):
    with pytest.raises(MXNetError, match="zero does not stay zero"):
        evaluate("clip", to_csr(np.eye(2)), a_min=bounds[0], a_max=bounds[1])


@pytest.mark.parametrize("scalar", [1.0, 2.0, 0.5])
def test_smooth_l1_is_quadratic_near_zero_and_linear_beyond(
    scalar, evaluate, differentiate, slopes, assert_close
):
    square = scalar**2
    near = np.abs(X) < 1 / square
    wanted = np.where(near, square * X * X / 2, np.abs(X) - 0.5 / square)
    assert_close(evaluate("smooth_l1", X, scalar=scalar), wanted)
    got = differentiate("smooth_l1", X, scalar=scalar)[0]
    np.testing.assert_allclose(got, slopes("smooth_l1", X, scalar=scalar)[0], rtol=1e-6)


def test_hard_sigmoid_is_a_clipped_line(evaluate, differentiate, slopes, assert_close):
    assert_close(evaluate("hard_sigmoid", X), np.clip(0.2 * X + 0.5, 0, 1))
    assert_close(evaluate("hard_sigmoid", X, alpha=1.0, beta=0.0), np.clip(X, 0, 1))
    got = differentiate("hard_sigmoid", X)[0]
    np.testing.assert_allclose(got, slopes("hard_sigmoid", X)[0], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "attrs"),
    [("smooth_l1", {}), ("hard_sigmoid", {})],
)
def test_whole_numbers_are_computed_with_as_float32(name, attrs, evaluate, inferred):
    result = evaluate(name, np.array([0, 1, 2], "int32"), **attrs)
    assert result.dtype == np.float32
    assert inferred(name, "dtype", [np.dtype("int32")], **attrs)[1] == [np.float32]
