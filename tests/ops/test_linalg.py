"""Products and triangular systems against numpy; gradients are laws in tests/properties."""

import numpy as np
import pytest

from minigluon import MXNetError, autograd, nd

R = np.random.default_rng(0)
A = R.normal(size=(2, 3, 3)) + 3 * np.eye(3)
B = R.normal(size=(2, 3, 4))


def double(x):
    return nd.array(x, dtype="float64")


def close(got, wanted):
    np.testing.assert_allclose(got.asnumpy(), wanted, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
def test_gemm_is_a_scaled_product_with_something_added(transpose_a, transpose_b):
    a = A[:, :2].swapaxes(1, 2) if transpose_a else A[:, :2]
    b = B.swapaxes(1, 2) if transpose_b else B
    c = np.ones((2, 2, 4))
    how = {"transpose_a": transpose_a, "transpose_b": transpose_b, "alpha": 0.5}
    close(nd.linalg.gemm2(double(a), double(b), **how), 0.5 * A[:, :2] @ B)
    got = nd.linalg.gemm(double(a), double(b), double(c), beta=3, **how)
    close(got, 0.5 * A[:, :2] @ B + 3)


def test_rows_may_lie_on_another_axis():
    a, b = R.normal(size=(2, 5, 3)), R.normal(size=(3, 5, 4))
    close(nd.linalg.gemm2(double(a), double(b), axis=0), np.einsum("ibk,kbj->ibj", a, b))


def test_gradients_are_added_to_what_is_there():
    # known bug 50: MXNet overwrites the buffers, and leaves garbage in some
    a, b, c = (nd.ones((2, 2)) for _ in range(3))
    for x in (a, b, c):
        x.attach_grad(grad_req="add")
        x.grad[:] = 10
    with autograd.record():
        y = nd.linalg.gemm2(a, b)
    y.backward()
    assert (a.grad.asnumpy() == 12).all() and (b.grad.asnumpy() == 12).all()
    with autograd.record():
        y = nd.linalg.gemm(a, b, c)
    y.backward()
    assert (a.grad.asnumpy() == 14).all() and (c.grad.asnumpy() == 11).all()


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("transpose", [True, False])
def test_triangular_products_and_systems(lower, transpose):
    triangle = np.tril(A) if lower else np.triu(A)
    op = triangle.swapaxes(1, 2) if transpose else triangle
    how = {"lower": lower, "transpose": transpose, "alpha": 2}
    close(nd.linalg.trmm(double(A), double(B), **how), 2 * op @ B)
    close(nd.linalg.trsm(double(A), double(B), **how), 2 * np.linalg.solve(op, B))
    right = B.swapaxes(1, 2)
    close(nd.linalg.trmm(double(A), double(right), rightside=True, **how), 2 * right @ op)
    solved = nd.linalg.trsm(double(A), double(right), rightside=True, **how)
    close(solved, 2 * right @ np.linalg.inv(op))


def test_syrk_is_a_product_with_itself():
    close(nd.linalg.syrk(double(B), alpha=0.5), 0.5 * B @ B.swapaxes(1, 2))
    close(nd.linalg.syrk(double(B), transpose=True), B.swapaxes(1, 2) @ B)


@pytest.mark.parametrize(
    "call",
    [
        lambda: nd.linalg.gemm2(nd.ones((2, 3)), nd.ones((2, 3))),
        lambda: nd.linalg.gemm2(nd.ones((1, 2, 3)), nd.ones((2, 3, 5))),
        lambda: nd.linalg.gemm2(nd.ones(3), nd.ones(3)),
        lambda: nd.linalg.gemm(nd.ones((2, 3)), nd.ones((3, 2)), nd.ones((2, 3))),
        lambda: nd.linalg.trmm(nd.ones((2, 2)), nd.ones((3, 2))),
        lambda: nd.linalg.trsm(nd.ones((2, 2)), nd.ones((3, 2))),
        lambda: nd.linalg.syrk(nd.ones(3)),
    ],
)
def test_matrices_that_do_not_fit_are_refused(call):
    with pytest.raises(MXNetError, match="linalg"):
        call()


@pytest.mark.parametrize("dtype", ["int32", "float16"])
def test_other_dtypes_are_refused(dtype):
    x = nd.ones((2, 2), dtype=dtype)
    with pytest.raises(MXNetError, match="dtype is not supported"):
        nd.linalg.gemm2(x, x)
