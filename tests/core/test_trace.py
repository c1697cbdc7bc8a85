import numpy as np
import pytest

from minigluon import ops  # noqa: F401  (declares the operators)
from minigluon.core.graph import topological, variable
from minigluon.core.plan.emit import emit
from minigluon.core.trace import Expr, F


def operators(expression):
    """The operators an expression is made of, in the order they run."""
    return [n.call.op.name for n in topological([expression.entry]) if n.call is not None]


def value(build, *arrays):
    entries = [variable(f"x{k}") for k in range(len(arrays))]
    expression = build(*map(Expr, entries))
    (got,) = emit("f", entries, [expression.entry], [np.ndarray] * len(arrays)).run(*arrays)
    return got


@pytest.mark.parametrize(
    ("build", "names"),
    [
        (lambda x, y: x + y, ["broadcast_add"]),
        (lambda x, y: x * y, ["_grad_mul"]),
        (lambda x, y: x - y, ["broadcast_sub"]),
        (lambda x, y: x / y, ["broadcast_div"]),
        (lambda x, y: x**y, ["broadcast_power"]),
        (lambda x, y: x * 2, ["_mul_scalar"]),
        (lambda x, y: 2 - x, ["_rminus_scalar"]),
        (lambda x, y: 1 / x, ["_rdiv_scalar"]),
        (lambda x, y: -x, ["negative"]),
        (lambda x, y: x > 0, ["_greater_scalar"]),
        (lambda x, y: x <= y, ["broadcast_lesser_equal"]),
        (lambda x, y: F.sum(F.square(x), axis=(0,)), ["square", "sum"]),
    ],
)
def test_arithmetic_of_a_rule_is_made_of_operators(build, names):
    assert operators(build(Expr(variable("x")), Expr(variable("y")))) == names


def test_what_is_traced_computes_what_it_says():
    x, y = np.array([1.0, 2.0]), np.array([3.0, 5.0])
    got = value(lambda a, b: (1 - a) * b / (a + b) + b**2, x, y)
    np.testing.assert_allclose(got, (1 - x) * y / (x + y) + y**2)


def test_inputs_may_be_named():
    rhs = np.array([[3.0], [5.0]])
    got = value(lambda a, b: F.dot(a, rhs=b, transpose_b=False), np.ones((1, 2)), rhs)
    np.testing.assert_array_equal(got, [[8]])


def test_several_outputs_come_as_a_tuple():
    first, second = F.split(Expr(variable("x")), num_outputs=2, axis=1)
    assert (first.entry[1], second.entry[1]) == (0, 1)


def test_an_operator_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no operator frobnicate"):
        F.frobnicate()
