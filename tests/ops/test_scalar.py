"""Operators on an array and a number."""

import numpy as np
import pytest

from minigluon.storage import densify, to_csr, to_row_sparse

X = np.array([[1.23, -0.71, 2.57], [0.43, -1.67, 3.13]])
REFERENCES = {
    "_plus_scalar": lambda x, s: x + s,
    "_minus_scalar": lambda x, s: x - s,
    "_rminus_scalar": lambda x, s: s - x,
    "_mul_scalar": lambda x, s: x * s,
    "_div_scalar": lambda x, s: x / s,
    "_rdiv_scalar": lambda x, s: s / x,
    "_mod_scalar": lambda x, s: x % s,
    "_rmod_scalar": lambda x, s: s % x,
    "_power_scalar": lambda x, s: np.abs(x) ** s,
    "_rpower_scalar": lambda x, s: abs(s) ** x,
    "_maximum_scalar": np.maximum,
    "_minimum_scalar": np.minimum,
    "_hypot_scalar": np.hypot,
    "_equal_scalar": lambda x, s: x == s,
    "_not_equal_scalar": lambda x, s: x != s,
    "_greater_scalar": lambda x, s: x > s,
    "_greater_equal_scalar": lambda x, s: x >= s,
    "_lesser_scalar": lambda x, s: x < s,
    "_lesser_equal_scalar": lambda x, s: x <= s,
    "_logical_and_scalar": np.logical_and,
    "_logical_or_scalar": np.logical_or,
    "_logical_xor_scalar": np.logical_xor,
}
COMPARISONS = [n for n in REFERENCES if "equal" in n or "greater" in n or "lesser" in n]


def arguments(name, dtype, scalar):
    """An array and a number the operator is real for."""
    if name == "_power_scalar":
        return np.abs(X).astype(dtype), scalar
    return X.astype(dtype), abs(scalar) if name == "_rpower_scalar" else scalar


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("scalar", [2, 0.4, -1.6])
@pytest.mark.parametrize("name", REFERENCES)
def test_values_are_those_of_numpy_in_the_dtype_of_the_array(
    name, scalar, dtype, evaluate, assert_close
):
    x, scalar = arguments(name, dtype, scalar)
    result = evaluate(name, x, scalar=scalar)
    assert result.dtype == dtype
    assert_close(result, REFERENCES[name](x, x.dtype.type(scalar)))


@pytest.mark.parametrize("scalar", [2, 0.5, -1.5, 3, 1, 0])
@pytest.mark.parametrize("name", REFERENCES)
def test_gradients_are_the_slopes(name, scalar, differentiate, slopes):
    if scalar == 0 and name in ("_div_scalar", "_mod_scalar", "_rpower_scalar"):
        pytest.skip("is not smooth at zero")
    x, scalar = arguments(name, "float64", scalar)
    (got,) = differentiate(name, x, scalar=scalar)
    np.testing.assert_allclose(got, slopes(name, x, scalar=scalar)[0], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("name", "scalar", "wanted"),
    [
        ("_plus_scalar", 1.5, [-2, 0, 2, 6]),
        ("_rminus_scalar", 1.5, [4, 2, 0, -4]),
        ("_mul_scalar", -1.5, [3, 1, -1, -5]),
        ("_div_scalar", 2, [-1, 0, 0, 2]),
        ("_rdiv_scalar", 2, [0, -2, 2, 0]),
        ("_mod_scalar", -2, [-1, -1, -1, -1]),
        ("_rmod_scalar", 2, [-1, 0, 0, 2]),
        ("_power_scalar", 2, [9, 1, 1, 25]),
        ("_power_scalar", -2, [0, 1, 1, 0]),
        ("_rpower_scalar", -2, [0, 0, -2, -32]),
        ("_hypot_scalar", 2, [3, 2, 2, 5]),
        ("_maximum_scalar", 1.5, [1, 1, 1, 5]),
        ("_equal_scalar", 1.5, [0, 0, 1, 0]),
        ("_logical_xor_scalar", 2, [0, 0, 0, 0]),
    ],
)
def test_whole_arrays_take_the_whole_part_of_the_number(name, scalar, wanted, evaluate):
    # recorded from MXNet 1.9.1
    result = evaluate(name, np.array([-3, -1, 1, 5], "int32"), scalar=scalar)
    assert result.dtype == np.int32
    assert result.tolist() == wanted


def test_whole_arrays_are_computed_with_as_float64_for_a_real_number(evaluate, inferred):
    result = evaluate("_plus_scalar", np.array([1, 2], "int32"), scalar=1.5, is_int=False)
    assert result.dtype == np.float64
    assert result.tolist() == [2.5, 3.5]
    found = inferred("_plus_scalar", "dtype", [np.dtype("int32")], scalar=1.5, is_int=False)
    assert found[1] == [np.float64]


def test_numbers_that_do_not_fit_wrap_around(evaluate):
    assert evaluate("_plus_scalar", np.array([1, 2], "uint8"), scalar=-2).tolist() == [255, 0]


def test_large_whole_numbers_stay_exact(evaluate):
    result = evaluate("_plus_scalar", np.array([0, 1]), scalar=2**53 + 1)
    assert result.tolist() == [2**53 + 1, 2**53 + 2]


def test_boolean_arrays_become_int64(evaluate, inferred):
    result = evaluate("_plus_scalar", np.array([True, False]), scalar=2)
    assert result.dtype == np.int64
    assert result.tolist() == [3, 2]
    assert inferred("_plus_scalar", "dtype", [np.dtype(bool)], scalar=2)[1] == [np.int64]


def test_negative_zero_is_not_taken_for_zero(evaluate):
    with np.errstate(divide="ignore"):
        assert evaluate("_div_scalar", np.array([1.0]), scalar=0.0) == np.inf
        assert evaluate("_div_scalar", np.array([1.0]), scalar=-0.0) == -np.inf


def test_the_zeroth_power_has_no_slope_not_even_at_zero(differentiate):
    assert differentiate("_power_scalar", np.array([0.0, 2.0]), scalar=0)[0].tolist() == [0, 0]


@pytest.mark.filterwarnings("ignore::minigluon.base.StorageFallbackWarning")
@pytest.mark.parametrize("make", [to_csr, to_row_sparse])
@pytest.mark.parametrize("scalar", [0.0, 0.7, -0.5])
@pytest.mark.parametrize("name", ["_plus_scalar", "_minus_scalar", "_mul_scalar", *COMPARISONS])
def test_sparse_arrays_give_the_dense_result_and_keep_storage_where_zero_stays_zero(
    name, scalar, make, evaluate
):
    data = np.array([[0, 0.7, 0], [0, 0, 0], [0.2, 0, -0.5]])
    wanted = evaluate(name, data, scalar=scalar)
    result = evaluate(name, make(data), scalar=scalar)
    np.testing.assert_array_equal(densify(result), wanted)
    keeps = evaluate(name, np.zeros(1), scalar=scalar) == 0
    assert (type(result) is not np.ndarray) == keeps


@pytest.mark.parametrize("make", [to_csr, to_row_sparse])
def test_division_keeps_the_storage(make, evaluate):
    sparse = make(X)
    result = evaluate("_div_scalar", sparse, scalar=4)
    assert type(result) is type(sparse)
    np.testing.assert_array_equal(densify(result), X / 4)


@pytest.mark.parametrize("make", [to_csr, to_row_sparse])
def test_scatter_operators_change_stored_entries_only(make, evaluate):
    sparse = make(np.array([[0, 2.0], [0, 0]]))
    for name, step in (("_scatter_plus_scalar", 3), ("_scatter_minus_scalar", -3)):
        result = evaluate(name, sparse, scalar=3)
        assert type(result) is type(sparse)
        np.testing.assert_array_equal(result.values, sparse.values + step)


@pytest.mark.parametrize("scalar", [2, 0.5, -1.5, 3, 1, 0])
@pytest.mark.parametrize(
    "name", ["_mul_scalar", "_rdiv_scalar", "_power_scalar", "_rpower_scalar", "_hypot_scalar"]
)
def test_gradients_have_gradients(name, scalar, differentiate, second_derivative):
    if scalar == 0 and name == "_rpower_scalar":
        pytest.skip("is not smooth at zero")
    x, scalar = arguments(name, "float64", scalar)
    ends = [differentiate(name, x + step, scalar=scalar)[0] for step in (1e-6, -1e-6)]
    got = second_derivative(name, x, scalar=scalar)
    np.testing.assert_allclose(got, (ends[0] - ends[1]) / 2e-6, rtol=1e-5, atol=1e-6)
