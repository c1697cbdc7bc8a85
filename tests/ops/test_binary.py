"""Operators on two arrays: values, gradients, dtypes, errors and sparse kernels."""

import numpy as np
import pytest

from minigluon.base import MXNetError, ShapeError
from minigluon.storage import Csr, RowSparse, densify, to_csr, to_row_sparse

A = np.array([[1.23, -0.71, 2.57], [0.43, -1.67, 3.13]])
B = np.array([[0.5, 1.3, -0.9], [2.2, 0.8, 1.1]])
ROW = np.array([[0.5, 1.3, -0.9]])

SMOOTH = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "mod": np.mod,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "hypot": np.hypot,
}
TRUTH = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "lesser": np.less,
    "lesser_equal": np.less_equal,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
}


def equal_shapes(key):
    """The operator of a function for arrays of equal shapes."""
    return f"elemwise_{key}" if key in ("add", "sub", "mul", "div") else f"_{key}"


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("key", SMOOTH)
def test_both_families_compute_what_numpy_computes(key, dtype, evaluate, assert_close):
    a, b = A.astype(dtype), B.astype(dtype)
    for name in (equal_shapes(key), f"broadcast_{key}"):
        result = evaluate(name, a, b)
        assert result.dtype == dtype
        assert_close(result, SMOOTH[key](a, b))


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8"])
@pytest.mark.parametrize("key", TRUTH)
def test_comparisons_give_zeros_and_ones_of_the_operands_dtype(key, dtype, evaluate):
    a, b = np.array([0, 1, 2, 0], dtype), np.array([0, 2, 1, 1], dtype)
    result = evaluate(f"broadcast_{key}", a, b)
    assert result.dtype == dtype
    assert result.tolist() == TRUTH[key](a, b).tolist()


@pytest.mark.parametrize("key", SMOOTH)
def test_gradients_are_the_slopes(key, differentiate, slopes):
    for got, wanted in zip(
        differentiate(equal_shapes(key), A, B), slopes(equal_shapes(key), A, B), strict=True
    ):
        np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("narrow", [ROW, ROW[0], B[:, :1], B[:1, :1]])
@pytest.mark.parametrize("key", SMOOTH)
def test_gradients_of_broadcast_inputs_are_summed_to_their_shape(
    key, narrow, differentiate, slopes
):
    name = f"broadcast_{key}"
    got = differentiate(name, A, narrow)
    assert got[1].shape == narrow.shape
    for each, wanted in zip(got, slopes(name, A, narrow), strict=True):
        np.testing.assert_allclose(each, wanted, rtol=1e-6, atol=1e-8)


def test_power_has_gradients_for_both_inputs(differentiate, slopes):
    base = np.abs(A)
    for got, wanted in zip(
        differentiate("broadcast_power", base, B), slopes("broadcast_power", base, B), strict=True
    ):
        np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_equal_elements_give_the_gradient_to_lhs(differentiate):
    tie = np.array([1.0])
    for name in ("_maximum", "_minimum", "broadcast_maximum", "broadcast_minimum"):
        left, right = differentiate(name, tie, tie.copy())
        assert (left, right) == (1, 0)


def test_maximum_and_minimum_propagate_nan(evaluate):
    nan = np.array([np.nan, 1.0])
    for name in ("_maximum", "_minimum"):
        assert np.isnan(evaluate(name, nan, nan[::-1].copy())).all()


def test_whole_quotients_are_cut_towards_zero(evaluate):
    a, b = np.array([7, -7, 7, -7, -6], "int32"), np.array([2, 2, -2, -2, 2], "int32")
    assert evaluate("broadcast_div", a, b).tolist() == [3, -3, -3, 3, -3]


def test_whole_division_by_zero_gives_zero(evaluate):
    assert evaluate("elemwise_div", np.array([3, -3], "int64"), np.array([0, 0])).tolist() == [0, 0]


def test_large_whole_numbers_are_divided_exactly(evaluate):
    a = np.array([2**53 + 1, -(2**53) - 1])
    assert evaluate("elemwise_div", a, np.array([1, 1])).tolist() == a.tolist()


def test_remainders_have_the_sign_of_the_divisor(evaluate):
    a, b = np.array([5.0, -5, 5, -5]), np.array([3.0, 3, -3, -3])
    assert evaluate("_mod", a, b).tolist() == [2, 1, -1, -2]


def test_remainder_by_zero_is_zero(evaluate):
    assert evaluate("_mod", np.array([5.0]), np.array([0.0])) == 0


def test_whole_powers_are_cut_towards_zero(evaluate):
    result = evaluate("_power", np.array([2, 2, 3], "int32"), np.array([-1, 5, 2], "int32"))
    assert result.dtype == np.int32
    assert result.tolist() == [0, 32, 9]


def test_whole_hypot_is_cut_towards_zero(evaluate):
    assert evaluate("_hypot", np.array([1, 3], "int32"), np.array([1, 4], "int32")).tolist() == [
        1,
        5,
    ]


@pytest.mark.parametrize("name", ["elemwise_add", "elemwise_mul", "_maximum", "_equal"])
def test_unequal_shapes_are_refused_where_nothing_broadcasts(name, evaluate):
    with pytest.raises(ShapeError, match=r"lhs \(2, 3\), rhs \(1, 3\)"):
        evaluate(name, A, ROW)


def test_unequal_shapes_are_refused_for_sparse_inputs_too(evaluate):
    with pytest.raises(MXNetError, match="the shapes differ"):
        evaluate("elemwise_add", to_csr(A), to_csr(ROW))


@pytest.mark.parametrize("key", [*SMOOTH, *TRUTH])
def test_shape_rules_know_both_directions(key, inferred):
    name = equal_shapes(key)
    assert inferred(name, "shape", [(2, 3), None]) == ([(2, 3), (2, 3)], [(2, 3)])
    assert inferred(f"broadcast_{key}", "shape", [(2, 1, 4), (3, 1)])[1] == [(2, 3, 4)]


SPARSE = np.array([[0, 0.7, 0], [0, 0, 0], [0.2, 0, -0.5]])
OTHER = np.array([[0, -0.3, 0.4], [0, 0.1, 0], [0, 0, 0]])
DENSE = np.array([[1.5, -0.3, 0.4], [0.6, 0.1, 2.0], [-1.0, 0.3, 0.9]])


@pytest.mark.parametrize("make", [to_csr, to_row_sparse])
@pytest.mark.parametrize(
    "name", ["elemwise_add", "elemwise_sub", "elemwise_mul", "_maximum", "_minimum", "_hypot"]
)
def test_two_arrays_stored_alike_give_one_stored_so(name, make, evaluate):
    a, b = make(SPARSE), make(OTHER)
    result = evaluate(name, a, b)
    assert type(result) is type(a)
    np.testing.assert_allclose(densify(result), evaluate(name, SPARSE, OTHER))


@pytest.mark.parametrize("make", [to_csr, to_row_sparse])
@pytest.mark.parametrize("name", ["elemwise_add", "elemwise_sub", "elemwise_mul", "elemwise_div"])
@pytest.mark.parametrize("sparse_first", [True, False])
def test_sparse_with_dense_gives_what_dense_with_dense_does(name, make, sparse_first, evaluate):
    if name == "elemwise_div" and not sparse_first:
        pytest.skip("divides by zero")
    pair = (SPARSE, DENSE) if sparse_first else (DENSE, SPARSE)
    given = (make(SPARSE), DENSE) if sparse_first else (DENSE, make(SPARSE))
    result = evaluate(name, *given)
    kind = type(make(SPARSE)) if name == "elemwise_mul" else np.ndarray
    assert type(result) is kind
    np.testing.assert_allclose(densify(result), evaluate(name, *pair))


@pytest.mark.parametrize("dense", [DENSE, DENSE[:1], DENSE[0], DENSE[:, :1], DENSE[:1, :1]])
@pytest.mark.parametrize("key", ["add", "sub", "mul", "div"])
def test_csr_takes_a_dense_array_that_broadcasts_to_it(key, dense, evaluate):
    result = evaluate(f"broadcast_{key}", to_csr(SPARSE), dense)
    assert type(result) is (Csr if key in ("mul", "div") else np.ndarray)
    np.testing.assert_allclose(densify(result), evaluate(f"broadcast_{key}", SPARSE, dense))


@pytest.mark.parametrize("key", ["add", "sub", "mul"])
def test_csr_may_be_the_one_that_is_broadcast(key, evaluate):
    result = evaluate(f"broadcast_{key}", to_csr(SPARSE[:1]), DENSE)
    assert type(result) is (Csr if key == "mul" else np.ndarray)
    np.testing.assert_allclose(densify(result), evaluate(f"broadcast_{key}", SPARSE[:1], DENSE))


def test_scatter_division_divides_the_stored_rows_only(evaluate):
    rows = to_row_sparse(SPARSE)
    for divisor in (DENSE, to_csr(DENSE), to_row_sparse(DENSE)):
        result = evaluate("_scatter_elemwise_div", rows, divisor)
        assert type(result) is RowSparse
        np.testing.assert_array_equal(result.indices, rows.indices)
        np.testing.assert_allclose(result.values, (SPARSE / DENSE)[[0, 2]])


def test_add_n_adds_any_number_of_arrays(evaluate, differentiate):
    assert evaluate("add_n", A).tolist() == A.tolist()
    np.testing.assert_allclose(evaluate("add_n", A, B, A, B), 2 * A + 2 * B)
    assert all((g == 1).all() for g in differentiate("add_n", A, B, A))
    assert all((g == 1).all() for g in differentiate("add_n", A, B))


def test_add_n_leaves_its_inputs_alone(evaluate):
    first = A.copy()
    evaluate("add_n", first, B, B)
    np.testing.assert_array_equal(first, A)


def test_add_n_of_row_sparse_arrays_is_row_sparse(evaluate):
    result = evaluate("add_n", to_row_sparse(SPARSE), to_row_sparse(OTHER), to_row_sparse(SPARSE))
    assert type(result) is RowSparse
    np.testing.assert_allclose(densify(result), 2 * SPARSE + OTHER)


def test_identity_like_takes_the_storage_of_rhs(evaluate, inferred):
    for like in (DENSE, to_csr(OTHER), to_row_sparse(OTHER)):
        result = evaluate("_identity_with_attr_like_rhs", to_csr(SPARSE), like)
        assert type(result) is type(like)
        np.testing.assert_array_equal(densify(result), SPARSE)
    assert inferred("_identity_with_attr_like_rhs", "shape", [None, (4, 5)])[0] == [(4, 5)] * 2
