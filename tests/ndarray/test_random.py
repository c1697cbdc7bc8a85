"""``mx.nd.random``: what is drawn, in which shape and dtype."""

import numpy as np
import pytest

import minigluon as mx
from minigluon import nd

SINGLE = {
    "uniform": {}, "normal": {}, "poisson": {}, "exponential": {}, "gamma": {},
    "negative_binomial": {"k": 2, "p": 0.5},
    "generalized_negative_binomial": {}, "randint": {"low": 0, "high": 5},
}  # fmt: skip


@pytest.mark.parametrize("name", SINGLE)
def test_shape_dtype_and_context_are_as_asked(name):
    draw, parameters = getattr(nd.random, name), SINGLE[name]
    assert draw(**parameters).shape == (1,)
    made = draw(**parameters, shape=(2, 3), ctx=mx.cpu(1))
    assert (made.shape, made.context) == ((2, 3), mx.cpu(1))
    assert made.dtype is (np.int32 if name == "randint" else np.float32)
    wide = "int64" if name == "randint" else "float64"
    assert draw(**parameters, shape=2, dtype=wide).dtype is np.dtype(wide).type


def test_samples_go_into_out():
    out = nd.zeros((100,))
    assert nd.random.uniform(1, 2, out=out) is out
    assert out.min().asscalar() >= 1 and out.max().asscalar() < 2


def test_exponential_takes_the_mean():
    mx.random.seed(3)
    drawn = nd.random.exponential(5, shape=(4000,)).asnumpy()
    assert drawn.mean() == pytest.approx(5, rel=0.1)


def test_arrays_of_parameters_give_samples_for_each():
    low, high = nd.array([0, 10]), nd.array([1, 11])
    drawn = nd.random.uniform(low, high, shape=(50,)).asnumpy()
    assert drawn.shape == (2, 50)
    assert ((drawn[0] >= 0) & (drawn[0] < 1)).all() and ((drawn[1] >= 10) & (drawn[1] < 11)).all()
    assert nd.random.normal(low, high).shape == (2,)


def test_mixing_arrays_and_numbers_is_a_value_error():
    with pytest.raises(ValueError, match="all be NDArrays or all be numbers"):
        nd.random.uniform(nd.array([0, 1]), 2)


def test_randn_takes_the_shape_as_numbers():
    assert nd.random.randn(2, 3).shape == (2, 3)
    assert nd.random.randn(4, loc=nd.array([1.0]), scale=nd.array([1.0])).shape == (1, 4)


def test_multinomial_draws_indices_of_probable_values():
    drawn = nd.random.multinomial(nd.array([[0, 1, 0], [0, 0, 1]]), shape=4)
    assert drawn.dtype is np.int32
    assert drawn.asnumpy().tolist() == [[1] * 4, [2] * 4]


def test_shuffle_keeps_the_rows():
    rows = nd.random.shuffle(nd.arange(10)).asnumpy()
    assert sorted(rows.tolist()) == list(range(10))
