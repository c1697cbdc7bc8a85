"""Comparisons with the tolerance of the dtype."""

import numpy as np
import pytest

from minigluon import nd, test_utils


def test_the_wider_tolerance_of_two_dtypes_counts():
    # recorded from MXNet 1.9.1
    assert test_utils.get_tols(np.ones(2, "float16"), np.ones(2), None, None) == (0.01, 0.1)
    assert test_utils.get_tols(nd.ones(2), nd.ones(2), 1e-3, None) == (1e-3, 1e-3)
    assert test_utils.get_tols(1, 2, None, None) == (0, 0)
    table = {np.dtype("float64"): 9}
    assert test_utils.get_tols(np.ones(2), np.ones(2), table, None) == (9, 1e-20)


def test_the_message_names_both_and_the_place_of_the_largest_error():
    with pytest.raises(AssertionError) as caught:
        test_utils.assert_almost_equal(
            np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.5, 3.0]), names=("x", "y")
        )
    # recorded from MXNet 1.9.1
    assert str(caught.value).startswith(
        "\nItems are not equal:\nError 20000.000000 exceeds tolerance rtol=1.000000e-05, "
        "atol=1.000000e-20 (mismatch 33.333333%).\n"
        "Location of maximum error: (1,), x=2.00000000, y=2.50000000\n"
        " ACTUAL: array([1., 2., 3.])\n DESIRED: array([1. , 2.5, 3. ])"
    )


def test_the_message_lists_no_more_errors_than_asked():
    with pytest.raises(AssertionError) as caught:
        test_utils.assert_almost_equal(np.zeros(9), np.ones(9), mismatches=(3, 3))
    assert str(caught.value).count("Location of error") == 3


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_rounding_is_no_difference_but_ten_times_the_tolerance_is(dtype):
    one = nd.ones(3, dtype=dtype)
    step = 10 * test_utils.get_rtol(dtype=dtype) + 10 * test_utils.get_atol(dtype=dtype)
    test_utils.assert_almost_equal(one, one.asnumpy() * (1 + np.finfo(dtype).eps))
    with pytest.raises(AssertionError):
        test_utils.assert_almost_equal(one, one.asnumpy() + np.asarray(step, dtype))


def test_almost_equal_compares_as_exactly_as_for_float64():
    # recorded from MXNet 1.9.1
    one = np.ones(3, "float32")
    assert test_utils.almost_equal(one, one * np.float32(1 + 5e-6))
    assert not test_utils.almost_equal(one, one * np.float32(1 + 5e-5))


def test_integers_are_compared_exactly():
    with pytest.raises(AssertionError):
        test_utils.assert_almost_equal(np.array([2**60]), np.array([2**60 + 1]))


def test_unsigned_integers_do_not_wrap_around():
    assert not test_utils.almost_equal(np.array([0], "uint8"), np.array([255], "uint8"))


def test_nan_equals_nan_only_when_asked():
    nan = np.array([np.nan, 1.0])
    assert not test_utils.almost_equal(nan, nan)
    assert test_utils.almost_equal(nan, nan, equal_nan=True)
    assert test_utils.almost_equal_ignore_nan(nan, np.array([5.0, 1.0]))


def test_shapes_broadcast_unless_forbidden():
    test_utils.assert_almost_equal(np.ones((2, 3)), np.ones(3))
    with pytest.raises(AssertionError, match="shape"):
        test_utils.assert_almost_equal(np.ones((2, 3)), np.ones(3), use_broadcast=False)


def test_a_share_of_the_elements_may_differ():
    a, b = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.5, 3.0])
    test_utils.assert_almost_equal_with_err(a, b, etol=0.4)
    with pytest.raises(AssertionError):
        test_utils.assert_almost_equal_with_err(a, b, etol=0.1)


def test_same_array_means_shared_memory():
    x = nd.ones(4)
    assert test_utils.same_array(x, x.reshape((2, 2)))
    assert not test_utils.same_array(x, x.copy())
