"""Random arrays: MXNet's draws for the same seed, and the laws of sparse ones."""

import numpy as np
import pytest

from minigluon import nd, test_utils


def test_csr_draws_are_those_of_mxnet_for_the_same_seed():
    np.random.seed(0)
    array = test_utils.rand_ndarray((3, 4), "csr", 0.5)
    # recorded from MXNet 1.9.1
    assert array.indptr.asnumpy().tolist() == [0, 1, 3, 6]
    assert array.indices.asnumpy().tolist() == [2, 1, 3, 0, 2, 3]
    np.testing.assert_array_equal(
        array.data.asnumpy(),
        np.array([0.96366274, 0.79172504, 0.5288949, 0.56804454, 0.92559665, 0.3834415], "float32"),
    )


def test_row_sparse_draws_are_those_of_mxnet_for_the_same_seed():
    np.random.seed(0)
    array = test_utils.rand_ndarray((5, 2), "row_sparse", 0.5)
    # recorded from MXNet 1.9.1
    assert array.indices.asnumpy().tolist() == [4]
    np.testing.assert_array_equal(
        array.data.asnumpy(), np.array([[0.6458941, 0.4375872]], "float32")
    )


def test_dense_draws_are_those_of_mxnet_for_the_same_seed():
    np.random.seed(0)
    wanted = np.random.normal(size=(2, 3)).astype("float32")
    np.random.seed(0)
    array = test_utils.rand_ndarray((2, 3))
    assert array.dtype == np.float32
    np.testing.assert_array_equal(array.asnumpy(), wanted)


@pytest.mark.parametrize("stype", ["default", "csr", "row_sparse"])
def test_an_array_has_the_storage_dtype_and_shape_asked_for(stype):
    array = test_utils.rand_ndarray((6, 5), stype, dtype="float64")
    assert (array.stype, array.dtype, array.shape) == (stype, np.float64, (6, 5))


@pytest.mark.parametrize("stype", ["csr", "row_sparse"])
@pytest.mark.parametrize(("density", "share"), [(0, 0), (1, 1)])
def test_the_extreme_densities_are_exact(stype, density, share):
    array = test_utils.rand_ndarray((6, 5), stype, density)
    assert np.mean(array.asnumpy() != 0) == share


def test_rows_of_a_power_law_double():
    csr, _ = test_utils.rand_sparse_ndarray((5, 16), "csr", density=0.5, distribution="powerlaw")
    counts = np.diff(csr.indptr.asnumpy())
    assert counts[:4].tolist() == [2, 4, 8, 16]
    assert counts.sum() == 40


def test_a_power_law_keeps_one_value_for_every_row():
    csr, _ = test_utils.rand_sparse_ndarray((5, 16), "csr", density=0.25, distribution="powerlaw")
    # recorded from MXNet 1.9.1
    assert csr.indptr.asnumpy().tolist() == [0, 2, 6, 14, 19, 20]


def test_a_density_too_small_for_a_power_law_is_refused():
    with pytest.raises(ValueError, match="not supported for this density"):
        test_utils.rand_sparse_ndarray((4, 4), "csr", density=0.2, distribution="powerlaw")


def test_a_density_outside_the_unit_interval_is_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        test_utils.rand_ndarray((3, 3), "csr", 3)


def test_an_unknown_storage_type_is_refused():
    with pytest.raises(AssertionError, match="storage type"):
        test_utils.rand_ndarray((3, 3), "foo")


def test_shuffled_columns_hold_the_same_matrix():
    np.random.seed(1)
    shuffled = test_utils.rand_ndarray((4, 9), "csr", 0.9, shuffle_csr_indices=True)
    columns = np.split(shuffled.indices.asnumpy(), shuffled.indptr.asnumpy()[1:-1])
    assert any((np.diff(row) < 0).any() for row in columns)
    assert np.count_nonzero(shuffled.asnumpy()) == shuffled.data.size


def test_sparse_values_and_rows_can_be_given():
    array, (values, rows) = test_utils.rand_sparse_ndarray(
        (4, 3), "row_sparse", rsp_indices=[2, 0], data_init=1
    )
    assert rows.tolist() == [0, 2]
    assert (values == 1).all()
    np.testing.assert_array_equal(array.asnumpy(), [[1] * 3, [0] * 3, [1] * 3, [0] * 3])


def test_random_shapes_stay_in_their_bounds():
    shapes = [test_utils.rand_shape_nd(3, 4) for _ in range(50)]
    assert all(len(shape) == 3 and 1 <= min(shape) <= max(shape) <= 4 for shape in shapes)


def test_a_sum_collapses_what_was_broadcast():
    collapsed = test_utils.collapse_sum_like(np.ones((2, 3, 4)), (3, 1))
    np.testing.assert_array_equal(collapsed, np.full((3, 1), 8.0))


def test_a_function_is_applied_to_every_element():
    doubled = test_utils.assign_each(np.array([[1.0, 2.0]]), lambda x: 2 * x)
    np.testing.assert_array_equal(doubled, [[2.0, 4.0]])
    summed = test_utils.assign_each2(np.array([1.0]), np.array([2.0]), lambda x, y: x + y)
    np.testing.assert_array_equal(summed, [3.0])


def test_several_random_arrays_come_as_a_list():
    assert test_utils.random_arrays((2,)).shape == (2,)
    assert [a.shape for a in test_utils.random_arrays((2,), (3,))] == [(2,), (3,)]


def test_identity_matrices_are_arrays():
    np.testing.assert_array_equal(test_utils.get_identity_mat(3).asnumpy(), np.eye(3))
    assert test_utils.get_identity_mat_batch(3).shape == (2, 3, 3)
    assert isinstance(test_utils.create_2d_tensor(2, 3), nd.NDArray)


def test_a_power_law_draws_what_mxnet_draws():
    np.random.seed(1)
    rows = test_utils.rand_ndarray((5, 20), "csr", 0.5, distribution="powerlaw")
    # recorded from MXNet 1.9.1
    np.testing.assert_allclose(rows.data.asnumpy()[:3], [1.83463, 1.18558, 2.44093], rtol=1e-5)


def test_a_random_sample_is_a_shuffled_start():
    np.random.seed(0)
    # recorded from MXNet 1.9.1
    assert test_utils.random_sample(list(range(20)), 5) == [18, 1, 19, 8, 10]
