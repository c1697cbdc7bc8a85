"""Samplers: moments, parameters, seeds; indices, shuffling, distinct draws."""

import numpy as np
import pytest

import minigluon as mx
from minigluon import MXNetError, autograd, nd

#: name -> (attributes, mean, variance)
MOMENTS = {
    "exponential": ({"scale": 0.5}, 0.5, 0.25),
    "gamma": ({"alpha": 5, "beta": 0.2}, 1.0, 0.2),
    "poisson": ({"lam": 3}, 3.0, 3.0),
    "negative_binomial": ({"k": 5, "p": 0.2}, 20.0, 100.0),
    "generalized_negative_binomial": ({"mu": 5, "alpha": 0.2}, 5.0, 10.0),
}


@pytest.mark.parametrize("name", MOMENTS)
@pytest.mark.parametrize("arrays", [False, True])
def test_means_and_variances_are_those_of_the_distribution(name, arrays):
    attrs, mean, variance = MOMENTS[name]
    if arrays:
        attrs = {k: nd.array([v]) for k, v in attrs.items()}
    mx.random.seed(3)
    drawn = getattr(nd.random, name)(**attrs, shape=20000).asnumpy()
    assert drawn.mean() == pytest.approx(mean, rel=0.05)
    assert drawn.var() == pytest.approx(variance, rel=0.1)


@pytest.mark.parametrize("name", [*MOMENTS, "randint"])
def test_a_seed_makes_draws_repeat(name):
    attrs = MOMENTS[name][0] if name in MOMENTS else {"low": 0, "high": 2**30}
    draws = []
    for seed in (1, 1, 2):
        mx.random.seed(seed)
        draws.append(getattr(nd.random, name)(**attrs, shape=50).asnumpy().tolist())
    assert draws[0] == draws[1]
    assert draws[0] != draws[2]


@pytest.mark.parametrize(
    ("name", "attrs", "parameter"),
    [
        ("poisson", {"lam": -1}, "lam"),
        ("exponential", {"scale": -1}, "lam"),
        ("gamma", {"alpha": 0}, "alpha"),
        ("gamma", {"beta": 0}, "beta"),
        ("negative_binomial", {"k": -1, "p": 0.5}, "k"),
        ("negative_binomial", {"k": 1, "p": 1.5}, "p"),
        ("negative_binomial", {"k": 1, "p": 0}, "p"),
        ("generalized_negative_binomial", {"mu": -1}, "mu"),
        ("generalized_negative_binomial", {"alpha": -1}, "alpha"),
        ("poisson", {"lam": float("nan")}, "lam"),
    ],
)
@pytest.mark.parametrize("arrays", [False, True])
def test_parameters_outside_their_range_are_refused(name, attrs, parameter, arrays):
    if arrays:
        defaults = {"k": 1, "p": 0.5} if name == "negative_binomial" else {"mu": 1, "alpha": 1}
        full = {**(defaults if "binomial" in name else {}), **attrs}
        full = {"alpha": 1, "beta": 1, **full} if name == "gamma" else full
        attrs = {k: nd.array([1.0 * v]) for k, v in full.items()}
    with pytest.raises(MXNetError, match=f"{parameter} is not valid"):
        getattr(nd.random, name)(**attrs)


@pytest.mark.parametrize(("low", "high"), [(3, 3), (3, 1), (0, 2**40)])
def test_randint_refuses_empty_and_too_wide_ranges(low, high):
    with pytest.raises(MXNetError, match="randint"):
        nd.random.randint(low, high)


def test_randint_covers_its_range():
    drawn = nd.random.randint(-2, 3, shape=500, dtype="int64").asnumpy()
    assert set(drawn.tolist()) == {-2, -1, 0, 1, 2}


def test_limits_of_distributions_are_drawn():
    assert nd.random.poisson(0).asscalar() == 0
    assert nd.random.negative_binomial(0, 0.5).asscalar() == 0
    assert nd.random.negative_binomial(3, 1).asscalar() == 0
    assert nd.random.generalized_negative_binomial(0, 1).asscalar() == 0
    mx.random.seed(0)
    drawn = nd.random.generalized_negative_binomial(4, 0, shape=20000).asnumpy()
    assert drawn.var() == pytest.approx(4, rel=0.1)
    assert nd.random.poisson(1e20).asscalar() == pytest.approx(1e20)


def test_like_samplers_follow_shape_and_dtype():
    like = nd.zeros((2, 3), dtype="float64")
    drawn = nd.random.poisson_like(like, lam=4)
    assert (drawn.shape, drawn.dtype) == ((2, 3), np.float64)


def test_array_samplers_give_single_precision_unless_told():
    rates = nd.array([1, 2], dtype="float64")
    assert nd.sample_poisson(rates).dtype is np.float32
    assert nd.sample_poisson(rates, dtype="float16").dtype is np.float16
    assert nd.sample_poisson(rates, shape=(3, 4)).shape == (2, 3, 4)


def test_sampling_into_row_sparse_equals_the_dense_draw():
    mx.random.seed(5)
    dense = nd.random.poisson(2, shape=(4, 3))
    mx.random.seed(5)
    sparse = nd.sparse.zeros("row_sparse", (4, 3))
    nd.random.poisson(2, shape=(4, 3), out=sparse)
    np.testing.assert_array_equal(sparse.asnumpy(), dense.asnumpy())


# ---- multinomial


@pytest.mark.parametrize(
    ("data", "shape", "result"),
    [
        ((3,), (), (1,)),
        ((3,), (4,), (4,)),
        ((2, 3), (), (2,)),
        ((2, 3), (4,), (2, 4)),
        ((1, 2, 3), (2, 2), (1, 2, 2, 2)),
    ],
)
def test_draws_come_in_the_shape_of_rows_and_counts(data, shape, result):
    drawn, logarithm = nd.sample_multinomial(nd.ones(data) / 3, shape=shape, get_prob=True)
    assert drawn.shape == logarithm.shape == result
    assert drawn.dtype is np.int32
    np.testing.assert_allclose(logarithm.asnumpy(), np.log(1 / 3), rtol=1e-6)


def test_frequencies_follow_the_probabilities_and_zeros_are_never_drawn():
    mx.random.seed(1)
    drawn = nd.random.multinomial(nd.array([0, 0.2, 0, 0.6, 0]), shape=20000).asnumpy()
    counts = np.bincount(drawn, minlength=5) / drawn.size
    np.testing.assert_allclose(counts, [0, 0.25, 0, 0.75, 0], atol=0.02)


def test_the_logarithms_carry_the_gradient():
    data = nd.array([[0.25, 0.75], [1.0, 0.0]])
    data.attach_grad()
    mx.random.seed(0)
    with autograd.record():
        drawn, logarithm = nd.random.multinomial(data, shape=6, get_prob=True)
    logarithm.backward()
    zeros = np.count_nonzero(drawn.asnumpy()[0] == 0)
    wanted = [[zeros / 0.25, (6 - zeros) / 0.75], [6, 0]]
    np.testing.assert_allclose(data.grad.asnumpy(), wanted, rtol=1e-6)


@pytest.mark.parametrize("row", [[0, 0], [-1, 2], [float("nan"), 1], [float("inf"), 1]])
def test_what_are_no_probabilities_is_refused(row):
    with pytest.raises(MXNetError, match="these are no probabilities"):
        nd.random.multinomial(nd.array(row))


# ---- order and distinct numbers


def test_shuffle_moves_whole_rows_and_has_no_gradient():
    x = nd.arange(20).reshape((10, 2))
    x.attach_grad()
    with autograd.record():
        y = nd.random.shuffle(x)
    assert sorted(map(tuple, y.asnumpy().tolist())) == list(map(tuple, x.asnumpy().tolist()))
    with pytest.raises(MXNetError, match="_shuffle"):
        y.backward()


def test_zipfian_draws_are_distinct_and_small_ones_are_frequent():
    mx.random.seed(2)
    numbers, tries = nd._internal._sample_unique_zipfian(1000, shape=(50, 20))
    rows = numbers.asnumpy()
    assert (rows.dtype, rows.shape, tries.shape) == (np.int64, (50, 20), (50,))
    assert all(len(set(row)) == 20 for row in rows)
    assert (tries.asnumpy() >= 20).all()
    assert np.count_nonzero(rows == 0) > 45
    assert 0 <= rows.min() <= rows.max() < 1000
    with pytest.raises(MXNetError, match="not so many distinct numbers"):
        nd._internal._sample_unique_zipfian(4, shape=(1, 5))
