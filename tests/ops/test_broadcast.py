"""Repeating arrays along axes of length one."""

import numpy as np
import pytest

COLUMN = np.array([[[1.0], [2.0], [3.0]]])


@pytest.mark.parametrize("shape", [(2, 3, 4), (2, 0, 4), (0, 3, 4)])
def test_broadcast_to_repeats_and_zero_keeps_a_length(shape, evaluate, inferred):
    result = evaluate("broadcast_to", COLUMN, shape=shape)
    wanted = tuple(d or n for d, n in zip(shape, COLUMN.shape, strict=True))
    np.testing.assert_array_equal(result, np.broadcast_to(COLUMN, wanted))
    assert inferred("broadcast_to", "shape", [COLUMN.shape], shape=shape)[1] == [wanted]


def test_broadcast_axis_stretches_the_named_axes(evaluate, inferred):
    result = evaluate("broadcast_axis", COLUMN, axis=(0, 2), size=(2, 5))
    np.testing.assert_array_equal(result, np.broadcast_to(COLUMN, (2, 3, 5)))
    assert inferred("broadcast_axes", "shape", [(1, 3, 1)], axis=2, size=4)[1] == [(1, 3, 4)]


def test_broadcast_like_takes_the_shape_of_the_other(evaluate, inferred):
    result = evaluate("broadcast_like", COLUMN, np.zeros((2, 3, 4)))
    np.testing.assert_array_equal(result, np.broadcast_to(COLUMN, (2, 3, 4)))
    assert inferred("broadcast_like", "shape", [(1, 3, 1), (2, 3, 4)])[1] == [(2, 3, 4)]


def test_broadcast_like_can_take_single_lengths(evaluate, inferred):
    how = {"lhs_axes": (0, -1), "rhs_axes": (1, 2)}
    result = evaluate("broadcast_like", COLUMN, np.zeros((7, 4, 5)), **how)
    np.testing.assert_array_equal(result, np.broadcast_to(COLUMN, (4, 3, 5)))
    assert inferred("broadcast_like", "shape", [(1, 3, 1), (7, 4, 5)], **how)[1] == [(4, 3, 5)]


@pytest.mark.parametrize(
    ("name", "attrs"),
    [
        ("broadcast_to", {"shape": (2, 3, 4)}),
        ("broadcast_axis", {"axis": (0, 2), "size": (2, 4)}),
    ],
)
def test_gradients_are_summed_over_what_was_repeated(name, attrs, differentiate):
    (got,) = differentiate(name, COLUMN, **attrs)
    np.testing.assert_array_equal(got, np.full(COLUMN.shape, 8.0))


def test_broadcast_like_has_no_slope_in_what_it_resembles(differentiate):
    left, right = differentiate("broadcast_like", COLUMN, np.ones((2, 3, 4)))
    assert (left == 8).all()
    assert right.shape == (2, 3, 4)
    assert not right.any()


def test_arrays_that_do_not_broadcast_are_refused(evaluate):
    with pytest.raises(ValueError, match="broadcast"):
        evaluate("broadcast_to", COLUMN, shape=(2, 4, 4))
