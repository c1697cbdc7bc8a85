"""csr and row_sparse arrays: constructors, conversion, indexing, assignment, arithmetic."""

import operator

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import minigluon as mx
from minigluon import autograd, nd
from minigluon.base import MXNetError, NotSupportedForSparseNDArray
from minigluon.core.call import StorageFallbackWarning
from minigluon.ndarray import sparse

D = np.array([[0, 1, 2], [0, 0, 0], [3, 0, 0]], np.float32)
pytestmark = pytest.mark.filterwarnings(
    f"ignore::{StorageFallbackWarning.__module__}.{StorageFallbackWarning.__name__}"
)


def csr(values=D):
    return sparse.csr_matrix(values)


def rsp(values=D):
    return sparse.row_sparse_array(values)


def letter(array):
    return array.stype[0]


@st.composite
def matrices(draw):
    rows, columns = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    cells = st.lists(
        st.sampled_from([0, 0, 1, -2]), min_size=rows * columns, max_size=rows * columns
    )
    return np.array(draw(cells), np.float32).reshape(rows, columns)


@given(matrices())
def test_dense_and_sparse_hold_the_same_values_in_valid_indices(values):
    for made in (csr(values), rsp(values), nd.array(values).tostype("csr")):
        made.check_format()
        np.testing.assert_array_equal(made.asnumpy(), values)
        np.testing.assert_array_equal(made.tostype("default").asnumpy(), values)


# recorded from MXNet 1.9.1
def test_the_parts_of_a_csr_array():
    array = csr()
    assert array.data.asnumpy().tolist() == [1, 2, 3]
    assert array.indices.asnumpy().tolist() == [1, 2, 0]
    assert array.indptr.asnumpy().tolist() == [0, 2, 2, 3]
    assert (array._num_aux, array._aux_types) == (2, [np.int64, np.int64])
    np.testing.assert_array_equal(array._aux_data(0).asnumpy(), array.indptr.asnumpy())


def test_the_parts_of_a_row_sparse_array():
    array = rsp()
    assert array.data.asnumpy().tolist() == [[0, 1, 2], [3, 0, 0]]
    assert array.indices.asnumpy().tolist() == [0, 2]
    assert (array._num_aux, array._aux_types) == (1, [np.int64])


@pytest.mark.parametrize("make", [csr, rsp])
def test_the_parts_are_copies_and_cannot_be_assigned(make):
    array = make()
    array.data[:] = 9
    np.testing.assert_array_equal(array.asnumpy(), D)
    for name in ("data", "indices"):
        with pytest.raises(NotImplementedError):
            setattr(array, name, nd.ones((1,)))


def test_empty_arrays_store_nothing():
    matrix, rows = sparse.zeros("csr", (2, 3)), sparse.zeros("row_sparse", (2, 3))
    assert [x.shape for x in (matrix.data, matrix.indices, matrix.indptr)] == [(0,), (0,), (3,)]
    assert [x.shape for x in (rows.data, rows.indices)] == [(0, 3), (0,)]


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.row_sparse_array])
def test_the_dtype_is_that_of_arrays_and_float32_for_lists(make):
    assert make(D.astype("int64")).dtype is np.int64
    assert make(nd.array(D, dtype="int32")).dtype is np.int32
    assert make(D.tolist()).dtype is np.float32
    assert make(D, dtype="float64").dtype is np.float64
    assert make((3, 3)).dtype is np.float32
    assert make(D, ctx=mx.cpu(1)).context == mx.cpu(1)


def test_csr_of_its_parts():
    parts = ([1, 2], [0, 1], [0, 1, 2])
    assert sparse.csr_matrix(parts).shape == (2, 2)
    assert sparse.csr_matrix(parts, shape=(2, 5)).shape == (2, 5)
    made = sparse.csr_matrix(tuple(np.array(p) for p in parts), shape=(2, 2))
    assert made.dtype is np.int64
    assert made.asnumpy().tolist() == [[1, 0], [0, 2]]
    assert sparse.csr_matrix(([], [], [0, 0]), shape=(1, 2)).asnumpy().tolist() == [[0, 0]]
    with pytest.raises(ValueError, match="invalid shape"):
        sparse.csr_matrix(([], [], [0, 0]))


def test_csr_of_coordinates_sorts_and_sums_them():
    made = sparse.csr_matrix(([1.0, 2.0, 3.0], ([1, 0, 1], [2, 1, 2])), shape=(3, 3))
    made.check_format()
    assert made.asnumpy().tolist() == [[0, 2, 0], [0, 0, 4], [0, 0, 0]]
    assert sparse.csr_matrix(([1, 2], ([0, 1], [1, 0]))).shape == (2, 2)


@pytest.mark.parametrize("coordinates", [([0, 5], [1, 0]), ([0, -1], [1, 0]), ([0, 0], [2, 0])])
def test_coordinates_outside_of_the_shape_are_refused(coordinates):
    with pytest.raises(ValueError, match=r"index (exceeds|found)|negative"):
        sparse.csr_matrix(([1, 2], coordinates), shape=(2, 2))


def test_row_sparse_of_its_parts():
    made = sparse.row_sparse_array(([[1, 2]], [1]))
    assert (made.shape, made.asnumpy().tolist()) == ((2, 2), [[0, 0], [1, 2]])
    assert sparse.row_sparse_array(([1, 2], [0, 3]), shape=(5,)).asnumpy().tolist() == [
        1,
        0,
        0,
        2,
        0,
    ]
    assert sparse.row_sparse_array((np.zeros((0, 2)), []), shape=(4, 2)).dtype is np.float64
    for data, indices, shape in (
        ([], [], (4, 2)),
        (np.zeros((0, 2)), [], None),
        ([[1, 2]], [1], (4, 3)),
        ([[1, 2]], [1], (4,)),
    ):
        with pytest.raises(ValueError):
            sparse.row_sparse_array((data, indices), shape=shape)


def test_scipy_matrices_convert_both_ways():
    matrix = sp.csr_matrix(D.astype("int64"))
    for made in (sparse.csr_matrix(matrix), nd.array(matrix), sparse.array(matrix)):
        assert (type(made), made.dtype) == (nd.sparse.CSRNDArray, np.int64)
        back = made.asscipy()
        assert isinstance(back, sp.csr_matrix)
        np.testing.assert_array_equal(back.toarray(), D)
    assert nd.array(matrix, dtype="float32").dtype is np.float32
    np.testing.assert_array_equal(sparse.csr_matrix(sp.coo_matrix(D)).asnumpy(), D)


def test_unsorted_scipy_matrices_are_brought_in_order():
    matrix = sp.csr_matrix((np.array([1.0, 2, 3]), np.array([2, 0, 0]), np.array([0, 3])), (1, 3))
    made = sparse.array(matrix)
    made.check_format()
    assert made.asnumpy().tolist() == [[5, 0, 1]]


@pytest.mark.parametrize(
    "make",
    [
        lambda: sparse.csr_matrix(rsp()),
        lambda: sparse.row_sparse_array(csr()),
        lambda: sparse.csr_matrix(D, shape=(4, 3)),
        lambda: sparse.row_sparse_array(D, shape=(4, 3)),
        lambda: sparse.csr_matrix((3,)),
        lambda: sparse.csr_matrix((1, 2, 3, 4)),
        lambda: sparse.csr_matrix(np.ones(3)),
        lambda: sparse.csr_matrix(np.ones((2, 2, 2))),
        lambda: sparse.csr_matrix(5),
        lambda: sparse.array(D),
        lambda: sparse.array(D.tolist()),
        lambda: sparse.zeros("foo", (2, 3)),
        lambda: sparse.zeros("csr", 10),
        lambda: sparse.zeros("csr", (10,)),
        lambda: sparse.zeros("csr", (2, 3, 4)),
        lambda: sparse.zeros("row_sparse", ()),
        lambda: sparse.zeros("row_sparse", (0, 3)),
        lambda: sparse.empty("default", (2, 3)),
        lambda: nd.ones((3,)).tostype("csr"),
        lambda: csr().tostype("row_sparse"),
        lambda: rsp().tostype("csr"),
    ],
)
def test_what_cannot_be_made_is_a_value_error(make):
    with pytest.raises(ValueError):
        make()


def test_a_number_is_a_shape_of_one_dimension():
    assert sparse.zeros("row_sparse", 10).shape == nd.zeros(10, stype="row_sparse").shape == (10,)


@pytest.mark.parametrize(
    ("data", "indices", "indptr"),
    [
        ([1.0], [5], [0, 1]),
        ([1.0], [-1], [0, 1]),
        ([1.0, 2.0], [0, 1], [0, 1]),
        ([1.0], [0], [1, 1]),
        ([1.0], [0], [0, 2]),
        ([1.0], [0], [0, 1, 1, 1]),
    ],
)
def test_csr_indices_that_lead_outside_are_never_computed_with(data, indices, indptr):
    array = sparse.csr_matrix((data, indices, indptr), shape=(1, 2))
    for use in (array.check_format, array.asnumpy, lambda: array + array, lambda: array * 2,
                lambda: nd.dot(array, nd.ones((2, 1))), lambda: array.tostype("default"),
                lambda: array[0], lambda: array.copyto(nd.zeros((1, 2)))):  # fmt: skip
        with pytest.raises(MXNetError):
            use()


@pytest.mark.parametrize("indices", [[9], [-1]])
def test_row_numbers_that_lead_outside_are_never_computed_with(indices):
    array = sparse.row_sparse_array(([[1.0, 2.0]], indices), shape=(4, 2))
    for use in (array.check_format, array.asnumpy, lambda: array + array, lambda: array.copy() * 2):
        with pytest.raises(MXNetError):
            use()


@pytest.mark.parametrize(
    "array",
    [
        lambda: sparse.csr_matrix(([1.0, 2], [1, 0], [0, 2]), shape=(1, 2)),
        lambda: sparse.csr_matrix(([1.0, 2], [1, 1], [0, 2]), shape=(1, 2)),
        lambda: sparse.row_sparse_array(([[1.0], [3]], [2, 2]), shape=(3, 1)),
    ],
)
def test_indices_out_of_order_are_found_by_the_full_check_only(array):
    made = array()
    made.check_format(full_check=False)
    with pytest.raises(MXNetError, match="ascend"):
        made.check_format()


def test_a_column_may_be_lower_than_the_last_of_the_row_before():
    sparse.csr_matrix(([1, 2, 3], [1, 0, 1], [0, 1, 1, 3]), shape=(3, 2)).check_format()


# recorded from MXNet 1.9.1
def test_rows_of_a_csr_array_are_csr():
    array = csr()
    for key, expected in ((0, D[:1]), (-1, D[2:]), (slice(0, 2), D[:2]), (slice(-2, 99), D[1:])):
        part = array[key]
        assert part.stype == "csr"
        part.check_format()
        np.testing.assert_array_equal(part.asnumpy(), expected)
    assert array[2:1].shape == (0, 3)
    assert array[:] is array
    with pytest.raises(IndexError):
        array[3]
    assert [row.shape for row in array] == [(1, 3)] * 3


@pytest.mark.parametrize("key", [slice(None, None, 2), (0, 1), (slice(None), 1), [0], None, "a"])
def test_other_keys_are_a_value_error(key):
    for array in (csr(), rsp()):
        with pytest.raises(ValueError):
            array[key]


def test_row_sparse_arrays_are_read_as_a_whole_only():
    array = rsp()
    assert array[:] is array
    for key in (0, slice(0, 1)):
        with pytest.raises((ValueError, NotImplementedError)):
            array[key]


@pytest.mark.parametrize("make", [csr, rsp])
@pytest.mark.parametrize("kind", ["numpy", "dense", "same"])
def test_whole_arrays_are_assigned(make, kind):
    target = make(np.ones((3, 3), np.float32))
    target[:] = {"numpy": D, "dense": nd.array(D), "same": make()}[kind]
    target.check_format()
    np.testing.assert_array_equal(target.asnumpy(), D)


def test_a_number_fills_all_rows_of_row_sparse_and_is_refused_by_csr():
    array = rsp()
    array[:] = 2
    assert array.indices.asnumpy().tolist() == [0, 1, 2]
    assert (array.asnumpy() == 2).all()
    with pytest.raises(ValueError, match="Assigning numeric types"):
        csr()[:] = 2


@pytest.mark.parametrize(
    ("make", "key", "value", "error"),
    [
        (csr, 0, 1, TypeError),
        (rsp, 0, 1, TypeError),
        (csr, slice(0, 1), 1, ValueError),
        (rsp, slice(0, 1), 1, ValueError),
        (csr, slice(None), "a", TypeError),
        (csr, slice(None), rsp(), TypeError),
        (rsp, slice(None), csr(), TypeError),
        (csr, slice(None), nd.ones((2, 2)), MXNetError),
    ],
)
def test_other_assignments_are_refused(make, key, value, error):
    array = make()
    with pytest.raises(error):
        array[key] = value
    np.testing.assert_array_equal(array.asnumpy(), D)


@pytest.mark.parametrize("make", [csr, rsp])
def test_dense_only_methods_say_so(make):
    array = make()
    for use in (lambda: array.reshape((9,)), lambda: array._at(0), lambda: array._slice(0, 1),
                lambda: array.expand_dims(0, inplace=True), array.to_dlpack_for_read):  # fmt: skip
        with pytest.raises(NotSupportedForSparseNDArray, match="not supported for SparseNDArray"):
            use()
    with pytest.raises(NotImplementedError):
        array.size  # noqa: B018
    assert len(array) == 3


@pytest.mark.parametrize("make", [csr, rsp])
def test_conversions_keep_the_storage(make):
    array = make()
    assert array.astype("int32").dtype is np.int32
    assert array.astype("float32", copy=False) is array
    for same in (array.astype("float64"), array.copy(), array.copyto(mx.cpu(1)), array.detach()):
        assert type(same) is type(array)
        np.testing.assert_array_equal(same.asnumpy(), D)
    assert array.as_in_context(mx.cpu(1)).context == mx.cpu(1)
    dense = array.copyto(nd.zeros((3, 3)))
    np.testing.assert_array_equal(dense.asnumpy(), D)
    with pytest.raises(TypeError, match="does not support destination"):
        array.copyto(sparse.zeros("csr" if array.stype == "row_sparse" else "row_sparse", (3, 3)))


ARRAYS = {"d": lambda: nd.array(D), "r": rsp, "c": csr}
# recorded from MXNet 1.9.1: storages of lhs and rhs, and of the result
PYTHON = {
    "add": "dd>d dr>d dc>d rd>d rr>r rc>d cd>d cr>d cc>c",
    "sub": "dd>d dr>d dc>d rd>d rr>r rc>d cd>d cr>d cc>c",
    "mul": "dd>d dr>d dc>d rd>r rr>r rc>d cd>c cr>d cc>c",
    "truediv": "dd>d dr>d dc>d rd>d rr>d rc>d cd>c cr>d cc>d",
    "pow": "rr>d cc>d",
    "gt": "rr>d cc>d",
    "eq": "rr>d cc>d",
}
FUNCTIONS = {
    "add": PYTHON["add"],
    "subtract": PYTHON["sub"],
    "multiply": "dd>d dr>r dc>c rd>r rr>r rc>d cd>c cr>d cc>c",
    "divide": "dd>d dr>d dc>d rd>d rr>d rc>d cd>d cr>d cc>d",
}


@pytest.mark.parametrize(
    ("name", "case"), [(n, c) for n, row in PYTHON.items() for c in row.split()]
)
def test_storages_of_python_operators(name, case):
    (left, right), given = case.split(">")
    apply = getattr(operator, name)
    with np.errstate(all="ignore"):
        result = apply(ARRAYS[left](), ARRAYS[right]())
    assert letter(result) == given
    if given != "d":
        result.check_format()
        if name in ("add", "sub", "mul"):
            np.testing.assert_array_equal(result.asnumpy(), apply(D, D))


@pytest.mark.parametrize(
    ("name", "case"), [(n, c) for n, row in FUNCTIONS.items() for c in row.split()]
)
def test_storages_of_sparse_functions(name, case):
    (left, right), given = case.split(">")
    with np.errstate(all="ignore"):
        assert letter(getattr(sparse, name)(ARRAYS[left](), ARRAYS[right]())) == given


# recorded from MXNet 1.9.1
@pytest.mark.parametrize(
    ("expression", "keeps"),
    [
        ("x + 0", True), ("0 + x", True), ("x - 0", True), ("x * 2", True), ("x * 0", True),
        ("x / 2", True), ("-x", True), ("x == 1", True), ("x != 0", True), ("x > 0", True),
        ("x >= 1", True), ("x < 0", True), ("x <= -1", True), ("0 > x", True),
        ("x + 1", False), ("0 - x", False), ("1 - x", False), ("1 / x", False), ("x ** 2", False),
        ("2 ** x", False), ("x % 2", False), ("x == 0", False), ("x != 1", False),
        ("x >= 0", False), ("x <= 0", False), ("x < 1", False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("make", [csr, rsp])
def test_numbers_keep_the_storage_exactly_where_zero_stays_zero(make, expression, keeps):
    with np.errstate(all="ignore"):
        result = eval(expression, {"x": make()})
        expected = eval(expression, {"x": D})
    assert (result.stype != "default") == keeps
    np.testing.assert_allclose(result.asnumpy(), np.asarray(expected, np.float32))


@pytest.mark.parametrize("vector", [(1, 3), (3,), (3, 1), (1, 1), (1,)])
def test_csr_times_and_over_a_dense_vector_is_csr(vector):
    dense = nd.array(np.arange(1, 1 + np.prod(vector)).reshape(vector))
    for name in ("mul", "truediv", "add", "sub"):
        apply = getattr(operator, name)
        result = apply(csr(), dense)
        assert letter(result) == ("c" if name in ("mul", "truediv") else "d")
        np.testing.assert_allclose(result.asnumpy(), apply(D, dense.asnumpy()), rtol=1e-6)


@pytest.mark.parametrize("make", [csr, rsp])
def test_in_place_operators_keep_the_storage(make):
    for name, other in (("iadd", 1), ("isub", make()), ("imul", nd.array(D)), ("itruediv", 2)):
        array = make()
        changed = getattr(operator, name)(array, other)
        assert changed is array
        array.check_format()
        expected = D.copy()
        plain = other if np.isscalar(other) else other.asnumpy()
        expected = getattr(operator, name)(expected, plain)
        np.testing.assert_allclose(array.asnumpy(), expected)


def test_sums_of_row_sparse_arrays_hold_the_union_of_rows():
    other = rsp(np.array([[0, 0, 0], [1, 1, 1], [0, 0, 0]], np.float32))
    assert (rsp() + other).indices.asnumpy().tolist() == [0, 1, 2]


@pytest.mark.parametrize("dtype", ["float32", "int32", "int64"])
def test_retain_gives_exactly_the_rows_asked_for(dtype):
    kept = rsp().retain(nd.array([0, 1], dtype=dtype))
    assert kept.stype == "row_sparse"
    kept.check_format()
    np.testing.assert_array_equal(kept.asnumpy(), [[0, 1, 2], [0, 0, 0], [0, 0, 0]])
    with pytest.raises(MXNetError, match="foo"):
        rsp().retain(nd.array([0]), foo=1)


def test_dense_views_are_asked_for_by_name_only():
    assert csr().T.stype == "default"
    np.testing.assert_array_equal(csr().T.asnumpy(), D.T)
    np.testing.assert_array_equal(csr().broadcast_to((2, 3, 3)).asnumpy(), [D, D])


@pytest.mark.parametrize("make", [csr, rsp])
def test_copies_into_recorded_arrays_are_refused(make):
    target = nd.ones(D.shape)
    target.attach_grad()
    with autograd.record(), pytest.raises(MXNetError, match="recording"):
        make().copyto(target)
    np.testing.assert_array_equal(target.asnumpy(), np.ones(D.shape))


@pytest.mark.parametrize(
    "indices",
    [
        np.array([0, np.nan]),
        np.array([0, 0.5]),
        np.array([0, 2**24 + 2], np.float32),
        np.array([0, np.inf]),
    ],
    ids=["nan", "fraction", "beyond float32", "infinity"],
)
def test_indices_that_are_no_exact_whole_numbers_are_refused(indices):
    with pytest.raises(IndexError, match="received"):
        nd.sparse.csr_matrix((np.ones(2), indices, [0, 1, 2]), shape=(2, 2**25))
    with pytest.raises(IndexError, match="received"):
        nd.sparse.row_sparse_array((np.ones((2, 1)), indices), shape=(2**25, 1))


def test_rows_may_be_given_in_any_order():
    rows = nd.sparse.row_sparse_array(([[1.0], [2.0], [3.0]], [2, 0, 3]), shape=(4, 1))
    assert rows.indices.asnumpy().tolist() == [0, 2, 3]
    assert rows.asnumpy().ravel().tolist() == [2, 0, 1, 3]
    assert nd.sparse.retain(rows, nd.array([0, 2])).asnumpy().ravel().tolist() == [2, 0, 1, 0]
    assert nd.dot(nd.ones((1, 4)).tostype("csr"), rows).asscalar() == 6


def test_a_row_given_twice_cannot_be_computed_with():
    rows = nd.sparse.row_sparse_array(([[1.0], [2.0]], [2, 2]), shape=(4, 1))
    for use in (rows.check_format, rows.asnumpy, lambda: rows + rows):
        with pytest.raises(mx.MXNetError, match="row"):
            use()
