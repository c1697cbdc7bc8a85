import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minigluon.kernels import extremes
from minigluon.storage import cast

UFUNCS = {"max": np.maximum, "min": np.minimum, "prod": np.multiply}


def numbers(shape, seed, dtype):
    """Few different numbers, so that there are ties, and now and then full or empty lines."""
    r = np.random.RandomState(seed)
    dense = r.randint(-2, 3, shape) * (r.rand(*shape) < r.choice([0.3, 0.8, 1]))
    dense[r.rand(shape[0]) < 0.2] = 0
    return dense.astype(dtype)


@given(
    shape=st.tuples(st.integers(1, 5), st.integers(1, 5)),
    axes=st.sampled_from([(0,), (1,), (0, 1)]),
    name=st.sampled_from(sorted(UFUNCS)),
    stype=st.sampled_from(["csr", "row_sparse"]),
    dtype=st.sampled_from([np.float16, np.float32, np.float64, np.int32, np.int64]),
    seed=st.integers(0, 99),
)
def test_zeros_that_are_not_stored_count(shape, axes, name, stype, dtype, seed):
    dense = numbers(shape, seed, dtype)
    result = extremes.reduced(UFUNCS[name], cast(dense, stype), axes)
    np.testing.assert_array_equal(result, UFUNCS[name].reduce(dense, axis=axes, dtype=dtype))
    assert np.asarray(result).dtype == dtype


@pytest.mark.parametrize("stype", ["csr", "row_sparse"])
@pytest.mark.parametrize("name", UFUNCS)
def test_nan_propagates(stype, name):
    dense = np.float32([[0, np.nan, 2], [1, 0, 0]])
    for axes in ((0,), (1,), (0, 1)):
        result = extremes.reduced(UFUNCS[name], cast(dense, stype), axes)
        np.testing.assert_array_equal(result, UFUNCS[name].reduce(dense, axis=axes))


@pytest.mark.parametrize("axes", [(0,), (1,), (2,), (0, 2), (1, 2)])
def test_row_sparse_arrays_of_three_dimensions(axes):
    dense = numbers((4, 3, 2), 8, np.float32)
    for ufunc in UFUNCS.values():
        result = extremes.reduced(ufunc, cast(dense, "row_sparse"), axes)
        np.testing.assert_array_equal(result, ufunc.reduce(dense, axis=axes))


@given(
    shape=st.tuples(st.integers(1, 5), st.integers(1, 5)),
    axis=st.integers(0, 1),
    seed=st.integers(0, 199),
)
def test_positions_are_those_of_the_first_extreme(shape, axis, seed):
    dense = numbers(shape, seed, np.float32)
    csr = cast(dense, "csr")
    if csr.values.size and seed % 3 == 0:
        csr.values[0] = 0  # a zero that is stored
        dense = cast(csr, "default")
    np.testing.assert_array_equal(extremes.positions(csr, axis, True), dense.argmax(axis))
    np.testing.assert_array_equal(extremes.positions(csr, axis, False), dense.argmin(axis))


def test_positions_of_nan():
    dense = np.float32([[1, np.nan, np.nan], [0, 0, np.nan]])
    assert extremes.positions(cast(dense, "csr"), 1, True).tolist() == [1, 2]
