"""Looking rows up in a table: Embedding and its gradients, dense and row_sparse."""

from __future__ import annotations

import numpy as np

from ..core.attributes import Count, DType
from ..core.infer import UnknownShape
from ..core.op import op
from ..kernels import row_sparse
from ._places import checked, whole_numbers, within
from ._shared import like_first


@op(
    aliases=(
        "_sparse_Embedding",
        "_npx_embedding",
    )
)
def Embedding(
    data,
    weight,
    *,
    input_dim: Count,
    output_dim: Count,
    dtype: DType = "float32",
    sparse_grad: bool = False,
    out=None,
):
    """Rows of a table: ``weight[data]``. Places outside are moved to the nearest end.

    Parameters
    ----------
    data : row numbers, of any shape.
    weight : the table, ``(input_dim, output_dim)``.
    sparse_grad : give the table's gradient as row_sparse, with just the rows that were read.

    Examples
    --------
    >>> table = nd.array([[1, 2], [3, 4]])
    >>> nd.Embedding(nd.array([1, 0]), table, input_dim=2, output_dim=2).asnumpy()
    array([[3., 4.],
           [1., 2.]], dtype=float32)
    """
    if weight.shape != (input_dim, output_dim):
        raise ValueError("the table is not what the attributes say")
    return weight.take(whole_numbers(data, input_dim), 0, out, "clip")


@op(name="_contrib_SparseEmbedding")
def _sparse_embedding(
    data,
    weight,
    *,
    input_dim: Count,
    output_dim: Count,
    dtype: DType = "float32",
    sparse_grad: bool = False,
    out=None,
):
    """``Embedding`` whose table always has a row_sparse gradient."""
    return Embedding.dense(data, weight, input_dim=input_dim, output_dim=output_dim, out=out)


def _table_shape(s, *, input_dim, output_dim, **_):
    s.weight = (input_dim, output_dim)
    if not isinstance(s.data, UnknownShape):
        s.out = (*s.data, output_dim)
    elif not isinstance(s.out, UnknownShape):
        s.data = s.out[:-1]


def _table_dtype(t, *, dtype, **_):
    t.out = t.weight
    t.weight = t.out
    if t.weight is None:
        t.weight = dtype


def _lookup(data, weight, *, input_dim, output_dim, **_):
    if weight.shape != (input_dim, output_dim):
        raise ValueError("the table is not what the attributes say")
    places = checked(whole_numbers(data, input_dim), input_dim, "Embedding")
    return row_sparse.lookup(weight, places)


for _declared in (Embedding, _sparse_embedding):
    _declared.shape(_table_shape)
    _declared.dtype(_table_dtype)
    _declared.kernel("default row_sparse -> default")(_lookup)


@Embedding.grad
def _(F, g, data, weight, *, out, sparse_grad, **_):
    return F.zeros_like(data), F._embedding_grad(g, data, weight, sparse_grad=sparse_grad)


@_sparse_embedding.grad
def _(F, g, data, weight, *, out, **_):
    return F.zeros_like(data), F._embedding_grad(g, data, weight, sparse_grad=True)


@op(shape_only=("weight",))
def _embedding_grad(g, data, weight, *, sparse_grad: bool = False):
    """The gradient of the table: ``g`` added up by row number, in order."""
    places = within(data, weight.shape[0], "clip", "Embedding").reshape(-1)
    rows = np.ascontiguousarray(g).reshape(places.size, *weight.shape[1:])
    return row_sparse.scatter_rows_dense(places, rows, weight.shape[0])


@_embedding_grad.shape
def _(s, **_):
    s.out = s.weight


_embedding_grad.dtype(like_first)


@_embedding_grad.kernel(
    "default default default|row_sparse -> row_sparse", when=lambda sparse_grad: sparse_grad
)
def _(g, data, weight, *, sparse_grad):
    places = checked(whole_numbers(data, weight.shape[0]), weight.shape[0], "Embedding").reshape(-1)
    rows = np.ascontiguousarray(g).reshape(places.size, *weight.shape[1:])
    return row_sparse.scatter_rows(places, rows, weight.shape[0])


@_embedding_grad.grad
def _(F, h, g, data, weight, *, out, sparse_grad):
    return F._rows_of(h, data), None, None


@op()
def _rows_of(weight, data):
    """``weight[data]``, clipped."""
    return weight.take(whole_numbers(data, weight.shape[0]), 0, mode="clip")


@_rows_of.shape
def _(s):
    if not isinstance(s.data, UnknownShape) and not isinstance(s.weight, UnknownShape):
        s.out = (*s.data, *s.weight[1:])


_rows_of.dtype(like_first)


@_rows_of.grad
def _(F, g, weight, data, *, out):
    return F._embedding_grad(g, data, weight), None
