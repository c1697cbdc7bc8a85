"""The table that gives NDArray and Symbol their operators and fluent methods."""

import numpy as np
import pytest

from minigluon import nd
from minigluon.core.op import registry
from minigluon.ndarray import methods


@pytest.mark.parametrize("name", methods.FLUENT)
def test_every_fluent_method_is_an_operator_or_a_function_of_nd(name):
    assert callable(getattr(nd, name))


@pytest.mark.parametrize("row", methods.BINARY + methods.COMPARISONS, ids=lambda row: row.name)
def test_every_operator_of_the_table_exists(row):
    names = {row.array, row.scalar, row.reflected, row.symbol, row.symbol_scalar}
    assert {n for n in names if n and n not in registry} == set()


def test_a_fluent_method_is_the_function_on_the_array():
    array = nd.array([[3.0, 1.0], [2.0, 4.0]])
    np.testing.assert_array_equal(array.sum(axis=0).asnumpy(), nd.sum(array, axis=0).asnumpy())
    np.testing.assert_array_equal(array.transpose((1, 0)).asnumpy(), array.asnumpy().T)


def test_numpy_functions_call_the_methods():
    array = nd.array([[3.0, 1.0], [2.0, 4.0]])
    results = [np.argmax(array, axis=1), np.sum(array, axis=0), np.mean(array), np.max(array)]
    assert all(isinstance(r, nd.NDArray) for r in results)
    assert [r.asnumpy().tolist() for r in results] == [[0, 1], [5, 5], [2.5], [4]]


def test_fluent_methods_take_out():
    result = nd.zeros((2,))
    assert nd.array([-1.0, 2.0]).relu(out=result) is result
    assert result.asnumpy().tolist() == [0, 2]
