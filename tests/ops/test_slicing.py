"""slice, slice_axis, slice_like and recorded basic indexing."""

import numpy as np
import pytest

from minigluon import autograd, nd, sym
from minigluon.base import MXNetError, ShapeError
from minigluon.storage import Csr, densify, to_csr

X = np.arange(24.0).reshape(2, 4, 3)

SLICES = [
    ((0, 1), (2, 3), ()), ((1,), (2,), ()), ((None, 0), (None, 2), ()), ((-1,), (None,), ()),
    ((-2, -3), (-1, -1), ()), ((0, 0), (2, 4), (1, 2)), ((None, 3), (None, 0), (None, -1)),
    ((None, None), (None, None), (-1, -2)), ((0,), (9,), ()), ((1,), (1,), ()),
    ((0, 0, 0), (1, 2, 2), ()), ((None, 3), (None, None), (None, -2)), ((), (), ()),
]  # fmt: skip


def key(begin, end, step):
    return tuple([slice(*b) for b in zip(begin, end, step or (None,) * len(begin), strict=True)])


@pytest.mark.parametrize("begin, end, step", SLICES)
def test_slice_is_that_of_python(begin, end, step, evaluate, inferred, differentiate):
    how = {"begin": begin, "end": end, "step": step}
    wanted = X[key(begin, end, step)]
    assert evaluate("slice", X, **how).tolist() == wanted.tolist()
    assert inferred("slice", "shape", [X.shape], **how)[1] == [wanted.shape]
    got = np.zeros(X.shape)
    got[key(begin, end, step)] = 1
    assert differentiate("slice", X, **how)[0].tolist() == got.tolist()


def test_slice_reads_bounds_as_text():
    assert nd.slice(nd.array(X), begin="(0, None)", end="(1, 2)").shape == (1, 2, 3)


@pytest.mark.parametrize(
    "begin, end, step",
    [((0,), (2, 3), ()), ((0,) * 4, (1,) * 4, ()), ((0,), (2,), (0,)), ((0, 0), (1, 1), (1,))],
)
def test_slice_refuses_bounds_that_do_not_fit(begin, end, step):
    with pytest.raises(ShapeError, match="slice"):
        nd.slice(nd.array(X), begin=begin, end=end, step=step)
    with pytest.raises((MXNetError, ValueError)):
        sym.slice(sym.var("x"), begin=begin, end=end, step=step).infer_shape(x=X.shape)


@pytest.mark.parametrize(
    "begin, end",
    [
        ((1,), (3,)),
        ((1, 0), (3, 2)),
        ((None, None), (None, None)),
        ((-2, -2), (None, None)),
        ((0, 0), (4, 0)),
        ((2,), (2,)),
        ((0,), (9,)),
    ],
)
def test_slices_of_csr_are_csr_and_those_of_the_dense_array(begin, end, evaluate):
    x = np.random.default_rng(0).normal(size=(4, 4)) * (np.arange(16).reshape(4, 4) % 3 > 0)
    result = evaluate("slice", to_csr(x), begin=begin, end=end)
    assert type(result) is Csr
    assert result.shape == x[key(begin, end, ())].shape
    assert densify(result).tolist() == x[key(begin, end, ())].tolist()


@pytest.mark.filterwarnings("ignore::minigluon.base.StorageFallbackWarning")
def test_a_csr_slice_with_a_step_is_dense():
    result = nd.slice(nd.array(np.eye(4)).tostype("csr"), begin=(0, 0), end=(4, 4), step=(2, 1))
    assert (result.stype, result.shape) == ("default", (2, 4))


AXIS = [(0, 0, 1), (1, 1, 3), (-1, 0, 2), (1, -2, None), (1, 0, None), (1, -3, -1), (2, 0, -1)]


@pytest.mark.parametrize("axis, begin, end", AXIS)
def test_slice_axis_takes_a_range(axis, begin, end, evaluate, inferred, differentiate):
    how = {"axis": axis, "begin": begin, "end": end}
    wanted = np.take(X, range(X.shape[axis])[begin:end], axis)
    assert evaluate("slice_axis", X, **how).tolist() == wanted.tolist()
    assert inferred("slice_axis", "shape", [X.shape], **how)[1] == [wanted.shape]
    got = differentiate("slice_axis", X, **how)[0]
    assert got.sum() == wanted.size
    assert (got * X).sum() == wanted.sum()


@pytest.mark.parametrize(
    "axis, begin, end", [(1, 2, 2), (1, 3, 1), (1, 0, 9), (1, -9, 2), (5, 0, 1), (1, 4, None)]
)
def test_slice_axis_refuses_ranges_outside(axis, begin, end):
    with pytest.raises(ShapeError, match="slice_axis"):
        nd.slice_axis(nd.array(X), axis=axis, begin=begin, end=end)
    with pytest.raises(ShapeError, match="slice_axis"):
        sym.slice_axis(sym.var("x"), axis=axis, begin=begin, end=end).infer_shape(x=X.shape)


@pytest.mark.parametrize(
    "like, axes, wanted",
    [
        ((1, 2, 2), (), (1, 2, 2)),
        ((9, 2), (1,), (2, 2, 3)),
        ((1, 9), (0,), (1, 4, 3)),
        ((1, 2), (-1,), (2, 4, 2)),
        ((2, 4, 3), (), (2, 4, 3)),
    ],
)
def test_slice_like_is_as_long_as_the_other(like, axes, wanted, evaluate, inferred, differentiate):
    result = evaluate("slice_like", X, np.zeros(like), axes=axes)
    assert result.tolist() == X[tuple([slice(n) for n in wanted])].tolist()
    assert inferred("slice_like", "shape", [X.shape, like], axes=axes)[1] == [wanted]
    data, other = differentiate("slice_like", X, np.zeros(like), axes=axes)
    assert data.sum() == result.size
    assert not other.any()


@pytest.mark.parametrize(
    "like, axes", [((2, 2), ()), ((3, 4, 3), ()), ((9, 9, 9), (0,)), ((2, 2), (5,))]
)
def test_slice_like_refuses_what_data_does_not_reach(like, axes):
    with pytest.raises(ShapeError, match="slice_like"):
        nd.slice_like(nd.array(X), nd.zeros(like), axes=axes)
    with pytest.raises(ShapeError, match="slice_like"):
        sym.slice_like(sym.var("a"), sym.var("b"), axes=axes).infer_shape(a=X.shape, b=like)


KEYS = [
    1,
    -1,
    slice(1, None),
    (0, slice(None), 1),
    (slice(None), None, 2),
    (..., 0),
    (slice(None, None, -1),),
    None,
]


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_gradients_flow_through_basic_indexing(key):
    x = nd.array(X)
    x.attach_grad()
    with autograd.record():
        part = x[key]
        loss = (part * part).sum()
    loss.backward()
    assert part.asnumpy().tolist() == X[key].tolist()
    wanted = np.zeros(X.shape)
    wanted[key] = 2 * X[key]
    assert x.grad.asnumpy().tolist() == wanted.tolist()
