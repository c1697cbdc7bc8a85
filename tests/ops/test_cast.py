"""Changing the element type."""

import numpy as np
import pytest

from minigluon import nd, sym
from minigluon.base import MXNetError


@pytest.mark.parametrize(
    ("dtype", "wanted"),
    [
        ("float64", [0, 1.75, -1.75, 100.5]),
        ("float16", [0, 1.75, -1.75, 100.5]),
        ("int32", [0, 1, -1, 100]),
        ("int8", [0, 1, -1, 100]),
        ("bool", [False, True, True, True]),
    ],
)
def test_cast_cuts_fractions_and_takes_all_but_zero_for_true(dtype, wanted, evaluate, inferred):
    result = evaluate("Cast", np.array([0, 1.75, -1.75, 100.5], "float32"), dtype=dtype)
    assert result.dtype == dtype
    assert result.tolist() == wanted
    assert inferred("Cast", "dtype", [np.dtype("float32")], dtype=dtype)[1] == [np.dtype(dtype)]


def test_cast_to_the_same_dtype_is_a_copy(evaluate):
    data = np.ones(3)
    assert not np.shares_memory(evaluate("Cast", data, dtype="float64"), data)


def test_cast_does_not_tell_its_input_dtype_from_its_output(inferred):
    assert inferred("Cast", "dtype", [None], dtype="float16") == ([None], [np.float16])


def test_the_gradient_of_a_cast_is_cast_back(differentiate):
    (got,) = differentiate("Cast", np.ones(2, "float32"), dtype="float16")
    assert got.dtype == np.float32
    assert got.tolist() == [1, 1]


def test_unknown_dtypes_are_refused(evaluate):
    with pytest.raises(MXNetError, match="dtype"):
        evaluate("Cast", np.ones(2), dtype="float13")


def test_amp_cast_leaves_whole_numbers_alone(evaluate):
    assert evaluate("amp_cast", np.ones(2, "float32"), dtype="float16").dtype == np.float16
    assert evaluate("amp_cast", np.ones(2, "int32"), dtype="float16").dtype == np.int32


@pytest.mark.parametrize(("narrow", "dtype"), [(False, "float32"), (True, "float16")])
def test_amp_multicast_agrees_on_the_widest_or_narrowest(narrow, dtype, evaluate, inferred):
    pair = np.ones(2, "float16"), np.ones((3, 1), "float32")
    results = evaluate("amp_multicast", *pair, num_outputs=2, cast_narrow=narrow)
    assert [r.dtype for r in results] == [dtype, dtype]
    assert [r.shape for r in results] == [(2,), (3, 1)]
    found = inferred(
        "amp_multicast", "dtype", [x.dtype for x in pair], num_outputs=2, cast_narrow=narrow
    )
    assert found[1] == [np.dtype(dtype)] * 2


def test_multicast_leaves_whole_numbers_alone():
    # as MXNet 1.9.1
    whole, single, half = nd.amp_multicast(
        nd.ones(2, dtype="int64"), nd.ones(2), nd.ones(2, dtype="float16"), num_outputs=3
    )
    assert [x.dtype for x in (whole, single, half)] == [np.int64, np.float32, np.float32]
    symbol = sym.amp_multicast(sym.var("a"), sym.var("b"), num_outputs=2)
    assert symbol.infer_type(a="int32", b="float16")[1] == [np.int32, np.float16]
