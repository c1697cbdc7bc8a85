"""Products of matrices: every transpose, rank and storage, gradients, and what is refused."""

import itertools
import tracemalloc

import numpy as np
import pytest

from minigluon import autograd, nd, sym
from minigluon.base import AttributeValueError, DTypeError, MXNetError, ShapeError
from minigluon.storage import Csr, RowSparse, densify, to_csr, to_row_sparse

RNG = np.random.default_rng(0)
BOTH = (False, True)
TRANSPOSES = list(itertools.product(BOTH, BOTH))


def normal(*shape):
    return RNG.normal(size=shape)


def thin(*shape):
    """Numbers with about half of them zero, and the second row all zero."""
    x = RNG.normal(size=shape) * (RNG.random(shape) < 0.6)
    x[1] = 0
    return x


def operands(left, right, transpose_a, transpose_b):
    """Arrays whose product contracts three elements: ``left`` and ``right`` are the free axes."""
    return (
        normal(3, *left) if transpose_a else normal(*left, 3),
        normal(*right, 3) if transpose_b else normal(3, *right),
    )


def product(lhs, rhs, transpose_a, transpose_b):
    axes = (0 if transpose_a else lhs.ndim - 1, rhs.ndim - 1 if transpose_b else 0)
    return np.tensordot(lhs, rhs, axes)


# ---- dot


@pytest.mark.parametrize("right", [(), (4,), (4, 2), (1,)])
@pytest.mark.parametrize("left", [(), (2,), (2, 5), (1,)])
@pytest.mark.parametrize("ta, tb", TRANSPOSES)
def test_dot_contracts_one_axis_of_arrays_of_any_rank(
    ta, tb, left, right, evaluate, assert_close, inferred
):
    lhs, rhs = operands(left, right, ta, tb)
    how = {"transpose_a": ta, "transpose_b": tb}
    wanted = product(lhs, rhs, ta, tb)
    assert_close(evaluate("dot", lhs, rhs, **how), wanted, ulps=64)
    assert inferred("dot", "shape", [lhs.shape, rhs.shape], **how)[1] == [wanted.shape or (1,)]


@pytest.mark.parametrize("left, right", [((), ()), ((2,), (4,)), ((2, 2), (3, 2)), ((2,), ())])
@pytest.mark.parametrize("ta, tb", TRANSPOSES)
def test_gradients_of_dot_are_the_slopes(ta, tb, left, right, differentiate, slopes):
    arrays = operands(left, right, ta, tb)
    how = {"transpose_a": ta, "transpose_b": tb}
    for got, slope in zip(
        differentiate("dot", *arrays, **how), slopes("dot", *arrays, **how), strict=True
    ):
        np.testing.assert_allclose(got, slope, rtol=1e-6, atol=1e-7)


def test_dot_of_whole_numbers_is_exact():
    left, right = np.array([[2**53 + 1, 1]]), np.array([[1], [2]])
    result = nd.dot(nd.array(left, dtype="int64"), nd.array(right, dtype="int64"))
    assert result.asnumpy().tolist() == [[2**53 + 3]]


@pytest.mark.parametrize("name", ["dot", "batch_dot", "FullyConnected"])
def test_half_precision_is_summed_in_single_precision(name, evaluate):
    ones = np.ones((1, 4096), np.float16)  # in float16 sums of ones stop at 2048
    if name == "FullyConnected":
        result = evaluate(name, ones, ones, num_hidden=1, no_bias=True)
    else:
        arrays = (ones, ones) if name == "dot" else (ones[None], ones[None])
        result = evaluate(name, *arrays, transpose_b=True)
    assert result.dtype == np.float16
    assert result.ravel().tolist() == [4096]


STORED = {"default": lambda x: x, "csr": to_csr, "row_sparse": to_row_sparse}
#: lhs, rhs, transpose_a, transpose_b -> storage of the product (MXNet 1.9.1)
PRODUCTS = {
    ("csr", "default", False, False): "default",
    ("csr", "row_sparse", False, False): "default",
    ("csr", "default", True, False): "row_sparse",
    ("csr", "row_sparse", True, False): "row_sparse",
    ("default", "csr", False, False): "csr",
    ("default", "csr", False, True): "csr",
}


@pytest.mark.parametrize("ta, tb", TRANSPOSES)
@pytest.mark.parametrize("right", STORED)
@pytest.mark.parametrize("left", STORED)
@pytest.mark.filterwarnings("ignore::minigluon.base.StorageFallbackWarning")
def test_sparse_products_are_the_dense_ones_in_mxnets_storage(
    left, right, ta, tb, evaluate, assert_close
):
    lhs, rhs = thin(*((3, 4) if ta else (4, 3))), thin(*((5, 3) if tb else (3, 5)))
    how = {"transpose_a": ta, "transpose_b": tb}
    result = evaluate("dot", STORED[left](lhs), STORED[right](rhs), **how)
    wanted = PRODUCTS.get((left, right, ta, tb), "default")
    assert type(result) is {"default": np.ndarray, "csr": Csr, "row_sparse": RowSparse}[wanted]
    assert_close(densify(result), product(lhs, rhs, ta, tb), ulps=64)


@pytest.mark.parametrize("asked", ["default", "csr", "row_sparse"])
@pytest.mark.filterwarnings("ignore::minigluon.base.StorageFallbackWarning")
def test_forward_stype_is_the_storage_of_the_product(asked):
    lhs, rhs = nd.array(thin(4, 3)).tostype("csr"), nd.array(thin(3, 2))
    result = nd.dot(lhs, rhs, forward_stype=asked)
    assert result.stype == asked
    np.testing.assert_allclose(
        result.asnumpy(), lhs.asnumpy() @ rhs.asnumpy(), rtol=1e-5, atol=1e-6
    )


def test_csr_times_a_vector_is_that_of_the_dense_array():
    lhs = nd.array([[0, 2, 0, 1]]).tostype("csr")
    assert nd.dot(lhs, nd.array([1, 2, 3, 4])).asnumpy().tolist() == [8]


def test_the_gradient_of_a_csr_product_has_the_rows_of_occurring_columns(differentiate):
    lhs = np.array([[0, 1.0, 0], [0, 2.0, 3.0]])
    _, grad = differentiate("dot", to_csr(lhs), normal(3, 2))
    assert type(grad) is RowSparse
    assert grad.indices.tolist() == [1, 2]
    assert densify(grad).tolist() == [[0, 0], [3, 3], [3, 3]]


@pytest.mark.filterwarnings("ignore::minigluon.base.StorageFallbackWarning")
def test_gradients_written_into_csr_come_by_way_of_dense():
    lhs, rhs = (nd.array(thin(3, 3)).tostype("csr") for _ in range(2))
    rhs.attach_grad()
    with autograd.record():
        product = nd.dot(lhs, rhs)
    product.backward()
    assert rhs.grad.stype == "csr"
    wanted = lhs.asnumpy().T @ np.ones((3, 3))
    np.testing.assert_allclose(rhs.grad.asnumpy(), wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.filterwarnings("error::minigluon.base.StorageFallbackWarning")
@pytest.mark.parametrize("ta, tb", TRANSPOSES)
@pytest.mark.parametrize("pair", list(itertools.product(("csr", "row_sparse"), repeat=2)))
def test_no_sparse_operand_of_a_product_or_its_gradients_is_made_dense(pair, ta, tb):
    left, right = (thin(3, 3) for _ in range(2))
    with autograd.record():
        arrays = [nd.array(x).tostype(s) for x, s in zip((left, right), pair, strict=True)]
        for array in arrays:
            array.attach_grad(stype="default")
        product = nd.dot(*arrays, transpose_a=ta, transpose_b=tb)
    product.backward(nd.ones((3, 3)))
    a, b = left.T if ta else left, right.T if tb else right
    ones = np.ones((3, 3))
    lhs, rhs = ones @ b.T, a.T @ ones
    np.testing.assert_allclose(product.asnumpy(), a @ b, rtol=1e-5, atol=1e-6)
    for array, wanted in zip(arrays, (lhs.T if ta else lhs, rhs.T if tb else rhs), strict=True):
        np.testing.assert_allclose(array.grad.asnumpy(), wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_a_wide_product_and_its_gradient_take_memory_of_the_stored_entries():
    rows, width = 8192, 1_000_000
    columns = np.sort(np.random.RandomState(0).randint(0, width, 2 * rows).reshape(rows, 2), axis=1)
    batch = nd.sparse.csr_matrix(
        (np.ones(2 * rows, np.float32), columns.ravel(), np.arange(rows + 1) * 2),
        shape=(rows, width),
    )
    weight = nd.ones((width, 1)).tostype("row_sparse")
    weight.attach_grad()
    head = nd.ones((rows, 1))

    def step():
        with autograd.record():
            product = nd.dot(batch, weight)
        product.backward(head)

    step()
    tracemalloc.start()
    try:
        step()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert weight.grad.stype == "row_sparse"
    assert weight.grad.indices.asnumpy().tolist() == np.unique(columns).tolist()
    assert peak < 50 * batch.data.shape[0]  # bytes; the batch has 16k entries


@pytest.mark.parametrize("ta", BOTH)
@pytest.mark.parametrize("rows", [1, 5])
def test_csr_products_of_lengths_that_differ_are_refused(rows, ta):
    lhs = nd.array(thin(3, 3)).tostype("csr")  # the compiled loops would read beyond rhs
    with pytest.raises(ShapeError, match=r"(?s)dot: .*received  lhs \(3, 3\).*rhs"):
        nd.dot(lhs, nd.ones((rows, 2)), transpose_a=ta)
    with pytest.raises(ShapeError):
        nd.dot(nd.ones((2, rows)), lhs)


def test_dense_products_of_lengths_that_differ_are_refused():
    with pytest.raises(ShapeError, match=r"(?s)dot: .*received .*lhs \(2, 3\) .*rhs \(4, 3\)"):
        nd.dot(nd.ones((2, 3)), nd.ones((4, 3)))
    with pytest.raises(MXNetError):
        sym.dot(sym.var("a", shape=(2, 3)), sym.var("b", shape=(4, 3))).infer_shape()


def test_products_of_two_dtypes_are_refused():
    with pytest.raises(DTypeError, match="dot"):
        nd.dot(nd.ones((2, 2)), nd.ones((2, 2), dtype="float64"))


@pytest.mark.parametrize("value", ["sparse", 3])
def test_an_unknown_forward_stype_is_refused(value):
    with pytest.raises(
        AttributeValueError, match=r"(?s)dot.*forward_stype.*'csr', 'default', 'row_sparse'"
    ):
        nd.dot(nd.ones((2, 2)), nd.ones((2, 2)), forward_stype=value)


def test_dot_infers_the_contracted_length_and_passes_an_unknown_batch_on(inferred):
    assert inferred("dot", "shape", [(2, 3), (3, 4)])[1] == [(2, 4)]
    _, out, _ = sym.dot(sym.var("a"), sym.var("b")).infer_shape_partial(a=(0, 3), b=(3, 4))
    assert out == [(0, 4)]
    shapes, _, _ = sym.dot(sym.var("a"), sym.var("b")).infer_shape_partial(a=(2, 0), b=(3, 4))
    assert shapes == [(2, 3), (3, 4)]


# ---- batch_dot


@pytest.mark.parametrize("stack", [(2,), (2, 3), (1,)])
@pytest.mark.parametrize("ta, tb", TRANSPOSES)
def test_batch_dot_multiplies_matrix_by_matrix(
    ta, tb, stack, evaluate, assert_close, differentiate, slopes
):
    lhs = normal(*stack, 3, 2) if ta else normal(*stack, 2, 3)
    rhs = normal(*stack, 4, 3) if tb else normal(*stack, 3, 4)
    how = {"transpose_a": ta, "transpose_b": tb}
    wanted = (lhs.swapaxes(-1, -2) if ta else lhs) @ (rhs.swapaxes(-1, -2) if tb else rhs)
    assert_close(evaluate("batch_dot", lhs, rhs, **how), wanted, ulps=64)
    for got, slope in zip(
        differentiate("batch_dot", lhs, rhs, **how),
        slopes("batch_dot", lhs, rhs, **how),
        strict=True,
    ):
        np.testing.assert_allclose(got, slope, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    "left, right",
    [((3, 4), (4, 5)), ((1, 3, 4), (2, 4, 5)), ((2, 3, 4), (4, 5)), ((2, 3, 4), (2, 5, 5))],
)
def test_batch_dot_takes_equal_stacks_only(left, right):
    with pytest.raises(ShapeError, match="batch_dot"):
        nd.batch_dot(nd.ones(left), nd.ones(right))
    with pytest.raises(ShapeError, match="batch_dot"):
        sym.batch_dot(sym.var("a"), sym.var("b")).infer_shape(a=left, b=right)
