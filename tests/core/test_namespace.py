"""The functions of ``nd`` and ``sym``."""

import inspect

import numpy as np
import pytest

from minigluon import cpu, nd, sym
from minigluon.base import MXNetError


@pytest.mark.parametrize("function", [nd.log_softmax, nd.softmin, sym.log_softmax])
def test_the_axis_follows_the_data_where_rows_have_no_lengths(function):
    assert list(inspect.signature(function).parameters)[:3] == ["data", "axis", "temperature"]


def test_softmax_takes_lengths_second():
    # positional attributes as MXNet 1.9.1 takes and refuses them
    assert nd.softmax(nd.ones((2, 3)), None, 0).shape == (2, 3)
    with pytest.raises(MXNetError, match="Argument length must have NDArray type, but got -1"):
        nd.softmax(nd.ones((2, 3)), -1)


def test_the_context_comes_before_the_dtype_in_operators_that_create():
    made = nd.uniform(0, 1, (2, 2), cpu(0), "float64")
    assert (made.dtype, made.context) == (np.float64, cpu(0))


def test_functions_are_documented_by_their_operator():
    assert nd.relu.__doc__ == sym.relu.__doc__
    assert nd.relu.__name__ == "relu"


@pytest.mark.parametrize("space", [nd, nd._internal, sym, sym._internal])
def test_every_name_listed_is_there(space):
    for name in dir(space):
        getattr(space, name)
