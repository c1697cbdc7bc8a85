"""Activation and LeakyReLU: all their kinds, gradients at and around zero, slopes."""

import numpy as np
import pytest
from scipy import special

from minigluon import autograd, nd, sym
from minigluon.base import AttributeValueError, DTypeError, MXNetError, ShapeError

X = np.array([[-2.0, -1, -0.5, 0.25], [0.25, 1, 3, 4]])

ACTIVATIONS = {
    "relu": lambda x: np.maximum(x, 0),
    "sigmoid": special.expit,
    "softrelu": lambda x: np.log1p(np.exp(x)),
    "softsign": lambda x: x / (1 + abs(x)),
    "tanh": np.tanh,
}
ALPHA, SCALE = 1.6732632423543772, 1.0507009873554805
#: MXNet's defaults: slope 0.25, bounds 0.125 and 0.334
LEAKY = {
    "leaky": lambda x: np.where(x > 0, x, 0.25 * x),
    "elu": lambda x: np.where(x > 0, x, 0.25 * np.expm1(x)),
    "selu": lambda x: SCALE * np.where(x > 0, x, ALPHA * np.expm1(x)),
    "gelu": lambda x: x * 0.5 * (1 + special.erf(x / np.sqrt(2))),
}


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("kind", ACTIVATIONS)
def test_activations_are_their_formulas(kind, dtype, evaluate, assert_close):
    result = evaluate("Activation", X.astype(dtype), act_type=kind)
    assert result.dtype == dtype
    assert_close(result, ACTIVATIONS[kind](X))


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("kind", LEAKY)
def test_leaky_activations_are_their_formulas(kind, dtype, evaluate, assert_close):
    result = evaluate("LeakyReLU", X.astype(dtype), act_type=kind)
    assert result.dtype == dtype
    assert_close(result, LEAKY[kind](X))


@pytest.mark.parametrize(
    "name, kind", [*[("Activation", k) for k in ACTIVATIONS], *[("LeakyReLU", k) for k in LEAKY]]
)
def test_gradients_are_the_slopes(name, kind, differentiate, slopes):
    (got,) = differentiate(name, X, act_type=kind)
    np.testing.assert_allclose(got, slopes(name, X, act_type=kind)[0], rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("kind, slope", [("leaky", 0.25), ("elu", 0.25), ("selu", SCALE * ALPHA)])
def test_zero_takes_the_slope_of_the_negative_side(kind, slope, differentiate):
    got = differentiate("LeakyReLU", np.array([0.0, -0.0]), act_type=kind)[0]  # as MXNet
    np.testing.assert_allclose(got, [slope, slope], rtol=1e-12)
    assert differentiate("Activation", np.array([0.0, -0.0]), act_type="relu")[0].tolist() == [0, 0]


@np.errstate(all="ignore")  # as kernels are run
def test_large_inputs_neither_overflow_nor_lose_their_gradient(evaluate, differentiate):
    far = np.array([1000.0, -1000.0, np.inf])
    assert evaluate("Activation", far, act_type="softrelu").tolist() == [1000, 0, np.inf]
    assert evaluate("Activation", far, act_type="sigmoid").tolist() == [1, 0, 1]
    assert differentiate("Activation", far, act_type="softsign")[0][2] == 0
    assert differentiate("LeakyReLU", far, act_type="elu")[0].tolist() == [1, 0, 1]


@np.errstate(all="ignore")
def test_nan_stays_nan(evaluate):
    for kind in ACTIVATIONS:
        assert np.isnan(evaluate("Activation", np.array([np.nan]), act_type=kind)).all()


# ---- prelu


@pytest.mark.parametrize(
    "shape, slopes_shape",
    [((2, 3), (3,)), ((2, 3), (1,)), ((2, 3, 4), (3,)), ((3,), (3,)), ((2, 3, 2, 2), (3,))],
)
def test_prelu_has_a_slope_for_each_channel(
    shape, slopes_shape, evaluate, differentiate, slopes, assert_close
):
    rng = np.random.default_rng(0)
    x, gamma = rng.normal(size=shape), rng.uniform(0.1, 1, slopes_shape)
    spread = gamma.reshape(1, -1, *[1] * (x.ndim - 2)) if x.ndim > 1 else gamma
    assert_close(evaluate("LeakyReLU", x, gamma, act_type="prelu"), np.where(x > 0, x, x * spread))
    found = differentiate("LeakyReLU", x, gamma, act_type="prelu")
    for got, slope in zip(found, slopes("LeakyReLU", x, gamma, act_type="prelu"), strict=True):
        np.testing.assert_allclose(got, slope, rtol=1e-5, atol=1e-7)


def test_prelu_infers_its_slopes_from_the_channels(inferred):
    assert inferred("LeakyReLU", "shape", [(2, 3, 4), None], act_type="prelu")[0][1] == (3,)
    assert sym.LeakyReLU(sym.var("x"), act_type="prelu", name="p").list_arguments() == [
        "x",
        "p_gamma",
    ]


def test_slopes_belong_to_prelu_alone():
    with pytest.raises(MXNetError, match="gamma"):
        nd.LeakyReLU(nd.ones((2, 3)), act_type="prelu")
    with pytest.raises(MXNetError, match="LeakyReLU"):
        nd.LeakyReLU(nd.ones((2, 3)), nd.ones(3), act_type="leaky")
    with pytest.raises(ShapeError, match="LeakyReLU"):
        nd.LeakyReLU(nd.ones((2, 3)), nd.ones(2), act_type="prelu")


# ---- rrelu


def test_rrelu_draws_slopes_in_training_and_gives_them():
    x = nd.array([-2.0, -1, 0, 1, 2] * 200)
    x.attach_grad()
    with autograd.record():
        result, slopes = nd.LeakyReLU(x, act_type="rrelu", lower_bound=0.1, upper_bound=0.2)
    result.backward()
    data, drawn = x.asnumpy(), slopes.asnumpy()
    below = data <= 0
    assert ((drawn >= 0.1) & (drawn < 0.2))[below].all()
    assert len(set(drawn[below])) > 300
    assert (drawn[~below] == 1).all()
    assert result.asnumpy().tolist() == (data * drawn).tolist()
    assert x.grad.asnumpy().tolist() == drawn.tolist()


def test_rrelu_takes_the_mean_slope_in_prediction():
    result, _ = nd.LeakyReLU(
        nd.array([-2, -1, 0, 1, 2]), act_type="rrelu", lower_bound=0.1, upper_bound=0.3
    )
    np.testing.assert_allclose(result.asnumpy(), [-0.4, -0.2, 0, 1, 2], rtol=1e-6)


def test_rrelu_has_two_outputs_and_the_others_one():
    assert len(sym.LeakyReLU(sym.var("x"), act_type="rrelu").list_outputs()) == 2
    assert len(sym.LeakyReLU(sym.var("x"), act_type="elu").list_outputs()) == 1


@pytest.mark.parametrize("name", ["Activation", "LeakyReLU"])
def test_unknown_kinds_are_refused_with_the_known_ones(name):
    with pytest.raises(AttributeValueError, match=rf"(?s){name}.*act_type.*received.*'bogus'.*elu"):
        getattr(nd, name)(nd.ones(2), act_type="bogus")


def test_activation_wants_a_kind():
    with pytest.raises(AttributeValueError, match="act_type"):
        nd.Activation(nd.ones(2))


@pytest.mark.parametrize(
    "name, kind", [("Activation", "relu"), ("Activation", "tanh"), ("LeakyReLU", "elu")]
)
def test_whole_numbers_are_refused_as_in_mxnet(name, kind):
    with pytest.raises(DTypeError, match=rf"(?s){name}: .*received.*int32.*fix"):
        getattr(nd, name)(nd.array([1, 2], dtype="int32"), act_type=kind)
