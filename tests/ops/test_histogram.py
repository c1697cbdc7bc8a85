"""Counting values in bins (known bug 47)."""

import numpy as np
import pytest

from minigluon import MXNetError, nd

count = nd._internal._histogram
X = nd.array([0, 1, 2, 3])


def test_equal_bins_include_the_last_edge():
    counts, edges = count(X, bin_cnt=2, range=(0, 3))
    assert (counts.asnumpy().tolist(), edges.asnumpy().tolist()) == ([2, 2], [0, 1.5, 3])
    assert (counts.dtype, edges.dtype) == (np.int64, np.float32)


@pytest.mark.parametrize(
    ("edges", "wanted"), [([0, 1, 1, 3], [1, 0, 3]), ([0, 1, 2, 3], [1, 1, 2])]
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_given_edges_are_counted_as_by_numpy(edges, wanted, dtype):
    counts, same = count(X, nd.array(edges, dtype=dtype))
    assert counts.asnumpy().tolist() == wanted
    assert same.asnumpy().tolist() == edges


def test_bins_that_are_none_are_refused():
    for bins in (0, -1):
        with pytest.raises(MXNetError, match="bins"):
            count(X, bin_cnt=bins, range=(0, 3))
    with pytest.raises(MXNetError, match="bins"):
        count(X, nd.array([0, 2, 1, 3]))
    with pytest.raises(MXNetError, match="range"):
        count(X, bin_cnt=2, range=(3, 0))


def test_truth_values_are_counted_as_zeros_and_ones():
    counts, _ = nd._internal._histogram(
        nd.array([1, 0, 1], dtype="bool"), bin_cnt=2, range=(0.0, 1.0)
    )
    assert counts.asnumpy().tolist() == [1, 2]
