import numpy as np
import pytest

from minigluon import nd, sym


def value(symbol, **arrays):
    return symbol.eval(**arrays)[0].asnumpy()


@pytest.mark.parametrize(
    ("symbol", "expected"),
    [
        (sym.zeros((2,)), np.zeros(2, np.float32)),
        (sym.zeros((2,), dtype="int32"), np.zeros(2, np.int32)),
        (sym.ones(2), np.ones(2, np.float32)),
        (sym.full((2,), 3), np.full(2, 3, np.float32)),
        (sym.arange(3), np.arange(3, dtype=np.float32)),
        (sym.arange(1, 3), np.arange(1, 3, dtype=np.float32)),
        (sym.arange(0, 1, 0.5, repeat=2), np.array([0, 0, 0.5, 0.5], np.float32)),
        (sym.eye(2, 3, k=1), np.eye(2, 3, k=1, dtype=np.float32)),
        (sym.linspace(0, 1, 3), np.linspace(0, 1, 3, dtype=np.float32)),
        (sym.linspace(0, 1, 4, endpoint=False), np.array([0, 0.25, 0.5, 0.75], np.float32)),
    ],
)
def test_symbols_without_inputs_make_arrays(symbol, expected):
    got = value(symbol)
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)
    assert symbol.list_arguments() == []


def test_attributes_are_written_as_mxnet_writes_them():
    # recorded from MXNet 1.9.1
    assert sym.arange(3).list_attr() == {
        "dtype": "float32", "infer_range": "False", "repeat": "1", "start": "3", "step": "1.0",
        "stop": "None",
    }  # fmt: skip
    assert sym.full((2,), 3).list_attr() == {"dtype": "float32", "shape": "(2,)", "value": "3.0"}


@pytest.mark.parametrize(
    ("function", "plain"),
    [
        (sym.maximum, max),
        (sym.minimum, min),
        (sym.power, lambda a, b: a**b),
        (sym.pow, lambda a, b: a**b),
        (sym.hypot, np.hypot),
    ],
)
def test_functions_of_two_take_symbols_and_numbers_on_either_side(function, plain):
    x, y = sym.var("x"), sym.var("y")
    arrays = {"x": nd.array([2.0]), "y": nd.array([3.0])}
    assert value(function(x, y), **arrays)[0] == np.float32(plain(2, 3))
    assert value(function(x, 3), x=arrays["x"])[0] == np.float32(plain(2, 3))
    assert value(function(2, y), y=arrays["y"])[0] == np.float32(plain(2, 3))
    assert function(2, 3) == plain(2, 3)
    with pytest.raises(TypeError):
        function(x, "a")


def test_an_array_is_cut_into_equal_parts_or_at_indices():
    x = sym.var("x")
    data = nd.array([[0.0, 1, 2, 3, 4]])
    parts = sym.split_v2(x, (1, 3), axis=1).eval(x=data)
    assert [p.shape for p in parts] == [(1, 1), (1, 2), (1, 2)]
    halves = sym.split_v2(x, 2, axis=0, squeeze_axis=True).eval(x=nd.ones((2, 3)))
    assert [p.shape for p in halves] == [(3,), (3,)]
    with pytest.raises(ValueError, match="must either int or tuple"):
        sym.split_v2(x, "a")


def test_histograms_count_between_two_numbers_or_in_given_bins():
    x, bins = sym.var("x"), sym.var("bins")
    counts = sym.histogram(x, bins=2, range=(0, 4))
    assert len(counts.list_outputs()) == 2
    assert value(counts[0], x=nd.array([0, 1, 3])).tolist() == [2, 1]
    assert value(
        sym.histogram(x, bins)[0], x=nd.array([0, 1, 3]), bins=nd.array([0, 3, 4])
    ).tolist() == [2, 1]
    with pytest.raises(ValueError, match="null range"):
        sym.histogram(x, bins=2)
