"""Compiled loops over rows of matrices."""

import numpy as np
import pytest

from minigluon.kernels import tiles
from minigluon.kernels.rowwise import Rowwise

pytestmark = pytest.mark.skipif(not tiles.available(), reason="llvmlite is not there")


def test_each_step_sees_its_own_matrices_and_one_of_the_step_before():
    loop = Rowwise("float64", ["x", "bias", "before"], ["y"], lambda v: {
        "y": v["x"] * 2.0 + v["bias"] + v["before"]
    })  # fmt: skip
    x = np.arange(24.0).reshape(3, 2, 4)
    bias, first = np.arange(4.0), np.full((2, 4), 100.0)
    y = np.zeros((3, 2, 6))[..., :4]  # rows apart
    table = loop.table(3, x=x, bias=bias, before=y, y=y)
    loop.delay(table, "before", first)
    for step in loop.steps(table, 2, 4):
        step()
    before = first
    for t in range(3):
        np.testing.assert_array_equal(y[t], x[t] * 2 + bias + before)
        before = y[t]
