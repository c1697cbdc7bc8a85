"""Diagonals and triangles as vectors."""

import numpy as np
import pytest

from minigluon import MXNetError, nd

X = nd.array(np.arange(9.0).reshape(3, 3))


@pytest.mark.parametrize(
    ("attrs", "wanted"),
    [
        ({}, [0, 3, 4, 6, 7, 8]),
        ({"lower": False}, [0, 1, 4, 2, 5, 8]),
        ({"offset": 1}, [1, 2, 5]),
        ({"offset": -1}, [3, 6, 7]),
        ({"offset": -1, "lower": False}, [3, 6, 7]),
    ],
)
def test_triangles_come_in_the_order_of_mxnet(attrs, wanted):
    # recorded from MXNet 1.9.1
    assert nd.linalg.extracttrian(X, **attrs).asnumpy().tolist() == wanted
    back = nd.linalg.maketrian(nd.array(wanted), **attrs)
    offset = attrs.get("offset", 0)
    inside = np.tril(np.ones((3, 3)), offset) if offset < 0 else np.triu(np.ones((3, 3)), offset)
    inside = np.tril(np.ones((3, 3))) if not attrs else inside
    np.testing.assert_array_equal(back.asnumpy(), X.asnumpy() * inside)


@pytest.mark.parametrize("offset", [-1, 0, 2])
def test_diagonals_are_those_of_numpy(offset):
    diagonal = nd.linalg.extractdiag(X, offset=offset).asnumpy()
    np.testing.assert_array_equal(diagonal, np.diagonal(X.asnumpy(), offset))
    made = nd.linalg.makediag(nd.array(diagonal), offset=offset).asnumpy()
    np.testing.assert_array_equal(made, np.diag(diagonal, offset))


def test_what_is_not_there_is_refused():
    with pytest.raises(MXNetError, match="no such diagonal"):
        nd.linalg.extractdiag(X, offset=3)
    with pytest.raises(MXNetError, match="no triangle"):
        nd.linalg.maketrian(nd.ones(2))
