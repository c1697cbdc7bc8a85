"""The iterator MXNet's loaders have inside, on which GluonCV's own loaders are built."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable
from typing import Any


class MultiWorkerIter:
    """Batches that a pool of processes makes, in their order, some of them ahead.

    `DataLoader` does without; the class is here for those who derive from MXNet's. A subclass may
    override ``_push_next``, which hands one more batch to the pool.

    Parameters
    ----------
    worker_pool : a ``multiprocessing.Pool`` or the like.
    batchify_fn, batch_sampler : how samples become a batch, and the numbers of each batch.
    worker_fn : what the pool calls with ``(numbers, batchify_fn, dataset)``; without ``dataset`` it
        returns pickled bytes.
    prefetch : batches to make ahead.
    dataset, data_loader : kept alive as long as this is; the first is handed to ``worker_fn``.
    timeout : seconds to wait for a batch.
    """

    def __init__(
        self,
        worker_pool: Any,
        batchify_fn: Callable,
        batch_sampler: Iterable,
        pin_memory: bool = False,
        pin_device_id: int = 0,
        worker_fn: Callable | None = None,
        prefetch: int = 0,
        dataset: Any = None,
        data_loader: Any = None,
        timeout: float = 120,
    ):
        self._worker_pool, self._worker_fn = worker_pool, worker_fn
        self._batchify_fn, self._batch_sampler = batchify_fn, batch_sampler
        self._pin_memory, self._pin_device_id = pin_memory, pin_device_id
        self._dataset, self._data_loader, self._timeout = dataset, data_loader, timeout
        self._data_buffer: dict[int, Any] = {}
        self._rcvd_idx = self._sent_idx = 0
        self._iter = iter(batch_sampler)
        for _ in range(prefetch):
            self._push_next()

    def __len__(self) -> int:
        return len(self._batch_sampler)  # type: ignore[arg-type]

    def __iter__(self) -> MultiWorkerIter:
        return self

    def _push_next(self) -> None:
        """Hand the next batch to the pool, if there is one."""
        numbers = next(self._iter, None)
        if numbers is not None:
            task = (numbers, self._batchify_fn, self._dataset)
            self._data_buffer[self._sent_idx] = self._worker_pool.apply_async(self._worker_fn, task)
            self._sent_idx += 1

    def __next__(self) -> Any:
        """The next batch; an error in a worker is raised here."""
        self._push_next()
        if self._rcvd_idx == self._sent_idx:
            raise StopIteration
        made = self._data_buffer.pop(self._rcvd_idx).get(self._timeout)
        self._rcvd_idx += 1
        return pickle.loads(made) if self._dataset is None else made

    next = __next__
