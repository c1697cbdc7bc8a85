"""``DataLoader``: the batches of a data set, made here or by workers ahead of time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from ...base import ArgumentError, ArgumentTypeError, four_lines
from .batchify import default_batchify_fn, default_mp_batchify_fn
from .multi_worker import MultiWorkerIter as _MultiWorkerIter  # noqa: F401  (GluonCV takes it here)
from .sampler import BatchSampler, RandomSampler, SequentialSampler
from .workers import ProcessPool, ThreadPool, make_batch

__all__ = ["DataLoader", "default_batchify_fn", "default_mp_batchify_fn"]


class DataLoader:
    """The batches of a data set; every iteration is an epoch.

    An error in a worker is raised here, as the class it was, with the worker's traceback and the
    number of the sample.

    Parameters
    ----------
    dataset : a `Dataset`, or anything with ``len`` and ``[index]``.
    batch_size : samples in a batch.
    shuffle : draw a new order for every epoch.
    sampler : the order, instead of ``shuffle``.
    last_batch : "keep" (default), "discard" or "rollover"; see `BatchSampler`.
    batch_sampler : lists of sample numbers, instead of all of the above.
    batchify_fn : makes a batch out of a list of samples; `default_batchify_fn` if not given.
    num_workers : how many processes make batches; 0 makes them in this one, when asked.
    pin_memory, pin_device_id : taken, and without effect: there is no device to copy to.
    prefetch : batches made ahead; twice the number of workers if not given.
    thread_pool : threads instead of processes.
    timeout : seconds to wait for a batch of a worker.
    auto_reload : begin with the next epoch when one ends.

    Examples
    --------
    >>> from minigluon.gluon.data import ArrayDataset
    >>> data = ArrayDataset(nd.arange(5).reshape((5, 1)), [0, 1, 0, 1, 1])
    >>> for features, labels in DataLoader(data, batch_size=2):
    ...     print(features.shape, labels.asnumpy())
    (2, 1) [0 1]
    (2, 1) [0 1]
    (1, 1) [1]
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = None,
        shuffle: bool = False,
        sampler: Any = None,
        last_batch: str | None = None,
        batch_sampler: Any = None,
        batchify_fn: Callable | None = None,
        num_workers: int = 0,
        pin_memory: bool = False,
        pin_device_id: int = 0,
        prefetch: int | None = None,
        thread_pool: bool = False,
        timeout: float = 120,
        auto_reload: bool = False,
    ):
        if timeout <= 0:
            raise _bad(
                f"timeout must be positive, given {timeout}",
                f"timeout={timeout}",
                "seconds above 0",
                "leave it out for 120 seconds",
            )
        self._dataset = dataset
        self._pin_memory, self._pin_device_id = pin_memory, pin_device_id
        self._thread_pool, self._timeout, self.auto_reload = thread_pool, timeout, auto_reload
        self._batch_sampler = (
            _batches(dataset, batch_size, shuffle, sampler, last_batch)
            if batch_sampler is None
            else _given(batch_sampler, batch_size, shuffle, sampler, last_batch)
        )
        self._num_workers = max(0, num_workers)
        self._prefetch = max(0, 2 * self._num_workers if prefetch is None else int(prefetch))
        self._batchify_fn = batchify_fn or default_batchify_fn
        self._worker_pool: Any = None
        self._iter: Iterator | None = None
        if batchify_fn is not None and not callable(batchify_fn):
            raise ArgumentTypeError(f"DataLoader: batchify_fn is not a function: {batchify_fn!r}")

    def __iter__(self) -> Iterator[Any]:
        if self._iter is None:
            self.refresh()
        epoch, self._iter = self._iter, None
        yield from epoch  # type: ignore[misc]
        if self.auto_reload:
            self.refresh()

    def __len__(self) -> int:
        return len(self._batch_sampler)

    def refresh(self) -> None:
        """Begin the next epoch now: workers make its first batches before they are asked for."""
        self.clean()
        self._iter = _Epoch(self, self._pool()) if self._num_workers else self._made_here()

    def clean(self) -> None:
        """Drop the epoch that `refresh` began."""
        self._iter = None

    def _made_here(self) -> Iterator[Any]:
        for indices in self._batch_sampler:
            yield make_batch(self._dataset, indices, self._batchify_fn)

    def _pool(self) -> Any:
        if self._worker_pool is None:
            kind = ThreadPool if self._thread_pool else ProcessPool
            self._worker_pool = kind(self._dataset, self._batchify_fn, self._num_workers)
        return self._worker_pool

    def _close(self) -> None:
        """End the workers; the next epoch starts others."""
        if self._worker_pool is not None:
            self._worker_pool.close()
            self._worker_pool = None

    def __del__(self) -> None:
        if getattr(self, "_worker_pool", None) is not None:
            self._worker_pool.close()


class _Epoch:
    """The batches of one epoch, in order, some of them always in the making."""

    def __init__(self, loader: DataLoader, pool: Any):
        self._loader, self._pool = loader, pool
        self._batches = iter(loader._batch_sampler)
        self._tickets: deque = deque()
        for _ in range(max(1, loader._prefetch)):
            self._submit()

    def _submit(self) -> None:
        indices = next(self._batches, None)
        if indices is not None:
            self._tickets.append(self._attempt(self._pool.submit, list(indices)))

    def __iter__(self) -> _Epoch:
        return self

    def __next__(self) -> Any:
        if not self._tickets:
            raise StopIteration
        batch = self._attempt(self._pool.result, self._tickets.popleft(), self._loader._timeout)
        self._submit()
        return batch

    def _attempt(self, function: Callable, *args: Any) -> Any:
        """Call the pool; after an error of its own there will be a new one."""
        from .workers import WorkerError, WorkerTimeoutError

        try:
            return function(*args)
        except (WorkerError, WorkerTimeoutError):
            if self._loader._worker_pool is self._pool:
                self._loader._close()
            self._tickets.clear()
            raise

    def __del__(self) -> None:
        self._pool.forget(list(self._tickets))


def _given(batch_sampler: Any, *others: Any) -> Any:
    if any(others):
        raise _bad(
            "batch_size, shuffle, sampler and last_batch must not be specified if batch_sampler is "
            "specified.",
            "batch_size={}, shuffle={}, sampler={}, last_batch={}".format(*others),
            "none of these beside batch_sampler",
            "leave them out, or leave out batch_sampler",
        )
    return batch_sampler


def _batches(dataset: Any, batch_size: Any, shuffle: bool, sampler: Any, last_batch: Any) -> Any:
    if batch_size is None:
        raise _bad(
            "batch_size must be specified unless batch_sampler is specified",
            "batch_size=None, batch_sampler=None",
            "one of the two",
            "pass batch_size, the samples in a batch",
        )
    if sampler is not None and shuffle:
        raise _bad(
            "shuffle must not be specified if sampler is specified",
            f"shuffle={shuffle}, sampler={sampler}",
            "one of the two",
            "leave out shuffle, or let the sampler shuffle",
        )
    if sampler is None:
        sampler = (RandomSampler if shuffle else SequentialSampler)(len(dataset))
    return BatchSampler(sampler, batch_size, last_batch or "keep")


def _bad(what: str, *lines: str) -> ArgumentError:
    return ArgumentError(four_lines(f"DataLoader: {what}", *lines))
