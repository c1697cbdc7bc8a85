"""The iterator that other libraries derive their loaders from."""

import pickle
from multiprocessing.pool import ThreadPool

import numpy as np
import pytest

from minigluon import nd
from minigluon.gluon.data.dataloader import _MultiWorkerIter, default_batchify_fn


def pickled(numbers, batchify, dataset):
    """A batch as GluonCV's workers give it."""
    return pickle.dumps(batchify([nd.array([n]) for n in numbers]))


def plain(numbers, batchify, dataset):
    return batchify([dataset[n] for n in numbers])


@pytest.fixture
def pool():
    with ThreadPool(2) as made:
        yield made


@pytest.mark.parametrize("prefetch", [0, 2, 9])
def test_batches_come_in_order_and_once(pool, prefetch):
    batches = _MultiWorkerIter(
        pool, default_batchify_fn, [[0, 1], [2, 3], [4]], worker_fn=pickled, prefetch=prefetch
    )
    assert len(batches) == 3
    assert [b.asnumpy().ravel().tolist() for b in batches] == [[0, 1], [2, 3], [4]]
    with pytest.raises(StopIteration):
        next(batches)


def test_with_a_data_set_workers_give_batches_as_they_are(pool):
    data = [np.float32(k) for k in range(4)]
    batches = _MultiWorkerIter(pool, list, [[3, 0], [1]], worker_fn=plain, dataset=data)
    assert list(batches) == [[3, 0], [1]]


def test_a_subclass_may_choose_what_is_handed_to_the_pool(pool):
    class Reversed(_MultiWorkerIter):
        def _push_next(self):
            numbers = next(self._iter, None)
            if numbers is not None:
                task = (numbers[::-1], self._batchify_fn, None)
                result = self._worker_pool.apply_async(self._worker_fn, task)
                self._data_buffer[self._sent_idx] = result
                self._sent_idx += 1

    batches = Reversed(pool, default_batchify_fn, [[0, 1]], worker_fn=pickled)
    assert next(batches).asnumpy().ravel().tolist() == [1, 0]


def test_an_error_in_a_worker_is_raised_where_the_batch_is_asked_for(pool):
    batches = _MultiWorkerIter(pool, list, [[9]], worker_fn=plain, dataset=[1])
    with pytest.raises(IndexError):
        next(batches)
