"""Reductions: values, axes, dtypes, gradients and sparse kernels."""

import numpy as np
import pytest

from minigluon.base import MXNetError, ShapeError
from minigluon.storage import RowSparse, densify, to_csr, to_row_sparse

X = np.random.default_rng(5).normal(size=(2, 3, 4))
REFERENCES = {
    "sum": np.sum,
    "mean": np.mean,
    "prod": np.prod,
    "nansum": np.nansum,
    "nanprod": np.nanprod,
    "max": np.max,
    "min": np.min,
}
NORMS = {1: lambda x, **how: np.abs(x).sum(**how), 2: lambda x, **how: np.sqrt((x * x).sum(**how))}
AXES = [None, 0, 1, -1, (0, 2), (-1, 0), (0, 1, 2), ()]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("name", REFERENCES)
def test_reductions_are_those_of_numpy(name, axis, keepdims, evaluate, assert_close, inferred):
    result = evaluate(name, X, axis=axis, keepdims=keepdims)
    wanted = REFERENCES[name](X, axis=axis if axis != () else None, keepdims=keepdims)
    # where all is reduced users see (1,), as in MXNet, and kernels may give either
    assert (result.shape or (1,)) == (wanted.shape or (1,))
    assert_close(result, wanted if wanted.shape else wanted.reshape(result.shape), ulps=64)
    how = {"axis": axis, "keepdims": keepdims}
    assert inferred(name, "shape", [X.shape], **how)[1] == [wanted.shape or (1,)]


@pytest.mark.parametrize("name", REFERENCES)
def test_exclude_reduces_the_other_axes(name, evaluate, assert_close):
    assert_close(evaluate(name, X, axis=1, exclude=True), REFERENCES[name](X, axis=(0, 2)), ulps=64)
    assert_close(evaluate(name, X, exclude=True), REFERENCES[name](X), ulps=64)
    assert evaluate(name, X, axis=(0, 1, -1), exclude=True).tolist() == X.tolist()


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("name", REFERENCES)
def test_gradients_are_the_slopes(name, axis, keepdims, differentiate, slopes):
    how = {"axis": axis, "keepdims": keepdims}
    (got,) = differentiate(name, X, **how)
    np.testing.assert_allclose(got, slopes(name, X, **how)[0], rtol=1e-5, atol=1e-7)


def test_gradients_weigh_the_gradient_from_above(differentiate):
    head = np.array([2.0, 3.0])
    got = differentiate("sum", np.ones((2, 3)), head=head, axis=1)[0]
    assert got.tolist() == [[2, 2, 2], [3, 3, 3]]


@pytest.mark.parametrize("axis", [2, -3, (0, 5)])
@pytest.mark.parametrize("name", [*REFERENCES, "norm"])
def test_axes_that_are_not_there_are_refused(name, axis, evaluate):
    with pytest.raises(ShapeError, match="exceeds the input dimension"):
        evaluate(name, np.ones((2, 3)), axis=axis)


def test_an_axis_given_twice_is_refused(evaluate):
    with pytest.raises(MXNetError, match="distinct axes"):
        evaluate("sum", np.ones((2, 3)), axis=(1, -1))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "nansum"])
def test_whole_numbers_keep_their_dtype(name, dtype, evaluate):
    data = np.array([[1, 2, 3], [100, 2, 1]], dtype)
    result = evaluate(name, data, axis=1)
    assert result.dtype == dtype
    wanted = {"sum": [6, 103], "prod": [6, 200], "max": [3, 100], "min": [1, 1], "nansum": [6, 103]}
    assert result.tolist() == np.array(wanted[name]).astype(dtype).tolist()


def test_the_mean_of_whole_numbers_is_float32(evaluate, inferred):
    result = evaluate("mean", np.array([1, 2, 4, 4], "int32"))
    assert result.dtype == np.float32
    assert result == 2.75
    assert inferred("mean", "dtype", [np.dtype("int32")])[1] == [np.float32]


def test_half_precision_is_added_up_in_single_precision(evaluate):
    ones = np.ones(4096, "float16")
    assert evaluate("sum", ones) == 4096
    assert evaluate("mean", ones) == 1
    assert evaluate("sum", ones).dtype == np.float16


def test_extremes_reach_the_ends_of_the_range(evaluate):
    for dtype in ("float16", "float32", "int8", "int64"):
        limits = np.finfo(dtype) if dtype[0] == "f" else np.iinfo(dtype)
        ends = np.array([limits.min, limits.max], dtype)
        assert evaluate("max", ends[:1]) == limits.min
        assert evaluate("min", ends[1:]) == limits.max
    assert evaluate("max", np.array([-np.inf, -np.inf])) == -np.inf


def test_extremes_propagate_nan(evaluate, differentiate):
    data = np.array([[1, np.nan, 3], [1, 2, 3]])
    for name in ("max", "min"):
        assert np.isnan(evaluate(name, data, axis=1)).tolist() == [True, False]
    assert differentiate("max", data, axis=1)[0].tolist() == [[0, 1, 0], [0, 0, 1]]


@pytest.mark.parametrize("how", [{}, {"axis": 1}, {"axis": (0, 1), "keepdims": True}])
@pytest.mark.parametrize("name", ["max", "min"])
def test_elements_that_are_extreme_together_share_the_gradient(name, how, differentiate):
    data = np.array([[2.0, 2.0, 2.0, 2.0]])
    assert differentiate(name, data, **how)[0].tolist() == [[0.25] * 4]


def test_gradients_of_products_are_right_at_zeros(differentiate):
    assert differentiate("prod", np.array([2.0, 0.0, 3.0]))[0].tolist() == [0, 6, 0]
    assert differentiate("prod", np.array([0.0, 0.0, 3.0]))[0].tolist() == [0, 0, 0]


def test_nan_is_skipped_and_gets_no_gradient(evaluate, differentiate):
    data = np.array([2.0, np.nan, 3.0])
    assert evaluate("nansum", data) == 5
    assert evaluate("nanprod", data) == 6
    assert differentiate("nansum", data)[0].tolist() == [1, 0, 1]
    assert differentiate("nanprod", data)[0].tolist() == [3, 0, 2]


def test_empty_axes_give_the_neutral_element(evaluate):
    assert evaluate("sum", np.zeros((0, 2)), axis=0).tolist() == [0, 0]
    assert evaluate("prod", np.zeros((0, 2)), axis=0).tolist() == [1, 1]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("ord", [1, 2])
def test_norms_take_several_axes_as_one(
    ord, axis, keepdims, evaluate, differentiate, slopes, assert_close
):
    how = {"ord": ord, "axis": axis, "keepdims": keepdims}
    wanted = NORMS[ord](X, axis=axis if axis != () else None, keepdims=keepdims)
    assert_close(evaluate("norm", X, **how), wanted, ulps=16)
    got = differentiate("norm", X, **how)[0]
    np.testing.assert_allclose(got, slopes("norm", X, **how)[0], rtol=1e-5, atol=1e-7)


def test_norms_of_other_orders_are_refused(evaluate):
    with pytest.raises(MXNetError, match="only supports ord=1 and ord=2"):
        evaluate("norm", X, ord=3)


def test_out_dtype_of_a_norm_decides(evaluate, differentiate, inferred):
    data = np.array([3, 4], "float32")
    result = evaluate("norm", data, out_dtype="float64")
    assert result.dtype == np.float64
    assert result == 5
    assert differentiate("norm", data, out_dtype="float64")[0].dtype == np.float32
    assert inferred("norm", "dtype", [data.dtype], out_dtype="float64")[1] == [np.float64]


def test_norms_of_whole_numbers_are_float32(evaluate):
    assert evaluate("norm", np.array([1, 1], "int32")) == np.float32(np.sqrt(2))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions_come_in_the_dtype_of_the_array(name, dtype, evaluate, inferred):
    data = np.array([[1, 3, 3], [2, 0, 0]], dtype)
    reference = {"argmax": np.argmax, "argmin": np.argmin}[name]
    for how in ({}, {"axis": 0}, {"axis": -1, "keepdims": True}, {"keepdims": True}):
        result = evaluate(name, data, **how)
        assert result.dtype == dtype
        assert result.tolist() == reference(data, **how).tolist()
        assert inferred(name, "shape", [data.shape], **how)[1] == [result.shape or (1,)]


def test_argmax_channel_looks_along_axis_one(evaluate, inferred):
    assert evaluate("argmax_channel", X).tolist() == X.argmax(axis=1).tolist()
    assert inferred("argmax_channel", "shape", [X.shape])[1] == [(2, 4)]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axes", [(0,), (0, -1)])
def test_moments_are_mean_and_variance(axes, keepdims, evaluate, assert_close, inferred):
    mean, variance = evaluate("moments", X, axes=axes, keepdims=keepdims)
    assert_close(mean, X.mean(axis=axes, keepdims=keepdims), ulps=16)
    assert_close(variance, X.var(axis=axes, keepdims=keepdims), ulps=16)
    found = inferred("moments", "shape", [X.shape], axes=axes, keepdims=keepdims)
    assert found[1] == [mean.shape, variance.shape]


SPARSE = np.array([[0, 0.7, 0, 0], [0, 0, 0, 0], [0.2, 0, -0.5, 0]])


@pytest.mark.parametrize("make", [to_csr, to_row_sparse])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1)])
@pytest.mark.parametrize("name", ["sum", "mean", "norm"])
def test_sparse_arrays_are_reduced_without_becoming_dense(
    name, axis, keepdims, make, evaluate, assert_close
):
    how = {"axis": axis, "keepdims": keepdims}
    result = evaluate(name, make(SPARSE), **how)  # a fall-back to dense would warn
    wanted = evaluate(name, SPARSE, **how)
    assert (result.shape or (1,)) == (wanted.shape or (1,))
    assert_close(result, wanted)


def test_row_sparse_arrays_of_more_dimensions_are_reduced(evaluate, assert_close):
    data = X.copy()
    data[0] = 0
    for axis in (None, 0, 1, 2, (1, 2), (0, 1)):
        assert_close(evaluate("sum", to_row_sparse(data), axis=axis), data.sum(axis=axis), ulps=32)


def test_square_sum_along_rows_is_row_sparse_with_keepdims(evaluate):
    rows = to_row_sparse(SPARSE)
    result = evaluate("_square_sum", rows, axis=1, keepdims=True)
    assert type(result) is RowSparse
    np.testing.assert_allclose(densify(result), (SPARSE**2).sum(1, keepdims=True))
    for how in ({"axis": 0}, {"axis": 1}, {}):
        np.testing.assert_allclose(
            evaluate("_square_sum", rows, **how), (SPARSE**2).sum(axis=how.get("axis"))
        )


@pytest.mark.parametrize("how", [{"axis": 0}, {"axis": 1}, {"axis": 1, "keepdims": True}])
def test_the_gradient_of_square_sum_is_row_sparse(how, differentiate, evaluate):
    rows = to_row_sparse(SPARSE)
    result = evaluate("_square_sum", rows, **how)
    head = result.with_values(np.ones(result.values.shape)) if how.get("keepdims") else None
    (got,) = differentiate("_square_sum", rows, head=head, **how)
    assert type(got) is RowSparse
    np.testing.assert_allclose(densify(got), 2 * SPARSE)


def test_the_gradient_of_square_sum_has_the_rows_of_the_incoming_one(differentiate):
    # as in MXNet: other rows would take part in lazy updates
    rows = RowSparse(SPARSE, np.arange(SPARSE.shape[0]), SPARSE.shape)
    head = RowSparse(np.ones((2, 1)), np.array([1, 2]), (SPARSE.shape[0], 1))
    (got,) = differentiate("_square_sum", rows, head=head, axis=1, keepdims=True)
    assert got.indices.tolist() == [1, 2]
    np.testing.assert_allclose(got.values, 2 * SPARSE[1:3])


@pytest.mark.parametrize("how", [{}, {"axis": 1}, {"axis": (0, 2), "keepdims": True}])
@pytest.mark.parametrize("name", ["sum", "mean", "prod", "nanprod", "norm"])
def test_gradients_have_gradients(name, how, differentiate, second_derivative):
    total = second_derivative(name, X, **how)
    wanted = np.zeros(X.shape)
    for at in np.ndindex(X.shape):
        ends = []
        for step in (1e-6, -1e-6):
            moved = X.copy()
            moved[at] += step
            ends.append(differentiate(name, moved, **how)[0].sum())
        wanted[at] = (ends[0] - ends[1]) / 2e-6
    np.testing.assert_allclose(total, wanted, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("size", [1e30, 1e-30])
def test_norms_whose_squares_do_not_fit_are_right(size, evaluate, assert_close):
    with np.errstate(all="ignore"):
        result = evaluate("norm", np.array([3 * size, 4 * size], "float32"))
    assert_close(result / np.float32(size), np.float32(5))


@pytest.mark.parametrize("make", [to_csr, to_row_sparse])
@pytest.mark.parametrize("name", ["sum", "mean"])
def test_gradients_of_sparse_sums_are_dense_and_need_no_fallback(name, make, differentiate):
    (got,) = differentiate(name, make(SPARSE), axis=1)
    np.testing.assert_array_equal(got, differentiate(name, SPARSE, axis=1)[0])
