"""Data sets and what is made of them, as recorded from MXNet 1.9.1."""

import numpy as np
import pytest

from minigluon import nd
from minigluon.gluon.data import (
    ArrayDataset,
    Dataset,
    RecordFileDataset,
    SequentialSampler,
    SimpleDataset,
)

SEVEN = SimpleDataset(list(range(7)))
PAIRS = ArrayDataset(list(range(7)), np.arange(14).reshape(7, 2))


def test_an_array_dataset_of_one_array_gives_its_elements():
    row = ArrayDataset(nd.arange(6).reshape((3, 2)))[1]
    assert row.asnumpy().tolist() == [2, 3]


def test_an_array_dataset_of_several_gives_tuples():
    first, second = PAIRS[1]
    assert first == 1
    assert second.tolist() == [2, 3]
    assert len(PAIRS) == 7


def test_elements_of_a_vector_are_numpy_numbers():
    assert type(ArrayDataset(nd.arange(3))[1]) is np.float32


def test_an_array_dataset_refuses_arrays_of_different_length():
    with pytest.raises(AssertionError, match=r"array\[0\] has length 1 while array\[1\] has 2"):
        ArrayDataset([1], [2, 3])
    with pytest.raises(ValueError, match="at least 1 arrays"):
        ArrayDataset()


def test_filter_keeps_what_passes():
    assert list(SEVEN.filter(lambda x: x % 2)) == [1, 3, 5]


def test_shards_are_even_and_the_first_are_longer():
    assert [list(SEVEN.shard(3, i)) for i in range(3)] == [[0, 1, 2], [3, 4], [5, 6]]
    assert [len(SEVEN.shard(10, i)) for i in range(10)] == [1] * 7 + [0] * 3


@pytest.mark.parametrize("arguments", [(3, 3), (0, 0), (3, -1)])
def test_shard_refuses_a_number_out_of_range(arguments):
    with pytest.raises(AssertionError, match="Shard index of out bound"):
        SEVEN.shard(*arguments)


def test_take_gives_the_first_samples():
    assert [list(SEVEN.take(n)) for n in (0, 3)] == [[], [0, 1, 2]]
    assert list(SEVEN.take(None)) == list(SEVEN.take(99)) == list(range(7))
    assert SEVEN.take(2)[-1] == 1
    with pytest.raises(ValueError, match="count is negative"):
        SEVEN.take(-1)


def test_sample_follows_a_sampler():
    assert list(SEVEN.sample(SequentialSampler(3, 2))) == [2, 3, 4]
    with pytest.raises(TypeError, match="Invalid sampler type"):
        SEVEN.sample([1, 2])


def test_transform_gets_the_parts_of_a_tuple():
    assert list(SEVEN.transform(lambda x: x + 1)) == list(range(1, 8))
    number, row = PAIRS.transform(lambda number, row: (number * 2, row.sum()))[3]
    assert (number, row) == (6, 13)


def test_transform_first_leaves_the_label():
    number, row = PAIRS.transform_first(lambda number: number * 10)[1]
    assert number == 10
    assert row.tolist() == [2, 3]
    assert SEVEN.transform_first(lambda number: number * 10)[1] == 10


@pytest.mark.parametrize(("lazy", "calls"), [(True, 4), (False, 2)])
def test_a_lazy_transform_runs_at_every_access(lazy, calls):
    seen = []
    changed = SimpleDataset([1, 2]).transform(lambda x: seen.append(x) or x, lazy=lazy)
    assert [changed[i] for i in (0, 1, 0, 1)] == [1, 2, 1, 2]
    assert len(seen) == calls


def test_a_dataset_must_define_access_and_length():
    with pytest.raises(NotImplementedError):
        Dataset()[0]
    with pytest.raises(NotImplementedError):
        len(Dataset())


def test_a_missing_record_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"a\.rec and .*a\.idx not found"):
        RecordFileDataset(tmp_path / "a.rec")
