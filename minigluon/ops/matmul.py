"""Products of matrices: dot, batch_dot, FullyConnected."""

from __future__ import annotations

from typing import Literal

import numpy as np

from .. import storage
from ..base import ShapeError
from ..core.attributes import Count
from ..core.infer import UNKNOWN, UNKNOWN_SHAPE, UnknownShape, known, prod
from ..core.op import op
from ..kernels import csr, csr_dot, row_sparse

_HALF = np.dtype(np.float16)


def _matmul(a, b, out=None):
    """``a @ b`` of matrices; half precision is summed in single precision."""
    if a.dtype is _HALF:
        product = np.dot(a.astype(np.float32), b.astype(np.float32)).astype(_HALF)
        if out is None:
            return product
        out[...] = product
        return out
    return np.dot(a, b, out=out)


def _left(lhs, transpose_a):
    """The left operand as a matrix whose rows are multiplied."""
    if lhs.ndim == 2:
        return lhs.T if transpose_a else lhs
    if lhs.ndim < 2:
        return lhs.reshape(1, -1)
    return lhs.reshape(lhs.shape[0], -1).T if transpose_a else lhs.reshape(-1, lhs.shape[-1])


def _right(rhs, transpose_b):
    """The right operand as a matrix whose columns are multiplied."""
    if rhs.ndim == 2:
        return rhs.T if transpose_b else rhs
    if rhs.ndim < 2:
        return rhs.reshape(-1, 1)
    return rhs.reshape(-1, rhs.shape[-1]).T if transpose_b else rhs.reshape(rhs.shape[0], -1)


def _free_axes(shape, transposed, contracted_last):
    """The axes of an operand that stay: all but the contracted one."""
    if len(shape) < 2:
        return ()
    return tuple(shape[1:] if transposed == contracted_last else shape[:-1])


# ---- dot


@op(aliases=("_sparse_dot",), hint="forward_stype", scalar=True)
def dot(
    lhs,
    rhs,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    forward_stype: Literal["csr", "default", "row_sparse"] | None = None,
    out=None,
):
    """The product over the last axis of ``lhs`` and the first of ``rhs``.

    Two vectors give their inner product (shape ``(1,)``), matrices their product, arrays of more
    axes are multiplied as if those that stay were one. ``csr`` times dense or row_sparse is dense;
    the transposed ``csr`` gives row_sparse, with just the rows that have an entry.

    Parameters
    ----------
    transpose_a : contract the first axis of ``lhs`` instead of the last.
    transpose_b : contract the last axis of ``rhs`` instead of the first.
    forward_stype : the storage wanted for the result, cast if need be.

    Examples
    --------
    >>> nd.dot(nd.array([[1, 2]]), nd.array([[3], [4]])).asnumpy()
    array([[11.]], dtype=float32)
    """
    if lhs.ndim == 2 and rhs.ndim == 2:
        return _matmul(lhs.T if transpose_a else lhs, rhs.T if transpose_b else rhs, out)
    shape = (
        *_free_axes(lhs.shape, transpose_a, True),
        *_free_axes(rhs.shape, transpose_b, False),
    )
    result = _matmul(_left(lhs, transpose_a), _right(rhs, transpose_b)).reshape(shape)
    if out is None:
        return result
    out[...] = result.reshape(out.shape)
    return out


@dot.shape
def _(s, *, transpose_a, transpose_b, **_):
    lhs, rhs = s.lhs, s.rhs
    if isinstance(lhs, UnknownShape) or isinstance(rhs, UnknownShape):
        return
    k = lhs[0] if transpose_a or len(lhs) == 1 else lhs[-1]
    m = rhs[-1] if transpose_b or len(rhs) == 1 else rhs[0]
    k = m if k is UNKNOWN else k
    if len(lhs) > 1:
        s.lhs = (k, *lhs[1:]) if transpose_a else (*lhs[:-1], k)
    if len(rhs) > 1:
        s.rhs = (*rhs[:-1], k) if transpose_b else (k, *rhs[1:])
    elif not known((k,)) or m is UNKNOWN or k != m:
        s.rhs = (k,)
    s.out = (
        *_free_axes(lhs, transpose_a, True),
        *_free_axes(rhs, transpose_b, False),
    )


@dot.grad
def _(F, g, lhs, rhs, *, out, transpose_a, transpose_b, forward_stype):
    attrs = {"transpose_a": transpose_a, "transpose_b": transpose_b}
    return F._dot_lhs_grad(g, lhs, rhs, **attrs), F._dot_rhs_grad(g, lhs, rhs, **attrs)


def _plain(transpose_a, transpose_b, **_):
    return not transpose_a and not transpose_b


def _transposed(transpose_a, transpose_b, **_):
    return transpose_a and not transpose_b


def _right_transposed(transpose_a, transpose_b, **_):
    return transpose_b and not transpose_a


def _fitting(length, rhs):
    """``rhs`` if it has so many rows; the compiled kernels would read beyond a shorter one."""
    if rhs.shape[0] != length or rhs.ndim > 2:
        raise ValueError(f"a matrix or vector of {length} rows is wanted on the right")
    return rhs


@dot.kernel("csr default -> default", when=_plain)
def _(lhs, rhs, *, transpose_a, transpose_b, forward_stype, out=None):
    return csr_dot.dot(lhs, _fitting(lhs.shape[1], rhs))


@dot.kernel("csr row_sparse -> default", when=_plain)
def _(lhs, rhs, *, transpose_a, transpose_b, forward_stype, out=None):
    return csr_dot.dot_rows(lhs, _fitting(lhs.shape[1], rhs))


@dot.kernel("csr default -> row_sparse", when=_transposed)
def _(lhs, rhs, *, transpose_a, transpose_b, forward_stype, out=None):
    return csr_dot.dot_transposed(lhs, _fitting(lhs.shape[0], rhs))


@dot.kernel("csr default -> default", when=_transposed)
def _(lhs, rhs, *, transpose_a, transpose_b, forward_stype, out=None):
    return csr_dot.dot_transposed_dense(lhs, _fitting(lhs.shape[0], rhs))


@dot.kernel("csr row_sparse -> row_sparse", when=_transposed)
def _(lhs, rhs, *, transpose_a, transpose_b, forward_stype, out=None):
    return csr_dot.dot_transposed_rows(lhs, _fitting(lhs.shape[0], rhs))


@dot.kernel("csr row_sparse -> default", when=_transposed)
def _(lhs, rhs, *, transpose_a, transpose_b, forward_stype, out=None):
    return row_sparse.densify(csr_dot.dot_transposed_rows(lhs, _fitting(lhs.shape[0], rhs)))


def _rows_of_width(lhs, length):
    """``lhs`` if it is a matrix of that many columns."""
    if lhs.ndim != 2 or lhs.shape[1] != length:
        raise ValueError(f"a matrix of {length} columns is wanted on the left")
    return lhs


@dot.kernel("default csr -> csr", when=_plain)
def _(lhs, rhs, *, transpose_a, transpose_b, forward_stype, out=None):
    return csr_dot.dense_dot_csr(_rows_of_width(lhs, rhs.shape[0]), rhs)


@dot.kernel("default csr -> default", when=_plain)
def _(lhs, rhs, *, transpose_a, transpose_b, forward_stype, out=None):
    return csr_dot.dense_dot(_rows_of_width(lhs, rhs.shape[0]), rhs)


@dot.kernel("default csr -> csr", when=_right_transposed)
def _(lhs, rhs, *, transpose_a, transpose_b, forward_stype, out=None):
    return csr.from_dense(csr_dot.dense_dot_transposed(_rows_of_width(lhs, rhs.shape[1]), rhs))


@dot.kernel("default csr -> default", when=_right_transposed)
def _(lhs, rhs, *, transpose_a, transpose_b, forward_stype, out=None):
    return csr_dot.dense_dot_transposed(_rows_of_width(lhs, rhs.shape[1]), rhs)


@op(shape_only=("lhs",))
def _dot_lhs_grad(g, lhs, rhs, *, transpose_a: bool = False, transpose_b: bool = False, out=None):
    """The gradient of ``dot`` with respect to its left operand, in that operand's shape."""
    if lhs.ndim == 2 and rhs.ndim == 2:
        other = rhs if transpose_b else rhs.T
        return _matmul(other.T, g.T, out) if transpose_a else _matmul(g, other, out)
    right = _right(rhs, transpose_b)
    product = _matmul(g.reshape(-1, right.shape[1]), right.T)
    return _shaped(product.T if transpose_a and lhs.ndim > 1 else product, lhs.shape, out)


@op(shape_only=("rhs",))
def _dot_rhs_grad(g, lhs, rhs, *, transpose_a: bool = False, transpose_b: bool = False, out=None):
    """The gradient of ``dot`` with respect to its right operand, in that operand's shape."""
    if lhs.ndim == 2 and rhs.ndim == 2:
        other = lhs if transpose_a else lhs.T
        return _matmul(g.T, other.T, out) if transpose_b else _matmul(other, g, out)
    left = _left(lhs, transpose_a)
    product = _matmul(left.T, g.reshape(left.shape[0], -1))
    return _shaped(product.T if transpose_b and rhs.ndim > 1 else product, rhs.shape, out)


def _shaped(product, shape, out):
    product = np.ascontiguousarray(product).reshape(shape)
    if out is None:
        return product
    out[...] = product
    return out


@_dot_lhs_grad.shape
def _(s, **_):
    s.out = s.lhs


@_dot_rhs_grad.shape
def _(s, **_):
    s.out = s.rhs


@_dot_lhs_grad.grad
def _(F, h, g, lhs, rhs, *, out, **attrs):
    return F.dot(h, rhs, **attrs), None, F._dot_rhs_grad(g, h, rhs, **attrs)


@_dot_rhs_grad.grad
def _(F, h, g, lhs, rhs, *, out, **attrs):
    return F.dot(lhs, h, **attrs), F._dot_lhs_grad(g, lhs, h, **attrs), None


@_dot_lhs_grad.kernel("default csr|default|row_sparse csr -> default", when=_plain)
def _(g, lhs, rhs, *, transpose_a, transpose_b, out=None):
    return csr_dot.dense_dot_transposed(g, rhs)


@_dot_lhs_grad.kernel("default csr default|row_sparse -> default", when=_plain)
def _(g, lhs, rhs, *, transpose_a, transpose_b, out=None):
    rhs = storage.densify(rhs)  # lhs lends but its shape, and stays sparse
    return _matmul(g.reshape(lhs.shape[0], -1), rhs.reshape(rhs.shape[0], -1).T)


@_dot_rhs_grad.kernel("default csr csr|default|row_sparse -> row_sparse", when=_plain)
def _(g, lhs, rhs, *, transpose_a, transpose_b, out=None):
    return csr_dot.dot_transposed(lhs, g if g.ndim == 2 else g.reshape(-1, 1))


@_dot_rhs_grad.kernel("row_sparse csr csr|default|row_sparse -> row_sparse", when=_plain)
def _(g, lhs, rhs, *, transpose_a, transpose_b, out=None):
    return csr_dot.dot_transposed_rows(lhs, g)


@_dot_rhs_grad.kernel("default csr csr|default|row_sparse -> default", when=_transposed)
def _(g, lhs, rhs, *, transpose_a, transpose_b, out=None):
    return csr_dot.dot(lhs, g)


# ---- batch_dot


@op(aliases=("_npx_batch_dot",))
def batch_dot(
    lhs,
    rhs,
    *,
    transpose_a: bool = False,
    transpose_b: bool = False,
    forward_stype: Literal["csr", "default", "row_sparse"] | None = None,
    out=None,
):
    """Matrix products of two stacks of matrices: ``(..., n, k) x (..., k, m) -> (..., n, m)``.

    Parameters
    ----------
    transpose_a : exchange the last two axes of ``lhs`` first.
    transpose_b : exchange the last two axes of ``rhs`` first.

    Examples
    --------
    >>> nd.batch_dot(nd.ones((2, 3, 4)), nd.ones((2, 4, 5))).shape
    (2, 3, 5)
    """
    if lhs.ndim < 3 or lhs.shape[:-2] != rhs.shape[:-2]:
        raise ValueError("two stacks of equally many matrices are wanted")
    a = lhs.swapaxes(-1, -2) if transpose_a else lhs
    b = rhs.swapaxes(-1, -2) if transpose_b else rhs
    if a.dtype is _HALF:
        product = np.matmul(a.astype(np.float32), b.astype(np.float32)).astype(_HALF)
        return _shaped(product, product.shape, out)
    return np.matmul(a, b, out=out)


@batch_dot.shape
def _(s, *, transpose_a, transpose_b, **_):
    lhs, rhs = s.lhs, s.rhs
    if isinstance(lhs, UnknownShape) or isinstance(rhs, UnknownShape):
        return
    if len(lhs) < 3 or len(lhs) != len(rhs):
        raise _no_stacks(lhs, rhs)
    n, k = (lhs[-1], lhs[-2]) if transpose_a else (lhs[-2], lhs[-1])
    j, m = (rhs[-1], rhs[-2]) if transpose_b else (rhs[-2], rhs[-1])
    batch = tuple([b if a is UNKNOWN else a for a, b in zip(lhs[:-2], rhs[:-2], strict=True)])
    k = j if k is UNKNOWN else k
    s.lhs = (*batch, k, n) if transpose_a else (*batch, n, k)
    s.rhs = (*batch, m, k) if transpose_b else (*batch, k, m)
    s.out = (*batch, n, m)


def _no_stacks(lhs, rhs):
    return ShapeError(
        f"batch_dot: these are not two stacks of matrices.\n  received  lhs {lhs}, rhs {rhs}\n"
        "  expected  (..., n, k) and (..., k, m), with equal leading dimensions, at least one\n"
        "  fix       add a leading dimension with expand_dims, or use dot for two matrices"
    )


@batch_dot.grad
def _(F, g, lhs, rhs, *, out, transpose_a, transpose_b, forward_stype):
    if transpose_a:
        left = F.batch_dot(rhs, g, transpose_a=transpose_b, transpose_b=True)
    else:
        left = F.batch_dot(g, rhs, transpose_b=not transpose_b)
    if transpose_b:
        right = F.batch_dot(g, lhs, transpose_a=True, transpose_b=transpose_a)
    else:
        right = F.batch_dot(lhs, g, transpose_a=not transpose_a)
    return left, right


# ---- FullyConnected


@op(
    aliases=(
        "_sparse_FullyConnected",
        "_npx_fully_connected",
    )
)
def FullyConnected(
    data,
    weight,
    bias=None,
    *,
    num_hidden: Count,
    no_bias: bool = False,
    flatten: bool = True,
    out=None,
):
    """``data @ weight.T + bias``, the dense layer.

    Parameters
    ----------
    data : ``(batch, ...)``; with ``flatten`` every sample is taken as one vector of ``k`` values.
    weight : ``(num_hidden, k)``.
    bias : ``(num_hidden,)``, absent with ``no_bias``.
    flatten : False applies the layer along the last axis and keeps the others.

    Examples
    --------
    >>> nd.FullyConnected(nd.ones((2, 3)), nd.ones((4, 3)), nd.zeros(4), num_hidden=4).shape
    (2, 4)
    """
    if weight.shape[0] != num_hidden or no_bias is not (bias is None):
        raise ValueError("weight or bias are not what the attributes say")
    shape = data.shape
    if len(shape) != 2:
        data = data.reshape(shape[0], -1) if flatten and shape else data.reshape(-1, shape[-1])
    result = _matmul(data, weight.T, out if out is not None and out.ndim == 2 else None)
    if bias is not None:
        if bias.size != num_hidden:
            raise ValueError("bias is not what the attributes say")
        result += bias
    if len(shape) != 2 and not flatten:
        result = result.reshape(*shape[:-1], num_hidden)
    if out is None or result is out:
        return result
    out[...] = result
    return out


@FullyConnected.input_names
def _(no_bias, **_):
    return ("data", "weight") if no_bias else ("data", "weight", "bias")


@FullyConnected.shape
def _(s, *, num_hidden, no_bias, flatten):
    data, weight, out = s.data, s.weight, s.out
    if not no_bias:
        s.bias = (num_hidden,)
    k = UNKNOWN if weight is UNKNOWN_SHAPE else weight[1]
    if data is UNKNOWN_SHAPE:
        s.weight = (num_hidden, k)
        return
    row = prod(data[1:]) if flatten else data[-1]
    s.weight = (num_hidden, row if row is not UNKNOWN else k)
    if out is not UNKNOWN_SHAPE and (flatten or len(data) > 1):
        s.data = (out[0], *data[1:])
    s.out = (s.data[0], num_hidden) if flatten else (*s.data[:-1], num_hidden)


@FullyConnected.grad
def _(F, g, data, weight, bias=None, *, out, num_hidden, no_bias, flatten):
    return (
        F._fully_connected_data_grad(g, data, weight),
        F._fully_connected_weight_grad(g, data, flatten=flatten),
        None if bias is None else F._sum_rows(g),
    )


FullyConnected.grad(stype="default")
FullyConnected.runs_dense(
    "default default|row_sparse -> default",
    "default default|row_sparse default|row_sparse -> default",
)


def _rows(x, flatten):
    if x.ndim == 2:
        return x
    return x.reshape(x.shape[0], -1) if flatten else x.reshape(-1, x.shape[-1])


@op(shape_only=("data",))
def _fully_connected_data_grad(g, data, weight, *, out=None):
    """The gradient of FullyConnected with respect to its data: ``g @ weight`` in data's shape."""
    if g.ndim == 2 and data.ndim == 2:
        return _matmul(g, weight, out)
    return _shaped(_matmul(g.reshape(-1, weight.shape[0]), weight), data.shape, out)


@_fully_connected_data_grad.shape
def _(s):
    s.out = s.data


@_fully_connected_data_grad.grad
def _(F, h, g, data, weight, *, out):
    product = F._rows_dot(h, weight, g)
    return product, None, F._fully_connected_weight_grad_like(g, h, weight)


@op()
def _fully_connected_weight_grad(g, data, *, flatten: bool = True, out=None):
    """The gradient of FullyConnected with respect to its weight: ``g.T @ data``."""
    return _matmul(_rows(g, False).T, _rows(data, flatten), out)


@_fully_connected_weight_grad.shape
def _(s, *, flatten):
    g, data = s.g, s.data
    s.out = (g[-1], prod(data[1:]) if flatten else data[-1])


@_fully_connected_weight_grad.grad
def _(F, h, g, data, *, out, flatten):
    return F._rows_dot(data, h, g), F._fully_connected_data_grad(g, data, h)


@op(shape_only=("like",))
def _rows_dot(data, weight, like, *, out=None):
    """``data @ weight.T`` with the rows of ``data`` as long as those of ``weight``."""
    return _shaped(_matmul(data.reshape(-1, weight.shape[1]), weight.T), like.shape, out)


@_rows_dot.shape
def _(s):
    s.out = s.like


@_rows_dot.grad
def _(F, h, data, weight, like, *, out):
    return (
        F._fully_connected_data_grad(h, data, weight),
        F._fully_connected_weight_grad_like(h, data, weight),
        None,
    )


@op(shape_only=("weight",))
def _fully_connected_weight_grad_like(g, data, weight, *, out=None):
    """``g.T @ data``, the rows of both taken as long as ``weight`` says."""
    rows, columns = weight.shape
    return _matmul(g.reshape(-1, rows).T, data.reshape(-1, columns), out)


@_fully_connected_weight_grad_like.shape
def _(s):
    s.out = s.weight


@_fully_connected_weight_grad_like.grad
def _(F, h, g, data, weight, *, out):
    return F._rows_dot(data, h, g), F._fully_connected_data_grad(g, data, h), None


@op()
def _sum_rows(data, *, out=None):
    """The sum over all axes but the last."""
    rows = data if data.ndim == 2 else data.reshape(-1, data.shape[-1])
    if data.dtype is _HALF:
        return np.add.reduce(rows, axis=0, dtype=np.float32, out=out).astype(_HALF)
    return np.add.reduce(rows, axis=0, out=out)


@_sum_rows.shape
def _(s):
    s.out = (s.data[-1],)


@_sum_rows.grad
def _(F, g, data, *, out):
    return F.broadcast_like(g, data)
