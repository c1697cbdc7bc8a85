"""Batches: dtypes and nesting as recorded from MXNet 1.9.1."""

import numpy as np
import pytest

from minigluon import nd
from minigluon.gluon.data import default_batchify_fn, default_mp_batchify_fn


@pytest.mark.parametrize("batchify", [default_batchify_fn, default_mp_batchify_fn])
def test_arrays_are_stacked(batchify):
    batch = batchify([nd.ones(2), nd.zeros(2)])
    assert batch.asnumpy().tolist() == [[1, 1], [0, 0]]
    assert batch.dtype == np.float32


def test_tuples_give_a_list_of_arrays():
    labels, (rows, scales) = default_batchify_fn([(1, (nd.ones(2), 2.5)), (2, (nd.ones(2), 3.5))])
    assert labels.asnumpy().tolist() == [1, 2]
    assert rows.shape == (2, 2)
    assert scales.asnumpy().tolist() == [2.5, 3.5]


@pytest.mark.parametrize(
    ("sample", "dtype"),
    [
        (1, "int64"),
        (1.5, "float64"),
        (np.float64(1), "float64"),
        (np.int8(1), "int8"),
        (True, "bool"),
        (np.ones(2, "float16"), "float16"),
        ([1, 2], "int64"),
    ],
)
def test_numbers_and_numpy_arrays_keep_their_dtype(sample, dtype):
    assert default_batchify_fn([sample, sample]).dtype == np.dtype(dtype)


@pytest.mark.parametrize("make", [nd.ones, np.ones])
def test_shapes_that_differ_are_named(make):
    with pytest.raises(ValueError, match=r"shape \(2,\) and shape \(3,\)"):
        default_batchify_fn([make(2), make(3)])


def test_samples_of_different_length_are_refused():
    with pytest.raises(ValueError, match="samples of 1 and 2 values"):
        default_batchify_fn([(1, 2), (3,)])


@pytest.mark.parametrize("sample", ["a", {"a": 1}, None])
def test_what_makes_no_array_is_named(sample):
    with pytest.raises(TypeError, match=f"a sample of type {type(sample).__name__}"):
        default_batchify_fn([sample, sample])
