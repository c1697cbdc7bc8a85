"""Concat, stack and split: values, gradients, shapes inferred both ways, storages."""

import numpy as np
import pytest

from minigluon import autograd, nd, sym
from minigluon.base import AttributeValueError, MXNetError, ShapeError
from minigluon.storage import Csr, densify, to_csr

RNG = np.random.default_rng(1)

JOINS = [
    (1, [(2, 3), (2, 4)]), (0, [(2, 3), (1, 3)]), (-1, [(2, 3, 1), (2, 3, 2), (2, 3, 4)]),
    (0, [(3,), (2,)]), (1, [(2, 3)]), (-2, [(2, 3), (4, 3)]), (1, [(2, 0), (2, 3)]),
]  # fmt: skip


@pytest.mark.parametrize("dim, shapes", JOINS)
def test_concat_joins_along_an_axis(dim, shapes, evaluate, inferred, differentiate):
    arrays = [RNG.normal(size=s) for s in shapes]
    wanted = np.concatenate(arrays, dim)
    assert evaluate("Concat", *arrays, dim=dim).tolist() == wanted.tolist()
    assert inferred("Concat", "shape", shapes, dim=dim)[1] == [wanted.shape]
    for got, x in zip(differentiate("Concat", *arrays, head=wanted, dim=dim), arrays, strict=True):
        assert got.tolist() == x.tolist()


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_stack_joins_along_a_new_axis(count, axis, evaluate, inferred, differentiate):
    arrays = [RNG.normal(size=(2, 3)) for _ in range(count)]
    wanted = np.stack(arrays, axis)
    assert evaluate("stack", *arrays, axis=axis).tolist() == wanted.tolist()
    assert inferred("stack", "shape", [(2, 3)] * count, axis=axis)[1] == [wanted.shape]
    for got, x in zip(differentiate("stack", *arrays, head=wanted, axis=axis), arrays, strict=True):
        assert got.tolist() == x.tolist()


@pytest.mark.parametrize("name", ["concat", "stack"])
def test_joins_of_one_and_of_more_arrays_have_their_own_gradients(name):
    arrays = [nd.ones((2, 3)) for _ in range(3)]
    for x in arrays:
        x.attach_grad()
    for count in (2, 1, 3):  # one Call serves them all
        with autograd.record():
            joined = getattr(nd, name)(*arrays[:count], **{"dim": 1} if name == "concat" else {})
        joined.backward(nd.ones(joined.shape) * count)
        assert all((x.grad == count).asnumpy().all() for x in arrays[:count])


@pytest.mark.filterwarnings("ignore::minigluon.base.StorageFallbackWarning")
def test_only_csr_rows_stay_csr():
    csr, dense = (nd.array([[0, 1], [2, 0]]).tostype(s) for s in ("csr", "default"))
    wanted = [[0, 1], [2, 0]] * 2
    both = nd.concat(csr, csr, dim=0)
    assert (both.stype, both.asnumpy().tolist()) == ("csr", wanted)
    both.check_format()
    mixed = nd.concat(csr, dense, dim=0)
    assert (mixed.stype, mixed.asnumpy().tolist()) == ("default", wanted)
    assert nd.concat(csr, csr, dim=1).stype == "default"


def test_csr_concat_is_the_dense_one(evaluate):
    parts = [RNG.normal(size=(n, 4)) * (RNG.random((n, 4)) < 0.4) for n in (3, 1, 2)]
    result = evaluate("Concat", *[to_csr(p) for p in parts], dim=0)
    assert type(result) is Csr
    assert densify(result).tolist() == np.concatenate(parts).tolist()


def test_concat_infers_what_the_others_leave_open():
    x, y, z = (sym.var(n) for n in "xyz")
    joined = sym.concat(x, y, dim=1)
    assert joined.infer_shape_partial(x=(2, 0), y=(0, 4))[0] == [(2, 0), (2, 4)]
    shapes, _, _ = (joined + z).infer_shape(x=(2, 3), z=(2, 7))
    assert shapes == [(2, 3), (2, 4), (2, 7)]


def test_arrays_that_do_not_fit_are_refused():
    with pytest.raises(ShapeError, match=r"(?s)oncat.*wrong shape"):
        nd.concat(nd.ones((2, 3)), nd.ones((3, 4)), dim=1)
    with pytest.raises(ShapeError, match="stack"):
        nd.stack(nd.ones((2, 3)), nd.ones((3, 2)))
    with pytest.raises(MXNetError):
        sym.concat(sym.var("a"), sym.var("b"), dim=1).infer_shape(a=(2, 3), b=(3, 4))


@pytest.mark.parametrize(
    "name, how",
    [("concat", {"dim": 2}), ("stack", {"axis": 3}), ("split", {"axis": 2, "num_outputs": 1})],
)
def test_axes_that_are_not_there_are_refused(name, how):
    arrays = [nd.ones((2, 3))] * (1 if name == "split" else 2)
    with pytest.raises(ShapeError):
        getattr(nd, name)(*arrays, **how)
    with pytest.raises(ShapeError, match="exceeds the input dimension"):
        variables = [sym.var(f"x{k}") for k in range(len(arrays))]
        getattr(sym, name)(*variables, **how).infer_shape(
            **{f"x{k}": (2, 3) for k in range(len(arrays))}
        )


# ---- split


@pytest.mark.parametrize("squeeze", [False, True])
@pytest.mark.parametrize("count, axis", [(2, 0), (4, 1), (2, 1), (3, -1), (1, 0), (6, -1)])
def test_split_cuts_into_equal_parts(count, axis, squeeze, evaluate, inferred):
    x = RNG.normal(size=(2, 4, 6))
    if squeeze and x.shape[axis] != count:
        return
    parts = evaluate("SliceChannel", x, num_outputs=count, axis=axis, squeeze_axis=squeeze)
    wanted = np.split(x, count, axis)
    wanted = [p.squeeze(axis) for p in wanted] if squeeze else wanted
    parts = parts if isinstance(parts, tuple) else (parts,)
    assert [p.tolist() for p in parts] == [p.tolist() for p in wanted]
    how = {"num_outputs": count, "axis": axis, "squeeze_axis": squeeze}
    assert inferred("SliceChannel", "shape", [x.shape], **how)[1] == [p.shape for p in wanted]


@pytest.mark.parametrize("squeeze", [False, True])
def test_gradients_of_some_parts_are_zero_elsewhere(squeeze):
    x = nd.ones((2, 2))
    x.attach_grad()
    with autograd.record():
        first, _ = nd.split(x, num_outputs=2, axis=1, squeeze_axis=squeeze)
        loss = (first * 3).sum()
    loss.backward()
    assert x.grad.asnumpy().tolist() == [[3, 0], [3, 0]]


def test_one_part_comes_bare():
    assert nd.split(nd.ones((2, 3)), num_outputs=1).shape == (2, 3)
    assert nd.split_v2(nd.ones((2, 3)), 1).shape == (2, 3)


def test_parts_do_not_share_memory_with_the_data():
    x = nd.zeros((2, 2))
    for part in nd.split(x, num_outputs=2, axis=0):
        part[:] = 1
    assert x.asnumpy().sum() == 0


@pytest.mark.parametrize("how", [{"num_outputs": 3}, {"num_outputs": 2, "squeeze_axis": True}])
def test_uneven_parts_are_refused(how):
    with pytest.raises(ShapeError, match=r"(?s)SliceChannel.*cannot be cut"):
        sym.split(sym.var("x"), axis=1, **how).infer_shape(x=(2, 4))
    with pytest.raises(MXNetError):
        nd.split(nd.ones((2, 4)), axis=1, **how)


def test_a_split_has_at_least_one_part():
    with pytest.raises(AttributeValueError, match="num_outputs"):
        nd.split(nd.ones((2, 4)), num_outputs=0)


def test_split_infers_its_data_from_a_part():
    parts = sym.split(sym.var("x"), num_outputs=2, axis=1)
    assert (parts[0] + sym.var("y")).infer_shape(y=(3, 4))[0] == [(3, 8), (3, 4)]
    squeezed = sym.split(sym.var("x"), num_outputs=3, axis=0, squeeze_axis=True)
    assert squeezed.infer_shape_partial(x=(0, 4))[0] == [(3, 4)]


V2 = [
    ({"indices": (0, 1, 3), "axis": 1}, [(2, 1), (2, 2), (2, 1)]),
    ({"indices": (0, 2, 2), "axis": 1}, [(2, 2), (2, 0), (2, 2)]),
    ({"indices": (0,), "axis": 1, "sections": 3}, [(2, 2), (2, 1), (2, 1)]),
    ({"indices": (0, 1), "axis": 0, "squeeze_axis": True}, [(4,), (4,)]),
]


@pytest.mark.parametrize("how, shapes", V2)
def test_split_v2_cuts_where_it_is_told(how, shapes, evaluate, inferred):
    x = np.arange(8.0).reshape(2, 4)
    parts = evaluate("_split_v2", x, **how)
    assert [p.shape for p in parts] == shapes
    assert np.concatenate([p.reshape(-1) for p in parts]).size == 8
    assert inferred("_split_v2", "shape", [x.shape], **how)[1] == shapes


@pytest.mark.parametrize("indices", [(0, 9), (0, 3, 1), (0, -1)])
def test_split_v2_refuses_parts_outside(indices):
    with pytest.raises(ShapeError, match="_split_v2"):
        nd.split_v2(nd.ones((2, 4)), indices[1:], axis=1)


@pytest.mark.parametrize("cut", [
    lambda x: nd.split(x, num_outputs=2, axis=0, squeeze_axis=True),
    lambda x: nd.split_v2(x, (1,), axis=0, squeeze_axis=True),
])  # fmt: skip
def test_numbers_cut_from_a_vector_lead_gradients_back_into_it(cut):
    x = nd.array([1, 2])
    x.attach_grad()
    with autograd.record():
        first, second = cut(x)
        y = first * 3 + second * 5
    y.backward()
    assert x.grad.asnumpy().tolist() == [3, 5]


@pytest.mark.parametrize("indices", [(1, 3), (0, 3, 2), ()])
def test_parts_begin_with_the_axis_and_ascend(indices):
    with pytest.raises(MXNetError, match="_split_v2"):
        nd._internal._split_v2(nd.ones((1, 5)), indices=indices)
