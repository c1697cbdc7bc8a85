"""Samplers: orders and lengths, as recorded from MXNet 1.9.1 unless noted."""

import numpy as np
import pytest

from minigluon.gluon.data import (
    BatchSampler,
    FilterSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
)
from minigluon.gluon.data.sampler import IntervalSampler


def test_sequential_sampler_counts_from_its_start():
    assert list(SequentialSampler(4, start=2)) == [2, 3, 4, 5]
    assert len(SequentialSampler(4, start=2)) == 4


def test_random_sampler_repeats_with_the_seed_of_numpy():
    np.random.seed(3)
    assert list(RandomSampler(8)) == [5, 7, 4, 6, 3, 1, 0, 2]


def test_random_sampler_draws_a_new_order_every_epoch():
    sampler = RandomSampler(50)
    first, second = list(sampler), list(sampler)
    assert first != second
    assert sorted(first) == sorted(second) == list(range(50))


@pytest.mark.parametrize(
    ("last_batch", "epochs"),
    [
        ("keep", [(3, [[0, 1, 2], [3, 4, 5], [6]])] * 3),
        ("discard", [(2, [[0, 1, 2], [3, 4, 5]])] * 3),
        (
            "rollover",
            [
                (2, [[0, 1, 2], [3, 4, 5]]),
                (2, [[6, 0, 1], [2, 3, 4]]),
                (3, [[5, 6, 0], [1, 2, 3], [4, 5, 6]]),
            ],
        ),
    ],
)
def test_batch_sampler_treats_the_last_batch_as_told(last_batch, epochs):
    sampler = BatchSampler(SequentialSampler(7), 3, last_batch)
    assert [(len(sampler), list(sampler)) for _ in epochs] == epochs


def test_batch_sampler_refuses_an_unknown_last_batch_at_once():
    with pytest.raises(ValueError, match="must be one of 'keep', 'discard', or 'rollover'"):
        BatchSampler(SequentialSampler(7), 3, "bogus")


def test_batch_sampler_refuses_batches_of_no_samples():
    with pytest.raises(ValueError, match="batch_size is not positive"):
        BatchSampler(SequentialSampler(7), 0)


def test_filter_sampler_names_the_samples_that_pass():
    sampler = FilterSampler(lambda x: x > 3, list(range(7)))
    assert list(sampler) == [4, 5, 6]
    assert len(sampler) == 3


def test_interval_sampler_rolls_over():
    assert list(IntervalSampler(13, 3)) == [0, 3, 6, 9, 12, 1, 4, 7, 10, 2, 5, 8, 11]


def test_interval_sampler_without_rollover_says_how_many_numbers_it_gives():
    sampler = IntervalSampler(13, 3, rollover=False)
    assert list(sampler) == [0, 3, 6, 9, 12]
    assert len(sampler) == 5  # 13 in MXNet, which gives 5


def test_interval_sampler_refuses_an_interval_above_the_length():
    with pytest.raises(AssertionError, match="Interval 3 must be smaller than or equal to length"):
        IntervalSampler(2, 3)


def test_a_sampler_must_define_iteration_and_length():
    with pytest.raises(NotImplementedError):
        iter(Sampler())
    with pytest.raises(NotImplementedError):
        len(Sampler())
