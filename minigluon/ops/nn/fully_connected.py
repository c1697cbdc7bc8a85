"""FullyConnected, the dense layer, and the products its gradients are made of."""

from __future__ import annotations

import numpy as np

from ... import storage
from ...core.attributes import Count
from ...core.infer import UNKNOWN, UNKNOWN_SHAPE, prod
from ...core.op import op
from ...kernels import products
from .._shared import filled
from ..matmul import matmul, shaped


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
        data = _rows(data, flatten)
    result = matmul(data, weight.T, out if out is not None and out.ndim == 2 else None)
    if bias is not None:
        if bias.size != num_hidden:
            raise ValueError("bias is not what the attributes say")
        if len(result) == 1 and bias.ndim == 1:  # without broadcasting it takes 0.3 us less
            row = result[0]
            row += bias
        else:
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
FullyConnected.runs_dense("default default -> default", "default default default -> default")


def _sparse_layer(data, weight, bias=None, *, num_hidden, no_bias, flatten, out=None):
    """The layer on sparse operands, of which only a bias is made dense."""
    bias = None if bias is None else storage.densify(bias)
    fits = weight.shape[0] == num_hidden and no_bias is (bias is None) and weight.ndim == 2
    if not fits or (bias is not None and bias.size != num_hidden):
        raise ValueError("weight or bias are not what the attributes say")
    shape = data.shape
    if data.ndim != 2:
        data = _rows(storage.densify(data), flatten)
    if data.shape[1] != weight.shape[1]:
        raise ValueError("data and weight have rows of different lengths")
    result = products.product(data, weight, False, True)
    if bias is not None:
        result += bias
    return result if len(shape) == 2 or flatten else result.reshape(*shape[:-1], num_hidden)


_ANY = "default|csr|row_sparse"
for _signature in (
    f"csr|row_sparse {_ANY}",
    "default csr|row_sparse",
    f"csr|row_sparse {_ANY} default|row_sparse",
    "default csr|row_sparse default|row_sparse",
    "default default row_sparse",
):
    FullyConnected.kernel(f"{_signature} -> default")(_sparse_layer)


def _rows(x, flatten):
    if x.ndim == 2:
        return x
    # the product is spelled out, for numpy cannot work -1 out where there is no element
    rows, *width = x.shape if flatten else (prod(x.shape[:-1]), x.shape[-1])
    return x.reshape(rows, prod(width))


@op(shape_only=("data",))
def _fully_connected_data_grad(g, data, weight, *, out=None):
    """The gradient of FullyConnected with respect to its data: ``g @ weight`` in data's shape."""
    if g.ndim == 2 and data.ndim == 2:
        return matmul(g, weight, out)
    return shaped(matmul(g.reshape(-1, weight.shape[0]), weight), data.shape, out)


@_fully_connected_data_grad.shape
def _(s):
    s.out = s.data


@_fully_connected_data_grad.kernel(f"default|csr|row_sparse {_ANY} csr|row_sparse -> default")
@_fully_connected_data_grad.kernel("default csr|row_sparse default -> default")
def _(g, data, weight, *, out=None):
    g = storage.densify(g).reshape(-1, weight.shape[0])
    return products.product(g, weight, False, False).reshape(data.shape)


@_fully_connected_data_grad.grad
def _(F, h, g, data, weight, *, out):
    product = F._rows_dot(h, weight, g)
    return product, None, F._fully_connected_weight_grad_like(g, h, weight)


@op()
def _fully_connected_weight_grad(g, data, *, flatten: bool = True, out=None):
    """The gradient of FullyConnected with respect to its weight: ``g.T @ data``."""
    if g.ndim == data.ndim == 2:
        return matmul(g.T, data, out)
    return matmul(_rows(g, False).T, _rows(data, flatten), out)


@_fully_connected_weight_grad.shape
def _(s, *, flatten):
    g, data = s.g, s.data
    s.out = (g[-1], prod(data[1:]) if flatten else data[-1])


@_fully_connected_weight_grad.kernel("default csr|row_sparse -> default")
def _(g, data, *, flatten, out=None):
    if data.ndim != 2:
        data = _rows(storage.densify(data), flatten)
    return products.product(_rows(g, False), data, True, False)


@_fully_connected_weight_grad.grad
def _(F, h, g, data, *, out, flatten):
    return F._rows_dot(data, h, g), F._fully_connected_data_grad(g, data, h)


@op(shape_only=("like",))
def _rows_dot(data, weight, like, *, out=None):
    """``data @ weight.T`` with the rows of ``data`` as long as those of ``weight``."""
    rows = data.reshape(prod(like.shape[:-1]), weight.shape[1])
    return shaped(matmul(rows, weight.T), like.shape, out)


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
    return matmul(g.reshape(-1, rows).T, data.reshape(-1, columns), out)


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
    if len(rows) == 1 and out is None:
        return rows[0].copy()
    if data.dtype.char == "e":
        total = np.add.reduce(rows, axis=0, dtype=np.float32)
        return filled(total.astype(np.float16), out)
    return np.add.reduce(rows, axis=0, out=out)


@_sum_rows.shape
def _(s):
    s.out = (s.data[-1],)


@_sum_rows.grad
def _(F, g, data, *, out):
    return F.broadcast_like(g, data)
