"""Counting values in bins."""

from __future__ import annotations

import numpy as np

from ..base import AttributeValueError
from ..core.attributes import Floats
from ..core.infer import UnknownShape
from ..core.op import op


def _refuse(received, expected):
    return AttributeValueError(
        f"_histogram: bins is not valid.\n  received  {received}\n  expected  {expected}\n"
        "  fix       pass such bins"
    )


def _range_of(value):
    """The range, checked."""
    if len(value) != 2 or not np.isfinite(value).all() or value[0] > value[1]:
        raise _refuse(f"range={value}", "two finite numbers as range, the lower one first")
    return value


@op(name="_histogram", aliases=("_npi_histogram",), outputs=2, grad="zero")
def histogram(data, bins=None, *, bin_cnt: int | None = None, range: Floats | None = None):
    """How many values fall into each bin, and the edges of the bins.

    The last bin includes its upper edge. Values outside are not counted.

    Parameters
    ----------
    bins : the edges, ascending; or else
    bin_cnt, range : the number of equal bins, and the two numbers they lie between.

    Examples
    --------
    >>> nd._internal._histogram(nd.array([0, 1, 2, 3]), bin_cnt=2, range=(0, 3))[0].asnumpy()
    array([2, 2])
    """
    if data.dtype == np.bool_:
        data = data.view(np.uint8)  # numpy would do so too, and warn
    if bins is not None:
        if np.any(np.diff(bins) < 0):
            raise _refuse(f"falling edges {bins.tolist()[:8]}", "edges in ascending order")
        return np.histogram(data, bins.astype(np.float64))[0].astype(np.int64), bins.copy()
    if bin_cnt is None or bin_cnt < 1:
        raise _refuse(f"bin_cnt={bin_cnt}", "bins, or a bin_cnt of at least 1")
    low, high = (data.min(), data.max()) if range is None else _range_of(range)
    counts, edges = np.histogram(data, bin_cnt, (low, high))
    return counts.astype(np.int64), edges.astype(data.dtype)


@histogram.input_names
def _(bin_cnt, **_):
    return ("data", "bins") if bin_cnt is None else ("data",)


@histogram.shape
def _(s, *, bin_cnt, **_):
    if bin_cnt is not None:
        s.outs = [(bin_cnt,), (bin_cnt + 1,)]
    elif not isinstance(s.bins, UnknownShape) and s.bins is not None and len(s.bins) == 1:
        (edges,) = s.bins
        s.outs = [(edges - 1,), (edges,)]


@histogram.dtype
def _(t, *, bin_cnt, **_):
    t.state(("out", 0), np.int64)
    t.state(("out", 1), t.data if bin_cnt is not None else t.bins)
