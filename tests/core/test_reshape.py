"""The codes of reshape where dimensions are unknown; what they mean else is told in other tests."""

import pytest

from minigluon.base import ShapeError
from minigluon.core.infer import UNKNOWN
from minigluon.core.reshape import reshaped


@pytest.mark.parametrize(
    ("current", "codes", "expected"),
    [
        ((UNKNOWN, 4), (-1, 2), (UNKNOWN, 2)),
        ((UNKNOWN, 4), (0, 2, 2), (UNKNOWN, 2, 2)),
        ((UNKNOWN, 3, 4), (0, -3), (UNKNOWN, 12)),
        ((UNKNOWN, 4), (-3,), (UNKNOWN,)),
        ((UNKNOWN, 4), (-4, 2, -1, 0), (2, UNKNOWN, 4)),
        ((2, UNKNOWN), (6, 4), (6, 4)),
        ((0, 3), (-1, 3), (0, 3)),
    ],
)
def test_what_hangs_on_an_unknown_length_is_unknown(current, codes, expected):
    assert reshaped(current, codes) == expected


def test_a_shape_of_another_size_is_refused_with_both():
    with pytest.raises(ShapeError, match=r"(?s)data \(2, 3\).*shape=\(4, -1\).*divides 6"):
        reshaped((2, 3), (4, -1))
