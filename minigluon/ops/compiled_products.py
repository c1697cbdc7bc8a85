"""How products of matrices are compiled: small ones as loops, others as calls of BLAS."""

from __future__ import annotations

from ..core.plan import blas
from ..core.plan.fuse import lowers
from ..core.plan.loops import (
    elements,
    mapped,
    multiplied,
    product,
    reduced,
    reshaped,
    transposed,
    viewed,
)
from ..core.plan.simplify import splits
from ..kernels import dense
from ..kernels.scalar import (
    BINARY,
    Unsupported,
)

#: products of more multiplications than this are left to BLAS
PRODUCT_LIMIT = 2048


def _product(a, b, transpose_a=False, transpose_b=False):
    rows = a.shape[1 if transpose_a else 0]
    work = rows * elements(b.shape)
    if work <= PRODUCT_LIMIT:
        return product(a, b, transpose_a, transpose_b)
    if work >= dense.FEWEST:
        raise Unsupported("a large product, which has a kernel")
    if blas.found() is None:
        raise Unsupported("a product for BLAS, which was not found")
    a = transposed(a, (1, 0)) if transpose_a else a
    return multiplied(a, transposed(b, (1, 0)) if transpose_b else b)


def _rows(x, flatten):
    if len(x.shape) == 2:
        return x
    width = elements(x.shape[1:]) if flatten else x.shape[-1]
    return reshaped(x, (elements(x.shape) // width, width))


@lowers("FullyConnected", gives_shape=True)
def _(data, weight, bias=None, *, shape, num_hidden, no_bias, flatten):
    result = _product(_rows(data, flatten), weight, transpose_b=True)
    if bias is not None:
        result = mapped(BINARY["add"], result, bias)
    return reshaped(result, shape)


@splits("FullyConnected")
def _(F, data, weight, bias=None, *, num_hidden, no_bias, flatten):
    result = F.FullyConnected(data, weight, num_hidden=num_hidden, no_bias=True, flatten=flatten)
    return result if bias is None else F.broadcast_add(result, bias)


@lowers("_fully_connected_data_grad")
def _(g, data, weight):
    return reshaped(_product(_rows(g, False), weight), data.shape)


@lowers("_fully_connected_weight_grad")
def _(g, data, *, flatten):
    return _product(_rows(g, False), _rows(data, flatten), transpose_a=True)


@lowers("dot")
def _(a, b, *, transpose_a, transpose_b, forward_stype):
    if len(a.shape) != 2 or len(b.shape) != 2 or forward_stype not in (None, "default"):
        raise Unsupported("dot of other than two matrices")
    return _product(a, b, transpose_a, transpose_b)


@lowers("batch_dot")
def _(a, b, *, transpose_a, transpose_b, forward_stype):
    rank = len(a.shape)
    swapped = [*range(rank - 2), rank - 1, rank - 2]
    a = transposed(a, swapped) if transpose_a else a
    b = b if transpose_b else transposed(b, swapped)
    stack, (n, k), m = a.shape[:-2], a.shape[-2:], b.shape[-2]
    if elements(stack) * n * k * m > PRODUCT_LIMIT:
        raise Unsupported("a product for BLAS")
    p, q = a.strides(), b.strides()
    left = viewed(a, (*stack, n, 1, k), (*p[:-1], 0, p[-1]))
    right = viewed(b, (*stack, 1, m, k), (*q[:-2], 0, *q[-2:]))
    return reduced(mapped(BINARY["mul"], left, right), (rank,))


@lowers("_dot_lhs_grad")
def _(g, a, b, *, transpose_a, transpose_b):
    if len(a.shape) != 2 or len(b.shape) != 2:
        raise Unsupported("dot of other than two matrices")
    return (
        _product(b, g, transpose_b, True) if transpose_a else _product(g, b, False, not transpose_b)
    )


@lowers("_dot_rhs_grad")
def _(g, a, b, *, transpose_a, transpose_b):
    if len(a.shape) != 2 or len(b.shape) != 2:
        raise Unsupported("dot of other than two matrices")
    return (
        _product(g, a, True, transpose_a) if transpose_b else _product(a, g, not transpose_a, False)
    )
