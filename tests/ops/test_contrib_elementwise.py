"""Elementwise operators of ``contrib``."""

import numpy as np
import pytest

from minigluon.storage import Csr, densify, to_csr

X = np.array([0.4, -1.7, 2.3])


def test_quadratic_and_its_gradient(evaluate, differentiate, slopes):
    how = {"a": 2.0, "b": -1.0, "c": 3.0}
    np.testing.assert_allclose(evaluate("_contrib_quadratic", X, **how), 2 * X * X - X + 3)
    got = differentiate("_contrib_quadratic", X, **how)[0]
    np.testing.assert_allclose(got, slopes("_contrib_quadratic", X, **how)[0], rtol=1e-6)


def test_quadratic_keeps_csr_where_zero_stays_zero(evaluate):
    data = np.array([[0, 2.0], [3.0, 0]])
    result = evaluate("_contrib_quadratic", to_csr(data), a=1.0, b=1.0)
    assert type(result) is Csr
    np.testing.assert_array_equal(densify(result), data * data + data)


def test_div_sqrt_dim_scales_by_the_last_axis(evaluate, differentiate):
    data = np.ones((3, 4))
    assert (evaluate("_contrib_div_sqrt_dim", data) == 0.5).all()
    assert (differentiate("_contrib_div_sqrt_dim", data)[0] == 0.5).all()


@pytest.mark.parametrize(("name", "base"), [("round_ste", "round"), ("sign_ste", "sign")])
def test_straight_through_estimators_have_the_gradient_of_the_identity(
    name, base, evaluate, differentiate
):
    assert evaluate(f"_contrib_{name}", X).tolist() == evaluate(base, X).tolist()
    head = np.array([1.0, 2.0, 3.0])
    assert differentiate(f"_contrib_{name}", X, head=head)[0].tolist() == head.tolist()


def test_gradientmultiplier_changes_the_gradient_only(evaluate, differentiate):
    assert evaluate("_contrib_gradientmultiplier", X, scalar=-2.0).tolist() == X.tolist()
    assert (differentiate("_contrib_gradientmultiplier", X, scalar=-2.0)[0] == -2).all()
