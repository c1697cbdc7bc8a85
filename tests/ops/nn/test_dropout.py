"""Dropout: when it drops, what it keeps, where one decision is shared."""

import numpy as np
import pytest

import minigluon as mx
from minigluon import autograd, nd, sym
from minigluon.base import AttributeValueError, DTypeError, ShapeError

ONES = nd.ones((200, 50))


@pytest.fixture(autouse=True)
def _seeded():
    mx.random.seed(11)


def test_prediction_passes_everything():
    assert nd.Dropout(ONES, p=0.5).asnumpy().tolist() == ONES.asnumpy().tolist()
    with autograd.record(train_mode=False):
        assert (nd.Dropout(ONES, p=0.5) == 1).asnumpy().all()


def test_outside_recording_train_mode_alone_turns_it_on():
    with autograd.train_mode():
        assert (nd.Dropout(ONES, p=0.5) == 0).asnumpy().any()


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_the_mean_is_kept_in_training(p):
    with autograd.record():
        kept = nd.Dropout(ONES, p=p).asnumpy()
    values = sorted(set(kept.ravel().tolist()))
    np.testing.assert_allclose(values, [0, 1 / (1 - p)], rtol=1e-6)
    deviation = np.sqrt(p / (1 - p) / kept.size)
    assert abs(kept.mean() - 1) < 5 * deviation


def test_always_drops_in_prediction_too():
    assert (nd.Dropout(ONES, p=0.5, mode="always") == 0).asnumpy().any()


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_one_decision_is_shared_along_axes(axis):
    dropped = nd.Dropout(ONES, p=0.5, mode="always", axes=(axis,)).asnumpy() == 0
    assert (dropped.all(axis=axis) | ~dropped.any(axis=axis)).all()
    assert 0 < dropped.mean() < 1


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_gradient_passes_where_data_did(dtype):
    x = nd.ones((20, 20), dtype=dtype)
    x.attach_grad()
    with autograd.record():
        y = nd.Dropout(x, p=0.25)
    y.backward()
    assert x.grad.asnumpy().tolist() == y.asnumpy().tolist()
    assert y.dtype == x.dtype


@pytest.mark.parametrize("p, wanted", [(0, 1), (1, 0)])
def test_the_ends_keep_or_drop_everything(p, wanted):
    assert (nd.Dropout(ONES, p=p, mode="always") == wanted).asnumpy().all()


def test_a_seed_repeats_the_decisions():
    masks = []
    for _ in range(2):
        mx.random.seed(5)
        masks.append(nd.Dropout(ONES, p=0.5, mode="always").asnumpy().tobytes())
    assert masks[0] == masks[1]


def test_one_output_is_seen():
    dropped = sym.Dropout(sym.var("x"), p=0.5, name="d")
    assert dropped.list_outputs() == ["d_output"]
    assert dropped.infer_shape(x=(2, 3))[1] == [(2, 3)]


@pytest.mark.parametrize("p", [-0.1, 1.5, "many"])
def test_p_is_a_probability(p):
    with pytest.raises(AttributeValueError, match=r"(?s)Dropout: attribute p.*0 to 1"):
        nd.Dropout(ONES, p=p)


def test_axes_that_are_not_there_are_refused():
    with pytest.raises(ShapeError, match="Dropout"):
        nd.Dropout(ONES, p=0.5, mode="always", axes=(5,))
    with pytest.raises(ShapeError, match="Dropout"):
        sym.Dropout(sym.var("x"), axes=(5,)).infer_shape(x=(2, 3))


def test_whole_numbers_are_refused_as_in_mxnet():
    with pytest.raises(DTypeError, match="Dropout"):
        nd.Dropout(nd.ones(2, dtype="int32"))
