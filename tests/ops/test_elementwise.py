"""Operators on one array: values, gradients, dtypes and sparse kernels."""

import math

import numpy as np
import pytest
from scipy import special

from minigluon.storage import RowSparse, densify, to_csr, to_row_sparse

ANYWHERE = np.array([[-1.9, -1.2, -0.4], [0.3, 0.8, 1.7]])
POSITIVE = np.array([[0.2, 0.7, 1.1], [1.9, 2.6, 3.4]])
INSIDE = np.array([[-0.9, -0.4, -0.1], [0.2, 0.5, 0.8]])
ABOVE_ONE = np.array([[1.1, 1.5, 2.0], [3.0, 4.5, 9.0]])

REFERENCES = {
    "negative": (np.negative, ANYWHERE),
    "abs": (np.abs, ANYWHERE),
    "sign": (np.sign, ANYWHERE),
    "reciprocal": (lambda x: 1 / x, ANYWHERE),
    "square": (np.square, ANYWHERE),
    "sqrt": (np.sqrt, POSITIVE),
    "rsqrt": (lambda x: x**-0.5, POSITIVE),
    "cbrt": (np.cbrt, ANYWHERE),
    "rcbrt": (lambda x: 1 / np.cbrt(x), ANYWHERE),
    "exp": (np.exp, ANYWHERE),
    "expm1": (np.expm1, ANYWHERE),
    "log": (np.log, POSITIVE),
    "log10": (np.log10, POSITIVE),
    "log2": (np.log2, POSITIVE),
    "log1p": (np.log1p, POSITIVE),
    "sin": (np.sin, ANYWHERE),
    "cos": (np.cos, ANYWHERE),
    "tan": (np.tan, INSIDE),
    "arcsin": (np.arcsin, INSIDE),
    "arccos": (np.arccos, INSIDE),
    "arctan": (np.arctan, ANYWHERE),
    "degrees": (np.degrees, ANYWHERE),
    "radians": (np.radians, ANYWHERE),
    "sinh": (np.sinh, ANYWHERE),
    "cosh": (np.cosh, ANYWHERE),
    "tanh": (np.tanh, ANYWHERE),
    "arcsinh": (np.arcsinh, ANYWHERE),
    "arccosh": (np.arccosh, ABOVE_ONE),
    "arctanh": (np.arctanh, INSIDE),
    "relu": (lambda x: np.maximum(x, 0), ANYWHERE),
    "sigmoid": (special.expit, ANYWHERE),
    "softsign": (lambda x: x / (1 + abs(x)), ANYWHERE),
    "ceil": (np.ceil, ANYWHERE),
    "floor": (np.floor, ANYWHERE),
    "trunc": (np.trunc, ANYWHERE),
    "fix": (np.trunc, ANYWHERE),
    "erf": (special.erf, ANYWHERE),
    "erfinv": (special.erfinv, INSIDE),
    "gamma": (special.gamma, POSITIVE),
    "gammaln": (special.gammaln, POSITIVE),
    "logical_not": (lambda x: (x == 0).astype(x.dtype), ANYWHERE),
    "_copy": (lambda x: x, ANYWHERE),
    "BlockGrad": (lambda x: x, ANYWHERE),
    "make_loss": (lambda x: x, ANYWHERE),
    "zeros_like": (np.zeros_like, ANYWHERE),
    "ones_like": (np.ones_like, ANYWHERE),
}
WITH_OWN_GRADIENT = ("BlockGrad", "make_loss")
# fmt: off
KEEP_STORAGE = [
    "abs", "sign", "round", "rint", "ceil", "floor", "trunc", "fix", "square", "sqrt", "cbrt",
    "log1p", "expm1", "sin", "tan", "arcsin", "arctan", "sinh", "tanh", "arcsinh", "arctanh",
    "degrees", "radians", "relu", "negative", "_copy", "BlockGrad", "make_loss",
]
REAL = [
    "sqrt", "rsqrt", "cbrt", "exp", "log", "sin", "tanh", "sigmoid", "softsign", "reciprocal",
    "erf", "gamma", "gammaln",
]
# fmt: on


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", REFERENCES)
def test_values_are_those_of_numpy_in_the_dtype_of_the_input(name, dtype, evaluate, assert_close):
    reference, data = REFERENCES[name]
    data = data.astype(dtype)
    result = evaluate(name, data)
    assert result.dtype == dtype
    assert_close(result, reference(data.astype("float64")), ulps=64 if name == "tan" else 12)


@pytest.mark.parametrize("name", [n for n in REFERENCES if n not in WITH_OWN_GRADIENT])
def test_gradients_are_the_slopes(name, differentiate, slopes):
    data = REFERENCES[name][1]
    (got,) = differentiate(name, data)
    (wanted,) = slopes(name, data)
    np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", REFERENCES)
def test_results_never_share_memory_with_the_input(name, evaluate):
    data = REFERENCES[name][1].copy()
    assert not np.shares_memory(evaluate(name, data), data)


@pytest.mark.parametrize("name", REFERENCES)
def test_shape_and_dtype_rules_say_what_comes_out(name, evaluate, inferred):
    data = REFERENCES[name][1].astype("float32")
    result = evaluate(name, data)
    assert inferred(name, "shape", [data.shape])[1] == [result.shape]
    assert inferred(name, "dtype", [data.dtype])[1] == [result.dtype]


def test_block_grad_stops_the_gradient(differentiate):
    assert not differentiate("BlockGrad", ANYWHERE)[0].any()


def test_make_loss_has_a_gradient_of_one_whatever_comes_from_above(differentiate):
    (got,) = differentiate("make_loss", ANYWHERE, head=np.full(ANYWHERE.shape, 7.0))
    assert (got == 1).all()


def test_round_takes_halves_away_from_zero(evaluate):
    halves = np.array([0.5, 1.5, 2.5, -0.5, -1.5, 0.49999997, 1e10], "float32")
    assert evaluate("round", halves).tolist() == [1, 2, 3, -1, -2, 0, 1e10]


def test_rint_takes_halves_down(evaluate):
    halves = np.array([0.5, 1.5, -0.5, 2.51], "float32")
    assert evaluate("rint", halves).tolist() == [0, 1, -1, 3]


@pytest.mark.parametrize("name", ["round", "rint", "floor", "ceil", "fix"])
def test_rounding_passes_infinities_and_nan(name, evaluate):
    with np.errstate(invalid="ignore"):
        result = evaluate(name, np.array([np.inf, -np.inf, np.nan]))
    assert result[0] == np.inf
    assert result[1] == -np.inf
    assert np.isnan(result[2])


@pytest.mark.parametrize("name", REAL)
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8"])
def test_real_functions_of_whole_numbers_are_float32(name, dtype, evaluate, inferred, assert_close):
    data = np.array([1, 2, 3], dtype)
    result = evaluate(name, data)
    assert result.dtype == np.float32
    assert inferred(name, "dtype", [data.dtype])[1] == [np.float32]
    assert_close(result, evaluate(name, data.astype("float64")))


@pytest.mark.parametrize("name", ["abs", "sign", "square", "negative", "relu", "round", "floor"])
def test_whole_functions_of_whole_numbers_stay_whole(name, evaluate):
    result = evaluate(name, np.array([-3, 0, 5], "int32"))
    assert result.dtype == np.int32
    wanted = {"abs": [3, 0, 5], "sign": [-1, 0, 1], "square": [9, 0, 25], "negative": [3, 0, -5]}
    wanted = {**wanted, "relu": [0, 0, 5], "round": [-3, 0, 5], "floor": [-3, 0, 5]}
    assert result.tolist() == wanted[name]


def test_relu_passes_nan_and_so_does_its_gradient(evaluate, differentiate):
    data = np.array([1, np.nan, -3], "float32")
    np.testing.assert_array_equal(evaluate("relu", data), [1, np.nan, 0])
    np.testing.assert_array_equal(differentiate("relu", data)[0], [1, np.nan, 0])


def test_sigmoid_saturates_without_nan(evaluate):
    with np.errstate(over="ignore"):
        result = evaluate("sigmoid", np.array([-1e4, -100, 100, 1e4], "float32"))
    np.testing.assert_allclose(result, [0, 0, 1, 1], atol=1e-30)


@pytest.mark.parametrize("to_sparse", [to_csr, to_row_sparse])
@pytest.mark.parametrize("name", KEEP_STORAGE)
def test_functions_with_zero_at_zero_keep_the_storage(name, to_sparse, evaluate):
    data = np.array([[0, 0.7, 0], [0, 0, 0], [0.2, 0, -0.5]])
    if name == "sqrt":
        data = np.abs(data)
    sparse = to_sparse(data)
    result = evaluate(name, sparse)
    assert type(result) is type(sparse)
    np.testing.assert_array_equal(densify(result), evaluate(name, data))


@pytest.mark.parametrize("to_sparse", [to_csr, to_row_sparse])
def test_zeros_like_of_sparse_stores_nothing(to_sparse, evaluate):
    result = evaluate("zeros_like", to_sparse(ANYWHERE))
    assert result.values.size == 0
    assert result.shape == ANYWHERE.shape


@pytest.mark.parametrize("name", ["relu", "square", "abs", "_copy", "negative"])
def test_gradients_of_row_sparse_arrays_are_row_sparse(name, differentiate):
    data = np.array([[0, 0.7], [0, 0], [0.2, -0.5]])
    sparse = to_row_sparse(data)
    (got,) = differentiate(name, sparse, head=sparse.with_values(np.ones((2, 2))))
    assert type(got) is RowSparse
    wanted = differentiate(name, data)[0] * [[1], [0], [1]]
    np.testing.assert_array_equal(densify(got), wanted)


def test_second_derivative_of_gamma_ln_is_the_trigamma(differentiate, assert_close):
    assert_close(
        differentiate("_polygamma", POSITIVE, order=0)[0], special.polygamma(1, POSITIVE), ulps=64
    )


def test_log_of_two_in_binary_is_one(evaluate):
    assert evaluate("log2", np.array([8.0])) == 3
    assert math.isclose(evaluate("log10", np.array([1000.0]))[0], 3)


@pytest.mark.parametrize("name", [n for n in REFERENCES if n not in WITH_OWN_GRADIENT])
def test_gradients_have_gradients(name, differentiate, second_derivative):
    data = REFERENCES[name][1]
    ends = [differentiate(name, data + step)[0] for step in (1e-6, -1e-6)]
    wanted = (ends[0] - ends[1]) / 2e-6
    np.testing.assert_allclose(second_derivative(name, data), wanted, rtol=1e-5, atol=1e-6)
