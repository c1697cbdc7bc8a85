"""Cases from bug reports against MXNet that concern arrays, operators and gradients.

The number at the end of a name is the row in the project's list of such reports.
"""

import numpy as np
import pytest

import minigluon as mx
from minigluon import MXNetError, autograd, nd, sym
from minigluon.base import NotSupportedForSparseNDArray


def csr(values, dtype="float32"):
    return nd.array(values, dtype=dtype).tostype("csr")


def gradient(function, *arrays, grad_req="write", start=0):
    """Gradients of the sum of a function, added to buffers that hold ``start``."""
    arrays = [nd.array(a) for a in arrays]
    for a in arrays:
        a.attach_grad(grad_req)
        a.grad[:] = start
    with autograd.record():
        y = function(*arrays)
    y.backward()
    return [a.grad.asnumpy().tolist() for a in arrays]


# ---- sparse arrays


def test_a_product_of_csr_arrays_holds_the_shared_places_only_1():
    a, b = csr([[1, 2, 3, 0, 0, 0, 0]]), csr([[0, 1, 2, 3, 4, 0, 0]])
    c = nd.sparse.elemwise_mul(a, b)
    c.check_format()
    assert c.stype == "csr"
    assert c.data.asnumpy().tolist() == [2, 6]
    assert c.indices.asnumpy().tolist() == [1, 2]
    assert c.indptr.asnumpy().tolist() == [0, 2]


def test_csr_times_a_vector_is_what_the_dense_product_is_2():
    assert nd.dot(csr([[0, 2, 0, 1]]), nd.array([1, 2, 3, 4])).asnumpy().tolist() == [8]


def test_an_empty_range_of_csr_columns_holds_nothing_of_other_columns_3():
    part = csr(np.eye(4)).slice(begin=(0, 0), end=(4, 0))
    assert part.shape == (4, 0)
    assert part.asnumpy().size == 0


def test_what_a_csr_array_cannot_do_is_refused_by_name_4():
    with pytest.raises(NotSupportedForSparseNDArray, match="reshape"):
        csr(np.eye(2)).reshape((4,))
    with pytest.raises(ValueError, match=r"\(6,\)"):
        nd.sparse.csr_matrix(nd.ones((6,)))


def test_norms_squares_and_sums_of_csr_arrays_are_right_11_12():
    x = csr([[0, 3], [4, 0]])
    assert nd.sparse.norm(x).asscalar() == 5
    assert nd.square(x).stype == "csr"
    assert nd.square(nd.array([[0], [3]]).tostype("row_sparse")).stype == "row_sparse"
    assert nd.sum(x, axis=1, keepdims=True).asnumpy().tolist() == [[3], [4]]
    assert nd.sum(x, axis=0).asnumpy().tolist() == [4, 3]


@pytest.mark.parametrize("dtype", ["int64", "float64"])
def test_csr_arrays_keep_the_dtype_of_their_source_14(dtype):
    sparse = pytest.importorskip("scipy.sparse")
    source = sparse.csr_matrix(np.array([[0, 1], [2, 0]], dtype))
    x = nd.sparse.csr_matrix(source)
    assert x.dtype == np.dtype(dtype)
    assert (x.asscipy() != source).nnz == 0
    assert nd.sparse.csr_matrix(source.toarray()).dtype == np.dtype(dtype)
    assert nd.array(source.data, dtype=source.data.dtype).dtype == np.dtype(dtype)


def test_rows_and_items_of_csr_arrays_are_csr_or_refused_35():
    x = csr([[0, 1], [2, 0]])
    with pytest.raises((AttributeError, NotImplementedError)):
        x.indices = nd.array([0])
    with pytest.raises(MXNetError, match="only supports"):
        x[0, 1] = 5
    assert [(x[k].stype, x[k].shape) for k in (slice(0, 1), 1)] == [("csr", (1, 2))] * 2


@pytest.mark.filterwarnings("ignore::minigluon.base.StorageFallbackWarning")
def test_only_csr_arrays_make_a_csr_array_when_joined_36():
    x = csr([[0, 1], [2, 0]])
    twice = [[0, 1], [2, 0], [0, 1], [2, 0]]
    joined = nd.concat(x, x, dim=0)
    assert (joined.stype, joined.asnumpy().tolist()) == ("csr", twice)
    joined = nd.concat(x, x.tostype("default"), dim=0)
    assert (joined.stype, joined.asnumpy().tolist()) == ("default", twice)


def test_retained_rows_ascend_and_stand_once_78():
    x = nd.sparse.row_sparse_array((nd.ones((2, 1)), [0, 3]), shape=(4, 1))
    for ids, rows in (([2, 0], [0]), ([3, 0], [0, 3]), ([0, 0, 3], [0, 3]), ([0, 2], [0])):
        kept = nd.sparse.retain(x, nd.array(ids))
        kept.check_format()
        assert kept.indices.asnumpy().tolist() == rows
        assert kept.asnumpy().ravel().tolist() == [float(k in rows) for k in range(4)]
    x = nd.ones((3, 1)).tostype("row_sparse")
    x.attach_grad()
    with autograd.record():
        y = nd.sparse.retain(x, nd.array([0, 0, 2]))
    y.backward(nd.ones((3, 1)))
    assert x.grad.asnumpy().ravel().tolist() == [1, 0, 1]


def test_what_is_absent_stays_absent_whatever_it_is_multiplied_with_79():
    x = csr([[0, 2], [-3, 0]])
    mask = nd.array([[1, 0], [1, 1]])
    for result, wanted in (
        (nd.sparse.elemwise_mul(x, mask), [[0, 0], [-3, 0]]),
        (nd.broadcast_mul(x, nd.array([[2, 3]])), [[0, 6], [-6, 0]]),
        (nd.relu(x), [[0, 2], [0, 0]]),
        (x * float("inf"), [[0, np.inf], [-np.inf, 0]]),
        (x / 0, [[0, np.inf], [-np.inf, 0]]),
    ):
        result.check_format()
        assert result.stype == "csr"
        np.testing.assert_array_equal(result.asnumpy(), wanted)
    rows = nd.array([[1], [2], [0]]).tostype("row_sparse")
    other = nd.array([[0], [3], [4]]).tostype("row_sparse")
    assert nd.elemwise_mul(rows, other).asnumpy().ravel().tolist() == [0, 6, 0]
    assert (rows * 0).asnumpy().ravel().tolist() == [0, 0, 0]


def test_a_number_is_a_shape_where_one_dimension_makes_sense_80():
    assert nd.sparse.zeros("row_sparse", 10).shape == (10,)
    assert nd.zeros(4, stype="row_sparse").shape == (4,)
    for shape in (10, (10,), (2, 3, 4)):
        with pytest.raises(ValueError, match=r"CSR|2 Dim"):
            nd.sparse.zeros("csr", shape)


# ---- gradients


def test_a_leaf_under_another_name_has_a_gradient_23():
    a = nd.array([1, 2])
    a.attach_grad()
    with autograd.record():
        b = a
    b.backward()
    assert a.grad.asnumpy().tolist() == [1, 1]


def test_attach_grad_cuts_an_array_off_from_what_made_it_24():
    x, y = nd.array([1, 2, 3, 4]), nd.array([5, 6, 7, 8])
    x.attach_grad()
    y.attach_grad()
    with autograd.record():
        u = x * y
        u.attach_grad()
        z = u * x
    z.backward()
    assert x.grad.asnumpy().tolist() == [5, 12, 21, 32]
    assert y.grad.asnumpy().tolist() == [0, 0, 0, 0]
    assert u.grad.asnumpy().tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("requests", [("write", "write"), ("null", "write"), ("write", "null")])
def test_an_input_without_gradient_does_not_change_that_of_the_other_26(requests):
    a, b = nd.array([1, 2]), nd.array([3, 4])
    a.attach_grad(requests[0])
    b.attach_grad(requests[1])
    with autograd.record():
        c = (a + b) * a
    c.backward()
    for x, request, wanted in ((a, requests[0], [5, 8]), (b, requests[1], [1, 2])):
        assert request == "null" or x.grad.asnumpy().tolist() == wanted


def test_a_csr_array_can_be_assigned_to_a_dense_one_41():
    d = nd.zeros((2, 2))
    d[:] = csr([[0, 1], [2, 0]])
    assert d.asnumpy().tolist() == [[0, 1], [2, 0]]


def test_asked_to_add_every_operator_adds_49():
    ones = [1, 1, 1]
    clipped = gradient(lambda x: nd.clip(x, 0, 2), ones, grad_req="add", start=10)
    summed = gradient(nd.cumsum, ones, grad_req="add", start=10)
    assert clipped == [[11, 11, 11]]
    assert summed == [[13, 12, 11]]


def test_a_function_adds_to_one_gradient_where_another_is_not_wanted_51():
    class Product(autograd.Function):
        def forward(self, x, y):
            self.save_for_backward(x, y)
            return x * y

        def backward(self, g):
            x, y = self.saved_tensors
            return g * y, g * x

    x, y = nd.array([3]), nd.array([1])
    x.attach_grad("null")
    y.attach_grad("add")
    y.grad[:] = 5
    with autograd.record():
        z = Product()(x, y)
    z.backward()
    assert x.grad is None
    assert y.grad.asscalar() == 8


def test_gradients_can_be_asked_for_between_and_for_arrays_in_the_graph_only_52():
    x = nd.ones(3)
    x.attach_grad()
    with autograd.record():
        y = x * 2
        y.attach_grad()
        z = y * 3
    (slope,) = autograd.grad(z, [y])
    assert slope.asnumpy().tolist() == [3, 3, 3]
    with autograd.record():
        y = x * 2
    (slope,) = autograd.grad(y, x, retain_graph=True)
    assert slope.asnumpy().tolist() == [2, 2, 2]
    with pytest.raises(MXNetError, match="1"):
        autograd.grad(y, [x, nd.ones(3)])


@pytest.mark.parametrize("axis", [None, 0])
@pytest.mark.parametrize("function", [nd.max, nd.min])
def test_extreme_elements_that_tie_share_the_gradient_53(function, axis):
    values = [2, 2, 1] if function is nd.max else [1, 1, 2]
    attrs = {} if axis is None else {"axis": axis}
    assert gradient(lambda x: function(x, **attrs), values) == [[0.5, 0.5, 0]]


def test_of_two_arrays_that_tie_the_left_one_has_the_gradient_53():
    assert gradient(nd.broadcast_maximum, [[1.0]], [[1.0]]) == [[[1]], [[0]]]
    assert gradient(nd.broadcast_minimum, [[1.0]], [[1.0]]) == [[[1]], [[0]]]


# ---- operators


def test_softmax_reads_no_further_than_the_row_43():
    x = nd.array([[1, 2, 3]])
    for length, wanted in (
        (5, [0.0900, 0.2447, 0.6652]),
        (3, [0.0900, 0.2447, 0.6652]),
        (2, [0.2689, 0.7311, 0]),
        (0, [0, 0, 0]),
    ):
        got = nd.softmax(x, length=nd.array([length], dtype="int32"), use_length=True)
        np.testing.assert_allclose(got.asnumpy()[0], wanted, atol=1e-4)


def test_boxes_are_not_encoded_without_references_44():
    with mx.util.np_shape(), pytest.raises(MXNetError, match="refs"):
        nd.contrib.box_encode(
            nd.ones((1, 1)), nd.zeros((1, 1)), nd.ones((1, 1, 4)), nd.zeros((1, 0, 4)),
            nd.zeros(4), nd.ones(4),
        )  # fmt: skip


def test_rrelu_draws_slopes_in_training_and_takes_their_middle_otherwise_66():
    x = nd.array([-2, -1, 0, 1, 2])
    x.attach_grad()
    with autograd.record():
        y, _ = nd.LeakyReLU(x, act_type="rrelu", lower_bound=0.1, upper_bound=0.2)
    y.backward()
    slopes = x.grad.asnumpy()
    assert ((slopes[:2] >= 0.1) & (slopes[:2] < 0.2)).all()
    np.testing.assert_allclose(y.asnumpy(), np.where(x.asnumpy() < 0, slopes, 1) * x.asnumpy())
    middle, _ = nd.LeakyReLU(x, act_type="rrelu", lower_bound=0.1, upper_bound=0.3)
    np.testing.assert_allclose(middle.asnumpy(), [-0.4, -0.2, 0, 1, 2], rtol=1e-6)


def test_linspace_of_whole_numbers_rounds_down_74():
    for (start, stop), wanted in (
        ((-1, 1), [-1, -1, 0, 1]),
        ((-5, 2), [-5, -3, -1, 2]),
        ((2, -5), [2, -1, -3, -5]),
    ):
        assert nd.linspace(start, stop, 4, dtype="int32").asnumpy().tolist() == wanted


def test_one_part_is_no_list_and_joined_arrays_may_be_named_76():
    x = nd.ones((2, 2))
    assert nd.split(x, num_outputs=1).shape == (2, 2)
    assert nd.split_v2(x, 1).shape == (2, 2)
    assert len(sym.split(sym.var("x"), num_outputs=1).list_outputs()) == 1
    assert nd.concat(data=[x, x], dim=0).shape == (4, 2)
    image = nd.ones((1, 1, 2, 2))
    assert nd.UpSampling(data=image, scale=2, sample_type="nearest").shape == (1, 1, 4, 4)
    named = sym.UpSampling(data=sym.var("x"), scale=2, sample_type="nearest")
    assert named.list_arguments() == ["x"]


# ---- indexing and shapes


def test_index_arrays_pick_as_in_numpy_and_repeats_add_up_their_gradients_67():
    values = np.arange(24.0).reshape(2, 4, 3)
    d = nd.array(values)
    first, second = nd.array([[0], [1]], dtype="int32"), nd.array([[0, 2], [1, 3]], dtype="int32")
    wanted = values[[[0], [1]], [[0, 2], [1, 3]]]
    assert d[first, second].asnumpy().tolist() == wanted.tolist()
    (slopes,) = gradient(lambda x: x[[0, 0, 1], [1, 1, -1]].sum(), values)
    assert np.array(slopes)[:, :, 0].tolist() == [[0, 2, 0, 0], [0, 0, 0, 1]]


@pytest.mark.parametrize("shape", [(2, 2), (3, 4), (4, -1)])
def test_a_reshape_that_loses_or_invents_elements_is_refused_69(shape):
    x = nd.arange(6)
    for reshape in (x.reshape, lambda s: nd.Reshape(x, shape=s), lambda s: nd.reshape(x, shape=s)):
        with pytest.raises(ValueError, match="6"):
            reshape(shape)
    with pytest.raises(MXNetError, match="6"):
        sym.Reshape(sym.var("x"), shape=shape).infer_shape(x=(6,))


def test_assigned_values_fit_as_in_numpy_69():
    dst = nd.zeros((1, 3, 1))
    dst[0, :3, 0] = [1, 2, 3]
    assert dst.asnumpy().ravel().tolist() == [1, 2, 3]
    a = nd.array([[1, 2], [3, 4]])
    a[0] = a[1]
    assert a.asnumpy().tolist() == [[3, 4], [3, 4]]


# ---- element types


def test_large_whole_numbers_are_exact_70():
    a = nd.zeros((2, 1), dtype="int32")
    a[1, 0] = 16800001
    assert (a - 1)[1, 0].asscalar() == 16800000
    large = 2**53 + 1
    d = nd.zeros(1, dtype="int64")
    d[0] = large
    made = [nd.full((1,), large, dtype="int64"), nd.array([large], dtype="int64")]
    assert [x.asscalar() for x in (d, *made)] == [large] * 3
    assert nd.arange(large, large + 2, dtype="int64").asnumpy().tolist() == [large, large + 1]


def test_functions_of_whole_numbers_give_floats_71():
    special = pytest.importorskip("scipy.special")
    x = np.array([1, 2, 3], "int32")
    for name, function in (
        ("gammaln", special.gammaln), ("exp", np.exp), ("sqrt", np.sqrt), ("sin", np.sin),
        ("sigmoid", special.expit), ("erf", special.erf),
    ):  # fmt: skip
        got = getattr(nd, name)(nd.array(x, dtype="int32"))
        assert got.dtype == np.float32
        np.testing.assert_allclose(got.asnumpy(), function(x), rtol=1e-6)


def test_means_and_products_of_whole_numbers_and_halves_are_right_72():
    assert nd.mean(nd.array([1, 2, 4, 4], dtype="int32")).asscalar() == 2.75
    a = np.arange(6).reshape(2, 3)
    for dtype in ("int32", "int64", "float16"):
        x = nd.array(a, dtype=dtype)
        assert nd.dot(x, x.T).asnumpy().tolist() == (a @ a.T).tolist()
        batch = nd.batch_dot(x.expand_dims(0), x.expand_dims(0), transpose_b=True)
        assert batch.asnumpy()[0].tolist() == (a @ a.T).tolist()
    ones = nd.ones((1, 4096), dtype="float16")
    dense = nd.FullyConnected(ones, ones, num_hidden=1, no_bias=True)
    assert dense.asscalar() == 4096  # summed in halves this stops at 2048


def test_extremes_are_those_of_the_type_and_nan_goes_through_73():
    x = nd.array([-65504, 65504], dtype="float16")
    assert (x.min().asscalar(), x.max().asscalar()) == (-65504, 65504)
    for dtype in ("float16", "int8", "int32", "int64"):
        assert nd.array([-3, -7], dtype=dtype).max().asscalar() == -3
    assert nd.array([-np.inf, -np.inf]).max().asscalar() == -np.inf
    for function in (nd.max, nd.min):
        assert np.isnan(function(nd.array([1, np.nan, 2])).asscalar())


def test_dtypes_are_numpys_classes_and_arrays_are_hashed_by_identity_75():
    a = nd.ones(2)
    assert a.dtype is np.float32
    assert {np.float32: 1}[a.dtype] == 1
    assert (np.dtype(a.dtype).itemsize, a.dtype.__name__) == (4, "float32")
    assert {a: 1}[a] == 1
    with pytest.raises(TypeError):
        a == None  # noqa: B015, E711


# ---- random numbers


def test_every_context_has_a_stream_of_its_own_77():
    def draw(between=None):
        mx.random.seed(1, ctx=mx.cpu(0))
        if between:
            between()
        return nd.random.uniform(shape=3, ctx=mx.cpu(0)).asnumpy().tolist()

    first = draw()
    assert draw(lambda: mx.random.seed(2, ctx=mx.cpu(1))) == first
    assert draw(lambda: nd.random.uniform(shape=3, ctx=mx.cpu(1))) == first


# ---- layers, and what runs them


def test_a_table_is_learned_in_the_rows_that_were_read_5():
    rows = {}
    for sparse in (True, False):
        table = mx.gluon.nn.Embedding(7, 2, sparse_grad=sparse)
        table.initialize(mx.init.One())
        with autograd.record():
            loss = (table(nd.array([[1, 3], [3, 3]])) ** 2).sum()
        loss.backward()
        rows[sparse] = table.weight.grad()
    assert rows[True].stype == "row_sparse"
    assert rows[True].indices.asnumpy().tolist() == [1, 3]
    assert rows[True].asnumpy().tolist() == rows[False].asnumpy().tolist()


def test_csr_arrays_come_back_from_files_as_csr_13(tmp_path):
    x = csr([[0, 1], [2, 0]])
    nd.save(str(tmp_path / "x"), x)
    (back,) = nd.load(str(tmp_path / "x"))
    assert (back.stype, back.asnumpy().tolist()) == ("csr", [[0, 1], [2, 0]])


def test_states_cut_off_lead_gradients_on_by_hand_25():
    encoder, decoder = mx.gluon.rnn.LSTM(3), mx.gluon.rnn.LSTM(3)
    for part in (encoder, decoder):
        part.initialize()
    data = nd.ones((2, 1, 2))
    with autograd.record():
        _, states = encoder(data, encoder.begin_state(1))
    heads = [s.detach() for s in states]
    for head in heads:
        head.attach_grad()
    with autograd.record():
        loss = decoder(data, heads)[0].sum()
    loss.backward(retain_graph=True)
    states[0].backward(heads[0].grad, retain_graph=True)
    states[1].backward(heads[1].grad)
    slopes = [p.grad().asnumpy() for p in encoder.collect_params().values()]
    assert all(np.isfinite(s).all() for s in slopes)
    assert any(s.any() for s in slopes)


def test_gradients_add_up_from_when_they_are_told_to_55():
    layer = mx.gluon.nn.Dense(1, in_units=1, use_bias=False)
    layer.initialize()
    weight = layer.weight

    def step():
        with autograd.record():
            y = layer(nd.ones((1, 1)))
        y.backward()

    step()
    weight.grad_req = "add"
    for _ in range(3):
        step()
    assert weight.grad().asscalar() == 3
    weight.zero_grad()
    assert weight.grad().asscalar() == 0
    table = nd.ones((4, 1))
    table.attach_grad("add")
    for _ in range(2):
        with autograd.record():
            y = nd.Embedding(nd.array([1, 1, 3]), table, input_dim=4, output_dim=1)
        y.backward()
    assert table.grad.asnumpy().ravel().tolist() == [0, 4, 0, 2]
