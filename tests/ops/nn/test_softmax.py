"""softmax, log_softmax, softmin, SoftmaxActivation, softmax_cross_entropy."""

import numpy as np
import pytest
from scipy import special

from minigluon import nd, sym
from minigluon.base import DTypeError, MXNetError, ShapeError

X = np.random.default_rng(0).normal(size=(2, 3, 4))
REFERENCES = {
    "softmax": special.softmax,
    "log_softmax": special.log_softmax,
    "softmin": lambda x, axis: special.softmax(-x, axis),
}


@pytest.mark.parametrize("temperature", [None, 2.5])
@pytest.mark.parametrize("axis", [0, 1, -1, -3])
@pytest.mark.parametrize("name", REFERENCES)
def test_values_are_those_of_scipy(name, axis, temperature, evaluate, assert_close, inferred):
    how = {"axis": axis, "temperature": temperature}
    assert_close(
        evaluate(name, X, **how), REFERENCES[name](X / (temperature or 1), axis=axis), ulps=32
    )
    assert inferred(name, "shape", [X.shape], **how)[1] == [X.shape]


@pytest.mark.parametrize("temperature", [None, 0.5])
@pytest.mark.parametrize("axis", [1, -1])
@pytest.mark.parametrize("name", REFERENCES)
def test_gradients_are_the_slopes(name, axis, temperature, differentiate, evaluate):
    how = {"axis": axis, "temperature": temperature}
    head = np.random.default_rng(1).normal(size=X.shape)
    (got,) = differentiate(name, X, head=head, **how)
    wanted = np.zeros(X.shape)
    for at in np.ndindex(X.shape):
        moved = [X.copy(), X.copy()]
        for x, sign in zip(moved, (1, -1), strict=True):
            x[at] += sign * 1e-6
        up, down = (np.sum(evaluate(name, x, **how) * head) for x in moved)
        wanted[at] = (up - down) / 2e-6
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("name", REFERENCES)
def test_large_numbers_do_not_overflow(name, evaluate):
    assert np.isfinite(evaluate(name, np.array([[1000.0, -1000.0, 0.0]]))).all()
    result = evaluate("softmax", np.array([-np.inf, 0, 0]))
    assert result.tolist() == [0, 0.5, 0.5]


@pytest.mark.parametrize("name", REFERENCES)
def test_half_precision_is_summed_in_single_precision(name, evaluate):
    result = evaluate(name, np.zeros(4096, np.float16))  # in float16 sums of ones stop at 2048
    assert result.dtype == np.float16
    wanted = -np.log(4096) if name == "log_softmax" else 1 / 4096
    np.testing.assert_allclose(result.astype("float64"), wanted, rtol=1e-3)


@pytest.mark.parametrize("name", REFERENCES)
def test_dtype_is_what_is_computed_and_returned_in(
    name, evaluate, differentiate, inferred, assert_close
):
    data = X.astype("float32")
    result = evaluate(name, data, dtype="float64")
    assert result.dtype == np.float64
    assert_close(result, REFERENCES[name](data.astype("float64"), axis=-1), ulps=32)
    assert differentiate(name, data, dtype="float64")[0].dtype == np.float32
    assert inferred(name, "dtype", ["float32"], dtype="float64")[1] == [np.dtype("float64")]


@pytest.mark.parametrize("name", REFERENCES)
def test_whole_numbers_are_refused_unless_a_dtype_is_given(name):
    data = nd.array([1, 2], dtype="int32")
    with pytest.raises(DTypeError, match=rf"(?s){name}: .*received.*int32.*expected.*fix"):
        getattr(nd, name)(data)
    result = getattr(nd, name)(data, dtype="float32").asnumpy()
    np.testing.assert_allclose(result, REFERENCES[name](np.array([1.0, 2.0]), axis=-1), rtol=1e-5)


LENGTHS = {
    0: [0, 0, 0],
    2: [0.26894142, 0.73105858, 0],
    3: [0.09003057, 0.24472847, 0.66524096],
    5: [0.09003057, 0.24472847, 0.66524096],
}


@pytest.mark.parametrize("length", LENGTHS)
def test_lengths_hide_the_end_of_a_row(length, evaluate, differentiate):
    data = np.array([[1.0, 2, 3]])
    result = evaluate("softmax", data, np.array([length], "int32"), use_length=True)
    np.testing.assert_allclose(result, [LENGTHS[length]], atol=1e-8)  # 5 is beyond the row
    head = np.array([[1.0, 0, 0]])
    got, _ = differentiate("softmax", data, np.array([length]), head=head, use_length=True)
    p = np.array(LENGTHS[length])
    np.testing.assert_allclose(got[0], p * (head[0] - p[0]), atol=1e-8)


def test_lengths_are_those_of_rows_along_any_axis(evaluate, inferred):
    lengths = np.array([[1, 2, 3, 0], [3, 2, 0, 1]])
    result = evaluate("softmax", X, lengths, axis=1, use_length=True)
    assert ((result > 0).sum(axis=1) == lengths).all()
    found = inferred("softmax", "shape", [X.shape, None], axis=1, use_length=True)
    assert found[0] == [X.shape, (2, 4)]


@pytest.mark.parametrize("name", ["log_softmax", "softmin"])
def test_only_softmax_takes_lengths(name):
    with pytest.raises(MXNetError, match=name):
        getattr(nd, name)(nd.ones((2, 3)), use_length=True)


@pytest.mark.parametrize("name", REFERENCES)
def test_the_axis_can_be_given_by_position(name, assert_close):
    x = nd.array(X)
    if name != "softmax":  # there the second is the lengths, as in MXNet
        assert_close(getattr(nd, name)(x, 1).asnumpy(), REFERENCES[name](X, axis=1), ulps=32)


@pytest.mark.parametrize("name", REFERENCES)
def test_an_axis_that_is_not_there_is_refused(name):
    with pytest.raises(MXNetError, match=name):
        getattr(nd, name)(nd.ones((2, 3)), axis=5)
    with pytest.raises(ShapeError, match=name):
        getattr(sym, name)(sym.var("x"), axis=5).infer_shape(x=(2, 3))


@pytest.mark.parametrize("mode, axis", [("instance", -1), ("channel", 1)])
def test_softmax_activation_is_softmax_along_an_axis(
    mode, axis, evaluate, differentiate, assert_close
):
    assert_close(evaluate("SoftmaxActivation", X, mode=mode), special.softmax(X, axis), ulps=32)
    got = differentiate("SoftmaxActivation", X, head=X, mode=mode)[0]
    assert_close(got, differentiate("softmax", X, head=X, axis=axis)[0], ulps=32)


def test_softmax_cross_entropy_sums_the_losses(evaluate, differentiate, slopes, assert_close):
    data, label = X[0], np.array([0.0, 3, 1])
    wanted = -special.log_softmax(data, -1)[range(3), [0, 3, 1]].sum()
    assert_close(evaluate("softmax_cross_entropy", data, label), [wanted], ulps=64)
    got, none = differentiate("softmax_cross_entropy", data, label)
    wanted = special.softmax(data, -1) - np.eye(4)[[0, 3, 1]]
    np.testing.assert_allclose(got, wanted, atol=1e-10)
    assert not none.any()


@pytest.mark.parametrize("data, label", [((3, 4), (2,)), ((3, 4, 2), (3,)), ((3, 4), (3, 1))])
def test_softmax_cross_entropy_wants_rows_and_class_numbers(data, label):
    with pytest.raises(ShapeError, match="softmax_cross_entropy"):
        nd.softmax_cross_entropy(nd.ones(data), nd.zeros(label))
    with pytest.raises(ShapeError, match="softmax_cross_entropy"):
        sym.softmax_cross_entropy(sym.var("a"), sym.var("b")).infer_shape(a=data, b=label)
