"""tile and repeat."""

import numpy as np
import pytest

from minigluon import nd, sym
from minigluon.base import MXNetError

X = np.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize("reps", [(2, 2), (2,), (2, 1, 3), (), (1, 1)])
def test_tile_repeats_the_whole(reps, evaluate, inferred, differentiate, slopes):
    wanted = np.tile(X, reps)
    assert evaluate("tile", X, reps=reps).tolist() == wanted.tolist()
    assert inferred("tile", "shape", [X.shape], reps=reps)[1] == [wanted.shape]
    np.testing.assert_allclose(
        differentiate("tile", X, reps=reps)[0], slopes("tile", X, reps=reps)[0]
    )


def test_the_gradient_of_tile_sums_the_copies(differentiate):
    head = np.arange(12.0).reshape(2, 6)
    got = differentiate("tile", X, head=head, reps=(1, 2))[0]
    assert got.tolist() == (head[:, :3] + head[:, 3:]).tolist()


@pytest.mark.parametrize("repeats", [1, 2, 3])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_repeat_repeats_each_element(axis, repeats, evaluate, inferred, differentiate):
    how = {"repeats": repeats, "axis": axis}
    wanted = np.repeat(X, repeats, axis)
    assert evaluate("repeat", X, **how).tolist() == wanted.tolist()
    assert inferred("repeat", "shape", [X.shape], **how)[1] == [wanted.shape]
    assert differentiate("repeat", X, head=wanted, **how)[0].tolist() == (X * repeats).tolist()


@pytest.mark.parametrize("how", [{"repeats": -1}, {"repeats": 2, "axis": 4}])
def test_repeat_refuses_what_cannot_be(how):
    with pytest.raises(MXNetError, match="repeat"):
        nd.repeat(nd.array(X), **how)


def test_repeat_refuses_an_axis_that_is_not_there_when_inferring():
    with pytest.raises(MXNetError, match="repeat"):
        sym.repeat(sym.var("x"), repeats=2, axis=4).infer_shape(x=(2, 3))
