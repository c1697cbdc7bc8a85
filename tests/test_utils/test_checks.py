"""The checks of symbols pass what is right and fail what is wrong."""

import numpy as np
import pytest

import minigluon as mx
from minigluon import nd, sym, test_utils

A, B = sym.Variable("a"), sym.Variable("b")
ONES, TWOS = np.ones((2, 3)), np.full((2, 3), 2.0)


def test_forward_values_are_compared():
    outputs = test_utils.check_symbolic_forward(A * B, [ONES, TWOS], [TWOS])
    np.testing.assert_array_equal(outputs[0].asnumpy(), TWOS)
    with pytest.raises(AssertionError, match="EXPECTED_"):
        test_utils.check_symbolic_forward(A * B, {"a": ONES, "b": TWOS}, [ONES])


@pytest.mark.parametrize("grad_req", ["write", "add", "null"])
def test_gradients_are_compared_under_every_request(grad_req):
    test_utils.check_symbolic_backward(
        A * B, [ONES, TWOS], [ONES], {"a": TWOS, "b": ONES}, grad_req=grad_req
    )


def test_a_wrong_gradient_is_found():
    with pytest.raises(AssertionError, match="BACKWARD_a"):
        test_utils.check_symbolic_backward(A * B, [ONES, TWOS], [ONES], {"a": ONES})


def test_a_gradient_that_agrees_with_differences_passes():
    test_utils.check_numeric_gradient(A * B + sym.exp(A), [ONES, TWOS])


def test_a_gradient_that_is_missing_is_found():
    with pytest.raises(AssertionError, match="NUMERICAL_a"):
        test_utils.check_numeric_gradient(sym.BlockGrad(A) * B, [ONES, TWOS])


def test_only_the_nodes_asked_for_are_checked():
    test_utils.check_numeric_gradient(sym.BlockGrad(A) * B, [ONES, TWOS], grad_nodes=["b"])


def test_gradients_that_are_added_are_checked():
    test_utils.check_numeric_gradient(A * B, [ONES, TWOS], grad_nodes={"a": "add", "b": "write"})


def test_sparse_arguments_keep_their_storage():
    data = nd.array(np.array([[0.0, 2.0], [1.0, 0.0]])).tostype("csr")
    symbol = sym.sparse.dot(sym.Variable("a", stype="csr"), B)
    test_utils.check_symbolic_forward(symbol, [data, np.eye(2)], [data.asnumpy()])


@pytest.mark.parametrize("location", [[ONES], {"a": ONES, "c": ONES}])
def test_arguments_that_do_not_fit_are_named(location):
    with pytest.raises(ValueError, match="b"):
        test_utils.check_symbolic_forward(A * B, location, [ONES])


def test_dtypes_give_consistent_results():
    specs = [
        {"ctx": mx.cpu(), "a": (2, 3), "b": (2, 3), "type_dict": {"a": dtype, "b": dtype}}
        for dtype in (np.float64, np.float32)
    ]
    truth = test_utils.check_consistency(A * B, specs)
    assert truth["a"].dtype == np.float64


def test_an_inconsistency_is_found():
    spec = {"ctx": mx.cpu(), "a": (2, 3)}
    with pytest.raises(AssertionError, match="ctx_list"):
        test_utils.check_consistency([sym.exp(A), sym.exp(A) + 1], [spec, spec])


def test_structure_ignores_names():
    assert test_utils.same_symbol_structure(A * B, B * A)
    assert not test_utils.same_symbol_structure(A * B, A + B)


def test_a_symbol_runs_on_numpy_arrays():
    np.testing.assert_array_equal(test_utils.simple_forward(A * B, a=TWOS, b=TWOS), 2 * TWOS)


def test_speed_is_a_time():
    assert test_utils.check_speed(A * B, ctx=mx.cpu(), N=2, a=(2, 3), b=(2, 3)) > 0


def test_equal_optimizers_make_equal_steps():
    test_utils.compare_optimizer(mx.optimizer.SGD(), mx.optimizer.SGD(), (3, 4), "float32")


def test_different_optimizers_are_found():
    with pytest.raises(AssertionError):
        test_utils.compare_optimizer(
            mx.optimizer.SGD(learning_rate=0.1),
            mx.optimizer.SGD(learning_rate=0.2),
            (3, 4),
            "float32",
        )
