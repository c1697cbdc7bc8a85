"""Pooling kernels against windows cut out one by one."""

from itertools import product

import numpy as np
import pytest

from minigluon.kernels import pooling
from minigluon.kernels.pooling import Pool

CASES = [
    ((2, 3, 7), Pool((3,), (2,), (1,), (4,))),
    ((2, 2, 6, 7), Pool((2, 3), (2, 1), (0, 1), (3, 7))),
    ((1, 2, 5, 5), Pool((3, 3), (2, 2), (1, 1), (3, 3))),
    ((1, 2, 5, 6), Pool((2, 2), (2, 2), (0, 0), (3, 3))),  # the last row sticks out
    ((1, 2, 3, 4, 3), Pool((2, 2, 2), (1, 2, 1), (1, 0, 0), (4, 2, 2))),
    ((2, 3, 4, 5), Pool((4, 5), (1, 1), (0, 0), (1, 1))),
    ((1, 2, 6, 7), Pool((3, 3), (1, 1), (1, 1), (6, 7))),
    ((1, 2, 7, 7), Pool((2, 2), (3, 3), (1, 1), (3, 3))),
    ((1, 1, 9, 10), Pool((2, 4), (3, 3), (0, 0), (3, 3))),
    ((1, 2, 4, 6), Pool((2, 2), (2, 2), (0, 0), (2, 3))),
    ((2, 1, 9, 50), Pool((3, 3), (2, 2), (1, 1), (5, 25))),
    ((1, 2, 8, 70), Pool((2, 8), (1, 3), (1, 2), (9, 23))),
    ((1, 1, 20, 20), Pool((17, 18), (1, 1), (0, 0), (4, 3))),
]


def windows(data, pool):
    """Every place, with the indices of the elements in its window."""
    for place in product(*map(range, pool.places)):
        at = []
        for axis, (q, size) in enumerate(zip(place, data.shape[2:], strict=True)):
            begin = q * pool.stride[axis] - pool.pad[axis]
            at.append([i for i in range(begin, begin + pool.kernel[axis]) if 0 <= i < size])
        yield place, np.ix_(*[range(n) for n in data.shape[:2]], *at)


@pytest.fixture(params=[True, False], ids=["compiled", "numpy"], autouse=True)
def path(request, monkeypatch):
    """Both ways of taking maxima."""
    fewest = 0 if request.param else 10**9
    monkeypatch.setattr(pooling, "FEWEST_FOR_NUMBA", fewest)


@pytest.mark.parametrize("shape, pool", CASES)
def test_sums_and_maxima_are_those_of_the_windows(shape, pool):
    data = np.random.default_rng(0).standard_normal(shape)
    sums, (best, _) = pooling.add_up(data, pool), pooling.largest(data, pool)
    for place, index in windows(data, pool):
        part = data[index].reshape(*shape[:2], -1)
        np.testing.assert_allclose(sums[(..., *place)], part.sum(-1), rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(best[(..., *place)], part.max(-1))


@pytest.mark.parametrize("shape, pool", CASES)
def test_a_value_given_back_goes_where_it_came_from(shape, pool):
    rng = np.random.default_rng(1)
    data = rng.integers(0, 3, shape).astype(float)  # many ties
    g = rng.standard_normal((*shape[:2], *pool.places))
    best, winner = pooling.largest(data, pool)
    wanted, summed = np.zeros(shape), np.zeros(shape)
    for place, index in windows(data, pool):
        summed[index] += g[(..., *place)].reshape(*shape[:2], *[1] * len(place))
        for n, c in np.ndindex(shape[:2]):
            part = data[n, c][tuple(i[0, 0] for i in index[2:])]
            first = np.unravel_index(np.argmax(part), part.shape)
            spot = tuple(i.ravel()[k] for i, k in zip(index[2:], first, strict=True))
            wanted[(n, c, *spot)] += g[(n, c, *place)]
    found = pooling.spread_largest(g, winner, pool, shape[2:])
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        pooling.spread_sum(g, pool, shape[2:]), summed, rtol=1e-12, atol=1e-12
    )
    np.testing.assert_array_equal(pooling.pick_largest(data, winner, pool), best)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape, pool", CASES)
def test_averages_are_sums_times_a_factor_for_each_place(shape, pool, dtype):
    data = np.random.default_rng(2).integers(-4, 5, shape).astype(dtype)
    factor = np.arange(1.0, 1.0 + np.prod(pool.places)).reshape(pool.places).astype(dtype)
    found = pooling.scaled_sums(data, pool, factor)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, pooling.add_up(data, pool) * factor)
    plain = pooling.scaled_sums(data, pool, None)
    np.testing.assert_array_equal(plain, pooling.add_up(data, pool))


@pytest.mark.parametrize("stride, places", [((1, 1), (2, 2)), ((1, 2), (2, 1))])
def test_nan_is_never_the_largest(stride, places):
    # MXNet: the same, but the lowest finite number where there is nothing else
    data = np.array([[[[1, np.nan, 3], [np.nan, np.nan, 0]]]], np.float32)
    best, _ = pooling.largest(data, Pool((1, 2), stride, (0, 0), places))
    wanted = np.array([[1, 3], [-np.inf, 0]])
    np.testing.assert_array_equal(best[0, 0], wanted[:, : places[1]])


def test_numbers_that_no_window_has_do_no_harm():
    pool = Pool((2, 2), (2, 2), (0, 0), (1, 1))
    wrong = np.full((1, 1, 1, 1), 200, np.uint8)
    pooling.spread_largest(np.ones((1, 1, 1, 1)), wrong % 4, pool, (2, 2))
    with np.errstate(all="raise"):
        assert pooling.spread_largest(np.ones((1, 1, 1, 1)), wrong % 4, pool, (1, 1)).sum() <= 1


@pytest.mark.parametrize("include, wanted", [(True, [3, 3, 3, 2]), (False, [2, 3, 3, 1])])
def test_counts_end_where_padding_ends(include, wanted):
    pool = Pool((3,), (2,), (1,), (4,))
    assert pooling.counts(pool, (6,), include).tolist() == wanted


def test_grid_parts_overlap_where_sizes_do_not_divide():
    np.testing.assert_allclose(
        pooling.grid_weights(5, 3, np.float64) * [[2], [3], [2]],
        [[1, 1, 0, 0, 0], [0, 1, 1, 1, 0], [0, 0, 0, 1, 1]],
    )
