"""Which tiles are chosen, and how left operands are copied for them."""

import numpy as np
import pytest

from minigluon.kernels import _llvm, tiles

pytestmark = pytest.mark.skipif(not tiles.available(), reason="llvmlite is not there")


@pytest.mark.parametrize("filters", [1, 7, 13, 64, 513])
@pytest.mark.parametrize("columns", [1, 5, 200])
def test_a_tile_fits_the_registers_and_the_matrix(filters, columns):
    rows, vectors = tiles.tile_sizes(filters, columns)
    assert 1 <= rows <= filters
    assert 1 <= vectors <= columns
    assert rows * vectors <= _llvm.registers() - 4


@pytest.mark.parametrize("filters, most", [(64, 13), (5, 5), (7, 2), (1, 9)])
def test_blocks_are_as_equal_as_can_be_and_make_the_whole(filters, most):
    parts = tiles.split(filters, most)
    sizes = [n for n, many in parts for _ in range(many)]
    assert sum(sizes) == filters
    assert max(sizes) <= most
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("depth", [1, 4, 11])
@pytest.mark.parametrize("transposed", [False, True])
def test_rows_are_copied_in_the_order_in_which_they_are_read(depth, transposed):
    matrix = np.arange(9 * depth, dtype=np.float64).reshape(9, depth)
    given = np.asfortranarray(matrix) if transposed else matrix
    found = tiles.packed(given, 4)
    wanted = [matrix[:3].T.ravel(), matrix[3:6].T.ravel(), matrix[6:].T.ravel()]
    np.testing.assert_array_equal(found, np.concatenate(wanted))
