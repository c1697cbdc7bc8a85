"""The operators gradients are written with."""

import numpy as np
import pytest

from minigluon.storage import Csr, RowSparse, densify, to_csr, to_row_sparse

A = np.array([[0, 0.7, 0], [0, 0, 0], [0.2, 0, -0.5]])
B = np.array([[0, -0.3, 0.4], [0, 0.1, 0], [0, 0, 0]])
KINDS = {"dense": lambda x: x, "csr": to_csr, "row_sparse": to_row_sparse}


@pytest.mark.parametrize("left", KINDS)
@pytest.mark.parametrize("right", KINDS)
@pytest.mark.parametrize(("name", "function"), [("_grad_add", np.add), ("_grad_mul", np.multiply)])
def test_only_operands_stored_alike_give_a_sparse_result(name, function, left, right, evaluate):
    result = evaluate(name, KINDS[left](A), KINDS[right](B))
    kind = {"csr": Csr, "row_sparse": RowSparse}.get(left if left == right else "", np.ndarray)
    assert type(result) is kind
    np.testing.assert_allclose(densify(result), function(A, B))


def test_products_in_gradients_broadcast(evaluate, differentiate, slopes):
    row = B[0] + 1.5
    np.testing.assert_allclose(evaluate("_grad_mul", A, row), A * row)
    for got, wanted in zip(
        differentiate("_grad_mul", A, row), slopes("_grad_mul", A, row), strict=True
    ):
        np.testing.assert_allclose(got, wanted, atol=1e-8)


@pytest.mark.parametrize("shape", [(3,), (1, 3), (2, 1), (2, 3), (1, 1), (1,), (), (1, 2, 3)])
def test_sum_to_undoes_broadcasting(shape, evaluate, inferred, differentiate):
    wide = np.arange(24.0).reshape(4, 2, 3)
    like = np.zeros(shape)
    result = evaluate("_sum_to", wide, like)
    extra = tuple(range(3 - len(shape)))
    ones = tuple(k + len(extra) for k, n in enumerate(shape) if n == 1)
    wanted = wide.sum(axis=extra + ones).reshape(shape)
    np.testing.assert_array_equal(result, wanted)
    assert inferred("_sum_to", "shape", [wide.shape, shape])[1] == [shape or (1,)]
    gradient = differentiate("_sum_to", wide, like, head=np.full(shape, 2.0))[0]
    np.testing.assert_array_equal(gradient, np.full(wide.shape, 2.0))


def test_sum_to_adds_half_precision_in_single_precision(evaluate):
    assert evaluate("_sum_to", np.ones((4096, 1), "float16"), np.zeros(1, "float16")) == 4096


def test_spread_like_is_what_sum_to_undoes(evaluate):
    row = np.array([[1.0, 2.0]])
    np.testing.assert_array_equal(
        evaluate("_spread_like", row, np.zeros((3, 2))), [[1, 2], [1, 2], [1, 2]]
    )
