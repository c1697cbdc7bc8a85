"""where: elements or rows of one of two arrays."""

import numpy as np
import pytest

from minigluon import nd, sym
from minigluon.base import DTypeError, ShapeError
from minigluon.storage import to_csr

RNG = np.random.default_rng(4)


@pytest.mark.parametrize("dtype", ["float64", "int32"])
@pytest.mark.parametrize(
    "shapes", [((2, 3), (2, 3)), ((2,), (2,)), ((2,), (2, 3)), ((2,), (2, 3, 4))]
)
def test_where_chooses_elements_or_rows(shapes, dtype, evaluate, inferred, differentiate):
    condition = (np.arange(np.prod(shapes[0])) % 3 > 0).reshape(shapes[0]).astype(dtype)
    x, y = RNG.normal(size=shapes[1]), RNG.normal(size=shapes[1])
    spread = condition.reshape(condition.shape + (1,) * (x.ndim - condition.ndim))
    wanted = np.where(spread != 0, x, y)
    assert evaluate("where", condition, x, y).tolist() == wanted.tolist()
    assert inferred("where", "shape", [shapes[0], shapes[1], None])[1] == [wanted.shape]
    none, left, right = differentiate("where", condition, x, y, head=wanted)
    assert not none.any()
    assert left.tolist() == np.where(spread != 0, x, 0).tolist()
    assert right.tolist() == np.where(spread != 0, 0, y).tolist()


def test_nan_counts_as_true_and_minus_zero_as_false(evaluate):
    condition = np.array([np.nan, 0, -0.0, 2])
    assert evaluate("where", condition, np.ones(4), np.zeros(4)).tolist() == [1, 0, 0, 1]


def test_a_csr_condition_is_its_dense_form(evaluate):
    condition = np.array([[1.0, 0], [0, 2]])
    x, y = np.ones((2, 2)), np.zeros((2, 2))
    assert evaluate("where", to_csr(condition), x, y).tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize(
    "shapes",
    [
        ((3,), (2, 3), (2, 3)),
        ((1, 3), (2, 3), (2, 3)),
        ((2, 1), (2, 3), (2, 3)),
        ((2, 3), (2, 3), (1, 3)),
        ((2, 3), (2, 4), (2, 4)),
    ],
)
def test_where_does_not_broadcast(shapes):
    with pytest.raises(ShapeError, match="where"):
        nd.where(*[nd.ones(s) for s in shapes])
    with pytest.raises(ShapeError, match="where"):
        sym.where(sym.var("a"), sym.var("b"), sym.var("c")).infer_shape(
            **dict(zip("abc", shapes, strict=True))
        )


def test_two_dtypes_to_choose_from_are_refused():
    with pytest.raises(DTypeError, match="where"):
        nd.where(nd.ones(2), nd.ones(2), nd.ones(2, dtype="float64"))


def test_any_of_the_two_tells_the_other_its_shape():
    chosen = sym.where(sym.var("c"), sym.var("x"), sym.var("y"))
    assert chosen.infer_shape(c=(2, 3), x=(2, 3))[0] == [(2, 3)] * 3
    assert chosen.infer_shape_partial(c=(2, 3), x=(2, 0), y=(0, 3))[1] == [(2, 3)]
