"""Sentences of several lengths: as numbers, and in batches of equal length."""

from __future__ import annotations

import logging
from bisect import bisect_left
from random import shuffle

import numpy as np

from .. import ndarray as nd
from ..base import ArgumentError
from ..io import DataBatch, DataDesc, DataIter


def encode_sentences(
    sentences, vocab=None, invalid_label=-1, invalid_key="\n", start_label=0, unknown_token=None
):
    """Sentences of words as lists of numbers, and the vocabulary: ``(encoded, vocab)``.

    Parameters
    ----------
    sentences : lists of words.
    vocab : the number of each word; None makes one, in which ``invalid_key`` stands for padding.
    invalid_label : a number that no word gets.
    start_label : the number of the first word.
    unknown_token : what words stand for that a given ``vocab`` lacks; ``ArgumentError`` for such a
        word without it.

    Examples
    --------
    >>> encode_sentences([["to", "be"], ["be"]], start_label=1, invalid_label=0)
    ([[1, 2], [2]], {'\\n': 0, 'to': 1, 'be': 2})
    """
    is_new = vocab is None
    vocab = {invalid_key: invalid_label} if is_new else vocab
    label = start_label
    encoded = []
    for sentence in sentences:
        numbers = []
        for word in sentence:
            if word not in vocab and not is_new:
                if not unknown_token:
                    raise ArgumentError(
                        f"Unknown token {word}\n  received  {word!r}\n"
                        f"  expected  one of the {len(vocab)} words of vocab\n"
                        "  fix       add it, or pass unknown_token='<unk>'"
                    )
                word = unknown_token
            if word not in vocab:
                label += label == invalid_label
                vocab[word] = label
                label += 1
            numbers.append(vocab[word])
        encoded.append(numbers)
    return encoded, vocab


class BucketSentenceIter(DataIter):
    """Batches of sentences of similar length, each padded to the length of its bucket.

    The label of a word is the word after it. ``random`` and ``numpy.random`` shuffle, now and at
    each ``reset``.

    Parameters
    ----------
    sentences : lists of numbers.
    batch_size : sentences in a batch; what does not fill one at the end of a bucket is left out.
    buckets : lengths; None takes every length of which there is a batch. Longer ones are left out.
    invalid_label : the padding.
    layout : NT, or TN for time first.
    """

    def __init__(
        self,
        sentences,
        batch_size,
        buckets=None,
        invalid_label=-1,
        data_name="data",
        label_name="softmax_label",
        dtype="float32",
        layout="NT",
    ):
        super().__init__()
        if layout not in ("NT", "TN"):
            raise ArgumentError(
                f"Invalid layout {layout}: Must by NT (batch major) or TN (time major)\n"
                f"  received  layout={layout!r}\n  expected  'NT' or 'TN'\n  fix       layout='NT'"
            )
        if not buckets:
            counts = np.bincount([len(sentence) for sentence in sentences])
            buckets = [length for length, n in enumerate(counts) if n >= batch_size]
        buckets = sorted(buckets)
        rows, discarded = [[] for _ in buckets], 0
        for sentence in sentences:
            k = bisect_left(buckets, len(sentence))
            if k == len(buckets):
                discarded += 1
                continue
            padded = np.full((buckets[k],), invalid_label, dtype=dtype)
            padded[: len(sentence)] = sentence
            rows[k].append(padded)
        if discarded:
            logging.warning("discarded %d sentences longer than the largest bucket.", discarded)
        filled = [k for k, group in enumerate(rows) if group]
        if not filled:
            raise ArgumentError(
                "BucketSentenceIter: no bucket holds a sentence.\n"
                f"  received  {len(sentences)} sentences, batch_size={batch_size}\n"
                "  expected  batch_size sentences of some length, or a bucket that is long enough\n"
                "  fix       pass buckets=[longest length], or a smaller batch_size"
            )
        buckets = [buckets[k] for k in filled]
        self.data = [np.asarray(rows[k], dtype=dtype) for k in filled]
        self.batch_size, self.buckets = batch_size, buckets
        self.data_name, self.label_name, self.dtype = data_name, label_name, dtype
        self.invalid_label, self.layout = invalid_label, layout
        self.major_axis = layout.find("N")
        self.default_bucket_key = max(buckets)
        self.provide_data = [self._described(data_name, self.default_bucket_key)]
        self.provide_label = [self._described(label_name, self.default_bucket_key)]
        self.idx = [
            (k, start)
            for k, group in enumerate(self.data)
            for start in range(0, len(group) - batch_size + 1, batch_size)
        ]
        self.curr_idx = 0
        self.reset()

    def _described(self, name, length):
        shape = (self.batch_size, length) if self.layout == "NT" else (length, self.batch_size)
        return DataDesc(name=name, shape=shape, layout=self.layout)

    def reset(self):
        """Start again, in another order."""
        self.curr_idx = 0
        shuffle(self.idx)
        for group in self.data:
            np.random.shuffle(group)
        self.nddata, self.ndlabel = [], []
        for group in self.data:
            label = np.full_like(group, self.invalid_label)
            label[:, :-1] = group[:, 1:]
            self.nddata.append(nd.array(group, dtype=self.dtype))
            self.ndlabel.append(nd.array(label, dtype=self.dtype))

    def next(self):
        """The next batch, which carries its bucket's length as ``bucket_key``."""
        if self.curr_idx == len(self.idx):
            raise StopIteration
        k, start = self.idx[self.curr_idx]
        self.curr_idx += 1
        data = self.nddata[k][start : start + self.batch_size]
        label = self.ndlabel[k][start : start + self.batch_size]
        if self.major_axis == 1:
            data, label = data.T, label.T
        return DataBatch(
            [data],
            [label],
            pad=0,
            bucket_key=self.buckets[k],
            provide_data=[DataDesc(self.data_name, data.shape, layout=self.layout)],
            provide_label=[DataDesc(self.label_name, label.shape, layout=self.layout)],
        )
