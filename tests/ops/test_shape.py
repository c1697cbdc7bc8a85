"""Reshape and its codes, axes added, dropped and exchanged."""

import itertools

import numpy as np
import pytest

from minigluon import autograd, nd, sym
from minigluon.base import MXNetError, ShapeError

X = np.arange(24.0).reshape(2, 3, 4)

#: shape of the data, codes, reverse -> new shape (MXNet 1.9.1, but for the last two)
RESHAPES = [
    ((2, 3, 4), (4, 0, 2), False, (4, 3, 2)),
    ((2, 3, 4), (2, 0, 0), False, (2, 3, 4)),
    ((2, 3, 4), (6, 1, -1), False, (6, 1, 4)),
    ((2, 3, 4), (-1,), False, (24,)),
    ((2, 3, 4), (-2,), False, (2, 3, 4)),
    ((2, 3, 4), (2, -2), False, (2, 3, 4)),
    ((2, 3, 4), (-2, 1, 1), False, (2, 3, 4, 1, 1)),
    ((2, 3, 4), (-3, 4), False, (6, 4)),
    ((2, 3, 4, 5), (-3, -3), False, (6, 20)),
    ((2, 3, 4), (0, -3), False, (2, 12)),
    ((2, 3, 4), (-3, -2), False, (6, 4)),
    ((2, 3, 4), (-4, 1, 2, -2), False, (1, 2, 3, 4)),
    ((2, 6, 4), (2, -4, -1, 3, -2), False, (2, 2, 3, 4)),
    ((8, 3), (-4, -1, 2, 0), False, (4, 2, 3)),
    ((10, 5, 4), (-1, 0), False, (40, 5)),
    ((10, 5, 4), (-1, 0), True, (50, 4)),
    ((2, 3, 4), (0, 0, -1), True, (2, 3, 4)),
    ((2, 3, 4), (-1, 0, 0), True, (2, 3, 4)),
    ((2, 3, 4), (24,), True, (24,)),
    ((2, 6, 4), (0, -4, 2, -1, 0), True, (2, 2, 3, 4)),  # MXNet cannot split in reverse
    ((8, 3), (-4, -1, 2, 0), True, (4, 2, 3)),
]


@pytest.mark.parametrize("shape, codes, reverse, wanted", RESHAPES)
def test_reshape_codes_mean_what_mxnet_says(shape, codes, reverse, wanted, evaluate, inferred):
    data = np.arange(float(np.prod(shape))).reshape(shape)
    result = evaluate("Reshape", data, shape=codes, reverse=reverse)
    assert result.shape == wanted
    assert result.ravel().tolist() == data.ravel().tolist()
    assert inferred("Reshape", "shape", [shape], shape=codes, reverse=reverse)[1] == [wanted]


@pytest.mark.parametrize(
    "codes",
    [(2, 2), (3, 4), (4, -1), (7, -1), (5, 5), (-1, -1), (-4, -1, -1), (0, 0, 0), (-5,), (-3, -3)],
)
def test_reshape_refuses_what_does_not_hold_all_elements(codes):
    data = nd.arange(6).reshape((2, 3))
    for call in (
        lambda: nd.reshape(data, shape=codes),
        lambda: sym.reshape(sym.var("x"), shape=codes).infer_shape(x=(2, 3)),
    ):
        with pytest.raises(MXNetError) as error:
            call()
        assert isinstance(error.value, ValueError)
        assert "eshape" in str(error.value)
    with pytest.raises(ValueError, match=r"6|shape"):
        data.reshape(codes)


def test_a_wrong_reshape_tells_the_number_of_elements():
    with pytest.raises(
        ShapeError, match=r"(?s)received  data \(6,\).*\(2, 2\).*expected.*6 elements"
    ):
        nd.reshape(nd.zeros(6), shape=(2, 2))


def test_reshape_shares_memory():
    data = nd.zeros((2, 3))
    nd.reshape(data, shape=(-1,))[0] = 5
    assert data.asnumpy()[0, 0] == 5


def test_reshape_reads_the_old_target_shape(evaluate):
    assert evaluate("Reshape", X, target_shape=(0, 4)).shape == (6, 4)
    assert evaluate("Reshape", X, target_shape=(5, 0), keep_highest=True).shape == (2, 12)


def test_reshape_infers_the_one_dimension_that_is_missing():
    shapes, out, _ = sym.reshape(sym.var("x"), shape=(4, 0, 2)).infer_shape_partial(x=(0, 3, 4))
    assert (shapes, out) == ([(2, 3, 4)], [(4, 3, 2)])
    _, out, _ = sym.reshape(sym.var("x"), shape=(0, -3)).infer_shape_partial(x=(0, 3, 4))
    assert out == [(0, 12)]


LIKES = [
    ((2, 3, 4), (6, 4), {}, (6, 4)),
    ((30, 7), (15, 2, 4), {"lhs_begin": 0, "lhs_end": 1, "rhs_begin": 0, "rhs_end": 2}, (15, 2, 7)),
    ((7, 30), (4, 15, 2), {"lhs_begin": -1, "rhs_begin": -2}, (7, 15, 2)),
    ((7, 30), (4, 15, 2), {"lhs_begin": 1, "rhs_begin": 1}, (7, 15, 2)),
]


@pytest.mark.parametrize("lhs, rhs, how, wanted", LIKES)
def test_reshape_like_exchanges_the_named_dimensions(lhs, rhs, how, wanted, evaluate, inferred):
    data = np.arange(float(np.prod(lhs))).reshape(lhs)
    assert (
        evaluate("reshape_like", data, np.zeros(rhs), **how).tolist()
        == data.reshape(wanted).tolist()
    )
    assert inferred("reshape_like", "shape", [lhs, rhs], **how)[1] == [wanted]


def test_reshape_like_refuses_another_number_of_elements():
    with pytest.raises(ShapeError, match="24 elements"):
        sym.reshape_like(sym.var("a"), sym.var("b")).infer_shape(a=(2, 3, 4), b=(3, 4))
    with pytest.raises(ShapeError):
        nd.reshape_like(nd.zeros((2, 3)), nd.zeros((2, 2)))


MOVES = {
    "Flatten": ({}, lambda x: x.reshape(2, 12)),
    "expand_dims first": ({"axis": 0}, lambda x: x[None]),
    "expand_dims last": ({"axis": -1}, lambda x: x[..., None]),
    "expand_dims inside": ({"axis": 2}, lambda x: x[:, :, None]),
    "transpose all": ({}, lambda x: x.T),
    "SwapAxis ends": ({"dim1": 0, "dim2": 2}, lambda x: x.swapaxes(0, 2)),
    "SwapAxis negative": ({"dim1": -1, "dim2": 0}, lambda x: x.swapaxes(0, 2)),
    "SwapAxis default": ({}, lambda x: x),
    "reverse one": ({"axis": 1}, lambda x: x[:, ::-1]),
    "reverse several": ({"axis": (0, 2)}, lambda x: x[::-1, :, ::-1]),
    **{
        f"transpose {order}": ({"axes": order}, lambda x, order=order: x.transpose(order))
        for order in itertools.permutations(range(3))
    },
}


@pytest.mark.parametrize("dtype", ["float64", "float16", "int32"])
@pytest.mark.parametrize("key", MOVES)
def test_elements_move_as_in_numpy(key, dtype, evaluate, inferred):
    name, (how, reference) = key.split()[0], MOVES[key]
    data = X.astype(dtype)
    result = evaluate(name, data, **how)
    assert result.dtype == dtype
    assert result.tolist() == reference(data).tolist()
    assert inferred(name, "shape", [X.shape], **how)[1] == [result.shape]


@pytest.mark.parametrize("key", MOVES)
def test_gradients_move_back(key, differentiate, evaluate):
    name, (how, _) = key.split()[0], MOVES[key]
    places = evaluate(name, X, **how)
    (got,) = differentiate(name, X, head=places * 1.0, **how)
    assert got.tolist() == X.tolist()


@pytest.mark.parametrize(
    "name", ["transpose", "Flatten", "expand_dims", "SwapAxis", "reverse", "squeeze"]
)
def test_results_do_not_share_memory_with_the_data(name):
    data = nd.array(X[:, :1] if name == "squeeze" else X)
    how = {"expand_dims": {"axis": 0}, "reverse": {"axis": 0}}.get(name, {})
    before = data.asnumpy().tolist()
    getattr(nd, name)(data, **how)[:] = -1
    assert data.asnumpy().tolist() == before


SQUEEZES = [
    ((1, 3, 1), None, (3,)), ((1, 3, 1), (0,), (3, 1)), ((1, 3, 1), (-1,), (1, 3)),
    ((1, 3, 1), (0, -1), (3,)), ((2, 3), None, (2, 3)),
]  # fmt: skip


@pytest.mark.parametrize("shape, axis, wanted", SQUEEZES)
def test_squeeze_drops_axes_of_length_one(shape, axis, wanted, evaluate, inferred, differentiate):
    data = np.arange(float(np.prod(shape))).reshape(shape)
    assert evaluate("squeeze", data, axis=axis).tolist() == data.reshape(wanted).tolist()
    assert inferred("squeeze", "shape", [shape], axis=axis)[1] == [wanted]
    assert differentiate("squeeze", data, axis=axis)[0].shape == shape


def test_squeeze_of_ones_only_keeps_one_axis():
    assert nd.squeeze(nd.ones((1, 1, 1))).shape == (1,)
    assert sym.squeeze(sym.var("x")).infer_shape(x=(1, 1))[1] == [(1,)]


BAD_AXES = [
    ("expand_dims", {"axis": 4}), ("expand_dims", {"axis": -5}), ("squeeze", {"axis": 5}),
    ("squeeze", {"axis": 1}), ("transpose", {"axes": (0, 1, 5)}), ("transpose", {"axes": (0, 1)}),
    ("transpose", {"axes": (0, 0, 1)}), ("SwapAxis", {"dim1": 0, "dim2": 5}),
    ("reverse", {"axis": 5}),
]  # fmt: skip


@pytest.mark.parametrize("name, how", BAD_AXES)
def test_axes_that_are_not_there_are_refused(name, how):
    with pytest.raises(MXNetError, match=name):
        getattr(nd, name)(nd.array(X), **how)
    with pytest.raises(MXNetError, match=name):
        getattr(sym, name)(sym.var("x"), **how).infer_shape(x=X.shape)


def test_shapes_are_inferred_backwards():
    x, y = sym.var("x"), sym.var("y")
    assert (sym.transpose(x, axes=(1, 0, 2)) + y).infer_shape(y=(3, 2, 4))[0] == [
        (2, 3, 4),
        (3, 2, 4),
    ]
    assert (sym.expand_dims(x, axis=1) + y).infer_shape(y=(2, 1, 3))[0] == [(2, 3), (2, 1, 3)]
    assert (sym.flatten(x) + y).infer_shape_partial(x=(0, 3, 4), y=(2, 12))[0] == [
        (2, 3, 4),
        (2, 12),
    ]
    assert (sym.reverse(x, axis=0) + y).infer_shape(y=(2, 3))[0] == [(2, 3), (2, 3)]


def test_shape_and_size_are_int64_arrays():
    shape, size = nd.shape_array(nd.zeros((2, 3))), nd.size_array(nd.zeros((2, 3)))
    assert (shape.dtype, shape.asnumpy().tolist()) == (np.int64, [2, 3])
    assert (size.dtype, size.asnumpy().tolist()) == (np.int64, [6])
    assert sym.shape_array(sym.var("x")).infer_shape(x=(2, 3, 4))[1] == [(3,)]


def test_empty_axes_pass():
    with autograd.record():
        assert nd.transpose(nd.zeros((2, 3))[0:0]).shape == (3, 0)
    assert nd.zeros((2, 3))[0:0].flatten().shape == (0, 3)
