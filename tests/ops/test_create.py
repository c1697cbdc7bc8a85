"""Constants, ranges, the identity matrix: as arrays and as symbols."""

import numpy as np
import pytest

from minigluon import nd, sym
from minigluon.base import MXNetError

RANGES = [
    ((5,), {}, [0, 1, 2, 3, 4]), ((1, 5, 2), {}, [1, 3]), ((5, 1, -1.5), {}, [5, 3.5, 2]),
    ((0, 3), {"repeat": 2}, [0, 0, 1, 1, 2, 2]), ((0, 1, 0.3), {}, [0, 0.3, 0.6, 0.9]),
    ((0.5, 5), {}, [0.5, 1.5, 2.5, 3.5, 4.5]),
]  # fmt: skip


@pytest.mark.parametrize("args, how, wanted", RANGES)
def test_arange_counts_from_start_to_stop(args, how, wanted):
    result = nd.arange(*args, **how)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result.asnumpy(), wanted, rtol=1e-6)
    if len(args) > 1:
        assert sym.arange(*args, **how).infer_shape()[1] == [(len(wanted),)]


@pytest.mark.parametrize("dtype", ["int32", "uint8", "float16", "float64", "int64"])
def test_arange_gives_the_dtype_asked_for(dtype):
    assert np.dtype(nd.arange(0, 300, 100, dtype=dtype).dtype) == dtype


def test_large_whole_numbers_are_exact():
    big = 2**53 + 1
    assert nd.arange(big, big + 2, dtype="int64").asnumpy().tolist() == [big, big + 1]
    assert nd.full((1,), big, dtype="int64").asnumpy().tolist() == [big]


@pytest.mark.parametrize("args", [(-1, 1, 4), (-5, 2, 4), (2, -5, 4)])
def test_linspace_of_whole_numbers_rounds_down(args):
    result = nd.linspace(*args, dtype="int32").asnumpy()
    assert result.tolist() == np.linspace(*args, dtype="int32").tolist()


@pytest.mark.parametrize("how", [{}, {"endpoint": False}, {"dtype": "float64"}])
def test_linspace_spaces_evenly(how):
    result = nd.linspace(0, 1, 5, **how)
    np.testing.assert_allclose(
        result.asnumpy(), np.linspace(0, 1, 5, endpoint=how.get("endpoint", True)), rtol=1e-6
    )
    assert sym.linspace(0, 1, 5, **how).infer_shape()[1] == [(5,)]


@pytest.mark.parametrize("args", [(3,), (3, 4, 1), (3, 2, -1), (2, 2, 5)])
def test_eye_has_ones_on_a_diagonal(args):
    n, m, k = (*args, 0, 0)[:3]
    assert nd.eye(*args).asnumpy().tolist() == np.eye(n, m or n, k).tolist()
    assert sym.eye(*args).infer_shape()[1] == [(n, m or n)]


def test_symbols_of_constants_evaluate_to_the_arrays():
    for made, wanted in ((sym.zeros((2, 3)), 0), (sym.ones((2, 3)), 1), (sym.full((2, 3), 7), 7)):
        assert made.infer_shape()[1] == [(2, 3)]
        assert made.eval()[0].asnumpy().tolist() == np.full((2, 3), wanted).tolist()
    assert sym.zeros((2,), dtype="int32").infer_type()[1] == [np.int32]


def test_a_zero_in_the_shape_of_a_constant_is_found_out():
    total = sym.zeros((0, 3)) + sym.var("x")
    assert total.infer_shape(x=(2, 3))[1] == [(2, 3)]
    assert sym.zeros((0, 3)).infer_shape_partial()[1] == [(0, 3)]


@pytest.mark.parametrize(
    "call",
    [
        lambda: nd.arange(0, 5, 0),
        lambda: nd.arange(5, 1),
        lambda: nd.linspace(0, 1, -1),
        lambda: nd.zeros((0, 2)),
        lambda: nd.zeros(()),
    ],
)
def test_ranges_and_shapes_without_elements_are_refused(call):
    with pytest.raises(MXNetError):
        call()


def test_zeros_without_a_dtype_take_that_of_what_they_meet():
    # as MXNet 1.9.1 infers
    zeros = sym._internal._zeros_without_dtype(shape=(2,))
    assert zeros.infer_type() == (None, None, None)
    both = zeros + sym.var("x")
    assert both.infer_type(x="float64")[1] == [np.float64]
    assert both.infer_shape()[0] == [(2,)]
    assert nd._internal._zeros_without_dtype(shape=(2,), dtype=4).dtype == np.int32
    with pytest.raises(MXNetError, match="_zeros_without_dtype: dtype"):
        nd._internal._zeros_without_dtype(shape=(2,), dtype=99)


def test_a_range_without_numbers_is_refused():
    for attrs in ({"start": 5, "stop": 2}, {"start": 1, "stop": 1}, {"start": -2}):
        with pytest.raises(MXNetError, match="there is nothing"):
            nd._internal._arange(**attrs)
