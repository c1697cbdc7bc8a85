"""diag: diagonals of matrices, matrices of diagonals."""

import numpy as np
import pytest

from minigluon import nd, sym
from minigluon.base import ShapeError

CASES = [
    ((3, 3), {}), ((2, 4), {"k": 1}), ((4, 2), {"k": -1}), ((2, 4), {"k": -1}), ((3,), {}),
    ((3,), {"k": 2}), ((3,), {"k": -1}), ((2, 3, 4), {}), ((2, 3, 4), {"axis1": 1, "axis2": 2}),
    ((2, 3, 4), {"k": 1, "axis1": -1, "axis2": 0}), ((2, 3, 4), {"k": -1, "axis1": 2, "axis2": 1}),
]  # fmt: skip


@pytest.mark.parametrize("shape, how", CASES)
def test_diag_is_that_of_numpy(shape, how, evaluate, inferred, differentiate, slopes):
    x = np.random.default_rng(2).normal(size=shape)
    k, axis1, axis2 = how.get("k", 0), how.get("axis1", 0), how.get("axis2", 1)
    wanted = np.diag(x, k) if x.ndim == 1 else np.diagonal(x, k, axis1, axis2)
    assert evaluate("diag", x, **how).tolist() == wanted.tolist()
    assert inferred("diag", "shape", [shape], **how)[1] == [wanted.shape]
    np.testing.assert_allclose(
        differentiate("diag", x, **how)[0], slopes("diag", x, **how)[0], atol=1e-8
    )


@pytest.mark.parametrize("how", [{"k": 5}, {"k": -5}, {"axis1": 1, "axis2": 1}, {"axis2": 5}])
def test_diagonals_that_are_not_there_are_refused(how):
    with pytest.raises(ShapeError, match="diag"):
        nd.diag(nd.ones((2, 2)), **how)
    with pytest.raises(ShapeError, match="diag"):
        sym.diag(sym.var("x"), **how).infer_shape(x=(2, 2))
