"""Sentences become numbers, and numbers batches by length."""

import random

import numpy as np
import pytest

from minigluon.rnn import BucketSentenceIter, encode_sentences

SENTENCES = [[1, 2, 3], [4, 5], [6], [1, 2, 3, 4, 5, 6, 7], [9, 8], [5, 4, 3], [1, 1], [2, 2, 2]]


@pytest.mark.parametrize(
    ("kwargs", "wanted"),
    [
        ({}, ([[0, 1, 0], [2]], {"\n": -1, "a": 0, "b": 1, "c": 2})),
        (
            {"start_label": 1, "invalid_label": 0},
            ([[1, 2, 1], [3]], {"\n": 0, "a": 1, "b": 2, "c": 3}),
        ),
        ({"invalid_label": 1}, ([[0, 2, 0], [3]], {"\n": 1, "a": 0, "b": 2, "c": 3})),
    ],
)
def test_words_are_numbered_as_they_come_and_the_invalid_label_is_left_out(kwargs, wanted):
    assert encode_sentences([["a", "b", "a"], ["c"]], **kwargs) == wanted


def test_a_given_vocabulary_decides_and_the_unknown_token_keeps_its_number():
    vocab = {"a": 1, "<unk>": 7}
    encoded, same = encode_sentences([["a", "y", "z"]], vocab, unknown_token="<unk>")
    assert encoded == [[1, 7, 7]]
    assert same is vocab


def test_a_word_that_is_not_in_the_vocabulary_is_named():
    with pytest.raises(AssertionError, match="Unknown token z"):
        encode_sentences([["z"]], {"a": 1})


def test_batches_are_those_recorded_from_mxnet(caplog):
    random.seed(0)
    np.random.seed(0)
    batches = BucketSentenceIter(SENTENCES, 2, invalid_label=0)
    assert batches.buckets == [2, 3]
    assert batches.default_bucket_key == 3
    assert "discarded 1 sentences" in caplog.text
    assert [(b.bucket_key, b.data[0].asnumpy().tolist(), b.label[0].asnumpy().tolist())
            for b in batches] == [
        (2, [[9, 8], [1, 1]], [[8, 0], [1, 0]]),
        (3, [[1, 2, 3], [2, 2, 2]], [[2, 3, 0], [2, 2, 0]]),
        (2, [[6, 0], [4, 5]], [[0, 0], [5, 0]]),
    ]  # fmt: skip


def test_time_may_be_the_first_axis_and_empty_buckets_are_left_out():
    batches = BucketSentenceIter(SENTENCES[:3], 2, buckets=[3, 5], layout="TN", dtype="int32")
    assert batches.buckets == [3]
    assert batches.provide_data[0].shape == (3, 2)
    assert batches.provide_data[0].layout == "TN"
    (batch,) = batches
    assert batch.data[0].shape == (3, 2)
    assert batch.provide_label[0].layout == "TN"
    assert batch.data[0].dtype is np.int32


def test_every_whole_batch_comes_once_an_epoch():
    batches = BucketSentenceIter(SENTENCES[:3] + SENTENCES[4:], 2, buckets=[3])
    for _ in range(2):
        rows = [tuple(row) for b in batches for row in b.data[0].asnumpy().astype(int).tolist()]
        assert len(rows) == len(set(rows)) == 6
        batches.reset()


@pytest.mark.parametrize(
    ("kwargs", "words"),
    [({"layout": "NC"}, "Invalid layout NC"), ({"batch_size": 9}, "no bucket holds a sentence")],
)
def test_wrong_arguments_are_refused(kwargs, words):
    with pytest.raises(ValueError, match=words):
        BucketSentenceIter(SENTENCES, **{"batch_size": 2, **kwargs})
