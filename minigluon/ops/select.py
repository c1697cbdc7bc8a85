"""Rows chosen by a mask, what csr arrays store and where, and column-wise products."""

from __future__ import annotations

import numpy as np

from ..base import AttributeValueError, ShapeError, StorageError
from ..core.infer import UNKNOWN, UnknownShape, prod
from ..core.op import op
from ._places import whole_numbers
from ._shared import like_first


@op(aliases=("_npi_boolean_mask",))
def _contrib_boolean_mask(data, index, *, axis: int = 0):
    """The rows of ``data`` for which ``index`` is not zero. How many that are is seen only then.

    Parameters
    ----------
    index : one number for each row.
    axis : only 0.

    Examples
    --------
    >>> nd.contrib.boolean_mask(nd.array([[1, 2], [3, 4]]), nd.array([0, 1])).asnumpy()
    array([[3., 4.]], dtype=float32)
    """
    return data[_mask(index, data.shape[0], axis)]


def _mask(index, rows, axis):
    if axis != 0:
        raise AttributeValueError(
            f"boolean_mask: axis is not valid.\n  received  axis={axis}\n  expected  0\n"
            "  fix       swap the axes of the data first"
        )
    if index.shape != (rows,):
        raise ShapeError(
            f"boolean_mask: index has the wrong shape.\n  received  index {index.shape}\n"
            f"  expected  ({rows},), one number for each row of data\n"
            "  fix       pass a mask for these rows"
        )
    return index != 0


@_contrib_boolean_mask.shape
def _(s, *, axis):
    data = s.data
    if not isinstance(data, UnknownShape):
        s.index = data[:1]
        s.out = (UNKNOWN, *data[1:])


_contrib_boolean_mask.dtype(like_first)


@_contrib_boolean_mask.grad
def _(F, g, data, index, *, out, axis):
    return F._boolean_mask_grad(g, index, data), None


@op(shape_only=("like",))
def _boolean_mask_grad(g, index, like):
    """Zeros like the data with ``g`` in the rows that were chosen."""
    result = np.zeros(like.shape, g.dtype)
    result[index != 0] = g
    return result


_boolean_mask_grad.shape(lambda s, **_: setattr(s, "out", s.like))
_boolean_mask_grad.dtype(like_first)


@_boolean_mask_grad.grad
def _(F, h, g, index, like, *, out):
    return F._contrib_boolean_mask(h, index), None, None


@op(grad="zero")
def _contrib_getnnz(data, *, axis: int | None = None):
    """How many values a csr array stores, altogether or in each row, as int64.

    Examples
    --------
    >>> nd.contrib.getnnz(nd.array([[1, 0], [2, 3]]).tostype("csr"), axis=1).asnumpy()
    array([1, 2])
    """
    raise StorageError(
        "getnnz: only csr arrays count what they store.\n"
        f"  received  data {data.shape} of default storage\n  expected  a csr array\n"
        "  fix       convert with data.tostype('csr')"
    )


@_contrib_getnnz.kernel("csr -> default")
def _(data, *, axis):
    if axis is None:
        return np.array([data.values.size], np.int64)
    if axis not in (1, -1):
        raise AttributeValueError(
            f"getnnz: axis is not valid.\n  received  axis={axis}\n"
            "  expected  None for all, 1 for each row\n  fix       pass one of these"
        )
    return np.diff(data.indptr).astype(np.int64)


@_contrib_getnnz.shape
def _(s, *, axis):
    if axis is None:
        s.out = (1,)
    elif not isinstance(s.data, UnknownShape):
        s.out = s.data[:1]


@_contrib_getnnz.dtype
def _(t, **_):
    t.out = np.int64


@op(grad="zero")
def _contrib_edge_id(data, u, v):
    """What a graph stores for the edges from nodes ``u`` to nodes ``v``; -1 where there is none.

    Parameters
    ----------
    data : the graph as a csr matrix with a value, such as a number, for every edge.
    u, v : rows and columns, one of each for every answer.

    Examples
    --------
    >>> graph = nd.array([[0, 2], [3, 0]]).tostype("csr")
    >>> nd.contrib.edge_id(graph, nd.array([0, 1]), nd.array([1, 1])).asnumpy()
    array([ 2., -1.], dtype=float32)
    """
    raise StorageError(
        "edge_id: only csr arrays are graphs.\n"
        f"  received  data {data.shape} of default storage\n  expected  a csr array\n"
        "  fix       convert with data.tostype('csr')"
    )


@_contrib_edge_id.kernel("csr default default -> default")
def _(data, u, v):
    rows, columns = data.shape
    u, v = whole_numbers(u, rows), whole_numbers(v, columns)
    held = np.repeat(np.arange(rows), np.diff(data.indptr)) * columns + data.indices
    result = np.full(u.shape, -1).astype(data.dtype)
    if held.size:
        places = u * columns + v  # ascending in held, as columns ascend in every row
        at = np.minimum(np.searchsorted(held, places), held.size - 1)
        found = (held[at] == places) & (v >= 0) & (v < columns)  # of the row meant, not of others
        result[found] = data.values[at[found]]
    return result


@_contrib_edge_id.shape
def _(s):
    s.u = s.v
    s.out = s.u


@_contrib_edge_id.dtype
def _(t):
    t.u = t.v
    t.out = t.data


@op()
def khatri_rao(*args):
    """The Khatri-Rao product: Kronecker products of the columns with the same number.

    Examples
    --------
    >>> nd.khatri_rao(nd.array([[1, 2]]), nd.array([[3, 4], [5, 6]])).asnumpy()
    array([[ 3.,  8.],
           [ 5., 12.]], dtype=float32)
    """
    result = args[0]
    for factor in args[1:]:
        result = (result[:, None] * factor).reshape(-1, result.shape[1])
    return result.copy() if len(args) == 1 else result


@khatri_rao.shape
def _(s):
    shapes = s.ins
    if any(isinstance(x, UnknownShape) for x in shapes):
        return
    for k, shape in enumerate(shapes):
        s.state(("in", k), (shape[0], shapes[0][1]))
    s.out = (prod([x[0] for x in shapes]), shapes[0][1])


@khatri_rao.grad
def _(F, g, *args, out):
    if len(args) == 1:
        return g
    # the first factors joined are one matrix a; out[i, j] = a[i] b[j]
    front = F.khatri_rao(*args[:-1])
    by_front = F._khatri_rao_part(g, args[-1], front, first=False)
    by_last = F._khatri_rao_part(g, front, args[-1], first=True)
    if len(args) == 2:
        return by_front, by_last
    inner = khatri_rao.grad_rule(F, by_front, *args[:-1], out=front)
    return (*inner, by_last)


@op(shape_only=("like",))
def _khatri_rao_part(g, factor, like, *, first: bool):
    """``g`` times one factor of two, summed: the gradient of the other one."""
    if first:
        whole = g.reshape(factor.shape[0], like.shape[0], -1) * factor[:, None]
        return np.add.reduce(whole, axis=0)
    whole = g.reshape(like.shape[0], factor.shape[0], -1) * factor
    return np.add.reduce(whole, axis=1)


_khatri_rao_part.shape(lambda s, **_: setattr(s, "out", s.like))


@_khatri_rao_part.grad
def _(F, h, g, factor, like, *, out, first):
    pair = (factor, h) if first else (h, factor)
    return F.khatri_rao(*pair), F._khatri_rao_part(g, h, factor, first=not first), None
