"""Orders in which the samples of a data set are drawn, one by one or in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from ...base import ArgumentError, four_lines


class Sampler:
    """Something that gives the numbers of samples; subclasses define ``__iter__`` and ``__len__``.

    ``__iter__`` starts a new epoch.
    """

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} does not define __len__")

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} does not define __iter__")


class SequentialSampler(Sampler):
    """``length`` numbers in order, from ``start`` on.

    Examples
    --------
    >>> list(SequentialSampler(3, start=4))
    [4, 5, 6]
    """

    def __init__(self, length: int, start: int = 0):
        self._length, self._start = length, start

    def __iter__(self) -> Iterator[int]:
        return iter(range(self._start, self._start + self._length))

    def __len__(self) -> int:
        return self._length


class RandomSampler(Sampler):
    """The numbers below ``length`` in an order that every epoch draws anew, without replacement.

    As in MXNet the order comes from numpy's global generator: ``np.random.seed`` repeats it.
    """

    def __init__(self, length: int):
        self._length = length

    def __iter__(self) -> Iterator[int]:
        return iter(np.random.permutation(self._length).tolist())

    def __len__(self) -> int:
        return self._length


class FilterSampler(Sampler):
    """The numbers of the samples for which ``fn`` is true, in order.

    Examples
    --------
    >>> list(FilterSampler(lambda x: x > 4, [3, 5, 2, 6]))
    [1, 3]
    """

    def __init__(self, fn: Callable, dataset: Any):
        self._fn, self._dataset = fn, dataset
        self._indices = [i for i in range(len(dataset)) if fn(dataset[i])]

    def __iter__(self) -> Iterator[int]:
        return iter(self._indices)

    def __len__(self) -> int:
        return len(self._indices)


class IntervalSampler(Sampler):
    """Every ``interval``-th number below ``length``, then the same from 1 on, and so forth.

    Without ``rollover`` it stops after the first round.

    Examples
    --------
    >>> list(IntervalSampler(5, interval=2))
    [0, 2, 4, 1, 3]
    >>> list(IntervalSampler(5, interval=2, rollover=False))
    [0, 2, 4]
    """

    def __init__(self, length: int, interval: int, rollover: bool = True):
        if not 0 < interval <= length:
            raise ArgumentError(
                four_lines(
                    f"IntervalSampler: Interval {interval} must be smaller than or equal to "
                    f"length {length}, and above 0.",
                    f"length={length}, interval={interval}",
                    f"1 <= interval <= {length}",
                    "choose a smaller interval",
                )
            )
        self._length, self._interval, self._rollover = length, interval, rollover

    def __iter__(self) -> Iterator[int]:
        for start in range(self._interval if self._rollover else 1):
            yield from range(start, self._length, self._interval)

    def __len__(self) -> int:
        """How many numbers there are (MXNet says ``length`` without rollover too)."""
        return self._length if self._rollover else -(-self._length // self._interval)


class BatchSampler(Sampler):
    """Lists of ``batch_size`` numbers from another sampler.

    Parameters
    ----------
    last_batch : what becomes of numbers that do not fill a batch: "keep" gives a smaller batch,
        "discard" drops them, "rollover" puts them first in the next epoch.

    Examples
    --------
    >>> list(BatchSampler(SequentialSampler(5), 2, "keep"))
    [[0, 1], [2, 3], [4]]
    """

    def __init__(self, sampler: Iterable, batch_size: int, last_batch: str = "keep"):
        if last_batch not in ("keep", "discard", "rollover"):
            raise ArgumentError(
                four_lines(
                    "BatchSampler: last_batch must be one of 'keep', 'discard', or 'rollover', "
                    f"but got {last_batch}",
                    f"last_batch={last_batch!r}",
                    "'keep', 'discard' or 'rollover'",
                    "pass one of these",
                )
            )
        if batch_size < 1:
            raise ArgumentError(
                four_lines(
                    "BatchSampler: batch_size is not positive.",
                    f"batch_size={batch_size}",
                    "1 or more samples a batch",
                    "pass a positive batch_size",
                )
            )
        self._sampler, self._batch_size, self._last_batch = sampler, batch_size, last_batch
        self._prev: list = []

    def __iter__(self) -> Iterator[list]:
        batch, self._prev = self._prev, []
        for index in self._sampler:
            batch.append(index)
            if len(batch) == self._batch_size:
                yield batch
                batch = []
        if batch and self._last_batch == "keep":
            yield batch
        elif self._last_batch == "rollover":
            self._prev = batch

    def __len__(self) -> int:
        count = len(self._sampler)  # type: ignore[arg-type]
        if self._last_batch == "keep":
            return -(-count // self._batch_size)
        return (count + len(self._prev)) // self._batch_size
