"""Sequences of different lengths (known bug 42)."""

import numpy as np
import pytest

from minigluon import MXNetError, autograd, nd

X = nd.array([[1, 2, 3], [4, 5, 6]])
HUGE = nd.array([1, 5, -1])


def test_lengths_are_taken_from_nothing_to_everything():
    mask = {"use_sequence_length": True}
    assert nd.SequenceMask(nd.ones((2, 3)), HUGE, **mask).asnumpy().tolist() == [
        [1, 1, 0],
        [0, 1, 0],
    ]
    large = nd.array([2**31 - 1] * 3, dtype="int64")
    np.testing.assert_array_equal(nd.SequenceMask(X, large, **mask).asnumpy(), X.asnumpy())
    assert nd.SequenceReverse(X, HUGE, **mask).asnumpy().tolist() == [[1, 5, 3], [4, 2, 6]]


def test_the_last_element_is_always_one_of_the_sequence():
    # MXNet reads in front of the data for a length of zero
    lengths = nd.array([0, 5, np.nan])
    assert nd.SequenceLast(X, lengths, use_sequence_length=True).asnumpy().tolist() == [1, 5, 3]


def test_time_may_be_the_second_axis():
    lengths, how = nd.array([1, 2]), {"use_sequence_length": True, "axis": 1}
    masked = nd.SequenceMask(X, lengths, value=-1, **how)
    assert masked.asnumpy().tolist() == [[1, -1, -1], [4, 5, -1]]
    assert nd.SequenceLast(X, lengths, **how).asnumpy().tolist() == [1, 5]


def test_without_lengths_sequences_are_whole():
    np.testing.assert_array_equal(nd.SequenceMask(X).asnumpy(), X.asnumpy())
    assert nd.SequenceLast(X).asnumpy().tolist() == [4, 5, 6]
    assert nd.SequenceReverse(X).asnumpy().tolist() == [[4, 5, 6], [1, 2, 3]]


def test_whole_numbers_are_masked_as_they_are():
    got = nd.SequenceMask(
        X.astype("int32"), nd.array([1, 2, 0]), use_sequence_length=True, value=-1
    )
    assert (got.dtype, got.asnumpy().tolist()) == (np.int32, [[1, 2, -1], [-1, 5, -1]])


def test_gradients_stop_behind_the_end():
    x = nd.ones((2, 3))
    x.attach_grad()
    with autograd.record():
        y = nd.SequenceMask(x, HUGE, use_sequence_length=True)
    y.backward()
    assert x.grad.asnumpy().tolist() == [[1, 1, 0], [0, 1, 0]]


@pytest.mark.parametrize("call", [nd.SequenceMask, nd.SequenceLast, nd.SequenceReverse])
def test_wrong_arguments_are_refused(call):
    with pytest.raises(MXNetError, match="sequence_length"):
        call(X, nd.ones(2), use_sequence_length=True)
    with pytest.raises(MXNetError, match="too few axes"):
        call(nd.ones(3))
    with pytest.raises(MXNetError, match="axis is not valid"):
        call(X, axis=2)
