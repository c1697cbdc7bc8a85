"""Random arrays, dense and sparse, and shapes for tests."""

from __future__ import annotations

import numpy as np

from .. import ndarray as nd
from .environment import default_context, default_dtype


def random_arrays(*shapes):
    """Standard normal float32 numpy arrays: one for one shape, a list for several."""
    arrays = [np.array(np.random.randn(*shape), dtype=default_dtype()) for shape in shapes]
    return arrays[0] if len(arrays) == 1 else arrays


def random_uniform_arrays(*shapes, low=0.0, high=1.0, dtype=None):
    """A list of numpy arrays drawn uniformly from ``[low, high)``."""
    dtype = dtype or default_dtype()
    return [np.random.uniform(low, high, size=shape).astype(dtype) for shape in shapes]


def random_sample(population, k):
    """``k`` different elements of a sequence in random order, drawn with numpy's generator."""
    shuffled = list(population)
    np.random.shuffle(shuffled)
    return shuffled[:k]


def rand_shape_2d(dim0=10, dim1=10, allow_zero_size=False):
    """A random shape of two dimensions, each at most the number given."""
    return _rand_shape((dim0, dim1), allow_zero_size)


def rand_shape_3d(dim0=10, dim1=10, dim2=10, allow_zero_size=False):
    """A random shape of three dimensions, each at most the number given."""
    return _rand_shape((dim0, dim1, dim2), allow_zero_size)


def rand_shape_nd(num_dim, dim=10, allow_zero_size=False):
    """A random shape of ``num_dim`` dimensions, each at most ``dim``."""
    return _rand_shape((dim,) * num_dim, allow_zero_size)


def _rand_shape(largest, allow_zero_size):
    smallest = 0 if allow_zero_size else 1
    return tuple(int(np.random.randint(smallest, dim + 1)) for dim in largest)


def rand_coord_2d(x_low, x_high, y_low, y_high):
    """A random integer point of a rectangle, upper bounds excluded."""
    return int(np.random.randint(x_low, x_high)), int(np.random.randint(y_low, y_high))


def rand_ndarray(
    shape,
    stype="default",
    density=None,
    dtype=None,
    modifier_func=None,
    shuffle_csr_indices=False,
    distribution=None,
    ctx=None,
):
    """A random array of a storage type: normal values if dense, uniform ones in [0, 1) if sparse.

    The draws come from numpy's global generator, in the order in which MXNet makes them, so that
    ``np.random.seed(s)`` gives the arrays it gives there. ``density`` is the share of values (csr)
    or rows (row_sparse) that are not zero; None draws it, too.

    Examples
    --------
    >>> np.random.seed(0)
    >>> rand_ndarray((3, 4), "csr", 0.5).indices.asnumpy()
    array([2, 1, 3, 0, 2, 3])
    """
    if stype == "default":
        return nd.array(np.random.normal(size=shape), dtype=dtype, ctx=ctx)
    array, _ = rand_sparse_ndarray(
        shape,
        stype,
        density=density,
        dtype=dtype,
        modifier_func=modifier_func,
        shuffle_csr_indices=shuffle_csr_indices,
        distribution=distribution,
        ctx=ctx,
    )
    return array


def rand_sparse_ndarray(
    shape,
    stype,
    density=None,
    dtype=None,
    distribution=None,
    data_init=None,
    rsp_indices=None,
    modifier_func=None,
    shuffle_csr_indices=False,
    ctx=None,
):
    """A random csr or row_sparse array, and what it is made of.

    The second value is ``(indptr, indices, data)`` for csr and ``(data, indices)``, numpy arrays,
    for row_sparse.

    Parameters
    ----------
    distribution : ``"uniform"`` or, for csr, ``"powerlaw"``: each row has twice as many values as
        the one before, as long as the density allows and every row keeps one.
    data_init : a number every value is set to.
    rsp_indices : the rows of a row_sparse array, instead of random ones.
    modifier_func : applied to every value of a row_sparse array.

    Raises ``ValueError`` for a density outside [0, 1] or too small for a power law, and
    ``AssertionError`` for an unknown storage type or distribution.
    """
    dtype = default_dtype() if dtype is None else dtype
    distribution = distribution or "uniform"
    density = np.random.rand() if density is None else density
    if not 0 <= density <= 1:
        raise ValueError("density has to be between 0 and 1")
    if stype == "row_sparse":
        if distribution != "uniform":
            raise AssertionError(f"Distribution {distribution} not supported for row_sparse")
        return _row_sparse(shape, density, dtype, data_init, rsp_indices, modifier_func, ctx)
    if stype != "csr":
        raise AssertionError("unknown storage type")
    if len(shape) != 2:
        raise AssertionError(f"a csr array has two dimensions, not the shape {shape}")
    if distribution not in _CSR_DISTRIBUTIONS:
        raise AssertionError(f"Distribution not supported: {distribution}")
    csr = _CSR_DISTRIBUTIONS[distribution](*shape, density, dtype)
    if data_init is not None:
        csr.data.fill(data_init)
    if shuffle_csr_indices:
        shuffle_csr_column_indices(csr)
    result = nd.sparse.csr_matrix((csr.data, csr.indices, csr.indptr), shape=shape, dtype=dtype)
    result = result if ctx is None else result.as_in_context(ctx)
    return result, (result.indptr, result.indices, result.data)


def _row_sparse(shape, density, dtype, data_init, rsp_indices, modifier_func, ctx):
    if rsp_indices is None:
        indices = np.flatnonzero(np.random.rand(shape[0]) < density)
    else:
        indices = np.sort(np.asarray(rsp_indices, dtype=np.int64))
    if indices.size == 0:
        result = nd.zeros(shape, stype="row_sparse", dtype=dtype, ctx=ctx)
        return result, (np.array([], dtype=dtype), np.array([]))
    values = np.random.rand(indices.size, *shape[1:]).astype(dtype)
    if data_init is not None:
        values.fill(data_init)
    if modifier_func is not None:
        values = assign_each(values, modifier_func)
    result = nd.sparse.row_sparse_array((values, indices), shape=shape, dtype=dtype, ctx=ctx)
    return result, (values, indices)


def _uniform_csr(rows, columns, density, dtype):
    from scipy import sparse

    # scipy's legacy function and numpy's global generator: the draws MXNet makes
    return sparse.rand(
        rows, columns, density, format="csr", dtype=dtype, random_state=np.random.mtrand._rand
    )


def _powerlaw_csr(rows, columns, density, dtype):
    from scipy import sparse

    total = int(rows * columns * density)
    if total < 2 * rows:
        raise ValueError(
            f"not supported for this density: {density} for this shape ({rows}, {columns})"
            " Please keep : num_rows * num_cols * density >= 2 * num_rows"
        )
    spare = total - rows  # after one value for each row
    counts = []
    values = np.random.uniform(1.001, 3, size=(rows, 1)).tolist()
    for row in range(rows):
        more = min(2 ** min(row + 1, 62) - 1, columns - 1, spare)
        counts.append(1 + more)
        spare -= more
        values[row].extend(np.random.uniform(1.001, 3, size=more))
    return sparse.csr_matrix(
        (
            np.concatenate(values).astype(dtype),
            np.concatenate([np.arange(count) for count in counts]),
            np.concatenate([[0], np.cumsum(counts)]),
        ),
        shape=(rows, columns),
    )


_CSR_DISTRIBUTIONS = {"uniform": _uniform_csr, "powerlaw": _powerlaw_csr}


def shuffle_csr_column_indices(csr):
    """Shuffle the column indices inside each row of a scipy csr matrix, in place.

    Unsorted columns are allowed in csr; tests want to meet them.
    """
    for start, stop in zip(csr.indptr[:-1], csr.indptr[1:], strict=True):
        np.random.shuffle(csr.indices[start:stop])


def create_sparse_array(
    shape,
    stype,
    data_init=None,
    rsp_indices=None,
    dtype=None,
    modifier_func=None,
    density=0.5,
    shuffle_csr_indices=False,
):
    """A random sparse array; ``data_init`` and ``rsp_indices`` make it less random."""
    array, _ = rand_sparse_ndarray(
        shape,
        stype,
        density=density,
        dtype=dtype,
        data_init=data_init,
        rsp_indices=rsp_indices,
        modifier_func=modifier_func,
        shuffle_csr_indices=shuffle_csr_indices,
    )
    return array


def create_sparse_array_zd(
    shape,
    stype,
    density,
    data_init=None,
    rsp_indices=None,
    dtype=None,
    modifier_func=None,
    shuffle_csr_indices=False,
):
    """``create_sparse_array`` for densities down to zero, where ``rsp_indices`` may be empty."""
    return create_sparse_array(
        shape,
        stype,
        data_init=data_init,
        rsp_indices=rsp_indices,
        dtype=dtype,
        modifier_func=modifier_func,
        density=density,
        shuffle_csr_indices=shuffle_csr_indices,
    )


def assign_each(the_input, function):
    """``function`` of each element of a numpy array."""
    if function is None:
        return np.array(the_input)
    return np.vectorize(function, otypes=[the_input.dtype])(the_input)


def assign_each2(input1, input2, function):
    """``function`` of each pair of elements of two numpy arrays of one shape."""
    if function is None:
        return np.array(input1)
    return np.vectorize(function, otypes=[input1.dtype])(input1, input2)


def np_reduce(dat, axis, keepdims, numpy_reduce_func):
    """A numpy reduction over one axis, several (a list), or all (None)."""
    axis = tuple(axis) if isinstance(axis, list | tuple) else axis
    return numpy_reduce_func(dat, axis=axis, keepdims=keepdims)


def collapse_sum_like(a, shape):
    """Sum ``a`` over the axes along which ``shape`` was broadcast to reach it."""
    lead = a.ndim - len(shape)
    axes = tuple(range(lead)) + tuple(
        lead + k for k, size in enumerate(shape) if size == 1 != a.shape[lead + k]
    )
    return np.sum(a, axis=axes, keepdims=True).reshape(shape)


def create_2d_tensor(rows, columns, dtype=np.int64):
    """An NDArray whose rows are filled with their numbers."""
    numbers = np.arange(rows, dtype=dtype).reshape(rows, 1)
    return nd.array(np.broadcast_to(numbers, (rows, columns)), dtype=dtype, ctx=default_context())


def create_vector(size, dtype=np.int64):
    """The NDArray ``0, 1, ..., size - 1``."""
    return nd.arange(0, size, dtype=dtype)


def new_orthonormal_matrix_2d(n):
    """A random orthonormal n x n matrix."""
    return np.linalg.qr(np.random.normal(size=(n, n)))[0]


def new_matrix_with_real_eigvals_2d(n):
    """A random n x n matrix whose eigenvalues are real."""
    basis = np.random.normal(size=(n, n)) + n * np.eye(n)
    return basis @ np.diag(np.random.normal(size=n)) @ np.linalg.inv(basis)


def new_sym_matrix_with_real_eigvals_2d(n):
    """A random symmetric n x n matrix."""
    basis = new_orthonormal_matrix_2d(n)
    return basis @ np.diag(np.random.normal(size=n)) @ basis.T


def new_matrix_with_real_eigvals_nd(shape):
    """A stack of random square matrices with real eigenvalues."""
    return _stack(shape, new_matrix_with_real_eigvals_2d)


def new_sym_matrix_with_real_eigvals_nd(shape):
    """A stack of random symmetric matrices."""
    return _stack(shape, new_sym_matrix_with_real_eigvals_2d)


def get_identity_mat(size):
    """The identity matrix as an NDArray."""
    return nd.array(np.eye(size, dtype=default_dtype()))


def get_identity_mat_batch(size):
    """Two identity matrices, stacked, as an NDArray."""
    return nd.array(np.stack([np.eye(size, dtype=default_dtype())] * 2))


def _stack(shape, make):
    count = int(np.prod(shape[:-2]))
    return np.array([make(shape[-1]) for _ in range(count)]).reshape(shape)
