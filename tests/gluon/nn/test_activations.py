"""Activation layers against their formulas; texts and names recorded from MXNet 1.9.1."""

import numpy as np
import pytest
from scipy import special, stats

import minigluon as mx
from minigluon import nd, sym
from minigluon.gluon import nn

X = np.array([[1.0, 2.0, -1.0], [0.0, -2.0, 3.0]], "float32")
SELU_ALPHA, SELU_SCALE = 1.6732632423543772, 1.0507009873554805


@pytest.fixture(autouse=True)
def fresh_names():
    """Names count from 0 in every test."""
    with mx.name.NameManager():
        yield


LAYERS = [
    (lambda: nn.Activation("tanh"), np.tanh, "Activation(tanh)", "tanh0_fwd_output"),
    (
        lambda: nn.Activation("relu"),
        lambda x: np.maximum(x, 0),
        "Activation(relu)",
        "relu0_fwd_output",
    ),
    (lambda: nn.Activation("sigmoid"), special.expit, "Activation(sigmoid)", "sigmoid0_fwd_output"),
    (
        lambda: nn.Activation("softrelu"),
        lambda x: np.logaddexp(x, 0),
        "Activation(softrelu)",
        "softrelu0_fwd_output",
    ),
    (
        lambda: nn.Activation("softsign"),
        lambda x: x / (1 + abs(x)),
        "Activation(softsign)",
        "softsign0_fwd_output",
    ),
    (
        lambda: nn.LeakyReLU(0.1),
        lambda x: np.where(x > 0, x, 0.1 * x),
        "LeakyReLU(0.1)",
        "leakyrelu0_fwd_output",
    ),
    (nn.PReLU, lambda x: np.where(x > 0, x, 0.25 * x), "PReLU(\n\n)", "prelu0_fwd_output"),
    (
        lambda: nn.PReLU(in_channels=3),
        lambda x: np.where(x > 0, x, 0.25 * x),
        "PReLU(\n\n)",
        "prelu0_fwd_output",
    ),
    (
        lambda: nn.ELU(0.5),
        lambda x: np.where(x > 0, x, 0.5 * np.expm1(x)),
        "ELU(\n\n)",
        "elu0_leakyrelu0_output",
    ),
    (
        nn.SELU,
        lambda x: SELU_SCALE * np.where(x > 0, x, SELU_ALPHA * np.expm1(x)),
        "SELU(\n\n)",
        "selu0_fwd_output",
    ),
    (nn.GELU, lambda x: x * stats.norm.cdf(x), "GELU(\n\n)", "gelu0_fwd_output"),
    (lambda: nn.Swish(2), lambda x: x * special.expit(2 * x), "Swish(\n\n)", "swish0__mul0_output"),
]


@pytest.mark.parametrize(("make", "formula", "text", "name"), LAYERS)
def test_activation_is_its_formula_eager_and_hybridized(make, formula, text, name):
    layer = make()
    layer.initialize()
    for _ in range(2):
        result = layer(nd.array(X)).asnumpy()
        np.testing.assert_allclose(result, formula(X.astype(float)), rtol=1e-5, atol=1e-7)
        layer.hybridize()
    assert repr(layer) == text
    assert layer(sym.var("data")).list_outputs() == [name]


def test_negative_slope_is_refused_as_assertion_and_value_error():
    with pytest.raises(AssertionError, match="must be no less than 0") as caught:
        nn.LeakyReLU(-0.1)
    assert isinstance(caught.value, ValueError)


def test_learned_slope_is_a_parameter():
    layer = nn.PReLU(in_channels=3)
    assert list(layer.collect_params()) == ["prelu0_alpha"]
    assert layer.alpha.shape == (3,)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(
    "beta, wanted", [(-1e30, [0, 0, -1]), (-1e307, [0, 0, -1]), (1e307, [0, 1, 0])]
)
def test_swish_of_a_huge_beta_is_its_limit_and_zero_at_zero(beta, wanted, dtype):
    assert nn.Swish(beta)(nd.array([0, 1, -1], dtype=dtype)).asnumpy().tolist() == wanted
