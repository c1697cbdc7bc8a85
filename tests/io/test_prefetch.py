"""PrefetchingIter."""

import numpy as np
import pytest

from minigluon.io import NDArrayIter, PrefetchingIter


def two_iterators(rows=5):
    data = np.arange(rows)
    return [NDArrayIter(data, data, 2), NDArrayIter(data * 2, None, 2, data_name="z")]


def test_iterators_are_joined_side_by_side():
    batches = PrefetchingIter(two_iterators())
    for _ in range(2):
        found = [([x.asnumpy().tolist() for x in batch.data], batch.pad) for batch in batches]
        assert found == [([[0, 1], [0, 2]], 0), ([[2, 3], [4, 6]], 0), ([[4, 0], [8, 0]], 1)]
        batches.reset()


def test_end_stays_the_end():
    batches = PrefetchingIter(two_iterators())
    list(batches)
    for _ in range(2):
        with pytest.raises(StopIteration):
            batches.next()


def test_reset_amid_an_epoch_starts_again():
    batches = PrefetchingIter(two_iterators())
    batches.next()
    batches.reset()
    assert len(list(batches)) == 3


def test_arrays_can_be_renamed():
    batches = PrefetchingIter(
        two_iterators(),
        rename_data=[{"data": "x"}, {"z": "y"}],
        rename_label=[{"softmax_label": "l"}, {}],
    )
    assert [desc.name for desc in batches.provide_data] == ["x", "y"]
    assert [desc.name for desc in batches.provide_label] == ["l"]
    assert batches.next().provide_data == batches.provide_data


def test_iterators_of_unlike_length_are_refused():
    batches = PrefetchingIter([two_iterators(4)[0], two_iterators(8)[1]])
    with pytest.raises(AssertionError, match="Number of entry mismatches between iterators"):
        list(batches)


def test_no_iterator_is_refused():
    with pytest.raises(AssertionError, match="there is no iterator"):
        PrefetchingIter([])


def test_what_goes_wrong_in_the_thread_is_raised_here():
    class Broken(NDArrayIter):
        def next(self):
            raise OSError("disk is gone")

    batches = PrefetchingIter(Broken(np.arange(4), batch_size=2))
    with pytest.raises(OSError, match="disk is gone"):
        batches.next()
