"""Kernels for one set of shapes give the bits of the operators' own."""

import numpy as np
import pytest

from minigluon.core.op import registry
from minigluon.core.plan.fuse import EXACT

AXES = [None, (0,), (1,), (0, 2), (-1,), (0, 1, 2)]


def same(got, wanted):
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("exclude", [False, True])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", AXES)
def test_means_and_what_they_pass_back(axis, keepdims, exclude, dtype):
    x = np.random.default_rng(0).normal(size=(3, 4, 5)).astype(dtype)
    how = {"axis": axis, "keepdims": keepdims, "exclude": exclude}
    wanted = registry["mean"].dense(x, **how)
    same(EXACT["mean"]([x.shape], x.dtype, **how)(x), wanted)
    g = np.asarray(wanted) * 3
    back = EXACT["_spread_mean"]([g.shape, x.shape], x.dtype, **how)
    same(back(g, x), registry["_spread_mean"].dense(g, x, **how))


def test_other_types_have_none():
    how = {"axis": None, "keepdims": False, "exclude": False}
    assert EXACT["mean"]([(2, 3)], np.dtype("float16"), **how) is None
    assert EXACT["_spread_mean"]([(2,), (2, 3)], np.dtype("int32"), **how) is None
