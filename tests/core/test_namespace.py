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


@pytest.mark.parametrize("before", [False, True])
def test_arrays_that_attributes_do_not_ask_for_are_refused(before):
    x, n = nd.ones((2, 1, 2)), nd.ones(1)
    if before:  # what is remembered of other calls does not matter
        nd.SequenceMask(x, n, use_sequence_length=True)
        nd.SequenceMask(x)
    with pytest.raises(MXNetError, match="SequenceMask: too many arrays"):
        nd.SequenceMask(x, n)
    with pytest.raises(MXNetError, match="too many arrays"):
        nd.FullyConnected(x[0], x[0], n, num_hidden=1, no_bias=True)


def test_arrays_are_as_many_as_an_attribute_says():
    x = nd.ones(2)
    assert nd.concat(x, x, dim=0, num_args=2).shape == (4,)
    for call in (
        lambda: nd.concat(x, x, dim=0, num_args=3),
        lambda: nd.multi_all_finite(x, x),
        lambda: nd.multi_sum_sq(x, num_arrays=2),
    ):
        with pytest.raises(MXNetError, match="the number of arrays does not fit"):
            call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: nd.random.uniform(shape=-1),
        lambda: nd.random.normal(shape=(2, -1)),
        lambda: nd.random.randint(0, 5, shape=-1),
        lambda: nd.sample_uniform(nd.ones(2), nd.ones(2), shape=-1),
        lambda: nd._internal._zeros(shape=(-2,)),
        lambda: nd.eye(-1),
    ],
)
def test_negative_lengths_are_refused_in_words(call):
    with pytest.raises(MXNetError, match=r"negative length|a length is negative"):
        call()
