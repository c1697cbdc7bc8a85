import inspect

import numpy as np
import pytest

import minigluon as mx
from minigluon import nd, sym


def test_numbers_make_one_distribution_of_a_shape():
    symbol = sym.random.uniform(2, 3, shape=(50,))
    assert symbol.list_attr() == {"low": "2", "high": "3", "shape": "(50,)"}
    drawn = symbol.eval()[0].asnumpy()
    assert drawn.shape == (50,)
    assert ((drawn >= 2) & (drawn < 3)).all()


def test_symbols_make_a_distribution_for_each_element():
    symbol = sym.random.normal(sym.var("a"), sym.var("b"), shape=3)
    assert symbol.list_arguments() == ["a", "b"]
    drawn = symbol.eval(a=nd.array([0.0, 100.0]), b=nd.array([1.0, 1.0]))[0].asnumpy()
    assert drawn.shape == (2, 3)
    assert (drawn[1] > 50).all()


def test_symbols_and_numbers_do_not_mix():
    with pytest.raises(AssertionError, match="must all have the same type"):
        sym.random.uniform(sym.var("a"), 1)


def test_arguments_are_positional_or_named():
    assert str(inspect.signature(sym.random.normal)) == (
        "(loc=0, scale=1, shape=None, dtype=None, **kwargs)"
    )
    with pytest.raises(TypeError):
        sym.random.uniform(0, 1, (2,), "float32", 5)


def test_the_same_seed_draws_the_same_numbers_as_arrays_do():
    mx.random.seed(7)
    first = sym.random.randn(3, 2).eval()[0].asnumpy()
    mx.random.seed(7)
    np.testing.assert_array_equal(first, nd.random.randn(3, 2).asnumpy())
