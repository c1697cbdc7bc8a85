"""take, pick, one_hot, gather_nd, scatter_nd, batch_take, and indexing with arrays."""

import numpy as np
import pytest

import minigluon as mx
from minigluon import autograd, nd, sym
from minigluon.base import AttributeValueError, IndexOutOfRange, MXNetError, ShapeError
from minigluon.storage import Csr, densify, to_csr

RNG = np.random.default_rng(3)
X = RNG.normal(size=(3, 4, 2))


# ---- take


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "int64", "uint8"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_take_is_that_of_numpy(axis, dtype, evaluate, inferred, differentiate, slopes):
    places = np.array([[0, 1], [1, 1]], dtype)
    wanted = np.take(X, places.astype(int), axis)
    assert evaluate("take", X, places, axis=axis).tolist() == wanted.tolist()
    assert inferred("take", "shape", [X.shape, (2, 2)], axis=axis)[1] == [wanted.shape]
    got, none = differentiate("take", X, places, axis=axis)
    counts = np.bincount(places.astype(int).ravel(), minlength=X.shape[axis])
    assert (
        np.moveaxis(got, axis, -1).tolist()
        == np.broadcast_to(counts, np.moveaxis(X, axis, -1).shape).tolist()
    )
    assert not none.any()


@pytest.mark.parametrize("mode, wanted", [("clip", [0, 2, 2, 0, 2]), ("wrap", [2, 2, 0, 2, 1])])
def test_places_outside_are_clipped_or_wrapped(mode, wanted, evaluate, differentiate):
    places = np.array([-1, 5, 3, -7, 100])
    data = np.arange(3.0)
    assert evaluate("take", data, places, mode=mode).tolist() == wanted
    got = differentiate("take", data, places, mode=mode)[0]
    assert got.tolist() == np.bincount(wanted, minlength=3).tolist()


def test_wrapping_far_places_takes_no_longer_than_near_ones():
    # numpy's own wrapping goes round step by step: each of these would take hours
    places = nd.array(np.array([2**62, -(2**62), 2**40]), dtype="int64")
    wanted = [2**62 % 3, -(2**62) % 3, 2**40 % 3]
    assert nd.take(nd.arange(3), places, mode="wrap").asnumpy().tolist() == wanted
    assert nd.take(nd.arange(3), nd.array([np.nan]), mode="wrap").shape == (1,)


def test_fractions_are_cut_off(evaluate):
    assert evaluate("take", np.arange(3.0), np.array([1.9, -0.5, 0.2])).tolist() == [1, 0, 0]


@pytest.mark.parametrize("places", [[3], [-1, 2]])
def test_raise_mode_refuses_places_outside(places):
    with pytest.raises(
        IndexError, match=r"(?s)take: index .*received.*expected  0 to 2.*fix"
    ) as error:
        nd.take(nd.arange(3), nd.array(places), mode="raise")
    assert isinstance(error.value, MXNetError)


def test_floats_that_cannot_tell_rows_apart_are_refused(evaluate):
    table = np.broadcast_to(np.zeros(1, np.float32), (2**24 + 8,))
    with pytest.raises(IndexOutOfRange, match="int64"):
        evaluate("take", table, np.array([2**24 + 2], np.float32))


def test_rows_taken_of_csr_are_csr(evaluate):
    x = RNG.normal(size=(4, 3)) * (RNG.random((4, 3)) < 0.5)
    for mode, places in (("clip", [0, 3, 0, 9, -1]), ("wrap", [0, 5, -1])):
        result = evaluate("take", to_csr(x), np.array(places), mode=mode)
        assert type(result) is Csr
        assert result.indptr[0] == 0
        assert densify(result).tolist() == np.take(x, places, 0, mode=mode).tolist()


def test_rows_of_csr_are_taken_by_vectors_only():
    with pytest.raises(ShapeError, match="take"):
        nd.take(nd.array(np.eye(3)).tostype("csr"), nd.array([[0, 1]]))


@pytest.mark.parametrize("axis", [7, -3])
def test_take_refuses_an_axis_that_is_not_there(axis):
    with pytest.raises(MXNetError, match="take"):
        nd.take(nd.ones((2, 2)), nd.array([0]), axis=axis)
    with pytest.raises(ShapeError, match="take"):
        sym.take(sym.var("a"), sym.var("i"), axis=axis).infer_shape(a=(2, 2), i=(1,))


# ---- pick


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_pick_takes_one_element_of_each_row(axis, keepdims, evaluate, inferred, differentiate):
    kept = [n for k, n in enumerate(X.shape) if k != axis % 3]
    index = RNG.integers(0, 2, kept).astype("float32")
    how = {"axis": axis, "keepdims": keepdims}
    wanted = np.take_along_axis(X, np.expand_dims(index.astype(int), axis), axis)
    wanted = wanted if keepdims else wanted.squeeze(axis)
    assert evaluate("pick", X, index, **how).tolist() == wanted.tolist()
    assert evaluate("pick", X, np.expand_dims(index, axis), **how).tolist() == wanted.tolist()
    assert inferred("pick", "shape", [X.shape, None], **how) == (
        [X.shape, index.shape],
        [wanted.shape],
    )
    got, _ = differentiate("pick", X, index, head=wanted, **how)
    assert got.sum() == pytest.approx(wanted.sum())
    assert np.count_nonzero(got) == index.size


def test_picked_places_outside_are_clipped_or_wrapped(evaluate):
    x = np.array([[1.0, 2, 3], [4, 5, 6]])
    assert evaluate("pick", x, np.array([9.0, -1.0])).tolist() == [3, 4]
    assert evaluate("pick", x, np.array([4.0, -1.0]), mode="wrap").tolist() == [2, 6]


def test_pick_of_a_vector_gives_one_element():
    assert nd.pick(nd.array([1, 2, 3]), nd.array([1]), axis=0).asnumpy().tolist() == [2]


def test_pick_infers_both_ways():
    picked = sym.pick(sym.var("x"), sym.var("i"))
    assert picked.infer_shape_partial(x=(0, 3))[1] == [(0,)]
    assert picked.infer_shape(x=(2, 3))[0] == [(2, 3), (2,)]


def test_pick_refuses_what_does_not_fit():
    with pytest.raises(ShapeError, match=r"(?s)pick.*index.*\(3,\).*\(2,\)"):
        nd.pick(nd.ones((2, 3)), nd.zeros(3))
    with pytest.raises(AttributeValueError, match="axis=None"):
        nd.pick(nd.ones((2, 3)), nd.zeros(2), axis=None)
    with pytest.raises(ShapeError, match="axis 4"):
        nd.pick(nd.ones((2, 3)), nd.zeros(2), axis=4)


# ---- one_hot


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint8", None])
def test_one_hot_has_one_place_on(dtype, evaluate, inferred):
    how = {"depth": 3, "on_value": 5, "off_value": 1, **({"dtype": dtype} if dtype else {})}
    result = evaluate("one_hot", np.array([[1, 0], [-1, 3]]), **how)
    assert result.dtype == (dtype or "float32")
    assert result.tolist() == [[[1, 5, 1], [5, 1, 1]], [[1, 1, 1], [1, 1, 1]]]
    assert inferred("one_hot", "shape", [(2, 2)], **how)[1] == [(2, 2, 3)]
    assert inferred("one_hot", "dtype", ["float64"], **how)[1] == [np.dtype(dtype or "float32")]


def test_one_hot_cuts_fractions_off(evaluate):
    assert evaluate("one_hot", np.array([1.7, -0.5]), depth=2).tolist() == [[0, 1], [1, 0]]


def test_one_hot_has_gradient_zero():
    x = nd.array([1.0, 0.0])
    x.attach_grad()
    x.grad[:] = 7
    with autograd.record():
        y = nd.one_hot(x, depth=2)
    y.backward()
    assert x.grad.asnumpy().tolist() == [0, 0]


# ---- gather, scatter


def test_gather_nd_reads_by_coordinates(evaluate, inferred, differentiate):
    at = np.array([[0, 2, 2], [1, 0, 0]])
    wanted = X[at[0], at[1]]
    assert evaluate("gather_nd", X, at).tolist() == wanted.tolist()
    assert inferred("gather_nd", "shape", [X.shape, at.shape])[1] == [wanted.shape]
    got, _ = differentiate("gather_nd", X, at)
    assert got[2, 0].tolist() == [2, 2]
    assert got[0, 1].tolist() == [1, 1]
    assert got.sum() == 6


def test_gather_nd_counts_negative_places_from_the_end(evaluate):
    assert evaluate("gather_nd", np.arange(3.0), np.array([[-1, 0]])).tolist() == [2, 0]


@pytest.mark.parametrize("at", [[[3]], [[-4]], [[0], [4]]])
def test_gather_nd_refuses_places_outside(at):
    with pytest.raises(IndexError, match=r"gather_nd: index .* is out of bounds"):
        nd.gather_nd(nd.ones((3, 4)), nd.array(at))


def test_gather_nd_refuses_too_many_coordinates():
    with pytest.raises(MXNetError, match="more coordinates than dimensions"):
        nd.gather_nd(nd.ones(3), nd.zeros((2, 1)))
    with pytest.raises(ShapeError, match="more coordinates than dimensions"):
        sym.gather_nd(sym.var("a"), sym.var("i")).infer_shape(a=(3,), i=(2, 1))


def test_scatter_nd_writes_by_coordinates(evaluate, inferred, differentiate):
    data, at = RNG.normal(size=(2, 4)), np.array([[0, 2]])
    result = evaluate("scatter_nd", data, at, shape=(3, 4))
    assert result[[0, 2]].tolist() == data.tolist()
    assert not result[1].any()
    assert inferred("scatter_nd", "shape", [data.shape, at.shape], shape=(3, 4))[1] == [(3, 4)]
    assert (
        differentiate("scatter_nd", data, at, head=result, shape=(3, 4))[0].tolist()
        == data.tolist()
    )


def test_batch_take_takes_one_element_of_each_row(evaluate):
    x = np.arange(12.0).reshape(3, 4)
    at = np.array([0, 9, -1], "int32")
    assert evaluate("batch_take", x, at).tolist() == [0, 7, 8]


# ---- x[arrays]


@pytest.mark.parametrize("dtype", ["int32", "float32"])
def test_arrays_as_keys_index_as_in_numpy(dtype):
    x = np.arange(24).reshape(2, 4, 3)
    rows, columns = np.array([[0], [1]]), np.array([[0, 2], [1, 3]])
    got = nd.array(x)[nd.array(rows, dtype=dtype), nd.array(columns, dtype=dtype)]
    assert got.asnumpy().tolist() == x[rows, columns].tolist()


def test_repeated_keys_add_up_in_the_gradient():
    x = nd.array(np.arange(24).reshape(2, 4, 3))
    x.attach_grad()
    with autograd.record():
        loss = x[[0, 0, 1], [1, 1, -1]].sum()
    loss.backward()
    grad = x.grad.asnumpy()
    assert grad[0, 1].tolist() == [2, 2, 2]
    assert grad[1, 3].tolist() == [1, 1, 1]
    assert grad.sum() == 9


def test_gradients_of_taking_from_an_array_without_elements_have_its_shape():
    with mx.util.np_shape():
        x = nd.zeros((0, 3, 4))
        x.attach_grad()
        with autograd.record():
            y = nd.take(x, nd.array([0, 2]), axis=1)
        y.backward()
        assert (y.shape, x.grad.shape) == ((0, 2, 4), (0, 3, 4))
