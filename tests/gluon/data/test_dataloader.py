"""DataLoader: the same batches from this process, from threads and from processes."""

import multiprocessing
import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from minigluon import nd
from minigluon.base import MXNetError
from minigluon.gluon.data import (
    ArrayDataset,
    DataLoader,
    Dataset,
    SequentialSampler,
    SimpleDataset,
    workers,
)

HERE = {}
THREADS = {"num_workers": 2, "thread_pool": True}
PROCESSES = {"num_workers": 2}
EVERYWHERE = pytest.mark.parametrize(
    "where", [HERE, THREADS, PROCESSES], ids=["here", "threads", "processes"]
)
IN_WORKERS = pytest.mark.parametrize("where", [THREADS, PROCESSES], ids=["threads", "processes"])
PAIRS = ArrayDataset(list(range(7)), np.arange(14).reshape(7, 2))


@EVERYWHERE
def test_batches_come_in_order(where):
    batches = list(DataLoader(PAIRS, 3, **where))
    assert [first.asnumpy().tolist() for first, _ in batches] == [[0, 1, 2], [3, 4, 5], [6]]
    assert batches[2][1].asnumpy().tolist() == [[12, 13]]
    assert all(isinstance(array, nd.NDArray) for batch in batches for array in batch)


@EVERYWHERE
def test_every_iteration_is_a_whole_epoch(where):
    loader = DataLoader(PAIRS, 2, **where)
    assert [len(list(loader)) for _ in range(3)] == [4, 4, 4] == [len(loader)] * 3


@EVERYWHERE
@pytest.mark.parametrize(("last_batch", "count"), [("keep", 3), ("discard", 2), ("rollover", 2)])
def test_the_last_batch_is_treated_as_told(where, last_batch, count):
    assert len(list(DataLoader(PAIRS, 3, last_batch=last_batch, **where))) == count


@EVERYWHERE
def test_shuffle_repeats_with_the_seed_of_numpy(where):
    loader = DataLoader(SimpleDataset(list(range(8))), 8, shuffle=True, **where)
    np.random.seed(3)
    (batch,) = loader
    assert batch.asnumpy().tolist() == [5, 7, 4, 6, 3, 1, 0, 2]  # recorded from MXNet


@EVERYWHERE
def test_a_batch_sampler_says_what_is_in_a_batch(where):
    batches = DataLoader(SimpleDataset([5, 6, 7]), batch_sampler=[[2, 0], [1]], **where)
    assert [batch.asnumpy().tolist() for batch in batches] == [[7, 5], [6]]


@EVERYWHERE
def test_a_batchify_function_makes_the_batch(where):
    loader = DataLoader(SimpleDataset(["a", "b", "c"]), 2, batchify_fn="".join, **where)
    assert list(loader) == ["ab", "c"]


def _fail_at_four(first, _):
    if first == 4:
        raise ValueError("no fours")
    return first


@IN_WORKERS
def test_an_error_is_raised_as_it_was_with_the_sample(where):
    with pytest.raises(ValueError, match="no fours") as caught:
        list(DataLoader(PAIRS.transform(_fail_at_four), 3, **where))
    assert caught.value._minigluon_note.startswith("while making sample 4 of")


def test_an_error_in_a_process_has_its_traceback_as_cause():
    with pytest.raises(ValueError, match="no fours") as caught:
        list(DataLoader(PAIRS.transform(_fail_at_four), 3, num_workers=1))
    text = str(caught.value.__cause__)
    assert "_fail_at_four" in text
    assert "sample 4 of _LazyTransformDataset" in text


def test_an_error_that_cannot_be_sent_is_told():
    class LocalError(Exception):
        pass

    def fail(_):
        raise LocalError("here only")

    with pytest.raises(MXNetError, match="LocalError: here only, while making sample 0"):
        list(DataLoader(SimpleDataset([1]).transform(fail), 1, num_workers=1))


@IN_WORKERS
def test_a_loader_goes_on_after_an_error(where):
    loader = DataLoader(PAIRS.transform(_fail_at_four), 3, **where)
    for _ in range(2):
        with pytest.raises(ValueError, match="no fours"):
            list(loader)


def test_a_worker_that_dies_is_reported_and_replaced():
    owner = os.getpid()
    fatal = [True]

    def die(value):
        if fatal[0] and os.getpid() != owner:
            os.kill(os.getpid(), signal.SIGKILL)
        return value

    loader = DataLoader(SimpleDataset([1, 2]).transform(die), 1, num_workers=1)
    with pytest.raises(MXNetError, match=r"worker 0 \(pid \d+\) ended unexpectedly(.|\n)*signal 9"):
        list(loader)
    fatal[0] = False
    assert len(list(loader)) == 2


@IN_WORKERS
def test_a_batch_that_is_late_is_a_timeout(where):
    slow = SimpleDataset([0.2, 0.2]).transform(time.sleep)
    with pytest.raises(multiprocessing.TimeoutError, match=r"nothing for 0\.01 seconds"):
        list(DataLoader(slow, 1, batchify_fn=list, timeout=0.01, **where))


@IN_WORKERS
def test_an_epoch_can_be_left_in_the_middle(where):
    loader = DataLoader(PAIRS, 1, **where)
    for first, _ in loader:
        if first.asscalar() == 1:
            break
    assert [first.asscalar() for first, _ in loader] == list(range(7))


@IN_WORKERS
def test_two_epochs_can_run_side_by_side(where):
    loader = DataLoader(PAIRS, 2, **where)
    pairs = zip(loader, loader, strict=True)
    assert all((a[0] == b[0]).asnumpy().all() for a, b in pairs)


def test_large_batches_are_shared_memory_that_can_be_written_and_is_given_back():
    samples = np.arange(4 * 200_000, dtype="float32").reshape(4, -1)
    loader = DataLoader(ArrayDataset(samples, [1, 2, 3, 4]), 2, num_workers=1)
    batches = list(loader)
    folder = Path(loader._worker_pool._folder)
    assert not list(folder.iterdir())
    loader._close()
    assert not folder.exists()
    batches[0][0][:] += 1
    assert (batches[0][0].asnumpy() == samples[:2] + 1).all()
    assert (batches[1][0].asnumpy() == samples[2:]).all()
    assert batches[1][1].asnumpy().tolist() == [3, 4]


def test_batches_nobody_took_are_given_back():
    loader = DataLoader(SimpleDataset(np.zeros((6, 100_000))), 1, num_workers=1, prefetch=3)
    for _ in loader:
        break
    pool = loader._worker_pool
    for ticket in [pool.submit([0])]:  # comes after all that was left
        pool.result(ticket, 10)
    assert not list(Path(pool._folder).iterdir())


def test_workers_end_with_their_loader():
    loader = DataLoader(PAIRS, 2, num_workers=2)
    list(loader)
    processes = list(loader._worker_pool._processes)
    del loader
    assert not any(process.is_alive() for process in processes)


def test_workers_have_random_streams_of_their_own_that_repeat_with_the_seed():
    def draw(_):
        return np.random.rand(), nd.random.uniform().asscalar()

    def epoch():
        np.random.seed(1)
        loader = DataLoader(SimpleDataset([0, 1]).transform(draw), 1, num_workers=2)
        return [tuple(array.asscalar() for array in batch) for batch in loader]

    first, second = epoch(), epoch()
    assert first == second
    assert first[0][0] != first[1][0]
    assert first[0][1] != first[1][1]


def test_refresh_begins_before_it_is_asked_for():
    loader = DataLoader(PAIRS, 2, num_workers=1)
    loader.refresh()
    assert len(loader._iter._tickets) == 2
    assert len(list(loader)) == 4
    assert loader._iter is None


def test_auto_reload_begins_the_next_epoch():
    loader = DataLoader(PAIRS, 2, num_workers=1, auto_reload=True)
    assert len(list(loader)) == 4
    assert loader._iter is not None
    assert len(list(loader)) == 4


@pytest.mark.slow
def test_workers_can_be_spawned(monkeypatch):
    monkeypatch.setattr(workers, "_start_method", lambda: "spawn")
    data = ArrayDataset(nd.arange(6).reshape((3, 2)), [1, 2, 3])
    batches = list(DataLoader(data, 2, num_workers=1))
    assert batches[0][0].asnumpy().tolist() == [[0, 1], [2, 3]]
    assert batches[1][1].asnumpy().tolist() == [3]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "batch_size must be specified unless batch_sampler is specified"),
        ({"batch_size": 2, "shuffle": True, "sampler": SequentialSampler(7)}, "shuffle must not"),
        ({"batch_sampler": [[1]], "batch_size": 2}, "must not be specified if batch_sampler"),
        ({"batch_sampler": [[1]], "last_batch": "keep"}, "must not be specified if batch_sampler"),
        ({"batch_size": 2, "timeout": 0}, "timeout must be positive, given 0"),
        ({"batch_size": 2, "last_batch": "bogus"}, "last_batch must be one of"),
    ],
)
def test_arguments_that_contradict_each_other_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        DataLoader(PAIRS, **arguments)


@pytest.mark.parametrize("options", [{"num_workers": 2}, {"num_workers": 2, "thread_pool": True}])
def test_a_sample_that_raises_stopiteration_does_not_end_the_epoch(options):
    class Ends(Dataset):
        def __len__(self):
            return 12

        def __getitem__(self, index):
            if index == 5:
                raise StopIteration
            return index

    with pytest.raises(RuntimeError, match="sample 5 of Ends raised StopIteration"):
        list(DataLoader(Ends(), 2, **options))
