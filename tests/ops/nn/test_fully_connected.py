"""FullyConnected: values, gradients, shapes both ways, wrong parameters."""

import numpy as np
import pytest

from minigluon import nd, sym
from minigluon.base import AttributeValueError, MXNetError, ShapeError
from minigluon.storage import to_row_sparse

RNG = np.random.default_rng(0)
BOTH = (False, True)


def normal(*shape):
    return RNG.normal(size=shape)


@pytest.mark.parametrize("no_bias", BOTH)
@pytest.mark.parametrize("flatten", BOTH)
@pytest.mark.parametrize("shape", [(4, 3), (2, 3, 5), (2, 3, 2, 4), (1, 1), (5,)])
def test_fully_connected_is_a_product_and_a_bias(
    shape, flatten, no_bias, evaluate, assert_close, inferred, differentiate, slopes
):
    data = normal(*shape)
    k = int(np.prod(shape[1:])) if flatten else shape[-1]
    arrays = (data, normal(6, k)) if no_bias else (data, normal(6, k), normal(6))
    how = {"num_hidden": 6, "flatten": flatten, "no_bias": no_bias}
    rows = data.reshape(shape[0], -1) if flatten else data
    wanted = rows @ arrays[1].T + (0 if no_bias else arrays[2])
    assert_close(evaluate("FullyConnected", *arrays, **how), wanted, ulps=64)
    given = [shape] + [None] * (len(arrays) - 1)
    found = inferred("FullyConnected", "shape", given, **how)
    assert found == ([x.shape for x in arrays], [wanted.shape])
    for got, slope in zip(
        differentiate("FullyConnected", *arrays, **how),
        slopes("FullyConnected", *arrays, **how),
        strict=True,
    ):
        np.testing.assert_allclose(got, slope, rtol=1e-5, atol=1e-6)


def test_fully_connected_learns_its_batch_from_its_output():
    out = sym.FullyConnected(sym.var("x"), num_hidden=4, name="fc") + sym.var("y")
    shapes, _, _ = out.infer_shape(x=(0, 3), y=(2, 4))
    assert dict(zip(out.list_arguments(), shapes, strict=True))["x"] == (2, 3)


WRONG = {
    "weight": ((2, 3), (5, 4), (5,)),
    "bias": ((2, 3), (5, 3), (1,)),
    "num_hidden": ((2, 3), (1, 3), (1,)),
}


@pytest.mark.parametrize("what", WRONG)
def test_fully_connected_refuses_parameters_of_other_shapes(what):
    arrays = [nd.ones(shape) for shape in WRONG[what]]
    with pytest.raises(
        ShapeError, match=r"(?s)FullyConnected: .* has the wrong shape.*received.*expected.*fix"
    ):
        nd.FullyConnected(*arrays, num_hidden=5)


def test_fully_connected_wants_its_bias_unless_told_otherwise():
    with pytest.raises(MXNetError, match="bias"):
        nd.FullyConnected(nd.ones((2, 3)), nd.ones((5, 3)), num_hidden=5)
    with pytest.raises(MXNetError):
        nd.FullyConnected(nd.ones((2, 3)), nd.ones((5, 3)), nd.ones(5), num_hidden=5, no_bias=True)


@pytest.mark.parametrize("value", [0, -1, "a", 2.5, None])
def test_fully_connected_has_at_least_one_output(value):
    with pytest.raises(AttributeValueError, match=r"(?s)num_hidden.*at least 1"):
        nd.FullyConnected(nd.ones((2, 3)), nd.ones((5, 3)), nd.ones(5), num_hidden=value)


@pytest.mark.parametrize("bias", ["default", "row_sparse"])
def test_fully_connected_takes_row_sparse_parameters_without_a_warning(
    bias, evaluate, assert_close
):
    data, weight, b = normal(2, 3), normal(4, 3) * [[1], [0], [1], [0]], normal(4)
    stored = to_row_sparse(b) if bias == "row_sparse" else b
    result = evaluate("FullyConnected", data, to_row_sparse(weight), stored, num_hidden=4)
    assert_close(result, data @ weight.T + b, ulps=64)
