"""Products of dense matrices in tiles against numpy's."""

import numpy as np
import pytest

from minigluon.kernels import dense, tiles

pytestmark = pytest.mark.skipif(not tiles.available(), reason="llvmlite is not there")

SHAPES = [(4, 7, 33), (13, 1, 64), (70, 50, 47), (129, 33, 200)]


def operands(m, k, n, dtype, seed=0):
    # small whole numbers: every order of summation gives the same
    rng = np.random.default_rng(seed)
    return [rng.integers(-8, 9, shape).astype(dtype) for shape in ((m, k), (k, n))]


@pytest.fixture
def always(monkeypatch):
    """Tiles for every size."""
    monkeypatch.setattr(dense, "FEWEST", 0)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", SHAPES)
def test_operands_of_any_strides_give_the_product(shape, dtype):
    a, b = operands(*shape, dtype)
    wanted = a @ b
    lefts = a, np.asfortranarray(a), np.repeat(a, 2, axis=1)[:, ::2], a[::-1].copy()[::-1]
    rights = b, np.asfortranarray(b), np.repeat(b, 2, axis=0)[::2], np.repeat(b, 2, axis=1)[:, ::2]
    for left in lefts:
        for right in rights:
            np.testing.assert_array_equal(dense.matmul(left, right), wanted)


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize("rows", [1, 5, 40])
def test_a_matrix_in_panels_multiplies_any_number_of_rows(rows):
    a, b = operands(rows, 30, 75, np.float32)
    multiply = dense.right(b, 1 << 40)
    assert type(multiply) is dense.Panels
    out = np.empty((rows, 75), np.float32)
    assert multiply(a, out) is out
    np.testing.assert_array_equal(out, a @ b)


@pytest.mark.usefixtures("always")
def test_only_the_result_is_written():
    a, b = operands(70, 50, 47, np.float32)
    memory = np.full(70 * 47 + 128, 7, np.float32)
    out = memory[64:-64].reshape(70, 47)
    np.testing.assert_array_equal(dense.matmul(a, b, out), a @ b)
    assert (memory[:64] == 7).all()
    assert (memory[-64:] == 7).all()


@pytest.mark.usefixtures("always")
@pytest.mark.parametrize(
    "a, b, out",
    [
        ((4, 3), (4, 40), None),
        ((4, 3), (3, 40), np.empty((4, 41), np.float32)),
        ((4, 3), (3, 40), np.empty((40, 4), np.float32).T),
    ],
)
def test_what_numpy_refuses_is_refused(a, b, out):
    a, b = np.ones(a, np.float32), np.ones(b, np.float32)
    with pytest.raises(ValueError):
        dense.matmul(a, b, out)


@pytest.mark.usefixtures("always")
def test_other_types_and_few_columns_are_left_to_numpy():
    for dtype, n in ((np.int64, 40), (np.float32, 3), (np.complex64, 40)):
        a, b = operands(5, 6, n, dtype)
        np.testing.assert_array_equal(dense.matmul(a, b), a @ b)


@pytest.mark.usefixtures("always")
def test_nan_and_infinity_are_felt_where_they_are_multiplied_only():
    a, b = operands(6, 5, 64, np.float32)
    a[2, 1], b[3, 7] = np.inf, np.nan
    with np.errstate(invalid="ignore"):
        found, wanted = dense.matmul(a, b), a @ b
    np.testing.assert_array_equal(np.isnan(found), np.isnan(wanted))
    np.testing.assert_array_equal(np.isinf(found), np.isinf(wanted))


@pytest.mark.usefixtures("always")
def test_the_number_of_threads_changes_no_bit(monkeypatch):
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((70, 600)), rng.standard_normal((600, 90))
    monkeypatch.setattr(dense, "FEWEST_FOR_A_THREAD", 1)
    found = []
    for count in ("1", "2", "7"):
        monkeypatch.setenv("MINIGLUON_NUM_THREADS", count)
        found.append([dense.matmul(a, b), dense.matmul(a, np.asfortranarray(b))])
    for others in found[1:]:
        np.testing.assert_array_equal(others, found[0])
